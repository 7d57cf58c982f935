package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/simd"
)

// examination prints one line per check and remembers whether any failed.
type examination struct {
	c      *command
	failed bool
	full   bool // the disk has no room for writes
}

func (x *examination) ok(what, format string, args ...any) {
	fmt.Fprintf(x.c.stdout, "ok    %-8s %s\n", what, fmt.Sprintf(format, args...))
}

// warn and fail end with what to do about it.
func (x *examination) warn(what, format string, args ...any) {
	fmt.Fprintf(x.c.stdout, "warn  %-8s %s\n", what, fmt.Sprintf(format, args...))
}

func (x *examination) fail(what, format string, args ...any) {
	fmt.Fprintf(x.c.stdout, "FAIL  %-8s %s\n", what, fmt.Sprintf(format, args...))
	x.failed = true
}

func (c *command) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong here and say what to do about it",
		Long: `Check this machine, the configuration, the data folder, the store, the indexes, the
models and the address, a line each: ok, warn or FAIL with advice. The exit code is
1 when anything fails. Nothing is changed: the store and the indexes are read without
opening them for use, and no schema is brought up to date. Beside a running server,
the server is asked for its health.`,
		Example: "  mneme doctor --data ./data\n  mneme doctor --config mneme.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			x := &examination{c: c}
			x.machine()
			cfg, err := c.loadQuiet()
			if err != nil {
				x.fail("config", "%s", describe(err))
				return errReported
			}
			file := c.file()
			if file == "" {
				file = "the defaults (no --config)"
			}
			x.ok("config", "%s", file)
			x.configuration(cfg)
			x.folder(cfg.DataDir)
			x.sealing(cfg)
			ctx := cmd.Context()
			server, running, err := datadir.Running(cfg.DataDir)
			switch {
			case err != nil:
				x.fail("lock", "%v", err)
			case running:
				x.ok("lock", "process %d serves the folder at %s", server.PID, server.URL)
				x.server(ctx, cfg, server)
			default:
				x.address(ctx, cfg.Server.Addr)
				x.parts(ctx, cfg)
			}
			if x.failed {
				return errReported
			}
			return nil
		},
	}
}

func (x *examination) machine() {
	b := thisBuild()
	x.ok("machine", "%s, %d cores, mneme %s (%s)", b.Target, runtime.GOMAXPROCS(0), b.Version, b.Go)
	k, err := simd.Best()
	switch {
	case err != nil:
		x.fail("cpu", "%v", err)
	case k.Level() == simd.Portable:
		x.warn("cpu", "no vector instructions that Mneme uses: search and embedding are several times slower; use a "+
			"machine with AVX2 or ARM dot products")
	default:
		x.ok("cpu", "kernels for %s", k.Level())
	}
}

// configuration warns of settings that turn something off or leave it open.
func (x *examination) configuration(cfg *configs.Config) {
	if cfg.Roles.Embed == configs.Off {
		x.warn("config", "roles.embed is off: writes answer 503 and queries are by keyword alone; leave it at %s",
			configs.BuiltinEmbedder)
	}
	if host, _, err := net.SplitHostPort(cfg.Server.Addr); err == nil && cfg.Limits.Read.PerMinute == 0 {
		if ip := net.ParseIP(host); host == "" || ip != nil && !ip.IsLoopback() {
			x.warn("config", "server.addr %s is open to other machines and limits.read is unlimited; set limits as in "+
				"configs/examples/server.yaml", cfg.Server.Addr)
		}
	}
}

const (
	lowSpace = 1 << 30
	noSpace  = 64 << 20
)

func (x *examination) folder(dir string) {
	info, err := os.Stat(dir)
	var access disk.Access
	if err == nil {
		access, err = disk.Look(dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.ok("data", "%s does not exist yet; it is made on first use", dir)
		parent := filepath.Dir(dir)
		for !isDir(parent) && parent != filepath.Dir(parent) {
			parent = filepath.Dir(parent)
		}
		dir = parent
	case err != nil:
		if why := datadir.Usable(dir); why != nil {
			err = why
		}
		x.fail("data", "%v", err)
		return
	case !info.IsDir():
		x.fail("data", "%s is not a folder; name another with --data", dir)
		return
	case access.Read:
		x.warn("data", "others on this machine can reach %s (%s); %s keeps documents and keys private", dir, access.Who,
			keepFolder(dir))
	default:
		x.ok("data", "%s, %s", dir, access.Who)
	}
	if err := disk.Writable(dir); err != nil {
		x.fail("data", "cannot write there: %v; check owner, permissions and that the disk is not mounted read-only", err)
		return
	}
	free, err := disk.Free(dir)
	switch {
	case err != nil:
		x.warn("disk", "free space is not known: %v", err)
	case free < noSpace:
		x.full = true
		x.fail("disk", "%d MiB free; writes will be refused soon, make room", free>>20)
	case free < lowSpace:
		x.warn("disk", "%d MiB free; make room before it runs out", free>>20)
	default:
		x.ok("disk", "%d GiB free", free>>30)
	}
}

// sealing looks at where the sealing keys lie. Whether the store needs others is told with
// the store.
func (x *examination) sealing(cfg *configs.Config) {
	keys, err := app.SealingKeys(cfg)
	file := app.SealingKeyFile(cfg)
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.fail("secrets", "%v; name a file that is there", err)
		return
	case errors.As(err, &path):
		x.fail("secrets", "%v; this user has to be able to read that file", err)
		return
	case err != nil:
		x.fail("secrets", "%v; 'mneme seal key' prints a new key, which opens nothing that is sealed already", err)
		return
	case len(keys) > 0 && file == "":
		x.ok("secrets", "%s configured", plural(len(keys), "sealing key"))
		return
	case len(keys) == 0 && file == "":
		x.ok("secrets", "no sealing key is configured: passwords of sources are refused")
		return
	case len(keys) == 0:
		x.ok("secrets", "%s does not exist yet; the first start makes it", file)
		return
	}
	access, err := disk.Look(file)
	switch {
	case err != nil:
		x.fail("secrets", "%v", err)
	case access.Read:
		x.warn("secrets", "others on this machine can reach %s (%s); %s keeps the sealing key private", file, access.Who,
			keepFile(file))
	default:
		x.ok("secrets", "%s in %s; keep a copy where the store's backups are not", plural(len(keys), "sealing key"), file)
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (x *examination) address(ctx context.Context, addr string) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case taken(err):
		x.warn("address", "%s is taken by another process; choose another with --addr or server.addr", addr)
	case err != nil:
		x.fail("address", "%v; choose another with --addr or server.addr", err)
	default:
		x.ok("address", "%s is free", addr)
		if err := l.Close(); err != nil {
			x.warn("address", "%v", err)
		}
	}
}

// parts examines what serve would open, models first, each with its time. Models are opened and
// tried; the store and the indexes are only looked at, because opening them changes them.
func (x *examination) parts(ctx context.Context, cfg *configs.Config) {
	for _, name := range roleModels(cfg) {
		x.model(ctx, cfg, name)
	}
	x.store(ctx, cfg)
	x.indexes(ctx, cfg)
}

func (x *examination) settings(cfg *configs.Config) app.Settings {
	return app.Settings{Registry: x.c.registry, Config: cfg, Log: x.c.logger(cfg.Log), Command: "doctor"}
}

func (x *examination) store(ctx context.Context, cfg *configs.Config) {
	started, name := time.Now(), cfg.Storage.Component
	m, _, err := app.Schema(ctx, x.settings(cfg))
	if err == nil && m.From > 0 {
		err = app.LookAtStore(ctx, x.settings(cfg))
	}
	switch {
	case err != nil:
		x.fail("store", "%s; %s", describe(err), advice(err))
	case m.From == 0:
		x.ok("store", "%s: reached, and nothing is there yet; the first start makes it", name)
	case m.From < m.To:
		x.warn("store", "%s: an older version wrote it (schema %d, this program has %d); copy it, then mneme migrate or serve "+
			"bring it up to date, and there is no way back", name, m.From, m.To)
	default:
		x.ok("store", "%s: schema %d, read in %s", name, m.From, time.Since(started).Round(time.Millisecond))
		keys, err := app.SealingKeys(cfg)
		if err != nil {
			return // said before
		}
		if err := app.CheckSealingKeys(ctx, x.settings(cfg), keys); err != nil {
			x.fail("secrets", "%s; %s", describe(err), "put the sealing key back from where you keep its copy")
		}
	}
}

func (x *examination) indexes(ctx context.Context, cfg *configs.Config) {
	var seen []registry.Selection
	for _, kind := range []struct {
		name  string
		index registry.Selection
	}{{"keyword", cfg.Keyword}, {"vector", cfg.Vector}, {"sparse", cfg.Sparse}} {
		if kind.index.Component == "" || slices.ContainsFunc(seen, func(s registry.Selection) bool {
			return reflect.DeepEqual(s, kind.index)
		}) {
			continue
		}
		seen = append(seen, kind.index)
		started := time.Now()
		if err := app.LookAtIndex(ctx, x.settings(cfg), kind.index); err != nil {
			x.fail("index", "%s: %s; %s", kind.name, describe(err), advice(err))
			continue
		}
		x.ok("index", "%s in %s, asked in %s", kind.name, kind.index.Component, time.Since(started).Round(time.Millisecond))
	}
}

// advice suggests what to do about something that cannot be read.
func advice(err error) string {
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "run as the owner of the folder"
	case disk.Full(err):
		return "make room on the disk"
	case errors.Is(err, bunsql.ErrNewerSchema):
		return "use the newer program that wrote it, or a backup from before"
	case errors.Is(err, sqlite.ErrDamaged):
		return "restore it from a backup"
	case errors.Is(err, sqlite.ErrForeign):
		return "name the right folder with --data, or restore it from a backup if it was damaged"
	case errors.As(err, &refused):
		return "the server answers: check user, password, database and rights in the configuration's dsn"
	case fault.CodeOf(err) == fault.Unavailable:
		return "check the address and the port in the configuration, that the server runs, and what stands between"
	}
	return "check the configuration"
}

func (x *examination) model(ctx context.Context, cfg *configs.Config, name string) {
	started := time.Now()
	m, err := x.c.registry.Model.Open(ctx, cfg.Models[name],
		registry.Env{Log: x.c.logger(cfg.Log), CacheDir: presentCache(cfg), Name: name})
	if err != nil {
		x.fail("model", "%s; 'mneme models check' says more", describe(err))
		return
	}
	opened := time.Since(started)
	for _, r := range []struct{ role, model, does string }{{"embed", cfg.Roles.Embed, "embedded"},
		{"sparse", cfg.Roles.Sparse, "encoded"}, {"rerank", cfg.Roles.Rerank, "scored"}} {
		if r.model != name {
			continue
		}
		started = time.Now()
		switch err := tryRole(ctx, m, r.role); {
		case errors.Is(err, errOtherTask):
			x.fail("model", "%s has the role %s, but its tasks are %v; give roles.%s another model or %s", name, r.role,
				m.Info().Tasks, r.role, configs.Off)
		case err != nil:
			x.fail("model", "%s fails in the role %s: %s; 'mneme models check' says more", name, r.role, describe(err))
		default:
			x.ok("model", "%s loaded in %s, first query %s in %s", name, opened.Round(time.Millisecond), r.does,
				time.Since(started).Round(time.Millisecond))
		}
	}
	if err := m.Close(); err != nil {
		x.warn("model", "closing: %v", err)
	}
}

// presentCache is the cache folder, as far as it is there and nobody else writes into it.
func presentCache(cfg *configs.Config) string {
	dir := app.CacheDir(cfg)
	if access, err := disk.Look(dir); err != nil || !isDir(dir) || access.Write {
		return ""
	}
	return dir
}

var errOtherTask = errors.New("the model does not have the task")

// tryRole makes one real call of the kind that a role makes.
func tryRole(ctx context.Context, m port.Model, role string) error {
	const query = "is this model well"
	tasks := m.Info().Tasks
	switch role {
	case "embed":
		if e, ok := m.(port.Embedder); ok && slices.Contains(tasks, port.TaskEmbed) {
			_, err := e.Embed(ctx, port.Query, []string{query})
			return err
		}
	case "sparse":
		if e, ok := m.(port.SparseEncoder); ok && slices.Contains(tasks, port.TaskSparse) {
			_, err := e.Encode(ctx, port.Query, []string{query})
			return err
		}
	case "rerank":
		if r, ok := m.(port.Reranker); ok && slices.Contains(tasks, port.TaskRerank) {
			_, _, err := r.Score(ctx, query, []string{"It answers as it should.", "Rain fell on the quay."})
			return err
		}
	}
	return errOtherTask
}

// server asks a running server for its health.
func (x *examination) server(ctx context.Context, cfg *configs.Config, s datadir.Server) {
	key, err := datadir.LocalKey(cfg.DataDir)
	if err != nil {
		x.warn("server", "%v", err)
	}
	cl, err := client.New(s.URL, key)
	if err == nil {
		cl.Pin(s.Certificate)
	}
	if err != nil {
		x.fail("server", "%v", err)
		return
	}
	x.health(ctx, cl)
}

func (x *examination) health(ctx context.Context, cl *client.Client) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	var deep struct {
		Status string
		Checks map[string]struct{ Status, Message string }
	}
	if err := cl.Do(ctx, http.MethodGet, "/health/deep", nil, &deep); err != nil {
		x.fail("health", "%v", err)
		return
	}
	switch {
	case x.full && deep.Status != "error":
		x.fail("health", "the server answers, but refuses writes while the disk is full")
	case deep.Status == "ok":
		x.ok("health", "every configured part works")
	case deep.Status == "degraded":
		x.ok("health", "works; optional parts are off")
	default:
		x.fail("health", "status %s; the server's log says more", deep.Status)
	}
	for _, name := range []string{"store", "keyword", "vector", "sparse", "rerank", "probe"} {
		if check, ok := deep.Checks[name]; ok && check.Status == "error" {
			x.fail("health", "%s: %s", name, check.Message)
		}
	}
}
