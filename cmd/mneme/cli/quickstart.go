package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/importer"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/samples"
)

const (
	quickstartNamespace = "samples"
	quickstartQuery     = "the parcel arrived crushed, does the customer get the money back?"
)

func (c *command) quickstartCommand() *cobra.Command {
	var addr string
	var exit bool
	cmd := &cobra.Command{
		Use:   "quickstart",
		Short: "Start a server with sample documents and show a first query",
		Long: `Start a server on the embedded defaults, make a key, import the sample documents,
run a query over HTTP, print the result, the key and curl lines to go on with, and
keep serving. Works offline. Run it again as often as you like: documents that are
there are left as they are, and the key, which lies in the data folder as
quickstart.key, stays the same. When the default port is taken, another one is chosen.`,
		Example: "  mneme quickstart\n  mneme quickstart --data ./try --addr 127.0.0.1:9000\n  mneme quickstart --exit  " +
			"   # ends after the query",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var settings []configs.Setting
			if addr != "" {
				settings = append(settings, configs.Setting{Path: "server.addr", Value: addr, From: "flag --addr"})
			}
			cfg, err := c.loadQuiet(settings...)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			a, err := c.openApp(ctx, "quickstart", cfg)
			if err != nil {
				return err
			}
			defer func() {
				closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
				defer cancel()
				err = joinErrors(err, a.Close(closing))
			}()
			l, err := c.listenNear(ctx, cfg.Server.Addr, addr == "")
			if err != nil {
				return err
			}
			if err := a.Announce(l); err != nil { // so that other commands find it
				return err
			}
			serving, stop := context.WithCancel(ctx)
			served := make(chan error, 1)
			go func() { served <- a.Serve(serving, l) }()
			defer func() { // before the parts below the server are closed
				stop()
				err = joinErrors(err, <-served)
			}()
			fmt.Fprintf(c.stdout, "Mneme serves %s at %s\n", cfg.DataDir, a.URL(l))
			key, err := app.QuickstartKey(ctx, cfg.DataDir, a.Keys)
			if err != nil {
				return err
			}
			if err := c.tour(ctx, a.URL(l), key, cfg.Server.TLS.Cert); err != nil {
				return err
			}
			if exit {
				return nil
			}
			link, err := a.SignInLink(ctx, cmp.Or(cfg.Server.BaseURL, a.URL(l)))
			if err != nil {
				return err
			}
			if link != "" {
				fmt.Fprintf(c.stdout, "\nSee it in the console (the link is good once, for a minute; "+
					"mneme console open --data %s prints another):\n  %s\n", cfg.DataDir, link)
			}
			fmt.Fprintln(c.stdout, "\nServing; Ctrl-C ends it.")
			select {
			case <-ctx.Done():
			case err := <-served:
				served <- nil // for the deferred wait
				return err
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "",
		"address to listen on, host:port (MNEME_ADDR; default 127.0.0.1:8080, or a free port when that is taken)")
	cmd.Flags().BoolVar(&exit, "exit", false, "end after the first query instead of serving on")
	return cmd
}

// listenNear listens on addr or, where that may be chosen freely, on another
// port when it is taken.
func (c *command) listenNear(ctx context.Context, addr string, free bool) (net.Listener, error) {
	l, err := app.Listen(ctx, addr)
	switch {
	case err == nil:
		return l, nil
	case !free || !taken(err):
		return nil, fmt.Errorf("%w; choose another address with --addr", err)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(c.stderr, "port %s is taken; another one is chosen\n", port)
	return app.Listen(ctx, net.JoinHostPort(host, "0"))
}

// tour imports the samples, asks the first question and shows how to go on.
func (c *command) tour(ctx context.Context, url, key, certificate string) error {
	cl, err := client.New(url, key)
	if err != nil {
		return err
	}
	defer cl.Close()
	cl.Pin(certificate)
	listing, err := importer.Scanner{}.ScanFS(ctx, samples.FS())
	if err != nil {
		return fmt.Errorf("read the sample documents: %w", err)
	}
	im := importer.Importer{Writer: &documentWriter{cl}, Namespace: quickstartNamespace, Workers: 2, BatchDocs: 4, Strict: true}
	if _, err := runImport(ctx, c, im, listing.Files); err != nil {
		return fmt.Errorf("import the sample documents: %w", err)
	}
	topK, perDocument := 3, 1
	req := query.Request{Query: quickstartQuery, TopK: &topK, MaxChunksPerDocument: &perDocument}
	path := "/namespaces/" + quickstartNamespace + "/query"
	var result query.Result
	if err := cl.Do(ctx, http.MethodPost, path, req, &result); err != nil {
		return fmt.Errorf("first query: %w", err)
	}
	if len(result.Results) == 0 {
		return errors.New("first query: it found nothing in the sample documents")
	}
	fmt.Fprintf(c.stdout, "\nQuery: %s\n\n", quickstartQuery)
	for i, h := range result.Results {
		text := ""
		if h.Text != nil {
			text = oneLine(*h.Text, 300)
		}
		fmt.Fprintf(c.stdout, "%d. %s  (score %.2f)\n   %s\n", i+1, h.DocumentID, h.Score, text)
	}
	fmt.Fprintf(c.stdout, "\n%d ms with %v\n", result.TookMS, result.Retrievers)
	question, err := json.Marshal(map[string]any{"query": "how long do I have to return an unopened bag?", "top_k": 3})
	if err != nil {
		return fmt.Errorf("encode example: %w", err)
	}
	fmt.Fprintf(c.stdout, `
Key: %[2]s
Every operation, to try in a browser: %[1]s/docs

Ask something else:
  curl -s %[1]s%[3]s -H 'Authorization: Bearer %[2]s' \
    -H 'Content-Type: application/json' -d '%[4]s'

Write a document of your own:
  curl -s %[1]s/namespaces/notes/documents -H 'Authorization: Bearer %[2]s' \
    -H 'Content-Type: application/json' -d '{"documents":[{"id":"lease","text":"The lease runs until May 2027."}]}'
`, url, key, path, question)
	return nil
}
