package harness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// Object is a JSON object.
type Object = map[string]any

// Client asks a server with a key. What it says of a test's end holds in the test's
// own goroutine alone; in others there is Ask.
type Client struct {
	T    testing.TB
	At   string // where the server serves
	Key  string // "": none is sent
	HTTP *http.Client

	server *Server // nil: in this process
}

// HTTP is a client with connections of its own, as many as any test has calls at once.
// It bears with a server that is slow on a busy machine.
func HTTP() *http.Client {
	return &http.Client{Timeout: Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 1100}}
}

// As is the same client with another key.
func (c Client) As(key string) Client {
	c.Key = key
	return c
}

// Ask makes one call: the body is nil, bytes or a string as they are, or a value as
// JSON, and the header comes in pairs, of which an empty value takes a field away that
// is sent otherwise. The error is the connection's and says what was asked.
func (c Client) Ask(ctx context.Context, method, path string, body any, header ...string) (Answer, error) {
	a := Answer{t: c.T, Call: method + " " + path}
	err := a.ask(ctx, c, method, path, body, header)
	if err != nil {
		err = fmt.Errorf("%s: %w", a.Call, err)
	}
	return a, err
}

func (a *Answer) ask(ctx context.Context, c Client, method, path string, body any, header []string) error {
	var in []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		in = b
	case string:
		in = []byte(b)
	default:
		var err error
		if in, err = json.Marshal(b); err != nil {
			return err
		}
	}
	if c.server != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.server.cut, cancel)()
	}
	r, err := http.NewRequestWithContext(ctx, method, c.At+path, bytes.NewReader(in))
	if err != nil {
		return err
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	got, err := c.HTTP.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	a.Status, a.Header = got.StatusCode, got.Header
	a.Body, err = io.ReadAll(got.Body)
	return err
}

// Call is Ask of what has to be answered.
func (c Client) Call(method, path string, body any, header ...string) Answer {
	c.T.Helper()
	a, err := c.Ask(c.T.Context(), method, path, body, header...)
	if err != nil {
		if c.server != nil {
			c.server.Alive(c.T)
		}
		c.T.Fatal(err)
	}
	return a
}

// OK is Call of what has to be answered with 200.
func (c Client) OK(method, path string, body any, header ...string) Answer {
	c.T.Helper()
	return c.Call(method, path, body, header...).Is(http.StatusOK)
}

// Answer is what a server said.
type Answer struct {
	Call   string // method and path
	Status int
	Header http.Header
	Body   []byte

	t testing.TB
}

// String says what was asked and answered; it clips the body.
func (a Answer) String() string {
	b := a.Body
	if len(b) > 600 {
		b = append(b[:600:600], "..."...)
	}
	return fmt.Sprintf("%s: %d %s", a.Call, a.Status, b)
}

// Is ends the test unless the answer has the status.
func (a Answer) Is(status int) Answer {
	a.t.Helper()
	if a.Status != status {
		a.t.Fatalf("%s, want %d", a, status)
	}
	return a
}

// Into decodes the body into v, or ends the test.
func (a Answer) Into(v any) Answer {
	a.t.Helper()
	if err := json.Unmarshal(a.Body, v); err != nil {
		a.t.Fatalf("%s: %v", a, err)
	}
	return a
}

// JSON is the body as an object, nil where it is none.
func (a Answer) JSON() (o Object) {
	if json.Unmarshal(a.Body, &o) != nil {
		return nil
	}
	return o
}

// Code is an error's, of either API; "" when there is none.
func (a Answer) Code() string {
	var e struct {
		Code  string
		Error struct{ Code string }
	}
	if json.Unmarshal(a.Body, &e) != nil {
		return ""
	}
	return cmp.Or(e.Error.Code, e.Code)
}
