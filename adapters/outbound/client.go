package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Options bound a client. A field left zero has the default.
type Options struct {
	// Allowed are networks that may be reached beside the public addresses at ports 80
	// and 443. Without them nothing private can be, this machine included.
	Allowed []Network
	// Anywhere allows every address and port.
	Anywhere bool

	Timeout      time.Duration // 30 s: a whole exchange, from the name to the last byte
	MaxBytes     int64         // 64 MiB: of an answer, after decompression
	MaxRedirects int           // 5; below 0: none, the answer that redirects is given back
	UserAgent    string        // "mneme": of a request that names none
	Resolver     *net.Resolver // nil: the system's
}

// Bounds that no caller needs to choose.
const (
	maxHeaderBytes = 64 << 10
	maxIdle        = 16 // connections kept in all
	timeout        = 30 * time.Second
)

// What a request failed for. The texts say no more than the one who named the URL may
// know: neither an address nor what answered there. The cause is wrapped beside it; that of
// ErrPort is ErrNotPublic, the refusal of an address with its port.
var (
	ErrURL         = errors.New("its URL is not an absolute http or https URL without a user")
	ErrNotPublic   = errors.New("its address is not a public one")
	ErrPort        = errors.New("its port is not allowed at its address, and the server's configuration can allow it")
	ErrTimeout     = errors.New("its server does not answer in time")
	ErrTooLarge    = errors.New("it is too large")
	ErrRedirects   = errors.New("its server redirects too often")
	ErrCertificate = errors.New("its server has no certificate that is trusted")
	ErrUnreachable = errors.New("its server cannot be reached")
)

// Client makes requests to URLs from outside. Addresses are checked when it connects,
// so that a name cannot change in between, and for each redirect again; a proxy that the
// environment names is passed over, since it would connect where the client must not.
// Safe for concurrent use.
type Client struct {
	http      *http.Client
	maxBytes  int64
	userAgent string
}

// New makes a client.
func New(o Options) *Client {
	limit := cmp.Or(o.Timeout, timeout)
	dialer := &net.Dialer{Timeout: limit, Resolver: o.Resolver}
	if !o.Anywhere {
		dialer.Control = newGuard(o.Allowed).check
	}
	redirects := cmp.Or(o.MaxRedirects, 5)
	return &Client{
		maxBytes:  cmp.Or(o.MaxBytes, 64<<20),
		userAgent: cmp.Or(o.UserAgent, "mneme"),
		http: &http.Client{
			Timeout:       limit,
			CheckRedirect: func(r *http.Request, via []*http.Request) error { return redirect(r, via, redirects) },
			Transport: &http.Transport{
				DialContext:            dialer.DialContext,
				TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
				MaxResponseHeaderBytes: maxHeaderBytes,
				MaxIdleConns:           maxIdle,
				MaxIdleConnsPerHost:    1,
				IdleConnTimeout:        timeout,
				ForceAttemptHTTP2:      true,
			},
		},
	}
}

// Do makes a request, as http.Client.Do does: the caller closes the body. Every error,
// of it and of reading the body, is one of this package's or that of the request's
// context.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	if err := checkURL(r.URL); err != nil {
		return nil, err
	}
	if r.Header.Get("User-Agent") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", c.userAgent)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, explain(r.Context(), err)
	}
	if answer.ContentLength > c.maxBytes {
		_ = answer.Body.Close()
		cause := fmt.Errorf("%d bytes are announced, at most %d are read", answer.ContentLength, c.maxBytes)
		return nil, &failure{ErrTooLarge, cause}
	}
	answer.Body = &body{ctx: r.Context(), from: answer.Body, left: c.maxBytes}
	return answer, nil
}

// CheckURL refuses, with ErrURL, what could never be requested. That a URL passes says
// nothing of where it leads: only the connection itself shows that.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return &failure{ErrURL, errors.New("it cannot be parsed")}
	}
	return checkURL(u)
}

func checkURL(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return ErrURL
	}
	return nil
}

// redirect decides whether a redirect is followed, and takes from the request what is
// meant for the first host alone.
func redirect(r *http.Request, via []*http.Request, most int) error {
	if most < 0 {
		return http.ErrUseLastResponse
	}
	if len(via) > most {
		return ErrRedirects
	}
	if err := checkURL(r.URL); err != nil {
		return err
	}
	r.Header.Del("Referer") // a URL may hold a secret
	first := via[0].URL
	if r.URL.Host == first.Host && r.URL.Scheme == first.Scheme {
		return nil
	}
	kept := http.Header{}
	for _, name := range []string{"Accept", "Accept-Language", "User-Agent"} {
		if v, ok := r.Header[name]; ok {
			kept[name] = v
		}
	}
	r.Header = kept
	return nil
}

// failure is an error that says the one thing and wraps the other.
type failure struct{ says, cause error }

func (f *failure) Error() string   { return f.says.Error() }
func (f *failure) Unwrap() []error { return []error{f.says, f.cause} }

// explain finds what a failed request failed for.
func explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, known := range []error{ErrURL, ErrPort, ErrNotPublic, ErrRedirects} {
		if errors.Is(err, known) {
			return &failure{known, err}
		}
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &failure{ErrTimeout, err}
	}
	var untrusted *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &untrusted) || errors.As(err, &unknown) {
		return &failure{ErrCertificate, err}
	}
	return &failure{ErrUnreachable, err}
}

// body is an answer's body, of which no more than its share is read.
type body struct {
	ctx  context.Context
	from io.ReadCloser
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p[:min(int64(len(p)), b.left+1)]) // one more tells whether there is more
	if int64(n) > b.left {
		n = int(b.left)
		b.left = 0
		return n, ErrTooLarge
	}
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = explain(b.ctx, err)
	}
	return n, err
}

func (b *body) Close() error { return b.from.Close() }
