// Package standard is the list of components that a stock binary carries, and
// nothing else.
//
// May import: core/registry and every adapter.
package standard

import (
	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/model/openai"
	"github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the stock components.
func Register(r *registry.Registry) {
	sqlite.Register(r)
	embedded.Register(r)
	wasm.Register(r)
	openai.Register(r)
}
