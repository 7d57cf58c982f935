package console

import (
	"bytes"
	"encoding/json"
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
	// A secret is typed again, removed by its tick, or kept by neither; what is typed wins.
	m := connectModel{Secrets: schemaFields("secrets", []byte(`{"properties": {"token": {"type": "string"}}}`), true)}
	for sent, want := range map[string]string{"": "map[]", "secrets.token=a%0D%0Ab": "map[token:a\nb]",
		"remove.token=1": "map[token:]", "secrets.token=x&remove.token=1": "map[token:x]"} {
		values, err := url.ParseQuery(sent)
		if err != nil {
			t.Fatal(err)
		}
		if _, secrets := m.settings(values); fmt.Sprint(secrets) != want {
			t.Errorf("%q gives the secrets %v, want %s", sent, secrets, want)
		}
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
	if got := fileName(".csv", "mneme", `a/b"c`, "é", "azAZ09"); got != "mneme-a_b_c-_-azAZ09.csv" {
		t.Errorf("the file is named %s", got)
	}
	if sentence("the name is taken") != "The name is taken." || sentence("config.path: no") != "config.path: no." {
		t.Error("messages are sentences, and names stay as they are")
	}
}

// Each kind of setting gets the field that fits, named for people.
func TestFieldsOfSettings(t *testing.T) {
	of := func(schema string, secret bool) schemaField {
		t.Helper()
		all := schemaFields("config", []byte(`{"properties": {`+schema+`}}`), secret)
		if len(all) != 1 {
			t.Fatalf("%s has the fields %v", schema, all)
		}
		return all[0]
	}
	field := func(schema string, secret bool, values url.Values) field {
		return of(schema, secret).Field(form{values: values})
	}
	for name, label := range map[string]string{"base_url": "Base URL", "url": "URL", "follow-symlinks": "Follow symlinks",
		"s3_key_id": "S3 key ID", "api": "API", "max_html_size": "Max HTML size"} {
		if f := field(`"`+name+`": {"type": "string"}`, false, nil); f.Label != label || f.ID != "config-"+name {
			t.Errorf("%s is labelled %q with id %s", name, f.Label, f.ID)
		}
	}
	if f := field(`"a": {"type": "string", "title": "Whose", "default": "me", "maxLength": 1}`, false,
		url.Values{"config.a": {"x"}}); f.Label != "Whose" || f.Placeholder != "me" || f.Max != "1" || f.Value != "x" ||
		!f.Code || f.Kind != "text" || f.Mode != "" || f.Rows != "" {
		t.Errorf("a text: %+v", f)
	}
	if f := field(`"a": {"type": "string"}`, false, nil); f.Max != "" || f.Required || f.Placeholder != "" {
		t.Errorf("a text without bounds: %+v", f)
	}
	for _, kind := range []string{"integer", "number"} {
		if f := field(`"a": {"type": "`+kind+`", "default": 3}`, false, nil); f.Mode != "decimal" || f.Placeholder != "3" {
			t.Errorf("a number: %+v", f)
		}
	}
	if f := field(`"a": {"type": "array", "items": {"type": "string"}, "description": "Paths."}`, false, nil); f.Rows != "3" ||
		f.Hint != "Paths. One a line." {
		t.Errorf("a list: %+v", f)
	}
	for _, schema := range []string{`{"type": "array"}`, `{"type": "array", "items": {"type": "number"}}`, `{"type": "object"}`,
		`{"type": ["string", "null"]}`} {
		if f := field(`"a": `+schema, false, nil); f.Rows != "4" || f.Hint != "As JSON." {
			t.Errorf("%s: %+v", schema, f)
		}
	}
	how := field(`"a": {"enum": ["x", 2]}`, false, url.Values{"config.a": {"2"}})
	if fmt.Sprint(how.Choices) != "[{ as usual false} {x x false} {2 2 true}]" {
		t.Errorf("choices %v", how.Choices)
	}
	required := schemaFields("config", []byte(`{"required": ["a"], "properties": {"a": {"enum": ["x"]}}}`), false)
	if f := required[0].Field(form{}); !f.Required || fmt.Sprint(f.Choices) != "[{x x false}]" {
		t.Errorf("choices of what is required: %+v", f)
	}
	for _, secret := range []bool{false, true} {
		f := field(`"a": {"type": "string", "description": "a private key for it"}`, secret, nil)
		if (f.Rows == "5") != secret || f.Kind != "text" {
			t.Errorf("a key of several lines, secret %v: %+v", secret, f)
		}
		if f := field(`"a": {"type": "string"}`, secret, nil); (f.Kind == "password") != secret || f.Rows != "" {
			t.Errorf("a text, secret %v: %+v", secret, f)
		}
	}
	key := schemaFields("secrets", []byte(`{"required": ["a"], "properties": {"a": {"type": "string"}}}`), true)
	if f := key[0].Field(form{}); f.Required { // one that is set is kept by an empty field
		t.Errorf("a secret that the schema requires: %+v", f)
	}
	if b := of(`"a": {"type": "boolean"}`, false); !b.Boolean() || of(`"a": {"type": "string"}`, false).Boolean() {
		t.Error("boxes are not told from fields")
	}
	for _, schema := range []string{`nonsense`, `{}`, `{"properties": []}`, `{"properties": 5}`} {
		if all := schemaFields("config", []byte(schema), false); all != nil {
			t.Errorf("%s has the fields %v", schema, all)
		}
	}
	if all := schemaFields("config", []byte(`{"properties": {"a": {"type": "string"}, "b": 5, "c": {}}}`), false); len(all) != 1 {
		t.Errorf("up to what cannot be read there are %v", all)
	}
}

// A form shows the settings that are stored, and what it does not set is left out when it is read.
func TestSettingsThatAreStored(t *testing.T) {
	fields := schemaFields("config", []byte(`{"properties": {"text": {"type": "string", "default": "d"},
		"size": {"type": "integer"}, "share": {"type": "number"}, "on": {"type": "boolean", "default": true},
		"off": {"type": "boolean"}, "list": {"type": "array", "items": {"type": "string"}}, "more": {"type": "object"}}}`), false)
	fill := func(stored map[string]json.RawMessage) url.Values {
		values := url.Values{}
		for _, f := range fields {
			f.fill(values, stored)
		}
		return values
	}
	got := fill(map[string]json.RawMessage{"text": []byte(`"one"`), "size": []byte(`5`), "share": []byte(`0.5`),
		"on": []byte(`false`), "off": []byte(`true`), "list": []byte(`["a", "b"]`), "more": []byte(`{"x":1}`)})
	want := url.Values{"config.text": {"one"}, "config.size": {"5"}, "config.share": {"0.5"}, "config.off": {"1"},
		"config.list": {"a\nb"}, "config.more": {"{\n  \"x\": 1\n}"}}
	if got.Encode() != want.Encode() {
		t.Errorf("filled with %v", got)
	}
	// What is not stored is as usual: a box shows that, a field is empty.
	if got := fill(map[string]json.RawMessage{"list": []byte(`5`), "text": []byte(`null`)}); got.Get("config.on") != "1" ||
		got.Has("config.list") || got.Get("config.text") != "" || got.Has("config.size") || got.Has("config.off") {
		t.Errorf("of what is missing or cannot be read: %v", got)
	}
	for _, x := range []struct{ field, typed, want string }{
		{"text", " a\r\nb ", `" a\nb "`}, {"text", "", ""}, {"size", "5 ", "5"}, {"size", " ", ""}, {"size", "5.5", `"5.5"`},
		{"share", "1e2", "100"}, {"share", "half", `"half"`}, {"list", "a\r\n\r\n b", `["a","b"]`}, {"list", " \r\n", ""},
		{"more", `{"a": 1}`, `{"a":1}`}, {"more", `{"a`, `"{\"a"`}, {"on", "", "false"}, {"on", "1", "true"},
	} {
		for _, f := range fields {
			if f.Name != "config."+x.field {
				continue
			}
			value, ok := f.read(url.Values{f.Name: {x.typed}})
			raw, err := json.Marshal(value)
			if err != nil || ok != (x.want != "") || ok && string(raw) != x.want {
				t.Errorf("%s as %q is read as %s, %v (%v)", x.field, x.typed, raw, ok, err)
			}
		}
	}
	for raw, text := range map[string]string{``: "", `null`: "", `"a"`: "a", `3`: "3", `true`: "true", `{`: ""} {
		if got := plainRaw([]byte(raw)); got != text {
			t.Errorf("%s is written %q", raw, got)
		}
	}
	if got := indentPlain([]byte(`{`)); got != "{" {
		t.Errorf("what is no JSON is written %q", got)
	}
}
