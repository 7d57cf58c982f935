// Package tool puts the services of namespaces, documents and queries behind
// arguments that a model can fill in: the tools search, fetch, save, delete and
// list_namespaces (decisions 4.3). Each is an operation without a route.
//
// A document is addressed by its handle, namespace/document_id. A namespace comes
// from the argument, the connection's URL, its header, the key, or from being the
// only one that holds documents, in this order.
//
// May import: core/op, core/document, core/namespace, core/query. Must not: ports'
// adapters, transports.
package tool
