package api_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// everything lists the scopes of an integration key with every right.
func everything() []ident.Scope {
	return []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite, ident.RecallRead, ident.UsersErase}
}

// integration is the same server seen with the key of a new integration, which
// change may alter first.
func (s *server) integration(name string, change func(*key.Issue)) *server {
	s.t.Helper()
	in := key.Issue{Name: name, Kind: ident.Integration, Integration: name, Scopes: everything(), Quotas: &ident.Quotas{}}
	if change != nil {
		change(&in)
	}
	return s.as(s.issue(in))
}

// quotas gives an integration limits; 0 is unlimited.
func quotas(perUser, reads, writes int) func(*key.Issue) {
	return func(in *key.Issue) {
		in.Quotas = &ident.Quotas{MemoriesPerEndUser: perUser, ReadRatePerMin: reads, WriteRatePerMin: writes}
	}
}

// refuses checks a memory API error: status, code, the whole body's shape and
// what the details hold, in pairs of name and value.
func (r *reply) refuses(status int, code string, details ...any) *reply {
	r.t.Helper()
	if r.status != status || r.json["code"] != code {
		r.t.Errorf("%s: %d %v, want %d %s: %s", r.call, r.status, r.json["code"], status, code, clip(r.body))
		return r
	}
	got, ok := r.json["details"].(object)
	message, _ := r.json["message"].(string)
	if !ok || message == "" || len(r.json) != 5 || r.json["statusCode"] != float64(status) ||
		r.json["requestId"] != r.header.Get("X-Request-Id") || r.json["requestId"] == "" {
		r.t.Errorf("%s: not a memory error body with this request's id: %s", r.call, clip(r.body))
	}
	if r.header.Get("Content-Type") != "application/json" {
		r.t.Errorf("%s: content type %q of an error", r.call, r.header.Get("Content-Type"))
	}
	if status == 400 {
		reason, _ := got["reason"].(string)
		if field, _ := got["field"].(string); field == "" || reason == "" {
			r.t.Errorf("%s: details of a 400 without field and reason: %s", r.call, clip(r.body))
		}
	}
	for i := 0; i+1 < len(details); i += 2 {
		if want := details[i+1]; fmt.Sprint(got[details[i].(string)]) != fmt.Sprint(want) {
			r.t.Errorf("%s: details.%s is %v, want %v: %s", r.call, details[i], got[details[i].(string)], want, clip(r.body))
		}
	}
	return r
}

// with is a body with one field changed; nil takes it out.
func (o with) set(field string, value any) object {
	out := maps.Clone(object(o))
	if value == nil {
		delete(out, field)
	} else {
		out[field] = value
	}
	return out
}

type with object

// save stores one memory and returns its id.
func (s *server) save(user, content string, more ...any) string {
	s.t.Helper()
	body := object{"endUserId": user, "content": content}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	r := s.post("/api/v1/memories", body).ok()
	if r.json["success"] != true {
		s.t.Fatalf("%s: %s", r.call, clip(r.body))
	}
	return r.json["memory"].(object)["id"].(string)
}

// search expects 200 and returns the results.
func (s *server) search(user, query string, more ...any) []object {
	s.t.Helper()
	body := object{"endUserId": user, "query": query}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return s.post("/api/v1/search", body).ok().list("results")
}

// memories lists everything of an end user through all pages.
func (s *server) memories(user string, query ...string) []object {
	s.t.Helper()
	var out []object
	cursor := ""
	for {
		r := s.get("/api/v1/memories?limit=100&endUserId=" + user + strings.Join(query, "") + "&cursor=" + cursor).ok()
		out = append(out, r.list("memories")...)
		next, more := r.json["nextCursor"].(string)
		if !more {
			return out
		}
		cursor = next
	}
}

// upsert writes a version of a source-owned memory.
func (s *server) upsert(user, source, id string, version int, content string, more ...any) *reply {
	s.t.Helper()
	body := object{"endUserId": user, "source": source, "version": version, "content": content,
		"occurredAt": "2026-01-02T03:04:05Z"}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return s.do("PUT", "/api/v1/memories/"+id, body)
}

// tombstone removes a source-owned memory.
func (s *server) tombstone(user, source, id string, version int, more ...string) *reply {
	s.t.Helper()
	return s.do("DELETE", fmt.Sprintf("/api/v1/memories/%s?endUserId=%s&source=%s&version=%d%s", id, user, source,
		version, strings.Join(more, "")), nil)
}

// record reads a source-owned memory.
func (s *server) record(user, source, id string) *reply {
	s.t.Helper()
	return s.get("/api/v1/memories/" + id + "?endUserId=" + user + "&source=" + source)
}

func TestMemorySaveAndSearch(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", nil)
		id := s.save("ann", "The blue bicycle stands in the garage.", "containerTag", "home", "metadata",
			object{"room": "garage"}, "occurredAt", "2025-05-06T07:08:09.123Z")
		other := s.save("ann", "Dinner is at eight on Fridays.")
		s.save("bob", "The blue bicycle was sold.")
		got := s.search("ann", "where is the blue bicycle")
		if len(got) != 2 || got[0]["id"] != id || got[1]["id"] != other {
			t.Fatalf("found %v", got)
		}
		fields(t, "a result", got[0], "id", "matchedContent", "originalLength", "container_tag", "score", "created_at",
			"updated_at", "metadata")
		if got[0]["matchedContent"] != "The blue bicycle stands in the garage." || got[0]["originalLength"] != 38.0 ||
			got[0]["container_tag"] != "home" ||
			got[0]["created_at"] != 1746515289123.0 || fmt.Sprint(got[0]["metadata"]) != "map[room:garage]" {
			t.Errorf("found %v", got[0])
		}
		if got := s.search("ann", "blue bicycle", "containerTag", "home"); len(got) != 1 || got[0]["id"] != id {
			t.Errorf("in the container: %v", got)
		}
	})
}

// roster lists the end users of the default organization.
func (s *server) roster() (ids []string) {
	s.t.Helper()
	ctx := context.Background()
	err := s.store.View(ctx, func(r port.Reader) error {
		o, err := r.OrganizationByName(ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		users, err := r.EndUsers(ctx, o.ID, port.EndUserList{Limit: 1000})
		for _, u := range users {
			ids = append(ids, u.ID)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return ids
}

// erasing reports whether the erasure of an end user of the default organization
// has begun and not ended.
func (s *server) erasing(endUser string) (begun bool) {
	s.t.Helper()
	ctx := context.Background()
	err := s.store.View(ctx, func(r port.Reader) error {
		under, err := r.Erasing(ctx)
		for _, p := range under {
			begun = begun || p.Name() == endUser
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return begun
}

// frozen is a clock that only a test moves.
func frozen() (by *atomic.Int64, option func(*engine.Config)) {
	by, at := &atomic.Int64{}, time.Now()
	return by, func(c *engine.Config) {
		c.Now = func() time.Time { return at.Add(time.Duration(by.Load())) }
	}
}

// found is what searches show of an end user's memories, ids left out.
func (s *server) found(user string, queries ...string) string {
	s.t.Helper()
	out := ""
	for _, q := range queries {
		out += q + "\n"
		for _, r := range s.search(user, q, "limit", 20) {
			out += fmt.Sprintf("  %.4f %s\n", r["score"], r["matchedContent"])
		}
	}
	return out
}
