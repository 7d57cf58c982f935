// Package mem0 speaks mem0's protocol over the service of memories: what the clients of its
// platform call to add, search, list, change and delete memories, in their words and with the
// errors that they read. docs/mem0.md says what is spoken and what is not.
//
// It keeps nothing of its own. A user of mem0's is an end user of the caller's integration, a run
// a container, and an agent or app a value of the metadata; where a memory names no user, what it
// does name is an end user of its own (Entities).
package mem0
