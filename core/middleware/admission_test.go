package middleware_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
)

// families verifies a bearer that is the name of a family as a key of it, and notes
// what it is asked.
type families struct {
	who   ident.Principal
	asked []op.Family
}

func (f *families) Verify(_ context.Context, bearer string, family op.Family) (ident.Principal, error) {
	f.asked = append(f.asked, family)
	if bearer != fmt.Sprint(family) {
		return ident.Principal{}, fault.New(fault.Unauthorized, "no key of family %d", family)
	}
	who := f.who
	who.KeyID = "key of " + bearer
	return who, nil
}

// A key opens the operations of its family. What needs no key takes those of any, and
// serves a caller whose key is none as one without (docs/contract.md#auth-unauthorized).
func TestAKeyOpensItsFamily(t *testing.T) {
	for _, c := range []struct {
		auth   op.Auth
		bearer string
		key    string // of the caller that is served; "": none
		fails  string
		asked  []op.Family
	}{
		{op.RequireKey, "1", "key of 1", "", []op.Family{op.Memory}},
		{op.RequireKey, "0", "", "unauthorized: no key of family 1", []op.Family{op.Memory}},
		{op.RequireKey, "", "", "unauthorized: an API key is required: send the header Authorization: Bearer <key>", nil},
		{op.OptionalKey, "1", "key of 1", "", []op.Family{op.Memory}},
		{op.OptionalKey, "0", "key of 0", "", []op.Family{op.Memory, op.Namespace}},
		{op.OptionalKey, "2", "key of 2", "", []op.Family{op.Memory, op.Namespace, op.Administration}},
		{op.OptionalKey, "x", "", "", []op.Family{op.Memory, op.Namespace, op.Administration}},
		{op.OptionalKey, "", "", "", nil},
		{op.NoKey, "1", "", "", nil},
	} {
		keys := &families{}
		x := call(op.Spec{Auth: c.auth, Family: op.Memory})
		x.Credential.Bearer = c.bearer
		served := false
		_, err := middleware.Auth(keys, nil)(func(ctx context.Context, _ any) (any, error) {
			served = true
			known := ident.Known(ctx)
			if (known != nil) != (c.key != "") || known != nil && known.KeyID != c.key || x.Caller.KeyID != c.key {
				t.Errorf("%v %q: served %+v, logged as %q", c.auth, c.bearer, known, x.Caller.KeyID)
			}
			return nil, nil
		})(t.Context(), x)
		says := ""
		if err != nil {
			says = err.Error()
		}
		if says != c.fails || served != (c.fails == "") || !slices.Equal(keys.asked, c.asked) {
			t.Errorf("%v %q: %q, served %t, asked %v; want %q, %v", c.auth, c.bearer, says, served, keys.asked, c.fails, c.asked)
		}
	}
}

// What a key may not do it is told before its body is read: to write with one that only
// reads, or what it lacks the scope for. The lack of a scope names it
// (docs/contract.md#auth-forbidden, docs/contract.md#auth-scopes).
func TestAKeyMayDoWhatItIsFor(t *testing.T) {
	for _, c := range []struct {
		spec  op.Spec
		who   ident.Principal
		fails string
		scope any
	}{
		{op.Spec{}, ident.Principal{ReadOnly: true}, "", nil},
		{op.Spec{Mutates: true}, ident.Principal{}, "", nil},
		{op.Spec{Mutates: true}, ident.Principal{ReadOnly: true}, "forbidden: this key is read-only", nil},
		{op.Spec{Scopes: []ident.Scope{ident.MemoriesRead}},
			ident.Principal{Scopes: []ident.Scope{ident.MemoriesWrite, ident.MemoriesRead}}, "", nil},
		{op.Spec{Scopes: []ident.Scope{ident.MemoriesRead, ident.RecallRead}},
			ident.Principal{Scopes: []ident.Scope{ident.MemoriesWrite, ident.MemoriesRead}},
			"insufficient_scope: this key lacks the scope recall:read", "recall:read"},
	} {
		x := call(c.spec)
		x.Credential.Bearer = "0"
		_, err := middleware.Auth(&families{who: c.who}, nil)(func(context.Context, any) (any, error) {
			return nil, nil
		})(t.Context(), x)
		if (err == nil) != (c.fails == "") ||
			err != nil && (err.Error() != c.fails || fault.From(err).Details["scope"] != c.scope) {
			t.Errorf("%+v as %+v: %v, want %q", c.spec, c.who, err, c.fails)
		}
	}
}

// Every answer to a personal key says that these keys end, and none to another
// (docs/contract.md#auth-legacy).
func TestPersonalKeysAreDeprecated(t *testing.T) {
	for kind, want := range map[ident.Kind]string{ident.Personal: "@1795219200", ident.Integration: "", ident.Service: ""} {
		x := call(op.Spec{})
		x.Credential.Bearer = "0"
		if _, err := middleware.Auth(&families{who: ident.Principal{Kind: kind}}, nil)(
			func(context.Context, any) (any, error) { return nil, nil })(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		if got := x.Reply.Header["Deprecation"]; got != want {
			t.Errorf("%v: %q, want %q", kind, got, want)
		}
	}
}

// charged is a Limiter that keeps what it was asked, and says what it is told to.
type charged struct {
	says middleware.Taken
	got  string
}

func (c *charged) Take(_ context.Context, key string, class op.Class, r ident.Rate, units, spent int) (middleware.Taken, error) {
	c.got = fmt.Sprint(key, " ", class, " ", r.PerMinute, "/", r.Burst, " ", units, " ", spent)
	return c.says, nil
}

// A key's own rate comes first and is counted for it alone; then the quotas of its
// integration, which its keys share; then those of the server. A bucket of memory writes
// holds a full batch at least (docs/contract.md#limit-rates, docs/contract.md#limit-quotas).
func TestWhichRateIsCharged(t *testing.T) {
	app := ident.Principal{KeyID: "key_1", Integration: "int_1", Quotas: ident.Quotas{ReadRatePerMin: 30, WriteRatePerMin: 600}}
	quick, own, idle := app, app, app
	quick.Quotas.WriteRatePerMin = 6000
	own.Limits = map[string]ident.Rate{"memory_read": {PerMinute: 7}, "memory_write": {PerMinute: 8},
		"read": {PerMinute: 9, Burst: 2}}
	idle.Quotas = ident.Quotas{}
	key := ident.Principal{KeyID: "key_1"}
	rates := map[op.Class]ident.Rate{op.Read: {PerMinute: 600, Burst: 60}, op.MemoryRead: {PerMinute: 11},
		op.MemoryWrite: {PerMinute: 12, Burst: 3}, op.Recall: {PerMinute: 13}}
	for _, c := range []struct {
		who   ident.Principal
		class op.Class
		want  string // "": nothing is charged
	}{
		{key, op.Read, "key_1 read 600/60 2 0"},
		{key, op.Write, ""},
		{key, op.Free, ""},
		{ident.Principal{}, op.Read, ""},
		{app, op.MemoryRead, app.RateKey() + " memory_read 30/0 2 0"},
		{app, op.MemoryWrite, app.RateKey() + " memory_write 600/100 2 0"},
		{quick, op.MemoryWrite, app.RateKey() + " memory_write 6000/600 2 0"},
		{app, op.Recall, app.RateKey() + " recall 13/0 2 1"},
		{idle, op.MemoryRead, ""},
		{idle, op.MemoryWrite, ""},
		{key, op.MemoryRead, "key_1 memory_read 11/0 2 0"},
		{key, op.MemoryWrite, "key_1 memory_write 12/3 2 0"},
		{own, op.MemoryRead, "key_1 memory_read 7/0 2 0"},
		{own, op.MemoryWrite, "key_1 memory_write 8/100 2 0"},
		{own, op.Read, "key_1 read 9/2 2 0"},
	} {
		limiter := &charged{says: middleware.Taken{OK: true}}
		l := &middleware.Limits{Limiter: limiter, Rates: rates}
		x := call(op.Spec{Class: op.Recall}) // whose first unit was charged before
		x.Caller = c.who
		if err := l.Admit(t.Context(), x, c.class, 2); err != nil || limiter.got != c.want {
			t.Errorf("%s: charged %q, %v; want %q", c.class, limiter.got, err, c.want)
		}
	}
}

// Waits are told in whole seconds, rounded up (docs/contract.md#limit-rate-headers).
func TestWaitsAreToldInSeconds(t *testing.T) {
	for wait, want := range map[time.Duration]int{0: 0, 1: 1, time.Second - 1: 1, time.Second: 1, time.Second + 1: 2} {
		l := &middleware.Limits{Limiter: &charged{says: middleware.Taken{Remaining: 5, Reset: wait, Retry: wait}},
			Rates: map[op.Class]ident.Rate{op.Read: {PerMinute: 60}}}
		x := call(op.Spec{Class: op.Read})
		x.Caller.KeyID = "key_1"
		f := fault.From(l.Admit(t.Context(), x, op.Read, 1))
		if f == nil || f.Details["retryAfter"] != want || x.Reply.Header["RateLimit"] != fmt.Sprintf(`"read";r=5;t=%d`, want) ||
			f.Message != fmt.Sprintf("the read limit of 60 requests a minute is used up; retry after %d s", want) {
			t.Errorf("%s: %+v, %v", wait, f, x.Reply.Header)
		}
	}
}

// A call that would be refused has no input read; one that may wait has, and waits with
// it read. What costs nothing passes a full gate (docs/contract.md#limit-concurrency).
func TestAFullGateReadsNothing(t *testing.T) {
	for _, c := range []struct {
		class        op.Class
		queue, waits int
		read, served bool
	}{
		{op.Read, 0, 0, false, false},
		{op.Read, 1, 0, true, false},
		{op.Read, 1, 1, false, false},
		{op.Read, 2, 1, true, false},
		{op.Free, 0, 0, true, true},
	} {
		g := fair.NewGate(1, c.queue, time.Hour)
		if _, err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, gone := context.WithCancel(t.Context())
		ended := make(chan error, c.waits)
		for range c.waits {
			go func() { _, err := g.Enter(ctx); ended <- err }()
		}
		for g.Waiting() < c.waits {
			time.Sleep(time.Millisecond)
		}
		read, served := false, false
		x := call(op.Spec{Class: c.class})
		calling, leave := context.WithCancel(t.Context())
		x.Decode = func(context.Context, any) error { read = true; leave(); return nil } // so that it doesn't wait for long
		chain := middleware.Chain(middleware.Options{Keys: verifier(anyone), Gate: g})
		_, err := chain(x.Spec)(func(ctx context.Context, request any) (any, error) {
			if err := request.(*op.Call).Decode(ctx, nil); err != nil {
				return nil, err
			}
			served = true
			return nil, nil
		})(calling, x)
		if read != c.read || served != c.served || (err == nil) != c.served ||
			!c.read && (fault.CodeOf(err) != fault.Unavailable || fault.From(err).RetryAfter != time.Second) {
			t.Errorf("%+v: read %t, served %t, %v", c, read, served, err)
		}
		leave()
		gone()
		for range c.waits {
			<-ended
		}
	}
}
