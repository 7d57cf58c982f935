package storetest

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

func (f *fixture) signedIn(token string, seen, expires int) port.Session {
	return port.Session{Hash: sha256.Sum256([]byte(token)), Org: f.org, KeyID: "key_admin", CreatedAt: at(1), SeenAt: at(seen),
		ExpiresAt: at(expires), UserAgent: "Browser/1 (Číslo; <b>)"}
}

func (f *fixture) session(token string) (s port.Session, err error) {
	err = f.s.View(f.ctx, func(r port.Reader) (err error) {
		s, err = r.SessionByHash(f.ctx, sha256.Sum256([]byte(token)))
		return err
	})
	return s, err
}

func (f *fixture) takeLink(token string) (l port.SignInLink, err error) {
	err = f.s.Update(f.ctx, func(w port.Writer) (err error) {
		l, err = w.TakeSignInLink(f.ctx, sha256.Sum256([]byte(token)))
		return err
	})
	return l, err
}

func sessions(t *testing.T, f *fixture) {
	f.putKey(f.org, "key_admin")
	_, err := f.session("a")
	f.want("a session that nobody began", err, fault.NotFound)
	a, b := f.signedIn("a", 5, 100), f.signedIn("b", 5, 100)
	for _, s := range []port.Session{a, b} {
		f.update(func(w port.DocumentWriter) error { return w.PutSession(f.ctx, s) })
	}
	for _, wrong := range []port.Session{{KeyID: "absent", Org: f.org}, {KeyID: "key_admin", Org: otherOrg}} {
		f.want("a session of no key", f.s.Update(f.ctx, func(w port.Writer) error { return w.PutSession(f.ctx, wrong) }),
			fault.NotFound)
	}
	got, err := f.session("a")
	f.same("as it was written", []any{got, err}, []any{a, error(nil)})

	for _, c := range []struct{ at, want int }{{4, 5}, {9, 9}, {8, 9}} {
		f.update(func(w port.DocumentWriter) error { return w.TouchSession(f.ctx, a.Hash, at(c.at)) })
		got, _ = f.session("a")
		f.same("a use is not moved back", got.SeenAt, at(c.want))
	}
	got, _ = f.session("b")
	f.same("another's use", got, b)
	f.update(func(w port.DocumentWriter) error { return w.TouchSession(f.ctx, [32]byte{1}, at(9)) }) // absent

	for range 2 {
		f.update(func(w port.DocumentWriter) error { return w.DeleteSession(f.ctx, a.Hash) })
	}
	_, err = f.session("a")
	f.want("an ended session", err, fault.NotFound)
	if _, err := f.session("b"); err != nil {
		t.Errorf("the other session: %v", err)
	}
}

func sessionPurge(_ *testing.T, f *fixture) {
	f.putKey(f.org, "key_admin")
	f.update(func(w port.DocumentWriter) error {
		for _, s := range []port.Session{f.signedIn("expired", 99, 100), f.signedIn("idle", 50, 500),
			f.signedIn("live", 51, 101)} {
			if err := w.PutSession(f.ctx, s); err != nil {
				return err
			}
		}
		for token, expires := range map[string]int{"old": 100, "new": 101} {
			l := port.SignInLink{Hash: sha256.Sum256([]byte(token)), Org: f.org, KeyID: "key_admin", ExpiresAt: at(expires)}
			if err := w.PutSignInLink(f.ctx, l); err != nil {
				return err
			}
		}
		return nil
	})
	purge := func() (n int) {
		f.update(func(w port.DocumentWriter) (err error) {
			n, err = w.PurgeSessions(f.ctx, at(100), at(50))
			return err
		})
		return n
	}
	f.same("an expired session, an idle one and a link", purge(), 3)
	f.same("again", purge(), 0)
	there := map[string]bool{}
	for _, token := range []string{"expired", "idle", "live"} {
		_, err := f.session(token)
		there[token] = err == nil
	}
	for _, token := range []string{"old", "new"} {
		_, err := f.takeLink(token)
		there[token] = err == nil
	}
	f.same("what is left", there, map[string]bool{"expired": false, "idle": false, "live": true, "old": false, "new": true})
}

// signInLinks: a link is taken once, by one, and goes with its key.
func signInLinks(t *testing.T, f *fixture) {
	f.putKey(f.org, "key_admin")
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other", CreatedAt: at(1)})
	})
	f.putKey(otherOrg, "key_other")
	put := func(token string, org ident.Org, key string, expires time.Time) (l port.SignInLink, err error) {
		l = port.SignInLink{Hash: sha256.Sum256([]byte(token)), Org: org, KeyID: key, ExpiresAt: expires}
		return l, f.s.Update(f.ctx, func(w port.Writer) error { return w.PutSignInLink(f.ctx, l) })
	}
	_, err := put("x", f.org, "key_other", at(9))
	f.want("a link of another organization's key", err, fault.NotFound)
	_, err = f.takeLink("x")
	f.want("it", err, fault.NotFound)

	link, err := put("a", f.org, "key_admin", at(9))
	f.same("put", err, error(nil))
	var won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if l, err := f.takeLink("a"); err == nil {
				won.Add(1)
				f.same("as it was written", l, link)
			} else if code := fault.CodeOf(err); code != fault.NotFound {
				t.Errorf("taken by another: %v", err)
			}
		})
	}
	all.Wait()
	f.same("how many got it", won.Load(), int32(1))

	gone := f.signedIn("gone", 1, 100)
	gone.Org, gone.KeyID = otherOrg, "key_other"
	f.update(func(w port.DocumentWriter) error { return w.PutSession(f.ctx, gone) })
	_, err = put("gone", otherOrg, "key_other", at(9))
	f.same("put", err, error(nil))
	f.update(func(w port.DocumentWriter) error { return w.BeginDeletion(f.ctx, otherOrg, at(5)) })
	for more := true; more; {
		f.update(func(w port.DocumentWriter) (err error) {
			_, more, err = w.EraseOrganization(f.ctx, otherOrg, 10)
			return err
		})
	}
	_, err = f.session("gone")
	f.want("a session of a key that is gone", err, fault.NotFound)
	_, err = f.takeLink("gone")
	f.want("a link of a key that is gone", err, fault.NotFound)
}
