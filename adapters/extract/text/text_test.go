package text_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/extracttest"
	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/core/port"
)

func file(name, media, content string) port.File {
	return port.File{Name: name, MediaType: media, Content: []byte(content)}
}

// german is long enough for a charset to be guessed.
const german = "Die Miete f\xfcr die Wohnung betr\xe4gt zehn Taler. Die K\xfcndigungsfrist betr\xe4gt drei Monate, " +
	"f\xfcr beide Seiten. Gr\xfc\xdfe aus M\xfcnchen, wo es sch\xf6n ist und die B\xe4ume bl\xfchen."

func TestText(t *testing.T) {
	limits := extract.DefaultLimits()
	limits.Depth, limits.Text = 20, 1000
	many := strings.Repeat("a,b\n", 600)
	extracttest.Run(t, extracttest.Suite{
		Open: func(*testing.T) port.Extractor { return text.New(limits) },
		Samples: []extracttest.Sample{
			{File: file("a.txt", "text/plain", "plain\r\n\fpage two\n"), Text: []string{"plain\r\n\fpage two\n"}},
			{File: file("german.txt", "text/plain", german), Text: []string{"Grüße aus München"}},
			{File: port.File{Name: "said.txt", MediaType: "text/plain", Charset: "windows-1251",
				Content: []byte("\xcf\xf0\xe8")},
				Text: []string{"При"}},
			{File: file("old.txt", "text/plain", "a \x1b$BF|K\\8l\x1b(B b"), Text: []string{"a 日本語 b"}},
			{File: file("coloured.txt", "text/plain", "\x1b[31mred\x1b[0m $B"), Text: []string{"\x1b[31mred\x1b[0m $B"}},
			{File: file("neither.txt", "text/plain", "a \x1b$B\x01"), Text: []string{"a \x1b$B\x01"}},
			{File: file("main.go", "text/x-source", "// # no heading\npackage main // ```\n"), Title: "main.go",
				Text: []string{"# main.go\n\n````go\n// # no heading\npackage main // ```\n````"}},
			{File: file("a.csv", "text/csv", "Name,Price\n\"Bag, large\",4\n,\nCup,\"two\nlines\",more\n"),
				Text: []string{"- Name: Bag, large; Price: 4\n- Name: Cup; Price: two lines; more"}},
			{File: file("excel.csv", "text/csv", "Name;Price\nBag;4,50\n"), Text: []string{"- Name: Bag; Price: 4,50"}},
			{File: file("header.csv", "text/csv", "Name,Price\n"), Text: []string{"- Name; Price"}},
			{File: file("a.tsv", "text/tab-separated-values", "Name\tPrice\nBag, \"large\tx\n"),
				Text: []string{"- Name: Bag, \"large; Price: x"}},
			{File: file("a.json", "application/json",
				`{"name": "Ann", "n": [1, {"deep": true}], "none": null, "": "", "big": 12345678901234567890}`),
				Text: []string{"name: Ann\nn[1]: 1\nn[2].deep: true\n", "big: 12345678901234567890"}, Never: []string{"none"}},
			{File: file("a.jsonl", "application/x-ndjson", "{\"a\": 1}\n{\"a\": 2}\n\"x\"\n"), Text: []string{"a: 1\n\n",
				"a: 2\n\n", "x"}},
			{File: file("a.xml", "text/xml",
				`<?xml version="1.0" encoding="utf-8"?><list xmlns="http://x"><!-- c --><item id="7">
				<name>Ann &amp; Bob</name></item><item><![CDATA[<raw>]]> tail</item></list>`),
				Text: []string{"item id: 7\nname: Ann & Bob\n\nitem: <raw> tail"}, Never: []string{"http", "c\n"}},
		},
		Refused: []extracttest.Refused{
			{Name: "NUL", File: file("a.txt", "text/plain", "a\n\x00"), Code: port.FileBroken},
			{Name: "another charset", File: port.File{Name: "a.txt", Charset: "utf-8", Content: []byte("ok\nno\xff")},
				Code: port.FileBroken},
			{Name: "unknown charset", File: port.File{Name: "a.txt", Charset: "klingon", Content: []byte("no\xff")},
				Code: port.FileBroken},
			{Name: "unreadable charset", File: port.File{Name: "a.txt", Charset: "iso-2022-kr", Content: []byte("no\xff")},
				Code: port.FileBroken},
			{Name: "wrong charset", File: port.File{Name: "a.txt", Charset: "shift_jis", Content: []byte("\xff\xff")},
				Code: port.FileBroken},
			{Name: "white space", File: file("a.txt", "text/plain", " \n"), Code: port.FileNoText},
			{Name: "no JSON", File: file("a.json", "application/json", `{"a": 1`), Code: port.FileBroken},
			{Name: "no JSON at all", File: file("a.json", "application/json", `hello`), Code: port.FileBroken},
			{Name: "no name in JSON", File: file("a.json", "application/json", `{3: 1}`), Code: port.FileBroken},
			{Name: "JSON of nothing", File: file("a.json", "application/json", `{"a": [null, ""]}`), Code: port.FileNoText},
			{Name: "deep JSON", File: file("a.json", "application/json", strings.Repeat("[", 21)+strings.Repeat("]", 21)),
				Code: port.FileTooLarge},
			{Name: "long JSON", File: file("a.json", "application/json", "["+strings.Repeat("123456789,", 100)+"1]"),
				Code: port.FileTooLarge},
			{Name: "long table", File: file("a.csv", "text/csv", many), Code: port.FileTooLarge},
			{Name: "no XML", File: file("a.xml", "text/xml", "<a><b"), Code: port.FileBroken},
			{Name: "XML of nothing", File: file("a.xml", "text/xml", "<a><b/></a>"), Code: port.FileNoText},
			{Name: "deep XML", File: file("a.xml", "text/xml", strings.Repeat("<a>", 21)+"x"), Code: port.FileTooLarge},
			{Name: "long XML", File: file("a.xml", "text/xml", "<a>"+strings.Repeat("<b>123456</b>", 200)+"</a>"),
				Code: port.FileTooLarge},
		},
	})
}

func TestCuredByACharset(t *testing.T) {
	for content, cured := range map[string]bool{"\xff": true, "\x00": false} {
		_, err := text.Decode([]byte(content), text.UTF8)
		if err == nil || errors.Is(err, text.ErrEncoding) != cured {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func FuzzText(f *testing.F) {
	formats := text.New(extract.DefaultLimits()).Formats()
	for i := range formats {
		for _, s := range []string{"a,b\n1,\"2", "{\"a\": [1, {}]}", "<a b='c'>d<e/></a>", "\xff\xfea\x00", german, "```"} {
			f.Add(byte(i), s)
		}
	}
	f.Fuzz(func(t *testing.T, n byte, content string) {
		e := text.New(extract.DefaultLimits())
		media := formats[int(n)%len(formats)].MediaType
		x, err := e.Extract(t.Context(), port.File{Name: "a.go", MediaType: media, Content: []byte(content)})
		if err != nil {
			if !errors.As(err, new(*port.FileError)) {
				t.Fatal(err)
			}
			return
		}
		for _, s := range x.Sections {
			if !utf8.ValidString(s.Text) || strings.TrimSpace(s.Text) == "" {
				t.Fatalf("%q", s.Text)
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	latin := strings.Repeat(german+"\n\n", 5000)
	decoded, err := text.Decode([]byte(latin), "")
	if err != nil {
		b.Fatal(err)
	}
	extracttest.Bench(b, text.New(extract.DefaultLimits()),
		file("utf-8.txt", "text/plain", decoded),
		file("latin.txt", "text/plain", latin),
		file("main.go", "text/x-source", strings.Repeat("func main() { println(\"hello\") }\n", 30_000)),
		file("a.csv", "text/csv", "Name,Price,From\n"+strings.Repeat("Bag of beans,4.50,2026-03-01\n", 30_000)),
		file("a.json", "application/json", "["+strings.Repeat(`{"name": "Bag of beans", "price": 4.5, "tags": ["a", "b"]},`,
			15_000)+"1]"),
		file("a.xml", "text/xml", "<list>"+
			strings.Repeat("<item id='7'><name>Bag of beans</name><price>4.50</price></item>", 15_000)+"</list>"))
}
