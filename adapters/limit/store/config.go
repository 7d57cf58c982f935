package store

// Config has no settings: the buckets are where the documents are.
type Config struct{}

// Default is the only configuration.
func Default() Config { return Config{} }
