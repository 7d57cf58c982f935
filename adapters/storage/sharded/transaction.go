package sharded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// branch is a function that runs in a member's transaction, and waits there while the caller's
// function uses the reader or writer that it was given.
type branch struct {
	d      *database
	given  chan any   // a *bunsql.Reader or *bunsql.Writer, each time that the member runs the function
	answer chan error // what the function is to return
	ended  chan error // what the member's View or Update came to
	r      *bunsql.Reader
	w      *bunsql.Writer
	over   bool
}

// errUnused ends a branch whose work is not to be kept.
var errUnused = errors.New("the transaction is not to be kept")

// errAgain says that the caller's function has to run again.
var errAgain = errors.New("the function has to run again")

func begin(ctx context.Context, d *database, member port.DocumentStore, writes bool) *branch {
	b := &branch{d: d, given: make(chan any), answer: make(chan error), ended: make(chan error, 1)}
	go func() {
		if writes {
			b.ended <- member.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
				b.given <- w
				return <-b.answer
			})
			return
		}
		b.ended <- member.View(ctx, func(r port.Reader) error {
			b.given <- r
			return <-b.answer
		})
	}()
	return b
}

// await waits until the branch has a reader or writer, or is over.
func (b *branch) await() (err error) {
	select {
	case x := <-b.given:
		switch x := x.(type) {
		case *bunsql.Writer:
			b.w, b.r = x, &x.Reader
		case *bunsql.Reader:
			b.r = x
		}
		return nil
	case err = <-b.ended:
		b.over = true
		return err
	}
}

// end has the member's function return err. It answers errAgain when the member runs the function
// again, and else what the transaction came to.
func (b *branch) end(err error) error {
	if b.over {
		return nil
	}
	b.answer <- err
	if err := b.await(); b.over {
		return err
	}
	return errAgain
}

// drop ends a branch without keeping its work.
func (b *branch) drop() {
	for !b.over {
		_ = b.end(errUnused)
	}
}

// transaction is one run of a caller's function.
type transaction struct {
	s        *Store
	writes   bool
	branches []*branch
	// begun is left of the run before: the branch whose member ran its function again, which knows why.
	begun  *branch
	placed map[ident.Org]*database // by this transaction
	stood  map[ident.Org]*database // where it was seen that the organization is to be read
	held   map[ident.Org]*database // where the organization stays until the end
	claims []port.Claim            // of the home, that it has confirmed
	cancel []context.CancelFunc
	ended  bool
}

func (t *transaction) branch(ctx context.Context, d *database) (*branch, error) {
	if err := t.usable(ctx); err != nil {
		return nil, err
	}
	for _, b := range t.branches {
		if b.d == d {
			return b, nil
		}
	}
	if b := t.begun; b != nil && b.d == d {
		t.begun, t.branches = nil, append(t.branches, b)
		return b, nil
	}
	member, err := t.s.member(ctx, d)
	if err != nil {
		return nil, err
	}
	b := begin(ctx, d, member, t.writes)
	if err := b.await(); err != nil {
		return nil, t.s.note(d, err)
	}
	t.branches = append(t.branches, b)
	return b, nil
}

func (t *transaction) usable(ctx context.Context) error {
	if t.ended {
		return fault.Wrap(fault.Internal, "store", errors.New("reader or writer used after its function returned"),
			"an internal error occurred")
	}
	return ctx.Err()
}

// of is the database of an organization.
func (t *transaction) of(ctx context.Context, org ident.Org) (*database, error) {
	if err := t.usable(ctx); err != nil {
		return nil, err
	}
	if d := t.placed[org]; d != nil {
		return d, nil
	}
	return t.s.placed(ctx, org)
}

// stand remembers where an organization is to be read.
func (t *transaction) stand(org ident.Org, d *database) {
	if t.stood == nil {
		t.stood = map[ident.Org]*database{}
	}
	t.stood[org] = d
}

// open is the branch in a database, nil where there is none.
func (t *transaction) open(d *database) *branch {
	for _, b := range t.branches {
		if b.d == d {
			return b
		}
	}
	return nil
}

// once reads from a database: in the branch there, or in a snapshot that ends at once, so that no connection is held
// while another is waited for.
func (t *transaction) once(ctx context.Context, d *database, fn func(*bunsql.Reader) error) error {
	if err := t.usable(ctx); err != nil {
		return err
	}
	if b := t.open(d); b != nil {
		return fn(b.r)
	}
	if d == t.s.home {
		return t.s.aside(ctx, fn)
	}
	member, err := t.s.member(ctx, d)
	if err != nil {
		return err
	}
	return t.s.note(d, member.View(ctx, func(r port.Reader) error { return fn(r.(*bunsql.Reader)) }))
}

// sweepPatience is how long what looks at all databases waits for one to answer.
const sweepPatience = 3 * time.Second

// silent reports whether err says that a database but the home does not answer, or not in time.
func (t *transaction) silent(ctx context.Context, d *database, err error) bool {
	if d == t.s.home || err == nil || ctx.Err() != nil {
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errSilent, err)
		t.s.rest(d, err)
		return true
	}
	return t.s.o.Unreachable(err)
}

var errSilent = errors.New("the database did not answer in time")

// each reads from all databases, or all that answer.
func (t *transaction) each(ctx context.Context, e extent, fn func(context.Context, *bunsql.Reader) error) error {
	for _, d := range t.s.all {
		within, cancel := context.WithTimeout(ctx, sweepPatience)
		if d == t.s.home || e == whole {
			within = ctx
		}
		err := t.once(within, d, func(r *bunsql.Reader) error { return fn(within, r) })
		cancel()
		if err != nil && !(e == sweep && t.silent(ctx, d, err)) {
			return err
		}
	}
	return nil
}

// eachWriter writes to all databases that answer.
func (t *transaction) eachWriter(ctx context.Context, fn func(context.Context, *bunsql.Writer) error) error {
	for _, d := range t.s.all {
		within := ctx
		if d != t.s.home {
			bounded, cancel := context.WithTimeout(ctx, sweepPatience)
			within, t.cancel = bounded, append(t.cancel, cancel)
		}
		b, err := t.branch(within, d)
		if err == nil {
			err = t.s.note(d, fn(within, b.w))
		}
		if err != nil && !t.silent(ctx, d, err) {
			return err
		} else if err != nil && b != nil {
			t.remove(b)
		}
	}
	return nil
}

// remove ends a branch that does not count.
func (t *transaction) remove(b *branch) {
	b.drop()
	t.branches = slices.DeleteFunc(t.branches, func(o *branch) bool { return o == b })
}

// retreat ends the branch in a database that an organization has left, where it was begun for nothing else: who holds
// one database and waits for the next may wait for somebody who goes the other way.
func (t *transaction) retreat(d *database, fresh bool) {
	if b := t.open(d); fresh && b != nil {
		t.remove(b)
	}
}

// owner is the organization of what is looked for, in the branches, where it was found before, then in all databases.
// "" where none has it, unless one does not answer.
func (t *transaction) owner(ctx context.Context, what bunsql.Sought, key any) (org ident.Org, err error) {
	if err := t.usable(ctx); err != nil {
		return "", err
	}
	for _, b := range t.branches {
		if org, err := b.r.Owner(ctx, what, key); err != nil || org != "" {
			return org, err
		}
	}
	look := func(m *bunsql.Reader) (err error) { org, err = m.Owner(ctx, what, key); return err }
	name := fmt.Sprintf("%s %s", what, key)
	if before, ok := t.s.found.get(name); ok {
		d, err := t.of(ctx, before)
		if err != nil {
			return "", err
		}
		if err := t.once(ctx, d, look); err != nil || org != "" {
			return org, err
		}
		t.s.found.forget(name)
	}
	var silent error
	for _, d := range t.s.all {
		err := t.once(ctx, d, look)
		switch {
		case t.silent(ctx, d, err):
			silent = err
		case err != nil:
			return "", err
		case org != "":
			t.s.found.put(name, org)
			return org, nil
		}
	}
	return "", silent
}

// found reports whether err says that something is there.
func found(err error) (bool, error) {
	if fault.CodeOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

// drop ends all branches without keeping their work, but for one.
func (t *transaction) drop(but *branch) {
	for _, b := range t.branches {
		if b != but {
			b.drop()
		}
	}
	if t.begun != nil && t.begun != but {
		t.begun.drop()
	}
}

// fence confirms the claims of the home in each other database that the transaction changes.
func (t *transaction) fence(ctx context.Context) error {
	for _, b := range t.branches {
		if b.d == t.s.home || !b.w.Changed() {
			continue
		}
		for _, c := range t.claims {
			if err := b.w.FenceClaim(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit ends the branches, the home last. Where several were begun, those without changes are not committed.
func (t *transaction) commit() (again *branch, err error) {
	order := slices.Clone(t.branches)
	slices.SortStableFunc(order, func(a, b *branch) int {
		if (a.d == t.s.home) == (b.d == t.s.home) {
			return 0
		} else if a.d == t.s.home {
			return 1
		}
		return -1
	})
	for _, b := range order {
		if len(order) > 1 && !b.w.Changed() {
			b.drop()
			continue
		}
		if err := b.end(nil); err != nil {
			return b, t.s.note(b.d, err)
		}
	}
	return nil, nil
}

// View implements port.DocumentStore.
func (s *Store) View(ctx context.Context, fn func(port.Reader) error) error {
	leave, err := s.enter(ctx, "read")
	if err != nil {
		return err
	}
	defer leave()
	t := &transaction{s: s}
	defer func() {
		t.ended = true
		t.drop(nil)
	}()
	if err := fn(&reader{t}); err != nil {
		return err
	}
	for _, b := range t.branches {
		if err := b.end(nil); err != nil {
			return s.note(b.d, err)
		}
	}
	return ctx.Err()
}

// Update implements port.Store.
func (s *Store) Update(ctx context.Context, fn func(port.Writer) error) error {
	return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(w) })
}

// patience is how long a function is run again whose transactions in several databases come in the way of others.
const patience = 30 * time.Second

// UpdateDocuments implements port.DocumentStore.
func (s *Store) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	leave, err := s.enter(ctx, "write")
	if err != nil {
		return err
	}
	defer leave()
	var begun *branch
	for since := time.Now(); ; {
		t := &transaction{s: s, writes: true, begun: begun, placed: map[ident.Org]*database{},
			held: map[ident.Org]*database{}}
		var err error
		begun, err = t.run(ctx, fn)
		if begun == nil || time.Since(since) > patience {
			if begun != nil {
				begun.drop()
			}
			return err
		}
	}
}

// run runs the function once. Where it has to run again, the branch is what is left of this run.
func (t *transaction) run(ctx context.Context, fn func(port.DocumentWriter) error) (again *branch, err error) {
	defer func() { // whether or not fn panics
		t.ended = true
		t.drop(again)
		for _, cancel := range t.cancel {
			cancel()
		}
	}()
	w := &writer{reader: &reader{t}}
	if err = fn(w); err == nil {
		err = t.fence(ctx)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		var b *branch
		if b, err = t.commit(); errors.Is(err, errAgain) {
			return b, conflict(err)
		}
		return nil, t.settle(err)
	}
	// A member may know that its statement failed for a reason that does not stay: it runs its function again then.
	for _, b := range t.branches {
		if e := b.end(err); errors.Is(e, errAgain) {
			return b, conflict(err)
		} else if e != nil && len(t.branches) == 1 {
			err = e
		}
	}
	return nil, err
}

// settle remembers where the transaction has placed organizations.
func (t *transaction) settle(err error) error {
	for org, d := range t.placed {
		if err == nil {
			t.s.known.put(org, d)
		} else {
			t.s.known.forget(org)
		}
	}
	return err
}

// conflict is the answer where running again takes too long.
func conflict(err error) error {
	return fault.Wrap(fault.Unavailable, "write", err, "too many writes at once; nothing was written").After(time.Second)
}
