// Package openapi makes the OpenAPI 3.1 document of the operations of an op.Set:
// paths, parameters, bodies, answers, errors with their codes, headers and keys,
// all derived from the Specs and from the In and Out types. It renders it as JSON
// and YAML, serves both, and compares two versions of it for what would break a
// client.
package openapi
