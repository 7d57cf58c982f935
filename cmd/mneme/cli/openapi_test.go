package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

const (
	golden   = "../../../docs/openapi.yaml"
	released = "../../../docs/openapi.released.yaml"
)

// The document in the repository is what the program says; make generate writes it.
func TestTheOpenAPIDocumentInTheRepositoryIsCurrent(t *testing.T) {
	got := mneme(t, "openapi")
	if got.Code != 0 {
		t.Fatalf("exit %d: %s", got.Code, got.Stderr)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.Stdout), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.Stdout); diff != "" {
		t.Errorf("docs/openapi.yaml is out of date; run make generate (-repository +program):\n%s", diff)
	}
}

// Both renderings say the same, on every run.
func TestTheRenderingsOfTheOpenAPIDocumentAreEqual(t *testing.T) {
	asYAML := mneme(t, "openapi", "--base-url", "https://mneme.example.com/api")
	asJSON := mneme(t, "openapi", "--base-url", "https://mneme.example.com/api", "--format", "json")
	if again := mneme(t, "openapi", "--base-url", "https://mneme.example.com/api", "--format",
		"json"); again.Stdout != asJSON.Stdout {
		t.Error("the JSON rendering differs between two runs")
	}
	converted, err := yaml.YAMLToJSON([]byte(asYAML.Stdout))
	if err != nil {
		t.Fatal(err)
	}
	fromYAML, fromJSON := decoded(t, converted), decoded(t, []byte(asJSON.Stdout))
	if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
		t.Errorf("the renderings differ (-JSON +YAML):\n%s", diff)
	}
	if got := fromJSON.(map[string]any)["servers"].([]any)[0].(map[string]any)["url"]; got != "https://mneme.example.com/api" {
		t.Errorf("the server is %v", got)
	}
}

func decoded(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAnUnknownFormatOfTheOpenAPIDocumentIsAMistake(t *testing.T) {
	if got := mneme(t, "openapi", "--format", "toml"); got.Code != 2 {
		t.Errorf("exit %d: %s", got.Code, got.Stderr)
	}
}

// A server gives the document and the page to anyone, and the document is what the
// command prints, for the URL that clients use.
func TestAServerGivesItsDocumentToAnyone(t *testing.T) {
	data := t.TempDir()
	r := start(t, "--data", data, "--config", keywordOnly(t))
	printed := map[string]string{"/openapi.json": mneme(t, "openapi", "--format", "json").Stdout,
		"/openapi.yaml": mneme(t, "openapi").Stdout}
	for path, want := range printed {
		answer, err := http.Get(r.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.Body.Close() != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != 200 || string(body) != want || answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d, %d bytes, printed are %d: %v", path, answer.StatusCode, len(body), len(want), answer.Header)
		}
		again, err := http.NewRequest(http.MethodGet, r.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		again.Header.Set("If-None-Match", answer.Header.Get("ETag"))
		if known, err := http.DefaultClient.Do(again); err != nil || known.StatusCode != http.StatusNotModified {
			t.Errorf("%s asked again: %v %v", path, known, err)
		}
	}
	if status, body := call(t, http.MethodGet, r.URL+"/docs", "", ""); status != 200 || !strings.Contains(body, "swagger-ui") {
		t.Errorf("/docs: %d %.200s", status, body)
	}
	if status, body := call(t, http.MethodPost, r.URL+"/openapi.json", "", "{}"); status != 405 ||
		!strings.Contains(body, "method_not_allowed") {
		t.Errorf("POST: %d %s", status, body)
	}
}

// What was published does not break.
func TestNothingBreaksClientsOfTheLastRelease(t *testing.T) {
	if got := mneme(t, "openapi", "diff", released); got.Code != 0 || got.Stdout != "" {
		t.Errorf("exit %d; against the last release these break (docs/versioning.md says what may change):\n%s%s",
			got.Code, got.Stdout, got.Stderr)
	}
	changed, err := os.ReadFile(released)
	if err != nil {
		t.Fatal(err)
	}
	narrow := filepath.Join(t.TempDir(), "narrow.yaml")
	changed = bytes.ReplaceAll(changed, []byte("maxLength: 8192"), []byte("maxLength: 8000"))
	if err := os.WriteFile(narrow, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := mneme(t, "openapi", "diff", released, narrow); got.Code != 1 ||
		!strings.Contains(got.Stdout, "query: has the maxLength 8000 instead of 8192") {
		t.Errorf("exit %d: %s%s", got.Code, got.Stdout, got.Stderr)
	}
	if got := mneme(t, "openapi", "diff", "nowhere.yaml"); got.Code != 1 || !strings.Contains(got.Stderr, "nowhere.yaml") {
		t.Errorf("exit %d: %s", got.Code, got.Stderr)
	}
}
