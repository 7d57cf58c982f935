package connector_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host/connector"
)

// safe is a log that can be read while it is written.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(b []byte) (int, error) { s.mu.Lock(); defer s.mu.Unlock(); return s.b.Write(b) }
func (s *safe) String() string              { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// start opens the program of this test; describes is what it says of itself.
func start(t testing.TB, o connector.Options, args ...string) (*connector.Program, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.MTLS = true
	command := connector.Command{Args: append([]string{self, "connector"}, args...), Unverified: true}
	p, err := connector.Open(t.Context(), command, o)
	if err == nil {
		t.Cleanup(func() { _ = p.Close() })
	}
	return p, err
}

func open(t testing.TB, o connector.Options) port.Connector {
	t.Helper()
	p, err := start(t, o, "itself")
	if err != nil {
		t.Fatal(err)
	}
	return p.Connectors()[0]
}

// logged keeps what is logged.
func logged(o connector.Options) (connector.Options, *safe) {
	log := &safe{}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	return o, log
}

// to is a source that asks for something.
func to(do string) port.Connection {
	config, _ := json.Marshal(map[string]string{"do": do}) // strings always have a JSON form
	return port.Connection{Source: "src_1", Config: config, Secrets: map[string]string{"token": secret}}
}

// shelf takes a listing.
type shelf struct {
	keys     []string
	items    []port.SourceItem
	states   []string
	problems []port.SourceProblem
	ended    bool
	snapshot bool
	at       func(key string) error
}

func (s *shelf) Item(_ context.Context, i port.SourceItem) error {
	s.keys, s.items = append(s.keys, i.Key), append(s.items, i)
	if s.at != nil {
		return s.at(i.Key)
	}
	return nil
}
func (s *shelf) Gone(context.Context, string) error { return nil }
func (s *shelf) Checkpoint(_ context.Context, state []byte) error {
	s.states = append(s.states, string(state))
	return nil
}
func (s *shelf) Problem(_ context.Context, p port.SourceProblem) error {
	s.problems = append(s.problems, p)
	return nil
}
func (s *shelf) Complete(_ context.Context, snapshot bool) error {
	s.ended, s.snapshot = true, snapshot
	return nil
}

// why is the code of an error, whose message is checked to hold no secret.
func why(t testing.TB, err error) port.SourceCode {
	t.Helper()
	var e *port.SourceError
	if !errors.As(err, &e) {
		t.Errorf("%v is no error of a source", err)
		return ""
	}
	if e.Message == "" || strings.Contains(e.Message, secret) {
		t.Errorf("the message is %q", e.Message)
	}
	return e.Code
}

// within waits until something holds.
func within(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("in two minutes not: " + what)
		}
	}
}

// TestListings: what a program lists against the rules ends its own listing, with nothing
// proven, and the program serves on.
func TestListings(t *testing.T) {
	o, log := logged(connector.Options{Name: "mine"})
	c := open(t, o)
	for do, want := range map[string]struct {
		code  port.SourceCode // empty: no error
		items int
		ended bool // Complete came, which an error takes back
	}{
		"list":            {items: 2, ended: true},
		"empty":           {ended: true},
		"from the future": {items: 1, ended: true},
		"problems":        {ended: true},
		"break off":       {items: 1},
		"go on":           {code: port.SourceUnavailable, items: 1, ended: true},
		"twice":           {code: port.SourceUnavailable, items: 1, ended: true},
		"fail late":       {code: port.SourceUnavailable, items: 1, ended: true},
		"secret name":     {code: port.SourceUnavailable},
		"secret key":      {code: port.SourceUnavailable},
		"secret state":    {code: port.SourceUnavailable, items: 1},
		"no state":        {code: port.SourceUnavailable},
		"long state":      {code: port.SourceUnavailable},
		"large":           {code: port.SourceUnavailable},
		"huge":            {code: port.SourceUnavailable},
		"odd metadata":    {code: port.SourceUnavailable},
	} {
		l := &shelf{}
		err := c.List(t.Context(), to(do), nil, l)
		switch {
		case want.code == "" && err != nil:
			t.Errorf("%s: %v", do, err)
		case want.code != "" && why(t, err) != want.code:
			t.Errorf("%s: %v, want %s", do, err, want.code)
		}
		if len(l.items) != want.items || l.ended != want.ended {
			t.Errorf("%s: %d items, complete %v", do, len(l.items), l.ended)
		}
		for _, s := range l.states {
			if strings.Contains(s, secret) {
				t.Errorf("%s: the state %s is kept", do, s)
			}
		}
		if do == "problems" {
			want := []port.SourceProblem{{Path: "a/[secret]", Code: port.SourceForbidden, Message: "not with [secret]"},
				{Code: port.SourceUnavailable, Message: "its connector does not say why"}}
			if !slices.Equal(l.problems, want) {
				t.Errorf("problems %+v", l.problems)
			}
		}
	}
	within(t, "the program's line in the log", func() bool { return strings.Contains(log.String(), "asked with [secret]") })
	if text := log.String(); strings.Contains(text, secret) || strings.Count(text, "backend started") != 1 ||
		!strings.Contains(text, `msg="connector protocol violation"`) {
		t.Errorf("the log is %s", text)
	}
}

// TestOwnError: the error of the one that takes a listing is its own again.
func TestOwnError(t *testing.T) {
	c := open(t, connector.Options{})
	full := errors.New("full")
	l := &shelf{at: func(key string) error {
		if key == "b" {
			return full
		}
		return nil
	}}
	if err := c.List(t.Context(), to("list"), nil, l); !errors.Is(err, full) || l.ended {
		t.Errorf("%v, complete %v", err, l.ended)
	}
}

// TestFlood: a program gets no further ahead of the one that takes its listing than a window, and
// no item is larger than it may be.
func TestFlood(t *testing.T) {
	const most = 1 << 20
	c := open(t, connector.Options{MaxItem: most})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	sent := func() int {
		t.Helper()
		found, err := c.Check(t.Context(), to("sent"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		n, _ := strconv.Atoi(found[0].Message)
		return n
	}
	l := &shelf{at: func(string) error {
		// It stands still once the window is full: two looks find the same number.
		last := -1
		within(t, "the program waits", func() bool {
			was := last
			last = sent()
			return was == last
		})
		if size := last * 16; size > 4<<20 {
			t.Errorf("%d items of some 16 bytes are on their way", last)
		}
		leave()
		return nil
	}}
	if err := c.List(ctx, to("flood"), nil, l); !errors.Is(err, context.Canceled) || len(l.items) != 1 {
		t.Errorf("%v after %d items", err, len(l.items))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.Fetch(t.Context(), to("flood"), port.SourceItem{Key: "a", Size: -1})
	runtime.ReadMemStats(&after)
	if code := why(t, err); code != port.SourceTooLarge {
		t.Errorf("an endless item: %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16*most {
		t.Errorf("refusing it took %d bytes", took)
	}
}

// TestHang: calls that are not answered end with their caller and with their limits, and
// hold up no other source.
func TestHang(t *testing.T) {
	c := open(t, connector.Options{CallTimeout: 300 * time.Millisecond, SilenceTimeout: 300 * time.Millisecond,
		HealthInterval: time.Minute})
	calls := map[string]func(context.Context) error{
		"list":      func(ctx context.Context) error { return c.List(ctx, to("hang"), nil, &shelf{}) },
		"list deaf": func(ctx context.Context) error { return c.List(ctx, to("hang deaf"), nil, &shelf{}) },
		"check":     func(ctx context.Context) error { _, err := c.Check(ctx, to("hang")); return err },
		"revoke":    func(ctx context.Context) error { return c.Revoke(ctx, to("hang")) },
		"fetch": func(ctx context.Context) error {
			_, err := c.Fetch(ctx, to("hang"), port.SourceItem{Key: "a", Size: -1})
			return err
		},
	}
	var all sync.WaitGroup
	for name, do := range calls {
		all.Go(func() {
			if err := do(t.Context()); why(t, err) != port.SourceUnavailable {
				t.Errorf("%s: %v", name, err)
			}
		})
		all.Go(func() {
			ctx, leave := context.WithCancel(t.Context())
			leave()
			if err := do(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s without a caller: %v", name, err)
			}
		})
	}
	all.Go(func() {
		if err := c.List(t.Context(), to("list"), nil, &shelf{}); err != nil {
			t.Errorf("another source: %v", err)
		}
	})
	all.Wait()
}

// TestPlaces: a fetch that waits for a place ends with its caller.
func TestPlaces(t *testing.T) {
	c := open(t, connector.Options{Concurrency: 1})
	ctx, leave := context.WithCancel(t.Context())
	fetch := func(ctx context.Context) error {
		_, err := c.Fetch(ctx, to("hang"), port.SourceItem{Key: "a", Size: -1})
		return err
	}
	done := make(chan error, 2)
	for range 2 {
		go func() { done <- fetch(ctx) }()
	}
	if err := c.List(t.Context(), to("list"), nil, &shelf{}); err != nil {
		t.Errorf("a listing waits for fetches: %v", err)
	}
	leave()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if _, err := c.Fetch(t.Context(), to("fetch"), port.SourceItem{Key: "a", Size: -1}); err != nil {
		t.Errorf("no place was given back: %v", err)
	}
}

// TestExit: the end of a program ends its calls with a word of when to come back, and it is
// started again.
func TestExit(t *testing.T) {
	o, log := logged(connector.Options{})
	c := open(t, o)
	l := &shelf{}
	err := c.List(t.Context(), to("exit"), nil, l)
	var e *port.SourceError
	if !errors.As(err, &e) || e.Code != port.SourceUnavailable || e.RetryAfter <= 0 || l.ended {
		t.Errorf("%v, complete %v", err, l.ended)
	}
	within(t, "it serves again", func() bool { return c.List(t.Context(), to("list"), nil, &shelf{}) == nil })
	if _, err := c.Fetch(t.Context(), to("exit"), port.SourceItem{Key: "a", Size: -1}); why(t, err) != port.SourceUnavailable {
		t.Error(err)
	}
	within(t, "it serves again", func() bool {
		_, err := c.Fetch(t.Context(), to("fetch"), port.SourceItem{Key: "a", Size: -1})
		return err == nil
	})
	if n := strings.Count(log.String(), `msg="backend ended"`); n != 2 {
		t.Errorf("it ended %d times", n)
	}
}

// TestFetches: a content that breaks a rule is none.
func TestFetches(t *testing.T) {
	c := open(t, connector.Options{})
	got, err := c.Fetch(t.Context(), to("fetch"), port.SourceItem{Key: "a", Name: "a.txt", Size: -1})
	if err != nil || string(got.File.Content) != "texttext" || got.File.MediaType != "text/plain" || got.File.Name != "a.txt" ||
		fmt.Sprint(got.Metadata["number"]) != "12345678901234567890" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, do := range []string{"no head", "nothing", "two heads", "break off"} {
		if got, err := c.Fetch(t.Context(), to(do), port.SourceItem{Key: "a", Size: -1}); why(t, err) != port.SourceUnavailable ||
			got.File.Content != nil {
			t.Errorf("%s: %+v, %v", do, got, err)
		}
	}
}

// TestCodes: a status is the code that the protocol gives it, and no message holds a secret.
func TestCodes(t *testing.T) {
	o, log := logged(connector.Options{})
	c := open(t, o)
	for code, want := range map[int]port.SourceCode{
		1: port.SourceUnavailable, 2: port.SourceUnavailable, 3: port.SourceConfig, 4: port.SourceUnavailable,
		5: port.SourceNotFound, 7: port.SourceForbidden, 8: port.SourceRateLimited, 9: port.SourceSkipped,
		11: port.SourceTooLarge, 12: port.SourceUnavailable, 13: port.SourceUnavailable, 14: port.SourceUnavailable,
		16: port.SourceCredentials, 99: port.SourceUnavailable,
	} {
		do := to("fail " + strconv.Itoa(code))
		_, checked := c.Check(t.Context(), do)
		_, fetched := c.Fetch(t.Context(), do, port.SourceItem{Key: "a", Size: -1})
		for _, err := range []error{checked, fetched, c.List(t.Context(), do, nil, &shelf{})} {
			if got := why(t, err); got != want {
				t.Errorf("status %d: %s, want %s", code, got, want)
			}
			var e *port.SourceError
			if told := code == 8 || code == 14; errors.As(err, &e) && told && e.RetryAfter != 24*time.Hour {
				t.Errorf("status %d: wait %s, want a day at most", code, e.RetryAfter)
			}
			public := want != port.SourceUnavailable || code == 14
			if public != strings.Contains(e.Message, "it does not like [secret]") {
				t.Errorf("status %d: %s", code, e.Message)
			}
		}
	}
	if text := log.String(); strings.Contains(text, secret) || !strings.Contains(text, `msg="connector call failed"`) {
		t.Errorf("the log is %s", text)
	}
}

// TestChecks: problems are of fields.
func TestChecks(t *testing.T) {
	c := open(t, connector.Options{})
	if found, err := c.Check(t.Context(), to("")); err != nil || len(found) != 1 || found[0].Field != "config.do" ||
		found[0].Message != "is not [secret]" {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := c.Check(t.Context(), to("fine")); err != nil || len(found) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	for _, do := range []string{"a field of nobody's", "no message", "many"} {
		if found, err := c.Check(t.Context(), to(do)); why(t, err) != port.SourceUnavailable || found != nil {
			t.Errorf("%s: %+v, %v", do, found, err)
		}
	}
}

// TestDescriptions: a program that does not say what it is is not taken.
func TestDescriptions(t *testing.T) {
	for describes, want := range map[string]string{
		"nothing": "0 kinds", "no name": "no name", "a wrong name": "not of [a-z0-9_]", "no title": "no title", "twice": "twice",
		"no schema": "config_schema", "an array": "secrets_schema", "a long schema": "more than 65536 bytes", "many": "65 kinds",
		"an error": "not today",
	} {
		if _, err := start(t, connector.Options{}, describes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", describes, err, want)
		}
	}
}

// TestChanged: a program that is another one after a restart is refused.
func TestChanged(t *testing.T) {
	p, err := start(t, connector.Options{}, "changes", filepath.Join(t.TempDir(), "started"))
	if err != nil {
		t.Fatal(err)
	}
	c := p.Connectors()[0]
	_ = c.List(t.Context(), to("exit"), nil, &shelf{})
	within(t, "it is refused", func() bool {
		err := c.List(t.Context(), to("list"), nil, &shelf{})
		if err == nil {
			t.Fatal("it serves")
		}
		return strings.Contains(err.Error(), "is not the one that the server started with")
	})
}

// TestRenewals: renewed secrets are kept while a call lasts and after it, and no program
// renews what is not its source's.
func TestRenewals(t *testing.T) {
	o, log := logged(connector.Options{})
	c := open(t, o)
	kept := make(chan map[string]string, 200)
	with := func(do string, err error) port.Connection {
		conn := to(do)
		conn.Renew = func(ctx context.Context, secrets map[string]string) error {
			if ctx.Err() != nil {
				t.Errorf("the context of keeping secrets has ended: %v", ctx.Err())
			}
			kept <- secrets
			return err
		}
		return conn
	}
	for _, do := range []string{"renew", "renew late"} {
		if err := c.Revoke(t.Context(), with(do, nil)); err != nil {
			t.Fatalf("%s: %v", do, err)
		}
		if got := <-kept; got["token"] != another || len(got) != 1 {
			t.Errorf("%s: %v", do, got)
		}
	}
	for _, do := range []string{"renew another's", "renew what there is not", "renew to nothing", "renew nothing",
		"renew too much"} {
		if err := c.Revoke(t.Context(), with(do, nil)); why(t, err) != port.SourceConfig || len(kept) != 0 {
			t.Errorf("%s: %v, %d kept", do, err, len(kept))
		}
	}
	if err := c.Revoke(t.Context(), with("renew for ever", nil)); err == nil || len(kept) != 100 {
		t.Errorf("%v, %d kept", err, len(kept))
	}
	if err := c.Revoke(t.Context(), with("renew", errors.New("the disk is full of "+another))); err == nil ||
		strings.Contains(err.Error(), "disk") {
		t.Errorf("that they are not kept is not told, or why: %v", err)
	}
	if text := log.String(); !strings.Contains(text, `msg="renewed secrets not kept"`) || strings.Contains(text, another) {
		t.Errorf("the log is %s", log)
	}
}
