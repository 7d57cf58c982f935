package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/transports/mcp"
)

// at is the site's endpoint.
func (s *site) at(path string) *site { return &site{t: s.t, url: s.url + path} }

// is checks an answer that is an error of JSON-RPC.
func (a answer) is(t *testing.T, what string, status, code int, says string) {
	t.Helper()
	if a.status != status || a.err.Code != code || !strings.Contains(a.err.Message, says) {
		t.Errorf("%s: %d %s, want %d with code %d and %q", what, a.status, a.body, status, code, says)
	}
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// A challenge says where the resource's metadata is, and whether a key was wrong or missing.
func TestChallenge(t *testing.T) {
	where := ""
	s := serve(t, &echo{}, func(o *mcp.Options) { o.ResourceMetadata = func(*http.Request) string { return where } }).at("/mcp")
	plain := serve(t, &echo{}, nil).at("/mcp")
	for _, c := range []struct {
		s            *site
		where, bears string
		want         string
	}{
		{s, "", "", "Bearer"},
		{s, "", "Bearer wrong", `Bearer error="invalid_token"`},
		{s, "https://m.example/meta", "", `Bearer resource_metadata="https://m.example/meta"`},
		{s, "https://m.example/meta", "Bearer wrong", `Bearer error="invalid_token", resource_metadata="https://m.example/meta"`},
		{plain, "", "", "Bearer"},
	} {
		where = c.where
		a := c.s.postTo(ping, "Authorization", c.bears)
		if got := a.header.Get("WWW-Authenticate"); a.status != 401 || got != c.want {
			t.Errorf("%q, %q: %d, challenge %q, want %q", c.where, c.bears, a.status, got, c.want)
		}
	}
	a := s.postTo(ping, "Authorization", "Bearer suspended")
	if a.is(t, "suspended", 403, -32000, "suspended"); a.header.Get("WWW-Authenticate") != "" {
		t.Errorf("suspended: %v", a.header)
	}
	s.postTo(ping, "Authorization", "Bearer unlucky").is(t, "without a store", 500, -32000, "an internal error occurred")
}

// Refusals are logged as loudly as they matter.
func TestRefusalsAreLogged(t *testing.T) {
	s := serve(t, &echo{}, nil)
	at := s.at("/mcp")
	at.postTo(ping, "Authorization", "Bearer wrong")
	at.postTo(ping, "Authorization", "Bearer unlucky")
	at.send("GET", "")
	s.stop()
	log := s.log.String()
	for _, want := range []string{`level=INFO msg="request refused"`, `level=ERROR msg="request refused"`,
		`error="the store is gone"`} {
		if strings.Count(log, want) != 1 {
			t.Errorf("%q is there %d times: %s", want, strings.Count(log, want), log)
		}
	}
}

// What is no JSON in one plain body is refused before it is read as a message.
func TestBodies(t *testing.T) {
	s := serve(t, &echo{}, func(o *mcp.Options) { o.MaxBody = int64(len(ping)) }).at("/mcp")
	for _, media := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF8"} {
		if a := s.postTo(ping, "Content-Type", media); a.status != 200 {
			t.Errorf("%s: %d %s", media, a.status, a.body)
		}
	}
	for _, media := range []string{"", "text/plain", "application/json; charset=latin1",
		"application/json; charset=utf-16", ";"} {
		s.postTo(ping, "Content-Type", media).is(t, media, 400, -32000, "application/json")
	}
	if a := s.postTo(ping, "Content-Encoding", "Identity"); a.status != 200 {
		t.Errorf("identity: %d %s", a.status, a.body)
	}
	s.postTo(ping, "Content-Encoding", "gzip").is(t, "gzip", 400, -32000, "Content-Encoding")
	says := fmt.Sprintf("larger than %d bytes", len(ping))
	s.postTo(ping+" ").is(t, "one more", 413, -32000, says)
	chunked := func(body string) answer {
		t.Helper()
		req, err := http.NewRequest("POST", s.url, struct{ *strings.Reader }{strings.NewReader(body)}) // of no known length
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer good")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var m struct{ Error json.RawMessage }
		a := answer{status: res.StatusCode}
		_ = json.NewDecoder(res.Body).Decode(&m)
		_ = json.Unmarshal(m.Error, &a.err)
		return a
	}
	if a := chunked(ping); a.status != 200 {
		t.Errorf("chunked: %d", a.status)
	}
	chunked(ping+" ").is(t, "one more, chunked", 413, -32000, says)
	long := serve(t, &echo{}, nil).at("/mcp")
	if a := long.postTo(ping + strings.Repeat(" ", mcp.MaxBody-len(ping))); a.status != 200 {
		t.Errorf("as large as may be: %d %s", a.status, a.body)
	}
	long.postTo(ping+strings.Repeat(" ", mcp.MaxBody-len(ping)+1)).is(t, "unless told otherwise", 413, -32000, "2097152 bytes")
}

// Errors that belong to no tool carry the message's id where that is one, and the code of
// JSON-RPC that fits.
func TestMessages(t *testing.T) {
	s := serve(t, &echo{}, nil).at("/mcp")
	for id, want := range map[string]string{`7`: `7`, `0`: `0`, `9`: `9`, `-1`: `-1`, `"x"`: `"x"`, `null`: `null`,
		`[1]`: `null`, `{}`: `null`, `true`: `null`} {
		a := s.postTo(`{"jsonrpc":"2.0","id":` + id + `,"method":"no/such"}`)
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(a.body), &m); err != nil || string(m.ID) != want {
			t.Errorf("id %s is answered with %s, want %s: %s", id, m.ID, want, a.body)
		}
	}
	s.postTo(`{"jsonrpc":"2.0","id":1,"method":"no/such"}`).is(t, "unknown", 200, -32601, `method "no/such" is not known`)
	unknown := s.postTo(`{"jsonrpc":"2.0","method":"no/such"}`)
	if unknown.status != 202 || unknown.body != "" || unknown.header.Get("Content-Type") != "" {
		t.Errorf("an unknown notification: %d %q %v", unknown.status, unknown.body, unknown.header)
	}
	if a := s.postTo(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); a.status != 202 || a.body != "" {
		t.Errorf("a notification: %d %q", a.status, a.body)
	}
	for body, says := range map[string]string{`{`: "not valid JSON", ``: "not valid JSON"} {
		s.postTo(body).is(t, body, 400, -32700, says)
	}
	for _, body := range []string{`3`, `"x"`, `{"method":3}`} {
		s.postTo(body).is(t, body, 400, -32600, "not a message of JSON-RPC 2.0")
	}
	batch := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(ping+",", n), ",") + "]" }
	old := []string{"Mcp-Protocol-Version", "2025-03-26"}
	s.postTo("[]", old...).is(t, "an empty batch", 400, -32600, "1-100 messages")
	s.postTo(batch(101), old...).is(t, "101", 400, -32600, "1-100 messages")
	hundred := strings.Split(batch(1), ping)[0]
	for i := range 100 {
		hundred += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"},`, i)
	}
	if a := s.postTo(strings.TrimSuffix(hundred, ",")+"]", old...); a.status != 200 || strings.Count(a.body, `"result"`) != 100 {
		t.Errorf("100: %d %.300s", a.status, a.body)
	}
	a := s.postTo(`[{"jsonrpc":"2.0","id":1,"method":"no/such"}]`, old...)
	if a.status < 400 || a.err.Code != -32600 {
		t.Errorf("an unknown method in a batch: %d %s", a.status, a.body)
	}
	if a := s.send("DELETE", ping); a.header.Get("Allow") != "POST" || a.status != 405 {
		t.Errorf("DELETE: %d %v", a.status, a.header)
	}
}

// A wait is said in whole seconds, rounded up, in the header and to the model.
func TestRetryAfter(t *testing.T) {
	var wait time.Duration
	s := serve(t, &echo{work: func(context.Context, string) error {
		return fault.New(fault.RateLimited, "slowly").After(wait)
	}}, func(o *mcp.Options) {
		verify := o.Authenticate
		o.Authenticate = func(ctx context.Context, bearer string) (p ident.Principal, err error) {
			if bearer == "hasty" {
				return p, fault.New(fault.Unavailable, "slowly").After(wait)
			}
			return verify(ctx, bearer)
		}
	}).at("/mcp")
	for d, want := range map[time.Duration]string{
		0: "", time.Nanosecond: "1", time.Second: "1", time.Second + 1: "2", time.Minute: "60",
	} {
		wait = d
		if got := s.postTo(ping, "Authorization", "Bearer hasty").header.Get("Retry-After"); got != want {
			t.Errorf("%s: Retry-After %q, want %q", d, got, want)
		}
		says := "rate_limited: slowly"
		if want != "" {
			says += " (retry after " + want + " s)"
		}
		if got := s.postTo(saying("x")).result.Content[0].Text; got != says {
			t.Errorf("%s: %q, want %q", d, got, says)
		}
	}
}

// Pages of this machine, of the server's own name and of those that are listed may call; what
// comes by another name to this machine's own address may not.
func TestOrigins(t *testing.T) {
	s := serve(t, &echo{}, func(o *mcp.Options) {
		o.BaseURL = "https://Memory.example.com:8443/mneme"
		o.AllowedOrigins = []string{"https://app.example.com", "null", ""}
	})
	any := serve(t, &echo{}, func(o *mcp.Options) { o.AllowedOrigins = []string{"*"} })
	at := s.at("/mcp")
	for origin, want := range map[string]int{
		"http://localhost:3000": 200, "http://app.localhost": 200, "http://127.0.0.1:1": 200, "http://[::1]": 200,
		"http://[::ffff:127.0.0.1]": 200, "https://memory.example.com:8443": 200, "HTTPS://APP.example.com": 200, "null": 200,
		"http://app.example.com": 403, "https://app.example.com:444": 403, "https://evil.example": 403, "http://10.0.0.1": 403,
		"x": 403, "http://localhost.evil.example": 403, "http://notlocalhost": 403, "%": 403,
	} {
		a := at.postTo(ping, "Origin", origin)
		if a.status != want || (a.header.Get("Access-Control-Allow-Origin") == origin) != (want == 200) {
			t.Errorf("%s: %d %v, want %d", origin, a.status, a.header, want)
		}
		if got := any.at("/mcp").postTo(ping, "Origin", origin); got.status != 200 {
			t.Errorf("%s where any may: %d", origin, got.status)
		}
	}
	if a := at.postTo(ping); a.header.Get("Access-Control-Allow-Origin") != "" || a.header.Get("Vary") == "Origin" {
		t.Errorf("no page: %v", a.header)
	}
	for host, want := range map[string]int{
		"memory.example.com": 200, "MEMORY.example.com:1": 200, "localhost:5": 200, "[::1]:8": 200, "app.example.com": 200,
		"evil.example": 403, "evil.example:80": 403,
	} {
		if a := at.postTo(ping, "Host", host); a.status != want {
			t.Errorf("host %s: %d, want %d", host, a.status, want)
		}
	}
	if a := at.postTo(ping, "Host", "memory.example.com:8443", "Origin", "http://MEMORY.example.com:8443"); a.status != 200 {
		t.Errorf("a page of the host itself: %d %s", a.status, a.body)
	}
	ask := at.send("OPTIONS", "", "Origin", "https://app.example.com", "Access-Control-Request-Method", "POST",
		"Authorization", "")
	allowed := ask.header.Get("Access-Control-Allow-Headers")
	if ask.status != 204 || ask.header.Get("Access-Control-Allow-Methods") != "POST" ||
		!strings.Contains(allowed, "X-Mneme-Namespace") || !strings.Contains(allowed, "X-Mneme-End-User") {
		t.Errorf("a preflight: %d %v", ask.status, ask.header)
	}
	for _, headers := range [][]string{{"Origin", "https://app.example.com"}, {"Access-Control-Request-Method", "POST"}} {
		if a := at.send("OPTIONS", "", headers...); a.status != 405 {
			t.Errorf("OPTIONS with %v: %d", headers, a.status)
		}
	}
	if a := at.send("POST", ping, "Origin", "https://app.example.com", "Access-Control-Request-Method", "POST"); a.status != 200 {
		t.Errorf("POST with a preflight's header: %d", a.status)
	}
}
