package http

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/mnemehq/mneme/core/fault"
)

// ServerOptions bound what clients can hold of the process.
type ServerOptions struct {
	Handler http.Handler
	Log     *slog.Logger // nil: nothing is logged
	// HeaderTimeout is how long a client may take to send a request's header.
	// 0: 10 s.
	HeaderTimeout time.Duration
	// IdleTimeout closes a connection without a request. 0: 75 s.
	IdleTimeout time.Duration
	// MaxHeaderBytes bounds a request's header. 0: 32 KiB.
	MaxHeaderBytes int
	// MaxConnections bounds open connections. One more closes one that waits for a
	// request, or waits itself. 0: 4096.
	MaxConnections int
	// PerAddress bounds those of one address (codec.Address). 0: any number.
	PerAddress int
	// TLS serves https, by HTTP/1.1 alone: the bounds on connections, bodies and
	// answers are those of a connection. nil: http.
	TLS *tls.Config
	// Drain is how long requests in flight may take to finish at the end. Those
	// that last longer are cancelled and answered 503. 0: 20 s.
	Drain time.Duration
	// Stopping is called when the server is told to end, before it waits. nil:
	// nothing is.
	Stopping func()
}

// Server serves one listener and ends gracefully.
type Server struct {
	http  *http.Server
	drain time.Duration
	told  func()
	limit int
	each  int
	tls   *tls.Config
	log   *slog.Logger
	stop  context.CancelCauseFunc
}

// NewServer makes a server; Serve starts it. It serves once.
func NewServer(o ServerOptions) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	or := func(d, otherwise time.Duration) time.Duration {
		if d > 0 {
			return d
		}
		return otherwise
	}
	if o.MaxHeaderBytes <= 0 {
		o.MaxHeaderBytes = 32 << 10
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = 4096
	}
	if o.Stopping == nil {
		o.Stopping = func() {}
	}
	base, stop := context.WithCancelCause(context.Background())
	return &Server{
		http: &http.Server{
			Handler:           o.Handler,
			ReadHeaderTimeout: or(o.HeaderTimeout, 10*time.Second),
			IdleTimeout:       or(o.IdleTimeout, 75*time.Second),
			MaxHeaderBytes:    o.MaxHeaderBytes,
			// "OPTIONS *" gets a JSON answer like any request for nothing.
			DisableGeneralOptionsHandler: true,
			BaseContext:                  func(net.Listener) context.Context { return base },
			ErrorLog:                     slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		},
		drain: or(o.Drain, 20*time.Second), told: o.Stopping, limit: o.MaxConnections, each: o.PerAddress,
		tls: o.TLS, log: o.Log, stop: stop,
	}
}

// answerGrace is the time that cancelled requests have to write their answers.
const answerGrace = 2 * time.Second

// Serve answers requests on l until ctx is done. Then it closes l, lets requests
// in flight finish for Drain, cancels those that are left, and returns nil. It
// returns an error when the listener fails.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.stop(nil)
	failed := make(chan error, 1)
	limited := limitListener(l, s.limit, s.each, s.tls)
	s.http.ConnState = limited.follow
	go func() { failed <- s.http.Serve(limited) }()
	select {
	case err := <-failed:
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return err
	case <-ctx.Done():
	}
	s.told()
	soft, cancel := context.WithTimeout(context.Background(), s.drain)
	defer cancel()
	if s.http.Shutdown(soft) == nil {
		return nil
	}
	s.log.Warn("shutdown timeout", "after", s.drain)
	s.stop(fault.New(fault.Unavailable, "the server is shutting down; retry shortly").After(time.Second))
	hard, cancel := context.WithTimeout(context.Background(), answerGrace)
	defer cancel()
	if s.http.Shutdown(hard) == nil {
		return nil
	}
	return s.http.Close()
}
