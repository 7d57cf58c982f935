package middleware_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
)

func caller(ctx context.Context, org string) context.Context {
	return ident.WithPrincipal(ctx, ident.Principal{Org: ident.Org(org)})
}

// The middleware takes the slots of the caller's organization: where one has used up its
// part, its calls are refused unread and another's are served.
func TestACallTakesItsOrganizationsShare(t *testing.T) {
	g := fair.NewGate(16, 0, time.Hour)
	for range 14 {
		if _, err := g.Enter(caller(t.Context(), "a")); err != nil {
			t.Fatal(err)
		}
	}
	for org, served := range map[string]bool{"a": false, "b": true, "": true} {
		read := false
		x := call(op.Spec{})
		x.Decode = func(context.Context, any) error { read = true; return nil }
		ctx := t.Context()
		if org != "" {
			ctx = caller(ctx, org)
		}
		_, err := middleware.Concurrency(g)(func(ctx context.Context, request any) (any, error) {
			return nil, request.(*op.Call).Decode(ctx, nil)
		})(ctx, x)
		if read != served || (err == nil) != served || err != nil && fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%q: read %t, %v", org, read, err)
		}
	}
	if g.InUse() != 14 {
		t.Errorf("%d in use", g.InUse())
	}
}

// streamedInput is read piece by piece.
type streamedInput struct{}

func (*streamedInput) TakeBody(io.Reader) {}

// A call whose input is read piece by piece, for hours perhaps, holds no slot.
func TestAStreamHoldsNoSlot(t *testing.T) {
	g := fair.NewGate(1, 0, time.Hour)
	x := call(op.Spec{})
	for dst, want := range map[any]int{&streamedInput{}: 0, &struct{}{}: 1} {
		_, err := middleware.Concurrency(g)(func(ctx context.Context, request any) (any, error) {
			if err := request.(*op.Call).Decode(ctx, dst); err != nil {
				return nil, err
			}
			if n := g.InUse(); n != want {
				t.Errorf("%T: %d slots", dst, n)
			}
			return nil, nil
		})(t.Context(), x)
		if err != nil {
			t.Error(err)
		}
	}
}
