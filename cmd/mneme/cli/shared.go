package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

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
	started bool             // a holder was found once
	ended   bool             // this process takes the folder no more
	local   *handover.Holder // this process; nil: another one holds the folder
	release func() error     // gives the folder back
}

// share finds the holder of the data folder or takes the folder, and gives a client whose
// calls go to the process that holds it. done ends what this process does for the others, once their
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
	claimed := false
	if err == nil && !running {
		claimed, err = datadir.Claimed(s.cfg.DataDir)
	}
	var holder *handover.Holder
	switch {
	case running:
		holder, err = s.join(server)
	case claimed:
		err = handover.Wait{Err: errors.New("a server is about to take the data folder")}
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
	local := client.Local(a.Handler, s.key)
	beside, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	served := make(chan error, 1)
	if l, err := app.Listen(beside, "127.0.0.1:0"); err != nil {
		s.log.Warn("data folder not shared", "error", err)
		served <- nil
	} else {
		a.Handler = s.givesWay(a.Handler)
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
	// Links lead to where a server on this folder would be.
	s.local = &handover.Holder{URL: local.Base(), Host: dialableAddr(s.cfg.Server.Addr), Key: s.key,
		Transport: local.Transport(), Here: true}
	return s.local, nil
}

// givesWay has this process look whether a server has claimed the folder, when it is asked to,
// and give the folder back then. Asking is no more than a hint, so it takes no key.
func (s *shared) givesWay(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != giveWay {
			next.ServeHTTP(w, r)
			return
		}
		if claimed, err := datadir.Claimed(s.cfg.DataDir); err == nil && claimed {
			go s.handOver()
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

const giveWay = "/give-way"

// handOver gives the folder back once the calls that came are answered. The next ones find
// the server.
func (s *shared) handOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local == nil || s.ended {
		return
	}
	s.local.Leave()
	if err := s.release(); err != nil {
		s.log.Error("data folder not given back in order", "error", err)
	}
	s.local = nil
}

// claim has an assistant that holds the data folder give it back, and lets no other take it
// until done.
func (c *command) claim(ctx context.Context, cfg *configs.Config) (done func()) {
	release, ok, err := datadir.Claim(cfg.DataDir)
	if err != nil || !ok {
		return func() {} // opening the folder says what is wrong
	}
	for until := time.Now().Add(claimPatience); ctx.Err() == nil && time.Now().Before(until); {
		server, running, err := datadir.Running(cfg.DataDir)
		var used *datadir.InUse
		switch {
		case running && server.Command == "mcp":
			c.askToGiveWay(ctx, server)
		case !errors.As(err, &used) || used.Holder.Command != "mcp" && used.Holder.PID != 0:
			return func() { _ = release() } // it is free, or no assistant has it
		}
		select {
		case <-time.After(claimPause):
		case <-ctx.Done():
		}
	}
	return func() { _ = release() }
}

const (
	claimPatience = time.Minute // as long as assistants look for a holder
	claimPause    = 100 * time.Millisecond
)

func (c *command) askToGiveWay(ctx context.Context, server datadir.Server) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	cl, err := client.New(server.URL, "")
	if err != nil {
		return
	}
	cl.Pin(server.Certificate)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+giveWay, http.NoBody)
	if err != nil {
		return
	}
	if res, err := cl.Transport().RoundTrip(r); err == nil { // else it has just ended
		_ = res.Body.Close()
	}
}

// end gives the folder back.
func (s *shared) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.local == nil {
		return nil
	}
	return s.release()
}
