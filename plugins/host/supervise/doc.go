// Package supervise runs a program beside this process and keeps it running, whatever
// service the program is there for: it verifies what it starts, takes go-plugin's
// handshake, watches the health, the memory and the output, and ends what hangs.
//
// The life of a backend: Open verifies and starts it, asks what it is, and fails
// when that does not work within the start time-out. From then on a supervisor
// watches it. When it ends, or stops answering, it is killed with everything it
// started, and started again after a wait that grows from a tenth of a second to
// half a minute while starts keep failing. Until it serves again, calls answer
// Unavailable at once, and say when to come back. A backend that describes itself
// otherwise after a restart is refused. Close ends it; so does the end of this
// process, even by SIGKILL.
package supervise
