package off_test

import (
	"testing"

	"github.com/mnemehq/mneme/adapters/limit/off"
	"github.com/mnemehq/mneme/core/registry"
)

// The engine counts in its own memory where it is given no budget.
func TestNothingIsShared(t *testing.T) {
	r := registry.New()
	off.Register(r)
	info, ok := r.Limit.Component("off")
	if !ok {
		t.Fatal("the component is not registered under its name")
	}
	if b, err := r.Limit.Open(t.Context(), info.Select(), registry.Env{}); b != nil || err != nil {
		t.Errorf("opened %v, %v; want no budget", b, err)
	}
}
