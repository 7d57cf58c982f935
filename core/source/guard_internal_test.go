package source

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/port"
)

// The guard lets few deletions through and holds back many; what it has let through it does
// not hold back half-way.
func TestGuard(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		documents := rapid.Int64Range(0, 5000).Draw(rt, "documents")
		gone := rapid.Int64Range(0, documents).Draw(rt, "gone")
		listed := rapid.Uint64Range(0, 3).Draw(rt, "listed")
		snapshot := rapid.Bool().Draw(rt, "snapshot")
		a := absence{documents: documents, gone: gone, listed: listed, snapshot: snapshot}
		held := a.withheld()
		switch {
		case gone == 0 && held:
			rt.Fatalf("%+v: nothing was held back", a)
		case snapshot && listed == 0 && gone > 0 && !held:
			rt.Fatalf("%+v: an empty listing emptied the source", a)
		case gone > 10 && float64(gone) > .1*float64(documents) && !held:
			rt.Fatalf("%+v: passed", a)
		case gone > 0 && (gone <= 10 || float64(gone) <= .1*float64(documents)) && held && (listed > 0 || !snapshot):
			rt.Fatalf("%+v: held back", a)
		}
		if !held {
			done := rapid.Int64Range(0, gone).Draw(rt, "done")
			a.documents, a.gone = documents-done, gone-done
			if a.withheld() {
				rt.Fatalf("%+v after %d: held back half-way", a, done)
			}
		}
		most := rapid.Int64Range(0, 5000).Draw(rt, "most")
		a = absence{documents: documents, gone: gone, listed: listed, snapshot: snapshot, allowed: &most}
		if a.withheld() != (gone > most) {
			rt.Fatalf("%+v of %d: %v", a, most, a.withheld())
		}
	})
}

// A schedule comes round not before its time, soon after it, and later the more often the source has
// failed.
func TestNext(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	daily := port.SourceSchedule{Cron: "30 4 * * *"}
	for _, c := range []struct {
		s            port.SourceSchedule
		failures     int
		from, within time.Duration
	}{
		{port.SourceSchedule{Every: 20 * time.Minute}, 0, 20 * time.Minute, 2 * time.Minute},
		{port.SourceSchedule{Every: 6 * time.Hour}, 4, 6 * time.Hour, 5 * time.Minute},
		{port.SourceSchedule{Every: 6 * time.Hour}, 5, 12 * time.Hour, 5 * time.Minute},
		{port.SourceSchedule{Every: 6 * time.Hour}, 6, 24 * time.Hour, 5 * time.Minute},
		{port.SourceSchedule{Every: 6 * time.Hour}, 60, 24 * time.Hour, 5 * time.Minute},
		{port.SourceSchedule{Every: 48 * time.Hour}, 60, 48 * time.Hour, 5 * time.Minute},
		{daily, 0, 16*time.Hour + 30*time.Minute, 5 * time.Minute},
	} {
		for range 20 {
			if wait := next(c.s, c.failures, now).Sub(now); wait < c.from || wait >= c.from+c.within {
				t.Errorf("%+v after %d failures: in %s", c.s, c.failures, wait)
			}
		}
	}
	if at := next(port.SourceSchedule{}, 0, now); !at.IsZero() {
		t.Errorf("no schedule: %s", at)
	}
}
