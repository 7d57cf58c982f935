package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/registry"
)

// closeTimeout bounds how long a server takes to end.
const closeTimeout = 30 * time.Second

// ServerOptions say what the server of one set is.
type ServerOptions struct {
	File       string  `json:"file"`      // configuration; "": the defaults
	Folder     string  `json:"folder"`    // data folder
	Isolation  string  `json:"isolation"` // name that its data in databases lies under
	Vectors    Vectors `json:"vectors"`
	Dimensions int     `json:"dimensions"` // of synthetic vectors
	Seed       uint64  `json:"seed"`       // of synthetic vectors
	Sparse     bool    `json:"sparse"`     // synthetic vectors are learned-sparse ones, too
	LogLevel   string  `json:"log_level"`  // "": warn
}

// address is what a server tells the process that started it, as one line of JSON.
type address struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

// Serve is the server of a set. It writes its address to stdout and ends when
// stdin does, so that it never outlives the process that started it.
func Serve(
	ctx context.Context, r *registry.Registry, o ServerOptions, stdin io.Reader, stdout io.Writer,
	open func(context.Context, *configs.Config) (*app.App, error),
) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	cfg, _, err := isolated(r, o.File, o.Isolation)
	if err != nil {
		return err
	}
	cfg.DataDir, cfg.Log.Level = o.Folder, "warn"
	if o.LogLevel != "" {
		cfg.Log.Level = o.LogLevel
	}
	cfg.Limits.Read, cfg.Limits.Write, cfg.Limits.Rerank = configs.Rate{}, configs.Rate{}, configs.Rate{}
	if o.Vectors == SyntheticVectors {
		useSyntheticModels(r, cfg, o)
	}
	l, err := app.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	a, err := open(ctx, cfg)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if ending := a.Close(closing); ending != nil { // the one error keeps its type otherwise
			err = errors.Join(err, ending)
		}
	}()
	secret, err := app.LocalKey(ctx, cfg.DataDir, a.Keys)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(address{URL: app.URL(l), Key: secret})
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return a.Serve(ctx, l)
}

// server is a running server of a set.
type server struct {
	address
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan error
}

// start starts the server of a set and waits until it says where it is.
func (c Comparison) start(ctx context.Context, o ServerOptions) (*server, error) {
	options, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	args := append(c.Command[1:len(c.Command):len(c.Command)], string(options))
	//nolint:noctx // it is asked to end, not killed
	s := &server{cmd: exec.Command(c.Command[0], args...), ended: make(chan error, 1)}
	s.cmd.Stderr = c.Stderr
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	ready := make(chan error, 1)
	go func() {
		ready <- json.NewDecoder(stdout).Decode(&s.address)
		_, _ = io.Copy(io.Discard, stdout) // nothing more is expected
		s.ended <- s.cmd.Wait()
	}()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(errors.New("the server did not start; its own words are above"), s.stop())
	}
	return s, nil
}

// stop ends the server as an operator does.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = s.stdin.Close()
	select {
	case err := <-s.ended:
		if err != nil {
			return fmt.Errorf("the server ended: %w", err)
		}
		return nil
	case <-time.After(2 * closeTimeout):
		return errors.Join(errors.New("the server did not end in time"), s.cmd.Process.Kill())
	}
}
