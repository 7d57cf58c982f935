package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/replica"
)

// Settings are what a Runner is made of.
type Settings struct {
	Store   port.Store
	Replica *replica.Member
	Workers int // jobs without a lane that run at once; 0: 4
	// Poll is how often the store is asked for unclaimed and for cancelled jobs; 0:
	// 3 s, or an hour where no other process can serve over the store.
	Poll time.Duration
	// Record stores what there is to say of the end of a job, in the transaction that ends
	// it; nil: nothing. A job that was cancelled before it ran is its canceller's to record.
	Record func(ctx context.Context, w port.AuditAppender, j port.Job) error
	Now    func() time.Time
	Log    *slog.Logger
}

// Reader is what a Runner reads of the store.
type Reader interface {
	port.JobReader
	port.ReplicaReader
}

// Writer is a transaction that a job is stored, or finished, in.
type Writer interface {
	Reader
	port.PartitionReader
	port.JobWriter
	port.ReplicaWriter
	port.AuditAppender
}

const (
	sharedPoll = 3 * time.Second
	alonePoll  = time.Hour // only what this process left itself, at its start

	// sweepEvery is how often expired jobs are removed.
	sweepEvery = 5 * time.Minute
	// takenAtOnce is how many unclaimed jobs are read at once, and laneTakes how many
	// of them wait in a lane where other replicas can take some, too.
	takenAtOnce = 16
	laneTakes   = 4
	// unknownKept is Keep of the jobs of a kind that this program does not know.
	unknownKept = 24 * time.Hour
	// storeTimeout bounds a transaction on a job's row, and storeBackoff the wait
	// between two while the store is away.
	storeTimeout = 10 * time.Second
	storeBackoff = 5 * time.Second
)

// Runner runs jobs. Safe for concurrent use.
type Runner struct {
	store   port.Narrowed[Reader, Writer]
	replica *replica.Member
	workers int
	poll    time.Duration
	record  func(ctx context.Context, w port.AuditAppender, j port.Job) error // not nil
	now     func() time.Time
	log     *slog.Logger

	kinds map[string]*Kind
	ctx   context.Context // ends when the process stops
	stop  context.CancelCauseFunc
	wake  chan struct{}
	takes int // most jobs taken over that a lane holds
	all   sync.WaitGroup

	mu    sync.Mutex
	ready bool // lanes run: what an earlier process left them is in their queues
	lanes map[string]*lane
	busy  int             // workers
	freed int             // how often one was given up
	held  map[string]*Job // claimed here, by claim
	// claiming are the claims that are being taken here.
	claiming map[string]*claiming
	// refused are the claims of jobs that the store has refused to change, which are
	// left alone until the next Poll.
	refused map[string]bool
	// attempts are counted by kind and outcome.
	attempts map[Attempt]int64
}

// claiming is what happened to a job since this process began to take its claim.
type claiming struct {
	cancelled bool
	joined    *port.Job // it is to be attempted at once
}

// Attempt is a kind of job and how an attempt at it ended here.
type Attempt struct{ Kind, Outcome string }

// The outcomes of attempts.
const (
	Succeeded   = "succeeded"
	Failed      = "failed"
	Cancelled   = "cancelled"
	Postponed   = "postponed"   // it is tried again
	Interrupted = "interrupted" // by the end of the process
	Lost        = "lost"        // to another replica
)

// Attempts are how many there were since the start, by kind and outcome.
func (r *Runner) Attempts() map[Attempt]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.attempts)
}

func (r *Runner) count(j *Job, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts[Attempt{j.Kind, outcome}]++
}

// lane is a queue of jobs that run one after the other, the organizations of those that
// wait by turns.
type lane struct {
	queue   []*Job // oldest first
	running bool
	own     int               // jobs started here that have not ended, and those being stored
	ownOf   map[ident.Org]int // the same, by organization
	adopted int               // jobs taken over that have not ended, and those being claimed
	turn    int               // jobs taken from the queue
	last    map[ident.Org]int // turn of the last job of each organization, since the queue was empty
}

// take removes the oldest job of the organization that has been waiting for its turn the
// longest; nil: there is none.
func (l *lane) take() *Job {
	if len(l.queue) == 0 {
		clear(l.last)
		return nil
	}
	at := 0
	for i, j := range l.queue {
		if l.last[j.Org] < l.last[l.queue[at].Org] {
			at = i
		}
	}
	j := l.queue[at]
	l.queue = slices.Delete(l.queue, at, at+1)
	l.turn++
	l.last[j.Org] = l.turn
	return j
}

// started counts jobs that were started here, or have ended.
func (l *lane) started(org ident.Org, n int) {
	l.own += n
	if l.ownOf[org] += n; l.ownOf[org] == 0 {
		delete(l.ownOf, org)
	}
}

// New makes a runner. Register its kinds, then call Run.
func New(s Settings) *Runner {
	s.Workers = cmp.Or(s.Workers, 4)
	if s.Poll == 0 {
		s.Poll = sharedPoll
		if s.Replica.Alone() {
			s.Poll = alonePoll
		}
	}
	if s.Record == nil {
		s.Record = func(context.Context, port.AuditAppender, port.Job) error { return nil }
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	r := &Runner{
		store:    port.Narrow(s.Store, func(r port.Reader) Reader { return r }, func(w port.Writer) Writer { return w }),
		replica:  s.Replica,
		workers:  s.Workers,
		poll:     s.Poll,
		record:   s.Record,
		now:      s.Now,
		log:      s.Log,
		kinds:    map[string]*Kind{},
		wake:     make(chan struct{}, 1),
		takes:    laneTakes,
		lanes:    map[string]*lane{},
		held:     map[string]*Job{},
		claiming: map[string]*claiming{},
		refused:  map[string]bool{},
		attempts: map[Attempt]int64{},
	}
	if s.Replica.Alone() {
		r.takes = math.MaxInt
	}
	r.ctx, r.stop = context.WithCancelCause(context.Background())
	return r
}

// Register adds a kind.
func (r *Runner) Register(k Kind) {
	k.Prefix = cmp.Or(k.Prefix, "job")
	k.Tries = max(1, k.Tries)
	k.Backoff, k.MaxBackoff = cmp.Or(k.Backoff, time.Second), cmp.Or(k.MaxBackoff, time.Minute)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kinds[k.Name] = &k
	if k.Lane != "" && r.lanes[k.Lane] == nil {
		r.lanes[k.Lane] = &lane{ownOf: map[ident.Org]int{}, last: map[ident.Org]int{}}
	}
	r.rouse()
}

// kind finds a kind by its name; nil: none.
func (r *Runner) kind(name string) *Kind {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kinds[name]
}

// Order is a job to start.
type Order struct {
	ID        string         // of the job, unique for ever; "": one of the kind's
	Partition port.Partition // of the organization that the job belongs to
	Total     int            // units of progress
	Request   any            // encoded as JSON; nil: none
	// In runs the transaction that the job is stored in, by calling store in it, once
	// in each of its runs; on is the partition of the job, by the same name. nil: a
	// transaction of its own.
	In func(ctx context.Context, store func(w Writer, on port.Partition) error) error
}

// Start stores a job and has it run, here as soon as its lane or a worker is free,
// or by the replica that finds it. ctx's principal, if any, is who asks. Where a job
// of a Single kind on the partition has not ended, that one is answered: joined.
// Fault Unavailable when the kind's queue is full, or the process stops.
func (r *Runner) Start(ctx context.Context, kind string, o Order) (j port.Job, joined bool, err error) {
	k := r.kind(kind)
	if k == nil {
		return port.Job{}, false, fmt.Errorf("job: unknown kind %q", kind)
	}
	if r.ctx.Err() != nil {
		return port.Job{}, false, fault.New(fault.Unavailable, "the server is shutting down").After(5 * time.Second)
	}
	var request port.JobRequest
	if request.Body, err = encodeOptional(o.Request); err == nil && ident.Known(ctx) != nil {
		request.Principal, err = json.Marshal(ident.From(ctx))
	}
	if err != nil {
		return port.Job{}, false, fmt.Errorf("encode job: %w", err)
	}
	room, err := r.reserve(k, o.Partition.Org())
	if err != nil {
		return port.Job{}, false, err
	}
	now := r.now()
	fresh := port.Job{
		ID:        cmp.Or(o.ID, k.Prefix+"_"+uuid.Must(uuid.NewV7()).String()),
		Org:       o.Partition.Org(),
		Kind:      k.Name,
		Status:    port.JobQueued,
		Total:     o.Total,
		CreatedAt: now,
		UpdatedAt: now,
	}
	var claim port.Claim
	var mine, begun, waits bool
	var marked string // the claim that is being taken
	store := func(w Writer, on port.Partition) (err error) {
		j, mine, joined, begun, waits = fresh, false, false, false, false
		j.Partition = on
		if k.Single {
			if joined, err = join(ctx, w, k, &j); err != nil {
				return err
			}
		}
		if !r.mark(port.JobClaim(j.Org, j.ID), &marked) {
			waits = j.Status == port.JobQueued && k.Lane == ""
			return nil // it was joined, and is here
		}
		if room {
			claim, mine, err = w.TakeClaim(ctx, r.replica.Self(), port.JobClaim(j.Org, j.ID))
			if err != nil && fault.CodeOf(err) != fault.Conflict {
				return err
			}
			// Otherwise this replica's lease has lapsed: the replica that finds the job runs it.
		}
		if joined {
			return nil
		}
		if begun = mine && k.Lane == ""; begun { // saves the transaction that would say so
			j.Status, j.Tries, j.StartedAt = port.JobRunning, 1, now
		}
		return w.CreateJob(ctx, j, request)
	}
	if o.In == nil {
		o.In = func(ctx context.Context, store func(Writer, port.Partition) error) error {
			return r.store.Update(ctx, func(w Writer) error { return store(w, o.Partition) })
		}
	}
	err = o.In(ctx, store)
	if mine = mine && err == nil; mine {
		if !begun {
			request = port.JobRequest{} // the attempt reads it: while the job waits it takes no memory
		}
		mine = r.take(&Job{Job: j, kind: k, claim: claim, begun: begun, request: request})
	}
	if !mine {
		r.release(k, o.Partition.Org(), room) // before unmark, which may want the place
	}
	r.unmark(marked)
	if !mine {
		r.rouse() // after it: a claim that is marked is passed over
	}
	if err == nil && waits {
		r.again(j)
	}
	if err != nil {
		return port.Job{}, false, err
	}
	return j, joined, nil
}

// again has a job attempted at once that was joined between two attempts, though this
// process holds it: the one before has been stored, and is about to be over. Where the claim
// is being taken, an attempt follows, or unmark asks for one.
func (r *Runner) again(row port.Job) {
	claim := port.JobClaim(row.Org, row.ID)
	r.mu.Lock()
	j, taking := r.held[claim], r.claiming[claim]
	switch {
	case j != nil:
		j.again = true
	case taking != nil:
		taking.joined = &row
	}
	r.mu.Unlock()
	if j == nil && taking == nil {
		r.retry(row)
	}
}

// retry attempts a job though its time has not come.
func (r *Runner) retry(row port.Job) {
	r.mu.Lock()
	room := !r.here(port.JobClaim(row.Org, row.ID)) && r.roomFor(r.kinds[row.Kind])
	if room {
		r.adopting(row)
	}
	r.mu.Unlock()
	if !room {
		return
	}
	ok, err := r.claim(row, true)
	if err != nil && r.ctx.Err() == nil {
		r.log.WarnContext(r.ctx, "unclaimed jobs not taken over", "error", err)
	}
	if !ok {
		r.rouse() // there is a place again
	}
}

// mark notes that the transaction of Start takes a claim, in place of the one that it noted
// in an earlier run. It is false where the job is claimed, or being claimed, here already: of
// two attempts with the same claim the first to end would give it up under the other.
func (r *Runner) mark(claim string, earlier *string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if *earlier == claim {
		return true
	}
	delete(r.claiming, *earlier)
	*earlier = ""
	if r.here(claim) {
		return false
	}
	r.claiming[claim], *earlier = &claiming{}, claim
	return true
}

// unmark says that a claim has been taken, or could not be. A job that was joined since mark
// and is not held is attempted now.
func (r *Runner) unmark(claim string) {
	r.mu.Lock()
	taking := r.claiming[claim]
	delete(r.claiming, claim)
	again := taking != nil && taking.joined != nil && r.held[claim] == nil
	r.mu.Unlock()
	if again {
		r.retry(*taking.joined)
	}
}

// here reports whether a job is claimed, or being claimed, by this process. The caller
// holds mu.
func (r *Runner) here(claim string) bool {
	return r.claiming[claim] != nil || r.held[claim] != nil
}

// join finds the unfinished job of a kind on the partition of j, which becomes that.
func join(ctx context.Context, w Writer, k *Kind, j *port.Job) (joined bool, err error) {
	last, known, err := latest(ctx, w, k.Name, j.Partition)
	if joined = known && !last.Status.Ended(); joined {
		*j = last
	}
	return joined, err
}

// latest finds the newest job of a kind on a partition.
func latest(ctx context.Context, r port.JobReader, kind string, p port.Partition) (j port.Job, known bool, err error) {
	found, err := r.Jobs(ctx, port.JobList{Kind: kind, Partition: p.At(0), Limit: 1})
	if err != nil || len(found) == 0 {
		return port.Job{}, false, err
	}
	return found[0], true, nil
}

// Latest finds the newest job of a kind on a partition that can still be read.
func (r *Runner) Latest(ctx context.Context, kind string, p port.Partition) (j port.Job, known bool, err error) {
	err = r.store.View(ctx, func(rd Reader) error {
		j, known, err = latest(ctx, rd, kind, p)
		return err
	})
	if known && j.Status.Ended() && j.ExpiresAt.Before(r.now()) {
		return port.Job{}, false, err
	}
	return j, known, err
}

// Cancel ends a job early: a queued one at once, a running one as soon as the
// replica that runs it has seen it. It answers the job as it is then. Fault
// NotFound when there is none, Conflict when it has ended otherwise or cannot be
// cancelled.
func (r *Runner) Cancel(ctx context.Context, org ident.Org, id string) (port.Job, error) {
	var row port.Job
	err := r.store.Update(ctx, func(w Writer) (err error) {
		if row, err = w.Job(ctx, org, id); err != nil {
			return err
		}
		k := r.kind(row.Kind)
		switch {
		case row.Status.Ended() && row.Status != port.JobCancelled:
			return fault.New(fault.Conflict, "the job has ended as %s", row.Status)
		case row.Cancel:
			return nil
		case k != nil && k.Final:
			return fault.New(fault.Conflict, "a job of kind %s cannot be cancelled", k.Name)
		}
		row.UpdatedAt = r.now()
		if row.Cancel = true; row.Status == port.JobQueued {
			r.end(&row, k, port.JobCancelled, nil, cancelled())
		}
		return w.ChangeJob(ctx, row)
	})
	if err != nil {
		return port.Job{}, err
	}
	r.interrupt(row)
	return row, nil
}

// interrupt ends the attempt of a job that is held here, if it is.
func (r *Runner) interrupt(row port.Job) {
	claim := port.JobClaim(row.Org, row.ID)
	r.mu.Lock()
	defer r.mu.Unlock()
	if j := r.held[claim]; j != nil {
		j.stop(ErrCancelled)
	} else if taking := r.claiming[claim]; taking != nil {
		taking.cancelled = true
	}
}

func cancelled() *port.JobError {
	return &port.JobError{Code: string(fault.Canceled), Message: "the job was cancelled"}
}

// end changes a row to how its job ended.
func (r *Runner) end(row *port.Job, k *Kind, status port.JobStatus, result []byte, failure *port.JobError) {
	kept := unknownKept
	if k != nil {
		kept = k.Keep
	}
	row.Status, row.Result, row.Error = status, result, failure
	row.NextAttempt, row.State = time.Time{}, nil
	row.FinishedAt = r.now()
	row.ExpiresAt = row.FinishedAt.Add(kept)
}

// Run runs jobs until ctx is done, and returns when none runs any more. What it
// interrupts is resumed by the next start, or by another replica.
func (r *Runner) Run(ctx context.Context) {
	poll, sweep := time.NewTicker(r.poll), time.NewTicker(sweepEvery)
	defer poll.Stop()
	defer sweep.Stop()
	due := time.NewTimer(r.adopt())
	defer due.Stop()
	r.mu.Lock()
	r.ready = true
	for _, l := range r.lanes {
		r.next(l)
	}
	r.mu.Unlock()
	r.sweep()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-r.wake:
			due.Reset(r.adopt())
		case <-due.C:
			due.Reset(r.adopt())
		case <-poll.C:
			r.mu.Lock()
			clear(r.refused)
			r.mu.Unlock()
			r.seeCancelled()
			due.Reset(r.adopt())
		case <-sweep.C:
			r.sweep()
		}
	}
	r.mu.Lock() // none begins from here on
	r.stop(errStopping)
	r.mu.Unlock()
	r.all.Wait()
}

// rouse has Run look for unclaimed jobs.
func (r *Runner) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Runner) sweep() {
	err := r.store.Update(r.ctx, func(w Writer) error { return w.DeleteExpiredJobs(r.ctx, r.now()) })
	if err != nil && r.ctx.Err() == nil {
		r.log.WarnContext(r.ctx, "expired jobs not removed", "error", err)
	}
}

// seeCancelled ends the attempts whose jobs were cancelled at another replica.
func (r *Runner) seeCancelled() {
	if r.replica.Alone() {
		return
	}
	var rows []port.Job
	err := r.store.View(r.ctx, func(rd Reader) (err error) {
		rows, err = rd.CancelledJobs(r.ctx)
		return err
	})
	if err != nil && r.ctx.Err() == nil {
		r.log.WarnContext(r.ctx, "cancelled jobs not read", "error", err)
	}
	for _, row := range rows {
		r.interrupt(row)
	}
}

// adopt takes unclaimed jobs over as long as there is room for them, and answers
// how long it is until the next one is due.
func (r *Runner) adopt() time.Duration {
	const never = 24 * time.Hour
	for r.ctx.Err() == nil {
		kinds, held, freed := r.roomy()
		if len(kinds) == 0 {
			return never // whatever ends here rouses Run
		}
		var rows []port.Job
		var now time.Time
		err := r.store.View(r.ctx, func(rd Reader) (err error) {
			if now, err = rd.Now(r.ctx); err == nil {
				rows, err = rd.UnclaimedJobs(r.ctx, r.replica.Self(), held, kinds, takenAtOnce)
			}
			return err
		})
		taken := false
		for err == nil && r.ctx.Err() == nil {
			at, wait := r.turn(rows, now, freed)
			if wait > 0 && !taken {
				return wait
			}
			if at < 0 || wait > 0 {
				break
			}
			var ok bool
			ok, err = r.claim(rows[at], false)
			taken = taken || ok
			rows = slices.Delete(rows, at, at+1)
		}
		if err != nil && r.ctx.Err() == nil {
			r.log.WarnContext(r.ctx, "unclaimed jobs not taken over", "error", err)
			return min(r.poll, storeBackoff)
		}
		if !taken {
			return never
		}
	}
	return never
}

// turn takes a place for the job whose turn it is: of those that there is room for and that are
// due first, the oldest of the organization that has the fewest workers. at is where it stands
// in rows, -1: nowhere; no place is taken where there is a wait until it is due. Choosing and
// taking are one step: a job that ended between them would make it another's turn. So would one
// that has ended since rows were about to be read, when freed was as it is given: its worker is
// for the rows that are read next.
func (r *Runner) turn(rows []port.Job, now time.Time, freed int) (at int, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	working := map[ident.Org]int{}
	for _, j := range r.held {
		if j.kind.Lane == "" {
			working[j.org]++
		}
	}
	at = -1
	for i, row := range rows {
		claim := port.JobClaim(row.Org, row.ID)
		k := r.kinds[row.Kind]
		if r.refused[claim] || r.here(claim) || !r.roomFor(k) || k.Lane == "" && r.freed != freed {
			continue
		}
		if at < 0 || cmp.Or(row.NextAttempt.Compare(rows[at].NextAttempt), working[row.Org]-working[rows[at].Org],
			row.CreatedAt.Compare(rows[at].CreatedAt), cmp.Compare(row.ID, rows[at].ID)) < 0 {
			at = i
		}
	}
	if at < 0 {
		return at, 0
	}
	if wait = rows[at].NextAttempt.Sub(now); wait <= 0 {
		r.adopting(rows[at])
	}
	return at, wait
}

// free gives a worker up, and rouse has to follow. The caller holds mu.
func (r *Runner) free() {
	r.busy--
	r.freed++
}

// roomFor reports whether a job of a kind can be taken over. The caller holds mu.
func (r *Runner) roomFor(k *Kind) bool {
	if l := r.lanes[k.Lane]; l != nil {
		return l.adopted < r.takes
	}
	return r.busy < r.workers
}

// adopting takes a place for a job that claim is to take over. The caller holds mu.
func (r *Runner) adopting(row port.Job) {
	r.places(r.kinds[row.Kind], 1)
	r.claiming[port.JobClaim(row.Org, row.ID)] = &claiming{}
}

// places counts places of jobs that are taken over. The caller holds mu.
func (r *Runner) places(k *Kind, n int) {
	if l := r.lanes[k.Lane]; l != nil {
		l.adopted += n
	} else {
		r.busy += n
	}
}

// roomy lists the kinds of which a job can be taken over, and the claims held here, and tells
// how often a worker was given up until now.
func (r *Runner) roomy() (kinds, held []string, freed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held = slices.AppendSeq(slices.Collect(maps.Keys(r.held)), maps.Keys(r.claiming))
	for name, k := range r.kinds {
		if r.roomFor(k) {
			kinds = append(kinds, name)
		}
	}
	return kinds, held, r.freed
}

// claim claims an unclaimed job for which adopting has taken a place, and has it run where it is
// due, or early; ok is false, and the place given back, where another replica was first.
func (r *Runner) claim(row port.Job, early bool) (ok bool, err error) {
	k := r.kind(row.Kind)
	defer func() {
		if !ok {
			r.mu.Lock()
			r.places(k, -1)
			r.mu.Unlock()
		}
		r.unmark(port.JobClaim(row.Org, row.ID))
	}()
	var now port.Job
	claim, ok, err := r.replica.Claim(r.ctx, port.JobClaim(row.Org, row.ID), func(rd replica.Reader) (bool, error) {
		now, err = rd.Job(r.ctx, row.Org, row.ID)
		if fault.CodeOf(err) == fault.NotFound {
			return false, nil
		}
		if err != nil || now.Status.Ended() || early {
			return err == nil && !now.Status.Ended(), err
		}
		at, err := rd.Now(r.ctx) // it may have been attempted since it was listed
		return err == nil && !now.NextAttempt.After(at), err
	})
	if err != nil || !ok {
		return false, err
	}
	if !r.take(&Job{Job: now, kind: k, claim: claim, adopted: true}) {
		return false, nil
	}
	if now.Tries > 0 {
		r.log.InfoContext(r.ctx, "job taken over", "job", now.ID, "kind", now.Kind, "tries", now.Tries)
	}
	return true, nil
}

// reserve takes a place for a job that is about to be stored. room is false where
// no worker is free: the job waits in the store then. A quarter of a lane's places is
// open to each organization, however many others have.
func (r *Runner) reserve(k *Kind, org ident.Org) (room bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lanes[k.Lane]
	if l == nil {
		if room = r.busy < r.workers; room {
			r.busy++
		}
		return room, nil
	}
	if n := l.ownOf[org]; k.Queue > 0 && l.own >= k.Queue && n >= k.Queue/4 {
		return false, fault.New(fault.Unavailable, "%d jobs of kind %s are waiting already", n, k.Name).
			After(5 * time.Second).By(fault.JobLimit)
	}
	l.started(org, 1)
	return true, nil
}

// release gives a place up that reserve took.
func (r *Runner) release(k *Kind, org ident.Org, room bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.lanes[k.Lane]; l != nil {
		l.started(org, -1)
	} else if room {
		r.free()
	}
}

// take has a claimed job run, for which there is a place; false: it is held here
// already. Where the process stops it stays for the next start, or for another
// replica.
func (r *Runner) take(j *Job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held[j.claim.Name] != nil {
		return false
	}
	j.runner, j.org = r, j.Org
	j.ctx, j.stop = context.WithCancelCause(ident.WithJob(r.ctx, j.ID))
	r.held[j.claim.Name] = j
	if taking := r.claiming[j.claim.Name]; taking != nil && taking.cancelled {
		j.stop(ErrCancelled)
	}
	if l := r.lanes[j.kind.Lane]; l != nil {
		at := len(l.queue)
		for at > 0 && l.queue[at-1].CreatedAt.After(j.CreatedAt) {
			at--
		}
		l.queue = slices.Insert(l.queue, at, j)
		r.next(l)
	} else if r.ctx.Err() == nil {
		r.all.Go(func() {
			r.run(j)
			r.mu.Lock()
			r.free()
			r.drop(j)
			again := j.again
			r.mu.Unlock()
			if again {
				r.retry(j.Job)
			}
			r.rouse()
		})
	}
	return true
}

// next runs the jobs of a lane unless that is under way. The caller holds mu.
func (r *Runner) next(l *lane) {
	if !r.ready || l.running || len(l.queue) == 0 || r.ctx.Err() != nil {
		return
	}
	l.running = true
	r.all.Go(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for j := l.take(); j != nil; j = l.take() {
			r.mu.Unlock()
			r.run(j)
			r.mu.Lock()
			if j.adopted {
				l.adopted--
				r.rouse()
			} else {
				l.started(j.Org, -1)
			}
			r.drop(j)
		}
		l.running = false
	})
}

// drop forgets a job that is not run here any more. The caller holds mu.
func (r *Runner) drop(j *Job) {
	if r.held[j.claim.Name] == j {
		delete(r.held, j.claim.Name)
	}
	if j.refused {
		r.refused[j.claim.Name] = true
	}
	j.stop(nil)
}

// stopping reports whether the process stops.
func (r *Runner) stopping() bool { return errors.Is(context.Cause(r.ctx), errStopping) }
