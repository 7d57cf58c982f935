package transporttest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/codec"
	transport "github.com/mnemehq/mneme/transports/http"
)

// Call is one step of a script: what is sent and what must come back.
type Call struct {
	Name   string
	Method string
	Path   string // with its query
	Key    string
	Header map[string]string
	Body   string // JSON; "": none

	Status int        // 0: 200
	Code   fault.Code // of the fault, when Status says one
	Want   string     // JSON whose every field the answer must have, with that value
}

// Answer is what came back.
type Answer struct {
	Status int
	Code   fault.Code // "" for a success
	Body   []byte     // JSON; nil: none
}

// Via is a way to send calls.
type Via interface {
	Name() string
	Do(ctx context.Context, c Call) (Answer, error)
}

// Run runs a script once by each way, each against a Set of its own.
func Run(t *testing.T, open func(t *testing.T) *op.Set, script []Call) {
	t.Helper()
	for _, via := range []func(*op.Set) (Via, error){HTTP, InProcess} {
		v, err := via(open(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(v.Name(), func(t *testing.T) {
			for i, c := range script {
				t.Run(fmt.Sprintf("%02d %s", i+1, c.Name), func(t *testing.T) { check(t, v, c) })
			}
		})
	}
}

func check(t *testing.T, v Via, c Call) {
	t.Helper()
	a, err := v.Do(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if want := max(c.Status, http.StatusOK); a.Status != want || a.Code != c.Code {
		t.Errorf("%s %s: %d %s %s; want %d %s", c.Method, c.Path, a.Status, a.Code, a.Body, want, c.Code)
	}
	if c.Want == "" {
		return
	}
	var want, got any
	if err := json.Unmarshal([]byte(c.Want), &want); err != nil {
		t.Fatalf("the script's want: %v", err)
	}
	if err := json.Unmarshal(a.Body, &got); err != nil {
		t.Fatalf("the answer: %v in %s", err, a.Body)
	}
	if why := missing("", want, got); why != "" {
		t.Errorf("%s %s: %s in %s", c.Method, c.Path, why, a.Body)
	}
}

// missing tells what of want got lacks. Objects may have more fields than
// wanted; lists must be as long.
func missing(at string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is no object", at)
		}
		names := make([]string, 0, len(w))
		for k := range w {
			names = append(names, k)
		}
		sort.Strings(names)
		for _, k := range names {
			v, ok := g[k]
			if !ok {
				return fmt.Sprintf("%s.%s is absent", at, k)
			}
			if why := missing(at+"."+k, w[k], v); why != "" {
				return why
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s is not a list of %d", at, len(w))
		}
		for i := range w {
			if why := missing(fmt.Sprintf("%s[%d]", at, i), w[i], g[i]); why != "" {
				return why
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s is %v, not %v", at, got, want)
	}
	return ""
}

type overHTTP struct{ h http.Handler }

// HTTP sends calls through the HTTP transport.
func HTTP(set *op.Set) (Via, error) {
	h, err := transport.New(transport.Options{Set: set})
	if err != nil {
		return nil, err
	}
	return overHTTP{h}, nil
}

func (overHTTP) Name() string { return "http" }

func (v overHTTP) Do(ctx context.Context, c Call) (Answer, error) {
	var body io.Reader
	if c.Body != "" {
		body = strings.NewReader(c.Body)
	}
	r := httptest.NewRequestWithContext(ctx, c.Method, c.Path, body)
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if c.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for k, s := range c.Header {
		r.Header.Set(k, s)
	}
	w := httptest.NewRecorder()
	v.h.ServeHTTP(w, r)
	a := Answer{Status: w.Code, Body: w.Body.Bytes()}
	if w.Code < 400 {
		return a, nil
	}
	var e struct {
		Code  fault.Code
		Error struct{ Code fault.Code }
	}
	if err := json.Unmarshal(a.Body, &e); err != nil {
		return a, fmt.Errorf("error body %q: %w", a.Body, err)
	}
	a.Code = e.Code + e.Error.Code
	return a, nil
}

type inProcess struct {
	set      *op.Set
	decoders map[*op.Route]*codec.Decoder
	encoder  codec.Encoder
}

// InProcess hands calls to the endpoints without a network protocol.
func InProcess(set *op.Set) (Via, error) {
	v := &inProcess{set: set, decoders: map[*op.Route]*codec.Decoder{}}
	for _, r := range set.Routes() {
		d, err := codec.NewDecoder(r.In)
		if err != nil {
			return nil, fmt.Errorf("operation %s: %w", r.Spec.Name, err)
		}
		v.decoders[r] = d
	}
	return v, nil
}

func (*inProcess) Name() string { return "inprocess" }

func (v *inProcess) Do(ctx context.Context, c Call) (Answer, error) {
	u, err := url.Parse(c.Path)
	if err != nil {
		return Answer{}, err
	}
	route, path := v.find(c.Method, u.EscapedPath())
	if route == nil {
		return Answer{Status: fault.Status(fault.NotFound), Code: fault.NotFound}, nil
	}
	x := &op.Call{
		Spec:       &route.Spec,
		Transport:  "inprocess",
		RequestID:  "req_script",
		Credential: op.Credential{Bearer: c.Key},
		Reply:      &op.Reply{},
	}
	x.Decode = func(_ context.Context, dst any) error {
		in := codec.Input{Path: func(name string) string { return path[name] }, Query: u.RawQuery,
			Header: func(name string) []string {
				if v, ok := c.Header[name]; ok {
					return []string{v}
				}
				return nil
			}}
		d := v.decoders[route]
		if c.Body != "" {
			in.Body = []byte(c.Body)
		} else if d.HasBody() && !route.Spec.BodyOptional {
			return fault.New(fault.InvalidJSON, "a JSON body is required")
		}
		return d.Decode(in, dst)
	}
	out, err := route.Endpoint(ident.WithRequestID(ctx, x.RequestID), x)
	if err != nil {
		f := fault.From(err)
		body, err := v.encoder.Append(nil, map[string]any{"code": f.Code, "message": f.Message})
		return Answer{Status: fault.Status(f.Code), Code: f.Code, Body: body}, err
	}
	a := Answer{Status: max(route.Spec.Success, http.StatusOK)}
	if s, ok := out.(op.StatusCoder); ok && s.StatusCode() != 0 {
		a.Status = s.StatusCode()
	}
	if a.Status == http.StatusNoContent || a.Status == http.StatusNotModified {
		return a, nil
	}
	a.Body, err = v.encoder.Append(nil, out)
	return a, err
}

// find matches a path as the HTTP routes do: a literal segment comes before a
// parameter.
func (v *inProcess) find(method, path string) (best *op.Route, values map[string]string) {
	literals := -1
	for _, r := range v.set.Routes() {
		if r.Spec.Method != method {
			continue
		}
		got, n, ok := match(r.Spec.Path, path)
		if ok && n > literals {
			best, values, literals = r, got, n
		}
	}
	return best, values
}

func match(pattern, path string) (values map[string]string, literals int, ok bool) {
	p, s := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(p) != len(s) {
		return nil, 0, false
	}
	values = map[string]string{}
	for i := range p {
		name, param := strings.CutPrefix(p[i], "{")
		switch {
		case param && s[i] != "":
			text, err := url.PathUnescape(s[i])
			if err != nil {
				return nil, 0, false
			}
			values[strings.TrimSuffix(name, "}")] = text
		case p[i] == s[i]:
			literals++
		default:
			return nil, 0, false
		}
	}
	return values, literals, true
}
