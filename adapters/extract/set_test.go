package extract_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// reader is an extractor that a test writes.
type reader struct {
	formats []port.Format
	extract func(context.Context, port.File) (port.Extracted, error)
}

func (r reader) Formats() []port.Format { return r.formats }

func (r reader) Extract(ctx context.Context, f port.File) (port.Extracted, error) {
	return r.extract(ctx, f)
}

// of reads media types, given with their extensions after a blank each.
func of(fn func(context.Context, port.File) (port.Extracted, error), formats ...string) reader {
	r := reader{extract: fn}
	for _, f := range formats {
		words := strings.Fields(f)
		r.formats = append(r.formats, port.Format{MediaType: words[0], Name: words[0], Extensions: words[1:]})
	}
	return r
}

// echo gives the media type that it was called for and the content.
func echo(_ context.Context, f port.File) (port.Extracted, error) {
	return port.Extracted{Sections: []port.Section{{Text: f.MediaType + "\n" + string(f.Content)}}}, nil
}

func text(s string) func(context.Context, port.File) (port.Extracted, error) {
	return func(context.Context, port.File) (port.Extracted, error) {
		return port.Extracted{Sections: []port.Section{{Text: s}}}, nil
	}
}

func settings() extract.Settings { return extract.Settings{Log: slog.New(slog.DiscardHandler)} }

func codeOf(err error) port.FileCode {
	var why *port.FileError
	if errors.As(err, &why) {
		return why.Code
	}
	return ""
}

func TestDetection(t *testing.T) {
	set := extract.New(settings(), of(echo, "text/plain .txt .log", "text/html .html", "text/markdown .md", "text/csv .csv",
		"application/json .json", "application/pdf .pdf", "application/x.package .pkg", "message/rfc822 .eml"))
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	if _, err := w.Create("a.bin"); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	zip := packed.String()
	for _, c := range []struct{ name, said, content, want string }{
		{"a.txt", "", "%PDF-1.7\n%\xe2\xe3", "application/pdf"},
		{"a.md", "text/markdown", "%PDF-1.7\n%\xe2\xe3", "application/pdf"},
		{"", "", "<!doctype html><p>x", "text/html"},
		{"a.txt", "", "<!doctype html><p>x", "text/html"},
		{"README.md", "", "<h1>x</h1>\n\ntext", "text/markdown"},
		{"README.MD", "application/octet-stream", "x", "text/markdown"},
		{"a.html", "", "no element at all", "text/html"},
		{"a", "text/html; charset=latin1", "caf\xe9 au lait", "text/html"},
		{"a.csv", "text/plain", "a,b\n1,2\n3,4\n", "text/csv"},
		{"a.unknown", "what is this", "just text", "text/plain"},
		{"", "", "{\"a\": [1, 2]}", "application/json"},
		{"a.eml", "", "Some-Header: x\r\n\r\ntext", "message/rfc822"},
		{"a.pkg", "", zip, "application/x.package"},
		{"a", "application/x.package", zip, "application/x.package"},
		{"", "", "\xff\xfeh\x00i\x00", "text/plain"},
		{"a.txt", "", "h\x00i\x00", "text/plain"}, // whose reader says what is wrong with it
		{"", "", "Hello, you\nand, me\n", "text/plain"},
		{"a.txt", "", "Hello, you\nand, me\n", "text/plain"},
	} {
		out, err := set.Extract(t.Context(), port.File{Name: c.name, MediaType: c.said, Content: []byte(c.content)})
		if err != nil {
			t.Errorf("%q as %q: %v", c.content, c.name, err)
			continue
		}
		if got, _, _ := strings.Cut(out.Sections[0].Text, "\n"); got != c.want || out.Format.MediaType != c.want {
			t.Errorf("%q as %q, %q: %q (%q), want %q", c.content, c.name, c.said, got, out.Format.MediaType, c.want)
		}
	}
	for _, c := range []struct{ name, content, says string }{
		{"a.txt", zip, "application/zip"},
		{"a.md", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"},
		{"a", "\x01\x02\x03\x04\x05", "octet-stream"},
		{"a.txt", "{\\rtf1 text}", "text/rtf"}, // whose words are not what it says
	} {
		_, err := set.Extract(t.Context(), port.File{Name: c.name, Content: []byte(c.content)})
		if codeOf(err) != port.FileUnsupported || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.content, err)
		}
	}
}

// sniffing is an extractor that knows its files by their first letter.
type sniffing struct {
	reader
	media string
}

func (s sniffing) Sniff(content []byte) string {
	if content[0] == s.media[0] {
		return s.media
	}
	return ""
}

func TestTextThatNobodyHasNamed(t *testing.T) {
	set := extract.New(settings(), of(echo, "text/plain .txt"), sniffing{of(echo, "a/a .a"), "a/a"},
		of(echo, "message/rfc822 .eml"), sniffing{of(echo, "b/b .b"), "b/b"})
	for _, c := range []struct{ name, content, want string }{
		{"", "a text", "a/a"}, {"", "b text", "b/b"}, {"", "c text", "text/plain"}, {"a.txt", "a text", "text/plain"},
		{"", "To: me\nDate: now\n", "message/rfc822"}, {"a.txt", "To: me\nDate: now\n", "text/plain"},
		{"a.eml", "a text", "message/rfc822"},
	} {
		out, err := set.Extract(t.Context(), port.File{Name: c.name, Content: []byte(c.content)})
		if err != nil || out.Format.MediaType != c.want {
			t.Errorf("%q as %q: %q, %v, want %s", c.content, c.name, out.Format.MediaType, err, c.want)
		}
	}
}

func TestLimitsAndChecks(t *testing.T) {
	s := settings()
	s.Limits = extract.DefaultLimits()
	s.Limits.File, s.Limits.Text = 10, 20
	for _, c := range []struct {
		content, out string
		want         port.FileCode
	}{
		{"", "x", port.FileNoText},
		{"12345678901", "x", port.FileTooLarge},
		{"1234567890", "x", ""},
		{"1", " \n\x00\f\t", port.FileNoText},
		{"1", strings.Repeat("x", 20), ""},
		{"1", strings.Repeat("x", 21), port.FileTooLarge},
	} {
		_, err := extract.New(s, of(text(c.out), "text/plain")).Extract(t.Context(), port.File{Content: []byte(c.content)})
		if codeOf(err) != c.want {
			t.Errorf("%q to %q: %v, want %q", c.content, c.out, err, c.want)
		}
	}
}

func TestResultsAreClean(t *testing.T) {
	set := extract.New(settings(), of(func(context.Context, port.File) (port.Extracted, error) {
		return port.Extracted{Title: " A\n\x00title\xff ", Sections: []port.Section{
			{Text: "# A title\uFFFD\n\n\n \n  code\r\nb\rc\x00\fd\xff\n\n", Page: 2}, {Text: " ", Page: 3}, {Text: "back",
				Page: 1}}}, nil
	}, "text/plain"))
	out, err := set.Extract(t.Context(), port.File{Content: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	want := []port.Section{{Text: "# A title\uFFFD\n\n\n \n  code\r\nb\rc\nd\uFFFD\n\n", Page: 2}, {Text: "back", Page: 2}}
	if len(out.Sections) != 2 || out.Sections[0] != want[0] || out.Sections[1] != want[1] || out.Title != "A title\uFFFD" {
		t.Errorf("%+v", out)
	}
}

func TestParserThatPanics(t *testing.T) {
	set := extract.New(settings(), of(func(context.Context, port.File) (port.Extracted, error) { panic("boom") }, "text/plain"))
	for range 5 { // more than are read at once: a place is given back
		if _, err := set.Extract(t.Context(), port.File{Content: []byte("x")}); codeOf(err) != port.FileBroken {
			t.Fatal(err)
		}
	}
}

// A parser that never looks at its context holds its place, and nobody waits for it.
func TestParserThatDoesNotStop(t *testing.T) {
	stop := make(chan struct{})
	s := settings()
	s.Parallel = 1
	s.Limits = extract.DefaultLimits()
	s.Limits.Time = 10 * time.Millisecond
	set := extract.New(s, of(func(_ context.Context, f port.File) (port.Extracted, error) {
		<-stop
		return echo(t.Context(), f)
	}, "text/plain"))
	if _, err := set.Extract(t.Context(), port.File{Content: []byte("x")}); codeOf(err) != port.FileTimeout {
		t.Fatal(err)
	}
	if _, err := set.Extract(t.Context(), port.File{Content: []byte("x")}); !fault.IsBusy(err) {
		t.Fatal(err)
	}
	close(stop)
	for { // until the first one has ended
		_, err := set.Extract(t.Context(), port.File{Content: []byte("x")})
		if err == nil {
			break
		}
		if !fault.IsBusy(err) && codeOf(err) != port.FileTimeout {
			t.Fatal(err)
		}
	}
}

// Files of one organization that are slow leave places to another's, whose turn is next.
func TestOrganizationsShareThePlaces(t *testing.T) {
	began, end := make(chan string), make(chan struct{})
	set := extract.New(settings(), of(func(ctx context.Context, f port.File) (port.Extracted, error) {
		began <- string(f.Content)
		select {
		case <-end:
		case <-ctx.Done():
		}
		return echo(ctx, f)
	}, "text/plain"))
	var all sync.WaitGroup
	read := func(org string) {
		ctx := ident.WithPrincipal(t.Context(), ident.Principal{Org: ident.Org(org)})
		all.Go(func() {
			if _, err := set.Extract(ctx, port.File{Content: []byte(org)}); err != nil {
				t.Errorf("%s: %v", org, err)
			}
		})
	}
	for range 6 {
		read("a")
	}
	if one, two := <-began, <-began; one != "a" || two != "a" {
		t.Fatal(one, two)
	}
	for _, org := range []string{"b", "c"} { // at once
		read(org)
		if got := <-began; got != org {
			t.Fatalf("%s was read", got)
		}
	}
	close(end)
	for range 4 {
		if got := <-began; got != "a" {
			t.Fatalf("%s was read", got)
		}
	}
	all.Wait()
}

// elsewhere is an extractor outside this process.
type elsewhere struct {
	reader
	time   time.Duration
	closed bool
}

func (e *elsewhere) Elsewhere() (time.Duration, int) { return e.time, 1 }

func (e *elsewhere) Close(context.Context) error { e.closed = true; return nil }

// A file that is read elsewhere has the time that is right there, and takes none of the places here.
func TestFilesThatAreReadElsewhere(t *testing.T) {
	s := settings()
	s.Parallel = 1
	s.Limits = extract.DefaultLimits()
	began, end := make(chan bool), make(chan bool)
	far := &elsewhere{time: time.Hour, reader: of(func(ctx context.Context, f port.File) (port.Extracted, error) {
		if until, ok := ctx.Deadline(); !ok || time.Until(until) < s.Limits.Time {
			t.Errorf("until %s", until)
		}
		began <- true
		<-end
		return echo(ctx, f)
	}, "image/png .png")}
	s.Fallback = far
	set := extract.New(s, of(echo, "text/plain"))
	done := make(chan error)
	go func() {
		_, err := set.Extract(t.Context(), port.File{Content: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")})
		done <- err
	}()
	<-began
	if _, err := set.Extract(t.Context(), port.File{Content: []byte("text")}); err != nil {
		t.Error(err)
	}
	close(end)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := set.Close(t.Context()); err != nil || !far.closed {
		t.Errorf("%v; closed: %t", err, far.closed)
	}
	// One that takes too long is told its own time.
	far.time = time.Millisecond
	far.extract = func(ctx context.Context, _ port.File) (port.Extracted, error) {
		<-ctx.Done()
		return port.Extracted{}, ctx.Err()
	}
	_, err := extract.New(s, of(echo, "text/plain")).Extract(t.Context(),
		port.File{Content: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")})
	if codeOf(err) != port.FileTimeout || !strings.Contains(err.Error(), "1ms") {
		t.Error(err)
	}
}

// slow is an extractor that takes a while until it reads its first file.
type slow struct {
	reader
	ready chan struct{} // closed when it is
}

func (s slow) Prepare(ctx context.Context) {
	select {
	case <-s.ready:
	case <-ctx.Done():
	}
}

// What an extractor needs before its first file takes no file's time, and no place: more of them wait than
// are read at once, for longer than a file may take. A caller may leave meanwhile.
func TestExtractorThatIsPrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := settings()
		s.Parallel = 1
		s.Limits = extract.DefaultLimits()
		e := slow{of(echo, "text/markdown .md"), make(chan struct{})}
		set := extract.New(s, e, of(echo, "text/plain .txt"))
		file := port.File{Name: "x.md", Content: []byte("x")}
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := set.Extract(ctx, file)
			left <- err
		}()
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() {
				if _, err := set.Extract(t.Context(), file); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(2 * s.Limits.Time)
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("who has left is told %v", err)
		}
		if _, err := set.Extract(t.Context(), port.File{Name: "x.txt", Content: []byte("x")}); err != nil {
			t.Errorf("a file of another kind: %v", err)
		}
		close(e.ready)
		waiting.Wait()
	})
}

func TestCallerThatLeaves(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	set := extract.New(settings(), of(func(ctx context.Context, _ port.File) (port.Extracted, error) {
		leave()
		<-ctx.Done()
		return port.Extracted{}, port.FileErrorf(port.FileBroken, nil, "it looks broken, since it was not read to its end")
	}, "text/plain"))
	if _, err := set.Extract(ctx, port.File{Content: []byte("x")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := set.Extract(ctx, port.File{Content: []byte("x")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFallback(t *testing.T) {
	noText := func(context.Context, port.File) (port.Extracted, error) {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "there are pictures alone")
	}
	broken := func(context.Context, port.File) (port.Extracted, error) {
		return port.Extracted{}, port.FileErrorf(port.FileBroken, nil, "it is broken")
	}
	s := settings()
	s.Fallback = of(text("read elsewhere"), "application/pdf .pdf", "image/png .png")
	for _, c := range []struct {
		name    string
		own     func(context.Context, port.File) (port.Extracted, error)
		content string
		want    port.FileCode
	}{
		{"scan", noText, "%PDF-1.7\n", ""},
		{"broken", broken, "%PDF-1.7\n", port.FileBroken},
		{"picture", broken, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", ""},
		{"neither", broken, "GIF89a\x00\x00", port.FileUnsupported},
		{"text", noText, "text", port.FileNoText},
	} {
		set := extract.New(s, of(c.own, "application/pdf", "text/plain"))
		out, err := set.Extract(t.Context(), port.File{Content: []byte(c.content)})
		if codeOf(err) != c.want || err == nil && out.Sections[0].Text != "read elsewhere" {
			t.Errorf("%s: %v, %v", c.name, out, err)
		}
	}
	formats := extract.New(s, of(noText, "text/plain", "application/pdf")).Formats()
	if len(formats) != 3 || formats[0].MediaType != "application/pdf" || formats[1].MediaType != "image/png" {
		t.Errorf("%v", formats)
	}
}

func TestMistakesInTheProgram(t *testing.T) {
	for name, two := range map[string][]port.Extractor{
		"media type": {of(echo, "text/plain"), of(echo, "text/plain")},
		"extension":  {of(echo, "text/plain .a"), of(echo, "text/html .a")},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a %s of two was taken", name)
				}
			}()
			extract.New(settings(), two...)
		}()
	}
}

// held is an extractor that holds something between files.
type held struct {
	reader
	closed int
	err    error
}

func (h *held) Close(context.Context) error {
	h.closed++
	return h.err
}

func TestClose(t *testing.T) {
	one, two := &held{reader: of(echo, "a/one .one"), err: errors.New("stuck")}, &held{reader: of(echo, "a/two .two")}
	err := extract.New(settings(), one, of(echo, "a/three .three"), two).Close(t.Context())
	if !errors.Is(err, one.err) || one.closed != 1 || two.closed != 1 {
		t.Errorf("%v; closed %d and %d times", err, one.closed, two.closed)
	}
}
