package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/codec"
)

// variant is a kind of caller: each has a tool list of its own.
type variant struct {
	family op.Family
	reads  bool // sees the tools that change nothing
	writes bool // sees the others
	pinned bool // to a namespace or an end user, which is then no argument
}

// variantOf is the kind of a caller whose connection has this URL and header.
func variantOf(who ident.Principal, r *http.Request) variant {
	switch who.Kind {
	case ident.Integration, ident.Personal:
		return variant{
			family: op.Memory,
			reads:  slices.Contains(who.Scopes, ident.MemoriesRead),
			writes: slices.Contains(who.Scopes, ident.MemoriesWrite),
			pinned: who.EndUser != "" || r.URL.Query().Get("endUserId") != "",
		}
	}
	return variant{family: op.Namespace, reads: true, writes: !who.ReadOnly,
		pinned: who.Namespace != "" || r.URL.Query().Get("namespace") != ""}
}

// shows reports whether a caller sees a tool.
func (v variant) shows(s *op.Spec) bool {
	return s.Tool != nil && s.Family == v.family && (s.Mutates && v.writes || !s.Mutates && v.reads)
}

// instructions tell a model what the tools of a family are for.
func instructions(f op.Family) string {
	if f == op.Memory {
		return "Mneme remembers conversations word for word. context gives what is known for a message: call it before you " +
			"answer. remember stores the messages of a conversation, forget deletes memories by id."
	}
	return "Mneme keeps documents in namespaces. search finds passages, fetch reads a whole document by the " +
		"id that search gives, save stores a text, delete removes documents by id, list_namespaces shows what there is."
}

// listTTL is how long a client may use a tool list that it has.
const listTTL = time.Minute

// broadest are the variants that show every tool.
var broadest = []variant{{op.Namespace, true, true, false}, {op.Memory, true, true, false}}

// server is that of a variant, made when it is first asked for.
func (h *Handler) server(v variant) (*sdk.Server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.servers[v]; s != nil {
		return s, nil
	}
	s, err := h.newServer(v)
	if err == nil {
		h.servers[v] = s
	}
	return s, err
}

func (h *Handler) newServer(v variant) (*sdk.Server, error) {
	options := &sdk.ServerOptions{
		Instructions: instructions(v.family), SupportedProtocolVersions: Versions(),
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // the list changes with the key only
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.TTLMs, c.CacheScope = int(listTTL.Milliseconds()), "private"
		},
	}
	if h.o.Configure != nil {
		h.o.Configure(options)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "mneme", Title: "Mneme", Version: h.o.Version}, options)
	s.AddReceivingMiddleware(h.guard)
	for _, r := range h.o.Set.Routes() {
		if !v.shows(&r.Spec) {
			continue
		}
		if err := h.add(s, r, v); err != nil {
			return nil, fmt.Errorf("tool %s: %w", r.Spec.Tool.Name, err)
		}
	}
	if h.o.Extend != nil {
		h.o.Extend(s)
	}
	return s, nil
}

// guard answers a panic outside the endpoints, which have their own; the library
// runs calls in goroutines, where one would end the process.
func (h *Handler) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (_ sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				h.log.ErrorContext(ctx, "request panicked", "transport", Transport, "method", method, "request_id",
					ident.RequestID(ctx), "panic", p, "stack", string(debug.Stack()))
				err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "an internal error occurred"}
			}
		}()
		return next(ctx, method, req)
	}
}

func (h *Handler) add(s *sdk.Server, r *op.Route, v variant) error {
	d, err := codec.NewDecoder(r.In)
	if err != nil {
		return err
	}
	in, err := inputSchema(r, v)
	if err != nil {
		return err
	}
	out, err := outputSchema(r)
	if err != nil {
		return err
	}
	t, no := r.Spec.Tool, false
	s.AddTool(&sdk.Tool{Name: t.Name, Title: t.Title, Description: r.Spec.Description,
		InputSchema: in, OutputSchema: out,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:    !r.Spec.Mutates,
			DestructiveHint: &t.Destructive,
			IdempotentHint:  t.Idempotent,
			OpenWorldHint:   &no,
		},
	}, h.tool(r, d))
	return nil
}

// tool makes the handler of one operation.
func (h *Handler) tool(r *op.Route, d *codec.Decoder) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		x := exchangeOf(ctx)
		// The library lets calls of older revisions outlive their request.
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(x.r.Context(), func() { cancel(context.Cause(x.r.Context())) })()
		reply := op.Reply{}
		timeout, wrong := codec.Timeout(x.r.Header.Values("X-Timeout-Ms"))
		c := &op.Call{
			Spec:       &r.Spec,
			Transport:  Transport,
			RequestID:  ident.RequestID(ctx),
			Credential: op.Credential{Bearer: x.bearer},
			Timeout:    timeout,
			Reply:      &reply,
			Decode: func(_ context.Context, dst any) error {
				if wrong != nil {
					return wrong
				}
				args := []byte(req.Params.Arguments)
				if len(args) == 0 {
					args = []byte("{}")
				}
				return d.Decode(codec.Input{
					Path:   func(string) string { return "" },
					Query:  x.r.URL.RawQuery,
					Header: x.header,
					Body:   args,
				}, dst)
			},
		}
		out, err := r.Endpoint(ctx, c)
		x.mu.Lock()
		for k, v := range reply.Header {
			x.reply.Set(k, v)
		}
		x.mu.Unlock()
		var body []byte
		if err == nil {
			if body, err = h.encoder.Append(make([]byte, 0, 512), out); err != nil {
				h.log.ErrorContext(ctx, "response encoding failed", "op", r.Spec.Name, "request_id", c.RequestID, "error", err)
			}
		}
		if err != nil {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: faultText(fault.From(err))}}, IsError: true},
				nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(body)}},
			StructuredContent: json.RawMessage(body)}, nil
	}
}

// faultText is a fault as a model reads it.
func faultText(f *fault.Error) string {
	s := f.Error()
	if f.RetryAfter > 0 {
		s += fmt.Sprintf(" (retry after %d s)", int64((f.RetryAfter+time.Second-1)/time.Second))
	}
	return s
}

// header is what HTTP calls a field of the header, and the Host beside them.
func (x *exchange) header(name string) []string {
	if name == "Host" {
		return []string{x.r.Host}
	}
	return x.r.Header.Values(name)
}
