package webhooktest

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Message is a message that came.
type Message struct {
	ID, Body string
	Header   http.Header
}

// Receiver is a server that takes webhooks. Its fields are safe to change through its methods.
type Receiver struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	secrets  []string
	got      []Message
	refused  int
	answer   http.Handler // nil: 204
	fails    func(Message) bool
	now, max int
}

// New starts a receiver that takes what one of the secrets verifies: whsec_ ones, and whpk_ public keys.
func New(t testing.TB, secrets ...string) *Receiver {
	t.Helper()
	r := &Receiver{t: t, secrets: secrets}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// Network is the receiver's address as a configuration allows it.
func (r *Receiver) Network() string { return r.Listener.Addr().String() }

// Know replaces the secrets.
func (r *Receiver) Know(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = secrets
}

// Answer has a handler answer what was verified; nil: 204. What it answers does not count as taken.
func (r *Receiver) Answer(h http.Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = h
}

// Fail has messages be answered with 500, and not be taken, that fn says so of; nil: none.
func (r *Receiver) Fail(fn func(Message) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = fn
}

// Taken are the messages that were verified and taken, in their order.
func (r *Receiver) Taken() []Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Message{}, r.got...)
}

// Refused counts messages that no secret verified.
func (r *Receiver) Refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// AtOnce is how many messages it ever had in hand at the same time.
func (r *Receiver) AtOnce() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.max
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	m := Message{q.Header.Get(standard.HeaderWebhookID), string(body), q.Header.Clone()}
	r.mu.Lock()
	secrets, answer, fails := r.secrets, r.answer, r.fails
	r.now++
	r.max = max(r.max, r.now)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.now--
	}()
	if err := Verify(m, secrets...); err != nil {
		r.mu.Lock()
		r.refused++
		r.mu.Unlock()
		r.t.Logf("a message is refused: %v", err)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch {
	case answer != nil:
		answer.ServeHTTP(w, q)
	case fails != nil && fails(m):
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "not now")
	default:
		r.mu.Lock()
		r.got = append(r.got, m)
		r.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}
}

// Verify says why none of the secrets verifies a message.
func Verify(m Message, secrets ...string) (err error) {
	err = fmt.Errorf("no secret is known")
	for _, s := range secrets {
		if key, ok := strings.CutPrefix(s, "whpk_"); ok {
			err = verifyAsymmetric(m, key)
		} else {
			var hook *standard.Webhook
			if hook, err = standard.NewWebhook(s); err == nil {
				err = hook.Verify([]byte(m.Body), m.Header)
			}
		}
		if err == nil {
			return nil
		}
	}
	return err
}

func verifyAsymmetric(m Message, encoded string) error {
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return fmt.Errorf("the public key has %d bytes: %w", len(key), err)
	}
	text := m.ID + "." + m.Header.Get(standard.HeaderWebhookTimestamp) + "." + m.Body
	for one := range strings.SplitSeq(m.Header.Get(standard.HeaderWebhookSignature), " ") {
		signature, ok := strings.CutPrefix(one, "v1a,")
		raw, err := base64.StdEncoding.DecodeString(signature)
		if ok && err == nil && ed25519.Verify(key, []byte(text), raw) {
			return nil
		}
	}
	return standard.ErrNoMatchingSignature
}
