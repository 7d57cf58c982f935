package git_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	connector "github.com/mnemehq/mneme/adapters/source/git"
	"github.com/mnemehq/mneme/adapters/source/sourcetest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

const maxItem = 64 << 10

// connect is a connector that may reach a remote.
func connect(t *testing.T, r *remote, change func(*connector.Settings)) *connector.Connector {
	t.Helper()
	s := connector.Settings{Private: []string{r.network}, MaxItem: maxItem, Dir: t.TempDir()}
	if change != nil {
		change(&s)
	}
	c, err := connector.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// connection is one to a URL; more are further fields of its configuration.
func connection(url string, secrets map[string]string, more ...string) port.Connection {
	u, _ := json.Marshal(url)
	fields := append([]string{`"url": ` + string(u)}, more...)
	return port.Connection{Source: "src_1", Config: json.RawMessage("{" + strings.Join(fields, ", ") + "}"), Secrets: secrets}
}

const token = "a-token-that-nobody-may-see"

// wantsToken refuses requests without the token.
func wantsToken(w http.ResponseWriter, q *http.Request) bool {
	user, word, ok := q.BasicAuth()
	if ok && user == "git" && word == token {
		return false
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
	w.WriteHeader(http.StatusUnauthorized)
	return true
}

func TestContract(t *testing.T) {
	private, public := keyPair(t, "")
	for name, over := range map[string]func(t *testing.T) sourcetest.Upstream{
		"https": func(t *testing.T) sourcetest.Upstream {
			r := newRemote(t)
			r.answer(wantsToken)
			u := upstream(t, r, connect(t, r, nil), r.url, map[string]string{"token": token})
			u.Break = func(*testing.T) func() {
				r.answer(func(w http.ResponseWriter, _ *http.Request) bool {
					w.WriteHeader(http.StatusBadGateway)
					return true
				})
				return func() { r.answer(wantsToken) }
			}
			u.Hang = func(*testing.T) func() {
				release := make(chan struct{})
				r.answer(func(w http.ResponseWriter, q *http.Request) bool {
					select {
					case <-release:
					case <-q.Context().Done():
					}
					return true
				})
				return func() { close(release) }
			}
			private := strings.Replace(r.url, "127.0.0.1", "10.255.255.1", 1)
			u.Wrong = append(u.Wrong,
				sourcetest.Wrong{Name: "no token", Connection: connection(r.url, nil), Code: port.SourceCredentials},
				sourcetest.Wrong{Name: "wrong token", Connection: connection(r.url, map[string]string{"token": "wrong-token"}),
					Code: port.SourceCredentials},
				sourcetest.Wrong{Name: "no repository", Connection: connection(strings.TrimSuffix(r.url,
					"/repo.git")+"/none.git", u.Connection.Secrets),
					Code: port.SourceNotFound},
				sourcetest.Wrong{Name: "private", Connection: connection(private, nil), Code: port.SourceForbidden},
				sourcetest.Wrong{Name: "file", Connection: connection("file:///etc", nil), Field: "config.url",
					Code: port.SourceConfig},
				sourcetest.Wrong{Name: "git", Connection: connection("git://127.0.0.1/x", nil), Field: "config.url",
					Code: port.SourceConfig},
				sourcetest.Wrong{Name: "password in the URL", Connection: connection("https://me:my-secret@127.0.0.1/x",
					map[string]string{"token": "my-secret"}),
					Field: "config.url", Code: port.SourceConfig},
				sourcetest.Wrong{Name: "clear text", Connection: connection("http://example.com/x", nil), Field: "config.url",
					Code: port.SourceConfig},
				sourcetest.Wrong{Name: "token in clear text", Connection: connection("http://127.0.0.1/x", u.Connection.Secrets),
					Field: "secrets.token", Code: port.SourceConfig},
				sourcetest.Wrong{Name: "unlisted host", Connection: connection("git@example.com:x.git", nil),
					Field: "config.url", Code: port.SourceConfig},
				sourcetest.Wrong{Name: "pattern", Connection: connection(r.url, u.Connection.Secrets, `"include": ["["]`),
					Field: "config.include[0]", Code: port.SourceConfig},
			)
			return u
		},
		"ssh": func(t *testing.T) sourcetest.Upstream {
			if testing.Short() {
				t.Skip("long")
			}
			r := newRemote(t)
			at, line := serveSSH(t, r.dir, public.PublicKey())
			c := connect(t, r, func(s *connector.Settings) { s.SSHHosts = []string{line} })
			u := upstream(t, r, c, "ssh://git@"+at+r.path, map[string]string{"ssh_key": private})
			stranger, _ := keyPair(t, "")
			u.Wrong = append(u.Wrong,
				sourcetest.Wrong{Name: "wrong key", Connection: connection("ssh://git@"+at+r.path,
					map[string]string{"ssh_key": stranger}),
					Code: port.SourceCredentials},
				sourcetest.Wrong{Name: "no key", Connection: connection("ssh://git@"+at+r.path, nil),
					Field: "secrets.ssh_key", Code: port.SourceConfig},
				sourcetest.Wrong{Name: "broken key", Connection: connection("ssh://git@"+at+r.path,
					map[string]string{"ssh_key": "no-key-at-all"}),
					Field: "secrets.ssh_key", Code: port.SourceConfig},
				sourcetest.Wrong{Name: "no repository", Connection: connection("ssh://git@"+at+"/none.git",
					u.Connection.Secrets), Code: port.SourceNotFound},
			)
			return u
		},
	} {
		t.Run(name, func(t *testing.T) { sourcetest.Run(t, over) })
	}
}

func upstream(t *testing.T, r *remote, c *connector.Connector, url string, secrets map[string]string) sourcetest.Upstream {
	return sourcetest.Upstream{
		Connector:  c,
		Connection: connection(url, secrets, `"hidden": true`),
		Set:        func(t *testing.T, items map[string]string) { r.set(t, items) },
		Key: func(name string) string {
			switch name {
			case "new\nline.txt":
				return "/new%0Aline.txt"
			case "tab\t.txt":
				return "/tab%09.txt"
			case "latin-\xe9.txt":
				return "/latin-%E9.txt"
			}
			return name
		},
		Hostile: []string{"latin-\xe9.txt"},
		Pinned:  true,
		Many:    550,
		MaxItem: maxItem,
		Vanish: func(t *testing.T) {
			if err := os.Rename(r.path, r.path+".gone"); err != nil {
				t.Fatal(err)
			}
		},
		Crowd: func(t *testing.T, n int) {
			items := map[string]string{}
			for i := range n {
				items[fmt.Sprintf("folder-%d/a-file-with-some-name-%d.txt", i%20, i)] = "the same"
			}
			r.set(t, items)
		},
	}
}

// keeper keeps what is listed.
type keeper struct {
	items    []port.SourceItem
	problems []port.SourceProblem
	states   [][]byte
	complete bool
	snapshot bool
}

func (k *keeper) Item(_ context.Context, item port.SourceItem) error {
	k.items = append(k.items, item)
	return nil
}
func (k *keeper) Gone(context.Context, string) error { return errors.New("nothing is named gone") }
func (k *keeper) Checkpoint(_ context.Context, state []byte) error {
	k.states = append(k.states, state)
	return nil
}
func (k *keeper) Problem(_ context.Context, p port.SourceProblem) error {
	k.problems = append(k.problems, p)
	return nil
}
func (k *keeper) Complete(_ context.Context, snapshot bool) error {
	k.complete, k.snapshot = true, snapshot
	return nil
}

// list lists a connection that works.
func list(t *testing.T, c *connector.Connector, conn port.Connection, state []byte) *keeper {
	t.Helper()
	k := &keeper{}
	if err := c.List(t.Context(), conn, state, k); err != nil || !k.complete {
		t.Fatalf("%v, complete: %v", cause(err), k.complete)
	}
	return k
}

func cause(err error) string {
	var why *port.SourceError
	if errors.As(err, &why) {
		return fmt.Sprintf("%v (%v)", err, why.Err)
	}
	return fmt.Sprint(err)
}

func wantKeys(t *testing.T, k *keeper, want ...string) {
	t.Helper()
	var got []string
	for _, item := range k.items {
		got = append(got, item.Key)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed: %q\n  want: %q", got, want)
	}
}

func wantCode(t *testing.T, err error, want port.SourceCode) {
	t.Helper()
	var why *port.SourceError
	if !errors.As(err, &why) || why.Code != want {
		t.Errorf("%s, want %s", cause(err), want)
	}
}

// TestUnchanged: of a commit that was listed, nothing but the names is asked for again.
func TestUnchanged(t *testing.T) {
	r := newRemote(t)
	c, conn := connect(t, r, nil), connection(r.url, nil)
	r.set(t, map[string]string{"a.txt": "A", "b/c.txt": "C"})
	first := list(t, c, conn, nil)
	wantKeys(t, first, "a.txt", "b/c.txt")
	if size := first.items[0].Size; size != -1 {
		t.Errorf("a size that nobody asked for is %d", size)
	}
	asked := r.asked.Load()
	again := list(t, c, conn, first.states[len(first.states)-1])
	if len(again.items) > 0 || again.snapshot || r.asked.Load() != asked+1 {
		t.Errorf("%d items, snapshot: %v, %d requests", len(again.items), again.snapshot, r.asked.Load()-asked)
	}
	// Another configuration has its own listing, and a whole one is of what is here already.
	packs := r.packs.Load()
	wantKeys(t, list(t, c, conn, nil), "a.txt", "b/c.txt")
	if r.packs.Load() != packs {
		t.Error("a commit that is here was fetched again")
	}
	other := connection(r.url, nil, `"include": ["*/c.txt"]`)
	wantKeys(t, list(t, c, other, first.states[len(first.states)-1]), "b/c.txt")
}

// TestMovedMeanwhile: a listing that broke off and goes on with another commit proves no
// absence; the next one does.
func TestMovedMeanwhile(t *testing.T) {
	r := newRemote(t)
	c, conn := connect(t, r, nil), connection(r.url, nil)
	items := map[string]string{}
	for i := range 600 {
		items[fmt.Sprintf("%04d.txt", i)] = fmt.Sprint(i)
	}
	r.set(t, items)
	first := list(t, c, conn, nil)
	if rest := list(t, c, conn, first.states[0]); len(rest.items) != 100 || rest.items[0].Key != "0500.txt" || !rest.snapshot {
		t.Errorf("going on: %d items, snapshot: %v", len(rest.items), rest.snapshot)
	}
	delete(items, "0000.txt")
	r.set(t, items)
	second := list(t, c, conn, first.states[0])
	if len(second.items) != 599 || second.snapshot {
		t.Errorf("%d items, snapshot: %v", len(second.items), second.snapshot)
	}
	third := list(t, c, conn, second.states[len(second.states)-1])
	if len(third.items) != 599 || !third.snapshot {
		t.Errorf("%d items, snapshot: %v", len(third.items), third.snapshot)
	}
	if fourth := list(t, c, conn, third.states[len(third.states)-1]); len(fourth.items) > 0 || fourth.snapshot {
		t.Errorf("%d items, snapshot: %v", len(fourth.items), fourth.snapshot)
	}
}

// TestRefs: branches, tags, full names and commits; no other.
func TestRefs(t *testing.T) {
	r := newRemote(t)
	c := connect(t, r, nil)
	empty := list(t, c, connection(r.url, nil), nil)
	if len(empty.items) > 0 || !empty.snapshot {
		t.Errorf("an empty repository: %+v", empty)
	}
	r.set(t, map[string]string{"one.txt": "1"})
	git(t, r.path, "", "tag", "light", "main")
	git(t, r.path, "", "tag", "-a", "-m", "x", "heavy", "main")
	git(t, r.path, "", "branch", "feature/x", "main")
	one := r.head(t)
	r.set(t, map[string]string{"two.txt": "2"})
	git(t, r.path, "", "config", "uploadpack.allowAnySHA1InWant", "true")
	for ref, want := range map[string]string{"": "two.txt", "main": "two.txt", "refs/heads/main": "two.txt",
		"light": "one.txt", "heavy": "one.txt",
		"feature/x": "one.txt", "refs/tags/heavy": "one.txt", one: "one.txt", strings.ToUpper(one): "one.txt"} {
		conn := connection(r.url, nil, `"ref": "`+ref+`"`)
		wantKeys(t, list(t, c, conn, nil), want)
		if problems, err := c.Check(t.Context(), conn); err != nil || len(problems) > 0 {
			t.Errorf("%q: %v, %v", ref, problems, err)
		}
	}
	for _, ref := range []string{"none", "heads/main", "refs/heads", one[:39], "--upload-pack=x"} {
		conn := connection(r.url, nil, `"ref": "`+ref+`"`)
		wantCode(t, c.List(t.Context(), conn, nil, &keeper{}), port.SourceNotFound)
		if problems, err := c.Check(t.Context(), conn); err != nil || len(problems) != 1 || problems[0].Field != "config.ref" {
			t.Errorf("%q: %v, %v", ref, problems, err)
		}
	}
	wantCode(t, c.List(t.Context(), connection(r.url, nil, `"ref": "`+strings.Repeat("ab", 20)+`"`), nil, &keeper{}),
		port.SourceUnavailable)
}

// TestOtherEntries: links are left out, submodules and files of Git LFS are named.
func TestOtherEntries(t *testing.T) {
	r := newRemote(t)
	c, conn := connect(t, r, nil), connection(r.url, nil)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 1\n"
	r.set(t, map[string]string{"a.txt": "A", "large.bin": pointer, "about.txt": pointer + strings.Repeat("More. ", 200)},
		`M 120000 inline "link"`, "data 5", "a.txt", `M 160000 `+strings.Repeat("12", 20)+` "module"`,
		`M 100755 inline "run.sh"`, "data 2", "ls")
	k := list(t, c, conn, nil)
	wantKeys(t, k, "a.txt", "about.txt", "large.bin", "module", "run.sh")
	if len(k.problems) > 0 {
		t.Error(k.problems)
	}
	for key, want := range map[string]port.SourceCode{"a.txt": "", "about.txt": "", "run.sh": "", "large.bin": port.SourceSkipped,
		"module": port.SourceSkipped, "link": port.SourceNotFound, "a.txt/b": port.SourceNotFound, "b": port.SourceNotFound} {
		content, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: key})
		if want != "" {
			wantCode(t, err, want)
		} else if err != nil || len(content.File.Content) == 0 || content.File.Name != key || len(content.Version) != 40 {
			t.Errorf("%s: %+v, %v", key, content, err)
		}
	}
}

// TestPatterns: a folder that is left out takes what lies in it along.
func TestPatterns(t *testing.T) {
	r := newRemote(t)
	r.set(t, map[string]string{"a.md": "x", "a.txt": "x", "docs/b.md": "x", "vendor/c.md": "x", ".github/d.md": "x",
		"docs/.e.md": "x"})
	c := connect(t, r, nil)
	wantKeys(t, list(t, c, connection(r.url, nil, `"include": ["*.md"]`, `"exclude": ["vendor"]`), nil), "a.md", "docs/b.md")
}

// TestFilteredBlobs: what is too large is not even sent, where the server can leave it out.
func TestFilteredBlobs(t *testing.T) {
	r := newRemote(t)
	git(t, r.path, "", "config", "uploadpack.allowFilter", "true")
	c := connect(t, r, func(s *connector.Settings) { s.MaxPack = 100 << 10 })
	conn := connection(r.url, nil)
	r.set(t, map[string]string{"a.txt": "A", "fits.txt": strings.Repeat("x", maxItem), "large.bin": noise(1 << 20)})
	wantKeys(t, list(t, c, conn, nil), "a.txt", "fits.txt", "large.bin")
	for _, key := range []string{"a.txt", "fits.txt"} {
		if _, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: key}); err != nil {
			t.Errorf("%s: %v", key, cause(err))
		}
	}
	_, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: "large.bin"})
	wantCode(t, err, port.SourceTooLarge)
}

// noise is text that nothing packs.
func noise(n int) string {
	b, x := make([]byte, n), uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 32)
	}
	return string(b)
}

// TestPackLimits: what is sent, what one object expands to and what all do is bounded.
func TestPackLimits(t *testing.T) {
	r := newRemote(t)
	conn := connection(r.url, nil)
	r.set(t, map[string]string{"large.bin": noise(1 << 20)})
	c := connect(t, r, func(s *connector.Settings) { s.MaxPack = 100 << 10 })
	wantCode(t, c.List(t.Context(), conn, nil, &keeper{}), port.SourceTooLarge)

	r.set(t, map[string]string{"bomb.bin": strings.Repeat("\x00", 5<<20)}) // some 5 KiB, as it is sent
	wantCode(t, connect(t, r, nil).List(t.Context(), conn, nil, &keeper{}), port.SourceTooLarge)

	many := map[string]string{}
	for i := range 4 {
		many[fmt.Sprint(i)] = strings.Repeat(string(rune('a'+i)), 600<<10)
	}
	r.set(t, many) // 2.4 MiB of letters in a few KiB
	err := c.List(t.Context(), conn, nil, &keeper{})
	wantCode(t, err, port.SourceTooLarge)
	if err != nil && !strings.Contains(err.Error(), "1638400 bytes") {
		t.Error(err)
	}
	wantKeys(t, list(t, connect(t, r, nil), conn, nil), sorted(many)...)
	if files, err := filepath.Glob(filepath.Join(os.TempDir(), "mneme-git-*.pack")); err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// TestTreeBomb: a small pack that names a file 10 to the 9th times over.
func TestTreeBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("it lists a million names")
	}
	r := newRemote(t)
	r.set(t, map[string]string{"a.txt": "A"})
	tree := git(t, r.path, "", "rev-parse", "main^{tree}")
	for range 9 {
		var b strings.Builder
		for i := range 10 {
			fmt.Fprintf(&b, "040000 tree %s\td%d\n", tree, i)
		}
		tree = git(t, r.path, b.String(), "mktree")
	}
	commit := git(t, r.path, "", "commit-tree", "-m", "bomb", tree)
	git(t, r.path, "", "update-ref", "refs/heads/main", commit)
	c := connect(t, r, nil)
	k := &counter{}
	if err := c.List(t.Context(), connection(r.url, nil), nil, k); err != nil || k.items > 1_000_000 || len(k.problems) == 0 ||
		k.problems[0].Code != port.SourceTooLarge {
		t.Errorf("%d items, %v, %v", k.items, k.problems, err)
	}
}

type counter struct {
	keeper
	items int
}

func (c *counter) Item(context.Context, port.SourceItem) error {
	c.items++
	return nil
}
func (c *counter) Checkpoint(context.Context, []byte) error { return nil }

// TestBrokenPacks: whatever comes in place of a pack, it is an error.
func TestBrokenPacks(t *testing.T) {
	r := newRemote(t)
	conn := connection(r.url, nil)
	items := map[string]string{}
	for i := range 50 {
		items[fmt.Sprintf("%d.txt", i)] = strings.Repeat(fmt.Sprintf("line %d\n", i), 50)
	}
	r.set(t, items)
	c := connect(t, r, nil)
	for _, bytes := range []string{"", "0000", "0008NAK\n", "0008NAK\nPACK", "0009ERR x", "garbage",
		"0008NAK\n000dPACK\x00\x00\x00\x02\xff\xff\xff\xff",
		strings.Repeat("\x00", 1000), "0008NAK\n0006\x01P0006\x03x"} {
		r.answer(func(w http.ResponseWriter, q *http.Request) bool {
			if q.Method == http.MethodPost {
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				_, _ = w.Write([]byte(bytes))
			}
			return q.Method == http.MethodPost
		})
		k := &keeper{}
		wantCode(t, c.List(t.Context(), conn, nil, k), port.SourceUnavailable)
		if k.complete || len(k.items) > 0 {
			t.Errorf("%q: %+v", bytes, k)
		}
	}
	for _, bytes := range []string{"", "0000", "garbage", "001e# service=git-upload-pack\n",
		"001e# service=git-upload-pack\n0000ffff"} {
		r.answer(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_, _ = w.Write([]byte(bytes))
			return true
		})
		k := &keeper{}
		wantCode(t, c.List(t.Context(), conn, nil, k), port.SourceUnavailable)
	}
	r.answer(nil)
	wantKeys(t, list(t, c, conn, nil), sorted(items)...)
}

// TestStatus: what the server answers is told apart.
func TestStatus(t *testing.T) {
	r := newRemote(t)
	r.set(t, map[string]string{"a.txt": "A"})
	c := connect(t, r, nil)
	for status, want := range map[int]port.SourceCode{401: port.SourceCredentials, 403: port.SourceForbidden,
		404: port.SourceNotFound,
		410: port.SourceNotFound, 429: port.SourceRateLimited, 500: port.SourceUnavailable, 503: port.SourceUnavailable,
		200: port.SourceConfig} {
		r.answer(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			return true
		})
		err := c.List(t.Context(), connection(r.url, nil), nil, &keeper{})
		wantCode(t, err, want)
		var why *port.SourceError
		if errors.As(err, &why) && status != 200 && why.RetryAfter != 7*time.Second {
			t.Errorf("status %d: wait for %s", status, why.RetryAfter)
		}
	}
}

// TestRefusals: what is said of a token is said where there was one, and a wait of a day is not
// believed.
func TestRefusals(t *testing.T) {
	r := newRemote(t)
	c := connect(t, r, nil)
	r.answer(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	for says, secrets := range map[string]map[string]string{"wants a token": nil, "not take the token": {"token": token}} {
		err := c.List(t.Context(), connection(r.url, secrets), nil, &keeper{})
		var why *port.SourceError
		if !errors.As(err, &why) || !strings.Contains(why.Message, says) || why.RetryAfter != 0 {
			t.Errorf("%s, want %q", cause(err), says)
		}
	}
}

// TestRedirects: to a new name on the host, and nowhere else; the token stays with the host.
func TestRedirects(t *testing.T) {
	r, other := newRemote(t), newRemote(t)
	r.set(t, map[string]string{"a.txt": "A"})
	other.set(t, map[string]string{"b.txt": "B"})
	c := connect(t, r, func(s *connector.Settings) { s.Private = append(s.Private, other.network) })
	base := strings.TrimSuffix(r.url, "/repo.git")
	to := base
	r.answer(func(w http.ResponseWriter, q *http.Request) bool {
		path, old := strings.CutPrefix(q.URL.Path, "/old")
		if old {
			http.Redirect(w, q, to+path+"?"+q.URL.RawQuery, http.StatusMovedPermanently)
		}
		return old || wantsToken(w, q)
	})
	leaked := false
	other.answer(func(_ http.ResponseWriter, q *http.Request) bool {
		leaked = leaked || q.Header.Get("Authorization") != ""
		return false
	})
	conn := connection(base+"/old/repo.git", map[string]string{"token": token})
	wantKeys(t, list(t, c, conn, nil), "a.txt")
	to = strings.TrimSuffix(other.url, "/repo.git")
	wantCode(t, c.List(t.Context(), conn, nil, &keeper{}), port.SourceForbidden)
	if leaked || other.asked.Load() == 0 {
		t.Errorf("the token went along: %v; requests: %d", leaked, other.asked.Load())
	}
}

// TestSilence: a server that says nothing for too long is given up.
func TestSilence(t *testing.T) {
	r := newRemote(t)
	r.set(t, map[string]string{"a.txt": "A"})
	c := connect(t, r, func(s *connector.Settings) { s.Idle = 50 * time.Millisecond })
	r.answer(func(w http.ResponseWriter, q *http.Request) bool {
		<-q.Context().Done()
		return true
	})
	err := c.List(t.Context(), connection(r.url, nil), nil, &keeper{})
	wantCode(t, err, port.SourceUnavailable)
	if err != nil && !strings.Contains(err.Error(), "in time") {
		t.Error(err)
	}
}

// TestKept: what was fetched is there for the items of a run, and for those of a retry.
func TestKept(t *testing.T) {
	r := newRemote(t)
	r.set(t, map[string]string{"a.txt": "A", "b.txt": "B"})
	c := connect(t, r, nil)
	conn := connection(r.url, nil)
	wantFetch := func(c *connector.Connector, conn port.Connection, want string, packs int32) {
		t.Helper()
		before := r.packs.Load()
		content, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: "a.txt", Version: "old"})
		if err != nil || string(content.File.Content) != want || r.packs.Load() != before+packs {
			t.Errorf("%q, %v, %d packs", content.File.Content, cause(err), r.packs.Load()-before)
		}
	}
	wantFetch(c, conn, "A", 1) // a retry, without a listing
	wantFetch(c, conn, "A", 0)
	r.set(t, map[string]string{"a.txt": "A2"})
	wantFetch(c, conn, "A", 0)
	list(t, c, conn, nil)
	wantFetch(c, conn, "A2", 0)
	// Another's secrets do not open it.
	other := connection(r.url, map[string]string{"token": "x"})
	wantFetch(c, other, "A2", 1)
	short := connect(t, r, func(s *connector.Settings) { s.Keep = time.Nanosecond })
	wantFetch(short, conn, "A2", 1)
	for before := r.packs.Load(); r.packs.Load() == before; { // until it is given up
		if _, err := short.Fetch(t.Context(), conn, port.SourceItem{Key: "a.txt"}); err != nil {
			t.Fatal(cause(err))
		}
	}
}

// TestSSH: paths as scp takes them, a key with a passphrase, and a host that is another.
func TestSSH(t *testing.T) {
	r := newRemote(t)
	r.set(t, map[string]string{"a.txt": "A"})
	private, public := keyPair(t, "open sesame")
	at, line := serveSSH(t, r.dir, public.PublicKey())
	_, otherLine := serveSSH(t, r.dir, public.PublicKey())
	host, _, _ := strings.Cut(line, " ")
	_, otherKey, _ := strings.Cut(otherLine, " ")
	secrets := map[string]string{"ssh_key": private, "ssh_passphrase": "open sesame"}
	c := connect(t, r, func(s *connector.Settings) { s.SSHHosts = []string{line} })
	for _, path := range []string{r.path, "/~/repo.git"} {
		wantKeys(t, list(t, c, connection("ssh://git@"+at+path, secrets), nil), "a.txt")
	}
	// Where a URL names no user it is git.
	wantKeys(t, list(t, c, connection("ssh://"+at+r.path, secrets), nil), "a.txt")
	wantCode(t, c.List(t.Context(), connection("ssh://root@"+at+r.path, secrets), nil, &keeper{}), port.SourceCredentials)
	// What a path holds is no command.
	for _, path := range []string{"/x';touch%20pwned;'", "/$(touch%20pwned)", "/`touch%20pwned`", "/!touch"} {
		wantCode(t, c.List(t.Context(), connection("ssh://git@"+at+path, secrets), nil, &keeper{}), port.SourceNotFound)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "pwned")); err == nil {
		t.Error("a path was run")
	}
	for name, wrong := range map[string]struct {
		secrets map[string]string
		field   string
		says    string
	}{
		"no passphrase": {map[string]string{"ssh_key": private}, "secrets.ssh_passphrase", "is needed"},
		"wrong passphrase": {map[string]string{"ssh_key": private, "ssh_passphrase": "x"}, "secrets.ssh_key",
			"another passphrase"},
	} {
		problems, err := c.Check(t.Context(), connection("ssh://git@"+at+r.path, wrong.secrets))
		if err != nil || len(problems) != 1 || problems[0].Field != wrong.field ||
			!strings.Contains(problems[0].Message, wrong.says) {
			t.Errorf("%s: %v, %v", name, problems, err)
		}
	}
	betrayed := connect(t, r, func(s *connector.Settings) { s.SSHHosts = []string{host + " " + otherKey} })
	wantCode(t, betrayed.List(t.Context(), connection("ssh://git@"+at+r.path, secrets), nil, &keeper{}), port.SourceForbidden)
}

const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

func TestSettings(t *testing.T) {
	for _, s := range []connector.Settings{
		{Private: []string{"not a network"}},
		{SSHHosts: []string{"github.com"}},
		{SSHHosts: []string{"@cert-authority * " + hostKey}},
		{SSHHosts: []string{"*.example.com " + hostKey}},
	} {
		if _, err := connector.New(s); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
	c, err := connector.New(connector.Settings{
		SSHHosts: []string{"github.com,140.82.121.3 " + hostKey}})
	if err != nil {
		t.Fatal(err)
	}
	// Each of these is found wanting before anything is dialled.
	for url, want := range map[string]string{
		"git@github.com:a/b.git": "secrets.ssh_key", "ssh://GitHub.com/a/b": "secrets.ssh_key",
		"github.com:a/b":              "secrets.ssh_key",
		"ssh://git@github.com:2222/a": "config.url", "ssh://git:word@github.com/a": "config.url", "https://": "config.url",
		"x":                   "config.url",
		"https://example.com": "config.url", "https://example.com/a?b=c": "config.url", "https://example.com/a#b": "config.url",
		"ftp://example.com/a": "config.url", "https://exa\nmple.com/a": "config.url", "/srv/repo": "config.url",
		"-oProxyCommand=x:y": "config.url",
		"http://10.0.0.1/a":  "config.url",
	} {
		problems, err := c.Check(t.Context(), connection(url, nil))
		if err != nil || len(problems) != 1 || problems[0].Field != want {
			t.Errorf("%q: %v, %v, want %s", url, problems, err, want)
		}
	}
	if err := c.Revoke(t.Context(), port.Connection{}); err != nil {
		t.Error(err)
	}
}

// TestRegistered: the component keeps to what the operator allows.
func TestRegistered(t *testing.T) {
	remote := newRemote(t)
	remote.set(t, map[string]string{"a.txt": "abc", "b.txt": "abcd"})
	r := registry.New()
	connector.Register(r)
	info, ok := r.Source.Component("git")
	if !ok {
		t.Fatal("the component is not registered under its name")
	}
	open := func(reach registry.Reach) port.Connector {
		t.Helper()
		c, err := r.Source.Open(t.Context(), info.Select(), registry.Env{Reach: reach, CacheDir: t.TempDir()})
		if err != nil || c.Kind().Name != "git" {
			t.Fatal(c, err)
		}
		return c
	}
	conn := connection(remote.url, nil)
	wantCode(t, open(registry.Reach{MaxItem: 3}).List(t.Context(), conn, nil, &keeper{}), port.SourceForbidden)
	c := open(registry.Reach{MaxItem: 3, Private: []string{remote.network}})
	if content, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: "a.txt"}); err != nil ||
		string(content.File.Content) != "abc" {
		t.Errorf("%+v, %v", content, cause(err))
	}
	_, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: "b.txt"})
	wantCode(t, err, port.SourceTooLarge)
}

// TestLargeObjects: an object may be twice as large as a file that is read, and 4 MiB where that is
// more; what a file begins with does not count as a size.
func TestLargeObjects(t *testing.T) {
	r := newRemote(t)
	conn := connection(r.url, nil)
	r.set(t, map[string]string{"large.bin": strings.Repeat("\x00", 4<<20), "odd.bin": "\x01\xff\xff\xff\xff\xff\x7f"})
	wantKeys(t, list(t, connect(t, r, nil), conn, nil), "large.bin", "odd.bin")
	r.set(t, map[string]string{"larger.bin": strings.Repeat("\x00", 5<<20)})
	c := connect(t, r, func(s *connector.Settings) { s.MaxItem = 3 << 20 })
	wantKeys(t, list(t, c, conn, nil), "larger.bin")
}

// TestDepth: a tree that is too deep is a problem, and no end of the listing.
func TestDepth(t *testing.T) {
	r := newRemote(t)
	c, conn := connect(t, r, nil), connection(r.url, nil)
	last := strings.Repeat("d/", 100) + "last.txt"
	r.set(t, map[string]string{last: "x", strings.Repeat("d/", 101) + "over.txt": "x", "z.txt": "x"})
	k := list(t, c, conn, nil)
	wantKeys(t, k, last, "z.txt")
	if len(k.problems) != 1 || k.problems[0].Code != port.SourceTooLarge {
		t.Errorf("%+v", k.problems)
	}
	if content, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: last}); err != nil || string(content.File.Content) != "x" {
		t.Errorf("%+v, %v", content, cause(err))
	}
}

// TestPointerSize: what begins like a file of Git LFS and has 1024 bytes is none.
func TestPointerSize(t *testing.T) {
	r := newRemote(t)
	c, conn := connect(t, r, nil), connection(r.url, nil)
	const begin = "version https://git-lfs.github.com/spec/"
	r.set(t, map[string]string{"a.txt": begin + strings.Repeat("x", 1024-len(begin))})
	content, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: "a.txt"})
	if err != nil || len(content.File.Content) != 1024 {
		t.Errorf("%d bytes, %v", len(content.File.Content), cause(err))
	}
}

// TestNoDefaultBranch: a repository whose default branch is not there has its other ones.
func TestNoDefaultBranch(t *testing.T) {
	r := newRemote(t)
	c := connect(t, r, nil)
	r.set(t, map[string]string{"a.txt": "A"})
	git(t, r.path, "", "symbolic-ref", "HEAD", "refs/heads/none")
	wantKeys(t, list(t, c, connection(r.url, nil, `"ref": "main"`), nil), "a.txt")
	wantCode(t, c.List(t.Context(), connection(r.url, nil), nil, &keeper{}), port.SourceNotFound)
	// A space in a URL is one of the repository's path.
	_, err := c.Check(t.Context(), connection(strings.Replace(r.url, "repo", "no repo", 1), nil))
	wantCode(t, err, port.SourceNotFound)
}

// TestHeadAlone: a repository without branches and tags has what its default name leads to.
func TestHeadAlone(t *testing.T) {
	r := newRemote(t)
	r.set(t, map[string]string{"a.txt": "A"})
	git(t, r.path, "", "update-ref", "--no-deref", "HEAD", r.head(t))
	git(t, r.path, "", "update-ref", "-d", "refs/heads/main")
	wantKeys(t, list(t, connect(t, r, nil), connection(r.url, nil), nil), "a.txt")
}

// TestInUse: a listing reads on in what it has, though another took its place, and nothing is left
// open once nobody uses it.
func TestInUse(t *testing.T) {
	r := newRemote(t)
	conn := connection(r.url, nil)
	r.set(t, map[string]string{"a.txt": "A", "b/c.txt": "C"})
	c := connect(t, r, func(s *connector.Settings) { s.Keep = time.Nanosecond })
	k := &holder{hold: func() {
		for before := r.packs.Load(); r.packs.Load() == before; { // until the listing's own is given up
			if _, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: "a.txt"}); err != nil {
				t.Error(cause(err))
				return
			}
		}
	}}
	if err := c.List(t.Context(), conn, nil, k); err != nil || len(k.problems) > 0 {
		t.Errorf("%v, %+v", cause(err), k.problems)
	}
	wantKeys(t, &k.keeper, "a.txt", "b/c.txt")
	for began := time.Now(); packs(t) > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d packs stay open", packs(t))
		}
	}
}

// packs counts the packs that this process has open, where the system tells that.
func packs(t *testing.T) (n int) {
	t.Helper()
	const open = "/proc/self/fd"
	entries, err := os.ReadDir(open)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(open, e.Name())); err == nil && strings.Contains(to, "mneme-git-") &&
			strings.Contains(to, ".pack") && strings.Contains(to, t.Name()) {
			n++
		}
	}
	return n
}

// holder does something after each item.
type holder struct {
	keeper
	hold func()
}

func (h *holder) Item(ctx context.Context, item port.SourceItem) error {
	h.hold()
	return h.keeper.Item(ctx, item)
}
