// Package importer brings files into a namespace: text, Markdown, HTML, JSON and
// JSON lines, alone or in folders, through batches of document writes.
//
// A Scanner lists the files and says why it leaves others out, File.Read turns one
// into records, an Importer writes them through a Writer with several batches in
// flight, and a State remembers what is done, so that a run that was stopped, even
// by force, goes on where it was and a repeated one skips what has not changed. A
// State also knows which documents an import has brought: what of them is Stale can
// be deleted, and other imports do not take their names. A Watcher waits for the
// next change. Bar shows the progress.
package importer
