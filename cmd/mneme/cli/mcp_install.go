package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/clientconfig"
	"github.com/mnemehq/mneme/core/ident"
)

// entryOptions say which entry of which client is meant.
type entryOptions struct {
	client, name, file, project string
	dry                         bool
}

func (o *entryOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.client, "client", "", "the client: "+strings.Join(clientconfig.Names(), ", "))
	f.StringVar(&o.name, "name", "mneme", "name of the entry; several of them may stand side by side, as for two data folders")
	f.StringVar(&o.file, "file", "", "configuration file of the client, as of another profile (default: where the client looks)")
	f.StringVar(&o.project, "project", "", "folder of a project: write the configuration that the client reads there")
	f.BoolVar(&o.dry, "dry-run", false, "show the change and write nothing")
}

// installation is what the options mean on this machine.
func (o *entryOptions) installation() (clientconfig.Installation, error) {
	var none clientconfig.Installation
	client, ok := clientconfig.Find(o.client)
	switch {
	case o.client == "":
		return none, usage("give --client: %s", strings.Join(clientconfig.Names(), ", "))
	case !ok:
		return none, usage("--client %s is not known; known are %s. For others, docs/mcp.md shows what to enter", o.client,
			strings.Join(clientconfig.Names(), ", "))
	case !ident.ValidNamespace(o.name): // what every client takes
		return none, usage("--name %s", ident.NamespaceRule)
	case o.file != "" && o.project != "":
		return none, usage("--file and --project do not go together")
	}
	system, err := thisSystem()
	if err != nil {
		return none, err
	}
	file := o.file
	switch {
	case o.project != "":
		if file = client.ProjectFile(o.project); file == "" {
			return none, usage("%s has no configuration of projects", client.Title)
		}
	case file == "":
		file = client.File(system)
	}
	if file, err = filepath.Abs(file); err != nil {
		return none, fmt.Errorf("configuration of the client: %w", err)
	}
	state := filepath.Join(dataDirOf(system.OS, system.Home, system.Getenv), "clients")
	return clientconfig.Installation{Client: client, File: file, Name: o.name, State: state}, nil
}

func thisSystem() (clientconfig.System, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return clientconfig.System{}, fmt.Errorf("find the clients' folders: %w; name the file with --file", err)
	}
	return clientconfig.System{OS: runtime.GOOS, Home: home, Getenv: os.Getenv}, nil
}

func (c *command) mcpInstallCommand() *cobra.Command {
	var (
		o                  entryOptions
		link               string
		url, ns, keyFile   string
		folders            []string
		force, portableCmd bool
	)
	cmd := &cobra.Command{
		Use:   "install --client NAME",
		Short: "Enter this program in an assistant's or editor's own configuration",
		Long: `Enter this program as an MCP server in the configuration of an assistant or editor,
which starts it by itself from then on. All else in that file stays as it is, with its
comments; a copy is kept, and mneme mcp uninstall takes the entry back.

Without --url the entry works on a data folder of this machine, the user's unless
--data names one, and needs no key. With --url it speaks to a server; the key is asked
for by the client or comes from the variable MNEME_KEY, and a client that can do
neither needs --key-file. No key is ever written into the configuration.

--link prints an address instead that has the client ask whether to enter the server.`,
		Example: `  mneme mcp install --client claude-desktop --dry-run
  mneme mcp install --client cursor --namespace notes --follow ~/Notes
  mneme mcp install --client vscode --url https://memory.example.com
  mneme mcp install --client codex --name mneme-work --data ~/work/memory
  mneme mcp install --link cursor`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if link != "" {
				o.client = link
			}
			i, err := o.installation()
			if err != nil {
				return err
			}
			if folders, err = foldersToFollow(folders); err != nil {
				return err
			}
			switch {
			case ns != "" && !ident.ValidNamespace(ns):
				return usage("--namespace %s", ident.NamespaceRule)
			case len(folders) > 0 && ns == "":
				return usage("--follow needs --namespace: the namespace to keep in step with the folder")
			case url != "" && c.dataDir != "":
				return usage("--url and --data do not go together")
			case url == "" && keyFile != "":
				return usage("--key-file goes with --url; a data folder of this machine needs no key")
			case url != "" && keyFile == "" && !i.Client.KeepsSecrets():
				return usage("%s has no place for a key but its configuration, which is no place for one: put the key into a "+
					"file that only you can read and give --key-file", i.Client.Title)
			}
			s := clientconfig.Server{Command: "mneme", Args: []string{"mcp", "--stdio"}}
			if link == "" && !portableCmd {
				if s.Command, err = os.Executable(); err != nil {
					return fmt.Errorf("find this program: %w", err)
				}
			}
			if err := c.serverArgs(&s, link != "", url, keyFile); err != nil {
				return err
			}
			if ns != "" {
				s.Args = append(s.Args, "--namespace", ns)
			}
			for _, dir := range folders {
				s.Args = append(s.Args, "--follow", dir)
			}
			if link != "" {
				return c.printLink(i, s)
			}
			change, err := i.Install(s, force)
			if err != nil {
				return err
			}
			if change.None() {
				_, err := fmt.Fprintf(c.stdout, "%s is entered in %s already, just so\n", o.name, i.File)
				return err
			}
			if o.dry {
				_, err := fmt.Fprint(c.stdout, change.Diff())
				return err
			}
			if err := change.Apply(); err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "%s is entered in %s\n", o.name, i.File)
			if change.Copy != "" {
				fmt.Fprintf(c.stdout, "what was there before: %s\n", change.Copy)
			}
			_, err = fmt.Fprintf(c.stdout, "%s: %s\n", i.Client.Title, i.Client.Restart)
			return err
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&link, "link", "", "print an address that enters the server: cursor, vscode or vscode-insiders")
	f.StringVar(&url, "url", "", "URL of a server to speak to, in place of a data folder")
	f.StringVar(&keyFile, "key-file", "", "file that holds the API key of that server")
	f.StringVar(&ns, "namespace", "", "the namespace that the tools work on")
	f.StringArrayVar(&folders, "follow", nil, "folder to keep the namespace in step with; may be repeated")
	f.BoolVar(&force, "force", false, "replace an entry of that name which this command did not make")
	f.BoolVar(&portableCmd, "from-path", false, "name the program mneme, to be found in PATH, in place of its own file")
	return cmd
}

// serverArgs says where the data are.
func (c *command) serverArgs(s *clientconfig.Server, portable bool, url, keyFile string) error {
	switch {
	case url != "" && keyFile != "":
		abs, err := filepath.Abs(keyFile)
		if err != nil {
			return fmt.Errorf("key file: %w", err)
		}
		if _, err := readKeyFile(abs); err != nil {
			return err
		}
		s.Args = append(s.Args, "--url", url, "--key-file", abs)
	case url != "":
		s.Args, s.Secret = append(s.Args, "--url", url), "MNEME_KEY"
	case c.dataDir != "":
		abs, err := filepath.Abs(c.dataDir)
		if err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
		s.Args = append(s.Args, "--data", abs)
	case portable:
		s.Args = append(s.Args, "--user-data")
	default:
		dir, err := userDataDir()
		if err != nil {
			return err
		}
		s.Args = append(s.Args, "--data", dir)
	}
	if file := c.file(); file != "" && url == "" {
		abs, err := filepath.Abs(file)
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		s.Args = append(s.Args, "--config", abs)
	}
	return nil
}

func (c *command) printLink(i clientconfig.Installation, s clientconfig.Server) error {
	program, page, err := i.Client.Link(i.Name, s)
	if err != nil {
		return usage("--link: %s", err)
	}
	_, err = fmt.Fprintf(c.stdout, "%s\n%s\n", program, page)
	return err
}

func (c *command) mcpUninstallCommand() *cobra.Command {
	var o entryOptions
	cmd := &cobra.Command{
		Use:   "uninstall --client NAME",
		Short: "Take this program out of an assistant's or editor's configuration",
		Long: `Take the entry of mneme mcp install back. Where nobody else has changed the file since,
it is again what it was, byte by byte; else the entry alone is taken out. Data stay.`,
		Example: "  mneme mcp uninstall --client cursor\n  mneme mcp uninstall --client codex --name mneme-work --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := o.installation()
			if err != nil {
				return err
			}
			change, err := i.Uninstall()
			if err != nil {
				return err
			}
			if o.dry {
				_, err := fmt.Fprint(c.stdout, change.Diff())
				return err
			}
			if err := change.Apply(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.stdout, "%s is taken out of %s\n", o.name, i.File)
			return err
		},
	}
	o.flags(cmd)
	return cmd
}

func (c *command) mcpClientsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "clients",
		Short:   "List the clients that install knows, and where each keeps its configuration",
		Example: "  mneme mcp clients",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			system, err := thisSystem()
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "CLIENT\tFILE\tIS THERE")
			for _, client := range clientconfig.Clients() {
				file, there := client.File(system), "no"
				if _, err := os.Stat(file); err == nil {
					there = "yes"
				} else if !errors.Is(err, os.ErrNotExist) {
					there = "not readable"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", client.Name, file, there)
			}
			return w.Flush()
		},
	}
}
