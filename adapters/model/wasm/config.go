package wasm

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part.
type Config struct {
	Module       string        `yaml:"module" help:"builtin:e5-small-v2 (embeds), builtin:splade-tiny (sparse), builtin:rerank-small (reranks), a pack made by 'mneme models pack', installed:NAME (one that 'mneme models pull' has installed in the data folder), a vendor's .wasm file, or a folder with a model.json"`
	SHA256       string        `yaml:"sha256" help:"refuse to start unless the pack, the .wasm file or the folder's model.json has this digest (as sha256sum prints it); empty: any"`
	Instances    int           `yaml:"instances" help:"texts worked on at once; 0: one a core"`
	MemoryMB     int           `yaml:"memory_mb" help:"most memory one instance may take, in megabytes; 0: what its model.json says, else 512"`
	Timeout      time.Duration `yaml:"timeout" help:"longest time one call into the model may take; of a vendor's module one with less than a full batch of work has less in proportion, 3s at least, a query a sixth at most and a score a third"`
	StartTimeout time.Duration `yaml:"start_timeout" help:"longest time that compiling the model, and starting its first instance, may take"`

	Settings map[string]registry.Secret `yaml:"settings" help:"the model's own settings, by name: those that its model.json declares, such as a language or a licence key, or of a pack of format 3 dimensions, query_prefix and passage_prefix. None is shown, since the declaration says which are secret"`
}

// Default is the built-in embedder on every core.
func Default() Config {
	return Config{Module: "builtin:e5-small-v2", Timeout: 30 * time.Second, StartTimeout: time.Minute}
}

var digest = regexp.MustCompile(`^(sha256:)?[0-9A-Fa-f]{64}$`)

// Validate reports every setting that is out of range.
func (c Config) Validate() error {
	var errs []error
	if c.Module == "" {
		errs = append(errs, errors.New("module: must name a model"))
	}
	if c.SHA256 != "" && !digest.MatchString(c.SHA256) {
		errs = append(errs, fmt.Errorf("sha256: %q is no digest of 64 hexadecimal digits", c.SHA256))
	}
	if c.Instances < 0 || c.Instances > 1024 {
		errs = append(errs, fmt.Errorf("instances: %d is not between 0 and 1024", c.Instances))
	}
	if c.MemoryMB != 0 && (c.MemoryMB < 1 || c.MemoryMB > 4096) {
		errs = append(errs, fmt.Errorf("memory_mb: %d is neither 0 nor between 1 and 4096", c.MemoryMB))
	}
	if c.Timeout < 100*time.Millisecond || c.Timeout > time.Hour {
		errs = append(errs, fmt.Errorf("timeout: %s is not between 100ms and 1h", c.Timeout))
	}
	if c.StartTimeout < 100*time.Millisecond || c.StartTimeout > time.Hour {
		errs = append(errs, fmt.Errorf("start_timeout: %s is not between 100ms and 1h", c.StartTimeout))
	}
	return errors.Join(errs...)
}
