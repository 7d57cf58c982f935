package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/bridge"
)

// conversation is a bridge with its other ends in the hands of a test.
type conversation struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	done  chan error
	stop  context.CancelFunc
}

func talk(t *testing.T, endpoint string) *conversation {
	t.Helper()
	readIn, writeIn := io.Pipe()
	readOut, writeOut := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	c := &conversation{t: t, in: writeIn, lines: make(chan string, 100), done: make(chan error, 1), stop: cancel}
	go func() {
		lines := bufio.NewReaderSize(readOut, 1<<20)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				close(c.lines)
				return
			}
			c.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	go func() {
		c.done <- bridge.Bridge{
			Endpoint:  endpoint,
			Host:      "host.example",
			Key:       "k",
			Transport: http.DefaultTransport,
			Log:       slog.New(slog.DiscardHandler),
		}.Run(ctx, readIn, writeOut)
		_ = writeOut.Close()
	}()
	t.Cleanup(func() { cancel(); _ = writeIn.Close() })
	return c
}

func (c *conversation) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conversation) hear() string {
	c.t.Helper()
	select {
	case line := <-c.lines:
		return line
	case <-time.After(time.Minute):
		c.t.Fatal("nothing is said")
		return ""
	}
}

func (c *conversation) end() error {
	c.t.Helper()
	select {
	case err := <-c.done:
		return err
	case <-time.After(time.Minute):
		c.t.Fatal("the bridge does not end")
		return nil
	}
}

// server answers by the method of a message.
func server(t *testing.T, answers map[string]func(w http.ResponseWriter, r *http.Request, id string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &m)
		if answer := answers[m.Method]; answer != nil {
			answer(w, r, string(m.ID))
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestHeaders(t *testing.T) {
	show := func(w http.ResponseWriter, r *http.Request, id string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": %s,\n  \"result\": {\"protocolVersion\": \"2025-06-18\", "+
			"\"saw\": %q}}", id,
			strings.Join([]string{r.Host, r.Header.Get("Authorization"), r.Header.Get("Mcp-Protocol-Version"),
				r.Header.Get("Mcp-Method"), r.Header.Get("Mcp-Name")}, "|"))
	}
	c := talk(t, server(t, map[string]func(http.ResponseWriter, *http.Request, string){"initialize": show,
		"tools/call": show, "tools/list": show, "resources/read": show}))
	for _, step := range []struct{ say, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `|||`},
		{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, `|||`},
		// as agreed, not as asked
		{`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"search"}}`, `|2025-06-18||`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","_meta":{"io.modelcontextprotocol/` +
			`protocolVersion":"2026-07-28"}}}`, `|2026-07-28|tools/call|search`},
		{`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"a://b","_meta":{"io.modelcontextprotocol/` +
			`protocolVersion":"2026-07-28"}}}`, `|2026-07-28|resources/read|a://b`},
	} {
		c.say(step.say)
		if got := c.hear(); !strings.Contains(got, `"saw":"host.example|Bearer k`+step.want+`"`) {
			t.Errorf("%s\nis sent with %s\nwant %s", step.say, got, step.want)
		}
	}
	_ = c.in.Close()
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	c := talk(t, server(t, map[string]func(http.ResponseWriter, *http.Request, string){
		"refused": func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(401)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"the key is not `+
				`valid","data":{"code":"unauthorized"}}}`)
		},
		"proxy": func(w http.ResponseWriter, _ *http.Request, _ string) { http.Error(w, "<html>", http.StatusBadGateway) },
		"cut": func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		},
		"abort": func(http.ResponseWriter, *http.Request, string) { panic(http.ErrAbortHandler) },
		"events": func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": a comment\n\nevent: message\ndata: {\"method\":\"first\"}\n\ndata: {\"id\":"+id+
				",\ndata: \"result\":2}\n\n")
		},
	}))
	for say, want := range map[string]string{
		`{"id":1,"method":"refused"}`: `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"the key is not ` +
			`valid","data":{"code":"unauthorized"}}}`,
		`{"id":"a","method":"proxy"}`: `{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"the server ` +
			`answered 502 Bad Gateway"}}`,
		`{"id":2,"method":"cut"}`:       `"id":2,"error":{"code":-32000,"message":"read answer: `,
		`{"id":3,"method":"abort"}`:     `"id":3,"error":{"code":-32000,"message":"call server: `,
		strings.Repeat("x", 16<<20+100): `"id":null,"error":{"code":-32600,"message":"the message is longer than `,
	} {
		c.say(say)
		if got := c.hear(); !strings.Contains(got, want) {
			t.Errorf("%.60s is answered %s, want %s", say, got, want)
		}
	}
	for _, quiet := range []string{"", " \t", `{"method":"notifications/initialized"}`, `{"method":"refused"}`,
		`{"method":"abort"}`} {
		c.say(quiet)
	}
	c.say(`{"id":4,"method":"events"}`)
	for _, want := range []string{`{"method":"first"}`, `{"id":4,"result":2}`} {
		if got := c.hear(); got != want {
			t.Errorf("an event is passed as %s, want %s", got, want)
		}
	}
	_ = c.in.Close()
	if err := c.end(); err != nil {
		t.Error(err)
	}
	for line := range c.lines {
		t.Errorf("said %s", line)
	}
}

// A call that the client cancels ends at the server and gets no answer; others go on.
func TestCancelled(t *testing.T) {
	waiting, left := make(chan string, 2), make(chan string, 2)
	c := talk(t, server(t, map[string]func(http.ResponseWriter, *http.Request, string){
		"wait": func(_ http.ResponseWriter, r *http.Request, id string) {
			waiting <- id
			<-r.Context().Done()
			left <- id
		},
		"ping": func(w http.ResponseWriter, _ *http.Request, id string) { fmt.Fprintf(w, `{"id":%s}`, id) },
	}))
	c.say(`{"id":1,"method":"wait"}`)
	c.say(`{"id":"1","method":"wait"}`)
	<-waiting
	<-waiting
	c.say(`{"method":"notifications/cancelled","params":{"requestId":"1"}}`)
	if id := <-left; id != `"1"` {
		t.Errorf("call %s was ended", id)
	}
	c.say(`{"method":"notifications/cancelled","params":{"requestId":99}}`)
	c.say(`{"id":2,"method":"ping"}`)
	if got := c.hear(); got != `{"id":2}` {
		t.Errorf("said %s", got)
	}
	c.stop() // as a signal does
	if err := c.end(); err != nil {
		t.Error(err)
	}
	if id := <-left; id != "1" {
		t.Errorf("call %s was ended", id)
	}
}

// What was asked before the end of the input is answered.
func TestEndOfInput(t *testing.T) {
	c := talk(t, server(t, map[string]func(http.ResponseWriter, *http.Request,
		string){"slow": func(w http.ResponseWriter, _ *http.Request, id string) {
		time.Sleep(200 * time.Millisecond)
		fmt.Fprintf(w, `{"id":%s}`, id)
	}}))
	if _, err := io.WriteString(c.in, `{"id":7,"method":"slow"}`); err != nil { // without the end of its line
		t.Fatal(err)
	}
	_ = c.in.Close()
	if got := c.hear(); got != `{"id":7}` {
		t.Errorf("said %s", got)
	}
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

type closedOut struct{}

func (closedOut) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A client that no longer listens ends the bridge, although its input stays open.
func TestBrokenOutput(t *testing.T) {
	url := server(t, map[string]func(http.ResponseWriter, *http.Request,
		string){"ping": func(w http.ResponseWriter, _ *http.Request, id string) { fmt.Fprintf(w, `{"id":%s}`, id) }})
	in, write := io.Pipe()
	defer write.Close()
	done := make(chan error, 1)
	go func() {
		done <- bridge.Bridge{Endpoint: url, Transport: http.DefaultTransport,
			Log: slog.New(slog.DiscardHandler)}.Run(context.Background(), in, closedOut{})
	}()
	if _, err := io.WriteString(write, `{"id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the bridge does not end")
	}
}
