package core

import "embed"

// Sources are the packages that the Go SDKs of processes are built from, as a new
// project gets them: its own copy, so that a vendor needs none of the server.
//
//go:embed fault/*.go filter/*.go ident/*.go port/*.go
var Sources embed.FS
