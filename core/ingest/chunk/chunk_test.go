package chunk_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// sized is Default with another budget, for short test texts.
func sized(tokens int) chunk.Options {
	o := chunk.Default()
	o.MaxTokens = tokens
	return o
}

func split(t testing.TB, text string, o chunk.Options) []port.Chunk {
	t.Helper()
	return splitDocument(t, chunk.Document{Text: text}, o)
}

func splitDocument(t testing.TB, of chunk.Document, o chunk.Options) []port.Chunk {
	t.Helper()
	out, err := chunk.Split(t.Context(), []chunk.Document{of}, chunk.Approximate, o)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// show writes chunks as "context | slice".
func show(text string, cs []port.Chunk) []string {
	out := []string{}
	for _, c := range cs {
		out = append(out, c.Context+" | "+text[c.Start:c.End])
	}
	return out
}

func words(n int, word string) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }

func TestSplit(t *testing.T) {
	long := words(40, "milk") + "." // 41 pieces
	x200, y200 := strings.Repeat("x", 200), strings.Repeat("y", 200)
	tests := []struct {
		name, text string
		opt        chunk.Options
		want       []string
	}{
		{"empty", "", chunk.Default(), []string{}},
		{"white space", " \n\t\r\n ", chunk.Default(), []string{}},
		{"one dialog turn", "Anna: I moved to Lisbon. It rains!\n", chunk.Default(),
			[]string{" | Anna: I moved to Lisbon. It rains!"}},
		{"lines without a blank one", "one\n- two\n- three\nfour", chunk.Default(), []string{" | one\n- two\n- three\nfour"}},
		{"paragraphs", "One. Two.\n\nThree.\r\n \r\nFour.", chunk.Default(), []string{" | One. Two.", " | Three.", " | Four."}},
		{"headings", "# Guide #\n\nLead.\n\n## Errors\nE-42 is heat.\n### Deep\nx\n## Care\nWipe.", chunk.Default(),
			[]string{"Guide | Lead.", "Guide > Errors | E-42 is heat.", "Guide > Errors > Deep | x", "Guide > Care | Wipe."}},
		{"setext", "Guide\n=====\nLead.\n\nCare\n---\nWipe.", chunk.Default(), []string{"Guide | Lead.", "Guide > Care | Wipe."}},
		{"heading without body", "# A\n\n## B\n\n## C\ntext", chunk.Default(), []string{"A | B", "A > C | text"}},
		{"only a heading", "# A", chunk.Default(), []string{" | A"}},
		{"no headings", "#tag\n\n# \n\n####### seven\n\n" + "# " + strings.Repeat("x", 201), chunk.Default(),
			[]string{" | #tag", " | #", " | ####### seven", " | " + strings.Repeat("x", 201)}},
		{"heading in a fence", "# A\n```sh\n# not a heading\n\nls\n```\n", chunk.Default(),
			[]string{"A | ```sh\n# not a heading\n\nls\n```"}},
		{"open fence is text", "(1)\n\n```\nb\n\nc", chunk.Default(), []string{" | (1)", " | ```\nb", " | c"}},
		{"thematic break", "a\n***\nb\n\n- - -\n\nc", chunk.Default(), []string{" | a", " | b", " | c"}},
		{"nothing but a break", "\n***\n", chunk.Default(), []string{" | ***"}},
		{"front matter", "---\ntitle: x\n---\n\nbody", chunk.Default(), []string{" | ---\ntitle: x\n---", "x | body"}},
		{"lead-in and list", "You need:\n\n- beans\n\n- water\n  and a cup\n\n  hot\n\nThen wait.", chunk.Default(),
			[]string{" | You need:\n\n- beans\n\n- water\n  and a cup\n\n  hot", " | Then wait."}},
		{"paragraph and list", "Beans are nice.\n\n* a\n* b", chunk.Default(), []string{" | Beans are nice.", " | * a\n* b"}},
		{"years do not start lists", "It was in\n1986. Then more", chunk.Default(), []string{" | It was in\n1986. Then more"}},
		{"overlap", words(30, "a") + ". Bee bee. C " + words(29, "c") + ".", sized(64),
			[]string{" | " + words(30, "a") + ". Bee bee.", " | Bee bee. C " + words(29, "c") + "."}},
		{"no room for overlap", long + " " + words(50, "oat") + ".", sized(64),
			[]string{" | " + long, " | " + words(50, "oat") + "."}},
		{"overlap stays in its paragraph", long + "\n- " + words(40, "oat") + ".", sized(64),
			[]string{" | " + long, " | - " + words(40, "oat") + "."}},
		{"lead-in goes along", "First " + long + " Then do:\n- " + words(40, "oat"), sized(64),
			[]string{" | First " + long, " | Then do:\n- " + words(40, "oat")}},
		{"item kept whole", "- " + words(30, "a") + ". Bee. \n- " + words(30, "c") + ". Dee.", sized(64),
			[]string{" | - " + words(30, "a") + ". Bee.", " | - " + words(30, "c") + ". Dee."}},
		{"fence kept whole", long + "\n```\n" + words(40, "x") + "\n```", sized(64),
			[]string{" | " + long, " | ```\n" + words(40, "x") + "\n```"}},
		{"long fence by lines", "```\n" + words(40, "x") + "\n\n  " + words(40, "y") + "\n```", sized(64),
			[]string{" | ```\n" + words(40, "x"), " | " + words(40, "y") + "\n```"}},
		{"table by rows", "# T\n| id | " + "|\n|--|--|\n|" + words(30, "a") + "|\n|" + words(30, "b") + "|", sized(64),
			[]string{"T | | id | |\n|--|--|\n|" + words(30, "a") + "|", "T\n| id | | | |" + words(30, "b") + "|"}},
		{"long sentence at a clause", words(40, "a") + ", " + words(40, "b"), sized(64),
			[]string{" | " + words(40, "a") + ",", " | " + words(40, "b")}},
		{"long sentence at a line", words(40, "a") + "\nb, " + words(50, "b"), sized(64),
			[]string{" | " + words(40, "a"), " | b, " + words(50, "b")}},
		{"context ends at a fifth", "# " + words(20, "outer") + "\n## " + words(30, "in") + "\nbody", chunk.Default(),
			[]string{" | " + words(20, "outer"), words(30, "in") + " | body"}},
		{"top-level headings", "# A\nx\n# B\ny", chunk.Default(), []string{"A | x", "B | y"}},
		{"six levels", "###### six\nx\n\n   # three spaces\ny", chunk.Default(), []string{"six | x", "three spaces | y"}},
		{"indented headings are text", "x\n    # four\n\n\t# tab\n\n  \t# both", chunk.Default(),
			[]string{" | x\n    # four", " | # tab", " | # both"}},
		{"indented fence is text", "    ```\nb\n\nc\n    ```", chunk.Default(), []string{" | ```\nb", " | c\n    ```"}},
		{"short underlines", "A\n--\nx\n\nB\n=\ny", chunk.Default(), []string{"A | x", "A | B\n=\ny"}},
		{"longest headings", strings.Repeat("x\n\n", 200) + y200 + "\n===\nz\n# " + x200 + "\nz", chunk.Default(),
			append(slices.Repeat([]string{" | x"}, 200), y200+" | z", x200+" | z")},
		{"too long an underlined line", strings.Repeat("y", 201) + "\n===\nz", chunk.Default(),
			[]string{" | " + strings.Repeat("y", 201) + "\n===\nz"}},
		{"numbers alone", "42\n\n1986", chunk.Default(), []string{" | 42", " | 1986"}},
		{"tildes", "~~~ a`b\nc\n\nd\n~~~", chunk.Default(), []string{" | ~~~ a`b\nc\n\nd\n~~~"}},
		{"code in a line", "``` a`b\nc\n\nd\n```", chunk.Default(), []string{" | ``` a`b\nc", " | d\n```"}},
		{"fence of an item", "- a\n\n  ```\n  x\n  ```\n- b", chunk.Default(), []string{" | - a\n\n  ```\n  x\n  ```\n- b"}},
		{"fence below a list", "- a\n\n ```\n x\n ```", chunk.Default(), []string{" | - a", " | ```\n x\n ```"}},
		{"table of an item", "- a\n\n  |b|\n- c", chunk.Default(), []string{" | - a\n\n  |b|\n- c"}},
		{"table below a list", "- a\n\n |b|", chunk.Default(), []string{" | - a", " | |b|"}},
		{"long front matter", "---\n" + strings.Repeat("x\n", 63) + "---\nc", chunk.Default(),
			[]string{" | ---\n" + strings.Repeat("x\n", 63) + "---", " | c"}},
		{"too long front matter", "---\n" + strings.Repeat("x\n", 64) + "---\nc", chunk.Default(),
			[]string{" | " + strings.TrimSpace(strings.Repeat("x\n", 64)), " | c"}},
		{"open front matter", "---\na: b", chunk.Default(), []string{" | a: b"}},
		{"heading of two fifths", "# " + words(64, "a") + "\nbody", chunk.Default(), []string{words(64, "a") + " | body"}},
		{"heading of more", "# Out\n## " + words(65, "a") + "\nbody", chunk.Default(),
			[]string{"Out | " + words(65, "a"), "Out | body"}},
		{"outer heading of a fifth", "# " + words(30, "a") + "\n## In\nbody", chunk.Default(),
			[]string{words(30, "a") + " > In | body"}},
		{"outer heading of more", "# Top\n## " + words(31, "a") + "\n### In\nbody", chunk.Default(),
			[]string{"Top | " + words(31, "a"), "In | body"}},
		{"memory with structure", "# A\n\nb\n\nc", chunk.Options{MaxTokens: 160, Whole: true}, []string{" | # A\n\nb\n\nc"}},
		{"memory too long", words(100, "a") + "\n\n" + words(100, "b"), chunk.Options{MaxTokens: 160, Whole: true},
			[]string{" | " + words(100, "a"), " | " + words(100, "b")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, show(tt.text, split(t, tt.text, tt.opt))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestTitle is of first lines that are titles, and of those that are not.
func TestTitle(t *testing.T) {
	body, more := "It roasts beans at 205 degrees.", "Wipe it weekly, and never while it is hot."
	at200 := strings.TrimSpace(strings.Repeat("word ", 40)) + "s"
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"a line", "The roaster\n\n" + body + "\n\n" + more,
			[]string{" | The roaster\n\n" + body, "The roaster | " + more}},
		{"below blank lines, indented", "\n \n   The  roaster \n\n\n" + body + "\n\n" + more,
			[]string{" | The  roaster \n\n\n" + body, "The roaster | " + more}},
		{"a question", "Why does it smoke?\n\n" + more + "\n\n" + body,
			[]string{" | Why does it smoke?\n\n" + more, "Why does it smoke? | " + body}},
		{"a sentence above a long paragraph", "It smokes.\n\n" + body + "\n\n" + more,
			[]string{" | It smokes.\n\n" + body, "It smokes. | " + more}},
		{"a sentence above a shorter one", "It smokes a lot.\n\n" + body, []string{" | It smokes a lot.", " | " + body}},
		{"a sentence above a list", "It smokes.\n\n- a\n- b", []string{" | It smokes.", " | - a\n- b"}},
		{"a line above a list", "To do\n\n- a\n- b", []string{" | To do\n\n- a\n- b"}},
		{"a line above a table", "Prices\n\n|a|b|\n|--|--|", []string{" | Prices\n\n|a|b|\n|--|--|"}},
		{"a line above a fence", "Usage\n\n```\nls\n```", []string{" | Usage\n\n```\nls\n```"}},
		{"above tildes", "Usage\n\n~~~\nls\n~~~", []string{" | Usage\n\n~~~\nls\n~~~"}},
		{"lines that are longer together", "abcdef\n\nabc\ndefg\n\nx", []string{" | abcdef\n\nabc\ndefg", "abcdef | x"}},
		{"and not", "abcdef\n\nabc\ndef\n\nx", []string{" | abcdef", " | abc\ndef", " | x"}},
		{"above all of the text", "Arabica\n\nA plant.", []string{" | Arabica\n\nA plant."}},
		{"a sentence above twice as much", "Go.\n\nabcdefg\n\nx", []string{" | Go.\n\nabcdefg", "Go. | x"}},
		{"and less", "Go.\n\nabcdef", []string{" | Go.", " | abcdef"}},
		{"above a lower heading", "The roaster\n\n## Care\n" + more, []string{"The roaster > Care | " + more}},
		{"above an underlined one", "The roaster\n\nCare\n---\n" + more, []string{"The roaster > Care | " + more}},
		{"above the document's heading", "draft of May\n\n# The roaster\n" + body,
			[]string{" | draft of May", "The roaster | " + body}},
		{"above the same, underlined", "draft of May\n\nThe roaster\n===\n" + body,
			[]string{" | draft of May", "The roaster | " + body}},
		{"above the title once more", "The Roaster\n\n" + body + "\n\n# The roaster\n" + more,
			[]string{" | The Roaster\n\n" + body, "The roaster | " + more}},
		{"alone", "The roaster", []string{" | The roaster"}},
		{"without a blank line", "The roaster\n" + body + "\n\n" + more, []string{" | The roaster\n" + body, " | " + more}},
		{"of as many bytes as a heading", at200 + "\n\n" + words(100, "body") + "\n\n" + more,
			[]string{" | " + at200 + "\n\n" + words(100, "body"), at200 + " | " + more}},
		{"of one more", at200 + "s\n\n" + words(100, "body") + "\n\n" + more,
			[]string{" | " + at200 + "s", " | " + words(100, "body"), " | " + more}},
		{"a salutation", "Dear Anna,\n\n" + more, []string{" | Dear Anna,", " | " + more}},
		{"a lead-in", "You should know:\n\n" + more, []string{" | You should know:", " | " + more}},
		{"a semicolon", "First;\n\n" + more, []string{" | First;", " | " + more}},
		{"a quotation", "> So he said\n\n" + more, []string{" | > So he said", " | " + more}},
		{"a badge", "[build](x)\n\n" + more, []string{" | [build](x)", " | " + more}},
		{"a picture", "![logo](x)\n\n" + more, []string{" | ![logo](x)", " | " + more}},
		{"an element", "<p>\n\n" + more, []string{" | <p>", " | " + more}},
		{"an item", "- one\n\n" + more, []string{" | - one", " | " + more}},
		{"a row", "a | b\n\n" + more, []string{" | a | b", " | " + more}},
		{"a number", "1986\n\n" + more, []string{" | 1986", " | " + more}},
		{"code", "    x = 1\n\n" + more, []string{" | x = 1", " | " + more}},
		{"front matter", "---\nkind: a\ntitle: \"The  roaster\"\n---\n" + more,
			[]string{" | ---\nkind: a\ntitle: \"The  roaster\"\n---", "The roaster | " + more}},
		{"front matter and the same heading", "---\ntitle: The roaster\n---\n# The Roaster\n" + more,
			[]string{" | ---\ntitle: The roaster\n---", "The Roaster | " + more}},
		{"front matter and a line", "---\ntitle: Roaster\n---\nThe roaster\n\n" + more,
			[]string{" | ---\ntitle: Roaster\n---", " | The roaster\n\n" + more}},
		{"front matter alone", "---\ntitle: The roaster\n---\n", []string{" | ---\ntitle: The roaster\n---"}},
		{"a field of a field", "---\na:\n  title: b\n---\n" + more, []string{" | ---\na:\n  title: b\n---", " | " + more}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, show(tt.text, split(t, tt.text, chunk.Default()))); d != "" {
				t.Error(d)
			}
			check(t, chunk.Document{Text: tt.text}, chunk.Default())
		})
	}
	gap := "Title\n" + strings.Repeat("\n", 64*32) + "A body of some words."
	if d := cmp.Diff([]string{"Title | A body of some words."}, show(gap, split(t, gap, sized(64)))); d != "" {
		t.Errorf("far above its text: %s", d)
	}
	if d := cmp.Diff([]string{" | ---\ntitle: A\n---\nb"}, show("---\ntitle: A\n---\nb",
		split(t, "---\ntitle: A\n---\nb", chunk.Options{MaxTokens: 64, Whole: true}))); d != "" {
		t.Errorf("a memory: %s", d)
	}
}

// TestKnownTitle is of titles that come beside the text.
func TestKnownTitle(t *testing.T) {
	const title = "The roaster"
	body, more := "It roasts beans at 205 degrees.", "Wipe it weekly, and never while it is hot."
	whole := chunk.Options{MaxTokens: 160, Whole: true}
	for _, tt := range []struct {
		name, title, text string
		opt               chunk.Options
		want              []string
	}{
		{"of every chunk", title, body + "\n\n" + more, chunk.Default(), []string{title + " | " + body, title + " | " + more}},
		{"in several lines", " The\n\troaster ", body, chunk.Default(), []string{title + " | " + body}},
		{"of white space", " \n", body, chunk.Default(), []string{" | " + body}},
		{"no text", title, " \n", chunk.Default(), []string{}},
		{"above headings", title, "a\nb\n\n## Care\n" + more + "\n\n# Terms\nx", chunk.Default(),
			[]string{title + " | a\nb", title + " > Care | " + more, title + " > Terms | x"}},
		{"a heading without body", title, "# A\n\n# B\nx", chunk.Default(), []string{title + " | A", title + " > B | x"}},

		{"the first line too", title, "the  Roaster\n\n" + body + "\n\n" + more, chunk.Default(),
			[]string{" | the  Roaster\n\n" + body, title + " | " + more}},
		{"the first line, right above the text", title, "\n**The roaster**\n" + body + "\n\n" + more, chunk.Default(),
			[]string{" | **The roaster**\n" + body, title + " | " + more}},
		{"the first line, above a heading", title, title + "\n# A\nx", chunk.Default(), []string{title + " > A | x"}},
		{"the first line, and nothing else", title, title, chunk.Default(), []string{" | " + title}},
		{"the first heading too", title, "# THE roaster\n" + body + "\n\n## Care\n" + more + "\n\n# Terms\nx", chunk.Default(),
			[]string{title + " | " + body, title + " > Care | " + more, title + " > Terms | x"}},
		{"the first heading, underlined", title, "The roaster\n---\n" + body + "\n\nTerms\n===\nx", chunk.Default(),
			[]string{title + " | " + body, title + " > Terms | x"}},
		{"nothing but that heading", title, "# " + title, chunk.Default(), []string{" | " + title}},
		{"a later heading too", title, "x\n\n# Care\n" + more + "\n\n# The Roaster\n" + body, chunk.Default(),
			[]string{title + " | x", title + " > Care | " + more, "The Roaster | " + body}},
		{"the first words too", title, "THE roaster: " + body + "\n\n" + more, chunk.Default(),
			[]string{" | THE roaster: " + body, title + " | " + more}},
		{"the first words, and a heading", title, title + ". It is hot.\n\n# Care\n" + more, chunk.Default(),
			[]string{" | " + title + ". It is hot.", title + " > Care | " + more}},
		{"the first words, in another script", "焙煎機", "焙煎機：熱い。", chunk.Default(), []string{" | 焙煎機：熱い。"}},
		{"the subject of the first sentence", title, title + " is hot.\n\n# Care\n" + more, chunk.Default(),
			[]string{title + " | " + title + " is hot.", title + " > Care | " + more}},
		{"the same above more of it", title, title + " is\nhot, as ever.\n\n" + more, chunk.Default(),
			[]string{title + " | " + title + " is\nhot, as ever.", title + " | " + more}},
		{"the beginning of a word", title, "The roasters\nroast.\n\n" + more, chunk.Default(),
			[]string{title + " | The roasters\nroast.", title + " | " + more}},
		{"the beginning of a name", "Node", "Node.js runs here.", chunk.Default(), []string{"Node | Node.js runs here."}},
		{"of a number with a point", "Section 3", "Section 3.2 applies.", chunk.Default(),
			[]string{"Section 3 | Section 3.2 applies."}},
		{"with a mark after it", "Section 3", "Section 3.** It applies.", chunk.Default(),
			[]string{" | Section 3.** It applies."}},
		{"the beginning of a number", "Roaster 2", "Roaster 24 is hot.", chunk.Default(),
			[]string{"Roaster 2 | Roaster 24 is hot."}},
		{"words of the second chunk", title, "x\ny\n\nThe roaster is hot.", chunk.Default(),
			[]string{title + " | x\ny", title + " | The roaster is hot."}},

		{"above another line", title, "Manual\n\n" + body + "\n\n" + more, chunk.Default(),
			[]string{title + " | Manual\n\n" + body, title + " > Manual | " + more}},
		{"long, above another line", words(60, "a"), "Manual\n\n" + words(126, "b"), chunk.Default(),
			[]string{words(32, "a") + " | Manual\n\n" + words(126, "b")}},
		{"that goes on", title, "The roaster: new\n\n" + body + "\n\n" + more, chunk.Default(),
			[]string{" | The roaster: new\n\n" + body, title + " > The roaster: new | " + more}},
		{"above front matter", title, "---\ntags: a\n---\n" + body, chunk.Default(),
			[]string{title + " | ---\ntags: a\n---", title + " | " + body}},
		{"in front matter too", title, "---\ntitle: the roaster\n---\n" + body, chunk.Default(),
			[]string{" | ---\ntitle: the roaster\n---", title + " | " + body}},
		{"in front matter another", title, "---\ntitle: Draft\n---\n" + body, chunk.Default(),
			[]string{title + " | ---\ntitle: Draft\n---", title + " | " + body}},
		{"in front matter, and the first line", title, "---\ntags: a\n---\nThe roaster\n\n" + body, chunk.Default(),
			[]string{title + " | ---\ntags: a\n---", " | The roaster\n\n" + body}},

		{"of two fifths", words(64, "a"), body, chunk.Default(), []string{words(64, "a") + " | " + body}},
		{"of more", words(65, "a"), body, chunk.Default(), []string{words(64, "a") + " | " + body}},
		{"of a fifth, above a heading", words(32, "a"), "# In\nx", chunk.Default(), []string{words(32, "a") + " > In | x"}},
		{"of more, above a heading", words(33, "a"), "x\n\n# In\ny", chunk.Default(),
			[]string{words(33, "a") + " | x", words(32, "a") + " > In | y"}},
		{"longer than context, and the first line", words(33, "a"), words(33, "a") + "\n\n# In\ny", chunk.Default(),
			[]string{" | " + words(33, "a"), words(32, "a") + " > In | y"}},
		{"of 200 bytes", words(25, "roaster") + "s", body, chunk.Options{MaxTokens: 1000},
			[]string{words(25, "roaster") + "s | " + body}},
		{"of 201", words(25, "roaster") + "ss", body, chunk.Options{MaxTokens: 1000},
			[]string{words(24, "roaster") + " | " + body}},
		{"of characters alone", strings.Repeat("日", 1000), body, chunk.Options{MaxTokens: 1000},
			[]string{strings.Repeat("日", 66) + " | " + body}},
		{"with a heading of the rest", words(10, "a"), "# " + words(53, "b") + "\nx", chunk.Default(),
			[]string{words(10, "a") + " > " + words(53, "b") + " | x"}},
		{"with a longer one", words(10, "a"), "# " + words(54, "b") + "\nx", chunk.Default(),
			[]string{words(10, "a") + " | " + words(54, "b"), words(10, "a") + " | x"}},
		{"with outer headings of the rest", words(10, "a"), "# " + words(8, "b") + "\n## " + words(11, "c") + "\nx",
			chunk.Default(), []string{words(10, "a") + " > " + words(8, "b") + " > " + words(11, "c") + " | x"}},
		{"with longer ones", words(10, "a"), "# o\n## " + words(9, "b") + "\n### " + words(12, "c") + "\nx", chunk.Default(),
			[]string{words(10, "a") + " > o | " + words(9, "b"),
				words(10, "a") + " > " + words(12, "c") + " | x"}},

		{"of one chunk", title, "# A\n\nx", whole, []string{title + " | # A\n\nx"}},
		{"of one chunk that begins with it", title, "# The roaster\n\nx", whole, []string{" | # The roaster\n\nx"}},
		{"of one chunk that begins with it otherwise", title, "The  Roaster\n\nx", whole, []string{" | The  Roaster\n\nx"}},
		{"of one chunk that it fills", title, words(157, "a"), whole, []string{title + " | " + words(157, "a")}},
		{"of more than one chunk", title, words(79, "a") + "\n\n" + words(80, "b"), whole,
			[]string{title + " | " + words(79, "a"), title + " | " + words(80, "b")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := chunk.Document{Title: tt.title, Text: tt.text}
			if d := cmp.Diff(tt.want, show(tt.text, splitDocument(t, doc, tt.opt))); d != "" {
				t.Error(d)
			}
			check(t, doc, tt.opt)
		})
	}
}

func TestHeading(t *testing.T) {
	rows := "| id | " + "|\n|--|--|\n|" + words(30, "a") + "|\n|" + words(30, "b") + "|"
	for _, c := range []struct {
		text string
		want []string
	}{
		{"Lead.\n\n# A\nText.\n## B\nMore.", []string{"", "A", "A > B"}},
		{"# T\n" + rows, []string{"T", "T"}},
		{rows, []string{"", ""}},
		{"# A | B\nText.", []string{"A | B"}},
		{"# A | B\n" + rows, []string{"A | B", "A | B"}},
		{"# A | B\n| a | b |\n|--|--|\n| 1 | 2 |", []string{"A | B"}},
	} {
		var got []string
		for _, x := range split(t, c.text, sized(64)) {
			got = append(got, chunk.Heading(c.text, x))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%.20q: %s", c.text, d)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, want := range [][]string{
		{"Dr. Smith paid 3.50 for v1.2.3 on example.com.", "He left."},
		{"See fig. 3 and no. 7, i.e. The Plan.", "No.", "Yes!"},
		{"J. R. Reed wrote it.", "\"Really?\"", "(Yes.)", "Good…"},
		{"3. Clean the filter.", "Wait."},
		{"Open http://a.b/c?d=e.", "Etc. and so on."},
		{"今日は雨です。", "傘を持って！", "はい。"},
		{"यह एक है।", "दो है।"},
		{"هل هذا؟", "نعم."},
		{"What?!", "Well..."},
		{"See no. 0 Main Street.", "No.", "See fig. 9 Below.", "See no.", "Yes."},
		{"10. Clean the filter.", "Wait 9."},
		{"123456789012. Clean.", "Yes."},
		{"1234567890123.", "Clean."},
		{"One. " + strings.Repeat("-", 31) + "two."},
		{"One.", strings.Repeat("-", 32) + "two."},
	} {
		text := strings.Join(want, " ")
		if d := cmp.Diff(want, sentencesOf(t, text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
	if d := cmp.Diff([]string{"今日は雨です。", "傘を持って！"}, sentencesOf(t, "今日は雨です。傘を持って！")); d != "" {
		t.Error(d)
	}
}

// sentencesOf asks for chunks so small, by a counter that makes every sentence
// fill one, that each chunk is a sentence.
func sentencesOf(t *testing.T, text string) []string {
	full := func(_ context.Context, texts []string) ([]int, error) {
		out := make([]int, len(texts))
		for i := range out {
			out[i] = 160
		}
		return out, nil
	}
	out, err := chunk.Split(t.Context(), chunk.Untitled(text), full, chunk.Default())
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, c := range out[0] {
		got = append(got, text[c.Start:c.End])
	}
	return got
}

func TestSplitErrors(t *testing.T) {
	boom := errors.New("boom")
	fails := func(context.Context, []string) ([]int, error) { return nil, boom }
	short := func(context.Context, []string) ([]int, error) { return []int{}, nil }
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		count chunk.Counter
		opt   chunk.Options
		want  error
	}{
		{"budget", t.Context(), nil, chunk.Options{MaxTokens: 63}, fault.New(fault.InvalidRequest, "")},
		{"overlap", t.Context(), nil, chunk.Options{MaxTokens: 64, Overlap: 5}, fault.New(fault.InvalidRequest, "")},
		{"counter fails", t.Context(), fails, chunk.Default(), boom},
		{"counter miscounts", t.Context(), short, chunk.Default(), fault.New(fault.Internal, "")},
		{"canceled", canceled, nil, chunk.Default(), context.Canceled},
	} {
		if _, err := chunk.Split(tt.ctx, chunk.Untitled("a b"), tt.count, tt.opt); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestCounterCallsAreBounded(t *testing.T) {
	calls := 0
	count := func(ctx context.Context, texts []string) ([]int, error) {
		calls++
		size := 0
		for _, s := range texts {
			if s == "" {
				t.Error("empty text counted")
			}
			size += len(s)
		}
		if len(texts) > 4096 || size > 256<<10 {
			t.Errorf("one call with %d texts of %d bytes", len(texts), size)
		}
		return chunk.Approximate(ctx, texts)
	}
	docs := make([]string, 100)
	for i := range docs {
		docs[i] = fmt.Sprintf("# Document %d\n\n%s", i, strings.Repeat("A plain sentence. ", 20))
	}
	docs = append(docs, strings.Repeat("x", 256<<10), strings.Repeat("a. A ", 50000))
	if _, err := chunk.Split(t.Context(), chunk.Untitled(docs...), count, chunk.Default()); err != nil {
		t.Fatal(err)
	}
	if calls > 60 {
		t.Errorf("%d calls of the counter", calls)
	}
}

func TestApproximate(t *testing.T) {
	texts := []string{"", "the roastery", "don't!", "東京タワー", "naïve", "ERR_CONN_RESET", "🎉🎉", "1234567", "e5 roasteries",
		"aaaaaa", "zzzzzzz", "AAA", "ZZZ", "000", "9999", "\u1100\u1100", "éàüöä", "!!"}
	got, err := chunk.Approximate(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{0, 3, 4, 5, 3, 5, 2, 3, 4, 1, 2, 1, 1, 1, 2, 2, 2, 2}, got); d != "" {
		t.Error(d)
	}
}

// markdown draws text from pieces that steer the parser.
func markdown() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"\n", "\n\n", "\r\n", "title: a b\n", " ", "# ", "## T", "- ", "1. ", "12) ", "```",
		"~~~\n",
		"|", "|--|\n", "---\n", "===\n", "...",
		". A", "! ", "。", ":", "word ", "long sentence goes on, and on; ", "e\u0301\u0301", "👩‍👩‍👧", "日本語", "\u2003",
		"\u00a0", "\t", "Dr. ", "(x) ", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		strings.Repeat("many words here ", 12), strings.Repeat("unspaced", 90), strings.Repeat("Ein Satz. ", 30)})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "") })
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := markdown().Draw(rt, "text")
		opt := chunk.Options{MaxTokens: rapid.SampledFrom([]int{64, 100, 160}).Draw(rt, "tokens"),
			Overlap: rapid.IntRange(0, 4).Draw(rt, "overlap"), Whole: rapid.Bool().Draw(rt, "whole")}
		check(rt, chunk.Document{Text: text}, opt)
		title := rapid.SampledFrom([]string{"T", "word", "long sentence goes on", "A", strings.Repeat("many words here ", 12),
			strings.Repeat("unspaced", 90), "日本語"}).Draw(rt, "title")
		check(rt, chunk.Document{Text: text, Title: title}, opt)
	})
}

var opening = regexp.MustCompile(`^#{1,6}[\s\p{Z}]+`)

type failer interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

// check asserts what Split promises of any valid text.
func check(t failer, of chunk.Document, opt chunk.Options) {
	ctx, text := context.Background(), of.Text
	both, err := chunk.Split(ctx, []chunk.Document{of, of}, nil, opt)
	if err != nil {
		t.Fatalf("%v", err)
	}
	cs := both[0]
	if d := cmp.Diff(both[0], both[1]); d != "" {
		t.Errorf("equal texts differ: %s", d)
	}
	if (strings.TrimSpace(text) == "") != (len(cs) == 0) {
		t.Errorf("%d chunks", len(cs))
	}
	covered := make([]bool, len(text))
	var contexts strings.Builder
	last := port.Chunk{Start: -1}
	for _, c := range cs {
		if c.Start < 0 || c.End > len(text) || c.Start >= c.End || c.Start <= last.Start || c.End <= last.End {
			t.Fatalf("chunk [%d:%d] after [%d:%d]", c.Start, c.End, last.Start, last.End)
		}
		last = c
		slice := text[c.Start:c.End]
		if !utf8.ValidString(slice) || strings.TrimSpace(slice) != slice {
			t.Errorf("chunk %q is cut badly", slice)
		}
		n, _ := chunk.Approximate(ctx, []string{chunk.Text(text, c)})
		if n[0] > opt.MaxTokens {
			t.Errorf("%d pieces in %q", n[0], chunk.Text(text, c))
		}
		for i := c.Start; i < c.End; i++ {
			covered[i] = true
		}
		contexts.WriteString(c.Context + "\n")
	}
	said := strings.ToLower(contexts.String())
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += at
		}
		line := strings.TrimSpace(text[at:end])
		title := strings.Join(strings.Fields(strings.TrimRight(opening.ReplaceAllString(line, ""), "# \t")), " ")
		for i, r := range text[at:end] {
			if !unicode.IsSpace(r) && !covered[at+i] && !strings.Contains(said, strings.ToLower(title)) &&
				!strings.ContainsRune("#-=*_", r) {
				t.Errorf("%q at %d is in no chunk; line %q", r, at+i, line)
				break
			}
		}
		at = end + 1
	}
}

func TestEditsStayLocal(t *testing.T) {
	para := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"It rains.",
			"Beans are roasted at 205 degrees, slowly.", "Wer weiß?", words(60, "milk") + "."}), 1, 12).Draw(t, "sentences"), " ")
	})
	rapid.Check(t, func(rt *rapid.T) {
		paras := rapid.SliceOfN(para, 2, 8).Draw(rt, "paragraphs")
		at := rapid.IntRange(0, len(paras)-1).Draw(rt, "edited")
		hashes := func(p []string) map[[16]byte]int {
			m := map[[16]byte]int{}
			for _, c := range split(t, "# Title\n\n"+strings.Join(p, "\n\n"), chunk.Default()) {
				m[c.Hash]++
			}
			return m
		}
		before := hashes(paras)
		for h, n := range hashes(paras[at : at+1]) {
			before[h] -= n
		}
		paras[at] = "Something else. " + paras[at]
		after := hashes(paras)
		for h, n := range before {
			if after[h] < n {
				rt.Errorf("an edit of paragraph %d changed another's chunk", at)
			}
		}
	})
}

func TestContextIsHashed(t *testing.T) {
	a, b := split(t, "# A\nx", chunk.Default())[0], split(t, "# B\nx", chunk.Default())[0]
	if a.Hash == b.Hash {
		t.Error("equal text under other headings shares a vector")
	}
	if c := split(t, "## A\n\n\nx\n", chunk.Default())[0]; c.Hash != a.Hash {
		t.Error("equal text under an equal heading has another hash")
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"# A\n\nb", "a\n---\n", "```\nx\n```", "| a |\n|--|\n| b |", "- a\n\n  b\n- c:", "a.) b",
		"\xff\xfe", "e\u0301👩‍👩‍👧。x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			if _, err := chunk.Split(t.Context(), chunk.Untitled(text), nil, sized(64)); err != nil {
				t.Fatal(err)
			}
			return
		}
		check(t, chunk.Document{Text: text}, sized(64))
	})
}

// adversarial texts of n bytes, one for each way a reader could go quadratic.
func adversarial(n int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, n/len(s)) }
	return map[string]string{
		"prose":       fill("The burr grinder is set to 4.5 for espresso, and Dr. Lee agrees. "),
		"paragraphs":  fill("A short paragraph of a few words.\n\n"),
		"hashes":      fill("#"),
		"newlines":    fill("\n"),
		"spaces":      "a. " + fill(" ") + "b",
		"one word":    fill("x"),
		"abbreviated": fill("a. a. a. "),
		"initials":    fill(" ") + fill("A. B. "),
		"brackets":    "a." + fill(")"),
		"quotes":      fill("a.\" ("),
		"nested list": fill("- \t- a\n"),
		"deep list":   fill(" - x\n   "),
		"headings":    fill("# a\n"),
		"emoji":       fill("👩‍👩‍👧"),
		"marks":       "a" + fill("\u0301"),
		"flags":       fill("🇫🇷"),
		"cjk":         fill("東京"),
		"open fences": fill("````x\n```y\n~~~z\n"),
		"table":       fill("|a|b|\n|--|\n"),
		"setext":      fill("a\n==\n"),
		"rules":       fill("- - - - - -\n"),
		"lead-ins":    fill("a:\n\n"),
		"colons":      fill("a: b:\n- c:\n"),
		"digits":      fill("1. "),
	}
}

func TestAdversarial(t *testing.T) {
	for name, text := range adversarial(20_000) {
		t.Run(name, func(t *testing.T) { check(t, chunk.Document{Text: text}, chunk.Default()) })
	}
}

func BenchmarkSplit(b *testing.B) {
	for name, text := range adversarial(256 << 10) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				split(b, text, chunk.Default())
			}
		})
	}
}
