package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/adapters/source/directory"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/transports/console"
)

const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(1)> {{.}} ` + "\u202eevil \u05e9\u05dc\u05d5\u05dd"

// whole has every part of a server: sources, files, events.
func whole(s *server, c *engine.Config) {
	s.Helper()
	s.folder = s.TempDir()
	folders, err := directory.New(directory.Settings{Directories: []string{s.folder}})
	if err != nil {
		s.Fatal(err)
	}
	limits := extract.Limits{}
	c.Extractor = extract.New(extract.Settings{Limits: limits}, text.New(limits))
	c.Sources = &engine.Sources{Connectors: []port.Connector{folders}}
	c.Events.Record = event.RecordAll
	c.Sealing = nil
}

func (s *server) put(name, text string) {
	s.Helper()
	at := filepath.Join(s.folder, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

// send posts a form with files.
func (b *browser) send(at string, fields map[string]string, files map[string]string) answer {
	b.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			b.Fatal(err)
		}
	}
	for name, text := range files {
		f, err := w.CreateFormFile("file", name)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return b.request("POST", at, &body, w.FormDataContentType())
}

// integrationKey makes an integration and a key of it by the forms, and gives the secret.
func (b *browser) integrationKey(name string) string {
	b.Helper()
	to := b.post("/console/o/default/integrations", url.Values{"name": {name}}).leads(b.T)
	at, _, _ := strings.Cut(to, "?")
	a := b.post(at, url.Values{"do": {"make"}, "kind": {"integration"}, "name": {"its key"},
		"scopes": {"memories:read", "memories:write", "users:erase"}})
	a.want(b.T, 200, "only time").proper(b.T)
	secret := ""
	for _, x := range a.elements("code") {
		if x.FirstChild != nil && strings.HasPrefix(x.FirstChild.Data, "cint_") {
			secret = x.FirstChild.Data
		}
	}
	if secret == "" {
		b.Fatalf("no secret is shown: %s", a.text)
	}
	return secret
}

// remember saves a memory as an application does, through the operations.
func (s *server) remember(secret, user, text, container string) {
	s.Helper()
	body := map[string]any{"endUserId": user, "content": text, "metadata": map[string]any{"note": hostile}}
	if container != "" {
		body["containerTag"] = container
	}
	s.callAs(secret, "memories.save", body)
}

// settled waits until a source has nothing to do.
func (b *browser) settled(at string) answer {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		a := b.get(at)
		if a.StatusCode != http.StatusOK {
			b.Fatalf("%s answered %d: %s", at, a.StatusCode, a.text)
		}
		if !strings.Contains(a.body, `data-refresh`) {
			return a
		}
		if time.Now().After(deadline) {
			b.Fatalf("%s goes on for ever: %s", at, a.text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Every page, full of text that means ill, shows it as text, is proper and leads to pages, at the
// root; and what its forms send stays what it says.
func TestFullPages(t *testing.T) {
	s := serve(t, nil, whole)
	b := s.signedIn(s.key.Secret)
	s.put("a.txt", "The hedge is cut in February.")
	s.put("odd <b>&.txt", hostile)
	s.put("broken.txt", "\xff\xfe\x00\x01\x02"+strings.Repeat("\x00\x01", 600))
	const o = "/console/o/default"

	checked := b.post(o+"/connect/directory", url.Values{"name": {hostile}, "namespace": {"garden"}, "then": {"check"},
		"config.path": {s.folder}}).want(t, 200, "It works", "a.txt", "Nothing was written")
	checked.proper(t)
	checked.lacks(t, `"secrets"`)
	b.post(o+"/connect/directory", url.Values{"name": {"x"}, "namespace": {"garden"}, "then": {"check"},
		"config.path": {"relative"}}).want(t, 200, "does not work yet", "absolute").proper(t)
	b.post(o+"/connect/directory", url.Values{"name": {"x"}, "namespace": {"garden"},
		"config.path": {""}}).want(t, 422, "config.path", "/sources'").lacks(t, `"secrets"`) // which it has none of
	at := b.post(o+"/connect/directory", url.Values{"name": {hostile}, "namespace": {"garden"}, "schedule": {"6h"},
		"config.path": {s.folder}, "config.include": {"*.txt\r\n"}}).leads(t)
	src := b.settled(at).want(t, 200, "garden", hostile, "6h")
	src.proper(t)
	src.lacks(t, "when asked")
	src.lacks(t, "All that failed") // which are few

	secret := b.integrationKey("bot")
	s.remember(secret, "ada@example.com", "Ada likes oat milk. "+hostile, "orders")
	s.remember(secret, "ada@example.com", strings.Repeat("long ", 2000), "")
	s.callAs(secret, "memories.upsert", map[string]any{"endUserId": "ada@example.com", "source": "crm", "version": 1,
		"content": "Case 17.", "occurredAt": "2026-11-20T10:00:00Z"}, "externalId", "case-17")
	s.callAs(secret, "grants.create", map[string]any{"endUserId": "ada@example.com", "source": "crm"})
	b.post(o+"/keys", url.Values{"kind": {"service"}, "name": {hostile}, "days": {"30"}}).want(t, 200, "only time").proper(t)
	b.post(o+"/keys", url.Values{"kind": {"service"}, "name": {"soon"}, "days": {"7"}}).want(t, 200)
	b.write("notes", "one", "# Lease\n\nIt runs until May.").want(t, 303)
	b.post("/console/organizations", url.Values{"name": {"acme"}}).want(t, 303)

	seen := b.crawl("/console")
	for _, want := range []string{o, o + "/n", o + "/n/garden", o + "/n/garden/upkeep", o + "/n/garden/files", o + "/sources", at,
		at + "/settings", at + "/items", o + "/connect", o + "/connect/directory", o + "/users", o + "/keys", o + "/integrations",
		o + "/integrations/bot", o + "/events", o + "/jobs", o + "/usage", o + "/audit", "/console/organizations",
		"/console/organizations/acme", "/console/settings", "/console/models", "/console/health"} {
		if _, ok := seen[want]; !ok {
			t.Errorf("nothing leads to %s", want)
		}
	}
	runs, users, records := 0, 0, 0
	for path, a := range seen {
		if strings.Contains(path, "/runs/") {
			runs++
			if strings.Contains(a.body, "data-refresh") {
				t.Errorf("%s asks for what has ended again", path)
			}
		}
		if strings.Contains(a.text, "Record and receipt") {
			records++
			a.want(t, 200, "case-17", "Outcome created")
		}
		if strings.Contains(path, "/users/") && strings.Contains(path, "ada@example.com") {
			users++
		}
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			continue
		}
		if n := len(a.elements("img")); n != 1 {
			t.Errorf("%s has %d images", path, n)
		}
		if n := len(a.elements("script")); n != 1 {
			t.Errorf("%s has %d scripts", path, n)
		}
		formsLead(t, b, a)
		calls := map[string]int{}
		for _, n := range a.elements("figcaption") {
			calls[n.FirstChild.Data]++
		}
		// What an account is changed by is no operation, and the reference is another page.
		without := path == "/console/account" || strings.HasPrefix(path, "/docs")
		if n := calls["curl"]; n != calls["TypeScript"] || n != calls["Python"] || n == 0 != without {
			t.Errorf("%s shows its calls as %v", path, calls)
		}
	}
	if runs == 0 || users == 0 || records == 0 {
		t.Errorf("%d pages of runs, %d of the end user, %d with a record", runs, users, records)
	}
	b.get(o).want(t, 200, "The key soon ends in 6 days", "Rotate it")
	b.get(o+"/events").want(t, 200, "documents.written", "memory.created")
	b.get(o+"/events?kinds=memory.created").want(t, 200, "memory.created")
	b.get(o+"/events?from=oldest").want(t, 200, "source.state_changed")
	b.get(o+"/audit?action=admin.keys.create&since=2020-01-01").want(t, 200, "admin.keys.create")
	b.get(o+"/audit?since=yesterday").want(t, 422, "written like").proper(t)
	b.get("/console/settings").want(t, 200, "data_dir: x")

	// What runs can be asked for by itself.
	b.header.Set("Accept", "text/vnd.mneme.fragment+html")
	part := b.get(at + "?part=runs")
	part.want(t, 200, "Runs")
	if !strings.HasPrefix(part.body, `<section id="runs"`) || strings.Contains(part.body, "<html") {
		t.Errorf("the fragment is %.200s", part.body)
	}
	b.get(at+"?part=nothing").want(t, 404)
	b.header.Del("Accept")
}

// formsLead checks that each form of a page sends to a page that takes it, unless it goes somewhere
// that changes things, which the flows try.
func formsLead(t *testing.T, b *browser, a answer) {
	t.Helper()
	for _, f := range a.elements("form") {
		action, _ := attribute(f, "action")
		to, err := a.Request.URL.Parse(action)
		if err != nil || to.Host != a.Request.URL.Host || !strings.HasPrefix(to.Path, "/console/") {
			t.Errorf("%s has a form to %q (%v)", a.Request.URL, action, err)
			continue
		}
		method, _ := attribute(f, "method")
		if method == "post" {
			continue
		}
		if got := b.get(to.RequestURI()); got.StatusCode != http.StatusOK {
			t.Errorf("%s has a form to %s, which answers %d", a.Request.URL, action, got.StatusCode)
		}
	}
}

// Each page with nothing on it says what to do next.
func TestEmptyPages(t *testing.T) {
	s := serve(t, nil, func(_ *server, c *engine.Config) { c.Events.Record = event.RecordSubscribed }) // the key's is none
	b := s.signedIn(s.key.Secret)
	for at, text := range map[string]string{
		"/n": "Nothing is stored yet", "/sources": "Sources are off", "/connect": "Sources are off",
		"/users": "Nobody is remembered yet", "/integrations": "No application remembers anything yet",
		"/jobs": "No work is under way", "/usage": "What is kept", "/keys": "Make a key", "": "Nothing is stored yet",
		"/users?query=x": "No end user fits", "/jobs?status=failed": "No job fits", "/audit?action=none": "No record fits",
		"/n?prefix=x": "No namespace begins", "/events": "Nothing has happened", "/n/none/upkeep": "holds no documents",
		"/n/none/files": "Files",
	} {
		b.get("/console/o/default"+at).want(t, 200, text).proper(t)
	}
	s = serve(t, nil, whole)
	b = s.signedIn(s.key.Secret)
	for at, text := range map[string]string{"/sources": "Nothing is connected", "/sources?state=error": "No source fits",
		"/events?kinds=user.erased": "No event of this kind", "/connect": "Folder"} {
		b.get("/console/o/default"+at).want(t, 200, text).proper(t)
	}
}

// A part that fails takes only itself away, and a page that is nothing without it says so.
func TestPagesOfAStoreThatFails(t *testing.T) {
	s := serve(t, nil, whole)
	b := s.signedIn(s.key.Secret)
	b.write("notes", "a", "The lease.").want(t, 303)
	pages := []string{"/n", "/n/notes", "/n/notes/upkeep", "/sources", "/users", "/keys", "/integrations", "/jobs", "/usage",
		"/audit"}
	b.get("/console/o/default").want(t, 200)
	for _, x := range []struct {
		err    error
		status int
		says   string
	}{{fault.New(fault.Unavailable, "the store is gone"), http.StatusServiceUnavailable, "The store is gone."},
		{context.DeadlineExceeded, http.StatusGatewayTimeout, "The request took longer than its time limit."}} {
		s.store.OnView.Set(func() error { return x.err })
		for _, at := range pages {
			b.get("/console/o/default"+at).want(t, x.status, "could not answer", x.says, "Try again").proper(t)
		}
	}
	s.store.OnView.Clear()
	b.get("/console/o/default/keys").want(t, 200)
}

// lines are those of a log.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(b))
	return len(b), nil
}

func (l *lines) with(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// What a visitor asks wrongly is no failure of the server's, and not in its log.
func TestFailuresOfTheServerAreLogged(t *testing.T) {
	log := &lines{}
	s := serve(t, func(o *console.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	b := s.signedIn(s.key.Secret)
	b.get("/console/o/default/n/nowhere").want(t, 404)
	b.get("/console/o/nobody").want(t, 404)
	if log.with("console call failed") > 0 {
		t.Errorf("the log has %q", log.all)
	}
	s.store.OnView.Set(func() error { return fault.New(fault.Unavailable, "the store is gone") })
	b.get("/console/o/default/n").want(t, 503)
	s.store.OnView.Clear()
	if log.with("console call failed") != 1 || log.with("the store is gone") != 1 {
		t.Errorf("the log has %q", log.all)
	}
}

// Keys are made, changed, rotated with overlap and revoked.
func TestKeysLive(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	const at = "/console/o/default/keys"
	b.post(at, url.Values{"kind": {"service"}, "name": {"checkout"}, "namespace": {"No Name"}}).
		want(t, 422, "namespace").proper(t)
	b.post(at, url.Values{"kind": {"service"}, "name": {"checkout"}, "read_only": {"1"}}).want(t, 200, "sk-service-")
	b.get(at).want(t, 200, "checkout", "live")
	one := b.keyNamed("checkout")
	b.post(one, url.Values{"do": {"change"}, "name": {"till"}, "read": {"many"}}).want(t, 422, "whole number").proper(t)
	b.post(one, url.Values{"do": {"change"}, "name": {"till"}, "read": {"600"}, "default_namespace": {"notes"}}).want(t, 303)
	p := b.get(one).want(t, 200, "till", "read and write", "notes")
	p.proper(t)
	if !strings.Contains(p.body, `value="600"`) {
		t.Errorf("the limit is not shown: %s", p.body)
	}
	// Another limit of the same class keeps the burst that was set elsewhere; none takes both away.
	s.callAs(s.key.Secret, "admin.keys.change", map[string]any{"limits": map[string]any{
		"read": map[string]any{"per_minute": 600, "burst": 7}}}, "id", path.Base(one))
	long := strings.Repeat("x", 300)
	b.post(one, url.Values{"do": {"change"}, "name": {long}, "read": {"300"}}).want(t, 422, `"burst":7`, `"per_minute":300`)
	b.post(one, url.Values{"do": {"change"}, "name": {long}, "read": {"300"}, "write": {"200"}}).
		want(t, 422, `"write":{"per_minute":200}`)
	b.post(one, url.Values{"do": {"change"}, "name": {"till"}, "default_namespace": {"notes"}}).want(t, 303)
	if p := b.get(one).want(t, 200, "till"); strings.Contains(p.body, `value="600"`) {
		t.Errorf("the limit stays: %s", p.body)
	}
	b.post(one, url.Values{"do": {"rotate"}, "overlap": {"x"}}).want(t, 422, "Choose").proper(t)
	b.post(one, url.Values{"do": {"rotate"}, "overlap": {"3600"}}).want(t, 200, "Keep this key now", "The old key ends").proper(t)
	b.post(one, url.Values{"do": {"revoke"}, "typed": {"nope"}}).want(t, 422, "last four characters").proper(t)
	four := ""
	for _, n := range b.get(one).elements("strong") {
		if c, _ := attribute(n, "class"); c == "typed" {
			four = n.FirstChild.Data
		}
	}
	b.post(one, url.Values{"do": {"revoke"}, "typed": {" " + four + " "}}).want(t, 303)
	b.get(one+"?said=revoked").want(t, 200, "revoked", "refused within a second").proper(t)
	b.get(one+"?said="+url.QueryEscape(hostile)).want(t, 200).proper(t)
	b.post(one, url.Values{"do": {"nothing"}}).want(t, 400, "no such form").proper(t)
}

// An end user is found, searched as, exported and erased with a certificate.
func TestAnEndUserIsErased(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	secret := b.integrationKey("bot")
	s.remember(secret, "ada", "Ada likes oat milk.", "orders")
	s.remember(secret, "bob", "Bob likes tea.", "orders")
	roster := b.get("/console/o/default/users?query=a").want(t, 200, "ada", "bot")
	if strings.Contains(roster.text, "bob") {
		t.Errorf("the filter does nothing: %s", roster.text)
	}
	at := ""
	for _, n := range roster.elements("a") {
		if h, _ := attribute(n, "href"); strings.HasSuffix(h, "/ada") {
			to, err := roster.Request.URL.Parse(h)
			if err != nil {
				t.Fatal(err)
			}
			at = to.Path
		}
	}
	b.get(at+"?q=milk").want(t, 200, "1 found", "oat milk").proper(t)
	b.get(at+"?container=orders").want(t, 200, "oat milk").proper(t)
	b.get(at+"?container=none").want(t, 200, "holds no memory").proper(t)
	b.get(at+"?source=crm&external=none").want(t, 200).proper(t)
	x := b.get(at + "/export")
	if !strings.Contains(x.Header.Get("Content-Disposition"), "attachment") || !strings.Contains(x.body, `"type":"end"`) ||
		strings.Contains(x.body, "Bob") {
		t.Errorf("the export is %v %s", x.Header, x.body)
	}
	b.post(at, url.Values{"do": {"erase"}, "typed": {"bob"}}).want(t, 422, "Type the id").proper(t)
	for i := range 2 { // again, as a browser may
		a := b.post(at, url.Values{"do": {"erase"}, "typed": {"ada"}}).want(t, 200, "is erased", "hold nothing")
		a.proper(t)
		var c struct {
			Deleted struct{ Memories int }
		}
		for _, n := range a.elements("code") {
			if n.FirstChild != nil && strings.HasPrefix(n.FirstChild.Data, "{") {
				if err := json.Unmarshal([]byte(n.FirstChild.Data), &c); err != nil {
					continue
				}
			}
		}
		if want := 1 - i; c.Deleted.Memories != want {
			t.Errorf("time %d: the certificate counts %d memories, want %d", i, c.Deleted.Memories, want)
		}
	}
	if a := b.get("/console/o/default/users"); strings.Contains(a.text, "ada") || !strings.Contains(a.text, "bob") {
		t.Errorf("the roster is %s", a.text)
	}
	b.get(at).want(t, 200, "Nothing is remembered").proper(t)
}

// A source is paused, resumed and synced; withheld deletions are named and applied; disconnecting asks
// what becomes of the documents.
func TestASourceLives(t *testing.T) {
	s := serve(t, nil, whole)
	b := s.signedIn(s.key.Secret)
	for i := range 14 {
		s.put("file-"+string(rune('a'+i))+".txt", "The hedge is cut in February.")
	}
	at := b.post("/console/o/default/connect/directory", url.Values{"name": {"Garden"}, "namespace": {"garden"},
		"config.path": {s.folder}}).leads(t)
	b.settled(at).want(t, 200, "14 seen", "14 new")
	for i := range 12 {
		if err := os.Remove(filepath.Join(s.folder, "file-"+string(rune('a'+i))+".txt")); err != nil {
			t.Fatal(err)
		}
	}
	b.post(at, url.Values{"do": {"sync"}}).want(t, 303)
	a := b.settled(at).want(t, 200, "12 deletions are withheld", "file-a.txt")
	a.proper(t)
	b.get("/console/o/default").want(t, 200, "withholds 12 deletions", "Decide")
	b.post(at, url.Values{"do": {"apply"}, "max": {"all"}}).want(t, 422, "how many").proper(t)
	b.post(at, url.Values{"do": {"apply"}, "max": {"12"}}).want(t, 303)
	b.settled(at).want(t, 200, "12 deleted")
	b.post(at, url.Values{"do": {"pause"}}).want(t, 303)
	b.get(at).want(t, 200, "paused", "Resume").proper(t)
	b.post(at, url.Values{"do": {"resume"}}).want(t, 303)
	refused := b.post(at+"/settings", url.Values{"name": {"Garden two"}, "schedule": {"soon"}, "config.path": {s.folder}}).
		want(t, 422, "-X PATCH")
	refused.proper(t)
	refused.lacks(t, `"secrets"`)
	b.post(at+"/settings", url.Values{"name": {"Garden two"}, "schedule": {"30 4 * * 1-5"}, "config.path": {s.folder},
		"deletions": {"keep"}}).want(t, 303)
	b.settled(at).want(t, 200, "Garden two", "30 4 * * 1-5", "stay")
	if to := b.get("/console/o/default/n/garden").linkOf("a\u00a0source"); path.Base(to) != path.Base(at) {
		t.Errorf("what the source keeps leads to %q", to)
	}
	if err := os.RemoveAll(s.folder); err != nil {
		t.Fatal(err)
	}
	b.post(at, url.Values{"do": {"sync"}}).want(t, 303)
	b.eventually("/console/o/default", "The source Garden two fails: ")
	b.post(at, url.Values{"do": {"disconnect"}, "typed": {"Garden two"}}).want(t, 422, "Choose what becomes").proper(t)
	b.post(at, url.Values{"do": {"disconnect"}, "documents": {"keep"}, "typed": {"Garden"}}).
		want(t, 422, "Type the name").proper(t)
	b.post(at, url.Values{"do": {"disconnect"}, "documents": {"keep"}, "typed": {"Garden two"}}).want(t, 303)
	b.get("/console/o/default/n/garden").want(t, 200, "2")
}

// Organizations are made, bounded, suspended, resumed, renamed and deleted by those who run the server.
func TestOrganizationsLive(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	b.post("/console/organizations", url.Values{"name": {"no good"}}).want(t, 422, "name").proper(t)
	if to := b.post("/console/organizations", url.Values{"name": {"acme"}}).leads(t); to != "/console/o/acme" {
		t.Errorf("it leads to %s", to)
	}
	const at = "/console/organizations/acme"
	b.post(at, url.Values{"do": {"quotas"}, "bytes": {"many"}}).want(t, 422, "whole number").proper(t)
	b.post(at, url.Values{"do": {"quotas"}, "bytes": {"1 048 576"}, "documents": {"10"}}).want(t, 303)
	b.get(at).want(t, 200, "1.0", "of 10").proper(t)
	b.post(at, url.Values{"do": {"suspend"}, "typed": {"x"}}).want(t, 422, "Type the name").proper(t)
	b.post(at, url.Values{"do": {"suspend"}, "typed": {"acme"}}).want(t, 303)
	b.get(at).want(t, 200, "suspended", "Resume").proper(t)
	b.post(at, url.Values{"do": {"resume"}}).want(t, 303)
	b.post(at, url.Values{"do": {"rename"}, "name": {"default"}}).want(t, 422).proper(t)
	to := b.post(at, url.Values{"do": {"rename"}, "name": {"apex"}}).leads(t)
	if !strings.HasPrefix(to, "/console/organizations/apex") {
		t.Errorf("it leads to %s", to)
	}
	b.post("/console/organizations/apex", url.Values{"do": {"delete"}, "typed": {"acme"}}).want(t, 422, "Type the name").proper(t)
	b.post("/console/organizations/apex", url.Values{"do": {"delete"}, "typed": {"apex"}}).want(t, 303)
	one := s.signedIn(s.issue(key.Issue{}).Secret)
	one.post("/console/organizations", url.Values{"name": {"mine"}}).want(t, 403).proper(t)
	one.get("/console/settings").want(t, 403).proper(t)
	one.post("/console/organizations/default", url.Values{"do": {"quotas"}, "bytes": {"1"}}).want(t, 403)
}

// Files are shown before they are written, written, and exported and imported as a data set.
func TestFilesComeAndGo(t *testing.T) {
	s := serve(t, nil, whole)
	b := s.signedIn(s.key.Secret)
	const at = "/console/o/default/n/papers"
	b.send(at+"/files", map[string]string{"metadata": "{}"}, nil).want(t, 422, "Choose at least one file").proper(t)
	b.send(at+"/files", map[string]string{"metadata": "[]"}, map[string]string{"a.txt": "x"}).want(t, 422, "metadata").proper(t)
	b.send(at+"/files", map[string]string{"preview": "1"}, map[string]string{"bees.txt": "Bees make honey."}).
		want(t, 200, "A preview", "Bees make honey.").proper(t)
	b.get(at).want(t, 404)
	b.send(at+"/files", map[string]string{"metadata": `{"team": "garden"}`},
		map[string]string{"bees.txt": "Bees make honey. " + hostile}).
		want(t, 200, "1 written").proper(t)
	b.get(at).want(t, 200, "1")
	x := b.get(at + "/export")
	if !strings.HasPrefix(x.Header.Get("Content-Disposition"), "attachment; filename=mneme-default-papers.ndjson") ||
		!strings.Contains(x.body, "Bees make honey") {
		t.Fatalf("the export is %v %s", x.Header, x.body)
	}
	b.send("/console/o/default/n/copy/import", nil, nil).want(t, 422, "Choose the file").proper(t)
	b.send("/console/o/default/n/copy/import", nil, map[string]string{"x.ndjson": x.body[:len(x.body)/2]}).want(t, 422).proper(t)
	b.send("/console/o/default/n/copy/import", map[string]string{"on_conflict": "skip"}, map[string]string{"x.ndjson": x.body}).
		want(t, 200, "1 document is imported").proper(t)
	b.post(at+"/upkeep", url.Values{}).want(t, 303)
	b.settled(at+"/upkeep").want(t, 200, "current").proper(t)
	b.post(at+"/upkeep", url.Values{"do": {"discard"}}).want(t, 303)

	russian := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"hello.txt\"\r\n" +
		"Content-Type: text/plain; charset=koi8-r\r\n\r\n\xf0\xd2\xc9\xd7\xc5\xd4\r\n--x--\r\n"
	b.request("POST", at+"/files", strings.NewReader(russian), "multipart/form-data; boundary=x").want(t, 200, "1 written")
	b.get(at+"/documents/hello.txt").want(t, 200, "Привет")
	cut := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.ndjson\"\r\n\r\n{"
	b.request("POST", "/console/o/default/n/copy/import", strings.NewReader(cut), "multipart/form-data; boundary=x").
		want(t, 422, "nothing was imported").proper(t)
}

// Metadata is edited, and similar documents are looked for.
func TestMetadataIsEdited(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	b.write("notes", "a", "The lease.").want(t, 303)
	b.write("notes", "b", "The lease of the other house.").want(t, 303)
	const at = "/console/o/default/n/notes/documents/a"
	b.post(at, url.Values{"do": {"metadata"}, "metadata": {"[1]"}}).want(t, 422, "JSON object").proper(t)
	b.post(at, url.Values{"do": {"metadata"}, "metadata": {`{"team": "office"}`}}).want(t, 303)
	b.get(at+"?similar=1").want(t, 200, "office", "The lease.", "Similar documents", "the other house").proper(t)
	two := b.get("/console/o/default/n/notes/query?q=lease&compare=1&b_mode=keyword").
		want(t, 200, "A: 2 hits", "B: 2 hits", "bm25")
	two.proper(t)
	b.get("/console/o/default/n/notes/query?q=lease&compare=1&b_top_k=x").want(t, 422, "B: How many").proper(t)
}

// A query is saved from the playground, run with the others as a check, changed and deleted.
func TestQueriesAreSavedAndRun(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	b.write("notes", "lease", "The lease runs until May.").want(t, 303)
	b.write("notes", "bees", "Bees make honey.").want(t, 303)
	const at = "/console/o/default/n/notes/check"
	b.get(at).want(t, 200, "No query is saved yet").proper(t)
	var to *url.URL
	for _, n := range b.get("/console/o/default/n/notes/query?q=honey&mode=keyword&top_k=3").want(t, 200).elements("a") {
		if n.FirstChild != nil && n.FirstChild.Data == "Save this query" {
			link, _ := attribute(n, "href")
			to, _ = url.Parse(link)
		}
	}
	if to == nil {
		t.Fatal("what was asked cannot be saved")
	}
	form := b.get(at+"?"+to.RawQuery).want(t, 200)
	form.proper(t)
	for _, filled := range []string{`value="bees"`, `value="honey"`, `value="3"`, `value="keyword" selected`} {
		if !strings.Contains(form.body, filled) {
			t.Errorf("the form lacks %s: %s", filled, form.body)
		}
	}
	save := func(name string, more ...string) answer {
		f := url.Values{"do": {""}, "name": {name}, "query": {"honey"}, "within": {"3"}, "mode": {"keyword"}}
		for i := 0; i < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return b.post(at, f)
	}
	save("honey", "expect", "bees").want(t, 303)
	save("lost", "expect", "bees, lost").want(t, 303)
	save("hostile", "query", hostile, "filter", `{"kind": "note"}`, "min_score", "0.25", "mode", "vector").want(t, 303)
	for field, value := range map[string]string{"name": " ", "within": "x", "min_score": "x", "filter": "{", "query": " "} {
		a := save("wrong", field, value).want(t, 422)
		if a.proper(t); !strings.Contains(a.body, `aria-invalid="true"`) {
			t.Errorf("%s %q is not marked: %s", field, value, a.body)
		}
	}
	save("a b").want(t, 422, "1 to 64 letters")
	save("many", "expect", "a a").want(t, 422, "named twice")
	b.get(at).want(t, 200, "Run all", "in the first 3", "bees").proper(t)
	b.get(at+"?run=1").want(t, 200, "2 of 3 pass", "without lost").proper(t)
	b.get(at+"?edit=hostile").want(t, 200, "Change hostile", "Delete hostile").proper(t)

	b.write("notes", "hive", "Honey honey honey of bees.").want(t, 303)
	save("order", "query", "bees").want(t, 303)
	b.get(at+"?run=1").want(t, 200, "3 of 4 pass", "came: hive").proper(t)
	b.post(at, url.Values{"do": {"delete"}, "name": {"lost"}}).want(t, 303)
	b.post(at, url.Values{"do": {"delete"}, "name": {"lost"}}).want(t, 303)
	b.post(at, url.Values{"do": {"delete"}, "name": {"a b"}}).want(t, 303)
	b.get(at+"?run=1").want(t, 200, "3 of 3 pass").proper(t)
	b.get("/console/o/default/n/none/check").want(t, 404).proper(t)

	read := s.signedIn(s.issue(key.Issue{ReadOnly: true}).Secret)
	read.get(at+"?run=1").want(t, 200, "3 of 3 pass").proper(t)
	read.get("/console/o/default/n/notes/query?q=honey").want(t, 200, "Saved queries").proper(t)
	read.post(at, url.Values{"do": {""}, "name": {"mine"}, "query": {"x"}}).want(t, 403, "read-only")
}

// weight is how many bytes a page takes with all that it loads, compressed.
func (b *browser) weight(at string) int {
	b.Helper()
	was := b.header.Get("Accept-Encoding")
	defer b.header.Set("Accept-Encoding", was)
	b.header.Set("Accept-Encoding", "identity")
	script, _ := attribute(b.get(at).want(b.T, 200).elements("script")[0], "src")
	b.header.Set("Accept-Encoding", "gzip")
	a := b.get(at).want(b.T, 200)
	if a.Header.Get("Content-Encoding") != "gzip" {
		b.Fatalf("%s is not compressed: %v", at, a.Header)
	}
	to, err := a.Request.URL.Parse(script)
	if err != nil {
		b.Fatal(err)
	}
	weight := len(a.body)
	for _, name := range []string{"console.css", "console.js", "refresh.js", "shortcuts.js", "mark.svg"} {
		weight += len(b.get(strings.TrimSuffix(to.Path, "console.js")+name).want(b.T, 200).body)
	}
	return weight
}

// heaviest is how many bytes a page may take with all that it loads.
const heaviest = 60 << 10

// Pages weigh little.
func TestPagesWeighLittle(t *testing.T) {
	s := serve(t, nil, whole)
	if weight := s.signedIn(s.key.Secret).weight("/console/o/default"); weight > heaviest {
		t.Errorf("a page weighs %d bytes", weight)
	}
}
