package coretest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// Object is a JSON object.
type Object = map[string]any

// Reply is what a service answered, in the form in which callers see it.
type Reply struct {
	Err    error
	Body   []byte // the answer as JSON; nil after an error
	JSON   Object // Body read; nil when it is no object
	Header map[string]string
	Status int // that the service asks for; 0: it leaves it to the table of operations

	t    testing.TB
	call string
}

// Ask calls a service with a request whose body is given as JSON has it, and whose
// other fields set fills. Fields that the request does not have end the test.
func Ask[In, Out any](ctx context.Context, t testing.TB, fn func(context.Context, In) (Out, error), body Object,
	set ...func(*In)) *Reply {
	t.Helper()
	var in In
	r := &Reply{t: t, call: fmt.Sprintf("%T", in)}
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatalf("%s: %v", r.call, err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(encoded)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		t.Fatalf("%s: %v", r.call, err)
	}
	for _, s := range set {
		s(&in)
	}
	out, err := Call(ctx, fn, in)
	if r.Err = err; err != nil {
		return r
	}
	if r.Body, err = json.Marshal(out); err != nil {
		t.Fatalf("%s: %v", r.call, err)
	}
	_ = json.Unmarshal(r.Body, &r.JSON)
	if h, ok := any(out).(op.Headerer); ok {
		r.Header = h.Headers()
	}
	if s, ok := any(out).(op.StatusCoder); ok {
		r.Status = s.StatusCode()
	}
	return r
}

// OK ends the test unless the call succeeded.
func (r *Reply) OK() *Reply {
	r.t.Helper()
	if r.Err != nil {
		r.t.Fatalf("%s: %v", r.call, r.Err)
	}
	return r
}

// Fails checks that the call failed with a code and a message that holds words.
func (r *Reply) Fails(code fault.Code, words ...string) *Reply {
	r.t.Helper()
	if got := fault.CodeOf(r.Err); r.Err == nil || got != code {
		r.t.Errorf("%s: %s %v, want %s: %.300s", r.call, got, r.Err, code, r.Body)
		return r
	}
	for _, w := range words {
		if !strings.Contains(r.Err.Error(), w) {
			r.t.Errorf("%s: the message %q does not name %q", r.call, r.Err, w)
		}
	}
	return r
}

// Details checks what a fault tells beside its message, in pairs of name and value.
func (r *Reply) Details(details ...any) *Reply {
	r.t.Helper()
	var f *fault.Error
	if !errors.As(r.Err, &f) {
		r.t.Errorf("%s: %v is no fault", r.call, r.Err)
		return r
	}
	for i := 0; i+1 < len(details); i += 2 {
		if got, want := f.Details[details[i].(string)], details[i+1]; fmt.Sprint(got) != fmt.Sprint(want) {
			r.t.Errorf("%s: details.%s is %v, want %v", r.call, details[i], got, want)
		}
	}
	return r
}

// RetryAfter is how long a failure asks its caller to wait before the next try; 0: it
// does not say.
func (r *Reply) RetryAfter() time.Duration {
	var f *fault.Error
	if !errors.As(r.Err, &f) {
		return 0
	}
	return f.RetryAfter
}

// Retry checks that a failure says when to try again.
func (r *Reply) Retry() *Reply {
	r.t.Helper()
	if r.RetryAfter() <= 0 {
		r.t.Errorf("%s: %v does not say when to try again", r.call, r.Err)
	}
	return r
}

// Stays checks that a failure does not clear by waiting.
func (r *Reply) Stays() *Reply {
	r.t.Helper()
	if wait := r.RetryAfter(); wait != 0 {
		r.t.Errorf("%s: %v is to be tried again in %s", r.call, r.Err, wait)
	}
	return r
}

// Answers checks that the call succeeded with an object, given as JSON, where numbers
// may differ by less than a thousandth. Members named in but are not looked at.
func (r *Reply) Answers(want string, but ...string) *Reply {
	r.t.Helper()
	r.OK()
	var got, wanted Object
	if err := errors.Join(json.Unmarshal(r.Body, &got), json.Unmarshal([]byte(want), &wanted)); err != nil {
		r.t.Fatalf("%s: %v", r.call, err)
	}
	for _, name := range but {
		delete(got, name)
	}
	if !alike(got, wanted) {
		r.t.Errorf("%s answered %s, want %s", r.call, r.Body, want)
	}
	return r
}

// alike compares decoded JSON.
func alike(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && math.Abs(a-b) < 1e-3
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, alike)
	case Object:
		b, ok := b.(Object)
		return ok && maps.EqualFunc(a, b, alike)
	}
	return a == b
}

// List is an array of objects in the answer.
func (r *Reply) List(name string) []Object {
	r.t.Helper()
	items, ok := r.JSON[name].([]any)
	if !ok {
		r.t.Fatalf("%s: no array %q in %.300s", r.call, name, r.Body)
	}
	out := make([]Object, len(items))
	for i, it := range items {
		out[i] = it.(Object)
	}
	return out
}

// Number is a number in the answer.
func (r *Reply) Number(name string) float64 {
	r.t.Helper()
	n, ok := r.JSON[name].(float64)
	if !ok {
		r.t.Fatalf("%s: no number %q in %.300s", r.call, name, r.Body)
	}
	return n
}

// Column is one field of each object.
func Column(items []Object, field string) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = fmt.Sprint(it[field])
	}
	return out
}

// Fields checks that an object has exactly these fields.
func Fields(t testing.TB, what string, o Object, want ...string) {
	t.Helper()
	got := slices.Sorted(maps.Keys(o))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s has fields %v, want %v", what, got, want)
	}
}
