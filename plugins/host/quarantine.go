package host

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// A text that makes a backend end would make it end again with each retry, and take
// the calls of everybody else along. So what a backend was working on when it ended is
// remembered, as hashes: such a text goes alone the next time, and is refused once the
// backend has ended with it again.

const (
	maxSuspects  = 8192      // remembered at once; the oldest make room
	suspectFor   = time.Hour // since the last end that a text was part of
	endsOfText   = 2         // a text that was part of so many ends is refused
	endsOfRanked = 3         // one beside a query, which may be to blame: with two queries at least
)

// fingerprint stands for a text in an operation.
type fingerprint [16]byte

// part is a text of a call, or the query beside its texts.
type part struct {
	of     fingerprint
	ranked bool // it went beside a query
}

func partOf(op string, kind port.TextKind, ranked bool, text string) part {
	h := sha256.New()
	var n [8]byte
	for _, s := range []string{op, text} {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s))<<1|uint64(kind))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	if ranked {
		h.Write([]byte{1})
	}
	return part{fingerprint(h.Sum(nil)[:16]), ranked}
}

type suspicion struct {
	ends int
	last time.Time
}

// quarantine remembers the texts that a backend ended with.
type quarantine struct {
	log *slog.Logger
	now func() time.Time

	mu       sync.Mutex
	suspects map[fingerprint]suspicion
}

// ends is how often the backend ended with a text.
func (q *quarantine) ends(p part) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, ok := q.suspects[p.of]
	if ok && q.now().Sub(s.last) > suspectFor {
		delete(q.suspects, p.of)
		return 0
	}
	return s.ends
}

func (q *quarantine) suspected(parts ...part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return q.ends(p) > 0 })
}

func (q *quarantine) refused(p part) bool {
	if p.ranked {
		return q.ends(p) >= endsOfRanked
	}
	return q.ends(p) >= endsOfText
}

// errRefused is the fault of a text that is not sent any more.
func errRefused(field string) error {
	return fault.Field(fault.Upstream, field, "the model ended each time that it was given this; it is not tried again for now")
}

// check refuses a call of a query, where there is one, and of texts.
func (q *quarantine) check(head, texts []part) error {
	for _, p := range head {
		if q.refused(p) {
			return errRefused("query")
		}
	}
	for i, p := range texts {
		if q.refused(p) {
			return &port.TextError{Text: i, Err: errRefused(fmt.Sprintf("texts[%d]", i))}
		}
	}
	return nil
}

// blame adds an end of the backend to what it worked on.
func (q *quarantine) blame(flights []*flight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, once := q.now(), map[fingerprint]bool{}
	for _, f := range flights {
		if f.late {
			continue
		}
		for _, p := range f.parts {
			if once[p.of] { // it was in several calls
				continue
			}
			once[p.of] = true
			q.suspects[p.of] = suspicion{q.suspects[p.of].ends + 1, now}
		}
	}
	if len(once) > 0 {
		q.log.Warn("model backend texts suspected", "texts", len(once), "calls", len(flights))
	}
	for len(q.suspects) > maxSuspects {
		oldest, found := fingerprint{}, time.Time{}
		for of, s := range q.suspects {
			if found.IsZero() || s.last.Before(found) {
				oldest, found = of, s.last
			}
		}
		delete(q.suspects, oldest)
	}
}

// clear takes back the suspicion of texts that were answered.
func (q *quarantine) clear(parts []part) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.suspects) == 0 {
		return
	}
	for _, p := range parts {
		delete(q.suspects, p.of)
	}
}

// flight is a call over the wire.
type flight struct {
	parts []part
	open  bool // it came back without an answer, which may be because the backend has ended
	late  bool // it left after another had found the backend gone, so it ended nothing
}

// flights are the calls that a run of the backend may be working on.
type flights struct {
	mu   sync.Mutex
	all  map[*flight]struct{}
	lost bool // a call found the backend gone, and nothing has shown that it lives
}

func (f *flights) add(parts []part) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[*flight]struct{}{}
	}
	one := &flight{parts: parts, late: f.lost}
	f.all[one] = struct{}{}
	return one
}

// landed takes a call out that was answered.
func (f *flights) landed(one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, one)
}

// unanswered leaves a call in until the backend is known to live. Lost says that the
// call found the backend gone: the calls after it are not to blame for its end.
func (f *flights) unanswered(one *flight, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.open = true
	f.lost = f.lost || lost
}

// alive takes calls out that the backend has outlived.
func (f *flights) alive(open []*flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range open {
		delete(f.all, one)
	}
	f.lost = false
}

// list is every call; with open those alone that came back without an answer.
func (f *flights) list(open bool) []*flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*flight
	for one := range f.all {
		if one.open || !open {
			out = append(out, one)
		}
	}
	return out
}
