package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// cached compiles with a cache of files, and again where one of them is what failed: the disk is
// full, or on Windows another process that starts has the same file open. What was compiled is in
// memory then, or the other process's file is whole.
func cached(compile func() error) error {
	err := compile()
	for range 3 {
		if !errors.As(err, new(*fs.PathError)) && !errors.As(err, new(*os.LinkError)) {
			break
		}
		time.Sleep(50 * time.Millisecond)
		err = compile()
	}
	return err
}

// compile fills in m.code. Compiling can't be interrupted, so one that takes too long is
// left running: the program is about to refuse to start.
func (m *Model) compile(ctx context.Context) error {
	wasm := m.module.Wasm
	if m.module.Interrupt == Enforced {
		var err error
		if wasm, err = guard(wasm); err != nil {
			return fmt.Errorf("compile: %w", err)
		}
	}
	type compiled struct {
		code wazero.CompiledModule
		err  error
	}
	done := make(chan compiled, 1)
	runtime, turn := m.runtime, m.compiler.turn(wasm)
	go func() {
		turn.Lock()
		defer turn.Unlock()
		var code wazero.CompiledModule
		err := cached(func() (err error) {
			code, err = runtime.CompileModule(experimental.WithCompilationWorkers(ctx, m.options.Instances), wasm)
			return err
		})
		done <- compiled{code, err}
	}()
	limit := time.NewTimer(m.options.StartTimeout)
	defer limit.Stop()
	select {
	case c := <-done:
		if c.err != nil {
			err := fmt.Errorf("compile: %w", c.err)
			if strings.Contains(c.err.Error(), "over limit of") { // pages of memory
				err = m.withMemoryHint(err)
			}
			return err
		}
		m.code = c.code
		return nil
	case <-limit.C:
		m.runtime, m.compiler = nil, nil // still in use
		return fmt.Errorf("compile: it takes longer than %s", m.options.StartTimeout)
	case <-ctx.Done():
		m.runtime, m.compiler = nil, nil
		return fmt.Errorf("compile: %w", ctx.Err())
	}
}

// withMemoryHint adds to an error what an operator can do about it.
func (m *Model) withMemoryHint(err error) error {
	return fmt.Errorf("%w; an instance may take %d MB, which memory_mb sets", err, m.options.MemoryMB)
}

// signature is what a function takes and gives.
type signature struct{ params, results []api.ValueType }

func (s signature) String() string {
	names := func(types []api.ValueType) string {
		text := ""
		for i, t := range types {
			if i > 0 {
				text += ", "
			}
			text += api.ValueTypeName(t)
		}
		return "(" + text + ")"
	}
	return names(s.params) + " -> " + names(s.results)
}

func (s signature) equal(o signature) bool {
	return slices.Equal(s.params, o.params) && slices.Equal(s.results, o.results)
}

// operations are the functions that take a frame and give one.
func operations() []string {
	return []string{abi.FuncOpen, abi.FuncEmbed, abi.FuncSparse, abi.FuncRerank, abi.FuncGenerate, abi.FuncTokens, abi.FuncIDs}
}

// checkInterface checks what can be seen without running the module: that it
// exports what it must, in the right form, and imports only what there is and
// what it was allowed.
func (m *Model) checkInterface() error {
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	required := []string{abi.FuncABI, abi.FuncAlloc, abi.FuncFree, abi.FuncDescribe, abi.FuncOpen}
	want := map[string]signature{
		abi.FuncABI:      {nil, []api.ValueType{i32}},
		abi.FuncAlloc:    {[]api.ValueType{i32}, []api.ValueType{i32}},
		abi.FuncFree:     {[]api.ValueType{i32, i32}, nil},
		abi.FuncDescribe: {nil, []api.ValueType{i64}},
		abi.FuncStart:    {nil, nil},
	}
	for _, name := range operations() {
		want[name] = signature{[]api.ValueType{i32, i32}, []api.ValueType{i64}}
	}
	exported := m.code.ExportedFunctions()
	for _, name := range required {
		if _, ok := exported[name]; !ok {
			return fmt.Errorf("the module does not export %s; is it a Mneme model?", name)
		}
	}
	for name, w := range want {
		if f, ok := exported[name]; ok {
			if got := (signature{f.ParamTypes(), f.ResultTypes()}); !got.equal(w) {
				return fmt.Errorf("the module exports %s as %s, it must be %s", name, got, w)
			}
		}
	}
	if _, ok := m.code.ExportedMemories()["memory"]; !ok {
		return errors.New(`the module does not export its memory as "memory"`)
	}
	for _, f := range m.code.ImportedFunctions() {
		module, name, _ := f.Import()
		capability, known := abi.CapabilityOf(module, name)
		if !known {
			return fmt.Errorf("the module imports %s.%s, which ABI %d.%d does not have; it may import from %s, %s and %s",
				module, name, abi.Major, abi.Minor, abi.Module, abi.ModuleTensors, abi.ModuleWASI)
		}
		if m.module.Allow != nil && capability != "" && !slices.Contains(m.module.Allow, capability) {
			return fmt.Errorf("the module imports %s.%s; its manifest does not name the capability %q", module, name, capability)
		}
	}
	return nil
}

// probe checks that an untrusted module does what it claims, so that one that does not is
// refused at the start rather than at the first query. It also finds out which of the
// operations that need no claim the module has.
func (m *Model) probe(ctx context.Context, in *instance) error {
	const text = "probe"
	trusted := m.module.Interrupt == Cooperative
	for op, has := range map[string]*bool{abi.FuncTokens: &m.counts, abi.FuncIDs: &m.ids} {
		if *has = in.exports(op); !*has || trusted {
			continue
		}
		_, err := in.call(ctx, op, abi.Request{Rows: []string{text}})
		var e *abi.Error
		if errors.As(err, &e) && e.Code == abi.CodeUnsupported {
			*has = false
		} else if err != nil {
			return fmt.Errorf("a first call of %s fails: %w", op, err)
		}
	}
	if trusted {
		return nil
	}
	for _, task := range m.info.Tasks {
		var op string
		rows := []string{text}
		var check func(abi.Result) error
		switch task {
		case port.TaskEmbed:
			op, check = abi.FuncEmbed, func(r abi.Result) error { return m.checkDense(r, 1) }
		case port.TaskSparse:
			op, check = abi.FuncSparse, func(r abi.Result) error { return m.checkSparse(r, 1) }
		case port.TaskRerank:
			op, rows, check = abi.FuncRerank, []string{text, text}, func(r abi.Result) error { return checkScores(r, 1) }
		default:
			continue
		}
		r, err := in.call(ctx, op, abi.Request{Rows: rows})
		if err == nil {
			err = check(r)
		}
		if err != nil {
			return fmt.Errorf("the module claims task %s, but a first call fails: %w", task, err)
		}
	}
	return nil
}

// checkDense checks an answer of vectors and divides those that claim no unit length.
func (m *Model) checkDense(r abi.Result, rows int) error {
	if err := checkKind(r, abi.KindDense, rows); err != nil {
		return err
	}
	if r.Dim != m.info.Dimensions {
		return fmt.Errorf("the model answered vectors of %d dimensions, it describes %d", r.Dim, m.info.Dimensions)
	}
	if err := (port.Dense{Dim: r.Dim, Data: r.Floats}).Unit(m.unit); err != nil {
		return fmt.Errorf("the model answered vectors of which %w", err)
	}
	return m.checkTokens(r)
}

// checkSparse checks an answer of terms.
func (m *Model) checkSparse(r abi.Result, rows int) error {
	if err := checkKind(r, abi.KindSparse, rows); err != nil {
		return err
	}
	for i, term := range r.Terms {
		if w := r.Floats[i]; term >= m.vocab || !(w > 0) {
			return fmt.Errorf("the model gave term %d of a vocabulary of %d the weight %g", term, m.vocab, w)
		}
	}
	return m.checkTokens(r)
}

// checkCounts checks an answer of token counts.
func checkCounts(r abi.Result, rows int) error { return checkKind(r, abi.KindCounts, rows) }

// checkIDs checks an answer of token ids.
func checkIDs(r abi.Result, rows int) error { return checkKind(r, abi.KindIDs, rows) }

func checkKind(r abi.Result, kind abi.Kind, rows int) error {
	if r.Kind != kind || r.Rows != rows {
		return fmt.Errorf("the model answered kind %d with %d rows, for %d texts it is kind %d", r.Kind, r.Rows, rows, kind)
	}
	return nil
}

// checkScores checks an answer of probabilities.
func checkScores(r abi.Result, rows int) error {
	if err := checkKind(r, abi.KindScores, rows); err != nil {
		return err
	}
	for i, score := range r.Floats {
		if !(score >= 0 && score <= 1) {
			return fmt.Errorf("the model answered the score %g for text %d, which is no probability", score, i)
		}
	}
	return nil
}

func (m *Model) checkTokens(r abi.Result) error {
	if r.Tokens == nil {
		return errors.New("the model did not say how many tokens it read")
	}
	for i, n := range r.Tokens {
		if int64(n) > int64(m.info.MaxTokens) {
			return fmt.Errorf("the model says it read %d tokens of text %d, its window is %d", n, i, m.info.MaxTokens)
		}
	}
	return nil
}
