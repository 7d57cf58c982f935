package host

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	modelv1 "github.com/mnemehq/mneme/plugins/proto"
)

const (
	minWait     = 100 * time.Millisecond // before the first restart
	maxWait     = 30 * time.Second       // no wait is longer
	stableAfter = 30 * time.Second       // a run of this length, or one that answered, makes the next wait short again
	maxMissed   = 3                      // health checks in a row that a backend may miss
	closeGrace  = 2 * time.Second        // that a backend has to end by itself
)

// errEnded says that the run of the backend that a call waited for has ended.
var errEnded = errors.New("the backend has ended")

// instance is one run of the backend, after it has described itself.
type instance struct {
	process *process
	client  *plugin.Client
	conn    *grpc.ClientConn
	rpc     modelv1.ModelClient
	health  grpc_health_v1.HealthClient
	started time.Time
	ended   chan struct{} // closed when no call may use it any more
	missed  atomic.Int32  // health checks in a row without an answer
	worked  atomic.Bool   // it has answered a call as it should
	flights flights
}

// backend keeps one instance running.
type backend struct {
	command Command
	options Options
	log     *slog.Logger
	output  *output

	mu      sync.Mutex
	current *instance
	down    *fault.Error // why current is nil
	until   time.Time    // when the next start is tried
	gone    bool         // it is not started again

	description description
	verified    [32]byte
	quarantine  *quarantine

	answered atomic.Int64 // calls that the backend answered; whatever it answered
	expired  atomic.Int64 // calls in a row that it let run into their deadline
	last     atomic.Int64 // time of the last answer, in Unix nanoseconds

	ends   map[port.RestartReason]int64 // runs that ended and were not to, under mu
	recent []time.Time                  // when those of the last hour did

	checkRequested chan struct{} // asks for a health check now
	closing        chan struct{}
	once           sync.Once
	ended          chan struct{} // closed when the supervisor is through
}

// start verifies and starts the backend and asks for its description.
func (b *backend) start(ctx context.Context) (_ *instance, d description, sum [32]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.options.StartTimeout)
	defer cancel()
	path, sum, err := b.command.Verify()
	if err != nil {
		return nil, d, sum, err
	}
	var made atomic.Pointer[process]
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: modelv1.CookieKey, MagicCookieValue: modelv1.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{modelv1.Version: {modelv1.PluginName: &modelPlugin{}}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, dir string) (runner.Runner, error) {
			cmd := exec.Command(path, b.command.Args[1:]...) //nolint:noctx // the supervisor ends it, with its group
			cmd.Args[0], cmd.Dir = b.command.Args[0], b.command.Dir
			cmd.Env = append(append([]string{}, b.command.Env...), spec.Env...)
			p := newProcess(cmd, dir, !b.options.MTLS, b.output)
			p.limit = int64(b.options.MemoryMB) * bytesInMB
			made.Store(p)
			return p, nil
		},
		SkipHostEnv: true, AutoMTLS: b.options.MTLS, StartTimeout: b.options.StartTimeout,
		Logger:     hclog.NewNullLogger(), // what matters of it is logged here
		SyncStdout: &lineWriter{to: b.output, stream: "stdout", level: slog.LevelInfo},
		SyncStderr: &lineWriter{to: b.output, stream: "stderr", level: slog.LevelInfo},
		GRPCDialOptions: []grpc.DialOption{grpc.WithMaxHeaderListSize(64 << 10), // messages of errors are in there
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(modelv1.MaxResultBytes), grpc.MaxCallSendMsgSize(4<<20))},
	})
	// A start that takes too long, or that nobody waits for, ends with the process.
	stop := context.AfterFunc(ctx, func() {
		if p := made.Load(); p != nil {
			p.kill()
		}
	})
	defer stop()
	i := &instance{client: client, started: time.Now(), ended: make(chan struct{})}
	fail := func(err error) (*instance, description, [32]byte, error) {
		switch p := made.Load(); {
		case p == nil:
		case p.ID() == "":
			_ = os.RemoveAll(p.dir) // it was never used
		default:
			var late bool
			select {
			case <-p.exited:
			default:
				late = true // it is killed now, which tells nothing
			}
			i.process = p
			i.end(0)
			if came, _ := p.greeting(); !came {
				err = errors.New("it wrote no handshake line to its standard output")
			}
			if !late && ctx.Err() == nil {
				err = fmt.Errorf("%w; it ended with %w", err, p.err)
			}
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("it did not serve within %s: %w", b.options.StartTimeout, err)
		}
		if tail := b.output.last(); tail != "" {
			err = fmt.Errorf("%w; its last output:\n%s", err, tail)
		}
		return nil, d, sum, err
	}
	if _, err := client.Start(); err != nil {
		return fail(err)
	}
	p := made.Load()
	i.process = p
	protocol, err := client.Client()
	if err != nil {
		return fail(err)
	}
	raw, err := protocol.Dispense(modelv1.PluginName)
	if err != nil {
		return fail(err)
	}
	i.conn = raw.(*grpc.ClientConn)
	i.rpc, i.health = modelv1.NewModelClient(i.conn), grpc_health_v1.NewHealthClient(i.conn)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := i.check(ctx)
		if err == nil {
			break
		}
		if _, certified := p.greeting(); b.options.MTLS && !certified {
			return fail(errors.New("its handshake has no certificate: a backend that does not speak go-plugin's " +
				"AutoMTLS needs mtls: off"))
		}
		select {
		case <-ctx.Done():
			return fail(fmt.Errorf("its health service does not answer SERVING: %w", err))
		case <-p.exited:
			return fail(fmt.Errorf("its health service does not answer SERVING: %w", err))
		case <-time.After(wait):
		}
	}
	m, err := i.rpc.Describe(ctx, &modelv1.DescribeRequest{})
	if err != nil {
		return fail(fmt.Errorf("describe: %w", err))
	}
	if d, err = checkInfo(m); err != nil {
		return fail(fmt.Errorf("describe: %w", err))
	}
	return i, d, sum, nil
}

// check asks the health service once.
func (i *instance) check(ctx context.Context) error {
	r, err := i.health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: modelv1.HealthService})
	if err != nil {
		return err
	}
	if r.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("it says %s", r.GetStatus())
	}
	return nil
}

// end ends the process, at once for grace 0, and gives back what belongs to it.
func (i *instance) end(grace time.Duration) {
	i.process.end(grace)
	i.client.Kill() // there is nothing left to kill: it closes connections and removes the socket's folder
}

// open starts the backend for the first time and the supervisor with it.
func (b *backend) open(ctx context.Context) error {
	if len(b.command.Args) > 0 { // else there is nothing to start, as the error says
		b.log.Info("model backend starting", "program", b.command.Args[0], "limit", b.options.StartTimeout)
	}
	i, d, sum, err := b.start(ctx)
	if err != nil {
		return err
	}
	b.description, b.verified, b.current = d, sum, i
	b.last.Store(time.Now().UnixNano())
	b.log.Info("model backend started", "pid", i.process.ID(), "start", time.Since(i.started).Round(time.Millisecond))
	if b.command.SHA256 == "" && !b.command.Foreign {
		if now, err := sumOf(i.process.cmd.Path); err == nil {
			b.log.Warn("model backend unverified", "program", i.process.cmd.Path, "sha256", hex.EncodeToString(now))
		}
	}
	if b.options.MemoryMB > 0 && !memorySeen {
		b.log.Warn("model backend memory unlimited", "memory_mb", b.options.MemoryMB)
	}
	go b.supervise(i)
	return nil
}

// supervise keeps the backend running until close.
func (b *backend) supervise(i *instance) {
	defer close(b.ended)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-b.closing
		cancel()
	}()
	failures := 0
	for {
		why := b.watch(ctx, i)
		stopped := ctx.Err() != nil
		if stopped {
			b.stopServing(i, fault.New(fault.Unavailable, "the model is shutting down"), time.Now())
			i.end(closeGrace)
			return
		}
		b.stopServing(i, fault.New(fault.Unavailable, "the model is restarting"), time.Now().Add(minWait))
		b.log.Error("model backend ended", "pid", i.process.ID(), "reason", why, "after",
			time.Since(i.started).Round(time.Millisecond), "last_output", cmp.Or(b.output.last(), "(none)"))
		b.quarantine.blame(i.flights.list(false))
		i.end(0)
		frequent := b.count(i, time.Now())
		if time.Since(i.started) > stableAfter || i.worked.Load() {
			failures = 0
		}
		for i = nil; i == nil; {
			if frequent || b.options.MaxRestarts > 0 && failures >= b.options.MaxRestarts {
				b.giveUp()
				b.log.Error("model backend down", "starts", failures, "ends_in_an_hour", len(b.recent))
				<-ctx.Done()
				return
			}
			wait := backoff(failures)
			failures++
			b.stopServing(nil, nil, time.Now().Add(wait))
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			i = b.restart(ctx, failures)
		}
	}
}

// count takes note of the end of a run, and reports whether there were too many in an hour.
func (b *backend) count(i *instance, now time.Time) (tooMany bool) {
	why := port.RestartFailure
	if i.process.ofMemory() {
		why = port.RestartMemory
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends[why]++
	b.recent = slices.DeleteFunc(append(b.recent, now), func(at time.Time) bool { return now.Sub(at) > time.Hour })
	return b.options.MaxRestartsPerHour > 0 && len(b.recent) > b.options.MaxRestartsPerHour
}

// restart tries one start; nil when it fails.
func (b *backend) restart(ctx context.Context, attempt int) *instance {
	i, d, sum, err := b.start(ctx)
	if err != nil {
		if ctx.Err() == nil {
			b.log.Error("model backend start failed", "attempt", attempt, "error", err)
			b.stopServing(nil, fault.Wrap(fault.Unavailable, "start", err, "the model is down"), time.Time{})
		}
		return nil
	}
	if !reflect.DeepEqual(d, b.description) || sum != b.verified && !b.options.DeclaredOnly {
		i.end(closeGrace)
		b.log.Error("model backend changed", "was", b.description.String(), "is", d.String(), "files_changed", sum != b.verified)
		b.stopServing(nil, fault.New(fault.Upstream, "the model is not the one that the server started with"), time.Time{})
		return nil
	}
	b.expired.Store(0)
	b.last.Store(time.Now().UnixNano())
	b.mu.Lock()
	b.current, b.down = i, nil
	b.mu.Unlock()
	b.log.Info("model backend started", "pid", i.process.ID(), "attempt", attempt, "start",
		time.Since(i.started).Round(time.Millisecond))
	return i
}

// backoff is the wait before a start after n that failed or did not last.
func backoff(n int) time.Duration {
	d := maxWait
	if n < 10 {
		d = min(maxWait, minWait<<n)
	}
	return time.Duration(float64(d) * (.75 + rand.Float64()/2))
}

// stopServing lets no new call through. A zero why or until leaves the earlier one.
func (b *backend) stopServing(i *instance, why *fault.Error, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = nil
	if why != nil {
		b.down = why
	}
	if !until.IsZero() {
		b.until = until
	}
	if i != nil {
		close(i.ended)
	}
}

// giveUp lets no call through any more.
func (b *backend) giveUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current, b.gone = nil, true
	b.down = fault.New(fault.Unavailable, "the model is down and will not be started again before the server is")
}

// state is whether a call would go through now.
func (b *backend) state() port.ModelState {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.current != nil && b.current.missed.Load() == 0:
		return port.ModelReady
	case b.current != nil || b.gone || b.down.Code != fault.Unavailable:
		return port.ModelFailing
	}
	return port.ModelLoading
}

// watch returns why an instance is no longer fit to serve.
func (b *backend) watch(ctx context.Context, i *instance) string {
	tick := time.NewTicker(b.options.HealthInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "closing"
		case <-i.process.exited:
			return i.process.err.Error()
		case <-tick.C:
		case <-b.checkRequested:
		}
		if n := b.expired.Load(); n >= maxMissed && time.Since(time.Unix(0, b.last.Load())) > b.options.CallTimeout {
			return fmt.Sprintf("%d calls in a row ran into their deadline", n)
		}
		before, open := b.answered.Load(), i.flights.list(true)
		checking, cancel := context.WithTimeout(ctx, b.options.HealthInterval)
		stop := context.AfterFunc(ctx, cancel)
		done := make(chan error, 1)
		go func() { done <- i.check(checking) }()
		var err error
		select {
		case err = <-done:
		case <-i.process.exited:
			err = errEnded
		}
		stop()
		cancel()
		if err != nil { // it may just have ended
			select {
			case <-i.process.exited:
				return i.process.err.Error()
			case <-time.After(100 * time.Millisecond):
			}
		}
		switch {
		case err == nil || ctx.Err() != nil || b.answered.Load() != before: // a busy backend that answers calls is well
			i.missed.Store(0)
			if b.expired.Load() == 0 { // it lives, and did not end because of these
				i.flights.alive(open)
			}
		default:
			if n := i.missed.Add(1); n >= maxMissed {
				return fmt.Sprintf("%d health checks in a row failed: %v", n, err)
			}
			b.log.Warn("model backend unhealthy", "pid", i.process.ID(), "error", err)
			time.AfterFunc(max(50*time.Millisecond, b.options.HealthInterval/10), b.checkNow)
		}
	}
}

// instance returns the run to call, or the fault that says why there is none.
func (b *backend) instance() (*instance, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == nil {
		f := *b.down
		if f.Code == fault.Unavailable && !b.gone {
			f.RetryAfter = max(time.Second, time.Until(b.until))
		}
		return nil, &f
	}
	if b.current.missed.Load() > 0 {
		return nil, fault.New(fault.Unavailable, "the model does not answer").After(max(time.Second, b.options.HealthInterval))
	}
	return b.current, nil
}

// checkNow asks for a health check without waiting for it.
func (b *backend) checkNow() {
	select {
	case b.checkRequested <- struct{}{}:
	default:
	}
}

func (b *backend) close() {
	b.once.Do(func() { close(b.closing) })
	<-b.ended
}

// modelPlugin is the plugin of this protocol: its client is the connection itself.
type modelPlugin struct{ plugin.NetRPCUnsupportedPlugin }

// GRPCServer implements plugin.GRPCPlugin; a host serves nothing.
func (*modelPlugin) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("a host serves no model")
}

// GRPCClient implements plugin.GRPCPlugin.
func (*modelPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}

var _ plugin.GRPCPlugin = (*modelPlugin)(nil)
