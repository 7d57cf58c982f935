package sharded

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// A move keeps the following true, wherever it dies:
//   - The placement in the home says where the organization is; changing it is one transaction.
//   - Its rows are written where its standing is Settled alone, which is so in one database at most. Each
//     transaction that writes them holds the standing, and a change of it waits for these.
//   - Its rows are read where its standing is Settled or Leaving, or where it is Elsewhere and the placement
//     names the database. From the swap until the target is opened, source and target have the same rows.
//   - The numbers of partitions and of their changes go along, so indexes notice nothing.
//   - What is copied while writes go on is a draft: once they are refused, each row of it is compared with the source's, by its
//     change number or whole, and what differs is replaced.
//
// A later run has a higher number, which it leaves in each database before it does anything there: an earlier one that was
// taken for dead changes nothing from then on.

// moveLease is how long a move that tells nothing is taken for alive.
const moveLease = 20 * time.Second

// removeAtOnce bounds a transaction that removes what was moved.
const removeAtOnce = 500

// move is a run of one.
type move struct {
	s        *Store
	row      bunsql.Move
	from, to *database
	lease    time.Duration
	renewed  time.Time
	fenced   time.Time // zero: by a run before this one
	opened   time.Time
	at       port.MoveProgress
	progress func(port.MoveProgress)
}

// MoveOrganization implements port.Mover.
func (s *Store) MoveOrganization(ctx context.Context, org ident.Org, to string,
	progress func(port.MoveProgress)) (done port.Moved, err error) {
	leave, err := s.enter(ctx, "move an organization")
	if err != nil {
		return done, err
	}
	defer leave()
	m := &move{s: s, progress: progress, lease: s.o.MoveLease}
	if m.lease == 0 {
		m.lease = moveLease
	}
	swapped, back, err := m.begin(ctx, org, to)
	if err != nil {
		return done, err
	}
	m.step(port.MoveBegun)
	done = port.Moved{From: m.from.name, To: m.to.name}
	if back {
		done = port.Moved{From: m.to.name, To: m.from.name, Back: true}
		return done, m.leave(ctx, m.undo(ctx))
	}
	if !swapped {
		if done.Tables, err = m.bring(ctx); err != nil {
			return done, m.fail(ctx, err)
		}
	}
	if err := m.open(ctx); err != nil {
		return done, m.leave(ctx, err)
	}
	if !m.fenced.IsZero() {
		done.Paused = m.opened.Sub(m.fenced)
	}
	return done, nil
}

// begin makes the move this run's. Where it was begun before, swapped says whether the organization is in the target
// already, back that it is to be taken back.
func (m *move) begin(ctx context.Context, org ident.Org, to string) (swapped, back bool, err error) {
	s := m.s
	if s.named(to) == nil {
		return false, false, fault.New(fault.NotFound, "there is no database %s in the configuration", fault.Clip(to))
	}
	err = s.note(s.home, s.home.store.Update(ctx, func(w port.Writer) error {
		own := w.(*bunsql.Writer)
		swapped, back = false, false
		o, err := own.Organization(ctx, org)
		if err != nil {
			return err
		}
		in, err := placement(ctx, s, &own.Reader, org)
		if err != nil {
			return err
		}
		now, err := own.Now(ctx)
		if err != nil {
			return err
		}
		last, _, err := own.Moves(ctx)
		if err != nil {
			return err
		}
		before, known, err := own.Move(ctx, org)
		if err != nil {
			return err
		}
		open := known && !before.Ended
		m.row = bunsql.Move{Org: org, Number: last + 1, Origin: in, Target: to, Expires: now.Add(m.lease)}
		switch {
		case open && now.Before(before.Expires):
			return fault.New(fault.Conflict, "organization %s is being moved from %s to %s by another command",
				o.Name, before.Origin, before.Target).After(before.Expires.Sub(now))
		case open && before.Target == to:
			m.row.Origin, swapped = before.Origin, in == to
		case open && before.Origin == to && in == to:
			m.row.Target, back = before.Target, true
		case open:
			return fault.New(fault.Conflict, "a move of organization %s from %s to %s was interrupted: end that first, by "+
				"moving it to %s again", o.Name, before.Origin, before.Target, before.Target)
		case !o.Deleting.IsZero():
			return fault.New(fault.Conflict, "organization %s is being deleted", o.Name)
		case in == to:
			return fault.New(fault.Conflict, "organization %s is in database %s already", o.Name, to)
		}
		m.from, m.to = s.named(m.row.Origin), s.named(m.row.Target)
		if m.from == nil || m.to == nil {
			return fault.New(fault.Conflict, "the configuration lacks one of the databases %s and %s", m.row.Origin, m.row.Target)
		}
		return own.PutMove(ctx, m.row)
	}))
	m.renewed = time.Now()
	return swapped, back, err
}

// placement is Reader.Placement with the home's name.
func placement(ctx context.Context, s *Store, r *bunsql.Reader, org ident.Org) (string, error) {
	in, err := r.Placement(ctx, org)
	if in == "" {
		in = s.home.name
	}
	return in, err
}

func (m *move) step(step string) {
	m.at.Step, m.at.Table = step, ""
	m.tell()
}

func (m *move) tell() {
	if m.progress != nil {
		m.progress(m.at)
	}
}

func (m *move) view(ctx context.Context, d *database, fn func(*bunsql.Reader) error) error {
	member, err := m.s.member(ctx, d)
	if err != nil {
		return err
	}
	return m.s.note(d, member.View(ctx, func(r port.Reader) error { return fn(r.(*bunsql.Reader)) }))
}

func (m *move) update(ctx context.Context, d *database, fn func(*bunsql.Writer) error) error {
	member, err := m.s.member(ctx, d)
	if err != nil {
		return err
	}
	return m.s.note(d, member.Update(ctx, func(w port.Writer) error { return fn(w.(*bunsql.Writer)) }))
}

// say writes how the move stands into the home: fault Conflict where another run has taken it over.
func (m *move) say(ctx context.Context, left time.Duration, ended bool, also func(*bunsql.Writer) error) error {
	err := m.update(ctx, m.s.home, func(w *bunsql.Writer) error {
		now, err := w.Now(ctx)
		if err != nil {
			return err
		}
		m.row.Expires, m.row.Ended = now.Add(left), ended
		if err := w.ChangeMove(ctx, m.row); err != nil || also == nil {
			return err
		}
		return also(w)
	})
	if err == nil {
		m.renewed = time.Now()
	}
	return err
}

func (m *move) renew(ctx context.Context) error {
	if time.Since(m.renewed) < m.lease/4 {
		return ctx.Err()
	}
	return m.say(ctx, m.lease, false, nil)
}

// bring takes the organization to the target: most of it while writes go on, the rest while they are refused.
func (m *move) bring(ctx context.Context) ([]port.MovedTable, error) {
	org, number := m.row.Org, m.row.Number
	if err := m.prepare(ctx); err != nil {
		return nil, err
	}
	// A run before this one may have refused writes already, which would wait for all of the copy.
	err := m.update(ctx, m.from, func(w *bunsql.Writer) error {
		if standing, _, err := w.Standing(ctx, org, port.Partition{}); err != nil || standing == bunsql.Settled {
			return err
		}
		return w.Stand(ctx, org, bunsql.Settled, number)
	})
	if err == nil {
		err = m.remove(ctx, m.to) // what a run before this one has left
	}
	for round := 1; err == nil; round++ {
		var written int64
		if written, err = m.follow(ctx, false, sums{}); written <= fewLeft || round == mostRounds {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	m.step(port.MoveDrafted)
	err = m.update(ctx, m.from, func(w *bunsql.Writer) error {
		if here, err := w.Organization(ctx, org); err != nil {
			return err
		} else if !here.Deleting.IsZero() {
			return fault.New(fault.Conflict, "organization %s is being deleted", here.Name)
		}
		return w.Stand(ctx, org, bunsql.Leaving, number)
	})
	if err != nil {
		return nil, err
	}
	m.fenced = time.Now()
	m.step(port.MoveFenced)
	all := sums{}
	if err = m.prepare(ctx); err == nil { // the organization's row may have changed meanwhile
		_, err = m.follow(ctx, true, all)
	}
	var late sums
	if err == nil {
		late, err = m.copy(ctx)
	}
	if err == nil {
		m.step(port.MoveCopied)
		maps.Copy(all, late)
		err = m.check(ctx, late.tables())
	}
	if err != nil {
		return nil, err
	}
	tables := all.tables()
	m.step(port.MoveChecked)
	err = m.say(ctx, m.lease, false, func(w *bunsql.Writer) error {
		name := m.to.name
		if m.to == m.s.home {
			name = ""
		}
		return w.PutPlacement(ctx, org, name)
	})
	m.s.known.forget(org)
	if err == nil {
		m.step(port.MoveSwapped)
	}
	return tables, err
}

// prepare has the target know the organization, whose rows there do not count.
func (m *move) prepare(ctx context.Context) error {
	var o port.Organization
	err := m.view(ctx, m.s.home, func(r *bunsql.Reader) (err error) { o, err = r.Organization(ctx, m.row.Org); return err })
	if err != nil {
		return err
	}
	return m.update(ctx, m.to, func(w *bunsql.Writer) error {
		if m.to != m.s.home {
			if err := w.PutOrganization(ctx, mirrored(o)); err != nil {
				return err
			}
		}
		return w.Stand(ctx, m.row.Org, bunsql.Elsewhere, m.row.Number)
	})
}

// Writes are refused once a round has brought few rows, or after some rounds.
const (
	fewLeft    = 500
	mostRounds = 4
)

// follow brings what the target has of the tables that are copied early up to what the source has, and tells how many
// rows that took. Once writes are refused it adds up what both have.
func (m *move) follow(ctx context.Context, fenced bool, all sums) (written int64, err error) {
	// Before, those of the source may not be in the target: their name is another's there.
	known := m.to
	if fenced {
		known = m.from
	}
	var generations []int64
	for _, t := range bunsql.MovedTables {
		switch {
		case !t.Early || t.GoesAlong() && !fenced:
			continue
		case t.Names():
			if fenced {
				err = m.freeNames(ctx, t)
			}
			if err == nil {
				_, err = m.mend(ctx, t, 0, fenced, all)
			}
			if err == nil {
				err = m.view(ctx, known, func(r *bunsql.Reader) (err error) {
					generations, err = r.MovedGenerations(ctx, m.row.Org)
					return err
				})
			}
		default:
			var n int64
			n, err = m.mendAll(ctx, t, generations, fenced, all)
			written += n
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// walk reads a table in both databases at once, in pages of the same keys. visit says whether to read one again.
func (m *move) walk(ctx context.Context, t bunsql.MovedTable, generation int64,
	visit func(here, there bunsql.MovePage) (again bool, err error)) error {
	for after := []any(nil); ; {
		if err := m.renew(ctx); err != nil {
			return err
		}
		var here, there bunsql.MovePage
		if err := m.both(ctx, func(ctx context.Context, d *database, r *bunsql.Reader) error {
			page, err := r.MovePage(ctx, t, m.row.Org, generation, after)
			if d == m.from {
				here = page
			} else {
				there = page
			}
			return err
		}); err != nil {
			return err
		}
		bunsql.Align(&here, &there)
		again, err := visit(here, there)
		if err != nil || !again && here.Next == nil {
			return err
		}
		if !again {
			after = here.Next
		}
	}
}

// Of so many generations, or bytes, first pages are read together: most end users have little.
const (
	together      = 200
	togetherBytes = 4 << 20
)

// mendAll is mend of generations. Those that have one page, the same in both databases, cost no transaction each.
func (m *move) mendAll(ctx context.Context, t bunsql.MovedTable, generations []int64, fenced bool, all sums) (written int64,
	err error) {
	for len(generations) > 0 {
		if err := m.renew(ctx); err != nil {
			return written, err
		}
		var here, there []bunsql.MovePage
		if err := m.both(ctx, func(ctx context.Context, d *database, r *bunsql.Reader) error {
			var pages []bunsql.MovePage
			for size := 0; size < togetherBytes && len(pages) < min(together, len(generations)); {
				page, err := r.MovePage(ctx, t, m.row.Org, generations[len(pages)], nil)
				if err != nil {
					return err
				}
				pages, size = append(pages, page), size+page.Bytes
			}
			if d == m.from {
				here = pages
			} else {
				there = pages
			}
			return nil
		}); err != nil {
			return written, err
		}
		n := min(len(here), len(there))
		for i, generation := range generations[:n] {
			put, drop, err := bunsql.Differing(here[i], there[i])
			if err != nil {
				return written, err
			}
			if here[i].Next != nil || there[i].Next != nil || len(put.Rows)+len(drop.Rows) > 0 {
				n, err := m.mend(ctx, t, generation, fenced, all)
				if written += n; err != nil {
					return written, err
				}
			} else if fenced {
				if err := all.add(here[i]); err != nil {
					return written, err
				}
			}
		}
		generations = generations[n:]
	}
	return written, nil
}

// both reads from both databases at once.
func (m *move) both(ctx context.Context, read func(context.Context, *database, *bunsql.Reader) error) error {
	group, within := errgroup.WithContext(ctx)
	for _, d := range []*database{m.from, m.to} {
		group.Go(func() error {
			return m.view(within, d, func(r *bunsql.Reader) error { return read(within, d, r) })
		})
	}
	return group.Wait()
}

// mend is follow of one table, or of what a generation has there.
func (m *move) mend(ctx context.Context, t bunsql.MovedTable, generation int64, fenced bool, all sums) (written int64,
	err error) {
	tries := 0
	err = m.walk(ctx, t, generation, func(here, there bunsql.MovePage) (again bool, err error) {
		put, drop, err := bunsql.Differing(here, there)
		if err != nil {
			return false, err
		}
		n := len(put.Rows) + len(drop.Rows)
		if n == 0 {
			tries = 0
			if fenced {
				err = all.add(here)
			}
			return false, err
		}
		written += int64(n)
		if err := m.replace(ctx, generation, put, drop, fenced); err != nil || !fenced {
			return false, err
		}
		if tries++; tries == comparisons { // sweeps remove what has expired, but for that nothing changes
			return false, m.differs(t.Name)
		}
		return true, nil
	})
	return written, err
}

// freeNames has no namespace in the target keep the name of another one out.
func (m *move) freeNames(ctx context.Context, t bunsql.MovedTable) error {
	return m.walk(ctx, t, 0, func(here, there bunsql.MovePage) (bool, error) {
		put, drop, err := bunsql.Differing(here, there)
		if err != nil || len(put.Rows)+len(drop.Rows) == 0 {
			return false, err
		}
		return false, m.update(ctx, m.to, func(w *bunsql.Writer) error {
			if err := w.DropMoved(ctx, m.row.Org, m.row.Number, 0, drop); err != nil {
				return err
			}
			return w.FreeNames(ctx, m.row.Org, m.row.Number, put)
		})
	})
}

// replace puts the rows of the source that differ in the target, and removes those that the source does not have.
func (m *move) replace(ctx context.Context, generation int64, put, drop bunsql.MovePage, fenced bool) error {
	for first := true; first || len(put.Rows) > 0; first = false {
		rows := put
		err := m.renew(ctx)
		if err == nil && len(put.Rows) > 0 {
			err = m.view(ctx, m.from, func(r *bunsql.Reader) (err error) {
				rows, err = r.MovedRows(ctx, generation, put)
				return err
			})
		}
		if err != nil {
			return err
		}
		err = m.update(ctx, m.to, func(w *bunsql.Writer) error {
			if first {
				if err := w.DropMoved(ctx, m.row.Org, m.row.Number, generation, drop); err != nil {
					return err
				}
			}
			if !put.Table.Names() { // those are replaced
				if err := w.DropMoved(ctx, m.row.Org, m.row.Number, generation, rows); err != nil {
					return err
				}
			}
			if err := w.PutMoved(ctx, m.row.Org, m.row.Number, rows, fenced); err != nil {
				return err
			}
			return w.CheckNumbers(ctx, m.s.o.Numbers, m.to.row.Number)
		})
		if err == nil {
			err = m.same(ctx, generation, put, rows)
		}
		if err != nil {
			return err
		}
		m.copied(rows)
		if rows.Next == nil {
			return nil
		}
		put = put.After(rows)
	}
	return nil
}

// same reads what was put of a table of which only stamps are compared.
func (m *move) same(ctx context.Context, generation int64, put, rows bunsql.MovePage) error {
	if !put.Table.Stamped() || len(rows.Rows) == 0 {
		return nil
	}
	here, there := sums{}, sums{}
	err := m.view(ctx, m.to, func(r *bunsql.Reader) error {
		read, err := r.MovedRows(ctx, generation, rows)
		if err != nil {
			return err
		}
		return there.add(read)
	})
	if err == nil {
		err = here.add(rows)
	}
	if err == nil && !slices.Equal(here.tables(), there.tables()) {
		err = m.differs(put.Table.Name)
	}
	return err
}

func (m *move) differs(tables string) error {
	return fmt.Errorf("what was copied is not the same in %s as in %s: %s", m.to.name, m.from.name, tables)
}

func (m *move) copied(p bunsql.MovePage) {
	m.at.Table, m.at.Rows, m.at.Bytes = p.Table.Name, m.at.Rows+int64(len(p.Rows)), m.at.Bytes+int64(p.Bytes)
	m.tell()
}

// pages reads what the organization has in a database of the tables that are not copied early.
func (m *move) pages(ctx context.Context, d *database, visit func(bunsql.MovePage) error) error {
	for _, t := range bunsql.MovedTables {
		if t.Early {
			continue
		}
		for page := (bunsql.MovePage{}); ; {
			if err := m.renew(ctx); err != nil {
				return err
			}
			// No snapshot is kept between pages: nothing changes but what sweeps remove.
			err := m.view(ctx, d, func(r *bunsql.Reader) (err error) {
				page, err = r.MovePage(ctx, t, m.row.Org, 0, page.Next)
				return err
			})
			if err == nil && len(page.Rows) > 0 {
				err = visit(page)
			}
			if err != nil {
				return err
			}
			if page.Next == nil {
				break
			}
		}
	}
	return nil
}

// sums adds up the rows of each table.
type sums map[string]*sum

type sum struct {
	rows int64
	hash hash.Hash
}

func (all sums) add(page bunsql.MovePage) error {
	if len(page.Rows) == 0 {
		return nil
	}
	one := all[page.Table.Name]
	if one == nil {
		one = &sum{hash: sha256.New()}
		all[page.Table.Name] = one
	}
	one.rows += int64(len(page.Rows))
	return page.Sum(one.hash)
}

func (all sums) tables() (out []port.MovedTable) {
	for _, t := range bunsql.MovedTables {
		if one := all[t.Name]; one != nil {
			out = append(out, port.MovedTable{Name: t.Name, Rows: one.rows, Sum: [32]byte(one.hash.Sum(nil))})
		}
	}
	return out
}

// copy copies the rows of these tables, and adds up what it has read.
func (m *move) copy(ctx context.Context) (sums, error) {
	all := sums{}
	err := m.pages(ctx, m.from, func(page bunsql.MovePage) error {
		err := m.update(ctx, m.to, func(w *bunsql.Writer) error {
			if err := w.PutMoved(ctx, m.row.Org, m.row.Number, page, true); err != nil {
				return err
			}
			return w.CheckNumbers(ctx, m.s.o.Numbers, m.to.row.Number)
		})
		if err != nil {
			return err
		}
		m.copied(page)
		return all.add(page)
	})
	return all, err
}

func (m *move) added(ctx context.Context, d *database) ([]port.MovedTable, error) {
	all := sums{}
	err := m.pages(ctx, d, all.add)
	return all.tables(), err
}

// Sweeps remove what has expired from all databases, in one after another: what differs is compared again.
const (
	comparisons  = 10
	comparePause = 200 * time.Millisecond
)

// check compares what is in the target with what was read from the source.
func (m *move) check(ctx context.Context, read []port.MovedTable) error {
	for tries := 1; ; tries++ {
		there, err := m.added(ctx, m.to)
		if err != nil || slices.Equal(read, there) {
			return err
		}
		if tries == comparisons {
			return m.differs(differing(read, there))
		}
		select {
		case <-time.After(comparePause):
		case <-ctx.Done():
			return ctx.Err()
		}
		if read, err = m.added(ctx, m.from); err != nil {
			return err
		}
	}
}

// differing names the tables that differ.
func differing(a, b []port.MovedTable) string {
	var names []string
	for _, t := range bunsql.MovedTables {
		same := func(o port.MovedTable) bool { return o.Name == t.Name }
		i, j := slices.IndexFunc(a, same), slices.IndexFunc(b, same)
		if (i < 0) != (j < 0) || i >= 0 && a[i] != b[j] {
			names = append(names, t.Name)
		}
	}
	return strings.Join(names, ", ")
}

// remove removes rows that do not count.
func (m *move) remove(ctx context.Context, d *database) error {
	for more := true; more; {
		err := m.renew(ctx)
		if err == nil {
			err = m.update(ctx, d, func(w *bunsql.Writer) (err error) {
				more, err = w.RemoveMoved(ctx, m.row.Org, m.row.Number, removeAtOnce)
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes all that a database has of the organization; the home keeps its own row.
func (m *move) removeAll(ctx context.Context, d *database) error {
	err := m.remove(ctx, d)
	if err == nil && d != m.s.home {
		err = m.update(ctx, d, func(w *bunsql.Writer) error { return w.Forget(ctx, m.row.Org, m.row.Number) })
	}
	return err
}

// open has the target take writes, once the source is read no more, and removes what the source has.
func (m *move) open(ctx context.Context) error {
	stand := func(d *database, s bunsql.Standing) error {
		return m.update(ctx, d, func(w *bunsql.Writer) error { return w.Stand(ctx, m.row.Org, s, m.row.Number) })
	}
	left, err := found(stand(m.from, bunsql.Elsewhere)) // nothing is left where a run before this one has come so far
	if err == nil {
		err = stand(m.to, bunsql.Settled)
	}
	if err != nil {
		return err
	}
	m.opened = time.Now()
	m.step(port.MoveOpened)
	if left {
		if err := m.removeAll(ctx, m.from); err != nil {
			return err
		}
	}
	m.step(port.MoveRemoved)
	return m.say(ctx, 0, true, nil)
}

// undo takes back a move before the swap.
func (m *move) undo(ctx context.Context) error {
	err := m.update(ctx, m.from, func(w *bunsql.Writer) error { return w.Stand(ctx, m.row.Org, bunsql.Settled, m.row.Number) })
	if err != nil {
		return err
	}
	there, err := found(m.update(ctx, m.to, func(w *bunsql.Writer) error {
		return w.Stand(ctx, m.row.Org, bunsql.Elsewhere, m.row.Number)
	}))
	if err == nil && there {
		err = m.removeAll(ctx, m.to)
	}
	if err != nil {
		return err
	}
	return m.say(ctx, 0, true, nil)
}

// undoPatience is how long a move that failed tries to take itself back.
const undoPatience = 30 * time.Second

// fail takes a move back that failed before the swap, as far as that is known.
func (m *move) fail(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer cancel()
	var in string
	err := m.say(ctx, m.lease, false, func(w *bunsql.Writer) (err error) {
		in, err = placement(ctx, m.s, &w.Reader, m.row.Org)
		return err
	})
	switch {
	case err != nil:
	case in == m.to.name:
		err = errors.New("it is in the other database")
	default:
		err = m.undo(ctx)
	}
	if err == nil {
		return cause
	}
	return m.leave(ctx, errors.Join(cause, err))
}

// leave has another run go on at once with a move that failed and could not be taken back.
func (m *move) leave(ctx context.Context, cause error) error {
	if cause == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer cancel()
	if err := m.say(ctx, 0, false, nil); err != nil {
		cause = errors.Join(cause, err)
	}
	return fmt.Errorf("the move has not ended and has to be called again: %w", cause)
}

var _ port.Mover = (*Store)(nil)
