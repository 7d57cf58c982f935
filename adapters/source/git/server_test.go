package git_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
)

// TestMain lets the process trust the certificate of test servers.
func TestMain(m *testing.M) {
	s := httptest.NewTLSServer(nil)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	s.Close()
	dir, err := os.MkdirTemp("", "mneme-git-test-*")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(file, block, 0o600); err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", file)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// git runs git with some input.
func git(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Dir, c.Stdin = dir, strings.NewReader(input)
	c.Env = environment()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, errs.String())
	}
	return strings.TrimSpace(out.String())
}

func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b.example",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.example"}
}

// remote is a bare repository that is served.
type remote struct {
	dir  string // that holds it
	path string // of the repository
	n    int    // commits
	held map[string]string

	url     string // over HTTPS
	network string // where that is
	asked   atomic.Int32
	packs   atomic.Int32
	handler atomic.Value // func(w, r) bool: true: it has answered
}

// entry is a line of a commit as git fast-import takes it.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// newRemote makes an empty repository and serves it over HTTPS by git http-backend.
func newRemote(t *testing.T) *remote {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := &remote{dir: t.TempDir(), held: map[string]string{}}
	r.path = filepath.Join(r.dir, "repo.git")
	git(t, r.dir, "", "init", "--quiet", "--bare", "--initial-branch=main", r.path)
	backend := &cgi.Handler{
		Path: filepath.Join(git(t, r.dir, "", "--exec-path"), "git-http-backend"),
		Env:  append(environment(), "GIT_PROJECT_ROOT="+r.dir, "GIT_HTTP_EXPORT_ALL=1"),
	}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.asked.Add(1)
		if q.Method == http.MethodPost {
			r.packs.Add(1)
		}
		if h, ok := r.handler.Load().(func(http.ResponseWriter, *http.Request) bool); ok && h(w, q) {
			return
		}
		backend.ServeHTTP(w, q)
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	r.url, r.network = s.URL+"/repo.git", s.Listener.Addr().String()
	return r
}

// answer puts a handler before the backend; nil: none.
func (r *remote) answer(h func(w http.ResponseWriter, q *http.Request) bool) {
	if h == nil {
		h = func(http.ResponseWriter, *http.Request) bool { return false }
	}
	r.handler.Store(h)
}

// set commits what the repository is to hold.
func (r *remote) set(t *testing.T, items map[string]string, more ...string) {
	t.Helper()
	var b strings.Builder
	r.n++
	fmt.Fprintf(&b, "commit refs/heads/main\ncommitter a <a@b.example> %d +0000\ndata 1\nx\n", 1_700_000_000+r.n)
	if r.n > 1 {
		b.WriteString("from refs/heads/main^0\n")
	}
	b.WriteString("deleteall\n")
	for name, text := range items {
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", quote(name), len(text), text)
	}
	for _, line := range more {
		b.WriteString(line + "\n")
	}
	git(t, r.path, b.String(), "fast-import", "--quiet", "--force")
}

func (r *remote) head(t *testing.T) string { return git(t, r.path, "", "rev-parse", "refs/heads/main") }

// keyPair is a private key in OpenSSH form and its public one.
func keyPair(t *testing.T, passphrase string) (private string, public ssh.Signer) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	if public, err = ssh.NewSignerFromKey(key); err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), public
}

// serveSSH serves the repositories of a folder to one key; the line is the host's for
// known_hosts.
func serveSSH(t *testing.T, dir string, allowed ssh.PublicKey) (at, line string) {
	t.Helper()
	_, host := keyPair(t, "")
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" {
			return nil, fmt.Errorf("another user")
		}
		if !bytes.Equal(key.Marshal(), allowed.Marshal()) {
			return nil, fmt.Errorf("another key")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go talk(c, config, dir)
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	key := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(host.PublicKey())))
	return l.Addr().String(), fmt.Sprintf("[127.0.0.1]:%s %s", port, key)
}

// talk serves a connection: commands are run by the shell, as sshd does.
func talk(c net.Conn, config *ssh.ServerConfig, dir string) {
	defer c.Close()
	_, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		ch, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go func() {
			for q := range requests {
				if q.Type != "exec" {
					_ = q.Reply(false, nil)
					continue
				}
				var command struct{ Line string }
				_ = ssh.Unmarshal(q.Payload, &command)
				_ = q.Reply(true, nil)
				run := exec.Command("/bin/sh", "-c", command.Line)
				run.Dir, run.Env = dir, environment()
				in, err := run.StdinPipe()
				if err != nil {
					return
				}
				go func() { _, _ = io.Copy(in, ch); in.Close() }()
				run.Stdout, run.Stderr = ch, ch.Stderr()
				status := struct{ Code uint32 }{}
				if err := run.Run(); err != nil {
					status.Code = 128
				}
				_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(status))
				ch.Close()
			}
		}()
	}
}

// sorted are the keys of a map.
func sorted(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
