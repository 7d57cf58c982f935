package audit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// Level says which changes are recorded.
type Level string

// The levels, each with what the ones before it record.
const (
	Admin   Level = "admin"   // what administers, and refused calls of it
	Deletes Level = "deletes" // what deletes
	All     Level = "all"     // every change
)

// Levels lists them.
func Levels() []Level { return []Level{Admin, Deletes, All} }

// DefaultRetention is how long records are kept.
const DefaultRetention = 400 * 24 * time.Hour

// Settings configure a Service.
type Settings struct {
	Store     port.Store // that changes nobody's records but its own: not the one of Recording
	Pages     *page.Signer
	Secret    []byte        // that end users are hashed with
	Level     Level         // "": Admin
	Retention time.Duration // 0: DefaultRetention
	// AdminJobs are the kinds of jobs that administer; others are recorded at level All.
	AdminJobs []string
	Told      bool             // Rouse is called when another process has recorded something
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger     // nil: discarded
}

type reader interface {
	port.AuditReader
	port.OrganizationReader
}

type writer interface {
	reader
	port.AuditWriter
}

// Service records, numbers, shows and verifies.
type Service struct {
	store     port.Narrowed[reader, writer]
	pages     *page.Signer
	secret    []byte
	level     Level
	retention time.Duration
	adminJobs []string
	told      bool
	now       func() time.Time
	log       *slog.Logger
	wake      chan struct{}
	refusals  refusals
}

// New makes the service. Run numbers and removes; reading numbers, too.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.Level == "" {
		s.Level = Admin
	}
	if s.Retention == 0 {
		s.Retention = DefaultRetention
	}
	return &Service{
		store: port.Narrow(s.Store, func(r port.Reader) reader { return r },
			func(w port.Writer) writer { return w }),
		pages:     s.Pages,
		secret:    s.Secret,
		level:     s.Level,
		retention: s.Retention,
		adminJobs: s.AdminJobs,
		now:       s.Now,
		log:       s.Log,
		told:      s.Told,
		wake:      make(chan struct{}, 1),
	}
}

// Covers reports whether calls of an operation can be recorded.
func (s *Service) Covers(o *op.Spec) bool {
	switch {
	case o.Family == op.Administration:
		return true
	case !o.Mutates:
		return false
	}
	return s.level == All || s.level == Deletes && deletes(o)
}

// deletes reports whether an operation is there to remove something.
func deletes(o *op.Spec) bool {
	last := o.Path[strings.LastIndexByte(o.Path, '/')+1:]
	return o.Method == "DELETE" || o.Tool != nil && o.Tool.Destructive ||
		slices.Contains([]string{"delete", "erase", "apply_deletions"}, last)
}

// Begin carries the entry of a call to what says whose data it is about, and to the
// transactions under it where the call changes something.
func (s *Service) Begin(ctx context.Context, c *op.Call) (context.Context, *port.AuditEntry) {
	e := &port.AuditEntry{Reads: !c.Spec.Mutates}
	e.Record = func() port.AuditRecord {
		r := s.fresh(port.ActorAnonymous)
		r.Action, r.RequestID, r.Status = c.Spec.Name, c.RequestID, c.Spec.Success
		if r.Status == 0 {
			r.Status = 200
		}
		if c.Caller.KeyID != "" {
			r.Actor, r.KeyID, r.Org = port.ActorOf(c.Caller), c.Caller.KeyID, c.Caller.Org
		}
		org, made := e.Said()
		if org != "" {
			r.Org = org
		}
		s.describe(&r, c)
		if made != "" {
			r.Target = made
		}
		return r
	}
	return port.WithAudit(ctx, e), e
}

// patience bounds how long the record of what changed nothing may take.
const patience = 10 * time.Second

// End stores the record of a call that no transaction has stored: of one that succeeded
// without a change, and of an administrator's that was refused. The error is that of a call
// which must fail for want of its record.
func (s *Service) End(ctx context.Context, e *port.AuditEntry, c *op.Call, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	status := fault.Status(fault.CodeOf(err))
	switch {
	case e.Stored():
		s.Rouse()
		return nil
	case err == nil && c.Spec.Mutates:
		if err := s.append(ctx, e.Record()); err != nil && c.Spec.Family == op.Administration {
			return unrecorded(err)
		} else if err != nil {
			s.log.ErrorContext(ctx, "audit record not stored", "op", c.Spec.Name, "request_id", c.RequestID, "error", err)
		}
	case err != nil && c.Spec.Family == op.Administration && status >= 400 && status < 500:
		if n, ok := s.refusals.admit(s.now()); !ok {
			return nil
		} else if n > 0 {
			s.log.WarnContext(ctx, "refused calls not recorded", "count", n)
		}
		r := e.Record()
		r.Status = status
		if err := s.append(ctx, r); err != nil {
			s.log.ErrorContext(ctx, "audit record not stored", "op", c.Spec.Name, "request_id", c.RequestID, "error", err)
		}
	}
	return nil
}

// Note stores the record of something that no operation has done, such as a refused sign-in. Its
// id and time are given here.
func (s *Service) Note(ctx context.Context, r port.AuditRecord) error {
	f := s.fresh(r.Actor)
	r.ID, r.At = f.ID, f.At
	if err := s.append(ctx, r); err != nil {
		return fmt.Errorf("record in the audit log: %w", err)
	}
	return nil
}

func (s *Service) append(ctx context.Context, r port.AuditRecord) error {
	err := s.store.Update(ctx, func(w writer) error { return w.AppendAudit(ctx, r) })
	s.Rouse()
	return err
}

// unrecorded is the fault of a change whose record cannot be stored.
func unrecorded(err error) error {
	return fault.Wrap(fault.Unavailable, "record in the audit log", err,
		"the audit log could not be written, so nothing was changed").After(time.Second)
}

func (s *Service) fresh(actor port.AuditActor) port.AuditRecord { return fresh(actor, s.now()) }

// stamped gives the record of an entry that was made elsewhere its id and time.
func stamped(r port.AuditRecord) port.AuditRecord {
	if r.ID == "" {
		f := fresh(r.Actor, time.Now())
		r.ID, r.At = f.ID, f.At
	}
	return r
}

func fresh(actor port.AuditActor, now time.Time) port.AuditRecord {
	return port.AuditRecord{ID: "aud_" + uuid.Must(uuid.NewV7()).String(), At: now.UTC().Truncate(time.Microsecond),
		Actor: actor, Status: 200}
}

// EndUser is how an end user stands in the log.
func (s *Service) EndUser(org ident.Org, id string) string {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(string(org) + "\x00" + id))
	return "eu_" + hex.EncodeToString(mac.Sum(nil)[:16])
}

// JobEnded stores the record of a job in the transaction that ends it.
func (s *Service) JobEnded(ctx context.Context, w port.AuditAppender, j port.Job) error {
	if s.level != All && !slices.Contains(s.adminJobs, j.Kind) {
		return nil
	}
	r := s.fresh(port.ActorSystem)
	r.Org, r.Action, r.Target = j.Org, "job."+j.Kind, j.ID
	if j.Status == port.JobFailed && j.Error != nil {
		r.Status = fault.Status(fault.Code(j.Error.Code))
	}
	if j.Status == port.JobCancelled {
		r.Status = fault.Status(fault.Canceled)
	}
	return w.AppendAudit(ctx, r)
}

// ByCommand carries the entry of a command that changes the store past the API.
func ByCommand(ctx context.Context, command string) context.Context {
	e := &port.AuditEntry{}
	e.Record = func() port.AuditRecord {
		r := fresh(port.ActorCLI, time.Now())
		r.Action = "cli." + strings.ReplaceAll(command, " ", ".")
		r.Org, r.Target = e.Said()
		return r
	}
	return port.WithAudit(ctx, e)
}

// CommandEnded stores the record of a command that has changed the store in transactions of
// its own, or has begun to.
func CommandEnded(ctx context.Context, store port.Store, command, target string, err error) error {
	r := fresh(port.ActorCLI, time.Now())
	r.Action, r.Target = "cli."+strings.ReplaceAll(command, " ", "."), target
	if err != nil {
		r.Status = fault.Status(fault.CodeOf(err))
	}
	return store.Update(context.WithoutCancel(ctx), func(w port.Writer) error { return w.AppendAudit(ctx, r) })
}

// refusalsPerMinute bounds what callers can have written who may do nothing: each record is
// a commit.
const refusalsPerMinute = 600

// refusals counts recorded refusals, so that a flood of them does not fill the store.
type refusals struct {
	mu      sync.Mutex
	since   time.Time
	n       int
	dropped int
}

// admit reports whether one more is recorded, and with the first one of a minute how many of
// those before were not.
func (r *refusals) admit(now time.Time) (dropped int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := now.Sub(r.since); d < 0 || d >= time.Minute {
		dropped = r.dropped
		r.since, r.n, r.dropped = now, 0, 0
	}
	if r.n >= refusalsPerMinute {
		r.dropped++
		return 0, false
	}
	r.n++
	return dropped, true
}
