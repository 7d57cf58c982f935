package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/backup"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// backupFlags say where backups are and what opens them, in place of the configuration.
type backupFlags struct {
	to, passphraseFile, identity string
	recipients                   []string // beside those of the configuration
}

func (b *backupFlags) flags(cmd *cobra.Command, name string) {
	f := cmd.Flags()
	f.StringVar(&b.to, name, "", "where the backups are: a folder, or s3://bucket/prefix (backup.to)")
	f.StringVar(&b.passphraseFile, "passphrase-file", "",
		"file with the passphrase of encrypted backups (MNEME_BACKUP_PASSPHRASE)")
	f.StringVar(&b.identity, "identity", "", "file with an identity of age that opens encrypted backups (backup.identity_file)")
}

// apply puts the flags in place of what the configuration says.
func (b *backupFlags) apply(c *configs.Backup) error {
	if b.to != "" {
		c.To = b.to
	}
	if b.passphraseFile != "" && b.identity != "" {
		return usage("give either --passphrase-file or --identity")
	}
	if b.passphraseFile != "" {
		text, err := os.ReadFile(b.passphraseFile)
		if err != nil {
			return fmt.Errorf("--passphrase-file: %w", err)
		}
		c.Passphrase, c.IdentityFile = registry.Secret(strings.TrimRight(string(text), "\r\n")), ""
		if c.Passphrase == "" {
			return fmt.Errorf("--passphrase-file: %s is empty", b.passphraseFile)
		}
	}
	if b.identity != "" {
		c.Passphrase, c.IdentityFile = "", b.identity
	}
	c.Recipients = append(c.Recipients, b.recipients...)
	if c.To == "" {
		return usage("name where the backups are with --to, or by backup.to in the configuration")
	}
	return nil
}

// backups loads the configuration and opens the place.
func (c *command) backups(b *backupFlags) (*configs.Config, port.BackupPlace, backup.Keys, error) {
	cfg, err := c.loadQuiet()
	if err != nil {
		return nil, nil, backup.Keys{}, err
	}
	if err := b.apply(&cfg.Backup); err != nil {
		return nil, nil, backup.Keys{}, err
	}
	place, keys, err := app.BackupPlace(cfg.Backup)
	return cfg, place, keys, err
}

// withBackups opens what has been backed up.
func (c *command) withBackups(ctx context.Context, b *backupFlags, do func(*configs.Config, *backup.Repository) error) error {
	cfg, place, keys, err := c.backups(b)
	if err != nil {
		return err
	}
	r, err := backup.Open(ctx, place, keys)
	if err != nil {
		return err
	}
	return do(cfg, r)
}

func (c *command) backupCommand() *cobra.Command {
	var b backupFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Back up everything that is stored, also while a server runs",
		Long: `Back up everything that the store of the data folder (--data) or of the configuration
(--config) holds, from one snapshot, while servers go on reading and writing. What an
earlier backup at the same place has is not stored again. Indexes are not part of it: they
are rebuilt from what is restored. A backup that was interrupted leaves nothing but
pieces, which the same command goes on with.

The first backup decides whether those of a place are encrypted: with a passphrase, an
identity of age, or recipients.`,
		Example: `  mneme backup --data ./data --to /mnt/backups/mneme
  mneme backup --to 's3://backups/mneme?endpoint=https://storage.example.org&region=eu' --passphrase-file secret.txt
  mneme backup list --to /mnt/backups/mneme
  mneme restore --from /mnt/backups/mneme --to ./restored`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.makeBackup(cmd.Context(), &b, asJSON)
		},
	}
	b.flags(cmd, "to")
	cmd.Flags().StringSliceVar(&b.recipients, "recipient", nil,
		"a recipient of age (age1...) who can open the backups, too; taken when the first one is made; may be given again")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(c.backupListCommand(), c.backupVerifyCommand(), c.backupPruneCommand(), c.backupStatusCommand())
	return cmd
}

func (c *command) makeBackup(ctx context.Context, b *backupFlags, asJSON bool) (err error) {
	cfg, place, keys, err := c.backups(b)
	if err != nil {
		return err
	}
	if err := c.agreeToMigrate(ctx, "backup", cfg); err != nil {
		return err
	}
	data, err := app.ReadData(ctx, app.Settings{Registry: c.registry, Config: cfg, Log: c.logger(cfg.Log), Command: "backup"})
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, data.Close()) }()
	store, err := app.Dumper(data.Store)
	if err != nil {
		return err
	}
	bar := newProgress(c.stderr)
	m, err := backup.Create(ctx, store, backup.Settings{
		Place: place, Keys: keys, Program: thisBuild().Version, Store: cfg.Storage.Component,
		OnProgress: func(table string, bytes int64) { bar.count("reading rows, KiB", int(bytes>>10)) },
	})
	bar.end()
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("stopped; the same command goes on")
		}
		return err
	}
	if asJSON {
		return printJSON(c.stdout, summarize(m))
	}
	_, err = fmt.Fprintf(c.stdout, "backup %s: %s of rows, %s added to %s in %s\n", m.ID, size(m.Bytes), size(m.Added), place,
		m.Ended.Sub(m.Began).Round(10*time.Millisecond))
	return err
}

func size(n int64) string { return humanize.IBytes(uint64(n)) }

// backupSummary is a backup as commands show it.
type backupSummary struct {
	ID        string    `json:"id"`
	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended"`
	Program   string    `json:"program"`
	Store     string    `json:"store"`
	Schema    int       `json:"schema"`
	Documents int64     `json:"documents"` // memories among them
	Bytes     int64     `json:"bytes"`
	Added     int64     `json:"added"`
}

func summarize(m backup.Manifest) backupSummary {
	return backupSummary{m.ID, m.Began, m.Ended, m.Program, m.Store, m.Schema, m.Rows("documents"), m.Bytes, m.Added}
}

func (c *command) backupListCommand() *cobra.Command {
	var b backupFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List backups, oldest first",
		Example: "  mneme backup list --to /mnt/backups/mneme",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withBackups(cmd.Context(), &b, func(_ *configs.Config, r *backup.Repository) error {
				all, damaged, err := r.List(cmd.Context())
				if err != nil {
					return err
				}
				out := make([]backupSummary, 0, len(all))
				var cells [][]string
				for _, m := range all {
					out = append(out, summarize(m))
					cells = append(cells, []string{m.ID, formatTime(m.Began), fmt.Sprint(m.Rows("documents")), size(m.Bytes),
						size(m.Added), m.Program})
				}
				if asJSON {
					err = printJSON(c.stdout, out)
				} else {
					err = table(c.stdout, []string{"BACKUP", "BEGAN", "DOCUMENTS", "ROWS", "ADDED", "PROGRAM"}, cells)
				}
				return joinErrors(err, c.reportDamage(unreadable(damaged)))
			})
		},
	}
	b.flags(cmd, "to")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func unreadable(damaged []*backup.Unreadable) (all []error) {
	for _, d := range damaged {
		all = append(all, d)
	}
	return all
}

// reportDamage says what is damaged, and fails if anything is.
func (c *command) reportDamage(damaged []error) error {
	for _, d := range damaged {
		fmt.Fprintln(c.stderr, "mneme: "+d.Error())
	}
	if len(damaged) > 0 {
		return errReported
	}
	return nil
}

func (c *command) backupVerifyCommand() *cobra.Command {
	var b backupFlags
	var id string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Read all that backups consist of, and check it",
		Long: `Read every piece that backups refer to and compare it with its hash. What is damaged or gone is
named with the backup and the table that it belongs to, and the exit code is 1.`,
		Example: "  mneme backup verify --to /mnt/backups/mneme",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withBackups(cmd.Context(), &b, func(_ *configs.Config, r *backup.Repository) error {
				bar := newProgress(c.stderr)
				v, err := r.Verify(cmd.Context(), id, func(done, total int) { bar.update("reading packs", done, total) })
				bar.end()
				if err != nil {
					return err
				}
				if err := c.reportDamage(v.Damaged); err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.stdout, "%s, %s, %s, %s: all as it was stored\n", plural(v.Backups, "backup"),
					plural(v.Packs, "pack"), plural(v.Chunks, "chunk"), size(v.Bytes))
				return err
			})
		},
	}
	b.flags(cmd, "to")
	cmd.Flags().StringVar(&id, "at", "", "only this backup, by its id")
	return cmd
}

func (c *command) backupPruneCommand() *cobra.Command {
	var b backupFlags
	var keep backup.Keep
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old backups, and what no backup needs any more",
		Long: `Remove backups that are not to be kept, and then every piece that no backup refers to. The newest
backup always stays. It may be interrupted at any moment.`,
		Example: "  mneme backup prune --to /mnt/backups/mneme --keep-last 3 --keep-daily 14",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, place, keys, err := c.backups(&b)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("keep-last") && !cmd.Flags().Changed("keep-daily") {
				keep = backup.Keep{Last: cfg.Backup.KeepLast, Daily: cfg.Backup.KeepDaily}
			}
			if keep.Last < 0 || keep.Daily < 0 || keep == (backup.Keep{}) {
				return usage("say what is to be kept with --keep-last or --keep-daily")
			}
			p, err := backup.Prune(cmd.Context(), place, keys, keep, dry)
			if err != nil {
				return err
			}
			what := "removed"
			if dry {
				what = "would be removed"
			}
			_, err = fmt.Fprintf(c.stdout, "%s kept; %s and %s of %s %s\n", plural(len(p.Kept), "backup"),
				plural(len(p.Removed), "backup"), plural(p.Packs, "pack"), size(p.Bytes), what)
			return err
		},
	}
	b.flags(cmd, "to")
	cmd.Flags().IntVar(&keep.Last, "keep-last", 0, "keep the newest so many")
	cmd.Flags().IntVar(&keep.Daily, "keep-daily", 0, "keep the newest of each of the last so many days that have any")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	return cmd
}

func (c *command) backupStatusCommand() *cobra.Command {
	var b backupFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Say how old the newest backup is, and when the next one is due",
		Long:    "Say how old the newest backup is, and when the next one is due. The exit code is 1 when that has passed.",
		Example: "  mneme backup status --config mneme.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withBackups(cmd.Context(), &b, func(cfg *configs.Config, r *backup.Repository) error {
				all, damaged, err := r.List(cmd.Context())
				if err != nil {
					return err
				}
				if err := c.reportDamage(unreadable(damaged)); err != nil {
					return err
				}
				if len(all) == 0 {
					return fmt.Errorf("%s: %w", cfg.Backup.To, backup.ErrNone)
				}
				newest := all[len(all)-1]
				out := struct {
					Backups   int           `json:"backups"`
					Encrypted bool          `json:"encrypted"`
					Newest    backupSummary `json:"newest"`
					Due       *time.Time    `json:"due"` // null: the server makes none by itself
				}{Backups: len(all), Encrypted: r.Encrypted(), Newest: summarize(newest)}
				if next := cfg.Backup.Next(newest.Began); !next.IsZero() {
					out.Due = &next
				}
				if asJSON {
					err = printJSON(c.stdout, out)
				} else {
					secret := map[bool]string{true: "encrypted", false: "not encrypted"}[out.Encrypted]
					fmt.Fprintf(c.stdout, "%s, %s; the newest, %s, began %s\n", plural(len(all), "backup"), secret, newest.ID,
						formatTime(newest.Began))
					if out.Due != nil {
						_, err = fmt.Fprintf(c.stdout, "the next is due %s\n", formatTime(*out.Due))
					}
				}
				// A little late is one that is being made.
				if err == nil && out.Due != nil && time.Since(*out.Due) > time.Hour {
					err = errors.New("the next backup is overdue")
				}
				return err
			})
		},
	}
	b.flags(cmd, "to")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) restoreCommand() *cobra.Command {
	var b backupFlags
	var to, into, at string
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Restore a backup into an empty installation",
		Long: `Restore a backup into a new data folder (--to), or into the empty store of a configuration
(--into). Every piece is compared with its hash, every table's rows are counted, and the store checks
what it has got; until all of that has succeeded there is no installation. Nothing that
exists is written over. An interrupted restore is begun again by the same command.

End users who were erased after the backup was made, as far as a later backup shows, are
erased again by the server that starts on what was restored. Indexes are rebuilt by it.`,
		Example: `  mneme restore --from /mnt/backups/mneme --to ./restored
  mneme restore --from s3://backups/mneme --into postgres.yaml --passphrase-file secret.txt --at 20261125t043000z-abcdefgh`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (to == "") == (into == "") {
				return usage("say where to restore to: a new folder with --to, or an empty store's configuration with --into")
			}
			return c.withBackups(cmd.Context(), &b, func(_ *configs.Config, r *backup.Repository) error {
				target, err := c.loadQuietFile(into)
				if err != nil {
					return err
				}
				if to != "" {
					target.DataDir = to
				}
				return c.restore(cmd.Context(), r, target, at)
			})
		},
	}
	b.flags(cmd, "from")
	cmd.Flags().StringVar(&to, "to", "", "data folder to make, with a store of its own in it")
	cmd.Flags().StringVar(&into, "into", "", "configuration file whose store is empty")
	cmd.Flags().StringVar(&at, "at", "latest", "the backup's id, as backup list shows it")
	return cmd
}

// mayBeThere are files of a data folder that say nothing of what is stored.
var mayBeThere = []string{"lock", "claim", "holder.json", "replica", "seal.key", "mneme.lock", "restore.tmp", "cache"}

func (c *command) restore(ctx context.Context, r *backup.Repository, target *configs.Config, at string) (err error) {
	entries, err := os.ReadDir(target.DataDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look into the data folder: %w", err)
	}
	for _, e := range entries {
		if !slices.Contains(mayBeThere, e.Name()) {
			return fmt.Errorf("the data folder %s is not empty: it has %s; name one that is, or that is not there yet",
				target.DataDir, e.Name())
		}
	}
	lock, err := datadir.Acquire(target.DataDir, "restore")
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, lock.Release()) }()
	bar := newProgress(c.stderr)
	done, err := r.Restore(ctx, backup.Restore{
		ID:         at,
		OnProgress: func(table string, bytes int64) { bar.count("storing rows, KiB", int(bytes>>10)) },
		Fill: func(ctx context.Context, from port.Restoring) error {
			return app.RestoreData(ctx, app.Settings{Registry: c.registry, Config: target, Log: c.logger(target.Log)}, from)
		},
	})
	bar.end()
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("stopped; nothing was restored")
		}
		return err
	}
	fmt.Fprintf(c.stdout, "restored backup %s of %s: %s, %s of rows\n", done.ID, formatTime(done.Began),
		plural(int(done.Rows("documents")), "document"), size(done.Bytes))
	if others := done.Databases(); len(others) > 0 {
		fmt.Fprintf(c.stdout, "it is of several databases: what %s had is in the databases of these names, or in the home "+
			"where the configuration has none of that name\n", strings.Join(others, " and "))
	}
	if done.Erased > 0 {
		fmt.Fprintf(c.stdout, "%s erased since: the server erases them again when it starts\n",
			plural(done.Erased, "end user"))
	}
	return nil
}
