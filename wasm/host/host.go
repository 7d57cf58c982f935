package host

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// Interrupt says how a running call is stopped; see the package comment.
type Interrupt int

// The ways to stop a call.
const (
	Enforced    Interrupt = iota // for modules of strangers
	Cooperative                  // for modules that poll and are trusted to
)

// Module is what runs: code, settings and weights. The byte slices must not
// change while a Model of it is open.
type Module struct {
	Wasm      []byte
	Config    []byte            // JSON, handed to mneme_open
	Identity  []byte            // of Config, what counts for the digest; nil: all of it
	Secrets   []string          // values in Config that are shown nowhere
	Assets    map[string][]byte // by the names the module asks for
	Info      port.ModelInfo    // name, version, licence, languages; the rest is filled in by Open
	Interrupt Interrupt
	Known     string // what Digest gives, where that is known; "": Open computes it

	// Allow are the groups of imports that the module may use, as its manifest says
	// and a person approved; nil: all.
	Allow []abi.Capability
}

// Options are the limits of a Model. The zero value is usable.
type Options struct {
	Instances    int           // that work at once; 0: one a core
	MemoryMB     int           // ceiling of an instance; 0: 512
	CallTimeout  time.Duration // of one call into the module; 0: 30 s
	StartTimeout time.Duration // to compile the module, and to start and open an instance in Open; 0: 1 min each
	QueueTimeout time.Duration // for an instance to be free; 0: 10 s
	MaxWaiting   int           // calls that wait at once; 0: 1024
	CacheDir     string        // keeps compiled code between starts; "": not kept
	Shared       *Shared       // with the other models of the process; nil: nothing
	OwnLoops     bool          // refuse every mneme_nn operation, so that the module runs its own loops
	Sparing      bool          // give back after Open what only calls need, until one comes
	Log          *slog.Logger  // nil: slog.Default()
}

func (o Options) withDefaults() Options {
	or := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	or(&o.Instances, runtime.GOMAXPROCS(0))
	or(&o.MemoryMB, 512)
	or(&o.MaxWaiting, 1024)
	o.MemoryMB = min(o.MemoryMB, 4096)
	if o.CallTimeout <= 0 {
		o.CallTimeout = 30 * time.Second
	}
	if o.StartTimeout <= 0 {
		o.StartTimeout = time.Minute
	}
	if o.QueueTimeout <= 0 {
		o.QueueTimeout = 10 * time.Second
	}
	if o.Shared == nil {
		o.Shared = NewShared()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Model is an open module. Its methods may be called from many goroutines.
//
// A model does what its Info().Tasks say: Embed, Encode and Score of another
// task fail, so look there and not at the Go type.
//
// A call is cut into batches of texts. One worker goroutine an instance takes
// them: queries first, then scores, then the passages of the waiting calls in
// turn, so a large write delays neither a query nor a small write. One more
// worker serves queries alone: a query never waits for a batch to end. And one
// serves an organization that has none while the others are busy for others.
type Model struct {
	module   Module
	options  Options
	info     port.ModelInfo
	claims   claims
	vocab    uint32       // sparse terms are below it
	unit     bool         // it claims vectors of unit length
	counts   bool         // it counts tokens
	ids      bool         // it gives token ids
	room     atomic.Int32 // of a query in a reranker's window; 0: not known yet
	runtime  wazero.Runtime
	compiler *compiler
	code     wazero.CompiledModule
	tensors  *tensors
	secrets  secrets

	tokenizers tokenizers

	queue         *queue
	pool          sync.Mutex // guards workers
	workers       []*worker
	running       sync.WaitGroup // workers that are not lost
	lost          atomic.Int64   // workers whose call never came back
	made          atomic.Int64   // instances ever made
	renewed       atomic.Int64   // instances that were out of memory and replaced
	broken        atomic.Int64   // instances that failed and are replaced
	moduleLog     limiter        // of the module in the log
	failureLog    limiter        // about the module in the log
	breakRequests chan struct{}  // a worker that receives breaks its instance
	close         sync.Once
	closed        error
}

// Stats is a Model at one moment.
type Stats struct {
	Instances int   // that exist now
	Made      int   // ever
	Renewed   int   // replaced because they were out of memory, and their call repeated
	Lost      int   // whose call never came back
	Waiting   int   // calls in line
	Memory    int64 // of the instances, in bytes
}

// Stats counts what there is.
func (m *Model) Stats() Stats {
	s := Stats{Made: int(m.made.Load()), Renewed: int(m.renewed.Load()), Lost: int(m.lost.Load()), Waiting: m.queue.waiting()}
	m.pool.Lock()
	defer m.pool.Unlock()
	for _, w := range m.workers {
		if n := w.memory.Load(); n > 0 {
			s.Instances++
			s.Memory += n
		}
	}
	return s
}

// Memory is what the instances hold and what they may hold, in bytes.
func (m *Model) Memory() (used, ceiling int64) {
	s := m.Stats()
	return s.Memory, int64(s.Instances) * int64(m.options.MemoryMB) << 20
}

// Figures are the calls in line, the memory and the instances that were replaced; see
// port.Measured.
func (m *Model) Figures() port.ModelFigures {
	s := m.Stats()
	return port.ModelFigures{
		Waiting:   s.Waiting,
		Memory:    s.Memory,
		MaxMemory: int64(s.Instances) * int64(m.options.MemoryMB) << 20,
		Restarts: map[port.RestartReason]int64{
			port.RestartMemory:  int64(s.Renewed),
			port.RestartFailure: m.broken.Load() + int64(s.Lost),
		},
	}
}

// Renewals is how often an instance was out of memory and replaced.
func (m *Model) Renewals() int { return int(m.renewed.Load()) }

// Described is what a vendor's module says of itself, which its manifest may say too;
// false for our own, whose packs say it.
func (m *Model) Described() (name, version, licence string, ok bool) {
	return m.claims.Name, m.claims.Version, m.claims.Licence, m.module.Interrupt == Enforced
}

// Break makes an instance fail in the middle of a call, as a trap does, for checks that
// the model recovers. It waits for a call, and fails if ctx ends before there is one.
func (m *Model) Break(ctx context.Context) error {
	select {
	case m.breakRequests <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("break an instance: %w", ctx.Err())
	}
}

// claims is what the module says about itself (mneme_describe).
type claims struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"`
	Tasks   []struct {
		Task       port.Task `json:"task"`
		Dim        int       `json:"dim"`
		MaxTokens  int       `json:"max_tokens"`
		Normalized bool      `json:"normalized"`
		Vocab      int       `json:"vocab"` // sparse: terms are below it
	} `json:"tasks"`
}

// Open compiles the module, makes a first instance, checks what the module
// claims, and starts the workers. A module of another ABI major, one that lacks
// a function it must have, or one whose claims do not hold is refused.
func Open(ctx context.Context, module Module, options Options) (*Model, error) {
	m := &Model{module: module, options: options.withDefaults(), secrets: newSecrets(module.Secrets),
		breakRequests: make(chan struct{})}
	if err := m.open(ctx); err != nil {
		return nil, errors.Join(err, m.releaseRuntime())
	}
	return m, nil
}

func (m *Model) open(ctx context.Context) error {
	o := m.options
	var err error
	if m.compiler, err = o.Shared.compiler(o.CacheDir); err != nil {
		o.Log.Warn("compile cache unusable", "dir", o.CacheDir, "error", err)
		if m.compiler, err = o.Shared.compiler(""); err != nil {
			return err
		}
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithMemoryLimitPages(uint32(o.MemoryMB)*16).
		WithCompilationCache(m.compiler.cache).
		WithCloseOnContextDone(m.module.Interrupt == Enforced))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, m.runtime); err != nil {
		return err
	}
	if err := m.bindImports(ctx); err != nil {
		return err
	}
	if err := m.compile(ctx); err != nil {
		return err
	}
	if err := m.checkInterface(); err != nil {
		return err
	}
	starting, cancel := context.WithTimeoutCause(ctx, o.StartTimeout,
		fmt.Errorf("it took longer than %s to start", o.StartTimeout))
	defer cancel()
	first, err := m.newInstance(starting)
	if err == nil {
		if err = m.readClaims(starting, first); err == nil {
			err = m.probe(starting, first)
		}
		if err != nil {
			first.discard(ctx)
		}
	}
	if err != nil {
		if starting.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(starting), err)
		}
		var e *abi.Error
		if errors.As(err, &e) && e.Code == abi.CodeMemory {
			err = m.withMemoryHint(err)
		}
		return err
	}
	if o.Sparing {
		first.discard(ctx)
		first = nil
		m.tensors.close()
	}
	m.queue = newQueue(o.MaxWaiting, o.Instances)
	m.startWorker(first, anything)
	for range o.Instances - 1 {
		m.startWorker(nil, anything)
	}
	m.startWorker(nil, queriesOnly)
	for range min(o.Instances, 1+o.Instances/2, mostGuests) {
		m.startWorker(nil, guests)
	}
	return nil
}

// mostGuests is how many workers for guests there are at most: each holds the memory of an
// instance, if only of a server with several organizations.
const mostGuests = 4

// What a description may claim.
const (
	maxClaim  = 256     // bytes of a name, version or licence
	maxWindow = 1 << 20 // tokens
)

// readClaims fills in Info from the module and the operator's settings.
func (m *Model) readClaims(ctx context.Context, in *instance) error {
	text, err := in.describe(ctx)
	if err != nil {
		return err
	}
	if !utf8.Valid(text) {
		return errors.New("the module's description is not valid UTF-8")
	}
	if err := json.Unmarshal(text, &m.claims); err != nil {
		return fmt.Errorf("the module's description: %w", err)
	}
	for field, value := range map[string]string{"name": m.claims.Name, "version": m.claims.Version, "licence": m.claims.Licence} {
		if len(value) > maxClaim || strings.ContainsFunc(value, unicode.IsControl) {
			return fmt.Errorf("the module's description: %s has %d bytes, at most %d without control characters", field,
				len(value), maxClaim)
		}
	}
	info := m.module.Info
	for into, from := range map[*string]string{&info.Name: m.claims.Name, &info.Version: m.claims.Version,
		&info.Licence: m.claims.Licence} {
		if *into == "" {
			*into = from
		}
	}
	if info.ID == "" {
		info.ID = info.Name
	}
	info.Runtime = "wasm"
	if info.Digest = m.module.Known; info.Digest == "" {
		info.Digest = m.module.Digest()
	}
	info.Tasks = nil
	exports := map[port.Task]string{port.TaskEmbed: abi.FuncEmbed, port.TaskSparse: abi.FuncSparse,
		port.TaskRerank: abi.FuncRerank, port.TaskSynthesize: abi.FuncGenerate}
	for _, t := range m.claims.Tasks {
		export, known := exports[t.Task]
		if !known {
			return fmt.Errorf("the module claims task %q, which ABI %d.%d does not have", t.Task, abi.Major, abi.Minor)
		}
		if !in.exports(export) {
			return fmt.Errorf("the module claims task %s but does not export %s", t.Task, export)
		}
		if slices.Contains(info.Tasks, t.Task) {
			return fmt.Errorf("the module claims task %s twice", t.Task)
		}
		if t.MaxTokens < 1 || t.MaxTokens > maxWindow {
			return fmt.Errorf("the module claims a window of %d tokens for task %s", t.MaxTokens, t.Task)
		}
		info.Tasks = append(info.Tasks, t.Task)
		info.MaxTokens = max(info.MaxTokens, t.MaxTokens)
		switch t.Task {
		case port.TaskEmbed:
			if t.Dim < 1 || t.Dim > abi.MaxDim {
				return fmt.Errorf("the module claims vectors of %d dimensions", t.Dim)
			}
			info.Dimensions, m.unit = t.Dim, t.Normalized
		case port.TaskSparse:
			if t.Vocab < 1 || t.Vocab > math.MaxInt32 {
				return fmt.Errorf("the module claims a vocabulary of %d terms", t.Vocab)
			}
			m.vocab = uint32(t.Vocab)
		}
	}
	if !slices.ContainsFunc(info.Tasks, func(t port.Task) bool { return t != port.TaskSynthesize }) {
		return errors.New("the module has no task that this version runs in process: embedding, sparse or rerank")
	}
	m.info = info
	return nil
}

// Counts tells whether CountTokens can be called: the module has mneme_tokens.
func (m *Model) Counts() bool { return m.counts }

// Tokenizes tells whether TokenIDs can be called: the module has mneme_ids.
func (m *Model) Tokenizes() bool { return m.ids }

// Digest identifies module, settings and assets: "sha256:...". Settings that change no
// vector are left out of Identity.
func (m Module) Digest() string {
	h := sha256.New()
	part := func(name string, b []byte) {
		var n [16]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(name)))
		binary.LittleEndian.PutUint64(n[8:], uint64(len(b)))
		h.Write(n[:])
		h.Write([]byte(name))
		h.Write(b)
	}
	part("module", m.Wasm)
	if m.Identity != nil {
		part("config", m.Identity)
	} else {
		part("config", m.Config)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Assets)) {
		part("asset "+name, m.Assets[name])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// name is what the operator calls the model, else its own name.
func (m *Model) name() string { return cmp.Or(m.module.Info.ID, m.module.Info.Name, "without a name") }

// Info describes the model.
func (m *Model) Info() port.ModelInfo { return m.info }

// Close waits for running calls, at most CallTimeout each, and releases
// everything. Calls that wait or come later fail with unavailable.
func (m *Model) Close() error {
	m.close.Do(func() {
		m.queue.shut()
		m.running.Wait()
		if n := m.lost.Load(); n > 0 {
			// Code that may still run must stay mapped.
			m.closed = fmt.Errorf("close model %s: %d calls never ended, their memory is not released", m.info.ID, n)
			return
		}
		m.closed = m.releaseRuntime()
	})
	return m.closed
}

func (m *Model) releaseRuntime() error {
	ctx := context.Background()
	var errs []error
	if m.runtime != nil {
		errs = append(errs, m.runtime.Close(ctx))
	}
	if m.compiler != nil {
		errs = append(errs, m.options.Shared.leave(ctx, m.compiler))
	}
	if m.tensors != nil {
		m.tensors.close()
	}
	return errors.Join(errs...)
}

// translate turns a failed call into a fault.
func (m *Model) translate(op string, err error) error {
	var f *fault.Error
	var e *abi.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", op, err)
	case errors.As(err, &e) && (e.Code == abi.CodeInvalid || e.Code == abi.CodeTooLong):
		return fault.Wrap(fault.InvalidRequest, op, err, "the model refused the input: %s", e.Message)
	case errors.As(err, &e) && e.Code == abi.CodeStopped:
		return fault.Wrap(fault.Timeout, op, err, "the model took longer than its time limit")
	}
	return fault.Wrap(fault.Upstream, op, err, "the model %s failed", m.info.ID)
}

var _ port.Model = (*Model)(nil)
