package s3_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/mnemehq/mneme/adapters/source/s3"
	"github.com/mnemehq/mneme/adapters/source/sourcetest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

const (
	maxItem   = 64 << 10
	accessKey = "AKIAEXAMPLEOFTESTS"
	secretKey = "a-secret-that-nobody-may-see"
)

// modified is when every object was: what tells them apart is their hash. A list says it to
// the millisecond, and an object's own answer to the second.
var modified = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

var keys = map[string]string{"access_key_id": accessKey, "secret_access_key": secretKey}

// server speaks the protocol of S3 to one key. gofakes3 looks at no key, so that this is
// done before it.
type server struct {
	*httptest.Server
	backend *s3mem.Backend
	held    map[string]string
	handler atomic.Value // func(w, r) bool: true: it has answered
}

func serve(t *testing.T) *server {
	t.Helper()
	s := &server{backend: s3mem.New(s3mem.WithTimeSource(gofakes3.FixedTimeSource(modified))), held: map[string]string{}}
	if err := s.backend.CreateBucket("docs"); err != nil {
		t.Fatal(err)
	}
	s.answer(nil)
	fake := gofakes3.New(s.backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.handler.Load().(func(http.ResponseWriter, *http.Request) bool)(w, r) {
			fake.ServeHTTP(w, r)
		}
	}))
	s.Config.ErrorLog = log.New(bytes.NewBuffer(nil), "", 0)
	t.Cleanup(s.Close)
	return s
}

// answer puts a handler before the server's own; nil: none.
func (s *server) answer(h func(http.ResponseWriter, *http.Request) bool) {
	if h == nil {
		h = func(http.ResponseWriter, *http.Request) bool { return false }
	}
	s.handler.Store(h)
}

// refuse answers with an error of the protocol.
func refuse(w http.ResponseWriter, status int, code string) bool {
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}{Code: code, Message: "no"})
	return true
}

// wantsKey refuses who has not signed with the key.
func wantsKey(w http.ResponseWriter, r *http.Request) bool {
	by, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
	switch by {
	case accessKey:
		return false
	case "":
		return refuse(w, http.StatusForbidden, "AccessDenied")
	}
	return refuse(w, http.StatusForbidden, "InvalidAccessKeyId")
}

// set makes the bucket hold these objects.
func (s *server) set(t *testing.T, items map[string]string) {
	t.Helper()
	for name := range s.held {
		if _, ok := items[name]; !ok {
			if _, err := s.backend.DeleteObject("docs", name); err != nil {
				t.Fatal(err)
			}
			delete(s.held, name)
		}
	}
	for name, text := range items {
		if was, ok := s.held[name]; !ok || was != text {
			meta := map[string]string{"Content-Type": "text/plain; charset=utf-8",
				"Last-Modified": modified.Format(http.TimeFormat)}
			if _, err := s.backend.PutObject("docs", name, meta, strings.NewReader(text), int64(len(text)), nil); err != nil {
				t.Fatal(err)
			}
			s.held[name] = text
		}
	}
}

func (s *server) connect(t *testing.T) *s3.Connector {
	t.Helper()
	c, err := s3.New(s3.Settings{Private: []string{s.Listener.Addr().String()}, MaxItem: maxItem})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// connection is one to a bucket; more are further fields of its configuration.
func connection(endpoint, bucket string, secrets map[string]string, more ...string) port.Connection {
	at, _ := json.Marshal(endpoint)
	fields := append([]string{`"bucket": "` + bucket + `"`, `"endpoint": ` + string(at)}, more...)
	return port.Connection{Source: "src_1", Config: json.RawMessage("{" + strings.Join(fields, ", ") + "}"), Secrets: secrets}
}

func TestContract(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Upstream {
		s := serve(t)
		s.answer(wantsKey)
		wrong := func(name, field string, code port.SourceCode, conn port.Connection) sourcetest.Wrong {
			return sourcetest.Wrong{Name: name, Connection: conn, Field: field, Code: code}
		}
		fail := func(*testing.T) func() {
			s.answer(func(w http.ResponseWriter, _ *http.Request) bool {
				return refuse(w, http.StatusNotImplemented, "NotImplemented")
			})
			return func() { s.answer(wantsKey) }
		}
		stranger := map[string]string{"access_key_id": "AKIASTRANGER", "secret_access_key": "a-strange-secret"}
		return sourcetest.Upstream{
			Connector:  s.connect(t),
			Connection: connection(s.URL, "docs", keys, `"region": "us-east-1"`, `"hidden": true`),
			Set:        s.set,
			Key: func(name string) string {
				switch name {
				case "new\nline.txt":
					return "/new%0Aline.txt"
				case "tab\t.txt":
					return "/tab%09.txt"
				case "/rooted.txt":
					return "/%2Frooted.txt"
				}
				return name
			},
			Hostile: []string{"/rooted.txt"},
			Many:    1100,
			MaxItem: maxItem,
			Crowd: func(t *testing.T, n int) {
				items := map[string]string{}
				for i := range n {
					items[fmt.Sprintf("folder-%d/an-object-with-some-name-%d.txt", i%20, i)] = "the same"
				}
				s.set(t, items)
			},
			Crowded:     20_000,
			Break:       fail,
			BreakMidway: fail,
			Hang: func(*testing.T) func() {
				release := make(chan struct{})
				s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
					select {
					case <-release:
					case <-r.Context().Done():
					}
					return true
				})
				return func() { close(release) }
			},
			Vanish: func(t *testing.T) {
				if err := s.backend.ForceDeleteBucket("docs"); err != nil {
					t.Fatal(err)
				}
			},
			Wrong: []sourcetest.Wrong{
				wrong("no bucket", "", port.SourceNotFound, connection(s.URL, "none", keys)),
				wrong("no key", "", port.SourceForbidden, connection(s.URL, "docs", nil)),
				wrong("wrong key", "", port.SourceCredentials, connection(s.URL, "docs", stranger)),
				wrong("private", "", port.SourceForbidden, connection("http://10.255.255.1:9000", "docs", keys)),
				wrong("half a key", "secrets.secret_access_key", port.SourceConfig,
					connection(s.URL, "docs", map[string]string{"access_key_id": accessKey})),
				wrong("the other half", "secrets.access_key_id", port.SourceConfig,
					connection(s.URL, "docs", map[string]string{"secret_access_key": secretKey})),
				wrong("a name", "config.bucket", port.SourceConfig, connection(s.URL, "no/bucket", keys)),
				wrong("a path", "config.endpoint", port.SourceConfig, connection(s.URL+"/docs", "docs", keys)),
				wrong("a file", "config.endpoint", port.SourceConfig, connection("file:///etc", "docs", keys)),
				wrong("a user", "config.endpoint", port.SourceConfig, connection("https://a:b@example.com", "docs", keys)),
				wrong("clear text", "secrets.session_token", port.SourceConfig, connection(s.URL, "docs",
					map[string]string{"access_key_id": accessKey, "secret_access_key": secretKey,
						"session_token": "a-session-token"})),
				wrong("pattern", "config.include[0]", port.SourceConfig, connection(s.URL, "docs", keys, `"include": ["["]`)),
			},
		}
	})
}

func list(t *testing.T, c *s3.Connector, conn port.Connection, want ...string) *sourcetest.Kept {
	t.Helper()
	k := &sourcetest.Kept{}
	if err := c.List(t.Context(), conn, nil, k); err != nil || !k.Snapshot || len(k.Problems) > 0 {
		t.Fatalf("%v, complete: %v, %v", sourcetest.Cause(err), k.Snapshot, k.Problems)
	}
	if got := k.Keys(); want != nil && !slices.Equal(got, want) {
		t.Errorf("listed: %q\n  want: %q", got, want)
	}
	return k
}

// TestChoice: by prefix and patterns, without the marks of folders; a public bucket needs no key.
func TestChoice(t *testing.T) {
	s := serve(t)
	s.set(t, map[string]string{"docs/": "", "docs/a.md": "x", "docs/b.txt": "x", "docs/old/c.md": "x", "other/d.md": "x",
		"docs/.hidden/e.md": "x"})
	c := s.connect(t)
	list(t, c, connection(s.URL, "docs", nil, `"prefix": "docs/"`), "docs/a.md", "docs/b.txt", "docs/old/c.md")
	conn := connection(s.URL, "docs", nil, `"prefix": "docs/"`, `"include": ["*.md"]`, `"exclude": ["old"]`)
	k := list(t, c, conn, "docs/a.md")
	content, err := c.Fetch(t.Context(), conn, k.Items[0])
	if err != nil || content.File.Name != "a.md" || content.File.MediaType != "text/plain" ||
		content.Version != k.Items[0].Version {
		t.Errorf("%+v, %v; listed as %s", content, sourcetest.Cause(err), k.Items[0].Version)
	}
	_, err = c.Fetch(t.Context(), conn, port.SourceItem{Key: "other/d.md"}) // beside the source
	sourcetest.WantCode(t, err, port.SourceNotFound)
}

// TestChangeMeanwhile: an object that changed since it was listed is kept as it was read.
func TestChangeMeanwhile(t *testing.T) {
	s := serve(t)
	s.set(t, map[string]string{"a.txt": "listed"})
	c, conn := s.connect(t), connection(s.URL, "docs", nil)
	item := list(t, c, conn, "a.txt").Items[0]
	s.set(t, map[string]string{"a.txt": "changed since"})
	content, err := c.Fetch(t.Context(), conn, item)
	if err != nil || string(content.File.Content) != "changed since" || content.Version == item.Version {
		t.Fatalf("%+v, %v", content, sourcetest.Cause(err))
	}
	if next := list(t, c, conn, "a.txt").Items[0]; next.Version != content.Version {
		t.Errorf("fetched as %s, listed as %s", content.Version, next.Version)
	}
}

// TestErrors: what the server answers is told apart.
func TestErrors(t *testing.T) {
	s := serve(t)
	s.set(t, map[string]string{"a.txt": "A"})
	c, conn := s.connect(t), connection(s.URL, "docs", keys, `"region": "us-east-1"`)
	for code, want := range map[string]port.SourceCode{"InvalidObjectState": port.SourceSkipped,
		"AccessDenied": port.SourceForbidden,
		"ExpiredToken": port.SourceCredentials, "SignatureDoesNotMatch": port.SourceCredentials, "NoSuchKey": port.SourceNotFound,
		"NoSuchBucket": port.SourceNotFound, "SomethingElse": port.SourceUnavailable} {
		s.answer(func(w http.ResponseWriter, _ *http.Request) bool { return refuse(w, http.StatusForbidden, code) })
		_, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: "a.txt"})
		sourcetest.WantCode(t, err, want)
	}
	s.answer(func(w http.ResponseWriter, _ *http.Request) bool { // to where the key must not go
		w.Header().Set("Location", "http://169.254.169.254/latest/meta-data")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	})
	k := &sourcetest.Kept{}
	if err := c.List(t.Context(), conn, nil, k); err == nil || k.Snapshot {
		t.Errorf("a redirect was a listing: %v", err)
	}
	s.answer(func(w http.ResponseWriter, r *http.Request) bool { // nor to the server's own, under another name
		if r.URL.Query().Has("again") {
			t.Error("a redirect was followed")
		}
		w.Header().Set("Location", r.URL.RequestURI()+"&again=1")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	})
	if err := c.List(t.Context(), conn, nil, k); err == nil || k.Snapshot {
		t.Errorf("a redirect was a listing: %v", err)
	}
	s.answer(func(w http.ResponseWriter, _ *http.Request) bool { // a page that breaks off
		_, _ = w.Write([]byte("<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a.txt</Key></Contents>"))
		return true
	})
	sourcetest.WantCode(t, c.List(t.Context(), conn, nil, k), port.SourceUnavailable)
	if k.Snapshot {
		t.Error("a page that broke off completed a listing")
	}
	s.answer(func(w http.ResponseWriter, _ *http.Request) bool { // a body that does
		w.Header().Set("Content-Length", "100")
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		_, _ = w.Write([]byte("the beginning"))
		return true
	})
	_, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: "a.txt"})
	sourcetest.WantCode(t, err, port.SourceUnavailable)
}

// TestOtherOrder: a server that lists in another order is listed whole, without a place to
// go on from.
func TestOtherOrder(t *testing.T) {
	s := serve(t)
	page := func(from int, more bool) string {
		var b strings.Builder
		fmt.Fprintf(&b, "<ListBucketResult><IsTruncated>%v</IsTruncated><NextContinuationToken>%d</NextContinuationToken>",
			more, from)
		for i := range 600 {
			fmt.Fprintf(&b,
				"<Contents><Key>%04d.txt</Key><ETag>%s</ETag><Size>1</Size>"+
					"<LastModified>2026-01-02T03:04:05.678Z</LastModified></Contents>",
				from-i, strings.Repeat("e", 300))
		}
		return b.String() + "</ListBucketResult>"
	}
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = w.Write([]byte(page(2000, !r.URL.Query().Has("continuation-token"))))
		return true
	})
	k := list(t, s.connect(t), connection(s.URL, "docs", keys, `"region": "us-east-1"`))
	if len(k.Items) != 1200 || len(k.States) > 0 {
		t.Errorf("%d items, %d checkpoints", len(k.Items), len(k.States))
	}
	if v := k.Items[0].Version; len(v) == 0 || len(v) > 256 || v == k.Items[0].Key {
		t.Errorf("version %q", v)
	}
}

// TestOddAnswers: sizes that are none are not known, and versions are bounded.
func TestOddAnswers(t *testing.T) {
	s := serve(t)
	s.answer(func(w http.ResponseWriter, _ *http.Request) bool {
		fmt.Fprint(w, "<ListBucketResult>")
		for i, tag := range []string{"e", strings.Repeat("e", 114), strings.Repeat("e", 115)} {
			fmt.Fprintf(w, "<Contents><Key>%d.txt</Key><ETag>%s</ETag><Size>-7</Size>"+
				"<LastModified>2026-01-02T03:04:05.678Z</LastModified></Contents>", i, tag)
		}
		fmt.Fprint(w, "</ListBucketResult>")
		return true
	})
	k := list(t, s.connect(t), connection(s.URL, "docs", keys, `"region": "us-east-1"`), "0.txt", "1.txt", "2.txt")
	for i, want := range []int{15, 128, 64} {
		if item := k.Items[i]; item.Size != -1 || len(item.Version) != want {
			t.Errorf("%+v, want a version of %d bytes", item, want)
		}
	}
	_, secure, _ := strings.Cut(s.URL, "://")
	problems, err := s.connect(t).Check(t.Context(), connection("https://"+secure, "docs", keys, `"region": "us-east-1"`))
	if err == nil || len(problems) > 0 { // it speaks no TLS
		t.Errorf("%v, %v", problems, err)
	}
}

// TestRegistered: the component keeps to what the operator allows.
func TestRegistered(t *testing.T) {
	s := serve(t)
	s.set(t, map[string]string{"a.txt": "abc", "b.txt": "abcd"})
	r := registry.New()
	s3.Register(r)
	info, ok := r.Source.Component("s3")
	if !ok {
		t.Fatal("the component is not registered under its name")
	}
	open := func(reach registry.Reach) port.Connector {
		t.Helper()
		c, err := r.Source.Open(t.Context(), info.Select(), registry.Env{Reach: reach})
		if err != nil || c.Kind().Name != "s3" {
			t.Fatal(c, err)
		}
		return c
	}
	conn := connection(s.URL, "docs", nil)
	err := open(registry.Reach{MaxItem: 3}).List(t.Context(), conn, nil, &sourcetest.Kept{})
	sourcetest.WantCode(t, err, port.SourceForbidden)
	c := open(registry.Reach{MaxItem: 3, Private: []string{s.Listener.Addr().String()}})
	if content, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: "a.txt"}); err != nil ||
		string(content.File.Content) != "abc" {
		t.Errorf("%+v, %v", content, sourcetest.Cause(err))
	}
	_, err = c.Fetch(t.Context(), conn, port.SourceItem{Key: "b.txt"})
	sourcetest.WantCode(t, err, port.SourceTooLarge)
	if _, err := s3.New(s3.Settings{Private: []string{"not a network"}}); err == nil {
		t.Error("a network that is none is taken")
	}
	if err := c.Revoke(t.Context(), conn); err != nil {
		t.Error(err)
	}
}
