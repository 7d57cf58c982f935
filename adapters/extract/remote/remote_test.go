package remote_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/extracttest"
	"github.com/mnemehq/mneme/adapters/extract/remote"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

func file(t testing.TB, path, media string) port.File {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return port.File{Name: filepath.Base(path), MediaType: media, Content: content}
}

// files are those whose answers by a real Tika are in testdata; make.sh there records them.
func files(t testing.TB) map[string]port.File {
	return map[string]port.File{
		"doc":       file(t, "testdata/libreoffice.doc", "application/msword"),
		"rtf":       file(t, "testdata/letter.rtf", "text/rtf"),
		"pdf":       file(t, "../pdf/testdata/letter.pdf", "application/pdf"),
		"encrypted": file(t, "../pdf/testdata/encrypted.pdf", "application/pdf"),
		"scan":      file(t, "../pdf/testdata/scan.pdf", "application/pdf"),
		"eml":       file(t, "../mail/testdata/letter.eml", "message/rfc822"),
	}
}

// tika is the URL of a server that keeps to Tika's protocol and gives the answers of a real one to
// the files above, and to others what that answers to nonsense. Where MNEME_TEST_TIKA_URL names
// a real one, it is that.
func tika(t testing.TB) string {
	if url := os.Getenv("MNEME_TEST_TIKA_URL"); url != "" {
		return url
	}
	answers := map[[32]byte][]byte{}
	for _, f := range files(t) {
		answers[sha256.Sum256(f.Content)] = file(t, "testdata/"+f.Name+".json", "").Content
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		switch {
		case r.Method != http.MethodPut || r.URL.Path != "/rmeta/html":
			http.NotFound(w, r)
			return
		case r.Header.Get("Accept") != "application/json":
			w.WriteHeader(http.StatusNotAcceptable)
			return
		case err != nil || r.Header.Get("Content-Type") != "application/octet-stream":
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if _, params, err := mime.ParseMediaType(r.Header.Get("Content-Disposition")); err != nil || params["filename"] == "" {
			t.Errorf("Content-Disposition %q: %v", r.Header.Get("Content-Disposition"), err)
		}
		answer, ok := answers[sha256.Sum256(content)]
		if !ok {
			answer = []byte(`[{"X-TIKA:EXCEPTION:container_exception":"org.apache.tika.exception.TikaException: no\n\tat x"}]`)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func config(url string) remote.Config {
	c := remote.DefaultTika()
	c.URL, c.MediaTypes = url, []string{"application/msword", "text/rtf", "application/pdf", "message/rfc822"}
	return c
}

func openTika(t testing.TB, c remote.Config) *remote.Extractor {
	e, err := remote.OpenTika(c, extract.DefaultLimits(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

func TestTika(t *testing.T) {
	url, f := tika(t), files(t)
	odd := f["doc"]
	odd.Name = "Übergabe \"1\"\r\n.doc"
	extracttest.Run(t, extracttest.Suite{
		Open: func(t *testing.T) port.Extractor { return openTika(t, config(url)) },
		Cuts: 4,
		Samples: []extracttest.Sample{
			{File: f["doc"], Text: []string{"# The roastery’s handbook\n\n", "The shop opens at seven.", "## Prices\n\n",
				"| Bag | Price |"}},
			{File: odd, Text: []string{"# The roastery’s handbook"}},
			{File: f["rtf"], Title: "Lease", Text: []string{"# Lease\n\nThe notice is three months.\n\nSecond paragraph."},
				Metadata: map[string]any{"author": "Ann"}},
			{File: f["pdf"], Title: "Tide Tables for Keepers", Pages: 2, Page: map[int]string{1: "Harbour Spring",
				2: "nine knots"},
				Metadata: map[string]any{"author": "B. Mariner", "language": "en-US", "created_at": "2026-11-23T17:10:49Z"}},
			{File: f["eml"], Text: []string{"Die Kündigungsfrist", "## Übergabe.docx\n\n", "roastery", "## prices.csv\n\n"},
				Never: []string{"logo.png"}},
		},
		Refused: []extracttest.Refused{
			{Name: "encrypted", File: f["encrypted"], Code: port.FileEncrypted},
			{Name: "scan", File: f["scan"], Code: port.FileNoText},
		},
	})
}

// Through a set it reads formats that nothing else does, and files in which nothing else finds text.
func TestThroughASet(t *testing.T) {
	f := files(t)
	empty := reader(func(context.Context, port.File) (port.Extracted, error) {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text")
	})
	set := extract.New(extract.Settings{Fallback: openTika(t, config(tika(t))), Log: slog.New(slog.DiscardHandler)}, empty)
	for name, want := range map[string]string{"doc": "DOC", "rtf": "RTF", "pdf": "PDF"} {
		in := f[name]
		in.MediaType = ""
		if x, err := set.Extract(t.Context(), in); err != nil || x.Format.Name != want {
			t.Errorf("%s: %+v, %v", name, x.Format, err)
		}
	}
	if err := set.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// reader reads PDF.
type reader func(context.Context, port.File) (port.Extracted, error)

func (reader) Formats() []port.Format {
	return []port.Format{{MediaType: "application/pdf", Name: "PDF", Extensions: []string{".pdf"}}}
}

func (r reader) Extract(ctx context.Context, f port.File) (port.Extracted, error) { return r(ctx, f) }

// docling is a server that keeps to docling-serve's protocol, as its source has it, and answers what
// it is told.
func docling(t testing.TB, answer func(name, media string, content []byte) string) *remote.Extractor {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/api/v1/convert/file" {
			http.NotFound(w, r)
			return
		}
		if r.Header.Get("X-Api-Key") != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if err := r.ParseMultipartForm(1 << 20); err != nil || len(r.MultipartForm.File["files"]) != 1 ||
			r.FormValue("to_formats") != "md" || r.FormValue("document_timeout") != "120" {
			t.Errorf("%v %v", r.Form, err)
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		head := r.MultipartForm.File["files"][0]
		f, err := head.Open()
		if err != nil {
			t.Error(err)
			return
		}
		content, _ := io.ReadAll(f)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer(head.Filename, head.Header.Get("Content-Type"), content))
	}))
	t.Cleanup(s.Close)
	c := remote.DefaultDocling()
	c.URL, c.Headers = s.URL+"/api/", map[string]registry.Secret{"x-api-key": "secret"}
	e, err := remote.OpenDocling(c, extract.DefaultLimits(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestDocling(t *testing.T) {
	const scan = "%PDF-1.7\n"
	e := docling(t, func(name, media string, content []byte) string {
		if string(content) != scan {
			return `{"document": {"md_content": ""}, "status": "failure", "errors": [{"error_message": "not valid"}]}`
		}
		text := "## Notice\n\n<!-- image -->\n\nThree months. " + name + " " + media
		answer, _ := json.Marshal(map[string]any{"document": map[string]any{"filename": name, "md_content": text},
			"status": "success",
			"errors": []any{}, "processing_time": 1.5})
		return string(answer)
	})
	pdf := port.File{Name: "in/a scan.pdf", MediaType: "application/pdf", Content: []byte(scan)}
	var samples []extracttest.Sample
	for _, format := range e.Formats() {
		f := pdf
		f.MediaType = format.MediaType
		samples = append(samples, extracttest.Sample{File: f, Title: "Notice", Never: []string{"image -->"},
			Text: []string{"## Notice\n\n", "Three months. a scan.pdf application/pdf"}})
	}
	extracttest.Run(t, extracttest.Suite{
		Open: func(*testing.T) port.Extractor { return e }, Cuts: 2,
		Samples: samples,
		Refused: []extracttest.Refused{{Name: "broken", Code: port.FileBroken,
			File: port.File{Content: []byte("%PDF-1.7\nx")}}},
	})
	for name, want := range map[string]string{"": "file.pdf", "scan": "scan.pdf", "a/b": "b.pdf", "x.tif": "x.tif"} {
		f := pdf
		f.Name = name
		x, err := e.Extract(t.Context(), f)
		if err != nil || !strings.Contains(x.Sections[0].Text, " "+want+" ") {
			t.Errorf("%q: %v, %v", name, x.Sections, err)
		}
	}
}

func TestWhatDoclingSays(t *testing.T) {
	for answer, want := range map[string]port.FileCode{
		`{"status": "success", "document": {"md_content": " <!-- image --> "}}`: port.FileNoText,
		`{"status": "skipped"}`:               port.FileUnsupported,
		`{"status": "failure", "errors": []}`: port.FileBroken,
		`{"status": "done"}`:                  "",
		`{"detail": "x"}`:                     "",
		`<html>`:                              "",
		`{"status": "success", "document": "unexpected"`: "",
	} {
		e := docling(t, func(string, string, []byte) string { return answer })
		_, err := e.Extract(t.Context(), port.File{Name: "a.pdf", MediaType: "application/pdf", Content: []byte("x")})
		checkCode(t, answer, err, want, fault.Upstream)
	}
	e := docling(t, func(string, string, []byte) string {
		return `{"status": "partial_success", "document": {"md_content": "page one"},
			"errors": [{"error_message": "page two"}]}`
	})
	x, err := e.Extract(t.Context(), port.File{MediaType: "application/pdf", Content: []byte("x")})
	if err != nil || x.Metadata["partial"] != true || x.Sections[0].Text != "page one" {
		t.Errorf("%+v, %v", x, err)
	}
}

// checkCode wants a file's code, or where that is empty a fault.
func checkCode(t *testing.T, what string, err error, want port.FileCode, otherwise fault.Code) {
	t.Helper()
	var why *port.FileError
	switch {
	case want != "" && (!errors.As(err, &why) || why.Code != want):
		t.Errorf("%s: %v, want %s", what, err, want)
	case want == "" && (errors.As(err, &why) || fault.CodeOf(err) != otherwise):
		t.Errorf("%s: %v, want %s", what, err, otherwise)
	}
}

// answering is the URL of a server that does as it is told.
func answering(t *testing.T, do http.HandlerFunc) string {
	s := httptest.NewServer(do)
	t.Cleanup(s.Close)
	return s.URL
}

var rtf = port.File{Name: "a.rtf", MediaType: "text/rtf", Content: []byte(`{\rtf1 x}`)}

func TestStatuses(t *testing.T) {
	for status, want := range map[int]struct {
		code      port.FileCode
		otherwise fault.Code
	}{
		204: {port.FileNoText, ""}, 400: {port.FileBroken, ""}, 401: {"", fault.Upstream}, 404: {"", fault.Upstream},
		302: {"", fault.Upstream}, 413: {port.FileTooLarge, ""}, 415: {port.FileUnsupported, ""}, 422: {port.FileBroken, ""},
		429: {"", fault.Unavailable}, 500: {port.FileBroken, ""}, 502: {"", fault.Upstream}, 503: {"", fault.Unavailable},
	} {
		url := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			if status != 204 {
				_, _ = io.WriteString(w, "the password is hunter2")
			}
		})
		_, err := openTika(t, config(url)).Extract(t.Context(), rtf)
		checkCode(t, http.StatusText(status), err, want.code, want.otherwise)
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%d: what the server says is in %v", status, err)
		}
	}
}

func TestWaitingIsPassedOn(t *testing.T) {
	for said, want := range map[string]time.Duration{"": time.Second, "7": 7 * time.Second, "0": time.Second, "-1": time.Second,
		"3600": time.Hour, "3601": time.Second, "soon": time.Second} {
		url := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", said)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		_, err := openTika(t, config(url)).Extract(t.Context(), rtf)
		if got := fault.From(err).RetryAfter; got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
}

func TestAnswersOfTika(t *testing.T) {
	limits := extract.DefaultLimits()
	limits.Text = 100
	page := func(body string) string {
		raw, _ := json.Marshal([]map[string]any{{"X-TIKA:content": body}})
		return string(raw)
	}
	for _, c := range []struct {
		answer    string
		code      port.FileCode
		otherwise fault.Code
	}{
		{fmt.Sprintf("%-400s", page("<p>x</p>")), "", ""},
		{fmt.Sprintf("%-401s", page("<p>x</p>")), port.FileTooLarge, ""},
		{page(""), port.FileNoText, ""},
		{page("<p>\x00</p>"), port.FileNoText, ""},
		{`[]`, "", fault.Upstream},
		{`{}`, "", fault.Upstream},
		{`[{"dc:title": 1}]`, "", fault.Upstream},
		{`[{"X-TIKA:content": "<p>x`, "", fault.Upstream},
		{`[{"X-TIKA:EXCEPTION:container_exception": "x.EncryptedDocumentException: y"}]`, port.FileEncrypted, ""},
		{`[{"X-TIKA:EXCEPTION:container_exception": "x.TikaException\nencrypted"}]`, port.FileBroken, ""},
	} {
		url := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.answer) })
		e, err := remote.OpenTika(config(url), limits, nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := e.Extract(t.Context(), rtf)
		if c.code == "" && c.otherwise == "" {
			if err != nil || x.Sections[0].Text != "x" || x.Format.Name != "RTF" {
				t.Errorf("%q: %+v, %v", c.answer, x, err)
			}
			continue
		}
		checkCode(t, c.answer, err, c.code, c.otherwise)
	}
}

func TestPropertiesOfTika(t *testing.T) {
	url := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode([]map[string]any{
			{"dc:title": []string{"One", "Two"}, "dc:creator": []string{"Ann", "Bob"}, "dc:subject": " ",
				"dc:language": strings.Repeat("x", 1001),
				"X-TIKA:content": `<p>lead</p><div class="slide">first</div><div class="page">second</div>` +
					`<div class="page"></div><div class="page">last`},
			{"X-TIKA:content": `<div class="page">inner`, "resourceName": "a.txt"},
			{"X-TIKA:content": `unnamed`},
		})
	})
	x, err := openTika(t, config(url)).Extract(t.Context(), rtf)
	want := []port.Section{{Text: "lead"}, {Text: "first", Page: 1}, {Text: "second", Page: 2}, {Text: "last", Page: 4},
		{Text: "## a.txt\n\ninner"}, {Text: "unnamed"}}
	if err != nil || x.Title != "One" || !reflect.DeepEqual(x.Sections, want) ||
		!reflect.DeepEqual(x.Metadata, map[string]any{"author": "Ann, Bob"}) {
		t.Errorf("%+v, %v", x, err)
	}
}

func TestServerThatIsAway(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	_, err := openTika(t, config(s.URL)).Extract(t.Context(), rtf)
	checkCode(t, "closed", err, "", fault.Upstream)
	url := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "[")
	})
	_, err = openTika(t, config(url)).Extract(t.Context(), rtf)
	checkCode(t, "broken off", err, "", fault.Upstream)
}

func TestServerThatTakesTooLong(t *testing.T) {
	held := make(chan struct{})
	defer close(held)
	url := answering(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-held:
		case <-r.Context().Done():
		}
	})
	c := config(url)
	c.Timeout = time.Second
	_, err := openTika(t, c).Extract(t.Context(), rtf)
	checkCode(t, "too long", err, port.FileTimeout, "")
	ctx, leave := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, leave)
	if _, err = openTika(t, config(url)).Extract(ctx, rtf); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOtherKindsAreNotSent(t *testing.T) {
	url := answering(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	_, err := openTika(t, config(url)).Extract(t.Context(), port.File{MediaType: "text/plain", Content: []byte("x")})
	checkCode(t, "text", err, port.FileUnsupported, "")
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		change func(*remote.Config)
		says   string // "": it is right
	}{
		{func(*remote.Config) {}, ""},
		{func(c *remote.Config) { c.URL = "https://tika.example.org/a/" }, ""},
		{func(c *remote.Config) { c.URL = "" }, "url: must be an http or https address"},
		{func(c *remote.Config) { c.URL = "ftp://a" }, "url: must be an http or https"},
		{func(c *remote.Config) { c.URL = "http://" }, "url: must be an http or https"},
		{func(c *remote.Config) { c.URL = "http://a\x00" }, "url: must be an http or https"},
		{func(c *remote.Config) { c.URL = "http://u:p@a" }, "url: must have no user"},
		{func(c *remote.Config) { c.URL = "http://a?b" }, "url: must have no user"},
		{func(c *remote.Config) { c.URL = "http://a#b" }, "url: must have no user"},
		{func(c *remote.Config) { c.Timeout = time.Second }, ""},
		{func(c *remote.Config) { c.Timeout = time.Second - 1 }, "timeout: must be"},
		{func(c *remote.Config) { c.Timeout = 5 * time.Minute }, ""},
		{func(c *remote.Config) { c.Timeout = 5*time.Minute + 1 }, "timeout: must be"},
		{func(c *remote.Config) { c.Concurrency = 1 }, ""},
		{func(c *remote.Config) { c.Concurrency = 0 }, "concurrency: must be"},
		{func(c *remote.Config) { c.Concurrency = 64 }, ""},
		{func(c *remote.Config) { c.Concurrency = 65 }, "concurrency: must be"},
		{func(c *remote.Config) { c.MediaTypes = nil }, "media_types: must name"},
		{func(c *remote.Config) { c.MediaTypes = []string{"application/pdf", "a/b"} }, `media_types[1]: "a/b" is no type`},
		{func(c *remote.Config) { c.MediaTypes = []string{"text/rtf", "text/rtf"} },
			`media_types[1]: "text/rtf" is named twice`},
		{func(c *remote.Config) { c.Headers = map[string]registry.Secret{"a b": "x"} }, "headers.a b: is not a header's name"},
		{func(c *remote.Config) { c.Headers = map[string]registry.Secret{"accept": "x"} },
			"headers.accept: is set by the call"},
		{func(c *remote.Config) { c.Headers = map[string]registry.Secret{"X-Key": "x\ny"} }, "headers.X-Key: has a value"},
	} {
		given := config("http://127.0.0.1:9998")
		c.change(&given)
		err := given.Validate()
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%+v: %v, want %q", given, err, c.says)
		}
	}
}

func TestComponents(t *testing.T) {
	r := registry.New()
	remote.Register(r)
	open := func(name, url string) (port.Extractor, error) {
		info, ok := r.Extractor.Component(name)
		if !ok {
			t.Fatalf("no component is named %s", name)
		}
		s := info.Select()
		if c, ok := s.Config.(*remote.Config); ok {
			c.URL = url
		}
		return r.Extractor.Open(t.Context(), s, registry.Env{})
	}
	if e, err := open("off", ""); e != nil || err != nil {
		t.Errorf("off opened %v, %v", e, err)
	}
	for name, want := range map[string][]string{"tika": {"DOC .doc", "JPEG .jpg .jpeg", "RTF .rtf", "TIFF .tiff .tif"},
		"docling": {"JPEG .jpg .jpeg", "PDF .pdf"}} {
		if _, err := open(name, ""); err == nil {
			t.Errorf("%s opened without a URL", name)
		}
		e, err := open(name, "http://127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		for _, f := range e.Formats() {
			all.WriteString(f.Name + " " + strings.Join(f.Extensions, " ") + "\n")
		}
		for _, w := range want {
			if !strings.Contains(all.String(), w+"\n") {
				t.Errorf("%s: %q is none of\n%s", name, w, &all)
			}
		}
		if at, n := e.(extract.Elsewhere).Elsewhere(); at < time.Minute || n < 2 {
			t.Errorf("%s: %s, %d", name, at, n)
		}
	}
}
