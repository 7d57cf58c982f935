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

// A cursor that was cut is none, wherever (docs/contract.md#http-cursors). Whether the
// check of its length refuses a bare signature, or only what follows, can't be seen:
// an empty position is no JSON.
func TestACutCursorIsNone(t *testing.T) {
	s := page.NewSigner([]byte("0123456789abcdef"))
	raw, err := base64.RawURLEncoding.DecodeString(s.Seal("last"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(raw); n++ {
		at := "as it was"
		err := s.Open(base64.RawURLEncoding.EncodeToString(raw[:n]), &at)
		if fault.CodeOf(err) != fault.InvalidCursor || at != "as it was" {
			t.Errorf("%d bytes of %d: %q, %v", n, len(raw), at, err)
		}
	}
	at := "as it was"
	if err := s.Open("", &at); err != nil || at != "as it was" {
		t.Errorf("no cursor: %q, %v", at, err)
	}
}

// A position that can't be written is a mistake in the program.
func TestAPositionIsJSON(t *testing.T) {
	defer func() {
		if why := recover(); why != "page: position cannot be encoded: json: unsupported type: chan int" {
			t.Errorf("got %v", why)
		}
	}()
	t.Errorf("sealed as %q", page.NewSigner([]byte("0123456789abcdef")).Seal(make(chan int)))
}

// A page is as long as the caller asks, else 100 (docs/contract.md#ns-list, docs/contract.md#doc-list).
func TestAPageIsAsLongAsAsked(t *testing.T) {
	if got := page.Limit(nil); got != 100 {
		t.Errorf("nothing asked: %d", got)
	}
	if got := page.Limit(new(7)); got != 7 {
		t.Errorf("7 asked: %d", got)
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
