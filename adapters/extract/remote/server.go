package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Extractor is a server that reads files.
type Extractor struct {
	config  Config
	limits  extract.Limits
	formats []port.Format
	base    string
	client  *http.Client
	log     *slog.Logger
	// exchange sends a file and reads the answer.
	exchange func(ctx context.Context, f port.File) (port.Extracted, error)
}

const connectTimeout = 5 * time.Second

// open makes an extractor. Nothing is sent before the first file, so a server that is
// down keeps nobody from starting.
func open(c Config, l extract.Limits, log *slog.Logger) (*Extractor, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	return &Extractor{
		config: c, limits: l, formats: c.formats(), base: strings.TrimRight(c.URL, "/"), log: log.With("extractor", c.URL),
		// The address is the operator's own, so that the guard against what strangers name is not for it,
		// and the environment's proxy is.
		client: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout,
				MaxIdleConnsPerHost: c.Concurrency, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Formats implements port.Extractor.
func (e *Extractor) Formats() []port.Format { return slices.Clone(e.formats) }

// Elsewhere implements extract.Elsewhere.
func (e *Extractor) Elsewhere() (time.Duration, int) { return e.config.Timeout, e.config.Concurrency }

// Close gives idle connections back.
func (e *Extractor) Close(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// Extract implements port.Extractor.
func (e *Extractor) Extract(ctx context.Context, f port.File) (port.Extracted, error) {
	if err := ctx.Err(); err != nil {
		return port.Extracted{}, err
	}
	i := slices.IndexFunc(e.formats, func(known port.Format) bool { return known.MediaType == f.MediaType })
	if i < 0 {
		return port.Extracted{}, port.FileErrorf(port.FileUnsupported, nil,
			"is of the kind %s, which is not sent elsewhere", f.MediaType)
	}
	limited, cancel := context.WithTimeout(ctx, e.config.Timeout)
	defer cancel()
	out, err := e.exchange(limited, f)
	switch {
	case ctx.Err() != nil && err != nil:
		return port.Extracted{}, ctx.Err()
	case limited.Err() != nil && err != nil:
		return port.Extracted{}, port.FileErrorf(port.FileTimeout, err, "took longer than %s to read", e.config.Timeout)
	case err != nil:
		return port.Extracted{}, err
	}
	out.Format = e.formats[i]
	return out, nil
}

// post sends a request and decodes the answer, which is JSON, into out.
func (e *Extractor) post(r *http.Request, out any) error {
	for name, values := range e.config.header() {
		r.Header[name] = values
	}
	r.Header.Set("Accept", "application/json")
	answer, err := e.client.Do(r)
	if err != nil {
		return e.failed(err, "cannot be reached")
	}
	defer func() { _ = answer.Body.Close() }() // what of it is not read is not wanted
	if answer.StatusCode != http.StatusOK {
		return e.refused(answer)
	}
	// Text is wrapped into markup and escaped.
	most := 4 * e.limits.Text
	body, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	switch {
	case err != nil:
		return e.failed(err, "broke off its answer")
	case len(body) > most:
		return port.FileErrorf(port.FileTooLarge, nil, "makes more than %d bytes of text with markup", most)
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(out); err != nil {
		return e.failed(err, "answered nonsense")
	}
	return nil
}

// failed is the fault of a server that did not answer as it should.
func (e *Extractor) failed(err error, what string) error {
	return fault.Wrap(fault.Upstream, "read a file elsewhere", err, "the server that reads files of this kind %s", what)
}

// refused says what a status means: that of the file, or else of the server.
func (e *Extractor) refused(answer *http.Response) error {
	detail, _ := io.ReadAll(io.LimitReader(answer.Body, 1000)) // for the log alone
	cause := fmt.Errorf("status %d: %s", answer.StatusCode, bytes.TrimSpace(detail))
	switch answer.StatusCode {
	case http.StatusNoContent:
		return noText()
	case http.StatusRequestEntityTooLarge:
		return port.FileErrorf(port.FileTooLarge, cause, "is larger than the server takes that reads files of this kind")
	case http.StatusUnsupportedMediaType:
		return port.FileErrorf(port.FileUnsupported, cause, "is not read by the server for files of this kind")
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return broken(cause)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		after := time.Second
		if s, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && s > 0 && s <= 3600 {
			after = time.Duration(s) * time.Second
		}
		return fault.Wrap(fault.Unavailable, "read a file elsewhere", cause,
			"the server that reads files of this kind is busy").After(after)
	}
	e.log.Warn("extractor refused a file", "status", answer.StatusCode)
	return e.failed(cause, "refused it")
}

func noText() error { return port.FileErrorf(port.FileNoText, nil, "holds no text") }

func broken(cause error) error {
	return port.FileErrorf(port.FileBroken, cause, "could not be read by the server for files of this kind")
}

// contains finds a word in what a server says.
func contains(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(s), w) })
}

var errNoAnswer = errors.New("the answer is empty")

var (
	_ port.Extractor    = (*Extractor)(nil)
	_ extract.Elsewhere = (*Extractor)(nil)
)
