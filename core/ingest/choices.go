package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Choices are the embedders of a server, of which a namespace may have one of its own.
type Choices struct {
	Embedders []port.Embedder
	Aliases   map[string]string // further names, each with the model's own
}

// Embedder is that of a name; nil: there is none.
func (c Choices) Embedder(name string) port.Embedder {
	i := slices.IndexFunc(c.Embedders, func(e port.Embedder) bool { return e.Info().ID == name })
	if name == "" || i < 0 {
		return nil
	}
	return c.Embedders[i]
}

// Named is the own name of the embedder that a request names in a field; "" stays "".
// Fault InvalidRequest where there is none of the name.
func (c Choices) Named(field, name string) (string, error) {
	own := name
	if of, ok := c.Aliases[name]; ok {
		own = of
	}
	if name == "" || c.Embedder(own) != nil {
		return own, nil
	}
	return "", fault.Field(fault.InvalidRequest, field, "%q is no embedding model of this server; it has %s",
		fault.Clip(name), c.list(name))
}

// list names the embedders in a sentence about a name that none has.
func (c Choices) list(instead string) string {
	const most = 8
	names := make([]string, len(c.Embedders))
	for i, e := range c.Embedders {
		names[i] = e.Info().ID
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return "none"
	case len(names) <= most:
		return strings.Join(names, ", ")
	}
	shown := names[:most]
	if near := fault.Nearest(instead, names); near != "" && !slices.Contains(shown, near) {
		shown = append([]string{near}, shown[:most-1]...)
	}
	return fmt.Sprintf("%s and %d more, which GET /models?kind=embedding lists", strings.Join(shown, ", "), len(names)-most)
}
