package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/core/fault"
)

func (c *command) errorsCommand() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use: "errors [CODE]", Short: "Explain the error codes of the API",
		Long:    "Explain one error code, or list all of them with their HTTP status.",
		Example: "  mneme errors rate_limited\n  mneme errors", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(codeNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case markdown && len(args) > 0:
				return usage("--markdown renders the whole catalogue; leave %s out", args[0])
			case markdown:
				return writeCatalogue(c.stdout)
			case len(args) == 0:
				var rows [][]string
				for _, code := range fault.Codes() {
					e, _ := fault.Describe(code)
					rows = append(rows, []string{fmt.Sprint(e.Status), string(code), firstSentence(e.Meaning)})
				}
				return table(c.stdout, []string{"STATUS", "CODE", "MEANING"}, rows)
			}
			e, ok := fault.Describe(fault.Code(args[0]))
			if !ok {
				return usage("%q is no error code; 'mneme errors' lists them", args[0])
			}
			_, err := fmt.Fprintf(c.stdout, "%s: %d %s, %s\n\n%s\n\n%s\n", e.Code, e.Status, http.StatusText(e.Status),
				retries(e), e.Meaning, e.Remedy)
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the catalogue as docs/errors.md has it")
	return cmd
}

func codeNames() []string {
	var names []string
	for _, c := range fault.Codes() {
		names = append(names, string(c))
	}
	return names
}

func retries(e fault.Entry) string {
	if e.Retryable {
		return "a retry may succeed"
	}
	return "a retry does not help"
}

// firstSentence is the first sentence of a text.
func firstSentence(text string) string {
	if i := strings.Index(text, ". "); i > 0 {
		return text[:i+1]
	}
	return text
}

const catalogueHead = "# Errors\n" + `<!-- made by mneme errors --markdown; make generate -->
Every error answer has one of the codes below, an HTTP status, a message that says what is wrong, and the request's id, which
the header X-Request-Id carries too. Clients switch on the code, show the message to people, and log the id.

The namespace API, rerank and the admin API answer

` + "```json\n" + `{"error": {"code": "invalid_filter", "message": "filter: ...", "request_id": "req_..."}}
` + "```\n\nThe memory API under /api/v1 answers\n\n```json\n" +
	`{"statusCode": 403, "code": "quota_exceeded", "message": "...", "requestId": "req_...", "details": {"quota": ` +
	`"memoriesPerEndUser", "limit": 10000, "used": 10000}}
` + "```\n" + `
where details is ` + "`{field, reason}` for a 400, `{scope}` for insufficient_scope, `{quota, limit, used}` for " +
	"quota_exceeded, `{retryAfter}`" + `
for a 429, and names the stored version for stale_version and version_conflict. A tool called over MCP answers an error result
with the text ` + "`code: message`" + `.

Retry-After (whole seconds) comes with every 429 and with a 503 that clears by itself. Every write and every deletion may be
repeated after a lost answer.
`

// writeCatalogue renders the fault table as a page.
func writeCatalogue(w io.Writer) error {
	var b strings.Builder
	b.WriteString(catalogueHead)
	status := 0
	for _, code := range fault.Codes() {
		e, _ := fault.Describe(code)
		if e.Status != status {
			status = e.Status
			fmt.Fprintf(&b, "\n## %d %s\n| code | meaning | what to do | retry |\n|---|---|---|---|\n", status,
				http.StatusText(status))
		}
		retry := "no"
		if e.Retryable {
			retry = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", code, e.Meaning, e.Remedy, retry)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
