package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/adapters/postgres"
	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sharded"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Database is one of several that organizations are spread over.
type Database struct {
	Name   string          `yaml:"name" help:"What placements call it: lower case letters, digits and dashes. It never changes."`
	DSN    registry.Secret `yaml:"dsn" help:"Its connection string. The other settings are those of the home."`
	Schema string          `yaml:"schema" help:"Schema that holds the tables there. Empty: as in the home."`
}

// Home is what the database of Config.DSN is called among several.
const Home = "home"

const sideConnections = 4

// OpenAll opens the store of a configuration: one database, or several as package sharded has them.
func OpenAll(ctx context.Context, c Config, o Options) (port.DocumentStore, error) {
	if len(c.Databases) == 0 {
		s, err := Open(ctx, c, o)
		if err != nil {
			return nil, err
		}
		if err := s.whole(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
	open := func(c Config, o Options) func(context.Context) (port.DocumentStore, error) {
		return func(ctx context.Context) (port.DocumentStore, error) {
			s, err := Open(ctx, c, o)
			if err != nil {
				return nil, err
			}
			return s, nil
		}
	}
	side, aside := c, o
	side.MaxConnections, aside.Shared = sideConnections, true
	all := sharded.Options{
		Home:        sharded.Database{Name: Home, Open: open(c, o)},
		Side:        open(side, aside),
		Place:       c.Place,
		Numbers:     numbers{},
		Unreachable: unreachable,
		Log:         o.Log,
	}
	for _, d := range c.Databases {
		all.Others = append(all.Others, sharded.Database{Name: d.Name, Open: open(c.of(d), o)})
	}
	s, err := sharded.Open(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("storage.postgres.databases: %w", err)
	}
	return s, nil
}

// of is the configuration of another database.
func (c Config) of(d Database) Config {
	c.DSN, c.Databases = d.DSN, nil
	if d.Schema != "" {
		c.Schema = d.Schema
	}
	return c
}

// unreachable reports whether a database does not answer or takes nobody in.
func unreachable(err error) bool {
	switch postgres.State(err) {
	case wrongPassword, noRole, noDatabase, tooManyConnections:
		return true
	case "":
		return connectionLost(err)
	}
	return postgres.Unreachable(err)
}

// whole fails where the database is one of several: what it lacks would be made anew in it.
func (s *Store) whole(ctx context.Context) error {
	var known []bunsql.Database
	err := s.View(ctx, func(r port.Reader) (err error) {
		known, err = r.(*bunsql.Reader).Databases(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range known {
		if d.Number != 0 && !d.Retired() {
			return fmt.Errorf("storage.postgres: the database is one of several of an installation, such as %s; name all "+
				"of them in storage.postgres.databases", d.Name)
		}
	}
	return nil
}

// RestoreAll is Restore into all databases. What the backup has of one goes into the one of the same name, and of
// those that the configuration lacks into the home. Each is filled in one transaction, and the home's is committed last: until
// then there is no installation.
func RestoreAll(ctx context.Context, c Config, o Options, from port.Restoring) error {
	share := bunsql.Share{Installation: rand.Text()}
	parts := bunsql.PartsOf(from)
	var filled []string
	fill := func() error { return nil }
	for _, d := range c.Databases {
		if err := empty(ctx, c.of(d), o); err != nil {
			return fmt.Errorf("database %s: %w", d.Name, err)
		}
		if !slices.Contains(parts, d.Name) {
			continue // taken in by the server that starts
		}
		share.Apart = append(share.Apart, d.Name)
		next := fill
		fill = func() error {
			part := bunsql.Share{Part: d.Name, Installation: share.Installation, Then: next}
			if err := restore(ctx, c.of(d), o, from, part); err != nil {
				return fmt.Errorf("database %s: %w", d.Name, err)
			}
			filled = append(filled, d.Name)
			return nil
		}
	}
	share.Then = fill
	err := restore(ctx, c, o, from, share)
	if err != nil && len(filled) > 0 {
		return fmt.Errorf("%w; nothing was restored, but %s has been filled and has to be emptied before the next try", err,
			strings.Join(filled, ", "))
	}
	return err
}

// empty fails with bunsql.ErrNotEmpty where Mneme's tables are in a database.
func empty(ctx context.Context, c Config, o Options) error {
	at, _, err := Migrate(ctx, c, o, true)
	if err == nil && at != 0 {
		err = fmt.Errorf("storage.postgres.databases: %w", bunsql.ErrNotEmpty)
	}
	return err
}

// MigrateAll is Migrate of all databases; from is that of the one which is furthest behind.
func MigrateAll(ctx context.Context, c Config, o Options, dry bool) (from, to int, err error) {
	all := []Config{c}
	for _, d := range c.Databases {
		all = append(all, c.of(d))
	}
	for i, one := range all {
		at, known, err := Migrate(ctx, one, o, dry)
		if err != nil && i > 0 {
			err = fmt.Errorf("database %s: %w", c.Databases[i-1].Name, err)
		}
		if err != nil {
			return 0, 0, err
		}
		if i == 0 || at < from {
			from = at
		}
		to = known
	}
	return from, to, nil
}
