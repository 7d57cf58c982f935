// Package minisig signs files and verifies signatures in the format of minisign, so that
// people can check a release with a tool that they have already.
package minisig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aead.dev/minisign"

	"github.com/mnemehq/mneme/adapters/disk"
)

// Suffix is what the file of a signature is called after the signed one.
const Suffix = ".minisig"

// Generate makes a pair of keys and gives the contents of their files. The private one
// is not protected by a password.
func Generate() (private, public []byte, err error) {
	pub, priv, err := minisign.GenerateKey(nil)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	private, err = priv.MarshalText()
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	public, err = pub.MarshalText()
	return append(private, '\n'), append(public, '\n'), err
}

// Signer signs files.
type Signer struct {
	key minisign.PrivateKey
	now func() time.Time
}

// ReadSigner reads a private key without a password. now is the time that signatures
// say; nil: the present.
func ReadSigner(file string, now func() time.Time) (*Signer, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if minisign.IsEncrypted(b) {
		return nil, fmt.Errorf("%s is protected by a password, which only minisign asks for: sign with minisign -Sm FILE -s %s",
			file, file)
	}
	s := &Signer{now: now}
	if now == nil {
		s.now = time.Now
	}
	if err := s.key.UnmarshalText(trimmed(b)); err != nil {
		return nil, fmt.Errorf("%s holds no private key of minisign: %w", file, err)
	}
	return s, nil
}

// trimmed is a text without what the end of a line is made of.
func trimmed(b []byte) []byte { return []byte(strings.TrimSpace(string(b))) }

// Sign writes the signature of a file beside it. Each later signature says a later time,
// by which an old file is told from its successor. A file that the key has signed as it
// is keeps its signature.
func (s *Signer) Sign(file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	r := minisign.NewReader(in)
	if _, err := io.Copy(io.Discard, r); err != nil {
		return fmt.Errorf("sign %s: %w", file, err)
	}
	at := s.now().Unix()
	old, err := os.ReadFile(file + Suffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sign %s: %w", file, err)
	}
	if err == nil {
		if r.Verify(s.key.Public().(minisign.PublicKey), old) {
			return nil
		}
		if before, err := parse(old); err == nil && before.KeyID == s.key.ID() {
			at = max(at, timestamp(before.TrustedComment)+1)
		}
	}
	text := r.SignWithComments(s.key, fmt.Sprintf("timestamp:%d\tfile:%s\thashed", at, filepath.Base(file)),
		"signature by the key "+id(s.key.ID()))
	if err := disk.Publish(file+Suffix, text); err != nil {
		return fmt.Errorf("sign %s: %w", file, err)
	}
	return nil
}

// Public is the key that verifies the signatures, as a configuration names it.
func (s *Signer) Public() string { return s.key.Public().(minisign.PublicKey).String() }

// Key verifies signatures.
type Key struct{ key minisign.PublicKey }

// ParseKey reads a public key: the line of minisign's file, or all of it.
func ParseKey(text string) (Key, error) {
	var k Key
	if err := k.key.UnmarshalText(trimmed([]byte(text))); err != nil {
		return k, fmt.Errorf("%q is no public key of minisign: %w", text, err)
	}
	return k, nil
}

// String is the key as ParseKey reads it.
func (k Key) String() string { return k.key.String() }

// ID is the short name of the key, as minisign shows it.
func (k Key) ID() string { return id(k.key.ID()) }

func id(n uint64) string { return fmt.Sprintf("%016X", n) }

// Verify checks that a signature is one of message by the key's holder, and gives the
// time that it says it was made at.
func (k Key) Verify(message, signature []byte) (time.Time, error) {
	s, err := parse(signature)
	if err != nil {
		return time.Time{}, fmt.Errorf("it is no signature of minisign: %w", err)
	}
	if s.KeyID != k.key.ID() {
		return time.Time{}, fmt.Errorf("it is by the key %s, and not by %s", id(s.KeyID), k.ID())
	}
	if !minisign.Verify(k.key, message, signature) {
		return time.Time{}, errors.New("it does not fit: what was signed, or the signature, has been changed")
	}
	at := timestamp(s.TrustedComment)
	if at < 1 {
		return time.Time{}, fmt.Errorf("its trusted comment %q tells no time (timestamp:SECONDS)", s.TrustedComment)
	}
	return time.Unix(at, 0).UTC(), nil
}

func parse(signature []byte) (s minisign.Signature, err error) {
	err = s.UnmarshalText(signature)
	return s, err
}

// timestamp is the time in a trusted comment; 0: it tells none.
func timestamp(comment string) int64 {
	for field := range strings.SplitSeq(comment, "\t") {
		if text, ok := strings.CutPrefix(field, "timestamp:"); ok {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}
