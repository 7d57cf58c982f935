package process_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// app is the app that both example connectors follow.
type app struct {
	*httptest.Server

	mu        sync.Mutex
	seq       int64
	notes     map[string]*note
	ids       []string         // of notes, sorted
	deleted   map[string]int64 // when they went
	before    func(w http.ResponseWriter, r *http.Request) (answered bool)
	token     string
	refresh   string
	renewed   int
	revoked   []string
	forgotten int64 // changes up to here are not told any more
}

type note struct {
	text string
	seq  int64
}

const (
	firstToken   = "token-that-nobody-may-see-0"
	firstRefresh = "refresh-that-nobody-may-see-0"
	pageNotes    = 100
	longText     = 4096 // a text from here on does not come with the list
)

func newApp(t testing.TB) *app {
	t.Helper()
	a := &app{notes: map[string]*note{}, deleted: map[string]int64{}, token: firstToken, refresh: firstRefresh}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	a.Config.ErrorLog = log.New(bytes.NewBuffer(nil), "", 0)
	t.Cleanup(a.Close)
	return a
}

// answer puts a handler before the app's own; nil: none.
func (a *app) answer(before func(w http.ResponseWriter, r *http.Request) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.before = before
}

// set makes the app hold these notes.
func (a *app) set(items map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.notes {
		if _, ok := items[id]; !ok {
			a.seq++
			delete(a.notes, id)
			a.deleted[id] = a.seq
		}
	}
	for id, text := range items {
		if n, ok := a.notes[id]; !ok || n.text != text {
			a.seq++
			a.notes[id] = &note{text, a.seq}
			delete(a.deleted, id)
		}
	}
	a.ids = slices.Sorted(maps.Keys(a.notes))
}

// expire makes the app take the token no longer.
func (a *app) expire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = "another-one"
}

type listed struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	URL      string    `json:"url"`
	Seq      int64     `json:"seq"`
	Modified time.Time `json:"modified"`
	Text     *string   `json:"text,omitempty"`
	Deleted  bool      `json:"deleted,omitempty"`
}

func (a *app) listed(id string, n *note) listed {
	out := listed{ID: id, Title: id, URL: "https://notes.example/" + strconv.FormatInt(n.seq, 10), Seq: n.seq,
		Modified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if n.seq%2 == 0 && len(n.text) < longText {
		out.Text = &n.text
	}
	return out
}

func (a *app) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	before := a.before
	a.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var in struct {
		Refresh string `json:"refresh_token"`
	}
	if r.Method == http.MethodPost {
		_ = json.NewDecoder(r.Body).Decode(&in)
	}
	switch r.URL.Path {
	case "/token":
		if in.Refresh != a.refresh {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		a.renewed++
		a.token = fmt.Sprintf("token-that-nobody-may-see-%d", a.renewed)
		a.refresh = fmt.Sprintf("refresh-that-nobody-may-see-%d", a.renewed)
		_ = json.NewEncoder(w).Encode(map[string]string{"token": a.token, "refresh_token": a.refresh})
		return
	case "/revoke":
		a.revoked = append(a.revoked, in.Refresh)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+a.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	query := r.URL.Query()
	page := []listed{}
	switch r.URL.Path {
	case "/note":
		n, ok := a.notes[query.Get("id")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("X-Seq", strconv.FormatInt(n.seq, 10))
		_, _ = io.WriteString(w, n.text)
		return
	case "/notes":
		at, found := slices.BinarySearch(a.ids, query.Get("after"))
		if found {
			at++
		}
		for _, id := range a.ids[at:min(at+pageNotes+1, len(a.ids))] {
			page = append(page, a.listed(id, a.notes[id]))
		}
	case "/changes":
		since, err := strconv.ParseInt(query.Get("since"), 10, 64)
		if err != nil || since > a.seq || since < a.forgotten {
			w.WriteHeader(http.StatusGone)
			return
		}
		for id, n := range a.notes {
			if n.seq > since {
				page = append(page, a.listed(id, n))
			}
		}
		for id, seq := range a.deleted {
			if seq > since {
				page = append(page, listed{ID: id, Seq: seq, Deleted: true})
			}
		}
		slices.SortFunc(page, func(a, b listed) int { return int(a.Seq - b.Seq) })
	}
	seq, more := a.seq, len(page) > pageNotes
	if more {
		if page = page[:pageNotes]; r.URL.Path == "/changes" {
			seq = page[pageNotes-1].Seq
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"notes": page, "more": more, "seq": seq})
}

// connection is one to an app.
func connection(url string, secrets map[string]string) port.Connection {
	at, _ := json.Marshal(url) // a string always has a JSON form
	return port.Connection{Source: "src_1", Config: json.RawMessage(`{"url": ` + string(at) + `}`), Secrets: secrets}
}

// build builds a program of this module.
func build(t testing.TB, folder string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(folder))
	if b, err := exec.Command("go", "build", "-o", out, filepath.Join("..", "..", "..", folder)).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", folder, err, b)
	}
	return out
}

// missing skips a test whose tools are not there, or fails it where they have to be.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("MNEME_TEST_REQUIRE") == "1" {
		t.Fatalf("MISSING: %s", what)
	}
	t.Skipf("SKIPPED, MISSING: %s", what)
}
