package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
	transport "github.com/mnemehq/mneme/transports/http"
	"github.com/mnemehq/mneme/transports/mcp"
)

// echo is a service with one tool and one route.
type echo struct {
	work func(ctx context.Context, text string) error // nil: nothing to do
}

type say struct {
	Text  string `json:"text"`
	Times *int   `json:"times,omitempty" minimum:"1"`
	Pin   string `query:"namespace" json:"-"`
	Host  string `header:"Host" json:"-"`
}

type heard struct {
	Text string    `json:"text"`
	Host string    `json:"host"`
	Pin  string    `json:"pin"`
	ID   string    `json:"id"`
	Bad  *breaking `json:"bad,omitempty"`
}

// breaking can't be encoded.
type breaking struct{}

func (*breaking) MarshalJSON() ([]byte, error) { panic("encode") }

func (e *echo) Say(ctx context.Context, in say) (heard, error) {
	if e.work != nil {
		if err := e.work(ctx, in.Text); err != nil {
			return heard{}, err
		}
	}
	out := heard{Text: in.Text, Host: in.Host, Pin: in.Pin, ID: ident.RequestID(ctx)}
	if in.Text == "panic" {
		out.Bad = &breaking{}
	}
	return out, nil
}

func (e *echo) operations() []op.Op[*echo] {
	return []op.Op[*echo]{
		op.Define(op.Spec{
			Name:        "tools.say",
			Class:       op.Read,
			Description: "Say it again.",
			Tool:        &op.Tool{Name: "say", Title: "Say", Idempotent: true},
		}, (*echo).Say),
		op.Define(op.Spec{Name: "say", Method: "POST", Path: "/say", Class: op.Read, MaxBody: 1 << 10}, (*echo).Say),
	}
}

type keys struct{}

func (keys) Verify(_ context.Context, bearer string, _ op.Family) (ident.Principal, error) {
	switch bearer {
	case "good":
		return ident.Principal{KeyID: "k", Org: "o"}, nil
	case "limited":
		return ident.Principal{KeyID: "k", Org: "o", Namespace: "docs"}, nil
	case "reader":
		return ident.Principal{KeyID: "k", Org: "o", ReadOnly: true}, nil
	case "app", "app-reader", "app-writer", "app-none", "person":
		p := ident.Principal{KeyID: "k", Org: "o", Kind: ident.Integration,
			Scopes: []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite}}
		switch bearer {
		case "app-reader":
			p.Scopes = p.Scopes[:1]
		case "app-writer":
			p.Scopes = p.Scopes[1:]
		case "app-none":
			p.Scopes = []ident.Scope{ident.StatusRead}
		case "person":
			p.Kind, p.EndUser = ident.Personal, "ann"
		}
		return p, nil
	case "suspended":
		return ident.Principal{}, fault.New(fault.Forbidden, "the organization is suspended")
	case "unlucky":
		return ident.Principal{}, errors.New("the store is gone")
	}
	return ident.Principal{}, fault.New(fault.Unauthorized, "the key is not valid")
}

// logged is a log that may be read while it is written.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// site is a running server.
type site struct {
	t    testing.TB
	url  string
	log  *logged
	stop func()
}

func serve(t testing.TB, e *echo, change func(*mcp.Options)) *site {
	t.Helper()
	s := &site{t: t, log: &logged{}}
	log := slog.New(slog.NewTextHandler(s.log, nil))
	set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: keys{}, Log: log})}
	op.Mount(set, e, e.operations())
	o := mcp.Options{
		Set:     set,
		Log:     log,
		Version: "test",
		Authenticate: func(ctx context.Context, bearer string) (ident.Principal, error) {
			return keys{}.Verify(ctx, bearer, op.Namespace)
		},
	}
	if change != nil {
		change(&o)
	}
	tools, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transport.New(transport.Options{Set: set, Log: log, Mounts: map[string]http.Handler{"/mcp": tools}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- transport.NewServer(transport.ServerOptions{Handler: h, Drain: 100 * time.Millisecond}).Serve(ctx, l)
	}()
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

type answer struct {
	status int
	header http.Header
	body   string
	result struct {
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent map[string]any
	}
	err struct {
		Code    int
		Message string
	}
}

func (s *site) post(body string, headers ...string) answer {
	s.t.Helper()
	return (&site{t: s.t, url: s.url + "/mcp"}).postTo(body, headers...)
}

// postTo posts to the site's URL as it stands.
func (s *site) postTo(body string, headers ...string) answer {
	s.t.Helper()
	return s.send("POST", body, headers...)
}

// send sends a request to the site's URL with headers in pairs; an empty one is left out.
func (s *site) send(method, body string, headers ...string) answer {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer good", "Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"} {
		req.Header.Set(k, v)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			req.Host = value
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header, body: string(b)}
	var m struct{ Result, Error json.RawMessage }
	_ = json.Unmarshal(b, &m)
	_ = json.Unmarshal(m.Result, &a.result)
	_ = json.Unmarshal(m.Error, &a.err)
	return a
}

func saying(text string) string {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": "say", "arguments": map[string]any{"text": text}}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A key without its scheme is told so.
func TestBareKey(t *testing.T) {
	s := serve(t, &echo{}, nil)
	a := s.post(saying("x"), "Authorization", "good")
	if a.status != 401 || !strings.Contains(a.body, "the word Bearer") {
		t.Errorf("a bare key: %d %s", a.status, a.body)
	}
}

func TestCall(t *testing.T) {
	s := serve(t, &echo{}, nil)
	a := s.post(saying("äöü\u2028"), "X-Request-Id", "mine")
	got := a.result.StructuredContent
	if a.status != 200 || got["text"] != "äöü\u2028" || got["host"] != strings.TrimPrefix(s.url, "http://") ||
		got["id"] != "mine" {
		t.Errorf("%d %s", a.status, a.body)
	}
	var again map[string]any
	if err := json.Unmarshal([]byte(a.result.Content[0].Text), &again); err != nil || again["text"] != got["text"] {
		t.Errorf("the text is %s", a.result.Content[0].Text)
	}
}

// What is no tool is not offered, and a schema says nothing that a model does not
// need.
func TestSchemas(t *testing.T) {
	s := serve(t, &echo{}, nil)
	a := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	const want = `"inputSchema":{"properties":{"text":{"type":"string"},"times":{"type":"integer","minimum":1}},` +
		`"additionalProperties":false,"type":"object","required":["text"]}`
	if !strings.Contains(a.body, want) || strings.Count(a.body, `"inputSchema"`) != 1 {
		t.Errorf("the list: %s", a.body)
	}
}

// about is a service with tools of both families.
type about struct{}

type aboutUser struct {
	EndUserID string `json:"end_user_id,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

func (*about) Do(context.Context, aboutUser) (heard, error) { return heard{}, nil }

// Each kind of caller sees the tools of its family that it may call, and no argument that its
// connection or key has answered.
func TestToolsByCaller(t *testing.T) {
	set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: keys{}})}
	var all []op.Op[*about]
	for name, s := range map[string]op.Spec{
		"find": {Family: op.Namespace}, "save": {Family: op.Namespace, Mutates: true},
		"recall": {Family: op.Memory}, "remember": {Family: op.Memory, Mutates: true},
	} {
		s.Name, s.Tool = "tools."+name, &op.Tool{Name: name, Title: name}
		all = append(all, op.Define(s, (*about).Do))
	}
	op.Mount(set, &about{}, all)
	s := serve(t, &echo{}, func(o *mcp.Options) { o.Set = set })
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, c := range []struct {
		bearer, query string
		tools         string
		arguments     string // of each, in the schema, with * when it is required
	}{
		{"good", "", "find save", "namespace end_user_id*"},
		{"good", "?namespace=n", "find save", ""},
		{"good", "?endUserId=ann", "find save", "namespace end_user_id*"},
		{"limited", "", "find save", ""},
		{"reader", "", "find", "namespace end_user_id*"},
		{"app", "", "recall remember", "namespace end_user_id*"},
		{"app", "?endUserId=ann", "recall remember", ""},
		{"app", "?namespace=n", "recall remember", "namespace end_user_id*"},
		{"app-reader", "", "recall", "namespace end_user_id*"},
		{"app-writer", "", "remember", "namespace end_user_id*"},
		{"app-none", "", "", ""},
		{"person", "", "recall remember", ""},
	} {
		at := &site{t: t, url: s.url + "/mcp" + c.query}
		a := at.postTo(list, "Authorization", "Bearer "+c.bearer)
		var got struct {
			Result struct {
				Tools []struct {
					Name        string
					InputSchema struct {
						Properties map[string]any
						Required   []string
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatalf("%s: %s", c.bearer, a.body)
		}
		var names []string
		for _, tool := range got.Result.Tools {
			names = append(names, tool.Name)
			var args []string
			for _, arg := range []string{"namespace", "end_user_id"} {
				if _, ok := tool.InputSchema.Properties[arg]; !ok {
					continue
				}
				if slices.Contains(tool.InputSchema.Required, arg) {
					arg += "*"
				}
				args = append(args, arg)
			}
			if strings.Join(args, " ") != c.arguments {
				t.Errorf("%s%s: %s takes %v, want %s", c.bearer, c.query, tool.Name, args, c.arguments)
			}
		}
		if strings.Join(names, " ") != c.tools {
			t.Errorf("%s%s: tools %v, want %s", c.bearer, c.query, names, c.tools)
		}
		hello := at.postTo(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
			`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "Authorization", "Bearer "+c.bearer)
		memory := strings.HasPrefix(c.bearer, "app") || c.bearer == "person"
		if strings.Contains(hello.body, "Mneme remembers") != memory || strings.Contains(hello.body, "Mneme keeps") == memory {
			t.Errorf("%s is told %s", c.bearer, hello.body)
		}
	}
}

func TestFailures(t *testing.T) {
	s := serve(t, &echo{work: func(_ context.Context, text string) error {
		switch text {
		case "busy":
			return fault.New(fault.Unavailable, "come back").After(1500 * time.Millisecond)
		case "secret":
			return errors.New("disk /dev/sda1 is full")
		case "panic within":
			panic("within")
		}
		return nil
	}}, nil)
	for text, want := range map[string]string{"busy": "unavailable: come back (retry after 2 s)",
		"secret":       "internal_error: an internal error occurred",
		"panic within": "internal_error: an internal error occurred"} {
		a := s.post(saying(text))
		if a.status != 200 || !a.result.IsError || a.result.Content[0].Text != want || a.result.StructuredContent != nil {
			t.Errorf("%s: %d %s", text, a.status, a.body)
		}
	}
	if a := s.post(saying("panic")); a.status != 200 || a.err.Code != -32603 || strings.Contains(a.body, "encode") {
		t.Errorf("an answer that can't be encoded: %d %s", a.status, a.body)
	}
	for bearer, want := range map[string]int{"suspended": 403, "unlucky": 500, "bad": 401} {
		a := s.post(saying("x"), "Authorization", "Bearer "+bearer)
		if a.status != want || a.err.Code != -32000 || strings.Contains(a.body, "store") {
			t.Errorf("%s: %d %s", bearer, a.status, a.body)
		}
	}
	if log := s.log.String(); !strings.Contains(log, "the store is gone") || !strings.Contains(log, "disk /dev/sda1 is full") {
		t.Errorf("causes are not logged: %s", log)
	}
}

// A server that shuts down says so to the calls that it ends.
func TestShutdown(t *testing.T) {
	for _, version := range mcp.Versions()[1:] {
		working := make(chan struct{})
		s := serve(t, &echo{work: func(ctx context.Context, _ string) error {
			close(working)
			<-ctx.Done()
			return ctx.Err()
		}}, nil)
		answered := make(chan answer, 1)
		go func() { answered <- s.post(saying("x"), "Mcp-Protocol-Version", version) }()
		<-working
		s.stop()
		if a := <-answered; !a.result.IsError ||
			!strings.HasPrefix(a.result.Content[0].Text, "unavailable: the server is shutting down") {
			t.Errorf("%s: %d %s", version, a.status, a.body)
		}
	}
}

// Nothing that is served changes while it is, so a subscription is acknowledged and
// ends.
func TestSubscriptionsEnd(t *testing.T) {
	s := serve(t, &echo{}, nil)
	a := s.post(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen",`+
		`"params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" ||
		!strings.Contains(a.body, "notifications/subscriptions/acknowledged") ||
		!strings.Contains(a.body, `"resultType":"complete"`) {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
}

// A test build may add to what is served, and change what servers are made with.
func TestExtend(t *testing.T) {
	s := serve(t, &echo{}, func(o *mcp.Options) {
		o.Extend = func(s *sdk.Server) {
			s.AddTool(&sdk.Tool{Name: "more", InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					panic("more")
				})
		}
		o.Configure = func(o *sdk.ServerOptions) { o.Instructions = "Nothing to say." }
	})
	if a := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(a.body, `"name":"more"`) {
		t.Errorf("the list: %s", a.body)
	}
	if a := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"more"}}`); a.err.Code != -32603 {
		t.Errorf("a panic of what was added: %d %s", a.status, a.body)
	}
	if a := s.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`); !strings.Contains(a.body, "Nothing to say.") {
		t.Errorf("initialize: %s", a.body)
	}
	s.stop()
	if log := s.log.String(); !strings.Contains(log, "panic=more") {
		t.Errorf("the panic is not logged: %s", log)
	}
}

func TestNewRefuses(t *testing.T) {
	set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: keys{}})}
	op.Mount(set, &wrong{}, []op.Op[*wrong]{op.Define(op.Spec{Name: "tools.wrong", Tool: &op.Tool{Name: "wrong"}}, (*wrong).Do)})
	if _, err := mcp.New(mcp.Options{Set: set}); err == nil || !strings.Contains(err.Error(), "tool wrong") {
		t.Errorf("arguments that can't be decoded: %v", err)
	}
}

type wrong struct{}

func (*wrong) Do(context.Context, struct{ Bare string }) (struct{}, error) { return struct{}{}, nil }

// FuzzMessage: whatever is posted, the answer is JSON-RPC or nothing, and the
// server lives on.
func FuzzMessage(f *testing.F) {
	for _, m := range []string{saying("x"), `{}`, `[]`, `[{}]`, `null`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":[]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":3}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x"}}`, `{"JSONRPC":"2.0","ID":1,"METHOD":"ping"}`} {
		for _, version := range append(mcp.Versions(), "", "x") {
			f.Add(m, version)
		}
	}
	s := serve(f, &echo{}, nil)
	f.Fuzz(func(t *testing.T, body, version string) {
		if strings.Contains(body, "subscriptions/listen") {
			return // its answer is a stream of events
		}
		for _, c := range version {
			if c < ' ' || c > '~' {
				return // not a header that a client can send
			}
		}
		s := &site{t: t, url: s.url}
		a := s.post(body, "Mcp-Protocol-Version", version)
		switch {
		case a.status == 202 && a.body == "":
		case a.status >= 500, !json.Valid([]byte(a.body)), !strings.Contains(a.body, `"jsonrpc":"2.0"`),
			a.header.Get("X-Request-Id") == "":
			t.Fatalf("%q in %q: %d %q", body, version, a.status, a.body)
		}
	})
}

// BenchmarkCall is one call of a tool over a connection that is kept: what the
// protocol costs beside the work.
func BenchmarkCall(b *testing.B) {
	s := serve(b, &echo{}, nil)
	body := saying("x")
	for b.Loop() {
		if a := s.post(body); a.result.IsError || a.status != 200 {
			b.Fatal(a.body)
		}
	}
}

func BenchmarkList(b *testing.B) {
	s := serve(b, &echo{}, nil)
	for b.Loop() {
		if a := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); a.status != 200 {
			b.Fatal(a.body)
		}
	}
}
