package opensearch

import "context"

// Delete removes the index of a configuration.
func Delete(c Config) error { return c.deleteIndex(context.Background()) }

// TakeForLarge has all partitions of an index searched as large ones are.
func TakeForLarge(x *Index) { x.large = 0 }
