package sharded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Database is a member of a Store.
type Database struct {
	Name string
	Open func(context.Context) (port.DocumentStore, error)
}

// Fewest has a new organization placed in the database that has the fewest.
const Fewest = "fewest"

// Options are what a Store is made of.
type Options struct {
	Home Database
	// Side opens the home once more, with a few connections of its own. What a transaction of another database
	// reads of the home goes through them: were it to wait for one of the others, which are held by
	// transactions that wait for the first database, neither could go on.
	Side   func(context.Context) (port.DocumentStore, error)
	Others []Database
	Place  string // of new organizations: Fewest, or the name of a database; "": Fewest
	// Numbers is how a database keeps the last number of an identity column.
	Numbers bunsql.Numbers
	// Unreachable reports whether an error says that a database does not answer.
	Unreachable func(error) bool
	Log         *slog.Logger // nil: none
	// MoveLease is how long a move that tells nothing is taken for alive; 0: a time that does for a slow database.
	MoveLease time.Duration
}

// Store is port.DocumentStore over several databases.
type Store struct {
	o     Options
	log   *slog.Logger
	home  *database
	side  port.DocumentStore
	all   []*database // by number; the home first
	known places[ident.Org, *database]
	found places[string, ident.Org] // of hashes and ids that are looked for in all databases

	mu      sync.Mutex
	running sync.WaitGroup
	closed  bool
	ended   error
}

// Open opens the home, which has to answer, and the others, of which those that do not answer are
// opened when they do. Errors: those of the databases; and one that has to be put right where a database is another
// installation's, is not empty, or is missing from the configuration.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Place == "" {
		o.Place = Fewest
	}
	s := &Store{o: o, log: o.Log, home: &database{name: o.Home.Name, open: o.Home.Open}}
	s.all = []*database{s.home}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	home, err := o.Home.Open(ctx)
	if err != nil {
		return nil, err
	}
	s.home.keep(home)
	if s.side, err = o.Side(ctx); err != nil {
		return nil, err
	}
	if err := s.number(ctx); err != nil {
		return nil, err
	}
	for _, d := range s.all[1:] {
		if _, err := s.member(ctx, d); err != nil && !o.Unreachable(err) {
			return nil, err
		} else if err != nil {
			s.log.Warn("database not reachable", "database", d.name, "error", err)
		}
	}
	return s, nil
}

// number gives the configured databases their numbers, as the home knows them, and says of itself that it is the home.
func (s *Store) number(ctx context.Context) error {
	var known []bunsql.Database
	var counts map[string]int64
	configured := append([]Database{s.o.Home}, s.o.Others...)
	err := s.home.store.Update(ctx, func(w port.Writer) (err error) {
		own := w.(*bunsql.Writer)
		if known, err = own.Databases(ctx); err != nil {
			return err
		}
		if counts, err = own.CountPlacements(ctx); err != nil {
			return err
		}
		switch {
		case len(known) > 0 && known[0].Number != 0:
			return fmt.Errorf("database %s is not the home of its installation: it is there as %s", s.o.Home.Name, known[0].Name)
		case len(known) > 0 && known[0].Name != s.o.Home.Name:
			return fmt.Errorf("the home of this installation is called %s, not %s", known[0].Name, s.o.Home.Name)
		}
		installation := rand.Text()
		if len(known) > 0 {
			installation = known[0].Installation
		}
		for _, c := range configured {
			if slices.ContainsFunc(known, func(d bunsql.Database) bool { return d.Name == c.Name }) {
				continue
			}
			d := bunsql.Database{Name: c.Name, Installation: installation}
			if len(known) > 0 {
				d.Number = known[len(known)-1].Number + 1
			}
			if d.Number >= bunsql.MostDatabases {
				return fmt.Errorf("an installation has at most %d databases", bunsql.MostDatabases)
			}
			if err := own.PutDatabase(ctx, d); err != nil {
				return err
			}
			known = append(known, d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.home.row = known[0]
	for _, d := range known[1:] {
		at := slices.IndexFunc(s.o.Others, func(c Database) bool { return c.Name == d.Name })
		switch {
		case at >= 0:
			s.all = append(s.all, &database{name: d.Name, open: s.o.Others[at].Open, row: d})
		case counts[d.Name] > 0:
			return fmt.Errorf("the configuration lacks database %s, which has %d organizations", d.Name, counts[d.Name])
		}
	}
	if s.o.Place != Fewest && s.named(s.o.Place) == nil {
		return fmt.Errorf("new organizations are to be placed in %s, which is not configured", s.o.Place)
	}
	return nil
}

func (s *Store) named(name string) *database {
	if at := slices.IndexFunc(s.all, func(d *database) bool { return d.name == name }); at >= 0 {
		return s.all[at]
	}
	return nil
}

// database is a member.
type database struct {
	name string
	row  bunsql.Database
	open func(context.Context) (port.DocumentStore, error)

	mu    sync.Mutex // held while it is opened
	store port.DocumentStore

	state sync.Mutex
	there port.DocumentStore // store, for who does not wait until it is opened
	down  time.Time          // until when it is left alone
	cause error
}

// leftAlone is how long a database that did not answer is left alone.
const leftAlone = 2 * time.Second

func (d *database) resting() error {
	d.state.Lock()
	defer d.state.Unlock()
	if time.Now().Before(d.down) {
		return d.cause
	}
	return nil
}

// note has a database left alone after an error that says that it does not answer.
func (s *Store) note(d *database, err error) error {
	if err != nil && s.o.Unreachable(err) && d.resting() == nil {
		s.rest(d, err)
	}
	return err
}

func (s *Store) rest(d *database, err error) {
	s.log.Warn("database not reachable", "database", d.name, "error", err)
	d.state.Lock()
	defer d.state.Unlock()
	d.down = time.Now().Add(leftAlone)
	d.cause = fault.Wrap(fault.Unavailable, "use a database", err, "the database of the organization is not reachable").
		After(leftAlone)
}

// opened is the database's store, nil where it was not opened yet.
func (d *database) opened() port.DocumentStore {
	d.state.Lock()
	defer d.state.Unlock()
	return d.there
}

// member is a database's store, opened if it was not yet. Fault Unavailable while it does not answer.
func (s *Store) member(ctx context.Context, d *database) (port.DocumentStore, error) {
	if err := d.resting(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store != nil {
		return d.store, nil
	}
	if err := d.resting(); err != nil {
		return nil, err
	}
	opened, err := d.open(ctx)
	if err != nil {
		return nil, s.note(d, err)
	}
	if err := s.adopt(ctx, d, opened); err != nil {
		return nil, errors.Join(s.note(d, err), opened.Close())
	}
	d.keep(opened)
	return opened, nil
}

func (d *database) keep(opened port.DocumentStore) {
	d.state.Lock()
	defer d.state.Unlock()
	d.store, d.there = opened, opened
}

// adopt makes an empty database a member, and refuses what is another's.
func (s *Store) adopt(ctx context.Context, d *database, opened port.DocumentStore) error {
	return opened.Update(ctx, func(w port.Writer) error {
		own := w.(*bunsql.Writer)
		known, err := own.Databases(ctx)
		switch {
		case err != nil:
			return err
		case len(known) == 1 && known[0] == d.row:
			return nil
		case len(known) > 0:
			return fmt.Errorf("what the configuration calls database %s is %s of another place or installation",
				d.name, known[0].Name)
		}
		orgs, err := own.Organizations(ctx)
		if err != nil {
			return err
		}
		for _, o := range orgs {
			if o.Name == ident.DefaultOrg {
				if removed, err := own.RemoveOrganization(ctx, o.ID); err != nil {
					return err
				} else if removed {
					continue
				}
			}
			return fmt.Errorf("database %s holds an installation of its own; 'mneme copy' copies one into another", d.name)
		}
		if err := own.Distance(ctx, s.o.Numbers, d.row.Number); err != nil {
			return err
		}
		return own.PutDatabase(ctx, d.row)
	})
}

// places remembers where things are. What is forgotten is looked for again.
type places[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]V
}

const placesKept = 100_000

func (p *places[K, V]) get(k K) (v V, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok = p.m[k]
	return v, ok
}

func (p *places[K, V]) put(k K, v V) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m == nil || len(p.m) >= placesKept {
		p.m = map[K]V{}
	}
	p.m[k] = v
}

func (p *places[K, V]) forget(k K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.m, k)
}

// placed is the database of an organization, as far as this process knows. One that is not there is the home's.
func (s *Store) placed(ctx context.Context, org ident.Org) (*database, error) {
	if d, ok := s.known.get(org); ok {
		return d, nil
	}
	return s.replaced(ctx, org)
}

// replaced places an organization anew, which is not where it was, or not known there. It takes nobody's word for it:
// who looked before a move may put down what they saw after it.
func (s *Store) replaced(ctx context.Context, org ident.Org) (*database, error) {
	s.known.forget(org)
	var name string
	exists := false
	err := s.aside(ctx, func(r *bunsql.Reader) (err error) {
		if name, err = r.Placement(ctx, org); err != nil || name != "" {
			return err
		}
		_, err = r.Organization(ctx, org)
		if exists = err == nil; fault.CodeOf(err) == fault.NotFound {
			err = nil
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case name == "" && !exists:
		return s.home, nil
	case name == "":
		s.known.put(org, s.home)
		return s.home, nil
	}
	d := s.named(name)
	if d == nil {
		return nil, fault.Wrap(fault.Unavailable, "find an organization", fmt.Errorf("of the unknown database %s", name),
			"the database of the organization is not configured").After(30 * time.Second)
	}
	s.known.put(org, d)
	return d, nil
}

// aside reads from the home through connections of its own.
func (s *Store) aside(ctx context.Context, fn func(*bunsql.Reader) error) error {
	return s.note(s.home, s.side.View(ctx, func(r port.Reader) error { return fn(r.(*bunsql.Reader)) }))
}

// choose is the database of a new organization.
func (s *Store) choose(ctx context.Context) (*database, error) {
	if s.o.Place != Fewest {
		return s.named(s.o.Place), nil
	}
	var counts map[string]int64
	total := int64(0)
	err := s.aside(ctx, func(r *bunsql.Reader) (err error) {
		if counts, err = r.CountPlacements(ctx); err != nil {
			return err
		}
		st, err := r.Organizations(ctx)
		total = int64(len(st))
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, n := range counts {
		total -= n
	}
	best, least := s.home, total
	for _, d := range s.all[1:] {
		if counts[d.name] < least && d.resting() == nil {
			best, least = d, counts[d.name]
		}
	}
	return best, nil
}

var errClosed = errors.New("the store is closed")

// enter keeps the store from being closed until leave is called. Fault Unavailable once it is closed.
func (s *Store) enter(ctx context.Context, op string) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fault.Wrap(fault.Unavailable, op, errClosed, "the server is shutting down").After(time.Second)
	}
	s.running.Add(1)
	return s.running.Done, nil
}

// Ping implements port.DocumentStore. It asks the home, without which nothing goes; Parts ask each.
func (s *Store) Ping(ctx context.Context) error {
	leave, err := s.enter(ctx, "ping")
	if err != nil {
		return err
	}
	defer leave()
	return s.home.store.Ping(ctx)
}

// Parts implements port.Parted.
func (s *Store) Parts() []port.StorePart {
	out := make([]port.StorePart, len(s.all))
	for i, d := range s.all {
		out[i] = port.StorePart{Name: d.name, Ping: func(ctx context.Context) error {
			leave, err := s.enter(ctx, "ping")
			if err != nil {
				return err
			}
			defer leave()
			m, err := s.member(ctx, d)
			if err == nil {
				err = s.note(d, m.Ping(ctx))
			}
			return err
		}, Pool: func() (port.Pool, bool) { return s.pool(d) }}
	}
	return out
}

// pool is that of a database, of the home with the connections aside.
func (s *Store) pool(d *database) (p port.Pool, ok bool) {
	stores := []port.DocumentStore{d.opened()}
	if d == s.home {
		stores = append(stores, s.side)
	}
	for _, store := range stores {
		if pooled, is := store.(port.Pooled); is {
			one := pooled.Pool()
			p.InUse, p.Max, ok = p.InUse+one.InUse, p.Max+one.Max, true
			p.Waits, p.Waited = p.Waits+one.Waits, p.Waited+one.Waited
		}
	}
	return p, ok
}

// Close implements port.DocumentStore. It waits for running functions; later calls
// answer fault Unavailable.
func (s *Store) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
	if !first {
		return s.ended
	}
	var errs []error
	for _, d := range s.all {
		d.mu.Lock()
		if d.store != nil {
			errs = append(errs, d.store.Close())
		}
		d.mu.Unlock()
	}
	if s.side != nil {
		errs = append(errs, s.side.Close())
	}
	s.ended = errors.Join(errs...)
	return s.ended
}

// jobOrg is the organization whose job a claim is of; "": it is none of a job.
func jobOrg(claim string) ident.Org {
	rest, ok := strings.CutPrefix(claim, "job/")
	if !ok {
		return ""
	}
	org, _, _ := strings.Cut(rest, "/")
	return ident.Org(org)
}

// webhookOf is the webhook that a claim is of.
func webhookOf(claim string) (id string, ok bool) { return strings.CutPrefix(claim, "webhook/") }

var (
	_ port.DocumentStore = (*Store)(nil)
	_ port.Parted        = (*Store)(nil)
)
