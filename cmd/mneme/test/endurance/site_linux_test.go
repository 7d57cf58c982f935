package endurance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

type object = harness.Object

// settings make segments, merges and evictions happen with little data.
const settings = `
keyword: {embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}
vector: {embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}
sparse: {embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}
`

// site is a data folder with two organizations. Servers come and go.
type site struct {
	*harness.Site
	score   *score
	killing bool // servers are killed: that a call gets no answer is in order
	admin   string
	orgs    [2]*organization
	clients []*client
	at      atomic.Pointer[harness.Server]
	over    atomic.Bool // clients stop

	mu      sync.Mutex
	erased  map[string]bool // words of which nothing may be left
	revoked []string        // keys that may open nothing
}

// organization is one of two that name everything alike.
type organization struct {
	name    string
	mark    string // a word in all texts of this one and in none of the other's
	service string // a key of each kind
	memory  string
	newest  atomic.Value // a version that the other may not find
	other   *organization
}

// newSite makes the folder, the organizations and so many clients of each.
func newSite(t testing.TB, clients int) *site {
	t.Helper()
	s := &site{Site: harness.NewSite(t, settings), score: newScore(t), erased: map[string]bool{}}
	s.Keep = func(line string) bool { return !strings.Contains(line, "msg=call") } // one a call is too much
	s.orgs = [2]*organization{{name: "default", mark: "aardwolf"}, {name: "rival", mark: "zorilla"}}
	s.orgs[0].other, s.orgs[1].other = s.orgs[1], s.orgs[0]
	s.Mneme("orgs", "create", "rival")
	s.admin = s.Key("--type", "admin", "--all-organizations")
	for k, o := range s.orgs {
		o.service = s.Key("--org", o.name)
		o.memory = s.Key("--org", o.name, "--type", "integration", "--integration", "app", "--scopes",
			"memories:read,memories:write,recall:read,users:erase",
			"--memories-per-user", "0", "--read-rate", "0", "--write-rate", "0")
		for i := range clients {
			s.clients = append(s.clients, newClient(s, o, i, k))
		}
	}
	return s
}

// start starts a server and makes what all clients need.
func (s *site) start() {
	s.T.Helper()
	s.at.Store(s.Serve())
	for _, o := range s.orgs {
		s.ok("create", o.service, "POST", "/namespaces", object{"name": "docs", "sparse": true})
		// A namespace without documents is none.
		s.ok("write", o.service, "POST", docs, object{"documents": []object{{"id": "anchor",
			"text": "The " + o.mark + " keeps mud.", "metadata": object{"client": "nobody"}}}})
	}
}

// run has the clients, and an operator beside them, work until work is over.
func (s *site) run(operator *operator, work func()) {
	s.over.Store(false)
	var all sync.WaitGroup
	loop := func(step func() bool) {
		all.Go(func() {
			for !s.over.Load() {
				if !step() {
					time.Sleep(time.Millisecond) // the server may be gone
				}
			}
		})
	}
	for _, c := range s.clients {
		loop(c.step)
	}
	loop(operator.step)
	work()
	s.over.Store(true)
	all.Wait()
}

// ask makes one call, and again as long as it is to come again. It is false without an
// answer.
func (s *site) ask(what, key, method, path string, body any, header ...string) (harness.Answer, bool) {
	for began := time.Now(); ; {
		server, sent := s.at.Load(), time.Now()
		a, err := server.Client(s.T, key).Ask(context.Background(), method, path, body, header...)
		if err != nil {
			if !s.killing {
				s.score.report(wrong, "%v", err)
			}
			return a, false
		}
		s.score.answered(what, time.Since(sent))
		if a.Status != http.StatusServiceUnavailable && a.Status != http.StatusTooManyRequests ||
			a.Header.Get("Retry-After") == "" {
			return a, true
		}
		if s.score.busy(); time.Since(began) > harness.Patience {
			s.score.report(wrong, "again and again: %s", a)
			return a, true
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// ok is ask of what has to succeed.
func (s *site) ok(what, key, method, path string, body any, header ...string) (harness.Answer, bool) {
	a, ok := s.ask(what, key, method, path, body, header...)
	if ok && a.Status/100 != 2 {
		s.score.report(wrong, "%s", a)
		return a, false
	}
	return a, ok
}

// into is ok that decodes the answer.
func (s *site) into(v any, what, key, method, path string, body any, header ...string) bool {
	a, ok := s.ok(what, key, method, path, body, header...)
	if !ok {
		return false
	}
	if err := json.Unmarshal(a.Body, v); err != nil {
		s.score.report(wrong, "%s: %v", a, err)
		return false
	}
	return true
}

// done is a word whose erasure was acknowledged.
func (s *site) done(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erased[word] = true
}

// rareWords are those of end users that are erased.
var rareWords = regexp.MustCompile(`quetzal[a-z0-9]+z`)

// traces looks for words of erased end users in all files.
func (s *site) traces() {
	err := filepath.WalkDir(s.Data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, word := range rareWords.FindAll(b, -1) {
			if s.erased[string(word)] {
				s.score.report(stale, "%s was erased and is in %s", word, path)
			}
		}
		return nil
	})
	if err != nil {
		s.T.Fatal(err)
	}
}

// sweep checks everything that the clients know through a server on which nobody works.
func (s *site) sweep() {
	for _, c := range s.clients {
		c.settle()
	}
	for _, o := range s.orgs {
		s.counts(o)
	}
	for _, key := range s.revoked {
		if a, ok := s.ask("with a revoked key", key, "GET", "/namespaces", nil); ok && a.Status != http.StatusUnauthorized {
			s.score.report(stale, "a revoked key: %s", a)
		}
	}
	s.revoked = nil
}

// counts wants a namespace to count the documents and chunks that it lists.
func (s *site) counts(o *organization) {
	var have struct{ Documents, Chunks int }
	var chunks int
	ids := map[string]bool{}
	for cursor := ""; ; {
		var page struct {
			Documents []struct {
				ID     string
				Chunks int
			}
			Next *string `json:"next_cursor"`
		}
		if !s.into(&page, "list", o.service, "GET", "/namespaces/docs/documents?limit=100&cursor="+cursor, nil) {
			return
		}
		for _, d := range page.Documents {
			if ids[d.ID] {
				s.score.report(doubled, "%s lists %s twice", o.name, d.ID)
			}
			ids[d.ID] = true
			chunks += d.Chunks
		}
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	if s.into(&have, "namespace", o.service, "GET", "/namespaces/docs", nil) &&
		(have.Documents != len(ids) || have.Chunks != chunks) {
		s.score.report(wrong, "%s counts %+v, and lists %d documents of %d chunks", o.name, have, len(ids), chunks)
	}
}

// complaints looks for errors in the log of the last server.
func (s *site) complaints() {
	for _, line := range s.at.Load().Complaints() {
		s.score.report(wrong, "the log says: %s", line)
	}
}

// ranking is what a query finds: scores by chunk.
type ranking map[string]float64

// rankings ask much of each retriever.
func (s *site) rankings() map[string]ranking {
	all := map[string]ranking{}
	for _, o := range s.orgs {
		for _, text := range []string{"ledger of barrels", "herring", "The " + o.mark + " keeps mud", "nothing like it"} {
			for _, retriever := range retrievers {
				var found answer
				if !s.into(&found, "query", o.service, "POST", "/namespaces/docs/query", object{"query": text, "top_k": 100,
					"retrievers": []string{retriever}, "strict": true}) {
					continue
				}
				r := ranking{}
				for _, h := range found.Results {
					r[fmt.Sprintf("%s#%d", h.Document, h.Chunk)] = h.Score
				}
				all[o.name+": "+text+" by "+retriever] = r
			}
		}
	}
	return all
}

// rebuilt compares the index with one that is built from the store alone. No server may
// run on the folder.
func (s *site) rebuilt(want map[string]ranking) {
	s.T.Helper()
	folder := *s.Site
	folder.Data = filepath.Join(s.T.TempDir(), "rebuilt")
	if err := os.CopyFS(folder.Data, os.DirFS(s.Data)); err != nil {
		s.T.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(folder.Data, "index")); err != nil {
		s.T.Fatal(err)
	}
	before := s.at.Load()
	server := folder.Serve()
	s.at.Store(server)
	have := s.rankings()
	server.Kill()
	s.at.Store(before)
	if err := os.RemoveAll(folder.Data); err != nil {
		s.T.Fatal(err)
	}
	for query, w := range want {
		if h := have[query]; !w.like(h) {
			s.score.report(wrong, "%s finds %v, and after a rebuild of the index %v", query, w, h)
		}
	}
}

// like allows for another choice among the last of a full answer.
func (r ranking) like(other ranking) bool {
	const near = 1e-4
	least := 2.0
	for _, score := range r {
		least = min(least, score)
	}
	missing := 0
	for chunk, score := range r {
		switch o, ok := other[chunk]; {
		case !ok && score > least+near, ok && (o-score > near || score-o > near):
			return false
		case !ok:
			missing++
		}
	}
	return len(r) == len(other) && (missing == 0 || len(r) == 100)
}

// process is what the operating system says of the server.
type process struct {
	resident, anonymous int64 // MiB
	files               int
	kinds               string // of the open files
}

func (s *site) process() process {
	s.T.Helper()
	dir := fmt.Sprintf("/proc/%d/", s.at.Load().Cmd.Process.Pid)
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		s.T.Fatal(err)
	}
	var p process
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(f[1], 10, 64) // other lines hold words
		switch f[0] {
		case "VmRSS:":
			p.resident = n >> 10
		case "RssAnon:":
			p.anonymous = n >> 10
		}
	}
	list, err := os.ReadDir(dir + "fd")
	if err != nil {
		s.T.Fatal(err)
	}
	kinds := map[string]int{}
	for _, e := range list {
		to, err := os.Readlink(dir + "fd/" + e.Name())
		if err != nil {
			continue // closed in between
		}
		p.files++
		kind, _, _ := strings.Cut(to, ":")
		if strings.HasPrefix(to, "/") {
			kind = filepath.Ext(to)
		}
		kinds[kind]++
	}
	var told []string
	for kind, n := range kinds {
		told = append(told, fmt.Sprintf("%s %d", kind, n))
	}
	slices.Sort(told)
	p.kinds = strings.Join(told, ", ")
	return p
}

// grown says by how much more a process takes than before than can be in order.
func (p process) grown(before process) string {
	switch {
	case p.files > before.files+64:
		return "descriptors"
	case p.anonymous > 2*before.anonymous+256:
		return "memory"
	}
	return ""
}

func (p process) String() string {
	return fmt.Sprintf("resident %d MiB, of them %d not of files, %d descriptors (%s)", p.resident, p.anonymous, p.files, p.kinds)
}
