package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
)

func (c *command) copyCommand() *cobra.Command {
	var m contentFlags
	var from, to, conflict string
	cmd := &cobra.Command{
		Use:   "copy --from CONFIG --to CONFIG",
		Short: "Copy all data from one installation into another, such as SQLite to PostgreSQL",
		Long: `Copy organizations, keys, integrations, namespaces and end users from the store of
one configuration into that of another, without a file between and without
embedding anything again. What was copied is read back and compared with what was
read. The two need data folders of their own.

The source may be served during the copy; what was written there after it was copied is
named at the end, and the exit code is then 1. Repeating the command with
--on-conflict replace brings those over: namespaces and end users with the same
contents on both sides are left alone. The target must not be served from its
data folder while the command runs. A copy that is stopped goes on when the same command is
given again.`,
		Example: `  mneme copy --from laptop.yaml --to postgres.yaml
  mneme copy --from postgres.yaml --to laptop.yaml --org acme --on-conflict replace`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			contents, err := m.contents(cmd)
			if err != nil {
				return err
			}
			on, err := parsePolicy(conflict)
			if err != nil {
				return err
			}
			if from == "" || to == "" {
				return usage("copy needs two configuration files, --from and --to")
			}
			if c.dataDir != "" || c.configFile != "" {
				return usage("copy takes everything from --from and --to; leave --data and --config out")
			}
			return c.copy(cmd.Context(), contents, from, to, on)
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&from, "from", "", "configuration file of the installation to read")
	cmd.Flags().StringVar(&to, "to", "", "configuration file of the installation to write")
	cmd.Flags().StringVar(&conflict, "on-conflict", string(dataset.Fail), policyHelp)
	return cmd
}

func (c *command) copy(ctx context.Context, contents dataset.Contents, from, to string, on dataset.Policy) (err error) {
	source, err := c.loadQuietFile(from)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	target, err := c.loadQuietFile(to)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if err := sameInstallation(source, target); err != nil {
		return err
	}
	if err := c.agreeToMigrate(ctx, "copy", source); err != nil {
		return err
	}
	read, err := app.ReadData(ctx, app.Settings{Registry: c.registry, Config: source, Log: c.logger(source.Log), Command: "copy"})
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, read.Close()) }()
	if datadir.Held(source.DataDir) != nil {
		fmt.Fprintln(c.stderr, "the source is being served: what is written there from now on may be missing in the copy")
	}
	bar := newProgress(c.stderr)
	defer bar.end()
	x := &installation.Exporter{
		Store:    read.Store,
		Contents: contents,
		Program:  thisBuild().Version,
		Backend:  source.Storage.Component,
	}
	var done installation.Copied
	_, err = c.importInto(ctx, target, "copy", on, func(m *installation.Importer) (_ installation.Result, err error) {
		m.Authority = installation.Authority{Keys: true, AdminKeys: true, Secrets: true} // as far as contents has them
		m.OnProgress = func(n, total int64) { bar.update("copying documents", int(n), int(total)) }
		if done, err = installation.Copy(ctx, x, m); err != nil && ctx.Err() != nil {
			err = fmt.Errorf("stopped; the same command goes on: %w", err)
		}
		return done.Result, err
	}, func() (string, error) { return x.Source(ctx) })
	bar.end()
	if err != nil {
		return err
	}
	c.printMoved("copied", done.Result)
	if len(done.WithoutVectors) > 0 {
		fmt.Fprintf(c.stdout, "%s without vectors: make them with mneme reindex --all --config %s, and with --memories\n",
			plural(len(done.WithoutVectors), "namespace or end user"), to)
	}
	for _, p := range done.Moved {
		fmt.Fprintf(c.stderr, "written at the source after it was copied: %s %s\n", p.Space(), p.Name())
	}
	if len(done.Moved) > 0 {
		fmt.Fprintln(c.stderr, "repeat the copy with --on-conflict replace to bring these over")
		return errReported
	}
	return nil
}

// loadQuietFile loads a configuration file for a command whose output is for a person.
// The variable that names a data folder would name the same one for both.
func (c *command) loadQuietFile(file string) (*configs.Config, error) {
	getenv := func(name string) (string, bool) {
		if name == "MNEME_DATA" {
			return "", false
		}
		return os.LookupEnv(name)
	}
	cfg, err := configs.Load(c.registry, configs.Source{File: file, Getenv: getenv})
	if err == nil && c.logLevel == "" && cfg.Log.Level == "info" {
		cfg.Log.Level = "warn"
	}
	return cfg, err
}
