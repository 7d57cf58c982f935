package embedded_test

import (
	"log/slog"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/index/indextest"
	"github.com/mnemehq/mneme/core/port"
)

func TestContract(t *testing.T) {
	tiny := embedded.Default()
	tiny.FlushChunks, tiny.Merges = 60, 2
	for name, cfg := range map[string]embedded.Config{"head only": embedded.Default(), "files and merges": tiny} {
		t.Run(name, func(t *testing.T) {
			dirs := map[port.Index]string{}
			open := func(t testing.TB, dir string) port.Index {
				x, err := embedded.Open(cfg, dir, slog.New(slog.NewTextHandler(t.Output(), nil)))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = x.Close() })
				dirs[x] = dir
				return x
			}
			indextest.Run(t, func(t testing.TB) port.Index { return open(t, t.TempDir()) }, indextest.Options{
				Reopen: func(t testing.TB, x port.Index) port.Index {
					if err := x.Close(); err != nil {
						t.Fatal(err)
					}
					return open(t, dirs[x])
				},
			})
		})
	}
}
