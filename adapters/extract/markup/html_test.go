package markup

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestMarkdown(t *testing.T) {
	for _, tt := range []struct{ name, page, text, title string }{
		{"page", `<!doctype html><html><head><title> A
			page </title><style>p{}</style></head><body><nav><a href=/>Home</a></nav><h1>Hello <em>you</em></h1>
			<p>One   <b>bold</b>
			word.</p><p>Two<br>lines</p><script>alert(1)</script><footer>End</footer></body></html>`,
			"# Hello you\n\nOne bold word.\n\nTwo\nlines\n\nEnd", "A page"},
		{"main only", `<body><header>Logo</header><main><h2>In</h2>text</main><div>outside</div>`, "## In\n\ntext", "In"},
		{"empty main", `<main></main><p>outside`, "outside", ""},
		{"lists", `<p>Need:</p><ul><li>beans<li>water ` +
			`<ul><li>cold</li><li>clean</li></ul></li></ul><ol><li><p>grind</p><p>fine</p></li><li>brew</li></ol><p>done`,
			"Need:\n\n- beans\n- water\n  - cold\n  - clean\n\n1. grind\n\n   fine\n2. brew\n\ndone", ""},
		{"code", "<p>Run <code>a  `b`</code>:</p><pre><code class=\"hl language-sh\">ls\n  <span>-l</span>\n\n</code></pre>",
			"Run ``a `b```:\n\n```sh\nls\n  -l\n```", ""},
		{"fence in code", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````", ""},
		{"table", `<table><caption>Prices</caption><thead><tr><th>Bag<th>Price</thead><tr><td>a|b<td><p>4</p><p>5</p></table>`,
			"Prices\n\n| Bag | Price |\n|---|---|\n| a\\|b | 4 5 |", ""},
		{"layout table", `<table><tr><td><h1>Head</h1><td>body<table><tr><td>x<td>y</table></table>`,
			"# Head\n\nbody\n\n| x | y |", "Head"},
		{"quote and rule", `<blockquote><p>said</p><p>done</p></blockquote><hr><p>x`, "> said\n\n> done\n\n---\n\nx", ""},
		{"definitions", `<dl><dt>E-42</dt><dd>too hot</dd><dt>E-57</dt><dd>too cold</dd></dl>`,
			"E-42\n  too hot\n\nE-57\n  too cold", ""},
		{"hidden", `<p hidden>a</p><p aria-hidden=true>b</p><div ` +
			`role=navigation>c</div><p>d<svg><title>no</title></svg><!-- e -->`, "d", ""},
		{"entities and images", `<p>a&nbsp;&amp;&lt;b <img src=x alt="a cup"> c<img src=y>`, "a &<b [a cup] c", ""},
		{"inline links", `<p>see <a href="https://x.example">the manual</a>.`, "see the manual.", ""},
		{"no markup", `just text`, "just text", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, title, err := HTML([]byte(tt.page), "")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.text, text); d != "" {
				t.Error(d)
			}
			if title != tt.title {
				t.Errorf("title %q, want %q", title, tt.title)
			}
		})
	}
}

func TestDeepPageIsAProblem(t *testing.T) {
	for _, tag := range []string{"div", "b", "table", "ul"} {
		page := strings.Repeat("<"+tag+">", 50_000) + "text"
		text, _, err := HTML([]byte(page), "")
		if err == nil && !strings.Contains(text, "text") {
			t.Errorf("%s: neither an error nor the text", tag)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"<p>a", "<ul><li><ol><li>x</ol><pre>y", "<table><tr><td><table><td>x", "<code>`</code>",
		"\xff<meta charset=utf-16>", "<title>x</title><main><br>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		text, title, err := HTML([]byte(page), "")
		if err == nil && (!utf8.ValidString(text) || !utf8.ValidString(title)) {
			t.Fatalf("%q %q", text, title)
		}
	})
}
