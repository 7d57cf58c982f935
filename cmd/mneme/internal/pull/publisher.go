package pull

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/cmd/mneme/internal/minisig"
)

// Publisher is who signs a catalogue.
type Publisher struct {
	Name string
	URL  string // of the catalogue, or its path; the signature lies beside it
	Key  minisig.Key
}

// Signed is a catalogue that a publisher has signed.
type Signed struct {
	Catalogue
	Publisher Publisher
	At        time.Time // when it was signed

	text, signature []byte
}

// maxCatalogue is far above any catalogue.
const maxCatalogue = 8 << 20

// Open fetches the publisher's catalogue and its signature. What is not signed by the
// publisher's key, or is older than what this store has taken from it before, is refused.
func (s Store) Open(ctx context.Context, p Publisher, m Mirror, c Client) (Signed, error) {
	signed, err := s.open(ctx, p, m, c)
	if err != nil {
		return signed, fmt.Errorf("publisher %s: %w", p.Name, err)
	}
	return signed, nil
}

func (s Store) open(ctx context.Context, p Publisher, m Mirror, c Client) (Signed, error) {
	signed := Signed{Publisher: p}
	address, err := p.address(m)
	if err != nil {
		return signed, err
	}
	if signed.text, err = c.read(ctx, address, maxCatalogue); err != nil {
		return signed, err
	}
	signed.signature, err = c.read(ctx, address+minisig.Suffix, maxCatalogue)
	var refused *Refused
	if errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusGone) {
		return signed, fmt.Errorf("its catalogue is not signed: there is no %s; the configuration pins the key %s, so nothing "+
			"of it is taken", refused.URL, p.Key.ID())
	}
	if err != nil {
		return signed, err
	}
	if signed.At, err = p.Key.Verify(signed.text, signed.signature); err != nil {
		return signed, fmt.Errorf("the signature of its catalogue is refused: %w; nothing of it is taken. If the publisher has "+
			"another key, have it confirmed on another way before you pin it", err)
	}
	if signed.Catalogue, err = Parse(signed.text); err != nil {
		return signed, err
	}
	return signed, s.notOlder(signed)
}

// address is the URL of the catalogue. A mirror has it in the folder of the publisher's
// name.
func (p Publisher) address(m Mirror) (string, error) {
	at, err := asURL(p.URL)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	dir, file := path.Split(u.Path)
	if file == "" || u.RawQuery != "" {
		return "", fmt.Errorf("%s does not end with the name of a file: want the URL of its catalogue", p.URL)
	}
	u.Path = strings.TrimSuffix(dir, "/")
	return m.root(p.Name, u.String()) + "/" + url.PathEscape(file), nil
}

// seenFile keeps when the newest catalogue was signed that was taken, by key.
const seenFile = ".publishers.json"

func (s Store) seen() (map[string]time.Time, error) {
	b, err := os.ReadFile(filepath.Join(s.dir(), seenFile))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]time.Time{}, nil
	}
	var seen map[string]time.Time
	if err == nil {
		err = json.Unmarshal(b, &seen)
	}
	if err != nil {
		return nil, fmt.Errorf("read what catalogues were taken: %w", err)
	}
	return seen, nil
}

// notOlder refuses a catalogue that was signed before one that was taken.
func (s Store) notOlder(c Signed) error {
	seen, err := s.seen()
	if err != nil {
		return err
	}
	if newest := seen[c.Publisher.Key.String()]; c.At.Before(newest) {
		return fmt.Errorf("its catalogue was signed at %s, and one that was signed at %s has been taken already: the server or "+
			"mirror gives an old one; nothing of it is taken", c.At.Format(time.RFC3339), newest.Format(time.RFC3339))
	}
	return nil
}

// take remembers a catalogue, so that no older one is taken after it. The caller holds
// the lock.
func (s Store) take(c Signed) error {
	if err := s.notOlder(c); err != nil { // another process may have taken one
		return err
	}
	seen, err := s.seen()
	if err != nil {
		return err
	}
	seen[c.Publisher.Key.String()] = c.At
	b, err := json.MarshalIndent(seen, "", "  ")
	if err != nil {
		return err
	}
	return disk.Replace(disk.OS(), filepath.Join(s.dir(), seenFile), append(b, '\n'))
}

// MirrorTo puts the catalogue and its signature into dir, laid out so that dir is a mirror.
func (c Signed) MirrorTo(dir string) error {
	u, err := url.Parse(c.Publisher.URL)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, c.Publisher.Name, path.Base(filepath.ToSlash(u.Path)))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return errors.Join(disk.Publish(to, c.text), disk.Publish(to+minisig.Suffix, c.signature))
}

// read fetches a file of at most limit bytes whose digest nobody knows.
func (c Client) read(ctx context.Context, address string, limit int64) ([]byte, error) {
	h := c.client()
	defer h.CloseIdleConnections()
	attempts, wait := cmp.Or(c.Attempts, 6), cmp.Or(c.Backoff, 500*time.Millisecond)
	for failed := 1; ; failed++ {
		b, err := c.readOnce(ctx, h, address, limit)
		var busy *busy
		var refused *Refused
		switch {
		case err == nil:
			return b, nil
		case ctx.Err() != nil, errors.As(err, &refused), errors.Is(err, errTooLarge), isPermanent(err):
			return nil, err
		case failed >= attempts:
			return nil, fmt.Errorf("gave up after %d attempts: %w", failed, err)
		case errors.As(err, &busy):
			wait = max(wait, min(busy.after, maxBackoff))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, maxBackoff)
	}
}

var errTooLarge = errors.New("the file is larger than a catalogue may be")

func (c Client) readOnce(ctx context.Context, h *http.Client, address string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute+cmp.Or(c.Stall, 30*time.Second))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if c.UserAgent != "" {
		r.Header.Set("User-Agent", c.UserAgent)
	}
	w, err := h.Do(r)
	if err != nil {
		return nil, err
	}
	defer w.Body.Close()
	switch {
	case w.StatusCode == http.StatusTooManyRequests || w.StatusCode == http.StatusRequestTimeout || w.StatusCode >= 500:
		return nil, fmt.Errorf("fetch %s: %w", r.URL.Redacted(), &busy{w.StatusCode, retryAfter(w.Header.Get("Retry-After"))})
	case w.StatusCode != http.StatusOK:
		return nil, &Refused{r.URL.Redacted(), w.StatusCode}
	}
	b, err := io.ReadAll(io.LimitReader(w.Body, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", r.URL.Redacted(), err)
	}
	return b, nil
}
