package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host"
	"github.com/mnemehq/mneme/wasm/models"
)

// Open starts the backend that c names and returns once it serves. id is the
// operator's name for the model; "": the backend's own. Which tasks it has is in
// Info().Tasks; see host.Open for the interfaces of the result, and for what its
// digest means.
func Open(ctx context.Context, id string, c Config, log *slog.Logger) (port.Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	command := host.Command{Args: c.Command, Dir: c.Dir, SHA256: c.SHA256, Unverified: c.Unverified, Files: map[string]string{}}
	var p *models.Process
	if c.Manifest != "" {
		read, err := models.ReadProcess(c.Manifest)
		if err != nil {
			return nil, err
		}
		if p = &read; p.MTLS == "off" {
			c.MTLS = "off"
		}
		if c.MemoryMB, err = memoryOf(c, *p); err != nil {
			return nil, manifestError(c, err)
		}
		if command, err = commandOf(c, *p); err != nil {
			return nil, manifestError(c, err)
		}
	}
	for _, f := range c.Files {
		command.Files[f.Path] = f.SHA256
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		command.Env = append(command.Env, name+"="+c.Env[name].Reveal())
	}
	m, err := host.Open(ctx, command, host.Options{
		ID:                 id,
		MTLS:               c.MTLS != "off",
		DeclaredOnly:       c.Identity == "declared",
		StartTimeout:       c.StartTimeout,
		CallTimeout:        c.Timeout,
		HealthInterval:     c.HealthInterval,
		Concurrency:        c.MaxConcurrency,
		BatchTexts:         c.BatchTexts,
		MaxRestarts:        c.MaxRestarts,
		MaxRestartsPerHour: c.MaxPerHour,
		MemoryMB:           c.MemoryMB,
		Log:                log,
	})
	if err != nil || p == nil {
		return m, err
	}
	if err := agrees(m.Info(), *p); err != nil {
		return nil, errors.Join(manifestError(c, err), m.Close())
	}
	return m, nil
}

func manifestError(c Config, err error) error { return fmt.Errorf("manifest %s: %w", c.Manifest, err) }

// memoryOf is the bound of a model's memory: what its manifest says, if the operator allows
// as much.
func memoryOf(c Config, p models.Process) (int, error) {
	if c.MemoryMB > 0 && p.MemoryMB > c.MemoryMB {
		return 0, fmt.Errorf("%s says that it takes up to %d MB, memory_mb allows %d", models.ManifestFile, p.MemoryMB,
			c.MemoryMB)
	}
	return cmp.Or(p.MemoryMB, c.MemoryMB), nil
}

// commandOf is what to start of a manifest's folder, all of it to be compared.
func commandOf(c Config, p models.Process) (host.Command, error) {
	if want := strings.TrimPrefix(strings.ToLower(c.SHA256), "sha256:"); want != "" && want != p.SHA256 {
		return host.Command{}, fmt.Errorf("sha256: %s has %s, pinned is %s; find out why it changed before you pin the new one",
			models.ManifestFile, p.SHA256, want)
	}
	identity := p.Identity()
	command := host.Command{Dir: p.Dir, Files: map[string]string{}, Identity: &identity}
	program, own, err := p.Program(runtime.GOOS + "/" + runtime.GOARCH)
	if err != nil {
		return command, err
	}
	used := p.Files
	switch {
	case own && len(c.Command) > 0:
		return command, errors.New("command: it has a program of its own")
	case own:
		used = append([]models.Asset{program}, used...)
		command.Args, command.SHA256 = []string{filepath.Join(p.Dir, filepath.FromSlash(program.Path))}, program.SHA256
	default:
		command.Args, command.Foreign = []string{append(c.Command, p.Interpreter)[0]}, true
	}
	for _, f := range used {
		if f.SHA256 == "" {
			return command, fmt.Errorf("%s has no sha256 for %s: run mneme models seal %s", models.ManifestFile, f.Path, p.Dir)
		}
	}
	for _, f := range p.Files {
		command.Files[filepath.FromSlash(f.Path)] = f.SHA256
	}
	command.Args = append(command.Args, p.Args...)
	return command, nil
}

// agrees compares what a model says of itself with what was approved.
func agrees(i port.ModelInfo, p models.Process) error {
	var errs []error
	differ := func(what string, approved, said any) {
		errs = append(errs, fmt.Errorf("%s says %s %v, the model %v", models.ManifestFile, what, approved, said))
	}
	var tasks []string
	for _, t := range i.Tasks {
		tasks = append(tasks, string(t))
	}
	slices.Sort(tasks)
	if approved := slices.Sorted(slices.Values(p.Tasks)); p.Tasks != nil && !slices.Equal(approved, tasks) {
		differ("tasks", approved, tasks)
	}
	if p.Dimensions > 0 && p.Dimensions != i.Dimensions {
		differ("dimensions", p.Dimensions, i.Dimensions)
	}
	for _, c := range [][3]string{{"name", p.Name, i.Name}, {"version", p.Version, i.Version},
		{"licence", p.Licence, i.Licence}} {
		if c[1] != "" && c[2] != "" && c[1] != c[2] {
			differ(c[0], c[1], c[2])
		}
	}
	return errors.Join(errs...)
}
