package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
)

// encrypt seals plain for what the parts of a place say. The result has the nonce in
// front: random nonces are safe for 2^32 values a key, and a data key seals the secrets of
// one organization.
func encrypt(key, plain []byte, place ...string) ([]byte, error) {
	c, err := gcm(key)
	if err != nil {
		return nil, err
	}
	return c.Seal(nil, nil, plain, binding(place)), nil
}

// decrypt undoes encrypt; it fails for what was altered and for other places.
func decrypt(key, sealed []byte, place ...string) ([]byte, error) {
	c, err := gcm(key)
	if err != nil {
		return nil, err
	}
	plain, err := c.Open(nil, nil, sealed, binding(place))
	if err != nil {
		return nil, errors.New("it was altered, moved, or encrypted with another key")
	}
	return plain, nil
}

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// binding puts the parts of a place into one text. Each has its length in front, so that
// no two places have the same.
func binding(place []string) []byte {
	var out []byte
	for _, part := range place {
		out = append(binary.AppendUvarint(out, uint64(len(part))), part...)
	}
	return out
}
