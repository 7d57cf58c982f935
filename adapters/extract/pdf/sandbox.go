package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// sandbox makes instances of PDFium. It compiles the module when the first is asked for.
type sandbox struct {
	cacheDir string
	memory   int64 // bytes an instance may have
	log      *slog.Logger

	start   sync.Once
	started chan struct{} // closed when pool or failure is set
	pool    pdfium.Pool
	cache   wazero.CompilationCache
	failure error

	making  sync.Mutex // one instance is made at a time, so that it is known whose memory is whose
	made    *memory
	closed  bool
	running sync.WaitGroup // instances
	live    atomic.Int64   // bytes of memory of all instances
	peak    atomic.Int64
}

func newSandbox(cacheDir string, limit int64, log *slog.Logger) *sandbox {
	return &sandbox{cacheDir: cacheDir, memory: limit, log: log, started: make(chan struct{})}
}

// compile starts PDFium up. It runs beside those that need it, since nothing can stop it.
func (s *sandbox) compile() {
	defer close(s.started)
	if s.cacheDir != "" {
		var err error
		if s.cache, err = wazero.NewCompilationCacheWithDir(s.cacheDir); err != nil {
			s.log.Warn("compile cache unusable", "dir", s.cacheDir, "error", err)
		}
	}
	if s.cache == nil {
		s.cache = wazero.NewCompilationCache()
	}
	settings := webassembly.Config{
		Context:  experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(s.allocate)),
		MaxTotal: -1, // the caller says how many
		RuntimeConfig: wazero.NewRuntimeConfig().
			WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
			WithCompilationCache(s.cache).
			WithCloseOnContextDone(true),
		FSConfig:     wazero.NewFSConfig(), // the library's default is the whole disk
		Stdout:       io.Discard,
		Stderr:       io.Discard,
		RandomSource: rand.NewChaCha8([32]byte{}), // equal files give equal results
	}
	s.pool, s.failure = webassembly.Init(settings)
	if errors.As(s.failure, new(*fs.PathError)) || errors.As(s.failure, new(*os.LinkError)) {
		// The cache failed, as where another process writes the same file. What was compiled is in memory.
		s.pool, s.failure = webassembly.Init(settings)
	}
	if s.failure != nil {
		s.failure = fmt.Errorf("start PDFium: %w", s.failure)
	}
}

// instance is a PDFium for one file. Its methods are called from one goroutine.
type instance struct {
	pdfium.Pdfium
	memory *memory
	done   func()
}

// prepare waits until PDFium is started or has failed to, or until the context ends.
func (s *sandbox) prepare(ctx context.Context) {
	s.start.Do(func() { go s.compile() })
	select {
	case <-s.started:
	case <-ctx.Done():
	}
}

// open makes an instance that lives until close or until the context ends. prepare comes before it.
func (s *sandbox) open(ctx context.Context) (*instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.failure != nil {
		return nil, s.failure
	}
	s.making.Lock()
	defer s.making.Unlock()
	if s.closed {
		return nil, errClosed
	}
	p, err := s.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if err := bind(ctx, p); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	s.running.Add(1)
	return &instance{Pdfium: p, memory: s.made, done: s.running.Done}, nil
}

// bind ends an instance's calls with a context. The library's own way is Kill, which takes
// the memory away from code that may still run in it: a race. Its calls take the context
// of a field that no method sets.
func bind(ctx context.Context, p pdfium.Pdfium) error {
	of := p.GetImplementation()
	field := reflect.Indirect(reflect.ValueOf(of)).FieldByName("Context")
	if !field.IsValid() || !field.CanSet() || field.Type() != reflect.TypeFor[context.Context]() {
		return fmt.Errorf("%T has no context to set", of)
	}
	field.Set(reflect.ValueOf(ctx))
	return nil
}

// close gives the instance's memory back.
func (in *instance) close() {
	defer in.done()
	if in.Pdfium.Close() != nil { // PDFium was stopped, fell over while it tidied up, or before
		_ = in.Kill()
	}
}

var errClosed = errors.New("PDFium is closed")

// close waits for running instances, which end with their contexts.
func (s *sandbox) close(ctx context.Context) error {
	s.start.Do(func() {
		s.failure = errClosed
		close(s.started)
	})
	<-s.started
	s.making.Lock()
	first := !s.closed
	s.closed = true
	s.making.Unlock()
	s.running.Wait()
	var errs []error
	if s.pool != nil && first {
		errs = append(errs, s.pool.Close(), s.cache.Close(ctx))
	}
	return errors.Join(errs...)
}

// allocate makes the memory of an instance.
func (s *sandbox) allocate(_, most uint64) experimental.LinearMemory {
	s.made = &memory{of: s, most: min(most, uint64(s.memory))}
	return s.made
}

// memory is the memory of an instance: it says whether the ceiling was reached.
type memory struct {
	of   *sandbox
	most uint64
	b    []byte
	full bool
}

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.most {
		m.full = true
		return nil
	}
	if size > uint64(cap(m.b)) {
		// By a quarter at least, so that growing page by page does not copy without end.
		b := make([]byte, size, min(m.most, max(size, uint64(cap(m.b))*5/4)))
		copy(b, m.b)
		live := m.of.live.Add(int64(cap(b) - cap(m.b)))
		for peak := m.of.peak.Load(); live > peak && !m.of.peak.CompareAndSwap(peak, live); {
			peak = m.of.peak.Load()
		}
		m.b = b
	}
	m.b = m.b[:size]
	return m.b
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {
	m.of.live.Add(-int64(cap(m.b)))
	m.b = nil
}
