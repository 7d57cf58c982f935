package http

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-kit/kit/transport"
	kithttp "github.com/go-kit/kit/transport/http"
	"go.opentelemetry.io/otel/propagation"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/codec"
)

// Transport is how calls that came in here are named in metrics and logs.
const Transport = "http"

// Options say what a Handler serves.
type Options struct {
	Set *op.Set
	Log *slog.Logger // nil: nothing is logged
	// Mounts are plain handlers beside the operations, by mux pattern, e.g.
	// "GET /metrics". They get the request id header, the panic guard, the bounds
	// on bodies held and on clients that are slow to send or to read. Reading a
	// body fails with a fault.
	Mounts map[string]http.Handler
	// Keyless serves only the operations that need no key: health.
	Keyless bool
	// Refuse is asked before each operation; its error is answered in the
	// operation's place. nil: nothing is refused.
	Refuse func() error
	// BodyBytes bounds the request bodies held in memory at once; a body that
	// does not fit is answered 503, and so is one of an organization or key that
	// holds its share already. 0: 256 MiB.
	BodyBytes int64
	// BodyIdle is how long a client may send nothing while its body is read. A
	// client that sends little for longer must send 8 KiB a second. 0: 20 s.
	BodyIdle time.Duration
	// AddressHeader names the header in which the proxy in front puts the caller's
	// address, as codec.Address reads it. "": the connection's address counts.
	AddressHeader string
	// Gauge takes a measurement of the handler's. nil: none is taken.
	Gauge func(name, help string, read func() float64)
	// Refused is told of each body that there is no memory for; nil: nobody is.
	Refused func(fault.Limit)
	// WriteIdle is how long a client may take for each 64 KiB of an answer.
	// 0: 20 s.
	WriteIdle time.Duration
}

// handler answers everything below one address.
type handler struct {
	mux       *http.ServeMux
	log       *slog.Logger
	encoder   codec.Encoder
	zips      zipWriters
	bodies    *bodies
	address   string       // Options.AddressHeader
	refuse    func() error // Options.Refuse
	refused   func(fault.Limit)
	bodyIdle  time.Duration
	writeIdle time.Duration
	near      near
	listed    bool // there is something at listing
}

// slashed ends the pattern of a path that ends in a slash.
const slashed = "/{$}"

// listing is the path of the list of all routes, where it is mounted.
const listing = "/openapi.json"

// New makes the handler of a Set. It fails when an operation's In can't be
// decoded or two patterns collide, which are mistakes in the program.
func New(o Options) (_ http.Handler, err error) {
	h := &handler{mux: http.NewServeMux(), log: o.Log, bodies: newBodies(o.BodyBytes), address: o.AddressHeader,
		refuse: o.Refuse, refused: o.Refused, bodyIdle: o.BodyIdle, writeIdle: o.WriteIdle}
	if o.Gauge != nil {
		o.Gauge("mneme_body_bytes", "Memory held for the bodies of requests.", func() float64 { return float64(h.bodies.used()) })
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.bodyIdle <= 0 {
		h.bodyIdle = 20 * time.Second
	}
	if h.writeIdle <= 0 {
		h.writeIdle = 20 * time.Second
	}
	defer func() { // the mux panics on patterns that collide
		if p := recover(); p != nil {
			err = fmt.Errorf("mount routes: %v", p)
		}
	}()
	for _, r := range o.Set.Routes() {
		if r.Spec.Method == "" || o.Keyless && r.Spec.Auth == op.RequireKey {
			continue // a tool, or not of this handler
		}
		decoder, err := codec.NewDecoder(r.In)
		if err != nil {
			return nil, fmt.Errorf("operation %s: %w", r.Spec.Name, err)
		}
		h.handle(r.Spec.Method+" "+r.Spec.Path, r.Spec.Protocol, h.route(r, decoder))
		h.near.add(r.Spec.Path)
	}
	if !o.Keyless {
		for _, a := range o.Set.Absent {
			h.handle(a.Path, a.Protocol, absent(a))
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(o.Mounts)) {
		h.mux.Handle(pattern, h.mount(o.Mounts[pattern]))
		_, path, _ := strings.Cut(pattern, "/")
		h.near.add("/" + path)
		h.listed = h.listed || path == listing[1:]
	}
	return h, nil
}

// handle serves a pattern, and the same with a slash at its end where a protocol's clients send one.
func (h *handler) handle(pattern string, speaks op.Protocol, serve http.Handler) {
	h.mux.Handle(pattern, serve)
	if speaks.Slashes() {
		h.mux.Handle(pattern+slashed, serve)
	}
}

// absent answers that there is nothing, and what to use.
func absent(a op.Absence) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		x := exchangeOf(r.Context())
		x.family, x.speaks = a.Family, a.Protocol
		x.refuse(fault.New(fault.NotFound, "%s", a.Instead))
	})
}

// exchange is one request on its way; the request's context carries it.
type exchange struct {
	h       *handler
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	id      string
	family  op.Family
	speaks  op.Protocol
	reply   op.Reply
	caller  account // whose share a body is taken from; zero: nobody known, so the address's
	holds   holding
	// bodyDone says that the whole body was read, bodyFailed that the client
	// stopped sending it.
	bodyDone, bodyFailed bool
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{h: h, w: w, control: http.NewResponseController(w), id: requestID(r), family: op.FamilyOf(r.URL.Path)}
	w.Header().Set("X-Request-Id", x.id)
	ctx := r.Context()
	if r.Header.Get("Traceparent") != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	x.r = r.WithContext(context.WithValue(ident.WithRequestID(ctx, x.id), exchangeKey{}, x))
	defer x.release()
	defer x.recover()
	// A client that reads nothing must not hold the connection for ever.
	_ = x.control.SetWriteDeadline(time.Now().Add(h.writeIdle))
	// A page may be mounted at the root for people; programs are told that there is no route.
	noPage := r.URL.Path == "/" && !strings.Contains(r.Header.Get("Accept"), "text/html")
	at := r.URL.EscapedPath()
	bare := strings.TrimSuffix(at, "/")
	if noPage || !canonical(at) && (!canonical(bare) || bare == "/") {
		x.noRoute()
		return
	}
	found, pattern := h.mux.Handler(x.r)
	if pattern == "" {
		x.unrouted(found)
		return
	}
	if !canonical(at) && !strings.HasSuffix(pattern, slashed) {
		x.noRoute()
		return
	}
	h.mux.ServeHTTP(w, x.r)
}

// recover answers a panic outside the endpoints: in decoding a route, in
// encoding, or in a mounted handler.
func (x *exchange) recover() {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	x.h.log.Error("request panicked", "path", x.r.URL.Path, "request_id", x.id, "panic", p, "stack", string(debug.Stack()))
	x.fail(fault.New(fault.Internal, "an internal error occurred"))
}

// noRoute answers that there is nothing at a path, and names the route that its caller may have
// meant, or where all of them are listed.
func (x *exchange) noRoute() {
	hint := x.h.near.hint(x.r.URL.EscapedPath())
	if hint == "" && x.h.listed {
		hint = "; " + listing + " lists them"
	}
	x.refuse(fault.New(fault.NotFound, "no route matches %s%s", fault.Clip(x.r.URL.Path), hint))
}

// unrouted answers what the mux has no pattern for; the status and Allow are
// those it would send.
func (x *exchange) unrouted(found http.Handler) {
	verdict := responseHead{header: http.Header{}}
	found.ServeHTTP(&verdict, x.r)
	if verdict.status != http.StatusMethodNotAllowed {
		x.noRoute()
		return
	}
	allow := verdict.header.Get("Allow")
	x.w.Header().Set("Allow", allow)
	x.refuse(fault.New(fault.MethodNotAllowed, "method %s is not allowed here; allowed: %s", fault.Clip(x.r.Method), allow))
}

// refuse answers a request that reaches no operation, whose chain would have
// logged it.
func (x *exchange) refuse(f *fault.Error) {
	x.h.log.Info("request refused", "method", fault.Clip(x.r.Method), "path", fault.Clip(x.r.URL.Path), "request_id",
		x.id, "code", string(f.Code))
	x.fail(f)
}

// responseHead takes the status and header of an answer that is not sent.
type responseHead struct {
	header http.Header
	status int
}

func (v *responseHead) Header() http.Header         { return v.header }
func (v *responseHead) Write(b []byte) (int, error) { return len(b), nil }
func (v *responseHead) WriteHeader(status int)      { v.status = status }

// canonical reports whether the mux would take a path as it is. Others would be
// redirected, which would turn a mistake into a second request.
func canonical(p string) bool {
	if p == "/" {
		return true
	}
	return p != "" && p[0] == '/' && path.Clean(p) == p
}

// requestID keeps a well-formed id that the client sent.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	ok := 1 <= len(id) && len(id) <= 128
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
	}
	if ok {
		return id
	}
	return newRequestID()
}

func newRequestID() string {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails
	return "req_" + base64.RawURLEncoding.EncodeToString(b[:])
}

// route makes the handler of one operation.
func (h *handler) route(r *op.Route, d *codec.Decoder) http.Handler {
	encode := func(ctx context.Context, _ http.ResponseWriter, out any) error {
		return exchangeOf(ctx).succeed(ctx, &r.Spec, out)
	}
	serve := kithttp.NewServer(r.Endpoint,
		func(ctx context.Context, _ *http.Request) (any, error) { return exchangeOf(ctx).call(&r.Spec, d), nil },
		encode,
		kithttp.ServerErrorEncoder(func(ctx context.Context, err error, _ http.ResponseWriter) { exchangeOf(ctx).fail(err) }),
		// The chain has logged the error already.
		kithttp.ServerErrorHandler(transport.ErrorHandlerFunc(func(context.Context, error) {})),
	)
	if h.refuse == nil {
		return serve
	}
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if err := h.refuse(); err != nil {
			exchangeOf(q.Context()).fail(err)
			return
		}
		serve.ServeHTTP(w, q)
	})
}

// call makes the endpoint's request. A bad X-Timeout-Ms is answered when the
// input is decoded, hence after authentication.
func (x *exchange) call(s *op.Spec, d *codec.Decoder) *op.Call {
	x.family, x.speaks = s.Family, s.Protocol
	timeout, wrong := codec.Timeout(x.r.Header.Values("X-Timeout-Ms"))
	return &op.Call{
		Spec: s, Transport: Transport, RequestID: x.id, Timeout: timeout, Reply: &x.reply,
		Credential: codec.Credential(x.r.Header.Values("Authorization"), s.Protocol),
		Decode: func(ctx context.Context, dst any) error {
			if wrong != nil {
				return wrong
			}
			return x.decode(ctx, s, d, dst)
		},
	}
}

func (x *exchange) decode(ctx context.Context, s *op.Spec, d *codec.Decoder, dst any) error {
	if p := ident.Known(ctx); p != nil {
		x.caller = accountOf(*p)
	}
	in := codec.Input{Path: x.r.PathValue, Query: x.r.URL.RawQuery, Header: x.r.Header.Values}
	if s.BodyForm != nil {
		parts, err := x.bodyParts(ctx, s)
		if err != nil {
			return err
		}
		dst.(op.Parted).TakeParts(parts)
		return d.Decode(in, dst)
	}
	if s.BodyType != "" {
		body, err := x.bodyStream(ctx, s)
		if err != nil {
			return err
		}
		dst.(op.Streamed).TakeBody(body)
		return d.Decode(in, dst)
	}
	if s.MaxBody == 0 || !d.HasBody() {
		if s.BodyIgnored {
			return d.Decode(in, dst)
		}
		if err := x.noBody(ctx); err != nil {
			return err
		}
	} else {
		body, err := x.body(ctx, s.MaxBody)
		if err != nil {
			return err
		}
		if len(body) == 0 && !s.BodyOptional {
			return fault.New(fault.InvalidJSON, "a JSON body is required")
		}
		if len(body) > 0 {
			in.Body = body
		}
	}
	return d.Decode(in, dst)
}

// succeed writes an operation's answer.
func (x *exchange) succeed(ctx context.Context, s *op.Spec, out any) error {
	head := x.w.Header()
	for k, v := range x.reply.Header {
		head.Set(k, v)
	}
	if h, ok := out.(op.Headerer); ok {
		for k, v := range h.Headers() {
			head.Set(k, v)
		}
	}
	status := http.StatusOK
	if s.Success != 0 {
		status = s.Success
	}
	if c, ok := out.(op.StatusCoder); ok && c.StatusCode() != 0 {
		status = c.StatusCode()
	}
	if status == http.StatusNoContent || status == http.StatusNotModified || status < 200 {
		x.w.WriteHeader(status)
		return nil
	}
	if st, ok := out.(op.Streamer); ok {
		x.stream(ctx, s, status, st)
		return nil
	}
	body, err := x.h.encoder.Append(make([]byte, 0, 512), out)
	if err != nil {
		x.h.log.Error("response encoding failed", "op", s.Name, "request_id", x.id, "error", err)
		return fault.Wrap(fault.Internal, "encode answer", err, "an internal error occurred")
	}
	x.write(status, body)
	return nil
}

// The error bodies of the two families (docs/contract.md#err-bodies), and those of others'
// protocols.
type (
	namespaceError struct {
		Error struct {
			Code      fault.Code `json:"code"`
			Message   string     `json:"message"`
			RequestID string     `json:"request_id"`
		} `json:"error"`
	}
	memoryError struct {
		StatusCode int            `json:"statusCode"`
		Code       fault.Code     `json:"code"`
		Message    string         `json:"message"`
		RequestID  string         `json:"requestId"`
		Details    map[string]any `json:"details"`
	}
	openAIError struct {
		Error struct {
			Message string     `json:"message"`
			Type    string     `json:"type"`
			Param   *string    `json:"param"`
			Code    fault.Code `json:"code"`
		} `json:"error"`
	}
	mem0Error struct {
		Detail    string     `json:"detail"`
		Code      fault.Code `json:"code"`
		RequestID string     `json:"request_id"`
	}
)

// openAIType is the type that OpenAI's errors of a status have.
func openAIType(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request_error"
}

// fail writes an error in the family's body. A caller that went away gets
// nothing.
func (x *exchange) fail(err error) {
	f := fault.From(err)
	if f.Code == fault.Canceled {
		_ = x.control.SetReadDeadline(time.Now()) // nothing of a body is waited for
		panic(http.ErrAbortHandler)               // closes the connection, which nobody reads
	}
	head := x.w.Header()
	for k, v := range x.reply.Header {
		head.Set(k, v)
	}
	status := fault.Status(f.Code)
	if f.RetryAfter > 0 {
		head.Set("Retry-After", strconv.FormatInt(int64((f.RetryAfter+time.Second-1)/time.Second), 10))
	}
	if status == http.StatusUnauthorized {
		head.Set("WWW-Authenticate", "Bearer")
	}
	head.Set("Cache-Control", "no-store")
	x.write(status, x.errorBody(f, status))
}

func (x *exchange) errorBody(f *fault.Error, status int) []byte {
	var body any
	switch {
	case x.speaks == op.OpenAI:
		var e openAIError
		e.Error.Message, e.Error.Type, e.Error.Code = f.Message, openAIType(status), f.Code
		if field, ok := f.Details["field"].(string); ok {
			e.Error.Param = &field
		}
		body = e
	case x.speaks == op.Mem0:
		body = mem0Error{f.Message, f.Code, x.id}
	case x.family == op.Memory:
		details := f.Details
		if status == http.StatusBadRequest && details["field"] == nil {
			details = map[string]any{"field": "body", "reason": f.Message} // no JSON, or not the JSON that was asked for
		}
		body = memoryError{status, f.Code, f.Message, x.id, details}
	default:
		var e namespaceError
		e.Error.Code, e.Error.Message, e.Error.RequestID = f.Code, f.Message, x.id
		body = e
	}
	b, err := x.h.encoder.Append(nil, body)
	if err != nil { // details that are no JSON
		b, _ = json.Marshal(memoryError{status, f.Code, f.Message, x.id, map[string]any{}})
	}
	return b
}
