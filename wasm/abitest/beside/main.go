// Command beside embeds texts by the default embedder, in one instance, for wasm/models/golden/bench.py, which
// measures it from outside: each line of standard input asks for texts to be embedded so many times.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
)

// request is a line of standard input.
type request struct {
	Query bool     `json:"query"` // else the texts are passages
	Texts []string `json:"texts"`
	Calls int      `json:"calls"`
	// Show asks for the vectors of the last call, which take time to write.
	Show bool `json:"show"`
}

// answer is a line of standard output.
type answer struct {
	Tokens  []int       `json:"tokens"`
	Vectors [][]float32 `json:"vectors,omitempty"`
}

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "beside:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	s, err := models.Open(models.Default)
	if err != nil {
		return err
	}
	module := host.Module{Wasm: s.Wasm, Config: s.Config, Assets: s.Assets, Interrupt: host.Cooperative}
	m, err := host.Open(ctx, module, host.Options{Instances: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	asked, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := asked.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		as := port.Passage
		if r.Query {
			as = port.Query
		}
		var a answer
		for range r.Calls {
			got, err := m.Embed(ctx, as, r.Texts)
			if err != nil {
				return err
			}
			a.Tokens = got.Tokens
			if r.Show {
				a.Vectors = a.Vectors[:0]
				for i := range r.Texts {
					a.Vectors = append(a.Vectors, got.Row(i))
				}
			}
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}
