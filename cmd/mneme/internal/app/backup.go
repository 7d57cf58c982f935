package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"filippo.io/age"

	"github.com/mnemehq/mneme/adapters/backup/folder"
	"github.com/mnemehq/mneme/adapters/backup/s3"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/backup"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/transports/metrics"
)

// BackupPlace opens the place that a configuration names, and the keys that it gives.
func BackupPlace(c configs.Backup) (place port.BackupPlace, keys backup.Keys, err error) {
	switch {
	case c.To == "":
		return nil, keys, errors.New("name where the backups are: --to, or backup.to in the configuration")
	case strings.HasPrefix(c.To, s3.Scheme):
		place, err = s3.Open(c.To, s3.Options{})
	default:
		place, err = folder.Open(c.To, nil)
	}
	if err != nil {
		return nil, keys, fmt.Errorf("backups in %s: the name %w", c.To, err)
	}
	keys.Passphrase = c.Passphrase.Reveal()
	if c.IdentityFile != "" {
		f, err := os.Open(c.IdentityFile)
		if err != nil {
			return nil, keys, fmt.Errorf("identity of the backups: %w", err)
		}
		defer f.Close()
		if keys.Identities, err = age.ParseIdentities(f); err != nil {
			return nil, keys, fmt.Errorf("identity of the backups: %s: %w", c.IdentityFile, err)
		}
	}
	for _, text := range c.Recipients {
		r, err := age.ParseX25519Recipient(text)
		if err != nil {
			return nil, keys, fmt.Errorf("recipient of the backups: %w", err)
		}
		keys.Recipients = append(keys.Recipients, r)
	}
	return place, keys, nil
}

// Dumper is what a backup reads of a store.
func Dumper(store port.Store) (port.Dumper, error) {
	if d, ok := store.(port.Dumper); ok {
		return d, nil
	}
	return nil, errors.New("this storage can't be backed up by Mneme")
}

// RestoreData fills the empty store of an installation.
func RestoreData(ctx context.Context, s Settings, from port.Restoring) error {
	return s.Registry.Store.Restore(ctx, s.Config.Storage, environment(s), from)
}

// Waits between looks whether a backup is due: as long as nothing is known to be nearer, and after a
// failure.
const (
	backupLook  = 10 * time.Minute
	backupRetry = time.Minute
)

// backups makes backups by the schedule of the configuration.
type backups struct {
	config configs.Backup
	make   backup.Settings
	store  port.Dumper
	log    *slog.Logger

	last     atomic.Int64 // when the newest one began, in seconds since 1970; 0: not known
	failures atomic.Int64
}

// scheduleBackups begins to make backups where the configuration asks for it. Of several replicas one
// makes each: it has the place's lock, and looks then whether one is still due.
func (a *App) scheduleBackups(store port.Store) error {
	c := a.settings.Config.Backup
	b := &backups{config: c, log: a.settings.Log}
	a.Metrics.Read(metrics.Family{Name: "mneme_backup_last_timestamp_seconds", Type: metrics.Gauge,
		Help: "When the newest backup was begun, in Unix time; absent until it is known."}, func(emit metrics.Emit) {
		if at := b.last.Load(); at > 0 {
			emit(float64(at))
		}
	})
	a.Metrics.Read(metrics.Family{Name: "mneme_backup_failures_total", Type: metrics.Counter,
		Help: "Backups by the schedule that failed in this process."}, func(emit metrics.Emit) {
		emit(float64(b.failures.Load()))
	})
	if !c.Scheduled() {
		return nil
	}
	var err error
	if b.store, err = Dumper(store); err != nil {
		return err
	}
	b.make = backup.Settings{Program: a.settings.Version, Store: a.settings.Config.Storage.Component}
	if b.make.Place, b.make.Keys, err = BackupPlace(c); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.run(ctx)
	}()
	a.onClose(func(context.Context) error {
		cancel()
		<-ended
		return nil
	})
	return nil
}

func (b *backups) run(ctx context.Context) {
	for {
		wait := b.turn(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// turn makes a backup if one is due, and answers how long to wait.
func (b *backups) turn(ctx context.Context) time.Duration {
	s := b.make
	var next time.Time // of the one after the newest
	s.Due = func(newest *backup.Manifest) bool {
		if newest == nil {
			return b.config.Every > 0 || !time.Now().Before(b.config.Next(time.Now().Add(-backupLook)))
		}
		b.last.Store(newest.Began.Unix())
		next = b.config.Next(newest.Began)
		return !next.After(time.Now())
	}
	m, err := backup.Create(ctx, b.store, s)
	switch {
	case ctx.Err() != nil:
		return 0
	case errors.Is(err, backup.ErrNotDue), backup.Locked(err):
		if next.IsZero() {
			return backupRetry
		}
		return min(time.Until(next), backupLook)
	case err != nil:
		b.failures.Add(1)
		b.log.ErrorContext(ctx, "backup failed", "to", s.Place.String(), "error", err)
		return backupRetry
	}
	b.last.Store(m.Began.Unix())
	b.log.InfoContext(ctx, "backup made", "backup", m.ID, "to", s.Place.String(), "bytes", m.Bytes, "added", m.Added,
		"took", m.Ended.Sub(m.Began))
	if keep := (backup.Keep{Last: b.config.KeepLast, Daily: b.config.KeepDaily}); keep != (backup.Keep{}) {
		p, err := backup.Prune(ctx, s.Place, s.Keys, keep, false)
		if err != nil && ctx.Err() == nil && !backup.Locked(err) {
			b.log.ErrorContext(ctx, "backups not pruned", "to", s.Place.String(), "error", err)
		} else if len(p.Removed) > 0 {
			b.log.InfoContext(ctx, "backups pruned", "removed", len(p.Removed), "packs", p.Packs, "bytes", p.Bytes)
		}
	}
	return min(max(time.Until(b.config.Next(m.Began)), 0), backupLook)
}
