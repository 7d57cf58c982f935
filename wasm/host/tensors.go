package host

import (
	"context"

	"github.com/tetratelabs/wazero/api"

	"github.com/mnemehq/mneme/wasm/abi"
)

// tensors is the host's side of mneme_nn.
type tensors struct{}

const unsupported = 1

// bindTensors binds mneme_nn. A WebAssembly import cannot stay unbound, so an
// operation that this machine has no kernel for answers "unsupported".
func (m *Model) bindTensors(ctx context.Context) error {
	i32, f32 := api.ValueTypeI32, api.ValueTypeF32
	refuse := func(answer uint64) api.GoModuleFunc {
		return func(_ context.Context, _ api.Module, stack []uint64) { stack[0] = answer }
	}
	_, err := m.runtime.NewHostModuleBuilder(abi.ModuleTensors).
		NewFunctionBuilder().WithGoModuleFunction(refuse(0), []api.ValueType{i32, i32, i32, i32}, []api.ValueType{i32}).Export("linear_open").
		NewFunctionBuilder().WithGoModuleFunction(refuse(unsupported), []api.ValueType{i32, i32, i32, i32, i32}, []api.ValueType{i32}).Export("linear").
		NewFunctionBuilder().WithGoModuleFunction(refuse(unsupported), []api.ValueType{i32, i32, i32, i32, i32, i32}, []api.ValueType{i32}).Export("attention").
		NewFunctionBuilder().WithGoModuleFunction(refuse(unsupported), []api.ValueType{i32, i32, i32, i32, i32, i32, f32}, []api.ValueType{i32}).Export("add_norm").
		Instantiate(ctx)
	return err
}
