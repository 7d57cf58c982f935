// Package codec turns what a transport received into an operation's In, and an
// operation's Out into JSON.
//
// Struct tags say where a field comes from: path:"namespace", query:"limit",
// header:"Prefer" or json:"documents" (the body). A path, query or header field
// is never read from the body. fault:"invalid_filter" on a field chooses the
// code of the answer when its value can't be read; invalid_request otherwise.
// maxDecoded:"100" on a list refuses a longer one before it is held in memory.
//
// JSON is read strictly (RFC 8259 with the choices of RFC 7493, I-JSON): no
// unknown field, no duplicate name, no invalid UTF-8, no lone surrogate, no
// case folding of names, no null for a value that can't be absent.
//
// The headers Authorization and X-Timeout-Ms are parsed here too, so that every transport
// reads them alike.
package codec
