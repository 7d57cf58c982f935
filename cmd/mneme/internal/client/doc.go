// Package client calls the API: over the network, or straight into a handler of
// this process through the same routes.
package client
