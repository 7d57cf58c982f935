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
	"testing/synctest"
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

// finding is one of a report by its id; an empty one: it has none.
func finding(r sourcekit.Report, id string) kit.Finding {
	if at := slices.IndexFunc(r.Findings, func(f kit.Finding) bool { return f.ID == id }); at >= 0 {
		return r.Findings[at]
	}
	return kit.Finding{}
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
		"describes.kinds":    {{noKinds: true}},
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
		"list.addresses":       {{oddAddress: true}, {noHost: true}},
		"list.states":          {{longState: true}, {emptyState: true}},
		"list.ends":            {{afterComplete: true}},
		"list.repeats":         {{unstable: true}},
		"list.stops":           {{deafToStop: true}},
		"list.goes-on":         {{losesBehindState: true}, {losesBehindLast: true}},
		"list.goes-ahead":      {{deafToState: true}},
		"list.begins-again":    {{strangeFails: true}, {strangeEmpty: true}},
		"list.last-state":      {{noStates: true}},
		"list.changes":         {{goneWrongly: true}},
		"list.changes-alone":   {{changesAll: true}},
		"fetch.reads":          {{failsToRead: true}},
		"fetch.version":        {{otherVersion: true}},
		"fetch.parallel":       {{shared: true}},
		"fetch.unknown":        {{unfound: true}},
		"secrets.untold":       {{tells: true}, {tellsInState: true}, {tellsInMetadata: true}},
		"secrets.untold-wrong": {{tellsInError: true}},
		"conduct.credentials":  {{anyToken: true}, {forbidsToken: true}},
		"conduct.cancelled":    {{deafToEnd: true}},
		"conduct.memory-flat":  {{leaks: true}},
		"conduct.endures":      {{failsLater: true}},
		"conduct.crashed":      {{diesOddly: true}},
		"conduct.recovers":     {{diesForGood: true}, {listsBroken: true}},
		"revoke":               {{revokesOnce: true}, {revokesBySettings: true}},
	} {
		for _, one := range f {
			r := sourcekit.Check(t.Context(), candidate(&small{flaws: one}))
			if found := finding(r, finds); found.Outcome != kit.Failed || found.Saw == "" {
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
		if found := finding(r, c.skips); found.Outcome != kit.Skipped || !strings.Contains(found.Saw, c.why) {
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
	if strings.Contains(text, "has replaced") {
		t.Errorf("nothing was replaced in\n%s", text)
	}
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

// with checks a connector with the changes of a test.
func with(t *testing.T, s *small, change func(*sourcekit.Candidate)) sourcekit.Report {
	t.Helper()
	c := candidate(s)
	if s.secret != "" {
		c.Secrets = map[string]string{"token": s.secret}
	}
	if change != nil {
		change(&c)
	}
	return sourcekit.Check(t.Context(), c)
}

func wantSound(t *testing.T, what string, r sourcekit.Report) {
	t.Helper()
	if r.Failed() > 0 {
		t.Errorf("%s: %v are found", what, ids(r, kit.Failed))
	}
}

// TestEdges: what is as long as it may be is sound, and so is an item that changes between two listings.
func TestEdges(t *testing.T) {
	wantSound(t, "the longest", with(t, &small{edges: true}, nil))
	wantSound(t, "an item that changes", with(t, &small{movesOn: true}, nil))
	wantSound(t, "the most metadata", with(t, &small{metadata: 64 << 10}, nil))
	if r := with(t, &small{metadata: 64<<10 + 1}, nil); finding(r, "fetch.metadata").Outcome != kit.Failed {
		t.Error("too much metadata is not found")
	}
	r := with(t, &small{flaws: flaws{unstable: true}}, nil)
	if saw := finding(r, "list.repeats").Saw; !strings.Contains(saw, `25 of another version, as "note 00"`) {
		t.Error(saw)
	}
}

// TestSamples: twenty items are read, and of many states the first and the last are gone on from.
func TestSamples(t *testing.T) {
	s := &small{pages: 5}
	wantSound(t, "many states", with(t, s, func(c *sourcekit.Candidate) { c.Memory, c.Break = nil, nil }))
	if len(s.fetched) != 21 { // with one that there is not
		t.Errorf("%d items are read", len(s.fetched))
	}
	for state, want := range map[string]bool{"5": true, "10": false, "15": false, "20": true, "25": true} {
		if slices.Contains(s.begun, state) != want {
			t.Errorf("a listing goes on from %s: %v", state, !want)
		}
	}
}

// TestWrongSecrets: the wrong secrets have the form of the right ones.
func TestWrongSecrets(t *testing.T) {
	s := &small{flaws: flaws{anyToken: true}, secret: "aby z`{ABYZ@[0189/:-ä"}
	r := with(t, s, nil)
	if want := "bcz a`{BCZA@[1290/:-ä"; len(s.given) != 1 || s.given[0] != want {
		t.Errorf("%q, want %q", s.given, want)
	}
	if saw := finding(r, "conduct.credentials").Saw; !strings.Contains(saw, "25 items listed, complete: true") {
		t.Error(saw)
	}
}

// TestShortSecrets: words of fewer than eight bytes may stand in a text by themselves.
func TestShortSecrets(t *testing.T) {
	for secret, found := range map[string]kit.Outcome{"secret7": kit.Passed, "secret-8": kit.Failed} {
		r := with(t, &small{flaws: flaws{tellsInError: true}, secret: secret}, nil)
		if got := finding(r, "secrets.untold-wrong").Outcome; got != found {
			t.Errorf("a wrong secret of %d bytes: %s", len(secret), got)
		}
		r = with(t, &small{flaws: flaws{tellsInState: true}, secret: secret}, nil)
		if got := finding(r, "secrets.untold"); got.Outcome != found || strings.Contains(got.Saw, "secret-8") {
			t.Errorf("a secret of %d bytes: %+v", len(secret), got)
		}
	}
}

// TestOfTwoSecrets: of a secret that another begins with, nothing is told either.
func TestOfTwoSecrets(t *testing.T) {
	for range 20 { // secrets come in no order
		r := with(t, &small{flaws: flaws{tellsInState: true}, secret: "secret-of-mine-and-its-end"},
			func(c *sourcekit.Candidate) {
				c.Secrets["other"] = "secret-of-mine"
				c.Config, c.Kind = json.RawMessage("{}"), ""
			})
		for _, f := range r.Findings {
			if strings.Contains(f.Saw, "and-its-end") {
				t.Fatalf("%s: %s", f.ID, f.Saw)
			}
		}
	}
}

// TestFirstSecrets: an account without secrets may get its first ones from its upstream.
func TestFirstSecrets(t *testing.T) {
	r := with(t, &small{renews: true}, func(c *sourcekit.Candidate) { c.Secrets = nil })
	if !slices.Equal(r.Replaced, []string{"token"}) || r.Connector.Items != notes {
		t.Errorf("replaced %v, %d items: %v", r.Replaced, r.Connector.Items, ids(r, kit.Failed))
	}
}

// TestEndures: memory is watched for as long as was asked for, 15 seconds where nothing was, and for up to
// four times as long where it grows.
func TestEndures(t *testing.T) {
	for name, c := range map[string]struct {
		endure     time.Duration
		leaks      bool
		takes      time.Duration
		rounds     int
		afterwards kit.Outcome
	}{
		"as asked":   {20 * time.Second, false, time.Second, 20, kit.Passed},
		"not asked":  {0, false, time.Second, 15, kit.Passed},
		"at least 8": {time.Second, false, time.Second, kit.MinSamples, kit.Passed},
		"it grows":   {5 * time.Second, true, time.Second, 20, kit.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &small{takes: c.takes, flaws: flaws{leaks: c.leaks}}
				rounds := 0
				r := with(t, s, func(k *sourcekit.Candidate) {
					k.Endure = c.endure
					k.Memory = func() int64 { rounds++; return s.held() }
				})
				if got := finding(r, "conduct.memory-flat").Outcome; got != c.afterwards || rounds != c.rounds {
					t.Errorf("%s after %d rounds", got, rounds)
				}
			})
		})
	}
}

// TestRecovers: a program may be away for ten seconds after a crash, and ends the listing that it meets as
// unavailable.
func TestRecovers(t *testing.T) {
	for down, want := range map[time.Duration]kit.Outcome{9 * time.Second: kit.Passed, 11 * time.Second: kit.Failed} {
		synctest.Test(t, func(t *testing.T) {
			s := &small{dies: true, downFor: down}
			r := with(t, s, func(c *sourcekit.Candidate) { c.Memory = nil })
			if got := finding(r, "conduct.recovers").Outcome; got != want {
				t.Errorf("away for %v: %s", down, got)
			}
			if got := finding(r, "conduct.crashed").Outcome; got != kit.Passed {
				t.Errorf("%+v", r.Findings)
			}
		})
	}
}
