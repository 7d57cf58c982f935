package pull

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/mnemehq/mneme/adapters/disk"
)

// Client fetches files. The zero value uses the proxies that the environment names
// (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).
type Client struct {
	UserAgent string
	Stall     time.Duration // without a byte after which a connection is given up; 0: 30 s
	Backoff   time.Duration // before the second attempt, doubling; 0: 500 ms
	Attempts  int           // that bring nothing, in a row, before it gives up; 0: 6
	TLS       *tls.Config   // nil: the system's certificates
	Log       *slog.Logger  // nil: none
}

// Refused is the error of a server that will not give the file, so that asking
// again is no use.
type Refused struct {
	URL    string // without user and password
	Status int
}

func (e *Refused) Error() string {
	why := fmt.Sprintf("%s answers %d %s", e.URL, e.Status, http.StatusText(e.Status))
	switch e.Status {
	case http.StatusNotFound, http.StatusGone:
		why += "; is the mirror complete?"
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		why += "; it wants other credentials"
	}
	return why
}

// DiskFull is the error of a folder without room.
type DiskFull struct {
	Dir        string
	Need, Free int64 // bytes; 0: not known, a write failed
}

func (e *DiskFull) Error() string {
	if e.Need == 0 {
		return "no space is left in " + e.Dir
	}
	return fmt.Sprintf("%s has %.1f MB free and this takes %.1f MB", e.Dir, float64(e.Free)/1e6, float64(e.Need)/1e6)
}

const maxBackoff = 30 * time.Second

// state is kept beside a part, so that a later run goes on with it.
type state struct {
	URL       string `json:"url"`
	Validator string `json:"validator"` // a strong ETag, else Last-Modified; "": none was given
}

// Fetch downloads the file at address to the path to. Until it is whole it lies at
// to.part, from which another call continues. The file at to has the given size in
// bytes and SHA-256. done gets the number of bytes that are here so far.
func (c Client) Fetch(ctx context.Context, address, sum string, size int64, to string, done func(int64)) error {
	if n, err := fileSize(to); err == nil && n == size {
		if got, err := fileSHA256(to); err == nil && got == strings.ToLower(sum) {
			done(size)
			return nil
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	f := &fetch{
		c:          c,
		url:        address,
		displayURL: u.Redacted(),
		sum:        strings.ToLower(sum),
		size:       size,
		part:       to + ".part",
		done:       done,
		http:       c.client(),
	}
	defer f.http.CloseIdleConnections()
	if err := f.run(ctx); err != nil {
		return fmt.Errorf("fetch %s: %w", f.displayURL, err)
	}
	if err := disk.OS().Rename(f.part, to); err != nil {
		return fmt.Errorf("fetch %s: %w", f.displayURL, err)
	}
	_ = disk.OS().Remove(f.part + ".json") // left over, it is of a part that is not there
	return disk.OS().SyncDir(filepath.Dir(to))
}

func (c Client) client() *http.Client {
	proxy := httpproxy.FromEnvironment().ProxyFunc()
	t := &http.Transport{
		Proxy:                 func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: cmp.Or(c.Stall, 30*time.Second),
		TLSClientConfig:       c.TLS,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // ranges count the bytes of the stored file
	}
	t.RegisterProtocol("file", http.NewFileTransport(files()))
	return &http.Client{Transport: t, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return errors.New("more than 10 redirects")
		}
		if first := via[0].URL.Scheme; r.URL.Scheme != first && r.URL.Scheme != "https" {
			return fmt.Errorf("a redirect from %s to %s", first, r.URL.Redacted())
		}
		return nil
	}}
}

// fetch is a call of Fetch in progress.
type fetch struct {
	c                          Client
	http                       *http.Client
	url, displayURL, sum, part string
	size                       int64
	done                       func(int64)
}

// run attempts until the part is whole and right. An attempt that brought bytes
// does not count as a failure: a connection that breaks every megabyte gets there.
func (f *fetch) run(ctx context.Context) error {
	limit, wait := cmp.Or(f.c.Attempts, 6), cmp.Or(f.c.Backoff, 500*time.Millisecond)
	fresh := false // the part was made by this run from its first byte
	for failed := 0; ; {
		before, _ := fileSize(f.part)
		fresh = fresh || before == 0
		err := f.attempt(ctx)
		if err == nil {
			got, err := fileSHA256(f.part)
			if err != nil || got == f.sum {
				return err
			}
			// What an earlier run left may be of another file; what this one fetched
			// whole is what the server has.
			if err := f.discard(); err != nil {
				return err
			}
			if fresh {
				return fmt.Errorf("the file has sha256 %s, the catalogue says %s; it was thrown away", got, f.sum)
			}
			f.log().Info("download restarted")
			continue
		}
		var refused *Refused
		var full *DiskFull
		if ctx.Err() != nil || errors.As(err, &refused) || errors.As(err, &full) || isPermanent(err) {
			return err
		}
		if after, _ := fileSize(f.part); after > before {
			failed = 0
		}
		if failed++; failed >= limit {
			return fmt.Errorf("gave up after %d attempts: %w", failed, err)
		}
		pause := min(wait<<(failed-1), maxBackoff)
		pause = pause/2 + rand.N(pause/2+1)
		var busy *busy
		if errors.As(err, &busy) {
			pause = max(pause, min(busy.after, 2*time.Minute))
		}
		f.log().Info("download attempt failed", "error", err, "retry_in", pause)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (f *fetch) log() *slog.Logger {
	if f.c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return f.c.Log.With("url", f.displayURL)
}

// busy is the error of a server that asks to come again.
type busy struct {
	status int
	after  time.Duration
}

func (e *busy) Error() string {
	return fmt.Sprintf("the server answers %d %s", e.status, http.StatusText(e.status))
}

// isPermanent reports whether an error of the connection will be the same next time.
func isPermanent(err error) bool {
	var unknown *tls.CertificateVerificationError
	var dns *net.DNSError
	return errors.As(err, &unknown) || errors.As(err, &dns) && dns.IsNotFound ||
		strings.Contains(err.Error(), "redirect") || strings.Contains(err.Error(), "unsupported protocol")
}

func (f *fetch) discard() error {
	_ = os.Remove(f.part + ".json") // left over, it is of a part that is not there
	if err := disk.OS().Remove(f.part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// attempt asks for what is missing and appends it; nil when the part has its size.
func (f *fetch) attempt(ctx context.Context) error {
	have, _ := fileSize(f.part)
	if have > f.size {
		if err := f.discard(); err != nil {
			return err
		}
		have = 0
	}
	f.done(have)
	if have == f.size {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return err
	}
	if f.c.UserAgent != "" {
		r.Header.Set("User-Agent", f.c.UserAgent)
	}
	if have > 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		// The file that the server has now must be the one that the part is of
		// (RFC 9110, 13.1.5); without a validator the sum tells in the end.
		if s := f.load(); s.URL == f.url && s.Validator != "" {
			r.Header.Set("If-Range", s.Validator)
		}
	}
	w, err := f.http.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	switch {
	case w.StatusCode == http.StatusPartialContent && have > 0:
		start, total, ok := contentRange(w.Header.Get("Content-Range"))
		if !ok || start != have || total >= 0 && total != f.size {
			return errors.Join(fmt.Errorf("asked from byte %d, the server gives %q", have, w.Header.Get("Content-Range")),
				f.discard())
		}
	case w.StatusCode == http.StatusOK:
		if w.ContentLength >= 0 && w.ContentLength != f.size {
			return fmt.Errorf("the file has %d bytes, the catalogue says %d", w.ContentLength, f.size)
		}
		have = 0 // no ranges here, or another file than before
	case w.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(errors.New("the server has less than what is here"), f.discard())
	case w.StatusCode == http.StatusTooManyRequests || w.StatusCode == http.StatusRequestTimeout || w.StatusCode >= 500:
		return &busy{w.StatusCode, retryAfter(w.Header.Get("Retry-After"))}
	default:
		return &Refused{f.displayURL, w.StatusCode}
	}
	if err := f.save(state{f.url, validator(w.Header)}); err != nil {
		return err
	}
	return f.copy(ctx, cancel, w.Body, have)
}

var errStalled = errors.New("the server sends nothing")

// copy appends the body to the part from byte have on.
func (f *fetch) copy(ctx context.Context, cancel context.CancelCauseFunc, body io.Reader, have int64) error {
	out, err := os.OpenFile(f.part, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return f.writeError(err)
	}
	err = func() error {
		if err := out.Truncate(have); err != nil {
			return f.writeError(err)
		}
		if _, err := out.Seek(have, io.SeekStart); err != nil {
			return err
		}
		stall := cmp.Or(f.c.Stall, 30*time.Second)
		watch := time.AfterFunc(stall, func() { cancel(errStalled) })
		defer watch.Stop()
		buffer := make([]byte, 128<<10)
		for {
			n, err := body.Read(buffer)
			watch.Reset(stall)
			n = min(n, int(f.size-have)) // what follows is not of the file; the sum tells
			if _, err := out.Write(buffer[:n]); err != nil {
				return f.writeError(err)
			}
			have += int64(n)
			f.done(have)
			if errors.Is(err, io.EOF) || err == nil && have == f.size {
				break
			}
			if err != nil {
				if cause := context.Cause(ctx); cause != nil {
					return cause
				}
				return err
			}
		}
		if have < f.size {
			return fmt.Errorf("the connection ended after %d of %d bytes: %w", have, f.size, io.ErrUnexpectedEOF)
		}
		return f.writeError(out.Sync())
	}()
	return errors.Join(err, out.Close())
}

// writeError tells a full disk from other failures to write.
func (f *fetch) writeError(err error) error {
	if disk.Full(err) {
		return &DiskFull{Dir: filepath.Dir(f.part)}
	}
	return err
}

func (f *fetch) load() (s state) {
	b, err := os.ReadFile(f.part + ".json")
	if err != nil || json.Unmarshal(b, &s) != nil {
		return state{}
	}
	return s
}

func (f *fetch) save(s state) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return f.writeError(os.WriteFile(f.part+".json", b, 0o600))
}

// validator is what If-Range may carry: a weak ETag does not tell equal bytes.
func validator(h http.Header) string {
	if e := h.Get("ETag"); e != "" && !strings.HasPrefix(e, "W/") {
		return e
	}
	return h.Get("Last-Modified")
}

// contentRange reads "bytes 5-9/10"; total is -1 where it is not known.
func contentRange(s string) (start, total int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	if !ok {
		return 0, 0, false
	}
	span, whole, ok := strings.Cut(s, "/")
	first, _, also := strings.Cut(span, "-")
	start, err := strconv.ParseInt(first, 10, 64)
	if !ok || !also || err != nil {
		return 0, 0, false
	}
	if whole == "*" {
		return start, -1, true
	}
	total, err = strconv.ParseInt(whole, 10, 64)
	return start, total, err == nil
}

// retryAfter reads seconds or a date.
func retryAfter(s string) time.Duration {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

func fileSize(file string) (int64, error) {
	s, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return s.Size(), nil
}

func fileSHA256(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
