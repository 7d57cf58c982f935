package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"unicode"

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

// askedFirst are the samples that are there before the first question.
var askedFirst = []string{"refund-policy.md", "shipping-rules.md", "subscriptions-faq.md"}

func (c *command) quickstartCommand() *cobra.Command {
	var addr string
	var exit bool
	cmd := &cobra.Command{
		Use:   "quickstart",
		Short: "Start a server with sample documents and show a first query",
		Long: `Start a server, on the embedded defaults or what --config says, make a key, import the first of the sample
documents, run a query over HTTP, print the result, the key and curl lines to go on
with, import the other samples, and keep serving. Works offline. Run it again as often as you like: documents that are
there are left as they are, and the key, which lies in the data folder as
quickstart.key, stays the same. When the default port is taken, another one is chosen.`,
		Example: "  mneme quickstart\n  mneme quickstart --data ./try --addr 127.0.0.1:9000\n  mneme quickstart --exit  " +
			"   # ends when all samples are there",
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
			if app.Embedded(cfg) {
				fmt.Fprintf(c.stdout, "Mneme serves %s at %s\n", cfg.DataDir, a.URL(l))
			} else {
				fmt.Fprintf(c.stdout, "Mneme serves the %s storage of %s at %s; this machine's keys lie in %s\n",
					cfg.Storage.Component, c.file(), a.URL(l), cfg.DataDir)
			}
			key, err := app.QuickstartKey(ctx, cfg.DataDir, a.Keys)
			if err != nil {
				return err
			}
			rest, err := c.tour(ctx, a, cfg, a.URL(l), key)
			if err != nil {
				return err
			}
			if !exit {
				link, err := a.SignInLink(ctx, cmp.Or(cfg.Server.BaseURL, a.URL(l)))
				if err != nil {
					return err
				}
				if link != "" {
					fmt.Fprintf(c.stdout, "\nSee it in the console (the link is good once, for a minute; "+
						"mneme console open%s prints another):\n  %s\n", c.sameServer(cfg), link)
				}
			}
			if err := rest(); err != nil || exit {
				return err
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
	cmd.Flags().BoolVar(&exit, "exit", false, "end after the first query and the import instead of serving on")
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

// tour imports the first of the samples, asks the first question of them and shows how to go on: a
// small machine takes most of its time for the rest, which is the caller's to import, once.
func (c *command) tour(ctx context.Context, a *app.App, cfg *configs.Config, url, key string) (rest func() error, err error) {
	cl, err := client.New(url, key)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			cl.Close()
		}
	}()
	cl.Pin(cfg.Server.TLS.Cert)
	listing, err := importer.Scanner{}.ScanFS(ctx, samples.FS())
	if err != nil {
		return nil, fmt.Errorf("read the sample documents: %w", err)
	}
	first, later := samplesToAsk(listing.Files)
	add := func(files []importer.File) error {
		im := importer.Importer{Writer: &documentWriter{cl}, Namespace: quickstartNamespace,
			Workers: 2, BatchDocs: 4, Strict: true}
		im.Hopeless = func(error) error { // a full disk, for one, gets no emptier while somebody waits for a first answer
			err := a.Stores(ctx)
			switch {
			case err == nil:
				return nil
			case app.Embedded(cfg):
				return fmt.Errorf("%w; mend that, or name another data folder with --data", err)
			}
			return fmt.Errorf("%w; mend that, or name another storage in %s", err, c.file())
		}
		if _, err := runImport(ctx, c, im, files); err != nil {
			return fmt.Errorf("import the sample documents: %w", err)
		}
		return nil
	}
	if err := add(first); err != nil {
		return nil, err
	}
	if err := c.firstQuery(ctx, cl, url, key); err != nil {
		return nil, err
	}
	return func() error {
		defer cl.Close()
		fmt.Fprintf(c.stdout, "\nThe other %d sample documents follow; the server answers already.\n", len(later))
		return add(later)
	}, nil
}

// sameServer are the flags by which another command finds the server and the store that this one works on.
func (c *command) sameServer(cfg *configs.Config) (flags string) {
	if file := c.file(); file != "" {
		flags = " --config " + typed(file)
	}
	return flags + " --data " + typed(cfg.DataDir)
}

// typed is a word as a shell reads it.
func typed(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(`/\:._-`, r)
	}) < 0
	switch {
	case plain && word != "" && (runtime.GOOS == "windows" || !strings.Contains(word, `\`)):
		return word
	case runtime.GOOS == "windows": // no path there has a quotation mark in it
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// samplesToAsk are the samples that the first question is about, and the others: the answer shows a
// passage of each of the former, and it is the same over all samples (docs/decisions.md#d-110).
func samplesToAsk(all []importer.File) (first, later []importer.File) {
	for _, f := range all {
		if slices.Contains(askedFirst, f.Name) {
			first = append(first, f)
		} else {
			later = append(later, f)
		}
	}
	return first, later
}

// firstQuery asks the first question and shows how to go on.
func (c *command) firstQuery(ctx context.Context, cl *client.Client, url, key string) error {
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
