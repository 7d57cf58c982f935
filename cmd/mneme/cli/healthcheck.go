package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/status"
)

func (c *command) healthcheckCommand() *cobra.Command {
	var url string
	var deep bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask a running server whether it serves; the exit code is the answer",
		Long: `Ask the server at --url, else at the configured address on this machine, of two
at server.admin_addr, for
/health, or with --deep for /health/deep, which searches through every retriever.
Exit code 0: it is well. For containers, whose image holds no other program.`,
		Example: "  mneme healthcheck\n  mneme healthcheck --deep --url http://127.0.0.1:8080",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return usage("--timeout must be above 0")
			}
			if url == "" {
				url = os.Getenv("MNEME_URL")
			}
			var certificate string
			if url == "" {
				cfg, err := c.loadQuiet()
				if err != nil {
					return err
				}
				if url, err = localURL(cmp.Or(cfg.Server.AdminAddr, cfg.Server.Addr)); err != nil {
					return err
				}
				if certificate = cfg.Server.TLS.Cert; certificate != "" && cfg.Server.AdminAddr == "" {
					url = "https" + strings.TrimPrefix(url, "http")
				}
			}
			cl, err := client.New(url, "")
			if err != nil {
				return err
			}
			cl.Pin(certificate)
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			path := "/health"
			if deep {
				path += "/deep"
			}
			var answer status.Deep
			if err := cl.Do(ctx, http.MethodGet, path, nil, &answer); err != nil {
				if errors.Is(err, context.DeadlineExceeded) {
					return fmt.Errorf("%s did not answer within %s", url, timeout)
				}
				return fmt.Errorf("%s is not well: %w", url, err)
			}
			_, err = fmt.Fprintln(c.stdout, answer.Status)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&url, "url", "", "URL of the server (MNEME_URL; default: the configured address on this machine)")
	f.BoolVar(&deep, "deep", false, "search through every retriever")
	f.DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait")
	return cmd
}

// localURL is where a server that listens on addr is reached from its own machine.
func localURL(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("server.addr: %w", err)
	}
	if port == "0" {
		return "", usage("server.addr picks a free port: name the server by --url")
	}
	if ip := net.ParseIP(strings.Trim(host, "[]")); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, port), nil
}
