package supervise

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
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
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/span"
)

const (
	minWait     = 100 * time.Millisecond // before the first restart
	maxWait     = 30 * time.Second       // no wait is longer
	stableAfter = 30 * time.Second       // a run of this length, or one that answered, makes the next wait short again
	maxMissed   = 3                      // health checks in a row that a backend may miss
	closeGrace  = 2 * time.Second        // that a backend has to end by itself
)

// Errors of Call.
var (
	// ErrEnded: the run of the backend that the call was of has ended.
	ErrEnded = errors.New("the backend has ended")
	// ErrOverdue: the call took longer than its limit, not its caller's.
	ErrOverdue = errors.New("the call took longer than its limit")
)

// Service is what a protocol adds to the life of a backend.
type Service struct {
	Noun        string // of the backend in what callers are told, such as "the model"
	CookieKey   string // the environment variable that tells a program that a host started it
	CookieValue string
	Version     int    // of the protocol
	Plugin      string // what the host asks go-plugin for
	Health      string // the name under which the health service answers SERVING
	MaxSend     int    // bytes of a message
	MaxReceive  int
	// Window is how many bytes of a stream a program may be ahead of its reader; 0: as
	// many as the connection carries best.
	Window int32
	// Describe asks a backend that has just started what it is, and checks the answer. A
	// backend that is another one after a restart, by reflect.DeepEqual, is refused.
	Describe func(context.Context, *grpc.ClientConn) (fmt.Stringer, error)
	// Attach makes what the service keeps of each run, which has described itself so; nil:
	// nothing.
	Attach func(*Run, fmt.Stringer) Attachment
}

// Attachment is what a service keeps of a run of its backend.
type Attachment interface {
	// Checking is called before each health check; what it returns is called if the
	// check has shown that the run lives, and may be nil.
	Checking() (lives func())
	// Ended is called once, when the run has ended and was not told to.
	Ended()
	// Close is called when no call can be of the run any more, however it ended.
	Close()
}

// Options bound a backend.
type Options struct {
	MTLS               bool          // go-plugin's AutoMTLS; otherwise only a unix socket in a private folder is taken
	DeclaredOnly       bool          // other files are no other backend as long as it describes itself alike
	StartTimeout       time.Duration // from the start to the description
	Silence            time.Duration // that three calls into their deadlines may last, without an answer, until it is restarted
	HealthInterval     time.Duration // between health checks, and the longest that one may take
	MaxRestarts        int           // runs in a row that fail or are short and without an answer before it stays down; 0: no end
	MaxRestartsPerHour int           // runs that may end within an hour before it stays down; 0: any number
	MemoryMB           int           // most that it and all that it starts hold, before it is ended; on Linux alone; 0: no end
	Log                *slog.Logger
	Redact             func(string) string // applied to each line that it writes; nil: none
}

// Run is one run of the backend, after it has described itself.
type Run struct {
	process  *process
	client   *plugin.Client
	conn     *grpc.ClientConn
	health   grpc_health_v1.HealthClient
	started  time.Time
	ended    chan struct{} // closed when no call may use it any more
	missed   atomic.Int32  // health checks in a row without an answer
	worked   atomic.Bool   // it has answered a call as it should
	attached Attachment
}

// Conn is the connection of the run.
func (i *Run) Conn() *grpc.ClientConn { return i.conn }

// Ended is closed when no call may use the run any more.
func (i *Run) Ended() <-chan struct{} { return i.ended }

// Attached is what the service keeps of the run; nil: nothing.
func (i *Run) Attached() Attachment { return i.attached }

// Backend keeps one run of a program going.
type Backend struct {
	service Service
	command Command
	options Options
	log     *slog.Logger
	output  *output

	mu      sync.Mutex
	current *Run
	down    *fault.Error // why current is nil
	until   time.Time    // when the next start is tried
	gone    bool         // it is not started again

	description fmt.Stringer
	verified    [32]byte

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

// Open verifies and starts a backend, asks for its description, and watches it from then
// on, until Close.
func Open(ctx context.Context, s Service, c Command, o Options) (*Backend, error) {
	b := &Backend{
		service:        s,
		command:        c,
		options:        o,
		log:            o.Log,
		output:         newOutput(o.Log),
		ends:           map[port.RestartReason]int64{},
		checkRequested: make(chan struct{}, 1),
		closing:        make(chan struct{}),
		ended:          make(chan struct{}),
	}
	if o.Redact != nil {
		b.output.redact = o.Redact
	}
	if err := b.open(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// Description is what the backend has said of itself.
func (b *Backend) Description() fmt.Stringer { return b.description }

// Verified is the sum over what was started.
func (b *Backend) Verified() [32]byte { return b.verified }

// start verifies and starts the backend and asks for its description.
func (b *Backend) start(ctx context.Context) (_ *Run, d fmt.Stringer, sum [32]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.options.StartTimeout)
	defer cancel()
	path, sum, err := b.command.Verify()
	if err != nil {
		return nil, nil, sum, err
	}
	of := b.service
	var made atomic.Pointer[process]
	dial := []grpc.DialOption{grpc.WithMaxHeaderListSize(64 << 10), // messages of errors are in there
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(of.MaxReceive), grpc.MaxCallSendMsgSize(of.MaxSend))}
	if of.Window > 0 {
		dial = append(dial, grpc.WithInitialWindowSize(of.Window), grpc.WithInitialConnWindowSize(16*of.Window))
	}
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: of.CookieKey, MagicCookieValue: of.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{of.Version: {of.Plugin: &connection{}}},
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
		Logger:          hclog.NewNullLogger(), // what matters of it is logged here
		SyncStdout:      &lineWriter{to: b.output, stream: "stdout", level: slog.LevelInfo},
		SyncStderr:      &lineWriter{to: b.output, stream: "stderr", level: slog.LevelInfo},
		GRPCDialOptions: dial,
	})
	// A start that takes too long, or that nobody waits for, ends with the process.
	stop := context.AfterFunc(ctx, func() {
		if p := made.Load(); p != nil {
			p.kill()
		}
	})
	defer stop()
	i := &Run{client: client, started: time.Now(), ended: make(chan struct{})}
	fail := func(err error) (*Run, fmt.Stringer, [32]byte, error) {
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
		return nil, nil, sum, err
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
	raw, err := protocol.Dispense(of.Plugin)
	if err != nil {
		return fail(err)
	}
	i.conn = raw.(*grpc.ClientConn)
	i.health = grpc_health_v1.NewHealthClient(i.conn)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := i.check(ctx, of.Health)
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
	if d, err = of.Describe(ctx, i.conn); err != nil {
		return fail(fmt.Errorf("describe: %w", err))
	}
	if of.Attach != nil {
		i.attached = of.Attach(i, d)
	}
	return i, d, sum, nil
}

// check asks the health service once.
func (i *Run) check(ctx context.Context, service string) error {
	r, err := i.health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	if err != nil {
		return err
	}
	if r.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("it says %s", r.GetStatus())
	}
	return nil
}

// end ends the process, at once for grace 0, and gives back what belongs to it.
func (i *Run) end(grace time.Duration) {
	if i.attached != nil {
		i.attached.Close()
	}
	i.process.end(grace)
	i.client.Kill() // there is nothing left to kill: it closes connections and removes the socket's folder
}

// open starts the backend for the first time and the supervisor with it.
func (b *Backend) open(ctx context.Context) error {
	if len(b.command.Args) > 0 { // else there is nothing to start, as the error says
		b.log.Info("backend starting", "program", b.command.Args[0], "limit", b.options.StartTimeout)
	}
	i, d, sum, err := b.start(ctx)
	if err != nil {
		return err
	}
	b.description, b.verified, b.current = d, sum, i
	b.last.Store(time.Now().UnixNano())
	b.log.Info("backend started", "pid", i.process.ID(), "start", time.Since(i.started).Round(time.Millisecond))
	if b.command.SHA256 == "" && !b.command.Foreign {
		if now, err := sumOf(i.process.cmd.Path); err == nil {
			b.log.Warn("backend unverified", "program", i.process.cmd.Path, "sha256", hex.EncodeToString(now))
		}
	}
	if b.options.MemoryMB > 0 && !memorySeen {
		b.log.Warn("backend memory unlimited", "memory_mb", b.options.MemoryMB)
	}
	go b.supervise(i)
	return nil
}

// supervise keeps the backend running until close.
func (b *Backend) supervise(i *Run) {
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
			b.stopServing(i, fault.New(fault.Unavailable, "%s is shutting down", b.service.Noun), time.Now())
			i.end(closeGrace)
			return
		}
		b.stopServing(i, fault.New(fault.Unavailable, "%s is restarting", b.service.Noun), time.Now().Add(minWait))
		b.log.Error("backend ended", "pid", i.process.ID(), "reason", why, "after",
			time.Since(i.started).Round(time.Millisecond), "last_output", cmp.Or(b.output.last(), "(none)"))
		if i.attached != nil {
			i.attached.Ended()
		}
		i.end(0)
		frequent := b.count(i, time.Now())
		if time.Since(i.started) > stableAfter || i.worked.Load() {
			failures = 0
		}
		for i = nil; i == nil; {
			if frequent || b.options.MaxRestarts > 0 && failures >= b.options.MaxRestarts {
				b.giveUp()
				b.log.Error("backend down", "starts", failures, "ends_in_an_hour", len(b.recent))
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
func (b *Backend) count(i *Run, now time.Time) (tooMany bool) {
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
func (b *Backend) restart(ctx context.Context, attempt int) *Run {
	i, d, sum, err := b.start(ctx)
	if err != nil {
		if ctx.Err() == nil {
			b.log.Error("backend start failed", "attempt", attempt, "error", err)
			b.stopServing(nil, fault.Wrap(fault.Unavailable, "start", err, "%s is down", b.service.Noun), time.Time{})
		}
		return nil
	}
	if !reflect.DeepEqual(d, b.description) || sum != b.verified && !b.options.DeclaredOnly {
		i.end(closeGrace)
		b.log.Error("backend changed", "was", b.description.String(), "is", d.String(), "files_changed", sum != b.verified)
		b.stopServing(nil, fault.New(fault.Upstream, "%s is not the one that the server started with", b.service.Noun),
			time.Time{})
		return nil
	}
	b.expired.Store(0)
	b.last.Store(time.Now().UnixNano())
	b.mu.Lock()
	b.current, b.down = i, nil
	b.mu.Unlock()
	b.log.Info("backend started", "pid", i.process.ID(), "attempt", attempt, "start",
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
func (b *Backend) stopServing(i *Run, why *fault.Error, until time.Time) {
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
func (b *Backend) giveUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current, b.gone = nil, true
	b.down = fault.New(fault.Unavailable, "%s is down and will not be started again before the server is",
		b.service.Noun)
}

// State is whether a call would go through now.
func (b *Backend) State() port.ModelState {
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
func (b *Backend) watch(ctx context.Context, i *Run) string {
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
		if n := b.expired.Load(); n >= maxMissed && time.Since(time.Unix(0, b.last.Load())) > b.options.Silence {
			return fmt.Sprintf("%d calls in a row ran into their deadline", n)
		}
		before, lives := b.answered.Load(), func() {}
		if i.attached != nil {
			lives = i.attached.Checking()
		}
		checking, cancel := context.WithTimeout(ctx, b.options.HealthInterval)
		stop := context.AfterFunc(ctx, cancel)
		done := make(chan error, 1)
		go func() { done <- i.check(checking, b.service.Health) }()
		var err error
		select {
		case err = <-done:
		case <-i.process.exited:
			err = ErrEnded
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
				lives()
			}
		default:
			if n := i.missed.Add(1); n >= maxMissed {
				return fmt.Sprintf("%d health checks in a row failed: %v", n, err)
			}
			b.log.Warn("backend unhealthy", "pid", i.process.ID(), "error", err)
			time.AfterFunc(max(50*time.Millisecond, b.options.HealthInterval/10), b.checkNow)
		}
	}
}

// Run returns the run to call, or the fault that says why there is none.
func (b *Backend) Run() (*Run, error) {
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
		return nil, fault.New(fault.Unavailable, "%s does not answer", b.service.Noun).
			After(max(time.Second, b.options.HealthInterval))
	}
	return b.current, nil
}

// checkNow asks for a health check without waiting for it.
func (b *Backend) checkNow() {
	select {
	case b.checkRequested <- struct{}{}:
	default:
	}
}

// Close ends the backend, with everything that it started.
func (b *Backend) Close() {
	b.once.Do(func() { close(b.closing) })
	<-b.ended
}

// Call makes a call of a run, which takes at most limit; 0: as long as its caller waits. It
// ends with the run, and what becomes of it tells the supervisor how the backend is.
// The error is ErrEnded, one that wraps ErrOverdue, or do's own.
func (b *Backend) Call(ctx context.Context, i *Run, limit time.Duration, do func(context.Context) error) error {
	bounded, cancel := context.WithCancel(ctx)
	if limit > 0 {
		bounded, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		select {
		case <-i.ended: // its connection may take a while to notice
			cancel()
		case <-finished:
		}
	}()
	span.Propagate(ctx, func(name, value string) { bounded = metadata.AppendToOutgoingContext(bounded, name, value) })
	err := do(bounded)
	select {
	case <-i.ended:
		if err != nil {
			return ErrEnded
		}
	default:
	}
	if err == nil {
		i.worked.Store(true)
	}
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		b.Overdue()
	case codes.Canceled: // the caller left: says nothing about the backend
	case codes.Unavailable:
		b.checkNow()
	default:
		b.Answered()
	}
	if bounded.Err() != nil && ctx.Err() == nil && err != nil {
		return fmt.Errorf("%w: %w", ErrOverdue, err)
	}
	return err
}

// Answered notes that the backend works: a call that lasts says so with each part of its
// answer, the end of any other by itself.
func (b *Backend) Answered() {
	b.answered.Add(1)
	b.expired.Store(0)
	b.last.Store(time.Now().UnixNano())
}

// Overdue notes that a call was not answered in the time that it had.
func (b *Backend) Overdue() {
	if b.expired.Add(1) >= maxMissed {
		b.checkNow()
	}
}

// Memory is what the backend holds; 0: that is not known.
func (b *Backend) Memory() int64 {
	b.mu.Lock()
	running := b.current
	b.mu.Unlock()
	if running == nil {
		return 0
	}
	limit := int64(b.options.MemoryMB) * bytesInMB
	if limit == 0 {
		limit = math.MaxInt64
	}
	return running.process.memory.used(limit)
}

// Ends are the runs that ended and were not to.
func (b *Backend) Ends() map[port.RestartReason]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.ends)
}

// connection is the plugin of any service: its client is the connection itself.
type connection struct{ plugin.NetRPCUnsupportedPlugin }

// GRPCServer implements plugin.GRPCPlugin; a host serves nothing.
func (*connection) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("a host serves nothing")
}

// GRPCClient implements plugin.GRPCPlugin.
func (*connection) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}

var _ plugin.GRPCPlugin = (*connection)(nil)
