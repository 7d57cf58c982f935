package markup

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/extract/extracttest"
	"github.com/mnemehq/mneme/core/port"
)

func TestMarkup(t *testing.T) {
	file := func(name, media, content string) port.File {
		return port.File{Name: name, MediaType: media, Content: []byte(content)}
	}
	extracttest.Run(t, extracttest.Suite{
		Open: func(*testing.T) port.Extractor { return New() },
		Samples: []extracttest.Sample{
			{File: file("a.md", MarkdownType, "---\ntitle: Lease\nlang: en\nn: 2\ntags: [a, b]\n---\nNotice is three months."),
				Title: "Lease", Text: []string{"# Lease\n\nNotice is three months."}, Never: []string{"lang"},
				Metadata: map[string]any{"lang": "en", "n": json.Number("2"), "tags": []string{"a", "b"}, "title": nil}},
			{File: file("heading.md", MarkdownType, "# Lease\n\nNotice."), Title: "Lease",
				Text: []string{"# Lease\n\nNotice."}},
			{File: file("a.html", HTMLType,
				"<title>Tea</title><h2>How</h2><table><tr><th>Leaf<th>Time<tr><td>green<td>2</table>"),
				Title: "Tea", Text: []string{"## How", "| Leaf | Time |", "| green | 2 |"}},
			{File: file("declared.html", HTMLType, "<meta charset=windows-1251><p>\xcf\xf0\xe8"), Text: []string{"При"}},
			{File: port.File{Name: "said.html", MediaType: HTMLType, Charset: "windows-1251",
				Content: []byte("<p>\xcf\xf0\xe8")},
				Text: []string{"При"}},
			{File: port.File{Name: "both.html", MediaType: HTMLType, Charset: "shift_jis",
				Content: []byte("<meta charset=windows-1251><p>\xcf\xf0\xe8")}, Text: []string{"При"}},
		},
		Refused: []extracttest.Refused{
			{Name: "script", File: file("a.html", HTMLType, "<script>x</script>"), Code: port.FileNoText},
			{Name: "front matter alone", File: file("a.md", MarkdownType, "---\ntitle: T\n---\n \n"), Code: port.FileNoText},
			{Name: "NUL", File: file("a.md", MarkdownType, "a\x00"), Code: port.FileBroken},
		},
	})
}

func BenchmarkMarkup(b *testing.B) {
	page := "<title>Tea</title><main>" +
		strings.Repeat("<h2>How</h2><p>Leaves of <b>green</b> tea are <a href=x>brewed</a> for two minutes.</p>"+
			"<ul><li>one<li>two</ul><table><tr><th>Leaf<th>Time<tr><td>green<td>2</table>", 5000) + "</main>"
	extracttest.Bench(b, New(),
		port.File{Name: "a.html", MediaType: HTMLType, Content: []byte(page)},
		port.File{Name: "a.md", MediaType: MarkdownType, Content: []byte("---\ntitle: Tea\n---\n" +
			strings.Repeat("## How\n\nLeaves of **green** tea are brewed for two minutes.\n\n- one\n- two\n\n", 10_000))})
}
