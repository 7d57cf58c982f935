// Package source is the service of sources: what keeps a namespace in step with a folder,
// a repository, a site or a program.
//
// A source is followed by runs (run.go). A run has its connector list what there is, and
// reads and writes what is new or changed (settle.go): an item of which the same version
// is kept is looked up and nothing more. What the listing has named is marked in a bitmap of item
// numbers; what has no mark at the end of a listing that proves it is gone, unless
// that is suspiciously much (sweep.go, guard.go).
//
// A run is a job (core/job), so a process that dies loses what the last transaction had not
// stored, and whichever takes the job over goes on from there. Documents, items, counts and
// marks change together; every transaction of a run finds it still the source's, so that to cancel,
// pause or delete is one write of the source, and nothing of the run comes after it.
//
// The kind push has no connector: programs bring items and say when they have brought
// all (push.go).
package source
