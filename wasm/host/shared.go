package host

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/mnemehq/mneme/core/simd"
)

// Shared is what the models of one process have in common. Layers of the same
// bytes are packed and held once, so that a second model over the weights of
// the first takes no memory for them; and every model lets in a query or a
// score that waits for another. The zero value is ready; hand one to all models
// through Options. Safe for concurrent use.
type Shared struct {
	rush atomic.Int32 // jobs that a user waits for and nobody works on yet

	mu     sync.Mutex
	layers map[layerKey]*sharedLayer
}

// layerKey identifies packed weights by what they were packed from.
type layerKey struct {
	sum     [sha256.Size]byte // over weights, scale and bias
	level   simd.Level
	out, in int
}

type sharedLayer struct {
	layer *simd.Layer
	users int // models that hold it
}

// acquire packs a layer, or takes the one that another model has packed of the
// same bytes. Each is given back once, with release.
func (s *Shared) acquire(k simd.Kernels, weights, scale, bias []byte, out, in int) (*simd.Layer, layerKey, error) {
	h := sha256.New()
	for _, part := range [][]byte{weights, scale, bias} { // their lengths follow from the shape
		h.Write(part)
	}
	key := layerKey{level: k.Level(), out: out, in: in}
	h.Sum(key.sum[:0])
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.layers[key]; ok {
		l.users++
		return l.layer, key, nil
	}
	layer, err := k.PackLayer(unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(weights))), len(weights)), decodeFloats(scale), decodeFloats(bias), out, in)
	if err != nil {
		return nil, layerKey{}, err
	}
	if s.layers == nil {
		s.layers = map[layerKey]*sharedLayer{}
	}
	s.layers[key] = &sharedLayer{layer, 1}
	return layer, key, nil
}

func (s *Shared) release(keys []layerKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if l := s.layers[key]; l.users > 1 {
			l.users--
		} else {
			delete(s.layers, key)
		}
	}
}

// Bytes is the memory that the packed layers of all models hold.
func (s *Shared) Bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.layers {
		n += l.layer.Bytes()
	}
	return n
}
