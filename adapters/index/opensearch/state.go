package opensearch

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// state is what a partition's own document says. It lies in the partition's shard and is
// read by its id, which gives what the last write to it left, refreshed or not.
type state struct {
	Applied    uint64   `json:"applied,string"` // the last change that searches reflect
	Serial     int64    `json:"serial"`         // the attempt that brought it
	Next       int64    `json:"next"`           // the last attempt that was begun
	Open       int64    `json:"open"`           // the attempt in progress; 0: none
	By         string   `json:"by"`             // who wrote this
	Floor      int64    `json:"floor"`          // attempts up to it are of an earlier life
	Void       []int64  `json:"void"`           // attempts in (Floor, Serial] that were given up
	Gone       []string `json:"gone"`           // documents, by hash, whose chunks before Serial count no more
	Chunks     int64    `json:"chunks"`
	Length     int64    `json:"length"` // words of all chunks
	Dimensions int      `json:"dimensions"`
	Version    string   `json:"version"` // of what the chunks are made by

	found        bool
	seqNo, term  int64
	voidedUnseen bool // Void or Floor has grown since what it names was deleted
}

// fresh is the state of a partition that begins again: what there may be of it counts no more.
func (s *state) fresh(version string) {
	*s = state{Serial: s.Next, Next: s.Next, Floor: s.Next, Version: version, By: s.By,
		found: s.found, seqNo: s.seqNo, term: s.term, voidedUnseen: s.Next > 0}
}

// documentAnswer is that of a read by id and of a write.
type documentAnswer struct {
	Found  bool  `json:"found"`
	SeqNo  int64 `json:"_seq_no"`
	Term   int64 `json:"_primary_term"`
	Source struct {
		M state `json:"m"`
	} `json:"_source"`
}

// read reads the partition's own document.
func (x *Index) read(ctx context.Context, g string) (state, error) {
	var r documentAnswer
	err := x.call(ctx, request{op: "read the state", method: http.MethodGet, path: "/" + x.alias + "/_doc/" + g + "?routing=" + g,
		empty: true}, &r)
	if err != nil {
		return state{}, err
	}
	s := r.Source.M
	s.found, s.seqNo, s.term = r.Found, r.SeqNo, r.Term
	return s, nil
}

// current is read, of an index that is made again where somebody has deleted it.
func (x *Index) current(ctx context.Context, g string) (state, error) {
	s, err := x.read(ctx, g)
	if errors.Is(err, errGone) {
		if err = x.recheck(ctx); err == nil {
			s, err = x.read(ctx, g)
		}
	}
	return s, err
}

// errMoved says that somebody else has written the partition's document since it was read.
var errMoved = errors.New("the partition's state has changed")

// write replaces the partition's own document if it is what was read; errMoved: it is not.
// With refresh, deletions of before are seen by searches after.
func (x *Index) write(ctx context.Context, g string, s *state, refresh bool) error {
	s.By = x.name()
	path := "/" + x.alias + "/_doc/" + g + "?routing=" + g + "&require_alias=true"
	if s.found {
		path += "&if_seq_no=" + strconv.FormatInt(s.seqNo, 10) + "&if_primary_term=" + strconv.FormatInt(s.term, 10)
	} else {
		path += "&op_type=create"
	}
	if refresh {
		path += "&refresh=true"
	}
	var r documentAnswer
	err := x.call(ctx, request{op: "write the state", method: http.MethodPut, path: path, limit: x.cfg.WriteTimeout,
		body: object{"p": g, "m": s}}, &r)
	if hasKind(err, kindConflict) {
		// It may have been this very write, sent twice since its first answer was lost.
		is, again := x.read(ctx, g)
		if again == nil && is.found && is.By == s.By {
			s.found, s.seqNo, s.term = true, is.seqNo, is.term
			return nil
		}
		return errors.Join(errMoved, again)
	}
	if err == nil {
		s.found, s.seqNo, s.term = true, r.SeqNo, r.Term
	}
	return err
}

// name is that of one write of this process.
func (x *Index) name() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.attempt++
	return x.me + strconv.FormatInt(x.attempt, 10)
}

// mine reports whether this process wrote a state.
func (x *Index) mine(s state) bool { return len(s.By) > len(x.me) && s.By[:len(x.me)] == x.me }

// Applied reads the partition's own document.
func (x *Index) Applied(ctx context.Context, p port.Partition) (uint64, error) {
	g, err := partitionName(p)
	if err != nil {
		return 0, err
	}
	if err := x.ready(ctx); err != nil {
		return 0, err
	}
	s, err := x.current(ctx, g)
	if err != nil || s.Version != x.version {
		return 0, err
	}
	x.note(p.Generation(), s.Applied > 0)
	return s.Applied, nil
}

// Durable is Applied: each write is in the translog of every copy, on disk, before it is
// acknowledged.
func (x *Index) Durable(ctx context.Context, p port.Partition) (uint64, error) {
	return x.Applied(ctx, p)
}

// maxSeen bounds the memory of note.
const maxSeen = 100_000

// note remembers whether the index has something of a partition.
func (x *Index) note(generation int64, has bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !has {
		delete(x.seen, generation)
		delete(x.swept, generation)
		return
	}
	if len(x.seen) >= maxSeen {
		clear(x.seen)
		clear(x.swept)
	}
	x.seen[generation] = true
}

func (x *Index) noted(generation int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen[generation]
}

// visible matches the chunks of a partition that searches see in a state.
func (s *state) visible(g string) (filter, not []object) {
	filter = []object{{"term": object{"p": g}}, {"range": object{"a": object{"gt": s.Floor, "lte": s.Serial}}}}
	if len(s.Void) > 0 {
		not = append(not, object{"terms": object{"a": s.Void}})
	}
	for documents := range slices.Chunk(s.Gone, maxTerms) {
		not = append(not, object{"bool": object{"filter": []object{
			{"terms": object{"h": documents}}, {"range": object{"a": object{"lt": s.Serial}}}}}})
	}
	return filter, not
}

// maxTerms is the most values of one clause, below the index's max_terms_count.
const maxTerms = 50_000

// same reports whether two states show searches the same chunks.
func (s *state) same(o state) bool {
	return s.found == o.found && s.Serial == o.Serial && s.Floor == o.Floor && s.Version == o.Version
}

// takeover is how long the document of a partition whose attempt is in progress has to stay
// as it is until the attempt counts as given up.
const takeover = 5 * time.Second
