package app_test

import (
	"log/slog"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// A server hears of a key that a command makes beside it: nothing here looks for it.
func TestCommandsTellTheServer(t *testing.T) {
	r, log := components(), slog.New(slog.DiscardHandler)
	c := configured(t, r, t.TempDir(), frontModels)
	var told <-chan struct{}
	if _, err := openWith(t, app.Settings{Registry: r, Config: c, Log: log, Command: "test",
		Engine: func(made *engine.Config) { told, made.Beside = made.Beside, nil }}); err != nil {
		t.Fatal(err)
	}
	err := app.WithKeys(t.Context(), r, c, log, func(keys *key.Service) error {
		_, err := keys.Issue(t.Context(), key.Issue{Name: "beside", Kind: ident.Service})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	<-told
}
