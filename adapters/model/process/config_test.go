package process_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/process"
)

// TestBounds: bounds of memory and restarts that mean something are taken, others named.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		memory, perHour int
		want            string
	}{
		{0, 0, ""}, {16, 1024, ""}, {1 << 24, 1, ""},
		{15, 0, "memory_mb"}, {-1, 0, "memory_mb"}, {1<<24 + 1, 0, "memory_mb"},
		{0, -1, "max_restarts_per_hour"}, {0, 1025, "max_restarts_per_hour"},
	} {
		cfg := process.Default()
		cfg.Command, cfg.Unverified = []string{"x"}, true
		cfg.MemoryMB, cfg.MaxPerHour = c.memory, c.perHour
		if err := cfg.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
