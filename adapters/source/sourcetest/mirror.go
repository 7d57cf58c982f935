package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/port"
)

// mirror keeps what a source holds as a run of it does: by keys and versions, fetching
// what is new, removing only what is proven to be gone.
type mirror struct {
	u     Upstream
	items map[string]kept
}

type kept struct {
	item    port.SourceItem // with the version under which it is kept
	content string
	failed  error // why it was not read
}

func newMirror(u Upstream) *mirror { return &mirror{u: u, items: map[string]kept{}} }

// connection is the upstream's, with what a run knows.
func (m *mirror) connection() port.Connection {
	c := m.u.Connection
	c.Known = func(_ context.Context, key string) (string, bool, error) {
		k, ok := m.items[key]
		return k.item.Version, ok, nil
	}
	return c
}

// call is one call of a listing.
type call struct {
	item  *port.SourceItem
	state []byte // of a checkpoint
}

// listing is what one List said. It fails the test where a call breaks the port's rules.
type listing struct {
	t        *testing.T
	secrets  map[string]string
	inside   bool // a call is going on
	finished bool
	calls    []call
	items    map[string]port.SourceItem
	gone     []string
	problems []port.SourceProblem
	complete bool
	snapshot bool
	// before is called before each call is taken; its error is the call's.
	before func(what string, n int) error
	n      int
	err    error // that a call gave, so that no further one may come
	lean   bool  // keeps no items
}

func newListing(t *testing.T, u Upstream) *listing {
	return &listing{t: t, secrets: u.Connection.Secrets, items: map[string]port.SourceItem{}}
}

// enter takes a call, or refuses it.
func (l *listing) enter(what string) error {
	switch {
	case l.inside:
		l.t.Errorf("%s was called inside another call", what)
	case l.finished:
		l.t.Errorf("%s was called after List had returned", what)
	case l.complete:
		l.t.Errorf("%s was called after Complete", what)
	case l.err != nil:
		l.t.Errorf("%s was called after a call had failed", what)
	}
	l.inside = true
	defer func() { l.inside = false }()
	l.n++
	if l.before != nil {
		l.err = l.before(what, l.n)
	}
	return l.err
}

func (l *listing) Item(_ context.Context, item port.SourceItem) error {
	if err := l.enter("Item"); err != nil {
		return err
	}
	l.plain(item.Key, item.Version, item.Name, item.URL)
	if len(item.Key) == 0 || len(item.Key) > 2048 || !utf8.ValidString(item.Key) {
		l.t.Errorf("key of %d bytes: %.100q", len(item.Key), item.Key)
	}
	if len(item.Version) > 256 || len(item.Name) > 1024 || item.Name == "" || !utf8.ValidString(item.Name) {
		l.t.Errorf("item %.100q: version of %d bytes, name of %d", item.Key, len(item.Version), len(item.Name))
	}
	if item.Size < -1 {
		l.t.Errorf("item %.100q: size %d", item.Key, item.Size)
	}
	if l.lean {
		return nil
	}
	l.items[item.Key] = item
	l.calls = append(l.calls, call{item: &item})
	return nil
}

func (l *listing) Gone(_ context.Context, key string) error {
	if err := l.enter("Gone"); err != nil {
		return err
	}
	l.gone = append(l.gone, key)
	return nil
}

func (l *listing) Checkpoint(_ context.Context, state []byte) error {
	if err := l.enter("Checkpoint"); err != nil {
		return err
	}
	l.plain(string(state))
	if len(state) == 0 || len(state) > 64<<10 {
		l.t.Errorf("a state of %d bytes", len(state))
	}
	l.calls = append(l.calls, call{state: slices.Clone(state)})
	return nil
}

func (l *listing) Problem(_ context.Context, p port.SourceProblem) error {
	if err := l.enter("Problem"); err != nil {
		return err
	}
	l.plain(p.Path, p.Message)
	if p.Code == "" || p.Message == "" {
		l.t.Errorf("problem %+v", p)
	}
	l.problems = append(l.problems, p)
	return nil
}

func (l *listing) Complete(_ context.Context, snapshot bool) error {
	if err := l.enter("Complete"); err != nil {
		return err
	}
	l.complete, l.snapshot = true, snapshot
	return nil
}

// plain fails the test if a text holds a secret.
func (l *listing) plain(texts ...string) { plain(l.t, l.secrets, texts...) }

func plain(t *testing.T, secrets map[string]string, texts ...string) {
	t.Helper()
	for name, secret := range secrets {
		for _, text := range texts {
			if secret != "" && strings.Contains(text, secret) {
				t.Errorf("secret %s is in %q", name, text)
			}
		}
	}
}

// list is one call of List.
func (m *mirror) list(ctx context.Context, t *testing.T, state []byte, before func(what string, n int) error) (*listing, error) {
	t.Helper()
	l := newListing(t, m.u)
	l.before = before
	err := m.u.Connector.List(ctx, m.connection(), state, l)
	l.finished = true
	if err != nil {
		l.plain(err.Error())
	}
	if err == nil && l.err != nil {
		t.Errorf("a call failed with %q and List did not", l.err)
	}
	return l, err
}

// take fetches what a listing has that is new. It does not remove anything.
func (m *mirror) take(t *testing.T, l *listing) (fetched []string) {
	t.Helper()
	for _, c := range l.calls {
		if c.item == nil {
			continue
		}
		item := *c.item
		if k, ok := m.items[item.Key]; ok && item.Version != "" && k.item.Version == item.Version {
			continue
		}
		fetched = append(fetched, item.Key)
		content, text, err := m.fetch(t, item)
		var why *port.SourceError
		switch {
		case errors.As(err, &why) && why.Code == port.SourceNotFound: // the next listing knows
			continue
		case errors.As(err, &why):
			m.items[item.Key] = kept{item: item, failed: why}
			continue
		case err != nil:
			t.Fatalf("fetching %.100q: %v", item.Key, err)
		}
		if content.Version != "" {
			item.Version = content.Version
		}
		m.items[item.Key] = kept{item: item, content: text}
	}
	return fetched
}

// fetch reads an item.
func (m *mirror) fetch(t *testing.T, item port.SourceItem) (port.SourceContent, string, error) {
	t.Helper()
	content := item.Content
	if content == nil {
		c, err := m.u.Connector.Fetch(t.Context(), m.connection(), item)
		if err != nil {
			plain(t, m.u.Connection.Secrets, err.Error())
			return c, "", err
		}
		content = &c
	}
	body := content.File.Content
	if content.Body != nil {
		if len(body) > 0 {
			t.Errorf("item %.100q has two contents", item.Key)
		}
		var err error
		if body, err = io.ReadAll(content.Body); err != nil {
			return *content, "", err
		}
		if err := content.Body.Close(); err != nil {
			t.Errorf("closing %.100q: %v", item.Key, err)
		}
	}
	if len(content.Version) > 256 {
		t.Errorf("item %.100q: version of %d bytes", item.Key, len(content.Version))
	}
	return *content, string(body), nil
}

// remove removes what a listing, or several that went on from each other, has proven to
// be gone.
func (m *mirror) remove(last *listing, all ...*listing) {
	for _, l := range append(all, last) {
		for _, key := range l.gone {
			delete(m.items, key)
		}
	}
	if !last.complete || !last.snapshot {
		return
	}
	for _, l := range append(all, last) {
		if len(l.problems) > 0 {
			return
		}
	}
	for key := range m.items {
		named := func(l *listing) bool { _, ok := l.items[key]; return ok }
		if !slices.ContainsFunc(append(all, last), named) {
			delete(m.items, key)
		}
	}
}

// run is a whole run, which has to succeed; it gives the last state and what was fetched.
func (m *mirror) run(t *testing.T, state []byte) (last []byte, fetched []string, l *listing) {
	t.Helper()
	l, err := m.list(t.Context(), t, state, nil)
	if err != nil || !l.complete {
		t.Fatalf("listing: %v (complete: %v, problems: %v)", errorText(err), l.complete, l.problems)
	}
	if len(l.problems) > 0 {
		t.Errorf("problems: %v", l.problems)
	}
	fetched = m.take(t, l)
	m.remove(l)
	for _, c := range l.calls {
		if c.state != nil {
			last = c.state
		}
	}
	return last, fetched, l
}

// errorText is an error with its causes.
func errorText(err error) string {
	var why *port.SourceError
	if errors.As(err, &why) {
		return fmt.Sprintf("%v (%v)", err, why.Err)
	}
	return fmt.Sprint(err)
}

// inStep checks that the mirror holds what the upstream does.
func (m *mirror) inStep(t *testing.T, want map[string]string) {
	t.Helper()
	rest := map[string]kept{}
	for key, k := range m.items {
		rest[key] = k
	}
	for name, content := range want {
		key := m.u.key(name)
		k, ok := rest[key]
		delete(rest, key)
		switch {
		case !ok:
			t.Errorf("%.100q is not kept", key)
		case k.failed != nil:
			t.Errorf("%.100q is not read: %s", key, errorText(k.failed))
		case !m.u.holds(k.content, content):
			t.Errorf("%.100q is kept as %.200q, and is %.200q", key, k.content, content)
		}
	}
	for key, k := range rest {
		t.Errorf("%.100q is kept, and is not there (%v)", key, k.failed)
	}
}
