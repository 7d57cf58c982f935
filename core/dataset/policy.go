package dataset

import "slices"

// Policy says what an import does with something that exists with other contents: a
// document when a namespace is imported, a namespace or an end user when an
// installation is. Whatever exists with the same contents stays under every policy.
type Policy string

// The policies.
const (
	Fail    Policy = "fail"    // nothing is imported
	Skip    Policy = "skip"    // it stays
	Replace Policy = "replace" // the data set's takes its place
)

// Known reports whether a policy exists.
func (p Policy) Known() bool { return slices.Contains([]Policy{Fail, Skip, Replace}, p) }
