package mneme

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the time of a delivery may lie from now.
const Tolerance = 5 * time.Minute

// longestDelivery is more than the server sends.
const longestDelivery = 1 << 20

// VerifyWebhook returns the event of a delivery, if it is signed with the secret and of now, as Standard Webhooks 1.0
// says; otherwise an error that is ErrVerification. The body is as it came. The secret is what the API showed once:
// whsec_..., or whpk_..., the public key of signatures with ed25519.
func VerifyWebhook(body []byte, header http.Header, secret string) (*Event, error) {
	return verify(body, header, secret, time.Now())
}

// VerifyWebhookRequest reads a delivery and verifies it.
func VerifyWebhookRequest(r *http.Request, secret string) (*Event, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, longestDelivery))
	if err != nil {
		return nil, err
	}
	return VerifyWebhook(body, r.Header, secret)
}

func verify(body []byte, header http.Header, secret string, now time.Time) (*Event, error) {
	id, at := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || id == "" {
		return nil, fmt.Errorf("%w: headers are missing", ErrVerification)
	}
	if off := now.Sub(time.Unix(seconds, 0)).Abs(); off > Tolerance {
		return nil, fmt.Errorf("%w: its time is %s from now", ErrVerification, off)
	}
	encoded, asymmetric := strings.CutPrefix(secret, "whpk_")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(encoded, "whsec_"))
	if err != nil || len(key) == 0 || asymmetric && len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: the secret is not one of a webhook", ErrVerification)
	}
	signed := append([]byte(id+"."+at+"."), body...)
	for one := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		version, text, _ := strings.Cut(one, ",")
		signature, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			continue
		}
		if version == "v1a" && asymmetric && ed25519.Verify(key, signed, signature) ||
			version == "v1" && !asymmetric && hmac.Equal(mac(key, signed), signature) {
			event := &Event{}
			if err := json.Unmarshal(body, event); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrVerification, err)
			}
			event.Id = id
			return event, nil
		}
	}
	return nil, fmt.Errorf("%w: no signature is of this secret", ErrVerification)
}

func mac(key, signed []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(signed)
	return m.Sum(nil)
}
