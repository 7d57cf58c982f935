package cli_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// pair is a certificate of memory.example.org in files.
type pair struct{ cert, key string }

// issue writes a new certificate with a serial number.
func (p pair) issue(t *testing.T, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"memory.example.org"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		p.cert: {Type: "CERTIFICATE", Bytes: der},
		p.key:  {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A server with a certificate serves https and nothing else; its machine's commands
// find it, and a renewed certificate is taken while it serves.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	files := pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	text := fmt.Sprintf("server: {admin_addr: \"127.0.0.1:0\", tls: {cert: %q, key: %q}}\n", files.cert, files.key)
	config, data := configured(t, text), filepath.Join(dir, "data")
	if r := mneme(t, "serve", "--data", data, "--config", config, "--addr", "127.0.0.1:0"); r.Code != 1 ||
		!strings.Contains(r.Stderr, files.cert) {
		t.Errorf("a server whose certificate is missing: %+v", r)
	}
	files.issue(t, 1)
	s := start(t, "--data", data, "--config", config, "--addr", "0.0.0.0:0")
	addr, https := strings.CutPrefix(s.URL, "https://")
	if !https {
		t.Fatalf("the server says that it is at %s", s.URL)
	}
	// serving asks on a new connection and gives the certificate's serial number.
	serving := func(request string) (serial int64, answer *http.Response) {
		t.Helper()
		c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(harness.Patience))
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), res
	}
	const health = "GET /health HTTP/1.1\r\nHost: memory.example.org\r\n\r\n"
	if serial, res := serving(health); serial != 1 || res.StatusCode != 200 {
		t.Errorf("%d with certificate %d", res.StatusCode, serial)
	}
	if _, res := serving("nonsense\r\n\r\n"); res.StatusCode != 400 || res.Header.Get("X-Request-Id") == "" {
		t.Errorf("what is no HTTP: %d %v", res.StatusCode, res.Header)
	}
	if res, err := http.Get("http://" + addr + "/health"); err == nil {
		_ = res.Body.Close()
		t.Errorf("the server answers %d in the clear", res.StatusCode)
	}
	if res, err := http.Get(s.URL + "/health"); err == nil {
		_ = res.Body.Close()
		t.Error("a client takes a certificate that nobody vouches for")
	}
	if status, body := call(t, "GET", s.admin()+"/health", "", ""); status != 200 {
		t.Errorf("the second address: %d %s", status, body)
	}
	document := filepath.Join(dir, "lease.md")
	if err := os.WriteFile(document, []byte("The lease runs until May 2027.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "import", document, "--namespace", "docs", "--data", data)

	files.issue(t, 2)
	s.Signal(t, syscall.SIGHUP)
	harness.Eventually(t, "a renewed certificate is served", func() bool { serial, _ := serving(health); return serial == 2 })
	if out := succeed(t, "query", "docs", "when does the lease end?", "--data", data).Stdout; !strings.Contains(out, "lease") {
		t.Errorf("a query with the renewed certificate: %s", out)
	}
	if err := os.WriteFile(files.key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Signal(t, syscall.SIGHUP)
	harness.Eventually(t, "the log tells of a bad key", func() bool {
		return strings.Contains(s.Logged(), `"certificate not read"`)
	})
	if serial, res := serving(health); serial != 2 || res.StatusCode != 200 {
		t.Errorf("with a bad file %d, with certificate %d", res.StatusCode, serial)
	}
	if strings.Contains(s.Logged(), "clear text reachable") {
		t.Error("a server with TLS warns of clear text")
	}
	other := pair{files.cert, filepath.Join(dir, "other.pem")}
	other.issue(t, 3) // in the file, and not served: the key is not its own
	if r := mneme(t, "query", "docs", "lease", "--data", data); r.Code == 0 || !strings.Contains(r.Stderr, "certificate") {
		t.Errorf("a server with another certificate than its own is taken: %+v", r)
	}
}
