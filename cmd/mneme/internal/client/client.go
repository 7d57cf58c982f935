package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Client calls one server with one key. Safe for concurrent use.
type Client struct {
	base string
	key  string
	http *http.Client
}

// New makes a client of the server at base.
func New(base, key string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the URL of a server, such as http://127.0.0.1:8080", base)
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	return &Client{strings.TrimSuffix(base, "/"), key, &http.Client{Transport: t}}, nil
}

// Pin makes the client take the certificate in a file, and no other, whatever names it
// has. It is for a server of this machine, and does nothing where file is "".
func (c *Client) Pin(file string) {
	t, ok := c.http.Transport.(*http.Transport)
	if file == "" || !ok {
		return
	}
	t.TLSClientConfig = &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // the certificate itself is compared
		VerifyConnection: func(s tls.ConnectionState) error {
			text, err := os.ReadFile(file) // now, for it may have been renewed
			if err != nil {
				return fmt.Errorf("read the server's certificate: %w", err)
			}
			if block, _ := pem.Decode(text); block == nil || !bytes.Equal(block.Bytes, s.PeerCertificates[0].Raw) {
				return fmt.Errorf("the server's certificate is not that of %s", file)
			}
			return nil
		},
	}
}

// Local makes a client of a handler in this process.
func Local(h http.Handler, key string) *Client {
	return &Client{"http://local", key, &http.Client{Transport: local{h}}}
}

// Through makes a client of the server at base that a transport reaches, which adds the key.
func Through(base string, t http.RoundTripper) *Client {
	return &Client{base, "", &http.Client{Transport: t}}
}

// Base is the server's URL.
func (c *Client) Base() string { return c.base }

// Key is the key that calls carry.
func (c *Client) Key() string { return c.key }

// WithKey is a client of the same server with another key.
func (c *Client) WithKey(key string) *Client { return &Client{c.base, key, c.http} }

// Close gives connections back that no call uses. A server that ends waits some seconds for one
// on which no call was ever made, as is opened when two calls begin at once.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Transport carries requests for code that makes its own.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }

// Error is an answer of the server that is not a success.
type Error struct {
	Status     int
	Code       string
	Message    string
	RequestID  string
	RetryAfter time.Duration // 0: the server gave none
}

// Error gives code and message, and the request id for the server's log.
func (e *Error) Error() string {
	s := e.Code + ": " + e.Message
	if e.Code == "" {
		s = fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
	}
	if e.RequestID != "" && e.Status >= 500 {
		s += " (request " + e.RequestID + ")"
	}
	return s
}

// CodeOf is the code of a server's error; "" when err is none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// maxAnswer bounds an answer; the largest, 100 chunks with neighbours, is far below.
const maxAnswer = 64 << 20

// Do calls path with in as JSON body, nil for none, and decodes the answer into
// out, nil to drop it.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	return c.do(ctx, method, path, in, out, http.Header{})
}

func (c *Client) do(ctx context.Context, method, path string, in, out any, header http.Header) error {
	res, err := c.send(ctx, method, path, in, header)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := readAnswer(res)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// Start is Do for a call that is answered with 202 and goes on.
func (c *Client) Start(ctx context.Context, path string, in, out any) error {
	return c.do(ctx, http.MethodPost, path, in, out, http.Header{"Prefer": {"respond-async"}})
}

// Stream reads path and gives the answer's body as it comes. The caller closes
// it. Reading one that the server cut short fails with io.ErrUnexpectedEOF.
func (c *Client) Stream(ctx context.Context, path string) (io.ReadCloser, error) {
	res, err := c.send(ctx, http.MethodGet, path, nil, http.Header{})
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		defer res.Body.Close()
		_, err := readAnswer(res)
		return nil, err
	}
	return res.Body, nil
}

// Upload posts a body of any length and decodes the answer into out. encoding is
// the body's Content-Encoding; "": none.
func (c *Client) Upload(ctx context.Context, path, media, encoding string, body io.Reader, out any) error {
	header := http.Header{"Content-Type": {media}}
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	// The server may refuse a call without reading its body; because the client waits
	// for "continue", such a body is not sent at all.
	header.Set("Expect", "100-continue")
	res, err := c.request(ctx, http.MethodPost, path, io.NopCloser(body), header)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := readAnswer(res)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

func (c *Client) send(ctx context.Context, method, path string, in any, header http.Header) (*http.Response, error) {
	if in == nil {
		return c.request(ctx, method, path, nil, header)
	}
	encoded, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	header.Set("Content-Type", "application/json")
	return c.request(ctx, method, path, bytes.NewReader(encoded), header)
}

func (c *Client) request(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("call server: %w", err)
	}
	req.Header = header
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("call server: %w", err)
	}
	return res, nil
}

// readAnswer reads an answer to its end; one that is no success is an *Error.
func readAnswer(res *http.Response) ([]byte, error) {
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if len(answer) > maxAnswer {
		return nil, fmt.Errorf("read answer: it is longer than %d bytes", maxAnswer)
	}
	if res.StatusCode >= 300 {
		return nil, answerError(res, answer)
	}
	return answer, nil
}

func answerError(res *http.Response, answer []byte) error {
	e := &Error{Status: res.StatusCode, RequestID: res.Header.Get("X-Request-Id")}
	var body struct { // of either API
		Error         struct{ Code, Message string }
		Code, Message string
	}
	if json.Unmarshal(answer, &body) == nil {
		e.Code, e.Message = cmp.Or(body.Error.Code, body.Code), cmp.Or(body.Error.Message, body.Message)
	}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	return e
}

// RetryBusy repeats a call while the server is too busy for it and says when to retry,
// up to tries calls.
func RetryBusy(ctx context.Context, tries int, call func() error) error {
	for {
		err := call()
		var e *Error
		if tries--; tries <= 0 || !errors.As(err, &e) || e.RetryAfter <= 0 {
			return err
		}
		select {
		case <-time.After(e.RetryAfter):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
