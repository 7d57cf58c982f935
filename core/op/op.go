package op

import (
	"context"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/constraint"
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

// Base is the path below which a family's routes lie; "" is the root. Mount holds
// every Spec to it, so that a path which no route has belongs to a family too.
func (f Family) Base() string {
	switch f {
	case Memory:
		return "/api/v1"
	case Administration:
		return "/admin/v1"
	}
	return ""
}

// FamilyOf is the family that a path belongs to, whether or not a route has it.
func FamilyOf(path string) Family {
	for _, f := range Families() {
		if base := f.Base(); base != "" && (path == base || strings.HasPrefix(path, base+"/")) {
			return f
		}
	}
	return Namespace
}

// Protocol is whose clients an operation speaks to. It decides the shape of error bodies.
// Paths of another's protocol lie where that protocol has them, whatever the family.
type Protocol string

// The protocols.
const (
	Own    Protocol = ""       // the family's errors
	OpenAI Protocol = "openai" // {error:{message,type,param,code}}
	Mem0   Protocol = "mem0"   // {detail,code,request_id}
)

// Slashes reports whether the protocol's clients end every path in a slash. Its routes are declared
// without it, and served with it as well.
func (p Protocol) Slashes() bool { return p == Mem0 }

// TimeoutClass says which of the configured time-outs replaces the one that a Spec
// declares.
type TimeoutClass string

// The classes of time-outs.
const (
	ClassTimeout TimeoutClass = ""      // that of the rate-limit class: reads, writes, reranks
	QueryTimeout TimeoutClass = "query" // that of queries, doubled for their reranking
	OwnTimeout   TimeoutClass = "own"   // none: the Spec's holds
)

// Class is a rate-limit class. Free costs nothing.
type Class string

// The classes (docs/contract.md#limit-rates).
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

// Spec declares an operation. One with a Tool and no Method is offered as a tool
// alone: its friendlier arguments are not a route's.
type Spec struct {
	Name         string // "namespaces.query": metric label, span name and operationId
	Method       string
	Path         string // "/namespaces/{namespace}/query"
	Group        Group  // of a route
	Summary      string // one line
	Description  string // Markdown; may be empty
	Family       Family
	Protocol     Protocol // whose clients it is for
	Class        Class
	Auth         Auth
	Mutates      bool // refused for a read-only key
	Scopes       []ident.Scope
	MaxBody      int64 // bytes, after decompression; 0: no body is read
	BodyOptional bool  // an absent body is the same as {}
	BodyIgnored  bool  // where no body is read one is passed over, not refused
	// BodyType is the media type of a body that the service reads piece by piece
	// (Streamed); "": JSON, which is decoded into In. BodyLines are zero values of
	// the types of its JSON lines.
	BodyType  string
	BodyLines []any
	// BodyForm is a zero value of the struct that describes the fields of a body of parts
	// (Parted), whose BodyType is Multipart; nil: there is none.
	BodyForm     any
	Timeout      time.Duration // unless another is configured for TimeoutClass
	TimeoutClass TimeoutClass
	Tool         *Tool        // nil: not offered over MCP
	Faults       []fault.Code // what it can answer beside the family's common ones
	Success      int          // HTTP status; 0: 200
	Answers      []Answer     // empty: one, with status Success and body Out
	Links        []Link
	Examples     []Example
	Deprecated   *Deprecation // nil: it stays
}

// Tool offers an operation to models over MCP. Spec.Description is what the model
// reads. A tool is read-only when its Spec does not mutate, and all of ours work
// in a closed world: they reach nothing but the organization's own data.
type Tool struct {
	Name        string // "search"
	Title       string // for people
	Destructive bool   // may remove or overwrite
	Idempotent  bool   // a repeat with the same arguments changes nothing more
}

// Example is a call with the answer it may get, both as JSON. They are checked
// against In and Out by the tests of the OpenAPI document.
type Example struct {
	Name       string            // "filtered"
	Summary    string            // one line; may be empty
	Parameters map[string]string // path, query and header fields by name
	Body       string            // JSON, or of Spec.BodyType; empty: the call has none
	Status     int               // of the answer; 0: the success status
	Answer     string            // JSON of the success body; empty: it has none
}

// Deprecation announces the end of an operation (docs/contract.md#version-deprecation): its answers carry
// the headers Deprecation (RFC 9745), Sunset (RFC 8594) and a Link to Guide.
type Deprecation struct {
	Since  time.Time
	Sunset time.Time // at least twelve months after Since; zero: not decided, which Mount refuses
	Guide  string    // URL of the page that says what to call instead
}

// Credential is what the caller presented.
type Credential struct {
	Bearer string // "": none that could be read
	// Session is the token of a session of the console, which no other transport takes, with
	// the organization and, in the memory API, the integration that it acts in, by name or id.
	Session, Org, Integration string
	// Unread says that an Authorization came of which no key could be read.
	Unread bool
}

// Missing is the fault of a call without a key where one is needed.
func (c Credential) Missing() error {
	if c.Unread {
		return fault.New(fault.Unauthorized,
			"no API key could be read: send one header Authorization with the word Bearer, a space and the key")
	}
	return fault.New(fault.Unauthorized, "an API key is required: send the header Authorization: Bearer <key>")
}

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
	Transport  string // http, mcp, console or inprocess
	RequestID  string
	Credential Credential
	Timeout    time.Duration // asked by the caller; only lowers Spec.Timeout; 0: none
	Reply      *Reply
	// Caller is who the credential stands for. Authentication sets it, so that
	// the middlewares around it can log it; services read ident.From.
	Caller ident.Principal
	// Namespace is the one that the call addresses, once its request is decoded and
	// checked; "": none. The middlewares around it log it.
	Namespace string
	// Input is the *In of the call, once it is decoded and checked; nil before. The
	// middlewares around it read what the call addresses.
	Input any
	// Decode fills *In. It belongs to the transport and runs after
	// authentication and the rate limit.
	Decode func(ctx context.Context, dst any) error
}

// Validator is implemented by *In for what the tags of its fields cannot say: rules
// over several fields, and values that a parser reads. It runs after those of the
// tags hold; its errors are faults.
type Validator interface{ Validate() error }

// StrictQuery marks inputs whose query parameters say what is changed: one that is not known is refused, as a
// field of a body is, since leaving it out would change more than was asked for.
type StrictQuery interface{ StrictQuery() }

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

// Partial is implemented by Out that may lack parts, or have less of them. Missing
// gives each part with the reason; both are of small sets of words.
type Partial interface {
	Missing() iter.Seq2[string, string]
}

// Streamer is implemented by Out whose body is written piece by piece instead of
// as one JSON value. Stream runs when the endpoint has returned, without its
// deadline and slot; ctx ends when the caller goes away. After an error the
// transport cuts the answer short in a way that the caller notices.
type Streamer interface {
	ContentType() string
	Stream(ctx context.Context, w io.Writer) error
}

// Streamed is implemented by *In whose body the service reads piece by piece, as
// Spec.BodyType declares. The reader is good until the service returns. It gives
// up to Spec.MaxBody bytes, decompressed, and its errors are faults.
type Streamed interface{ TakeBody(body io.Reader) }

// Multipart is the media type of a body in parts (RFC 7578).
const Multipart = "multipart/form-data"

// Parted is implemented by *In whose body comes in parts, as Spec.BodyForm declares.
// What is read of them counts as a body that is held in memory.
type Parted interface{ TakeParts(parts BodyParts) }

// BodyParts gives the parts of a body, as they come, until the service returns: up to
// Spec.MaxBody bytes altogether.
type BodyParts interface {
	// Next gives the next part, and ends the one before. Its error is io.EOF after the
	// last one, or a fault.
	Next() (*BodyPart, error)
}

// BodyPart is one part of a body. The errors of its content are faults.
type BodyPart struct {
	Name      string // of the field
	FileName  string // empty: it is no file
	MediaType string // as sent; may be empty
	Charset   string // as sent; may be empty
	Content   io.Reader
}

// Waiter is implemented by *In of a call that may spend most of its time waiting for
// something to happen: it takes no place among the calls at once.
type Waiter interface{ Waits() bool }

// Availability is implemented by a service that may be off: then its fault is the answer of
// every call, whatever it holds.
type Availability interface{ Available() error }

// SourceScoped is implemented by *In when it addresses one source. A key limited to a
// source is refused by everything else that needs a key.
type SourceScoped interface{ SourceID() string }

// EndUserScoped is implemented by *In when it addresses one end user: a key of
// another end user is refused.
type EndUserScoped interface{ EndUser() string }

// EndUsersNaming is implemented by *In of EndUserScoped that may address several end users; then its EndUser is "".
type EndUsersNaming interface{ EndUsers() []string }

// EndUserAssuming is implemented by *In that may leave its end user out: a key of one end
// user says who it is.
type EndUserAssuming interface{ AssumeEndUser(id string) }

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
	constraint.For(reflect.TypeFor[In]()) // a tag that cannot be read is found now and not by a call
	return Op[S]{s, reflect.TypeFor[In](), reflect.TypeFor[Out](), func(svc S, admit Admit) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			c := request.(*Call)
			if a, ok := any(svc).(Availability); ok {
				if err := a.Available(); err != nil {
					return nil, err
				}
			}
			var in In
			if err := c.Decode(ctx, &in); err != nil {
				return nil, err
			}
			if err := Check(&in); err != nil {
				return nil, err
			}
			c.Input = &in
			if sc, ok := any(&in).(Scoped); ok {
				c.Namespace = sc.NamespaceName()
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

// Check refuses an In, given as a pointer, that breaks a limit which the tags of its
// fields declare (core/constraint), and then what its Validate refuses. Every call
// of an endpoint is checked; code that calls a service's method with an In
// that no endpoint has checked calls Check first.
func Check(in any) error {
	if err := constraint.Check(in); err != nil {
		return err
	}
	if v, ok := in.(Validator); ok {
		return v.Validate()
	}
	return nil
}

// authorize refuses what the key may not touch although it is valid.
func authorize(ctx context.Context, s *Spec, in any) error {
	p := ident.Known(ctx)
	if p == nil {
		return nil
	}
	if sc, ok := in.(Scoped); ok && p.Namespace != "" && sc.NamespaceName() != p.Namespace {
		return fault.New(fault.Forbidden, "this key is limited to namespace %q", p.Namespace)
	}
	if p.Source != "" && s.Auth == RequireKey {
		if sc, ok := in.(SourceScoped); !ok || sc.SourceID() != p.Source {
			return fault.New(fault.Forbidden, "this key is limited to source %q", p.Source)
		}
	}
	if a, ok := in.(EndUserAssuming); ok {
		a.AssumeEndUser(p.EndUser)
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

// Absence is what clients of another's protocol call and this server does not do.
type Absence struct {
	Protocol Protocol
	Family   Family // of the paths beside it
	Path     string // any method of it
	Instead  string // what the caller is told: why, and what to use
}

// Set collects mounted operations. Chain wraps each endpoint with the
// middlewares, outermost first; Admit charges rate limits.
type Set struct {
	Chain  func(*Spec) endpoint.Middleware
	Admit  Admit
	Events []Event // that callers can be told of
	// Absent are no operations: a transport answers that there is nothing, in the words of the
	// protocol, and says what to use.
	Absent []Absence
	routes []*Route
	seen   map[string]bool
}

// Routes lists the mounted operations in mounting order.
func (s *Set) Routes() []*Route { return s.routes }

// Mount adds a service's operations. It panics on mistakes in the program: a name,
// tool or route used twice, a route of our own outside its family's Base, or a deprecation that
// breaks the policy of docs/versioning.md.
func Mount[S any](set *Set, svc S, ops []Op[S]) {
	if set.seen == nil {
		set.seen = map[string]bool{}
	}
	for _, o := range ops {
		if d := o.Spec.Deprecated; d != nil && (d.Since.IsZero() || d.Sunset.Before(d.Since.AddDate(1, 0, 0)) || d.Guide == "") {
			panic(fmt.Sprintf("op: %s is deprecated without a start, a guide and an end that is twelve months later",
				o.Spec.Name))
		}
		in := reflect.PointerTo(o.In)
		streamed, parted := in.Implements(reflect.TypeFor[Streamed]()), in.Implements(reflect.TypeFor[Parted]())
		if parted != (o.Spec.BodyForm != nil) || parted && o.Spec.BodyType != Multipart {
			panic(fmt.Sprintf("op: %s declares a body in parts and takes none, or the other way round", o.Spec.Name))
		}
		if streamed != (o.Spec.BodyType != "" && !parted) {
			panic(fmt.Sprintf("op: %s declares the type of a body and takes none as a stream, or the other way round",
				o.Spec.Name))
		}
		if o.Spec.Method != "" && o.Spec.Protocol == Own && o.Spec.Family != FamilyOf(o.Spec.Path) {
			panic(fmt.Sprintf("op: %s lies outside its family's %s/", o.Spec.Name, o.Spec.Family.Base()))
		}
		keys := []string{"name " + o.Spec.Name}
		if o.Spec.Tool != nil {
			keys = append(keys, "tool "+o.Spec.Tool.Name)
		}
		if o.Spec.Method != "" {
			keys = append(keys, "route "+o.Spec.Method+" "+o.Spec.Path)
		}
		for _, k := range keys {
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

// Codes lists every fault code that an operation can answer over HTTP: its own
// and those that any operation of its kind can.
func (s *Spec) Codes() []fault.Code {
	codes := append([]fault.Code{fault.Internal, fault.Timeout, fault.MethodNotAllowed, fault.InvalidRequest}, s.Faults...)
	if s.Auth == RequireKey {
		codes = append(codes, fault.Unauthorized, fault.Forbidden, fault.Unavailable)
	}
	if s.MaxBody > 0 {
		codes = append(codes, fault.PayloadTooLarge, fault.Unavailable) // of bodies as a whole
		if s.BodyType == "" {
			codes = append(codes, fault.InvalidJSON)
		}
	}
	if strings.Contains(s.Path, "{") {
		codes = append(codes, fault.NotFound) // of a path that no route has, such as one with an empty name
	}
	if s.Class != Free {
		codes = append(codes, fault.RateLimited, fault.Unavailable) // no free slot among the concurrent calls
	}
	if len(s.Scopes) > 0 {
		codes = append(codes, fault.InsufficientScope)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
