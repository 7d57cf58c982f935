package process

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part.
type Config struct {
	Command        []string                   `yaml:"command" help:"the program and its arguments; the program is a path, or a name to be found in PATH"`
	SHA256         string                     `yaml:"sha256" help:"sum of the program in hex, compared before each start; required unless unverified"`
	Unverified     bool                       `yaml:"unverified" help:"start the program without comparing its sum: for development"`
	Files          []File                     `yaml:"files" help:"what else must not have changed, such as scripts"`
	Dir            string                     `yaml:"dir" help:"working folder of the program, which relative paths count from; empty: this process's"`
	Env            map[string]registry.Secret `yaml:"env" help:"the whole environment of the program: nothing of this process's is passed on"`
	MTLS           string                     `yaml:"mtls" enum:"auto,off" help:"auto: both sides prove themselves with certificates made at the start, as the Go SDK does; off: a socket in a private folder, for programs in other languages"`
	Timeout        time.Duration              `yaml:"timeout" help:"longest time that checking a source or fetching an item may take"`
	SilenceTimeout time.Duration              `yaml:"silence_timeout" help:"longest time between two items of a listing"`
	ListTimeout    time.Duration              `yaml:"list_timeout" help:"longest time of a listing, from its begin to its end, up to 30 days"`
	StartTimeout   time.Duration              `yaml:"start_timeout" help:"longest time from the start of the program until it serves"`
	HealthInterval time.Duration              `yaml:"health_interval" help:"time between health checks, and the longest one may take; after three without an answer the program is restarted"`
	MaxConcurrency int                        `yaml:"max_concurrency" help:"items that are fetched from the program at once"`
	MaxRestarts    int                        `yaml:"max_restarts" help:"runs in a row that fail, or are short and without an answer, after which the program stays down until the server starts again; 0: it is tried for ever, at most every 30 s"`
	MaxPerHour     int                        `yaml:"max_restarts_per_hour" help:"restarts in an hour, of runs that had answered as well, after which the program stays down until the server starts again; 0: any number"`
	MemoryMB       int                        `yaml:"memory_mb" help:"most memory that the program and all that it starts may hold, in megabytes, before it is ended and started again; on Linux alone; 0: no bound"`
}

// File is a file with its sum.
type File struct {
	Path   string `yaml:"path" help:"path of the file, from the working folder of the program"`
	SHA256 string `yaml:"sha256" help:"its sum in hex"`
}

// Default suits a connector of an app in the cloud.
func Default() Config {
	return Config{
		MTLS:           "auto",
		Timeout:        2 * time.Minute,
		SilenceTimeout: 10 * time.Minute,
		ListTimeout:    24 * time.Hour,
		StartTimeout:   time.Minute,
		HealthInterval: 5 * time.Second,
		MaxConcurrency: 16,
	}
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var errs []error
	invalid := func(path, format string, args ...any) {
		errs = append(errs, &registry.Invalid{Path: path, Reason: fmt.Sprintf(format, args...)})
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		invalid("command", "must name a program")
	}
	switch {
	case c.SHA256 == "" && !c.Unverified:
		invalid("sha256", "is required, or unverified: true")
	case c.SHA256 != "" && !isSHA256(c.SHA256):
		invalid("sha256", "must be 64 hex digits")
	}
	for i, f := range c.Files {
		if f.Path == "" || !isSHA256(f.SHA256) {
			invalid(fmt.Sprintf("files[%d]", i), "must have a path, and a sha256 of 64 hex digits")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(c.Env[name].Reveal(), "\x00") {
			invalid("env", "%q is no name of a variable, or its value has a NUL", name)
		}
	}
	if c.MTLS != "auto" && c.MTLS != "off" {
		invalid("mtls", "must be auto or off")
	}
	const least = 100 * time.Millisecond
	for _, d := range []struct {
		path string
		d    time.Duration
		most time.Duration
	}{{"timeout", c.Timeout, time.Hour}, {"silence_timeout", c.SilenceTimeout, 24 * time.Hour},
		{"list_timeout", c.ListTimeout, 720 * time.Hour}, {"start_timeout", c.StartTimeout, time.Hour},
		{"health_interval", c.HealthInterval, time.Hour}} {
		if d.d < least || d.d > d.most {
			invalid(d.path, "must be between %s and %s", least, d.most)
		}
	}
	for _, n := range []struct {
		path     string
		n, least int
	}{{"max_concurrency", c.MaxConcurrency, 1}, {"max_restarts", c.MaxRestarts, 0}, {"max_restarts_per_hour", c.MaxPerHour, 0}} {
		if n.n < n.least || n.n > 1024 {
			invalid(n.path, "must be between %d and 1024", n.least)
		}
	}
	if c.MemoryMB != 0 && (c.MemoryMB < 16 || c.MemoryMB > 1<<24) {
		invalid("memory_mb", "must be 0, or between 16 and 16777216")
	}
	return errors.Join(errs...)
}

// isSHA256 reports whether s is a SHA-256 in hex, with or without its name before it.
func isSHA256(s string) bool {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "sha256:"))
	return err == nil && len(b) == 32
}
