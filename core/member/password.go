package member

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/mnemehq/mneme/core/fault"
)

// What a password is hashed with: argon2id with 19 MiB, two passes and one lane, which OWASP names
// as its least, so that a small machine can check one.
const (
	memoryKiB = 19 * 1024
	passes    = 2
	lanes     = 1
	saltSize  = 16
	hashSize  = 32
)

// How long passwords are. There are no rules of composition: length is what makes guessing hard.
const (
	MinPassword = 12   // characters
	MaxPassword = 1024 // bytes
)

// hashers bounds how many passwords are hashed at once, since each takes 19 MiB.
const hashers = 2

type hasher struct{ places chan struct{} }

func newHasher() *hasher { return &hasher{make(chan struct{}, hashers)} }

func (h *hasher) enter(ctx context.Context) error {
	select {
	case h.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("hash password: %w", ctx.Err())
	}
}

// hash makes what is stored of a password, in the form of the PHC string format.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	if err := h.enter(ctx); err != nil {
		return "", err
	}
	defer func() { <-h.places }()
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	sum := argon2.IDKey([]byte(password), salt, passes, memoryKiB, lanes, hashSize)
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, lanes,
		b64.EncodeToString(salt), b64.EncodeToString(sum)), nil
}

// matches reports whether a password has a stored hash. Of no hash, and of one that it cannot read,
// none has, and finding that out takes as long.
func (h *hasher) matches(ctx context.Context, stored, password string) (bool, error) {
	if err := h.enter(ctx); err != nil {
		return false, err
	}
	defer func() { <-h.places }()
	if len(password) > MaxPassword {
		password = ""
	}
	memory, time, threads := uint32(memoryKiB), uint32(passes), uint8(lanes)
	salt, want, ok := parse(stored, &memory, &time, &threads)
	if !ok {
		salt, want = make([]byte, saltSize), make([]byte, hashSize)
	}
	sum := argon2.IDKey([]byte(password), salt, time, memory, threads, uint32(len(want)))
	return subtle.ConstantTimeCompare(sum, want) == 1 && ok, nil
}

// parse reads a stored hash. What it leaves untouched has no meaning when it fails.
func parse(stored string, memory, time *uint32, threads *uint8) (salt, sum []byte, ok bool) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return nil, nil, false
	}
	var m, t uint32
	var p uint8
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &m, &t, &p); err != nil || n != 3 || m == 0 || m > 1<<20 || t == 0 ||
		t > 100 || p == 0 {
		return nil, nil, false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return nil, nil, false
	}
	sum, err = base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || len(sum) < 16 || len(sum) > 64 {
		return nil, nil, false
	}
	*memory, *time, *threads = m, t, p
	return salt, sum, true
}

// checkPassword refuses what cannot be a password.
func checkPassword(password string) error {
	if !utf8.ValidString(password) || len(password) > MaxPassword || utf8.RuneCountInString(password) < MinPassword {
		return fault.Field(fault.InvalidRequest, "password", "must be at least %d characters, and at most %d bytes", MinPassword,
			MaxPassword)
	}
	return nil
}
