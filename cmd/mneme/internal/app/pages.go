package app

import (
	"maps"
	"net/http"

	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/openapi"
	"github.com/mnemehq/mneme/transports/reference"
)

// withPages adds the OpenAPI document and the reference page, which need no key. base is
// the URL under which clients reach the server; "": that of their request.
func withPages(mounts map[string]http.Handler, set *op.Set, base string) (map[string]http.Handler, error) {
	page, err := reference.Handlers()
	if err != nil {
		return nil, err
	}
	maps.Copy(mounts, openapi.Handlers(openapi.Options{Set: set, Server: base}))
	maps.Copy(mounts, page)
	return mounts, nil
}
