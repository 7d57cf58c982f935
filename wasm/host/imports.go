package host

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/wasm/abi"
)

const (
	absent     = ^uint64(0) // asset_size of an asset that is not there
	maxLogLine = 1 << 10
)

// bindImports binds the modules "mneme" and "mneme_nn". Every pointer and
// length from the guest is checked; a bad one gets an error, never host memory.
func (m *Model) bindImports(ctx context.Context) error {
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	asset := func(mod api.Module, ptr, n uint64) ([]byte, bool) {
		name, ok := mod.Memory().Read(uint32(ptr), uint32(n))
		if !ok || len(name) > abi.MaxName {
			return nil, false
		}
		b, ok := m.module.Assets[string(name)]
		return b, ok
	}
	levels := []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}
	_, err := m.bindTokenizers(m.runtime.NewHostModuleBuilder(abi.Module), asset).
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, stack []uint64) {
		b, ok := asset(mod, stack[0], stack[1])
		if stack[0] = uint64(len(b)); !ok {
			stack[0] = absent
		}
	}), []api.ValueType{i32, i32}, []api.ValueType{i64}).Export("asset_size").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, stack []uint64) {
		b, ok := asset(mod, stack[0], stack[1])
		off, dst, n := stack[2], uint32(stack[3]), uint64(uint32(stack[4]))
		if !ok || off > uint64(len(b)) || n > uint64(len(b))-off || !mod.Memory().Write(dst, b[off:off+n]) {
			stack[0] = 1
			return
		}
		stack[0] = 0
	}), []api.ValueType{i32, i32, i64, i32, i32}, []api.ValueType{i32}).Export("asset_read").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		view, ok := mod.Memory().Read(uint32(stack[1]), min(uint32(stack[2]), maxLogLine+m.secrets.longest()))
		level := uint32(stack[0])
		if !ok || int(level) >= len(levels) || !m.options.Log.Enabled(ctx, levels[level]) {
			return
		}
		pass, dropped := m.moduleLog.allow(time.Now())
		if dropped > 0 {
			m.options.Log.Warn("module log truncated", "model", m.name(), "lines", dropped)
		}
		if pass {
			text := bytes.Clone(view)
			m.secrets.hide(text)
			m.options.Log.Log(ctx, levels[level], "module: "+abi.Printable(text[:min(len(text), maxLogLine)]), "model", m.name())
		}
	}), []api.ValueType{i32, i32, i32}, nil).Export("log").
		// Nothing streams yet: emit says so.
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
		stack[0] = 1
	}), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export("emit").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
		stack[0] = 0
		m.yield(ctx)
		if ctx.Err() != nil { // the caller is gone or the call took too long
			stack[0] = 1
		}
	}), nil, []api.ValueType{i32}).Export("poll").
		Instantiate(ctx)
	if err != nil {
		return err
	}
	return m.bindTensors(ctx)
}

// yield lets in what should run before the job that calls, of this model or of one
// that shares with it: a query, a score where passages run, or the work of an
// organization that has computed less (core/fair).
func (m *Model) yield(ctx context.Context) {
	if turn, ok := ctx.Value(turnKey{}).(*fair.Turn); ok { // else it is an instance that Open makes
		turn.Yield(ctx)
	}
}
