package chunk_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/ingest/chunk"
)

// each counts every text as n pieces.
func each(n int) chunk.Counter {
	return func(_ context.Context, texts []string) ([]int, error) {
		return slices.Repeat([]int{n}, len(texts)), nil
	}
}

func slicesOf(t *testing.T, text string, count chunk.Counter, o chunk.Options) []string {
	t.Helper()
	out, err := chunk.Split(t.Context(), chunk.Untitled(text), count, o)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, c := range out[0] {
		got = append(got, text[c.Start:c.End])
	}
	return got
}

func same(t *testing.T, name string, want, got []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

// TestPacking is of blocks that are longer than a chunk of 64 pieces.
func TestPacking(t *testing.T) {
	a, b, c := func(n int) string { return words(n, "a") }, func(n int) string { return words(n, "Bb") },
		func(n int) string { return words(n, "Cc") }
	two := sized(64)
	two.Overlap = 2
	for _, tt := range []struct {
		name, text string
		opt        chunk.Options
		want       []string
	}{
		{"overlap as far as it fits", a(50) + ". Bee. " + c(61) + ".", sized(64),
			[]string{a(50) + ". Bee.", "Bee. " + c(61) + "."}},
		{"overlap that does not fit", a(50) + ". Bee. " + c(62) + ".", sized(64), []string{a(50) + ". Bee.", c(62) + "."}},
		{"overlap of one sentence", a(50) + ". Bee. Cee. " + c(40) + ".", sized(64),
			[]string{a(50) + ". Bee. Cee.", "Cee. " + c(40) + "."}},
		{"overlap of two sentences", a(50) + ". Bee. Cee. " + c(40) + ".", two,
			[]string{a(50) + ". Bee. Cee.", "Bee. Cee. " + c(40) + "."}},
		{"overlap far into a text", strings.Repeat(b(60)+".\n\n", 30) + a(50) + ". Bee. " + c(40) + ".", sized(64),
			append(slices.Repeat([]string{b(60) + "."}, 30), a(50)+". Bee.", "Bee. "+c(40)+".")},
		{"no overlap from within a long sentence", a(40) + ". " + b(100) + ". Cee. " + c(30), sized(64),
			[]string{a(40) + ".", b(64), b(36) + ". Cee.", "Cee. " + c(30)}},
		{"item as long as a chunk", "Do so.\n- " + a(40) + ". " + b(21) + ".", sized(64),
			[]string{"Do so.", "- " + a(40) + ". " + b(21) + "."}},
		{"item longer than a chunk", "- " + a(40) + ". Bee. " + c(40), sized(64),
			[]string{"- " + a(40) + ". Bee.", "Bee. " + c(40)}},
		{"item over two lines", "- " + c(20) + "\n- " + a(30) + "\n" + b(20), sized(64),
			[]string{"- " + c(20), "- " + a(30) + "\n" + b(20)}},
		{"numbers below a heading", "# H\n3. " + a(40) + ". Bee.\n4) " + c(40), sized(64),
			[]string{"3. " + a(40) + ". Bee.", "4) " + c(40)}},
		{"numbers below a blank line", "(1)\n\n9. " + a(40) + ". Bee.\n10. " + c(40), sized(64),
			[]string{"(1)", "9. " + a(40) + ". Bee.", "10. " + c(40)}},
		{"nine digits", "123456789. " + a(40) + ". Bee.\n900000000. " + c(40), sized(64),
			[]string{"123456789. " + a(40) + ". Bee.", "900000000. " + c(40)}},
		{"ten digits", "a(b)\n1234567890. " + a(40) + ". Bee.\n9000000000. " + c(40), sized(64),
			[]string{"a(b)\n1234567890. " + a(40) + ". Bee.", "Bee.\n9000000000. " + c(40)}},
		{"a paragraph that the first item ends", a(40) + ". Bee.\n1. " + c(40), sized(64),
			[]string{a(40) + ". Bee.", "1. " + c(40)}},
		{"the same in brackets", a(40) + ". Bee.\n1) " + c(40), sized(64), []string{a(40) + ". Bee.", "1) " + c(40)}},
		{"a paragraph that a later number does not end", a(40) + ". Bee.\n7. " + c(40), sized(64),
			[]string{a(40) + ". Bee.", "Bee.\n7. " + c(40)}},
		{"bullets", "- " + a(20) + ". Aa.\n* " + b(40) + ". Bee.\n+ " + c(40) + ". Cee.\n-\t" + a(40) + ". Aa.\n-\n" + b(50),
			sized(64), []string{"- " + a(20) + ". Aa.", "* " + b(40) + ". Bee.", "+ " + c(40) + ". Cee.",
				"-\t" + a(40) + ". Aa.", "-\n" + b(50)}},
		{"no bullets", a(40) + ". Bee.\n-Cc " + c(40), sized(64), []string{a(40) + ". Bee.", "Bee.\n-Cc " + c(40)}},
		{"bars within lines", "a | " + a(40) + ". Bee.\nBb | " + c(40), sized(64),
			[]string{"a | " + a(40) + ". Bee.", "Bee.\nBb | " + c(40)}},
		{"rows", "|" + a(20) + ". Bee. " + a(20) + "|\n|" + c(40) + "|", sized(64),
			[]string{"|" + a(20) + ". Bee. " + a(20) + "|", "|" + c(40) + "|"}},
		{"words as many as fit", a(128), sized(64), []string{a(64), a(64)}},
		{"a clause in the first half", a(31) + ", " + b(60), sized(64), []string{a(31) + ", " + b(32), b(28)}},
		{"a clause in the second half", a(32) + ", " + b(60), sized(64), []string{a(32) + ",", b(60)}},
		{"a clause in the part that fits", a(64) + " " + b(36) + ", " + c(5), sized(64), []string{a(64), b(36) + ", " + c(5)}},
		{"a sign in a word", strings.Repeat("aaaaaaaaaaaaaaaa", 14) + "aaaaaaaaaaaaaaa/" +
			strings.Repeat("bbbbbbbbbbbbbbbb", 12), sized(64),
			[]string{strings.Repeat("aaaaaaaaaaaaaaaa", 14) + "aaaaaaaaaaaaaaa/", strings.Repeat("bbbbbbbbbbbbbbbb", 12)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			same(t, tt.name, tt.want, slicesOf(t, tt.text, chunk.Approximate, tt.opt))
			check(t, chunk.Document{Text: tt.text}, tt.opt)
		})
	}
}

// TestHeaderRows is of tables longer than a chunk of 64 pieces, of which 12 may be a header row.
func TestHeaderRows(t *testing.T) {
	rows := func(header int, rows ...int) string {
		out := "|" + words(header-2, "h") + "|\n|--|"
		for _, n := range rows {
			out += "\n|" + words(n, "c") + "|"
		}
		return out
	}
	headers := func(text string) []string {
		out := []string{}
		for _, c := range split(t, text, sized(64)) {
			out = append(out, c.Context)
		}
		check(t, chunk.Document{Text: text}, sized(64))
		return out
	}
	ten := "|" + words(10, "h") + "|"
	same(t, "of twelve pieces", []string{"", ten, ten}, headers(rows(12, 30, 30, 30)))
	same(t, "of thirteen", []string{"", ""}, headers(rows(13, 30, 30, 30)))
	same(t, "above one long row", []string{"", "|h h|", "|h h|"}, headers(rows(4, 100)))
	same(t, "above a row that fits without it", []string{"", "|h h h h|", "|h h h h|"}, headers(rows(6, 60)))
	same(t, "above a row after another", []string{"", "|h h h h|", "|h h h h|"}, headers(rows(6, 30, 60)))
}

// TestBytes is of chunks that a counter lets grow until they have 64 × 32 bytes.
func TestBytes(t *testing.T) {
	fill := func(n int, word string) string { return strings.Repeat(word, n/len(word)+1)[:n-1] + "." }
	zero, memory := each(0), chunk.Options{MaxTokens: 64, Whole: true}
	x, y := fill(1000, "Xx "), fill(1000, "Yy ")
	for _, tt := range []struct {
		name, text string
		opt        chunk.Options
		want       []string
	}{
		{"a block that fits", "1.\n\n" + x + " " + fill(1047, "Yy "), sized(64), []string{"1.", x + " " + fill(1047, "Yy ")}},
		{"a block that does not", x + " " + fill(1048, "Yy "), sized(64), []string{x, fill(1048, "Yy ")}},
		{"overlap that fits", x + " " + y + " " + fill(1047, "Zz "), sized(64),
			[]string{x + " " + y, y + " " + fill(1047, "Zz ")}},
		{"overlap that does not", x + " " + y + " " + fill(1048, "Zz "), sized(64), []string{x + " " + y, fill(1048, "Zz ")}},
		{"an item that fits", "Aa.\n- " + x + " " + fill(1045, "Yy "), sized(64),
			[]string{"Aa.", "- " + x + " " + fill(1045, "Yy ")}},
		{"words", words(1500, "xx"), sized(64), []string{words(683, "xx"), words(683, "xx"), words(134, "xx")}},
		{"a memory that fits", "\n\n\n\n\n" + x + "\n\n" + fill(1046, "Yy "), memory, []string{x + "\n\n" + fill(1046, "Yy ")}},
		{"a memory that does not", x + "\n\n" + fill(1047, "Yy "), memory, []string{x, fill(1047, "Yy ")}},
	} {
		same(t, tt.name, tt.want, slicesOf(t, tt.text, zero, tt.opt))
	}

	longest := 0
	if _, err := chunk.Split(t.Context(), chunk.Untitled(fill(2048, "x ")+"\n\n"+fill(2049, "x ")),
		func(ctx context.Context, texts []string) ([]int, error) {
			for _, s := range texts {
				longest = max(longest, len(s))
			}
			return zero(ctx, texts)
		}, sized(64)); err != nil || longest != 2048 {
		t.Errorf("a text of %d bytes is counted, %v", longest, err)
	}
}

// TestMemories is of what has structure and is one chunk while it fits.
func TestMemories(t *testing.T) {
	o := chunk.Options{MaxTokens: 64, Whole: true}
	fits := "# A\n\n" + words(30, "b") + "\n\n## C ##\n\n" + words(24, "d")
	over := fits + " d"
	same(t, "64 pieces", []string{fits}, slicesOf(t, fits, nil, o))
	same(t, "65 pieces", []string{words(30, "b"), words(25, "d")}, slicesOf(t, over, nil, o))
}

// TestWhereWordsAreCut makes a chunk of all that a long sentence may be cut into.
func TestWhereWordsAreCut(t *testing.T) {
	cuts := func(word string) []string {
		text := "lead " + word
		return slicesOf(t, text, func(_ context.Context, texts []string) ([]int, error) {
			out := make([]int, len(texts))
			for i, s := range texts {
				if out[i] = 64; s == text {
					out[i] = 65
				}
			}
			return out, nil
		}, sized(64))[1:]
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	marks := func(n int) string { return "é" + strings.Repeat("\u0301", n) } // one grapheme cluster
	for _, want := range [][]string{
		{x(24)},
		{x(16), x(9)},
		{x(16), x(16), x(1)},
		{"a/b/c/d/e/f/g/h/", "i/j/k/l/m/n/o/p/", "q"},
		{"東京、", "大阪、", "京都、", "奈良、"},
		{"東京大阪京都", "奈良東京、", "大阪京都"},
		{marks(31)},
		{marks(31), "aaa"},
		{"aaa", marks(7), strings.Repeat("\u0301", 8), strings.Repeat("\u0301", 8), strings.Repeat("\u0301", 8), "\u0301", "bbb"},
	} {
		same(t, "", want, cuts(strings.Join(want, "")))
	}
}

func TestText(t *testing.T) {
	doc := "# Guide\n\nWipe it."
	for _, o := range []chunk.Options{chunk.Default(), {MaxTokens: 64, Whole: true}} {
		want := map[bool]string{false: "Guide\nWipe it.", true: doc}[o.Whole]
		if got := chunk.Text(doc, split(t, doc, o)[0]); got != want {
			t.Errorf("%+v: %q", o, got)
		}
	}
}

func TestCallsAreFilled(t *testing.T) {
	var bytes, texts []int
	record := func(ctx context.Context, in []string) ([]int, error) {
		n := 0
		for _, s := range in {
			n += len(s)
		}
		bytes, texts = append(bytes, n), append(texts, len(in))
		return each(1)(ctx, in)
	}
	sentence := words(63, "a") + " ."                    // 127 bytes
	doc := strings.Repeat(sentence[:126]+"b.\n\n", 2049) // 2,048 sentences of 128 bytes have 256 KiB
	if _, err := chunk.Split(t.Context(), chunk.Untitled(doc), record, chunk.Default()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(bytes, []int{256 << 10, 128}) {
		t.Errorf("calls of %v bytes", bytes)
	}
	texts = nil
	if _, err := chunk.Split(t.Context(), chunk.Untitled(strings.Repeat("a\n\n", 4097)), record, chunk.Default()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(texts, []int{4096, 1}) {
		t.Errorf("calls of %v texts", texts)
	}
	// A sentence longer than a call, where chunks may be that long, is a call of its own.
	bytes, texts = nil, nil
	long := chunk.Untitled(strings.Repeat("a", 300<<10) + ". Bee.")
	if _, err := chunk.Split(t.Context(), long, record, sized(10000)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(texts, []int{1, 1}) {
		t.Errorf("calls of %v texts with %v bytes", texts, bytes)
	}
}
