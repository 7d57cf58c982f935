package configs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/retrieve"
)

var update = flag.Bool("update", false, "rewrite the expected lint lines")

type sqlConfig struct {
	DSN  registry.Secret `yaml:"dsn" help:"Connection string."`
	Pool struct {
		Size int `yaml:"size" help:"Connections."`
	} `yaml:"pool" help:"The pool."`
}

func (c sqlConfig) Validate() error {
	if c.Pool.Size < 1 {
		return errors.Join(&registry.Invalid{Path: "pool.size", Reason: "at least 1 connection is needed"})
	}
	return nil
}

// modelConfig reports in the plain form, "key: reason".
func (c modelConfig) Validate() error {
	if c.Timeout < 0 {
		return fmt.Errorf("timeout: %s is negative", c.Timeout)
	}
	if c.Module == "" {
		return errors.New("nothing to load")
	}
	return nil
}

type modelConfig struct {
	Module   string            `yaml:"module" help:"Which module."`
	Timeout  time.Duration     `yaml:"timeout" help:"A call's limit."`
	Args     []string          `yaml:"args" help:"Arguments."`
	Labels   map[string]string `yaml:"labels" help:"Labels."`
	Warm     bool              `yaml:"warm" help:"Loads at once."`
	Fraction float64           `yaml:"fraction" help:"Share."`
}

func testRegistry() *registry.Registry {
	r := registry.New()
	registry.Add(r.Store, registry.Component[port.DocumentStore, struct{}]{
		Name:      "sqlite",
		Summary:   "One file.",
		Stability: registry.Stable,
		Default:   func() struct{} { return struct{}{} },
		Open:      refuse[port.DocumentStore, struct{}],
	})
	registry.Add(r.Store, registry.Component[port.DocumentStore, sqlConfig]{
		Name:      "postgres",
		Summary:   "A database.",
		Stability: registry.Beta,
		Default:   func() sqlConfig { c := sqlConfig{}; c.Pool.Size = 4; return c },
		Open:      refuse[port.DocumentStore, sqlConfig],
	})
	registry.Add(r.Index, registry.Component[port.Index, struct{}]{
		Name:       "embedded",
		Summary:    "In this process.",
		Stability:  registry.Stable,
		Retrievers: []port.Retriever{port.Keyword, port.Vector, port.SparseTerms},
		Default:    func() struct{} { return struct{}{} },
		Open:       refuse[port.Index, struct{}],
	})
	registry.Add(r.Index, registry.Component[port.Index, struct{}]{
		Name:       "words",
		Summary:    "Words alone.",
		Stability:  registry.Beta,
		Retrievers: []port.Retriever{port.Keyword},
		Default:    func() struct{} { return struct{}{} },
		Open:       refuse[port.Index, struct{}],
	})
	registry.Add(r.Model, registry.Component[port.Model, modelConfig]{
		Name:      "wasm",
		Summary:   "A module.",
		Stability: registry.Stable,
		Default:   func() modelConfig { return modelConfig{Module: "builtin:e5-small-v2", Timeout: 10 * time.Second} },
		Open:      refuse[port.Model, modelConfig],
	})
	registry.Add(r.Limit, registry.Component[port.Budget, struct{}]{
		Name:      "off",
		Summary:   "No shared count.",
		Stability: registry.Stable,
		Default:   func() struct{} { return struct{}{} },
		Open:      refuse[port.Budget, struct{}],
	})
	registry.Add(r.Limit, registry.Component[port.Budget, struct{}]{
		Name:      "store",
		Summary:   "In the store.",
		Stability: registry.Stable,
		Default:   func() struct{} { return struct{}{} },
		Open:      refuse[port.Budget, struct{}],
	})
	registry.Add(r.Limit, registry.Component[port.Budget, limitConfig]{
		Name:      "redis",
		Summary:   "In a server.",
		Stability: registry.Beta,
		Default:   func() limitConfig { return limitConfig{} },
		Open:      refuse[port.Budget, limitConfig],
	})
	registry.Add(r.Extractor, registry.Component[port.Extractor, struct{}]{
		Name:      "off",
		Summary:   "None.",
		Stability: registry.Stable,
		Default:   func() struct{} { return struct{}{} },
		Open:      refuse[port.Extractor, struct{}],
	})
	registry.Add(r.Extractor, registry.Component[port.Extractor, limitConfig]{
		Name:      "tika",
		Summary:   "In a server.",
		Stability: registry.Beta,
		Default:   func() limitConfig { return limitConfig{} },
		Open:      refuse[port.Extractor, limitConfig],
	})
	return r
}

type limitConfig struct {
	URL registry.Secret `yaml:"url" help:"Address."`
}

func (c limitConfig) Validate() error {
	if !strings.HasPrefix(c.URL.Reveal(), "redis") {
		return &registry.Invalid{Path: "url", Reason: "is needed"}
	}
	return nil
}

// The limiter is a component; limits.redis stays the short form of its URL.
func TestLimiter(t *testing.T) {
	for body, want := range map[string]string{
		"":                                             "off",
		"limits: {shared: off}":                        "off",
		"limits: {shared: \"off\"}":                    "off",
		"limits: {shared: store}":                      "store",
		"limits: {shared: \"${WHERE:-store}\"}":        "store",
		"limits: {shared: {store: {}}}":                "store",
		"limits: {shared: redis, redis: redis://a}":    "redis redis://a",
		"limits: {redis: \"${REDIS}\", shared: redis}": "redis redis://b",
		"limits: {shared: {redis: {url: redis://a}}}":  "redis redis://a",
	} {
		c, err := load(t, body, map[string]string{"REDIS": "redis://b"})
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		got := c.Limits.Shared.Component
		if r, ok := c.Limits.Shared.Config.(*limitConfig); ok {
			got += " " + r.URL.Reveal()
		}
		if got != want || c.Limits.Redis != "" {
			t.Errorf("%s chooses %s, want %s", body, got, want)
		}
		if shown, err := c.YAML(testRegistry()); err != nil || strings.Contains(string(shown), "redis://") {
			t.Errorf("%s is shown as\n%s", body, shown)
		}
	}
}

func refuse[P, C any](context.Context, C, registry.Env) (P, error) {
	var none P
	return none, errors.New("not opened here")
}

func getenv(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func load(t *testing.T, body string, vars map[string]string, settings ...configs.Setting) (*configs.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mneme.yaml")
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return configs.Load(testRegistry(), configs.Source{File: path, Getenv: getenv(vars), Settings: settings})
}

func TestEmptyFileIsTheDefault(t *testing.T) {
	for _, body := range []string{"", "# nothing\n", "---\n", "server:\n", "models: {}\n"} {
		c, err := load(t, body, nil)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		if want := configs.Default(testRegistry()); !reflect.DeepEqual(c, want) {
			t.Errorf("%q gives %+v, want %+v", body, c, want)
		}
	}
}

func TestLoad(t *testing.T) {
	c, err := load(t, `
data_dir: ${HOME_DIR}/mneme
storage: { postgres: { dsn: "postgres://u:${PASSWORD}@db", pool: {size: "${POOL:-8}"} } }
keyword: words
models:
  judge:
    wasm: { module: "a$$b $5", timeout: 3s, args: [x, "${EMPTY:-y z}"], labels: {team: search}, warm: true, fraction: 0.25 }
roles: { rerank: judge }
limits: { read: 600/min burst 60, write: 2/s, admin: 120/h, concurrency: 64 }
server: &s
  addr: 0.0.0.0:9000
query: { weights: { sparse: 0 }, fusion: rrf }
`, map[string]string{"HOME_DIR": "/srv", "PASSWORD": "p:w}d", "MNEME_ADDR": "127.0.0.1:7", "MNEME_LOG_LEVEL": "debug"},
		configs.Setting{Path: "log.level", Value: "warn", From: "flag --log-level"})
	if err != nil {
		t.Fatal(err)
	}
	sql := c.Storage.Config.(*sqlConfig)
	judge := c.Models["judge"].Config.(*modelConfig)
	for what, ok := range map[string]bool{
		"variable":              c.DataDir == "/srv/mneme",
		"value with a brace":    sql.DSN.Reveal() == "postgres://u:p:w}d@db",
		"default of a variable": sql.Pool.Size == 8,
		"component by name":     c.Keyword.Component == "words" && c.Vector.Component == "embedded",
		"dollar signs":          judge.Module == "a$b $5",
		"nested settings": judge.Timeout == 3*time.Second && judge.Args[1] == "y z" &&
			judge.Labels["team"] == "search" && judge.Warm && judge.Fraction == 0.25,
		"built-in model stays": c.Models[configs.BuiltinEmbedder].Component == "wasm" &&
			c.Roles.Embed == configs.BuiltinEmbedder,
		"rate with burst":         c.Limits.Read == configs.Rate{PerMinute: 600, Burst: 60},
		"rate per second":         c.Limits.Write == configs.Rate{PerMinute: 120},
		"rate per hour":           c.Limits.Admin == configs.Rate{PerMinute: 2},
		"environment over file":   c.Server.Addr == "127.0.0.1:7",
		"flag over environment":   c.Log.Level == "warn",
		"untouched default stays": c.Query.Weights.Vector == 0.5 && c.Query.Weights.Sparse == 0,
	} {
		if !ok {
			t.Errorf("%s: %+v", what, c)
		}
	}
}

func TestBuiltinModelThatNoRoleNamesIsNotLoaded(t *testing.T) {
	c, err := load(t, "models: {mine: {wasm: {module: m.wasm}}}\nroles: {embed: mine, rerank: off}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Models[configs.BuiltinSparse]; !ok || len(c.Models) != 2 {
		t.Errorf("models are %v", c.Models)
	}
}

// An empty file has every role but the answers', by models of this program.
func TestBuiltinModelsHaveTheirModules(t *testing.T) {
	c, err := load(t, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{c.Roles.Embed, c.Roles.Sparse, c.Roles.Rerank} {
		if m, ok := c.Models[name].Config.(*modelConfig); !ok || m.Module != "builtin:"+name {
			t.Errorf("model %q is %+v", name, c.Models[name])
		}
	}
}

func TestFileInterpolation(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dsn.key"), []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "mneme.yaml")
	if err := os.WriteFile(path, []byte(`storage: {postgres: {dsn: "${file:dsn.key}"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := configs.Load(testRegistry(), configs.Source{File: path, Getenv: getenv(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Storage.Config.(*sqlConfig).DSN.Reveal(); got != "s3cret" {
		t.Errorf("dsn is %q", got)
	}
	body, err := c.YAML(testRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(body), "s3cret") || !strings.Contains(string(body), registry.Redacted) {
		t.Errorf("shown configuration is\n%s", body)
	}
}

// Each testdata/invalid/NAME.yaml has NAME.lint beside it with the lines that
// lint prints, all of them, in order.
func TestInvalidFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/invalid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, err := configs.Load(testRegistry(), configs.Source{File: file, Getenv: getenv(nil)})
			var problems configs.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("error is %v, not problems", err)
			}
			got := strings.ReplaceAll(problems.Error(), filepath.Dir(file)+string(filepath.Separator), "") + "\n"
			golden := strings.TrimSuffix(file, ".yaml") + ".lint"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestProblemsOfOverridesNameTheirSource(t *testing.T) {
	_, err := load(t, "", map[string]string{"MNEME_ADDR": "nowhere"},
		configs.Setting{Path: "log.level", Value: "loud", From: "flag --log-level"})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{`environment MNEME_ADDR: server.addr: "nowhere" is not host:port`,
		`flag --log-level: log.level: "loud" is not one of`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}

func TestMissingFileIsNotAProblemOfTheConfiguration(t *testing.T) {
	_, err := configs.Load(testRegistry(), configs.Source{File: filepath.Join(t.TempDir(), "none.yaml"), Getenv: getenv(nil)})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestShownConfigurationReadsBackEqual(t *testing.T) {
	c, err := load(t, "limits: {read: 600/min burst 60}\nserver: {shutdown_timeout: 90s}\nmodels: {m: {wasm: {args: [a, "+
		"b], labels: {x: \"y: z\"}}}}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := c.YAML(testRegistry())
	if err != nil {
		t.Fatal(err)
	}
	again, err := load(t, string(shown), nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, shown)
	}
	if !reflect.DeepEqual(c, again) {
		t.Errorf("differs after reading back:\n%s", shown)
	}
}

func TestReferenceAndSchemaNameEverySetting(t *testing.T) {
	r := testRegistry()
	page, err := configs.Reference(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := configs.Schema(r)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct {
			Description string
			Properties  map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(body, &schema); err != nil {
		t.Fatal(err)
	}
	fields, err := registry.Fields(reflect.TypeFor[configs.Config]())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		if schema.Properties[f.Name].Description != f.Help {
			t.Errorf("schema lacks %s", f.Name)
		}
		for _, g := range f.Fields {
			if schema.Properties[f.Name].Properties[g.Name].Description != g.Help {
				t.Errorf("schema lacks %s.%s", f.Name, g.Name)
			}
			if !strings.Contains(string(page), "| `"+g.Name+"` |") &&
				!strings.Contains(string(page), "| `"+g.Name+".") && g.Shape != registry.Struct {
				t.Errorf("reference lacks %s.%s", f.Name, g.Name)
			}
		}
	}
	for _, want := range []string{"storage `postgres`", "`pool.size`", "MNEME_ADDR", "Serves keyword, vector, sparse"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("reference lacks %q", want)
		}
	}
}

func TestRate(t *testing.T) {
	for text, want := range map[string]string{"0": "0", "600/min": "600/min", " 10 / s ": "600/min", "120/h": "2/min",
		"6/min burst 3": "6/min burst 3",
		"":              "", "-1/min": "", "5": "", "5/day": "", "61/h": "", "5/min burst": "", "5/min burst 0": "",
		"1e3/min": "",
		"5/min 5": ""} {
		var r configs.Rate
		err := r.UnmarshalText([]byte(text))
		if want == "" {
			if err == nil {
				t.Errorf("%q was read as %+v", text, r)
			}
			continue
		}
		got, _ := r.MarshalText()
		if err != nil || string(got) != want {
			t.Errorf("%q gives %q, %v; want %q", text, got, err, want)
		}
	}
}

// FuzzLoad checks that no file makes Load panic, and that a file that it takes
// can be shown and read back.
func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("testdata/invalid/*.yaml")
	for _, file := range files {
		if body, err := os.ReadFile(file); err == nil {
			f.Add(string(body))
		}
	}
	f.Add("server: {addr: \"127.0.0.1:1\"}\nmodels: {a: &x {wasm: {args: [1]}}, b: *x}\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, "${file:") {
			return // reads whatever it names, which is its job
		}
		path := filepath.Join(dir, "mneme.yaml")
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := configs.Load(testRegistry(), configs.Source{File: path, Getenv: getenv(nil)})
		if err != nil {
			lines := bufio.NewScanner(strings.NewReader(err.Error()))
			if !lines.Scan() || lines.Text() == "" {
				t.Errorf("a problem without a reason for %q", body)
			}
			return
		}
		if _, err := c.YAML(testRegistry()); err != nil {
			t.Errorf("%q cannot be shown: %v", body, err)
		}
	})
}

// A running server takes on what it can of a new configuration; the rest is named.
func TestReloaded(t *testing.T) {
	read := func(text string) *configs.Config {
		t.Helper()
		c, err := load(t, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	is := read("log: {level: info}\n")
	for text, want := range map[string]string{
		"log: {level: info}\n":                                "[]",
		"log: {level: debug}\n":                               "[]",
		"log: {format: json}\n":                               "[log]",
		"timeouts: {read: 6s}\nlimits: {read: 1/s}\n":         "[limits timeouts]",
		"storage: {postgres: {dsn: x, pool: {size: 2}}}\n":    "[storage]",
		"server: {max_connections: 7}\nlog: {level: error}\n": "[server]",
	} {
		next := read(text)
		if got := fmt.Sprint(configs.Changed(is, next)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		now := is.Reloaded(next)
		if now.Log.Level != next.Log.Level || now.Log.Format != "text" || now.Timeouts != is.Timeouts || is.Log.Level != "info" {
			t.Errorf("%q: is %+v", text, now)
		}
	}
}

// What is measured of reranking holds, but for what is configured.
func TestReranking(t *testing.T) {
	want := retrieve.DefaultReranking()
	if got := configs.Default(testRegistry()).Query.Reranking(); got != want {
		t.Errorf("by default %+v, want %+v", got, want)
	}
	c, err := load(t, "query: {rerank_prior: 2, rerank_floor: 1, rerank_abstain: false, rerank_depth: 7}", nil)
	if err != nil {
		t.Fatal(err)
	}
	want.Prior, want.Floor, want.Abstain, want.Depth = 2, 1, false, 7
	if got := c.Query.Reranking(); got != want {
		t.Errorf("configured %+v, want %+v", got, want)
	}
}
