// Package app assembles the product from a configuration: it takes the data
// folder, opens the configured components, builds the engine on them and the
// HTTP handler on that, and takes everything down in the reverse order.
package app
