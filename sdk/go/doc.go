// Package mneme is a client of Mneme, a memory and document retrieval server.
//
// A [Client] has a field for each kind of thing: Namespaces, Documents, Files, Queries, Memory, Grants, Users, Models,
// Sources, Events, Webhooks and Admin. What the server refuses is an [*APIError]; errors.Is tells its code:
//
//	if errors.Is(err, mneme.ErrNamespaceNotFound) { ... }
//
// Calls that are safe to repeat are repeated after lost connections and failures of the server, all calls where the
// server asked to wait. Lists have a second method, All, that goes over the items of every page.
package mneme
