package filter_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
)

func metadata(t testing.TB, raw string) filter.Metadata {
	t.Helper()
	m, err := filter.ParseMetadata("metadata", json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMatch(t *testing.T) {
	doc := `{"n":3,"f":0.10,"pi":-31.4e-1,"thousand":1.0e3,"s":"three",` +
		`"b":true,"tags":["red","3"],"big":9007199254740993,"e":1e2,"z":-0.0}`
	for _, c := range []struct {
		filter string
		want   bool
	}{
		{`{"n":3}`, true}, {`{"n":"3"}`, true}, {`{"n":3.0}`, true}, {`{"n":30e-1}`, true}, {`{"n":"3.0"}`, false},
		{`{"f":0.1}`, true}, {`{"f":"0.1"}`, true}, {`{"f":0.11}`, false},
		{`{"b":true}`, true}, {`{"b":"true"}`, true}, {`{"b":false}`, false},
		{`{"tags":"red"}`, true}, {`{"tags":3}`, true}, {`{"tags":"re"}`, false},
		{`{"s":"Three"}`, false}, {`{"absent":"x"}`, false},
		{`{"big":9007199254740993}`, true}, {`{"big":9007199254740992}`, false},
		{`{"e":100}`, true}, {`{"z":0}`, true},
		{`{"pi":"-3.14"}`, true}, {`{"pi":-3.140}`, true}, {`{"pi":3.14}`, false}, {`{"pi":-0.314}`, false},
		{`{"thousand":"1000"}`, true}, {`{"thousand":1E+3}`, true}, {`{"thousand":100}`, false},
		{`{"n":{"$eq":4}}`, false}, {`{"n":{"$in":[1,4]}}`, false}, {`{"n":{"$eq":3,"$in":[4]}}`, false},
		{`{"n":{"$eq":4,"$in":[3]}}`, false},
		{`{"n":{"$eq":3}}`, true}, {`{"n":{"$in":[1,"3"]}}`, true}, {`{"tags":{"$in":["blue","red"]}}`, true},
		{`{"n":3,"s":"x"}`, false}, {`{"$or":[{"n":4},{"s":"three"}]}`, true},
		{`{"$and":[{"n":3},{"$or":[{"b":false},{"tags":"red"}]}]}`, true},
		{`{"$and":[{"n":3},{"$or":[{"b":false},{"tags":"blue"}]}]}`, false},
	} {
		f, err := filter.Parse(json.RawMessage(c.filter))
		if err != nil {
			t.Fatalf("%s: %v", c.filter, err)
		}
		m := metadata(t, doc)
		if got := f.Match(m); got != c.want {
			t.Errorf("%s on %s: got %v", c.filter, doc, got)
		}
		if got := byTokens(f, m.Tokens()); got != c.want {
			t.Errorf("%s by tokens: got %v", c.filter, got)
		}
	}
}

// byTokens evaluates a filter the way an index does.
func byTokens(f *filter.Filter, tokens []string) bool {
	switch f.Op {
	case filter.And:
		for i := range f.Args {
			if !byTokens(&f.Args[i], tokens) {
				return false
			}
		}
		return true
	case filter.Or:
		for i := range f.Args {
			if byTokens(&f.Args[i], tokens) {
				return true
			}
		}
		return false
	}
	for _, v := range f.Values {
		if slices.Contains(tokens, filter.Token(f.Key, v)) {
			return true
		}
	}
	return false
}

func TestParseRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"$and":[`, n-1) + `{"a":1}` + strings.Repeat(`]}`, n-1) }
	wide := func(n int) string { return `{"$or":[` + strings.TrimSuffix(strings.Repeat(`{"k":1},`, n), ",") + `]}` }
	long := func(n int) string { return `{"a":{"$in":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}}` }
	number := func(n int) string { return `{"a":0.` + strings.Repeat("0", n-3) + `1}` }
	for _, s := range []string{deep(16), wide(256), long(1000), number(400), `{"a":0e400}`, `{"a":0e-800}`} {
		if _, err := filter.Parse(json.RawMessage(s)); err != nil {
			t.Errorf("%.60s: %v", s, err)
		}
	}
	for _, s := range []string{
		`{}`, `[]`, `null`, `3`, `"x"`, ``, `{"a":{}}`, `{"a":null}`, `{"a":[1]}`, `{"a":{"$ne":1}}`, `{"a":{"$nin":[1]}}`,
		`{"a":{"$gt":1}}`, `{"a":{"$lte":1}}`, `{"$not":{"a":1}}`, `{"$and":[]}`, `{"$or":{}}`, `{"$and":[{}]}`,
		`{"a":{"$in":[]}}`, `{"a":{"$in":"x"}}`, `{"a":{"$in":[null]}}`, `{"a":{"$in":[{"b":1}]}}`, `{"a":{"b":1}}`, `{"":1}`,
		`{"a":1e999}`, `{"a":1,"$or":[{"b":{"$regex":"x"}}]}`, deep(17), wide(257), long(1001), number(401), `{"a":0e401}`,
		`{"a":0e-801}`, `{"a":{"$eq":null}}`, deep(20), wide(300),
	} {
		if _, err := filter.Parse(json.RawMessage(s)); fault.CodeOf(err) != fault.InvalidFilter {
			t.Errorf("%.60s: got %v, want invalid_filter", s, err)
		}
	}
}

func TestParseMetadataLimits(t *testing.T) {
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":%d`, i, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	items := func(n int) string { return `{"a":[` + strings.TrimSuffix(strings.Repeat(`"x",`, n), ",") + `]}` }
	for _, c := range []struct {
		raw string
		ok  bool
	}{
		{`{}`, true}, {``, true}, {keys(32), true}, {keys(33), false}, {`null`, false}, {`[]`, false}, {`{"a":null}`, false},
		{`{"a":{"b":1}}`, false}, {`{"a":[1]}`, false}, {`{"a":[["x"]]}`, false}, {`{"a":[]}`, true},
		{items(1000), true}, {items(1001), false},
		{`{"` + strings.Repeat("k", 128) + `":1}`, true}, {`{"` + strings.Repeat("k", 129) + `":1}`, false}, {`{"":1}`, false},
		{`{"$a":1}`, false}, {`{"a":1e400}`, false}, {`{"a":1e308}`, true}, {`{"a":"\u0000"}`, false}, {`{"a\u0000":1}`, false},
		{`{"a":"` + strings.Repeat("x", 40<<10-8) + `"}`, true}, {`{"a":"` + strings.Repeat("x", 40<<10-7) + `"}`, false},
	} {
		_, err := filter.ParseMetadata("metadata", json.RawMessage(c.raw))
		if c.ok && err != nil || !c.ok && fault.CodeOf(err) != fault.InvalidMetadata {
			t.Errorf("%.60s: got %v, want ok=%v", c.raw, err, c.ok)
		}
	}
}

// TestTokens: what is long has a token of bounded length that stays its own.
func TestTokens(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	if got := filter.Token(x(64), x(64)); got != x(64)+"\x00"+x(64) {
		t.Errorf("%q", got)
	}
	seen := map[string]bool{}
	for _, key := range []string{x(64), x(65), x(128)} {
		for _, value := range []string{x(64), x(65), x(40000)} {
			token := filter.Token(key, value)
			if len(token) >= 220 || seen[token] {
				t.Errorf("of %d and %d bytes: %q", len(key), len(value), token)
			}
			if strings.Contains(token, x(65)) {
				t.Errorf("of %d and %d bytes: %q is not shortened", len(key), len(value), token)
			}
			seen[token] = true
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{"$or":[{"a":{"$in":[1,"x",true]}}]}`, `{}`, `{"a":{"$ne":1}}`} {
		f.Add([]byte(s), []byte(`{"a":[1],"b":"c"}`))
	}
	f.Fuzz(func(t *testing.T, raw, meta []byte) {
		flt, err := filter.Parse(raw)
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidFilter {
				t.Fatalf("unexpected code: %v", err)
			}
			return
		}
		m, err := filter.ParseMetadata("metadata", meta)
		if err != nil {
			return
		}
		if flt.Match(m) != byTokens(flt, m.Tokens()) {
			t.Fatalf("match and tokens disagree: %s on %s", raw, meta)
		}
	})
}

func TestTitle(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                  "",
		"{":                                 "",
		"[]":                                "",
		"null":                              "",
		`{"Title":"a"}`:                     "",
		`{"title":1}`:                       "",
		`{"title":null}`:                    "",
		`{"title":["a"]}`:                   "",
		`{"title":""}`:                      "",
		`{"title":"a b"}`:                   "a b",
		`{"title":"a","path":1,"url":[]}`:   "a",
		`{"title":"a","path":"a"}`:          "",
		`{"title":"a","path":"b/a"}`:        "",
		`{"title":"a","url":"https://b/a"}`: "",
		`{"title":"a","path":"ba"}`:         "a",
		`{"title":"a","path":"a/b"}`:        "a",
		`{"title":"b/a","path":"c/b/a"}`:    "",
	} {
		if got := filter.TitleOf([]byte(raw)); got != want {
			t.Errorf("%s has the title %q, want %q", raw, got, want)
		}
		m, err := filter.ParseMetadata("metadata", []byte(raw))
		if err == nil && m.Title() != want {
			t.Errorf("%s is parsed to one with the title %q, want %q", raw, m.Title(), want)
		}
	}
}
