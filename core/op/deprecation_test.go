package op_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/op"
)

type none struct{}

func mount(d *op.Deprecation) (why any) {
	defer func() { why = recover() }()
	set := &op.Set{Chain: func(*op.Spec) endpoint.Middleware {
		return func(next endpoint.Endpoint) endpoint.Endpoint { return next }
	}}
	op.Mount(set, struct{}{}, []op.Op[struct{}]{op.Define(op.Spec{Name: "old", Method: "GET", Path: "/old", Deprecated: d},
		func(struct{}, context.Context, none) (none, error) { return none{}, nil })})
	return nil
}

// An operation can't be announced as ending sooner than the policy says.
func TestADeprecationLastsTwelveMonthsAtLeast(t *testing.T) {
	since := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		d    *op.Deprecation
		fits bool
	}{
		"none":   {nil, true},
		"a year": {&op.Deprecation{Since: since, Sunset: since.AddDate(1, 0, 0), Guide: "https://example.com/old"}, true},
		"a day less": {&op.Deprecation{Since: since, Sunset: since.AddDate(1, 0, -1), Guide: "https://example.com/old"},
			false},
		"without an end": {&op.Deprecation{Since: since, Guide: "https://example.com/old"}, false},
		"no guide":       {&op.Deprecation{Since: since, Sunset: since.AddDate(2, 0, 0)}, false},
		"no start":       {&op.Deprecation{Sunset: since, Guide: "https://example.com/old"}, false},
	} {
		if why := mount(c.d); (why == nil) != c.fits {
			t.Errorf("%s: %v", name, why)
		}
	}
}

// Of two announcements the first has the dates, and both say where to read on.
func TestAnnouncementsStandTogether(t *testing.T) {
	since := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	r := &op.Reply{}
	op.Deprecation{Since: since, Sunset: time.Date(2027, 11, 22, 1, 2, 3, 0, time.FixedZone("", 3600)),
		Guide: "https://example.com/a"}.Announce(r)
	op.Deprecation{Since: since.AddDate(0, 1, 0), Guide: "https://example.com/b"}.Announce(r)
	if r.Header["Deprecation"] != "@1795219200" || r.Header["Sunset"] != "Mon, 22 Nov 2027 00:02:03 GMT" {
		t.Errorf("%v", r.Header)
	}
	if want := `<https://example.com/a>; rel="deprecation"; type="text/html", <https://example.com/b>; ` +
		`rel="deprecation"; type="text/html"`; r.Header["Link"] != want {
		t.Errorf("Link %q", r.Header["Link"])
	}
	op.Deprecation{Since: since}.Announce(nil) // a call without headers
	alone := &op.Reply{}
	op.Deprecation{Since: since, Guide: "https://example.com/b"}.Announce(alone)
	if _, has := alone.Header["Sunset"]; has || strings.Contains(alone.Header["Link"], ", ") {
		t.Errorf("%v", alone.Header)
	}
}
