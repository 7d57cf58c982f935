// Package remote is what the adapters of remote models share: calling an
// endpoint with limits, retries, a circuit breaker and a key that nothing
// prints, splitting texts into calls, and checking what comes back. A dialect
// adds its request and response bodies.
//
// # One call
//
// Calls wait for a place, queries before passages; one place is kept for
// queries where there are two or more. Each attempt counts for the breaker:
// connections that fail, answers of 500 and more, and silence. A refusal with
// Retry-After pauses every call of the endpoint for that time, for a minute at
// most, and a call that cannot wait so long is answered Unavailable at once. Redirects are
// never followed, so a key goes to the configured address alone. A body is read
// whole inside the attempt, up to a bound, so that one that breaks off is asked
// for again.
//
// # Identity
//
// A namespace records the digest of the model that made its vectors. A remote
// model has no file to hash, so the digest is over what the operator declares:
// task, model name, revision, dimensions and what is put before queries and
// passages (see Identity). The address, the provider and the dialect do not
// count: the same model behind another server keeps its vectors. Operators who run
// the other end can change the model behind a name without telling; the
// operator then has to raise the revision and run 'mneme reindex'.
package remote
