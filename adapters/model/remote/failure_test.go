package remote

import (
	"net/http"
	"testing"
	"time"
)

func TestMessage(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"openai","code":1}}`:     "openai",
		`{"error":"ollama and tei","error_type":"x"}`: "ollama and tei", `{"id":"1","message":"cohere"}`: "cohere",
		`{"detail":"jina and voyage"}`: "jina and voyage", `{"detail":[{"msg":"fastapi"}]}`: `[{"msg":"fastapi"}]`,
		`<html>`: "<html>", ``: "", `{}`: "{}", `{"error":""}`: `""`,
	} {
		if got := message([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// FuzzMessage sees that no body of an error is too odd to be told.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m"}}`, `{"error":"m"}`, `{"detail":[1]}`, `[`, `null`,
		`{"error":null,"message":"m"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(_ *testing.T, body []byte) { _ = message(body) })
}

func TestRetryAfter(t *testing.T) {
	in := func(v string) time.Duration { return retryAfter(http.Header{"Retry-After": {v}}) }
	for v, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, " 1.5 ": 1500 * time.Millisecond,
		"-3": 0, "NaN": 0, "1e300": 0, "soon": 0, "Thu, 01 Jan 1970 00:00:00 GMT": 0} {
		if got := in(v); got != want {
			t.Errorf("%q: %s, want %s", v, got, want)
		}
	}
	if got := in(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)); got < 59*time.Minute || got > time.Hour {
		t.Errorf("a date in an hour: %s", got)
	}
}
