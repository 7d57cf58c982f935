package datasetfile_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datasetfile"
	"github.com/mnemehq/mneme/core/dataset"
)

// pemFile writes a key as openssl does.
func pemFile(t testing.TB, kind string, der []byte, err error) string {
	t.Helper()
	done(t, err)
	path := filepath.Join(t.TempDir(), "key.pem")
	done(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}

// keyPair writes a new key.
func keyPair(t testing.TB) (private, public string) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(nil)
	done(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(priv)
	private = pemFile(t, "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(pub)
	return private, pemFile(t, "PUBLIC KEY", der, err)
}

// lines is a data set that has nothing but a note of who wrote it.
func lines(t testing.TB, program string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := dataset.NewWriter(&out)
	_, err := w.Write(dataset.KindHeader, dataset.Header{
		Format: dataset.Format, Version: dataset.Version, ID: "set_0123456789abcdef01234567", Program: program})
	done(t, err)
	_, err = w.Write(dataset.KindTrailer, dataset.Trailer{Lines: 1})
	done(t, err)
	return out.Bytes()
}

func nothing(int64, int64) {}

func check(t testing.TB, set []byte) string {
	t.Helper()
	got, err := datasetfile.Check(bytes.NewReader(set), nothing)
	done(t, err)
	return got.Chain
}

// A signature is good for the lines that were signed, by the key's holder, and nothing else.
func TestSignature(t *testing.T) {
	private, public := keyPair(t)
	sign, err := datasetfile.ReadSigner(private)
	done(t, err)
	path := filepath.Join(t.TempDir(), "set.ndjson.gz")
	set := lines(t, "one")
	got, err := datasetfile.Receive(bytes.NewReader(set), path, sign, nothing)
	done(t, err)
	if got.Chain != check(t, set) {
		t.Errorf("the running hash is %s", got.Chain)
	}
	verify, err := datasetfile.ReadVerifier(public)
	done(t, err)
	done(t, verify.Verify(path, got.Chain))
	refuse := func(what string, v *datasetfile.Verifier, chain string) {
		t.Helper()
		if err := v.Verify(path, chain); err == nil || !strings.Contains(err.Error(), "nothing was imported") {
			t.Errorf("%s: %v", what, err)
		}
	}
	refuse("other lines", verify, check(t, lines(t, "two")))
	_, stranger := keyPair(t)
	other, err := datasetfile.ReadVerifier(stranger)
	done(t, err)
	refuse("another key", other, got.Chain)
	done(t, os.WriteFile(path+".sig", []byte("!"), 0o600))
	refuse("no signature", verify, got.Chain)
	done(t, os.Remove(path+".sig"))
	if err := verify.Verify(path, got.Chain); err == nil {
		t.Error("without a signature")
	}
	// None is written where none is asked for, or nothing whole came.
	bare := filepath.Join(t.TempDir(), "bare.ndjson")
	_, err = datasetfile.Receive(bytes.NewReader(set), bare, nil, nothing)
	done(t, err)
	if _, err := datasetfile.Receive(bytes.NewReader(set[:len(set)/2]), bare+"2", sign, nothing); err == nil {
		t.Error("half a data set was received")
	}
	for _, name := range []string{bare, bare + "2"} {
		if _, err := os.Stat(name + ".sig"); err == nil {
			t.Errorf("there is a signature of %s", name)
		}
	}
}

// What is no Ed25519 key of the right half is refused by its file's name.
func TestKeysOfSignatures(t *testing.T) {
	private, public := keyPair(t)
	odd, err := rsa.GenerateKey(rand.Reader, 2048)
	done(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(odd)
	oddPrivate := pemFile(t, "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(&odd.PublicKey)
	oddPublic := pemFile(t, "PUBLIC KEY", der, err)
	text := filepath.Join(t.TempDir(), "text")
	done(t, os.WriteFile(text, []byte("no key"), 0o600))
	for _, path := range []string{public, oddPrivate, text, pemFile(t, "PRIVATE KEY", []byte("x"), nil)} {
		if _, err := datasetfile.ReadSigner(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("sign with %s: %v", path, err)
		}
	}
	for _, path := range []string{private, oddPublic, text, pemFile(t, "PUBLIC KEY", []byte("x"), nil)} {
		if _, err := datasetfile.ReadVerifier(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("verify with %s: %v", path, err)
		}
	}
	absent := filepath.Join(t.TempDir(), "absent")
	if _, err := datasetfile.ReadSigner(absent); err == nil {
		t.Error("an absent key")
	}
	if _, err := datasetfile.ReadVerifier(absent); err == nil {
		t.Error("an absent key")
	}
}
