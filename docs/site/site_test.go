package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
)

const root = "../.."

const code = "https://code.example.com/mneme"

var once = sync.OnceValues(func() (map[string][]byte, error) { return build(settings{root: root, repository: code}) })

// made is the site of the repository.
func made(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// element is one start tag.
type element struct {
	name string
	has  map[string]string
}

func elements(t *testing.T, page []byte) (all []element) {
	t.Helper()
	for tokens := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return all
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			one := element{token.Data, map[string]string{}}
			for _, a := range token.Attr {
				one.has[a.Key] = a.Val
			}
			all = append(all, one)
		default:
		}
	}
}

// inRepository tells whether a link leads into the repository, where something has to be.
func inRepository(t *testing.T, page, link string) bool {
	t.Helper()
	rest, ok := strings.CutPrefix(link, code+"/")
	if !ok {
		return false
	}
	parts := strings.SplitN(rest, "/", 3)
	at, _, _ := strings.Cut(parts[len(parts)-1], "#")
	info, err := os.Stat(filepath.Join(root, at))
	if len(parts) != 3 || err != nil || info.IsDir() != (parts[0] == "tree") || parts[1] != "main" {
		t.Errorf("%s leads to %s, which is not there (%v)", page, link, err)
	}
	return true
}

// Every link of every page leads to a file of the site and an anchor in it, relatively, so that the site
// works below any path and from a disk; and no page needs a script to be read.
func TestLinks(t *testing.T) {
	files := made(t)
	anchors := map[string]map[string]bool{}
	for name, content := range files {
		if filepath.Ext(name) != ".html" {
			continue
		}
		anchors[name] = map[string]bool{}
		for _, e := range elements(t, content) {
			if id := e.has["id"]; id != "" {
				if anchors[name][id] {
					t.Errorf("%s has the anchor %s twice", name, id)
				}
				anchors[name][id] = true
			}
		}
	}
	leads := func(from, link string) {
		t.Helper()
		if inRepository(t, from, link) {
			return
		}
		to, err := url.Parse(link)
		switch {
		case err != nil:
			t.Errorf("%s leads to %q: %v", from, link, err)
			return
		case to.IsAbs():
			if to.Scheme != "https" && to.Scheme != "http" {
				t.Errorf("%s leads to %s", from, link)
			}
			return
		case strings.HasPrefix(link, "/"):
			t.Errorf("%s leads to %s, which is not below the site", from, link)
			return
		}
		target := to.Path
		if target == "" {
			target = from
		}
		if files[target] == nil {
			t.Errorf("%s leads to %s, which is not there", from, link)
			return
		}
		page := strings.TrimSuffix(strings.TrimSuffix(target, ".md"), ".html") + ".html"
		if to.Fragment != "" && !anchors[page][to.Fragment] {
			t.Errorf("%s leads to %s, where there is no such anchor", from, link)
		}
	}
	parser := markdownParser().Parser()
	for name, content := range files {
		switch filepath.Ext(name) {
		case ".html":
			for _, e := range elements(t, content) {
				for _, attribute := range []string{"href", "src", "action"} {
					if link, ok := e.has[attribute]; ok {
						leads(name, link)
					}
				}
			}
		case ".md":
			doc := parser.Parse(text.NewReader(content))
			_ = ast.Walk(doc, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
				if link, ok := n.(*ast.Link); ok && enter {
					leads(name, string(link.Destination))
				}
				return ast.WalkContinue, nil
			})
		}
	}
}

// Every page of docs is in the site and in its navigation, once.
func TestNavigation(t *testing.T) {
	files := made(t)
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(docs) < 30 {
		t.Fatalf("docs has %d pages: %v", len(docs), err)
	}
	for _, file := range docs {
		name := strings.TrimSuffix(filepath.Base(file), ".md") + ".html"
		if name == "README.html" {
			name = "index.html"
		}
		content := string(files[name])
		if strings.Count(content, `aria-current="page"`) != 1 ||
			!strings.Contains(content, `href="`+name+`" aria-current="page"`) {
			t.Errorf("docs/%s is not once in the navigation of its page", filepath.Base(file))
		}
	}
}

// Pages have what readers of screens go by.
func TestPagesAreAccessible(t *testing.T) {
	for name, content := range made(t) {
		if filepath.Ext(name) != ".html" {
			continue
		}
		count, level := map[string]int{}, 0
		for _, e := range elements(t, content) {
			count[e.name]++
			switch {
			case e.name == "html" && e.has["lang"] != "en":
				t.Errorf("%s has no language", name)
			case e.name == "nav" && e.has["aria-label"] == "", e.name == "input" && e.has["aria-label"] == "":
				t.Errorf("%s has a %s without a name", name, e.name)
			case e.name == "script" && (e.has["src"] == "" || name != "search.html"):
				t.Errorf("%s has a script", name)
			case e.has["style"] != "" || e.name == "style":
				t.Errorf("%s has a style of its own", name)
			}
			if _, ok := e.has["alt"]; e.name == "img" && !ok {
				t.Errorf("%s has a picture without words", name)
			}
			if h := regexp.MustCompile(`^h([1-6])$`).FindStringSubmatch(e.name); h != nil {
				now := int(h[1][0] - '0')
				if now > level+1 {
					t.Errorf("%s goes from a heading of level %d to one of %d", name, level, now)
				}
				level = now
			}
		}
		for _, one := range []string{"main", "header", "footer", "title", "h1"} {
			if count[one] != 1 {
				t.Errorf("%s has %d of %s", name, count[one], one)
			}
		}
	}
}

// The style has the console's colours, whose contrast that one's test checks, and no others.
func TestColours(t *testing.T) {
	style := string(made(t)["site.css"])
	palette, own, _ := strings.Cut(style, "}")
	if strings.Count(palette, "light-dark(#") < 10 {
		t.Errorf("the colours are %s", palette)
	}
	if colour := regexp.MustCompile(`#[0-9a-f]{3,8}\b[^{]*?;`).FindString(own); colour != "" {
		t.Errorf("a colour that is not the console's: %s", colour)
	}
	for _, m := range regexp.MustCompile(`var\(--([a-z-]+)\)`).FindAllStringSubmatch(own, -1) {
		if !strings.Contains(palette, "--"+m[1]+":") {
			t.Errorf("there is no colour %s", m[1])
		}
	}
}

// What language models read has the shape of llmstxt.org, and its addresses lead somewhere.
func TestLLMs(t *testing.T) {
	files, err := build(settings{root: root, repository: code, url: "https://docs.example.com/mneme"})
	if err != nil {
		t.Fatal(err)
	}
	listing := string(files["llms.txt"])
	if !regexp.MustCompile(`\A# Mneme\n> .+`).MatchString(listing) || strings.Count(listing, "\n## Optional\n") != 1 {
		t.Errorf("llms.txt begins %.300s", listing)
	}
	before, spared, _ := strings.Cut(listing, "## Optional")
	full := string(files["llms-full.txt"])
	link := regexp.MustCompile(`(?m)^- \[[^\]]+\]\(https://docs\.example\.com/mneme/([a-z0-9-]+\.(?:md|yaml))\): .+$`)
	for _, part := range []struct {
		text  string
		whole bool
	}{{before, true}, {spared, false}} {
		found := link.FindAllStringSubmatch(part.text, -1)
		if len(found) < 3 || len(found) != strings.Count(part.text, "\n- ") {
			t.Errorf("it has %d links in %s", len(found), part.text)
		}
		for _, m := range found {
			page := files[m[1]]
			if page == nil {
				t.Errorf("there is no %s", m[1])
			}
			title, _, _ := strings.Cut(string(page), "\n")
			if strings.HasSuffix(m[1], ".md") && strings.Contains(full, title+"\n") != part.whole {
				t.Errorf("llms-full.txt has %s: %v", m[1], !part.whole)
			}
		}
	}
}

// The search finds the passage that answers, by the words of its text and its headings.
func TestSearch(t *testing.T) {
	files := made(t)
	index := bytes.TrimSuffix(bytes.TrimPrefix(files["index.js"], []byte("const passages = ")), []byte(";\n"))
	var passages []passage
	if err := json.Unmarshal(index, &passages); err != nil {
		t.Fatal(err)
	}
	if len(passages) < 300 || !slices.ContainsFunc(passages, func(p passage) bool {
		return p.Link == "backup.html#encryption" && p.Page == "Backups" && strings.Contains(p.Text, "XChaCha20-Poly1305")
	}) {
		t.Fatalf("%d passages, without the one of encryption", len(passages))
	}
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("MNEME_TEST_REQUIRE") == "1" {
			t.Fatal("the search is tried with Node.js")
		}
		t.Skip("SKIPPED: the search is tried with Node.js")
	}
	asked := map[string]string{
		"how are backups encrypted":     "backup.html#encryption",
		"keyword languages":             "models.html#languages",
		"invalid_filter":                "errors.html#",
		"erase end user memories":       "memory.html#erasing",
		"what is tried again by an SDK": "sdk.html#what-is-tried-again",
		"haprox":                        "console.html#behind-a-proxy",
		"xyzzyplugh":                    "",
	}
	questions, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	program := string(files["index.js"]) + string(files["search.js"]) +
		"const search = makeSearch(passages), out = {};" +
		"for (const q of Object.keys(" + string(questions) + ")) out[q] = search(q).map((hit) => hit.link);" +
		"console.log(JSON.stringify(out))"
	cmd := exec.CommandContext(t.Context(), node, "-")
	cmd.Stdin = strings.NewReader(program)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var found map[string][]string
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	for question, want := range asked {
		hits := found[question]
		if want == "" && len(hits) > 0 {
			t.Errorf("%s: found %q", question, hits)
		}
		if want != "" && !slices.ContainsFunc(hits[:min(3, len(hits))], func(link string) bool {
			return strings.HasPrefix(link, want)
		}) {
			t.Errorf("%s: found %q, want %s among the first three", question, hits, want)
		}
	}
}

// A page that names what is not there is refused.
func TestWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"docs/README.md":                   "# A\n## B\n- [C](c.md): d\n",
		"docs/c.md":                        "# C\n[gone](gone.md)\n",
		"transports/console/static/a.css":  "",
		"transports/console/static/b.html": "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := build(settings{root: dir}); err == nil || !strings.Contains(err.Error(), "gone.md") {
		t.Errorf("it says %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "docs/gone.md"), []byte("# Gone"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := build(settings{root: dir}); err == nil || !strings.Contains(err.Error(), "does not name") {
		t.Errorf("it says %v", err)
	}
}

// The command writes the files.
func TestWrite(t *testing.T) {
	out := t.TempDir()
	if err := write(settings{root: root, repository: "https://code.example.com"}, out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "search.html", "llms.txt", "images/console-overview.png"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
}
