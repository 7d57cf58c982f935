package fair_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/ident"
)

const ms = time.Millisecond

// of is the context of an organization's calls.
func of(t *testing.T, org string) context.Context {
	return ident.WithPrincipal(t.Context(), ident.Principal{Org: ident.Org(org)})
}

// journal is who computed, step by step.
type journal struct {
	mu    sync.Mutex
	steps []string
}

func (j *journal) add(who string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.steps = append(j.steps, who)
}

// String tells who computed for how many steps, one after the other: "a3 b1 a2".
func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for i := 0; i < len(j.steps); {
		from := i
		for i < len(j.steps) && j.steps[i] == j.steps[from] {
			i++
		}
		out = append(out, fmt.Sprint(j.steps[from], i-from))
	}
	return strings.Join(out, " ")
}

// compute takes a turn and computes for so many steps of a millisecond, asking after each
// whether to go on.
func (j *journal) compute(ctx context.Context, s *fair.Scheduler, class, steps int, who string) {
	turn := s.Enter(ctx, class)
	defer turn.Leave()
	for range steps {
		time.Sleep(ms)
		j.add(who)
		turn.Yield(ctx)
	}
}

// begin lets a goroutine compute, and waits until it does or waits for its turn.
func (j *journal) begin(ctx context.Context, s *fair.Scheduler, class, steps int, who string) {
	go j.compute(ctx, s, class, steps, who)
	synctest.Wait()
}

// Turns of one organization: so many at once as there are processors, lower classes first
// and at the next step, those of a class as they came. The lowest goes round.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		begin []int // classes, the third a millisecond and a half later
		want  string
	}{
		{"one class", 1, []int{1, 1, 1}, "first10 second10 third10"},
		{"a lower one comes later", 1, []int{2, 2, 1}, "first2 third10 first8 second10"},
		{"a higher one comes later", 1, []int{1, 1, 2}, "first10 second10 third10"},
		{"the lowest", 1, []int{0, 0, 0}, "first5 second5 third5 first5 second5 third5"},
		{"the lowest and others", 1, []int{1, 0, 0}, "first1 second5 third5 second5 third5 first9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal
				s := fair.New(c.width)
				ctx := of(t, "a")
				j.begin(ctx, s, c.begin[0], 10, "first")
				j.begin(ctx, s, c.begin[1], 10, "second")
				time.Sleep(3 * ms / 2)
				j.begin(ctx, s, c.begin[2], 10, "third")
				time.Sleep(time.Second)
				if got := j.String(); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		})
	}
}

// Two organizations with as much right go by turns of a quantum ahead of each other.
func TestQuantum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		s := fair.New(1)
		j.begin(of(t, "a"), s, 1, 20, "a")
		j.begin(of(t, "b"), s, 1, 20, "b")
		time.Sleep(time.Second)
		if got := j.String(); got != "a5 b10 a10 b10 a5" {
			t.Errorf("%s", got)
		}
	})
}

// Of organizations that have used as much the one that came first goes first.
func TestTies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		s := fair.New(1)
		j.begin(of(t, "c"), s, 1, 5, "c")
		j.begin(of(t, "a"), s, 1, 3, "a")
		j.begin(of(t, "b"), s, 1, 3, "b")
		time.Sleep(time.Second)
		if got := j.String(); got != "c5 a3 b3" {
			t.Errorf("%s", got)
		}
	})
}

// One that comes is set beside the one that has used least of those that compute, and goes
// before all of them.
func TestNewcomer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		s := fair.New(3)
		for _, who := range []string{"a", "b", "b"} { // b uses twice as much
			j.begin(of(t, who), s, 1, 1050, who)
		}
		time.Sleep(time.Second + ms/2)
		j.mu.Lock()
		j.steps = nil
		j.mu.Unlock()
		for range 3 {
			j.begin(of(t, "c"), s, 1, 30, "c")
		}
		time.Sleep(25 * ms)
		if got := strings.Count(j.String(), "c"); got == 0 {
			t.Fatal("the newcomer waits")
		}
		if got := j.String(); !strings.HasSuffix(got, "c72") {
			t.Errorf("while the newcomer has credit: %s", got)
		}
		time.Sleep(2 * time.Second)
	})
}

// As many turns run at once as there are processors.
func TestWidth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		s := fair.New(3)
		began := time.Now()
		for range 6 {
			go j.compute(of(t, "a"), s, 1, 10, "x")
		}
		synctest.Wait()
		for len(j.String()) < len("x60") || j.String() != "x60" {
			time.Sleep(ms)
			synctest.Wait()
		}
		if took := time.Since(began); took != 20*ms {
			t.Errorf("6 turns of 10 ms on 3 processors take %s", took)
		}
	})
}

// One that rests goes before one that computes all the time: between its coming and its
// start no more than the step that runs on each processor is done, however many turns of
// the other are waiting, of whatever class.
func TestLightGoesBeforeHeavy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		s := fair.New(2)
		heavy, end := context.WithCancel(of(t, "heavy"))
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				for heavy.Err() == nil {
					j.compute(heavy, s, i%3, 20, "h")
				}
			})
		}
		time.Sleep(time.Second + ms/2)
		for range 50 {
			synctest.Wait()
			j.mu.Lock()
			j.steps = nil
			j.mu.Unlock()
			turn := s.Enter(of(t, "light"), 2)
			if got := j.String(); got != "" && got != "h1" && got != "h2" {
				t.Errorf("between the call and its start: %s", got)
			}
			time.Sleep(10 * ms)
			turn.Leave()
			time.Sleep(100 * ms)
		}
		end()
		all.Wait()
	})
}

// steps computes for ever and counts.
func steps(ctx context.Context, s *fair.Scheduler, n *int, mu *sync.Mutex) {
	for ctx.Err() == nil {
		turn := s.Enter(ctx, 1)
		for range 20 {
			time.Sleep(ms)
			mu.Lock()
			*n++
			mu.Unlock()
			turn.Yield(ctx)
		}
		turn.Leave()
	}
}

// Organizations that compute all the time get as much each, however many calls one of
// them has, and a later one no more for having rested than its credit.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.New(1)
		ctx, end := context.WithCancel(t.Context())
		var mu sync.Mutex
		var all sync.WaitGroup
		used := map[string]*int{"a": new(int), "b": new(int), "c": new(int)}
		work := func(org string, calls int) {
			own := ident.WithPrincipal(ctx, ident.Principal{Org: ident.Org(org)})
			for range calls {
				all.Go(func() { steps(own, s, used[org], &mu) })
			}
		}
		work("a", 30)
		time.Sleep(10*time.Second + ms/2)
		work("b", 1)
		time.Sleep(5 * time.Second)
		read := func(org string) int {
			mu.Lock()
			defer mu.Unlock()
			return *used[org]
		}
		a, b := read("a")-10000, read("b")
		if a+b < 4990 {
			t.Errorf("of 5 s %d ms are used", a+b)
		}
		if lead := b - a; lead < 190 || lead > 210 {
			t.Errorf("the one that came back leads by %d ms, its credit is 200", lead)
		}
		work("c", 3)
		time.Sleep(6 * time.Second)
		a, b = read("a")-10000-a, read("b")-b
		c := read("c")
		for _, n := range []int{a, b, c} {
			if n < 1850 || n > 2150 {
				t.Errorf("of 6 s three organizations have %d, %d and %d ms", a, b, c)
				break
			}
		}
		end()
		all.Wait()
	})
}

// A short rest gives no credit back: one that pauses between its calls gets no more than
// one that does not.
func TestRestsGiveNoAdvantage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.New(1)
		ctx, end := context.WithCancel(t.Context())
		var mu sync.Mutex
		var all sync.WaitGroup
		var steady, pausing int
		all.Go(func() { steps(ident.WithPrincipal(ctx, ident.Principal{Org: "a"}), s, &steady, &mu) })
		all.Go(func() {
			own := ident.WithPrincipal(ctx, ident.Principal{Org: "b"})
			for ctx.Err() == nil {
				turn := s.Enter(own, 1)
				for range 50 {
					time.Sleep(ms)
					mu.Lock()
					pausing++
					mu.Unlock()
					turn.Yield(own)
				}
				turn.Leave()
				time.Sleep(ms)
			}
		})
		time.Sleep(10 * time.Second)
		end()
		all.Wait()
		if pausing > steady+220 {
			t.Errorf("the one that pauses computed for %d ms, the other for %d", pausing, steady)
		}
	})
}

// What an organization didn't use while it rested isn't saved for it.
func TestRestIsNotSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.New(1)
		var j journal
		j.compute(of(t, "b"), s, 1, 50, "b")
		ctx, end := context.WithCancel(t.Context())
		var mu sync.Mutex
		var all sync.WaitGroup
		var a, b int
		all.Go(func() { steps(ident.WithPrincipal(ctx, ident.Principal{Org: "a"}), s, &a, &mu) })
		time.Sleep(5*time.Second + ms/2)
		mu.Lock()
		a = 0
		mu.Unlock()
		all.Go(func() { steps(ident.WithPrincipal(ctx, ident.Principal{Org: "b"}), s, &b, &mu) })
		time.Sleep(2 * time.Second)
		mu.Lock()
		if lead := b - a; lead < 190 || lead > 210 {
			t.Errorf("after 5 s of rest it leads by %d ms, its credit is 200", lead)
		}
		mu.Unlock()
		end()
		all.Wait()
	})
}

// The use of organizations that are gone is forgotten.
func TestForgets(t *testing.T) {
	for rest, want := range map[time.Duration]int{10 * time.Second: 2, 10*time.Second + 1: 1} {
		synctest.Test(t, func(t *testing.T) {
			s := fair.New(1)
			var j journal
			j.compute(of(t, "a"), s, 1, 0, "a") // has the credit that a newcomer has
			j.compute(of(t, "b"), s, 1, 1, "b")
			if n := s.Remembered(); n != 1 {
				t.Errorf("with one that has not computed %d organizations are remembered", n)
			}
			time.Sleep(rest)
			j.compute(of(t, "c"), s, 1, 1, "c")
			if n := s.Remembered(); n != want {
				t.Errorf("after a rest of %v %d organizations are remembered, want %d", rest, n, want)
			}
		})
	}

	synctest.Test(t, func(t *testing.T) {
		s := fair.New(1)
		var j journal
		for i := range 200 {
			j.compute(of(t, fmt.Sprint(i)), s, 1, 100, "x")
		}
		if n := s.Remembered(); n < 100 || n > 102 { // who came within 10 s
			t.Errorf("%d organizations are remembered", n)
		}
		time.Sleep(11 * time.Second)
		j.compute(of(t, "next"), s, 1, 1, "x")
		if n := s.Remembered(); n != 1 {
			t.Errorf("11 s later %d organizations are remembered", n)
		}
	})
}

// A turn that doesn't ask is overtaken, waits when it asks, and is charged for the time.
func TestOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		s := fair.New(1)
		deaf := s.Enter(of(t, "deaf"), 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			j.compute(of(t, "b"), s, 1, 300, "b")
		}()
		time.Sleep(200*ms + ms/2)
		if got := j.String(); got != "b150" {
			t.Errorf("after 200 ms without a word of the one that runs: %s", got)
		}
		deaf.Yield(of(t, "deaf"))
		j.add("deaf")
		deaf.Leave()
		<-done
		// It has used 200 ms, and the other its credit and as much.
		if got := j.String(); got != "b205 deaf1 b95" && got != "b206 deaf1 b94" {
			t.Errorf("%s", got)
		}
	})
}

// A turn that doesn't ask is overtaken by one of its own organization too, whatever its
// class, and one that asks is not.
func TestOvertakenByItsOwn(t *testing.T) {
	for class, asks := range map[int]bool{1: false, 2: false, 3: true} {
		synctest.Test(t, func(t *testing.T) {
			var j journal
			s := fair.New(1)
			first := s.Enter(of(t, "a"), 1)
			go j.compute(of(t, "a"), s, class, 1, "second")
			for range 50 {
				time.Sleep(2 * ms)
				if asks {
					first.Yield(of(t, "a"))
				}
			}
			if got := j.String(); (got == "") != asks {
				t.Errorf("class %d beside one that asks, %t: %q", class, asks, got)
			}
			first.Leave()
			time.Sleep(2 * ms)
			if got := j.String(); got != "second1" {
				t.Errorf("class %d: %q", class, got)
			}
		})
	}
}

// Whose caller is gone goes on at once, and takes nobody's place.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		s := fair.New(1)
		first := s.Enter(of(t, "a"), 1)
		ctx, leave := context.WithCancel(of(t, "a"))
		entered := make(chan *fair.Turn)
		go func() { entered <- s.Enter(ctx, 1) }()
		go j.compute(of(t, "a"), s, 1, 3, "third")
		synctest.Wait()
		leave()
		gone := <-entered
		gone.Yield(ctx)
		time.Sleep(10 * ms)
		if got := j.String(); got != "" {
			t.Errorf("the next one computes beside the first: %s", got)
		}
		gone.Leave()
		time.Sleep(10 * ms)
		if got := j.String(); got != "" {
			t.Errorf("the next one computes beside the first: %s", got)
		}
		first.Leave()
		time.Sleep(10 * ms)
		if got := j.String(); got != "third3" {
			t.Errorf("%q", got)
		}
	})
}

// A time limit of a turn leaves out the time that it waits.
func TestAfterFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.New(1)
		go (&journal{}).compute(of(t, "a"), s, 1, 70, "before")
		synctest.Wait()
		slow := s.Enter(of(t, "a"), 2) // has waited for 70 ms, which is over
		time.Sleep(40 * ms)            // and run for 40
		fired := make(chan time.Time, 1)
		began := time.Now()
		defer slow.AfterFunc(30*ms, func() { fired <- time.Now() })()
		stop := slow.AfterFunc(20*ms, func() { t.Error("a limit that was lifted is called") })
		time.Sleep(10 * ms)
		go (&journal{}).compute(of(t, "a"), s, 1, 100, "after") // goes first at the next Yield
		synctest.Wait()
		slow.Yield(of(t, "a"))
		stop()
		if waited := time.Since(began); waited != 110*ms {
			t.Fatalf("it waited until %s", waited)
		}
		select {
		case <-fired:
			t.Fatal("the limit counts the time that it waited")
		default:
		}
		if ran := slow.Ran(); ran != 50*ms {
			t.Errorf("it has run for %s", ran)
		}
		if at := (<-fired).Sub(began); at < 130*ms || at > 150*ms {
			t.Errorf("30 ms of computing and 100 of waiting end after %s", at)
		}
		slow.Leave()
	})
}

// A limit that ends in the moment in which it is looked at is called, once.
func TestAfterFuncIsCalledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := fair.New(1).Enter(of(t, "a"), 1)
		var calls []time.Duration
		began := time.Now()
		defer turn.AfterFunc(30*ms, func() { calls = append(calls, time.Since(began)) })()
		time.Sleep(time.Second)
		synctest.Wait()
		if len(calls) != 1 || calls[0] != 30*ms {
			t.Errorf("called after %v, want once after 30 ms", calls)
		}
		turn.Leave()
	})
}

// Without anybody who waits a turn is given and taken back without delay.
func BenchmarkTurn(b *testing.B) {
	s := fair.New(1)
	ctx := context.Background()
	for b.Loop() {
		turn := s.Enter(ctx, 1)
		turn.Yield(ctx)
		turn.Leave()
	}
}
