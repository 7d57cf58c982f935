package tokenizer_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/wasm/tokenizer"
)

// file is a tokenizer.json of a small model of words, with some members changed.
func file(t testing.TB, changes map[string]string) []byte {
	t.Helper()
	members := map[string]json.RawMessage{
		"model": json.RawMessage(`{"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"##b":2,"b":3,"é":4,"<s>":5,"c":6},` +
			`"unk_token":"[UNK]"}`),
		"pre_tokenizer": json.RawMessage(`{"type":"WhitespaceSplit"}`),
	}
	for name, text := range changes {
		members[name] = json.RawMessage(text)
	}
	b, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRefused: what is broken or not known is told, with what is known.
func TestRefused(t *testing.T) {
	deep := strings.Repeat(`{"type":"Sequence","normalizers":[`, 20) + `{"type":"NFC"}` + strings.Repeat(`]}`, 20)
	long := `{"type":"Sequence","pretokenizers":[` + strings.Repeat(`{"type":"Digits"},`, 40) + `{"type":"Digits"}]}`
	many := `{"type":"Sequence","normalizers":[` + strings.Repeat(`{"type":"NFC"},`, 40) + `{"type":"NFC"}]}`
	template := func(single, pair string) string {
		return `{"type":"TemplateProcessing","single":` + single + `,"pair":` + pair +
			`,"special_tokens":{"<s>":{"id":"<s>","ids":[5]},"none":{"ids":[]},"far":{"ids":[99]}}}`
	}
	const a, b, s = `{"Sequence":{"id":"A","type_id":0}}`, `{"Sequence":{"id":"B","type_id":1}}`,
		`{"SpecialToken":{"id":"<s>","type_id":0}}`
	pattern := func(p string) string {
		b, _ := json.Marshal(p)
		return `{"type":"Split","behavior":"Isolated","pattern":{"Regex":` + string(b) + `}}`
	}
	for want, c := range map[string][2]string{
		"it is no tokenizer.json": {"model", ""},
		`model "" is not supported; BPE, Unigram, WordPiece and WordLevel are`: {"model", `{}`},
		`model "Morse" is not supported`:                                       {"model", `{"type":"Morse"}`},
		"can run as a process or behind a remote endpoint":                     {"model", `{"type":"Morse2"}`},
		"model BPE: vocab":              {"model", `{"type":"BPE","vocab":[]}`},
		"model BPE: vocab has 0 tokens": {"model", `{"type":"BPE","vocab":{}}`},
		`the id 4294967295 of "a" is above 2097151`: {"model",
			`{"type":"BPE","vocab":{"a":4294967295}}`},
		`its text longer than 4096 bytes`: {"model",
			`{"type":"BPE","vocab":{"` + strings.Repeat("a", 4097) + `":1}}`},
		`unk_token "x" is not in the vocabulary`: {"model",
			`{"type":"BPE","vocab":{"a":1},"unk_token":"x"}`},
		"model WordPiece: unk_token is missing": {"model",
			`{"type":"WordPiece","vocab":{"a":1}}`},
		"model WordLevel: unk_token is missing": {"model",
			`{"type":"WordLevel","vocab":{"a":1}}`},
		"dropout makes other tokens each time": {"model",
			`{"type":"BPE","vocab":{"a":1},"dropout":0.1}`},
		`merge 0 of "a" and "b": one is not in the vocabulary`: {"model",
			`{"type":"BPE","vocab":{"a":1},"merges":["a b"]}`},
		`merge 0: "ab" is not in the vocabulary`: {"model",
			`{"type":"BPE","vocab":{"a":1,"b":2},"merges":[["a","b"]]}`},
		`the merge "a b c" has not two parts`: {"model",
			`{"type":"BPE","vocab":{"a":1},"merges":["a b c"]}`},
		`has 1 parts, want 2`: {"model",
			`{"type":"BPE","vocab":{"a":1},"merges":[["a"]]}`},
		"model Unigram: vocab has 0 pieces": {"model",
			`{"type":"Unigram","vocab":[],"unk_id":0}`},
		"unk_id is missing or names no piece": {"model",
			`{"type":"Unigram","vocab":[["a",-1]]}`},
		"model Unigram: unk_id is missing": {"model",
			`{"type":"Unigram","vocab":[["a",-1]],"unk_id":1}`},
		"piece 0 is longer than": {"model",
			`{"type":"Unigram","vocab":[["` + strings.Repeat("a", 4097) + `",-1]],"unk_id":0}`},
		`normalizer "Rot13" is not supported; BertNormalizer, NFC`: {"normalizer", `{"type":"Rot13"}`},
		"normalizer has no type":                                   {"normalizer", `{}`},
		"nested more than 8 deep":                                  {"normalizer", deep},
		"normalizer: more than 32 steps":                           {"normalizer", many},
		"the pattern is neither a String nor a Regex": {"normalizer",
			`{"type":"Replace","pattern":{},"content":""}`},
		"normalizer Precompiled: illegal base64": {"normalizer",
			`{"type":"Precompiled","precompiled_charsmap":"!"}`},
		"precompiled_charsmap is cut": {"normalizer",
			`{"type":"Precompiled","precompiled_charsmap":"AAA="}`},
		"is cut or no double array": {"normalizer",
			`{"type":"Precompiled","precompiled_charsmap":"/////wAAAAA="}`},
		"holds text that is not UTF-8": {"normalizer",
			`{"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAD/"}`},
		`pre_tokenizer "UnicodeScripts" is not supported; BertPreTokenizer`: {"pre_tokenizer",
			`{"type":"UnicodeScripts"}`},
		"pre_tokenizer: more than 32 steps": {"pre_tokenizer", long},
		`pre_tokenizer Split: the behavior "Swallowed" is not known`: {"pre_tokenizer",
			`{"type":"Split","pattern":{"String":"a"},"behavior":"Swallowed"}`},
		`the replacement "ab" is not one character`: {"pre_tokenizer",
			`{"type":"Metaspace","replacement":"ab"}`},
		`prepend_scheme "often" is none of`: {"pre_tokenizer",
			`{"type":"Metaspace","replacement":"_","prepend_scheme":"often"}`},
		`the pattern "(?<=a)b" is not supported: the group`:         {"pre_tokenizer", pattern(`(?<=a)b`)},
		`the pattern "(ab" is not supported: a group is not closed`: {"pre_tokenizer", pattern(`(ab`)},
		`the pattern "ab)" is not supported: ")" is not expected`:   {"pre_tokenizer", pattern(`ab)`)},
		`the pattern "[a" is not supported: a class is not closed`:  {"pre_tokenizer", pattern(`[a`)},
		`a class within a class`:                                    {"pre_tokenizer", pattern(`[[a]]`)},
		`a range ends before it begins`:                             {"pre_tokenizer", pattern(`[b-a]`)},
		`a range ends with no character`:                            {"pre_tokenizer", pattern(`[a-\s]`)},
		`'*' has nothing before it`:                                 {"pre_tokenizer", pattern(`*`)},
		`the property "Klingon"`:                                    {"pre_tokenizer", pattern(`\p{Klingon}`)},
		`\p without {a property}`:                                   {"pre_tokenizer", pattern(`\pL`)},
		`\x without a code point`:                                   {"pre_tokenizer", pattern(`\x{zz}`)},
		`not supported: \b`:                                         {"pre_tokenizer", pattern(`\bx`)},
		`{1000} is no number of times up to 64`:                     {"pre_tokenizer", pattern(`a{1000}`)},
		`{a} is no number of times`:                                 {"pre_tokenizer", pattern(`a{a}`)},
		`{1,b} is no number of times`:                               {"pre_tokenizer", pattern(`a{1,b}`)},
		`of repeated parts it knows`:                                {"pre_tokenizer", pattern(`(ab)*`)},
		`more than once of several`:                                 {"pre_tokenizer", pattern(`a{2}+`)},
		`a counted part that may be absent`:                         {"pre_tokenizer", pattern(`a{2}?`)},
		`a possessive quantifier of a group`:                        {"pre_tokenizer", pattern(`(ab)?+`)},
		`its groups are nested too deeply`: {"pre_tokenizer",
			pattern(strings.Repeat("(", 50) + strings.Repeat(")", 50))},
		`is not supported: it is too large`: {"pre_tokenizer",
			pattern(`(((abcd){64}){64}){64}`)},
		`a pattern has 5000 bytes, at most 4096`: {"pre_tokenizer",
			pattern(strings.Repeat("a", 5000))},
		`post_processor "Wreath" is not supported; BertProcessing`: {"post_processor", `{"type":"Wreath"}`},
		"post_processor BertProcessing has no sep or no cls": {"post_processor",
			`{"type":"BertProcessing"}`},
		`special_tokens has no ids of "x"`: {"post_processor",
			template(`[{"SpecialToken":{"id":"x"}},`+a+`]`, `[`+a+`,`+b+`]`)},
		`special_tokens has no ids of "none"`: {"post_processor",
			template(`[{"SpecialToken":{"id":"none"}},`+a+`]`, `[`+a+`,`+b+`]`)},
		"there is no token 99": {"post_processor",
			template(`[{"SpecialToken":{"id":"far"}},`+a+`]`, `[`+a+`,`+b+`]`)},
		"text A stands 0 times in the template of 1": {"post_processor", template(`[`+s+`]`,
			`[`+a+`,`+b+`]`)},
		"text B stands 1 times in the template of 1": {"post_processor",
			template(`[`+a+`,`+b+`]`, `[`+a+`,`+b+`]`)},
		"text B stands 2 times in the template of 2": {"post_processor", template(`[`+a+`]`,
			`[`+a+`,`+b+`,`+b+`]`)},
		`is neither a SpecialToken nor the Sequence A or B`: {"post_processor",
			template(`[{"Sequence":{"id":"C"}}]`, `[]`)},
		"of several that add tokens none is supported": {"post_processor",
			`{"type":"Sequence","processors":[{"type":"BertProcessing","sep":["a",1],"cls":["b",3]},{"type":"BertProcessing",` +
				`"sep":["a",1],"cls":["b",3]}]}`},
		`added_tokens: the id 3000000 of "x" is above`: {"added_tokens",
			`[{"id":3000000,"content":"x"}]`},
		`post_processor "Wreath2" is not supported; BertProcessing, RobertaProces`: {"post_processor",
			`{"type":"Sequence","processors":[{"type":"Wreath2"}]}`},
	} {
		b := []byte("{")
		if c[1] != "" {
			b = file(t, map[string]string{c[0]: c[1]})
		}
		if _, err := tokenizer.Read(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %.100s: got %v, want %q", c[0], c[1], err, want)
		}
	}
	if _, err := tokenizer.Read([]byte(`{"pre_tokenizer":null}`)); err == nil || err.Error() != "it has no model" {
		t.Errorf("no model: %v", err)
	}
	if _, err := tokenizer.Read(make([]byte, tokenizer.MaxFile+1)); err == nil ||
		!strings.Contains(err.Error(), "at most 134217728 are read") {
		t.Errorf("a huge file: %v", err)
	}
}

// TestFormsOfFiles: older files leave the model's type out and write merges and the
// sign of spaces another way.
func TestFormsOfFiles(t *testing.T) {
	for name, c := range map[string]struct {
		changes map[string]string
		text    string
		want    []uint32
	}{
		"BPE by its merges": {map[string]string{"model": `{"vocab":{"a":1,"b":2,"ab":3},"merges":["a b"]}`}, "abba",
			[]uint32{3, 2, 1}},
		"Unigram by its vocab": {map[string]string{"model": `{"vocab":[["x",-9],["a",-1],["aa",-1.5]],"unk_id":0}`}, "aaa",
			[]uint32{1, 2}},
		"no prefix said": {map[string]string{}, "ab b c", []uint32{1, 2, 3, 6}},
		"no sign before a text": {map[string]string{"pre_tokenizer": `{"type":"Metaspace","replacement":"_",` +
			`"add_prefix_space":false}`, "model": `{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"a":1,"_a":2}}`}, "a a",
			[]uint32{1, 2}},
		"sign by default": {map[string]string{"pre_tokenizer": `{"type":"Metaspace","replacement":"_"}`,
			"model": `{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"a":1,"_a":2}}`}, "a a", []uint32{2, 2}},
		"unknown in two bytes": {map[string]string{"model": `{"type":"BPE","vocab":{"a":1,"<0xC3>":2,"<0xA9>":3,"?":4},` +
			`"merges":[],"byte_fallback":true,"unk_token":"?"}`}, "aéß", []uint32{1, 2, 3, 4}},
		"nothing unknown": {map[string]string{"model": `{"type":"BPE","vocab":{"a":1},"merges":[]}`}, "axa", []uint32{1,
			1}},
		"empty charsmap": {map[string]string{"normalizer": `{"type":"Precompiled","precompiled_charsmap":null}`}, "ab",
			[]uint32{1, 2}},
		"too many characters": {map[string]string{"model": `{"type":"WordPiece","vocab":{"?":0,"é":1,"##é":2},` +
			`"unk_token":"?","max_input_chars_per_word":2}`}, "éé ééé", []uint32{1, 2, 0}},
	} {
		if got := encode(t, read(t, file(t, c.changes)), c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestAdded: tokens of the text itself, with what they take of the spaces around them.
func TestAdded(t *testing.T) {
	k := read(t, file(t, map[string]string{
		"normalizer": `{"type":"Lowercase"}`,
		"added_tokens": `[{"id":20,"content":"<x>","special":true},{"id":21,"content":"<x>y","lstrip":true},{"id":22,` +
			`"content":"WORD","single_word":true,
			"normalized":true},{"id":23,"content":"<r>","rstrip":true},{"id":0,"content":""},{"id":99,"content":"b"}]`}))
	for text, want := range map[string][]uint32{
		"a<x>a":        {1, 20, 1},
		"a <x>ya":      {1, 21, 1}, // the longest of those that begin there
		"<X>":          {0},        // as it is, before it is normalized
		"word WoRd":    {22, 22},   // as the normalizer writes it
		"swords word":  {0, 22},
		"<r>  a<r>\n<": {23, 1, 23, 0},
		"ab":           {1, 3}, // with the vocabulary's id, and ahead of its pieces
		"":             nil,
	} {
		if got := encode(t, k, text); !slices.Equal(got, want) {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if id, ok := k.ID("<x>"); id != 20 || !ok {
		t.Errorf("<x> is %d, %v", id, ok)
	}
	if id, ok := k.ID("##b"); id != 2 || !ok {
		t.Errorf("##b is %d, %v", id, ok)
	}
	if _, ok := k.ID("none"); ok || k.Size() != 24 {
		t.Errorf("size %d", k.Size())
	}
}

// TestAppend: ids go behind what is there, up to a limit; a text that is not UTF-8 is
// refused, and one that takes long can be stopped.
func TestAppend(t *testing.T) {
	k := read(t, file(t, nil))
	for limit, want := range [][]uint32{{7}, {7, 1}, {7, 1, 2}, {7, 1, 2, 6}, {7, 1, 2, 6}} {
		if got, err := k.Append([]uint32{7}, "ab c", limit, nil); err != nil || !slices.Equal(got, want) {
			t.Errorf("at most %d: %d, %v", limit, got, err)
		}
	}
	if got, err := k.Append([]uint32{7}, "a\xff", 9, nil); !errors.Is(err, tokenizer.ErrInvalid) || len(got) != 1 {
		t.Errorf("not UTF-8: %d, %v", got, err)
	}
	asked := 0
	stop := func() bool { asked++; return asked == 3 }
	if _, err := k.Append(nil, strings.Repeat("ab ", 100_000), all, stop); !errors.Is(err, tokenizer.ErrStopped) || asked != 3 {
		t.Errorf("stopped: %v, asked %d times", err, asked)
	}
	// One word without end is stopped, too, by any model.
	for name, m := range map[string]string{
		"BPE":     `{"type":"BPE","vocab":{"a":1,"aa":2,"aaaa":3},"merges":["a a","aa aa"]}`,
		"Unigram": `{"type":"Unigram","vocab":[["x",-9],["a",-1]],"unk_id":0}`,
	} {
		asked = 0
		if _, err := read(t, file(t, map[string]string{"model": m})).Append(nil, strings.Repeat("a", 100_000), all,
			stop); !errors.Is(err,
			tokenizer.ErrStopped) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := encode(t, k, "ab"); !slices.Equal(got, []uint32{1, 2}) {
		t.Errorf("afterwards: %d", got)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				if got, err := k.Append(nil, "ab c", all, nil); err != nil || !slices.Equal(got, []uint32{1, 2, 6}) {
					t.Errorf("beside others: %d, %v", got, err)
				}
			}
		})
	}
	wait.Wait()
}

// TestPatterns: a pattern splits as the library's regular expressions do.
func TestPatterns(t *testing.T) {
	const vocab = `{"type":"WordLevel","unk_token":"?","vocab":{"?":0}}`
	parts := func(pattern, behavior, text string) []string {
		b, _ := json.Marshal(pattern)
		k := read(t, file(t, map[string]string{"model": vocab, "pre_tokenizer": `{"type":"Sequence",` +
			`"pretokenizers":[{"type":"Split","behavior":"` +
			behavior + `","pattern":{"Regex":` + string(b) + `}}]}`}))
		return k.Pieces(text)
	}
	for _, c := range []struct {
		pattern, text string
		want          string // joined by |
	}{
		{`\s+(?!\S)|\s+`, "a   b ", "a|  | |b| "},
		{`a++b?`, "aaab", "aaab"},
		{`a++a`, "aaa", "aaa"}, // never matches: nothing is given back
		{`a{2}`, "aaaaa", "aa|aa|a"},
		{`a{2,3}?`, "aaaaa", "aa|aa|a"},
		{`a{,2}b`, "aaab", "a|aab"},
		{`a{3,}`, "aaaab", "aaaa|b"},
		{`(?i:'S|it)`, "it's ITſ'ſ", "it|'s| |IT|ſ|'ſ"},
		{`(?-i:a)(?i:b(?-i:c))`, "aBc abC", "aBc| abC"},
		{`^a|b$`, "aab ab", "a|ab a|b"},
		{`[^\r\n\p{L}\p{N}]?\p{L}+`, " ab,cd\nef1", " ab|,cd|\n|ef|1"},
		{`[\]\-a-c]`, "x]-by", "x|]|-|b|y"},
		{`[]a]`, "]b", "]|b"},
		{`[\x41-\x{43}]+`, "xABCD", "x|ABC|D"},
		{`\P{L}\D\S`, "1a!x?é2", "1a!|x|?é2"},
		{`\w.`, "é\n_xyz", "é\n|_x|yz"},
		{`(?=ab)a|(c|d){2}`, "abaccd", "a|ba|cc|d"},
		{`x*`, "aaa", "aaa"},         // what is empty is no match
		{`\d{1,3}+`, "1234", "1234"}, // as Ruby has it: once and more of one to three
		{`^a|b$`, "ab\nab\na", "a|b|\n|a|b|\n|a"},
		{`\p{Han}+|\p{Greek}`, "a漢字βγ", "a|漢字|β|γ"},
		{`(ab|a)(c|bcd)`, "abcd", "abc|d"},
		{`a+?b`, "aab", "aab"},
		{`(a|b)??c`, "abc", "a|bc"},
		{`\t\f\v\n\r\.`, "\t\f\v\n\r.", "\t\f\v\n\r."},
	} {
		if got := strings.Join(parts(c.pattern, "Isolated", c.text), "|"); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.pattern, c.text, got, c.want)
		}
	}
	for behavior, want := range map[string]string{"Removed": "a|b|c", "Isolated": "a|,|,|b|,|c|,", "Contiguous": "a|,,|b|,|c|,",
		"MergedWithPrevious": "a,|,|b,|c,", "MergedWithNext": "a|,|,b|,c|,"} {
		if got := strings.Join(parts(`,`, behavior, "a,,b,c,"), "|"); got != want {
			t.Errorf("%s: %q, want %q", behavior, got, want)
		}
	}
}

// TestPatternWork: a pattern that would backtrack for ever ends with an error.
func TestPatternWork(t *testing.T) {
	k := read(t, file(t, map[string]string{"pre_tokenizer": `{"type":"Split","behavior":"Isolated",` +
		`"pattern":{"Regex":"a*a*a*a*a*a*b"}}`}))
	if _, err := k.Append(nil, strings.Repeat("a", 5000), all, nil); err == nil || !strings.Contains(err.Error(),
		"takes too long") {
		t.Errorf("got %v", err)
	}
	if got := encode(t, k, "aab"); !slices.Equal(got, []uint32{0}) {
		t.Errorf("a short text: %d", got)
	}
}

// TestCharsmapBounds: a table that leads outside of itself replaces nothing.
func TestCharsmapBounds(t *testing.T) {
	for _, units := range [][]uint32{{0xFFFFFFFF}, {97 << 10, 0, 0}, {1 << 10, 0x161, 0xFFFFFFFF}} {
		b := []byte{byte(4 * len(units)), 0, 0, 0}
		for _, u := range units {
			b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
		}
		k := read(t, file(t, map[string]string{"normalizer": `{"type":"Precompiled","precompiled_charsmap":"` +
			base64.StdEncoding.EncodeToString(b) + `"}`}))
		if got := encode(t, k, "ab"); !slices.Equal(got, []uint32{1, 2}) {
			t.Errorf("%x: %d", units, got)
		}
	}
}

// FuzzRead: any file is a tokenizer or refused, and any text gets ids below its size or
// an error.
func FuzzRead(f *testing.F) {
	f.Add(file(f, nil), "ab c")
	f.Add(file(f, map[string]string{"model": `{"type":"BPE","vocab":{"a":1,"b":2,"ab":3},"merges":["a b"]}`}), "abba")
	f.Add(file(f, map[string]string{"model": `{"type":"Unigram","vocab":[["x",-9],["a",-1],["aa",-1.5]],"unk_id":0}`,
		"pre_tokenizer": `{"type":"Metaspace","replacement":"_"}`}), "a a")
	f.Add(file(f, map[string]string{"pre_tokenizer": `{"type":"Split","behavior":"Isolated",` +
		`"pattern":{"Regex":"\\s+(?!\\S)|[^a]?b++"}}`}), "a  b")
	f.Add(file(f, map[string]string{"normalizer": `{"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAA="}`}), "é")
	f.Fuzz(func(t *testing.T, b []byte, text string) {
		k, err := tokenizer.Read(b)
		if err != nil {
			return
		}
		ids, err := k.Append(nil, text, 1000, nil)
		if err != nil {
			return
		}
		for _, id := range ids {
			if int(id) >= k.Size() {
				t.Fatalf("%q: id %d of %d", text, id, k.Size())
			}
		}
	})
}
