package oidc

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/outbound"
)

// In plain only this machine is asked, and only where the issuer is itself in plain.
func TestTransportAsksInPlainHereAlone(t *testing.T) {
	client := outbound.New(outbound.Options{Anywhere: true, Timeout: timeout, MaxBytes: maxBytes, MaxRedirects: -1})
	for _, c := range []struct {
		plain bool
		url   string
		asks  bool
	}{
		{true, "http://127.0.0.1:1/", true}, {true, "http://localhost:1/", true}, {true, "https://127.0.0.1:1/", true},
		{false, "https://127.0.0.1:1/", true}, {false, "http://127.0.0.1:1/", false}, {true, "http://192.0.2.1:1/", false},
		{true, "ftp://192.0.2.1:1/", false},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport{client, c.plain}.RoundTrip(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		if err == nil || strings.Contains(err.Error(), "names an address that is not https") == c.asks {
			t.Errorf("%s where the issuer is in plain %v: %v", c.url, c.plain, err)
		}
	}
}
