package main

import (
	"testing"

	"github.com/mnemehq/mneme/wasm/abi"
)

// TestRelated runs the model as it is, without WebAssembly: a text with the
// query's concept, though not its words, is nearer than one without.
func TestRelated(t *testing.T) {
	m := model()
	if answer := m.Serve(abi.FuncOpen, []byte("{}")); answer[0] != byte(abi.KindText) {
		t.Fatalf("open: %q", answer)
	}
	frame, err := abi.Request{Rows: []string{"symptoms of a cold", "A runny nose, sneezing and a sore throat.",
		"The committee approved the budget."}}.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := abi.ParseResult(m.Serve(abi.FuncRerank, frame))
	if err != nil {
		t.Fatal(err)
	}
	if r.Floats[0] <= r.Floats[1] {
		t.Errorf("the related text scores %g, the other %g", r.Floats[0], r.Floats[1])
	}
}
