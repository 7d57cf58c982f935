package datasetfile

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
)

// signatureSuffix names the file of a signature after that of its data set.
const signatureSuffix = ".sig"

// signed is what a signature is made over: the running hash over all lines, under a name
// that keeps a signature of something else from being one of a data set.
func signed(chain string) []byte { return []byte("mneme.dataset\n" + chain + "\n") }

// Signer signs data sets.
type Signer struct{ key ed25519.PrivateKey }

// ReadSigner reads an Ed25519 private key from a PEM file (PKCS #8), as
// openssl genpkey -algorithm ed25519 writes it.
func ReadSigner(path string) (*Signer, error) {
	block, err := readPEM(path, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(block)
	if private, ok := key.(ed25519.PrivateKey); ok && err == nil {
		return &Signer{private}, nil
	}
	return nil, errors.Join(fmt.Errorf("%s holds no Ed25519 private key", path), err)
}

// write writes the signature of the data set that path will hold.
func (s *Signer) write(path, chain string) error {
	text := base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, signed(chain))) + "\n"
	if err := os.WriteFile(path+signatureSuffix, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the signature: %w", err)
	}
	return nil
}

// Verifier checks who signed a data set.
type Verifier struct{ key ed25519.PublicKey }

// ReadVerifier reads an Ed25519 public key from a PEM file, as openssl pkey -pubout writes it.
func ReadVerifier(path string) (*Verifier, error) {
	block, err := readPEM(path, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(block)
	if public, ok := key.(ed25519.PublicKey); ok && err == nil {
		return &Verifier{public}, nil
	}
	return nil, errors.Join(fmt.Errorf("%s holds no Ed25519 public key", path), err)
}

// Verify checks that the signature beside a data set is one of its lines, whose running
// hash is chain, by the holder of the key.
func (v *Verifier) Verify(path, chain string) error {
	text, err := os.ReadFile(path + signatureSuffix)
	if err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(string(text)))
	if err != nil || !ed25519.Verify(v.key, signed(chain), signature) {
		return fmt.Errorf("%s%s is not a signature of %s by this key; nothing was imported", path, signatureSuffix, path)
	}
	return nil
}

func readPEM(path, kind string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s is no PEM file with a %s", path, strings.ToLower(kind))
	}
	return block.Bytes, nil
}
