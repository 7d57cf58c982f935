package sharded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// A dump has a snapshot of each database, the home's last, all of which are kept until it ends. Who commits in several
// databases commits in the home last, so what the home's snapshot has of them the others' have, too, unless it was begun in
// between. That is told by reading the home before:
//   - An organization that was not there then is left out, with what other databases have of it already.
//   - One that is not there any more is left out, too, and so is one that its database does not have: it is being removed.
//   - Where one was changed over to another database, began to be moved, or to be deleted, in between, all snapshots are
//     taken again. Else the database that the placement names has all of its rows, whatever its standing there: before a move
//     swaps the placement they are in the source, and from then on the target has the same.

// Tries to find a moment at which no organization goes to another database or begins to be deleted.
const (
	mostSnapshots = 20
	snapshotPause = 100 * time.Millisecond
)

// errBetween says that the snapshots don't fit together.
var errBetween = errors.New("organizations were moved or deleted meanwhile")

// Dump implements port.Dumper: fn gets the tables of the home, and behind them those of each other database, see bunsql.Join.
// All databases have to answer. Fault Unavailable where organizations are moved or deleted at every moment.
func (s *Store) Dump(ctx context.Context, fn func(port.Dump) error) error {
	leave, err := s.enter(ctx, "dump")
	if err != nil {
		return err
	}
	defer leave()
	for tries := 1; ; tries++ {
		err := s.dump(ctx, fn)
		if !errors.Is(err, errBetween) {
			return err
		}
		if tries == mostSnapshots {
			return fault.Wrap(fault.Unavailable, "dump", err, "organizations are being moved or deleted; try again later")
		}
		select {
		case <-time.After(snapshotPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// census is what the home knows of the organizations.
type census struct {
	organizations map[ident.Org]port.Organization
	placed        map[ident.Org]string
	moves         int64 // number of the last one
}

func (c *census) take(ctx context.Context, r *bunsql.Reader) error {
	all, err := r.Organizations(ctx)
	if err != nil {
		return err
	}
	c.organizations = make(map[ident.Org]port.Organization, len(all))
	for _, o := range all {
		c.organizations[o.ID] = o
	}
	if c.placed, err = r.Placed(ctx); err == nil {
		c.moves, _, err = r.Moves(ctx)
	}
	return err
}

// follows fails with errBetween where a snapshot taken between a census and this one may show an organization halfway.
func (c *census) follows(before census) error {
	if c.moves != before.moves {
		return errBetween
	}
	for org, o := range c.organizations {
		was, there := before.organizations[org]
		if there && (c.placed[org] != before.placed[org] || was.Deleting.IsZero() && !o.Deleting.IsZero()) {
			return errBetween
		}
	}
	return nil
}

func (s *Store) dump(ctx context.Context, fn func(port.Dump) error) error {
	var before, now census
	if err := s.aside(ctx, func(r *bunsql.Reader) error { return before.take(ctx, r) }); err != nil {
		return err
	}
	order := append(append([]*database{}, s.all[1:]...), s.home)
	return s.snapshots(ctx, order, nil, func(others []*bunsql.Snapshot) error {
		last := len(others) - 1
		if err := now.take(ctx, others[last].Reader); err != nil {
			return err
		}
		if err := now.follows(before); err != nil {
			return err
		}
		home := &bunsql.Part{Snapshot: others[last]}
		all := []*bunsql.Part{home}
		for i, snapshot := range others[:last] {
			all = append(all, &bunsql.Part{Snapshot: snapshot, Name: order[i].name})
		}
		here := map[ident.Org]bool{}
		for _, p := range all {
			have, err := p.Reader.Organizations(ctx)
			if err != nil {
				return err
			}
			for _, o := range have {
				_, known := now.organizations[o.ID]
				_, old := before.organizations[o.ID]
				if known && old && now.placed[o.ID] == p.Name {
					here[o.ID] = true
				} else {
					p.Away = append(p.Away, o.ID)
				}
			}
		}
		for org, o := range now.organizations {
			_, old := before.organizations[org]
			if !old || !here[org] && o.Deleting.IsZero() {
				home.Unknown = append(home.Unknown, org)
			}
		}
		joined, err := bunsql.Join(ctx, all)
		if err != nil {
			return err
		}
		return fn(joined)
	})
}

// snapshots runs fn on a snapshot of each database, taken one after another.
func (s *Store) snapshots(ctx context.Context, left []*database, taken []*bunsql.Snapshot,
	fn func([]*bunsql.Snapshot) error) error {
	if len(left) == 0 {
		return fn(taken)
	}
	d := left[0]
	member, err := s.member(ctx, d)
	if err != nil {
		return fmt.Errorf("database %s: %w", d.name, err)
	}
	dumper, ok := member.(port.Dumper)
	if !ok {
		return fmt.Errorf("database %s can't be backed up", d.name)
	}
	var within error
	err = dumper.Dump(ctx, func(snapshot port.Dump) error {
		one, ok := snapshot.(*bunsql.Snapshot)
		if !ok {
			return fmt.Errorf("database %s has another kind of dump", d.name)
		}
		within = s.snapshots(ctx, left[1:], append(taken, one), fn)
		return within
	})
	if err != nil && within == nil {
		err = fmt.Errorf("database %s: %w", d.name, s.note(d, err))
	}
	return err
}

var _ port.Dumper = (*Store)(nil)
