package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
)

//go:embed templates static
var embedded embed.FS

// looks are the templates and the files that they name.
type looks struct {
	pages map[string]*template.Template
	files map[string]file
}

// file is a static file. Its hash is in its address, so that browsers keep it for ever.
type file struct {
	hash, contentType string
	body, zipped      []byte
}

func newLooks() (*looks, error) {
	l := &looks{pages: map[string]*template.Template{}, files: map[string]file{}}
	static, err := fs.ReadDir(embedded, "static")
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".svg": "image/svg+xml"}
	for _, e := range static {
		body, err := fs.ReadFile(embedded, "static/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
		sum := sha256.Sum256(body)
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		if _, err := z.Write(body); err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
		if err := z.Close(); err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
		l.files[e.Name()] = file{hex.EncodeToString(sum[:8]), types[path.Ext(e.Name())], body, zipped.Bytes()}
	}
	base, err := template.New("layout.html").Funcs(l.functions()).ParseFS(embedded, "templates/layout.html",
		"templates/parts.html")
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	names, err := fs.Glob(embedded, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	for _, name := range names {
		page := strings.TrimSuffix(path.Base(name), ".html")
		if page == "layout" || page == "parts" {
			continue
		}
		t, err := base.Clone()
		if err == nil {
			t, err = t.ParseFS(embedded, name)
		}
		if err != nil {
			return nil, fmt.Errorf("console: page %s: %w", page, err)
		}
		l.pages[page] = t
	}
	return l, nil
}

// functions are what templates call.
func (l *looks) functions() template.FuncMap {
	return template.FuncMap{
		"static": func(name string) string { return "static/" + l.files[name].hash + "/" + name },
		"number": number,
		"bytes":  byteCount,
		"time": func(t time.Time) shownTime {
			return shownTime{t.UTC().Format(time.RFC3339), t.UTC().Format("2 Jan 2006 15:04 UTC")}
		},
		"path":    func(segments ...string) string { return pathOf(segments...) },
		"score":   func(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) },
		"webLink": webLink,
		"short":   short,
		"code":    func(language, text string) example { return example{language, text} },
		"pager":   pagerOf,
		"reason":  reason,
		"again":   askAgain,
	}
}

// example is a call in one language.
type example struct{ Language, Text string }

// pager leads from a page of a list to the first one, and to the next.
type pager struct {
	First       bool // this is the first page
	Start, Next string
}

// pagerOf makes the pager of a list at a page's address, which keeps the filters that are given as
// names and values.
func pagerOf(root, at string, first bool, cursor string, filters ...string) pager {
	q := url.Values{}
	for i := 0; i+1 < len(filters); i += 2 {
		if filters[i+1] != "" {
			q.Set(filters[i], filters[i+1])
		}
	}
	to := func() string {
		if len(q) == 0 {
			return root + "/" + at
		}
		return root + "/" + at + "?" + q.Encode()
	}
	p := pager{First: first, Start: to()}
	if cursor != "" {
		q.Set("cursor", cursor)
		p.Next = to()
	}
	return p
}

// shownTime is a time for programs and for people without a script.
type shownTime struct{ Machine, Person string }

// number groups digits by thousands.
func number(n any) string {
	s := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return sign + s
}

func byteCount(n int64) string {
	const kilo = 1024
	value, unit := float64(n), "B"
	for _, u := range []string{"KB", "MB", "GB", "TB"} {
		if value < kilo {
			break
		}
		value, unit = value/kilo, u
	}
	if unit == "B" || value >= 100 {
		return fmt.Sprintf("%.0f\u00a0%s", value, unit)
	}
	return fmt.Sprintf("%.1f\u00a0%s", value, unit)
}

// webLink is an address that stored data may lead people to; others are shown as text alone.
func webLink(s string) string {
	if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
		return s
	}
	return ""
}

// short cuts a text for a line of a list.
func short(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}

// frame is what the layout shows around a page.
type frame struct {
	Title   string
	Root    string // of the console, relative to the page
	Theme   string
	Here    string // this page's address from the root
	Server  string
	Version string
	Signed  bool
	Caller  ident.Principal
	Org     string
	Menu    []entry
	Trail   []crumb
	Calls   []shownCall
	Page    any
}

// entry is a line of the menu.
type entry struct {
	Name, Link string
	Current    bool
}

// menu leads to the sections: those of the organization, and those of the server.
func (v *visit) menu(section string) []entry {
	o := pathOf("o", v.org)
	all := []struct{ section, name, link string }{
		{"overview", "Overview", o},
		{"namespaces", "Namespaces", o + "/n"},
		{"members", "Members", o + "/members"},
		{"models", "Models", "models"},
		{"health", "Health", "health"},
	}
	out := make([]entry, len(all))
	for i, e := range all {
		out[i] = entry{e.name, e.link, e.section == section}
	}
	return out
}

// show writes a page.
func (v *visit) show(out view) {
	f := frame{Title: out.title, Root: v.root, Theme: v.theme, Here: v.here(), Server: v.r.Host, Version: v.Version,
		Signed: v.token != "" && v.caller.KeyID != "", Caller: v.caller, Org: v.org, Trail: out.trail, Calls: v.made,
		Page: out.model}
	if f.Signed {
		f.Menu = v.menu(out.section)
	}
	status := out.status
	if status == 0 {
		status = http.StatusOK
	}
	var b bytes.Buffer
	if err := v.looks.pages[out.template].Execute(&b, f); err != nil {
		v.Log.ErrorContext(v.r.Context(), "console page failed", "page", out.template, "error", err)
		http.Error(v.w, "this page could not be made", http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(b.Bytes()) // a browser that is gone needs no answer
	}
}

// failure is the model of the page of an error.
type failure struct {
	Status    int
	Message   string
	RequestID string
	Retry     bool
}

// fail shows an error in place of the page.
func (v *visit) fail(err error) {
	f := fault.From(err)
	status := fault.Status(f.Code)
	if status >= http.StatusInternalServerError {
		v.Log.WarnContext(v.r.Context(), "console call failed", "path", fault.Clip(v.r.URL.Path), "error", err)
	}
	if v.org == "" {
		v.org = v.caller.OrgName
	}
	v.show(view{title: titleOf(status), template: "error", status: status, model: failure{Status: status, Message: f.Message,
		RequestID: ident.RequestID(v.r.Context()), Retry: fault.Retryable(f.Code)}})
}

func titleOf(status int) string {
	switch {
	case status == http.StatusNotFound:
		return "Not found"
	case status == http.StatusForbidden:
		return "Not allowed"
	case status == http.StatusTooManyRequests:
		return "Too many calls"
	case status < http.StatusInternalServerError:
		return "This did not work"
	}
	return "The server could not answer"
}

// serveStatic serves a file of the pages.
func (s *site) serveStatic(w http.ResponseWriter, r *http.Request) {
	setPolicy(w.Header())
	f, ok := s.looks.files[r.PathValue("file")]
	if !ok || f.hash != r.PathValue("hash") {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	head := w.Header()
	head.Set("Content-Type", f.contentType)
	head.Set("Cache-Control", "public, max-age=31536000, immutable")
	head.Set("Vary", "Accept-Encoding")
	body := f.body
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		head.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	head.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
