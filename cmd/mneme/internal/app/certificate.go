package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/mnemehq/mneme/configs"
)

// certificate is the server's, from files that may change while it serves.
type certificate struct {
	files configs.TLS
	log   *slog.Logger

	mu     sync.Mutex
	held   *tls.Certificate
	stamps [2]stamp // of the files that it is from
	looked time.Time
}

// stamp tells a file from what was in its place before.
type stamp struct {
	changed time.Time
	size    int64
}

// lookEvery is how long files that have changed may go unnoticed.
const lookEvery = 10 * time.Second

// openCertificate reads the configured certificate; nil where none is.
func openCertificate(files configs.TLS, log *slog.Logger) (*certificate, error) {
	if files.Cert == "" {
		return nil, nil
	}
	c := &certificate{files: files, log: log}
	return c, c.read()
}

// read takes the files as they are. On an error the certificate stays as it was.
func (c *certificate) read() error {
	c.looked = time.Now()
	var stamps [2]stamp
	for i, name := range []string{c.files.Cert, c.files.Key} {
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("server.tls: %w", err)
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	if c.held != nil && stamps == c.stamps {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return fmt.Errorf("server.tls: %w", err)
	}
	c.held, c.stamps = &pair, stamps
	c.log.Info("certificate read", "names", pair.Leaf.DNSNames, "not_after", pair.Leaf.NotAfter)
	return nil
}

// refresh reads files that have changed, if nobody looked since before.
func (c *certificate) refresh(before time.Time) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.looked.Before(before) {
		if err := c.read(); err != nil {
			c.log.Error("certificate not read", "error", err)
		}
	}
	return c.held
}

// config is what the listener serves with.
func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.refresh(time.Now().Add(-lookEvery)), nil
		},
	}
}
