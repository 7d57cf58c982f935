package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/bridge"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
)

func (c *command) mcpCommand() *cobra.Command {
	var t target
	var stdio, userData bool
	var namespace, endUser, keyFile string
	var folders []string
	cmd := &cobra.Command{
		Use:   "mcp --stdio",
		Short: "Serve the tools to an MCP client on standard input and output, or enter that in the client",
		Long: `Serve the tools search, fetch, save, delete and list_namespaces to a desktop
client of the Model Context Protocol that starts this command. Standard output
carries the protocol alone; what there is to log goes to standard error. A
client that speaks HTTP connects to /mcp of a running server instead.

The command talks to the server of --url, with the key of --key-file or MNEME_KEY.
Without --url it works on a data folder, which several clients may share: the command
that starts first holds the folder and answers the others, and when it ends, another
takes the folder over. Calls that it had not answered are asked again. A running
server on the folder answers them all.

With a key of the memory API the tools are context, remember and forget, for the
end user of --end-user.

--follow keeps a namespace in step with a folder, as mneme import --watch --prune does.`,
		Example: `  mneme mcp --stdio                       # as the command that a desktop client starts
  mneme mcp --stdio --namespace notes     # its tools work on one namespace
  mneme mcp --stdio --user-data --namespace notes --follow ~/Notes
  MNEME_KEY=sk-service-... mneme mcp --stdio --url https://memory.example.com
  MNEME_KEY=cint_... mneme mcp --stdio --url https://memory.example.com --end-user ann`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !stdio {
				return usage("give --stdio: over HTTP a running server serves the tools at /mcp")
			}
			if namespace != "" && !ident.ValidNamespace(namespace) {
				return usage("--namespace %s", ident.NamespaceRule)
			}
			if endUser != "" && (namespace != "" || !ident.ValidEndUser(endUser)) {
				return usage("--end-user must be the id of an end user, without --namespace")
			}
			if folders, err = foldersToFollow(folders); err != nil {
				return err
			}
			if len(folders) > 0 && namespace == "" {
				return usage("--follow needs --namespace: the namespace to keep in step with the folder")
			}
			if userData {
				if err := c.useUserData(); err != nil {
					return err
				}
			}
			if keyFile != "" {
				if t.key, err = readKeyFile(keyFile); err != nil {
					return err
				}
			}
			cfg, err := c.loadQuiet()
			if err != nil {
				return err
			}
			cl, done, err := c.connectOrShare(cmd.Context(), t)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, done()) }()
			b := bridge.Bridge{Endpoint: cl.Base() + "/mcp", Key: cl.Key(), Transport: cl.Transport(), Log: c.logger(cfg.Log)}
			if namespace != "" {
				b.Endpoint += "?namespace=" + url.QueryEscape(namespace)
			} else if endUser != "" {
				b.Endpoint += "?endUserId=" + url.QueryEscape(endUser)
			}
			ctx, end := context.WithCancel(cmd.Context())
			var following sync.WaitGroup
			defer following.Wait()
			defer end()
			if len(folders) > 0 {
				following.Go(func() { c.follow(ctx, t, cl, namespace, folders, b.Log) })
			}
			return b.Run(cmd.Context(), c.stdin, c.stdout)
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&stdio, "stdio", false, "speak the protocol on standard input and output")
	f := cmd.Flags()
	f.StringVar(&namespace, "namespace", "", "the namespace that the tools work on")
	f.StringVar(&endUser, "end-user", "", "the end user whose memories the tools work on, with a key of the memory API")
	f.StringArrayVar(&folders, "follow", nil, "keep the namespace in step with this folder; may be repeated")
	f.BoolVar(&userData, "user-data", false, "work on this user's data folder, as mneme service does, where --data names none")
	f.StringVar(&keyFile, "key-file", "", "file that holds the API key of the server at --url")
	cmd.AddCommand(c.mcpInstallCommand(), c.mcpUninstallCommand(), c.mcpClientsCommand())
	return cmd
}

// foldersToFollow checks what is to be followed.
func foldersToFollow(given []string) ([]string, error) {
	var folders []string
	for _, dir := range given {
		if unset(dir) {
			continue
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("folder to follow: %w", err)
		}
		if info, err := os.Stat(abs); err == nil && !info.IsDir() {
			return nil, usage("--follow takes a folder, and %s is a file", dir)
		}
		folders = append(folders, abs)
	}
	return folders, nil
}

// followAgain is when a folder is tried again that can't be followed now: it is not there,
// this user may not read it, or another assistant follows it.
const followAgain = 30 * time.Second

// follow keeps a namespace in step with folders until the context ends.
func (c *command) follow(ctx context.Context, t target, cl *client.Client, namespace string, folders []string,
	log *slog.Logger) {
	quiet := *c
	quiet.yes = true // nobody is asked
	for {
		err := quiet.importFiles(ctx, t, namespace, folders, fileImport{workers: 2, batch: importBatch, prune: true, watch: true,
			through: cl})
		if ctx.Err() != nil {
			return
		}
		if fault.From(err).Code != fault.Conflict { // else another assistant follows them
			log.Warn("folders not followed", "folders", folders, "error", err)
		}
		select {
		case <-time.After(followAgain):
		case <-ctx.Done():
			return
		}
	}
}

// readKeyFile reads a key that stands alone in a file.
func readKeyFile(file string) (string, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	key := strings.TrimSpace(string(body))
	if key == "" || strings.ContainsAny(key, " \t\r\n") {
		return "", fmt.Errorf("%s does not hold a key alone", file)
	}
	return key, nil
}

// useUserData has the command work on the user's data folder, unless another one is given.
func (c *command) useUserData() (err error) {
	if unset(c.dataDir) {
		c.dataDir, err = userDataDir()
	}
	return err
}

// unset reports that a client has put nothing into an argument: an empty text, or the name of
// its own setting.
func unset(value string) bool { return value == "" || strings.HasPrefix(value, "${") }

// connectOrShare is the server of --url, or the process that holds the data folder.
func (c *command) connectOrShare(ctx context.Context, t target) (*client.Client, func() error, error) {
	if t.server() != "" {
		return c.connect(ctx, "mcp", t)
	}
	t.key = cmp.Or(t.key, os.Getenv(t.credential().variable))
	return c.share(ctx, t)
}

// dialableAddr is where a client on this machine reaches a server that listens on addr.
func dialableAddr(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return addr
}
