package op_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

type order struct {
	Count int `json:"count" minimum:"1" maximum:"3"`
	Total int `json:"total"`
}

func (o *order) Validate() error {
	if o.Total < o.Count {
		return fault.Field(fault.Conflict, "total", "is less than count")
	}
	return nil
}

// Every call is held to the tags of its request, then to its rules over several
// fields, and only then reaches the service.
func TestACallIsCheckedBeforeTheService(t *testing.T) {
	set := &op.Set{Chain: func(*op.Spec) endpoint.Middleware {
		return func(next endpoint.Endpoint) endpoint.Endpoint { return next }
	}}
	served := 0
	op.Mount(set, struct{}{}, []op.Op[struct{}]{op.Define(op.Spec{Name: "order", Method: "POST", Path: "/orders"},
		func(struct{}, context.Context, order) (none, error) { served++; return none{}, nil })})
	for _, c := range []struct {
		in   order
		says string
	}{
		{order{0, -1}, "invalid_request: count: must be 1-3"},
		{order{4, 0}, "invalid_request: count: must be 1-3"},
		{order{3, 2}, "conflict: total: is less than count"},
		{order{3, 3}, ""},
	} {
		before := served
		_, err := set.Routes()[0].Endpoint(context.Background(), &op.Call{
			Spec:   &set.Routes()[0].Spec,
			Decode: func(_ context.Context, dst any) error { *dst.(*order) = c.in; return nil },
		})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.says || (served > before) != (c.says == "") {
			t.Errorf("%+v: %q, want %q; served %v", c.in, got, c.says, served > before)
		}
		if direct := op.Check(&c.in); (direct == nil) != (c.says == "") || direct != nil && direct.Error() != c.says {
			t.Errorf("%+v: checked directly: %v, want %q", c.in, direct, c.says)
		}
	}
	if err := op.Check(&none{}); err != nil { // it has neither tags nor rules
		t.Error(err)
	}
}

// A tag that cannot be read is found when the operation is declared.
func TestABadTagIsFoundWhenAnOperationIsDeclared(t *testing.T) {
	defer func() {
		if why, _ := recover().(string); !strings.Contains(why, "minimum") {
			t.Errorf("got %q", why)
		}
	}()
	type in struct {
		N int `json:"n" minimum:"x"`
	}
	op.Define(op.Spec{Name: "bad"}, func(struct{}, context.Context, in) (none, error) { return none{}, nil })
}

// A path belongs to the family whose base it lies below, and a route cannot lie
// anywhere else.
func TestAPathBelongsToAFamily(t *testing.T) {
	for path, want := range map[string]op.Family{
		"/": op.Namespace, "": op.Namespace, "/namespaces": op.Namespace, "/api": op.Namespace,
		"/api/v1x": op.Namespace, "/api/v2/x": op.Namespace,
		"/api/v1": op.Memory, "/api/v1/": op.Memory, "/api/v1/memories/a": op.Memory, "/v1/api/v1": op.Namespace,
		"/admin/v1": op.Administration, "/admin/v1/keys": op.Administration, "/admin": op.Namespace,
	} {
		if got := op.FamilyOf(path); got != want {
			t.Errorf("%q is of family %d, want %d", path, got, want)
		}
		for _, f := range op.Families() {
			if path == "" {
				continue
			}
			if refused := mountAt(f, path); refused != (f != want) {
				t.Errorf("a route of family %d at %q: refused %v", f, path, refused)
			}
		}
	}
}

func mountAt(f op.Family, path string) (refused bool) {
	defer func() { refused = recover() != nil }()
	set := &op.Set{Chain: func(*op.Spec) endpoint.Middleware {
		return func(next endpoint.Endpoint) endpoint.Endpoint { return next }
	}}
	op.Mount(set, struct{}{}, []op.Op[struct{}]{op.Define(op.Spec{Name: "x", Method: "GET", Path: path, Family: f},
		func(struct{}, context.Context, none) (none, error) { return none{}, nil })})
	return false
}

// Every group says what it is for.
func TestEveryGroupHasAText(t *testing.T) {
	seen := map[op.Group]bool{}
	for _, g := range op.Groups() {
		if g == "" || g.Text() == "" || seen[g] {
			t.Errorf("group %q: %q", g, g.Text())
		}
		seen[g] = true
	}
	if op.Group("").Text() != "" || op.Group("Others").Text() != "" {
		t.Error("what is no group has a text")
	}
}
