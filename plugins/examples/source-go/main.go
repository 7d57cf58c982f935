// A connector in Go: it follows an app for notes over the app's HTTP interface, page by
// page at first and by its list of changes from then on, and renews the app's tokens. Put
// your app in its place.
//
// The app answers, to a bearer token:
//
//	GET /notes?after=ID    {"notes": [{"id", "title", "url", "seq", "modified", "text"?}], "more": bool, "seq": N}
//	GET /changes?since=N   the same with "deleted" in what is gone; 410: too old to be told
//	GET /note?id=ID        the text
//	POST /token            {"refresh_token"} gives {"token", "refresh_token"}, each once
//	POST /revoke           {"refresh_token"}
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/sdk/source"
)

// connector implements port.Connector.
type connector struct {
	client *http.Client

	mu       sync.Mutex
	replaced map[string]tokens // by the refresh token that the app takes no longer
}

type tokens struct {
	Token   string `json:"token"`
	Refresh string `json:"refresh_token"`
}

// Kind describes the kind: what a source is configured with, and what it can do.
func (*connector) Kind() port.SourceKind {
	return port.SourceKind{
		Name:    "notes",
		Title:   "Notes",
		Summary: "The notes of an account.",
		Config: json.RawMessage(`{
			"type": "object", "required": ["url"], "additionalProperties": false,
			"properties": {
				"url": {"type": "string", "maxLength": 2000, "description": "Address of the app, as in https://notes.example."}
			}
		}`),
		Secrets: json.RawMessage(`{
			"type": "object", "required": ["token"], "additionalProperties": false,
			"properties": {
				"token": {"type": "string", "description": "Access token."},
				"refresh_token": {"type": "string", "description": "What a new access token is got with when that has expired."}
			}
		}`),
		Incremental: true,
		Revokes:     true,
	}
}

// account is what one call works with; calls are made side by side, each with its own.
type account struct {
	*connector
	conn   port.Connection
	url    string
	tokens tokens
}

func (c *connector) open(conn port.Connection) (*account, error) {
	a := &account{connector: c, conn: conn}
	var config struct{ URL string }
	if err := json.Unmarshal(conn.Config, &config); err != nil {
		return nil, port.SourceErrorf(port.SourceConfig, err, "the configuration is no JSON object")
	}
	if config.URL == "" { // a grant of an end user comes without settings: the operator says which app
		config.URL = os.Getenv("NOTES_URL")
	}
	if u, err := url.Parse(config.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, port.SourceErrorf(port.SourceConfig, nil, "config.url is not the address of an app")
	}
	a.url = config.URL
	a.tokens = tokens{conn.Secrets["token"], conn.Secrets["refresh_token"]}
	c.mu.Lock()
	defer c.mu.Unlock()
	if newer, ok := c.replaced[a.tokens.Refresh]; ok && a.tokens.Refresh != "" {
		a.tokens = newer
	}
	return a, nil
}

// do makes one request. The caller closes the body.
func (a *account) do(ctx context.Context, method, path string, query url.Values, body any) (*http.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, a.url+path+"?"+query.Encode(), bytes.NewReader(raw))
	if err != nil {
		return nil, port.SourceErrorf(port.SourceConfig, err, "config.url is not the address of an app")
	}
	r.Header.Set("Authorization", "Bearer "+a.tokens.Token)
	answer, err := a.client.Do(r)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // its text has the address, with the query: it is for the log
		return nil, port.SourceErrorf(port.SourceUnavailable, err, "the app can't be reached")
	case answer.StatusCode == http.StatusOK:
		return answer, nil
	}
	answer.Body.Close()
	wait, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // absent, or a date: no word of it
	code, known := map[int]port.SourceCode{
		http.StatusUnauthorized:    port.SourceCredentials,
		http.StatusForbidden:       port.SourceForbidden,
		http.StatusNotFound:        port.SourceNotFound,
		http.StatusGone:            port.SourceNotFound,
		http.StatusTooManyRequests: port.SourceRateLimited,
	}[answer.StatusCode]
	if !known {
		code = port.SourceUnavailable
	}
	e := port.SourceErrorf(code, nil, "the app answered %s", answer.Status)
	e.RetryAfter = time.Duration(wait) * time.Second
	return nil, e
}

// get reads from the app, with new tokens where it takes the old ones no longer.
func (a *account) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	answer, err := a.do(ctx, http.MethodGet, path, query, nil)
	var why *port.SourceError
	if errors.As(err, &why) && why.Code == port.SourceCredentials && a.tokens.Refresh != "" {
		if err := a.renew(ctx); err != nil {
			return nil, err
		}
		return a.do(ctx, http.MethodGet, path, query, nil)
	}
	return answer, err
}

// renew gets new tokens. Several calls may find at once that the old ones have expired, and
// the app takes each refresh token once.
func (a *account) renew(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	old := a.tokens.Refresh
	if newer, ok := a.replaced[old]; ok {
		a.tokens = newer
		return nil
	}
	// Between the app's answer and the host's word that it is kept, the new tokens must not
	// get lost: the end of this call does not end that.
	ctx = context.WithoutCancel(ctx)
	answer, err := a.do(ctx, http.MethodPost, "/token", nil, map[string]string{"refresh_token": old})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var newer tokens
	if err := json.NewDecoder(answer.Body).Decode(&newer); err != nil {
		return port.SourceErrorf(port.SourceUnavailable, err, "the app gave an answer that is no JSON")
	}
	if len(a.replaced) > 1000 { // the host has them, too
		clear(a.replaced)
	}
	a.replaced[old] = newer
	a.tokens = newer
	return a.conn.Renew(ctx, map[string]string{"token": newer.Token, "refresh_token": newer.Refresh})
}

// note is one that the app lists.
type note struct {
	ID, Title, URL string
	Seq            int64
	Modified       time.Time
	Text           *string
	Deleted        bool
}

// list reads a list of notes.
func (a *account) list(ctx context.Context, path string, query url.Values) (notes []note, more bool, seq int64, err error) {
	answer, err := a.get(ctx, path, query)
	if err != nil {
		return nil, false, 0, err
	}
	defer answer.Body.Close()
	var page struct {
		Notes []note
		More  bool
		Seq   int64
	}
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		return nil, false, 0, port.SourceErrorf(port.SourceUnavailable, err, "the app gave a list that is no JSON")
	}
	return page.Notes, page.More, page.Seq, nil
}

// Check looks whether notes can be listed.
func (c *connector) Check(ctx context.Context, conn port.Connection) ([]port.SourceFieldProblem, error) {
	a, err := c.open(conn)
	if err != nil {
		return []port.SourceFieldProblem{{Field: "config.url", Message: "is not the address of an app"}}, nil
	}
	_, _, _, err = a.list(ctx, "/notes", nil)
	return nil, err
}

// state is where a listing goes on: behind a note, or with what has changed since.
type state struct {
	URL   string `json:"url"`   // of another app it means nothing
	Since int64  `json:"since"` // changes from here on are not listed yet
	After string `json:"after,omitempty"`
}

// List lists all notes, or what has changed.
func (c *connector) List(ctx context.Context, conn port.Connection, from []byte, l port.SourceListing) error {
	a, err := c.open(conn)
	if err != nil {
		return err
	}
	var s state
	if json.Unmarshal(from, &s) != nil || s.URL != a.url {
		s = state{URL: a.url, Since: -1}
	}
	if s.Since >= 0 && s.After == "" {
		err := a.changes(ctx, s, l)
		var gone *port.SourceError
		if !errors.As(err, &gone) || gone.Code != port.SourceNotFound {
			return err
		}
		s.Since = -1 // too long ago
	}
	for {
		notes, more, seq, err := a.list(ctx, "/notes", url.Values{"after": {s.After}})
		if err != nil {
			return err
		}
		if s.Since < 0 {
			s.Since = seq // what changes while this lists is listed the next time
		}
		for _, n := range notes {
			if err := l.Item(ctx, n.item()); err != nil {
				return err
			}
			s.After = n.ID
		}
		if !more {
			s.After = ""
		}
		if err := checkpoint(ctx, l, s); err != nil {
			return err
		}
		if !more {
			return l.Complete(ctx, true)
		}
	}
}

// changes lists what has changed. Nothing is listed before an error that it is too long ago.
func (a *account) changes(ctx context.Context, s state, l port.SourceListing) error {
	for {
		notes, more, seq, err := a.list(ctx, "/changes", url.Values{"since": {strconv.FormatInt(s.Since, 10)}})
		if err != nil {
			return err
		}
		for _, n := range notes {
			if n.Deleted {
				err = l.Gone(ctx, n.ID)
			} else {
				err = l.Item(ctx, n.item())
			}
			if err != nil {
				return err
			}
		}
		s.Since = seq
		if err := checkpoint(ctx, l, s); err != nil {
			return err
		}
		if !more {
			return l.Complete(ctx, false)
		}
	}
}

func checkpoint(ctx context.Context, l port.SourceListing, s state) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return l.Checkpoint(ctx, raw)
}

func (n note) item() port.SourceItem {
	i := port.SourceItem{
		Key:      n.ID,
		Version:  strconv.FormatInt(n.Seq, 10),
		Name:     cmp.Or(n.Title, n.ID),
		URL:      n.URL,
		Size:     -1,
		Modified: n.Modified,
	}
	if n.Text != nil { // short ones come with the list
		i.Size = int64(len(*n.Text))
		i.Content = &port.SourceContent{File: n.file([]byte(*n.Text))}
	}
	return i
}

func (n note) file(text []byte) port.File {
	return port.File{Name: cmp.Or(n.Title, n.ID), MediaType: "text/plain", Charset: "utf-8", Content: text}
}

// Fetch reads a note.
func (c *connector) Fetch(ctx context.Context, conn port.Connection, item port.SourceItem) (port.SourceContent, error) {
	a, err := c.open(conn)
	if err != nil {
		return port.SourceContent{}, err
	}
	answer, err := a.get(ctx, "/note", url.Values{"id": {item.Key}}) //nolint:bodyclose // its reader closes it
	if err != nil {
		return port.SourceContent{}, err
	}
	out := port.SourceContent{File: note{ID: item.Key, Title: item.Name}.file(nil), Version: answer.Header.Get("X-Seq")}
	out.Body = body{answer.Body}
	return out, nil
}

// body gives the port's errors.
type body struct{ io.ReadCloser }

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = port.SourceErrorf(port.SourceUnavailable, err, "the app broke off")
	}
	return n, err
}

// Revoke gives the refresh token back.
func (c *connector) Revoke(ctx context.Context, conn port.Connection) error {
	a, err := c.open(conn)
	if err != nil {
		return err
	}
	answer, err := a.do(ctx, http.MethodPost, "/revoke", nil, map[string]string{"refresh_token": a.tokens.Refresh})
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func newConnector() *connector {
	return &connector{client: &http.Client{Timeout: time.Minute}, replaced: map[string]tokens{}}
}

func main() { source.Serve("notes", "1.0", newConnector()) }

var _ port.Connector = (*connector)(nil)
