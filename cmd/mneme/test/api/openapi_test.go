package api_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/seal"
	"github.com/mnemehq/mneme/transports/codec"
	"github.com/mnemehq/mneme/transports/openapi"
)

// contract is the OpenAPI document of a running server, with its schemas compiled.
type contract struct {
	t         testing.TB
	routes    []*op.Route
	tree      map[string]any
	compiler  *jsonschema.Compiler
	schemas   map[string]*jsonschema.Schema
	described map[string]string // operation to the place of its description
}

func contractOf(t testing.TB, s *server) *contract {
	t.Helper()
	d, err := openapi.New(openapi.Options{Set: s.engine.Set()})
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	c := &contract{
		t:         t,
		tree:      tree.(map[string]any),
		compiler:  jsonschema.NewCompiler(),
		schemas:   map[string]*jsonschema.Schema{},
		described: map[string]string{},
	}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	c.compiler.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
		// RE2 writes a code point in another way than ECMA-262.
		re, err := regexp.Compile(regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(s, `\x{$1}`))
		return re, err
	})
	if err := c.compiler.AddResource("openapi.json", tree); err != nil {
		t.Fatal(err)
	}
	for path, item := range c.tree["paths"].(map[string]any) {
		for method, o := range item.(map[string]any) {
			c.described[o.(map[string]any)["operationId"].(string)] = pointer("paths", path, method)
		}
	}
	for _, r := range s.engine.Set().Routes() {
		if r.Spec.Method != "" {
			c.routes = append(c.routes, r)
		}
	}
	return c
}

// What stands for the characters of JSON pointers (RFC 6901) in their steps.
var (
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
)

func pointer(steps ...string) string {
	out := ""
	for _, s := range steps {
		out += "/" + url.PathEscape(escapePointer.Replace(s))
	}
	return out
}

// schema compiles the schema at a place of the document.
func (c *contract) schema(place string) *jsonschema.Schema {
	c.t.Helper()
	if s, ok := c.schemas[place]; ok {
		return s
	}
	s, err := c.compiler.Compile("openapi.json#" + place)
	if err != nil {
		c.t.Fatalf("compile %s: %v", place, err)
	}
	c.schemas[place] = s
	return s
}

// answer is the schema of an operation's JSON answer with a status; nil when it
// has none. described is false for a status that the document does not have.
func (c *contract) answer(operation string, status int) (schema *jsonschema.Schema, described bool) {
	c.t.Helper()
	place := c.described[operation] + pointer("responses", fmt.Sprint(status))
	node := c.node(place)
	if node == nil {
		return nil, false
	}
	if ref, ok := node["$ref"].(string); ok {
		place = strings.TrimPrefix(ref, "#")
		node = c.node(place)
	}
	content, _ := node["content"].(map[string]any)
	if content["application/json"] == nil {
		return nil, true
	}
	return c.schema(place + pointer("content", "application/json", "schema")), true
}

func (c *contract) node(place string) map[string]any {
	var at any = c.tree
	for step := range strings.SplitSeq(strings.TrimPrefix(place, "/"), "/") {
		name, err := url.PathUnescape(step)
		if err != nil {
			c.t.Fatal(err)
		}
		m, _ := at.(map[string]any)
		at = m[unescapePointer.Replace(name)]
	}
	m, _ := at.(map[string]any)
	return m
}

// storyteller calls operations by their examples, in which it puts the ids that
// the server made for those that stand there.
type storyteller struct {
	*contract
	s, memory, operator *server
	known               map[string]string // texts of examples to those of this server
	found               map[string]bool   // operations and links that found their values
}

// turn is when an operation has its turn in the story: what makes things comes
// first, and what removes them last.
func turn(name string) int {
	first := []string{"admin.organizations.create", "admin.integrations.create", "admin.keys.create",
		"namespaces.create", "documents.write", "memories.save",
		"memories.batch", "memories.remember", "memories.upsert", "admin.namespaces.reindex", "admin.end_users.reindex",
		"sources.create", "sources.apply_deletions", "sources.sync", "sources.runs.get", "sources.runs.begin",
		"sources.items.push", "sources.runs.cancel", "sources.runs.complete",
		"openai.files.create", "openai.vector_stores.create", "openai.vector_store_files.create",
		"openai.vector_store_file_batches.create", "openai.files.list", "openai.vector_stores.list"}
	last := []string{"openai.vector_store_files.delete", "openai.vector_stores.delete", "openai.files.delete",
		"admin.members.get", "admin.members.change", "admin.members.invite_again",
		"sources.runs.retry_failed", "sources.delete", "admin.keys.rotate", "documents.delete", "namespaces.delete",
		"memories.tombstone",
		"memories.delete", "admin.keys.revoke", "webhooks.delete", "admin.webhooks.delete",
		"admin.members.remove",
		"admin.organizations.change", "admin.end_users.erase", "users.erase", "admin.organizations.delete"}
	if i := slices.Index(first, name); i >= 0 {
		return i - len(first)
	}
	return 1 + slices.Index(last, name) // those in neither: 0
}

func tell(t *testing.T, b backend) *storyteller {
	folder := t.TempDir()
	for name, text := range map[string]string{"leave.md": "Leave is asked for in writing.", "empty.md": "",
		"minutes/may.md": "The gate is to be painted."} {
		at := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	receiver, sealing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})), seal.NewKey()
	t.Cleanup(receiver.Close)
	s := start(t, b, options{sparse: &coretest.SparseEncoder{}, reranker: coretest.Reranker{},
		engine: func(c *engine.Config) {
			c.Rates, c.Events.Record = map[op.Class]ident.Rate{op.Recall: {}}, event.RecordAll
		},
		config: func(c *configs.Config) {
			c.Sources.Enabled, c.Sources.Directories = true, []string{folder}
			c.Events.AllowPrivate, c.Events.HTTP = []string{receiver.Listener.Addr().String()}, true
			c.Seal.Key = registry.Secret(sealing.Reveal())
		}})
	st := &storyteller{
		contract: contractOf(t, s),
		s:        s,
		memory:   s.integration("shop", func(in *key.Issue) { in.Namespace = "menus" }),
		operator: s.operator(),
		found:    map[string]bool{},
		known:    map[string]string{"e5-small-v2": s.embedder.Info().ID, "/srv/handbook": folder},
	}
	// The job of admin.jobs.cancel: only one that cannot end otherwise answers alike
	// however fast it runs.
	s.embedder.Before.Set(coretest.UntilDone)
	at := s.post("/namespaces/cancelled/documents", object{"documents": []object{doc("a", "text", "")}}, "Prefer",
		"respond-async").is(202).header.Get("Location")
	st.known["op_01a1ff70-c6f4-71bf-9034-55c94c5dfb56"] = path.Base(at)
	st.operator.post("/admin/v1/jobs/"+path.Base(at)+"/cancel", nil).ok()
	harness.Eventually(t, "cancelled", func() bool { return s.get(at).ok().json["status"] == "failed" })
	s.embedder.Before.Clear()
	// A webhook that has taken something, and somebody who was invited.
	made := s.post("/webhooks", object{"url": receiver.URL, "kinds": []string{"documents.written"}}).is(201)
	hook := made.json["id"].(string)
	s.write("told", doc("a", "text", ""))
	s.write("menus", doc("autumn", "The cake contains peanuts.", `{"title": "Menu"}`))
	var delivered []object
	harness.Eventually(t, "a delivery", func() bool {
		delivered = s.get("/webhooks/" + hook + "/deliveries?status=succeeded").ok().list("deliveries")
		return len(delivered) > 0
	})
	st.known["whk_019e2b4b-0c55-7d90-9e1f-3a7b5c2d8e60"] = hook
	st.known["dlv_019e2b4c-7d2b-7c11-8a40-5d1e9f3b6c77"] = fmt.Sprint(delivered[0]["id"])
	st.known["evt_019e2b4c-7d1a-7f30-9a51-2f6c8d0b7e44"] = fmt.Sprint(delivered[0]["event_id"])
	slices.SortStableFunc(st.routes, func(a, b *op.Route) int { return cmp.Compare(turn(a.Spec.Name), turn(b.Spec.Name)) })
	return st
}

// here puts this server's ids into a text.
func (st *storyteller) here(text string) string {
	for _, id := range slices.Sorted(maps.Keys(st.known)) {
		text = strings.ReplaceAll(text, id, st.known[id])
	}
	return text
}

var identifier = regexp.MustCompile(`^((key|org|int|mem|grt|op|evt|src|run|whk|dlv|mbr|vs|vsfb)_[A-Za-z0-9-]{6,}(:[a-z]+)?|` +
	`file-[0-9a-f]{32})$`)

// learn notes which of this server's ids stand where an example has its own.
func (st *storyteller) learn(example, real any) {
	switch e := example.(type) {
	case string:
		if r, ok := real.(string); ok && identifier.MatchString(e) && st.known[e] == "" {
			st.known[e] = r
		}
	case map[string]any:
		r, _ := real.(map[string]any)
		for name, v := range e {
			st.learn(v, r[name])
		}
	case []any:
		r, _ := real.([]any)
		for i, v := range e {
			if i < len(r) {
				st.learn(v, r[i])
			}
		}
	}
}

func (st *storyteller) caller(s *op.Spec) *server {
	switch s.Family {
	case op.Memory:
		return st.memory
	case op.Administration:
		return st.operator
	}
	return st.s
}

// call makes a request of an operation's parameters and body.
func (st *storyteller) call(r *op.Route, parameters map[string]string, body any) (*reply, error) {
	path, query, headers := r.Spec.Path, url.Values{}, []string{}
	if body != nil && r.Spec.BodyType != "" {
		media := r.Spec.BodyType
		if text, ok := body.(raw); ok && r.Spec.BodyForm != nil { // an example's first line is its boundary
			line, _, _ := strings.Cut(string(text), "\r\n")
			media += "; boundary=" + strings.TrimPrefix(line, "--")
		}
		headers = append(headers, "Content-Type", media)
	}
	for _, p := range (&codec.Schemas{}).Parameters(r.In) {
		v, ok := parameters[p.Name]
		switch {
		case !ok:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(v))
		case p.In == "query":
			query.Set(p.Name, v)
		default:
			headers = append(headers, p.Name, v)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return st.caller(&r.Spec).send(ctx, r.Spec.Method, path, body, headers...)
}

func parameters(st *storyteller, e op.Example) map[string]string {
	out := map[string]string{}
	for k, v := range e.Parameters {
		out[k] = st.here(v)
	}
	return out
}

// Every operation has an example. A server answers each as it says: with that
// status, in the form that the document describes, with the same fields; and the
// example's own answer has the form, too.
func TestTheExamplesAreWhatAServerAnswers(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		st := tell(t, b)
		links := 0
		for _, r := range st.routes {
			if len(r.Spec.Examples) == 0 {
				t.Errorf("%s has no example", r.Spec.Name)
			}
			for _, e := range r.Spec.Examples {
				links += st.act(t, r, e)
			}
		}
		if links < 15 {
			t.Errorf("only %d links were followed", links)
		}
		for _, r := range st.routes {
			for _, l := range r.Spec.Links {
				if !st.found[r.Spec.Name+" "+l.Name] {
					t.Errorf("%s: link %s finds its values in no example's answer", r.Spec.Name, l.Name)
				}
			}
		}
	})
}

// example makes an example's call, and learns the ids of its answer.
func (st *storyteller) example(t *testing.T, r *op.Route, e op.Example) *reply {
	t.Helper()
	var body any
	if e.Body != "" {
		body = raw(st.here(e.Body))
	}
	var got *reply
	for wait := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var err error
		if got, err = st.call(r, parameters(st, e), body); err != nil {
			t.Fatalf("%s %s: %v", r.Spec.Name, e.Name, err)
		}
		// What goes on in the background ends in its own time.
		under := got.json["status"] == "queued" || got.json["status"] == "running" || got.json["status"] == "waiting"
		if r.Spec.Method != http.MethodGet || !under || time.Now().After(wait) {
			break
		}
	}
	if e.Answer != "" {
		want, err := jsonschema.UnmarshalJSON(strings.NewReader(e.Answer))
		if err != nil {
			t.Fatalf("%s %s: the example's answer: %v", r.Spec.Name, e.Name, err)
		}
		st.learn(want, any(got.json))
	}
	return got
}

// expression evaluates a runtime expression of a link.
func expression(t *testing.T, text string, path, query map[string]string, sent, got any) any {
	t.Helper()
	at := func(body any, place string) any {
		for step := range strings.SplitSeq(strings.TrimPrefix(place, "/"), "/") {
			switch b := body.(type) {
			case map[string]any:
				body = b[step]
			case []any:
				var i int
				if _, err := fmt.Sscan(step, &i); err != nil || i >= len(b) {
					return nil
				}
				body = b[i]
			default:
				return nil
			}
		}
		return body
	}
	switch {
	case strings.HasPrefix(text, "$response.body#"):
		return at(got, strings.TrimPrefix(text, "$response.body#"))
	case strings.HasPrefix(text, "$request.body#"):
		return at(sent, strings.TrimPrefix(text, "$request.body#"))
	case strings.HasPrefix(text, "$request.path."):
		return path[strings.TrimPrefix(text, "$request.path.")]
	case strings.HasPrefix(text, "$request.query."):
		return query[strings.TrimPrefix(text, "$request.query.")]
	}
	t.Errorf("%s is no expression", text)
	return nil
}

// follow takes the links of an answer. Each finds its values there, and those to
// operations that only read lead to an answer.
func (st *storyteller) follow(t *testing.T, r *op.Route, e op.Example, got *reply) (followed int) {
	t.Helper()
	var sent any
	if e.Body != "" && r.Spec.BodyType == "" {
		if err := json.Unmarshal([]byte(st.here(e.Body)), &sent); err != nil {
			t.Fatal(err)
		}
	}
	given := parameters(st, e)
	for _, l := range r.Spec.Links {
		if cmp.Or(l.Status, cmp.Or(r.Spec.Success, http.StatusOK)) != got.status {
			continue
		}
		values := map[string]string{}
		for name, text := range l.Parameters {
			v, ok := expression(t, text, given, given, sent, any(got.json)).(string)
			if ok && v != "" {
				values[name] = v
			}
		}
		if len(values) < len(l.Parameters) {
			continue // of a list that is empty, say
		}
		st.found[r.Spec.Name+" "+l.Name] = true
		if i := slices.IndexFunc(st.routes,
			func(r *op.Route) bool { return r.Spec.Name == l.To }); st.routes[i].Spec.Method == http.MethodGet {
			if to, err := st.call(st.routes[i], values, nil); err != nil || to.status >= 300 {
				t.Errorf("%s %s: link %s leads nowhere: %v %+v", r.Spec.Name, e.Name, l.Name, err, to)
			}
			followed++
		}
	}
	return followed
}

func (st *storyteller) act(t *testing.T, r *op.Route, e op.Example) (links int) {
	t.Helper()
	name := r.Spec.Name + " " + e.Name
	status := cmp.Or(e.Status, r.Spec.Success, http.StatusOK)
	got := st.example(t, r, e)
	if got.status != status {
		t.Errorf("%s: status %d, want %d: %s", name, got.status, status, clip(got.body))
		return 0
	}
	links = st.follow(t, r, e, got)
	schema, described := st.answer(r.Spec.Name, status)
	if !described {
		t.Errorf("%s: the document has no status %d", name, status)
	}
	if e.Answer == "" {
		return links
	}
	want, err := jsonschema.UnmarshalJSON(strings.NewReader(e.Answer))
	if err != nil {
		t.Fatalf("%s: the example's answer: %v", name, err)
	}
	real, err := jsonschema.UnmarshalJSON(bytes.NewReader(got.body))
	if err != nil {
		t.Fatalf("%s: the answer: %v", name, err)
	}
	if err := schema.Validate(want); err != nil {
		t.Errorf("%s: the example's answer does not fit the document: %v", name, err)
	}
	if err := schema.Validate(real); err != nil {
		t.Errorf("%s: the answer does not fit the document: %v\n%s", name, err, clip(got.body))
	}
	if have, should := slices.Sorted(maps.Keys(got.json)),
		slices.Sorted(maps.Keys(want.(map[string]any))); !slices.Equal(have, should) {
		t.Errorf("%s: the answer has the fields %v, the example's has %v", name, have, should)
	}
	return links
}

// doubtful are the differences between the document and the server that JSON
// Schema has no words for, as parts of the server's message.
var doubtful = []string{
	"is not a cursor of this list", "is not a rerank model of this server", "is no embedding model of this server",
	"its vectors are not cut",
	"duplicates documents[", "is named twice",
	"is not in the future",
	"is required of a key of all organizations", // depends on the caller
	// two values side by side
	"differs from", "must be less than createdBefore", "must be the namespace that the key is limited to",
	"since: is not before until, or now", "overlap: is no duration",
	// which URLs a server sends to is its configuration's
	"url: ",
	// what mem0's protocol knows and this server refuses
	"needs a language model", "memories stay until they are deleted", "nothing here sorts memories", "answers hold all fields",
	"filters take conditions", `send {"metadata"`, "must name whose memories", "is needed, or agent_id", "filters",
	"must be a date, such as", "one call is of one ", "without a user_id it must be",
	// what is stored
	"keeps its name", "has no sparse index", "is not, or no longer, in the list", "give every retriever used a weight of 0",
	"must be the name of the organization", "is no source of the organization", "secrets: would be of no use",
	"database: is of no use", // where there is one
	// what the settings of a kind of source are, and what they lead to
	"config: ", "config.", "secrets.", "is no kind of source here", "schedule.every: must be", "schedule.cron: ",
	"has both every and cron",
	"is not for sources of kind push", "so it has neither text, metadata nor version", "duplicates items[", "].text: is required",
	// a pattern would say it, and break clients made of the released document
	"query: must hold a character that is not white space",
}

// The document says what the server takes: whatever fits its schemas is not
// refused as invalid, and whatever does not fit is. The requests are the examples
// with one value changed to one at, over or beside its bounds, of another type, left
// out, or too much.
func TestTheDocumentSaysWhatTheServerTakes(t *testing.T) {
	sequential(t)
	t.Parallel()
	st := tell(t, backends()[0]) // what is refused as invalid never reaches a store
	calls := 0
	for _, r := range st.routes {
		for i, e := range r.Spec.Examples {
			st.example(t, r, e)
			if i > 0 && strings.HasPrefix(r.Spec.Name, "sources.") {
				continue // of the kinds of sources, whose settings the document does not have
			}
			calls += st.vary(t, r, e, i == 0)
		}
	}
	t.Logf("%d requests", calls)
	if calls < 3000 {
		t.Errorf("only %d requests were made", calls)
	}
}

func (st *storyteller) vary(t *testing.T, r *op.Route, e op.Example, first bool) (calls int) {
	t.Helper()
	judge := func(what string, fits bool, parameters map[string]string, body any) {
		calls++
		got, err := st.call(r, parameters, body)
		if err != nil {
			t.Fatalf("%s %s: %v", r.Spec.Name, what, err)
		}
		if got.status >= 500 && got.status != http.StatusServiceUnavailable {
			t.Errorf("%s, %s: status %d: %s", r.Spec.Name, what, got.status, clip(got.body))
		}
		schema, described := st.answer(r.Spec.Name, got.status)
		if !described {
			t.Errorf("%s, %s: the document has no status %d: %s", r.Spec.Name, what, got.status, clip(got.body))
		} else if schema != nil {
			real, err := jsonschema.UnmarshalJSON(bytes.NewReader(got.body))
			if err == nil {
				err = schema.Validate(real)
			}
			if err != nil {
				t.Errorf("%s, %s: the answer does not fit the document: %v", r.Spec.Name, what, err)
			}
		}
		taken := got.status != http.StatusBadRequest && got.status != http.StatusRequestEntityTooLarge
		if fits == taken || slices.ContainsFunc(doubtful, func(s string) bool { return strings.Contains(string(got.body), s) }) {
			return
		}
		if fits {
			t.Errorf("%s, %s: the document allows it, the server refuses it: %s", r.Spec.Name, what, clip(got.body))
		} else {
			t.Errorf("%s, %s: the document forbids it, the server takes it: %d %s", r.Spec.Name, what, got.status, clip(got.body))
		}
	}
	base := parameters(st, e)
	var body any
	if e.Body != "" {
		body = raw(st.here(e.Body))
	}
	if first {
		st.varyParameters(r, base, body, judge)
	}
	if e.Body == "" || r.Spec.BodyType != "" {
		return calls
	}
	place := st.described[r.Spec.Name] + pointer("requestBody", "content", "application/json", "schema")
	schema := st.schema(place)
	decoded, err := jsonschema.UnmarshalJSON(strings.NewReader(st.here(e.Body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutations(decoded, schema, "body") {
		text, err := json.Marshal(m.value)
		if err != nil {
			t.Fatal(err)
		}
		judge(m.what, schema.Validate(m.value) == nil, base, raw(text))
	}
	return calls
}

// varyParameters changes one parameter at a time.
func (st *storyteller) varyParameters(r *op.Route, base map[string]string, body any,
	judge func(string, bool, map[string]string, any)) {
	node := st.node(st.described[r.Spec.Name])
	list, _ := node["parameters"].([]any)
	for i, p := range list {
		p := p.(map[string]any)
		name, _ := p["name"].(string)
		if name == "" {
			continue // those that every operation has
		}
		in, required := p["in"], p["required"] == true
		schema := st.schema(st.described[r.Spec.Name] + pointer("parameters", fmt.Sprint(i), "schema"))
		pool := []string{"a", "A", "_x", "-x", "a b", "ä", "a:b", "a@b", "0", "1", "2", "100", "101", "1000", "1001",
			"-1", "1.5", "true", "2026-01-02T03:04:05Z", "2026-01-02",
			strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("a", 128), strings.Repeat("a", 129),
			strings.Repeat("a", 256), strings.Repeat("a", 257),
			"9007199254740991", "9007199254740992", "99999999999999999999"}
		if in == "query" {
			pool = append(pool, "a\x00b", "vector,keyword", "chunks", "chunks,chunks", "id", "updated_at")
			if required {
				changed := maps.Clone(base)
				delete(changed, name)
				judge(fmt.Sprintf("without %s", name), false, changed, body)
			}
		}
		for _, v := range pool {
			if in == "header" && strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
				continue // no header of HTTP
			}
			changed := maps.Clone(base)
			changed[name] = v
			judge(fmt.Sprintf("%s %v %.40q", in, name, v), schema.Validate(typed(schema, v)) == nil, changed, body)
		}
	}
}

// typed is a parameter's text as a value of its type.
func typed(s *jsonschema.Schema, text string) any {
	for s.Ref != nil {
		s = s.Ref
	}
	if s.Types == nil {
		return text
	}
	switch names := s.Types.ToStrings(); {
	case slices.Contains(names, "integer"):
		var n json.Number
		if json.Unmarshal([]byte(text), &n) == nil {
			return n
		}
	case slices.Contains(names, "boolean"):
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case slices.Contains(names, "array"):
		var items []any
		for part := range strings.SplitSeq(text, ",") {
			items = append(items, part)
		}
		return items
	}
	return text
}

// mutation is a body with one change.
type mutation struct {
	what  string
	value any
}

// mutations lists bodies that differ from a body in one place.
func mutations(body any, schema *jsonschema.Schema, at string) []mutation {
	var out []mutation
	for _, v := range pool(schema) {
		text, _ := json.Marshal(v)
		out = append(out, mutation{fmt.Sprintf("%s = %.60s", at, text), v})
	}
	for schema != nil && schema.Ref != nil {
		schema = schema.Ref
	}
	switch b := body.(type) {
	case map[string]any:
		replace := func(name string, v any) map[string]any {
			changed := maps.Clone(b)
			changed[name] = v
			return changed
		}
		properties := map[string]*jsonschema.Schema{}
		collect(schema, properties)
		for _, name := range slices.Sorted(maps.Keys(b)) {
			without := maps.Clone(b)
			delete(without, name)
			out = append(out, mutation{at + " without " + name, without})
			for _, m := range mutations(b[name], properties[name], at+"."+name) {
				out = append(out, mutation{m.what, replace(name, m.value)})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if _, has := b[name]; !has {
				for _, v := range pool(properties[name]) {
					text, _ := json.Marshal(v)
					out = append(out, mutation{fmt.Sprintf("%s with %s = %.60s", at, name, text), replace(name, v)})
				}
			}
		}
		out = append(out, mutation{at + " with an unknown field", replace("unheard_of", json.Number("1"))})
	case []any:
		var item *jsonschema.Schema
		if schema != nil {
			item = schema.Items2020
		}
		for i := range b[:min(len(b), 1)] {
			for _, m := range mutations(b[i], item, fmt.Sprintf("%s[%d]", at, i)) {
				changed := slices.Clone(b)
				changed[i] = m.value
				out = append(out, mutation{m.what, changed})
			}
		}
	}
	return out
}

// collect gathers the properties that a schema and its alternatives name.
func collect(s *jsonschema.Schema, into map[string]*jsonschema.Schema) {
	for s != nil && s.Ref != nil {
		s = s.Ref
	}
	if s == nil {
		return
	}
	for name, p := range s.Properties {
		if into[name] == nil {
			into[name] = p
		}
	}
	for _, a := range s.AnyOf {
		collect(a, into)
	}
}

// pool lists values for a place: some of every type, and those at the bounds of
// the schema.
func pool(s *jsonschema.Schema) []any {
	number := func(text string) any { return json.Number(text) }
	out := []any{nil, true, false, number("0"), number("1"), number("-1"), number("1.5"), number("1000000001"),
		number("9007199254740991"), number("9007199254740992"),
		"", " ", "a", "A b", "ä", "a\x00b", "org_x", "int_x", "$ne", "2026-01-02T03:04:05Z", "2026-01-02",
		"2098-01-02T03:04:05+01:00", strings.Repeat("a", 64), strings.Repeat("a", 65),
		[]any{}, []any{"a"}, []any{"vector"}, []any{"vector", "vector"}, []any{number("1")}, []any{nil},
		map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a": number("1")},
		map[string]any{"$and": []any{map[string]any{"a": true}}}, map[string]any{"$ne": "a"},
		map[string]any{"a": map[string]any{"$gt": number("1")}},
		map[string]any{"a": []any{"x", "y"}}, map[string]any{"a": []any{number("1")}}, map[string]any{"a": nil},
		map[string]any{"a": map[string]any{}}, map[string]any{"": "x"},
		map[string]any{"read": map[string]any{"per_minute": number("1")}}, map[string]any{"vector": number("1")},
		map[string]any{"vector": number("0")}, map[string]any{"depth": number("1")}, map[string]any{"depth": number("101")},
		map[string]any{"model": nil}, map[string]any{"depth": nil}}
	var bounds func(s *jsonschema.Schema)
	bounds = func(s *jsonschema.Schema) {
		for s != nil && s.Ref != nil {
			s = s.Ref
		}
		if s == nil {
			return
		}
		if s.Enum != nil {
			out = append(out, s.Enum.Values...)
		}
		for _, n := range []*int{s.MaxLength, s.MinLength} {
			if n != nil {
				for _, d := range []int{-1, 0, 1} {
					if *n+d >= 0 {
						out = append(out, strings.Repeat("b", *n+d))
					}
				}
			}
		}
		for _, f := range []*big.Rat{s.Minimum, s.Maximum} {
			if f != nil && f.IsInt() {
				for _, d := range []int64{-1, 0, 1} {
					out = append(out, number(new(big.Int).Add(f.Num(), big.NewInt(d)).String()))
				}
			}
		}
		for _, n := range []*int{s.MaxItems, s.MinItems} {
			if n != nil && *n <= 100 {
				for _, d := range []int{-1, 0, 1} {
					if *n+d >= 0 {
						items := make([]any, *n+d)
						for i := range items {
							items[i] = fmt.Sprintf("i%d", i)
						}
						out = append(out, items)
					}
				}
			}
		}
		for _, a := range s.AnyOf {
			bounds(a)
		}
	}
	bounds(s)
	return out
}
