package transporttest_test

import (
	"context"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/transporttest"
)

type put struct {
	ID   string   `path:"id"`
	Text string   `json:"text"`
	Tags []string `json:"tags"`
}

func (p *put) Validate() error {
	if p.Text == "" {
		return fault.Field(fault.InvalidRequest, "text", "is required")
	}
	return nil
}

type ref struct {
	ID   string `path:"id"`
	Only string `query:"only"`
}

type box struct {
	mu    sync.Mutex
	texts map[string]put
}

func (b *box) Put(_ context.Context, in put) (map[string]any, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, had := b.texts[in.ID]
	b.texts[in.ID] = in
	return map[string]any{"id": in.ID, "created": !had, "tags": in.Tags}, nil
}

func (b *box) Get(_ context.Context, in ref) (map[string]any, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.texts[in.ID]
	if !ok {
		return nil, fault.New(fault.DocumentNotFound, "no text %q", in.ID)
	}
	return map[string]any{"text": p.Text, "only": in.Only}, nil
}

func (b *box) Clear(context.Context, struct{}) (struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.texts)
	return struct{}{}, nil
}

type keys struct{}

func (keys) Verify(_ context.Context, bearer string, _ op.Family) (ident.Principal, error) {
	if bearer == "good" || bearer == "reader" {
		return ident.Principal{KeyID: bearer, Org: "org_1", ReadOnly: bearer == "reader"}, nil
	}
	return ident.Principal{}, fault.New(fault.Unauthorized, "no")
}

func TestScript(t *testing.T) {
	open := func(*testing.T) *op.Set {
		set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: keys{}})}
		op.Mount(set, &box{texts: map[string]put{}}, []op.Op[*box]{
			op.Define(op.Spec{
				Name:    "put",
				Method:  "POST",
				Path:    "/texts/{id}",
				Class:   op.Write,
				MaxBody: 1 << 10,
				Mutates: true,
				Success: 201,
			}, (*box).Put),
			op.Define(op.Spec{Name: "get", Method: "GET", Path: "/texts/{id}", Class: op.Read}, (*box).Get),
			op.Define(op.Spec{Name: "clear", Method: "POST", Path: "/texts/clear", Class: op.Write, Success: 204}, (*box).Clear),
		})
		return set
	}
	transporttest.Run(t, open, []transporttest.Call{
		{Name: "no key", Method: "POST", Path: "/texts/a", Body: `{`, Status: 401, Code: fault.Unauthorized},
		{Name: "read-only", Method: "POST", Path: "/texts/a", Key: "reader", Body: `{`, Status: 403, Code: fault.Forbidden},
		{Name: "absent", Method: "GET", Path: "/texts/a", Key: "good", Status: 404, Code: fault.DocumentNotFound},
		{Name: "no body", Method: "POST", Path: "/texts/a", Key: "good", Status: 400, Code: fault.InvalidJSON},
		{Name: "broken", Method: "POST", Path: "/texts/a", Key: "good", Body: `{`, Status: 400, Code: fault.InvalidJSON},
		{
			Name:   "unknown field",
			Method: "POST",
			Path:   "/texts/a",
			Key:    "good",
			Body:   `{"id":"b"}`,
			Status: 400,
			Code:   fault.InvalidRequest,
		},
		{Name: "invalid", Method: "POST", Path: "/texts/a", Key: "good", Body: `{}`, Status: 400, Code: fault.InvalidRequest},
		{
			Name:   "put",
			Method: "POST",
			Path:   "/texts/a",
			Key:    "good",
			Body:   `{"text":"t"}`,
			Status: 201,
			Want:   `{"created":true,"tags":[]}`,
		},
		{
			Name:   "put again",
			Method: "POST",
			Path:   "/texts/%61",
			Key:    "good",
			Body:   `{"text":"u"}`,
			Status: 201,
			Want:   `{"created":false,"id":"a"}`,
		},
		{Name: "get", Method: "GET", Path: "/texts/a?only=x", Key: "reader", Want: `{"text":"u","only":"x"}`},
		{Name: "clear, not a text of that name", Method: "POST", Path: "/texts/clear", Key: "good", Status: 204},
		{Name: "gone", Method: "GET", Path: "/texts/a", Key: "good", Status: 404, Code: fault.DocumentNotFound},
		{Name: "nothing there", Method: "GET", Path: "/other", Key: "good", Status: 404, Code: fault.NotFound},
	})
}
