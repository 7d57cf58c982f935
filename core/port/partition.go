package port

import (
	"strconv"

	"github.com/mnemehq/mneme/core/ident"
)

// Space is the kind of data a partition holds.
type Space string

// The spaces.
const (
	SpaceDocuments Space = "documents" // one namespace of an organization
	SpaceMemories  Space = "memories"  // one end user of an integration
)

// Partition is the tenant boundary of stored data. Only Documents and Memories
// make one, so a name from a request alone is never enough to reach data.
// It is comparable and may be used as a map key.
type Partition struct {
	org         ident.Org
	space       Space
	integration string
	name        string
	generation  int64
	shadow      bool
}

// Documents is the partition of an organization's namespace.
func Documents(org ident.Org, namespace string) Partition {
	return Partition{org: org, space: SpaceDocuments, name: namespace}
}

// Memories is the partition of an integration's end user.
func Memories(org ident.Org, integration, endUser string) Partition {
	return Partition{org: org, space: SpaceMemories, integration: integration, name: endUser}
}

// At is the partition pinned to one life of its name: a namespace that is
// deleted and written again gets another generation, so data derived from the
// first life (index segments, caches) can never be seen by the second.
// Indexes take pinned partitions only; the store resolves generation 0 by name.
func (p Partition) At(generation int64) Partition { p.generation = generation; return p }

// Shadow is the hidden second life of a namespace's name, which a reindexing fills
// and then swaps with the one that is served. Only the store looks at the flag, and
// only to create, find, write to or delete it; reads and indexes go by generation.
func (p Partition) Shadow() Partition { p.shadow = true; return p }

// IsShadow reports whether Shadow made it.
func (p Partition) IsShadow() bool { return p.shadow }

// Unshadowed is the same generation as indexes and listeners know it, a shadow or
// not.
func (p Partition) Unshadowed() Partition { p.shadow = false; return p }

// Org is the organization that owns the data.
func (p Partition) Org() ident.Org { return p.org }

// Space is the kind of data.
func (p Partition) Space() Space { return p.space }

// Integration is the owning integration of a memory partition, else "".
func (p Partition) Integration() string { return p.integration }

// Name is the namespace's name or the end user's id.
func (p Partition) Name() string { return p.name }

// Generation is the life of the name this partition is pinned to; 0 if none.
func (p Partition) Generation() int64 { return p.generation }

// String names the partition for logs.
func (p Partition) String() string {
	s := string(p.org) + "/" + string(p.space)
	if p.integration != "" {
		s += "/" + p.integration
	}
	return s + "/" + p.name + "#" + strconv.FormatInt(p.generation, 10)
}
