package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The estimate counts four letters of a word or three digits as a token, and what
// stands alone by its length in UTF-8 (docs/contract.md#mcp-search). A space belongs to
// the word behind it and is looked for first, so that nothing shows whether the control
// characters end before it or with it.
func TestTokensAreEstimated(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, " ": 0, "a": 1, "aaaa": 1, "aaaaa": 2, "zzzz": 1, "zzzzzzzzz": 3,
		"Aaaa": 1, "Zzzz": 1, "Aaaaa": 2, "AAAA": 4, "aB": 2, "aaaaaBbbb": 3,
		"000": 1, "999": 1, "0000": 2, "1234567": 3, "a1": 2, "1a": 2, "1A": 2, "aaaaa1111": 4,
		"a b": 2, "aaaaa.": 3, "aaaa.": 2, "1.": 2, "123.": 2, "1234.": 3, "aaaaa 1": 3, "1234 a": 3,
		"A.": 2, "AB.": 3, "aaaaaaaaa.": 4, "1234567.": 4,
		"@": 1, "[": 1, "`": 1, "{": 1, "/": 1, ":": 1, "!": 1, "~": 1, "@@": 2,
		`"`: 2, `\`: 2, "\n": 2, "\x1f": 2, "\x00": 2,
		"é": 1, "éé": 2, "漢": 2, "漢漢": 3, "漢漢漢": 5, "🐦": 4, "🐦🐦": 8, "漢a": 3, "漢1": 3, "漢漢a": 4,
	} {
		if got := tokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// A text is shortened by whole characters, to as much as has room.
func TestTextsAreShortenedByTokens(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"aaaa bbbb", 2, "aaaa bbbb"},
		{"aaaa bbbb", 1, "aaaa "},
		{"aaaa bbbb", 0, ""},
		{"aaaabbbb", 1, "aaaa"},
		{"", 0, ""},
		{"漢漢漢", 4, "漢漢"},
		{"漢漢漢", 5, "漢漢漢"},
	} {
		if got := truncateTokens(c.text, c.most); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// words is a text of n tokens, object metadata of n.
func words(n int) string { return strings.Repeat("aaaa ", n) }

func object(n int) json.RawMessage {
	return json.RawMessage(`{"k":"` + strings.Repeat("a", 4*(n-12)) + `"}`) // the frame has twelve
}

// An answer holds 7500 tokens. First come what names the results and small metadata,
// then texts in equal shares, of which what one leaves another gets, then large
// metadata by keys; what is left out is named.
func TestAnAnswerFits(t *testing.T) {
	if got := []int{tokens(words(5)), tokens(string(object(100)))}; got[0] != 5 || got[1] != 100 {
		t.Fatalf("the texts of the test have %v tokens", got)
	}
	result := func(id, title, url, text int, metadata json.RawMessage) Result {
		return Result{ID: words(id), Title: words(title), URL: words(url), Text: words(text), Metadata: metadata}
	}
	none := json.RawMessage("{}") // two tokens
	for name, c := range map[string]struct {
		results  []Result
		texts    []int    // tokens of the texts that are left
		metadata []string // "": as it was
		degraded string
	}{
		"all": {[]Result{result(10, 20, 30, 700, none), result(10, 20, 30, 700, none)}, []int{700, 700},
			[]string{"", ""}, "[]"},
		// 7500 - 30 - 10 - 20 - 30 - 2 = 7408
		"one text": {[]Result{result(10, 20, 30, 9000, none)}, []int{7408}, []string{""}, "[]"},
		// 7500 - 2*92 = 7316, half of it is 3658; what the short one leaves the other gets
		"two texts": {[]Result{result(10, 20, 30, 9000, none), result(10, 20, 30, 9000, none)},
			[]int{3658, 3658}, []string{"", ""}, "[]"},
		"a short one": {[]Result{result(10, 20, 30, 316, none), result(10, 20, 30, 9000, none)},
			[]int{316, 7000}, []string{"", ""}, "[]"},
		"a short one after": {[]Result{result(10, 20, 30, 9000, none), result(10, 20, 30, 316, none)},
			[]int{3658, 316}, []string{"", ""}, "[]"},
		// metadata of 100 tokens comes before the text: 7500 - 90 - 100
		"small metadata": {[]Result{result(10, 20, 30, 9000, object(100))}, []int{7310}, []string{""}, "[]"},
		// of 101 after it: 7500 - 90 for the text, and nothing is left
		"large metadata": {[]Result{result(10, 20, 30, 9000, object(101))}, []int{7410}, []string{"{}"},
			"[{metadata too_long}]"},
		"large metadata that fits": {[]Result{result(10, 20, 30, 7309, object(101))}, []int{7309}, []string{""}, "[]"},
		"large metadata that does not": {[]Result{result(10, 20, 30, 7311, object(101))}, []int{7311}, []string{"{}"},
			"[{metadata too_long}]"},
		"two of large metadata": {[]Result{result(10, 20, 30, 3000, object(200)), result(10, 20, 30, 3000, object(1200))},
			[]int{3000, 3000}, []string{"", "{}"}, "[{metadata too_long}]"},
		"two of large metadata that fit": {
			[]Result{result(10, 20, 30, 3000, object(200)), result(10, 20, 30, 3000, object(1120))},
			[]int{3000, 3000}, []string{"", ""}, "[]"},
		// names alone fill it: 30 + 3640 + 50 + 28 + 2 = 3750 each
		"no room for texts": {[]Result{result(3640, 50, 28, 10, none), result(3640, 50, 28, 10, none)}, []int{0, 0},
			[]string{"", ""}, "[]"},
		"no room for the second": {
			[]Result{result(3640, 50, 28, 10, none), result(3640, 50, 29, 10, none), result(1, 1, 1, 1, none)},
			[]int{10}, []string{""}, "[{results too_long}]"},
	} {
		f := Found{Degraded: []Degraded{}, Results: append([]Result(nil), c.results...)}
		shrinkToFit(&f)
		var texts []int
		for i, r := range f.Results {
			texts = append(texts, tokens(r.Text))
			if want := c.metadata[i]; want == "" && string(r.Metadata) != string(c.results[i].Metadata) ||
				want != "" && string(r.Metadata) != want {
				t.Errorf("%s: metadata %d is %.60s", name, i, r.Metadata)
			}
		}
		if fmt.Sprint(texts) != fmt.Sprint(c.texts) || fmt.Sprint(f.Degraded) != c.degraded {
			t.Errorf("%s: texts of %v, want %v; degraded %v", name, texts, c.texts, f.Degraded)
		}
	}
	// What was said before is not said again.
	f := Found{Degraded: []Degraded{{"metadata", "too_long"}}, Results: []Result{result(1, 1, 1, 9000, object(101)),
		result(1, 1, 1, 9000, object(101))}}
	if shrinkToFit(&f); fmt.Sprint(f.Degraded) != "[{metadata too_long}]" {
		t.Errorf("degraded %v", f.Degraded)
	}
}

// Of metadata that is too large the keys are kept, in the order of their names, that
// have room; each costs its name, its value and six tokens of JSON.
func TestMetadataIsTrimmedByKeys(t *testing.T) {
	const m = `{"b":"aaaa","a":"aaaaaaaa","c":1}` // b: 1+5+6, a: 1+6+6, c: 1+1+6
	for room, want := range map[int]string{
		0: `{}`, 7: `{}`, 8: `{"c":1}`, 12: `{"b":"aaaa"}`, 13: `{"a":"aaaaaaaa"}`, 20: `{"a":"aaaaaaaa"}`,
		21: `{"a":"aaaaaaaa","c":1}`, 25: `{"a":"aaaaaaaa","b":"aaaa"}`, 33: `{"a":"aaaaaaaa","b":"aaaa","c":1}`,
	} {
		if got := trimMetadata(json.RawMessage(m), room); string(got) != want {
			t.Errorf("%d: %s, want %s", room, got, want)
		}
	}
	if got := trimMetadata(json.RawMessage("x"), 100); string(got) != "{}" {
		t.Errorf("no JSON: %s", got)
	}
}
