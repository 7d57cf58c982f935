package wasm

import (
	"errors"
	"fmt"
	"time"
)

// Config is the operator's part.
type Config struct {
	Module    string        `yaml:"module" help:"builtin:e5-small-v2 (embeds), builtin:splade-tiny (sparse), builtin:rerank-small (reranks), a pack made by 'mneme models pack', or a folder with a model.json"`
	Instances int           `yaml:"instances" help:"texts worked on at once; 0: one a core"`
	MemoryMB  int           `yaml:"memory_mb" help:"most memory one instance may take, in megabytes"`
	Timeout   time.Duration `yaml:"timeout" help:"longest time one call into the model may take"`
}

// Default is the built-in embedder on every core.
func Default() Config {
	return Config{Module: "builtin:e5-small-v2", MemoryMB: 512, Timeout: 30 * time.Second}
}

// Validate reports every setting that is out of range.
func (c Config) Validate() error {
	var errs []error
	if c.Module == "" {
		errs = append(errs, errors.New("module: must name a model"))
	}
	if c.Instances < 0 || c.Instances > 1024 {
		errs = append(errs, fmt.Errorf("instances: %d is not between 0 and 1024", c.Instances))
	}
	if c.MemoryMB < 16 || c.MemoryMB > 4096 {
		errs = append(errs, fmt.Errorf("memory_mb: %d is not between 16 and 4096", c.MemoryMB))
	}
	if c.Timeout < 100*time.Millisecond || c.Timeout > time.Hour {
		errs = append(errs, fmt.Errorf("timeout: %s is not between 100ms and 1h", c.Timeout))
	}
	return errors.Join(errs...)
}
