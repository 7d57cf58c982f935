package organization

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// DeletionKind is the kind of the jobs that delete.
const DeletionKind = "organization.delete"

// Settings configure a Service. Without a comment a field is required.
type Settings struct {
	Store port.Store
	Keys  *key.Service
	Jobs  *job.Runner
	// Erase removes an end user for good, and says what that was.
	Erase func(context.Context, port.Partition) (port.Erased, error)
	// Drop forgets what is derived of a namespace, as far as it can.
	Drop func(context.Context, port.Partition)
	// Clean removes from the indexes whatever the store does not have any more.
	Clean func(context.Context) error
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: nothing is logged
}

// reader and writer are what the service uses of the store.
type reader interface {
	port.OrganizationReader
	port.KeyReader
	port.PartitionReader
	port.JobReader
}

type writer interface {
	reader
	port.OrganizationWriter
	port.GenerationWriter
	job.Writer
}

// Service deletes organizations. Safe for concurrent use.
type Service struct {
	store    port.Narrowed[reader, writer]
	scrubber port.Scrubber // nil: the store keeps no files
	keys     *key.Service
	jobs     *job.Runner
	erase    func(context.Context, port.Partition) (port.Erased, error)
	drop     func(context.Context, port.Partition)
	clean    func(context.Context) error
	now      func() time.Time
	log      *slog.Logger
}

// New makes the service and registers its kind of job.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	out := &Service{
		store: port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		keys:  s.Keys,
		jobs:  s.Jobs,
		erase: s.Erase,
		drop:  s.Drop,
		clean: s.Clean,
		now:   s.Now,
		log:   s.Log,
	}
	out.scrubber, _ = s.Store.(port.Scrubber)
	s.Jobs.Register(job.Kind{
		Name: DeletionKind,
		// A lane of its own: a deletion waits for erasures, which need workers.
		Lane:       DeletionKind,
		Single:     true,
		Final:      true,
		Keep:       24 * time.Hour,
		Tries:      math.MaxInt32,
		Backoff:    time.Second,
		MaxBackoff: 30 * time.Second,
		Run:        out.run,
	})
	return out
}

// Removed counts what a deletion has removed. What a crash cut off between an erasure
// and its count is missing.
type Removed struct {
	Namespaces   int64 `json:"namespaces"`
	Documents    int64 `json:"documents"`
	EndUsers     int64 `json:"end_users"`
	Memories     int64 `json:"memories"`
	Integrations int64 `json:"integrations"`
	Keys         int64 `json:"keys"`
	Jobs         int64 `json:"jobs"`
}

// Deletion says how far the deletion of an organization is.
type Deletion struct {
	Org         ident.Org // "": there is none
	Job         string
	Done, Total int // namespaces and end users
	Removed     Removed
	Ended       time.Time // zero: it is under way
}

// progress is what a further attempt goes on with.
type progress struct {
	Removed Removed
	Done    int
}

// Delete begins to delete an organization, found by name or id, or says how far that
// is; by the id also for a day afterwards. An organization that is not there answers
// a zero Deletion. Its keys are refused from the moment that Delete returns, in other
// processes within half a second. confirm is asked, with the organization, before
// anything is done. Fault Conflict for the default organization, and while the
// organization has a live key that administers all.
func (s *Service) Delete(ctx context.Context, ref string, confirm func(port.Organization) error) (Deletion, error) {
	home, err := s.keys.EnsureDefault(ctx)
	if err != nil {
		return Deletion{}, fmt.Errorf("delete organization: %w", err)
	}
	o, err := s.keys.Organization(ctx, ref)
	if fault.CodeOf(err) == fault.NotFound {
		return s.past(ctx, home.ID, ident.Org(ref))
	}
	if err == nil {
		err = confirm(o)
	}
	if err != nil {
		return Deletion{}, err
	}
	at := place(home.ID, o.ID)
	begin := func(ctx context.Context, store func(job.Writer, port.Partition) error) error {
		return s.store.Update(ctx, func(w writer) error {
			if err := s.refuse(ctx, w, o); err != nil {
				return err
			}
			if err := w.BeginDeletion(ctx, o.ID, s.now()); err != nil {
				return err
			}
			return store(w, at)
		})
	}
	// Begun or not: a caller that leaves in between does not leave it open which.
	j, _, err := s.jobs.Start(context.WithoutCancel(ctx), DeletionKind, job.Order{Partition: at, In: begin})
	s.keys.Forget()
	if fault.CodeOf(err) == fault.NotFound { // it has just gone
		return s.past(ctx, home.ID, o.ID)
	}
	if err != nil {
		return Deletion{}, err
	}
	return shown(j)
}

// idPattern is what ids of organizations look like.
var idPattern = regexp.MustCompile(`^org_[A-Za-z0-9]+$`)

// past says how the deletion of an organization that is not there went, as long as
// that is kept.
func (s *Service) past(ctx context.Context, home, deleted ident.Org) (Deletion, error) {
	if !idPattern.MatchString(string(deleted)) { // some stores cannot even search for such a string
		return Deletion{}, nil
	}
	j, known, err := s.jobs.Latest(ctx, DeletionKind, place(home, deleted))
	if err != nil || !known {
		return Deletion{}, err
	}
	return shown(j)
}

// place is where the job of a deletion is kept: in the default organization, for it
// outlives its own.
func place(home, deleted ident.Org) port.Partition { return port.Documents(home, string(deleted)) }

// refuse refuses what would lock everybody out.
func (s *Service) refuse(ctx context.Context, r reader, o port.Organization) error {
	if o.Name == ident.DefaultOrg {
		return fault.New(fault.Conflict, "the organization %q stays: keys that name none are made in it", o.Name)
	}
	keys, err := r.Keys(ctx, o.ID, port.KeyList{})
	if err != nil {
		return err
	}
	for _, k := range keys {
		live := k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || s.now().Before(k.ExpiresAt))
		for _, scope := range k.Scopes {
			if live && scope == ident.AllOrganizations {
				return fault.New(fault.Conflict, "key %s of the organization %q administers all organizations; revoke it first",
					k.ID, o.Name)
			}
		}
	}
	return nil
}

func shown(j port.Job) (Deletion, error) {
	d := Deletion{Org: ident.Org(j.Partition.Name()), Job: j.ID, Done: j.Done, Total: j.Total, Ended: j.FinishedAt}
	kept := j.State
	if j.Status.Ended() {
		kept = j.Result
	}
	if len(kept) == 0 {
		return d, nil
	}
	var p progress
	if err := json.Unmarshal(kept, &p); err != nil {
		return d, fmt.Errorf("decode job %s: %w", j.ID, err)
	}
	d.Removed = p.Removed
	return d, nil
}

// run is an attempt at a deletion that has begun. Whatever it fails with, another one
// has to be made.
func (s *Service) run(ctx context.Context, j *job.Job) error {
	d := &deletion{Service: s, job: j, org: ident.Org(j.Partition.Name())}
	err := d.all(ctx)
	if err == nil {
		s.log.InfoContext(ctx, "organization deleted", "organization", d.org, "namespaces", d.Removed.Namespaces,
			"end_users", d.Removed.EndUsers, "keys", d.Removed.Keys)
		return nil
	}
	if ctx.Err() == nil && !errors.Is(err, job.ErrTaken) {
		s.log.ErrorContext(ctx, "organization deletion attempt failed", "organization", d.org, "error", err)
	}
	return fault.Wrap(fault.Unavailable, "delete organization", err,
		"the deletion failed; it is tried again").After(fault.From(err).RetryAfter)
}

// deletion is an attempt.
type deletion struct {
	*Service
	job *job.Job
	org ident.Org
	progress
	total int
}

// all removes everything, in this order: partitions with what is derived of them, what
// else belongs to the organization and itself, what deleted rows have left in files.
func (d *deletion) all(ctx context.Context) error {
	if _, err := d.job.Load(&d.progress); err != nil {
		return err
	}
	for gone := false; !gone; {
		if err := d.partitions(ctx); err != nil {
			return err
		}
		var err error
		// A call that was admitted before the mark may have made another partition.
		if gone, err = d.rest(ctx); err != nil {
			return err
		}
	}
	if err := d.clean(ctx); err != nil {
		return fmt.Errorf("clean the indexes: %w", err)
	}
	if d.scrubber != nil {
		if err := d.scrubber.Scrub(ctx); err != nil {
			return fmt.Errorf("scrub the store: %w", err)
		}
	}
	return d.store.Update(ctx, func(w writer) error {
		return d.job.Finish(ctx, w, d.progress)
	})
}

// partitionsAtOnce is how many partitions are listed at once, and rowsAtOnce how many
// rows of a kind a transaction removes.
const (
	partitionsAtOnce = 200
	rowsAtOnce       = 200
)

// partitions removes all namespaces and end users.
func (d *deletion) partitions(ctx context.Context) error {
	if err := d.cancelJobs(ctx); err != nil {
		return err
	}
	left, err := d.list(ctx)
	if err != nil {
		return err
	}
	d.total = d.Done + len(left)
	for _, e := range left {
		if e.Partition.Space() == port.SpaceDocuments {
			err = d.namespace(ctx, e)
		} else {
			err = d.endUser(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// list reads the partitions that are left.
func (d *deletion) list(ctx context.Context) (all []port.PartitionEntry, err error) {
	err = d.store.View(ctx, func(r reader) error {
		all = nil
		survey, ok := r.(port.PartitionLister)
		if !ok {
			return errors.New("the store cannot list its partitions")
		}
		var after port.Partition
		for {
			page, err := survey.Partitions(ctx, d.org, after, partitionsAtOnce)
			if err != nil {
				return fmt.Errorf("list partitions: %w", err)
			}
			all = append(all, page...)
			if len(page) < partitionsAtOnce {
				return nil
			}
			after = page[len(page)-1].Partition
		}
	})
	return all, err
}

// cancelJobs ends what works on the organization, but for erasures, which cannot be
// cancelled.
func (d *deletion) cancelJobs(ctx context.Context) error {
	var all []port.Job
	err := d.store.View(ctx, func(r reader) (err error) {
		all, err = r.Jobs(ctx, port.JobList{Org: d.org})
		return err
	})
	if err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	for _, j := range all {
		if j.Status.Ended() {
			continue
		}
		_, err := d.jobs.Cancel(ctx, d.org, j.ID)
		if c := fault.CodeOf(err); err != nil && c != fault.NotFound && c != fault.Conflict {
			return fmt.Errorf("cancel a job: %w", err)
		}
	}
	return nil
}

// namespace removes one; its rows are purged with the rest.
func (d *deletion) namespace(ctx context.Context, e port.PartitionEntry) error {
	next := d.progress
	err := d.store.Update(ctx, func(w writer) error {
		next = d.progress
		there, err := w.DeletePartition(ctx, e.Partition)
		if err != nil {
			return err
		}
		next.Done++
		if there {
			next.Removed.Namespaces++
			next.Removed.Documents += e.Row.Documents
		}
		return d.job.SaveIn(ctx, w, next.Done, d.total, next)
	})
	if err != nil {
		return fmt.Errorf("delete a namespace: %w", err)
	}
	d.progress = next
	d.drop(ctx, e.Partition)
	return nil
}

func (d *deletion) endUser(ctx context.Context, e port.PartitionEntry) error {
	n, err := d.erase(ctx, e.Partition.At(0))
	if err != nil {
		return fmt.Errorf("erase an end user: %w", err)
	}
	d.Done++
	d.Removed.EndUsers++
	d.Removed.Memories += n.Memories
	return d.job.Save(ctx, d.Done, d.total, d.progress)
}

// rest removes what is left beside live partitions, and the organization; gone is
// false where there are such partitions again.
func (d *deletion) rest(ctx context.Context) (gone bool, err error) {
	for more := true; more; {
		next := d.progress
		err := d.store.Update(ctx, func(w writer) (err error) {
			var n port.OrganizationErased
			next = d.progress
			if n, more, err = w.EraseOrganization(ctx, d.org, rowsAtOnce); err != nil {
				return err
			}
			next.Removed.Keys += n.Keys
			next.Removed.Integrations += n.Integrations
			next.Removed.Jobs += n.Jobs
			return d.job.SaveIn(ctx, w, next.Done, max(d.total, next.Done), next)
		})
		switch fault.CodeOf(err) {
		case fault.NotFound: // an attempt before this one came as far
			return true, nil
		case fault.Conflict:
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("erase the organization: %w", err)
		}
		d.progress = next
	}
	return true, nil
}
