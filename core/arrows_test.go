package core_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mnemehq/mneme"

// rule says what the packages of a folder may import besides the standard library,
// core/fault, core/ident and the folder itself. The rule of the longest matching
// folder holds; a package that no rule covers fails the test.
type rule struct {
	folder string   // the package here and those below
	only   bool     // the package here alone: those below need rules of their own
	bare   bool     // not even core/fault and core/ident
	may    []string // folders of this module, which stand for everything below them, and module paths; "*": any module
	never  []string // standard packages refused
	why    string
}

// ioPackages are the parts of the standard library that core leaves to adapters and
// transports: no package of core imports them.
var ioPackages = []string{"net", "net/http", "database/sql", "os/exec", "syscall", "plugin"}

// rules is the one statement of who may import whom. The column "may import" of
// docs/architecture.md is generated from it (make generate), and every package needs
// a row there: see TestMap.
var rules = []rule{
	{folder: "core", only: true, bare: true, why: "core is the product without I/O"},
	{folder: "core/fault", bare: true, why: "fault is below everything"},
	{folder: "core/ident", bare: true, why: "ident is below everything"},
	{folder: "core/filter", why: "filters are below ports"},
	{folder: "core/port", may: []string{"core/filter"}, why: "ports know no service"},
	{folder: "core/constraint", why: "limits of requests know no service and no operation"},
	{folder: "core/op", may: []string{"core/constraint", "github.com/go-kit/kit/endpoint"},
		why: "the operation table knows no service"},
	{folder: "core/span", may: []string{"go.opentelemetry.io/otel"}, why: "parts of a call know no operation"},
	{folder: "core/page", why: "cursors know no service"},
	{folder: "core/packing", may: []string{"core/port"}, why: "packed forms know no service and no store"},
	{folder: "core/fair", why: "who computes next is asked by all that compute"},
	{folder: "core/simd", bare: true, may: []string{"golang.org/x/sys"}, why: "kernels know nothing else"},
	{folder: "core/registry", may: []string{"core/port"}, why: "adapters come to the registry"},
	{folder: "core/seal", may: []string{"core/port"}, why: "what is sealed is the services' business"},
	{folder: "core/replica", may: []string{"core/port"}, why: "membership is below services"},
	{
		folder: "core/job",
		may:    []string{"core/port", "core/replica", "github.com/google/uuid"},
		why:    "jobs are below the services that say what they do",
	},
	{
		folder: "core/reindex",
		may:    []string{"core/ingest", "core/job", "core/port"},
		why:    "how vectors are recomputed is the services' business",
	},
	{
		folder: "core/middleware",
		may:    []string{"core/fair", "core/op", "core/port", "github.com/go-kit/kit", "go.opentelemetry.io/otel"},
		why:    "middlewares know operations, not services or transports",
	},
	{
		folder: "core/ingest",
		may: []string{"core/port", "core/filter", "core/simd", "core/span", "github.com/rivo/uniseg",
			"go.opentelemetry.io/otel"},
		why: "ingest is below services",
	},
	{
		folder: "core/retrieve",
		may:    []string{"core/ingest", "core/port", "core/filter", "core/span", "go.opentelemetry.io/otel"},
		why:    "retrieve is below services",
	},
	{
		folder: "core/dataset",
		only:   true,
		may:    []string{"core/port", "core/packing"},
		why:    "the format of a data set knows no service",
	},
	{
		folder: "core/dataset/installation",
		may:    []string{"core/dataset", "core/port", "core/packing"},
		why:    "a whole store is moved by its port, past the services",
	},
	{
		folder: "core/dataset/namespace",
		may:    []string{"core/dataset", "core/ingest", "core/port", "core/filter"},
		why:    "a service knows ports, not adapters, transports or other services' internals",
	},
	{
		folder: "core/backup",
		may: []string{"core/port", "core/packing", "filippo.io/age", "github.com/klauspost/compress",
			"golang.org/x/crypto/chacha20poly1305"},
		why: "a backup is of rows, whatever store and place they are of",
	},
	service("namespace"),
	service("document", "core/job", "core/reindex"),
	service("query"),
	service("rerank"),
	service("memory", "core/job", "core/reindex"),
	service("file", "core/document"),
	service("source", "core/job", "core/document", "core/file", "core/registry", "github.com/RoaringBitmap/roaring",
		"github.com/adhocore/gronx", "github.com/santhosh-tekuri/jsonschema"),
	service("event"),
	service("webhook", "core/event", "core/fair", "core/registry", "go.opentelemetry.io/otel"),
	service("key"),
	service("audit"),
	service("usage"),
	service("status"),
	service("model"),
	{
		folder: "core/openai",
		may: []string{"core/document", "core/file", "core/filter", "core/model", "core/namespace", "core/op", "core/port",
			"core/query",
			"core/retrieve", "github.com/google/uuid"},
		why: "a protocol puts other words before the services, and keeps what waits for being put into a namespace",
	},
	{
		folder: "core/mem0",
		may:    []string{"core/filter", "core/memory", "core/op", "core/port", "core/retrieve"},
		why:    "a protocol puts other words before the services and stores nothing",
	},
	{
		folder: "core/tool",
		may: []string{"core/document", "core/memory", "core/namespace", "core/query", "core/op", "core/port", "core/filter",
			"core/page"},
		why: "tools put the services of namespaces and of memories behind friendlier arguments",
	},
	{
		folder: "core/check",
		may:    []string{"core/query", "core/op", "core/port"},
		why:    "a check asks as any caller does",
	},
	{
		folder: "core/oauth",
		may:    []string{"core/op", "core/port"},
		why:    "the OAuth front lends a key to web clients",
	},
	{
		folder: "core/member",
		may:    []string{"core/op", "core/port", "core/page", "github.com/google/uuid", "golang.org/x/crypto/argon2"},
		why:    "members are people, whatever signs them in",
	},
	{
		folder: "core/session",
		may:    []string{"core/op", "core/port", "core/member"},
		why:    "a session stands for a key or a member and knows no page",
	},
	{
		folder: "core/admin",
		may: []string{"core/job", "core/key", "core/op", "core/organization", "core/port", "core/page", "core/reindex",
			"core/dataset"},
		why: "admin puts the key service behind operations",
	},
	{
		folder: "core/organization",
		may:    []string{"core/job", "core/key", "core/port"},
		why:    "a deletion calls what removes each part by functions that it is given",
	},
	{
		folder: fixtures + "/services",
		may:    []string{fixtures, "core/document", "core/ingest", "core/memory", "core/query", "core/retrieve"},
		why:    "tests above the services build them as the engine does",
	},
	{
		folder: fixtures,
		may: []string{"core/dataset", "core/ingest", "core/job", "core/key", "core/namespace", "core/op", "core/page",
			"core/port", "core/replica", "core/retrieve", "adapters/storage/sqlite", "adapters/index/embedded"},
		why: "tests of services stand on the default adapters",
	},
	{
		folder: "core/engine",
		may:    []string{"core", "github.com/go-kit/kit", "go.opentelemetry.io/otel", "golang.org/x/sync"},
		why:    "the engine builds services from ports and knows no adapter",
	},

	{
		folder: "transports/codec",
		may:    []string{"core/op", "core/filter", "github.com/invopop/jsonschema"},
		never:  []string{"net/http"},
		why:    "the codec serves every transport",
	},
	{
		folder: "transports/http",
		may:    []string{"core/op", "transports/codec", "github.com/go-kit/kit", "go.opentelemetry.io/otel"},
		why:    "a transport knows operations only",
	},
	{
		folder: "transports/mcp",
		may: []string{"core/op", "transports/codec", "github.com/modelcontextprotocol/go-sdk",
			"github.com/invopop/jsonschema"},
		why: "a transport knows operations only",
	},
	{
		folder: "transports/openapi",
		may: []string{"core/op", "transports/codec", "github.com/goccy/go-yaml",
			"github.com/invopop/jsonschema", "github.com/pb33f/ordered-map"},
		why: "the document derives from operations only",
	},
	{
		folder: "transports/oauth",
		may:    []string{"core/oauth", "transports/codec", "*"},
		why:    "the OAuth front's pages and endpoints, over a library",
	},
	{
		folder: "transports/console",
		may: []string{"core/op", "core/session", "core/member", "transports/codec", "core/admin", "core/audit", "core/check",
			"core/document", "core/event", "core/file", "core/memory", "core/model", "core/namespace", "core/query",
			"core/source",
			"core/status", "core/usage", "core/webhook"},
		never: []string{"database/sql"},
		why:   "pages call operations in process: of services they know the wire types, of ports and adapters nothing",
	},
	{
		folder: "transports/metrics",
		may:    []string{"github.com/prometheus/client_golang"},
		why:    "metrics know no operation",
	},
	{
		folder: "transports/reference",
		may:    []string{"github.com/swaggest/swgui"},
		why:    "pages know no operation",
	},
	{
		folder: "transports/transporttest",
		may:    []string{"core/op", "core/middleware", "transports"},
		why:    "scripts run over transports, not adapters",
	},

	{
		folder: "adapters/outbound",
		bare:   true,
		may:    []string{"code.dny.dev/ssrf"},
		why:    "a client for URLs from outside knows nobody that uses it",
	},
	{
		folder: "adapters/outbound/outboundtest",
		bare:   true,
		may:    []string{"golang.org/x/net"},
		why:    "a name server for tests knows no client",
	},
	{
		folder: "adapters/postgres",
		may:    []string{"core/registry", "github.com/jackc/pgx"},
		why:    "what the adapters over PostgreSQL share knows none of them",
	},
	{folder: "adapters/disk", bare: true, may: []string{"golang.org/x/sys"},
		why: "how files are written knows nothing of what is in them"},
	adapter("storage",
		"core/fair", "core/packing", "adapters/disk", "adapters/postgres", "github.com/uptrace/bun", "github.com/jackc/pgx",
		"modernc.org/sqlite", "github.com/gofrs/flock", "golang.org/x/sync"),
	adapter("index",
		"core/filter", "core/simd", "adapters/disk", "adapters/postgres", "github.com/jackc/pgx",
		"github.com/RoaringBitmap/roaring",
		"github.com/edsrzf/mmap-go", "github.com/meilisearch/meilisearch-go", "github.com/opensearch-project/opensearch-go",
		"golang.org/x/sync"),
	{
		folder: "adapters/index/analysis",
		bare:   true,
		may:    []string{"core/port", "golang.org/x/text", "github.com/kljensen/snowball", "github.com/blevesearch/snowballstem"},
		why:    "the analyzer serves every index and knows none",
	},
	adapter("model",
		"core/span", "wasm/host", "wasm/models", "plugins/host", "github.com/sashabaranov/go-openai",
		"github.com/hashicorp/go-retryablehttp", "github.com/sony/gobreaker", "golang.org/x/net", "golang.org/x/sync"),
	adapter("limit", "github.com/gomodule/redigo"),
	adapter("extract", "core/fair",
		"github.com/gabriel-vasile/mimetype", "github.com/wlynxg/chardet", "golang.org/x/text", "golang.org/x/net",
		"github.com/goccy/go-yaml", "github.com/BurntSushi/toml", "github.com/xuri/excelize",
		"github.com/asticode/go-astisub", "github.com/klippa-app/go-pdfium",
		"github.com/tetratelabs/wazero"),
	adapter("source",
		"adapters/outbound", "adapters/extract/markup", "plugins/host/connector", "github.com/bmatcuk/doublestar",
		"github.com/go-git/go-git", "golang.org/x/crypto/ssh", "codeberg.org/readeck/go-readability",
		"github.com/temoto/robotstxt", "github.com/mmcdole/gofeed", "github.com/minio/minio-go", "github.com/wlynxg/chardet",
		"golang.org/x/net", "golang.org/x/text"),
	{
		folder: "adapters/backup",
		may:    []string{"core/port", "adapters/disk", "github.com/gofrs/flock", "github.com/minio/minio-go"},
		why:    "a place for backups knows its port and not what is kept",
	},
	contract("adapters/backup/backuptest"),
	{
		folder: "adapters/webhook",
		may: []string{"core/port", "core/span", "adapters/outbound",
			"github.com/standard-webhooks/standard-webhooks/libraries"},
		why: "a sender knows its port, the guarded client and the standard's library",
	},
	{
		folder: "adapters/oidc",
		may:    []string{"core/port", "adapters/outbound", "github.com/coreos/go-oidc", "golang.org/x/oauth2"},
		why:    "who signs people in knows its port, the guarded client and the protocol's library",
	},
	contract("adapters/oidc/oidctest", "github.com/zitadel/oidc", "github.com/go-jose/go-jose"),
	contract("adapters/source/sourcetest"),
	contract("adapters/storage/storetest", "core/filter", "github.com/google/go-cmp", "pgregory.net/rapid"),
	contract("adapters/index/indextest", "core/filter", "pgregory.net/rapid"),
	contract("adapters/limit/limittest"),
	contract("adapters/extract/extracttest", "adapters/extract"),
	{
		folder: "adapters/standard",
		may:    []string{"adapters", "core/port", "core/registry"},
		why:    "it is the list of adapters and nothing else",
	},

	{folder: "plugins", only: true, bare: true, why: "the package of the folder is a description"},
	{folder: "plugins/proto", bare: true, may: []string{"google.golang.org"}, why: "the protocol knows nothing else"},
	{
		folder: "plugins/host",
		may: []string{"plugins/proto", "core/port", "core/span", "github.com/hashicorp", "google.golang.org",
			"golang.org/x/sync", "golang.org/x/sys"},
		why: "plugins implement ports out of process",
	},
	{
		folder: "plugins/host/supervise",
		may: []string{"core/port", "core/span", "github.com/hashicorp", "google.golang.org", "golang.org/x/sync",
			"golang.org/x/sys"},
		why: "supervision knows no service",
	},
	{
		folder: "plugins/sdk",
		may:    []string{"plugins/proto", "core/port", "github.com/hashicorp", "google.golang.org"},
		why:    "a vendor imports it without the host",
	},
	{
		folder: "plugins/examples",
		may:    []string{"plugins/sdk", "core/port"},
		why:    "an example is what a vendor starts from",
	},
	{folder: "plugins/kit", bare: true, why: "what kits share knows no port"},
	contract("plugins/modelkit", "plugins/kit"),
	contract("plugins/sourcekit", "plugins/kit", "github.com/santhosh-tekuri/jsonschema"),

	{folder: "wasm", only: true, bare: true, why: "the package of the folder embeds files"},
	{folder: "wasm/abi", bare: true, why: "the ABI knows nothing else"},
	{
		folder: "wasm/sdk",
		bare:   true,
		may:    []string{"wasm/abi"},
		why:    "a vendor's module has the ABI and nothing else of the product",
	},
	{
		folder: "wasm/examples",
		bare:   true,
		may:    []string{"wasm/abi", "wasm/sdk"},
		why:    "an example imports what a vendor can",
	},
	{
		folder: "wasm/host",
		may: []string{"wasm/abi", "wasm/tokenizer", "core/port", "core/simd", "core/fair",
			"github.com/tetratelabs/wazero"},
		why: "the host runs modules and knows none",
	},
	{
		folder: "wasm/tokenizer",
		bare:   true,
		may:    []string{"golang.org/x/text", "github.com/rivo/uniseg"},
		why:    "a tokenizer knows files and texts",
	},
	{folder: "wasm/guest", bare: true, may: []string{"golang.org/x/text"}, why: "guests know the ABI only"},
	{
		folder: "wasm/models",
		bare:   true,
		may:    []string{"wasm/abi", "wasm/tokenizer", "adapters/disk"},
		why:    "models are what the host runs, in files that are written whole",
	},
	contract("wasm/abitest", "wasm/abi", "wasm/host", "wasm/models"),

	{
		folder: "configs",
		may: []string{"core/registry", "core/port", "core/retrieve", "core/memory", "core/seal", "core/key",
			"github.com/goccy/go-yaml", "github.com/adhocore/gronx"},
		why: "configuration knows adapters through the registry only, and of core the measured defaults of retrieval " +
			"and memory and the forms of a sealing key and of the first key",
	},
	{folder: "docs/site", may: []string{"github.com/yuin/goldmark"}, why: "the site knows pages, not the program"},
	{folder: "deploy", bare: true, why: "what packs the program knows nothing of it"},
	{folder: "samples", bare: true, why: "samples are documents, not code"},
	{
		folder: "cmd/mneme",
		may:    []string{"core", "transports", "plugins", "adapters", "wasm", "configs", "samples", "*"},
		why:    "composition imports everything",
	},
	{folder: "cmd/mneme/internal/client", bare: true, why: "the client knows the wire, not the server"},
	{folder: "cmd/mneme/internal/bridge", bare: true, why: "the bridge knows the wire, not the server"},
}

// fixtures is what only tests may import.
const fixtures = "adapters/coretest"

func service(name string, more ...string) rule {
	return rule{
		folder: "core/" + name,
		may: append([]string{"core/constraint", "core/op", "core/port", "core/filter", "core/page", "core/ingest",
			"core/retrieve", "core/replica",
			"github.com/google/uuid", "golang.org/x/text"}, more...),
		why: "a service knows ports, not adapters, transports or other services' internals",
	}
}

func adapter(kind string, more ...string) rule {
	return rule{
		folder: "adapters/" + kind,
		may:    append([]string{"core/port", "core/registry"}, more...),
		why:    "an adapter knows its ports and its driver, not services, transports or another kind of adapter",
	}
}

// contract is the rule of a suite that every implementation of a port runs.
func contract(folder string, more ...string) rule {
	return rule{
		folder: folder,
		may:    append([]string{"core/port"}, more...),
		why:    "a contract suite knows its port and no implementation",
	}
}

// below reports whether a path is a folder or lies below it.
func below(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// ruleOf is the rule of the longest folder that holds a package.
func ruleOf(pkg string) (best rule, ok bool) {
	for _, r := range rules {
		if holds := pkg == r.folder || !r.only && below(pkg, r.folder); holds && (!ok || len(r.folder) > len(best.folder)) {
			best, ok = r, true
		}
	}
	return best, ok
}

// broken says which rule an import breaks; "" is none.
func broken(pkg, imported string) string {
	r, ok := ruleOf(pkg)
	if !ok {
		return pkg + " has no rule: add one to rules in core/arrows_test.go, " +
			"a row for it to docs/architecture.md, and run make generate"
	}
	target, ours := strings.CutPrefix(imported, module+"/")
	std := !ours && !strings.Contains(strings.SplitN(imported, "/", 2)[0], ".")
	refuse := func(why string) string {
		return fmt.Sprintf("%s imports %s, which the rule of %s refuses: %s (%s)", pkg, target, r.folder, r.why, why)
	}
	switch {
	case ours && below(target, fixtures) && !below(pkg, fixtures):
		return refuse("only tests may")
	case std && below(pkg, "core") && slices.Contains(ioPackages, target):
		return refuse("core leaves it to adapters and transports")
	case std && slices.Contains(r.never, target):
		return refuse("never " + target)
	case std, ours && below(target, r.folder) && !r.only:
		return ""
	case ours && !r.bare && slices.Contains([]string{"core/fault", "core/ident"}, target):
		return ""
	}
	for _, m := range r.may {
		if below(target, m) || m == "*" && !ours {
			return ""
		}
	}
	return refuse("not among what it may import")
}

// imports lists every package, with what its files other than tests import.
func imports(t *testing.T, root string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if file != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" ||
				name == "node_modules") {
				return filepath.SkipDir
			}
			if file != root {
				if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil {
					return filepath.SkipDir // a module of its own
				}
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := path.Clean(filepath.ToSlash(rel))
		if _, ok := out[pkg]; !ok {
			out[pkg] = nil
		}
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(out[pkg], p) {
				out[pkg] = append(out[pkg], p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestArrows(t *testing.T) {
	all := imports(t, "..")
	if len(all["core/op"]) == 0 {
		t.Fatal("the tree was not found")
	}
	for pkg, list := range all {
		for _, p := range list {
			if why := broken(pkg, p); why != "" {
				t.Error(why)
			}
		}
	}
}

// The table must refuse what it is there to refuse.
func TestArrowsRefuse(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		refused       bool
	}{
		{"core/document", module + "/adapters/storage/sqlite", true},
		{"core/document", module + "/core/namespace", true},
		{"core/document", module + "/transports/http", true},
		{"core/document", "net/http", true},
		{"core/document", module + "/adapters/coretest", true},
		{"core/engine", module + "/adapters/coretest", true},
		{"cmd/mneme", module + "/adapters/coretest", true},
		{"adapters/coretest", module + "/adapters/storage/sqlite", false},
		{"adapters/coretest", module + "/adapters/storage/postgres", true},
		{"adapters/coretest", module + "/core/document", true},
		{"core/document", "database/sql", true},
		{"core/document", module + "/core/port", false},
		{"core/document", module + "/core/fault", false},
		{"core/fault", module + "/core/port", true},
		{"core/port", module + "/core/document", true},
		{"core/port", module + "/core/registry", true},
		{"core/engine", module + "/core/document", false},
		{"core/engine", module + "/adapters/standard", true},
		{"core/simd", module + "/core/fault", true},
		{"transports/http", module + "/core/document", true},
		{"transports/http", module + "/core/port", true},
		{"transports/http", module + "/transports/mcp", true},
		{"transports/http", module + "/core/op", false},
		{"transports/codec", module + "/transports/http", true},
		{"adapters/storage/sqlite", module + "/adapters/index/embedded", true},
		{"adapters/storage/sqlite", module + "/adapters/storage/bunsql", false},
		{"adapters/storage/sqlite", module + "/core/document", true},
		{"adapters/index/embedded", "example.com/driver", true},
		{"adapters/index/embedded", module + "/adapters/index/analysis", false},
		{"adapters/index/analysis", module + "/adapters/index/embedded", true},
		{"adapters/index/embedded", module + "/core/simd", false},
		{"wasm/abi", module + "/core/port", true},
		{"wasm/models/pack", module + "/wasm/host", true},
		{"wasm/host", module + "/adapters/model/wasm", true},
		{"configs", module + "/adapters/standard", true},
		{"cmd/mneme", module + "/adapters/standard", false},
		{"cmd/mneme", "github.com/spf13/cobra", false},
		{"tools", "fmt", true},
	} {
		if why := broken(c.pkg, c.imported); (why != "") != c.refused {
			t.Errorf("%s importing %s: refused %v (%s), want %v", c.pkg, c.imported, why != "", why, c.refused)
		}
	}
}
