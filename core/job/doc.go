// Package job runs durable background work: what was accepted is done, whatever
// process dies in between.
//
// A Kind says how its jobs run. Start stores a job; from then on it survives its
// process. The process that runs it holds a claim (core/replica), which every write of the
// job's row confirms: a replica that was taken for dead can neither save progress
// nor end the job when it wakes up. A job that no living replica has claimed is
// taken over by whichever replica finds it, with the state that it saved last.
//
//	queued -> running -> succeeded | failed | cancelled
//	   ^         |
//	   +---------+  interrupted by a stop, or to be tried again at NextAttempt
//
// Jobs of a lane run one after the other in a process, those of one organization in the
// order of their Start, the organizations by turns, and a lane waits for the next attempt
// of the job that it has begun. Jobs without a lane run side by side, as many as there are
// workers; they are given back between attempts, and those that found no worker wait in
// the store, until one is free and their organization has the fewest.
//
// An attempt that panics fails its own job alone. One that answers fault
// Unavailable is tried again, a bounded number of times and not before the fault's
// RetryAfter. Cancel ends a queued job at once, and a running one through its
// context, which other replicas do within Settings.Poll.
package job
