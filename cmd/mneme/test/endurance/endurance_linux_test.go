package endurance_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

var (
	cycles = flag.Int("cycles", 2, "how often the server is killed with SIGKILL and started again")
	load   = flag.Duration("load", 2*time.Second, "how long it then serves everything together")
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// clients is how many each organization has.
const clients = 2

// TestKilled kills the server while it works, and at times while it starts. After each
// kill everything that was acknowledged is there, once, what was deleted or erased is
// not, and the index finds what the store has.
func TestKilled(t *testing.T) {
	s := newSite(t, clients)
	s.killing = true
	random := rand.New(rand.NewPCG(7, uint64(*cycles)))
	o, starting := &operator{site: s}, 0
	for cycle := range *cycles {
		if cycle%10 == 2 {
			server := s.Launch()
			time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
			server.Kill()
			starting++
		}
		s.start()
		s.sweep()
		s.run(o, func() {
			time.Sleep(time.Duration(100+random.IntN(500)) * time.Millisecond)
			s.at.Load().Kill()
		})
		s.complaints()
		s.traces()
		if (cycle+1)%100 == 0 {
			t.Logf("%d cycles: %s", cycle+1, s.score.lap())
		}
	}
	s.start()
	s.sweep()
	rankings := s.rankings()
	s.at.Load().Kill()
	s.traces()
	s.rebuilt(rankings)
	t.Logf("%d kills under load and %d while starting: %s", *cycles, starting, s.score)
	t.Logf("%d end users erased, %d namespaces moved, %d reindexings ended, %d reloads", len(s.erased), o.copied, o.renewed,
		o.reloads)
}

// TestLongRun has everything going on at once for a time.
func TestLongRun(t *testing.T) {
	s := newSite(t, clients)
	s.start()
	o := &operator{site: s}
	s.run(o, func() { time.Sleep(min(time.Minute, *load/3)) }) // until all is there that stays
	t.Logf("warm: %s", s.score.lap())
	first := s.process()
	t.Logf("start: %s", first)
	s.run(o, func() {
		for minute, left := 1, *load; left > 0; minute, left = minute+1, left-time.Minute {
			time.Sleep(min(left, time.Minute))
			t.Logf("minute %d: %s; %s", minute, s.score.lap(), s.process())
			s.at.Load().Alive(t)
		}
	})
	s.sweep()
	s.traces()
	rankings := s.rankings()
	last := s.process()
	t.Logf("end: %s", last)
	if what := last.grown(first); what != "" {
		s.score.report(wrong, "the server takes more and more %s", what)
	}
	s.complaints()
	if err := s.at.Load().Stop(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.rebuilt(rankings)
	t.Logf("%s under load: %s", *load, s.score)
	t.Logf("%d end users erased, %d namespaces moved, %d reindexings ended, %d reloads", len(s.erased), o.copied, o.renewed,
		o.reloads)
}
