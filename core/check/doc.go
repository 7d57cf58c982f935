// Package check is the service of saved queries: questions of a namespace, each with the
// documents that it should find among the first. A run asks all of them and says which pass and
// what has changed since each was saved, so that a change of models, settings or documents can
// be judged before anybody relies on it. It asks through core/query, with the rights and limits
// of its caller.
package check
