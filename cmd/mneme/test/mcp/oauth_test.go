package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// front runs the real binary with the OAuth front on. Its address is part of its
// configuration, so a free one is looked for beforehand.
func front(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	addr := harness.Address(t)
	s.Config = filepath.Join(filepath.Dir(s.Data), "mneme.yaml")
	err := os.WriteFile(s.Config, fmt.Appendf(nil, "server: {base_url: \"http://%s\"}\n"+
		"oauth: {enabled: true, private_documents: true}\nroles: {sparse: off, rerank: off}\n", addr), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var server *harness.Server
	t.Cleanup(func() { // when it has ended
		if server != nil && strings.Contains(server.Logged(), s.key) {
			t.Error("the key is in the log")
		}
	})
	server = s.serve("--addr", addr)
	return s
}

// TestOAuth connects the official TypeScript clients by OAuth: registered, and by
// a metadata document.
func TestOAuth(t *testing.T) {
	t.Parallel()
	folder := clients(t)
	s := front(t)
	file, err := filepath.Abs("oauth.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, sdk := range []string{"v1", "v2"} {
		for _, documented := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/documented=%v", sdk, documented), func(t *testing.T) {
				options, err := json.Marshal(map[string]any{"sdk": sdk, "url": s.mcp(), "key": s.key, "documented": documented})
				if err != nil {
					t.Fatal(err)
				}
				r := execute(t, node(t), file, folder, string(options))
				var got struct {
					State, Iss, Text, Scope string
					Rest                    int
					Refreshed               bool
				}
				if err := json.Unmarshal([]byte(r.Stdout), &got); r.Code != 0 || err != nil {
					t.Fatalf("the client ended with %d: %s%s", r.Code, r.Stdout, r.Stderr)
				}
				if got.State != "a state" || got.Iss != s.url ||
					got.Text != "The lease ends in March. Žluťoučký kůň 漢字." || got.Rest != http.StatusUnauthorized ||
					!got.Refreshed || got.Scope != "mcp:read mcp:write" {
					t.Errorf("got %+v", got)
				}
			})
		}
	}
}

var (
	openLine = regexp.MustCompile(`http://\S+/oauth/authorize\?\S+`)
	passLine = regexp.MustCompile(`Total: (\d+) passed, 0 failed`)
)

// TestConformanceOfTheFront runs the official suite's scenarios for authorization
// servers; the person that it asks to open a page is played here.
func TestConformanceOfTheFront(t *testing.T) {
	t.Parallel()
	folder := clients(t)
	s := front(t)
	_, port, err := net.SplitHostPort(harness.Address(t)) // where the suite listens
	if err != nil {
		t.Fatal(err)
	}
	client := registered(t, s, "http://127.0.0.1:"+port+"/callback")
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	suite := exec.CommandContext(ctx, node(t),
		filepath.Join(folder, "node_modules", "conformance-2026-07-28", "dist", "index.js"),
		"authorization", "--url", s.url, "--client-id", client, "--resource", s.mcp(), "--port", port)
	suite.Dir, suite.WaitDelay = t.TempDir(), 5*time.Second
	out, in := io.Pipe()
	suite.Stdout, suite.Stderr = in, in
	if err := suite.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { err := suite.Wait(); _ = in.Close(); ended <- err }()
	var said strings.Builder
	agreed := false
	for buf := make([]byte, 4096); ; {
		n, err := out.Read(buf)
		said.Write(buf[:n])
		// The suite says when it listens for the browser.
		if page := openLine.FindString(said.String()); !agreed && page != "" &&
			strings.Contains(said.String(), "Callback server started") {
			agreed = true
			agree(t, page, s.key)
		}
		if err != nil {
			break
		}
	}
	found := passLine.FindStringSubmatch(said.String())
	if err := <-ended; err != nil || found == nil || found[1] < "3" {
		t.Errorf("the suite ended with %v:\n%s", err, said.String())
	}
}

// registered registers a client.
func registered(t *testing.T, s *site, redirect string) string {
	t.Helper()
	var m struct {
		ClientID string `json:"client_id"`
	}
	a := harness.Client{T: t, At: s.url, HTTP: http.DefaultClient}.Call("POST", "/oauth/register",
		object{"client_name": "conformance", "redirect_uris": []string{redirect}}).Into(&m)
	if m.ClientID == "" {
		t.Fatal(a)
	}
	return m.ClientID
}

// agree opens a consent page, sends the key and follows the browser back to the
// client.
func agree(t *testing.T, page, key string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: 2 * time.Minute}
	load := func(method, to string, form url.Values) string {
		r, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		a, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	form := regexp.MustCompile(`name="request" value="([^"]+)"`).FindStringSubmatch(load(http.MethodGet, page, nil))
	if form == nil {
		t.Fatal("the page has no form")
	}
	to, _, _ := strings.Cut(page, "?")
	load(http.MethodPost, to, url.Values{"request": {form[1]}, "key": {key}, "decision": {"allow"}})
}
