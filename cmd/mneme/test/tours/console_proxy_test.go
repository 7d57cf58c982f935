package tours_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// documented is the first block of a language in a section of a page.
func documented(t *testing.T, page, language string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(harness.Page(t, page))
	if block == nil {
		t.Fatalf("%s has no block of %s", page, language)
	}
	return block[1]
}

// The console works behind the proxy that its page shows, below a path and with TLS that ends there:
// who signs in gets a cookie for encrypted ways alone, links and forms lead below the path, and what a
// caller says of where it comes from, and how, is not believed.
func TestTheConsoleBehindAProxy(t *testing.T) {
	haproxy := harness.Installed(t, "haproxy")
	const page = "docs/console.md: Behind a proxy"
	at := harness.NewSite(t, documented(t, page, "yaml"))
	key := at.Key("--type", "admin")
	server := at.Serve()
	host := strings.TrimPrefix(server.URL, "http://")

	tls := httptest.NewTLSServer(http.NotFoundHandler()) // whose certificate the proxy gets
	tls.Close()
	made := tls.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir, front := t.TempDir(), harness.Address(t)
	both := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	config := documented(t, page, "haproxy")
	for from, to := range map[string]string{":443": front, "/etc/haproxy/mneme.pem": filepath.Join(dir, "mneme.pem"),
		"127.0.0.1:8080": host} {
		if strings.Count(config, from) != 1 {
			t.Fatalf("the documented configuration names %s other than once:\n%s", from, config)
		}
		config = strings.Replace(config, from, to, 1)
	}
	for name, content := range map[string]string{"mneme.pem": string(both), "haproxy.cfg": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	proxy := exec.CommandContext(ctx, haproxy, "-db", "-f", filepath.Join(dir, "haproxy.cfg"))
	proxy.Stderr = os.Stderr
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = proxy.Wait() })
	harness.Eventually(t, "the proxy listens", func() bool {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", front)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(tls.Certificate())
	over := http.DefaultTransport.(*http.Transport).Clone()
	over.TLSClientConfig.RootCAs = pool
	over.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, front)
	}
	browser := &http.Client{Jar: jar, Transport: over,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(client *http.Client, to, forwarded string, form url.Values) (*http.Response, string) {
		t.Helper()
		method, kind := "GET", ""
		if form != nil {
			method, kind = "POST", "application/x-www-form-urlencoded"
		}
		r, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("X-Forwarded-For", forwarded)
		r.Host = "example.com"
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(body)
	}
	const outside, base = "203.0.113.9", "https://example.com/memory/console" // the former is a network of nobody's
	leads := func(a *http.Response, to string) {
		t.Helper()
		at, err := a.Location()
		if err != nil || a.StatusCode != http.StatusSeeOther || at.String() != to {
			t.Fatalf("%s answered %s and leads to %v (%v), want %s", a.Request.URL, a.Status, at, err, to)
		}
	}
	if a, body := ask(browser, base+"/sign-in", outside, nil); a.StatusCode != http.StatusOK ||
		!strings.Contains(body, `name="key"`) {
		t.Fatalf("the sign-in answered %s: %s", a.Status, body)
	}
	in, _ := ask(browser, base+"/session", outside, url.Values{"key": {key}, "return": {"o/default/n"}})
	leads(in, base+"/o/default/n")
	c := in.Cookies()[0]
	if c.Name != "__Host-mneme" || !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" {
		t.Errorf("the cookie is %+v", c)
	}
	wrote, _ := ask(browser, base+"/o/default/new-document", outside,
		url.Values{"namespace": {"notes"}, "id": {"one"}, "text": {"The lease runs until May."}})
	leads(wrote, base+"/o/default/n/notes/documents/one")
	a, body := ask(browser, base+"/o/default/n/notes/documents/one", outside, nil)
	if a.StatusCode != http.StatusOK || !strings.Contains(body, "The lease runs until May.") {
		t.Errorf("the document's page answered %s: %s", a.Status, body)
	}
	for _, link := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		to, err := a.Request.URL.Parse(link[1])
		if err != nil || !strings.HasPrefix(to.String(), "https://example.com/memory/") {
			t.Errorf("the page leads to %s (%v)", to, err)
		}
	}
	ended, _ := ask(browser, base+"/session/end", outside, url.Values{})
	leads(ended, base+"/sign-in")
	if a, _ := ask(browser, "https://example.com/console/sign-in", outside, nil); a.StatusCode == http.StatusOK {
		t.Errorf("above the path it answered %s", a.Status)
	}

	// The server itself: the address is the one in the header, and the way is not encrypted.
	plain := &http.Client{CheckRedirect: browser.CheckRedirect}
	for from, says := range map[string]string{outside: "not open to this address", "127.0.0.1": "not encrypted"} {
		a, body := ask(plain, server.URL+"/console/sign-in", from, nil)
		if a.StatusCode != http.StatusForbidden || !strings.Contains(body, says) {
			t.Errorf("without the proxy, for %s, it answered %s: %s", from, a.Status, fmt.Sprintf("%.900s", body))
		}
	}
}
