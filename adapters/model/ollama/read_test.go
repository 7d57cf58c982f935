package ollama

import (
	"strings"
	"testing"
)

// Whatever a server streams, an answer is bounded and an end without done is refused.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"message":{"role":"assistant","content":"In Lyon [1]."},"done":false}` + "\n" +
		`{"done":true,"eval_count":4}`, `{"done":true}`, `{"error":"x"}`, "", "\n\n{",
		`{"message":{"content":"NONE."},"done":true}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := readStream(strings.NewReader(string(body)), 8)
		if err == nil && (len(got.Text) > 8*32 || !strings.Contains(strings.ToLower(string(body)), "done")) {
			t.Errorf("%q: %+v", body, got)
		}
	})
}
