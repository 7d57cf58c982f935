package cli

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/bridge"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/ident"
)

func (c *command) mcpCommand() *cobra.Command {
	var t target
	var stdio bool
	var namespace string
	cmd := &cobra.Command{
		Use:   "mcp --stdio",
		Short: "Serve the tools to an MCP client on standard input and output",
		Long: `Serve the tools search, fetch, save, delete and list_namespaces to a desktop
client of the Model Context Protocol that starts this command. Standard output
carries the protocol alone; what there is to log goes to standard error. A
client that speaks HTTP connects to /mcp of a running server instead.
` + connectHelp,
		Example: `  mneme mcp --stdio                       # as the command that a desktop client starts
  mneme mcp --stdio --namespace notes     # its tools work on one namespace
  MNEME_KEY=sk-service-... mneme mcp --stdio --url https://memory.example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !stdio {
				return usage("give --stdio: over HTTP a running server serves the tools at /mcp")
			}
			if namespace != "" && !ident.ValidNamespace(namespace) {
				return usage("--namespace %s", ident.NamespaceRule)
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
			}
			return b.Run(cmd.Context(), c.stdin, c.stdout)
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&stdio, "stdio", false, "speak the protocol on standard input and output")
	cmd.Flags().StringVar(&namespace, "namespace", "", "the namespace that the tools work on")
	return cmd
}

// connectOrShare is the server of --url, or whoever holds the data folder.
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
