package source

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Cursor is a listing's state where a source is a tree that is listed in order.
type Cursor struct {
	Config string `json:"config"`          // hash of the configuration: after a change of it the state means nothing
	Tree   string `json:"tree,omitempty"`  // what was listed, where that has a name
	After  []byte `json:"after,omitempty"` // path of the last item that was listed; none: the end, or the beginning
}

// ParseCursor reads a state. It is the beginning where there is none, or none of this
// configuration.
func ParseCursor(state []byte, config json.RawMessage) Cursor {
	sum := sha256.Sum256(config)
	fresh := Cursor{Config: hex.EncodeToString(sum[:8])}
	var c Cursor
	if json.Unmarshal(state, &c) != nil || c.Config != fresh.Config {
		return fresh
	}
	return c
}

// State is what ParseCursor reads.
func (c Cursor) State() []byte {
	b, err := json.Marshal(c)
	if err != nil {
		panic("source: " + err.Error()) // strings and bytes always have a JSON form
	}
	return b
}
