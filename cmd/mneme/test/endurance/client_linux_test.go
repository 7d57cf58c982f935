package endurance_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cell is what is known of one thing that one client alone changes.
type cell struct {
	now   string   // acknowledged; "": it is not there
	maybe []string // by calls without an answer
}

func (c *cell) begin(to string) { c.maybe = append(c.maybe, to) }
func (c *cell) done(to string)  { c.now, c.maybe = to, nil }

// client is one user of an organization, with documents and end users of its own.
type client struct {
	*site
	org  *organization
	name string
	rand *rand.Rand
	next int

	docs     map[string]*cell  // versions
	accepted map[string]string // answered with 202 and not seen done: operations by document
	scratch  cell              // a namespace that comes and goes
	notes    map[string]*cell  // memories by version: their ids
	records  map[string]*cell  // states of a source system's records
	leaving  string            // the end user who is being erased; "": none
}

const (
	documents = 16 // that a client has at most, besides those written without waiting
	notes     = 12
	records   = 4
)

func newClient(s *site, o *organization, i, k int) *client {
	return &client{
		site:     s,
		org:      o,
		name:     fmt.Sprint("c", i),
		rand:     rand.New(rand.NewPCG(uint64(i), uint64(k))),
		docs:     map[string]*cell{},
		accepted: map[string]string{},
		notes:    map[string]*cell{},
		records:  map[string]*cell{},
	}
}

// step makes one change or one look; false when the server did not answer.
func (c *client) step() bool {
	switch dice := c.rand.IntN(100); {
	case dice < 26:
		return c.write()
	case dice < 33:
		return c.remove()
	case dice < 36:
		return c.removeSome()
	case dice < 41:
		return c.writeLater()
	case dice < 49:
		return c.read()
	case dice < 59:
		return c.query()
	case dice < 63:
		return c.pry()
	case dice < 66:
		return c.pass()
	case dice < 76:
		return c.remember()
	case dice < 81:
		return c.forget()
	case dice < 90:
		return c.record()
	case dice < 94:
		return c.recall()
	default:
		return c.erase()
	}
}

const docs = "/namespaces/docs/documents"

// version is a word that stands for one state of one thing.
func (c *client) version() string {
	c.next++
	return fmt.Sprintf("%sx%sx%d", c.org.mark[:1], c.name, c.next)
}

// parity tells versions apart for filters.
func parity(version string) string {
	n, _ := strconv.Atoi(version[strings.LastIndexByte(version, 'x')+1:]) // as version makes it
	return fmt.Sprint(n % 2)
}

func (c *client) text(version string) string {
	text := fmt.Sprintf("The %s keeps ledger %s of barrels and herring.", c.org.mark, version)
	if parity(version) == "1" {
		text += fmt.Sprintf("\n\nOf ledger %s the %s reads the second page aloud.", version, c.org.mark)
	}
	return text
}

func (c *client) document(id, version string) object {
	return object{"id": id, "text": c.text(version),
		"metadata": object{"client": c.name, "version": version, "parity": parity(version)}}
}

func (c *client) cell(of map[string]*cell, id string) *cell {
	if of[id] == nil {
		of[id] = &cell{}
	}
	return of[id]
}

// present is one of the things that are there; "": there are none.
func (c *client) present(of map[string]*cell) string {
	var there []string
	for id, x := range of {
		if x.now != "" {
			there = append(there, id)
		}
	}
	if len(there) == 0 {
		return ""
	}
	slices.Sort(there)
	return there[c.rand.IntN(len(there))]
}

// seen compares what is there after calls without an answer with what may be.
func (c *client) seen(what string, x *cell, is string) {
	if is != x.now && !slices.Contains(x.maybe, is) {
		f := lost
		if x.now == "" {
			f = stale
		}
		c.score.report(f, "%s of %s is %q; %q was acknowledged, and of calls without an answer %q may be", what, c.org.name, is,
			x.now, x.maybe)
	}
	x.done(is)
}

func (c *client) write() bool {
	var list []object
	to, before := map[string]string{}, ""
	for range 1 + c.rand.IntN(3) {
		id, v := fmt.Sprintf("%s-%d", c.name, c.rand.IntN(documents)), c.version()
		if to[id] != "" {
			continue
		}
		to[id] = v
		x := c.cell(c.docs, id)
		if x.now != "" {
			before = x.now
		}
		x.begin(v)
		list = append(list, c.document(id, v))
	}
	if _, ok := c.ok("write", c.org.service, "POST", docs, object{"documents": list}); !ok {
		return false
	}
	for id, v := range to {
		c.docs[id].done(v)
		c.org.newest.Store(v)
	}
	for id, v := range to {
		c.finds(id, v)
		break
	}
	return before == "" || c.finds("", before)
}

func (c *client) remove() bool {
	id := c.present(c.docs)
	if id == "" {
		return true
	}
	x := c.docs[id]
	before := x.now
	x.begin("")
	if _, ok := c.ok("delete", c.org.service, "POST", docs+"/delete", object{"ids": []string{id}}); !ok {
		return false
	}
	x.done("")
	return c.finds("", before)
}

func (c *client) removeSome() bool {
	p, before := fmt.Sprint(c.rand.IntN(2)), ""
	var gone []*cell
	for _, x := range c.docs {
		if x.now != "" && parity(x.now) == p {
			gone = append(gone, x)
			before = x.now
		}
	}
	for _, x := range gone {
		x.begin("")
	}
	if _, ok := c.ok("delete by filter", c.org.service, "POST", docs+"/delete",
		object{"filter": object{"client": c.name, "parity": p}}); !ok {
		return false
	}
	for _, x := range gone {
		x.done("")
	}
	return before == "" || c.finds("", before)
}

// writeLater writes a new document without waiting, and then waits after all.
func (c *client) writeLater() bool {
	v := c.version()
	id := c.name + "-later-" + v
	x := c.cell(c.docs, id)
	x.begin(v)
	a, ok := c.ok("write later", c.org.service, "POST", docs, object{"documents": []object{c.document(id, v)}},
		"Prefer", "respond-async")
	if !ok {
		c.accepted[id] = "" // perhaps
		return false
	}
	x.done(v)
	c.accepted[id] = a.Header.Get("Location")
	return c.await(id) && c.finds(id, v)
}

// await waits for the end of an accepted write.
func (c *client) await(id string) bool {
	for ; ; time.Sleep(5 * time.Millisecond) {
		var o struct{ Status string }
		if !c.into(&o, "operation", c.org.service, "GET", c.accepted[id], nil) {
			return false
		}
		switch o.Status {
		case "succeeded":
			delete(c.accepted, id)
			return true
		case "failed", "cancelled":
			c.score.report(lost, "the accepted write of %s %s", id, o.Status)
			delete(c.accepted, id)
			return true
		}
	}
}

// read reads a document, or lists those of the client.
func (c *client) read() bool {
	if c.rand.IntN(3) == 0 {
		have, ok := c.listed()
		if !ok {
			return false
		}
		for id, x := range c.docs {
			c.seen("in the list "+id, x, have[id])
		}
		return true
	}
	id := fmt.Sprintf("%s-%d", c.name, c.rand.IntN(documents))
	now := c.cell(c.docs, id).now
	a, ok := c.ask("read", c.org.service, "GET", docs+"/"+id, nil)
	switch text, _ := a.JSON()["text"].(string); {
	case !ok:
		return false
	case a.Status == http.StatusNotFound && now != "":
		c.score.report(lost, "%s was written as %s: %s", id, now, a)
	case a.Status == http.StatusOK && now == "":
		c.score.report(stale, "%s was deleted: %s", id, a)
	case a.Status == http.StatusOK && text != c.text(now):
		c.score.report(lost, "%s was written as %s: %s", id, now, a)
	case a.Status != http.StatusOK && a.Status != http.StatusNotFound:
		c.score.report(wrong, "%s", a)
	}
	return true
}

// listed are the versions of the client's documents by id.
func (c *client) listed() (map[string]string, bool) {
	var page struct {
		Documents []struct {
			ID       string
			Metadata struct{ Version string }
		}
		Next *string `json:"next_cursor"`
	}
	if !c.into(&page, "list", c.org.service, "GET", docs+"?limit=100&prefix="+c.name+"-", nil) {
		return nil, false
	}
	have := map[string]string{}
	for _, d := range page.Documents {
		if have[d.ID] != "" {
			c.score.report(doubled, "%s lists %s twice", c.org.name, d.ID)
		}
		have[d.ID] = d.Metadata.Version
	}
	for id := range have {
		c.cell(c.docs, id)
	}
	return have, page.Next == nil
}

// answer is a query's.
type answer struct {
	Results []struct {
		Document string `json:"document_id"`
		Chunk    int    `json:"chunk_index"`
		Text     string
		Score    float64
		Metadata struct{ Client, Version string }
	}
}

var retrievers = []string{"keyword", "vector", "sparse"}

// look asks a query and checks that what it finds is the organization's, and once.
func (c *client) look(what string, body object) (answer, bool) {
	body["top_k"] = 100
	var found answer
	if !c.into(&found, what, c.org.service, "POST", "/namespaces/docs/query", body) {
		return found, false
	}
	chunks := map[string]bool{}
	for _, h := range found.Results {
		c.own(h.Text)
		chunk := fmt.Sprintf("%s#%d", h.Document, h.Chunk)
		if chunks[chunk] {
			c.score.report(doubled, "a query of %s finds %s twice", c.org.name, chunk)
		}
		chunks[chunk] = true
	}
	return found, true
}

// own wants a text to be the organization's.
func (c *client) own(text string) {
	if !strings.Contains(text, c.org.mark) || strings.Contains(text, c.org.other.mark) {
		c.score.report(leaked, "%s is shown %q", c.org.name, text)
	}
}

// finds wants a version to be found in this document alone, by one of the retrievers;
// "": nowhere.
func (c *client) finds(id, version string) bool {
	by := retrievers[c.rand.IntN(len(retrievers))]
	found, ok := c.look("query", object{"query": "ledger " + version, "retrievers": []string{by}, "strict": true,
		"filter": object{"client": c.name, "version": version}})
	if !ok {
		return false
	}
	for _, h := range found.Results {
		if h.Document != id {
			c.score.report(stale, "%s is %q, and %s finds it in %s", version, id, by, h.Document)
		}
	}
	if id != "" && len(found.Results) == 0 {
		c.score.report(lost, "%s is %s, and %s does not find it", version, id, by)
	}
	return true
}

// query asks what an application would.
func (c *client) query() bool {
	body := object{"query": "Who keeps the ledger of herring?"}
	switch c.rand.IntN(4) {
	case 0:
		body["retrievers"] = retrievers
	case 1:
		body["mode"] = "keyword"
	case 2:
		body["rerank"] = true
		body["query"] = "second page"
		body["filter"] = object{"client": c.name}
	}
	_, ok := c.look("query", body)
	return ok
}

// pry asks for what the other organization alone has.
func (c *client) pry() bool {
	v, _ := c.org.other.newest.Load().(string)
	if v == "" {
		return true
	}
	found, ok := c.look("query", object{"query": v, "retrievers": []string{"keyword"}, "strict": true})
	if ok && len(found.Results) != 0 {
		c.score.report(leaked, "%s finds %s of the other organization: %v", c.org.name, v, found)
	}
	return ok
}

// pass makes a namespace and deletes it.
func (c *client) pass() bool {
	path, v := "/namespaces/scratch-"+c.name, c.version()
	c.scratch.begin(v)
	if _, ok := c.ok("write", c.org.service, "POST", path+"/documents",
		object{"documents": []object{c.document("one", v)}}); !ok {
		return false
	}
	c.scratch.done(v)
	var found answer
	if !c.into(&found, "query", c.org.service, "POST", path+"/query", object{"query": v, "mode": "keyword"}) {
		return false
	}
	if len(found.Results) == 0 || found.Results[0].Metadata.Version != v {
		c.score.report(lost, "the only document of %s is %s, and is found as %v", path, v, found)
	}
	c.scratch.begin("")
	if _, ok := c.ok("delete namespace", c.org.service, "DELETE", path, nil); !ok {
		return false
	}
	c.scratch.done("")
	a, ok := c.ask("query", c.org.service, "POST", path+"/query", object{"query": v})
	if ok && a.Status != http.StatusNotFound {
		c.score.report(stale, "%s was deleted: %s", path, a)
	}
	return ok
}

// settle finds out what became of calls without an answer, and checks the rest.
func (c *client) settle() {
	if len(c.accepted) > 0 { // they are done one after the other: after this one, all are
		if !c.writeLater() {
			return
		}
	}
	for id, at := range c.accepted {
		if at == "" {
			delete(c.accepted, id)
			continue
		}
		c.await(id)
	}
	have, ok := c.listed()
	if !ok {
		c.score.report(wrong, "the list of %s of %s ends early", c.name, c.org.name)
		return
	}
	for id, x := range c.docs {
		c.seen(id, x, have[id])
		if x.now == "" {
			delete(c.docs, id)
		}
	}
	for _, by := range retrievers {
		found, ok := c.look("query", object{"query": "the ledger of barrels and herring", "retrievers": []string{by},
			"strict": true, "filter": object{"client": c.name}, "max_chunks_per_document": 1})
		if !ok {
			continue
		}
		for _, h := range found.Results {
			if have[h.Document] != h.Metadata.Version {
				c.score.report(stale, "%s finds %s as %s, and it is %q", by, h.Document, h.Metadata.Version, have[h.Document])
			}
			delete(have, h.Document)
		}
		if len(have) > 0 && len(found.Results) < 100 {
			c.score.report(lost, "%s does not find %v of %s", by, have, c.org.name)
		}
		have = map[string]string{}
		for id, x := range c.docs {
			have[id] = x.now
		}
	}
	a, ok := c.ask("read", c.org.service, "GET", "/namespaces/scratch-"+c.name+"/documents/one", nil)
	if ok {
		is, _ := a.JSON()["metadata"].(object)
		v, _ := is["version"].(string)
		c.seen("the only document of scratch-"+c.name, &c.scratch, v)
	}
	c.settleMemories()
}
