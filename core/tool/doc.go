// Package tool puts the services of namespaces, documents and queries behind
// arguments that a model can fill in: the tools search, fetch, save, delete and
// list_namespaces. For keys of the memory API there are context, remember and forget,
// over the service of memories. Each is an operation without a route.
//
// A document is addressed by its handle, namespace/document_id. A namespace comes
// from the argument, the connection's URL, its header, the key, or from being the
// only one that holds documents; the first of these wins.
//
// This package says what the tools do and knows no protocol. transports/mcp offers
// them to MCP clients and knows no service: it finds them, as every transport finds
// its operations, in the set that core/engine mounts.
package tool
