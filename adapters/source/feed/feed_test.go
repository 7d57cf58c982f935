package feed_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/adapters/source/feed"
	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/adapters/source/sourcetest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// site serves a feed, and a connector reaches it and nothing else.
type site struct {
	t    *testing.T
	url  string
	feed *feed.Connector

	mu    sync.Mutex
	body  string
	head  map[string]string
	do    http.HandlerFunc // instead
	asked int
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	at, err := outbound.ParseNetwork(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.feed = feed.New(polite.New(polite.Settings{
		Private: []outbound.Network{at}, Timeout: time.Minute,
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(d)
			return ctx.Err()
		},
	}))
	s.url = server.URL
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	body, head, do := s.body, s.head, s.do
	s.asked++
	s.mu.Unlock()
	if do != nil {
		do(w, r)
		return
	}
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body)))
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "application/xml")
	for name, value := range head {
		w.Header().Set(name, value)
	}
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if _, err := io.WriteString(w, body); err != nil {
		return // the client has what it wants
	}
}

func (s *site) set(body string, head map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body, s.head, s.do = body, head, nil
}

func (s *site) answer(do http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do = do
}

func (s *site) connection() port.Connection {
	return port.Connection{Config: json.RawMessage(`{"url":"` + s.url + `/feed.xml"}`)}
}

// listed is what a listing said.
type listed struct {
	items    []port.SourceItem
	state    []byte
	complete bool
	snapshot bool
}

func (l *listed) Item(_ context.Context, i port.SourceItem) error {
	l.items = append(l.items, i)
	return nil
}
func (l *listed) Gone(context.Context, string) error {
	return errors.New("a feed says of nothing that it is gone")
}
func (l *listed) Problem(context.Context, port.SourceProblem) error {
	return errors.New("it is there or not")
}
func (l *listed) Checkpoint(_ context.Context, state []byte) error { l.state = state; return nil }
func (l *listed) Complete(_ context.Context, snapshot bool) error {
	l.complete, l.snapshot = true, snapshot
	return nil
}

func (s *site) list(state []byte) *listed {
	s.t.Helper()
	l := &listed{}
	if err := s.feed.List(s.t.Context(), s.connection(), state, l); err != nil || !l.complete {
		var failed *port.SourceError
		if errors.As(err, &failed) {
			s.t.Fatalf("%v (%v)", err, failed.Err)
		}
		s.t.Fatal(err)
	}
	return l
}

// text is what an item says, as it is read.
func text(t *testing.T, i port.SourceItem) string {
	t.Helper()
	said, _, err := markup.HTML(i.Content.File.Content, i.Content.File.Charset)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

const rss = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel>
<title>News</title><link>https://news.example/</link><lastBuildDate>Sun, 01 Mar 2026 12:00:00 GMT</lastBuildDate>
<item><title>One &amp; only</title><link>/one</link><guid isPermaLink="false">tag:1</guid><dc:creator>Ada</dc:creator>
<category>x</category><category> y
z</category><category>x</category><pubDate>Sat, 28 Feb 2026 10:00:00 +0100</pubDate>
<description>A summary.</description>
<content:encoded><![CDATA[<p>The <b>whole</b> text.</p></main><p>And more` + "\x0b" + ` of it.</p>]]></content:encoded></item>
<item><title>Two</title><link>https://news.example/two</link><description>1 &lt; 2 of it&lt;br&gt;all</description></item>
<item><description>Neither of both.</description></item>
<item><title>One again</title><guid>tag:1</guid></item>
<item><title>Bad link</title><link>javascript:alert(1)</link><guid>` + "tag:\t bad" + `</guid></item>
</channel></rss>`

// TestEntries: what of each entry becomes a document, under a key that stays.
func TestEntries(t *testing.T) {
	s := newSite(t)
	s.set(rss, nil)
	l := s.list(nil)
	if !l.snapshot || len(l.items) != 4 {
		t.Fatalf("%d entries, snapshot: %v", len(l.items), l.snapshot)
	}
	one, two, three, four := l.items[0], l.items[1], l.items[2], l.items[3]
	if one.Key != "tag:1" || one.Name != "One & only" || one.URL != "https://news.example/one" ||
		!one.Modified.Equal(time.Date(2026, 2, 28, 9, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", one)
	}
	if got := text(t, one); got != "# One & only\n\nThe whole text.\n\nAnd more of it." {
		t.Errorf("%q", got)
	}
	if want := map[string]any{"authors": []string{"Ada"}, "categories": []string{"x", "y z"}, "feed": "News",
		"published_at": "2026-02-28T09:00:00Z"}; !reflect.DeepEqual(one.Content.Metadata, want) {
		t.Errorf("%#v", one.Content.Metadata)
	}
	if two.Key != "https://news.example/two" || text(t, two) != "# Two\n\n1 < 2 of it\nall" {
		t.Errorf("%+v: %q", two, text(t, two))
	}
	if !strings.HasPrefix(three.Key, "sha256:") || text(t, three) != "Neither of both." || three.Name != three.Key {
		t.Errorf("%+v", three)
	}
	if four.Key != "tag: bad" || four.URL != "" || !four.Modified.IsZero() {
		t.Errorf("%+v", four)
	}
	for _, i := range l.items {
		c, err := s.feed.Fetch(t.Context(), s.connection(), port.SourceItem{Key: i.Key})
		if err != nil || !reflect.DeepEqual(c, *i.Content) || c.Version != i.Version || c.File.MediaType != markup.HTMLType {
			t.Errorf("%+v, %v", c, err)
		}
	}
	_, err := s.feed.Fetch(t.Context(), s.connection(), port.SourceItem{Key: "tag:2"})
	sourcetest.WantCode(t, err, port.SourceNotFound, "any more")
}

// TestVersions: an entry is another when what it says is, and not when its times are.
func TestVersions(t *testing.T) {
	s := newSite(t)
	version := func(old, replaced string) string {
		t.Helper()
		if !strings.Contains(rss, old) {
			t.Fatal(old)
		}
		s.set(strings.Replace(rss, old, replaced, 1), nil)
		return s.list(nil).items[0].Version
	}
	was := version("x", "x")
	for old, replaced := range map[string]string{"28 Feb": "27 Feb", "lastBuildDate>Sun, 01": "lastBuildDate>Sun, 08",
		"A summary": "Another", "tag:1": "tag:9"} {
		if version(old, replaced) != was {
			t.Errorf("%q is another version", replaced)
		}
	}
	for old, replaced := range map[string]string{"One &amp;": "None &amp;", "whole": "hole", "/one": "/won", "Ada": "Bob",
		"<category>x": "<category>w"} {
		if version(old, replaced) == was {
			t.Errorf("%q is the same version", replaced)
		}
	}
}

// TestForms: RSS of every age, Atom and JSON Feed.
func TestForms(t *testing.T) {
	s := newSite(t)
	for name, body := range map[string]string{
		"rss 0.91": `<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN"
			"http://my.netscape.com/publish/formats/rss-0.91.dtd">
			<rss version="0.91"><channel><title>f</title><item>
			<title>An entry</title><link>https://a.example/1</link><description>said</description></item></channel></rss>`,
		"rdf": `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
			<channel><title>f</title></channel>
			<item rdf:about="https://a.example/1"><title>An entry</title>
			<link>https://a.example/1</link><description>said</description></item></rdf:RDF>`,
		"atom": `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://a.example/"><title>f</title>
			<entry><id>https://a.example/1</id><title>An entry</title>
			<link href="1"/><updated>2026-01-02T03:04:05Z</updated>
			<content type="html">&lt;p&gt;said&lt;/p&gt;</content><author><name>Ada</name></author></entry></feed>`,
		"atom with summary": `<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>An entry</title>
			<link rel="alternate" href="https://a.example/1"/>
			<summary>said</summary></entry></feed>`,
		"xhtml": `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>https://a.example/1</id><title>An entry</title>
			<link href="https://a.example/1"/>
			<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>said</p></div></content></entry></feed>`,
		"json": `{"version":"https://jsonfeed.org/version/1.1","title":"f","items":[
			{"id":"https://a.example/1","url":"https://a.example/1","title":"An entry",
			"content_html":"<p>said</p>","date_modified":"2026-01-02T03:04:05Z"}]}`,
		"not strict": `<rss version="2.0"><channel><title>f & g</title><item><title>An entry</title>
			<link>https://a.example/1</link>` +
			`<description>said</description></item></channel></rss>`,
	} {
		s.set(body, nil)
		l := s.list(nil)
		if len(l.items) != 1 || l.items[0].Key != "https://a.example/1" || l.items[0].URL != "https://a.example/1" || text(t,
			l.items[0]) != "# An entry\n\nsaid" {
			t.Errorf("%s: %+v", name, l.items)
		}
	}
	s.set(`<rss version="2.0"><channel><title>f</title></channel></rss>`, nil)
	if l := s.list(nil); len(l.items) != 0 || !l.snapshot {
		t.Errorf("an empty feed: %+v", l)
	}
}

// TestCharsets: a feed is read in the charset that it is in, whatever it claims.
func TestCharsets(t *testing.T) {
	const french, russian, japaneseText, chinese = "Où était l’été ?",
		"Смотритель маяка пишет о погоде каждый день, и о тех, кто проходил мимо.", "灯台守の日記", "守塔人的日记"
	const spoken = "Le gardien du phare écrit où il était, où il a été et ce qu’il a mangé à midi. "
	in := func(e encoding.Encoding, s string) string {
		t.Helper()
		out, err := e.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	doc := func(declaration, title string) string {
		return declaration + `<rss version="2.0"><channel><title>f</title><item><title>` + title +
			`</title><guid>1</guid></item></channel></rss>`
	}
	wide := func(order binary.AppendByteOrder, mark, s string) string {
		out := []byte(mark)
		for _, u := range utf16.Encode([]rune(s)) {
			out = order.AppendUint16(out, u)
		}
		return string(out)
	}
	for name, c := range map[string]struct {
		body  string
		media string
		want  string
	}{
		"utf-8":        {doc(`<?xml version="1.0" encoding="utf-8"?>`, french), "", french},
		"bom":          {"\ufeff" + doc("", french), "", french},
		"bom and lie":  {"\ufeff" + doc(`<?xml version="1.0" encoding="iso-8859-1"?>`, french), "", french},
		"utf-8, lie":   {doc(`<?xml version="1.0" encoding="ISO-8859-1" ?>`, french), "text/xml; charset=us-ascii", french},
		"windows-1252": {in(charmap.Windows1252, doc(`<?xml version='1.0' encoding='windows-1252'?>`, french)), "", french},
		"misspelt": {in(charmap.Windows1252, doc(`<?xml version="1.0" encoding="utf8-latin1"?>`, french)),
			"text/xml; charset=cp1252", french},
		"koi8-r": {in(charmap.KOI8R, doc(`<?xml version="1.0" encoding="koi8-r"?>`, russian)),
			"text/xml; charset=utf-8", russian},
		"by the server":       {in(charmap.Windows1251, doc("", russian)), "text/xml; charset=windows-1251", russian},
		"by the server alone": {in(charmap.Macintosh, doc("", "caf\u00e9")), "text/xml; charset=macintosh", "caf\u00e9"},
		"by its looks": {in(charmap.Windows1251, doc("", strings.TrimSpace(strings.Repeat(russian+" ", 5)))), "",
			strings.TrimSpace(strings.Repeat(russian+" ", 5))},
		"by its looks, too": {in(charmap.Windows1252, doc("", strings.TrimSpace(strings.Repeat(spoken, 5)))), "",
			strings.TrimSpace(strings.Repeat(spoken, 5))},
		"lie": {in(charmap.Windows1251, doc(`<?xml version="1.0" encoding="utf-8"?>`, russian)),
			"text/xml; charset=windows-1251", russian},
		"shift_jis": {in(japanese.ShiftJIS, doc(`<?xml version="1.0" encoding="Shift_JIS"?>`, japaneseText)), "",
			japaneseText},
		"euc-jp": {in(japanese.EUCJP, doc(`<?xml version="1.0" encoding="EUC-JP"?>`, japaneseText)), "", japaneseText},
		"iso-2022-jp": {in(japanese.ISO2022JP, doc(`<?xml version="1.0" encoding="ISO-2022-JP"?>`, japaneseText)), "",
			japaneseText},
		"gb18030": {in(simplifiedchinese.GB18030, doc(`<?xml version="1.0" encoding="gb2312"?>`, chinese)), "",
			chinese},
		"utf-16le": {wide(binary.LittleEndian, "\xff\xfe", doc(`<?xml version="1.0" encoding="utf-16"?>`, chinese)),
			"", chinese},
		"utf-16be": {wide(binary.BigEndian, "\xfe\xff", doc("", chinese)), "", chinese},
		"broken":   {doc(`<?xml version="1.0" encoding="utf-8"?>`, "a\x00b\x0c"), "text/xml; charset=utf-8", "ab"},
	} {
		s := newSite(t)
		head := map[string]string{}
		if c.media != "" {
			head["Content-Type"] = c.media
		}
		s.set(c.body, head)
		if l := s.list(nil); len(l.items) != 1 || l.items[0].Name != c.want {
			t.Errorf("%s: %+v", name, l.items)
		}
	}
}

// TestUnchanged: a feed that has not changed costs no body, and says nothing of what it has.
func TestUnchanged(t *testing.T) {
	s := newSite(t)
	s.set(rss, nil)
	first := s.list(nil)
	if again := s.list(first.state); len(again.items) > 0 || again.snapshot {
		t.Errorf("%d entries, snapshot: %v", len(again.items), again.snapshot)
	}
	if full := s.list(nil); len(full.items) != 4 || !full.snapshot {
		t.Errorf("from the start: %d entries, snapshot: %v", len(full.items), full.snapshot)
	}
	s.set(strings.Replace(rss, "whole", "hole", 1), nil)
	if next := s.list(first.state); len(next.items) != 4 || !next.snapshot || string(next.state) == string(first.state) {
		t.Errorf("changed: %d entries, snapshot: %v", len(next.items), next.snapshot)
	}
	// By a date, where there is no ETag; and not by what is too long to be kept.
	asked := []string{}
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("If-Modified-Since"), r.Header.Get("If-None-Match"))
		w.Header().Set("Last-Modified", "Sun, 01 Mar 2026 12:00:00 GMT")
		w.Header().Set("ETag", `"`+strings.Repeat("x", 2000)+`"`)
		fmt.Fprint(w, rss)
	})
	s.list(s.list(nil).state)
	if !slices.Equal(asked, []string{"", "", "Sun, 01 Mar 2026 12:00:00 GMT", ""}) {
		t.Errorf("asked with %q", asked)
	}
	// What another URL answered says nothing of the first one's.
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/elsewhere" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		w.Header().Set("ETag", `"1"`)
		fmt.Fprint(w, rss)
	})
	if state := s.list(nil).state; strings.Contains(string(state), "etag") {
		t.Errorf("%s", state)
	}
}

// layers is a feed whose elements lie so deep in each other, twice.
func layers(n int) string {
	deep := strings.Repeat("<x:a>", n-3) + strings.Repeat("</x:a>", n-3)
	return `<rss version="2.0"><channel><title>f</title><item><guid>1</guid>` + deep + deep + "</item></channel></rss>"
}

// TestNoFeed: what is no feed is no empty one, and harms nobody.
func TestNoFeed(t *testing.T) {
	s := newSite(t)
	deep := `<rss version="2.0"><channel><item><title>x</title>` + strings.Repeat("<x:a>", 100_000)
	for name, c := range map[string]struct {
		body string
		code port.SourceCode
		says string
	}{
		"empty": {"", port.SourceUnavailable, "no feed"},
		"text":  {"We are closed.", port.SourceUnavailable, "no feed"},
		"json":  {`{"error":"closed"}`, port.SourceUnavailable, "no feed"},
		"cut":   {rss[:len(rss)/2], port.SourceUnavailable, "no feed"},
		"deep":  {deep, port.SourceUnavailable, "no feed"},
		"page":  {"<html><head><title>x</title></head><body>y", port.SourceUnavailable, "no feed"},
		"nested": {`{"version":"https://jsonfeed.org/version/1.1","items":` + strings.Repeat("[", 100_000),
			port.SourceUnavailable, "no feed"},
		"home": {`<html><head><link rel="stylesheet" href="/x.css"><link rel="alternate" type="application/rss+xml" href="/rss">
			<link rel="ALTERNATE" type="application/atom+xml" href="https://a.example/atom">
			<link rel="alternate" type="text/html" href="/de">`,
			port.SourceConfig, s.url + "/rss and https://a.example/atom"},
		"many": {strings.Repeat(`<link rel="alternate" type="application/rss+xml" href="https://a.example/x">`, 4),
			port.SourceConfig, strings.Join(slices.Repeat([]string{"https://a.example/x"}, 3), " and ")},
		"deep and closed": {layers(257), port.SourceUnavailable, "no feed"},
		"huge":            {rss + strings.Repeat(" ", 10<<20), port.SourceTooLarge, "10485760 bytes"},
	} {
		s.set(c.body, nil)
		l := &listed{}
		err := s.feed.List(t.Context(), s.connection(), nil, l)
		if sourcetest.WantCode(t, err, c.code, c.says); l.complete {
			t.Errorf("%s is complete", name)
		}
		if strings.Count(err.Error(), "https://a.example/x") > 3 {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.set(layers(256), nil)
	if l := s.list(nil); len(l.items) != 1 {
		t.Errorf("%+v", l.items)
	}
	for status, code := range map[int]port.SourceCode{404: port.SourceNotFound, 410: port.SourceNotFound,
		401: port.SourceCredentials,
		403: port.SourceForbidden, 500: port.SourceUnavailable} {
		s.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		sourcetest.WantCode(t, s.feed.List(t.Context(), s.connection(), nil, &listed{}), code, fmt.Sprint(status))
	}
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	})
	sourcetest.WantCode(t, s.feed.List(t.Context(), s.connection(), nil, &listed{}), port.SourceForbidden,
		"its port is not allowed")
}

// TestLargeEntries: an entry that is too large to be brought along is fetched.
func TestLargeEntries(t *testing.T) {
	s := newSite(t)
	long := strings.TrimSpace(strings.Repeat("long ", 300_000))
	s.set(strings.Replace(rss, "A summary.", "x", 1)[:len(rss)-len("</channel></rss>")-9]+"<item><guid>"+strings.Repeat("k",
		3000)+"</guid><title>"+
		strings.Repeat("t", 2000)+"</title><description>"+html.EscapeString(long)+"</description></item></channel></rss>", nil)
	l := s.list(nil)
	i := l.items[len(l.items)-1]
	if i.Content != nil || len(i.Key) != 39 || len(i.Name) != 1024 {
		t.Fatalf("%+v", i)
	}
	c, err := s.feed.Fetch(t.Context(), s.connection(), i)
	if err != nil || c.Version != i.Version || !strings.Contains(string(c.File.Content), long) ||
		int64(len(c.File.Content)) != i.Size {
		t.Errorf("%v", err)
	}
}

// TestBounds: what an entry says of itself up to how much.
func TestBounds(t *testing.T) {
	s := newSite(t)
	items := func(entries ...string) []port.SourceItem {
		t.Helper()
		s.set(`<rss version="2.0"><channel><item>`+strings.Join(entries, "</item><item>")+"</item></channel></rss>", nil)
		return s.list(nil).items
	}
	key := func(n int) string { return "<guid>" + strings.Repeat("k", n) + "</guid>" }
	got := items(key(2048), key(2049), "<guid>1</guid><title>De\u007fle\u0085te</title>")
	if len(got[0].Key) != 2048 || len(got[1].Key) != 39 || got[2].Name != "Dele te" {
		t.Errorf("%q, %q, %q", got[0].Key, got[1].Key, got[2].Name)
	}
	if m := got[0].Content.Metadata; len(m) != 0 {
		t.Errorf("%v of an entry that says nothing", m)
	}
	many := "<guid>2</guid>"
	for i := range 60 {
		many += fmt.Sprintf("<category>c%d</category><author>%d@a.example (a%d)</author>", i, i, i)
	}
	if c := items(many)[0].Content.Metadata["categories"].([]string); len(c) != 50 || c[49] != "c49" {
		t.Errorf("%d categories: %q", len(c), c)
	}
	said := func(n int) string { return "<guid>1</guid><description>" + strings.Repeat("x", n) + "</description>" }
	frame := int(items(said(1))[0].Size) - 1
	if got := items(said(1<<20 - frame)); got[0].Content == nil || got[0].Size != 1<<20 {
		t.Errorf("a page of %d bytes does not come along", got[0].Size)
	}
	if got := items(said(1<<20 - frame + 1)); got[0].Content != nil {
		t.Errorf("a page of %d bytes comes along", got[0].Size)
	}
	for n, kept := range map[int]bool{1000: true, 1001: false} {
		tag := `"` + strings.Repeat("e", n-2) + `"`
		s.set(rss, map[string]string{"ETag": tag})
		if got := strings.Contains(string(s.list(nil).state), "eee"); got != kept {
			t.Errorf("a validator of %d bytes: %v", n, got)
		}
	}
}

// TestRegistered: what is registered reaches what the operator lets it, and its requests take
// turns with those of others with the same hosts.
func TestRegistered(t *testing.T) {
	s := newSite(t)
	s.set(rss, nil)
	r := registry.New()
	feed.Register(r, polite.NewHosts())
	info, ok := r.Source.Component("feed")
	if !ok {
		t.Fatal("it is not registered")
	}
	open := func(private ...string) (port.Connector, error) {
		return r.Source.Open(t.Context(), info.Select(), registry.Env{Now: time.Now, Reach: registry.Reach{
			Private: private, MaxItem: 1 << 20, UserAgent: "Mneme/1"}})
	}
	c, err := open(strings.TrimPrefix(s.url, "http://"))
	if err != nil || c.Kind().Name != "feed" {
		t.Fatalf("%v, %v", c, err)
	}
	if err := c.List(t.Context(), s.connection(), nil, &listed{}); err != nil {
		t.Error(err)
	}
	if _, err := open("not a network"); err == nil || !strings.Contains(err.Error(), "a network that sources may reach") {
		t.Errorf("%v", err)
	}
}

// TestCheck: what cannot work, by its field.
func TestCheck(t *testing.T) {
	s := newSite(t)
	s.set(rss, nil)
	for raw, want := range map[string]string{
		`{"url":"` + s.url + `"}`:              "",
		`{"url":"http://127.0.0.1:1/"}`:        "config.url",
		`{"url":"file:///etc/passwd"}`:         "config.url",
		`{"url":"https://u:p@a.example/feed"}`: "config.url",
		`{}`:                                   "config.url",
		`{"url":7}`:                            "config",
		`{"feed":""}`:                          "config",
	} {
		c := port.Connection{Config: json.RawMessage(raw)}
		problems, err := s.feed.Check(t.Context(), c)
		if want == "" && (err != nil || len(problems) > 0) || want != "" && (len(problems) != 1 || problems[0].Field != want ||
			problems[0].Message == "") {
			t.Errorf("%s: %v, %v", raw, problems, err)
		}
	}
	s.answer(http.NotFound)
	problems, err := s.feed.Check(t.Context(), s.connection())
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "404") {
		t.Errorf("%v, %v", problems, err)
	}
	s.set("closed", nil)
	_, err = s.feed.Check(t.Context(), s.connection())
	sourcetest.WantCode(t, err, port.SourceUnavailable, "no feed")
	if err := s.feed.Revoke(t.Context(), s.connection()); err != nil {
		t.Error(err)
	}
	if !s.feed.Kind().Keeps {
		t.Error("entries that left a feed are deleted unless somebody says otherwise")
	}
}

func TestContract(t *testing.T) {
	key := func(name string) string { return strings.Join(strings.Fields(name), " ") }
	sourcetest.Run(t, func(t *testing.T) sourcetest.Upstream {
		s := newSite(t)
		set := func(_ *testing.T, items map[string]string) {
			var b strings.Builder
			for name, said := range items {
				fmt.Fprintf(&b, "<item><guid>%s</guid><description>%s</description></item>", html.EscapeString(name),
					html.EscapeString(html.EscapeString(said))) // a description is HTML
			}
			s.set(`<rss version="2.0"><channel><title>f</title>`+b.String()+"</channel></rss>", nil)
		}
		status := func(code int) { s.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }) }
		return sourcetest.Upstream{
			Connector: s.feed, Connection: s.connection(), Set: set, Key: key,
			Holds: func(content, set string) bool {
				said, _, err := markup.HTML([]byte(content), "utf-8")
				return err == nil && (said == set || content == set)
			},
			NoCheckpoints: true,
			Break: func(*testing.T) func() {
				status(http.StatusBadGateway)
				return func() { s.answer(nil) }
			},
			Hang: func(*testing.T) func() {
				released := make(chan struct{})
				s.answer(func(_ http.ResponseWriter, r *http.Request) {
					select {
					case <-released:
					case <-r.Context().Done():
					}
				})
				return func() { close(released) }
			},
			Vanish: func(*testing.T) { status(http.StatusNotFound) },
			Wrong: []sourcetest.Wrong{
				{Name: "nowhere", Connection: port.Connection{Config: []byte("{}")}, Field: "config.url",
					Code: port.SourceConfig},
				{Name: "no URL", Connection: port.Connection{Config: []byte(`{"url":"feed.xml"}`)}, Field: "config.url",
					Code: port.SourceConfig},
			},
		}
	})
}
