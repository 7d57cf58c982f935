package key_test

import (
	"encoding/json"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// A service key may be limited to a source of its organization. One that takes over from
// it is so, too.
func TestAKeyLimitedToASource(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store, Now: newClock().now})
	mine, err := s.Organization(t.Context(), string(issue(t, s, key.Issue{}).Org))
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.CreateOrganization(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	err = store.Update(t.Context(), func(w port.Writer) error {
		for id, org := range map[string]ident.Org{"src_mine": mine.ID, "src_theirs": other.ID} {
			if err := w.PutSource(t.Context(), port.SourceRow{ID: id, Org: org, Kind: "push", Namespace: "docs",
				Config: json.RawMessage("{}"), State: port.SourceIdle}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, in := range map[string]key.Issue{
		"unknown":                {Source: "src_none"},
		"another organization's": {Source: "src_theirs"},
		"no id at all":           {Source: "src_\x00"},
		"of an admin key":        {Source: "src_mine", Kind: ident.Admin},
		"of an integration key":  {Source: "src_mine", Kind: ident.Integration},
	} {
		_, err := s.Issue(t.Context(), in)
		if f := fault.From(err); f == nil || f.Code != fault.InvalidRequest || f.Details["field"] != "source" {
			t.Errorf("%s: %v", what, err)
		}
	}
	k := issue(t, s, key.Issue{Source: "src_mine"})
	next, err := s.Rotate(t.Context(), key.Ref{ID: k.ID}, key.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Verify(t.Context(), next.Secret, op.Namespace)
	if k.Source != "src_mine" || next.Source != "src_mine" || p.Source != "src_mine" || err != nil {
		t.Errorf("limited to %q, then to %q, and verified for %q: %v", k.Source, next.Source, p.Source, err)
	}
}
