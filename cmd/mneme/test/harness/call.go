package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Answer is what a server said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// String gives status and body, which it clips.
func (a Answer) String() string {
	b := a.Body
	if len(b) > 500 {
		b = append(b[:500:500], "..."...)
	}
	return fmt.Sprintf("%d %s", a.Status, b)
}

// Ask makes one call of an API: with a key, unless it is "", and a body that is
// nil, bytes or a string as they are, or a value as JSON. Header comes in pairs.
// The error is the connection's.
func Ask(ctx context.Context, client *http.Client, method, url, key string, body any, header ...string) (Answer, error) {
	var in []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		in = b
	case string:
		in = []byte(b)
	default:
		var err error
		if in, err = json.Marshal(b); err != nil {
			return Answer{}, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(in))
	if err != nil {
		return Answer{}, err
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer a.Body.Close()
	out, err := io.ReadAll(a.Body)
	return Answer{a.StatusCode, a.Header, out}, err
}
