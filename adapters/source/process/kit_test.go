package process_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/source/process"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/plugins/sourcekit"
)

// TestKit: both examples, which vendors start from, pass the kit for vendors.
func TestKit(t *testing.T) {
	for name, config := range map[string]func(testing.TB) process.Config{"go": goConfig, "python": pythonConfig} {
		t.Run(name, func(t *testing.T) {
			if name != "go" && testing.Short() {
				t.Skip("long")
			}
			a := newApp(t)
			all := map[string]string{}
			for i := range pageNotes + 20 {
				all[fmt.Sprintf("note %03d", i)] = strings.Repeat("text ", i)
			}
			a.set(all)
			c := config(t)
			c.Env = map[string]registry.Secret{"NOTES_URL": registry.Secret(a.URL)}
			account := connection(a.URL, map[string]string{"token": firstToken, "refresh_token": firstRefresh})
			sourcekit.Run(t, sourcekit.Candidate{
				Name: name,
				Open: func(ctx context.Context) (port.Connectors, error) {
					return process.Open(ctx, "mine", c, maxItem, slog.New(slog.DiscardHandler))
				},
				Config:  account.Config,
				Secrets: account.Secrets,
				Revoke:  true,
				Endure:  time.Nanosecond,
				Memory:  func() int64 { return 1 << 20 },
			})
			if len(a.revoked) != 3 {
				t.Errorf("revoked: %q", a.revoked)
			}
		})
	}
}
