package console

import (
	"bytes"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/namespace"
)

// What a page of fifty rows costs beside its calls: making and compressing it.
func BenchmarkPages(b *testing.B) {
	l, err := newLooks()
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	users := usersModel{First: true, Next: "x"}
	keys := keysModel{First: true, CanMake: true}
	documents := documentsModel{Namespace: namespace.Namespace{Name: "docs"}, First: true, CanWrite: true}
	for i := range 50 {
		id := fmt.Sprintf("row-%d", i)
		users.Users = append(users.Users, admin.EndUser{ID: id, Integration: "int_1", IntegrationName: "bot", FirstSeen: now,
			LastSeen: now})
		keys.Keys = append(keys.Keys, admin.Key{ID: id, Name: id, Kind: "service", Prefix: "sk-service-", LastFour: "abcd",
			State: "live", CreatedAt: now, LastUsedAt: &now, ExpiresAt: &now})
		documents.Documents = append(documents.Documents, document.Head{ID: id, Chunks: 3, UpdatedAt: now})
	}
	for name, model := range map[string]any{"users": users, "keys": keys, "documents": documents} {
		b.Run(name, func(b *testing.B) {
			var out bytes.Buffer
			around := frame{Title: name, Root: "../console", Org: "default", Signed: true, Page: model}
			page, err := l.pages[name]()
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				out.Reset()
				if err := page.Execute(&out, around); err != nil {
					b.Fatal(err)
				}
				if _, err := zip(out.Bytes()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
}

// A form offers each setting of a kind of source as what it is, and reads it back.
func TestSettingsOfAKind(t *testing.T) {
	schema := []byte(`{"type": "object", "required": ["url"], "properties": {
		"depth": {"type": "integer", "default": 3}, "include": {"type": "array", "items": {"type": "string"}},
		"same": {"type": "boolean", "default": true}, "url": {"type": "string", "format": "uri", "maxLength": 9},
		"how": {"enum": ["a", "b"]}, "more": {"type": "object"}, "share": {"type": "number"}}}`)
	fields := schemaFields("config", schema, false)
	var names []string
	for _, f := range fields {
		names = append(names, f.Name+" "+f.Type)
	}
	want := []string{"config.url string", "config.depth integer", "config.include array", "config.same boolean",
		"config.how json", "config.more json", "config.share number"}
	if fmt.Sprint(names) != fmt.Sprint(want) {
		t.Fatalf("fields %v", names)
	}
	values := map[string][]string{"config.url": {"https://x"}, "config.depth": {" 5 "}, "config.include": {"a\r\n\r\n b "},
		"config.more": {`{"x": 1}`}, "config.share": {"0.5"}}
	got := map[string]any{}
	for _, f := range fields {
		if x, ok := f.read(values); ok {
			got[f.Name] = x
		}
	}
	raw, err := marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	const is = `{"config.depth":5,"config.include":["a","b"],"config.more":{"x":1},"config.same":false,"config.share":0.5,` +
		`"config.url":"https://x"}`
	if string(raw) != is {
		t.Errorf("read %s", raw)
	}
	if x, _ := fields[1].read(map[string][]string{"config.depth": {"deep"}}); x != "deep" {
		t.Errorf("what is no number is handed on as %v", x)
	}
	filled := map[string][]string{}
	for _, f := range fields {
		f.fill(filled, nil)
	}
	if fmt.Sprint(filled) != "map[config.same:[1]]" {
		t.Errorf("without settings it is filled with %v", filled)
	}
	if f := fields[0].Field(form{}); !f.Required || f.Max != "9" || f.Mode != "url" || f.Label != "URL" {
		t.Errorf("the field is %+v", f)
	}
	if f := fields[4].Field(form{}); len(f.Choices) != 3 {
		t.Errorf("the choices are %+v", f.Choices)
	}
	secrets := schemaFields("secrets",
		[]byte(`{"properties": {"key": {"type": "string", "description": "the private key for it"}}}`), true)
	if f := secrets[0].Field(form{values: url.Values{"secrets.key": {"hush"}}}); f.Rows == "" || f.Value != "" {
		t.Errorf("a secret of several lines is shown again: %+v", f)
	}
}

func TestTimesAheadAndBehind(t *testing.T) {
	for d, want := range map[time.Duration]string{30 * time.Second: "in less than a minute", 90 * time.Minute: "in 1 hour",
		-5 * time.Minute: "5 minutes ago", 73 * time.Hour: "in 3 days", -49 * time.Hour: "2 days ago"} {
		if got := until(time.Now().Add(d + time.Second*map[bool]time.Duration{true: 1, false: -1}[d > 0])); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for n, want := range map[string]int64{"": 0, "12": 12, "1 048 576": 1 << 20, "1\u202f000": 1000} {
		if got, ok := count(n); !ok || got != want {
			t.Errorf("%q is %d", n, got)
		}
	}
	for _, n := range []string{"-1", "x", "1.5"} {
		if _, ok := count(n); ok {
			t.Errorf("%q is a number", n)
		}
	}
	if percent(5, int64(0)) != 0 || percent(5, 10) != 50 || percent(20, 10) != 100 || percent(-1, 10) != 0 {
		t.Error("shares are of 0 to 100")
	}
	if got := fileName(".csv", "mneme", `a/b"c`, "é"); got != "mneme-a_b_c-_.csv" {
		t.Errorf("the file is named %s", got)
	}
	if sentence("the name is taken") != "The name is taken." || sentence("config.path: no") != "config.path: no." {
		t.Error("messages are sentences, and names stay as they are")
	}
}
