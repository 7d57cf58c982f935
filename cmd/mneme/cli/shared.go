package cli

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/cmd/mneme/internal/handover"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/key"
)

// shared is a data folder that several processes work on: the first one holds it and
// answers the others, and when that one ends, the next call of one of them takes it.
type shared struct {
	*command
	ctx context.Context // of the process
	cfg *configs.Config
	log *slog.Logger

	mu      sync.Mutex
	key     string
	started bool         // a holder was found once
	ended   bool         // this process takes the folder no more
	release func() error // gives the folder back; nil: another process holds it
}

// share finds the holder of the data folder or takes the folder, and gives a client whose
// calls go to whoever holds it. done ends what this process does for the others, once their
// calls are answered.
func (c *command) share(ctx context.Context, t target) (cl *client.Client, done func() error, err error) {
	cfg, err := c.loadQuiet()
	if err != nil {
		return nil, nil, err
	}
	s := &shared{command: c, ctx: ctx, cfg: cfg, log: c.logger(cfg.Log), key: t.key}
	h := &handover.Handover{Find: s.find}
	if err := h.Connect(ctx); err != nil {
		return nil, nil, errors.Join(err, s.end())
	}
	return client.Through(handover.Base, h), s.end, nil
}

// find implements handover.Handover.
func (s *shared) find() (*handover.Holder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, context.Canceled
	}
	server, running, err := datadir.Running(s.cfg.DataDir)
	var holder *handover.Holder
	switch {
	case running:
		holder, err = s.join(server)
	case err == nil:
		holder, err = s.take()
	}
	var used *datadir.InUse
	switch {
	case err == nil:
		s.started = true
	case errors.As(err, &used) && (s.started || serves(used.Holder)):
		err = handover.Wait{Err: err}
	}
	return holder, err
}

// serves reports that a holder which serves nothing is about to, for all that is known.
func serves(h datadir.Holder) bool {
	return slices.Contains([]string{"", "serve", "quickstart", "mcp"}, h.Command)
}

// join is the process that serves the folder.
func (s *shared) join(server datadir.Server) (*handover.Holder, error) {
	if s.key == "" {
		if err := s.agreeToMigrate(s.ctx, "mcp", s.cfg); err != nil {
			return nil, err
		}
		err := app.WithKeys(s.ctx, s.registry, s.cfg, s.log, func(keys *key.Service) (err error) {
			s.key, err = app.LocalKey(s.ctx, s.cfg.DataDir, keys)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	cl, err := client.New(server.URL, s.key)
	if err != nil {
		return nil, err
	}
	cl.Pin(server.Certificate)
	h := &handover.Holder{URL: server.URL, Key: s.key, Transport: cl.Transport()}
	if server.Command == "mcp" {
		h.Host = dialableAddr(s.cfg.Server.Addr)
	}
	return h, nil
}

// take makes this process the holder, for itself and for the others.
func (s *shared) take() (*handover.Holder, error) {
	a, err := s.openApp(s.ctx, "mcp", s.cfg)
	if err != nil {
		return nil, err
	}
	if s.key == "" {
		if s.key, err = app.LocalKey(s.ctx, s.cfg.DataDir, a.Keys); err != nil {
			return nil, errors.Join(err, a.Close(context.WithoutCancel(s.ctx)))
		}
	}
	beside, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	served := make(chan error, 1)
	if l, err := app.Listen(beside, "127.0.0.1:0"); err != nil {
		s.log.Warn("data folder not shared", "error", err)
		served <- nil
	} else {
		go func() { served <- a.Serve(beside, l) }()
		if err := a.Announce(l); err != nil {
			s.log.Warn("data folder not shared", "error", err)
		}
	}
	s.release = func() error {
		stop()
		err := <-served
		closing, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), closeTimeout)
		defer cancel()
		return errors.Join(err, a.Close(closing))
	}
	local := client.Local(a.Handler, s.key)
	// Links lead to where a server on this folder would be.
	return &handover.Holder{URL: local.Base(), Host: dialableAddr(s.cfg.Server.Addr), Key: s.key,
		Transport: local.Transport(), Here: true}, nil
}

// end gives the folder back.
func (s *shared) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.release == nil {
		return nil
	}
	return s.release()
}
