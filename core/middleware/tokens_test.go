package middleware_test

import (
	"context"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
)

// A token that stands for a key opens tools and nothing that has a route.
func TestTokensOpenToolsAlone(t *testing.T) {
	refuse := verifier(func(string) (ident.Principal, error) { return ident.Principal{}, fault.New(fault.Unauthorized, "no") })
	for _, c := range []struct {
		name   string
		spec   op.Spec
		tokens middleware.Verifier
		opens  bool
	}{
		{"tool", op.Spec{Name: "tools.search", Tool: &op.Tool{Name: "search"}}, verifier(anyone), true},
		{"route", op.Spec{Name: "notes.get", Method: "GET", Path: "/notes"}, verifier(anyone), false},
		{"route that is a tool too", op.Spec{
			Name:   "notes.get",
			Method: "GET",
			Path:   "/notes",
			Tool:   &op.Tool{Name: "notes"},
		}, verifier(anyone), false},
		{"tool without a front", op.Spec{Name: "tools.search", Tool: &op.Tool{Name: "search"}}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			chain := middleware.Chain(middleware.Options{Keys: refuse, Tokens: c.tokens})
			x := call(c.spec)
			_, err := chain(x.Spec)(func(context.Context, any) (any, error) { return "out", nil })(t.Context(), x)
			if (err == nil) != c.opens || err != nil && fault.CodeOf(err) != fault.Unauthorized {
				t.Errorf("answered %v, want opened %v", err, c.opens)
			}
		})
	}
}
