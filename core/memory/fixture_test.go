package memory_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// plane is a memory service as the engine makes it, over a folder of the test.
type plane struct {
	*coretest.Fixture
	t        testing.TB
	options  coretest.Options
	settings func(*memory.Settings)
	memories *memory.Service
	close    func()
}

// open opens a service that runs until the end of the test or a restart. settings
// changes what it is made of; nil: nothing.
func open(t testing.TB, o coretest.Options, settings func(*memory.Settings)) *plane {
	t.Helper()
	f := coretest.New(t, o)
	made := services.Memories(f, func(s *memory.Settings) {
		s.Reranking = retrieve.Reranking{Prior: 1, Floor: retrieve.NoFloor, Depth: 40}
		if settings != nil {
			settings(s)
		}
	})
	p := &plane{Fixture: f, t: t, options: o, settings: settings, memories: made}
	run, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.memories.Run(run) }()
	stopped := false
	p.close = func() {
		if stopped {
			return
		}
		stopped = true
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		f.Close()
	}
	t.Cleanup(p.close)
	return p
}

// restart ends the service and opens another over the same folder.
func (p *plane) restart() *plane {
	p.t.Helper()
	p.close()
	o := p.options
	o.Dir = p.Dir
	return open(p.t, o, p.settings)
}

// app is the service seen by an integration.
type app struct {
	*plane
	ctx context.Context
}

// integration is a new integration that may keep so many memories of an end user;
// 0: any number.
func (p *plane) integration(name string, perUser int) app {
	p.t.Helper()
	return app{p, p.Caller(key.Issue{
		Name:        name,
		Kind:        ident.Integration,
		Integration: name,
		Scopes:      ident.Scopes(),
		Quotas:      &ident.Quotas{MemoriesPerEndUser: perUser},
	})}
}

// as is the same integration over a service that was opened again.
func (a app) as(p *plane) app { return app{p, a.ctx} }

// with adds fields to a body, in pairs.
func with(body coretest.Object, more []any) coretest.Object {
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return body
}

// post saves one memory, batch several.
func (a app) post(body coretest.Object) *coretest.Reply {
	a.t.Helper()
	return coretest.Ask(a.ctx, a.t, a.memories.Save, body)
}

func (a app) batch(body coretest.Object) *coretest.Reply {
	a.t.Helper()
	return coretest.Ask(a.ctx, a.t, a.memories.Batch, body)
}

// postOnce and batchOnce do it under an idempotency key.
func (a app) postOnce(key string, body coretest.Object) reply {
	a.t.Helper()
	return reply{coretest.Ask(a.ctx, a.t, a.memories.Save, body, func(in *memory.Save) { in.IdempotencyKey = &key }), a.t}
}

func (a app) batchOnce(key string, body coretest.Object) reply {
	a.t.Helper()
	return reply{coretest.Ask(a.ctx, a.t, a.memories.Batch, body, func(in *memory.Batch) { in.IdempotencyKey = &key }), a.t}
}

// save saves one memory and returns its id.
func (a app) save(user, content string, more ...any) string {
	a.t.Helper()
	r := a.post(with(coretest.Object{"endUserId": user, "content": content}, more)).OK()
	if r.JSON["success"] != true {
		a.t.Fatalf("save: %s", r.Body)
	}
	return r.JSON["memory"].(coretest.Object)["id"].(string)
}

// search has to succeed and returns the results.
func (a app) search(user, query string, more ...any) []coretest.Object {
	a.t.Helper()
	return a.ask(with(coretest.Object{"endUserId": user, "query": query}, more)).OK().List("results")
}

func (a app) ask(body coretest.Object) *coretest.Reply {
	a.t.Helper()
	return coretest.Ask(a.ctx, a.t, a.memories.Search, body)
}

func (a app) remove(body coretest.Object) *coretest.Reply {
	a.t.Helper()
	return coretest.Ask(a.ctx, a.t, a.memories.Delete, body)
}

// list is everything of an end user through all pages.
func (a app) list(user string) (all []coretest.Object) {
	a.t.Helper()
	cursor := ""
	for {
		r := coretest.Ask(a.ctx, a.t, a.memories.List, coretest.Object{}, func(in *memory.List) {
			in.EndUserID, in.Limit, in.Cursor = user, new(100), cursor
		}).OK()
		all = append(all, r.List("memories")...)
		next, more := r.JSON["nextCursor"].(string)
		if !more {
			return all
		}
		cursor = next
	}
}

// upsert writes a version of a source-owned memory.
func (a app) upsert(user, source, id string, version int, content string, more ...any) reply {
	a.t.Helper()
	body := coretest.Object{"endUserId": user, "source": source, "version": version, "content": content,
		"occurredAt": "2026-01-02T03:04:05Z"}
	return reply{coretest.Ask(a.ctx, a.t, a.memories.Upsert, with(body, more), func(in *memory.Upsert) { in.ExternalID = id }),
		a.t}
}

// tombstone removes a source-owned memory at a time; "": none is given.
func (a app) tombstone(user, source, id string, version int64, at string) reply {
	a.t.Helper()
	return reply{coretest.Ask(a.ctx, a.t, a.memories.Tombstone, coretest.Object{}, func(in *memory.Tombstone) {
		in.EndUserID, in.Source, in.ExternalID, in.Version = user, source, id, &version
		if at != "" {
			in.OccurredAt = &at
		}
	}), a.t}
}

// record reads a source-owned memory.
func (a app) record(user, source, id string) reply {
	a.t.Helper()
	return reply{coretest.Ask(a.ctx, a.t, a.memories.Get, coretest.Object{}, func(in *memory.GetRecord) {
		in.EndUserID, in.Source, in.ExternalID = user, source, id
	}), a.t}
}

// roster lists the end users of the default organization.
func (p *plane) roster() (users []port.EndUser) {
	p.t.Helper()
	ctx := context.Background()
	err := p.Store.View(ctx, func(r port.Reader) error {
		o, err := r.OrganizationByName(ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		users, err = r.EndUsers(ctx, o.ID, port.EndUserList{Limit: 1000})
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return users
}

// reply is an answer that may have been given before.
type reply struct {
	*coretest.Reply
	t testing.TB
}

// replayed checks what the answer says about having been given before.
func (r reply) replayed(want bool) reply {
	r.t.Helper()
	if got := r.Header["Idempotent-Replayed"]; (got == "true") != want || got != "" && got != "true" {
		r.t.Errorf("Idempotent-Replayed is %q, want %t: %s", got, want, r.Body)
	}
	return r
}

// applied checks an answer about a record and returns its record and receipt.
func (r reply) applied(outcome string, version int) (record, receipt coretest.Object) {
	r.t.Helper()
	r.OK()
	coretest.Fields(r.t, "an answer", r.JSON, "success", "record", "receipt")
	record, receipt = r.JSON["record"].(coretest.Object), r.JSON["receipt"].(coretest.Object)
	coretest.Fields(r.t, "a record", record, "source", "externalId", "version", "status", "occurredAt", "updatedAt",
		"documentId", "contentHash")
	coretest.Fields(r.t, "a receipt", receipt, "source", "externalId", "version", "operation", "requestHash", "outcome",
		"occurredAt", "appliedAt",
		"documentId", "contentHash")
	if r.JSON["success"] != true || receipt["outcome"] != outcome || receipt["version"] != float64(version) {
		r.t.Errorf("outcome %v of version %v, want %s of %d", receipt["outcome"], receipt["version"], outcome, version)
	}
	for _, f := range []string{"source", "externalId", "version", "documentId", "occurredAt", "contentHash"} {
		if record[f] != receipt[f] {
			r.t.Errorf("%s is %v in the record and %v in the receipt", f, record[f], receipt[f])
		}
	}
	return record, receipt
}

// sum is the SHA-256 of a text as answers show it.
func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(h[:])
}

// clock is a clock that only a test moves.
func clock() (by *atomic.Int64, now func() time.Time) {
	by, at := &atomic.Int64{}, time.Now()
	return by, func() time.Time { return at.Add(time.Duration(by.Load())) }
}
