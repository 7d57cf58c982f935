package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// WithKeys runs fn with the key service of the data folder, beside a running
// server if there is one.
func WithKeys(ctx context.Context, r *registry.Registry, c *configs.Config, log *slog.Logger,
	fn func(*key.Service) error) error {
	if err := datadir.Create(c.DataDir); err != nil {
		return err
	}
	return withStore(ctx, r, c, log, func(store port.DocumentStore) error {
		// The publisher of a server numbers what is recorded here, beside it or when it starts.
		recorder := event.NewRecorder(event.RecorderSettings{Store: store, Record: event.Record(c.Events.Record)})
		return fn(newKeyService(recorder, log))
	})
}

// withStore runs fn with the store, beside a running server if there is one.
func withStore(ctx context.Context, r *registry.Registry, c *configs.Config, log *slog.Logger,
	fn func(port.DocumentStore) error) (err error) {
	env := environment(Settings{Registry: r, Config: c, Log: log})
	env.Shared = true
	store, err := r.Store.Open(ctx, c.Storage, env)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, store.Close())
		if !Embedded(c) {
			return
		}
		if unheard := datadir.Tell(c.DataDir); unheard != nil {
			log.WarnContext(ctx, "server not told of a change", "error", unheard)
		}
	}()
	return fn(audit.Recording(store))
}

// MoveOrganization moves an organization, found by id or name, to another database of the installation, beside the servers.
// The audit log says so with the command's name. Errors: those of port.Mover; and one where there is one database alone.
func MoveOrganization(ctx context.Context, r *registry.Registry, c *configs.Config, log *slog.Logger, command, ref, to string,
	progress func(port.MoveProgress)) (o port.Organization, done port.Moved, err error) {
	if err := datadir.Create(c.DataDir); err != nil {
		return o, done, err
	}
	env := environment(Settings{Registry: r, Config: c, Log: log})
	env.Shared = true
	store, err := r.Store.Open(ctx, c.Storage, env)
	if err != nil {
		return o, done, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	mover, ok := store.(port.Mover)
	if !ok {
		return o, done, errors.New("there is one database alone: others are named in storage.postgres.databases")
	}
	if err := store.View(ctx, func(r port.Reader) (err error) {
		if o, err = r.OrganizationByName(ctx, ref); fault.CodeOf(err) == fault.NotFound {
			o, err = r.Organization(ctx, ident.Org(ref))
		}
		return err
	}); err != nil {
		return o, done, err
	}
	begun := false
	done, err = mover.MoveOrganization(ctx, o.ID, to, func(p port.MoveProgress) {
		begun = true
		progress(p)
	})
	if begun {
		err = errors.Join(err, audit.CommandEnded(ctx, store, command, string(o.ID), err))
	}
	return o, done, err
}

func newKeyService(store port.Store, log *slog.Logger) *key.Service {
	return key.New(key.Settings{Store: store, Log: log, Maker: key.MadeByCommandLine})
}

// localKeyName is how the keys of this machine's user are listed.
const localKeyName = "local command line"

// LocalKey gives the key that commands on this machine use for a data folder:
// the one that lies in it, as long as it works, else a new one, which is kept
// there. A user who can read the folder can read the documents anyway.
func LocalKey(ctx context.Context, dir string, keys *key.Service) (string, error) {
	return localKey(ctx, dir, keys, key.Issue{Name: localKeyName, Kind: ident.Service}, op.Namespace, datadir.LocalKey,
		datadir.SaveLocalKey)
}

// QuickstartKey is the key that quickstart shows: an application's, which can be revoked
// without taking the one of this machine's commands away.
func QuickstartKey(ctx context.Context, dir string, keys *key.Service) (string, error) {
	return localKey(ctx, dir, keys, key.Issue{Name: "quickstart", Kind: ident.Service}, op.Namespace, datadir.QuickstartKey,
		datadir.SaveQuickstartKey)
}

// LocalAdminKey does the same for commands that administer: its key is one of
// all organizations, as any user who can write to the folder could make one.
func LocalAdminKey(ctx context.Context, dir string, keys *key.Service) (string, error) {
	return localKey(ctx, dir, keys, key.Issue{Name: localKeyName, Kind: ident.Admin, AllOrganizations: true},
		op.Administration, datadir.LocalAdminKey, datadir.SaveLocalAdminKey)
}

func localKey(ctx context.Context, dir string, keys *key.Service, in key.Issue, family op.Family,
	load func(string) (string, error), save func(dir, secret string) error) (string, error) {
	secret, err := load(dir)
	if err != nil {
		return "", err
	}
	if secret != "" {
		if _, err := keys.Verify(ctx, secret, family); err == nil {
			return secret, nil
		}
	}
	in.Maker = key.MadeByBootstrap
	issued, err := keys.Issue(audit.ByCommand(ctx, "local key"), in)
	if err != nil {
		return "", fmt.Errorf("make the key %q: %w", in.Name, err)
	}
	return issued.Secret, save(dir, issued.Secret)
}
