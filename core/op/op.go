package op

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
)

// Family is an API family: it decides which key kinds are valid and the shape
// of error bodies.
type Family int

// The families.
const (
	Namespace      Family = iota // {error:{code,message,request_id}}, sk-service- keys
	Memory                       // {statusCode,code,message,requestId,details}, cint_ and cmem_ keys
	Administration               // errors as of Namespace, adm- keys
)

// Families lists all.
func Families() []Family { return []Family{Namespace, Memory, Administration} }

// Class is a rate-limit class. Free costs nothing.
type Class string

// The classes (decisions 6.1).
const (
	Free   Class = ""
	Read   Class = "read"
	Write  Class = "write"
	Rerank Class = "rerank"
	Admin  Class = "admin"

	// Of the memory API, counted per integration.
	MemoryRead  Class = "memory_read"
	MemoryWrite Class = "memory_write" // a batch counts its items
	Recall      Class = "recall"
)

// Auth says whether an operation needs a key.
type Auth int

// The kinds. With OptionalKey a valid key is attached and none is needed.
const (
	RequireKey Auth = iota
	OptionalKey
	NoKey
)

// Spec declares an operation.
type Spec struct {
	Name         string // "namespaces.query": metric label, span name and operationId
	Method       string
	Path         string // "/namespaces/{namespace}/query"
	Summary      string // one line
	Description  string // Markdown; may be empty
	Family       Family
	Class        Class
	Auth         Auth
	Mutates      bool // refused for a read-only key
	Scopes       []ident.Scope
	MaxBody      int64 // bytes, after decompression; 0: no body is read
	BodyOptional bool  // an absent body is the same as {}
	Timeout      time.Duration
	Tool         string       // MCP tool name; empty: not offered
	Faults       []fault.Code // what it can answer beside the family's common ones
	Success      int          // HTTP status; 0: 200
}

// Credential is what the caller presented.
type Credential struct{ Bearer string }

// Reply carries what middlewares and services want said beside the body.
type Reply struct{ Header map[string]string }

// Set sets a response header.
func (r *Reply) Set(name, value string) {
	if r.Header == nil {
		r.Header = map[string]string{}
	}
	r.Header[name] = value
}

// Call is the request that every endpoint and middleware receives.
type Call struct {
	Spec       *Spec
	Transport  string // http, mcp or inprocess
	RequestID  string
	Credential Credential
	Timeout    time.Duration // asked by the caller; only lowers Spec.Timeout; 0: none
	Reply      *Reply
	// Caller is who the credential stands for. Authentication sets it, so that
	// the middlewares around it can log it; services read ident.From.
	Caller ident.Principal
	// Decode fills *In. It belongs to the transport and runs after
	// authentication and the rate limit.
	Decode func(ctx context.Context, dst any) error
}

// Validator is implemented by *In: limits and patterns, each with a fault code.
type Validator interface{ Validate() error }

// Weigher is implemented by *In when a call costs more than one unit.
type Weigher interface{ Units() int }

// Classer is implemented by *In when the content decides a further class to
// charge, e.g. a query with rerank.
type Classer interface{ Classes() []Class }

// Scoped is implemented by *In when it addresses one namespace: a key limited
// to another one is refused.
type Scoped interface{ NamespaceName() string }

// StatusCoder is implemented by Out when the status depends on the answer.
type StatusCoder interface{ StatusCode() int }

// Headerer is implemented by Out that sets response headers.
type Headerer interface{ Headers() map[string]string }

// Streamer is implemented by Out whose body is written piece by piece instead of
// as one JSON value. Stream runs when the endpoint has returned, without its
// deadline and slot; ctx ends when the caller goes away. After an error the
// transport cuts the answer short in a way that the caller notices.
type Streamer interface {
	ContentType() string
	Stream(ctx context.Context, w io.Writer) error
}

// EndUserScoped is implemented by *In when it addresses one end user: a key of
// another end user is refused.
type EndUserScoped interface{ EndUser() string }

// Admit charges a call against the caller's limits and answers RateLimited
// when they are used up.
type Admit func(ctx context.Context, c *Call, class Class, units int) error

// Op is an operation of service S.
type Op[S any] struct {
	Spec    Spec
	In, Out reflect.Type
	bind    func(S, Admit) endpoint.Endpoint
}

// Define declares an operation as a method expression of its service.
func Define[S, In, Out any](s Spec, fn func(S, context.Context, In) (Out, error)) Op[S] {
	return Op[S]{s, reflect.TypeFor[In](), reflect.TypeFor[Out](), func(svc S, admit Admit) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			c := request.(*Call)
			var in In
			if err := c.Decode(ctx, &in); err != nil {
				return nil, err
			}
			if v, ok := any(&in).(Validator); ok {
				if err := v.Validate(); err != nil {
					return nil, err
				}
			}
			if err := authorize(ctx, c.Spec, any(&in)); err != nil {
				return nil, err
			}
			units := 1
			if w, ok := any(&in).(Weigher); ok {
				units = w.Units()
			}
			if units > 1 { // the first unit was charged before decoding
				if err := admit(ctx, c, c.Spec.Class, units-1); err != nil {
					return nil, err
				}
			}
			if k, ok := any(&in).(Classer); ok {
				for _, class := range k.Classes() {
					if err := admit(ctx, c, class, 1); err != nil {
						return nil, err
					}
				}
			}
			return fn(svc, ctx, in)
		}
	}}
}

// authorize refuses what the key may not touch although it is valid.
func authorize(ctx context.Context, s *Spec, in any) error {
	p, ok := ident.From(ctx)
	if !ok {
		return nil
	}
	if sc, ok := in.(Scoped); ok && p.Namespace != "" && sc.NamespaceName() != p.Namespace {
		return fault.New(fault.Forbidden, "this key is limited to namespace %q", p.Namespace)
	}
	if u, ok := in.(EndUserScoped); ok && p.EndUser != "" && u.EndUser() != p.EndUser {
		return fault.New(fault.Forbidden, "this key is limited to another end user")
	}
	return nil
}

// Route is a mounted operation.
type Route struct {
	Spec     Spec
	In, Out  reflect.Type
	Endpoint endpoint.Endpoint
}

// Set collects mounted operations. Chain wraps each endpoint with the
// middlewares, outermost first; Admit charges rate limits.
type Set struct {
	Chain  func(*Spec) endpoint.Middleware
	Admit  Admit
	routes []*Route
	seen   map[string]bool
}

// Routes lists the mounted operations in mounting order.
func (s *Set) Routes() []*Route { return s.routes }

// Mount adds a service's operations. It panics when a name, tool or route is
// used twice, which is a mistake in the program.
func Mount[S any](set *Set, svc S, ops []Op[S]) {
	if set.seen == nil {
		set.seen = map[string]bool{}
	}
	for _, o := range ops {
		for _, k := range []string{"name " + o.Spec.Name, "tool " + o.Spec.Tool, "route " + o.Spec.Method + " " + o.Spec.Path} {
			if k == "tool " {
				continue
			}
			if set.seen[k] {
				panic(fmt.Sprintf("op: %s is mounted twice", k))
			}
			set.seen[k] = true
		}
		r := &Route{Spec: o.Spec, In: o.In, Out: o.Out}
		r.Endpoint = set.Chain(&r.Spec)(o.bind(svc, set.Admit))
		set.routes = append(set.routes, r)
	}
}
