package op_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
)

// bare is a set without middlewares.
func bare() *op.Set {
	return &op.Set{Chain: func(*op.Spec) endpoint.Middleware {
		return func(next endpoint.Endpoint) endpoint.Endpoint { return next }
	}}
}

// defined is an operation that does nothing.
func defined(s op.Spec) op.Op[struct{}] {
	return op.Define(s, func(struct{}, context.Context, none) (none, error) { return none{}, nil })
}

// work is a request that weighs what it holds.
type work struct {
	items   int
	classes []op.Class
}

func (w *work) Units() int          { return w.items }
func (w *work) Classes() []op.Class { return w.classes }

// A call is charged for all but its first unit, which was charged before the body was
// read, and once for each further class that its content asks for. What is used up
// ends the call before the service (docs/contract.md#limit-rates).
func TestACallIsChargedForWhatItHolds(t *testing.T) {
	refusal := fault.New(fault.RateLimited, "enough")
	for _, c := range []struct {
		in      work
		most    int // charges that are admitted
		charged []string
		served  bool
	}{
		{work{0, nil}, 9, nil, true},
		{work{1, nil}, 9, nil, true},
		{work{2, nil}, 9, []string{"write 1"}, true},
		{work{100, nil}, 9, []string{"write 99"}, true},
		{work{1, []op.Class{op.Rerank, op.Read}}, 9, []string{"rerank 1", "read 1"}, true},
		{work{3, []op.Class{op.Rerank}}, 9, []string{"write 2", "rerank 1"}, true},
		{work{3, []op.Class{op.Rerank}}, 0, []string{"write 2"}, false},
		{work{3, []op.Class{op.Rerank, op.Read}}, 1, []string{"write 2", "rerank 1"}, false},
	} {
		served := false
		var charged []string
		set := bare()
		set.Admit = func(_ context.Context, _ *op.Call, class op.Class, units int) error {
			charged = append(charged, fmt.Sprint(class, " ", units))
			if len(charged) > c.most {
				return refusal
			}
			return nil
		}
		op.Mount(set, struct{}{}, []op.Op[struct{}]{op.Define(op.Spec{Name: "work", Class: op.Write},
			func(struct{}, context.Context, work) (none, error) { served = true; return none{}, nil })})
		r := set.Routes()[0]
		_, err := r.Endpoint(t.Context(), &op.Call{
			Spec:   &r.Spec,
			Decode: func(_ context.Context, dst any) error { *dst.(*work) = c.in; return nil },
		})
		if served != c.served || (err == nil) != c.served || err != nil && !errors.Is(err, refusal) ||
			!slices.Equal(charged, c.charged) {
			t.Errorf("%+v: served %t, %v, charged %v, want %v", c.in, served, err, charged, c.charged)
		}
	}
}

// address is a request that names a namespace and an end user.
type address struct{ namespace, user string }

func (a *address) NamespaceName() string { return a.namespace }
func (a *address) EndUser() string       { return a.user }

// A key that is limited to a namespace or an end user reaches no other
// (docs/contract.md#auth-forbidden).
func TestALimitedKeyReachesNothingElse(t *testing.T) {
	at := address{"docs", "ann"}
	for _, c := range []struct {
		who  *ident.Principal // nil: nobody has presented a key
		says string           // "": it may
	}{
		{nil, ""},
		{&ident.Principal{}, ""},
		{&ident.Principal{Namespace: "docs"}, ""},
		{&ident.Principal{Namespace: "doc"}, `forbidden: this key is limited to namespace "doc"`},
		{&ident.Principal{EndUser: "ann"}, ""},
		{&ident.Principal{EndUser: "bob"}, "forbidden: this key is limited to another end user"},
	} {
		served := false
		set := bare()
		op.Mount(set, struct{}{}, []op.Op[struct{}]{op.Define(op.Spec{Name: "read"},
			func(struct{}, context.Context, address) (none, error) { served = true; return none{}, nil })})
		ctx := t.Context()
		if c.who != nil {
			ctx = ident.WithPrincipal(ctx, *c.who)
		}
		r := set.Routes()[0]
		_, err := r.Endpoint(ctx, &op.Call{
			Spec:   &r.Spec,
			Decode: func(_ context.Context, dst any) error { *dst.(*address) = at; return nil },
		})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.says || served != (c.says == "") {
			t.Errorf("%+v: %q, want %q; served %t", c.who, got, c.says, served)
		}
	}
}

// ofSource is a request that names a source.
type ofSource struct{ source string }

func (o *ofSource) SourceID() string { return o.source }

// A key that is limited to a source reaches nothing that is of no source, but for what
// needs no key at all.
func TestAKeyOfASourceReachesItAlone(t *testing.T) {
	const refused = `forbidden: this key is limited to source "src_1"`
	mine := ident.Principal{Source: "src_1"}
	ops := []op.Op[struct{}]{
		op.Define(op.Spec{Name: "of-source"},
			func(struct{}, context.Context, ofSource) (none, error) { return none{}, nil }),
		op.Define(op.Spec{Name: "of-anything"}, func(struct{}, context.Context, none) (none, error) { return none{}, nil }),
		op.Define(op.Spec{Name: "without-key", Auth: op.OptionalKey},
			func(struct{}, context.Context, none) (none, error) { return none{}, nil }),
	}
	for _, c := range []struct {
		who  ident.Principal
		name string
		at   string
		says string // "": it may
	}{
		{mine, "of-source", "src_1", ""},
		{mine, "of-source", "src_2", refused},
		{mine, "of-source", "", refused},
		{mine, "of-anything", "", refused},
		{mine, "without-key", "", ""},
		{ident.Principal{}, "of-source", "src_2", ""},
		{ident.Principal{}, "of-anything", "", ""},
	} {
		set := bare()
		op.Mount(set, struct{}{}, ops)
		i := slices.IndexFunc(set.Routes(), func(r *op.Route) bool { return r.Spec.Name == c.name })
		r := set.Routes()[i]
		_, err := r.Endpoint(ident.WithPrincipal(t.Context(), c.who), &op.Call{
			Spec: &r.Spec,
			Decode: func(_ context.Context, dst any) error {
				if of, ok := dst.(*ofSource); ok {
					of.source = c.at
				}
				return nil
			},
		})
		if got := fmt.Sprint(err); got != c.says && (err != nil || c.says != "") {
			t.Errorf("%+v of %s %q: %v, want %q", c.who, c.name, c.at, err, c.says)
		}
	}
}

// A body that can't be decoded never reaches the service.
func TestWhatCannotBeDecodedIsNotServed(t *testing.T) {
	broken := fault.New(fault.InvalidJSON, "no JSON")
	set := bare()
	op.Mount(set, struct{}{}, []op.Op[struct{}]{op.Define(op.Spec{Name: "read"},
		func(struct{}, context.Context, none) (none, error) { t.Error("served"); return none{}, nil })})
	r := set.Routes()[0]
	if _, err := r.Endpoint(t.Context(), &op.Call{
		Spec:   &r.Spec,
		Decode: func(context.Context, any) error { return broken },
	}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// Two operations share neither a name nor a tool nor a route. One that is a tool alone
// has no route to share.
func TestAnOperationIsMountedOnce(t *testing.T) {
	tool := func(name string) *op.Tool { return &op.Tool{Name: name} }
	for name, c := range map[string]struct {
		second op.Spec
		why    any // nil: both are mounted
	}{
		"another":        {op.Spec{Name: "b", Method: "GET", Path: "/b", Tool: tool("b")}, nil},
		"another method": {op.Spec{Name: "b", Method: "POST", Path: "/a"}, nil},
		"a tool alone":   {op.Spec{Name: "b", Tool: tool("b")}, nil},
		"the name":       {op.Spec{Name: "a", Method: "GET", Path: "/b"}, "op: name a is mounted twice"},
		"the tool":       {op.Spec{Name: "b", Tool: tool("a")}, "op: tool a is mounted twice"},
		"the route":      {op.Spec{Name: "b", Method: "GET", Path: "/a"}, "op: route GET /a is mounted twice"},
	} {
		t.Run(name, func(t *testing.T) {
			set := bare()
			op.Mount(set, struct{}{}, []op.Op[struct{}]{
				defined(op.Spec{Name: "a", Method: "GET", Path: "/a", Tool: tool("a")}),
				defined(op.Spec{Name: "tool", Tool: tool("alone")})})
			defer func() {
				if why := recover(); why != c.why {
					t.Errorf("got %v, want %v", why, c.why)
				}
				if n := len(set.Routes()); c.why == nil && n != 3 {
					t.Errorf("%d are mounted", n)
				}
			}()
			op.Mount(set, struct{}{}, []op.Op[struct{}]{defined(c.second)})
		})
	}
}

// What an operation can answer follows from what its Spec declares
// (docs/contract.md#err-codes).
func TestTheCodesOfAnOperationFollowFromItsSpec(t *testing.T) {
	common := []fault.Code{fault.Internal, fault.InvalidRequest, fault.MethodNotAllowed, fault.Timeout}
	for name, c := range map[string]struct {
		spec op.Spec
		more []fault.Code
	}{
		"anybody's": {op.Spec{Auth: op.NoKey}, nil},
		"key taken": {op.Spec{Auth: op.OptionalKey}, nil},
		"key":       {op.Spec{}, []fault.Code{fault.Forbidden, fault.Unauthorized, fault.Unavailable}},
		"body": {op.Spec{Auth: op.NoKey, MaxBody: 1},
			[]fault.Code{fault.InvalidJSON, fault.PayloadTooLarge, fault.Unavailable}},
		"body that is no JSON": {op.Spec{Auth: op.NoKey, MaxBody: 1, BodyType: "text/csv"},
			[]fault.Code{fault.PayloadTooLarge, fault.Unavailable}},
		"named in the path": {op.Spec{Auth: op.NoKey, Path: "/a/{id}"}, []fault.Code{fault.NotFound}},
		"limited":           {op.Spec{Auth: op.NoKey, Class: op.Read}, []fault.Code{fault.RateLimited, fault.Unavailable}},
		"scope": {op.Spec{Auth: op.NoKey, Scopes: []ident.Scope{ident.RecallRead}},
			[]fault.Code{fault.InsufficientScope}},
		"its own, said once": {op.Spec{Auth: op.NoKey, Faults: []fault.Code{fault.Conflict, fault.Timeout}},
			[]fault.Code{fault.Conflict}},
	} {
		want := slices.Sorted(slices.Values(append(slices.Clone(common), c.more...)))
		if got := c.spec.Codes(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Examples and links belong to operations that are there, each to its own.
func TestExamplesAndLinksBelongToOperations(t *testing.T) {
	ops := func() []op.Op[struct{}] {
		return []op.Op[struct{}]{defined(op.Spec{Name: "a"}), defined(op.Spec{Name: "b"}), defined(op.Spec{Name: "c"})}
	}
	got := op.WithLinks(op.WithExamples(ops(), map[string][]op.Example{"a": {{Name: "one"}}, "b": {{Name: "two"}}}),
		map[string][]op.Link{"b": {{Name: "read"}}, "c": {{Name: "list"}}})
	if a, b, c := got[0].Spec, got[1].Spec, got[2].Spec; len(a.Examples) != 1 || a.Examples[0].Name != "one" ||
		len(b.Examples) != 1 || b.Examples[0].Name != "two" || len(c.Examples) != 0 ||
		len(a.Links) != 0 || len(b.Links) != 1 || b.Links[0].Name != "read" || len(c.Links) != 1 || c.Links[0].Name != "list" {
		t.Errorf("%+v", got)
	}
	for want, with := range map[string]func(){
		"op: there are examples of 1 operations that are not there": func() {
			op.WithExamples(ops(), map[string][]op.Example{"a": nil, "d": nil})
		},
		"op: there are links of 2 operations that are not there": func() {
			op.WithLinks(ops(), map[string][]op.Link{"a": nil, "d": nil, "e": nil})
		},
	} {
		func() {
			defer func() {
				if why := recover(); why != want {
					t.Errorf("got %v, want %s", why, want)
				}
			}()
			with()
		}()
	}
}
