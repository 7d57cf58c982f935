package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
)

// maxLine bounds a message in either direction. A server's own bound is lower.
const maxLine = 16 << 20

// maxInFlight bounds the calls that wait for the server; further messages are
// read when one has ended.
const maxInFlight = 64

// perRequestVersion is the first revision whose requests each name their revision.
const perRequestVersion = "2026-07-28"

// Bridge forwards to one endpoint with one key.
type Bridge struct {
	Endpoint  string // URL
	Host      string // sent in place of the URL's host; "": that
	Key       string
	Transport http.RoundTripper
	Log       *slog.Logger
}

// run is one conversation.
type run struct {
	Bridge
	client *http.Client
	slots  chan struct{}
	calls  sync.WaitGroup
	fail   context.CancelCauseFunc

	writing sync.Mutex
	out     io.Writer

	mu       sync.Mutex
	version  string // agreed on by initialize
	inFlight map[string]context.CancelFunc
}

// Run forwards messages, one a line, until in ends, and then waits for the
// answers that are due. It ends at once when ctx does. An error is one of in or
// out; those of the server are answered as errors of JSON-RPC.
func (b Bridge) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r := &run{
		Bridge:   b,
		client:   &http.Client{Transport: b.Transport},
		slots:    make(chan struct{}, maxInFlight),
		fail:     fail,
		out:      out,
		inFlight: map[string]context.CancelFunc{},
	}
	ended := make(chan error, 1)
	go func() { // reading can't be interrupted; the process ends without it
		err := r.read(ctx, in)
		r.calls.Wait()
		ended <- err
	}()
	select {
	case err := <-ended:
		if cause := context.Cause(ctx); err == nil && errors.Is(cause, errWrite) {
			return cause
		}
		return err
	case <-ctx.Done():
		if cause := context.Cause(ctx); errors.Is(cause, errWrite) {
			return cause
		}
		return nil
	}
}

var errWrite = errors.New("write answer")

func (r *run) read(ctx context.Context, in io.Reader) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for ctx.Err() == nil {
		line, err := readLine(lines)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			r.handle(ctx, line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLineTooLong):
			r.writeMessage(errorMessage(nil, codeInvalid, fmt.Sprintf("the message is longer than %d bytes", maxLine), nil))
		case err != nil:
			return fmt.Errorf("read message: %w", err)
		}
	}
	return nil
}

var errLineTooLong = errors.New("the line is too long")

// readLine reads to the end of a line. Of one that is too long nothing is kept.
func readLine(from *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := from.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || err == io.EOF):
			return nil, errLineTooLong // an end of the input shows with the next line
		default:
			return line, err
		}
	}
}

// envelope is what the bridge needs to know of a message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string          `json:"name"`
		URI             string          `json:"uri"`
		RequestID       json.RawMessage `json:"requestId"`
		ProtocolVersion string          `json:"protocolVersion"`
		Meta            struct {
			ProtocolVersion string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

func (e *envelope) isCall() bool { return len(e.ID) > 0 && e.Method != "" }

// handle forwards a message; answers are written as they arrive, in any order.
func (r *run) handle(ctx context.Context, line []byte) {
	var e envelope
	_ = json.Unmarshal(line, &e) // the server says what is wrong with it
	if e.Method == "notifications/cancelled" {
		r.mu.Lock()
		if cancel := r.inFlight[string(e.Params.RequestID)]; cancel != nil {
			cancel() // ends the request, which is how the server hears of it
		}
		r.mu.Unlock()
		return
	}
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	call, cancel := context.WithCancel(ctx)
	if e.isCall() {
		r.mu.Lock()
		r.inFlight[string(e.ID)] = cancel
		r.mu.Unlock()
	}
	forward := func() {
		r.forward(call, line, &e)
		if e.isCall() {
			r.mu.Lock()
			delete(r.inFlight, string(e.ID))
			r.mu.Unlock()
		}
		cancel()
		<-r.slots
	}
	if e.Method == "initialize" { // what comes after it depends on what it agrees on
		forward()
		return
	}
	r.calls.Go(forward)
}

// forward sends one message and passes on what is answered.
func (r *run) forward(ctx context.Context, line []byte, e *envelope) {
	res, err := r.post(ctx, line, e)
	if err == nil {
		defer res.Body.Close()
		err = r.writeAnswer(ctx, res, e)
	}
	if err == nil || ctx.Err() != nil {
		return // a call that the client cancelled gets no answer
	}
	r.Log.Warn("bridge message unanswered", "method", e.Method, "error", err)
	if e.isCall() || e.Method == "" && len(e.ID) == 0 {
		r.writeMessage(errorMessage(e.ID, codeServer, err.Error(), nil))
	}
}

func (r *run) post(ctx context.Context, line []byte, e *envelope) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Endpoint, bytes.NewReader(line))
	if err != nil {
		return nil, fmt.Errorf("call server: %w", err)
	}
	if r.Host != "" {
		req.Host = r.Host
	}
	req.Header.Set("Authorization", "Bearer "+r.Key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	version := e.Params.Meta.ProtocolVersion
	if version == "" && e.Method != "initialize" {
		r.mu.Lock()
		version = r.version
		r.mu.Unlock()
	}
	if version != "" {
		req.Header.Set("Mcp-Protocol-Version", version)
	}
	if version >= perRequestVersion {
		req.Header.Set("Mcp-Method", e.Method)
		switch e.Method {
		case "tools/call", "prompts/get":
			req.Header.Set("Mcp-Name", e.Params.Name)
		case "resources/read":
			req.Header.Set("Mcp-Name", e.Params.URI)
		}
	}
	res, err := r.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("call server: %w", err)
	}
	return res, nil
}

// writeAnswer writes an answer of the server.
func (r *run) writeAnswer(ctx context.Context, res *http.Response, e *envelope) error {
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return r.writeEvents(res.Body)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxLine+1))
	switch {
	case err != nil:
		return fmt.Errorf("read answer: %w", err)
	case len(body) > maxLine:
		return fmt.Errorf("read answer: it is longer than %d bytes", maxLine)
	case len(body) == 0 && res.StatusCode < 300:
		return nil // a notification was taken
	case res.StatusCode >= 300:
		r.writeRefusal(res, body, e)
		return nil
	}
	if e.Method == "initialize" {
		var answer struct {
			Result struct {
				ProtocolVersion string `json:"protocolVersion"`
			} `json:"result"`
		}
		if json.Unmarshal(body, &answer) == nil {
			r.mu.Lock()
			r.version = answer.Result.ProtocolVersion
			r.mu.Unlock()
		}
	}
	r.writeMessage(body)
	return nil
}

// writeRefusal passes on an error. It adds the message's id where the server failed
// before it had read that.
func (r *run) writeRefusal(res *http.Response, body []byte, e *envelope) {
	var answer struct {
		Error *rpcError `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Error == nil || answer.Error.Message == "" {
		answer.Error = &rpcError{Code: codeServer,
			Message: fmt.Sprintf("the server answered %d %s", res.StatusCode, http.StatusText(res.StatusCode))}
	}
	r.Log.Warn("bridge message refused", "method", e.Method, "status", res.StatusCode, "error", answer.Error.Message,
		"request_id", res.Header.Get("X-Request-Id"))
	if e.Method != "" && !e.isCall() {
		return // nobody waits for an answer to a notification
	}
	r.writeMessage(errorMessage(e.ID, answer.Error.Code, answer.Error.Message, answer.Error.Data))
}

// writeEvents writes each message of a stream of events (HTML, server-sent events).
func (r *run) writeEvents(body io.Reader) error {
	lines := bufio.NewReaderSize(body, 64<<10)
	var data []byte
	for {
		line, err := readLine(lines)
		switch line = bytes.TrimRight(line, "\r\n"); {
		case len(line) == 0 && len(data) > 0:
			r.writeMessage(data)
			data = nil
		case bytes.HasPrefix(line, []byte("data:")):
			data = append(data, bytes.TrimPrefix(line[len("data:"):], []byte(" "))...)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
	}
}

// writeMessage writes one message as one line.
func (r *run) writeMessage(message []byte) {
	var line bytes.Buffer
	if err := json.Compact(&line, message); err != nil {
		r.Log.Warn("bridge answer invalid", "error", err)
		return
	}
	line.WriteByte('\n')
	r.writing.Lock()
	defer r.writing.Unlock()
	if _, err := r.out.Write(line.Bytes()); err != nil {
		r.fail(fmt.Errorf("%w: %w", errWrite, err))
	}
}

// The codes of JSON-RPC that the bridge answers itself.
const (
	codeInvalid = -32600
	codeServer  = -32000
)

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func errorMessage(id json.RawMessage, code int, text string, data json.RawMessage) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	b, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", id, rpcError{code, text, data}})
	if err != nil { // ids and data were read as JSON
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"an internal error occurred"}}`)
	}
	return b
}
