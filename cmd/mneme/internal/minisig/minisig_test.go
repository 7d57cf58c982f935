package minisig_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/minisig"
)

// What minisign 0.11 has made: a key, and its signatures of message.
const (
	message   = "version: 1\n"
	publicKey = `untrusted comment: minisign public key 2129E47BFA2B4A6D
RWRtSiv6e+QpIekSQy6SZ/NB2Oo1EV6y64RhZn3AxextsSlsHJPuio2S
`
	signature = `untrusted comment: signature from minisign secret key
RURtSiv6e+QpIVM1qiM2HTSvUsjlrJ02+5eVYW8U/rVrVeTgR6meZ7w7tDifV2b86eWL3DKOzZs7Gpf45iiJa5YfuKIkeqRIbgc=
trusted comment: timestamp:1700000000	file:m.yaml	hashed
6n5fq9P/OKhE+Cf1QgBqUfemzotuqcF6e/tznDTikZQkH4fJCjJdFVZrO8pt6Q8o558guLOIzWmaGFD9ASsrDw==
`
	legacy = `untrusted comment: signature from minisign secret key
RWRtSiv6e+QpIZT+aHRf3ncM9rhJENn8+wMLDnC66lR3hFYVvUx1bx35Ut2CUvtPc0iMecZ+ciKCqCJ4HBurFnsvhRJfaAYJcwA=
trusted comment: timestamp:1700000001	file:m.yaml
It/MDAZ7f0OmcJkc3gkfacAz0rPixO3LrZX3h41dlkGHlvYqQHmDFGdB5S+Z29S2zftgrhovKfTDuvaXQdktBQ==
`
	timeless = `untrusted comment: signature from minisign secret key
RURtSiv6e+QpIVM1qiM2HTSvUsjlrJ02+5eVYW8U/rVrVeTgR6meZ7w7tDifV2b86eWL3DKOzZs7Gpf45iiJa5YfuKIkeqRIbgc=
trusted comment: no time
+GC0aXroehvzssWShUg4myaAsFqgZx0lZK9rrVKzpdKlAJBxlQvb2VdiJHTENSb5g6nowGXL8627xTLE3lt5AA==
`
)

// TestVerify: what minisign has signed is verified, nothing else is, and the reason is told.
func TestVerify(t *testing.T) {
	key, err := minisig.ParseKey(publicKey)
	if err != nil || key.ID() != "2129E47BFA2B4A6D" {
		t.Fatal(key.ID(), err)
	}
	if again, err := minisig.ParseKey(key.String()); err != nil || again.String() != key.String() ||
		!strings.Contains(publicKey, key.String()) {
		t.Errorf("%s, %v", again, err)
	}
	for text, want := range map[string]int64{signature: 1700000000, legacy: 1700000001} {
		if at, err := key.Verify([]byte(message), []byte(text)); err != nil || at.Unix() != want || at.Location() != time.UTC {
			t.Errorf("%v, %v, want %d", at, err, want)
		}
	}
	_, other, err := minisig.Generate()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := minisig.ParseKey(string(other))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key             minisig.Key
		message, signed string
		want            string
	}{
		{key, message + " ", signature, "has been changed"},
		{key, message, strings.Replace(signature, "1700000000", "1800000000", 1), "has been changed"},
		{key, message, timeless, `"no time" tells no time`},
		{key, message, "", "no signature of minisign"},
		{stranger, message, signature, "it is by the key 2129E47BFA2B4A6D, and not by " + stranger.ID()},
	} {
		if _, err := c.key.Verify([]byte(c.message), []byte(c.signed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := minisig.ParseKey("RWQ"); err == nil || !strings.Contains(err.Error(), `"RWQ" is no public key`) {
		t.Errorf("%v", err)
	}
}

// signer writes a new private key and reads it.
func signer(t *testing.T, now func() time.Time) (*minisig.Signer, minisig.Key) {
	t.Helper()
	private, public, err := minisig.Generate()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	write(t, file, string(private))
	s, err := minisig.ReadSigner(file, now)
	if err != nil {
		t.Fatal(err)
	}
	key, err := minisig.ParseKey(string(public))
	if err != nil || s.Public() != key.String() {
		t.Fatal(s.Public(), key, err)
	}
	return s, key
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSign: a signature verifies and says when and of what, stays while nothing has
// changed, and is later than the one before whatever the clock says.
func TestSign(t *testing.T) {
	clock := time.Unix(1000, 0)
	s, key := signer(t, func() time.Time { return clock })
	file := filepath.Join(t.TempDir(), "catalogue.yaml")
	sign := func(by *minisig.Signer, text string) string {
		t.Helper()
		write(t, file, text)
		if err := by.Sign(file); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(file + ".minisig")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	expect := func(by minisig.Key, text, signature string, want int64) {
		t.Helper()
		if at, err := by.Verify([]byte(text), []byte(signature)); err != nil || at.Unix() != want {
			t.Errorf("%v, %v, want %d", at.Unix(), err, want)
		}
	}
	first := sign(s, "one")
	expect(key, "one", first, 1000)
	if !strings.Contains(first, "\ntrusted comment: timestamp:1000\tfile:catalogue.yaml\thashed\n") {
		t.Errorf("%s", first)
	}
	clock = time.Unix(2000, 0)
	if again := sign(s, "one"); again != first {
		t.Errorf("signed again:\n%s", again)
	}
	expect(key, "two", sign(s, "two"), 2000)
	clock = time.Unix(1500, 0) // it was set back
	expect(key, "three", sign(s, "three"), 2001)
	other, otherKey := signer(t, func() time.Time { return clock })
	expect(otherKey, "three", sign(other, "three"), 1500)
	write(t, file+".minisig", "rubbish")
	expect(key, "four", sign(s, "four"), 1500)
	if err := s.Sign(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("signed what is not there")
	}
}

// TestReadSigner: what is no private key that can be used says so.
func TestReadSigner(t *testing.T) {
	private, _, err := minisig.Generate()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(private), "\n")
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(lines[1]))
	if err != nil {
		t.Fatal(err)
	}
	copy(raw[2:], "Sc") // as minisign marks a key that a password protects
	for text, want := range map[string]string{
		lines[0] + base64.StdEncoding.EncodeToString(raw) + "\n": "is protected by a password",
		publicKey: "holds no private key",
		"":        "holds no private key",
	} {
		file := filepath.Join(t.TempDir(), "key")
		write(t, file, text)
		if _, err := minisig.ReadSigner(file, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := minisig.ReadSigner(filepath.Join(t.TempDir(), "nothing"), nil); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// TestClock: without a clock of its own a signature says the present.
func TestClock(t *testing.T) {
	s, key := signer(t, nil)
	file := filepath.Join(t.TempDir(), "x")
	write(t, file, "x")
	before := time.Now().Truncate(time.Second)
	if err := s.Sign(file); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file + minisig.Suffix)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := key.Verify([]byte("x"), b); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("%v, %v", at, err)
	}
}
