package process_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/source/process"
	"github.com/mnemehq/mneme/core/registry"
)

// Each setting is taken at its bounds and refused beyond them, and what is refused is named.
func TestConfigAtItsBounds(t *testing.T) {
	const short = "timeout start_timeout health_interval"
	sum := strings.Repeat("0a", 32)
	file := func(path, sum string) []process.File { return []process.File{{Path: path, SHA256: sum}} }
	for what, c := range map[string]struct {
		change  func(*process.Config)
		invalid string
	}{
		"the defaults":               {func(*process.Config) {}, ""},
		"no program":                 {func(c *process.Config) { c.Command = nil }, "command"},
		"an empty program":           {func(c *process.Config) { c.Command = []string{""} }, "command"},
		"no sum":                     {func(c *process.Config) { c.SHA256 = "" }, "sha256"},
		"no sum, unverified":         {func(c *process.Config) { c.SHA256, c.Unverified = "", true }, ""},
		"a sum, unverified":          {func(c *process.Config) { c.Unverified = true }, ""},
		"a sum with its name":        {func(c *process.Config) { c.SHA256 = "sha256:" + sum }, ""},
		"a short sum":                {func(c *process.Config) { c.SHA256 = sum[2:] }, "sha256"},
		"a long sum":                 {func(c *process.Config) { c.SHA256 = sum + "00" }, "sha256"},
		"a sum with more after it":   {func(c *process.Config) { c.SHA256 = sum + "x" }, "sha256"},
		"a short sum, unverified":    {func(c *process.Config) { c.SHA256, c.Unverified = sum[2:], true }, "sha256"},
		"a file":                     {func(c *process.Config) { c.Files = file("a.py", sum) }, ""},
		"a file without a path":      {func(c *process.Config) { c.Files = file("", sum) }, "files[0]"},
		"a file without a sum":       {func(c *process.Config) { c.Files = file("a.py", "") }, "files[0]"},
		"no mutual TLS":              {func(c *process.Config) { c.MTLS = "off" }, ""},
		"some mutual TLS":            {func(c *process.Config) { c.MTLS = "on" }, "mtls"},
		"the shortest times":         {times(100*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond), ""},
		"the longest times":          {times(time.Hour, 24*time.Hour, 30*24*time.Hour), ""},
		"too short times":            {times(99*time.Millisecond, time.Second, time.Second), short},
		"too long times":             {times(time.Hour+1, time.Second, time.Second), short},
		"a short silence":            {times(time.Second, 99*time.Millisecond, time.Second), "silence_timeout"},
		"a long silence":             {times(time.Second, 24*time.Hour+1, time.Second), "silence_timeout"},
		"a short listing":            {times(time.Second, time.Second, 99*time.Millisecond), "list_timeout"},
		"a long listing":             {times(time.Second, time.Second, 720*time.Hour+1), "list_timeout"},
		"the smallest counts":        {counts(1, 0, 0), ""},
		"the largest counts":         {counts(1024, 1024, 1024), ""},
		"too small counts":           {counts(0, -1, -1), "max_concurrency max_restarts max_restarts_per_hour"},
		"too large counts":           {counts(1025, 1025, 1025), "max_concurrency max_restarts max_restarts_per_hour"},
		"the smallest bound of room": {func(c *process.Config) { c.MemoryMB = 16 }, ""},
		"a smaller one":              {func(c *process.Config) { c.MemoryMB = 15 }, "memory_mb"},
		"the largest one":            {func(c *process.Config) { c.MemoryMB = 16777216 }, ""},
		"a larger one":               {func(c *process.Config) { c.MemoryMB = 16777217 }, "memory_mb"},
	} {
		config := process.Default()
		config.Command, config.SHA256 = []string{"app"}, sum
		c.change(&config)
		err := config.Validate()
		if got := refused(err); !slices.Equal(got, strings.Fields(c.invalid)) {
			t.Errorf("%s: %v are refused, want %s (%v)", what, got, c.invalid, err)
		}
	}
}

// times sets all times, those that may be as long as each other alike.
func times(short, silence, list time.Duration) func(*process.Config) {
	return func(c *process.Config) {
		c.Timeout, c.StartTimeout, c.HealthInterval = short, short, short
		c.SilenceTimeout, c.ListTimeout = silence, list
	}
}

func counts(concurrency, restarts, perHour int) func(*process.Config) {
	return func(c *process.Config) {
		c.MaxConcurrency, c.MaxRestarts, c.MaxPerHour = concurrency, restarts, perHour
	}
}

// refused are the settings that an error names, in its order.
func refused(err error) (paths []string) {
	joined, _ := err.(interface{ Unwrap() []error })
	if joined == nil {
		return nil
	}
	for _, e := range joined.Unwrap() {
		var invalid *registry.Invalid
		if errors.As(e, &invalid) {
			paths = append(paths, invalid.Path)
		}
	}
	return paths
}
