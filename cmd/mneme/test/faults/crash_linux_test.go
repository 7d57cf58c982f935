package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

const (
	crashSpace = "crash"
	// steadySpace takes asynchronous writes of new documents only.
	steadySpace    = "steady"
	crashWriters   = 4
	crashDocuments = 20 // of each writer
	crashGroups    = 4
)

// version is one state of a document: the numbers of the writes that gave it
// its text and its metadata. The zero value is an absent document.
type version struct{ text, meta int }

// documentText is the text of a version: some paragraphs, hence chunks, that
// all name it.
func documentText(id string, v int) string {
	words := []string{"amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor"}
	var b strings.Builder
	for part := range 1 + (v+len(id))%3 {
		if part > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "Document %s, version %d, part %d: %s and %s.", id, v, part, words[(v+part)%len(words)],
			words[(v*3+part)%len(words)])
	}
	return b.String()
}

func documentMetadata(writer, id string, v version) object {
	return object{"writer": writer, "group": groupOf(id), "text": v.text, "version": v.meta,
		"parity": []string{"any", fmt.Sprint(v.meta % 2)}}
}

func groupOf(id string) string {
	sum := 0
	for _, c := range []byte(id) {
		sum += int(c)
	}
	return fmt.Sprint("g", sum%crashGroups)
}

// consistent checks that everything read of a document is of one version.
func consistent(d document) (version, error) {
	number := func(name string) int { n, _ := d.Metadata[name].(float64); return int(n) }
	v := version{number("text"), number("version")}
	writer, _ := d.Metadata["writer"].(string)
	if want := documentText(d.ID, v.text); d.Text != want {
		return v, fmt.Errorf("%s has metadata of %+v with the text %q, want %q", d.ID, v, d.Text, want)
	}
	want, err := json.Marshal(documentMetadata(writer, d.ID, v))
	if err != nil {
		return v, err
	}
	have, err := json.Marshal(d.Metadata)
	if err != nil {
		return v, err
	}
	if string(want) != string(have) {
		return v, fmt.Errorf("%s has metadata %s, want %s", d.ID, have, want)
	}
	parts := strings.Split(d.Text, "\n\n")
	if d.Chunks != len(parts) || d.ChunkList != nil && len(d.ChunkList) != len(parts) {
		return v, fmt.Errorf("%s has %d chunks, %d listed, want %d", d.ID, d.Chunks, len(d.ChunkList), len(parts))
	}
	for i, c := range d.ChunkList {
		if c.Index != i || c.Text != parts[i] || d.Text[c.Start:c.End] != c.Text {
			return v, fmt.Errorf("%s chunk %d is %+v, want %q", d.ID, i, c, parts[i])
		}
	}
	return v, nil
}

// fate is what is known of a document that one writer alone writes.
type fate struct {
	version           // acknowledged
	last     int      // the number of the last acknowledged change, a deletion too
	pending  *version // a change without an answer
	changing bool     // a change is under way
	changes  int      // begun so far
}

// writer writes its own documents, one call at a time.
type writer struct {
	name string
	rand *rand.Rand

	mu     sync.Mutex
	next   int
	fates  map[string]*fate
	batch  []string          // documents of a write without an answer
	async  map[string]string // operation by document, accepted and not yet seen done
	acked  int
	actual map[string]int // acknowledged calls by kind
}

func newWriter(i int, seed uint64) *writer {
	w := &writer{
		name:   fmt.Sprint("w", i),
		rand:   rand.New(rand.NewPCG(seed, uint64(i))),
		fates:  map[string]*fate{},
		async:  map[string]string{},
		actual: map[string]int{},
	}
	for d := range crashDocuments {
		w.fates[fmt.Sprintf("%s-%02d", w.name, d)] = &fate{}
	}
	w.fates[w.name+"-scratch"] = &fate{}
	return w
}

func (w *writer) some() []string {
	var ids []string
	for _, d := range w.rand.Perm(crashDocuments)[:1+w.rand.IntN(4)] {
		ids = append(ids, fmt.Sprintf("%s-%02d", w.name, d))
	}
	return ids
}

// change makes one call that brings documents to new versions. It reports
// false when the server is gone.
func (w *writer) change(p *process, kind, method, path string, body any, to map[string]version, number int) (bool, error) {
	w.mu.Lock()
	for id, v := range to {
		f := w.fates[id]
		f.pending, f.changing = &v, true
		f.changes++
		if kind != "filter" {
			w.batch = append(w.batch, id)
		}
	}
	w.mu.Unlock()
	a, err := p.Ask(context.Background(), method, path, body)
	if err != nil {
		return false, nil
	}
	if a.Status != 200 {
		return false, fmt.Errorf("%s by %s: %s", kind, w.name, a)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, v := range to {
		f := w.fates[id]
		f.version, f.last, f.pending, f.changing = v, number, nil, false
	}
	w.batch = nil
	w.acked++
	w.actual[kind]++
	return true, nil
}

// step makes one random call.
func (w *writer) step(p *process) (bool, error) {
	w.mu.Lock()
	w.next++
	n := w.next
	w.mu.Unlock()
	const base = "/namespaces/" + crashSpace
	put := func(ids []string, text func(string) int) (bool, error) {
		to, docs := map[string]version{}, []object{}
		for _, id := range ids {
			v := version{text(id), n}
			to[id] = v
			docs = append(docs, object{"id": id, "text": documentText(id, v.text), "metadata": documentMetadata(w.name, id, v)})
		}
		return w.change(p, "write", "POST", base+"/documents", object{"documents": docs}, to, n)
	}
	switch dice := w.rand.IntN(100); {
	case dice < 55:
		return put(w.some(), func(string) int { return n })
	case dice < 67: // the same text where there is one
		return put(w.some(), func(id string) int {
			if t := w.fates[id].text; t > 0 {
				return t
			}
			return n
		})
	case dice < 79:
		ids := w.some()
		to := map[string]version{}
		for _, id := range ids {
			to[id] = version{}
		}
		return w.change(p, "delete", "POST", base+"/documents/delete", object{"ids": ids}, to, n)
	case dice < 85:
		group := fmt.Sprint("g", w.rand.IntN(crashGroups))
		to := map[string]version{}
		for id := range w.fates {
			if groupOf(id) == group && !strings.Contains(id, "async") && !strings.Contains(id, "scratch") {
				to[id] = version{}
			}
		}
		return w.change(p, "filter", "POST", base+"/documents/delete",
			object{"filter": object{"writer": w.name, "group": group}}, to, n)
	case dice < 91: // a namespace that comes and goes as a whole
		id, path := w.name+"-scratch", "/namespaces/scratch-"+w.name
		if w.fates[id].text > 0 {
			return w.change(p, "drop", "DELETE", path, nil, map[string]version{id: {}}, n)
		}
		v := version{n, n}
		return w.change(p, "scratch", "POST", path+"/documents", object{"documents": []object{
			{"id": id, "text": documentText(id, n), "metadata": documentMetadata(w.name, id, v)}}}, map[string]version{id: v}, n)
	default:
		id := fmt.Sprintf("%s-async-%d", w.name, n)
		v := version{n, n}
		a, err := p.Ask(context.Background(), "POST", "/namespaces/"+steadySpace+"/documents", object{"documents": []object{
			{"id": id, "text": documentText(id, n), "metadata": documentMetadata(w.name, id, v)}}}, "Prefer", "respond-async")
		if err != nil {
			// It may have been accepted: then the document appears, or it never does.
			w.mu.Lock()
			w.fates[id] = &fate{pending: &v, changing: true}
			w.mu.Unlock()
			return false, nil
		}
		switch {
		case a.Status == 202:
			var o struct{ ID string }
			if err := json.Unmarshal(a.Body, &o); err != nil {
				return false, err
			}
			w.mu.Lock()
			w.fates[id] = &fate{version: v, last: n, changing: true}
			w.async[id] = o.ID
			w.actual["async"]++
			w.acked++
			w.mu.Unlock()
		case a.Status != 503 || a.Header.Get("Retry-After") == "": // 503: its queue is full
			return false, fmt.Errorf("an asynchronous write: %s", a)
		}
		return true, nil
	}
}

// contested are documents that every writer writes.
type contested struct {
	mu   sync.Mutex
	runs map[string][]attempt
}

// attempt is one write of a contested document.
type attempt struct {
	number     int
	begun, end time.Time // end zero: no answer
}

func (c *contested) begin(id string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[id] = append(c.runs[id], attempt{number: n, begun: time.Now()})
}

func (c *contested) acknowledged(id string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.runs[id] {
		if c.runs[id][i].number == n {
			c.runs[id][i].end = time.Now()
		}
	}
}

// check wants the document to be in the state of a write that no acknowledged
// one came wholly after, and starts over with it.
func (c *contested) check(id string, d document, present bool) error {
	runs := c.runs[id]
	if !present {
		for _, r := range runs {
			if !r.end.IsZero() {
				return fmt.Errorf("%s is lost; write %d was acknowledged", id, r.number)
			}
		}
		return nil
	}
	v, err := consistent(d)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(runs, func(r attempt) bool { return r.number == v.text })
	if i < 0 {
		return fmt.Errorf("%s is at version %d, which was not written since it was last seen", id, v.text)
	}
	for _, r := range runs {
		if !r.end.IsZero() && !runs[i].end.IsZero() && r.begun.After(runs[i].end) {
			return fmt.Errorf("%s is at version %d; version %d was written and acknowledged after it", id, v.text, r.number)
		}
	}
	c.runs[id] = []attempt{{number: v.text, begun: runs[i].begun, end: time.Now()}}
	return nil
}

// TestKilledWhileWriting kills the server again and again while several writers
// and readers work, with segment files of a few chunks, so that flushes, merges
// and evictions are under way. After each kill nothing that was acknowledged is
// lost, nothing is half there, and the index equals one built from nothing.
func TestKilledWhileWriting(t *testing.T) {
	n := harness.Rounds(t, 10, 3)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 99))
	s := newSite(t, "", smallIndex)
	writers := make([]*writer, crashWriters)
	for i := range writers {
		writers[i] = newWriter(i, seed)
	}
	shared := &contested{runs: map[string][]attempt{}}
	var sharedNumber atomic.Int64
	var reads, queries atomic.Int64
	kills, compared, checked := 0, 0, 0
	segments := func() []string {
		files, err := filepath.Glob(filepath.Join(s.Data, "index", "*", "*.seg"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	acknowledged := func() (total int) {
		for _, w := range writers {
			total += w.acked
		}
		return total
	}
	// A slow machine does little before a kill: no segment, or not one query, may come of as few rounds as are asked for.
	little := func() bool {
		return len(segments()) == 0 || acknowledged() == 0 || reads.Load() == 0 || queries.Load() == 0
	}
	for round := 0; round < n || little() && round < n+20; round++ {
		p := s.start()
		until := make(chan struct{})
		var group sync.WaitGroup
		problems := make(chan error, 64)
		report := func(err error) {
			select {
			case problems <- err:
			default:
			}
		}
		for _, w := range writers {
			group.Go(func() {
				for {
					more, err := w.step(p)
					if err != nil {
						report(err)
					}
					if !more {
						return
					}
					if w.rand.IntN(4) == 0 {
						number := int(sharedNumber.Add(1))
						id := fmt.Sprint("shared-", w.rand.IntN(3))
						shared.begin(id, number)
						v := version{number, number}
						a, err := p.Ask(context.Background(), "POST", "/namespaces/"+crashSpace+"/documents",
							object{"documents": []object{
								{"id": id, "text": documentText(id, number), "metadata": documentMetadata("all", id, v)}}})
						if err != nil {
							return
						}
						if a.Status != 200 {
							report(fmt.Errorf("a contested write: %s", a))
							return
						}
						shared.acknowledged(id, number)
					}
				}
			})
		}
		for i := range 2 {
			r := rand.New(rand.NewPCG(seed, uint64(1000+round*10+i)))
			group.Go(func() {
				for p.readWhileWriting(writers[r.IntN(len(writers))], r, &reads, &queries, report) {
				}
			})
		}
		time.AfterFunc(time.Duration(150+random.IntN(650))*time.Millisecond, func() { close(until) })
		<-until
		p.Kill()
		group.Wait()
		close(problems)
		for err := range problems {
			t.Error(err)
		}
		kills++
		if round%3 == 1 { // also while it starts
			p := s.Launch()
			time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
			p.Kill()
			kills++
		}
		rebuilt := (*site)(nil)
		if round%4 == 3 || round == n-1 {
			rebuilt = s.copy(t)
			if err := os.RemoveAll(filepath.Join(rebuilt.Data, "index")); err != nil {
				t.Fatal(err)
			}
		}
		p = s.start()
		p.drainAsync()
		for _, w := range writers {
			w.doneAsync(t, p)
		}
		checked += verify(t, p, writers, shared)
		if rebuilt != nil {
			other := rebuilt.start()
			other.drainAsync() // what a crash left to do the copy does as well
			for _, namespace := range []string{crashSpace, steadySpace} {
				same(t, p.answers(namespace), other.answers(namespace))
			}
			other.Kill()
			compared++
		}
		for _, w := range writers {
			w.settle()
		}
		p.Kill() // what a kill leaves is what the next round begins with
		kills++
		if t.Failed() {
			t.FailNow()
		}
	}
	files := segments()
	if len(files) == 0 {
		t.Error("the index has written no segment")
	}
	merged := slices.ContainsFunc(files, func(f string) bool {
		info, err := os.Stat(f)
		return err == nil && info.Size() > 32<<10
	})
	acked := map[string]int{}
	for _, w := range writers {
		for k, v := range w.actual {
			acked[k] += v
		}
	}
	t.Logf("%d kills, %d acknowledged calls %v, %d contested writes, %d documents checked, %d reads and %d queries "+
		"in the meantime, %d comparisons with a rebuilt index, %d segments (merged: %v)",
		kills, acknowledged(), acked, sharedNumber.Load(), checked, reads.Load(), queries.Load(), compared, len(files), merged)
	if acknowledged() == 0 || reads.Load() == 0 || queries.Load() == 0 {
		t.Error("nothing was written or read")
	}
}

// readWhileWriting reads or queries once; false when the server is gone.
func (p *process) readWhileWriting(w *writer, r *rand.Rand, reads, queries *atomic.Int64, report func(error)) bool {
	if r.IntN(3) == 0 {
		mode := []string{"hybrid", "vector", "keyword"}[r.IntN(3)]
		a, err := p.Ask(context.Background(), "POST", "/namespaces/"+crashSpace+"/query",
			object{"query": "amber and birch, part 0", "mode": mode, "filter": object{"writer": w.name}, "top_k": 20})
		if err != nil {
			return false
		}
		if a.Status == 404 { // before the first write
			return true
		}
		var q queried
		if a.Status != 200 || json.Unmarshal(a.Body, &q) != nil {
			report(fmt.Errorf("a query while writing: %s", a))
			return true
		}
		for _, h := range q.Results {
			t, _ := h.Metadata["text"].(float64)
			if h.Metadata["writer"] != w.name {
				report(fmt.Errorf("a query for %s found %v", w.name, h.Metadata))
			}
			if text := documentText(h.DocumentID, int(t)); h.End > len(text) || text[h.Start:h.End] != h.Text {
				report(fmt.Errorf("a query showed %q with the metadata of version %v of %s", h.Text, t, h.DocumentID))
			}
		}
		queries.Add(1)
		return true
	}
	id := fmt.Sprintf("%s-%02d", w.name, r.IntN(crashDocuments))
	w.mu.Lock()
	before := *w.fates[id]
	w.mu.Unlock()
	a, err := p.Ask(context.Background(), "GET", "/namespaces/"+crashSpace+"/documents/"+id+"?include=chunks", nil)
	if err != nil {
		return false
	}
	w.mu.Lock()
	after := *w.fates[id]
	w.mu.Unlock()
	switch a.Status {
	case 200:
		var d document
		if err := json.Unmarshal(a.Body, &d); err != nil {
			report(err)
			return true
		}
		v, err := consistent(d)
		if err != nil {
			report(err)
		}
		if v.meta < before.last || before.version == (version{}) && v.meta == before.last {
			report(fmt.Errorf("%s was read at version %d after change %d was acknowledged", id, v.meta, before.last))
		}
	case 404:
		if before.meta > 0 && !before.changing && before.changes == after.changes {
			report(fmt.Errorf("%s was acknowledged at version %d and is not found", id, before.meta))
		}
	default:
		report(fmt.Errorf("a read while writing: %s", a))
	}
	reads.Add(1)
	return true
}

// drainAsync waits until all accepted writes are done: they are done one after
// the other, those left by a crash first.
func (p *process) drainAsync() {
	p.T.Helper()
	a := p.Call("POST", "/namespaces/last/documents", object{"documents": []object{{"id": "last", "text": "last"}}},
		"Prefer", "respond-async")
	if a.Status != 202 {
		p.T.Fatalf("an asynchronous write: %s", a)
	}
	harness.EventuallySees(p.T, "accepted writes are done", func() (bool, string) {
		state := p.Call("GET", a.Header.Get("Location"), nil)
		return strings.Contains(string(state.Body), "succeeded"), state.String()
	})
}

// doneAsync wants every accepted write to have succeeded.
func (w *writer) doneAsync(t *testing.T, p *process) {
	t.Helper()
	for id, op := range w.async {
		var o struct{ Status string }
		a := p.OK("GET", "/namespaces/"+steadySpace+"/operations/"+op, nil).Into(&o)
		if o.Status != "succeeded" {
			t.Errorf("the accepted write of %s: %s", id, a)
		}
	}
}

// settle makes what was found after a crash the state that is known.
func (w *writer) settle() {
	w.async, w.batch = map[string]string{}, nil
	for _, f := range w.fates {
		f.pending, f.changing = nil, false
	}
}

// verify compares everything stored and indexed with what the writers know. It
// gives the number of documents that it looked at.
func verify(t *testing.T, p *process, writers []*writer, shared *contested) int {
	t.Helper()
	found := map[string]document{}
	namespaces := []string{crashSpace, steadySpace}
	for _, w := range writers {
		namespaces = append(namespaces, "scratch-"+w.name)
	}
	for _, namespace := range namespaces {
		list := p.documents(t, namespace)
		total := counts{Documents: len(list)}
		for id, d := range list {
			if _, err := consistent(d); err != nil {
				t.Error(err)
			}
			total.Chunks += d.Chunks
			total.Bytes += len(d.Text)
			found[id] = d
		}
		if len(list) > 0 {
			var have counts
			p.OK("GET", "/namespaces/"+namespace, nil).Into(&have)
			if have != total {
				t.Errorf("namespace %s counts %+v, its documents are %+v", namespace, have, total)
			}
		}
		for _, w := range writers {
			w.searchable(t, p, namespace, list)
		}
	}
	known := 0
	for _, w := range writers {
		done, undone := []string{}, []string{}
		for id, f := range w.fates {
			var v version
			d, ok := found[id]
			if ok {
				known++
				v, _ = consistent(d)
			}
			switch {
			case f.pending != nil && v == *f.pending:
				if *f.pending != f.version {
					done = append(done, id)
				}
				f.version = v
				f.last = w.next
			case v != f.version:
				t.Errorf("%s is at %+v; %+v was acknowledged, without an answer: %+v", id, v, f.version, f.pending)
			case f.pending != nil:
				undone = append(undone, id)
			}
		}
		for _, id := range done {
			for _, other := range undone {
				if slices.Contains(w.batch, id) && slices.Contains(w.batch, other) {
					t.Errorf("of one write %s is done and %s is not", id, other)
				}
			}
		}
	}
	for i := range 3 {
		id := fmt.Sprint("shared-", i)
		d, ok := found[id]
		if ok {
			known++
		}
		if err := shared.check(id, d, ok); err != nil {
			t.Error(err)
		}
	}
	if known != len(found) {
		t.Errorf("there are %d documents, %d are known", len(found), known)
	}
	return len(found)
}

// searchable wants a filtered vector search to find exactly the chunks of each
// group of the writer's documents, no more and no fewer.
func (w *writer) searchable(t *testing.T, p *process, namespace string, found map[string]document) {
	t.Helper()
	for g := range crashGroups {
		group := fmt.Sprint("g", g)
		want := []string{}
		for id, d := range found {
			if d.Metadata["writer"] == w.name && d.Metadata["group"] == group {
				for i := range d.Chunks {
					want = append(want, fmt.Sprintf("%s#%d", id, i))
				}
			}
		}
		if len(found) == 0 {
			return
		}
		var q queried
		p.OK("POST", "/namespaces/"+namespace+"/query",
			object{"query": "a document about harbors", "mode": "vector", "top_k": 100,
				"filter": object{"writer": w.name, "group": group}}).Into(&q)
		have := []string{}
		for _, h := range q.Results {
			have = append(have, fmt.Sprintf("%s#%d", h.DocumentID, h.ChunkIndex))
		}
		sort.Strings(want)
		sort.Strings(have)
		if len(want) > 100 && len(have) == 100 {
			continue
		}
		if !slices.Equal(want, have) {
			t.Errorf("the index holds %v of %s %s, the store %v", have, w.name, group, want)
		}
	}
}

// documents reads everything of a namespace.
func (p *process) documents(t *testing.T, namespace string) map[string]document {
	t.Helper()
	all := map[string]document{}
	for cursor := ""; ; {
		a := p.Call("GET", "/namespaces/"+namespace+"/documents?limit=50&cursor="+url.QueryEscape(cursor), nil)
		if a.Status == 404 && cursor == "" {
			return all
		}
		var page struct {
			Documents  []document
			NextCursor *string `json:"next_cursor"`
		}
		if a.Status != 200 {
			t.Fatalf("list: %s", a)
		}
		if err := json.Unmarshal(a.Body, &page); err != nil {
			t.Fatal(err)
		}
		for _, listed := range page.Documents {
			var d document
			p.OK("GET", "/namespaces/"+namespace+"/documents/"+listed.ID+"?include=chunks", nil).Into(&d)
			if d.Chunks != listed.Chunks || !d.UpdatedAt.Equal(listed.UpdatedAt) {
				t.Errorf("%s is listed as %+v and read as %+v", listed.ID, listed, d)
			}
			if _, ok := all[d.ID]; ok {
				t.Errorf("%s is listed twice", d.ID)
			}
			all[d.ID] = d
		}
		if page.NextCursor == nil {
			return all
		}
		cursor = *page.NextCursor
	}
}

// copy makes another site of the same data. Nothing may run on this one.
func (s *site) copy(t testing.TB) *site {
	t.Helper()
	folder := *s.Site
	folder.T, folder.Data = t, filepath.Join(t.TempDir(), "copy")
	other := &site{&folder, s.key}
	if err := os.CopyFS(other.Data, os.DirFS(s.Data)); err != nil {
		t.Fatal(err)
	}
	return other
}

// hit is one result of a query.
type hit struct {
	chunk string
	score float64
}

// answers asks many queries of every kind.
func (p *process) answers(namespace string) map[string][]hit {
	p.T.Helper()
	all := map[string][]hit{}
	for _, text := range []string{"amber", "birch and cedar, version 3", "Document w1-04 part 1", "shared delta ember",
		"fjord grove harbor", "w2-07", "nothing of the sort"} {
		for _, mode := range []string{"keyword", "vector", "hybrid"} {
			for _, filter := range []object{nil, {"group": "g1"}, {"parity": "0", "writer": "w2"},
				{"$or": []object{{"writer": "w0"}, {"writer": object{"$in": []string{"all", "w3"}}}}}} {
				body := object{"query": text, "mode": mode, "top_k": 100}
				if filter != nil {
					body["filter"] = filter
				}
				a := p.Call("POST", "/namespaces/"+namespace+"/query", body)
				var q queried
				if a.Status == 200 {
					if err := json.Unmarshal(a.Body, &q); err != nil {
						p.T.Fatal(err)
					}
				} else if a.Status != 404 {
					p.T.Fatalf("query: %s", a)
				}
				hits := []hit{}
				for _, h := range q.Results {
					hits = append(hits, hit{fmt.Sprintf("%s#%d %s", h.DocumentID, h.ChunkIndex, h.Text), h.Score})
				}
				all[fmt.Sprintf("%q %s %v", text, mode, filter)] = hits
			}
		}
	}
	return all
}

// same wants equal answers. Equal scores may come in any order, and the last of
// a full answer may be any of its score.
func same(t *testing.T, have, want map[string][]hit) {
	t.Helper()
	const near = 1e-5
	for query, w := range want {
		h := have[query]
		if len(h) != len(w) {
			t.Errorf("query %s: %d hits, %d after a rebuild", query, len(h), len(w))
			continue
		}
		scores := map[string]float64{}
		for i := range w {
			scores[w[i].chunk] = w[i].score
			if math.Abs(h[i].score-w[i].score) > near {
				t.Errorf("query %s: hit %d is %+v, after a rebuild %+v", query, i, h[i], w[i])
				break
			}
		}
		for _, x := range h {
			score, ok := scores[x.chunk]
			if !ok && len(w) == 100 && math.Abs(x.score-w[len(w)-1].score) <= near {
				continue
			}
			if !ok || math.Abs(score-x.score) > near {
				t.Errorf("query %s: %+v, after a rebuild its score is %v (found: %v)", query, x, score, ok)
				break
			}
		}
	}
}
