package api_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
)

// visitor has signed in to the console.
type visitor struct{ *server }

// console signs in with an admin key.
func (s *server) console() visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	v := visitor{s.as("")}
	v.client = harness.HTTP()
	v.client.Jar = jar
	s.t.Cleanup(v.client.CloseIdleConnections)
	v.form("session", url.Values{"key": {s.operator().key}}).has("Overview")
	return v
}

// sight is what a page shows, without the calls that it shows.
type sight struct {
	t     testing.TB
	at    *url.URL
	main  *html.Node
	words string
}

// open goes to a page below the console's root, and follows where it leads.
func (v visitor) open(at string) sight {
	v.t.Helper()
	return v.visit("GET", at, nil, "")
}

// form sends a form.
func (v visitor) form(at string, fields url.Values) sight {
	v.t.Helper()
	return v.visit("POST", at, strings.NewReader(fields.Encode()), "application/x-www-form-urlencoded")
}

// files sends a form with files, by name.
func (v visitor) files(at string, files map[string]string) sight {
	v.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, text := range files {
		f, err := w.CreateFormFile("file", name)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			v.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		v.t.Fatal(err)
	}
	return v.visit("POST", at, &body, w.FormDataContentType())
}

func (v visitor) visit(method, at string, body io.Reader, kind string) sight {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.url+"/console/"+at, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	a, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }() // read alone
	page, err := html.Parse(a.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	s := sight{t: v.t, at: a.Request.URL}
	for n := range page.Descendants() {
		if n.DataAtom == atom.Main {
			s.main = n
		}
	}
	if s.main == nil {
		v.t.Fatalf("%s %s: %d without a page", method, at, a.StatusCode)
	}
	s.words = wordsOf(s.main)
	if a.StatusCode != http.StatusOK {
		v.t.Fatalf("%s %s: %d %s", method, at, a.StatusCode, s.words)
	}
	return s
}

// wordsOf is the text of an element.
func wordsOf(n *html.Node) string {
	if class(n) == "calls" {
		return ""
	}
	if n.Type == html.TextNode {
		return strings.TrimSpace(n.Data)
	}
	var words []string
	for c := range n.ChildNodes() {
		if w := wordsOf(c); w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

func class(n *html.Node) string { return attributeOf(n, "class") }

func attributeOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// texts are those of the elements that are one or have the class.
func (s sight) texts(element, classes string) (all []string) {
	for n := range s.main.Descendants() {
		if n.Type == html.ElementNode && (element == "" || n.Data == element) && (classes == "" || class(n) == classes) {
			all = append(all, wordsOf(n))
		}
	}
	return all
}

// hits are the documents that the playground found, in order.
func (s sight) hits() (all []string) {
	for _, head := range s.texts("h3", "") {
		all = append(all, strings.Fields(head)[1])
	}
	return all
}

func (s sight) has(texts ...string) sight {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.words, text) {
			s.t.Errorf("%s lacks %q: %s", s.at, text, s.words)
		}
	}
	return s
}

func (s sight) lacks(texts ...string) sight {
	s.t.Helper()
	for _, text := range texts {
		if strings.Contains(s.words, text) {
			s.t.Errorf("%s has %q: %s", s.at, text, s.words)
		}
	}
	return s
}

// eventually opens a page until it has a text, or where has is false until it has it no more.
func (v visitor) eventually(at, text string, has bool) {
	v.t.Helper()
	for end := time.Now().Add(harness.Patience); ; time.Sleep(20 * time.Millisecond) {
		s := v.open(at)
		if strings.Contains(s.words, text) == has {
			return
		}
		if time.Now().After(end) {
			v.t.Fatalf("%q at %s is %v for too long: %s", text, s.at, !has, s.words)
		}
	}
}

// What the console does with what is stored and found goes over each set of backends: files and their lists,
// questions in every mode, filters, saved queries, new vectors, a source, an end user's memories, and deletions
// after which nothing is found.
func TestTheConsoleOverEachSet(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		folder := t.TempDir()
		harness.Write(t, filepath.Join(folder, "roof.md"), []byte("# Roof\n\nThe roof was mended in 2019."))
		s := start(t, b, options{config: func(c *configs.Config) {
			c.Sources.Enabled, c.Sources.Directories = true, []string{folder}
		}})
		v := s.console()
		const o, n = "o/default", "o/default/n/home"

		v.form(o+"/n", url.Values{"name": {"home"}}).has("Upload to home")
		files := map[string]string{"oven.txt": "The oven bakes at 180 degrees.", "fridge.txt": "The fridge cools to 5 degrees."}
		for i := range 60 {
			files[fmt.Sprintf("room-%02d.txt", i)] = fmt.Sprintf("Room %d has windows.", i)
		}
		v.files(n+"/files", files).has("62 written")
		v.open(o + "/n").has("home 62")
		if first := v.open(n).texts("th", ""); !slices.Contains(first, "room-47.txt") || slices.Contains(first, "room-48.txt") {
			t.Errorf("the first page has %q", first)
		}
		v.open(n + "?prefix=room-5").has("room-59.txt").lacks("room-49.txt")

		found := v.open(n + "/query?q=how+hot+is+the+oven")
		if hits := found.hits(); len(hits) == 0 || hits[0] != "oven.txt" || !slices.Contains(found.texts("mark", ""), "oven") {
			t.Errorf("the oven is not found first, and marked: %s", found.words)
		}
		found.has("vector 1.", "keyword 1.", "fused 1.")
		for _, mode := range []string{"vector", "keyword"} {
			if hits := v.open(n + "/query?q=oven+bakes+degrees&mode=" + mode).hits(); len(hits) == 0 || hits[0] != "oven.txt" {
				t.Errorf("by %s alone: %q", mode, hits)
			}
		}
		v.open(n+"/query?q=oven&compare=1&b_mode=keyword").has("A: ", "B: 1 hit")
		v.open(n + "/documents/oven.txt?similar=1").has("The oven bakes at 180 degrees.").lacks("could not be looked for")
		v.form(n+"/documents/oven.txt", url.Values{"do": {"metadata"}, "metadata": {`{"room": "kitchen"}`}}).has("room kitchen")
		if hits := v.open(n + `/query?q=degrees&filter={"room":"kitchen"}`).hits(); !slices.Equal(hits, []string{"oven.txt"}) {
			t.Errorf("within the filter: %q", hits)
		}
		v.form(n+"/check", url.Values{"do": {""}, "name": {"oven"}, "query": {"how hot is the oven"}, "expect": {"oven.txt"},
			"within": {"1"}, "mode": {"keyword"}})
		v.open(n + "/check?run=1").has("1 of 1 pass")

		v.form(n+"/upkeep", url.Values{"do": {""}, "force": {"1"}})
		v.eventually(n+"/upkeep", "succeeded", true)
		if hits := v.open(n + "/query?q=how+hot+is+the+oven").hits(); len(hits) == 0 || hits[0] != "oven.txt" {
			t.Errorf("with new vectors: %q", hits)
		}
		v.form(n+"/documents/oven.txt", url.Values{"do": {""}, "typed": {"oven.txt"}})
		v.open(n + "?prefix=oven").lacks("oven.txt")
		v.open(n + "/query?q=oven&mode=keyword").has("Nothing was found")
		v.open(n + "/check?run=1").has("0 of 1 pass")

		source := v.form(o+"/connect/directory", url.Values{"name": {"Papers"}, "namespace": {"papers"}, "config.path": {folder}})
		at := strings.TrimPrefix(source.at.Path, "/console/")
		v.eventually(at, "1 new", true)
		roof := v.open(o + "/n/papers/query?q=when+was+the+roof+mended").hits()
		if len(roof) != 1 {
			t.Fatalf("of the source: %q", roof)
		}
		v.open(o+"/n/papers/documents/"+url.PathEscape(roof[0])).has("mended in 2019", "kept by Papers", "History of its source")
		v.form(at, url.Values{"do": {"disconnect"}, "documents": {"delete"}, "typed": {"Papers"}})
		v.eventually(o+"/n", "papers", false)

		chat := s.integration("bot", nil)
		id := chat.save("ann@example.com", "Ann prefers trains to planes.")
		chat.save("ann@example.com", "Ann is afraid of geese.")
		users := v.open(o + "/users").has("ann@example.com bot 2")
		ann := ""
		for x := range users.main.Descendants() {
			if to := attributeOf(x, "href"); x.Data == "a" && strings.HasSuffix(to, "/ann@example.com") {
				ann = o + to[strings.LastIndex(to, "/users/"):]
			}
		}
		found = v.open(ann + "?q=trains+or+planes")
		if texts := found.texts("div", "text"); len(texts) == 0 || texts[0] != "Ann prefers trains to planes." {
			t.Errorf("as the end user: %s", found.words)
		}
		v.form(ann, url.Values{"do": {"forget"}, "memory": {id}}).has("geese").lacks("trains")
		v.open(ann + "?q=trains+or+planes").lacks("trains to planes")
		v.form(ann, url.Values{"do": {"erase"}, "typed": {"ann@example.com"}}).has("is erased", "hold nothing")
		v.open(o + "/users").lacks("ann@example.com")

		v.open(o).has("Documents 61")
		v.open(o+"/usage").has("home", "in all")
		v.open(o+"/audit").has("reindex force home", "erase")
		v.open("health").has("Search works")
		v.form(n, url.Values{"typed": {"home"}})
		v.open(o + "/n").lacks("home").has("Nothing is stored yet")
	})
}
