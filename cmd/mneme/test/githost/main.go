// Command githost serves the git repositories of a folder over HTTP to programs of this
// machine, so that the tour of docs/sources.md has one to follow.
//
//	go run ./cmd/mneme/test/githost ./repositories 127.0.0.1:8081
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness/repositories"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "githost:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("want a folder and an address, got %q", os.Args[1:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	handler, err := repositories.Handler(ctx, os.Args[1])
	if err != nil {
		return err
	}
	s := &http.Server{Addr: os.Args[2], Handler: handler, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}
