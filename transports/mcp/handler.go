package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/codec"
)

// Transport is how calls that came in here are named in metrics and logs.
const Transport = "mcp"

// Versions are the revisions of the protocol that are served, newest first.
func Versions() []string { return []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"} }

// MaxBody is how large a message may be unless Options say otherwise: the largest
// text with each byte escaped, its metadata and the envelope.
const MaxBody = 2 << 20

// Options say what a handler serves.
type Options struct {
	Set     *op.Set
	Log     *slog.Logger // nil: nothing is logged
	Version string       // of the product, which the server tells clients
	// Authenticate finds out who a bearer key or token stands for. Its fault is
	// the answer.
	Authenticate func(ctx context.Context, bearer string) (ident.Principal, error)
	// ResourceMetadata is the URL of the protected-resource metadata (RFC 9728)
	// that an answer without a valid key names; nil or "": none.
	ResourceMetadata func(*http.Request) string
	// BaseURL is under which clients reach the server, "" where they use the
	// address that it listens on. Its host is accepted in Host and Origin.
	BaseURL string
	// AllowedOrigins are web pages' origins, such as https://app.example.com, that
	// may call beside those of this machine and of the server's own host; * is any.
	AllowedOrigins []string
	// MaxBody bounds a message's bytes. 0: the constant MaxBody.
	MaxBody int64
	// Extend adds to each server that is made: one for every kind of tool list, when it is first asked for.
	// Answers stay plain JSON, so notifications sent by what it adds are dropped.
	Extend func(*sdk.Server)
	// Configure changes what each server is made with, for what can't be added later.
	Configure func(*sdk.ServerOptions)
}

// Handler serves the protocol on whatever path it is mounted. It belongs below
// transports/http, which gives requests their ids, bodies their budget and time,
// and answers their patience with slow readers.
type Handler struct {
	o       Options
	log     *slog.Logger
	encoder codec.Encoder
	stream  http.Handler
	hosts   map[string]bool // beside loopback
	origins map[string]bool

	mu      sync.Mutex
	servers map[variant]*sdk.Server // those that were asked for
}

// New makes a handler. It fails when a tool's In can't be decoded, which is a
// mistake in the program.
func New(o Options) (*Handler, error) {
	h := &Handler{o: o, log: o.Log, servers: map[variant]*sdk.Server{}, hosts: map[string]bool{}, origins: map[string]bool{}}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.o.MaxBody <= 0 {
		h.o.MaxBody = MaxBody
	}
	for _, allowed := range append([]string{o.BaseURL}, o.AllowedOrigins...) {
		if u, err := url.Parse(allowed); err == nil && u.Host != "" {
			h.hosts[strings.ToLower(u.Hostname())] = true
			h.origins[originOf(u)] = true
		} else if allowed != "" {
			h.origins[allowed] = true
		}
	}
	for _, v := range broadest { // the others show a part of the same tools
		if _, err := h.server(v); err != nil {
			return nil, err
		}
	}
	h.stream = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server { return exchangeOf(r.Context()).server },
		// Host and size are checked here, with answers of our own.
		&sdk.StreamableHTTPOptions{
			Stateless:                    true,
			JSONResponse:                 true,
			PropagateRequestCancellation: true,
			DisableLocalhostProtection:   true,
			MaxRequestBodyBytes:          -1,
		})
	return h, nil
}

// exchange is one request on its way.
type exchange struct {
	w       http.ResponseWriter
	r       *http.Request
	bearer  string
	server  *sdk.Server
	message message

	mu    sync.Mutex // calls of a batch share the reply
	reply op.Reply
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{w: w, r: r, bearer: codec.Bearer(r.Header.Values("Authorization"))}
	if err := h.serve(x); err != nil {
		h.fail(x, err)
	}
}

// serve answers a request; an error is for the caller, in place of an answer.
func (h *Handler) serve(x *exchange) error {
	if err := h.checkSource(x.r); err != nil {
		return err
	}
	if h.preflight(x) {
		return nil
	}
	who, err := h.authenticate(x)
	if err != nil {
		return err
	}
	if x.r.Method != http.MethodPost {
		x.w.Header().Set("Allow", http.MethodPost)
		return fault.New(fault.MethodNotAllowed, "method %s is not allowed here; allowed: POST", fault.Clip(x.r.Method))
	}
	body, err := h.readBody(x)
	if err != nil {
		return err
	}
	if x.message, err = parse(body); err != nil {
		return err
	}
	if x.server, err = h.server(variantOf(who, x.r)); err != nil {
		return err
	}
	h.forward(x, body)
	return nil
}

func (h *Handler) authenticate(x *exchange) (ident.Principal, error) {
	if x.bearer == "" {
		return ident.Principal{}, op.Credential{Unread: len(x.r.Header.Values("Authorization")) > 0}.Missing()
	}
	return h.o.Authenticate(x.r.Context(), x.bearer)
}

func (h *Handler) readBody(x *exchange) ([]byte, error) {
	media, params, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if charset, ok := params["charset"]; err != nil || media != "application/json" ||
		ok && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "utf8") {
		return nil, fault.Field(fault.InvalidRequest, "Content-Type", "must be application/json")
	}
	if e := x.r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, fault.Field(fault.InvalidRequest, "Content-Encoding", "must be absent")
	}
	tooLarge := fault.New(fault.PayloadTooLarge, "the message is larger than %d bytes", h.o.MaxBody)
	if x.r.ContentLength > h.o.MaxBody {
		return nil, tooLarge
	}
	body, err := io.ReadAll(io.LimitReader(x.r.Body, h.o.MaxBody+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(body)) > h.o.MaxBody:
		return nil, tooLarge
	}
	return body, nil
}

// answerGrace is how long running calls have to answer after their request has ended.
const answerGrace = 2 * time.Second

// forward hands a message to the library. Calls end with the request's context.
// The library itself is told a little later, so that it still sends what a call
// answers to the end of its context: a server that shuts down says so.
func (h *Handler) forward(x *exchange, body []byte) {
	ctx, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(x.r.Context()), exchangeKey{}, x))
	defer cancel()
	stop := context.AfterFunc(x.r.Context(), func() {
		timer := time.AfterFunc(answerGrace, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
	})
	defer stop()
	r := x.r.WithContext(ctx)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	a := &answer{x: x}
	h.stream.ServeHTTP(a, r)
	if !a.began && x.r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // nobody is there to answer
	}
	a.finish(h)
}

// failure is an error as JSON-RPC has it.
type failure struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	} `json:"error"`
}

type failureData struct {
	Code      fault.Code `json:"code"`
	RequestID string     `json:"request_id"`
}

// serverError is JSON-RPC's code for what only the server knows; data tells more.
const serverError = -32000

// fail answers a request that reached no tool.
func (h *Handler) fail(x *exchange, err error) {
	f := fault.From(err)
	if f.Code == fault.Canceled {
		panic(http.ErrAbortHandler) // closes the connection, which has no reader
	}
	status := fault.Status(f.Code)
	level := slog.LevelInfo
	switch {
	case status >= http.StatusInternalServerError:
		level = slog.LevelError
	case status == http.StatusMethodNotAllowed:
		level = slog.LevelDebug // clients of older revisions try GET each time
	}
	attrs := []any{"transport", Transport, "method", fault.Clip(x.r.Method), "path", fault.Clip(x.r.URL.Path),
		"request_id", ident.RequestID(x.r.Context()), "code", string(f.Code), "message", f.Message}
	if f.Err != nil {
		attrs = append(attrs, "error", f.Err)
	}
	h.log.Log(x.r.Context(), level, "request refused", attrs...)
	head := x.w.Header()
	if f.RetryAfter > 0 {
		head.Set("Retry-After", strconv.FormatInt(int64((f.RetryAfter+time.Second-1)/time.Second), 10))
	}
	code := serverError
	var protocol *protocolError
	switch {
	case errors.As(err, &protocol):
		code = protocol.code
	case status == http.StatusUnauthorized:
		head.Set("WWW-Authenticate", h.challenge(x))
	}
	h.respond(x, status, code, f.Message, &failureData{f.Code, ident.RequestID(x.r.Context())})
}

// challenge says how to authenticate (RFC 6750, RFC 9728).
func (h *Handler) challenge(x *exchange) string {
	var params []string
	if x.bearer != "" {
		params = append(params, `error="invalid_token"`)
	}
	if h.o.ResourceMetadata != nil {
		if at := h.o.ResourceMetadata(x.r); at != "" {
			params = append(params, fmt.Sprintf("resource_metadata=%q", at))
		}
	}
	return strings.TrimSpace("Bearer " + strings.Join(params, ", "))
}

func (h *Handler) respond(x *exchange, status, code int, text string, data *failureData) {
	e := failure{Version: "2.0", ID: x.message.id()}
	e.Error.Code, e.Error.Message = code, text
	if data != nil {
		e.Error.Data = data
	}
	body, err := h.encoder.Append(nil, e)
	if err != nil { // an id that is no JSON; it was checked
		body = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"an internal error occurred"}}`)
	}
	head := x.w.Header()
	head.Set("Cache-Control", "no-store")
	send(x.w, status, body)
}

func send(w http.ResponseWriter, status int, body []byte) {
	head := w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that does not read loses its connection
}

// answer is the library's view of the response. What it writes is held until it
// is whole, except for an event stream. Errors that it writes as plain text
// become errors of JSON-RPC.
type answer struct {
	x      *exchange
	status int
	began  bool // WriteHeader or Write was called
	events bool
	body   []byte
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.x.w.Header() }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.began {
		return
	}
	a.began, a.status = true, status
	if a.events = strings.HasPrefix(a.Header().Get("Content-Type"), "text/event-stream"); a.events {
		a.x.w.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.events {
		return a.x.w.Write(b)
	}
	a.body = append(a.body, b...)
	return len(b), nil
}

// FlushError sends what is there of an event stream.
func (a *answer) FlushError() error {
	a.WriteHeader(http.StatusOK)
	if !a.events {
		return nil
	}
	return http.NewResponseController(a.x.w).Flush()
}

// Flush implements http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

func (a *answer) finish(h *Handler) {
	if a.events {
		return
	}
	x, head := a.x, a.Header()
	x.mu.Lock()
	for k, v := range x.reply.Header {
		head.Set(k, v)
	}
	x.mu.Unlock()
	switch {
	case !a.began || len(a.body) == 0 && a.status < 300: // 202
		if !a.began {
			a.status = http.StatusOK
		}
		head.Del("Content-Type")
		x.w.WriteHeader(a.status)
	case a.status >= 400 && !strings.HasPrefix(head.Get("Content-Type"), "application/json"):
		a.translate(h)
	default:
		send(x.w, a.status, a.body)
	}
}

// notHandled begins what the library says of a method that it does not know.
const notHandled = "JSON RPC not handled"

// translate turns an error in plain text into one of JSON-RPC.
func (a *answer) translate(h *Handler) {
	text := strings.TrimSpace(string(a.body))
	switch {
	case a.status == http.StatusBadRequest && strings.Contains(text, notHandled) && a.x.message.notification:
		a.x.w.Header().Del("Content-Type")
		a.x.w.WriteHeader(http.StatusAccepted) // an unknown notification is passed over
	case a.status == http.StatusBadRequest && strings.Contains(text, notHandled) && !a.x.message.batch:
		// Before 2026-07-28 an error that belongs to a request is an answer.
		h.respond(a.x, http.StatusOK, jsonrpc.CodeMethodNotFound,
			fmt.Sprintf("method %q is not known", fault.Clip(a.x.message.method)), nil)
	default:
		h.respond(a.x, a.status, jsonrpc.CodeInvalidRequest, text, nil)
	}
}
