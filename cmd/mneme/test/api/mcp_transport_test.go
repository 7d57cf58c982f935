package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	transport "github.com/mnemehq/mneme/transports/http"
	"github.com/mnemehq/mneme/transports/mcp"
)

const acceptBoth = "application/json, text/event-stream"

// rpc posts a message in a revision that has no header for each request.
func (s *server) rpc(message string, headers ...string) *reply {
	s.t.Helper()
	return s.post("/mcp", raw(message), append([]string{"Accept", acceptBoth, "Mcp-Protocol-Version", "2025-11-25"},
		headers...)...)
}

// denies checks an answer that is an error of JSON-RPC with a request id.
func (r *reply) denies(status, code int, id, says string) *reply {
	r.t.Helper()
	e, _ := r.json["error"].(object)
	message, _ := e["message"].(string)
	if r.status != status || e["code"] != float64(code) || r.json["jsonrpc"] != "2.0" || !strings.Contains(message, says) {
		r.t.Errorf("%s: %d %s; want %d with code %d and %q", r.call, r.status, clip(r.body), status, code, says)
	}
	if _, there := r.json["id"]; !there || canonicalJSON(r.t, r.json["id"]) != id {
		r.t.Errorf("%s: id %v, want %s: %s", r.call, r.json["id"], id, clip(r.body))
	}
	if r.header.Get("X-Request-Id") == "" || r.header.Get("Content-Type") != "application/json" {
		r.t.Errorf("%s: headers %v", r.call, r.header)
	}
	return r
}

// Without a valid key there is nothing to see, by whatever method.
func TestMCPAuthentication(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{mcp: func(o *mcp.Options) {
			o.ResourceMetadata = func(r *http.Request) string {
				if r.Host == "" {
					return ""
				}
				return "https://" + r.Host + "/.well-known/oauth-protected-resource/mcp"
			}
		}})
		for name, k := range map[string]string{"none": "", "unknown": "sk-service-" + strings.Repeat("a", 43),
			"garbage": "x", "revoked": revoked(s),
			"of the admin API": s.issue(key.Issue{Name: "a", Kind: "admin"})} {
			for _, method := range []string{"POST", "GET", "DELETE", "PUT", "OPTIONS"} {
				t.Run(name+" "+method, func(t *testing.T) {
					s := s.as(k)
					s.t = t
					r := s.do(method, "/mcp", raw(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), "Accept", acceptBoth)
					r.denies(401, -32000, "null", "key")
					want := `resource_metadata="https://` + strings.TrimPrefix(s.url, "http://") +
						`/.well-known/oauth-protected-resource/mcp"`
					if got := r.header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") ||
						!strings.Contains(got, want) {
						t.Errorf("WWW-Authenticate: %s", got)
					}
				})
			}
			for _, version := range mcp.Versions() {
				if _, err := s.as(k).connect(version, ""); err == nil {
					t.Errorf("%s: a client of %s connects", name, version)
				}
			}
		}
		r := start(t, b, options{}).as("").rpc("{}")
		if got := r.header.Values("WWW-Authenticate"); len(got) != 1 || got[0] != "Bearer" {
			t.Errorf("WWW-Authenticate without metadata: %q", got)
		}
	})
}

func revoked(s *server) string {
	s.t.Helper()
	issued, err := s.engine.Keys().Issue(context.Background(), key.Issue{Name: "gone"})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.engine.Keys().Revoke(context.Background(), key.Ref{ID: issued.ID}); err != nil {
		s.t.Fatal(err)
	}
	return issued.Secret
}

func TestMCPMessages(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("x", "heron", ""))
		call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"fetch","arguments":{"id":"docs/x"}}}`
		for name, c := range map[string]struct {
			body    string
			headers []string
			status  int
			code    int
			id      string
			says    string
		}{
			"no JSON":         {`{"jsonrpc"`, nil, 400, -32700, "null", "JSON"},
			"nothing":         {` `, nil, 400, -32700, "null", "JSON"},
			"a string":        {`"ping"`, nil, 400, -32600, "null", "JSON-RPC"},
			"an empty object": {`{}`, nil, 400, -32600, "null", ""},
			"another version": {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, 400, -32600, "1", ""},
			"an empty batch":  {`[]`, nil, 400, -32600, "null", "batch"},
			"a large batch": {"[" + strings.Repeat(call+",", 100) + call + "]",
				[]string{"Mcp-Protocol-Version", ""}, 400, -32600, "null", "batch"},
			"a batch, later": {"[" + call + "]", nil, 400, -32600, "null", "batch"},
			"unknown method": {`{"jsonrpc":"2.0","id":"a","method":"no/such"}`, nil, 200, -32601, `"a"`, `"no/such"`},
			"no params":      {`{"jsonrpc":"2.0","id":3,"method":"tools/call"}`, nil, 400, -32600, "3", ""},
			"unknown tool": {`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"forget"}}`, nil, 200,
				-32602, "3", "forget"},
			"unknown revision": {call, []string{"Mcp-Protocol-Version", "2025-01-01"}, 400, -32600, "7",
				"Unsupported protocol version"},
			"a future revision": {call, []string{"Mcp-Protocol-Version", "2030-01-01"}, 400, -32602, "7", ""},
			"other type":        {call, []string{"Content-Type", "text/plain"}, 400, -32000, "null", "Content-Type"},
			"other charset": {call, []string{"Content-Type", "application/json; charset=latin1"}, 400, -32000,
				"null", "Content-Type"},
			"compressed":      {call, []string{"Content-Encoding", "gzip"}, 400, -32000, "null", "Content-Encoding"},
			"does not accept": {call, []string{"Accept", "text/html"}, 400, -32600, "7", "Accept"},
			"resumption":      {call, []string{"Last-Event-ID", "1_1"}, 400, -32600, "7", "Last-Event-ID"},
			"too large": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 2<<20) + `"}}`,
				nil, 413, -32000, "null", "2097152"},
		} {
			t.Run(name, func(t *testing.T) {
				s := *s
				s.t = t
				s.rpc(c.body, c.headers...).denies(c.status, c.code, c.id, c.says)
			})
		}
		t.Run("methods", func(t *testing.T) {
			for _, method := range []string{"GET", "DELETE", "PUT", "HEAD"} {
				if r := s.do(method, "/mcp", nil, "Accept", acceptBoth); r.status != 405 ||
					r.header.Get("Allow") != "POST" || r.header.Get("X-Request-Id") == "" {
					t.Errorf("%s: %d, Allow %q", method, r.status, r.header.Get("Allow"))
				}
			}
			s.do("POST", "/mcp/", raw(call)).fails(404, "not_found")
		})
		t.Run("notifications", func(t *testing.T) {
			for _, method := range []string{"notifications/initialized", "notifications/cancelled",
				"notifications/roots/list_changed", "notifications/of/the/future"} {
				r := s.rpc(`{"jsonrpc":"2.0","method":"` + method + `","params":{}}`)
				if r.status != 202 || len(r.body) != 0 {
					t.Errorf("%s: %d %q", method, r.status, r.body)
				}
			}
		})
		t.Run("a batch", func(t *testing.T) {
			r := s.rpc(`[`+call+`,{"jsonrpc":"2.0","id":"b","method":"ping"},{"jsonrpc":"2.0","method":"notifications/`+
				`initialized"}]`, "Mcp-Protocol-Version", "2025-03-26").ok()
			var answers []struct{ ID any }
			if err := json.Unmarshal(r.body, &answers); err != nil || len(answers) != 2 {
				t.Errorf("%v: %s", err, r.body)
			}
		})
		t.Run("no session", func(t *testing.T) {
			r := s.rpc(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
				`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "Mcp-Protocol-Version", "").ok()
			result := r.json["result"].(object)
			if r.header.Get("Mcp-Session-Id") != "" || result["protocolVersion"] != "2025-06-18" ||
				canonicalJSON(t, result["capabilities"]) != `{"tools":{}}` {
				t.Errorf("initialize: %v %s", r.header, r.body)
			}
			// A revision that is not served gets the newest that has initialize.
			r = s.rpc(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05",`+
				`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "Mcp-Protocol-Version", "").ok()
			if got := r.json["result"].(object)["protocolVersion"]; got != "2025-11-25" {
				t.Errorf("2024-11-05 is answered with %v", got)
			}
		})
		t.Run("newest revision", func(t *testing.T) {
			meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/` +
				`clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
			list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`
			head := []string{"Mcp-Protocol-Version", newest, "Mcp-Method", "tools/list"}
			r := s.rpc(list, head...).ok()
			result := r.json["result"].(object)
			if result["resultType"] != "complete" || result["ttlMs"] != 60000.0 || result["cacheScope"] != "private" ||
				len(result["tools"].([]any)) != 5 {
				t.Errorf("tools/list: %s", clip(r.body))
			}
			r = s.rpc(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}`, "Mcp-Protocol-Version",
				newest, "Mcp-Method", "server/discover").ok()
			if got := canonicalJSON(t, r.json["result"].(object)["supportedVersions"]); got != canonicalJSON(t, mcp.Versions()) {
				t.Errorf("supported: %s", got)
			}
			s.rpc(list, "Mcp-Protocol-Version", newest, "Mcp-Method", "").denies(400, -32020, "1", "Mcp-Method")
			s.rpc(list, "Mcp-Protocol-Version", newest, "Mcp-Method", "tools/call").denies(400, -32020, "1", "Mcp-Method")
			s.rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{"id":"docs/x"},`+meta+`}}`,
				"Mcp-Protocol-Version", newest, "Mcp-Method", "tools/call", "Mcp-Name", "search").denies(400, -32020,
				"1", "Mcp-Name")
			s.rpc(`{"jsonrpc":"2.0","id":1,"method":"no/such","params":{`+meta+`}}`, "Mcp-Protocol-Version", newest,
				"Mcp-Method", "no/such").denies(404, -32601, "1", "no/such")
		})
		t.Run("request id", func(t *testing.T) {
			if r := s.rpc(call, "X-Request-Id", "mine-1").ok(); r.header.Get("X-Request-Id") != "mine-1" {
				t.Errorf("request id %q", r.header.Get("X-Request-Id"))
			}
			if r := s.rpc(call, "X-Request-Id", "not one").ok(); !strings.HasPrefix(r.header.Get("X-Request-Id"), "req_") {
				t.Errorf("request id %q", r.header.Get("X-Request-Id"))
			}
		})
	})
}

func TestMCPOrigin(t *testing.T) {
	t.Parallel()
	s := start(t, backends()[0], options{mcp: func(o *mcp.Options) {
		o.BaseURL, o.AllowedOrigins = "https://memory.example.com/base", []string{"https://app.example.com", "null"}
	}})
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for origin, ok := range map[string]bool{
		"http://localhost:6274": true, "http://127.0.0.1:3000": true, "http://[::1]:3000": true,
		"http://inspector.localhost": true, s.url: true,
		"https://memory.example.com": true, "https://app.example.com": true, "HTTPS://App.Example.com": true, "null": true,
		"https://evil.example": false, "http://app.example.com": false, "https://app.example.com.evil.example": false,
		"http://localhost.evil.example": false,
		"https://app.example.com:8443":  false, "http://127.0.0.1.evil.example": false, "x": false,
	} {
		r := s.rpc(list, "Origin", origin)
		if ok {
			if r.status != 200 || r.header.Get("Access-Control-Allow-Origin") != origin {
				t.Errorf("origin %s: %d %q", origin, r.status, r.header.Get("Access-Control-Allow-Origin"))
			}
			if r := s.as("").do("OPTIONS", "/mcp", nil, "Origin", origin, "Access-Control-Request-Method",
				"POST"); r.status != 204 || r.header.Get("Access-Control-Allow-Methods") != "POST" {
				t.Errorf("preflight of %s: %d", origin, r.status)
			}
			continue
		}
		r.denies(403, -32000, "null", "origin")
		s.as("").rpc(list, "Origin", origin).denies(403, -32000, "null", "origin")
		if r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("origin %s is told that it may read", origin)
		}
	}
	for host, ok := range map[string]bool{"localhost": true, "127.0.0.1:1": true, "[::1]:80": true,
		"memory.example.com": true, "MEMORY.example.com:443": true,
		"evil.example": false, "localhost.evil.example": false, "memory.example.com.evil.example": false} {
		req, err := http.NewRequest("POST", s.url+"/mcp", strings.NewReader(list))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		for k, v := range map[string]string{"Authorization": "Bearer " + s.key, "Content-Type": "application/json",
			"Accept": acceptBoth} {
			req.Header.Set(k, v)
		}
		res, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if want := map[bool]int{true: 200, false: 403}[ok]; res.StatusCode != want {
			t.Errorf("host %s: %d, want %d", host, res.StatusCode, want)
		}
	}
	open := start(t, backends()[0], options{mcp: func(o *mcp.Options) { o.AllowedOrigins = []string{"*"} }})
	open.rpc(list, "Origin", "https://anything.example").ok()
}

// A caller that leaves ends the work that was done for it, in every revision.
func TestMCPCancellation(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		var log lockedLog
		s := start(t, b, options{log: slog.New(slog.NewTextHandler(&log, nil))})
		s.write("docs", doc("x", "heron", ""))
		working, ended := make(chan struct{}, 1), make(chan error, 1)
		s.embedder.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
			working <- struct{}{}
			select {
			case <-ctx.Done():
				ended <- context.Cause(ctx)
			case <-time.After(2 * time.Minute):
				ended <- nil
			}
			return ctx.Err()
		})
		defer s.embedder.Before.Clear()
		for _, version := range mcp.Versions() {
			for tool, args := range map[string]object{"search": {"query": "left " + version, "namespace": "docs"},
				"save": {"text": "left " + version, "namespace": "docs"}} {
				t.Run(version+" "+tool, func(t *testing.T) {
					c := s.mcp(version, "")
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					done := make(chan error, 1)
					go func() {
						_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
						done <- err
					}()
					await(t, "the model is at work", working)
					started := time.Now()
					cancel()
					if err := await(t, "the client has left", done); err == nil {
						t.Error("a call that was left succeeds")
					}
					if err := await(t, "the model is told", ended); err == nil {
						t.Error("the model worked on")
					}
					if took := time.Since(started); took > 2*time.Minute {
						t.Errorf("the model heard of it after %s", took)
					}
				})
			}
		}
		harness.Eventually(t, "the calls are logged as left",
			func() bool { return strings.Count(log.String(), "caller gone") >= 2*len(mcp.Versions()) })
		if s := log.String(); strings.Contains(s, "panic") || !strings.Contains(s, "transport=mcp") {
			t.Errorf("the log: %s", s)
		}
	})
}

// lockedLog is a log that may be read while it is written.
type lockedLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// A call has 30 s and may ask for less. What takes longer than a client is given
// to read an answer is answered all the same.
func TestMCPTime(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{transport: func(o *transport.Options) { o.WriteIdle = 200 * time.Millisecond }})
		tools := 0
		for _, r := range s.engine.Set().Routes() {
			if r.Spec.Tool != nil {
				want := 30 * time.Second
				if r.Spec.Mutates && !r.Spec.Tool.Destructive {
					want = 120 * time.Second // a save embeds its text whole or not at all
				}
				if tools++; r.Spec.Timeout != want {
					t.Errorf("%s has %s", r.Spec.Name, r.Spec.Timeout)
				}
			}
		}
		if tools != 8 {
			t.Errorf("%d tools", tools)
		}
		s.embedder.Before.Set(coretest.UntilDone)
		started := time.Now()
		s.mcp(newest, "?namespace=a", "X-Timeout-Ms", "600").refuses("save", object{"text": "x"}, "timeout", "600ms")
		if took := time.Since(started); took < 600*time.Millisecond || took > time.Minute {
			t.Errorf("it took %s", took)
		}
		s.embedder.Before.Clear()
		for _, wrong := range []string{"0", "-1", "soon", "1.5"} {
			s.mcp(newest, "?namespace=a", "X-Timeout-Ms", wrong).refuses("save", object{"text": "x"}, "invalid_request",
				"X-Timeout-Ms")
		}
		if ids := s.ids("a"); ids != nil {
			t.Errorf("what timed out is stored: %v", ids)
		}
	})
}

// Messages count against the memory that bodies may take.
func TestMCPBodyBudget(t *testing.T) {
	t.Parallel()
	s := start(t, backends()[0], options{transport: func(o *transport.Options) { o.BodyBytes = 1 << 20 }})
	s.rpc(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`+strings.Repeat("x", 64<<10)+`"}}`).denies(503,
		-32000, "null", "busy").retry()
	for range 50 { // what was held is given back
		s.rpc(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 4<<10) + `"}}`).ok()
	}
}

// Calls are counted and logged like any other, under the transport's name, and
// say what is left of the key's limits.
func TestMCPIsObserved(t *testing.T) {
	t.Parallel()
	var log lockedLog
	s := start(t, backends()[0], options{log: slog.New(slog.NewJSONHandler(&log, nil))})
	s.write("docs", doc("x", "heron", ""))
	c := s.mcp(newest, "")
	c.call("fetch", object{"id": "docs/x"})
	c.refuses("fetch", object{"id": "docs/none"}, "document_not_found")
	metrics := string(s.get("/metrics").ok().body)
	for _, want := range []string{`op="tools.fetch",transport="mcp"`, `code="document_not_found"`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	r := s.rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{"id":"docs/x"}}}`,
		"X-Request-Id", "seen-1").ok()
	if r.header.Get("X-Request-Id") != "seen-1" {
		t.Errorf("headers %v", r.header)
	}
	harness.Eventually(t, "the call is logged", func() bool {
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, `"op":"tools.fetch","transport":"mcp","request_id":"seen-1"`) &&
				strings.Contains(line, `"key":`) {
				return true
			}
		}
		return false
	})
	s.as("").rpc("{}")
	if !strings.Contains(log.String(), `"msg":"request refused"`) {
		t.Errorf("a refusal is not logged: %s", log.String())
	}
}

// FuzzMCP sends arbitrary arguments to every tool, and arbitrary messages: what is
// answered is never a failure of the server.
func FuzzMCP(f *testing.F) {
	names := []string{"search", "fetch", "save", "delete", "list_namespaces"}
	for i, args := range []string{`{"query":"x","top_k":3,"filter":{"a":{"$in":[1]}},"rerank":false}`,
		`{"id":"docs/x","offset":1,"max_chars":2}`,
		`{"text":"y","id":"docs/y","title":"t","url":"u","metadata":{"a":["b"]}}`, `{"ids":["docs/y","docs/z"]}`,
		`{"prefix":"d","cursor":"AAAA"}`} {
		f.Add(uint8(i), args, "namespace=docs")
	}
	for _, m := range []string{`{}`, `[]`, `null`, `{"text":"\ud800","namespace":"docs"}`,
		`{"id":"docs/x","id":"docs/y"}`, "\x00", `{"offset":1e400}`, `{"metadata":{"":1},"text":"x"}`} {
		for i := range len(names) {
			f.Add(uint8(i), m, "")
		}
	}
	s := start(f, backends()[0], options{reranker: coretest.Reranker{}})
	s.write("docs", doc("x", "heron", ""))
	ctx := context.Background()
	f.Fuzz(func(t *testing.T, which uint8, args, query string) {
		body := args
		tool := names[int(which)%len(names)]
		if which < 128 {
			body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
		}
		got, err := s.send(ctx, "POST", "/mcp?"+query, raw(body), "Accept", acceptBoth)
		if err != nil {
			if strings.Contains(err.Error(), "invalid") || strings.Contains(err.Error(), "parse") {
				return // not a URL that a client can send
			}
			t.Fatal(err)
		}
		if got.status >= 500 || got.status == 401 || len(got.body) > 0 && !json.Valid(got.body) ||
			len(got.body) == 0 && got.status != 202 {
			t.Fatalf("%q: %d %s", body, got.status, got.body)
		}
		if strings.Contains(string(got.body), "internal_error") || strings.Contains(string(got.body), "-32603") {
			t.Fatalf("%q: %s", body, got.body)
		}
	})
}
