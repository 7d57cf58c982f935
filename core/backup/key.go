package backup

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"
)

// Keys open an encrypted place. Without any of them a new place is not encrypted.
type Keys struct {
	Passphrase string
	Identities []age.Identity
	// Recipients may open a new place, too. They are of use where it is made.
	Recipients []age.Recipient
}

func (k Keys) none() bool {
	return k.Passphrase == "" && len(k.Identities) == 0 && len(k.Recipients) == 0
}

// What is wrong with keys.
var (
	ErrEncrypted = errors.New("the backups there are encrypted: give their passphrase or an identity")
	ErrPlain     = errors.New("the backups there are not encrypted: leave the passphrase or identity out, " +
		"or begin another place")
	ErrKey = errors.New("the backups there are encrypted with another passphrase or for other recipients")
)

// newKey makes the data key of a place, sealed once for the passphrase and once for all others.
func (k Keys) newKey() (aead cipher.AEAD, sealed [][]byte, err error) {
	key := make([]byte, chacha20poly1305.KeySize)
	rand.Read(key) // never fails
	if aead, err = chacha20poly1305.NewX(key); err != nil {
		return nil, nil, fmt.Errorf("backup: %w", err)
	}
	recipients := k.Recipients
	for _, i := range k.Identities {
		if x, ok := i.(*age.X25519Identity); ok {
			recipients = append(recipients, x.Recipient())
		}
	}
	seal := func(to ...age.Recipient) error {
		var out bytes.Buffer
		w, err := age.Encrypt(&out, to...)
		if err == nil {
			_, err = w.Write(key)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return fmt.Errorf("seal the key of the backups: %w", err)
		}
		sealed = append(sealed, out.Bytes())
		return nil
	}
	if k.Passphrase != "" {
		phrase, err := age.NewScryptRecipient(k.Passphrase)
		if err != nil {
			return nil, nil, fmt.Errorf("backup: %w", err)
		}
		if err := seal(phrase); err != nil {
			return nil, nil, err
		}
	}
	if len(recipients) > 0 {
		err = seal(recipients...)
	}
	if len(sealed) == 0 && err == nil {
		err = errors.New("no recipient can be made of the identities that were given")
	}
	return aead, sealed, err
}

// open opens the data key.
func (k Keys) open(sealed [][]byte) (cipher.AEAD, error) {
	identities := k.Identities
	if k.Passphrase != "" {
		phrase, err := age.NewScryptIdentity(k.Passphrase)
		if err != nil {
			return nil, fmt.Errorf("backup: %w", err)
		}
		identities = append([]age.Identity{phrase}, identities...)
	}
	if len(identities) == 0 {
		return nil, ErrEncrypted
	}
	for _, s := range sealed {
		r, err := age.Decrypt(bytes.NewReader(s), identities...)
		if err != nil {
			continue
		}
		key, err := io.ReadAll(io.LimitReader(r, chacha20poly1305.KeySize+1))
		if err == nil && len(key) == chacha20poly1305.KeySize {
			return chacha20poly1305.NewX(key)
		}
	}
	return nil, ErrKey
}
