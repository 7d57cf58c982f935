package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Leases of these tests: one that outlives them, and one that is over at once.
const (
	longLease  = time.Hour
	shortLease = time.Microsecond
)

func (f *fixture) join(id string, lease time.Duration) (r port.Replica) {
	f.Helper()
	f.update(func(w port.DocumentWriter) (err error) { r, err = w.JoinReplica(f.ctx, id, lease); return err })
	return r
}

func (f *fixture) claim(r port.Replica, name string) (c port.Claim, ok bool) {
	f.Helper()
	f.update(func(w port.DocumentWriter) (err error) { c, ok, err = w.TakeClaim(f.ctx, r, name); return err })
	return c, ok
}

// expect wants an update to answer a fault; "" wants none.
func (f *fixture) expect(what string, code fault.Code, fn func(w port.DocumentWriter) error) {
	f.Helper()
	err := f.s.UpdateDocuments(f.ctx, fn)
	if code == "" && err != nil {
		f.Errorf("%s: %v", what, err)
	} else if code != "" {
		f.want(what, err, code)
	}
}

func replicas(t *testing.T, f *fixture) {
	live := func() (out []port.Replica) {
		f.view(func(r port.Reader) (err error) { out, err = r.Replicas(f.ctx); return err })
		return out
	}
	if got := live(); len(got) != 0 {
		t.Fatalf("a fresh store has replicas %v", got)
	}
	b, a := f.join("b", longLease), f.join("a", longLease)
	f.same("by id", live(), []port.Replica{a, b})
	next := f.join("a", longLease)
	if next.Epoch <= a.Epoch {
		t.Errorf("the next life has epoch %d after %d", next.Epoch, a.Epoch)
	}
	f.same("one life each", live(), []port.Replica{next, b})
	f.expect("renew a life before", fault.Conflict,
		func(w port.DocumentWriter) error { return w.RenewReplica(f.ctx, a, longLease) })
	f.expect("renew", "", func(w port.DocumentWriter) error { return w.RenewReplica(f.ctx, next, longLease) })
	f.expect("leave a life before", "", func(w port.DocumentWriter) error { return w.LeaveReplica(f.ctx, a) })
	f.same("it did not end the next one", live(), []port.Replica{next, b})
	f.expect("leave", "", func(w port.DocumentWriter) error { return w.LeaveReplica(f.ctx, next) })
	f.same("after leaving", live(), []port.Replica{b})
	f.expect("renew after leaving", fault.Conflict,
		func(w port.DocumentWriter) error { return w.RenewReplica(f.ctx, next, longLease) })
	if again := f.join("a", shortLease); again.Epoch <= next.Epoch {
		t.Errorf("after leaving, epoch %d follows %d", again.Epoch, next.Epoch)
	}
	time.Sleep(2 * time.Millisecond)
	f.same("a lapsed lease", live(), []port.Replica{b})
	var now time.Time
	f.view(func(r port.Reader) (err error) { now, err = r.Now(f.ctx); return err })
	if d := time.Since(now); d < -time.Minute || d > time.Minute {
		t.Errorf("the store's clock is %v off", d)
	}
}

func claims(t *testing.T, f *fixture) {
	a, b := f.join("a", longLease), f.join("b", longLease)
	c, ok := f.claim(a, "work")
	if !ok || c.Name != "work" || c.Replica != a {
		t.Fatalf("a free claim: %+v, %v", c, ok)
	}
	if again, ok := f.claim(a, "work"); !ok || again != c {
		t.Errorf("its own claim again: %+v, %v; want %+v", again, ok, c)
	}
	if _, ok := f.claim(b, "work"); ok {
		t.Error("two replicas have one claim")
	}
	if _, ok := f.claim(b, "other"); !ok {
		t.Error("claims of two names are one")
	}
	confirm := func(c port.Claim) func(w port.DocumentWriter) error {
		return func(w port.DocumentWriter) error { return w.ConfirmClaim(f.ctx, c) }
	}
	f.expect("confirm", "", confirm(c))
	next := f.join("a", longLease) // a restart
	f.expect("confirm after a restart", fault.Conflict, confirm(c))
	f.expect("claim in a life before", fault.Conflict,
		func(w port.DocumentWriter) error { _, _, err := w.TakeClaim(f.ctx, a, "third"); return err })
	mine, ok := f.claim(b, "work")
	if !ok || mine.Fence == c.Fence && mine.Replica == c.Replica {
		t.Errorf("a restarted replica's claim: %+v, %v", mine, ok)
	}
	f.expect("give up what is another's", "", func(w port.DocumentWriter) error { return w.EndClaim(f.ctx, c) })
	f.expect("confirm", "", confirm(mine))
	f.expect("give up", "", func(w port.DocumentWriter) error { return w.EndClaim(f.ctx, mine) })
	f.expect("confirm what was given up", fault.Conflict, confirm(mine))
	// A dead replica's lease lapses, and its work moves on, with the jobs.
	dead := f.join("dead", longLease)
	if c, ok = f.claim(dead, "work"); !ok {
		t.Fatal("a claim that was given up is taken")
	}
	j := port.Job{
		ID:        "job_1",
		Org:       f.org,
		Kind:      "write",
		Partition: port.Documents(f.org, "docs"),
		Status:    port.JobQueued,
		CreatedAt: at(1),
		UpdatedAt: at(1),
	}
	f.update(func(w port.DocumentWriter) error {
		if err := w.CreateJob(f.ctx, j, port.JobRequest{}); err != nil {
			return err
		}
		_, _, err := w.TakeClaim(f.ctx, dead, port.JobClaim(j.Org, j.ID))
		return err
	})
	if n := len(f.unclaimed(j.Kind)); n != 0 {
		t.Errorf("%d jobs are free while a live replica has them", n)
	}
	f.expect("renew", "", func(w port.DocumentWriter) error { return w.RenewReplica(f.ctx, dead, shortLease) })
	time.Sleep(2 * time.Millisecond)
	if n := len(f.unclaimed(j.Kind)); n != 1 {
		t.Errorf("%d jobs are free after the lease has lapsed, want 1", n)
	}
	f.expect("the sleeper still has what nobody took", "", confirm(c))
	if _, ok := f.claim(next, "work"); !ok {
		t.Error("a lapsed claim does not move on")
	}
	f.expect("and not what somebody did", fault.Conflict, confirm(c))
}

// claimRace lets many replicas reach for one claim at once.
func claimRace(t *testing.T, f *fixture) {
	var all sync.WaitGroup
	var won atomic.Int32
	for i := range 8 {
		r := f.join(string(rune('a'+i)), longLease)
		all.Go(func() {
			var ok bool
			if err := f.s.UpdateDocuments(f.ctx,
				func(w port.DocumentWriter) (err error) { _, ok, err = w.TakeClaim(f.ctx, r, "work"); return err }); err != nil {
				t.Error(err)
			} else if ok {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if n := won.Load(); n != 1 {
		t.Errorf("%d replicas have the claim", n)
	}
}

func watermarks(t *testing.T, f *fixture) {
	p := f.create("docs")
	for _, id := range []string{"a", "b", "c", "d"} {
		f.put(p, at(1), plain(id))
	}
	f.delete(p, at(2), "a") // 5
	f.delete(p, at(2), "b") // 6
	f.delete(p, at(2), "c") // 7
	g := f.namespace(p).Generation
	put := func(consumer string, keep time.Duration, seq uint64) {
		t.Helper()
		f.update(func(w port.DocumentWriter) error {
			return w.PutWatermarks(f.ctx, consumer, keep,
				[]port.Watermark{{Generation: g, Seq: seq}, {Generation: g + 1000, Seq: 3}})
		})
	}
	trim := func(upto, want uint64, deletions int) {
		t.Helper()
		f.update(func(w port.DocumentWriter) error { return w.TrimChanges(f.ctx, p, upto) })
		if n := f.namespace(p); n.Trimmed != want {
			t.Errorf("after TrimChanges(%d): trimmed up to %d, want %d", upto, n.Trimmed, want)
		}
		got := 0
		for _, c := range f.changes(p, 0, 10) {
			if c.Deleted {
				got++
			}
		}
		if got != deletions {
			t.Errorf("after TrimChanges(%d): %d deletions are left, want %d", upto, got, deletions)
		}
	}
	trim(4, 0, 3)
	put("one", longLease, 7)
	put("two", longLease, 5)
	trim(7, 5, 2) // two holds it
	put("two", longLease, 6)
	trim(7, 6, 1)
	put("three", longLease, 2)
	trim(7, 6, 1) // three came too late for what is gone
	put("three", longLease, 0)
	put("two", shortLease, 6)
	time.Sleep(2 * time.Millisecond)
	var marks map[string]uint64
	f.view(func(r port.Reader) (err error) { marks, err = r.Watermarks(f.ctx, p); return err })
	f.same("live ones", marks, map[string]uint64{"one": 7})
	trim(100, 7, 0)
	put("two", longLease, 0) // alive again, and its marks as they were
	f.update(func(w port.DocumentWriter) error { return w.PutWatermarks(f.ctx, "two", shortLease, nil) })
	time.Sleep(2 * time.Millisecond)
	f.update(func(w port.DocumentWriter) error { return w.DropWatermarks(f.ctx) })
	put("one", longLease, 7)
	f.view(func(r port.Reader) (err error) { marks, err = r.Watermarks(f.ctx, p); return err })
	f.same("after dropping", marks, map[string]uint64{"one": 7})
	f.delete(p, at(3), "d") // the namespace goes, watermarks and all
	err := f.s.View(f.ctx, func(r port.Reader) error { _, err := r.Watermarks(f.ctx, p); return err })
	f.want("of a deleted namespace", err, fault.PartitionNotFound)
}

func erasureAcknowledged(t *testing.T, f *fixture) {
	f.integration(f.org, "int_1")
	p := port.Memories(f.org, "int_1", "eva")
	f.update(func(w port.DocumentWriter) error {
		n, err := w.CreatePartition(f.ctx, p, port.PartitionRow{})
		p = p.At(n.Generation)
		return err
	})
	a, b := f.join("a", longLease), f.join("b", longLease)
	ack := func(r port.Replica) func(w port.DocumentWriter) error {
		return func(w port.DocumentWriter) error { return w.AcknowledgeErasure(f.ctx, p, r) }
	}
	f.expect("before it has begun", fault.Internal, ack(a))
	f.update(func(w port.DocumentWriter) error { _, err := w.BeginErasure(f.ctx, p, at(1)); return err })
	missing := func() (out []port.Replica) {
		f.view(func(r port.Reader) (err error) { out, err = r.Unacknowledged(f.ctx, p); return err })
		return out
	}
	f.same("nobody yet", missing(), []port.Replica{a, b})
	f.expect("acknowledge", "", ack(a))
	f.expect("acknowledge twice", "", ack(a))
	f.same("one is missing", missing(), []port.Replica{b})
	again := f.join("a", longLease)
	f.same("a new life has to say so itself", missing(), []port.Replica{again, b})
	f.expect("acknowledge", "", ack(again))
	f.update(func(w port.DocumentWriter) error { return w.LeaveReplica(f.ctx, b) })
	f.same("who left need not", missing(), []port.Replica(nil))
	other := port.Memories(f.org, "int_1", "ann")
	jobs := []port.Job{
		{ID: "job_ended", Partition: p.At(0), Status: port.JobFailed, FinishedAt: at(2), ExpiresAt: at(9)},
		{ID: "job_claimed", Partition: p, Status: port.JobRunning},
		{ID: "job_other", Partition: other, Status: port.JobRunning},
		{ID: "job_namespace", Partition: port.Documents(f.org, "eva"), Status: port.JobQueued},
	}
	f.update(func(w port.DocumentWriter) error {
		for _, j := range jobs {
			j.Org, j.Kind, j.CreatedAt = f.org, "work", at(1)
			if err := w.CreateJob(f.ctx, j, port.JobRequest{}); err != nil {
				return err
			}
		}
		return nil
	})
	claims := map[string]port.Claim{}
	for _, j := range jobs[1:3] {
		claims[j.ID], _ = f.claim(again, port.JobClaim(f.org, j.ID))
	}
	f.update(func(w port.DocumentWriter) error { return w.EndErasure(f.ctx, p) })
	for _, j := range jobs[:2] {
		_, err := f.job(f.org, j.ID)
		f.want(j.ID+" of an erased end user", err, fault.NotFound)
	}
	for _, j := range jobs[2:] {
		if _, err := f.job(f.org, j.ID); err != nil {
			t.Errorf("%s, which is not of the erased end user: %v", j.ID, err)
		}
	}
	confirm := func(id string) func(port.DocumentWriter) error {
		return func(w port.DocumentWriter) error { return w.ConfirmClaim(f.ctx, claims[id]) }
	}
	f.expect("the claim of a job of an erased end user", fault.Conflict, confirm("job_claimed"))
	f.expect("the claim of another's job", "", confirm("job_other"))
}

func buckets(t *testing.T, f *fixture) {
	read := func(name string) (b port.Bucket, found bool) {
		f.view(func(r port.Reader) (err error) { b, found, _, err = r.Bucket(f.ctx, name); return err })
		return b, found
	}
	if _, found := read("k/read"); found {
		t.Error("a bucket that nobody has charged")
	}
	debt := port.Bucket{Tokens: -12.25, At: at(3)}
	f.update(func(w port.DocumentWriter) error {
		return w.PutBucket(f.ctx, "k/read", debt, time.Now().Add(time.Hour))
	})
	f.update(func(w port.DocumentWriter) error {
		return w.PutBucket(f.ctx, "k/write", port.Bucket{Tokens: 3.5, At: at(4)}, time.Now().Add(-time.Hour))
	})
	f.update(func(w port.DocumentWriter) error { return w.DropBuckets(f.ctx) })
	b, _ := read("k/read")
	f.same("a debt", b, debt)
	if _, found := read("k/write"); found {
		t.Error("a full bucket is kept")
	}
	// Many charge one bucket at once: none is lost.
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
				b, _, _, err := w.Bucket(f.ctx, "k/read")
				if err != nil {
					return err
				}
				b.Tokens--
				return w.PutBucket(f.ctx, "k/read", b, time.Now().Add(time.Hour))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if b, _ := read("k/read"); b.Tokens != debt.Tokens-8 {
		t.Errorf("after eight charges of 1 from %v: %v", debt.Tokens, b.Tokens)
	}
}
