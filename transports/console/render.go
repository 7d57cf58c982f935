package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/admin"
	saved "github.com/mnemehq/mneme/core/check"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
)

//go:embed templates static
var embedded embed.FS

// looks are the templates and the files that they name.
type looks struct {
	pages map[string]func() (*template.Template, error) // parsed when first shown: they take megabytes
	files map[string]static
	hash  string // of all files
}

// static is a file of the pages. The hash of all is in its address, so that browsers keep it for
// ever.
type static struct {
	contentType string
	body        []byte
	zipped      func() ([]byte, error)
}

func newLooks() (*looks, error) {
	l := &looks{pages: map[string]func() (*template.Template, error){}, files: map[string]static{}}
	entries, err := fs.ReadDir(embedded, "static")
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".svg": "image/svg+xml"}
	all := sha256.New() // one for all, since modules name each other by their files alone
	for _, e := range entries {
		body, err := fs.ReadFile(embedded, "static/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
		all.Write(body)
		zipped := sync.OnceValues(func() ([]byte, error) { return zip(body) }) // a command's start needs none
		l.files[e.Name()] = static{types[path.Ext(e.Name())], body, zipped}
	}
	l.hash = hex.EncodeToString(all.Sum(nil)[:8])
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
		l.pages[page] = sync.OnceValues(func() (*template.Template, error) {
			t, err := base.Clone() // which base outlives, as it is never executed itself
			if err != nil {
				return nil, err
			}
			return t.ParseFS(embedded, name)
		})
	}
	return l, nil
}

// functions are what templates call.
func (l *looks) functions() template.FuncMap {
	return template.FuncMap{
		"static": func(name string) string { return "static/" + l.hash + "/" + name },
		"number": number,
		"bytes":  byteCount,
		"time": func(t time.Time) shownTime {
			return shownTime{t.UTC().Format(time.RFC3339), t.UTC().Format("2\u00a0Jan\u00a02006 15:04\u00a0UTC"),
				t.UTC().Format("2\u00a0Jan\u00a02006")}
		},
		"path":     func(segments ...string) string { return pathOf(segments...) },
		"score":    func(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) },
		"webLink":  webLink,
		"short":    short,
		"code":     func(language, text string) example { return example{language, text} },
		"pager":    pagerOf,
		"table":    tableOf,
		"plural":   plural,
		"reason":   reason,
		"again":    askAgain,
		"input":    fieldOf,
		"choose":   choiceOf,
		"among":    among,
		"typed":    typedOf,
		"percent":  percent,
		"until":    until,
		"add":      func(a, b int) int { return a + b },
		"keysOf":   func(root, org string, keys []admin.Key) keyTable { return keyTable{root, org, keys} },
		"saveLink": saveLink,
		"askSaved": func(s saved.Saved) string { f := formOfSaved(s); return askAgain(f, f.Mode) },
		"hitOf":    hitOf,
		"said":     value[string], // of a text that may be absent
		"isTrue":   func(b *bool) bool { return b != nil && *b },
		"moment":   momentOf,
		"dotted":   dotted,
	}
}

// example is a call in one language.
type example struct{ Language, Text string }

// dotted is a name such as admin.keys.create, of which a line may end behind a dot.
func dotted(name string) template.HTML {
	//nolint:gosec // the name is escaped
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(name), ".", ".<wbr>"))
}

// plural is a number with the word for what is counted, such as 1 document or 2 documents.
func plural(n any, one, many string) string {
	if s := number(n); s != "1" {
		return s + " " + many
	}
	return "1 " + one
}

// table is the head of a list. Where there is little room, one with many columns turns into cards sooner.
type table struct {
	Of      string // what it lists, for those who hear it
	Wide    bool
	Columns []column
}

// column is the head of a column.
type column struct {
	Text           string
	Number, Hidden bool
}

// tableOf makes the head of a list. A column of numbers begins with #, one with a head for those alone who hear it
// with -.
func tableOf(of string, columns ...string) table {
	t := table{Of: of, Wide: len(columns) > 4}
	for _, c := range columns {
		number, hidden := strings.HasPrefix(c, "#"), strings.HasPrefix(c, "-")
		t.Columns = append(t.Columns, column{strings.TrimLeft(c, "#-"), number, hidden})
	}
	return t
}

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
type shownTime struct{ Machine, Person, Day string }

// number groups digits by thousands.
func number(n any) string {
	if p, ok := n.(*int64); ok && p != nil {
		n = *p
	}
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
	Self    string // the same without what it was asked, as forms send to it
	Said    string // what was done before
	Server  string
	Version string
	Signed  bool
	Caller  ident.Principal
	Org     string
	Menu    []group
	Trail   []crumb
	Calls   []shownCall
	Page    any
}

// group is a part of the menu.
type group struct {
	Name    string
	Entries []entry
}

// entry is a line of the menu. Its letter goes there after a g.
type entry struct {
	Name, Link, Letter string
	Current            bool
}

// menu leads to the sections: those of the organization, and those of the server.
func (v *visit) menu(section string) (out []group) {
	o := pathOf("o", v.org)
	all := v.caller.AllOrganizations()
	for _, g := range []struct {
		name    string
		entries []struct{ section, name, link, letter string }
	}{
		{"", []struct{ section, name, link, letter string }{
			{"overview", "Overview", o, "o"},
			{"namespaces", "Namespaces", o + "/n", "n"},
			{"sources", "Sources", o + "/sources", "s"},
			{"users", "End users", o + "/users", "u"},
			{"events", "Events", o + "/events", "e"},
			{"webhooks", "Webhooks", o + "/webhooks", "w"},
		}},
		{"Access", []struct{ section, name, link, letter string }{
			{"members", "Members", o + "/members", "b"},
			{"keys", "Keys", o + "/keys", "k"},
			{"integrations", "Integrations", o + "/integrations", "i"},
		}},
		{"Activity", []struct{ section, name, link, letter string }{
			{"jobs", "Jobs", o + "/jobs", "j"},
			{"usage", "Usage", o + "/usage", "y"},
			{"audit", "Audit", o + "/audit", "a"},
		}},
		{"Server", []struct{ section, name, link, letter string }{
			{"organizations", "Organizations", "organizations", "r"},
			{"models", "Models", "models", "m"},
			{"health", "Health", "health", "h"},
			{"settings", "Settings", "settings", "t"},
		}},
	} {
		made := group{Name: g.name}
		for _, e := range g.entries {
			if (e.section == "organizations" || e.section == "settings") && !all {
				continue
			}
			made.Entries = append(made.Entries, entry{e.name, e.link, e.letter, e.section == section})
		}
		out = append(out, made)
	}
	return out
}

// sayings are what a page says of what was done by the form before it.
var sayings = map[string]string{
	"made":         "It is made.",
	"saved":        "The changes are saved.",
	"deleted":      "It is deleted.",
	"deleting":     "It is being deleted. Its keys are refused from now on.",
	"suspended":    "All its keys are refused now.",
	"resumed":      "Its keys work again.",
	"revoked":      "The key is revoked: it is refused within a second.",
	"cancelled":    "It ends within seconds. What it has done by then stays done.",
	"started":      "It has begun.",
	"running":      "A run was under way already.",
	"paused":       "The source is paused.",
	"enabled":      "The source is on again.",
	"disconnected": "The source is disconnected.",
	"discarded":    "What was kept beside the namespace is discarded.",
	"grant":        "The grant is revoked.",
	"forgotten":    "The memory is deleted.",
	"written":      "The document is written.",
	"kept":         "The query is saved.",
	"sending":      "What happens from now on is sent.",
	"silent":       "Nothing is sent any more.",
	"recovering":   "What it has not got is being sent.",
	"more":         "A first part is being sent. Ask again for the rest.",
	"complete":     "Nothing of that time is missing.",
	"again":        "It is sent at once.",
	"let-in":       "They may sign in again.",
	"password":     "The password is changed, and your other sessions have ended.",
	"removed":      "The member is removed, and their sessions have ended.",
	"shut-out":     "They are out, and cannot sign in.",
	"unbound":      "The account is unbound. The next one with this verified address is bound when it signs in.",
}

// fragment is the media type with which a page is asked for one of its elements alone.
const fragment = "text/vnd.mneme.fragment+html"

// part is the element that is asked for in place of the page; "": the page.
func (v *visit) part() string {
	if v.r.Header.Get("Accept") != fragment {
		return ""
	}
	return v.r.URL.Query().Get("part")
}

// show writes a page, or a part of it.
func (v *visit) show(out view) {
	f := frame{Title: out.title, Root: v.root, Theme: v.theme, Here: v.here(), Server: v.r.Host, Version: v.Version,
		Signed: v.token != "" && v.caller.KeyID != "", Caller: v.caller, Org: v.org, Trail: out.trail, Calls: v.made,
		Self: v.link(strings.TrimPrefix(strings.TrimPrefix(v.r.URL.EscapedPath(), "/console"), "/")),
		Said: sayings[v.r.URL.Query().Get("said")], Page: out.model}
	if f.Signed {
		f.Menu = v.menu(out.section)
	}
	status := out.status
	if status == 0 {
		status = http.StatusOK
	}
	page, err := v.looks.pages[out.template]()
	if err != nil {
		v.Log.ErrorContext(v.r.Context(), "console page failed", "page", out.template, "error", err)
		http.Error(v.w, "this page could not be made", http.StatusInternalServerError)
		return
	}
	contentType := "text/html; charset=utf-8"
	if part := v.part(); part != "" {
		if page = page.Lookup("part-" + part); page == nil {
			http.Error(v.w, "this page has no such part", http.StatusNotFound)
			return
		}
		contentType = fragment + "; charset=utf-8"
	}
	var b bytes.Buffer
	if err := page.Execute(&b, f); err != nil {
		v.Log.ErrorContext(v.r.Context(), "console page failed", "page", out.template, "error", err)
		http.Error(v.w, "this page could not be made", http.StatusInternalServerError)
		return
	}
	head, body := v.w.Header(), b.Bytes()
	head.Set("Content-Type", contentType)
	head.Set("Vary", "Accept, Accept-Encoding")
	if strings.Contains(v.r.Header.Get("Accept-Encoding"), "gzip") {
		if zipped, err := zip(body); err == nil {
			head.Set("Content-Encoding", "gzip")
			body = zipped
		}
	}
	head.Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(body) // a browser that is gone needs no answer
	}
}

// zips keeps the large state of what compresses pages.
var zips = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is one that there is
	return z
}}

// zip compresses a page. Pages hold no secret beside what their reader could choose, but for a new key,
// which is shown once: nobody can compare lengths.
func zip(body []byte) ([]byte, error) {
	z := zips.Get().(*gzip.Writer)
	defer zips.Put(z)
	var out bytes.Buffer
	z.Reset(&out)
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}

// percent is how much of a whole a part is, from 0 to 100.
func percent(part, whole any) int {
	p, w := toFloat(part), toFloat(whole)
	if w <= 0 {
		return 0
	}
	return int(math.Round(100 * min(max(p/w, 0), 1)))
}

func toFloat(n any) float64 {
	switch x := n.(type) {
	case int:
		return float64(x)
	case int64:
		return float64(x)
	case *int64:
		if x != nil {
			return float64(*x)
		}
	case float64:
		return x
	}
	return 0
}

// until says in words how far off a time is.
func until(t time.Time) string {
	d := time.Until(t)
	past := d < 0
	d = d.Abs()
	var s string
	switch {
	case d < time.Minute:
		s = "less than a minute"
	case d < time.Hour:
		s = countOf(int(d.Minutes()), "minute", "minutes")
	case d < 48*time.Hour:
		s = countOf(int(d.Hours()), "hour", "hours")
	default:
		s = countOf(int(d.Hours()/24), "day", "days")
	}
	if past {
		return s + " ago"
	}
	return "in " + s
}

// keyTable is a table of keys.
type keyTable struct {
	Root, Org string
	Keys      []admin.Key
}

// momentOf reads a time as programs write it; nil: it is none.
func momentOf(s string) *time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return nil
	}
	return &t
}

// typedModel is a form for what cannot be undone: what is to go has to be typed.
type typedModel struct {
	Field       field
	Of, To      string // action and address
	Button      string
	Says, Thing string
	Wrong       string
}

// typedOf makes such a form: of an action, sent to an address; thing is to be typed.
func typedOf(f *form, to, action, says, thing, button string) typedModel {
	out := typedModel{Of: action, To: to, Button: button, Says: says, Thing: thing}
	mine := f.For(action)
	out.Wrong = mine.Wrong
	out.Field = fieldOf(mine, "typed", "", "required")
	return out
}

// failure is the model of the page of an error.
type failure struct {
	Status    int
	Message   string
	RequestID string
	Retry     bool
}

func (v *visit) logFailure(err error) {
	v.Log.WarnContext(v.r.Context(), "console call failed", "path", fault.Clip(v.r.URL.Path), "error", err)
}

// fail shows an error in place of the page.
func (v *visit) fail(err error) {
	f := fault.From(err)
	status := fault.Status(f.Code)
	if status >= http.StatusInternalServerError {
		v.logFailure(err)
	}
	if v.org == "" {
		v.org = v.caller.OrgName
	}
	v.show(view{title: titleOf(status), template: "error", status: status, model: failure{Status: status,
		Message:   sentence(f.Message),
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
	if !ok || s.looks.hash != r.PathValue("hash") {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	head := w.Header()
	head.Set("Content-Type", f.contentType)
	head.Set("Cache-Control", "public, max-age=31536000, immutable")
	head.Set("Vary", "Accept-Encoding")
	body := f.body
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if zipped, err := f.zipped(); err == nil {
			head.Set("Content-Encoding", "gzip")
			body = zipped
		}
	}
	head.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
