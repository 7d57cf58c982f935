package sourcekit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/kit"
	"github.com/mnemehq/mneme/plugins/sourcekit"
)

// candidate is a small connector with an account.
func candidate(s *small) sourcekit.Candidate {
	return sourcekit.Candidate{
		Name:    "small",
		Open:    func(context.Context) (port.Connectors, error) { return s, nil },
		Taken:   []string{"git"},
		Config:  json.RawMessage(`{"of": "ada"}`),
		Secrets: map[string]string{"token": token},
		Revoke:  true,
		Endure:  time.Nanosecond,
		Memory:  s.held,
		Break:   s.crash,
	}
}

func ids(r sourcekit.Report, o kit.Outcome) (all []string) {
	for _, f := range r.Findings {
		if f.Outcome == o {
			all = append(all, f.ID)
		}
	}
	return all
}

// TestSound: a sound connector passes each check, and none is skipped.
func TestSound(t *testing.T) {
	s := &small{}
	var steps []string
	c := candidate(s)
	c.Progress = func(step string) { steps = append(steps, step) }
	r := sourcekit.Check(t.Context(), c)
	if r.Failed() != 0 || len(ids(r, kit.Skipped)) != 0 || len(r.Findings) < 40 {
		t.Errorf("%d findings: %+v", len(r.Findings), r.Findings)
	}
	if r.Connector.Items != notes || r.Connector.Kind != "small" || !slices.Equal(r.Connector.Kinds, []string{"small"}) ||
		len(r.Replaced) != 0 {
		t.Errorf("%+v, replaced %v", r.Connector, r.Replaced)
	}
	if !slices.Contains(steps, "fetch") || steps[0] != "open" || steps[len(steps)-1] != "close" {
		t.Errorf("steps: %v", steps)
	}
	if s.revoked != 3 {
		t.Errorf("revoked %d times", s.revoked)
	}
	sourcekit.Run(t, candidate(&small{}))
}

// TestFlaws: what a connector breaks is found, and what it breaks is what is said.
func TestFlaws(t *testing.T) {
	for finds, f := range map[string][]flaws{
		"closes":             {{failsToClose: true}},
		"describes.name":     {{name: "Small"}, {name: "git"}, {twoKinds: true}},
		"describes.words":    {{title: "none"}},
		"describes.schemas":  {{config: "{"}, {config: `{"$ref": "https://example.com/x"}`}, {config: `{"type": "thing"}`}},
		"describes.objects":  {{config: `{"type": "array", "additionalProperties": false}`}},
		"describes.misspelt": {{config: `{"type": "object"}`}, {secrets: `{"type": "object", "additionalProperties": true}`}},
		"describes.descriptions": {{config: `{"type": "object", "additionalProperties": false,
			"properties": {"of": {"type": "string"}}}`}},
		"describes.strings": {{secrets: `{"type": "object", "additionalProperties": false,
			"properties": {"token": {"type": "integer", "description": "A number."}}}`}},
		"account.allowed":      {{config: `{"type": "object", "additionalProperties": false}`}},
		"account.checks":       {{fieldProblem: true}, {noCode: true}, {noMessage: true}},
		"errors.code":          {{noCode: true}},
		"errors.message":       {{noMessage: true}},
		"list.completes":       {{incomplete: true}},
		"list.snapshot":        {{noSnapshot: true}},
		"list.keys":            {{twice: true}},
		"list.versions":        {{longVersion: true}},
		"list.names":           {{longName: true}},
		"list.addresses":       {{oddAddress: true}},
		"list.states":          {{longState: true}},
		"list.ends":            {{afterComplete: true}},
		"list.repeats":         {{unstable: true}},
		"list.stops":           {{deafToStop: true}},
		"list.goes-on":         {{losesBehindState: true}},
		"list.goes-ahead":      {{deafToState: true}},
		"list.begins-again":    {{strangeFails: true}, {strangeEmpty: true}},
		"list.last-state":      {{noStates: true}},
		"list.changes":         {{goneWrongly: true}},
		"list.changes-alone":   {{changesAll: true}},
		"fetch.reads":          {{failsToRead: true}},
		"fetch.version":        {{otherVersion: true}},
		"fetch.parallel":       {{shared: true}},
		"fetch.unknown":        {{unfound: true}},
		"fetch.metadata":       {{longMetadata: true}},
		"secrets.untold":       {{tells: true}, {tellsInState: true}, {tellsInMetadata: true}},
		"secrets.untold-wrong": {{tellsInError: true}},
		"conduct.credentials":  {{anyToken: true}, {forbidsToken: true}},
		"conduct.cancelled":    {{deafToEnd: true}},
		"conduct.memory-flat":  {{leaks: true}},
		"conduct.endures":      {{failsLater: true}},
		"conduct.recovers":     {{diesForGood: true}, {listsBroken: true}},
		"revoke":               {{revokesOnce: true}, {revokesBySettings: true}},
	} {
		for _, one := range f {
			r := sourcekit.Check(t.Context(), candidate(&small{flaws: one}))
			at := slices.IndexFunc(r.Findings, func(f kit.Finding) bool { return f.ID == finds })
			if at < 0 || r.Findings[at].Outcome != kit.Failed || r.Findings[at].Saw == "" {
				t.Errorf("%+v: %s is not found, but %v", one, finds, ids(r, kit.Failed))
			}
			for _, f := range r.Findings {
				if strings.Contains(f.Saw, token) {
					t.Errorf("%s tells the token: %s", f.ID, f.Saw)
				}
			}
		}
	}
}

// TestSkips: what can't be seen is skipped with the reason.
func TestSkips(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sourcekit.Candidate)
		flaws  flaws
		skips  string
		why    string
	}{
		"no account": {func(c *sourcekit.Candidate) { c.Config = nil }, flaws{}, "account", "no settings"},
		"no secrets": {func(c *sourcekit.Candidate) { c.Secrets = nil }, flaws{anyToken: true}, "conduct.credentials",
			"has none"},
		"no memory":    {func(c *sourcekit.Candidate) { c.Memory = nil }, flaws{}, "conduct.memory-flat", "memory"},
		"no crash":     {func(c *sourcekit.Candidate) { c.Break = nil }, flaws{}, "conduct.recovers", "no way"},
		"kept grant":   {func(c *sourcekit.Candidate) { c.Revoke = false }, flaws{}, "revoke", "not asked for"},
		"empty":        {nil, flaws{empty: true}, "list.items", "it is empty"},
		"problems":     {nil, flaws{unreadable: true}, "list.problems", "x: forbidden: not yours"},
		"no states":    {nil, flaws{noStates: true}, "list.goes-on", "among 25 items"},
		"asked enough": {nil, flaws{limits: true}, "conduct.memory-flat", "less often"},
	} {
		cand := candidate(&small{flaws: c.flaws})
		if c.change != nil {
			c.change(&cand)
		}
		r := sourcekit.Check(t.Context(), cand)
		at := slices.IndexFunc(r.Findings, func(f kit.Finding) bool { return f.ID == c.skips })
		if at < 0 || r.Findings[at].Outcome != kit.Skipped || !strings.Contains(r.Findings[at].Saw, c.why) {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

// TestUnopened: a program that does not start has one finding, and what is cut short says so.
func TestUnopened(t *testing.T) {
	cause := port.SourceErrorf(port.SourceUnavailable, errors.New("no handshake"), "it does not start")
	r := sourcekit.Check(t.Context(), sourcekit.Candidate{Name: "x",
		Open: func(context.Context) (port.Connectors, error) { return nil, cause }})
	if len(r.Findings) != 1 || r.Findings[0].ID != "opens" || !strings.Contains(r.Findings[0].Saw, "no handshake") {
		t.Errorf("%+v", r.Findings)
	}
	c := candidate(&small{})
	c.Kind = "other"
	if r := sourcekit.Check(t.Context(), c); !slices.Equal(ids(r, kit.Failed), []string{"account"}) {
		t.Errorf("%+v", r.Findings)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = candidate(&small{})
	c.Progress = func(step string) {
		if step == "fetch" {
			cancel()
		}
	}
	if r := sourcekit.Check(ctx, c); !slices.Contains(ids(r, kit.Failed), "finished") {
		t.Errorf("%+v", r.Findings)
	}
}

// TestReplaced: secrets that the connector replaces are used from then on, and named.
func TestReplaced(t *testing.T) {
	s := &small{renews: true}
	c := candidate(s)
	c.Secrets = map[string]string{"token": "spent-token-of-yesterday"}
	r := sourcekit.Check(t.Context(), c)
	if !slices.Equal(r.Replaced, []string{"token"}) || r.Connector.Items != notes {
		t.Errorf("replaced %v, %d items: %+v", r.Replaced, r.Connector.Items, r.Findings)
	}
	if c.Secrets["token"] != "spent-token-of-yesterday" {
		t.Error("the caller's secrets are changed")
	}
	var b bytes.Buffer
	if err := sourcekit.Write(&b, kit.Text, r); err != nil || !strings.Contains(b.String(), "has replaced token") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestWrite: a report is text, JSON and JUnit's XML.
func TestWrite(t *testing.T) {
	r := sourcekit.Check(t.Context(), candidate(&small{flaws: flaws{otherVersion: true}}))
	render := func(f kit.Format) string {
		var b bytes.Buffer
		if err := sourcekit.Write(&b, f, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := render(kit.Text)
	for _, want := range []string{"small, 1 kind small; 25 items of kind small\n", "ok    fetch.reads: ", "FAIL  fetch.version: ",
		"saw \"note 00\" was listed as", "\n1 of "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	var doc struct{ Reports []sourcekit.Report }
	if err := json.Unmarshal([]byte(render(kit.JSON)), &doc); err != nil || len(doc.Reports) != 1 ||
		doc.Reports[0].Failed() != 1 {
		t.Errorf("%v: %+v", err, doc)
	}
	var suites struct {
		Name   string `xml:"name,attr"`
		Suites []struct {
			Name     string `xml:"name,attr"`
			Failures int    `xml:"failures,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(render(kit.JUnit)), &suites); err != nil || suites.Name != "mneme sources check" ||
		len(suites.Suites) != 1 || suites.Suites[0].Failures != 1 || suites.Suites[0].Name != "small" {
		t.Errorf("%v: %+v", err, suites)
	}
	if sourcekit.Write(&bytes.Buffer{}, "yaml", r) == nil {
		t.Error("there is a form yaml")
	}
}
