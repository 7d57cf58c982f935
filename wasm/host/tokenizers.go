package host

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/mnemehq/mneme/wasm/abi"
	"github.com/mnemehq/mneme/wasm/tokenizer"
)

// tokenizers are those that a module has opened, each read once for all instances.
type tokenizers struct {
	mu      sync.RWMutex
	opened  []*tokenizer.Tokenizer // handle - 1
	handles map[string]uint32      // by the asset; 0: it is none
}

// open is the handle of an asset that is a tokenizer.json. The others are told once.
func (t *tokenizers) open(name string, asset []byte, refused func(error)) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.handles[name]; ok {
		return h
	}
	if t.handles == nil {
		t.handles = map[string]uint32{}
	}
	read, err := tokenizer.Read(asset)
	if err != nil {
		refused(err)
		t.handles[name] = 0
		return 0
	}
	t.opened = append(t.opened, read)
	t.handles[name] = uint32(len(t.opened))
	return t.handles[name]
}

func (t *tokenizers) get(handle uint64) *tokenizer.Tokenizer {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if h := uint32(handle); h > 0 && uint64(h) <= uint64(len(t.opened)) {
		return t.opened[h-1]
	}
	return nil
}

// bindTokenizers adds what lets a module leave tokenizing to the host.
func (m *Model) bindTokenizers(b wazero.HostModuleBuilder, asset func(api.Module, uint64, uint64) ([]byte,
	bool)) wazero.HostModuleBuilder {
	i32 := api.ValueTypeI32
	b = b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, stack []uint64) {
		content, ok := asset(mod, stack[0], stack[1])
		if !ok {
			stack[0] = 0
			return
		}
		name, _ := mod.Memory().Read(uint32(stack[0]), uint32(stack[1])) // it was there for asset
		stack[0] = uint64(m.tokenizers.open(string(name), content, func(err error) {
			m.options.Log.Error("tokenizer refused", "model", m.name(), "asset", string(name), "error", err)
		}))
	}), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export("tokenizer_open")
	b = b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		stack[0] = uint64(m.tokenize(ctx, mod.Memory(), stack))
	}), []api.ValueType{i32, i32, i32, i32, i32}, []api.ValueType{i32}).Export("tokenize")
	return b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, stack []uint64) {
		t := m.tokenizers.get(stack[0])
		token, ok := mod.Memory().Read(uint32(stack[1]), uint32(stack[2]))
		if stack[0] = abi.TokenizeBad; t == nil || !ok {
			return
		}
		id, ok := t.ID(string(token))
		if stack[0] = uint64(id); !ok {
			stack[0] = abi.TokenizeInvalid
		}
	}), []api.ValueType{i32, i32, i32}, []api.ValueType{i32}).Export("token_id")
}

// tokenize (handle, text, bytes, ids, room) writes the ids of a text, or counts them
// where ids is 0.
func (m *Model) tokenize(ctx context.Context, mem api.Memory, a []uint64) uint32 {
	t, ptr, room := m.tokenizers.get(a[0]), uint32(a[3]), uint32(a[4])
	text, ok := mem.Read(uint32(a[1]), uint32(a[2]))
	if t == nil || !ok {
		return abi.TokenizeBad
	}
	if ptr != 0 {
		// Fewer ids than the room may be written, but a module must own all of it.
		if room > math.MaxUint32/4 || ptr%4 != 0 {
			return abi.TokenizeBad
		}
		if _, ok := mem.Read(ptr, 4*room); !ok {
			return abi.TokenizeBad
		}
	}
	ids, err := t.Append(nil, string(text), int(min(room, math.MaxInt32)), func() bool {
		m.yield(ctx)
		return ctx.Err() != nil
	})
	switch {
	case errors.Is(err, tokenizer.ErrInvalid):
		return abi.TokenizeInvalid
	case errors.Is(err, tokenizer.ErrStopped):
		return abi.TokenizeStopped
	case err != nil:
		return abi.TokenizeFailed
	}
	if ptr != 0 {
		out, _ := mem.Read(ptr, uint32(4*len(ids)))
		for i, id := range ids {
			binary.LittleEndian.PutUint32(out[4*i:], id)
		}
	}
	return uint32(len(ids))
}
