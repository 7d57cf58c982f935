package registry

import (
	"context"
	"fmt"
	"regexp"
)

// Isolation is a component's data in a server, kept apart from everything else
// there. A measurement or a rehearsal runs on it beside an installation in use.
type Isolation[C any] struct {
	Config C
	// Drop removes the isolated data, and nothing else. Data that was never made is
	// no error.
	Drop func(context.Context) error
	// Usage says what the data and its server use; nil: the component cannot say.
	Usage func(context.Context) (Usage, error)
}

// Usage is what isolated data and the server that holds it use.
type Usage struct {
	Place  string           // server and name; equal for components that keep their data together
	Tables map[string]int64 // bytes of each table and index
	// WAL is how many bytes the server has written ahead since it was set up; 0:
	// it does not say.
	WAL int64
	PID int // of the server's first process when it runs on this machine, else 0
	// What a server without a PID says of all its processes: seconds of processors since they
	// began, and bytes of memory that they have taken for themselves. 0: it does not say.
	CPU    float64
	Memory int64
}

// Isolated is a selection whose data is kept apart.
type Isolated struct {
	Selection Selection
	Drop      func(context.Context) error
	Usage     func(context.Context) (Usage, error) // may be nil
}

// isolationName fits into a schema of PostgreSQL and an index of Meilisearch.
var isolationName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// Isolate changes a selection so that its data lies apart under a name of lower
// case letters, digits and underscores, 32 at most. The name must be unused: Drop
// removes everything under it. ok is false for a component that keeps nothing
// outside its data folder; its selection needs no change.
func (k *Kind[P]) Isolate(s Selection, name string) (i Isolated, ok bool, err error) {
	c, known := k.components[s.Component]
	if !known {
		return i, false, fmt.Errorf("%s: this binary has no component %q", k.name, s.Component)
	}
	if !isolationName.MatchString(name) {
		return i, false, fmt.Errorf("isolate %s %s: %q is not a name of 1 to 32 lower case letters, digits and underscores",
			k.name, s.Component, name)
	}
	if c.isolate == nil {
		return i, false, nil
	}
	if i, err = c.isolate(s.Config, name); err != nil {
		return i, false, fmt.Errorf("isolate %s %s: %w", k.name, s.Component, err)
	}
	i.Selection.Component = s.Component
	return i, true, nil
}
