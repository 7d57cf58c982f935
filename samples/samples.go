// Package samples holds the documents that the quickstart imports: the handbook
// and runbooks of an invented coffee roaster, Harbor & Pine.
package samples

import (
	"embed"
	"io/fs"
)

//go:embed *.md
var files embed.FS

// FS is the documents, Markdown files in one folder.
func FS() fs.FS { return files }
