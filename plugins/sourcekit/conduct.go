package sourcekit

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/kit"
)

const (
	recovery    = 10 * time.Second // that a crashed program may take to be back
	revokeLimit = 10 * time.Second // that a server waits for a grant to be given back
)

// callers checks calls of two sources side by side, and one whose caller goes.
func (k *check) callers(whole *listing) {
	var group sync.WaitGroup
	errs, listed := make([]error, 2), make([]map[string]string, 2)
	for i, id := range []string{"src_one", "src_other"} {
		c := k.connection()
		c.Source = id
		group.Go(func() {
			l := &keys{versions: map[string]string{}}
			errs[i] = k.connector.List(k.ctx, c, nil, l)
			listed[i] = l.versions
		})
	}
	group.Wait()
	for i, err := range errs {
		k.expect("conduct.side-by-side", "two sources are listed side by side as one is", err == nil && maps.Equal(listed[i],
			whole.versions),
			"%v; %s", err, difference(whole.versions, listed[i]))
	}
	ctx, leave := context.WithCancel(k.ctx)
	l := &keys{versions: map[string]string{}, at: leave}
	err := k.connector.List(ctx, k.connection(), nil, l)
	leave()
	k.expect("conduct.cancelled", "a listing ends when its caller goes", errors.Is(err, context.Canceled) && !l.complete,
		"%v, complete: %v", err, l.complete)
	_, err = k.connector.Check(k.ctx, k.connection())
	k.expect("conduct.afterwards", "the next call works", err == nil, "%v", err)
}

// keys takes the keys and versions of a listing, and nothing more.
type keys struct {
	versions map[string]string
	at       func() // called with the first item; nil: nothing
	complete bool
}

// Item implements port.SourceListing.
func (l *keys) Item(ctx context.Context, i port.SourceItem) error {
	l.versions[i.Key] = i.Version
	if l.at != nil {
		l.at()
	}
	return ctx.Err()
}

// Gone implements port.SourceListing.
func (*keys) Gone(ctx context.Context, _ string) error { return ctx.Err() }

// Checkpoint implements port.SourceListing.
func (*keys) Checkpoint(ctx context.Context, _ []byte) error { return ctx.Err() }

// Problem implements port.SourceListing.
func (*keys) Problem(ctx context.Context, _ port.SourceProblem) error { return ctx.Err() }

// Complete implements port.SourceListing.
func (l *keys) Complete(ctx context.Context, _ bool) error {
	l.complete = ctx.Err() == nil
	return ctx.Err()
}

// changed is a secret of the same form that is another one.
func changed(secret string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return 'a' + (r-'a'+1)%26
		case 'A' <= r && r <= 'Z':
			return 'A' + (r-'A'+1)%26
		case '0' <= r && r <= '9':
			return '0' + (r-'0'+1)%10
		}
		return r
	}, secret)
}

// wrongSecrets checks what becomes of secrets that are not the account's.
func (k *check) wrongSecrets(*listing) {
	const expect = "with wrong secrets a listing fails with the code credentials, so that the source waits for new ones"
	c := k.connection()
	if len(c.Secrets) == 0 {
		k.skip("conduct.credentials", expect, "the account has none")
		return
	}
	for name, value := range c.Secrets {
		c.Secrets[name] = changed(value)
	}
	c.Renew = func(context.Context, map[string]string) error {
		return errors.New("these secrets are not the account's")
	}
	l, err := k.list(k.ctx, c, nil, -1)
	var why *port.SourceError
	k.expect("conduct.credentials", expect, errors.As(err, &why) && why.Code == port.SourceCredentials && !l.complete,
		"%v, %s listed, complete: %v", err, kit.Pluralize(len(l.versions), "item"), l.complete)
	if err != nil {
		for _, value := range c.Secrets {
			k.expect("secrets.untold-wrong", "an error tells no wrong secret either",
				len(value) < leastSecret || !strings.Contains(err.Error(), value), "one of %d bytes", len(value))
		}
	}
}

// endures lists and reads the account for a while and watches memory. If that still grows the
// run lasts up to four times as long: a heap settles, a leak keeps growing.
func (k *check) endures(whole *listing) {
	const endures, flat = "the account is listed alike throughout a long run", "memory is flat in the second half of a long run"
	if k.c.Memory == nil {
		k.skip("conduct.memory-flat", flat, "nothing tells the program's memory")
		return
	}
	length := k.c.Endure
	if length <= 0 {
		length = 15 * time.Second
	}
	var samples []int64
	for started := time.Now(); ; {
		if ran := time.Since(started); ran >= length && len(samples) >= kit.MinSamples {
			if _, _, settled := kit.Growth(samples); settled || ran >= 4*length {
				break
			}
		}
		l := &keys{versions: map[string]string{}}
		err := k.connector.List(k.ctx, k.connection(), nil, l)
		for _, i := range whole.sample {
			if err == nil {
				if _, _, err = k.fetch(k.ctx, i); isRead(err) {
					err = nil
				}
			}
		}
		var why *port.SourceError
		if errors.As(err, &why) && why.Code == port.SourceRateLimited {
			k.skip("conduct.memory-flat", flat, "the account's upstream wants to be asked less often")
			return
		}
		ok := err == nil && maps.Equal(l.versions, whole.versions)
		k.expect("conduct.endures", endures, ok, "%v; %s", err, difference(whole.versions, l.versions))
		if !ok {
			return
		}
		samples = append(samples, k.c.Memory())
	}
	third, grown, settled := kit.Growth(samples)
	k.expect("conduct.memory-flat", flat, settled,
		"%s more in the last quarter of %d rounds than in the one before, which had %s",
		kit.Bytes(grown), len(samples), kit.Bytes(third))
}

// breaks crashes the program while it lists.
func (k *check) breaks(whole *listing) {
	const expect = "after a crash the listing has ended, and the program is back within 10 seconds and lists everything"
	if k.c.Break == nil {
		k.skip("conduct.recovers", expect, "there is no way to crash it here")
		return
	}
	var broke error
	l := &keys{versions: map[string]string{}}
	l.at = func() {
		l.at = nil
		broke = k.c.Break(k.ctx)
	}
	err := k.connector.List(k.ctx, k.connection(), nil, l) // which may have come to its end before
	if broke != nil {
		k.expect("conduct.recovers", expect, false, "it could not be crashed: %v", broke)
		return
	}
	var why *port.SourceError
	k.expect("conduct.crashed", "a listing that a crash ends is unavailable", err == nil && l.complete ||
		errors.As(err, &why) && why.Code == port.SourceUnavailable, "%v, complete: %v", err, l.complete)
	var after *keys
	for until := time.Now().Add(recovery); ; {
		after = &keys{versions: map[string]string{}}
		err = k.connector.List(k.ctx, k.connection(), nil, after)
		if err == nil || !errors.As(err, &why) || why.Code != port.SourceUnavailable || time.Now().After(until) {
			break
		}
		select {
		case <-k.ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	k.expect("conduct.recovers", expect, err == nil && maps.Equal(after.versions, whole.versions), "%v; %s", err,
		difference(whole.versions, after.versions))
}
