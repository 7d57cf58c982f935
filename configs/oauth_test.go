package configs_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/configs"
)

// The front is off unless asked for, and only serves where keys travel safely.
func TestOAuthNeedsASafeOrigin(t *testing.T) {
	if configs.Default(testRegistry()).OAuth.Enabled {
		t.Error("on by default")
	}
	for base, why := range map[string]string{
		"":                          "needs server.base_url",
		"http://mneme.example.com":  "https",
		"http://10.1.2.3":           "https",
		"https://mneme.example/x":   "without a path",
		"https://u@mneme.example":   "without a path",
		"https://mneme.example.com": "",
		"https://mneme.example/":    "",
		"http://127.0.0.1:8080":     "",
		"http://[::1]:8080":         "",
		"http://localhost:8080":     "",
	} {
		_, err := load(t, "oauth: {enabled: true}\nserver: {base_url: \""+base+"\"}\n", nil)
		if why == "" && err != nil || why != "" &&
			(err == nil || !strings.Contains(err.Error(), "oauth.enabled: needs") || !strings.Contains(err.Error(), why)) {
			t.Errorf("%q: %v, want %q", base, err, why)
		}
	}
}
