package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Vectors says where the vectors of a set's texts come from.
type Vectors string

// The sources.
const (
	SyntheticVectors Vectors = "synthetic" // Synthetic and SyntheticSparse
	ModelVectors     Vectors = "models"    // the configured models
)

// Set is a set of backends to measure.
type Set struct {
	Name string
	File string // configuration of a server to start; "": the defaults
	URL  string // of a server that runs already; "": start one
}

// Comparison says what is measured and how.
type Comparison struct {
	Options
	Sets       []Set
	Key        string // API key of the servers at URLs
	Vectors    Vectors
	Dimensions int    // of synthetic vectors
	Folder     string // exists; the servers' data folders are made in it
	Registry   *registry.Registry
	// Command starts Serve in a process of its own, with the JSON of ServerOptions as
	// one further argument.
	Command  []string
	LogLevel string    // of the servers; "": warn
	Stderr   io.Writer // of the servers
	// Report shows progress; nil: none. It is called by one goroutine at a time.
	Report func(set, stage string, done, total int)
}

// Run measures the sets one after another and compares them with the first. With
// the results of all sets it may give an error about what could not be cleaned up.
func (c Comparison) Run(ctx context.Context, w *Workload) ([]Result, error) {
	var results []Result
	var leftovers []error
	var mu sync.Mutex
	for _, s := range c.Sets {
		o := c.Options
		if c.Report != nil {
			o.Progress = func(stage string, done, total int) {
				mu.Lock()
				defer mu.Unlock()
				c.Report(s.Name, stage, done, total)
			}
		}
		r, leftover, err := c.measure(ctx, s, w, o)
		if err != nil {
			return results, fmt.Errorf("%s: %w", s.Name, errors.Join(err, leftover))
		}
		if leftover != nil {
			leftovers = append(leftovers, fmt.Errorf("%s: %w", s.Name, leftover))
		}
		r.Name = s.Name
		results = append(results, r)
	}
	Compare(results)
	return results, errors.Join(leftovers...)
}

// measure runs the workload over one set. leftover says what could not be removed.
func (c Comparison) measure(ctx context.Context, s Set, w *Workload, o Options) (r Result, leftover, err error) {
	token := make([]byte, 4)
	if _, err := rand.Read(token); err != nil {
		return r, nil, err
	}
	name := "mneme_bench_" + hex.EncodeToString(token)
	o.Prefix = strings.ReplaceAll(name, "_", "-")
	if s.URL != "" {
		cl, err := client.New(s.URL, c.Key)
		if err != nil {
			return r, nil, err
		}
		r, err = Measure(ctx, cl, w, o)
		return r, nil, err
	}
	cfg, databases, err := isolated(c.Registry, s.File, name)
	if err != nil {
		return r, nil, err
	}
	at := resources{folder: filepath.Join(c.Folder, name), databases: databases}
	if !o.Keep {
		defer func() { leftover = at.remove(context.WithoutCancel(ctx)) }()
	}
	server, err := c.start(ctx, ServerOptions{
		File:       s.File,
		Folder:     at.folder,
		Isolation:  name,
		Vectors:    c.Vectors,
		Dimensions: c.Dimensions,
		Seed:       o.Seed,
		Sparse:     o.Sparse,
		LogLevel:   c.LogLevel,
	})
	if err != nil {
		return r, nil, err
	}
	defer func() { err = errors.Join(err, server.stop()) }() // before the removal above
	cl, err := client.New(server.URL, server.Key)
	if err != nil {
		return r, nil, err
	}
	at.pid = server.cmd.Process.Pid
	o.Probe = at.usage
	r, err = Measure(ctx, cl, w, o)
	r.Backends = map[string]string{"storage": cfg.Storage.Component, "keyword": cfg.Keyword.Component,
		"vector": cfg.Vector.Component}
	if o.Sparse {
		r.Backends["sparse"] = cfg.Sparse.Component
	}
	return r, nil, err
}

// isolated loads a configuration and keeps its components' data in databases
// apart under a name; it gives those that have any.
func isolated(r *registry.Registry, file, name string) (*configs.Config, []registry.Isolated, error) {
	cfg, err := configs.Load(r, configs.Source{File: file})
	if err != nil {
		return nil, nil, err
	}
	var databases []registry.Isolated
	use := func(s *registry.Selection, i registry.Isolated, ok bool, err error) error {
		if ok {
			*s = i.Selection
			databases = append(databases, i)
		}
		return err
	}
	i, ok, err := r.Store.Isolate(cfg.Storage, name)
	if err := use(&cfg.Storage, i, ok, err); err != nil {
		return nil, nil, err
	}
	for _, s := range []*registry.Selection{&cfg.Keyword, &cfg.Vector, &cfg.Sparse} {
		i, ok, err := r.Index.Isolate(*s, name)
		if err := use(s, i, ok, err); err != nil {
			return nil, nil, err
		}
	}
	return cfg, databases, nil
}

// remove deletes what a run left.
func (p resources) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	errs := []error{os.RemoveAll(p.folder)}
	for _, d := range p.databases {
		errs = append(errs, d.Drop(ctx))
	}
	return errors.Join(errs...)
}

// useSyntheticModels replaces the configured models by synthetic ones.
func useSyntheticModels(r *registry.Registry, cfg *configs.Config, o ServerOptions) {
	add := func(component string, m port.Model) registry.Selection {
		registry.Add(r.Model, registry.Component[port.Model, struct{}]{
			Name: component, Summary: "Vectors at next to no cost.", Stability: registry.Experimental,
			Default: func() struct{} { return struct{}{} },
			Open:    func(context.Context, struct{}, registry.Env) (port.Model, error) { return m, nil },
		})
		return registry.Selection{Component: component, Config: new(struct{})}
	}
	const dense, sparse = "synthetic", "synthetic-sparse"
	cfg.Models = map[string]registry.Selection{dense: add("bench_synthetic", NewSynthetic(o.Dimensions, o.Seed))}
	cfg.Roles = configs.Roles{Embed: dense, Sparse: configs.Off, Rerank: configs.Off, Synthesize: configs.Off}
	if o.Sparse {
		cfg.Models[sparse] = add("bench_synthetic_sparse", SyntheticSparse{})
		cfg.Roles.Sparse = sparse
	}
}

// Known reports whether a source of vectors exists.
func (v Vectors) Known() bool { return slices.Contains([]Vectors{SyntheticVectors, ModelVectors}, v) }
