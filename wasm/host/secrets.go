package host

import (
	"bytes"
	"cmp"
	"slices"
)

// secrets are the values of settings that are shown nowhere, longest first: a module that
// repeats one in its log or in an error does not carry it on.
type secrets []string

// leastSecret is the length from which a secret is looked for: fewer bytes stand in
// ordinary words, and leaving them out would tell what they are.
const leastSecret = 4

func newSecrets(values []string) secrets {
	s := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return len(v) < leastSecret })
	slices.SortFunc(s, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may begin with another
	return s
}

// hide overwrites every secret in b with asterisks.
func (s secrets) hide(b []byte) {
	for _, secret := range s {
		for rest := b; ; {
			i := bytes.Index(rest, []byte(secret))
			if i < 0 {
				break
			}
			copy(rest[i:], bytes.Repeat([]byte{'*'}, len(secret)))
			rest = rest[i+len(secret):]
		}
	}
}

// longest is the length of the longest secret: a text that is cut is looked at that much
// further, so that no part of one stays at its end.
func (s secrets) longest() uint32 {
	if len(s) == 0 {
		return 0
	}
	return uint32(len(s[0]))
}
