package ident

import (
	"crypto/rand"
	"crypto/sha256"
)

// NewToken makes a secret of 260 random bits, with a prefix by which people and secret
// scanners recognise what it is for.
func NewToken(prefix string) string { return prefix + rand.Text() + rand.Text() }

// TokenHash is all that a store keeps of a token: with that many random bits, SHA-256 needs no
// salt.
func TokenHash(token string) [32]byte { return sha256.Sum256([]byte(token)) }
