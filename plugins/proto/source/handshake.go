package sourcev1

// The handshake between host and connector; see PROTOCOL-SOURCE.md.
const (
	// Version is of this protocol; each version has a service package of its own.
	Version = 1
	// CookieKey is the environment variable that tells a program that a host started it.
	CookieKey = "MNEME_SOURCE_CONNECTOR"
	// CookieValue is its value.
	CookieValue = "mneme.source"
	// PluginName is what the host asks go-plugin for.
	PluginName = "source"
	// HealthService is the name under which the health service answers SERVING.
	HealthService = "plugin"
)

// The limits of the protocol.
const (
	MaxMessage  = 4 << 20   // bytes of a message, in both directions
	MaxInline   = 1 << 20   // bytes of a content that comes with its item
	MaxChunk    = 256 << 10 // bytes that the Go SDK puts into one part of a content
	MaxState    = 64 << 10  // bytes of a state
	MaxMetadata = 64 << 10
	MaxSchema   = 64 << 10
	MaxKinds    = 64
	MaxProblems = 100_000    // parts of a listing that could not be listed
	MaxEvents   = 20_000_000 // of a listing
)
