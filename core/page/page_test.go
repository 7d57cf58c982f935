package page_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/page"
)

func TestCursorIsBoundToItsList(t *testing.T) {
	s := page.NewSigner([]byte("0123456789abcdef"))
	c := s.Seal("last", "org", "documents", "ns")
	var at string
	if err := s.Open(c, &at, "org", "documents", "ns"); err != nil || at != "last" {
		t.Fatalf("got %q, %v", at, err)
	}
	for name, err := range map[string]error{
		"other tenant": s.Open(c, &at, "org2", "documents", "ns"),
		"joined parts": s.Open(c, &at, "orgdocuments", "ns"),
		"other key":    page.NewSigner([]byte("fedcba9876543210")).Open(c, &at, "org", "documents", "ns"),
		"cut":          s.Open(c[:len(c)-2], &at, "org", "documents", "ns"),
		"line break":   s.Open(c[:4]+"\n"+c[4:], &at, "org", "documents", "ns"),
		"other bits":   s.Open(respelt(t, c), &at, "org", "documents", "ns"),
		"garbage":      s.Open("%%%", &at, "org", "documents", "ns"),
	} {
		if fault.CodeOf(err) != fault.InvalidCursor {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// respelt changes the bits of the last character that carry nothing.
func respelt(t *testing.T, c string) string {
	t.Helper()
	want, err := base64.RawURLEncoding.DecodeString(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, last := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		other := c[:len(c)-1] + string(last)
		if got, err := base64.RawURLEncoding.DecodeString(other); err == nil && other != c && bytes.Equal(got, want) {
			return other
		}
	}
	t.Fatalf("cursor %q has no other spelling", c)
	return ""
}

func FuzzOpen(f *testing.F) {
	s := page.NewSigner([]byte("0123456789abcdef"))
	f.Add(s.Seal("x", "a"))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, c string) {
		var at string
		if s.Open(c, &at, "a") == nil && c != "" && s.Seal(at, "a") != c {
			t.Fatalf("accepted a cursor it did not make: %q", c)
		}
	})
}
