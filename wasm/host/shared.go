package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tetratelabs/wazero"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/simd"
)

// Shared is what the models of one process have in common. Layers of the same
// bytes are packed and held once, so that a second model over the weights of
// the first takes no memory for them; modules of the same bytes are compiled
// once; and all take turns on the processors, so that passages of every model
// give way to the queries and scores of all. Hand one to all models through
// Options. Safe for concurrent use.
type Shared struct {
	processors *fair.Scheduler

	mu     sync.Mutex
	layers map[shape][]*sharedLayer
	code   map[string]*compiler // by the folder that keeps it; "": none does
}

// NewShared makes what models have in common on a machine of GOMAXPROCS processors.
func NewShared() *Shared {
	return &Shared{processors: fair.New(runtime.GOMAXPROCS(0)), layers: map[shape][]*sharedLayer{},
		code: map[string]*compiler{}}
}

// compiler keeps what models have compiled. Modules of the same bytes, as all our own models are, are
// compiled once and their code is held once: a start that compiles each takes several times as long.
type compiler struct {
	cache wazero.CompilationCache
	dir   string
	users int // models; the last one closes the cache

	mu    sync.Mutex
	turns map[[sha256.Size]byte]*sync.Mutex
}

// compiler is where a model finds what others have compiled. It is given back once, with leave.
func (s *Shared) compiler(dir string) (*compiler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.code[dir]
	if c == nil {
		c = &compiler{dir: dir, turns: map[[sha256.Size]byte]*sync.Mutex{}}
		if dir == "" {
			c.cache = wazero.NewCompilationCache()
		} else {
			var err error
			if c.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
				return nil, err
			}
		}
		s.code[dir] = c
	}
	c.users++
	return c, nil
}

func (s *Shared) leave(ctx context.Context, c *compiler) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.users--; c.users > 0 {
		return nil
	}
	delete(s.code, c.dir)
	return c.cache.Close(ctx)
}

// turn is held while a module is compiled: the cache has no place for those who wait for the same one.
func (c *compiler) turn(wasm []byte) *sync.Mutex {
	sum := sha256.Sum256(wasm)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turns[sum] == nil {
		c.turns[sum] = new(sync.Mutex)
	}
	return c.turns[sum]
}

type shape struct {
	level   simd.Level
	out, in int
}

// sharedLayer is a layer and what it is packed from, once for each model that holds it: equal
// bytes, often the same ones. It is packed when first used: packing was a fifth of the processor
// time of a command that asks no model for anything, and a reranker that nobody uses takes no memory.
type sharedLayer struct {
	packed atomic.Pointer[simd.Layer]
	users  []*lease
}

// lease is a model's hold on a layer.
type lease struct {
	layer                *sharedLayer
	shape                shape
	weights, scale, bias []byte
}

func (l *lease) equal(o *lease) bool {
	return bytes.Equal(l.weights, o.weights) && bytes.Equal(l.scale, o.scale) && bytes.Equal(l.bias, o.bias)
}

// acquire takes a layer, the one that another model has taken of the same bytes
// if there is one. Each is given back once, with release; the bytes may not change
// until then.
func (s *Shared) acquire(level simd.Level, weights, scale, bias []byte, out, in int) *lease {
	l := &lease{shape: shape{level, out, in}, weights: weights, scale: scale, bias: bias}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.layers[l.shape] {
		if l.equal(other.users[0]) {
			l.layer = other
			other.users = append(other.users, l)
			return l
		}
	}
	l.layer = &sharedLayer{users: []*lease{l}}
	s.layers[l.shape] = append(s.layers[l.shape], l.layer)
	return l
}

// layer is a layer, packed by now; nil when its lengths don't fit. What was acquired for k has not been given back.
func (s *Shared) layer(k simd.Kernels, l *lease) *simd.Layer {
	if packed := l.layer.packed.Load(); packed != nil {
		return packed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if packed := l.layer.packed.Load(); packed != nil {
		return packed
	}
	readAhead(l.weights)
	packed, err := k.PackLayer(unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(l.weights))), len(l.weights)),
		decodeFloats(l.scale), decodeFloats(l.bias), l.shape.out, l.shape.in)
	if err != nil {
		return nil
	}
	l.layer.packed.Store(packed)
	return packed
}

func (s *Shared) release(leases []*lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range leases {
		s.layers[l.shape] = slices.DeleteFunc(s.layers[l.shape], func(o *sharedLayer) bool {
			o.users = slices.DeleteFunc(o.users, func(user *lease) bool { return user == l })
			return len(o.users) == 0
		})
	}
}

// Bytes is the memory that the packed layers of all models hold, those that were used.
func (s *Shared) Bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, layers := range s.layers {
		for _, l := range layers {
			if packed := l.packed.Load(); packed != nil {
				n += packed.Bytes()
			}
		}
	}
	return n
}
