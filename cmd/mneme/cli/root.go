package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/registry"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// command is what every subcommand shares: the components of this binary, the
// streams and the global flags.
type command struct {
	registry       *registry.Registry
	stdin          io.Reader
	stdout, stderr io.Writer

	dataDir, configFile, logLevel string
	yes                           bool // do not ask
	running                       bool // flags and arguments were understood

	level *slog.LevelVar // what a running server logs from, which a reload may change; nil: it never changes

	temporary []string // folders to remove at the end

	opened *app.App // the product that connect put together itself; nil: a server runs it
}

// Main runs the command line args and returns the exit code.
func Main(r *registry.Registry, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &command{registry: r, stdin: stdin, stdout: stdout, stderr: stderr}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() { // the first signal asks for an orderly end, the next one ends the process
		<-ctx.Done()
		stop()
	}()
	root := c.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := joinErrors(root.ExecuteContext(ctx), c.clean()); {
	case err == nil:
		return exitOK
	case errors.As(err, new(usageError)) || !c.running:
		fmt.Fprintf(stderr, "mneme: %s\nRun 'mneme --help' for what it understands.\n", describe(err))
		return exitUsage
	case errors.Is(err, errReported):
		return exitFailure
	default:
		fmt.Fprintf(stderr, "mneme: %s\n", describe(err))
		return exitFailure
	}
}

// errReported ends a command that has already said what is wrong.
var errReported = errors.New("already reported")

// usageError is a mistake in the command line that only the command can see.
type usageError struct{ reason string }

func (e usageError) Error() string { return e.reason }

func usage(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// describe renders an error for a person at a terminal: each problem of the
// configuration on a line of its own, a fault with its cause, which a server would hide.
func describe(err error) string {
	var problems configs.Problems
	if errors.As(err, &problems) {
		return "the configuration has " + plural(len(problems), "problem") + ":\n" + problems.Error()
	}
	var f *fault.Error
	if errors.As(err, &f) && f.Err != nil {
		return err.Error() + ": " + f.Err.Error()
	}
	return err.Error()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "mneme",
		Short: "A memory and document retrieval server in one binary",
		Long: `Mneme stores documents durably and finds the right passage with vector and
keyword search, offline, with an embedding model built in.

Start with:  mneme quickstart`,
		Example: `  mneme quickstart                        # a server, a key, sample documents and a first query
  mneme serve --data ./data               # the server alone
  mneme keys create --data ./data         # an API key, on standard output
  mneme import ./handbook --namespace docs
  mneme query docs "how long is the notice period"`,
		Version:       thisBuild().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			c.running = true
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
		Args: cobra.NoArgs,
	}
	root.SetVersionTemplate(strings.ReplaceAll(thisBuild().String(), "{{", ""))
	flags := root.PersistentFlags()
	flags.StringVar(&c.dataDir, "data", "", "folder of all durable data (MNEME_DATA; default mneme-data)")
	flags.StringVar(&c.configFile, "config", "", "configuration file (MNEME_CONFIG; default: none)")
	flags.StringVar(&c.logLevel, "log-level", "", "debug, info, warn or error (MNEME_LOG_LEVEL; default info)")
	flags.BoolVar(&c.yes, "yes", false, "do not ask before something that cannot be undone")
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run a server:"}, &cobra.Group{ID: "data", Title: "Work with documents:"},
		&cobra.Group{ID: "admin", Title: "Administer:"})
	root.SetHelpCommandGroupID("admin")
	root.SetCompletionCommandGroupID("admin")
	c.add(root, "run", c.quickstartCommand(), c.serveCommand(), c.serviceCommand(), c.mcpCommand(), c.openCommand(),
		c.healthcheckCommand())
	c.add(root, "data", c.importCommand(), c.queryCommand(), c.evalCommand(), c.benchCommand(), c.reindexCommand())
	c.add(root, "data", c.namespacesCommand(), c.documentsCommand(), c.sourcesCommand(), c.checksCommand())
	c.add(root, "data", c.exportCommand(), c.copyCommand(), c.backupCommand(), c.restoreCommand())
	c.add(root, "admin", c.migrateCommand())
	c.add(root, "admin", c.keysCommand(), c.orgsCommand(), c.membersCommand(), c.integrationsCommand(), c.usersCommand(),
		c.jobsCommand(), c.eventsCommand(), c.webhooksCommand(), c.auditCommand(), c.usageCommand(), c.consoleCommand(),
		c.sealCommand(), c.modelsCommand(), c.errorsCommand())
	c.add(root, "admin", c.configCommand(), c.doctorCommand(), c.openapiCommand(), c.versionCommand())
	formats(root)
	return root
}

// formats lets every command that prints JSON be asked for it in both ways, --json and
// --format json.
func formats(cmd *cobra.Command) {
	f := cmd.Flags()
	asJSON, format := f.Lookup("json"), f.Lookup("format")
	if asJSON != nil && asJSON.Value.Type() == "bool" && format == nil {
		f.Var(formatFlag{asJSON.Value}, "format", "text or json")
		f.Lookup("format").Hidden = true // --json is the one to learn
	}
	for _, child := range cmd.Commands() {
		formats(child)
	}
}

// formatFlag is --format of a command whose own flag is --json.
type formatFlag struct{ asJSON pflag.Value }

func (formatFlag) Type() string { return "string" }

func (f formatFlag) String() string {
	if f.asJSON != nil && f.asJSON.String() == "true" {
		return "json"
	}
	return "text"
}

func (f formatFlag) Set(format string) error {
	switch format {
	case "json":
		return f.asJSON.Set("true")
	case "text":
		return f.asJSON.Set("false")
	}
	return errors.New("text and json are known")
}

func (c *command) add(root *cobra.Command, group string, cmds ...*cobra.Command) {
	for _, cmd := range cmds {
		cmd.GroupID = group
		root.AddCommand(cmd)
	}
}

// parent makes a command that only holds others; alone it is a usage error,
// which names the choices.
func parent(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			names := make([]string, 0, len(children))
			for _, child := range children {
				names = append(names, child.Name())
			}
			if len(args) > 0 {
				return usage("%s has no command %q; it has %s", cmd.CommandPath(), args[0], strings.Join(names, ", "))
			}
			return usage("%s needs a command: %s", cmd.CommandPath(), strings.Join(names, ", "))
		}}
	cmd.AddCommand(children...)
	return cmd
}

// load reads the configuration that the flags and the environment ask for.
func (c *command) load(settings ...configs.Setting) (*configs.Config, error) {
	return c.loadFrom(configs.Source{Settings: settings})
}

// loadFrom does so with more to say about where from.
func (c *command) loadFrom(s configs.Source) (*configs.Config, error) {
	if c.dataDir != "" {
		s.Settings = append(s.Settings, configs.Setting{Path: "data_dir", Value: c.dataDir, From: "flag --data"})
	}
	if c.logLevel != "" {
		s.Settings = append(s.Settings, configs.Setting{Path: "log.level", Value: c.logLevel, From: "flag --log-level"})
	}
	s.File = c.file()
	return configs.Load(c.registry, s)
}

// confirm asks on standard error and wants "yes" or "y" on standard input, unless --yes was given.
func (c *command) confirm(format string, args ...any) error {
	if c.yes {
		return nil
	}
	fmt.Fprintf(c.stderr, format+" [y/N] ", args...)
	answer, err := bufio.NewReader(c.stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return fmt.Errorf("read the answer: %w", err)
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a == "y" || a == "yes" {
		return nil
	}
	if err == io.EOF && answer == "" {
		fmt.Fprintln(c.stderr)
	}
	return errors.New("nothing was changed; answer y, or give --yes")
}

// logger writes to standard error as the configuration says.
func (c *command) logger(l configs.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.Level)) // one of the four, checked with the configuration
	options := &slog.HandlerOptions{Level: level}
	if c.level != nil {
		c.level.Set(level)
		options.Level = c.level
	}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(c.stderr, options))
	}
	return slog.New(slog.NewTextHandler(c.stderr, options))
}

// joinErrors joins the command's own error with that of its clean-up, in this order.
func joinErrors(err, ending error) error {
	if ending == nil {
		return err
	}
	return errors.Join(err, ending)
}
