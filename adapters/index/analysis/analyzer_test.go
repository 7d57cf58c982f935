package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/adapters/index/analysis"
)

// terms lists a text's tokens; those beside others in brackets.
func terms(t testing.TB, s analysis.Stemmer, text string) []string {
	t.Helper()
	a, err := analysis.New(s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	scan := a.Scanner(func(tok analysis.Token) {
		w := string(tok.Term)
		if tok.Extra {
			w = "[" + w + "]"
		}
		out = append(out, w)
	})
	scan.Scan(plain(text))
	return out
}

func TestTerms(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"The quick, brown foxes jumped!", "the quick brown fox jump"},
		{"Zürich ÉCOLE naïve Straße Ångström", "zurich ecole naive strasse angstrom"},
		{"ﬁne ＡＢＣ１２ ½", "fine abc12 1⁄2"},
		{"e\u0301cole", "ecole"},
		{"Привет МИР Ёлка", "привет мир елка"},
		{"ΟΔΟΣ Ελληνικός", "οδοσ ελληνικοσ"},
		{"ERR_CONN_RESET", "err conn reset [err_conn_reset]"},
		{"v1.2.3", "v1 2 3 [v1.2.3]"},
		{"Version 3.14.", "version 3 14 [3.14]"},
		{"mail Foo.Bar@Example.com, now", "mail foo bar exampl com [foo.bar@example.com] now"},
		{"10.0.0.1:8080", "10 0 0 1 8080 [10.0.0.1:8080]"},
		{"path/to/file.go", "path to file go [path/to/file.go]"},
		{"and/or", "and or"},
		{"well-known CVE-2021-44228", "well known cve 2021 44228 [cve-2021-44228]"},
		{"https://example.com/a", "https exampl com a [https://example.com/a]"},
		{"camelCase HTTPServer parseURL GitHub",
			"camelcas [camel] [case] httpserver [http] [server] parseurl [pars] [url] github [git] [hub]"},
		{"PDFs IDs URLs", "pdf id url"},
		{"C++ and C# or F#, not C+ D", "c [c++] and c [c#] or f [f#] not c d"},
		{"issue #123 a#b", "issu 123 [#123] a b"},
		{"1,000 and 12,345,678.9 but 1,2 or 1,0000", "1000 and 12345678 9 but 1 2 or 1 0000"},
		{"don't it's O'Brien dogs' l’avion we’ve", "dont it o brien dog l avion weve"},
		{"猫", "猫"},
		{"東京都", "[東] [京] 東京 [都] 京都"},
		{"カタカナ", "カタ タカ カナ"},
		{"ｶﾞ", "ガ"},
		{"한국어", "한국 국어"},
		{"สวัสดี", "สว วั ัส สด ดี"},
		{"I ❤ Go 🚀", "i ❤ go 🚀"},
		{"a\x00b\xffc", "a b c"},
		{"_ - . / @ # ' + ::", ""},
		{"a.b. c", "a b [a.b] c"},
		{"1//2 1\\\\2 1:///2 a:/", "1 2 [1//2] 1 2 [1\\\\2] 1 2 a"},
		{"path/to/file one-by-one a-0 a-9", "path to file [path/to/file] one by one a 0 [a-0] a 9 [a-9]"},
		{"123,456 ab,123 1,abc 1,000", "123456 ab 123 1 abc 1000"},
		{"AB++ ABC++ AB# C+++ C+", "ab [ab++] abc ab [ab#] c [c++] c"},
		{"zones AZaz", "zone azaz [a] [zaz]"},
		{"東京", "[東] [京] 東京"},
		{"\u0080", ""},
		{"x::y\\z", "x y z"},
	} {
		want := strings.Fields(c.want)
		if c.text == "x::y\\z" {
			want = []string{"x", "y", "z", "[x::y\\z]"}
		}
		if got := terms(t, analysis.Porter2, c.text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", c.text, got, want)
		}
	}
}

// TestScripts: a run of three of a character is three words, two pairs, one word or nothing,
// up to the ends of each script.
func TestScripts(t *testing.T) {
	for n, runes := range map[int]string{
		5: "\u3400\u4dbf\u4e00\u9fff\uf900\ufaff\U00020000\U000323af", // a word each, and in pairs
		2: "\u1000\u1100\u11ff\u1780\u3005\u3007\u3041\u309f\u30a1\u30ff\uac00\ud7a3\uff66\uff9f",
		3: "\u2600\u27bf\U0001f000",
		1: "azAZ09жא",
		0: "\u309b\u309c\u30fb\u0e3f\u2190\u27c0",
	} {
		for _, r := range runes {
			if got := terms(t, analysis.None, strings.Repeat(string(r), 3)); len(got) != n {
				t.Errorf("%U: %q, want %d", r, got, n)
			}
		}
	}
	for _, r := range "\u0300\u036f\u0591\u05c7\u064b\u065f\u0670\u0640" { // no letters of their own
		if got := terms(t, analysis.None, "a"+string(r)+"b"); !slices.Equal(got, []string{"ab"}) {
			t.Errorf("%U: %q", r, got)
		}
	}
}

// TestHumps: words within a word, and plurals of acronyms, whatever their letters.
func TestHumps(t *testing.T) {
	for text, want := range map[string]string{
		"aAaa":  "aaaa [a] [aaa]",
		"zZzz":  "zzzz [z] [zzz]",
		"AAaa":  "aaaa [a] [aaa]",
		"ZZzz":  "zzzz [z] [zzz]",
		"AZs":   "az",
		"IDs":   "id",
		"As":    "as",
		"1Aa":   "1aa",
		"AA":    "aa",
		"HTTPs": "http",
	} {
		if got := terms(t, analysis.None, text); strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestLongTerms: a term is cut between characters, and what joins words has to fit whole.
func TestLongTerms(t *testing.T) {
	const most = analysis.MaxTerm
	x := func(n int) string { return strings.Repeat("x", n) }
	before := strings.Repeat("word ", most) // far into a text
	for text, want := range map[string]string{
		x(most):                         x(most),
		x(most + 1):                     x(most),
		"a" + strings.Repeat("ж", most): "a" + strings.Repeat("ж", (most-1)/2),
		strings.Repeat("ж", most):       strings.Repeat("ж", most/2),
		"a_" + x(most-2):                "a " + x(most-2) + " [a_" + x(most-2) + "]",
		"a_" + x(most-1):                "a " + x(most-1),
		"#" + x(most-1):                 x(most-1) + " [#" + x(most-1) + "]",
		"#" + x(most):                   x(most),
	} {
		if got := strings.Join(terms(t, analysis.None, before+text)[most:], " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestStemmers(t *testing.T) {
	text := "ponies classes running pumps bus its glasses dies 2s"
	for s, want := range map[analysis.Stemmer]string{
		analysis.None:    "ponies classes running pumps bus its glasses dies 2s",
		analysis.Plural:  "pony classe running pump bus its glasse dy 2s",
		analysis.Porter2: "poni class run pump bus it glass die 2s",
	} {
		if got := terms(t, s, text); strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", s, got, want)
		}
	}
	if got := terms(t, analysis.Plural, "shoes boats trees"); !slices.Equal(got, []string{"shoes", "boat", "trees"}) {
		t.Errorf("got %q", got)
	}
	if _, err := analysis.New("nonsense"); err == nil {
		t.Error("an unknown stemmer is taken")
	}
}

func TestLongInput(t *testing.T) {
	for _, unit := range []string{"a", "é", "a.", "a_", "A", "aB", "東", "'a", "#", "1,", "1,000", "+", "a'", "\u0301", "://"} {
		for _, w := range terms(t, analysis.Porter2, strings.Repeat(unit, 200_000)) {
			if len(w) > analysis.MaxTerm+2 || !utf8.ValidString(w) {
				t.Fatalf("%q: term %q", unit, w)
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"foo.bar@example.com don't C++ #12 1,000", "東京 カタカナ", "camelCase_v1.2-x/y\\z::q",
		"e\u0301\u200d❤", "\xff\xfe"} {
		f.Add(s)
	}
	a, err := analysis.New(analysis.Porter2)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var all []string
		scan := a.Scanner(func(tok analysis.Token) {
			if len(tok.Term) == 0 || len(tok.Term) > analysis.MaxTerm || !utf8.Valid(tok.Term) {
				t.Fatalf("term %q of %q", tok.Term, text)
			}
			if tok.Start < 0 || tok.Start >= tok.End || tok.End > len(text) {
				t.Fatalf("token at %d-%d of %d bytes", tok.Start, tok.End, len(text))
			}
			all = append(all, string(tok.Term))
		})
		scan.Scan(plain(text))
		if len(all) > 3*len(text) {
			t.Fatalf("%d terms of %d bytes", len(all), len(text))
		}
		first := slices.Clone(all)
		all = all[:0]
		scan.Scan(plain(text))
		if !slices.Equal(all, first) {
			t.Fatalf("a scanner used twice gives %q, then %q", first, all)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	a, err := analysis.New(analysis.Porter2)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("The embedder reads passages of documents, 128 word pieces at most; each has one vector (see "+
		"v1.2.3). ", 10)
	n := 0
	s := a.Scanner(func(analysis.Token) { n++ })
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Scan(plain(text))
	}
}
