package sourcekit

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/port"
)

const (
	maxItems    = 100_000 // of an account to check with
	sampleItems = 20      // that are read
	maxState    = 64 << 10
)

var (
	errTooMany = errors.New("the account holds more than 100000 items; give one that holds less")
	errStopped = errors.New("the listing is to end")
)

// listing takes what one call of List lists.
type listing struct {
	k        *check
	stop     int // ends the listing at the item after so many; negative: not at all
	versions map[string]string
	sample   []port.SourceItem // without contents that came along
	gone     []string
	states   []state
	problems []port.SourceProblem
	complete bool
	snapshot bool
}

// state is a checkpoint, and how many items came before it.
type state struct {
	bytes []byte
	items int
}

// list makes one call of List; stop is as of a listing.
func (k *check) list(ctx context.Context, c port.Connection, from []byte, stop int) (*listing, error) {
	l := &listing{k: k, stop: stop, versions: map[string]string{}}
	err := k.connector.List(ctx, c, from, l)
	if err != nil {
		k.said(err)
	}
	return l, err
}

// said checks that an error is one of the port's, and tells no secret.
func (k *check) said(err error) {
	var why *port.SourceError
	var file *port.FileError
	if errors.As(err, &why) {
		k.told(why.Message)
		k.expect("errors.message", "an error says in words what is wrong", why.Message != "", "code %s without a message",
			why.Code)
		return
	}
	known := errors.As(err, &file) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, errStopped) || errors.Is(err, errTooMany)
	k.expect("errors.code", "an error has a code", known, "%v", err)
}

// told checks that texts tell no secret.
func (k *check) told(texts ...string) {
	k.expect("secrets.untold", "no secret is in a key, version, name, address, state, message or in metadata",
		!k.tells(texts...), "%q", texts)
}

// Item implements port.SourceListing.
func (l *listing) Item(_ context.Context, i port.SourceItem) error {
	if l.stop >= 0 && len(l.versions) >= l.stop {
		return errStopped
	}
	k := l.k
	l.open("an item")
	_, twice := l.versions[i.Key]
	k.expect("list.keys", "keys of 1 to 2048 bytes of UTF-8, each once in a listing",
		i.Key != "" && len(i.Key) <= 2048 && utf8.ValidString(i.Key) && !twice, "%.100q, %d bytes, twice: %v", i.Key,
		len(i.Key), twice)
	k.expect("list.versions", "a version of at most 256 bytes", len(i.Version) <= 256, "%d bytes for %.100q", len(i.Version),
		i.Key)
	k.expect("list.names", "a name of 1 to 1024 bytes of UTF-8", i.Name != "" && len(i.Name) <= 1024 && utf8.ValidString(i.Name),
		"%.100q, %d bytes", i.Name, len(i.Name))
	at, err := url.Parse(i.URL)
	k.expect("list.addresses", "an address that a browser opens, or none",
		i.URL == "" || err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Host != "", "%.200q", i.URL)
	k.told(i.Key, i.Version, i.Name, i.URL)
	if i.Content != nil {
		k.metadata(*i.Content)
		i.Content = nil
	}
	if len(l.sample) < sampleItems {
		l.sample = append(l.sample, i)
	}
	if l.versions[i.Key] = i.Version; len(l.versions) > maxItems {
		return errTooMany
	}
	return nil
}

// open expects that a listing has not ended yet.
func (l *listing) open(what string) {
	l.k.expect("list.ends", "nothing comes after complete", !l.complete, "%s", what)
}

// Gone implements port.SourceListing.
func (l *listing) Gone(_ context.Context, key string) error {
	l.open("what is gone")
	l.k.told(key)
	l.gone = append(l.gone, key)
	return nil
}

// Checkpoint implements port.SourceListing.
func (l *listing) Checkpoint(_ context.Context, at []byte) error {
	l.open("a checkpoint")
	l.k.expect("list.states", "a state has 1 to 65536 bytes", len(at) > 0 && len(at) <= maxState, "%d bytes", len(at))
	l.k.told(string(at))
	l.states = append(l.states, state{slices.Clone(at), len(l.versions)})
	return nil
}

// Problem implements port.SourceListing.
func (l *listing) Problem(_ context.Context, p port.SourceProblem) error {
	l.open("a problem")
	l.k.told(p.Path, p.Message)
	l.problems = append(l.problems, p)
	return nil
}

// Complete implements port.SourceListing.
func (l *listing) Complete(_ context.Context, snapshot bool) error {
	l.open("complete")
	l.complete, l.snapshot = true, snapshot
	return nil
}

var _ port.SourceListing = (*listing)(nil)
