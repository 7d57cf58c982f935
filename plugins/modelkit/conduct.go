package modelkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/kit"
)

// conduct holds the calls by which a task's behaviour over many calls is checked.
type conduct struct {
	call func(context.Context) error           // a small call, and whether its answer is the one of before
	many func(context.Context, []string) error // a call over the texts
	// a call whose input and answer are overwritten, and one more; nil: not checked
	retained func() error
	work     func(ctx context.Context, i int) error // a call of changing size, then a small one as call
}

const (
	concurrency = 4                // calls at once
	recovery    = 10 * time.Second // that a crashed model may take to be back
	patience    = time.Minute      // for a call that has no reason to wait
)

func (k *check) conducts(prefix string, c conduct) {
	task := strings.SplitN(prefix, ".", 2)[0]
	k.step(task + ": conduct")
	if c.retained != nil {
		err := c.retained()
		k.expect(prefix+"retained", "nothing is kept of a call's input or answer", err == nil,
			"%v after they were overwritten", err)
	}
	k.stops(prefix, c)
	err := callConcurrently(k.ctx, concurrency, c.call)
	k.expect(prefix+"parallel", "four calls at once give what one gives", err == nil, "%v", err)
	k.endures(prefix, task, c)
	k.breaks(prefix, task, c)
}

// callConcurrently makes n calls at once and gives the first error.
func callConcurrently(ctx context.Context, n int, call func(context.Context) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { errs[i] = call(ctx) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// stops checks that a call ends when its caller gives up, and that the next works.
func (k *check) stops(prefix string, c conduct) {
	ended, cancel := context.WithCancel(k.ctx)
	cancel()
	err := c.many(ended, []string{"too late"})
	k.expect(prefix+"cancelled", "a cancelled call says so",
		errors.Is(err, context.Canceled) || fault.CodeOf(err) == fault.Canceled, "%v", err)
	ok, took, err := k.endsInTime(c)
	k.expect(prefix+"deadline", "a deadline ends a long call", ok, "%v after %s", err, took.Round(time.Millisecond))
	err = k.eventually(c.call)
	k.expect(prefix+"afterwards", "the next call works and gives what it gave", err == nil, "%v", err)
}

// endsInTime reports whether a deadline ends a long call. 50 ms are promised; a busy machine is
// given more, an unheeded deadline takes far longer. A model may be faster than its deadline, and
// its answer late where the machine was busy for a moment: it is asked again then, as one that
// heeds no deadline is late each time.
func (k *check) endsInTime(c conduct) (ok bool, took time.Duration, err error) {
	long := slices.Repeat([]string{strings.Repeat("long text ", 400)}, 256)
	for range 10 {
		ctx, cancel := context.WithTimeout(k.ctx, 20*time.Millisecond)
		started := time.Now()
		err = c.many(ctx, long)
		took = time.Since(started)
		cancel()
		if err != nil || took < 50*time.Millisecond || took >= time.Second {
			return took < time.Second, took, err
		}
	}
	return false, took, nil
}

// eventually calls until it works or recovery is over; an answer other than before
// is a failure at once.
func (k *check) eventually(call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(k.ctx, patience)
	defer cancel()
	until := time.Now().Add(recovery)
	for {
		err := call(ctx)
		if err == nil || !isTransient(err) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// isTransient reports whether a failure may be over soon.
func isTransient(err error) bool {
	switch fault.CodeOf(err) {
	case fault.Unavailable, fault.Upstream, fault.Timeout:
		return true
	}
	return false
}

// isBusy reports whether a model had no place for a call, which is no wrong answer.
func isBusy(err error) bool { return err != nil && fault.CodeOf(err) == fault.Unavailable }

// endures makes calls for a while and watches memory. If the memory still grows, as it
// may where a busy machine makes few calls, the run lasts longer, but at most Settle: a
// heap settles, a leak keeps growing.
func (k *check) endures(prefix, task string, c conduct) {
	const flat, under = "memory is flat in the second half of a long run", "memory stays under the declared ceiling"
	if k.c.Memory == nil {
		if g, ok := k.model.(Gauge); ok {
			k.c.Memory = func(_ port.Model) (int64, int64) { return g.Memory() }
		}
	}
	why := "the model does not tell its memory"
	if k.info.Runtime == "remote" {
		why = "the model's memory is its server's"
	}
	if k.c.Memory == nil {
		k.skip(prefix+"memory-flat", flat, why)
		return
	}
	renewals := func() int { return 0 }
	if r, ok := k.model.(Renewer); ok {
		renewals = r.Renewals
	}
	renewed := renewals()
	length := cmp.Or(k.c.Endure, time.Minute)
	longest := cmp.Or(k.c.Settle, 4*length)
	started := time.Now()
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	var mu sync.Mutex
	var failed error
	calls := 0
	var over atomic.Bool
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for ctx.Err() == nil && !over.Load() {
				mu.Lock()
				i := calls
				calls++
				mu.Unlock()
				if err := c.work(ctx, i); err != nil && !isBusy(err) && ctx.Err() == nil {
					mu.Lock()
					if failed == nil {
						failed = fmt.Errorf("call %d: %w", i, err)
					}
					mu.Unlock()
					cancel()
				}
			}
		})
	}
	var samples []int64
	var ceiling int64
	tick := time.NewTicker(min(max(length/200, 5*time.Millisecond), 100*time.Millisecond))
	defer tick.Stop()
	for told := time.Duration(0); ctx.Err() == nil; {
		if ran := time.Since(started); ran >= length {
			if _, _, settled := kit.Growth(samples); settled || ran >= longest && len(samples) >= kit.MinSamples {
				break
			}
		}
		<-tick.C
		at := time.Since(started)
		var used int64
		used, ceiling = k.c.Memory(k.model)
		samples = append(samples, used)
		if k.c.Progress != nil && at-told > min(length/100, 250*time.Millisecond) {
			told = at
			k.c.Progress(Step{Name: task + ": long run", Done: min(at, length), Of: length})
		}
	}
	over.Store(true)
	group.Wait()
	if k.ctx.Err() != nil {
		return
	}
	k.expect(prefix+"endures", "a long run gives the same answers throughout", failed == nil, "%v", failed)
	if failed != nil {
		return
	}
	renewed = renewals() - renewed
	k.expect(prefix+"renewals", "nothing runs out of memory in a long run", renewed == 0,
		"instances were out of memory and replaced %d times in %d calls: is something not freed?", renewed, calls)
	third, grown, settled := kit.Growth(samples)
	k.expect(prefix+"memory-flat", flat, settled,
		"%s more in the last quarter of %d calls than in the one before, which had %s", kit.Bytes(grown), calls, kit.Bytes(third))
	most := slices.Max(samples)
	if ceiling <= 0 {
		k.skip(prefix+"memory-ceiling", under, "the model declares none")
		return
	}
	k.expect(prefix+"memory-ceiling", under, most <= ceiling, "%s of %s", kit.Bytes(most), kit.Bytes(ceiling))
}

// breaks crashes the model under load: every call ends, none with a wrong answer,
// and the model comes back.
func (k *check) breaks(prefix, task string, c conduct) {
	const expect = "after a crash under load every call ends, and the model is back within 10 seconds"
	crash := k.c.Break
	if crash == nil {
		b, ok := k.model.(Breaker)
		if !ok {
			k.skip(prefix+"recovers", expect, "the runtime offers no way to crash the model")
			return
		}
		crash = func(ctx context.Context, _ port.Model) error { return b.Break(ctx) }
	}
	k.step(task + ": crash")
	ctx, cancel := context.WithTimeout(k.ctx, patience)
	defer cancel()
	crashed := make(chan struct{})
	var broke error
	var group sync.WaitGroup
	group.Go(func() {
		defer close(crashed)
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
			broke = crash(ctx, k.model)
		}
	})
	err := callConcurrently(ctx, concurrency, func(ctx context.Context) error {
		for i := 0; ; i++ {
			if err := c.work(ctx, i); err != nil && !isTransient(err) {
				return err
			}
			select {
			case <-crashed:
				return ctx.Err()
			default:
			}
		}
	})
	group.Wait()
	if broke != nil {
		k.expect(prefix+"recovers", expect, false, "it could not be crashed: %v", broke)
		return
	}
	if err == nil {
		err = k.eventually(c.call)
	}
	k.expect(prefix+"recovers", expect, err == nil, "%v", err)
}
