package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/mnemehq/mneme/wasm/abi"
)

// instance is one instantiated module. One call at a time.
type instance struct {
	mod   api.Module
	alloc api.Function
	free  api.Function
	funcs map[string]api.Function
	frame []byte // the request being written, kept between calls

	secrets secrets // that no error may tell
	stack   [2]uint64
}

// newInstance instantiates the module and opens it with its settings.
func (m *Model) newInstance(ctx context.Context) (*instance, error) {
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions(abi.FuncStart)
	mod, err := m.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx,
		experimental.MemoryAllocatorFunc(newMemory)), m.code, config)
	if err != nil {
		return nil, fmt.Errorf("instantiate: %w", err)
	}
	in := &instance{
		mod:   mod,
		alloc: mod.ExportedFunction(abi.FuncAlloc),
		free:  mod.ExportedFunction(abi.FuncFree),
		funcs: map[string]api.Function{},

		secrets: m.secrets,
	}
	if err := in.open(ctx, m.module.Config); err != nil {
		in.discard(ctx)
		return nil, err
	}
	m.made.Add(1)
	return in, nil
}

func (in *instance) open(ctx context.Context, config []byte) error {
	version, err := in.mod.ExportedFunction(abi.FuncABI).Call(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", abi.FuncABI, err)
	}
	if major, minor := abi.Version(uint32(version[0])); major != abi.Major {
		return fmt.Errorf("the module speaks ABI %d.%d, this host %d.%d; a build for ABI %d is needed", major, minor,
			abi.Major, abi.Minor, abi.Major)
	}
	b, err := in.callFrame(ctx, abi.FuncOpen, config)
	if err != nil {
		return err // says which function
	}
	if _, err := abi.ParseResult(b); err != nil {
		return fmt.Errorf("%s: %w", abi.FuncOpen, err)
	}
	return nil
}

// memory is the size of the instance's memory in bytes, which never shrinks.
func (in *instance) memory() int64 {
	if m := in.mod.Memory(); m != nil {
		return int64(m.Size())
	}
	return 0
}

func (in *instance) exports(name string) bool { return in.mod.ExportedFunction(name) != nil }

// describe copies the module's description of itself out of it.
func (in *instance) describe(ctx context.Context) ([]byte, error) {
	out, err := in.mod.ExportedFunction(abi.FuncDescribe).Call(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", abi.FuncDescribe, err)
	}
	ptr, n := abi.Unpack(out[0])
	if n > abi.MaxDescription {
		return nil, fmt.Errorf("%s: answer of %d bytes, at most %d", abi.FuncDescribe, n, abi.MaxDescription)
	}
	view, ok := in.mod.Memory().Read(ptr, n)
	if !ok || ptr == 0 {
		return nil, fmt.Errorf("%s: answer at %d+%d lies outside the memory", abi.FuncDescribe, ptr, n)
	}
	b := bytes.Clone(view)
	return b, in.release(ctx, ptr, n)
}

// call sends texts to an operation and reads its answer.
func (in *instance) call(ctx context.Context, op string, request abi.Request) (abi.Result, error) {
	var err error
	if in.frame, err = request.Append(in.frame[:0]); err != nil {
		return abi.Result{}, &abi.Error{Code: abi.CodeInvalid, Message: err.Error()}
	}
	b, err := in.callFrame(ctx, op, in.frame)
	if cap(in.frame) > 1<<20 {
		in.frame = nil // a rare large text does not stay in memory
	}
	if err != nil {
		return abi.Result{}, err
	}
	r, err := abi.ParseResult(b)
	var stated *abi.Error
	if err != nil && !errors.As(err, &stated) {
		err = broken("%s: %w", op, err)
	}
	return r, err
}

// errBroken marks an instance that must not be used again.
type errBroken struct{ err error }

func (e *errBroken) Error() string { return e.err.Error() }
func (e *errBroken) Unwrap() error { return e.err }

func broken(format string, args ...any) error { return &errBroken{fmt.Errorf(format, args...)} }

// callFrame copies input into the module, calls op and copies the answer out. Every
// view of the memory is taken again after a call, which may have grown it.
func (in *instance) callFrame(ctx context.Context, op string, input []byte) ([]byte, error) {
	fn := in.funcs[op]
	if fn == nil {
		if fn = in.mod.ExportedFunction(op); fn == nil {
			return nil, &abi.Error{Code: abi.CodeUnsupported, Message: "the module does not export " + op}
		}
		in.funcs[op] = fn
	}
	n := uint32(len(input))
	in.stack[0] = uint64(n)
	if err := in.alloc.CallWithStack(ctx, in.stack[:]); err != nil {
		return nil, broken("%s: %w", abi.FuncAlloc, err)
	}
	at := uint32(in.stack[0])
	if at == 0 {
		return nil, &abi.Error{Code: abi.CodeMemory, Message: "no memory for the request"}
	}
	if !in.mod.Memory().Write(at, input) {
		return nil, broken("%s: %d+%d lies outside the memory", abi.FuncAlloc, at, n)
	}
	in.stack[0], in.stack[1] = uint64(at), uint64(n)
	if err := fn.CallWithStack(ctx, in.stack[:]); err != nil {
		return nil, broken("%s: %w", op, err)
	}
	ptr, size := abi.Unpack(in.stack[0])
	if ptr == 0 {
		if err := in.release(ctx, at, n); err != nil {
			return nil, err
		}
		return nil, &abi.Error{Code: abi.CodeMemory, Message: "out of memory"}
	}
	if size > abi.MaxResult {
		return nil, broken("%s: answer of %d bytes, at most %d", op, size, abi.MaxResult)
	}
	view, ok := in.mod.Memory().Read(ptr, size)
	if !ok {
		return nil, broken("%s: answer at %d+%d lies outside the memory", op, ptr, size)
	}
	out := bytes.Clone(view) // before anything is freed: freeing may write to what it frees
	if abi.IsError(out) {
		in.secrets.hide(out)
	}
	if err := in.release(ctx, at, n); err != nil {
		return nil, err
	}
	return out, in.release(ctx, ptr, size)
}

func (in *instance) release(ctx context.Context, ptr, n uint32) error {
	in.stack[0], in.stack[1] = uint64(ptr), uint64(n)
	if err := in.free.CallWithStack(ctx, in.stack[:]); err != nil {
		return broken("%s: %w", abi.FuncFree, err)
	}
	return nil
}

func (in *instance) discard(ctx context.Context) {
	_ = in.mod.Close(context.WithoutCancel(ctx)) // nothing to do about a module that cannot close
}
