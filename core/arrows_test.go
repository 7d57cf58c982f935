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

// rule says what the packages below a folder may import beside the standard
// library, core/fault and core/ident. The rule of the longest matching folder
// holds. An entry of may is a folder of this module, which stands for everything
// below it, or a module path outside.
type rule struct {
	folder string
	may    []string
	never  []string // standard packages and folders refused although may or std allows them
	why    string
}

// io are the parts of the standard library that core leaves to adapters and
// transports.
var ioPackages = []string{"net", "net/http", "database/sql", "os/exec", "syscall", "plugin"}

// rules is the table of docs/architecture.md.
var rules = []rule{
	{folder: "core", never: ioPackages, why: "core is the product without I/O"},
	{folder: "core/fault", never: append([]string{"core"}, ioPackages...), why: "fault is below everything"},
	{folder: "core/ident", never: append([]string{"core"}, ioPackages...), why: "ident is below everything"},
	{folder: "core/op", may: []string{"github.com/go-kit/kit/endpoint"}, never: ioPackages, why: "the operation table knows no service"},
	{folder: "core/port", may: []string{"core/filter"}, never: ioPackages, why: "ports know no service"},
	{folder: "core/filter", never: append([]string{"core/port"}, ioPackages...), why: "filters are below ports"},
	{folder: "core/page", never: ioPackages, why: "cursors know no service"},
	{folder: "core/packing", may: []string{"core/port"}, never: ioPackages, why: "packed forms know no service and no store"},
	{folder: "core/dataset", may: []string{"core/port", "core/packing"}, never: ioPackages, why: "the format of a data set knows no service"},
	{folder: "core/transfer", may: []string{"core/dataset", "core/ingest", "core/port", "core/filter"}, never: ioPackages,
		why: "a service knows ports, not adapters, transports or other services' internals"},
	{folder: "core/simd", may: []string{"core/simd", "golang.org/x/sys"}, never: append([]string{"core/fault", "core/ident"}, ioPackages...), why: "kernels know nothing else"},
	{folder: "core/registry", may: []string{"core/port"}, never: ioPackages, why: "adapters come to the registry"},
	{folder: "core/middleware", may: []string{"core/op", "core/port", "github.com/go-kit/kit", "go.opentelemetry.io/otel"}, never: ioPackages,
		why: "middlewares know operations, not services or transports"},
	{folder: "core/ingest", may: []string{"core/ingest", "core/port", "core/filter", "core/simd", "github.com/rivo/uniseg", "golang.org/x/text", "golang.org/x/sync"},
		never: ioPackages, why: "ingest is below services"},
	{folder: "core/retrieve", may: []string{"core/ingest", "core/port", "core/filter", "golang.org/x/sync"}, never: ioPackages, why: "retrieve is below services"},
	{folder: "core/engine", may: []string{"core", "github.com/go-kit/kit", "go.opentelemetry.io/otel", "golang.org/x/sync"}, never: ioPackages,
		why: "the engine builds services from ports and knows no adapter"},
	service("namespace"), service("document"), service("query"), service("rerank"), service("memory"), service("source"),
	{folder: "core/replica", may: []string{"core/port"}, never: ioPackages, why: "membership is below services"},
	service("key"), service("status"), service("model"),
	{folder: "core/tool", may: []string{"core/document", "core/namespace", "core/query", "core/op", "core/port", "core/filter", "core/page"}, never: ioPackages,
		why: "tools put the services of namespaces behind friendlier arguments"},
	{folder: "core/oauth", may: []string{"core/key", "core/op", "core/port"}, never: ioPackages, why: "the OAuth front lends a key to web clients"},
	{folder: "core/admin", may: []string{"core/key", "core/op", "core/port", "core/page", "core/ingest", "core/dataset", "core/transfer"}, never: ioPackages, why: "admin puts the key service behind operations"},

	{folder: "transports", why: "a transport knows operations only"},
	{folder: "transports/codec", may: []string{"core/op", "core/filter", "github.com/invopop/jsonschema", "github.com/pb33f/ordered-map"}, never: []string{"net/http"}, why: "the codec serves every transport"},
	{folder: "transports/http", may: []string{"core/op", "transports/codec", "github.com/go-kit/kit", "go.opentelemetry.io/otel"}, why: "a transport knows operations only"},
	{folder: "transports/metrics", may: []string{"github.com/prometheus/client_golang"}, why: "metrics know no operation"},
	{folder: "transports/mcp", may: []string{"core/op", "transports/codec", "github.com/modelcontextprotocol/go-sdk", "github.com/invopop/jsonschema"}, why: "a transport knows operations only"},
	{folder: "transports/openapi", may: []string{"core/op", "transports/codec", "github.com/goccy/go-yaml", "github.com/invopop/jsonschema", "github.com/pb33f/ordered-map"}, why: "the document derives from operations only"},
	{folder: "transports/oauth", may: []string{"core/oauth", "core/op", "*"}, why: "the OAuth front's pages and endpoints, over a library"},
	{folder: "transports/reference", may: []string{"github.com/swaggest/swgui"}, why: "pages know no operation"},
	{folder: "transports/transporttest", may: []string{"core/op", "core/middleware", "transports"}, why: "scripts run over transports, not adapters"},

	{folder: "plugins", may: []string{"plugins", "core/port", "github.com/hashicorp", "google.golang.org", "golang.org/x/sync", "golang.org/x/sys"}, why: "plugins implement ports out of process"},
	{folder: "plugins/proto", may: []string{"google.golang.org"}, never: []string{"core"}, why: "the protocol knows nothing else"},
	{folder: "plugins/sdk", may: []string{"plugins/proto", "core/port", "github.com/hashicorp", "google.golang.org"}, why: "a vendor imports it without the host"},
	{folder: "plugins/examples", may: []string{"plugins/sdk", "core/port"}, why: "an example is what a vendor starts from"},

	{folder: "adapters", why: "an adapter names what it may import"},
	{folder: "adapters/postgres", may: []string{"core/registry", "github.com/jackc/pgx"}, why: "what the adapters over PostgreSQL share knows none of them"},
	adapter("storage", "core/filter", "core/packing", "adapters/postgres", "github.com/uptrace/bun", "modernc.org/sqlite", "github.com/gofrs/flock", "github.com/jackc/pgx", "golang.org/x/sync"),
	adapter("index", "core/filter", "core/simd", "adapters/postgres", "github.com/RoaringBitmap/roaring", "github.com/kljensen/snowball", "golang.org/x/text", "golang.org/x/sys",
		"golang.org/x/sync", "github.com/rivo/uniseg", "github.com/edsrzf/mmap-go", "github.com/klauspost/compress", "github.com/meilisearch/meilisearch-go", "github.com/jackc/pgx", "github.com/uptrace/bun"),
	contract("adapters/storage/storetest", "core/filter"), contract("adapters/index/indextest", "core/filter"), contract("adapters/limit/limittest"),
	contract("adapters/source/sourcetest", "core/filter"), contract("plugins/modelkit", "plugins/modelkit"), contract("wasm/abitest", "wasm/abi", "wasm/host", "wasm/models", "github.com/tetratelabs/wazero"),
	adapter("model", "wasm/host", "wasm/models", "plugins/host", "golang.org/x/sync", "github.com/sashabaranov/go-openai", "github.com/hashicorp/go-retryablehttp", "github.com/sony/gobreaker", "golang.org/x/net"),
	adapter("source", "golang.org/x/net"), adapter("limit", "github.com/redis/go-redis"),
	{folder: "adapters/standard", may: []string{"adapters", "core/registry"}, why: "it is the list of adapters and nothing else"},

	{folder: "wasm", why: "a part of wasm names what it may import"},
	{folder: "wasm/abi", never: []string{"core"}, why: "the ABI knows nothing else"},
	{folder: "wasm/sdk", may: []string{"wasm/abi"}, never: []string{"core"}, why: "a vendor's module has the ABI and nothing else of the product"},
	{folder: "wasm/examples", may: []string{"wasm/abi", "wasm/sdk"}, never: []string{"core"}, why: "an example imports what a vendor can"},
	{folder: "wasm/host", may: []string{"wasm/abi", "wasm/host", "core/port", "core/simd", "github.com/tetratelabs/wazero", "golang.org/x/sys", "golang.org/x/sync"},
		why: "the host runs modules and knows none"},
	{folder: "wasm/guest", may: []string{"wasm/abi", "golang.org/x/text"}, why: "guests know the ABI only"},
	{folder: "wasm/models", may: []string{"wasm/abi", "wasm/models", "golang.org/x/text", "golang.org/x/sync"}, never: []string{"wasm/host"}, why: "models are what the host runs"},

	{folder: "configs", may: []string{"core/registry", "core/port", "github.com/goccy/go-yaml", "github.com/invopop/jsonschema", "github.com/pb33f/ordered-map"},
		why: "configuration knows adapters through the registry only"},
	{folder: "samples", why: "samples are documents, not code"},
	{folder: "cmd", may: []string{"core", "transports", "plugins", "adapters", "wasm", "configs", "cmd", "samples", "*"}, why: "composition imports everything"},
}

func service(name string) rule {
	return rule{folder: "core/" + name, may: []string{"core/" + name, "core/op", "core/port", "core/filter", "core/page", "core/retrieve", "core/ingest", "core/replica",
		"github.com/google/uuid", "golang.org/x/text", "github.com/rivo/uniseg"},
		never: ioPackages, why: "a service knows ports, not adapters, transports or other services' internals"}
}

func adapter(kind string, more ...string) rule {
	folder := "adapters/" + kind
	return rule{folder: folder, may: append([]string{folder, "core/port", "core/registry"}, more...),
		why: "an adapter knows its ports and its driver, not services, transports or another kind of adapter"}
}

// contract is the rule of a suite that every implementation of a port runs.
func contract(folder string, more ...string) rule {
	return rule{folder: folder, may: append([]string{folder, "core/port", "github.com/google/go-cmp", "pgregory.net/rapid"}, more...),
		why: "a contract suite knows its port and no implementation"}
}

// below reports whether a path is a folder or lies below it.
func below(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// ruleOf is the rule of the longest folder that holds a package.
func ruleOf(pkg string) (best rule, ok bool) {
	for _, r := range rules {
		if below(pkg, r.folder) && (!ok || len(r.folder) > len(best.folder)) {
			best, ok = r, true
		}
	}
	return best, ok
}

// broken says which rule an import breaks; "" is none.
func broken(pkg, imported string) string {
	r, ok := ruleOf(pkg)
	if !ok {
		return fmt.Sprintf("%s lies in no folder of the table", pkg)
	}
	inside, ours := strings.CutPrefix(imported, module+"/")
	target := imported
	if ours {
		target = inside
	}
	refuse := func(why string) string {
		return fmt.Sprintf("%s imports %s, which the rule of %s refuses: %s (%s)", pkg, target, r.folder, r.why, why)
	}
	for _, n := range r.never {
		if target == n || ours && below(target, n) && !below(n, r.folder) && target != pkg {
			return refuse("never " + n)
		}
	}
	std := !ours && !strings.Contains(strings.SplitN(imported, "/", 2)[0], ".")
	if std || slices.Contains([]string{"core/fault", "core/ident"}, target) {
		return ""
	}
	for _, m := range r.may {
		if below(target, m) || m == "*" && !ours {
			return ""
		}
	}
	return refuse("not among what it may import")
}

// imports lists what a package's files other than tests import.
func imports(t *testing.T, root string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if file != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules") {
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
