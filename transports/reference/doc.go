// Package reference serves the interactive reference of the HTTP interface: a page
// at /docs, to which one at / leads, that reads /openapi.json and lets people call the operations with their
// key. Everything it loads is embedded in the program and comes from the same
// server, which a strict Content-Security-Policy holds it to. All its URLs are
// relative, so that it works below any base path.
//
// It knows no operation.
package reference
