package source

import (
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Ten deletions are never suspicious, and more are from above a tenth of the documents.
func TestGuardAtItsBounds(t *testing.T) {
	for _, c := range []struct {
		documents, gone int64
		held            bool
	}{{20, 10, false}, {20, 11, true}, {110, 11, false}, {109, 11, true}} {
		if held := (absence{documents: c.documents, gone: c.gone, listed: 1}).withheld(); held != c.held {
			t.Errorf("%d of %d: %v", c.gone, c.documents, held)
		}
	}
}

// The shortest and the longest schedule are taken, and none beyond; five fields are a cron line.
func TestSchedulesAtTheirBounds(t *testing.T) {
	for in, ok := range map[Schedule]bool{
		{Every: "1m"}: true, {Every: "59s"}: false, {Every: "8760h"}: true, {Every: "8760h1s"}: false,
		{Cron: " 30  4 * * * "}: true, {Cron: "30 4 * *"}: false, {Cron: "0 30 4 * * *"}: false,
	} {
		got, err := parseSchedule(&in)
		if (err == nil) != ok || ok && in.Cron != "" && got.Cron != "30 4 * * *" {
			t.Errorf("%+v: %+v, %v", in, got, err)
		}
	}
	now, seen := time.Now(), map[time.Time]bool{}
	for range 20 {
		seen[next(port.SourceSchedule{Every: time.Hour}, 0, now)] = true
	}
	if len(seen) == 1 {
		t.Error("all sources of one schedule run at once")
	}
}

// A run is silent for a minute before it is answered as interrupted; one that is pushed, waits
// or has ended may be for longer.
func TestSilentRuns(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for what, c := range map[string]struct {
		run  port.SourceRun
		want port.SourceRunStatus
	}{
		"a minute":         {port.SourceRun{Status: port.RunRunning, HeartbeatAt: now.Add(-time.Minute)}, port.RunRunning},
		"more":             {port.SourceRun{Status: port.RunRunning, HeartbeatAt: now.Add(-time.Hour)}, port.RunInterrupted},
		"one that waits":   {port.SourceRun{Status: port.RunQueued, HeartbeatAt: now.Add(-time.Hour)}, port.RunQueued},
		"one that ended":   {port.SourceRun{Status: port.RunCompleted, HeartbeatAt: now.Add(-time.Hour)}, port.RunCompleted},
		"one that beats":   {port.SourceRun{Status: port.RunRunning, HeartbeatAt: now}, port.RunRunning},
		"one in your hand": {port.SourceRun{Status: port.RunRunning, Params: []byte(`{"push":true}`)}, port.RunRunning},
	} {
		if got := run(c.run, now); got.Status != string(c.want) {
			t.Errorf("%s: %s, want %s", what, got.Status, c.want)
		}
	}
}

// What a connector says is kept as far as the store has room: keys and versions whole or not at all,
// names and addresses cut between two characters.
func TestItemsAtTheirBounds(t *testing.T) {
	for what, c := range map[string]struct {
		item port.SourceItem
		bad  bool
	}{
		"no key":                       {port.SourceItem{}, true},
		"the longest key":              {port.SourceItem{Key: strings.Repeat("k", 2048)}, false},
		"a longer key":                 {port.SourceItem{Key: strings.Repeat("k", 2049)}, true},
		"the longest version":          {port.SourceItem{Key: "k", Version: strings.Repeat("v", 256)}, false},
		"a longer version":             {port.SourceItem{Key: "k", Version: strings.Repeat("v", 257)}, true},
		"a key with NUL":               {port.SourceItem{Key: "k\x00"}, true},
		"a key that is no UTF-8":       {port.SourceItem{Key: "k\xff"}, true},
		"a version that is no UTF-8":   {port.SourceItem{Key: "k", Version: "\xff"}, true},
		"a name with what is no UTF-8": {port.SourceItem{Key: "k", Name: "\xff"}, false},
	} {
		if why := badItem(&c.item); (why != "") != c.bad {
			t.Errorf("%s: %q", what, why)
		}
	}
	for _, c := range []struct{ in, want string }{
		{strings.Repeat("é", 5), strings.Repeat("é", 5)}, {strings.Repeat("é", 6), strings.Repeat("é", 5)},
		{"a" + strings.Repeat("é", 5), "a" + strings.Repeat("é", 4)}, {"a\x00b\xff", "ab\uFFFD"},
	} {
		if got := cut(c.in, 10); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

// Each operation has a time that it may take, and none is available where sources are off.
func TestTimesOfOperations(t *testing.T) {
	for _, o := range Operations() {
		want := 30 * time.Second
		switch {
		case o.Spec.Method == "GET":
			want = 5 * time.Second
		case o.Spec.Name == "sources.check":
			want = time.Minute
		case o.Spec.Name == "sources.items.push":
			want = 2 * time.Minute
		}
		if o.Spec.Timeout != want {
			t.Errorf("%s may take %s, want %s", o.Spec.Name, o.Spec.Timeout, want)
		}
	}
	var none *Service
	if err := none.Available(); err != nil {
		t.Errorf("a table of operations: %v", err)
	}
	if err := (&Service{}).Available(); err != nil {
		t.Errorf("a service: %v", err)
	}
	if err := Off().Available(); fault.CodeOf(err) != fault.SourcesUnavailable {
		t.Errorf("one that is off: %v", err)
	}
}
