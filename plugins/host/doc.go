// Package host runs model backends as processes: it verifies what it starts,
// speaks the process protocol (plugins/proto) with it, and implements the model
// ports over it. What a backend answers is checked before anything uses it.
//
// The life of a backend: Open verifies and starts it, asks what it is, and fails
// when that does not work within the start time-out. From then on a supervisor
// watches it. When it ends, or stops answering, it is killed with everything it
// started, and started again after a wait that grows from a tenth of a second to
// half a minute while starts keep failing. Until it serves again, calls answer
// Unavailable at once, and say when to come back. A backend that describes itself
// otherwise after a restart is refused: vectors of two models never meet. Close
// ends it; so does the end of this process, even by SIGKILL.
package host
