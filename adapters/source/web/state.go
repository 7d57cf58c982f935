package web

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"
	"time"
)

// Bounds of a state: as it is kept, and unpacked.
const (
	maxState    = 64 << 10
	maxUnpacked = 32 << 20
)

// state is what a listing knows of where it is, and the next one of what there was.
type state struct {
	Config   string    `json:"config"` // digest of the configuration that it is for
	Over     bool      `json:"over,omitempty"`
	Problems bool      `json:"problems,omitempty"` // something could not be listed so far
	After    string    `json:"after,omitempty"`    // of a sitemap: the last URL that was asked for
	Started  time.Time `json:"started,omitzero"`   // of a crawl: when all was read from the start
	Limited  bool      `json:"limited,omitempty"`  // it found more pages than it may list
	Again    bool      `json:"again,omitempty"`    // it asks for what an earlier one found
	Hosts    []string  `json:"hosts,omitempty"`
	Done     []target  `json:"done,omitempty"`   // pages that were listed
	Next     []target  `json:"next,omitempty"`   // pages to ask for
	Failed   []target  `json:"failed,omitempty"` // pages of which nobody knows
}

// target is a URL to ask for.
type target struct {
	URL   string `json:"u"`
	Depth int    `json:"d,omitempty"` // links from the first page
	From  string `json:"f,omitempty"` // the page that named it as its canonical URL
	Final bool   `json:"c,omitempty"` // whatever the page names as its canonical URL
}

// encode packs a state; nil: it is too large.
func (s *state) encode() []byte {
	plain, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(plain); err != nil || w.Close() != nil || b.Len() > maxState {
		return nil
	}
	return b.Bytes()
}

// decode unpacks a state, if it is one of this configuration. A listing without one
// begins again.
func (s *listing) decode(raw []byte, config string) state {
	fresh := state{Config: config}
	if len(raw) == 0 {
		return fresh
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw)), maxUnpacked))
	var found state
	if err != nil || json.Unmarshal(plain, &found) != nil || found.Config != config {
		return fresh
	}
	return found
}
