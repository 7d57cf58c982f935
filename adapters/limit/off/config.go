package off

// Config has no settings.
type Config struct{}

// Default is the only configuration.
func Default() Config { return Config{} }
