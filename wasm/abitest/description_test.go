package abitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mnemehq/mneme/wasm/host"
)

// TestDescriptionSchema: what the published schema refuses of a description the host refuses,
// and a module whose description it takes is opened.
func TestDescriptionSchema(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "abi", "description.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) any {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("description.json", read(string(b))); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile("description.json")
	change := func(old, replacement string) string {
		if !strings.Contains(described, old) {
			t.Fatalf("there is no %s in %s", old, described)
		}
		return strings.Replace(described, old, replacement, 1)
	}
	for text, good := range map[string]bool{
		described: true,
		change(`"licence"`, `"$schema":"description.schema.json","licence"`): true,
		change(`"stranger"`, `"`+strings.Repeat("n", 257)+`"`):               false,
		change(`"stranger"`, `7`):                                            false,
		change(`"embedding"`, `"sing"`):                                      false,
		change(`"max_tokens":100000`, `"max_tokens":0`):                      false,
		change(`"max_tokens":100000`, `"max_tokens":1048577`):                false,
		change(`"dim":4`, `"dim":65537`):                                     false,
		change(`"normalized":true`, `"normalized":"yes"`):                    false,
		`{"name":"x","version":"1","tasks":[]}`:                              false,
	} {
		if err := schema.Validate(read(text)); (err == nil) != good {
			t.Errorf("%s: the schema says %v", text, err)
		}
		m, err := host.Open(t.Context(), host.Module{Wasm: stranger{describe: text}.wasm(), Config: []byte("{}")}, limits())
		if (err == nil) != good {
			t.Errorf("%s: the host says %v", text, err)
		}
		if err == nil {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
