package reference_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/transports/reference"
)

func serve(t *testing.T) *http.ServeMux {
	t.Helper()
	all, err := reference.Handlers()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range all {
		mux.Handle(pattern, h)
	}
	return mux
}

func get(mux http.Handler, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w.Result()
}

// All that the page names is there, is relative, and nothing runs inline.
func TestThePageBringsAllThatItLoads(t *testing.T) {
	mux := serve(t)
	page := get(mux, http.MethodGet, "/docs")
	body, err := io.ReadAll(page.Body)
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(string(body), -1)
	if len(files) < 5 {
		t.Fatalf("the page loads %v", files)
	}
	for _, f := range files {
		if strings.Contains(f[1], ":") || strings.HasPrefix(f[1], "/") {
			t.Errorf("%s is not relative", f[1])
		}
		if f[1] == "openapi.yaml" {
			continue // another package's
		}
		if r := get(mux, http.MethodGet, "/"+f[1]); r.StatusCode != 200 || r.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %d", f[1], r.StatusCode)
		}
	}
	if regexp.MustCompile(`<script>|<style|\son[a-z]+=`).Match(body) {
		t.Error("the page holds code or styles of its own, which its policy refuses")
	}
}

func TestThePageIsHeldToThisServer(t *testing.T) {
	mux := serve(t)
	for _, path := range []string{"/docs", "/docs/page.js", "/docs/swagger-ui.css"} {
		r := get(mux, http.MethodGet, path)
		policy := r.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %s", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") ||
			r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, r.Header)
		}
	}
}

func TestFilesComeZippedOrNotAndOnce(t *testing.T) {
	mux := serve(t)
	const file = "/docs/swagger-ui.css"
	plain := get(mux, http.MethodGet, file)
	body, err := io.ReadAll(plain.Body)
	if err != nil || plain.Header.Get("Content-Encoding") != "" {
		t.Fatalf("%v %v", err, plain.Header)
	}
	zipped := get(mux, http.MethodGet, file, "Accept-Encoding", "gzip, br")
	z, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if unzipped, err := io.ReadAll(z); err != nil || string(unzipped) != string(body) ||
		zipped.Header.Get("Content-Encoding") != "gzip" || zipped.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("zipped it is another file: %v %v", err, zipped.Header)
	}
	if again := get(mux, http.MethodGet, file, "If-None-Match",
		plain.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("asked again: %d", again.StatusCode)
	}
	head := get(mux, http.MethodHead, file)
	if b, err := io.ReadAll(head.Body); err != nil || len(b) > 0 || head.StatusCode != 200 {
		t.Errorf("HEAD: %d with %d bytes, %v", head.StatusCode, len(b), err)
	}
}

// Who comes without a path finds the way, and nobody else does: what is not there stays so.
func TestStartPage(t *testing.T) {
	mux := serve(t)
	res := get(mux, "GET", "/")
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") ||
		!strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	for _, link := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(string(body), -1) {
		to := "/" + link[1]
		if strings.HasPrefix(to, "/docs") && get(mux, "GET", to).StatusCode != http.StatusOK {
			t.Errorf("the link to %s leads nowhere", link[1])
		}
	}
	if !strings.Contains(string(body), `href="docs"`) {
		t.Errorf("no link to the reference:\n%s", body)
	}
	for _, path := range []string{"/absent", "/start.html", "/index.html"} {
		if status := get(mux, "GET", path).StatusCode; status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, status)
		}
	}
	if status := get(mux, "POST", "/").StatusCode; status != http.StatusMethodNotAllowed {
		t.Errorf("POST / answers %d", status)
	}
}
