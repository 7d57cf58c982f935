package replicas_test

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// mirror knows by a tenant's events alone which documents are in its namespace docs.
type mirror struct {
	f      *fleet
	t      *tenant
	cursor string
	docs   map[string]bool
	told   map[string]int  // how often a document was said to be written
	events map[string]bool // ids of those that were read
	change float64         // the last one
	stop   func()
}

// mirrored begins to follow a tenant that has no documents yet.
func (f *fleet) mirrored(t *tenant) *mirror {
	f.t.Helper()
	m := &mirror{f: f, t: t, cursor: "latest", docs: map[string]bool{}, told: map[string]int{}, events: map[string]bool{}}
	m.read(0)
	stop := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				m.read(1)
			}
		}
	})
	m.stop = sync.OnceFunc(func() {
		close(stop)
		reading.Wait()
	})
	f.t.Cleanup(m.stop)
	return m
}

// read reads on from where the last read ended, whichever replica answers.
func (m *mirror) read(wait int) {
	f := m.f
	a := f.ok(m.t.key, "GET", fmt.Sprintf("/events?limit=1000&wait=%d&after=%s", wait, url.QueryEscape(m.cursor)), nil)
	page := a.JSON()
	if a.Status/100 != 2 {
		return
	}
	if page["missed"] != false {
		f.t.Errorf("LOST: %s has missed events: %s", m.t.org, a.Body)
	}
	m.cursor, _ = page["next_cursor"].(string)
	list, _ := page["events"].([]any)
	for _, e := range list {
		e, _ := e.(map[string]any)
		id, _ := e["id"].(string)
		if m.events[id] || id == "" {
			f.t.Errorf("TWICE: %s is told of %s again", m.t.org, id)
		}
		m.events[id] = true
		data, _ := e["data"].(map[string]any)
		if data["namespace"] != "docs" || e["type"] != "documents.written" && e["type"] != "documents.deleted" {
			continue
		}
		change, _ := data["change"].(float64)
		if change <= m.change {
			f.t.Errorf("%s is told of change %v of docs after %v", m.t.org, change, m.change)
		}
		m.change = change
		ids, _ := data["ids"].([]any)
		for _, id := range ids {
			id, _ := id.(string)
			if e["type"] == "documents.deleted" {
				delete(m.docs, id)
				continue
			}
			m.docs[id] = true
			m.told[id]++
		}
	}
}

// end wants the documents that the events told of to be those that are there, now that
// nobody writes any more.
func (m *mirror) end(documents []string) {
	m.f.t.Helper()
	m.stop()
	there := slices.Sorted(slices.Values(documents))
	harness.EventuallySees(m.f.t, "the events of "+m.t.org+" tell of every document", func() (bool, string) {
		told := slices.Sorted(maps.Keys(m.docs))
		if slices.Equal(told, there) {
			return true, ""
		}
		m.read(1)
		return false, fmt.Sprintf("told of %q, there are %q", told, there)
	})
}

// claims reports whether a replica has a claim.
func (r *replica) claims(name string) bool {
	r.f.t.Helper()
	id, err := os.ReadFile(filepath.Join(r.site.Data, "replica"))
	if err != nil {
		r.f.t.Fatal(err)
	}
	return r.f.rows(fmt.Sprintf("SELECT count(*) FROM claims WHERE name = '%s' AND replica = '%s'", name,
		strings.TrimSpace(string(id)))) == 1
}

// publishes reports whether a replica has the claim to number events.
func (r *replica) publishes() bool {
	r.f.t.Helper()
	return r.claims("events/publish")
}

// publisher is the replica that numbers events, once one does.
func (f *fleet) publisher() (at int) {
	f.t.Helper()
	harness.Eventually(f.t, "a replica numbers events", func() bool {
		at = slices.IndexFunc(f.replicas, (*replica).publishes)
		return at >= 0
	})
	return at
}
