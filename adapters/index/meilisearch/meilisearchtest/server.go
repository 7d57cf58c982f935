package meilisearchtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options fit a server to a test.
type Options struct {
	Version   string // "": 1.50.0
	MasterKey string // "": no keys are asked for
	// PayloadLimit is http-payload-size-limit in bytes; 0: 100 MB.
	PayloadLimit int64
}

// Server is a running server.
type Server struct {
	URL  string
	Key  string // the master key
	opts Options
	addr string

	mu      sync.RWMutex
	indexes map[string]*index
	tasks   []*task
	keys    map[string]*key
	wake    chan struct{}
	stop    chan struct{}
	done    chan struct{}
	fault   func(*http.Request) int // status to answer with; 0: none
	delay   func(kind string) time.Duration
	fail    func(kind string) (code, message string)
	held    bool

	http     *http.Server
	requests map[string]int // by method and pattern
}

type key struct {
	Key     string   `json:"key"`
	UID     string   `json:"uid"`
	Name    string   `json:"name"`
	Actions []string `json:"actions"`
	Indexes []string `json:"indexes"`
}

// index is one index.
type index struct {
	uid, primaryKey string
	created         time.Time
	settings        settings
	byID            map[int]*document
	byName          map[string]*document
	next            int
	postings        map[string]map[int]bool // word, internal ids
}

type document struct {
	id     int
	name   string
	fields map[string]json.RawMessage
	words  map[string][]int
	facets map[string]facet
}

// settings are those of an index, with the server's names and defaults
// ("Settings" of the API reference).
type settings struct {
	DisplayedAttributes  []string            `json:"displayedAttributes"`
	SearchableAttributes []string            `json:"searchableAttributes"`
	FilterableAttributes []string            `json:"filterableAttributes"`
	SortableAttributes   []string            `json:"sortableAttributes"`
	RankingRules         []string            `json:"rankingRules"`
	StopWords            []string            `json:"stopWords"`
	NonSeparatorTokens   []string            `json:"nonSeparatorTokens"`
	SeparatorTokens      []string            `json:"separatorTokens"`
	Dictionary           []string            `json:"dictionary"`
	Synonyms             map[string][]string `json:"synonyms"`
	DistinctAttribute    *string             `json:"distinctAttribute"`
	ProximityPrecision   string              `json:"proximityPrecision"`
	TypoTolerance        typoTolerance       `json:"typoTolerance"`
	Faceting             map[string]any      `json:"faceting"`
	Pagination           pagination          `json:"pagination"`
	Embedders            map[string]any      `json:"embedders"`
	SearchCutoffMs       *int                `json:"searchCutoffMs"`
	LocalizedAttributes  []map[string]any    `json:"localizedAttributes"`
	FacetSearch          bool                `json:"facetSearch"`
	PrefixSearch         string              `json:"prefixSearch"`
}

type typoTolerance struct {
	Enabled             bool `json:"enabled"`
	MinWordSizeForTypos struct {
		OneTypo  int `json:"oneTypo"`
		TwoTypos int `json:"twoTypos"`
	} `json:"minWordSizeForTypos"`
	DisableOnWords      []string `json:"disableOnWords"`
	DisableOnAttributes []string `json:"disableOnAttributes"`
	DisableOnNumbers    bool     `json:"disableOnNumbers"`
}

type pagination struct {
	MaxTotalHits int `json:"maxTotalHits"`
}

func defaults() settings {
	s := settings{
		DisplayedAttributes:  []string{"*"},
		SearchableAttributes: []string{"*"},
		FilterableAttributes: []string{},
		SortableAttributes:   []string{},
		RankingRules:         []string{"words", "typo", "proximity", "attributeRank", "sort", "wordPosition", "exactness"},
		StopWords:            []string{},
		NonSeparatorTokens:   []string{},
		SeparatorTokens:      []string{},
		Dictionary:           []string{},
		Synonyms:             map[string][]string{},
		ProximityPrecision:   "byWord",
		Faceting:             map[string]any{"maxValuesPerFacet": 100, "sortFacetValuesBy": map[string]string{"*": "alpha"}},
		Pagination:           pagination{1000},
		Embedders:            map[string]any{},
		FacetSearch:          true,
		PrefixSearch:         "indexingTime",
	}
	s.TypoTolerance.Enabled = true
	s.TypoTolerance.MinWordSizeForTypos.OneTypo, s.TypoTolerance.MinWordSizeForTypos.TwoTypos = 5, 9
	s.TypoTolerance.DisableOnWords, s.TypoTolerance.DisableOnAttributes = []string{}, []string{}
	return s
}

// task is one entry of the queue ("Tasks" of the API reference).
type task struct {
	UID        int64          `json:"uid"`
	IndexUID   string         `json:"indexUid"`
	Status     string         `json:"status"`
	Type       string         `json:"type"`
	CanceledBy *int64         `json:"canceledBy"`
	Details    map[string]any `json:"details"`
	Error      *apiError      `json:"error"`
	Duration   *string        `json:"duration"`
	EnqueuedAt time.Time      `json:"enqueuedAt"`
	StartedAt  *time.Time     `json:"startedAt"`
	FinishedAt *time.Time     `json:"finishedAt"`

	run func() *apiError
}

// apiError is an error as every answer and task gives it.
type apiError struct {
	Message string `json:"message"`
	Code    string `json:"code"`
	Type    string `json:"type"`
	Link    string `json:"link"`
}

// statuses of the codes that are not 400, from the error reference.
var statuses = map[string]int{
	"index_not_found": 404, "document_not_found": 404, "task_not_found": 404, "not_found": 404, "api_key_not_found": 404,
	"invalid_api_key": 403, "missing_authorization_header": 401, "payload_too_large": 413, "index_already_exists": 409,
	"internal": 500, "too_many_search_requests": 503,
}

func failure(code, format string, args ...any) *apiError {
	kind := "invalid_request"
	switch code {
	case "invalid_api_key", "missing_authorization_header":
		kind = "auth"
	case "internal":
		kind = "internal"
	case "too_many_search_requests":
		kind = "system"
	}
	return &apiError{fmt.Sprintf(format, args...), code, kind, "https://docs.meilisearch.com/errors#" + code}
}

// Start runs a server until the end of the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Version == "" {
		o.Version = "1.50.0"
	}
	if o.PayloadLimit == 0 {
		o.PayloadLimit = 100_000_000
	}
	s := &Server{Key: o.MasterKey, opts: o, indexes: map[string]*index{}, keys: map[string]*key{}, requests: map[string]int{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	if err := s.listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	go s.work()
	t.Cleanup(func() {
		s.Down()
		close(s.stop)
		<-s.done
	})
	return s
}

func (s *Server) listen(addr string) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	s.addr = l.Addr().String()
	s.URL = "http://" + s.addr
	s.http = &http.Server{Handler: s.handler(), ReadHeaderTimeout: time.Minute}
	server := s.http
	go func() { _ = server.Serve(l) }()
	return nil
}

// Down ends the server as kill does: connections break. Data and tasks stay, as
// they do on disk.
func (s *Server) Down() {
	if s.http != nil {
		_ = s.http.Close()
		s.http = nil
	}
}

// Up starts it again at the same address.
func (s *Server) Up(t testing.TB) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for {
		err := s.listen(s.addr)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Fault makes requests fail: the function gives the status to answer with, 0 to
// serve the request, -1 to break the connection after the request was served.
// nil ends it.
func (s *Server) Fault(f func(*http.Request) int) { s.set(func() { s.fault = f }) }

// Delay makes tasks take long, by type. nil ends it.
func (s *Server) Delay(f func(kind string) time.Duration) { s.set(func() { s.delay = f }) }

// Fail makes tasks fail with an error code, by type; "" lets them be. nil ends it.
func (s *Server) Fail(f func(kind string) (code, message string)) { s.set(func() { s.fail = f }) }

// Hold stops the work on tasks until Release.
func (s *Server) Hold() { s.set(func() { s.held = true }) }

// Release goes on with the tasks.
func (s *Server) Release() {
	s.set(func() { s.held = false })
	s.poke()
}

// AddKey makes an API key with these actions on all indexes.
func (s *Server) AddKey(secret string, actions ...string) {
	s.set(func() {
		s.keys[secret] = &key{Key: secret, UID: "uid-" + secret, Actions: actions, Indexes: []string{"*"}}
	})
}

// RevokeKey deletes an API key.
func (s *Server) RevokeKey(secret string) { s.set(func() { delete(s.keys, secret) }) }

// Requests counts what was asked for, by method and route.
func (s *Server) Requests() map[string]int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.requests)
}

// Tasks gives the types and statuses of all tasks, oldest first.
func (s *Server) Tasks() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]string, len(s.tasks))
	for i, t := range s.tasks {
		out[i] = t.Type + " " + t.Status
	}
	return out
}

// Documents counts those of an index.
func (s *Server) Documents(uid string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if ix := s.indexes[uid]; ix != nil {
		return len(ix.byID)
	}
	return 0
}

// Indexes lists the names of the indexes in order.
func (s *Server) Indexes() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.indexes))
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
}

func (s *Server) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// work runs the queue: one task at a time, in order ("Asynchronous operations").
func (s *Server) work() {
	defer close(s.done)
	for at := 0; ; {
		s.mu.Lock()
		var t *task
		if at < len(s.tasks) && !s.held {
			t = s.tasks[at]
		}
		if t == nil {
			s.mu.Unlock()
			select {
			case <-s.wake:
				continue
			case <-s.stop:
				return
			}
		}
		at++
		now := time.Now().UTC()
		t.Status, t.StartedAt = "processing", &now
		var pause time.Duration
		if s.delay != nil {
			pause = s.delay(t.Type)
		}
		s.mu.Unlock()
		if pause > 0 {
			select {
			case <-time.After(pause):
			case <-s.stop:
				return
			}
		}
		s.mu.Lock()
		if s.fail != nil {
			if code, message := s.fail(t.Type); code != "" {
				t.Error = failure(code, "%s", message)
			}
		}
		if t.Error == nil {
			t.Error = t.run()
		}
		t.run = nil
		if t.Status = "succeeded"; t.Error != nil {
			t.Status = "failed"
		}
		end := time.Now().UTC()
		took := fmt.Sprintf("PT%.6fS", end.Sub(now).Seconds())
		t.FinishedAt, t.Duration = &end, &took
		s.mu.Unlock()
	}
}

// call is one request with what the routes need of it.
type call struct {
	s    *Server
	r    *http.Request
	w    http.ResponseWriter
	body []byte
	key  *key // nil: the master key, or none is asked for
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	route := func(pattern, action string, serve func(*call) (int, any)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			s.requests[pattern]++
			broken := s.fault
			s.mu.Unlock()
			status := 0
			if broken != nil {
				status = broken(r)
			}
			if status > 0 {
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(status)
				return
			}
			c := &call{s: s, r: r, w: w}
			code, body := c.serve(action, serve)
			if status < 0 {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(body)
		})
	}
	route("GET /health", "", func(*call) (int, any) { return 200, map[string]string{"status": "available"} })
	route("GET /version", "version", func(c *call) (int, any) {
		return 200, map[string]string{"commitSha": "unknown", "commitDate": "unknown", "pkgVersion": s.opts.Version}
	})
	route("GET /stats", "stats.get", (*call).stats)
	route("GET /tasks/{task}", "tasks.get", (*call).task)
	route("GET /indexes/{index}", "indexes.get", (*call).indexInfo)
	route("POST /indexes", "indexes.create", (*call).createIndex)
	route("DELETE /indexes/{index}", "indexes.delete", (*call).deleteIndex)
	route("GET /indexes/{index}/settings", "settings.get", (*call).readSettings)
	route("PATCH /indexes/{index}/settings", "settings.update", (*call).updateSettings)
	route("DELETE /indexes/{index}/settings", "settings.update", (*call).resetSettings)
	route("PUT /indexes/{index}/settings/facet-search", "settings.update", (*call).updateFacetSearch)
	route("POST /indexes/{index}/documents", "documents.add", (*call).addDocuments)
	route("GET /indexes/{index}/documents/{document}", "documents.get", (*call).readDocument)
	route("POST /indexes/{index}/documents/fetch", "documents.get", (*call).fetchDocuments)
	route("POST /indexes/{index}/documents/delete-batch", "documents.delete", (*call).deleteBatch)
	route("POST /indexes/{index}/documents/delete", "documents.delete", (*call).deleteByFilter)
	route("DELETE /indexes/{index}/documents", "documents.delete", (*call).clearDocuments)
	route("POST /indexes/{index}/search", "search", (*call).searchOne)
	route("POST /multi-search", "search", (*call).searchMany)
	route("POST /keys", "keys.create", (*call).createKey)
	route("DELETE /keys/{key}", "keys.delete", (*call).deleteKey)
	route("/", "", func(c *call) (int, any) {
		return reply(failure("not_found", "Not found: %s %s", c.r.Method, c.r.URL.Path))
	})
	return mux
}

func reply(e *apiError) (int, any) {
	status := statuses[e.Code]
	if status == 0 {
		status = 400
	}
	return status, e
}

func (c *call) serve(action string, serve func(*call) (int, any)) (int, any) {
	if e := c.authorize(action); e != nil {
		return reply(e)
	}
	body, err := io.ReadAll(io.LimitReader(c.r.Body, c.s.opts.PayloadLimit+1))
	if err != nil {
		return reply(failure("internal", "%v", err))
	}
	if int64(len(body)) > c.s.opts.PayloadLimit {
		return reply(failure("payload_too_large",
			"The provided payload reached the size limit. The maximum accepted payload size is %d bytes.", c.s.opts.PayloadLimit))
	}
	c.body = body
	return serve(c)
}

// authorize asks for a key when there is a master key ("Security"): none is 401,
// one that is unknown or lacks the action is 403 with the same code.
func (c *call) authorize(action string) *apiError {
	if c.s.opts.MasterKey == "" || action == "" {
		return nil
	}
	header := c.r.Header.Get("Authorization")
	secret, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return failure("missing_authorization_header",
			"The Authorization header is missing. It must use the bearer authorization method.")
	}
	if secret == c.s.opts.MasterKey {
		return nil
	}
	c.s.mu.RLock()
	k := c.s.keys[secret]
	c.s.mu.RUnlock()
	if k == nil || !k.may(action) || !k.reaches(c.r.PathValue("index")) {
		return failure("invalid_api_key", "The provided API key is invalid.")
	}
	c.key = k
	return nil
}

func (k *key) may(action string) bool {
	group, _, _ := strings.Cut(action, ".")
	return slices.ContainsFunc(k.Actions, func(a string) bool { return a == "*" || a == action || a == group+".*" })
}

func (k *key) reaches(uid string) bool {
	return uid == "" || slices.ContainsFunc(k.Indexes, func(p string) bool {
		prefix, star := strings.CutSuffix(p, "*")
		return p == uid || star && strings.HasPrefix(uid, prefix)
	})
}

// enqueue adds a task and answers 202 with its summary.
func (c *call) enqueue(kind, uid string, run func() *apiError) (int, any) {
	s := c.s
	s.mu.Lock()
	t := &task{UID: int64(len(s.tasks)), IndexUID: uid, Status: "enqueued", Type: kind, EnqueuedAt: time.Now().UTC(), run: run}
	s.tasks = append(s.tasks, t)
	s.mu.Unlock()
	s.poke()
	return 202, map[string]any{"taskUid": t.UID, "indexUid": uid, "status": "enqueued", "type": kind, "enqueuedAt": t.EnqueuedAt}
}

func (c *call) task() (int, any) {
	uid, err := strconv.ParseInt(c.r.PathValue("task"), 10, 64)
	if err != nil {
		return reply(failure("invalid_task_uids",
			"Task uid `%s` is invalid. It should only contain numeric characters.", c.r.PathValue("task")))
	}
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	if uid < 0 || uid >= int64(len(c.s.tasks)) {
		return reply(failure("task_not_found", "Task `%d` not found.", uid))
	}
	t := *c.s.tasks[uid]
	return 200, t
}

// find is the index of the path; the caller holds the lock.
func (c *call) find() (*index, *apiError) { return c.s.named(c.r.PathValue("index")) }

func (s *Server) named(uid string) (*index, *apiError) {
	if ix := s.indexes[uid]; ix != nil {
		return ix, nil
	}
	return nil, failure("index_not_found", "Index `%s` not found.", uid)
}

func (c *call) stats() (int, any) {
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	all := map[string]any{}
	for uid, ix := range c.s.indexes {
		all[uid] = map[string]any{"numberOfDocuments": len(ix.byID), "isIndexing": false, "fieldDistribution": map[string]int{}}
	}
	return 200, map[string]any{"databaseSize": 0, "usedDatabaseSize": 0, "lastUpdate": time.Now().UTC(), "indexes": all}
}

func (c *call) indexInfo() (int, any) {
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	ix, e := c.find()
	if e != nil {
		return reply(e)
	}
	return 200, map[string]any{"uid": ix.uid, "primaryKey": ix.primaryKey, "createdAt": ix.created, "updatedAt": ix.created}
}

var uidForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,400}$`)

func newIndex(uid, primaryKey string) *index {
	return &index{uid: uid, primaryKey: primaryKey, created: time.Now().UTC(), settings: defaults(), byID: map[int]*document{},
		byName: map[string]*document{}, postings: map[string]map[int]bool{}}
}

func (c *call) createIndex() (int, any) {
	var body struct {
		UID        string `json:"uid"`
		PrimaryKey string `json:"primaryKey"`
	}
	if err := json.Unmarshal(c.body, &body); err != nil {
		return reply(failure("malformed_payload", "The json payload provided is malformed. `%v`.", err))
	}
	if !uidForm.MatchString(body.UID) {
		return reply(failure("invalid_index_uid", "`%s` is not a valid index uid.", body.UID))
	}
	if c.key != nil && !c.key.reaches(body.UID) {
		return reply(failure("invalid_api_key", "The provided API key is invalid."))
	}
	return c.enqueue("indexCreation", body.UID, func() *apiError {
		if c.s.indexes[body.UID] != nil {
			return failure("index_already_exists", "Index `%s` already exists.", body.UID)
		}
		c.s.indexes[body.UID] = newIndex(body.UID, body.PrimaryKey)
		return nil
	})
}

func (c *call) deleteIndex() (int, any) {
	uid := c.r.PathValue("index")
	return c.enqueue("indexDeletion", uid, func() *apiError {
		_, e := c.s.named(uid)
		delete(c.s.indexes, uid)
		return e
	})
}

func (c *call) readSettings() (int, any) {
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	ix, e := c.find()
	if e != nil {
		return reply(e)
	}
	s := ix.settings
	s.FilterableAttributes = slices.Sorted(slices.Values(s.FilterableAttributes))
	// Encoded here: the next update writes to the same lists.
	b, err := json.Marshal(s)
	if err != nil {
		return reply(failure("internal", "%v", err))
	}
	return 200, json.RawMessage(b)
}

// change enqueues a task on the settings, which makes an index that is missing
// where the key may.
func (c *call) change(edit func(*settings) *apiError) (int, any) {
	uid := c.r.PathValue("index")
	return c.enqueue("settingsUpdate", uid, func() *apiError {
		ix, e := c.ensure(uid)
		if e != nil {
			return e
		}
		next := ix.settings
		if e := edit(&next); e != nil {
			return e
		}
		ix.settings = next
		for _, d := range ix.byID {
			ix.reindex(d)
		}
		return nil
	})
}

// ensure finds an index or makes it; only a key that may create indexes does.
func (c *call) ensure(uid string) (*index, *apiError) {
	ix, e := c.s.named(uid)
	if e != nil && (c.key == nil || c.key.may("indexes.create")) {
		ix, e = newIndex(uid, ""), nil
		c.s.indexes[uid] = ix
	}
	return ix, e
}

func (c *call) updateSettings() (int, any) {
	var names map[string]json.RawMessage
	if err := json.Unmarshal(c.body, &names); err != nil {
		return reply(failure("malformed_payload", "The json payload provided is malformed. `%v`.", err))
	}
	var probe settings
	decode := json.NewDecoder(bytes.NewReader(c.body))
	decode.DisallowUnknownFields()
	if err := decode.Decode(&probe); err != nil {
		return reply(failure("bad_request", "%v", err))
	}
	for _, r := range probe.RankingRules {
		known := []string{"words", "typo", "proximity", "attribute", "attributeRank", "wordPosition", "sort", "exactness"}
		if !slices.Contains(known, r) && !strings.HasSuffix(r, ":asc") && !strings.HasSuffix(r, ":desc") {
			return reply(failure("invalid_settings_ranking_rules", "`%s` ranking rule is invalid.", r))
		}
	}
	body := c.body
	return c.change(func(s *settings) *apiError {
		// null resets a setting; what is not named stays.
		fresh := defaults()
		if err := json.Unmarshal(body, s); err != nil {
			return failure("bad_request", "%v", err)
		}
		if string(names["stopWords"]) == "null" {
			s.StopWords = fresh.StopWords
		}
		if string(names["rankingRules"]) == "null" {
			s.RankingRules = fresh.RankingRules
		}
		return nil
	})
}

func (c *call) resetSettings() (int, any) {
	return c.change(func(s *settings) *apiError {
		*s = defaults()
		return nil
	})
}

func (c *call) updateFacetSearch() (int, any) {
	var on bool
	if err := json.Unmarshal(c.body, &on); err != nil {
		return reply(failure("invalid_settings_facet_search", "Invalid value: %v", err))
	}
	return c.change(func(s *settings) *apiError {
		s.FacetSearch = on
		return nil
	})
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,511}$`)

// addDocuments adds or replaces ("Add or replace documents"). The payload is read
// before the answer, the documents in the task.
func (c *call) addDocuments() (int, any) {
	var docs []map[string]json.RawMessage
	switch kind, _, _ := strings.Cut(c.r.Header.Get("Content-Type"), ";"); kind {
	case "application/json":
		if err := json.Unmarshal(c.body, &docs); err != nil {
			var one map[string]json.RawMessage
			if json.Unmarshal(c.body, &one) != nil {
				return reply(failure("malformed_payload",
					"The `json` payload provided is malformed. `Couldn't serialize document value: %v`.", err))
			}
			docs = append(docs, one)
		}
	case "application/x-ndjson":
		d := json.NewDecoder(bytes.NewReader(c.body))
		for {
			var one map[string]json.RawMessage
			err := d.Decode(&one)
			if err == io.EOF {
				break
			}
			if err != nil {
				return reply(failure("malformed_payload",
					"The `ndjson` payload provided is malformed. `Couldn't serialize document value: %v`.", err))
			}
			docs = append(docs, one)
		}
	case "":
		return reply(failure("missing_content_type", "A Content-Type header is missing."))
	default:
		return reply(failure("invalid_content_type", "The Content-Type `%s` is invalid.", kind))
	}
	if len(bytes.TrimSpace(c.body)) == 0 {
		return reply(failure("missing_payload", "A json payload is missing."))
	}
	uid, primary := c.r.PathValue("index"), c.r.URL.Query().Get("primaryKey")
	return c.enqueue("documentAdditionOrUpdate", uid, func() *apiError {
		ix, e := c.ensure(uid)
		if e != nil {
			return e
		}
		name := ix.primaryKey
		switch {
		case name == "" && primary != "":
			name = primary
		case name == "":
			var found []string
			for f := range docs[0] {
				if strings.HasSuffix(strings.ToLower(f), "id") {
					found = append(found, f)
				}
			}
			if len(found) == 0 {
				return failure("index_primary_key_no_candidate_found",
					"The primary key inference failed as the engine did not find any field ending with `id` in its "+
						"name. Please specify the primary key manually using the `primaryKey` query parameter.")
			}
			if len(found) > 1 {
				return failure("index_primary_key_multiple_candidates_found",
					"The primary key inference failed as the engine found %d fields ending with `id` in their names.", len(found))
			}
			name = found[0]
		case primary != "" && primary != name:
			return failure("index_primary_key_already_exists", "Index already has a primary key: `%s`.", name)
		}
		ids := make([]string, len(docs))
		for i, d := range docs { // one that is bad fails the whole task
			raw, ok := d[name]
			if !ok {
				return failure("missing_document_id", "Document doesn't have a `%s` attribute.", name)
			}
			id := strings.Trim(string(raw), `"`)
			if !idForm.MatchString(id) {
				return failure("invalid_document_id",
					"Document identifier `%s` is invalid. A document identifier can be of type integer or string, only "+
						"composed of alphanumeric characters (a-z A-Z 0-9), hyphens (-) and underscores (_), and can "+
						"not be more than 511 bytes.", raw)
			}
			ids[i] = id
		}
		ix.primaryKey = name
		for i, d := range docs {
			ix.put(ids[i], d)
		}
		return nil
	})
}

func (ix *index) put(name string, fields map[string]json.RawMessage) {
	d := ix.byName[name]
	if d == nil {
		d = &document{id: ix.next, name: name}
		ix.next++
		ix.byID[d.id], ix.byName[name] = d, d
	}
	d.fields = fields
	ix.reindex(d)
}

// reindex reads a document's words and facets again.
func (ix *index) reindex(d *document) {
	ix.forget(d)
	d.words, d.facets = map[string][]int{}, map[string]facet{}
	at := 0
	for _, f := range slices.Sorted(maps.Keys(d.fields)) {
		var v any
		_ = json.Unmarshal(d.fields[f], &v)
		if slices.Contains(ix.settings.FilterableAttributes, f) {
			d.facets[f] = faceted(v)
		}
		if !slices.Contains(ix.settings.SearchableAttributes, f) && !slices.Contains(ix.settings.SearchableAttributes, "*") {
			continue
		}
		if text, ok := v.(string); ok {
			for _, w := range words(text) {
				if !slices.Contains(ix.settings.StopWords, w) {
					d.words[w] = append(d.words[w], at)
				}
				at++
			}
		}
		at += 8
	}
	for w := range d.words {
		if ix.postings[w] == nil {
			ix.postings[w] = map[int]bool{}
		}
		ix.postings[w][d.id] = true
	}
}

func (ix *index) forget(d *document) {
	for w := range d.words {
		delete(ix.postings[w], d.id)
		if len(ix.postings[w]) == 0 {
			delete(ix.postings, w)
		}
	}
}

func faceted(v any) facet {
	f := facet{strings: map[string]bool{}}
	var add func(any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			f.strings[normalize(v)] = true
			f.empty = f.empty || v == ""
		case bool:
			f.strings[strconv.FormatBool(v)] = true
		case float64:
			f.numbers = append(f.numbers, v)
		case nil:
			f.null = true
		case []any:
			f.empty = f.empty || len(v) == 0
			for _, e := range v {
				add(e)
			}
		}
	}
	add(v)
	return f
}

func (ix *index) remove(d *document) {
	ix.forget(d)
	delete(ix.byID, d.id)
	delete(ix.byName, d.name)
}

// show is a document with the fields asked for; nil and "*" are all.
func (d *document) show(fields []string) map[string]any {
	out := map[string]any{}
	for f, v := range d.fields {
		if fields == nil || slices.Contains(fields, "*") || slices.Contains(fields, f) {
			out[f] = v
		}
	}
	return out
}

func (c *call) readDocument() (int, any) {
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	ix, e := c.find()
	if e != nil {
		return reply(e)
	}
	d := ix.byName[c.r.PathValue("document")]
	if d == nil {
		return reply(failure("document_not_found", "Document `%s` not found.", c.r.PathValue("document")))
	}
	var fields []string
	if f := c.r.URL.Query().Get("fields"); f != "" {
		fields = strings.Split(f, ",")
	}
	return 200, d.show(fields)
}

// filterable checks a filter against the settings.
func (ix *index) filterable(v any, code string) (*condition, *apiError) {
	c, err := parseFilter(v)
	if err != nil {
		return nil, failure(code, "%v", err)
	}
	for _, f := range c.fields() {
		if slices.Contains(ix.settings.FilterableAttributes, f) {
			continue
		}
		note := "This index does not have configured filterable attributes."
		if have := ix.settings.FilterableAttributes; len(have) > 0 {
			note = "Available filterable attribute patterns are: `" +
				strings.Join(slices.Sorted(slices.Values(have)), ", ") + "`."
		}
		return nil, failure(code, "Index `%s`: Attribute `%s` is not filterable. %s", ix.uid, f, note)
	}
	return c, nil
}

func (c *call) fetchDocuments() (int, any) {
	body := struct {
		Offset int      `json:"offset"`
		Limit  *int     `json:"limit"`
		Fields []string `json:"fields"`
		Filter any      `json:"filter"`
		IDs    []string `json:"ids"`
	}{}
	if err := json.Unmarshal(c.body, &body); err != nil {
		return reply(failure("malformed_payload", "The json payload provided is malformed. `%v`.", err))
	}
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	ix, e := c.find()
	if e != nil {
		return reply(e)
	}
	filter, e := ix.filterable(body.Filter, "invalid_document_filter")
	if e != nil {
		return reply(e)
	}
	limit := 20
	if body.Limit != nil {
		limit = *body.Limit
	}
	results, total := []any{}, 0
	for _, id := range slices.Sorted(maps.Keys(ix.byID)) {
		d := ix.byID[id]
		if !filter.match(d) || body.IDs != nil && !slices.Contains(body.IDs, d.name) {
			continue
		}
		if total++; total > body.Offset && len(results) < limit {
			results = append(results, d.show(body.Fields))
		}
	}
	return 200, map[string]any{"results": results, "offset": body.Offset, "limit": limit, "total": total}
}

func (c *call) deleteBatch() (int, any) {
	var ids []any
	if err := json.Unmarshal(c.body, &ids); err != nil {
		return reply(failure("malformed_payload", "The json payload provided is malformed. `%v`.", err))
	}
	uid := c.r.PathValue("index")
	return c.enqueue("documentDeletion", uid, func() *apiError {
		ix, e := c.s.named(uid)
		if e != nil {
			return e
		}
		for _, id := range ids {
			if d := ix.byName[fmt.Sprint(id)]; d != nil {
				ix.remove(d)
			}
		}
		return nil
	})
}

// deleteByFilter checks the syntax at once and the attributes in the task.
func (c *call) deleteByFilter() (int, any) {
	var body struct {
		Filter any `json:"filter"`
	}
	if err := json.Unmarshal(c.body, &body); err != nil {
		return reply(failure("malformed_payload", "The json payload provided is malformed. `%v`.", err))
	}
	filter, err := parseFilter(body.Filter)
	if err != nil {
		return reply(failure("invalid_document_filter", "%v", err))
	}
	if filter == nil {
		return reply(failure("invalid_document_filter", "Sending an empty filter is forbidden."))
	}
	uid := c.r.PathValue("index")
	return c.enqueue("documentDeletion", uid, func() *apiError {
		ix, e := c.s.named(uid)
		if e != nil {
			return e
		}
		filter, e := ix.filterable(body.Filter, "invalid_document_filter")
		if e != nil {
			return e
		}
		for _, d := range ix.byID {
			if filter.match(d) {
				ix.remove(d)
			}
		}
		return nil
	})
}

func (c *call) clearDocuments() (int, any) {
	uid := c.r.PathValue("index")
	return c.enqueue("documentDeletion", uid, func() *apiError {
		ix, e := c.s.named(uid)
		if e != nil {
			return e
		}
		for _, d := range ix.byID {
			ix.remove(d)
		}
		return nil
	})
}

func (c *call) searchOne() (int, any) {
	q, e := decodeQuery(c.body)
	if e != nil {
		return reply(e)
	}
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	ix, e := c.find()
	if e != nil {
		return reply(e)
	}
	r, e := ix.answer(q)
	if e != nil {
		return reply(e)
	}
	return 200, r
}

func decodeQuery(body []byte) (searchQuery, *apiError) {
	var q searchQuery
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return q, failure("bad_request", "%v", err)
	}
	if !slices.Contains([]string{"", "last", "all", "frequency"}, q.MatchingStrategy) {
		return q, failure("invalid_search_matching_strategy",
			"Unknown value `%s` at `.matchingStrategy`: expected one of `last`, `all`, `frequency`", q.MatchingStrategy)
	}
	return q, nil
}

// answer runs one search. Hits end at pagination.maxTotalHits.
func (ix *index) answer(q searchQuery) (map[string]any, *apiError) {
	filter, e := ix.filterable(q.Filter, "invalid_search_filter")
	if e != nil {
		return nil, e
	}
	found := ix.search(q, filter)
	most, limit := ix.settings.Pagination.MaxTotalHits, 20
	if q.Limit != nil {
		limit = *q.Limit
	}
	hits := []any{}
	for i, f := range found {
		if i < q.Offset || len(hits) >= limit || i >= most {
			continue
		}
		h := f.d.show(q.AttributesToRetrieve)
		if q.ShowRankingScore {
			h["_rankingScore"] = f.score()
		}
		hits = append(hits, h)
	}
	return map[string]any{"indexUid": ix.uid, "hits": hits, "query": q.Q, "processingTimeMs": 0, "limit": limit,
		"offset":             q.Offset,
		"estimatedTotalHits": min(len(found), most)}, nil
}

// searchMany runs several searches; the first that fails fails all, and says
// which it is.
func (c *call) searchMany() (int, any) {
	var body struct {
		Queries    []json.RawMessage `json:"queries"`
		Federation *json.RawMessage  `json:"federation"`
	}
	if err := json.Unmarshal(c.body, &body); err != nil {
		return reply(failure("malformed_payload", "The json payload provided is malformed. `%v`.", err))
	}
	if body.Federation != nil && string(*body.Federation) != "null" {
		return reply(failure("bad_request", "federation is not served here"))
	}
	results := []any{}
	for i, raw := range body.Queries {
		q, e := decodeQuery(raw)
		if e == nil && c.key != nil && !c.key.reaches(q.IndexUID) {
			e = failure("invalid_api_key", "The provided API key is invalid.")
		}
		if e == nil {
			var r map[string]any
			r, e = func() (map[string]any, *apiError) {
				c.s.mu.RLock()
				defer c.s.mu.RUnlock()
				ix, e := c.s.named(q.IndexUID)
				if e != nil {
					return nil, e
				}
				return ix.answer(q)
			}()
			results = append(results, r)
		}
		if e != nil {
			e.Message = fmt.Sprintf("Inside `.queries[%d]`: %s", i, e.Message)
			return reply(e)
		}
	}
	return 200, map[string]any{"results": results}
}

func (c *call) createKey() (int, any) {
	k := key{}
	if err := json.Unmarshal(c.body, &k); err != nil {
		return reply(failure("malformed_payload", "The json payload provided is malformed. `%v`.", err))
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	k.UID = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(c.s.keys))
	k.Key = fmt.Sprintf("key-%d-%d", len(c.s.keys), time.Now().UnixNano())
	c.s.keys[k.Key] = &k
	return 201, k
}

func (c *call) deleteKey() (int, any) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for secret, k := range c.s.keys {
		if secret == c.r.PathValue("key") || k.UID == c.r.PathValue("key") {
			delete(c.s.keys, secret)
			return 204, nil
		}
	}
	return reply(failure("api_key_not_found", "API key `%s` not found.", c.r.PathValue("key")))
}
