package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

const keySize = 32

// Key is a sealing key: it wraps data keys. Printing one shows nothing of it.
type Key struct{ raw [keySize]byte }

// NewKey makes a random key.
func NewKey() (k Key) {
	rand.Read(k.raw[:]) // never fails
	return k
}

// ParseKeys reads keys, 32 bytes in base64 each, apart by commas or white space; what
// follows # on its line is a comment. Its errors tell nothing of a key.
func ParseKeys(text string) ([]Key, error) {
	var keys []Key
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.FieldsFunc(line, apart) {
			n := len(keys) + 1
			raw, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(word, "="))
			if err != nil {
				return nil, fmt.Errorf("key %d is not base64", n)
			}
			if len(raw) != keySize {
				return nil, fmt.Errorf("key %d has %d bytes, a key has %d", n, len(raw), keySize)
			}
			k := Key{raw: [keySize]byte(raw)}
			for i, other := range keys {
				if bytes.Equal(k.raw[:], other.raw[:]) {
					return nil, fmt.Errorf("key %d is key %d again", n, i+1)
				}
			}
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("there is no key; 'mneme seal key' prints a new one")
	}
	return keys, nil
}

func apart(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' || r == '\n' }

// Reveal is the key as ParseKeys reads it.
func (k Key) Reveal() string { return base64.StdEncoding.EncodeToString(k.raw[:]) }

// ID names the key and tells nothing of it.
func (k Key) ID() string { return hex.EncodeToString(k.derive("mneme seal id", 8)) }

// Format implements fmt.Formatter: whatever the verb, nothing is shown.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[sealing key "+k.ID()+"]") }

// wrapping is the key that encrypts data keys. ID comes from the same key, so that
// neither is the key itself.
func (k Key) wrapping() []byte { return k.derive("mneme seal wrap", keySize) }

// derive expands the key, which is random and needs no extraction (RFC 5869, section 3.3).
func (k Key) derive(use string, size int) []byte {
	out, err := hkdf.Expand(sha256.New, k.raw[:], use, size)
	if err != nil {
		panic("seal: " + err.Error()) // of sizes that do not occur
	}
	return out
}
