package sourcekit_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

const (
	token  = "tok-that-nobody-may-see"
	notes  = 25
	inPage = 10
)

// flaws are the promises that a small connector breaks; none of them is a sound one.
type flaws struct {
	name, title, config, secrets string // in place of the sound ones

	failsToClose, twoKinds, fieldProblem, unreadable, empty, noSnapshot, incomplete, twice, unstable, noStates,
	deafToState, losesBehindState, deafToStop, strangeFails, strangeEmpty, noLastState, goneWrongly, changesAll,
	failsToRead, otherVersion, unfound, shared, tells, tellsInState, tellsInError, anyToken, forbidsToken, deafToEnd,
	longVersion, longName, oddAddress, longState, afterComplete, noCode, noMessage, tellsInMetadata,
	leaks, diesForGood, failsLater, revokesOnce, revokesBySettings, limits, listsBroken, noKinds, noHost, emptyState,
	diesOddly, losesBehindLast bool
}

// small follows an account of notes in memory.
type small struct {
	flaws
	mu      sync.Mutex
	revoked int
	reads   atomic.Int64
	lists   atomic.Int64
	down    atomic.Bool
	memory  atomic.Int64
	renews  bool

	secret   string        // in place of token
	edges    bool          // all is as long as it may be
	pages    int           // items between two states; 0: inPage
	movesOn  bool          // an item changes after the first listing
	metadata int           // bytes of each item's metadata as JSON; 0: none
	dies     bool          // a crash ends the listing that it meets
	downFor  time.Duration // after a crash; 0: for a call
	takes    time.Duration // of a listing
	downTill time.Time
	given    []string       // tokens that are not its own
	fetched  map[string]int // times, by key
	begun    []string       // the states that listings began from
}

// noted changes what a connector keeps of its calls.
func (s *small) noted(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *small) Connectors() []port.Connector {
	switch {
	case s.noKinds:
		return nil
	case s.twoKinds:
		return []port.Connector{s, s}
	}
	return []port.Connector{s}
}

func (s *small) Close() error {
	if s.failsToClose {
		return io.ErrClosedPipe
	}
	return nil
}

func (s *small) Kind() port.SourceKind {
	return port.SourceKind{
		Name:    cmp.Or(s.name, "small"),
		Title:   strings.TrimPrefix(cmp.Or(s.title, "Small"), "none"),
		Summary: "Notes of a test.",
		Config: json.RawMessage(cmp.Or(s.config, `{"type": "object", "additionalProperties": false,
			"properties": {"of": {"type": "string", "description": "Whose notes."}}}`)),
		Secrets: json.RawMessage(cmp.Or(s.secrets, `{"type": "object", "unevaluatedProperties": false,
			"properties": {"token": {"type": "string", "description": "A token."}}}`)),
		Incremental: true,
		Revokes:     true,
	}
}

// opens refuses a wrong token.
func (s *small) opens(ctx context.Context, c port.Connection) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.down.Load() && s.downFor > 0:
		if time.Now().Before(s.downTill) {
			return port.SourceErrorf(port.SourceUnavailable, nil, "it is away")
		}
		s.down.Store(false)
		return nil
	case s.down.Load():
		if s.diesForGood {
			return port.SourceErrorf(port.SourceConfig, nil, "it is gone")
		}
		s.down.Store(false)
		return port.SourceErrorf(port.SourceUnavailable, nil, "it is away")
	case c.Secrets["token"] == cmp.Or(s.secret, token):
		return nil
	}
	s.noted(func() { s.given = append(s.given, c.Secrets["token"]) })
	switch {
	case s.anyToken:
		return nil
	case s.forbidsToken:
		return port.SourceErrorf(port.SourceForbidden, nil, "this is not yours")
	case s.tellsInError:
		return port.SourceErrorf(port.SourceCredentials, nil, "%s is no token", c.Secrets["token"])
	}
	return port.SourceErrorf(port.SourceCredentials, nil, "the token is wrong")
}

func (s *small) Check(ctx context.Context, c port.Connection) ([]port.SourceFieldProblem, error) {
	if s.fieldProblem {
		return []port.SourceFieldProblem{{Field: "config.of", Message: "is nobody"}}, nil
	}
	if s.noCode {
		return nil, io.ErrUnexpectedEOF
	}
	if s.noMessage {
		return nil, port.SourceErrorf(port.SourceUnavailable, nil, "")
	}
	if s.renews {
		return nil, c.Renew(ctx, map[string]string{"token": token})
	}
	return nil, s.opens(ctx, c)
}

func (s *small) item(n int) port.SourceItem {
	i := port.SourceItem{Key: fmt.Sprintf("note %02d", n), Version: "v" + strconv.Itoa(n), Name: "Note " + strconv.Itoa(n),
		Size: -1,
		URL:  "https://notes.example/" + strconv.Itoa(n)}
	switch {
	case s.unstable:
		i.Version += "." + strconv.FormatInt(s.reads.Add(1), 10)
	case s.longVersion:
		i.Version = strings.Repeat("v", 257)
	case s.longName:
		i.Name = strings.Repeat("n", 1025)
	case s.oddAddress:
		i.URL = "javascript:alert(1)"
	case s.noHost:
		i.URL = "https:///notes"
	case s.edges:
		i.Key = "note " + strings.Repeat("0", 2048-len("note 00")) + i.Key[len("note "):]
		i.Version = strings.Repeat("v", 256)
		i.Name = strings.Repeat("n", 1024)
		i.URL = "http://notes.example/" + strconv.Itoa(n)
	case s.movesOn && n == 5 && s.lists.Load() > 1:
		i.Version = "v5 and more"
	case s.tells:
		i.URL = "https://notes.example/?token=" + token
	case s.tellsInMetadata:
		i.Content = &port.SourceContent{Metadata: map[string]any{"by": token}}
	}
	return i
}

func (s *small) List(ctx context.Context, c port.Connection, from []byte, l port.SourceListing) error {
	if s.deafToEnd {
		ctx = context.WithoutCancel(ctx)
	}
	if err := s.opens(ctx, c); err != nil {
		return err
	}
	nth := s.lists.Add(1)
	time.Sleep(s.takes)
	s.noted(func() { s.begun = append(s.begun, string(from)) })
	if s.leaks {
		s.memory.Add(4 << 20)
	}
	switch {
	case s.limits && nth > 20:
		return port.SourceErrorf(port.SourceRateLimited, nil, "too often")
	case s.failsLater && nth > 20:
		return port.SourceErrorf(port.SourceConfig, nil, "no longer")
	}
	at, whole := 0, true
	switch n, err := strconv.Atoi(string(from)); {
	case err == nil && n == notes && !s.changesAll: // nothing has changed since
		at, whole = notes, false
	case err == nil && !s.deafToState && n < notes:
		if at = n; s.losesBehindState || s.losesBehindLast && n > 2*inPage-1 {
			at++
		}
	case from == nil || err == nil:
	case s.strangeFails:
		return port.SourceErrorf(port.SourceUnavailable, nil, "what is that?")
	case s.strangeEmpty:
		at = notes
	}
	if s.goneWrongly && !whole {
		if err := l.Gone(ctx, "note 03"); err != nil {
			return err
		}
	}
	if s.empty {
		return l.Complete(ctx, true)
	}
	if s.unreadable {
		if err := l.Problem(ctx, port.SourceProblem{Path: "x", Code: port.SourceForbidden, Message: "not yours"}); err != nil {
			return err
		}
	}
	for n := at; n < notes; n++ {
		if err := l.Item(ctx, s.item(n)); err != nil && !s.deafToStop {
			return err
		}
		if s.down.Load() && (s.dies || s.diesOddly) {
			if s.diesOddly {
				return port.SourceErrorf(port.SourceConfig, nil, "what is wrong?")
			}
			return port.SourceErrorf(port.SourceUnavailable, nil, "it is away")
		}
		if s.twice && n == 3 {
			if err := l.Item(ctx, s.item(n)); err != nil {
				return err
			}
		}
		if pages := cmp.Or(s.pages, inPage); n%pages == pages-1 && !s.noStates {
			if err := l.Checkpoint(ctx, s.state(n+1)); err != nil {
				return err
			}
		}
	}
	if s.incomplete {
		return nil
	}
	if !s.noLastState && !s.noStates {
		if err := l.Checkpoint(ctx, s.state(notes)); err != nil {
			return err
		}
	}
	if err := l.Complete(ctx, whole && !s.noSnapshot); err != nil {
		return err
	}
	if s.afterComplete {
		return l.Item(ctx, port.SourceItem{Key: "more", Name: "more"})
	}
	return nil
}

func (s *small) state(n int) []byte {
	switch {
	case s.longState:
		return make([]byte, 64<<10+1)
	case s.tellsInState:
		return []byte(cmp.Or(s.secret, token))
	case s.emptyState:
		return nil
	case s.edges:
		return fmt.Appendf(nil, "%065536d", n)
	}
	return []byte(strconv.Itoa(n))
}

func (s *small) Fetch(ctx context.Context, c port.Connection, i port.SourceItem) (port.SourceContent, error) {
	if err := s.opens(ctx, c); err != nil {
		return port.SourceContent{}, err
	}
	s.noted(func() {
		if s.fetched == nil {
			s.fetched = map[string]int{}
		}
		s.fetched[i.Key]++
	})
	n, err := strconv.Atoi(strings.TrimPrefix(i.Key, "note "))
	switch {
	case err != nil && s.unfound:
		return port.SourceContent{File: port.File{Content: []byte("not found")}}, nil
	case err != nil:
		return port.SourceContent{}, port.SourceErrorf(port.SourceNotFound, nil, "there is no such note")
	case s.failsToRead && n == 7:
		return port.SourceContent{}, port.SourceErrorf(port.SourceUnavailable, nil, "not now")
	case n == 9:
		return port.SourceContent{}, port.SourceErrorf(port.SourceTooLarge, nil, "too large")
	case n == 11:
		return port.SourceContent{}, &port.FileError{Code: port.FileEncrypted, Message: "is encrypted"}
	}
	text := "The text of " + i.Key
	if s.shared { // of all that read at once
		text = "The text " + strconv.FormatInt(s.reads.Add(1), 10)
	}
	out := port.SourceContent{File: port.File{Name: i.Name, MediaType: "text/plain"}, Version: i.Version,
		Body: io.NopCloser(strings.NewReader(text))}
	if s.otherVersion {
		out.Version = "another"
	}
	if s.metadata > 0 {
		out.Metadata = map[string]any{"by": strings.Repeat("x", s.metadata-len(`{"by":""}`))}
	}
	return out, nil
}

func (s *small) Revoke(_ context.Context, c port.Connection) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked++
	if s.revokesOnce && s.revoked > 1 || s.revokesBySettings && string(c.Config) == "{}" {
		return port.SourceErrorf(port.SourceConfig, nil, "there is nothing to give back")
	}
	return nil
}

// held is what the program holds.
func (s *small) held() int64 { return 100<<20 + s.memory.Load() }

func (s *small) crash(context.Context) error {
	if s.listsBroken {
		return io.ErrClosedPipe
	}
	s.downTill = time.Now().Add(s.downFor)
	s.down.Store(true)
	return nil
}

var _ port.Connectors = (*small)(nil)
