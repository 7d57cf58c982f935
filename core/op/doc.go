// Package op is the operation table: every operation of the product is declared
// once, as a Spec beside the service method that does it. Routes, MCP tools,
// OpenAPI, metric and span names derive from the Set of mounted operations.
//
// go-kit's endpoint.Endpoint and endpoint.Middleware are the seam: a transport
// makes a *Call, hands it to Route.Endpoint and gets the operation's Out or an
// error. Decoding happens inside the endpoint, after authentication and rate
// limits, so a caller without a key never makes the server read a body, and a
// bad body is logged and counted like any failure.
package op
