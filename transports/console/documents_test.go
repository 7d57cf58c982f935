package console_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// write writes a document by the form.
func (b *browser) write(namespace, id, text string) answer {
	b.Helper()
	return b.post("/console/o/default/new-document", url.Values{"namespace": {namespace}, "id": {id}, "text": {text}})
}

// texts are those of the elements that have a class.
func (a answer) texts(class string) (out []string) {
	for n := range a.page.Descendants() {
		if c, _ := attribute(n, "class"); n.Type == html.ElementNode && c == class {
			var b strings.Builder
			for d := range n.Descendants() {
				if d.Type == html.TextNode {
					b.WriteString(d.Data)
				}
			}
			out = append(out, b.String())
		}
	}
	return out
}

// A person writes a document, finds it by a question, sees why, and deletes it.
func TestAFirstDocumentIsAskedAndDeleted(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	const at = "/console/o/default/n/notes/documents/lease-1"
	if to := b.write("notes", "lease-1", "The lease runs until May.\r\nThen it ends.").leads(t); to != at {
		t.Fatalf("it leads to %s", to)
	}
	d := b.get(at).want(t, 200, "1 chunk", "written over the API", "Chunk 0, bytes 0 to 39")
	d.proper(t)
	if text := d.texts("text"); len(text) != 1 || text[0] != "The lease runs until May.\nThen it ends." {
		t.Errorf("the page shows %q", text)
	}
	b.write("notes", "other", "Bees make honey.").want(t, 303)
	b.get("/console/o/default").want(t, 200, "notes", "2 documents")
	b.get("/console/o/default/n").want(t, 200, "notes", "test-embedder")
	b.get("/console/o/default/n/notes?prefix=le").want(t, 200, "lease-1")

	a := b.get("/console/o/default/n/notes/query?q=when+does+the+lease+end%3F")
	a.want(t, 200, "hits", "lease-1", "vector", "keyword", "fused", `"explain": true`, `json={`, `"explain": True,`)
	a.proper(t)
	if marks := a.elements("mark"); len(marks) == 0 || marks[0].FirstChild.Data != "lease" {
		t.Errorf("the words are not marked: %s", a.body)
	}
	if text := a.texts("text"); len(text) == 0 || text[0] != "The lease runs until May.\nThen it ends." {
		t.Errorf("the first hit shows %q", text)
	}
	if !strings.Contains(a.text, "not among its candidates") && strings.Count(a.text, "keyword") < 2 {
		t.Errorf("a hit without words of the question says nothing of it: %s", a.text)
	}
	if _, ok := b.crawl("/console")[at]; !ok {
		t.Error("no link leads to the document")
	}

	b.post(at, url.Values{"typed": {"lease"}}).want(t, 422, "Type the id").proper(t)
	for range 2 { // and again, as a browser may
		b.post(at, url.Values{"typed": {" lease-1 "}}).want(t, 303)
	}
	b.get(at).want(t, 404).proper(t)
	b.post("/console/o/default/n/notes", url.Values{"name": {"nots"}}).want(t, 422, "Type the name of the namespace").proper(t)
	for range 2 {
		if to := b.post("/console/o/default/n/notes", url.Values{"typed": {"notes"}}).leads(t); to != "/console/o/default/n" {
			t.Errorf("it leads to %s", to)
		}
	}
	b.get("/console/o/default/n/notes").want(t, 404)
	b.post(at, url.Values{"typed": {"lease-1"}}).want(t, 303)
}

// Whatever is stored is shown as it is and runs nowhere.
func TestHostileTextIsData(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	long := strings.Repeat("word ", 2000)
	hostile := `</div><script>alert(1)</script><img src=x onerror=alert(1)> {{.}} "'` +
		"` \u202eevil & \u05e9\u05dc\u05d5\u05dd lease " + long
	b.write("hostile", "a:b.c_d-", hostile).want(t, 303)
	for _, at := range []string{"/console/o/default/n/hostile/documents/a:b.c_d-", "/console/o/default/n/hostile",
		"/console/o/default/n/hostile/query?q=" + url.QueryEscape(`"><script>alert(2)</script> lease`),
		"/console/o/default/n?prefix=" + url.QueryEscape(`"><script>alert(3)</script>`),
		"/console/o/default/n/hostile?prefix=" + url.QueryEscape(`' onfocus=alert(4) autofocus x='`),
		"/console/o/default/new-document?namespace=" + url.QueryEscape(`"><img src=x onerror=alert(5)>`)} {
		a := b.get(at).want(t, 200)
		a.proper(t)
		if n := len(a.elements("img")); n != 1 { // the mark at the top
			t.Errorf("%s has %d images", at, n)
		}
	}
	whole := strings.Join(b.get("/console/o/default/n/hostile/documents/a:b.c_d-").texts("text"), "")
	if !strings.Contains(whole, `<script>alert(1)</script><img src=x onerror=alert(1)> {{.}} "'`) {
		t.Errorf("the text is not shown as it is: %.200s", whole)
	}
	b.write(`"><script>`, "x", "y").want(t, 400, "namespace").proper(t)
}

// What is asked for wrongly comes back with the form as it was filled in.
func TestWrongQueries(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	b.write("notes", "a", "The lease.").want(t, 303)
	for form, text := range map[string]string{
		"filter=" + url.QueryEscape(`{"a"`):                   "The filter must be JSON",
		"filter=" + url.QueryEscape(`{"a":1}`) + "&top_k=ten": "How many must be a whole number",
		"min_score=NaN":                         "The least score must be a number",
		"min_score=0.5":                         "min_score",
		"top_k=1000":                            "top_k",
		"neighbors=9":                           "neighbors",
		"per_document=x":                        "Hits of one document must be a whole number",
		"mode=sparse":                           "sparse",
		"rerank=1":                              "",
		"depth=x":                               "How many to rerank must be a whole number",
		"depth=1000":                            "depth",
		"weight_vector=x&weight_keyword=1":      "The weight of the vector list must be a number",
		"weight_keyword=Inf":                    "The weight of the keyword list must be a number",
		"weight_sparse=11":                      "weights",
		"strict=1&mode=vector%2Csparse":         "sparse",
		"weight_vector=0.2&weight_keyword=0.8":  "",
		"strict=1&mode=vector%2Ckeyword&depth=": "",
	} {
		a := b.get("/console/o/default/n/notes/query?q=lease&" + form)
		a.proper(t)
		if text == "" {
			continue
		}
		a.want(t, 422, text)
		values, _ := url.ParseQuery(form)
		for name := range values {
			if !strings.Contains(a.body, `name="`+name+`"`) {
				t.Errorf("%s: the form lacks %s", form, name)
			}
		}
		if marked := strings.Count(a.body, `aria-invalid="true"`); marked != 1 {
			t.Errorf("%s: %d fields are marked as wrong", form, marked)
		}
	}
	b.get("/console/o/default/n/notes/query").want(t, 200, "Ask in your own words").proper(t)
	b.get("/console/o/default/n/absent/query?q=x").want(t, 404).proper(t)
	b.get("/console/o/default/n/notes/query?q=lease&filter="+url.QueryEscape(`{"lang":"en"}`)).want(t, 200, "Nothing was found",
		"within the filter").proper(t)
	one := b.get("/console/o/default/n/notes/query?q=lease&top_k=1&neighbors=1&per_document=1&mode=keyword")
	one.want(t, 200, "1 hit", "bm25").proper(t)
	b.get("/console/o/default/n/notes?cursor=nonsense").want(t, 400).proper(t)
}

// A part of a query that fails is named above what the rest found.
func TestADegradedAnswerSaysSo(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	b.write("notes", "a", "The lease.").want(t, 303)
	s.embedder.Before.Set(func(context.Context, port.TextKind, []string) error {
		return fault.New(fault.Unavailable, "the model is gone")
	})
	a := b.get("/console/o/default/n/notes/query?q=a+lease+of+another+house")
	a.want(t, 200, "Without vector", "it failed", "1 hit").proper(t)
	// Who asks that it fail gets the form again, as it was filled in, with the reason.
	strict := b.get("/console/o/default/n/notes/query?q=a+lease+of+a+boat&strict=1&top_k=3&compare=1&b_top_k=7")
	strict.want(t, 503, "A: ", "vector").proper(t)
	strict.holds(t, "q", "a lease of a boat", "strict", "1", "top_k", "3", "b_top_k", "7")
	if strings.Contains(strict.body, "aria-invalid") || strings.Contains(strict.text, "Ask in your own words") {
		t.Errorf("the form blames what was asked: %s", strict.text)
	}
	b.write("notes", "b", "More.").want(t, 503)
}

// The page of models names the namespaces that use each, the first five of them, and no other organization's.
func TestModelsNameWhatUsesThem(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	b.get("/console/models").want(t, 200, "test-embedder", "Used by").proper(t)
	if _, err := s.engine.Keys().CreateOrganization(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	s.callAs(s.issue(key.Issue{Kind: ident.Service, Org: "acme"}).Secret, "documents.write",
		map[string]any{"documents": []any{map[string]any{"id": "a", "text": "The plan."}}}, "namespace", "secrets")
	for _, n := range []string{"n1", "n2", "n3", "n4", "n5"} {
		b.write(n, "a", "The lease.").want(t, 303)
	}
	page := b.get("/console/models").want(t, 200, "n1 , n2 , n3 , n4 , n5", "Used by namespaces of default.")
	page.proper(t)
	if strings.Contains(page.text, "n5 and") || strings.Contains(page.text, "secrets") ||
		!strings.Contains(page.body, "o/default/n/n5") {
		t.Errorf("the page says %s", page.text)
	}
	b.write("n6", "a", "The lease.").want(t, 303)
	b.get("/console/models").want(t, 200, "n1 , n2 , n3 , n4 , n5 and 1 more")
	s.signedIn(s.issue(key.Issue{Org: "acme"}).Secret).get("/console/models").want(t, 200, "secrets")
}

// A reader finds no control that would be refused, and a form that is sent all the same changes
// nothing.
func TestAReaderReads(t *testing.T) {
	s := serve(t, nil)
	s.signedIn(s.key.Secret).write("notes", "a", "The lease.").want(t, 303)
	b := s.signedIn(s.issue(key.Issue{ReadOnly: true}).Secret)
	for at, a := range b.crawl("/console") {
		for _, f := range a.elements("form") {
			method, _ := attribute(f, "method")
			action, _ := attribute(f, "action")
			if method == "post" && !strings.HasSuffix(action, "/theme") && !strings.HasSuffix(action, "/session/end") {
				t.Errorf("%s has a form to %s", at, action)
			}
		}
	}
	b.write("notes", "b", "More.").want(t, 403, "read-only").proper(t)
	b.post("/console/o/default/n/notes", url.Values{"typed": {"notes"}}).want(t, 403, "read-only")
	b.post("/console/o/default/n/notes/documents/a", url.Values{"typed": {"a"}}).want(t, 403, "read-only")
	b.get("/console/o/default/n/notes/documents/a").want(t, 200, "The lease.", "which may only read")
}

// An administrator of one organization finds nothing of another.
func TestNothingOfAnotherOrganization(t *testing.T) {
	s := serve(t, nil)
	if _, err := s.engine.Keys().CreateOrganization(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	s.signedIn(s.key.Secret).write("secrets", "a", "The plan.").want(t, 303)
	b := s.signedIn(s.issue(key.Issue{Org: "acme"}).Secret)
	for _, at := range []string{"", "/n", "/n/secrets", "/n/secrets/documents/a", "/n/secrets/query?q=plan"} {
		b.get("/console/o/default"+at).want(t, 404).proper(t)
	}
	b.post("/console/o/default/n/secrets", url.Values{"name": {"secrets"}}).want(t, 404)
	b.get("/console/o/acme/n/secrets").want(t, 404)
	for at, a := range b.crawl("/console") {
		if strings.Contains(a.text, "secrets") || strings.Contains(a.text, "plan") {
			t.Errorf("%s shows another organization's: %s", at, a.text)
		}
	}
	all := s.signedIn(s.key.Secret)
	all.get("/console/o/acme").want(t, 200, "Nothing is stored yet")
}

// Lists go on where a page ends, with what they were filtered by.
func TestListsHavePages(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	for i := range 52 {
		b.write("notes", fmt.Sprintf("doc-%02d", i), "Text.").want(t, 303)
	}
	a := b.get("/console/o/default/n/notes?prefix=doc").want(t, 200, "doc-49", "Next page")
	a.proper(t)
	if strings.Contains(a.text, "doc-50") || strings.Contains(a.text, "First page") {
		t.Errorf("the first page shows too much: %s", a.text)
	}
	for _, n := range a.elements("a") {
		if rel, _ := attribute(n, "rel"); rel != "next" {
			continue
		}
		next, _ := attribute(n, "href")
		to, err := a.Request.URL.Parse(next)
		if err != nil || to.Query().Get("prefix") != "doc" {
			t.Errorf("the next page is %s (%v)", next, err)
		}
		c := b.get(to.RequestURI()).want(t, 200, "doc-50", "doc-51", "First page")
		c.proper(t)
		if strings.Contains(c.text, "doc-49") || strings.Contains(c.text, "Next page") {
			t.Errorf("the second page shows too much: %s", c.text)
		}
		return
	}
	t.Error("there is no next page")
}
