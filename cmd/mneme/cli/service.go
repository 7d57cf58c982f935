package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/cmd/mneme/internal/service"
	"github.com/mnemehq/mneme/core/ident"
)

// serviceOptions say which service is meant.
type serviceOptions struct {
	name   string
	system bool
}

func (o *serviceOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.name, "name", serviceName, "name of the service")
	cmd.Flags().BoolVar(&o.system, "system", false, "a service of the machine, not of this user")
}

func (c *command) serviceCommand() *cobra.Command {
	return parent("service", "Run the server in the background, from the start of the machine or the session",
		c.serviceInstallCommand(),
		c.serviceActCommand("start", "Start the service", func(m *service.Manager) error { return m.Start() }),
		c.serviceActCommand("stop", "Stop the service; calls in progress are finished first",
			func(m *service.Manager) error { return m.Stop() }),
		c.serviceStatusCommand(),
		c.serviceActCommand("uninstall", "Stop the service and make the system forget it; data stay",
			func(m *service.Manager) error { return m.Uninstall() }))
}

// serviceName is what a service is called unless it is given a name.
const serviceName = "mneme"

// dataOfService is the folder that a service keeps its data in unless it is told another one. Each has its own.
func (c *command) dataOfService(o serviceOptions) (string, error) {
	if c.dataDir != "" {
		dir, err := filepath.Abs(c.dataDir)
		if err != nil {
			return "", fmt.Errorf("data folder: %w", err)
		}
		return dir, nil
	}
	find := userDataDir
	if o.system {
		find = func() (string, error) { return systemDataDir(runtime.GOOS, os.Getenv) }
	}
	dir, err := find()
	switch {
	case err != nil || o.name == serviceName:
		return dir, err
	case o.system && runtime.GOOS == "linux": // as systemd names it
		return filepath.Join(filepath.Dir(dir), o.name), nil
	}
	return dir + "-" + o.name, nil
}

// spec is the service that the options describe.
func (c *command) spec(o serviceOptions, addr, user string) (service.Spec, error) {
	none := service.Spec{}
	if !ident.ValidNamespace(o.name) { // what every system takes
		return none, usage("--name %s", ident.NamespaceRule)
	}
	s := service.Spec{Name: o.name, System: o.system, User: user, Args: []string{"serve"}}
	var err error
	if s.Program, err = os.Executable(); err != nil {
		return none, fmt.Errorf("find this program: %w", err)
	}
	data, err := c.dataOfService(o)
	if err != nil {
		return none, err
	}
	invented := o.system && runtime.GOOS == "linux" && user == ""
	if !invented { // else systemd makes the folder and names it
		s.Data = data
		s.Args = append(s.Args, "--data", data)
	}
	if file := c.file(); file != "" {
		abs, err := filepath.Abs(file)
		if err != nil {
			return none, fmt.Errorf("configuration: %w", err)
		}
		s.Args = append(s.Args, "--config", abs)
	}
	if addr != "" {
		s.Args = append(s.Args, "--addr", addr)
	}
	if c.logLevel != "" {
		s.Args = append(s.Args, "--log-level", c.logLevel)
	}
	if runtime.GOOS != "linux" { // there the journal keeps the log
		s.Args = append(s.Args, "--log-file", logOf(data))
	}
	if runtime.GOOS == "windows" && user == "" {
		s.User = service.LocalService
	}
	return s, nil
}

func logOf(data string) string { return filepath.Join(data, "logs", "mneme.log") }

func (c *command) serviceInstallCommand() *cobra.Command {
	var (
		o          serviceOptions
		addr, user string
		dry, idle  bool
	)
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the service and start it",
		Long: `Make the system run the server in the background: systemd on Linux, launchd on macOS,
the service manager on Windows. It starts with this user's session, or with the machine
where --system is given, and again after a failure. Data lie in the system's place for
them unless --data names a folder; --config, --addr and --log-level are passed on.

Under systemd the journal keeps the log. Elsewhere it is in files beside the data,
which are kept small and few. On Windows, services are of the machine alone.`,
		Example: `  mneme service install --dry-run          # shows what would be installed
  mneme service install
  sudo mneme service install --system --addr 127.0.0.1:8080
  sudo mneme service install --system --user mneme --data /srv/mneme --config /etc/mneme.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case user != "" && !o.system:
				return usage("--user goes with --system; a user's own service runs as that user")
			case o.system && c.dataDir != "" && user == "" && runtime.GOOS == "linux":
				return usage("--data with --system needs --user: the user whom the folder belongs to")
			}
			s, err := c.spec(o, addr, user)
			if err != nil {
				return err
			}
			m, err := service.For(s)
			if err != nil {
				return err
			}
			if dry {
				if m.File() != "" {
					fmt.Fprintf(c.stderr, "%s:\n", m.File())
				}
				_, err := fmt.Fprint(c.stdout, m.Unit())
				return err
			}
			if s.Data != "" && !o.system {
				if info, err := os.Stat(s.Data); err == nil && !info.IsDir() {
					return fmt.Errorf("the data folder %s is a file; name a folder with --data", s.Data)
				}
				if err := datadir.Create(s.Data); err != nil {
					return err
				}
			}
			if err := m.Install(); err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "service %s is installed%s\n", s.Name, inFile(m.File()))
			if runtime.GOOS == "linux" && !o.system {
				fmt.Fprintln(c.stdout, "it runs while you are signed in; loginctl enable-linger keeps it running")
			}
			if idle {
				return nil
			}
			if err := m.Start(); err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.stdout, "it is started; mneme service status says where it listens")
			return err
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&addr, "addr", "", "address to listen on, host:port (default 127.0.0.1:8080)")
	f.StringVar(&user, "user", "", "with --system: whom it runs as (default on Linux: a user that systemd makes for it)")
	f.BoolVar(&dry, "dry-run", false, "show what would be installed and change nothing")
	f.BoolVar(&idle, "no-start", false, "install it and start it later")
	return cmd
}

func inFile(file string) string {
	if file == "" {
		return ""
	}
	return " in " + file
}

func (c *command) serviceActCommand(name, short string, act func(*service.Manager) error) *cobra.Command {
	var o serviceOptions
	cmd := &cobra.Command{
		Use:     name,
		Short:   short,
		Example: "  mneme service " + name,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := c.manager(o)
			if err != nil {
				return err
			}
			if err := act(m); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.stdout, "service %s: %s done\n", o.name, name)
			return err
		},
	}
	o.flags(cmd)
	return cmd
}

// manager is this system's, for an installed service.
func (c *command) manager(o serviceOptions) (*service.Manager, error) {
	s, err := c.spec(o, "", "")
	if err != nil {
		return nil, err
	}
	return service.For(s)
}

func (c *command) serviceStatusCommand() *cobra.Command {
	var o serviceOptions
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Say whether the service runs and where it listens; the exit code is 1 if it does not run",
		Example: "  mneme service status\n  mneme service status --system",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := c.manager(o)
			if err != nil {
				return err
			}
			state, err := m.State()
			if err != nil {
				return err
			}
			data := m.Data()
			if data == "" {
				if data, err = c.dataOfService(o); err != nil {
					return err
				}
			}
			fmt.Fprintf(c.stdout, "service  %s\n", state)
			if file := m.File(); file != "" && state != service.Absent {
				fmt.Fprintf(c.stdout, "unit     %s\n", file)
			}
			fmt.Fprintf(c.stdout, "data     %s\n", data)
			fmt.Fprintf(c.stdout, "listens  %s\n", whereListens(data))
			fmt.Fprintf(c.stdout, "log      %s\n", whereLogged(o, data))
			if state != service.Running {
				return errReported
			}
			return nil
		},
	}
	o.flags(cmd)
	return cmd
}

func whereLogged(o serviceOptions, data string) string {
	switch {
	case runtime.GOOS != "linux":
		return logOf(data)
	case o.system:
		return "journalctl --unit " + o.name
	}
	return "journalctl --user --unit " + o.name
}

// whereListens finds the server on a folder.
func whereListens(data string) string {
	server, running, err := datadir.Running(data)
	switch {
	case errors.Is(err, os.ErrPermission):
		return "not known: this user may not look into the data folder"
	case err != nil:
		return err.Error()
	case !running:
		return "nowhere: no server runs on the data folder"
	}
	return server.URL
}
