package mem0

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation.
func examples() map[string][]op.Example { return map[string][]op.Example{} }
