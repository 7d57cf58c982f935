package sourcekit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/kit"
)

// Candidate is a program of connectors to be checked. Only Open is needed.
type Candidate struct {
	// Name is what the report calls it.
	Name string
	// Open opens the connectors. Check closes what it opened.
	Open func(ctx context.Context) (port.Connectors, error)
	// Taken are kinds that the server has itself.
	Taken []string
	// Kind is the kind to be tried with an account; empty: the only one.
	Kind string
	// Config holds the settings of an account that stays as it is in the meantime. nil: only the
	// descriptions are checked.
	Config json.RawMessage
	// Secrets are the account's.
	Secrets map[string]string
	// Revoke has the account's grant given back at the end: its secrets are spent then.
	Revoke bool
	// Endure is how long the account is listed on end while memory is watched; 0: 15 s.
	Endure time.Duration
	// Memory tells the bytes that the program holds now; nil: not watched.
	Memory func() int64
	// Break makes the program crash; nil: not tried.
	Break func(context.Context) error
	// Progress is called with the name of each step; nil: no calls.
	Progress func(step string)
}

// Subject is the checked connector in a Report.
type Subject struct {
	Name  string   `json:"name"`
	Kinds []string `json:"kinds"`
	Kind  string   `json:"kind,omitempty"` // that was tried with an account
	Items int      `json:"items"`          // that the account holds
}

// Report is everything that was found. A program that could not be opened has the one
// finding "opens".
type Report struct {
	Connector Subject       `json:"connector"`
	Findings  []kit.Finding `json:"findings"`
	Replaced  []string      `json:"replaced"` // secrets of which the account has newer ones now
	Started   time.Time     `json:"started"`
	Took      time.Duration `json:"took_ns"`
}

// Failed counts the expectations that did not hold.
func (r Report) Failed() int { return kit.Count(r.Findings, kit.Failed) }

// Write renders a report.
func Write(w io.Writer, f kit.Format, r Report) error {
	switch f {
	case kit.Text:
		return kit.WriteText(w, r.rendered())
	case kit.JSON:
		return kit.WriteJSON(w, []Report{r})
	case kit.JUnit:
		return kit.WriteJUnit(w, "mneme sources check", []kit.Report{r.rendered()})
	}
	return f.Unknown()
}

func (r Report) rendered() kit.Report {
	c := r.Connector
	about := fmt.Sprintf("%s, %s %s", c.Name, kit.Pluralize(len(c.Kinds), "kind"), strings.Join(c.Kinds, ", "))
	if c.Kind != "" {
		about += fmt.Sprintf("; %s of kind %s", kit.Pluralize(c.Items, "item"), c.Kind)
	}
	out := kit.Report{Name: c.Name, About: []string{about}, Findings: r.Findings, Started: r.Started, Took: r.Took,
		Properties: [][2]string{{"kinds", strings.Join(c.Kinds, " ")}, {"kind", c.Kind}, {"items", fmt.Sprint(c.Items)}}}
	if len(r.Replaced) > 0 {
		out.Notes = []string{"the account's upstream has replaced " + strings.Join(r.Replaced, ", ") +
			"; what was given for this check is spent"}
	}
	return out
}

// Check opens the candidate, checks it and closes it. A check that was cut short by the end of ctx
// has the failed finding "finished".
func Check(ctx context.Context, c Candidate) Report {
	k := &check{
		ctx:      ctx,
		c:        c,
		findings: kit.NewFindings(),
		secrets:  maps.Clone(c.Secrets),
		replaced: map[string]bool{},
	}
	r := Report{Connector: Subject{Name: c.Name, Kinds: []string{}}, Started: time.Now()}
	k.report = &r
	k.run()
	r.Findings, r.Took = k.findings.All(), time.Since(r.Started)
	r.Replaced = append([]string{}, slices.Sorted(maps.Keys(k.replaced))...)
	return r
}

// Run makes the findings of Check subtests. Two seconds are endured unless the candidate says
// otherwise.
func Run(t *testing.T, c Candidate) {
	t.Helper()
	if c.Endure == 0 {
		c.Endure = 2 * time.Second
	}
	kit.Subtests(t, Check(t.Context(), c).Findings)
}

// check is a Check that runs.
type check struct {
	ctx       context.Context
	c         Candidate
	findings  *kit.Findings
	report    *Report
	connector port.Connector
	kind      port.SourceKind

	mu       sync.Mutex // of what a call of the connector may change
	secrets  map[string]string
	replaced map[string]bool
}

func (k *check) run() {
	k.step("open")
	program, err := k.c.Open(k.ctx)
	k.expect("opens", "the program starts and describes its kinds", err == nil && program != nil, "%v", err)
	if err != nil || program == nil {
		return
	}
	if k.describe(program.Connectors()) {
		k.account()
	}
	if err := k.ctx.Err(); err != nil {
		k.expect("finished", "every check is run", false, "%v", err)
	}
	k.step("close")
	err = program.Close()
	k.expect("closes", "the program ends", err == nil, "%v", err)
}

func (k *check) step(name string) {
	if k.c.Progress != nil {
		k.c.Progress(name)
	}
}

// expect records whether an expectation held; what was seen is said without secrets.
func (k *check) expect(id, expect string, ok bool, saw string, args ...any) {
	if ok {
		k.findings.Expect(id, expect, true, "")
		return
	}
	for i, a := range args {
		if err, is := a.(error); is {
			args[i] = causes(err)
		}
	}
	k.findings.Expect(id, expect, false, "%s", k.plain(fmt.Sprintf(saw, args...)))
}

func (k *check) skip(id, expect, why string) { k.findings.Skip(id, expect, k.plain(why)) }

// causes is an error with the cause that it keeps for the log: anyone who checks a connector
// wants to know which rule was broken.
func causes(err error) string {
	var why *port.SourceError
	if errors.As(err, &why) && why.Err != nil && !strings.Contains(why.Error(), why.Err.Error()) {
		return fmt.Sprintf("%v: %v", why, why.Err)
	}
	return err.Error()
}

// plain is a text without secrets.
func (k *check) plain(text string) string {
	for _, value := range k.values() {
		text = strings.ReplaceAll(text, value, "(a secret)")
	}
	return text
}

// leastSecret is the length of secrets that are looked for: shorter ones are in other words by chance.
const leastSecret = 8

// values are the secrets that are looked for, those that were replaced included, the longest first.
func (k *check) values() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []string
	for _, of := range []map[string]string{k.c.Secrets, k.secrets} {
		for _, value := range of {
			if len(value) >= leastSecret {
				all = append(all, value)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// tells reports whether a text holds a secret.
func (k *check) tells(texts ...string) bool {
	for _, value := range k.values() {
		if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, value) }) {
			return true
		}
	}
	return false
}

// connection is one to the account, with the newest secrets.
func (k *check) connection() port.Connection {
	k.mu.Lock()
	defer k.mu.Unlock()
	return port.Connection{
		Source:  "src_check",
		Config:  k.c.Config,
		Secrets: maps.Clone(k.secrets),
		Known:   func(context.Context, string) (string, bool, error) { return "", false, nil },
		Renew: func(_ context.Context, secrets map[string]string) error {
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.secrets == nil {
				k.secrets = map[string]string{}
			}
			for name, value := range secrets {
				k.secrets[name], k.replaced[name] = value, true
			}
			return nil
		},
	}
}
