package console

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	saved "github.com/mnemehq/mneme/core/check"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/status"
	"github.com/mnemehq/mneme/core/usage"
)

// A list with more than four columns turns into cards sooner, and its heads are told apart.
func TestTheHeadOfAList(t *testing.T) {
	four := tableOf("keys", "Name", "#Uses", "-Change", "Ends")
	if four.Wide || four.Of != "keys" || !reflect.DeepEqual(four.Columns, []column{{"Name", false, false}, {"Uses", true, false},
		{"Change", false, true}, {"Ends", false, false}}) {
		t.Errorf("four columns: %+v", four)
	}
	if five := tableOf("keys", "a", "b", "c", "d", "e"); !five.Wide || len(five.Columns) != 5 {
		t.Errorf("five columns: %+v", five)
	}
	for n, want := range map[any]string{0: "0 documents", 1: "1 document", 2: "2 documents", int64(1): "1 document",
		int64(1000): "1\u202f000 documents"} {
		if got := plural(n, "document", "documents"); got != want {
			t.Errorf("%v are %q", n, got)
		}
	}
	if countOf(1, "hour", "hours") != "1 hour" || countOf(2, "hour", "hours") != "2 hours" {
		t.Error("one and many are one")
	}
	if got := dotted("a.<b>"); got != "a.<wbr>&lt;b&gt;" {
		t.Errorf("a name is written %s", got)
	}
}

func TestWhereAPagerLeads(t *testing.T) {
	p := pagerOf("../console", "o/x/keys", true, "", "kind", "", "state", "live")
	if !p.First || p.Start != "../console/o/x/keys?state=live" || p.Next != "" {
		t.Errorf("the only page: %+v", p)
	}
	if p := pagerOf("../console", "o/x/keys", true, "", "kind"); p.Start != "../console/o/x/keys" {
		t.Errorf("a filter without a value: %+v", p)
	}
	p = pagerOf("../console", "o/x/keys", false, "c d", "kind", "")
	if p.First || p.Start != "../console/o/x/keys" || p.Next != "../console/o/x/keys?cursor=c+d" {
		t.Errorf("a page in the middle: %+v", p)
	}
}

// A form is that of its action, with what was typed, and says which field is wrong.
func TestFieldsOfAForm(t *testing.T) {
	f := form{Of: "make", Wrong: "No.", Field: "name", values: url.Values{"name": {"x"}, "kinds": {"a", "b"}, "tick": {"1"}}}
	if (*form)(nil).For("make").Wrong != "" || f.For("make").Wrong != "No." || f.For("other").Wrong != "" ||
		f.For("other").Of != "other" {
		t.Error("a form is another action's")
	}
	if f.WrongID() != "make-wrong" || (form{}).WrongID() != "form-wrong" || !f.Has("kinds", "b") || f.Has("kinds", "c") {
		t.Error("a form does not know itself")
	}
	name := fieldOf(f, "name", "Name", "required", "code", "multiple", "hint=h", "placeholder=p", "min=1", "max=2", "rows=3",
		"mode=m", "fill=off", "type=email", "value=usual")
	if want := (field{ID: "make-name", Name: "name", Label: "Name", Kind: "email", Value: "x", Hint: "h", Placeholder: "p",
		Min: "1",
		Max: "2", Mode: "m", Required: true, Code: true, Checked: true, Wrong: true, Focus: true, Multiple: true, Fill: "off",
		Rows: "3", WrongID: "make-wrong"}); !reflect.DeepEqual(name, want) {
		t.Errorf("the field is %+v", name)
	}
	if name.Described() != "make-name-hint make-wrong" {
		t.Errorf("it is described by %q", name.Described())
	}
	other := fieldOf(f, "other", "Other", "id=mine")
	if other.ID != "mine" || other.Wrong || other.Focus || other.Checked || other.Described() != "" {
		t.Errorf("another field is %+v", other)
	}
	if focused := fieldOf(form{}, "a", "A", "focus", "value=usual"); !focused.Focus || focused.ID != "a" ||
		focused.Value != "usual" {
		t.Errorf("a field of an empty form is %+v", focused)
	}
	chosen := func(f form, options ...string) (all []string) {
		for _, c := range choiceOf(f, "kinds", "Kinds", options...).Choices {
			if c.Chosen {
				all = append(all, c.Value)
			}
		}
		return all
	}
	if got := chosen(f, "a=A", "b=B", "c=C", "hint=x"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("of what was typed %v is chosen", got)
	}
	if got := chosen(form{}, "a=A", "c=C"); len(got) > 0 {
		t.Errorf("of an empty form %v is chosen", got)
	}
	if got := among(f, "kinds", "Kinds", []choice{{Value: "b"}, {Value: "c"}}).Choices; !got[0].Chosen || got[1].Chosen {
		t.Errorf("among given choices: %+v", got)
	}
	if sentence("") != "" || sentence("é.") != "é." || sentence("Zoë") != "Zoë." || sentence("a") != "A." ||
		sentence("z") != "Z." {
		t.Error("sentences")
	}
}

// Each list of a hit has its share of the best one, and lists that were asked and lack it are named.
func TestWhyAHitCame(t *testing.T) {
	text := "the lease"
	rank := func(n int, score float64) *query.Rank { return &query.Rank{Rank: n, Score: score} }
	one := query.Hit{Text: &text, Explain: &query.Explain{Vector: rank(1, 0.8), Fused: rank(3, 0.5), Rerank: rank(1, 0)}}
	two := query.Hit{Text: &text, Explain: &query.Explain{Vector: rank(2, 0.2), Keyword: rank(1, -1), Fused: rank(1, 1)}}
	all := hitsOf(query.Result{Results: []query.Hit{one, two, {}}, Retrievers: []string{"vector", "keyword"}})
	var lines []string
	for _, h := range all {
		for _, l := range h.Lines {
			name := l.Name
			if l.Rank == nil {
				name = "no " + name
			}
			lines = append(lines, name+strings.Repeat("+", l.Share/25)+strings.Repeat("-", -min(l.Share, 0)))
		}
	}
	if got := strings.Join(lines, " "); got != "vector++++ no keyword- fused++ rerank- vector+ keyword- fused++++" {
		t.Errorf("the lines are %q", got)
	}
	if all[0].Moved != 2 || all[1].Moved != 0 || all[0].Place != 1 || all[2].Place != 3 || len(all[0].Pieces) != 1 ||
		all[2].Pieces != nil {
		t.Errorf("hits: %+v", all)
	}
	if (queryForm{Query: "x"}).Set() || !(queryForm{TopK: "1"}).Set() || !(queryForm{Strict: true}).Set() {
		t.Error("what is asked that is not usual")
	}
	f := queryForm{Query: "q r", TopK: "1", Filter: "{}", MinScore: ".5", PerDocument: "2", Neighbors: "1", Depth: "9",
		WeightVector: "1", WeightKeyword: "2", WeightSparse: "3", Rerank: true, Strict: true}
	again, err := url.ParseQuery(strings.TrimPrefix(askAgain(f, "vector"), "?"))
	if err != nil {
		t.Fatal(err)
	}
	f.Mode = "vector"
	if got := formOfQuery(again, ""); got != f {
		t.Errorf("asked again it is %+v", got)
	}
	if askAgain(queryForm{Query: "x"}, "") != "?q=x" || reason("timeout") != "it took too long" || reason("other") != "other" {
		t.Error("a usual query, and reasons")
	}
}

// Bars are as high as their share of the highest, and what was counted is seen.
func TestBarsOfUsage(t *testing.T) {
	from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	day := func(n int) *time.Time { at := from.AddDate(0, 0, n); return &at }
	m := usageModel{Measure: measures()[0]}
	var rows []usage.Row
	for _, r := range []struct {
		at *time.Time
		n  int64
	}{{day(-1), 7}, {day(0), 1000}, {day(2), 1}, {day(2), 1}, {day(6), 500}, {day(7), 7}, {nil, 7}} {
		row := usage.Row{From: r.at}
		row.Requests = r.n
		rows = append(rows, row)
	}
	m.draw(rows, from, 7)
	var heights []int
	for i, b := range m.Days {
		heights = append(heights, b.Height)
		if b.X != i*(chartWidth/7) || b.Width != 103 || !b.Day.Equal(*day(i)) {
			t.Errorf("bar %d: %+v", i, b)
		}
	}
	if !slices.Equal(heights, []int{100, 0, 1, 0, 0, 0, 50}) || m.Most != 1000 || m.Total != 1502 {
		t.Errorf("heights %v, most %d, total %d", heights, m.Most, m.Total)
	}
	empty := usageModel{Measure: measures()[0]}
	if empty.draw(nil, from, 90); empty.Most != 0 || empty.Days[1].Height != 0 || empty.Days[1].Width != 8 {
		t.Errorf("nothing counted: %+v", empty.Days[1])
	}
	m.Names = map[string]string{"key_1": " ", "key_2": "phone"}
	one, two, three := "key_1", "key_2", "key_3"
	if m.NameOf(nil) != "the server itself" || m.NameOf(&one) != "key_1" || m.NameOf(&two) != "phone" ||
		m.NameOf(&three) != "key_3" ||
		!m.Knows(&one) || m.Knows(&three) || m.Knows(nil) {
		t.Error("names of keys")
	}
}

// What a program has to do is written as people would write it.
func TestHowACallIsShown(t *testing.T) {
	v := &visit{site: &site{}, r: httptest.NewRequest(http.MethodGet, "http://localhost:8080/console", nil)}
	get := v.shown(op.Spec{Summary: "Read", Method: "GET", Path: "/n/{n}/d/{id}", Family: op.Memory},
		call{path: map[string]string{"n": "a b", "id": "x/y"}, query: url.Values{"q": {"it's"}}}, nil)
	if get.Path != "/n/a%20b/d/x%2Fy?q=it%27s" || get.Method != "GET" || get.Summary != "Read" ||
		get.Curl != `curl -s 'http://localhost:8080/n/a%20b/d/x%2Fy?q=it%27s' `+
			`-H "Authorization: Bearer $MNEME_INTEGRATION_KEY"` ||
		get.TypeScript != "const response = await fetch(\"http://localhost:8080/n/a%20b/d/x%2Fy?q=it%27s\", {\n"+
			"  headers: { Authorization: `Bearer ${process.env.MNEME_INTEGRATION_KEY}` },\n});\n"+
			"const answer = await response.json();" ||
		get.Python != "import os, requests\n\nresponse = requests.get(\n"+
			"    \"http://localhost:8080/n/a%20b/d/x%2Fy?q=it%27s\",\n"+
			"    headers={\"Authorization\": f\"Bearer {os.environ['MNEME_INTEGRATION_KEY']}\"},\n)\nanswer = response.json()" {
		t.Errorf("a read is shown as %+v", get)
	}
	post := v.shown(op.Spec{Method: "POST", Path: "/k", Family: op.Administration}, call{},
		[]byte(`{"a":"it's","b":[true,null,1.5],"c":{}}`))
	if post.Curl != `curl -s 'http://localhost:8080/k' -H "Authorization: Bearer $MNEME_ADMIN_KEY" -X POST \`+"\n"+
		`  -H 'Content-Type: application/json' -d '{"a":"it'\''s","b":[true,null,1.5],"c":{}}'` ||
		!strings.Contains(post.TypeScript,
			"  method: \"POST\",\n  headers: { Authorization: `Bearer ${process.env.MNEME_ADMIN_KEY}`, "+
				"\"Content-Type\": \"application/json\" },\n  body: JSON.stringify({\n    \"a\": \"it's\",") ||
		!strings.Contains(post.Python,
			"    json={\n        \"a\": \"it's\",\n        \"b\": [True, None, 1.5],\n        \"c\": {},\n    },\n)") {
		t.Errorf("a write is shown as %+v", post)
	}
	file := v.shown(op.Spec{Method: "POST", Path: "/f", BodyType: "application/x-ndjson"}, call{file: "set.ndjson"}, nil)
	if !strings.Contains(file.Curl, "-H 'Content-Type: application/x-ndjson' --data-binary '@set.ndjson'") ||
		!strings.Contains(file.TypeScript, `, "Content-Type": "application/x-ndjson" },`+"\n  body: file,") ||
		!strings.Contains(file.Python, `    data=open("set.ndjson", "rb"),`) || !strings.Contains(file.Curl, "$MNEME_KEY") {
		t.Errorf("a file is shown as %+v", file)
	}
	body := map[string]any{"secrets": map[string]string{"token": "hush"}, "name": "x"}
	shown, ok := withoutSecrets(body).(map[string]any)
	if !ok || !reflect.DeepEqual(shown["secrets"], map[string]string{"token": "…"}) || shown["name"] != "x" ||
		!reflect.DeepEqual(body["secrets"], map[string]string{"token": "hush"}) {
		t.Errorf("without secrets it is %v, of %v", shown, body)
	}
}

// A cookie that ends does so at once, and only a page of the console is led back to.
func TestCookiesAndWaysBack(t *testing.T) {
	w := httptest.NewRecorder()
	v := &visit{site: &site{}, w: w, r: httptest.NewRequest(http.MethodGet, "http://localhost/console", nil)}
	v.setCookie("", 7)
	v.setCookie("token", 7)
	c := w.Result().Cookies()
	if len(c) != 2 || c[0].MaxAge != -1 || c[1].MaxAge != 7 || c[1].Value != "token" || !c[1].HttpOnly {
		t.Errorf("cookies %v", c)
	}
	for to, want := range map[string]string{"models": "models", "o/x?q=1": "o/x?q=1", "/etc": "", "//evil.example": "",
		"https://evil.example": "", "a/../../x": "", "sign-in?return=x": "", "a\\b": "", "a\nb": "", "mailto:x": "", "%zz": "",
		strings.Repeat("x", 4096): strings.Repeat("x", 4096), strings.Repeat("x", 4097): ""} {
		if got := wayBack(to); got != want {
			t.Errorf("%.40q leads to %.40q", to, got)
		}
	}
}

// A form is kept without its secrets, and only where it is one that a page reads whole.
func TestWhatIsKeptOfAForm(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	for name, c := range map[string]struct{ method, kind, body, want string }{
		"a form":       {"POST", form, "b=2&a=1&password=x&old=x&again=x&key=x&code=x&secrets.t=x", "a=1&b=2"},
		"secrets only": {"POST", form, "password=x", ""},
		"an address":   {"GET", form, "a=1", ""},
		"files":        {"POST", "multipart/form-data; boundary=x", "a=1", ""},
		"the longest":  {"POST", form, "a=" + strings.Repeat("x", maxKept-2), "a=" + strings.Repeat("x", maxKept-2)},
		"a longer one": {"POST", form, "a=" + strings.Repeat("x", maxKept-1), ""},
		"too long":     {"POST", form, "a=" + strings.Repeat("x", maxForm), ""},
	} {
		r := httptest.NewRequest(c.method, "http://localhost/console/o/x", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		v := &visit{site: &site{}, w: httptest.NewRecorder(), r: r}
		if got := v.keptForm(); got != c.want {
			t.Errorf("%s: %.60q is kept", name, got)
		}
	}
}

func TestPartsInOrder(t *testing.T) {
	checks := map[string]status.Check{"vector": {Status: "ok"}, "keyword": {Status: "error"}}
	all := checksOf(status.Deep{Checks: &checks})
	if len(all) != 2 || all[0].Name != "keyword" || all[0].Status != "error" || all[1].Name != "vector" ||
		checksOf(status.Deep{}) != nil {
		t.Errorf("parts: %+v", all)
	}
	var m overviewModel
	for _, why := range []string{"", "a", "a", "b"} {
		m.say(why)
	}
	if !slices.Equal(m.Missing, []string{"a", "b"}) {
		t.Errorf("missing: %v", m.Missing)
	}
	var u userModel
	for _, why := range []string{"", "a"} {
		u.say(why)
	}
	if !slices.Equal(u.Missing, []string{"a"}) {
		t.Errorf("missing of an end user: %v", u.Missing)
	}
	if toFloat(1) != 1 || toFloat(int64(2)) != 2 || toFloat((*int64)(nil)) != 0 || toFloat(1.5) != 1.5 || toFloat("x") != 0 {
		t.Error("numbers of all kinds")
	}
	n := int64(1234)
	if number(&n) != "1\u202f234" || percent(int64(1), &n) != 0 || percent(&n, int64(1234)) != 100 {
		t.Error("numbers that may be absent")
	}
	for at, want := range map[string]string{"2026-11-25T08:00:00.5Z": "2026-11-25 08:00:00.5 +0000 UTC", "x": ""} {
		got := ""
		if m := momentOf(at); m != nil {
			got = m.String()
		}
		if got != want {
			t.Errorf("%s is %q", at, got)
		}
	}
}

// A saved query is asked, and can be changed, with all that was saved of it.
func TestFieldsOfASavedQuery(t *testing.T) {
	depth := func(raw string) saved.Saved {
		return saved.Saved{Question: saved.Question{Query: "x", Rerank: json.RawMessage(raw)}}
	}
	lists := func(names ...string) saved.Saved {
		return saved.Saved{Question: saved.Question{Query: "x", Retrievers: &names}}
	}
	for want, s := range map[string]saved.Saved{
		"query=x&within=10":                               depth(""),
		"query=x&within=10#null":                          depth("null"),
		"query=x&within=10#false":                         depth("false"),
		"query=x&rerank=1&within=10":                      depth("true"),
		"query=x&rerank=1&within=10#object":               depth("{}"),
		"depth=7&query=x&rerank=1&reranker=big&within=10": depth(`{"model": "big", "depth": 7}`),
		"mode=vector%2Ckeyword&query=x&within=10":         lists("keyword", "vector"),
		"mode=sparse&query=x&within=10":                   lists("sparse"),
		"query=x&within=10#all":                           lists("sparse", "keyword", "vector"),
	} {
		want, _, _ = strings.Cut(want, "#")
		s.Name = ""
		got := typedOfQuestion(s)
		got.Del("name")
		got.Del("expect")
		if got.Encode() != want {
			t.Errorf("%+v is typed as %s, want %s", s.Question, got.Encode(), want)
		}
	}
	f := queryForm{Query: "x", Depth: "7", Reranker: "big", WeightSparse: "0", Strict: true, Neighbors: "1", TopK: "3"}
	body, _, wrong := questionOf(fieldsOfCheck(f))
	said, err := json.Marshal(body)
	const want = `{"expect":[],"query":"x","rerank":{"depth":7,"model":"big"},"weights":{"sparse":0},"within":3}`
	if wrong != "" || err != nil || string(said) != want {
		t.Errorf("saved as %s (%s, %v), want %s", said, wrong, err, want)
	}
}

// A form is shown again for what its fields say, and for nothing that has another cause.
func TestWhatAFormIsRefusedFor(t *testing.T) {
	v := &visit{r: &http.Request{PostForm: url.Values{"do": {"make"}, "name": {"x"}}}}
	for code, again := range map[fault.Code]bool{fault.InvalidRequest: true, fault.Conflict: true, fault.PayloadTooLarge: true,
		fault.QuotaExceeded: true, fault.Forbidden: false, fault.Unauthorized: false, fault.NotFound: false,
		fault.RateLimited: false, fault.Unavailable: false, fault.Internal: false} {
		f := v.refused(&fault.Error{Code: code, Message: "the name is taken", Details: map[string]any{"field": "name"}})
		if (f != nil) != again {
			t.Errorf("after %s the form is %+v", code, f)
		}
		if again && (f.Of != "make" || f.Field != "name" || f.Wrong != "The name is taken." || f.Get("name") != "x") {
			t.Errorf("after %s the form says %+v", code, f)
		}
	}
	if f := v.refused(nil); f != nil {
		t.Errorf("without an error the form is %+v", f)
	}
	for message, want := range map[string]string{"it is.": "It is.", "top_k is": "top_k is.", "a.b is": "a.b is.",
		"x: is":       "x: is.",
		"it is top_k": "It is top_k.", "{ is": "{ is.", "`a` is": "`a` is."} {
		if got := sentence(message); got != want {
			t.Errorf("%q becomes %q", message, got)
		}
	}
	if out, err := showForm(nil, view{}, nil); out.status != 0 || err != nil {
		t.Errorf("without a form: %+v %v", out, err)
	}
	if out, _ := showForm(&form{}, view{}, nil); out.status != 0 {
		t.Errorf("a form with nothing wrong: %d", out.status)
	}
	if out, _ := showForm(&form{Wrong: "No."}, view{}, nil); out.status != http.StatusUnprocessableEntity {
		t.Errorf("a form with something wrong: %d", out.status)
	}
	if out, err := showForm(&form{Wrong: "No."}, view{}, http.ErrAbortHandler); out.status != 0 || err == nil {
		t.Errorf("a page that fails: %d %v", out.status, err)
	}
}

// Fields of a form are compared as what they say, and said as people read them.
func TestWordsOfAField(t *testing.T) {
	if got := wordsOf([]string{" b\r\nc ", "", "  ", "a"}); !slices.Equal(got, []string{"a", "b\nc"}) {
		t.Errorf("the words are %q", got)
	}
	for _, x := range []struct {
		tick   bool
		values []string
		want   string
	}{{true, []string{"1"}, "ticked"}, {true, nil, "not ticked"}, {false, nil, "empty"}, {false, []string{"a"}, "“a”"},
		{false, []string{"a", "b"}, "“a, b”"}} {
		if got := (edited{tick: x.tick}).say(x.values); got != x.want {
			t.Errorf("%+v is said as %q", x, got)
		}
	}
	if got := (edited{}).say([]string{strings.Repeat("x", 300)}); len([]rune(got)) > 124 {
		t.Errorf("a long value is said as %q", got)
	}
	first := form{Of: "make", values: url.Values{"a": {"1"}}}
	sent := form{Of: "make", Wrong: "No.", values: url.Values{"a": {"2"}, shownField: {"a=1"}}}
	if first.Shown() != "a=1" || sent.Shown() != "a=1" {
		t.Errorf("they were shown with %q and %q", first.Shown(), sent.Shown())
	}
	if got := sent.Over(first); got.Wrong != "No." {
		t.Errorf("the form that was sent gives way to %+v", got)
	}
	if got := sent.Over(form{Of: "other"}); got.Of != "other" || got.Wrong != "" {
		t.Errorf("a form shows another action's: %+v", got)
	}
	if got := (*form)(nil).Over(first); got.Get("a") != "1" {
		t.Errorf("without a form that was sent it is %+v", got)
	}
}
