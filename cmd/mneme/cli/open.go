package cli

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
)

// openable is something that this system can show.
type openable struct{ name, address, what string }

func (c *command) openCommand() *cobra.Command {
	var userData, show bool
	names := []string{"console", "docs", "data"}
	cmd := &cobra.Command{
		Use:   "open [console|docs|data]",
		Short: "Show what can be opened of a running server: its console, its reference, its data folder",
		Long: `List what can be opened of the server that runs on the data folder, with addresses, or
open one of them by what this system opens such things with. The console is opened
signed in, by a link that is good once, for a minute.`,
		Example:   "  mneme open\n  mneme open console --user-data      # of the service's server\n  mneme open docs --print",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && !slices.Contains(names, args[0]) {
				return usage("%s is nothing that can be opened: %s are", args[0], strings.Join(names, ", "))
			}
			if userData {
				if err := c.useUserData(); err != nil {
					return err
				}
			}
			cfg, err := c.loadQuiet()
			if err != nil {
				return err
			}
			data, err := filepath.Abs(cfg.DataDir)
			if err != nil {
				return fmt.Errorf("data folder: %w", err)
			}
			server, running, err := datadir.Running(cfg.DataDir)
			if err != nil {
				return err
			}
			list := []openable{{"data", data, "the data folder"}}
			if running {
				base := strings.TrimSuffix(cmp.Or(cfg.Server.BaseURL, server.URL), "/")
				list = append(list, openable{"docs", base + "/docs", "the reference of the API"})
				if cfg.Console.Enabled {
					list = append(list, openable{"console", base + "/console", "the console"})
				}
			}
			if len(args) == 0 {
				w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
				for _, o := range list {
					fmt.Fprintf(w, "%s\t%s\t%s\n", o.name, o.address, o.what)
				}
				if !running {
					fmt.Fprintf(c.stderr, "no server runs on %s; mneme serve or mneme service start starts one\n", data)
				}
				return w.Flush()
			}
			i := slices.IndexFunc(list, func(o openable) bool { return o.name == args[0] })
			switch {
			case i < 0 && !running:
				return fmt.Errorf("no server runs on %s; mneme serve or mneme service start starts one", data)
			case i < 0:
				return fmt.Errorf("the %s is off in the server's configuration", args[0])
			}
			address := list[i].address
			if args[0] == "console" {
				if err := c.agreeToMigrate(cmd.Context(), "open", cfg); err != nil {
					return err
				}
				base := cmp.Or(cfg.Server.BaseURL, server.URL)
				address, err = app.SignInLink(cmd.Context(), c.registry, cfg, c.logger(cfg.Log), base)
				if err != nil {
					return err
				}
			}
			if show {
				_, err := fmt.Fprintln(c.stdout, address)
				return err
			}
			opener := opensWith(runtime.GOOS, address)
			if err := exec.CommandContext(cmd.Context(), opener[0], opener[1:]...).Run(); err != nil {
				return fmt.Errorf("open it with %s: %w; open it yourself: %s", opener[0], err, address)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&userData, "user-data", false, "of this user's data folder, where mneme service keeps it")
	cmd.Flags().BoolVar(&show, "print", false, "print the address and open nothing")
	return cmd
}

// opensWith is what a system opens addresses and folders with.
func opensWith(system, address string) []string {
	switch system {
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", address}
	case "darwin":
		return []string{"open", address}
	}
	return []string{"xdg-open", address}
}
