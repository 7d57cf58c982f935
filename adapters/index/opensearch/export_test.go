package opensearch

import "context"

// Delete removes the index of a configuration.
func Delete(c Config) error { return c.deleteIndex(context.Background()) }
