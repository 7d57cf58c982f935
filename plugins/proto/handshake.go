package proto

// The handshake between host and backend; see PROTOCOL.md.
const (
	// Version is of this protocol; each version has a service package of its own.
	Version = 1
	// CookieKey is the environment variable that tells a backend that a host started it.
	CookieKey = "MNEME_MODEL_BACKEND"
	// CookieValue is its value.
	CookieValue = "mneme.model"
	// PluginName is what the host asks go-plugin for.
	PluginName = "model"
	// HealthService is the name under which the health service answers SERVING.
	HealthService = "plugin"
)

// The limits of one message. A request stays under what gRPC takes by default
// in every language, which is 4 MiB.
const (
	MaxRequestBytes = 3 << 20 // of all texts of a request
	MaxResultBytes  = 64 << 20
	MaxRows         = 1024
	MaxDim          = 65536
)
