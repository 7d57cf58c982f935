package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/DeRuina/timberjack"
	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/cmd/mneme/internal/service"
	"github.com/mnemehq/mneme/configs"
)

func (c *command) serveCommand() *cobra.Command {
	var addr, logFile string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server on a data folder, which it makes where it is missing and keeps
to itself. SIGINT or SIGTERM ends it: requests in progress are finished first,
a second signal ends at once. SIGHUP makes it read its configuration again: what
can change in a running server does, and the log says what needs a restart.`,
		Example: `  mneme serve --data ./data
  mneme serve --data ./data --addr 127.0.0.1:0      # picks a free port and says which
  mneme serve --config mneme.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var settings []configs.Setting
			if addr != "" {
				settings = append(settings, configs.Setting{Path: "server.addr", Value: addr, From: "flag --addr"})
			}
			hangups := make(chan os.Signal, 1)
			signal.Notify(hangups, syscall.SIGHUP) // from the start, for it would end the process
			defer signal.Stop(hangups)
			if logFile != "" {
				file, err := openLog(logFile)
				if err != nil {
					return err
				}
				defer file.Close()
				c.stderr = file
			}
			return service.Run(cmd.Context(), func(ctx context.Context) error {
				err := c.serve(ctx, hangups, settings)
				if err != nil && logFile != "" { // a service has nobody who reads what else is said
					c.logger(configs.Log{Level: "error"}).Error("server failed", "error", describe(err))
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "", "address to listen on, host:port (MNEME_ADDR; default 127.0.0.1:8080)")
	cmd.Flags().StringVar(&logFile, "log-file", "", "file to log to; at 10 MB a new one is begun, five old ones are kept")
	return cmd
}

// openLog opens a log file of which a new one is begun when it is large.
func openLog(path string) (io.WriteCloser, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err == nil { // as a rule one in the data folder, which it makes on the way
		err = disk.MakeDir(disk.OS(), dir)
	}
	if err != nil {
		return nil, fmt.Errorf("make the folder of the log: %w; name a file that this user may write with --log-file", err)
	}
	file, err := disk.OpenPrivate(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY) // to say now what is wrong with it
	if err != nil {
		return nil, fmt.Errorf("open the log: %w; name a file that this user may write with --log-file", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return &timberjack.Logger{Filename: path, MaxSize: 10, MaxBackups: 5, Compression: "gzip", FileMode: 0o600}, nil
}

func (c *command) serve(ctx context.Context, hangups <-chan os.Signal, settings []configs.Setting) error {
	started := time.Now()
	c.level = new(slog.LevelVar)
	cfg, err := c.load(settings...)
	if err != nil {
		return err
	}
	l, admin, err := listen(ctx, cfg)
	if err != nil {
		return err
	}
	claimed := c.claim(ctx, cfg)
	a, err := c.openApp(ctx, "serve", cfg)
	claimed()
	if err != nil {
		return errors.Join(err, l.Close(), closeListener(admin))
	}
	err = a.FirstKey(ctx)
	if err == nil {
		err = a.Announce(l)
	}
	if err != nil {
		return errors.Join(err, l.Close(), closeListener(admin), a.Close(context.WithoutCancel(ctx)))
	}
	log := c.logger(cfg.Log)
	attrs := []any{"url", a.URL(l), "addr", l.Addr().String()}
	if cfg.Server.BaseURL != "" {
		attrs = append(attrs, "base_url", cfg.Server.BaseURL)
	}
	beside, end := context.WithCancel(context.WithoutCancel(ctx)) // answers and reloads until the last call has ended
	defer end()
	watched := make(chan error, 1)
	if admin == nil {
		watched <- nil
	} else {
		attrs = append(attrs, "admin", app.URL(admin))
		go func() { watched <- a.ServeAdmin(beside, admin) }()
	}
	go func() {
		current := cfg
		for {
			select {
			case <-hangups:
				a.ReloadCertificate()
				current = c.reload(log, current, settings)
			case <-beside.Done():
				return
			}
		}
	}()
	attrs = append(attrs, a.Describe()...)
	log.Info("server ready", append(attrs, "took", time.Since(started).Round(time.Millisecond).String())...)
	if app.InTheClear(l, cfg) {
		log.Warn("clear text reachable", "addr", l.Addr().String())
	}
	shrink := besideModels()
	err = a.Serve(ctx, l)
	shrink()
	end()
	err = errors.Join(err, <-watched)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err = errors.Join(err, a.Close(closing)); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	log.Info("server stopped")
	return nil
}

// besideModels lets Go run more threads than there are processors. The models of this
// process compute on as many as it had, mostly without a pause in which Go could look for
// what has come over the network: that takes a thread which waits for it, and the operating
// system lets that one in at once (docs/decisions.md#d-47).
func besideModels() (restore func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + 1 + before/4)
	return func() { runtime.GOMAXPROCS(before) }
}

// listen opens the server's addresses; admin is nil where none is configured.
func listen(ctx context.Context, cfg *configs.Config) (public, admin net.Listener, err error) {
	if public, err = app.Listen(ctx, cfg.Server.Addr); err != nil {
		// Two servers on one folder are the likelier mistake than two on one port.
		if held := datadir.Held(cfg.DataDir); held != nil {
			return nil, nil, held
		}
		return nil, nil, fmt.Errorf("%w; choose another address with --addr", err)
	}
	if cfg.Server.AdminAddr != "" {
		if admin, err = app.Listen(ctx, cfg.Server.AdminAddr); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("%w; choose another server.admin_addr", err), public.Close())
		}
	}
	return public, admin, nil
}

func closeListener(l net.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// reload reads the configuration again and puts into effect what a running server
// can change. One with problems changes nothing.
func (c *command) reload(log *slog.Logger, is *configs.Config, settings []configs.Setting) *configs.Config {
	next, err := c.load(settings...)
	if err != nil {
		log.Error("configuration not reloaded", "error", err)
		return is
	}
	was := c.level.Level()
	c.logger(next.Log) // sets the level
	level := c.level.Level()
	c.level.Set(min(was, level)) // so that a reload is said which ends or begins silence
	log.Info("configuration reloaded", "restart_needed", configs.Changed(is, next))
	c.level.Set(level)
	return is.Reloaded(next)
}
