package sourcetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// Upstream is a source that a test can change, with a connector that follows it. What
// is left nil is not tried.
type Upstream struct {
	Connector  port.Connector
	Connection port.Connection // that works

	// Set makes the source hold these items and nothing else, by names. What is as it
	// was is not touched.
	Set func(t *testing.T, items map[string]string)
	// Rename gives an item another name; nil: Set does.
	Rename func(t *testing.T, from, to string)
	// Key is the key of the item of a name; nil: the name.
	Key func(name string) string
	// Holds says whether an item's content is what Set was given; nil: they are equal.
	Holds func(content, set string) bool
	// Name is the n-th name of an item; nil: like "folder/file-1.txt".
	Name func(n int) string
	// Hostile are names that this upstream can hold and that a careless connector trips
	// over, besides those of HostileNames.
	Hostile []string

	// Keeps: what the source no longer names is not gone, as of a feed.
	Keeps bool
	// Pinned: Fetch gives an item as it was listed, even when it is gone since.
	Pinned bool
	// Many is how many items span several pages and checkpoints; 0: 250.
	Many int
	// NoCheckpoints: not even many items have a state from where to go on among them.
	NoCheckpoints bool
	// MaxItem is the bytes that the connector reads of an item; 0: not tried.
	MaxItem int

	// Break makes the upstream fail each call until mended.
	Break func(t *testing.T) (mend func())
	// BreakMidway makes it fail from the middle of a listing on that has begun.
	BreakMidway func(t *testing.T) (mend func())
	// Hang makes it not answer until released.
	Hang func(t *testing.T) (release func())
	// Vanish takes the source itself away: the folder, the repository.
	Vanish func(t *testing.T)
	// Crowd makes it hold n small items, cheaply; Crowded is how many, which are far more than
	// a page; 0: 4000.
	Crowd   func(t *testing.T, n int)
	Crowded int

	Wrong []Wrong
}

// Wrong is a connection that can't work.
type Wrong struct {
	Name       string
	Connection port.Connection
	Field      string          // that Check names; empty: Check fails with Code
	Code       port.SourceCode // of List's error
}

// HostileNames are names of files that any tree can hold.
var HostileNames = []string{
	"plain.txt", "with space.txt", "a/deeper/one.txt", "ünïcode/日本語.txt", "e\u0301.txt", "\u00e9.txt", "per%2Fcent.txt",
	"question?mark#hash.txt", "plus+and&.txt", "'quote\".txt", "<b>.txt", "$(touch x);`id`.txt", "-rf", "--help.txt", "~.txt",
	"back\\slash.txt", "con", "trailing.", "...", "new\nline.txt", "tab\t.txt", "\u202egnp.txt", "*.txt", "[a].txt", "{a,b}.txt",
	"a..b/..c.txt", strings.Repeat("long", 60) + ".txt",
	strings.TrimSuffix(strings.Repeat(strings.Repeat("d", 99)+"/", 9), "/") + "/deep.txt",
}

func (u Upstream) key(name string) string {
	if u.Key != nil {
		return u.Key(name)
	}
	return name
}

func (u Upstream) holds(content, set string) bool {
	if u.Holds != nil {
		return u.Holds(content, set)
	}
	return content == set
}

func (u Upstream) name(n int) string {
	if u.Name != nil {
		return u.Name(n)
	}
	return fmt.Sprintf("folder-%d/file-%d.txt", n%7, n)
}

// some are n items.
func (u Upstream) some(n int) map[string]string {
	items := map[string]string{}
	for i := range n {
		items[u.name(i)] = fmt.Sprintf("This is the text of item %d.", i)
	}
	return items
}

func (u Upstream) many() map[string]string {
	if u.Many > 0 {
		return u.some(u.Many)
	}
	return u.some(250)
}

// Run checks what port.Connector promises. Open makes an upstream of its own, empty.
func Run(t *testing.T, open func(t *testing.T) Upstream) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Upstream)
	}{
		{"kind", kind},
		{"check", check},
		{"wrong", wrong},
		{"empty", empty},
		{"pages", pages},
		{"change", change},
		{"rename", rename},
		{"shrink", shrink},
		{"checkpoint", checkpoint},
		{"old state", oldState},
		{"incremental", incremental},
		{"refused call", refusedCall},
		{"cancel", cancel},
		{"hanging", hanging},
		{"broken", broken},
		{"broken midway", brokenMidway},
		{"vanished", vanished},
		{"fetch", fetch},
		{"too large", tooLarge},
		{"hostile names", hostileNames},
		{"memory", memory},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func kind(t *testing.T, u Upstream) {
	k := u.Connector.Kind()
	if !regexp.MustCompile(`^[a-z0-9_]{1,32}$`).MatchString(k.Name) || k.Title == "" || k.Summary == "" {
		t.Errorf("%+v", k)
	}
	again := u.Connector.Kind()
	if !bytes.Equal(k.Config, again.Config) || !bytes.Equal(k.Secrets, again.Secrets) || k.Name != again.Name {
		t.Error("the kind changes")
	}
	for name, schema := range map[string]json.RawMessage{"config": k.Config, "secrets": k.Secrets} {
		var s struct {
			Type       string
			Properties map[string]struct {
				Type        any
				Description string
			}
			Additional *bool `json:"additionalProperties"`
		}
		if err := json.Unmarshal(schema, &s); err != nil || s.Type != "object" {
			t.Errorf("the schema of %s: %v, type %q", name, err, s.Type)
		}
		if s.Additional == nil || *s.Additional {
			t.Errorf("the schema of %s takes misspelt properties", name)
		}
		for field, p := range s.Properties {
			if p.Description == "" || name == "secrets" && p.Type != "string" {
				t.Errorf("%s.%s: %+v", name, field, p)
			}
		}
	}
}

func check(t *testing.T, u Upstream) {
	u.Set(t, u.some(3))
	problems, err := u.Connector.Check(t.Context(), u.Connection)
	if err != nil || len(problems) > 0 {
		t.Errorf("a connection that works: %v, %v", problems, errorText(err))
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := u.Connector.Check(ctx, u.Connection); !errors.Is(err, context.Canceled) {
		t.Errorf("a check whose context has ended: %v", err)
	}
}

func wrong(t *testing.T, u Upstream) {
	u.Set(t, u.some(3))
	for _, w := range u.Wrong {
		t.Run(w.Name, func(t *testing.T) {
			problems, err := u.Connector.Check(t.Context(), w.Connection)
			named := func(p port.SourceFieldProblem) bool { return p.Field == w.Field && p.Message != "" }
			switch {
			case w.Field != "" && (err != nil || !slices.ContainsFunc(problems, named)):
				t.Errorf("Check: %v, %v; want a problem of %s", problems, errorText(err), w.Field)
			case w.Field == "":
				wantCode(t, err, w.Code)
			}
			texts := []string{fmt.Sprint(problems), fmt.Sprint(err)}
			l := newListing(t, Upstream{Connection: w.Connection})
			err = u.Connector.List(t.Context(), w.Connection, nil, l)
			wantCode(t, err, w.Code)
			if l.complete || len(l.items) > 0 {
				t.Errorf("%d items were listed, complete: %v", len(l.items), l.complete)
			}
			_, err = u.Connector.Fetch(t.Context(), w.Connection, port.SourceItem{Key: u.key(u.name(0)), Size: -1})
			wantCode(t, err, w.Code)
			plain(t, w.Connection.Secrets, append(texts, fmt.Sprint(err))...)
		})
	}
}

func wantCode(t *testing.T, err error, want ...port.SourceCode) {
	t.Helper()
	var why *port.SourceError
	if !errors.As(err, &why) || !slices.Contains(want, why.Code) || why.Message == "" {
		t.Errorf("%v, want %v", errorText(err), want)
	}
}

func empty(t *testing.T, u Upstream) {
	u.Set(t, map[string]string{})
	_, _, l := newMirror(u).run(t, nil)
	if len(l.items)+len(l.gone) > 0 || l.snapshot == u.Keeps {
		t.Errorf("%d items, %d gone, snapshot: %v", len(l.items), len(l.gone), l.snapshot)
	}
}

func pages(t *testing.T, u Upstream) {
	want := u.many()
	u.Set(t, want)
	m := newMirror(u)
	_, _, l := m.run(t, nil)
	m.inStep(t, want)
	items := 0
	for _, c := range l.calls {
		if c.item != nil {
			items++
		}
	}
	if items != len(want) || l.snapshot == u.Keeps {
		t.Errorf("%d items were listed of %d, snapshot: %v", items, len(want), l.snapshot)
	}
	// What is kept is not read again.
	_, fetched, _ := m.run(t, nil)
	if len(fetched) > 0 {
		t.Errorf("%d items were fetched without a change, as %q", len(fetched), fetched[0])
	}
	m.inStep(t, want)
}

func change(t *testing.T, u Upstream) {
	items := u.some(9)
	u.Set(t, items)
	m := newMirror(u)
	m.run(t, nil)
	// The size stays, and so may the time as far as the upstream tells it.
	for _, text := range []string{"AAAAAAAA", "BBBBBBBB", "CCCCCCCC"} {
		items[u.name(4)] = text
		u.Set(t, items)
		if _, fetched, _ := m.run(t, nil); !slices.Equal(fetched, []string{u.key(u.name(4))}) {
			t.Errorf("fetched: %q", fetched)
		}
		m.inStep(t, items)
	}
	items[u.name(100)] = "A new one."
	items[u.name(5)] = "A longer text than it has been before."
	u.Set(t, items)
	m.run(t, nil)
	m.inStep(t, items)
}

func rename(t *testing.T, u Upstream) {
	items := u.some(9)
	u.Set(t, items)
	m := newMirror(u)
	m.run(t, nil)
	was := items[u.name(2)]
	items[u.name(200)] = was
	delete(items, u.name(2))
	if u.Rename != nil {
		u.Rename(t, u.name(2), u.name(200))
	} else {
		u.Set(t, items)
	}
	m.run(t, nil)
	if u.Keeps {
		items[u.name(2)] = was
	}
	m.inStep(t, items)
}

func shrink(t *testing.T, u Upstream) {
	items := u.some(20)
	u.Set(t, items)
	m := newMirror(u)
	m.run(t, nil)
	left := maps.Clone(items)
	for i := range 18 {
		delete(left, u.name(i))
	}
	u.Set(t, left)
	m.run(t, nil)
	if u.Keeps {
		m.inStep(t, items)
		return
	}
	m.inStep(t, left)
	u.Set(t, map[string]string{})
	m.run(t, nil)
	m.inStep(t, nil)
	u.Set(t, items)
	m.run(t, nil)
	m.inStep(t, items)
}

var errRefused = errors.New("the listing is to end")

// states are the checkpoints among the items of a listing, each with how many items came before.
func states(l *listing) (states [][]byte, before []int) {
	n := 0
	for i, c := range l.calls {
		if c.item != nil {
			n++
			continue
		}
		last := true
		for _, later := range l.calls[i:] {
			last = last && later.item == nil
		}
		if !last {
			states, before = append(states, c.state), append(before, n)
		}
	}
	return states, before
}

// checkpoint: a listing that breaks off behind a checkpoint goes on from there, and both
// together have listed everything.
func checkpoint(t *testing.T, u Upstream) {
	want := u.many()
	u.Set(t, want)
	whole, err := newMirror(u).list(t.Context(), t, nil, nil)
	if err != nil {
		t.Fatal(errorText(err))
	}
	all, before := states(whole)
	if len(all) == 0 {
		if !u.NoCheckpoints {
			t.Errorf("no checkpoint among %d items", len(want))
		}
		return
	}
	for i := range all {
		if i > 1 && i < len(all)-1 {
			continue // the first ones and the last one stand for those between
		}
		m := newMirror(u)
		items := 0
		first, err := m.list(t.Context(), t, nil, func(what string, _ int) error {
			if what == "Item" {
				if items++; items > before[i] {
					return errRefused
				}
			}
			return nil
		})
		if !errors.Is(err, errRefused) {
			t.Fatalf("List did not give the error of Item: %v", err)
		}
		m.take(t, first)
		second, err := m.list(t.Context(), t, all[i], nil)
		if err != nil || !second.complete || second.snapshot == u.Keeps || len(second.problems) > 0 {
			t.Fatalf("going on: %v, complete: %v, snapshot: %v, %v", errorText(err), second.complete, second.snapshot,
				second.problems)
		}
		if len(second.items) >= len(want) {
			t.Errorf("it did not go on from %d of %d items, but began again", before[i], len(want))
		}
		m.take(t, second)
		m.remove(second, first)
		m.inStep(t, want)
	}
}

// oldState: from whatever state, a listing ends, and a whole one is true again after it.
func oldState(t *testing.T, u Upstream) {
	items := u.many()
	u.Set(t, items)
	m := newMirror(u)
	last, _, l := m.run(t, nil)
	old, _ := states(l)
	if last != nil {
		old = append(old, last)
	}
	for i := range 9 {
		delete(items, u.name(i*11))
		items[u.name(10_000+i)] = "One that came in between."
	}
	items[u.name(12)] = "Changed in between."
	u.Set(t, items)
	old = append(old, []byte("{}"), []byte("null"), []byte("from an other version"), []byte{0xff}, []byte(`{"after":"x"}`))
	for _, state := range old {
		again, err := m.list(t.Context(), t, state, nil)
		if err != nil || !again.complete {
			t.Errorf("from %.200q: %v, complete: %v", state, errorText(err), again.complete)
		}
		m.take(t, again)
	}
	m.run(t, nil)
	if u.Keeps {
		for i := range 9 {
			items[u.name(i*11)] = m.items[u.key(u.name(i*11))].content
		}
	}
	m.inStep(t, items)
}

// incremental: a listing from the last state is as good as a whole one.
func incremental(t *testing.T, u Upstream) {
	if !u.Connector.Kind().Incremental {
		t.Skip("the kind lists everything each time")
	}
	items := u.some(30)
	u.Set(t, items)
	m := newMirror(u)
	state, _, _ := m.run(t, nil)
	if state == nil {
		t.Fatal("there is no state to go on from")
	}
	next := func() (fetched []string) {
		t.Helper()
		var later []byte
		if later, fetched, _ = m.run(t, state); later != nil {
			state = later
		}
		m.inStep(t, items)
		return fetched
	}
	if fetched := next(); len(fetched) > 0 {
		t.Errorf("fetched without a change: %q", fetched)
	}
	gone := items[u.name(3)]
	delete(items, u.name(3))
	items[u.name(5)] = "Changed."
	items[u.name(300)] = "New."
	u.Set(t, items)
	if u.Keeps {
		items[u.name(3)] = gone
	}
	if fetched := next(); len(fetched) != 2 {
		t.Errorf("fetched: %q", fetched)
	}
	if fetched := next(); len(fetched) > 0 {
		t.Errorf("fetched without a change: %q", fetched)
	}
}

// refusedCall: a call's error ends the listing and is its error, whichever call it is of.
func refusedCall(t *testing.T, u Upstream) {
	u.Set(t, u.many())
	whole, err := newMirror(u).list(t.Context(), t, nil, nil)
	if err != nil {
		t.Fatal(errorText(err))
	}
	for _, at := range []int{1, 2, whole.n / 2, whole.n - 1, whole.n} {
		l, err := newMirror(u).list(t.Context(), t, nil, func(_ string, n int) error {
			if n == at {
				return errRefused
			}
			return nil
		})
		if !errors.Is(err, errRefused) || l.complete {
			t.Errorf("call %d of %d: %v, complete: %v", at, whole.n, err, l.complete)
		}
	}
}

// cancel: a listing whose context ends is not completed.
func cancel(t *testing.T, u Upstream) {
	u.Set(t, u.some(30))
	for _, at := range []int{0, 1, 15} {
		ctx, end := context.WithCancel(t.Context())
		if at == 0 {
			end()
		}
		l, err := newMirror(u).list(ctx, t, nil, func(_ string, n int) error {
			if n == at {
				end()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || l.complete {
			t.Errorf("cancelled at call %d: %v, complete: %v", at, errorText(err), l.complete)
		}
		end()
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := u.Connector.Fetch(ctx, u.Connection, port.SourceItem{Key: u.key(u.name(1)), Size: -1}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("fetching with a context that has ended: %v", err)
	}
}

// hanging: calls end with their context, though the upstream does not answer.
func hanging(t *testing.T, u Upstream) {
	if u.Hang == nil {
		t.Skip("this upstream can't hang")
	}
	u.Set(t, u.some(3))
	release := u.Hang(t)
	defer release()
	for name, do := range map[string]func(context.Context) error{
		"List": func(ctx context.Context) error {
			_, err := newMirror(u).list(ctx, t, nil, nil)
			return err
		},
		"Check": func(ctx context.Context) error {
			_, err := u.Connector.Check(ctx, u.Connection)
			return err
		},
		"Fetch": func(ctx context.Context) error {
			_, err := u.Connector.Fetch(ctx, u.Connection, port.SourceItem{Key: u.key(u.name(1)), Size: -1})
			return err
		},
	} {
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- do(ctx) }()
		runtime.Gosched()
		end()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, errorText(err))
		}
	}
}

// broken: an upstream that fails is no empty one.
func broken(t *testing.T, u Upstream) {
	if u.Break == nil {
		t.Skip("this upstream can't fail")
	}
	items := u.some(5)
	u.Set(t, items)
	m := newMirror(u)
	m.run(t, nil)
	mend := u.Break(t)
	l, err := m.list(t.Context(), t, nil, nil)
	if err == nil && len(l.problems) == 0 {
		t.Error("a listing that failed says nothing of it")
	}
	if err != nil {
		wantCode(t, err, port.SourceUnavailable, port.SourceRateLimited, port.SourceForbidden, port.SourceCredentials)
	}
	m.remove(l)
	m.inStep(t, items)
	mend()
	m.run(t, nil)
	m.inStep(t, items)
}

func brokenMidway(t *testing.T, u Upstream) {
	if u.BreakMidway == nil {
		t.Skip("once begun, a listing of this upstream can't fail")
	}
	items := u.many()
	u.Set(t, items)
	m := newMirror(u)
	m.run(t, nil)
	mend := func() {}
	l, err := m.list(t.Context(), t, nil, func(_ string, n int) error {
		if n == 1 {
			mend = u.BreakMidway(t)
		}
		return nil
	})
	if len(l.items) == 0 || len(l.items) >= len(items) {
		t.Errorf("%d items of %d were listed", len(l.items), len(items))
	}
	if err == nil && len(l.problems) == 0 {
		t.Error("a listing that failed says nothing of it")
	}
	if err != nil && l.complete {
		t.Error("a listing that failed is complete")
	}
	m.remove(l)
	m.inStep(t, items)
	mend()
	m.run(t, nil)
	m.inStep(t, items)
}

func vanished(t *testing.T, u Upstream) {
	if u.Vanish == nil {
		t.Skip("this upstream can't go away")
	}
	u.Set(t, u.some(3))
	u.Vanish(t)
	l, err := newMirror(u).list(t.Context(), t, nil, nil)
	if l.complete {
		t.Error("a source that is not there was listed as an empty one")
	}
	wantCode(t, err, port.SourceNotFound)
}

// fetch: several at once; what went is not found.
func fetch(t *testing.T, u Upstream) {
	items := u.some(24)
	u.Set(t, items)
	m := newMirror(u)
	l, err := m.list(t.Context(), t, nil, nil)
	if err != nil {
		t.Fatal(errorText(err))
	}
	var wg sync.WaitGroup
	for range 2 {
		for name, want := range items {
			wg.Go(func() {
				_, text, err := m.fetch(t, l.items[u.key(name)])
				if err != nil || !u.holds(text, want) {
					t.Errorf("%q: %q, %v", name, text, errorText(err))
				}
			})
		}
	}
	wg.Wait()
	gone := l.items[u.key(u.name(7))]
	text := items[u.name(7)]
	delete(items, u.name(7))
	u.Set(t, items)
	switch _, got, err := m.fetch(t, gone); {
	case err == nil && gone.Content == nil && !u.Pinned:
		t.Errorf("an item that went is fetched as %q", got)
	case err == nil && !u.holds(got, text):
		t.Errorf("%q is fetched of an item that was %q", got, text)
	case err != nil:
		wantCode(t, err, port.SourceNotFound)
	}
	for _, key := range []string{u.key("never/there.txt"), "../../../../../../etc/passwd", "/etc/passwd", "/%2Fetc%2Fpasswd",
		".", "..",
		"a/../../b", "//x", "/%zz", "nul\x00.txt", "https://user:word@127.0.0.1:1/"} {
		if c, err := u.Connector.Fetch(t.Context(), u.Connection, port.SourceItem{Key: key, Version: "1", Size: -1}); err == nil {
			t.Errorf("%q is fetched: %q", key, c.File.Content)
		} else {
			wantCode(t, err, port.SourceNotFound, port.SourceForbidden, port.SourceTooLarge)
		}
	}
}

func tooLarge(t *testing.T, u Upstream) {
	if u.MaxItem == 0 {
		t.Skip("without a limit")
	}
	items := u.some(3)
	items[u.name(1)] = strings.Repeat("x", u.MaxItem)
	u.Set(t, items)
	m := newMirror(u)
	m.run(t, nil)
	m.inStep(t, items)
	items[u.name(1)] = strings.Repeat("x", 40*u.MaxItem)
	u.Set(t, items)
	l, err := m.list(t.Context(), t, nil, nil)
	if err != nil {
		t.Fatal(errorText(err))
	}
	item, ok := l.items[u.key(u.name(1))]
	if !ok {
		t.Fatal("an item that is too large is not listed")
	}
	for _, size := range []int64{item.Size, -1, 10} { // whatever it was said to have
		item.Size = size
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err = m.fetch(t, item)
		runtime.ReadMemStats(&after)
		var file *port.FileError
		if !errors.As(err, &file) || file.Code != port.FileTooLarge {
			wantCode(t, err, port.SourceTooLarge)
		}
		// What is on its way when the reader stops counts, too.
		if took := int(after.TotalAlloc - before.TotalAlloc); took > 20*u.MaxItem {
			t.Errorf("refusing an item of %d bytes took %d", 40*u.MaxItem, took)
		}
	}
}

// hostileNames: each item is kept under a key of its own, whatever it is called.
func hostileNames(t *testing.T, u Upstream) {
	items := map[string]string{}
	for _, name := range append(slices.Clone(HostileNames), u.Hostile...) {
		if u.Name != nil && !slices.Contains(u.Hostile, name) {
			continue // names are of another form here
		}
		items[name] = "The text of " + fmt.Sprintf("%.50q", name)
	}
	u.Set(t, items)
	m := newMirror(u)
	m.run(t, nil)
	m.inStep(t, items)
	if _, fetched, _ := m.run(t, nil); len(fetched) > 0 {
		t.Errorf("fetched without a change: %q", fetched)
	}
}

// memory: what a listing holds does not grow with the source, beyond names.
func memory(t *testing.T, u Upstream) {
	if u.Crowd == nil || testing.Short() {
		t.Skip("long, or without a crowd")
	}
	n := cmp.Or(u.Crowded, 4_000)
	most := uint64(n) * 160 // two thirds of what the items take
	u.Crowd(t, n)
	heap := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	l := newListing(t, u)
	l.lean = true
	items, base, peak := 0, heap(), uint64(0)
	l.before = func(what string, _ int) error {
		if what == "Item" {
			if items++; items%500 == 1 {
				peak = max(peak, heap())
			}
		}
		return nil
	}
	if err := u.Connector.List(t.Context(), newMirror(u).connection(), nil, l); err != nil || !l.complete {
		t.Fatal(errorText(err))
	}
	if items != n {
		t.Errorf("%d items were listed of %d", items, n)
	}
	if peak > base && peak-base > most {
		t.Errorf("listing %d items held %d bytes", n, peak-base)
	}
	t.Logf("listing %d items held %d bytes", n, max(peak, base)-base)
}
