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
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/simd"
)

// examination prints one line per check and remembers whether any failed.
type examination struct {
	c      *command
	failed bool
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
1 when anything fails. Beside a running server, the server is asked instead of
opening what it has open.`,
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
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.ok("data", "%s does not exist yet; it is made on first use", dir)
		parent := filepath.Dir(dir)
		for !isDir(parent) && parent != filepath.Dir(parent) {
			parent = filepath.Dir(parent)
		}
		dir = parent
	case err != nil:
		x.fail("data", "%v; check the folder's permissions", err)
		return
	case !info.IsDir():
		x.fail("data", "%s is not a folder; name another with --data", dir)
		return
	case info.Mode().Perm()&0o077 != 0:
		x.warn("data", "others on this machine can reach %s (mode %04o); chmod 700 keeps documents and keys private",
			dir, info.Mode().Perm())
	default:
		x.ok("data", "%s, mode %04o", dir, info.Mode().Perm())
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		x.fail("data", "cannot write there: %v; check owner, permissions and that the disk is not mounted read-only", err)
		return
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		x.fail("data", "cannot write there: %v", err)
	}
	free, err := freeBytes(dir)
	switch {
	case err != nil:
		x.warn("disk", "free space is not known: %v", err)
	case free < noSpace:
		x.fail("disk", "%d MiB free; writes will be refused soon, make room", free>>20)
	case free < lowSpace:
		x.warn("disk", "%d MiB free; make room before it runs out", free>>20)
	default:
		x.ok("disk", "%d GiB free", free>>30)
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (x *examination) address(ctx context.Context, addr string) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
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

// parts opens everything as serve would, models first, each with its time.
func (x *examination) parts(ctx context.Context, cfg *configs.Config) {
	for _, name := range roleModels(cfg) {
		x.model(ctx, cfg, name)
	}
	started := time.Now()
	_, statErr := os.Stat(cfg.DataDir)
	fresh := errors.Is(statErr, fs.ErrNotExist)
	if fresh {
		x.ok("store", "%s: nothing to open yet", cfg.Storage.Component)
		return
	}
	a, err := x.c.openApp(ctx, "doctor", cfg)
	if err != nil {
		x.fail("store", "%s; %s", describe(err), advice(err))
		return
	}
	x.ok("store", "%s and the indexes (keyword %s, vector %s, sparse %s) opened in %s", cfg.Storage.Component,
		cfg.Keyword.Component,
		cfg.Vector.Component, cfg.Sparse.Component, time.Since(started).Round(time.Millisecond))
	x.health(ctx, client.Local(a.Handler, ""))
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := a.Close(closing); err != nil {
		x.fail("store", "closing: %s", describe(err))
	}
}

// advice suggests what to do about a store that does not open.
func advice(err error) string {
	switch {
	case errors.As(err, new(*datadir.InUse)):
		return "stop the other process or ask it over HTTP"
	case errors.Is(err, fs.ErrPermission):
		return "run as the owner of the folder"
	case errors.Is(err, syscall.ENOSPC):
		return "make room on the disk"
	}
	return "restore the folder from a backup if it was damaged, or use the version that wrote it"
}

func (x *examination) model(ctx context.Context, cfg *configs.Config, name string) {
	started := time.Now()
	m, err := x.c.registry.Model.Open(ctx, cfg.Models[name],
		registry.Env{Log: x.c.logger(cfg.Log), CacheDir: app.CacheDir(cfg), Name: name})
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
	switch deep.Status {
	case "ok":
		x.ok("health", "every configured part works")
	case "degraded":
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
