package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"golang.org/x/crypto/ssh"

	"github.com/mnemehq/mneme/core/port"
)

// dialer finds out how a repository is reached. Problems are of fields.
func (c *Connector) dialer(cfg config, secrets map[string]string) (dialer, []port.SourceFieldProblem) {
	u, err := parseURL(cfg.URL)
	switch {
	case err != nil:
		return nil, problem("config.url", "is no URL of a repository")
	case u.Scheme == "ssh":
		return c.sshDialer(u, secrets)
	case u.User != nil:
		return nil, problem("config.url", "may not hold a user or a password; those are username and the secret token")
	case u.Scheme == "http" && !c.listed(u):
		return nil, problem("config.url",
			"has to begin with https:// or ssh://; http:// is for addresses that the operator has listed")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, problem("config.url", "has to begin with https:// or ssh://, or be like git@host:path")
	case u.Scheme == "http" && secrets["token"] != "":
		return nil, problem("secrets.token", "is sent over https:// alone")
	}
	username := cfg.Username
	if username == "" {
		username = "git"
	}
	return func(ctx context.Context, heard func()) (session, error) {
		return c.dialHTTP(ctx, u, username, secrets["token"], heard)
	}, nil
}

// parseURL reads a URL, or host and path as scp takes them.
func parseURL(raw string) (*url.URL, error) {
	if strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, errors.New("a control character")
	}
	if !strings.Contains(raw, "://") {
		at, path, ok := strings.Cut(raw, ":")
		if !ok || strings.Contains(at, "/") {
			return nil, errors.New("neither a URL nor host:path")
		}
		if !strings.HasPrefix(path, "/") {
			path = "/~/" + path
		}
		raw = "ssh://" + at + (&url.URL{Path: path}).EscapedPath()
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("it cannot be parsed") // the error would repeat it, with what it holds
	}
	if u.Hostname() == "" || strings.Trim(u.Path, "/~") == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("no host, no path or more than these")
	}
	return u, nil
}

// listed reports whether a URL's host is an address of the operator's list: nobody
// between it and the server, as far as the operator knows.
func (c *Connector) listed(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return false
	}
	for _, n := range c.private {
		if n.Prefix.IsValid() && n.Prefix.Contains(ip.Unmap()) {
			return true
		}
	}
	return false
}

// httpSession is a session over HTTP: one request for the names and one for the pack.
type httpSession struct {
	c        *Connector
	base     string
	username string
	token    string
	heard    func()
	names    *packp.AdvRefs
}

func (c *Connector) dialHTTP(ctx context.Context, u *url.URL, username, token string, heard func()) (session, error) {
	s := &httpSession{c: c, base: strings.TrimSuffix(u.String(), "/"), username: username, token: token, heard: heard}
	const suffix, service = "/info/refs", "git-upload-pack"
	answer, err := s.do(ctx, http.MethodGet, suffix+"?service="+service, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	// A redirect may name the repository's new place, not another host that is to be trusted.
	at := answer.Request.URL
	if at.Host != u.Host || at.Scheme != u.Scheme {
		return nil, port.SourceErrorf(port.SourceForbidden, nil, "the repository redirects to another host; use its own URL")
	}
	if answer.Header.Get("Content-Type") != "application/x-"+service+"-advertisement" {
		return nil, port.SourceErrorf(port.SourceConfig, nil, "there is no git repository at the URL")
	}
	moved := *at
	moved.RawQuery = ""
	s.base = strings.TrimSuffix(moved.String(), suffix)
	if s.names, err = readRefs(answer.Body, true); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *httpSession) refs() *packp.AdvRefs { return s.names }
func (s *httpSession) Close() error         { return nil }

func (s *httpSession) pack(ctx context.Context, request io.Reader) (io.ReadCloser, error) {
	answer, err := s.do(ctx, http.MethodPost, "/git-upload-pack", request)
	if err != nil {
		return nil, err
	}
	if answer.Header.Get("Content-Type") != "application/x-git-upload-pack-result" {
		answer.Body.Close()
		return nil, errors.New("the answer is of another type")
	}
	return answer.Body, nil
}

// do makes a request; the answer is one that has succeeded.
func (s *httpSession) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	}
	if s.token != "" {
		r.SetBasicAuth(s.username, s.token)
	}
	answer, err := s.c.http.Do(r)
	if err != nil {
		return nil, err
	}
	s.heard()
	answer.Body = hearing{answer.Body, s.heard}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	answer.Body.Close()
	return nil, s.refused(answer)
}

// refused says what a status means.
func (s *httpSession) refused(answer *http.Response) error {
	cause := fmt.Errorf("status %d", answer.StatusCode)
	var wait time.Duration
	if n, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && n > 0 && n < 86400 {
		wait = time.Duration(n) * time.Second
	}
	var e *port.SourceError
	switch code := answer.StatusCode; {
	case code == http.StatusUnauthorized && s.token == "":
		e = port.SourceErrorf(port.SourceCredentials, cause, "the repository is not there, or wants a token")
	case code == http.StatusUnauthorized:
		e = port.SourceErrorf(port.SourceCredentials, cause, "the server does not take the token")
	case code == http.StatusForbidden:
		e = port.SourceErrorf(port.SourceForbidden, cause, "the server refuses the repository")
	case code == http.StatusNotFound || code == http.StatusGone:
		e = port.SourceErrorf(port.SourceNotFound, cause, "the repository is not there, or the token may not see it")
	case code == http.StatusTooManyRequests:
		e = port.SourceErrorf(port.SourceRateLimited, cause, "the server wants fewer requests")
	default:
		e = port.SourceErrorf(port.SourceUnavailable, cause, "the server answers with status %d", code)
	}
	e.RetryAfter = wait
	return e
}

// knownHosts reads lines of a known_hosts file, by host and port.
func knownHosts(lines []string) (map[string][]ssh.PublicKey, error) {
	hosts := map[string][]ssh.PublicKey{}
	for _, line := range lines {
		marker, names, key, _, _, err := ssh.ParseKnownHosts([]byte(line))
		if err != nil || marker != "" {
			return nil, fmt.Errorf("%q is no line of a known_hosts file with a host and its key", line)
		}
		for _, name := range names {
			if strings.ContainsAny(name, "*?!|") {
				return nil, fmt.Errorf("%q has a pattern or a hash in place of a host's name", line)
			}
			host, port, err := net.SplitHostPort(name)
			if err != nil {
				host, port = name, "22"
			}
			at := net.JoinHostPort(strings.ToLower(host), port)
			hosts[at] = append(hosts[at], key)
		}
	}
	return hosts, nil
}

// sshDialer reaches hosts that the operator has listed, wherever they are.
func (c *Connector) sshDialer(u *url.URL, secrets map[string]string) (dialer, []port.SourceFieldProblem) {
	at := net.JoinHostPort(strings.ToLower(u.Hostname()), "22")
	if u.Port() != "" {
		at = net.JoinHostPort(strings.ToLower(u.Hostname()), u.Port())
	}
	keys := c.hosts[at]
	if len(keys) == 0 {
		return nil, problem("config.url", "names a host that the operator has not listed for SSH")
	}
	if _, ok := u.User.Password(); ok {
		return nil, problem("config.url", "may not hold a password; SSH goes by the secret ssh_key")
	}
	if secrets["ssh_key"] == "" {
		return nil, problem("secrets.ssh_key", "is needed for SSH")
	}
	var signer ssh.Signer
	var err error
	if phrase := secrets["ssh_passphrase"]; phrase != "" {
		signer, err = ssh.ParsePrivateKeyWithPassphrase([]byte(secrets["ssh_key"]), []byte(phrase))
	} else {
		signer, err = ssh.ParsePrivateKey([]byte(secrets["ssh_key"]))
	}
	var missing *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &missing):
		return nil, problem("secrets.ssh_passphrase", "is needed for this key")
	case err != nil && secrets["ssh_passphrase"] != "":
		return nil, problem("secrets.ssh_key", "is no private key in PEM or OpenSSH form, or has another passphrase")
	case err != nil:
		return nil, problem("secrets.ssh_key", "is no private key in PEM or OpenSSH form")
	}
	user := u.User.Username()
	if user == "" {
		user = "git"
	}
	path := strings.TrimPrefix(u.Path, "/~/") // from the user's own folder
	return func(ctx context.Context, heard func()) (session, error) {
		return dialSSH(ctx, at, user, path, signer, keys, heard)
	}, nil
}

// sshSession is a session over SSH.
type sshSession struct {
	client *ssh.Client
	in     io.WriteCloser
	out    io.ReadCloser
	names  *packp.AdvRefs
	asked  bool
	stop   func() bool
}

func dialSSH(
	ctx context.Context, at, user, path string, signer ssh.Signer, keys []ssh.PublicKey, heard func(),
) (session, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at)
	if err != nil {
		return nil, port.SourceErrorf(port.SourceUnavailable, err, "the host can't be reached")
	}
	s := &sshSession{stop: context.AfterFunc(ctx, func() { _ = conn.Close() })}
	impostor := false
	config := &ssh.ClientConfig{
		User: user,
		Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyCallback: func(_ string, _ net.Addr, shown ssh.PublicKey) error {
			for _, key := range keys {
				if bytes.Equal(key.Marshal(), shown.Marshal()) {
					return nil
				}
			}
			impostor = true
			return errors.New("another host key")
		},
	}
	for _, key := range keys { // a host shows the key of a kind that it is asked for
		if key.Type() == ssh.KeyAlgoRSA {
			config.HostKeyAlgorithms = append(config.HostKeyAlgorithms, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			continue
		}
		config.HostKeyAlgorithms = append(config.HostKeyAlgorithms, key.Type())
	}
	inner, channels, requests, err := ssh.NewClientConn(conn, at, config)
	switch {
	case err == nil:
	case impostor:
		err = port.SourceErrorf(port.SourceForbidden, err, "the host shows another key than the operator has listed")
	case strings.Contains(err.Error(), "unable to authenticate"):
		err = port.SourceErrorf(port.SourceCredentials, err, "the host does not take the key")
	}
	if err != nil {
		s.stop()
		_ = conn.Close()
		return nil, err
	}
	heard()
	s.client = ssh.NewClient(inner, channels, requests)
	if err := s.begin(path, heard); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// begin starts git-upload-pack and reads the names.
func (s *sshSession) begin(path string, heard func()) error {
	run, err := s.client.NewSession()
	if err != nil {
		return err
	}
	if s.in, err = run.StdinPipe(); err != nil {
		return err
	}
	out, err := run.StdoutPipe()
	if err != nil {
		return err
	}
	s.out = hearing{io.NopCloser(out), heard}
	quoted := "'" + strings.NewReplacer(`'`, `'\''`, `!`, `'\!'`).Replace(path) + "'"
	if err := run.Start("git-upload-pack " + quoted); err != nil {
		return err
	}
	if s.names, err = readRefs(s.out, false); errors.Is(err, packp.ErrEmptyInput) {
		return port.SourceErrorf(port.SourceNotFound, err, "the repository is not there, or the key may not see it")
	}
	return err
}

func (s *sshSession) refs() *packp.AdvRefs { return s.names }

func (s *sshSession) pack(_ context.Context, request io.Reader) (io.ReadCloser, error) {
	s.asked = true
	if _, err := io.Copy(s.in, request); err != nil {
		return nil, err
	}
	return s.out, nil
}

func (s *sshSession) Close() error {
	if s.in != nil && !s.asked {
		_, _ = io.WriteString(s.in, "0000") // there are no wishes
	}
	s.stop()
	return s.client.Close()
}
