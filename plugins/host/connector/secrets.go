package connector

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// A text with fewer bytes than this is in too many others to be a secret.
	leastSecret = 6
	// leastToken are the bytes from which a secret in what is listed is no accident.
	leastToken = 16
	// heldFor is how long a secret is still known after its call: log lines come late.
	heldFor = time.Minute

	secretMark = "[secret]"
)

// secrets are those of the connections that are in use, to be taken out of what a program
// writes.
type secrets struct {
	mu       sync.Mutex
	held     map[string]int
	replacer *strings.Replacer // nil: to be made
}

func newSecrets() *secrets { return &secrets{held: map[string]int{}} }

// hold takes note of secrets, until a while after release is called.
func (s *secrets) hold(values map[string]string) (release func()) {
	var all []string
	s.mu.Lock()
	for _, v := range values {
		if len(v) >= leastSecret {
			all = append(all, v)
			s.held[v]++
			s.replacer = nil
		}
	}
	s.mu.Unlock()
	if len(all) == 0 {
		return func() {}
	}
	return func() {
		time.AfterFunc(heldFor, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, v := range all {
				if s.held[v]--; s.held[v] == 0 {
					delete(s.held, v)
					s.replacer = nil
				}
			}
		})
	}
}

// redact takes secrets out of a text, as they are and as they stand in URLs and in JSON.
func (s *secrets) redact(text string) string {
	s.mu.Lock()
	if s.replacer == nil {
		var forms []string
		for v := range s.held {
			forms = append(forms, v, url.QueryEscape(v), url.PathEscape(v))
			if quoted, err := json.Marshal(v); err == nil {
				forms = append(forms, string(quoted[1:len(quoted)-1]))
			}
		}
		// A secret that begins as another one does is looked for first.
		slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
		var pairs []string
		for _, f := range slices.Compact(forms) {
			pairs = append(pairs, f, secretMark)
		}
		s.replacer = strings.NewReplacer(pairs...)
	}
	r := s.replacer
	s.mu.Unlock()
	return r.Replace(text)
}

// within reports whether a text holds a secret that is long enough not to be there by chance.
func (s *secrets) within(text string) bool {
	if len(text) < leastToken {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.held {
		if len(v) >= leastToken && strings.Contains(text, v) {
			return true
		}
	}
	return false
}
