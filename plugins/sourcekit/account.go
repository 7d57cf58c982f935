package sourcekit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// account tries the connector with the account.
func (k *check) account() {
	if !k.allowed() {
		return
	}
	k.step("check")
	problems, err := k.connector.Check(k.ctx, k.connection())
	if err != nil {
		k.said(err)
	}
	for _, p := range problems {
		k.told(p.Field, p.Message)
	}
	k.expect("account.checks", "a check finds nothing against the account", err == nil && len(problems) == 0, "%v, %v",
		problems, err)
	if err != nil || len(problems) > 0 {
		return
	}
	k.step("list")
	whole, ok := k.whole()
	if !ok {
		return
	}
	for _, part := range []struct {
		step string
		do   func(*listing)
	}{{"list: go on", k.goesOn}, {"list: states", k.begins}, {"list: changes", k.changes}, {"fetch", k.fetches},
		{"conduct: callers", k.callers}, {"conduct: secrets", k.wrongSecrets}, {"conduct: memory", k.endures},
		{"conduct: crash", k.breaks}, {"revoke", k.revoke}} {
		if k.ctx.Err() != nil {
			return
		}
		k.step(part.step)
		part.do(whole)
	}
}

// whole lists the account, twice: what is unchanged is listed alike.
func (k *check) whole() (*listing, bool) {
	l, err := k.list(k.ctx, k.connection(), nil, -1)
	k.report.Connector.Items = len(l.versions)
	k.expect("list.completes", "a listing of everything completes", err == nil && l.complete, "%v, complete: %v", err, l.complete)
	if err != nil || !l.complete {
		return l, false
	}
	const readable = "everything in the account can be listed"
	if len(l.problems) > 0 {
		k.skip("list.problems", readable, fmt.Sprintf("%d problems, as %s: %s: %s", len(l.problems), l.problems[0].Path,
			l.problems[0].Code, l.problems[0].Message))
	} else {
		k.expect("list.problems", readable, true, "")
		k.expect("list.snapshot", "a listing of everything says snapshot, unless the kind keeps what is gone",
			l.snapshot || k.kind.Keeps, "complete without snapshot: nothing is ever deleted")
	}
	if len(l.versions) == 0 {
		k.skip("list.items", "the account holds items", "it is empty, so that there is little to see")
		return l, false
	}
	again, err := k.list(k.ctx, k.connection(), nil, -1)
	if err == nil && !maps.Equal(l.versions, again.versions) { // somebody may have changed one in between
		l = again
		again, err = k.list(k.ctx, k.connection(), nil, -1)
	}
	k.expect("list.repeats", "what is unchanged is listed again with the same keys and versions",
		err == nil && maps.Equal(l.versions, again.versions), "%v; %s", err, difference(l.versions, again.versions))
	return l, true
}

// difference says in which keys and versions two listings differ.
func difference(was, is map[string]string) string {
	var missing, more, changed []string
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if version, ok := is[key]; !ok {
			missing = append(missing, key)
		} else if version != was[key] {
			changed = append(changed, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[key]; !ok {
			more = append(more, key)
		}
	}
	var out []string
	for _, part := range []struct {
		what string
		keys []string
	}{{"missing", missing}, {"more", more}, {"of another version", changed}} {
		if len(part.keys) > 0 {
			out = append(out, fmt.Sprintf("%d %s, as %.100q", len(part.keys), part.what, part.keys[0]))
		}
	}
	if len(out) == 0 {
		return "the same items"
	}
	return strings.Join(out, "; ")
}

// goesOn checks that a listing that broke off goes on from its states.
func (k *check) goesOn(whole *listing) {
	const expect = "a listing that broke off goes on from its last state, and both together have listed everything"
	const ahead = "it does not list again what came before the state"
	among := slices.DeleteFunc(slices.Clone(whole.states), func(s state) bool {
		return s.items == 0 || s.items == len(whole.versions)
	})
	if len(among) == 0 {
		k.skip("list.goes-on", expect, fmt.Sprintf("there is no state among %d items: a listing that breaks off begins again",
			len(whole.versions)))
		return
	}
	for i, at := range among {
		if i > 0 && i < len(among)-1 {
			continue // the first and the last stand for those between
		}
		first, err := k.list(k.ctx, k.connection(), nil, at.items)
		k.expect("list.stops", "a listing ends with the error of the one that takes it", errors.Is(err, errStopped) &&
			!first.complete,
			"%v, complete: %v", err, first.complete)
		rest, err := k.list(k.ctx, k.connection(), at.bytes, -1)
		both := maps.Clone(first.versions)
		maps.Copy(both, rest.versions)
		k.expect("list.goes-on", expect, err == nil && rest.complete && maps.Equal(both, whole.versions),
			"%v, complete: %v; %s", err, rest.complete, difference(whole.versions, both))
		k.expect("list.goes-ahead", ahead, len(rest.versions) < len(whole.versions), "all %d items again", len(rest.versions))
	}
}

// begins checks that a state that the connector does not know lists everything.
func (k *check) begins(whole *listing) {
	for _, strange := range []string{"{}", "null", "of another version", "\xff", `{"after":"x","since":"y"}`} {
		l, err := k.list(k.ctx, k.connection(), []byte(strange), -1)
		k.expect("list.begins-again", "from a state that it does not know, such as of another version, it lists everything",
			err == nil && l.complete && maps.Equal(l.versions, whole.versions), "from %q: %v, complete: %v; %s", strange, err,
			l.complete, difference(whole.versions, l.versions))
	}
}

// changes checks a listing from the last state of a whole one.
func (k *check) changes(whole *listing) {
	const last = "a kind that lists changes gives a state with a complete listing"
	const expect = "from the last state, what has not changed is neither gone nor of another version"
	if !k.kind.Incremental {
		k.skip("list.changes", expect, "the kind lists everything each time")
		return
	}
	k.expect("list.last-state", last, len(whole.states) > 0, "none")
	if len(whole.states) == 0 {
		return
	}
	l, err := k.list(k.ctx, k.connection(), whole.states[len(whole.states)-1].bytes, -1)
	both := maps.Clone(whole.versions)
	maps.Copy(both, l.versions)
	for _, key := range l.gone {
		delete(both, key)
	}
	k.expect("list.changes", expect, err == nil && l.complete && maps.Equal(both, whole.versions), "%v, complete: %v; %s", err,
		l.complete, difference(whole.versions, both))
	k.expect("list.changes-alone", "from the last state, not everything is listed again",
		len(l.versions) < len(whole.versions) || len(whole.versions) == 0, "all %d items", len(l.versions))
}

// revoke gives the account's grant back, as for a source that is removed, again, and as for a grant of
// an end user, which comes without settings.
func (k *check) revoke(*listing) {
	const expect = "a grant is given back, again without harm, and without settings as those of end users come"
	switch {
	case !k.kind.Revokes:
		k.skip("revoke", expect, "the kind gives none back")
		return
	case !k.c.Revoke:
		k.skip("revoke", expect, "it was not asked for, since the account's secrets are spent then")
		return
	}
	for _, as := range []struct {
		what     string
		settings json.RawMessage
	}{{"with settings", k.c.Config}, {"again", k.c.Config}, {"without settings", json.RawMessage("{}")}} {
		conn := k.connection()
		conn.Config = as.settings
		ctx, cancel := context.WithTimeout(k.ctx, revokeLimit)
		err := k.connector.Revoke(ctx, conn)
		cancel()
		if err != nil {
			k.said(err)
		}
		k.expect("revoke", expect, err == nil, "%s: %v", as.what, err)
	}
}
