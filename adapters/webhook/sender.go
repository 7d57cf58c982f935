package webhook

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/span"
)

// Options configure a Sender.
type Options struct {
	// Private are networks that may be reached beside public addresses at ports 80 and 443, as
	// outbound.ParseNetwork reads them.
	Private   []string
	UserAgent string        // "": "mneme"
	Timeout   time.Duration // of an attempt; 0: 15 s
	Resolver  *net.Resolver // nil: the system's
	Now       func() time.Time
}

const (
	timeout = 15 * time.Second
	// maxAnswer is how much of an answer is read, shown how much of it is given back.
	maxAnswer, shown = 64 << 10, 512
)

// Sender is port.Sender over HTTP.
type Sender struct {
	client *outbound.Client
	now    func() time.Time
}

// New makes a Sender. Its error names a network that cannot be read.
func New(o Options) (*Sender, error) {
	client := outbound.Options{Timeout: o.Timeout, MaxBytes: maxAnswer, MaxRedirects: -1, UserAgent: o.UserAgent,
		Resolver: o.Resolver}
	if client.Timeout == 0 {
		client.Timeout = timeout
	}
	for _, text := range o.Private {
		n, err := outbound.ParseNetwork(text)
		if err != nil {
			return nil, err
		}
		client.Allowed = append(client.Allowed, n)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sender{outbound.New(client), o.Now}, nil
}

// Send implements port.Sender.
func (s *Sender) Send(ctx context.Context, m port.WebhookMessage) (port.WebhookAnswer, error) {
	signatures, err := sign(m)
	if err != nil {
		return port.WebhookAnswer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return port.WebhookAnswer{}, outbound.ErrURL
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(standard.HeaderWebhookID, m.ID)
	r.Header.Set(standard.HeaderWebhookTimestamp, strconv.FormatInt(m.At.Unix(), 10))
	r.Header.Set(standard.HeaderWebhookSignature, signatures)
	span.Propagate(ctx, r.Header.Set)
	answer, err := s.client.Do(r)
	if errors.Is(err, outbound.ErrTooLarge) {
		// It announces more than is read. What it answered is not known then, and no receiver
		// needs so many words.
		return port.WebhookAnswer{}, errors.New("its answer is too large")
	}
	if err != nil {
		return port.WebhookAnswer{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	out := port.WebhookAnswer{Status: answer.StatusCode}
	text, err := io.ReadAll(io.LimitReader(answer.Body, shown))
	out.Text = strings.ToValidUTF8(strings.ReplaceAll(string(text), "\x00", ""), "")
	if err == nil {
		// The rest, up to the bound, so that the connection can be used again.
		_, err = io.Copy(io.Discard, answer.Body)
	}
	switch {
	case err != nil && !errors.Is(err, outbound.ErrTooLarge):
		return out, err
	case answer.StatusCode/100 == 2:
		return out, nil
	case answer.StatusCode/100 == 3:
		return out, fmt.Errorf("it redirects with status %d, which is not followed", answer.StatusCode)
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		out.RetryAfter = retryAfter(answer.Header.Get("Retry-After"), s.now())
	}
	return out, fmt.Errorf("it answers with status %d", answer.StatusCode)
}

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

const (
	sharedPrefix  = "whsec_"
	privatePrefix = "whsk_"
)

// sign makes the header of the signatures, one for each secret.
func sign(m port.WebhookMessage) (string, error) {
	if len(m.Secrets) == 0 {
		return "", errors.New("there is no secret to sign it with")
	}
	all := make([]string, len(m.Secrets))
	for i, secret := range m.Secrets {
		var err error
		if encoded, ok := strings.CutPrefix(secret, privatePrefix); ok {
			all[i], err = signAsymmetric(encoded, m)
		} else if !strings.HasPrefix(secret, sharedPrefix) {
			err = errors.New("its prefix is unknown")
		} else {
			var hook *standard.Webhook
			if hook, err = standard.NewWebhook(secret); err == nil {
				all[i], err = hook.Sign(m.ID, m.At, m.Body)
			}
		}
		if err != nil {
			return "", errors.New("its secret is damaged") // the cause may hold a part of it
		}
	}
	return strings.Join(all, " "), nil
}

func signAsymmetric(encoded string, m port.WebhookMessage) (string, error) {
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) != ed25519.PrivateKeySize {
		return "", errors.New("it is no private key")
	}
	text := append(fmt.Appendf(nil, "%s.%d.", m.ID, m.At.Unix()), m.Body...)
	return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(key, text)), nil
}

var _ port.Sender = (*Sender)(nil)
