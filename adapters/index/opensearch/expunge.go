package opensearch

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

const (
	// leaseEvery is how often OpenSearch says up to which operation a copy of a shard may need
	// what was deleted. No setting changes it.
	leaseEvery = 30 * time.Second
	// askEvery is the interval between looks at that.
	askEvery = time.Second
)

// expunging is the work in the background that brings what was deleted off the nodes' disks.
type expunging struct {
	sync.Mutex
	begun  bool // since Open
	wanted bool
	ended  chan struct{} // of the work in progress; nil: there is none
	life   context.Context
	stop   context.CancelFunc
}

// expunge has what was deleted until now leave the nodes' disks, where the operator wants that. It
// does not wait for it: a copy of a shard keeps deleted documents for others that have to catch up
// until it hears that they have, which takes up to leaseEvery, or as long as one of them is away.
func (x *Index) expunge() {
	if !x.cfg.Expunge {
		return
	}
	e := &x.expunging
	e.Lock()
	defer e.Unlock()
	e.wanted, e.begun = true, true
	if e.ended != nil || e.life.Err() != nil {
		return
	}
	ended := make(chan struct{})
	e.ended = ended
	go func() {
		defer close(ended)
		for x.expungeWanted() {
			x.expungeNow(e.life)
		}
	}()
}

// expungeWanted reports whether there is work, and takes it.
func (x *Index) expungeWanted() bool {
	e := &x.expunging
	e.Lock()
	defer e.Unlock()
	was := e.wanted && e.life.Err() == nil
	e.wanted = false
	if !was {
		e.ended = nil
	}
	return was
}

// end ends the work in the background. What it has not done is done after the next start.
func (e *expunging) end() {
	e.stop()
	e.Lock()
	ended := e.ended
	e.Unlock()
	if ended != nil {
		<-ended
	}
}

// expungeNow rewrites the segments that hold what is deleted now, once no copy of a shard needs
// it. The files of before go with the last commit and the last search that use them.
func (x *Index) expungeNow(ctx context.Context) {
	for told := false; ; {
		since := time.Now()
		err := x.release(ctx)
		for _, step := range []string{"_flush", "_forcemerge?only_expunge_deletes=true", "_refresh", "_flush"} {
			if err == nil {
				err = x.call(ctx, request{op: "expunge", method: http.MethodPost, limit: x.cfg.WriteTimeout,
					path: "/" + x.alias + "/" + step}, nil)
			}
		}
		if err == nil || ctx.Err() != nil || errors.Is(err, errGone) {
			return
		}
		if !told {
			x.log.WarnContext(ctx, "search index cleanup failed", "error", err)
			told = true
		}
		if !sleep(ctx, max(askEvery, leaseEvery-time.Since(since))) {
			return
		}
	}
}

// progress is how far a copy of a shard is.
type progress struct {
	SeqNo struct {
		Max int64 `json:"max_seq_no"`
	} `json:"seq_no"`
	Leases struct {
		Leases []struct {
			From int64 `json:"retaining_seq_no"`
		} `json:"leases"`
	} `json:"retention_leases"`
}

// copies are those of all shards, by the shard's name.
func (x *Index) copies(ctx context.Context) (map[string][]progress, error) {
	var r struct {
		Indices map[string]struct {
			Shards map[string][]progress `json:"shards"`
		} `json:"indices"`
	}
	err := x.call(ctx, request{op: "read the shards' progress", method: http.MethodGet,
		path: "/" + x.alias + "/_stats/docs?level=shards"}, &r)
	if err != nil {
		return nil, err
	}
	for _, index := range r.Indices {
		return index.Shards, nil
	}
	return nil, unavailable("expunge", &unreachableError{errors.New("no shard says how far it is; see GET _cluster/health")})
}

// release waits until no copy of a shard keeps what was deleted until now.
func (x *Index) release(ctx context.Context) error {
	began, err := x.copies(ctx)
	if err != nil {
		return err
	}
	upto := map[string]int64{}
	for shard, all := range began {
		for _, c := range all {
			upto[shard] = max(upto[shard], c.SeqNo.Max)
		}
	}
	for since := time.Now(); ; {
		if !sleep(ctx, askEvery) {
			return context.Cause(ctx)
		}
		now, err := x.copies(ctx)
		if err != nil {
			return err
		}
		free := len(now) == len(upto)
		for shard, all := range now {
			for _, c := range all {
				for _, lease := range c.Leases.Leases {
					free = free && (lease.From > upto[shard] || upto[shard] < 0)
				}
			}
		}
		switch {
		case free:
			return nil
		case time.Since(since) > 3*leaseEvery:
			return errors.New("a copy of a shard is away or behind, and what was deleted stays on the disks of the others " +
				"for it; see GET _cluster/health")
		}
	}
}
