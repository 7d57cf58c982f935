package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/source"
)

func (c *command) sourcesCommand() *cobra.Command {
	return parent("sources", "Keep namespaces in step with folders, repositories, sites, feeds and buckets",
		c.sourcesKindsCommand(), c.sourcesAddCommand(), c.sourcesListCommand(), c.sourcesShowCommand(), c.sourcesChangeCommand(),
		c.sourcesSyncCommand(), c.sourcesRunsCommand(), c.sourcesItemsCommand(), c.sourcesCheckCommand(), c.sourcesInitCommand(),
		c.sourcesSwitchCommand("pause", false), c.sourcesSwitchCommand("resume", true), c.sourcesRemoveCommand())
}

// sourcesClient is a client of a server with sources, and whether a server runs them that
// goes on when the command ends.
type sourcesClient struct {
	*client.Client
	served bool
}

// withSources connects and runs fn. Where sources are off it says how they are switched on.
func (c *command) withSources(ctx context.Context, name string, t target, fn func(sourcesClient) error) error {
	cl, done, err := c.connect(ctx, "sources "+name, t)
	if err != nil {
		return err
	}
	err = fn(sourcesClient{cl, c.opened == nil})
	if client.CodeOf(err) == "sources_unavailable" {
		err = errors.New("sources are off: set sources.enabled to true in the server's configuration (a file, given with " +
			"--config), and under sources.directories name the folders that sources of kind directory may read")
	}
	return joinErrors(err, done())
}

// kind reads what there is to know of a kind.
func (cl sourcesClient) kind(ctx context.Context, name string) (source.Kind, error) {
	var all source.Kinds
	if err := cl.Do(ctx, http.MethodGet, "/source_kinds", nil, &all); err != nil {
		return source.Kind{}, err
	}
	var names []string
	for _, k := range all.Kinds {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	hint := registry.Suggest(name, names)
	if hint == "" {
		hint = "; it has " + strings.Join(names, ", ")
	}
	return source.Kind{}, usage("%q is no kind of source of this server%s", name, hint)
}

// find reads the source of an id, or of a name that no other one has.
func (cl sourcesClient) find(ctx context.Context, ref string) (source.Source, error) {
	var s source.Source
	if strings.HasPrefix(ref, "src_") {
		return s, cl.Do(ctx, http.MethodGet, sourcePath(ref), nil, &s)
	}
	all, _, err := cl.list(ctx, url.Values{}, 0)
	if err != nil {
		return s, err
	}
	named := slices.DeleteFunc(all, func(s source.Source) bool { return s.Name != ref })
	switch len(named) {
	case 0:
		return s, fmt.Errorf("there is no source with the name or the id %q", ref)
	case 1:
		return named[0], nil
	}
	ids := make([]string, len(named))
	for i, s := range named {
		ids[i] = s.ID
	}
	return s, fmt.Errorf("%d sources have the name %q: %s; give the id", len(named), ref, strings.Join(ids, ", "))
}

func (cl sourcesClient) list(ctx context.Context, query url.Values, most int) (rows []source.Source, more bool, err error) {
	rows = []source.Source{}
	more, err = listPages(ctx, most, query, func(ctx context.Context, query string) (int, *string, error) {
		var page source.Sources
		err := cl.Do(ctx, http.MethodGet, "/sources?"+query, nil, &page)
		rows = append(rows, page.Sources...)
		return len(page.Sources), page.NextCursor, err
	})
	return rows, more, err
}

func sourcePath(id string) string { return "/sources/" + pathSegment(id) }

// schema is as much of a kind's JSON Schema as the command line needs.
type schema struct {
	Required   []string                      `json:"required"`
	OneOf      []struct{ Required []string } `json:"oneOf"`
	Properties map[string]property           `json:"properties"`
}

type property struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
}

func schemaOf(raw json.RawMessage) (s schema, err error) {
	if err = json.Unmarshal(raw, &s); err != nil {
		err = fmt.Errorf("read the kind's schema: %w", err)
	}
	return s, err
}

// main is the setting that says where a source is: the one that has to be given, or the first of
// those of which one has to. "": there is none.
func (s schema) main() string {
	required := s.Required
	if len(required) == 0 && len(s.OneOf) > 0 {
		required = s.OneOf[0].Required
	}
	if len(required) != 1 {
		return ""
	}
	return required[0]
}

// put sets a setting of the text KEY=VALUE, as its type wants it. A list takes one value at a
// time. What the kind does not know is left to the server, which names the nearest.
func (s schema) put(into map[string]any, text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return usage("--set %q is not like path=/srv/handbook", text)
	}
	kind := s.Properties[key].Type
	if kind == "" || kind == "string" {
		into[key] = value
		return nil
	}
	var v any
	err := json.Unmarshal([]byte(value), &v)
	if _, whole := v.([]any); kind == "array" && !whole {
		list, _ := into[key].([]any)
		into[key] = append(list, value)
		return nil
	}
	if err != nil {
		v = value // the server says what it should be
	}
	into[key] = v
	return nil
}

// settingFlags are the flags of a source's settings.
type settingFlags struct {
	settings, secrets            []string
	name, every, cron, deletions string
}

func (f *settingFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.settings, "set", nil, "a setting of the kind, KEY=VALUE; of a list one value each time")
	cmd.Flags().StringArrayVar(&f.secrets, "secret", nil,
		"a secret of the kind: NAME=file:PATH, NAME=env:VARIABLE, or NAME=- for standard input")
	cmd.Flags().StringVar(&f.name, "name", "", "name for people")
	cmd.Flags().StringVar(&f.every, "every", "", "time from one run to the next, such as 6h")
	cmd.Flags().StringVar(&f.cron, "cron", "", `times of runs in UTC, five fields such as "30 4 * * 1-5"`)
	cmd.Flags().StringVar(&f.deletions, "deletions", "",
		"keep, or propagate: delete what the source no longer has (default: as is usual for the kind)")
}

func (f *settingFlags) schedule() *source.Schedule {
	if f.every == "" && f.cron == "" {
		return nil
	}
	return &source.Schedule{Every: f.every, Cron: f.cron}
}

// read reads the secrets from where the flags say. A value in the flag itself would stand in the list
// of processes and in the shell's history, so it is refused.
func (f *settingFlags) read(stdin io.Reader) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range f.secrets {
		name, from, ok := strings.Cut(text, "=")
		where, of, _ := strings.Cut(from, ":")
		var value []byte
		var err error
		switch {
		case !ok || name == "":
			return nil, usage("--secret is like token=file:PATH, token=env:VARIABLE or token=-")
		case from == "-" && stdin == nil:
			return nil, usage("standard input holds one secret; give the others by file: or env:")
		case from == "-":
			value, err = io.ReadAll(io.LimitReader(stdin, 1<<20))
			stdin = nil
		case where == "file" && of != "":
			value, err = os.ReadFile(of)
		case where == "env" && of != "":
			set, ok := os.LookupEnv(of)
			if !ok {
				return nil, usage("--secret %s: the environment variable %s is not set", name, of)
			}
			value = []byte(set)
		default:
			return nil, usage("--secret %s: a value is not given on the command line, where others see it; "+
				"give %[1]s=file:PATH, %[1]s=env:VARIABLE or %[1]s=-", name)
		}
		if err != nil {
			return nil, fmt.Errorf("read the secret %s: %w", name, err)
		}
		if out[name] = strings.TrimSuffix(strings.TrimSuffix(string(value), "\n"), "\r"); out[name] == "" {
			return nil, usage("the secret %s is empty", name)
		}
	}
	return out, nil
}

func (c *command) sourcesKindsCommand() *cobra.Command {
	var t target
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "kinds [KIND]",
		Short:   "List the kinds of sources with their settings and secrets",
		Long:    "List the kinds of sources that the server has, or the settings and secrets of one.\n" + connectHelp,
		Example: "  mneme sources kinds --data ./data\n  mneme sources kinds git --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSources(cmd.Context(), "kinds", t, func(cl sourcesClient) error {
				if len(args) == 1 {
					k, err := cl.kind(cmd.Context(), args[0])
					switch {
					case err != nil:
						return err
					case asJSON:
						return printJSON(c.stdout, k)
					}
					return c.printKind(k)
				}
				var all source.Kinds
				if err := cl.Do(cmd.Context(), http.MethodGet, "/source_kinds", nil, &all); err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.stdout, all)
				}
				cells := make([][]string, len(all.Kinds))
				for i, k := range all.Kinds {
					cells[i] = []string{k.Name, oneLine(k.Title, 40), oneLine(k.Summary, 100)}
				}
				return table(c.stdout, []string{"KIND", "TITLE", "FOLLOWS"}, cells)
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) printKind(k source.Kind) error {
	var cells [][]string
	for _, part := range []struct {
		flag string
		raw  json.RawMessage
	}{{"--set", k.Config}, {"--secret", k.Secrets}} {
		s, err := schemaOf(part.raw)
		if err != nil {
			return err
		}
		names := make([]string, 0, len(s.Properties))
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { // what says where the source is comes first
			return cmp.Or(cmp.Compare(b2i(b == s.main()), b2i(a == s.main())), strings.Compare(a, b))
		})
		for _, name := range names {
			p := s.Properties[name]
			cells = append(cells, []string{part.flag, name, p.Type, string(p.Default), oneLine(p.Description, 200)})
		}
	}
	fmt.Fprintf(c.stderr, "%s: %s\n", oneLine(k.Title, 100), oneLine(k.Summary, 300))
	return table(c.stdout, []string{"FLAG", "NAME", "TYPE", "DEFAULT", "MEANS"}, cells)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *command) sourcesAddCommand() *cobra.Command {
	var t target
	var f settingFlags
	var paused, asJSON, wait, dry bool
	cmd := &cobra.Command{
		Use:   "add KIND NAMESPACE [WHERE]",
		Short: "Connect a source to a namespace",
		Long: `Connect a source to a namespace, which then holds what the source does, and print the
source's id. Its first run begins at once. WHERE is the setting that says where the
source is: the path of a directory, the url of a git repository or a feed, the
start_url of a web site, the bucket of an s3 one. The others are given by --set;
mneme sources kinds KIND lists them.

Secrets, such as a token, come from a file, the environment or standard input. They are
kept encrypted and never shown.

With --wait the command shows the run and ends with its counts; every item that failed
is named, and the exit code is 1. Where no server runs it does the work itself, and
waits in any case. --dry-run tries the settings, shows the first items and adds nothing.

The server's configuration has to switch sources on (sources.enabled) and to name the
folders that sources of kind directory may read (sources.directories).
` + connectHelp,
		Example: `  mneme sources add directory handbook /srv/handbook --set 'include=**/*.md' --every 10m --wait
  mneme sources add git docs https://git.example.org/docs.git --set ref=main --secret token=env:GIT_TOKEN --every 1h
  mneme sources add git docs git@git.example.org:docs.git --secret ssh_key=file:/etc/mneme/deploy_key
  mneme sources add web site https://www.example.org/ --set max_pages=200 --cron "30 4 * * *"
  mneme sources add web site --set sitemap=https://www.example.org/sitemap.xml
  mneme sources add feed news https://www.example.org/feed.xml --every 30m --deletions keep
  mneme sources add s3 reports acme-reports --set region=eu-central-1 --set prefix=2026/ \
    --secret access_key_id=file:id --secret secret_access_key=file:key
  mneme sources add push tickets --name "Help desk"`,
		Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if _, err := namespacePathOf(args[1]); err != nil {
				return err
			}
			secrets, err := f.read(c.stdin)
			if err != nil {
				return err
			}
			return c.withSources(ctx, "add", t, func(cl sourcesClient) error {
				k, err := cl.kind(ctx, args[0])
				if err != nil {
					return err
				}
				where := append(args[2:], "")[0]
				if where, err = absolute(t, k.Name, where); err != nil {
					return err
				}
				settings, err := settingsOf(k, where, f.settings)
				if err != nil {
					return err
				}
				in := source.CreateSource{Name: cmp.Or(f.name, clipName(where), k.Name), Kind: k.Name, Namespace: args[1],
					Config: settings, Secrets: secrets, Schedule: f.schedule()}
				setIfGiven(f.deletions != "", &in.Deletions, f.deletions)
				if dry {
					return c.trySource(ctx, cl, source.CheckSource{Kind: k.Name, Config: settings, Secrets: secrets}, asJSON)
				}
				if paused {
					in.Enabled = new(false)
				}
				var s source.Source
				if err := cl.Do(ctx, http.MethodPost, "/sources", in, &s); err != nil {
					return err
				}
				fmt.Fprintf(c.stderr, "added %s\n", oneLine(s.Name, 100))
				if !asJSON {
					fmt.Fprintln(c.stdout, s.ID)
				}
				if s.LastRun != nil && (wait || !cl.served) {
					err = c.awaitRun(ctx, cl, s, *s.LastRun, c.stderr)
				}
				if asJSON {
					return joinErrors(err, c.printFreshSource(ctx, cl, s.ID))
				}
				return err
			})
		},
	}
	t.flags(cmd)
	f.flags(cmd)
	cmd.Flags().BoolVar(&paused, "paused", false, "connect it, and run nothing until it is resumed")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the first run and show it")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "try the settings, show the first items, and add nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// absolute makes the path of a folder of this machine absolute, as the server's working
// folder is another one.
func absolute(t target, kind, where string) (string, error) {
	if kind != "directory" || where == "" || t.url != "" || os.Getenv("MNEME_URL") != "" {
		return where, nil
	}
	path, err := filepath.Abs(where)
	if err != nil {
		return "", fmt.Errorf("find the folder: %w", err)
	}
	return path, nil
}

// clipName makes a source's name of where it is.
func clipName(where string) string {
	if len(where) > 200 {
		return strings.ToValidUTF8(where[:200], "")
	}
	return where
}

// settingsOf makes a kind's settings of what the command line gives.
func settingsOf(k source.Kind, where string, texts []string) (json.RawMessage, error) {
	s, err := schemaOf(k.Config)
	if err != nil {
		return nil, err
	}
	settings := map[string]any{}
	if where != "" {
		name := s.main()
		if name == "" {
			return nil, usage("a source of kind %s is not in one place; give its settings by --set", k.Name)
		}
		settings[name] = where
	}
	for _, text := range texts {
		if err := s.put(settings, text); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return raw, nil
}

// trySource shows what a check of settings finds.
func (c *command) trySource(ctx context.Context, cl sourcesClient, in source.CheckSource, asJSON bool) error {
	var out source.Checked
	if err := cl.Do(ctx, http.MethodPost, "/sources/check", in, &out); err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(c.stdout, out); err != nil {
			return err
		}
	} else {
		cells := make([][]string, len(out.Items))
		for i, item := range out.Items {
			size, modified := "", ""
			if item.Size != nil {
				size = strconv.FormatInt(*item.Size, 10)
			}
			if item.ModifiedAt != nil {
				modified = formatTime(*item.ModifiedAt)
			}
			cells[i] = []string{oneLine(item.Key, 200), size, modified}
		}
		if len(cells) > 0 {
			if err := table(c.stdout, []string{"ITEM", "BYTES", "CHANGED"}, cells); err != nil {
				return fmt.Errorf("print items: %w", err)
			}
		}
	}
	for _, p := range out.Problems {
		fmt.Fprintf(c.stderr, "%s %s\n", p.Field, oneLine(p.Message, 500))
	}
	if out.Error != nil {
		fmt.Fprintln(c.stderr, reasonLine(out.Error))
	}
	if !out.OK {
		return errReported
	}
	what := "these are all of its items"
	if !out.Complete {
		what = "these are its first items"
	}
	fmt.Fprintf(c.stderr, "the settings work, and %s; nothing was written\n", what)
	return nil
}

func (c *command) sourcesListCommand() *cobra.Command {
	var t target
	var l listFlags
	var namespace, kind, state string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List sources with their state",
		Long:    "List the sources that the key reaches, the oldest first.\n" + connectHelp,
		Example: "  mneme sources list --data ./data\n  mneme sources list --state error --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			return c.withSources(cmd.Context(), "list", t, func(cl sourcesClient) error {
				query := url.Values{"namespace": {namespace}, "kind": {kind}, "state": {state}}
				for name, v := range query {
					if v[0] == "" {
						query.Del(name)
					}
				}
				rows, more, err := cl.list(cmd.Context(), query, l.most)
				switch {
				case err != nil:
					return err
				case l.asJSON:
					return printJSON(c.stdout, map[string]any{"sources": rows, "more": more})
				}
				cells := make([][]string, len(rows))
				for i, s := range rows {
					last := ""
					if s.LastRun != nil {
						last = s.LastRun.Status + " " + formatTime(s.LastRun.CreatedAt)
					}
					cells[i] = []string{s.ID, oneLine(s.Name, 60), s.Kind, s.Namespace, s.State,
						strconv.FormatInt(s.Documents, 10), last, formatOptionalTime(s.NextRunAt)}
				}
				header := []string{"ID", "NAME", "KIND", "NAMESPACE", "STATE", "DOCUMENTS", "LAST RUN", "NEXT RUN"}
				if err := table(c.stdout, header, cells); err != nil {
					return fmt.Errorf("print sources: %w", err)
				}
				c.noteMore(more)
				return nil
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&namespace, "namespace", "", "only sources of this namespace")
	cmd.Flags().StringVar(&kind, "kind", "", "only sources of this kind")
	cmd.Flags().StringVar(&state, "state", "", "only idle, syncing, paused or deleting ones, or those in error")
	cmd.Flags().IntVar(&l.most, "limit", 1000, "sources to list at most, 0 for all")
	cmd.Flags().BoolVar(&l.asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) sourcesShowCommand() *cobra.Command {
	var t target
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show SOURCE",
		Short: "Show a source, its settings and its last run",
		Long:  "Show a source, by its id or its name.\n" + connectHelp,
		Example: "  mneme sources show handbook --data ./data\n" +
			"  mneme sources show src_019e2b4c-7d1a-7f30-9a51-2f6c8d0b7e44 --json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSources(cmd.Context(), "show", t, func(cl sourcesClient) error {
				s, err := cl.find(cmd.Context(), args[0])
				switch {
				case err != nil:
					return err
				case asJSON:
					return printJSON(c.stdout, s)
				}
				return c.printSource(s)
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printFreshSource prints a source as it has become.
func (c *command) printFreshSource(ctx context.Context, cl sourcesClient, id string) error {
	s, err := cl.find(ctx, id)
	if err != nil {
		return err
	}
	return printJSON(c.stdout, s)
}

func (c *command) printSource(s source.Source) error {
	t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	lines := [][2]string{
		{"id", s.ID}, {"name", oneLine(s.Name, 200)}, {"kind", s.Kind}, {"namespace", s.Namespace},
		{"settings", string(s.Config)}, {"secrets set", strings.Join(s.SecretsSet, ", ")}, {"schedule", scheduleLine(s.Schedule)},
		{"deletions", s.Deletions}, {"state", s.State}, {"reason", reasonLine(s.StateReason)},
		{"items", strconv.FormatInt(s.Items, 10)}, {"documents", strconv.FormatInt(s.Documents, 10)},
	}
	if r := s.LastRun; r != nil {
		lines = append(lines, [2]string{"last run", r.ID + ", " + runLine(*r)}, [2]string{"it began",
			formatOptionalTime(r.StartedAt)},
			[2]string{"its error", reasonLine(r.Error)})
	}
	lines = append(lines, [2]string{"next run", formatOptionalTime(s.NextRunAt)}, [2]string{"created", formatTime(s.CreatedAt)},
		[2]string{"changed", formatTime(s.UpdatedAt)})
	for _, line := range lines {
		if line[1] != "" {
			fmt.Fprintln(t, line[0]+"\t"+line[1])
		}
	}
	return t.Flush()
}

func scheduleLine(s *source.Schedule) string {
	switch {
	case s == nil:
		return "none"
	case s.Every != "":
		return "every " + s.Every
	}
	return s.Cron + " (UTC)"
}

// reasonLine is a reason in one line; "" for none.
func reasonLine(r *source.Reason) string {
	if r == nil {
		return ""
	}
	return r.Code + ": " + oneLine(r.Message, 1000)
}

func (c *command) sourcesChangeCommand() *cobra.Command {
	var t target
	var f settingFlags
	var unscheduled, asJSON bool
	var removed []string
	cmd := &cobra.Command{
		Use:   "change SOURCE",
		Short: "Change a source's settings, secrets or schedule",
		Long: `Change a source. Settings that are not given stay. New settings or secrets end a run
that is under way and begin one that looks at everything again; that ends the state
error, too. Kind and namespace cannot be changed.
` + connectHelp,
		Example: `  mneme sources change handbook --secret token=file:new-token
  mneme sources change handbook --set ref=release --every 1h
  mneme sources change handbook --no-schedule --deletions keep`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if unscheduled && f.schedule() != nil {
				return usage("--no-schedule goes with neither --every nor --cron")
			}
			secrets, err := f.read(c.stdin)
			if err != nil {
				return err
			}
			for _, name := range removed {
				secrets[name] = ""
			}
			in := source.UpdateSource{Secrets: secrets, Schedule: f.schedule()}
			setIfGiven(f.name != "", &in.Name, f.name)
			setIfGiven(f.deletions != "", &in.Deletions, f.deletions)
			if unscheduled {
				in.Schedule = &source.Schedule{}
			}
			return c.withSources(ctx, "change", t, func(cl sourcesClient) error {
				s, err := cl.find(ctx, args[0])
				if err != nil {
					return err
				}
				if len(f.settings) > 0 {
					if in.Config, err = cl.changed(ctx, s, f.settings); err != nil {
						return err
					}
				}
				before := runID(s)
				if err := cl.Do(ctx, http.MethodPatch, sourcePath(s.ID), in, &s); err != nil {
					return err
				}
				if !cl.served && s.LastRun != nil && s.LastRun.ID != before {
					err = c.awaitRun(ctx, cl, s, *s.LastRun, c.stderr)
				}
				if asJSON {
					return joinErrors(err, c.printFreshSource(ctx, cl, s.ID))
				}
				return joinErrors(err, c.printSource(s))
			})
		},
	}
	t.flags(cmd)
	f.flags(cmd)
	cmd.Flags().StringArrayVar(&removed, "remove-secret", nil, "name of a secret to remove")
	cmd.Flags().BoolVar(&unscheduled, "no-schedule", false, "run on demand alone")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// changed is a source's settings with some of them set again.
func (cl sourcesClient) changed(ctx context.Context, s source.Source, texts []string) (json.RawMessage, error) {
	k, err := cl.kind(ctx, s.Kind)
	if err != nil {
		return nil, err
	}
	given, err := settingsOf(k, "", texts)
	if err != nil {
		return nil, err
	}
	settings := map[string]json.RawMessage{}
	for _, raw := range []json.RawMessage{s.Config, given} {
		if err := json.Unmarshal(raw, &settings); err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
	}
	return json.Marshal(settings)
}

// runID is the id of a source's newest run, if there is one.
func runID(s source.Source) string {
	if s.LastRun == nil {
		return ""
	}
	return s.LastRun.ID
}
