package plugins

import "embed"

// Sources are the SDK of model processes and the protocol that it speaks, as a new
// project gets them.
//
//go:embed proto/*.go sdk/*.go
var Sources embed.FS

// ConnectorSources are the same for connectors.
//
//go:embed proto/source/*.go sdk/source/*.go
var ConnectorSources embed.FS
