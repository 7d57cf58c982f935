package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// oauthClient is a registered client; its metadata follows from its id.
func oauthClient(id string, created, used time.Time) port.OAuthClient {
	return port.OAuthClient{
		ID:        id,
		Metadata:  json.RawMessage(fmt.Sprintf(`{"client_name":"Číslo %s"}`, id)),
		CreatedAt: created,
		UsedAt:    used,
	}
}

// putKey makes a key of an organization for grants to be of.
func (f *fixture) putKey(org ident.Org, id string) {
	f.Helper()
	f.update(func(w port.DocumentWriter) error {
		return w.PutKey(f.ctx, port.Key{ID: id, Org: org, Kind: ident.Service, Hash: sha256.Sum256([]byte(id)), CreatedAt: at(0)})
	})
}

// oauthGrant is a grant whose code waits to be redeemed; redeemedGrant is that
// grant a second after.
func (f *fixture) oauthGrant(id, client string) port.OAuthGrant {
	return port.OAuthGrant{
		ID:          id,
		Org:         f.org,
		KeyID:       "key_lent",
		ClientID:    client,
		ClientName:  "A & B <b>",
		Scope:       "mcp:read mcp:write",
		Resource:    "https://mneme.example/mcp",
		RedirectURI: "https://app.example/cb?x=1",
		Challenge:   "challenge",
		Code:        sha256.Sum256([]byte("code " + id)),
		CodeExpires: at(60),
		CreatedAt:   at(1),
		ExpiresAt:   at(60),
	}
}

func redeemedGrant(g port.OAuthGrant) port.OAuthGrant {
	g.Redeemed, g.ExpiresAt = at(2), at(1000)
	g.Family, g.Refresh = sha256.Sum256([]byte("family "+g.ID)), sha256.Sum256([]byte("refresh "+g.ID))
	return g
}

func (f *fixture) access(g port.OAuthGrant, token string, expires time.Time) port.OAuthAccess {
	f.Helper()
	a := port.OAuthAccess{Hash: sha256.Sum256([]byte(token)), Grant: g.ID, Scope: "mcp:read", ExpiresAt: expires}
	f.update(func(w port.DocumentWriter) error { return w.PutOAuthAccess(f.ctx, a) })
	return a
}

// client reads a client; found is false when it is absent.
func (f *fixture) client(id string) (c port.OAuthClient, found bool) {
	f.Helper()
	err := f.s.View(f.ctx, func(r port.Reader) (err error) { c, err = r.OAuthClient(f.ctx, id); return err })
	if err != nil {
		f.want("client "+id, err, fault.NotFound)
	}
	return c, err == nil
}

func oauthClients(t *testing.T, f *fixture) {
	if _, found := f.client("absent"); found {
		t.Error("a client that nobody registered was found")
	}
	f.update(func(w port.DocumentWriter) error {
		return w.PutOAuthClient(f.ctx, oauthClient("c1", at(1), time.Time{}))
	})
	f.update(func(w port.DocumentWriter) error { return w.PutOAuthClient(f.ctx, oauthClient("c2", at(2), at(5))) })
	got, _ := f.client("c1")
	f.same("c1", got, oauthClient("c1", at(1), time.Time{}))
	f.want("the same id again", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		return w.PutOAuthClient(f.ctx, oauthClient("c1", at(3), time.Time{}))
	}), fault.Conflict)
	f.update(func(w port.DocumentWriter) error {
		n, err := w.CountOAuthClients(f.ctx)
		f.same("count", n, 2)
		return err
	})
	f.update(func(w port.DocumentWriter) error { return w.TouchOAuthClient(f.ctx, "c2", at(4)) }) // earlier
	f.update(func(w port.DocumentWriter) error { return w.TouchOAuthClient(f.ctx, "absent", at(4)) })
	got, _ = f.client("c2")
	f.same("a use is not moved back", got.UsedAt, at(5))
	f.update(func(w port.DocumentWriter) error { return w.TouchOAuthClient(f.ctx, "c2", at(6)) })
	got, _ = f.client("c2")
	f.same("a use", got.UsedAt, at(6))

	f.update(func(w port.DocumentWriter) error {
		return w.PutOAuthClient(f.ctx, oauthClient("c0", at(0), time.Time{}))
	})
	evict := func(before time.Time) (gone bool) {
		f.update(func(w port.DocumentWriter) (err error) { gone, err = w.EvictOAuthClient(f.ctx, before); return err })
		return gone
	}
	f.same("nobody is that old", evict(at(0)), false)
	f.same("the oldest unused", evict(at(9)), true)
	_, c0 := f.client("c0")
	_, c1 := f.client("c1")
	f.same("c0 went, c1 stayed", []bool{c0, c1}, []bool{false, true})
	f.same("the next", evict(at(9)), true)
	f.same("a used one is never evicted", evict(at(9)), false)
	if _, found := f.client("c2"); !found {
		t.Error("the used client was evicted")
	}
}

func oauthGrants(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: "org_other", Name: "other"})
	})
	f.putKey(f.org, "key_lent")
	byCode := func(g port.OAuthGrant) (got port.OAuthGrant, err error) {
		err = f.s.View(f.ctx, func(r port.Reader) (err error) { got, err = r.OAuthGrantByCode(f.ctx, g.Code); return err })
		return got, err
	}
	byFamily := func(g port.OAuthGrant) (got port.OAuthGrant, err error) {
		err = f.s.View(f.ctx, func(r port.Reader) (err error) { got, err = r.OAuthGrantByFamily(f.ctx, g.Family); return err })
		return got, err
	}
	byAccess := func(a port.OAuthAccess) (g port.OAuthGrant, got port.OAuthAccess, err error) {
		err = f.s.View(f.ctx, func(r port.Reader) (err error) { g, got, err = r.OAuthGrantByAccess(f.ctx, a.Hash); return err })
		return g, got, err
	}
	put := func(g port.OAuthGrant) error {
		return f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error { return w.PutOAuthGrant(f.ctx, g) })
	}
	g := f.oauthGrant("grant_1", "c1")
	_, err := byCode(g)
	f.want("absent", err, fault.NotFound)
	stranger := g
	stranger.Org = "org_other"
	f.want("another organization's key", put(stranger), fault.NotFound)
	for _, x := range []port.OAuthGrant{g, f.oauthGrant("grant_2", "c1")} { // both without a family
		if err := put(x); err != nil {
			t.Fatal(err)
		}
	}
	got, err := byCode(g)
	f.same("by code", got, g)
	f.same("by code", err, error(nil))
	_, err = byFamily(redeemedGrant(g))
	f.want("the family before the code is redeemed", err, fault.NotFound)
	_, err = byFamily(port.OAuthGrant{})
	f.want("no family", err, fault.NotFound)

	thief := f.oauthGrant("grant_3", "c1")
	thief.Code = g.Code
	f.want("another grant's code", put(thief), fault.Conflict)
	g = redeemedGrant(g)
	if err := put(g); err != nil {
		t.Fatal(err)
	}
	got, _ = byFamily(g)
	f.same("by family", got, g)
	got, _ = byCode(g)
	f.same("by the redeemed code", got, g)
	thief = redeemedGrant(f.oauthGrant("grant_3", "c1"))
	thief.Family = g.Family
	f.want("another grant's family", put(thief), fault.Conflict)

	a, b := f.access(g, "a", at(10)), f.access(g, "b", at(20))
	owner, token, err := byAccess(a)
	f.same("by access", []any{owner, token, err}, []any{g, a, error(nil)})
	_, _, err = byAccess(port.OAuthAccess{})
	f.want("an unknown access token", err, fault.NotFound)
	if err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		return w.PutOAuthAccess(f.ctx, port.OAuthAccess{Hash: sha256.Sum256([]byte("c")), Grant: "absent", ExpiresAt: at(9)})
	}); err == nil {
		t.Error("an access token of no grant was stored")
	}

	for range 2 {
		f.update(func(w port.DocumentWriter) error { return w.DeleteOAuthGrant(f.ctx, g.ID) })
	}
	_, err = byFamily(g)
	f.want("a deleted grant", err, fault.NotFound)
	for _, x := range []port.OAuthAccess{a, b} {
		_, _, err = byAccess(x)
		f.want("the token of a deleted grant", err, fault.NotFound)
	}
	if _, err := byCode(f.oauthGrant("grant_2", "c1")); err != nil {
		t.Errorf("the other grant: %v", err)
	}
}

func oauthPurge(t *testing.T, f *fixture) {
	f.putKey(f.org, "key_lent")
	f.update(func(w port.DocumentWriter) error {
		for _, c := range []port.OAuthClient{
			oauthClient("fresh", at(90), time.Time{}), oauthClient("unused", at(10), time.Time{}),
			oauthClient("unused but granted", at(10), time.Time{}),
			oauthClient("idle", at(1), at(50)), oauthClient("idle but granted", at(1), at(50)),
			oauthClient("busy", at(1), at(99)),
		} {
			if err := w.PutOAuthClient(f.ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	grants := map[string]port.OAuthGrant{}
	for id, client := range map[string]string{"g1": "unused but granted", "g2": "idle but granted", "g3": "busy"} {
		g := redeemedGrant(f.oauthGrant(id, client))
		if id == "g3" {
			g.ExpiresAt = at(100)
		}
		grants[id] = g
		f.update(func(w port.DocumentWriter) error { return w.PutOAuthGrant(f.ctx, g) })
	}
	old, live, gone := f.access(grants["g1"], "old", at(100)), f.access(grants["g1"], "live", at(101)),
		f.access(grants["g3"], "gone", at(500))
	purge := func() (n int) {
		f.update(func(w port.DocumentWriter) (err error) {
			n, err = w.PurgeOAuth(f.ctx, at(100), at(10), at(50))
			return err
		})
		return n
	}
	f.same("token, grant, unused and idle client", purge(), 4)
	f.same("again", purge(), 0)
	for id, want := range map[string]bool{"fresh": true, "unused": false, "unused but granted": true, "idle": false,
		"idle but granted": true, "busy": true} {
		if _, found := f.client(id); found != want {
			t.Errorf("client %q: there %v, want %v", id, found, want)
		}
	}
	for _, c := range []struct {
		name  string
		token port.OAuthAccess
		there bool
	}{{"expired", old, false}, {"live", live, true}, {"of an expired grant", gone, false}} {
		err := f.s.View(f.ctx, func(r port.Reader) error {
			_, _, err := r.OAuthGrantByAccess(f.ctx, c.token.Hash)
			return err
		})
		if (err == nil) != c.there {
			t.Errorf("access token %s: %v, want there %v", c.name, err, c.there)
		}
	}
}

// oauthRace: of several that redeem one code at a time, one does.
func oauthRace(t *testing.T, f *fixture) {
	f.putKey(f.org, "key_lent")
	first := f.oauthGrant("grant_1", "c1")
	f.update(func(w port.DocumentWriter) error { return w.PutOAuthGrant(f.ctx, first) })
	var redeemed atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			mine := false
			err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
				g, err := w.OAuthGrantByCode(f.ctx, first.Code)
				if mine = err == nil && g.Redeemed.IsZero(); !mine {
					return err
				}
				return w.PutOAuthGrant(f.ctx, redeemedGrant(g))
			})
			if err != nil {
				t.Error(err)
			} else if mine {
				redeemed.Add(1)
			}
		})
	}
	wg.Wait()
	f.same("redemptions", redeemed.Load(), int32(1))
}
