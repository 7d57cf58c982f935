// Package extract reads text out of files. A Set finds out by the content what a file
// is, has the Extractor of that format read it, and holds it to the Limits: files come
// from strangers, and one that makes a parser panic or run for ever harms only itself.
//
// Each folder below reads one family of formats. A new one implements port.Extractor,
// passes the suite in extracttest and is added in adapters/standard.
package extract
