package extracttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"mime"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/port"
)

// Suite is what an extractor is held to.
type Suite struct {
	Open    func(t *testing.T) port.Extractor
	Samples []Sample
	Refused []Refused
	// Cuts is how many truncated and as many damaged copies of each sample are tried;
	// 0: 24.
	Cuts int
}

// Sample is a file that is read, and what has to come out. Its MediaType is that of a
// format of the extractor.
type Sample struct {
	File  port.File
	Title string   // "": any
	Text  []string // what the text holds, in this order
	Never []string // what it does not hold
	Pages int      // page of the last section
	Page  map[int]string
	// Metadata are some of the values that the file says of itself.
	Metadata map[string]any
}

// Refused is a file that is not read.
type Refused struct {
	Name string
	File port.File
	Code port.FileCode
}

// Run checks what port.Extractor promises, of the extractor inside an extract.Set, which
// finds out what a file is and contains a parser's panic.
func Run(t *testing.T, s Suite) {
	if s.Cuts == 0 {
		s.Cuts = 24
	}
	bare := s.Open(t)
	var e port.Extractor = extract.New(extract.Settings{Log: slog.New(slog.DiscardHandler)}, bare)
	t.Run("formats", func(t *testing.T) { formats(t, e, s) })
	for _, sample := range s.Samples {
		t.Run("read/"+sample.File.Name, func(t *testing.T) { read(t, e, sample) })
	}
	for _, r := range s.Refused {
		t.Run("refused/"+r.Name, func(t *testing.T) { refused(t, e, r) })
	}
	t.Run("together", func(t *testing.T) { together(t, e, s.Samples) })
	t.Run("ended context", func(t *testing.T) { ended(t, bare, s.Samples) })
	for _, sample := range s.Samples {
		t.Run("damaged/"+sample.File.Name, func(t *testing.T) { damaged(t, e, sample, s.Cuts) })
	}
}

func formats(t *testing.T, e port.Extractor, s Suite) {
	known := map[string]bool{}
	for _, f := range e.Formats() {
		media, params, err := mime.ParseMediaType(f.MediaType)
		if err != nil || media != f.MediaType || len(params) > 0 {
			t.Errorf("media type %q, %v", f.MediaType, err)
		}
		if f.Name == "" || known[f.MediaType] {
			t.Errorf("%+v: without a name, or twice", f)
		}
		known[f.MediaType] = true
		for _, ext := range f.Extensions {
			if path.Ext(ext) != ext || strings.ToLower(ext) != ext {
				t.Errorf("%s: extension %q", f.MediaType, ext)
			}
		}
	}
	tried := map[string]bool{}
	for _, sample := range s.Samples {
		if tried[sample.File.MediaType] = true; !known[sample.File.MediaType] {
			t.Errorf("sample %s is of no format: %q", sample.File.Name, sample.File.MediaType)
		}
	}
	for media := range known {
		if !tried[media] {
			t.Errorf("no sample of %s", media)
		}
	}
}

func read(t *testing.T, e port.Extractor, s Sample) {
	before := bytes.Clone(s.File.Content)
	out, err := e.Extract(t.Context(), s.File)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, s.File.Content) {
		t.Error("the content was changed")
	}
	if problem := wrong(out); problem != "" {
		t.Error(problem)
	}
	if s.Title != "" && out.Title != s.Title {
		t.Errorf("title %q, want %q", out.Title, s.Title)
	}
	var all strings.Builder
	pages := map[int]string{}
	last := 0
	for _, p := range out.Sections {
		all.WriteString(p.Text + "\n\n")
		pages[p.Page] += p.Text + "\n\n"
		last = p.Page
	}
	rest := all.String()
	for _, want := range s.Text {
		at := strings.Index(rest, want)
		if at < 0 {
			t.Errorf("%q is not in what is left of the text:\n%s", want, rest)
			continue
		}
		rest = rest[at+len(want):]
	}
	for _, not := range s.Never {
		if strings.Contains(all.String(), not) {
			t.Errorf("%q is in the text:\n%s", not, all.String())
		}
	}
	if last != s.Pages {
		t.Errorf("the last section is on page %d, want %d", last, s.Pages)
	}
	for page, want := range s.Page {
		if !strings.Contains(pages[page], want) {
			t.Errorf("page %d does not hold %q but %q", page, want, pages[page])
		}
	}
	for k, want := range s.Metadata {
		if !reflect.DeepEqual(out.Metadata[k], want) {
			t.Errorf("metadata %s is %#v, want %#v", k, out.Metadata[k], want)
		}
	}
}

// wrong says what of a result breaks the promises of port.Extracted.
func wrong(out port.Extracted) string {
	blank, page := true, 0
	for i, p := range out.Sections {
		switch {
		case !utf8.ValidString(p.Text):
			return fmt.Sprintf("section %d is not UTF-8", i)
		case strings.ContainsRune(p.Text, 0), p.Page > 0 && strings.Contains(p.Text, "\f"):
			return fmt.Sprintf("section %d holds NUL or, on a page, a form feed", i)
		case p.Page < page:
			return fmt.Sprintf("section %d is on page %d, after page %d", i, p.Page, page)
		}
		page = p.Page
		blank = blank && strings.TrimSpace(p.Text) == ""
	}
	if blank {
		return "there is no text, and no error"
	}
	if !utf8.ValidString(out.Title) || strings.ContainsAny(out.Title, "\x00\n\f") {
		return fmt.Sprintf("title %q", out.Title)
	}
	for k, v := range out.Metadata {
		switch v.(type) {
		case string, bool, int, json.Number, []string:
		default:
			return fmt.Sprintf("metadata %s is %T", k, v)
		}
	}
	return ""
}

func refused(t *testing.T, e port.Extractor, r Refused) {
	out, err := e.Extract(t.Context(), r.File)
	var why *port.FileError
	switch {
	case err == nil:
		t.Fatalf("it was read: %.500v", out)
	case !errors.As(err, &why):
		t.Fatalf("%T: %v", err, err)
	case why.Code != r.Code:
		t.Fatalf("%s (%s; %v), want %s", why.Code, why.Message, why.Err, r.Code)
	case why.Message == "" || strings.ContainsAny(why.Message, "\n\x00") || !utf8.ValidString(why.Message):
		t.Errorf("message %q", why.Message)
	}
}

// together checks that files read side by side and again come out as they did.
func together(t *testing.T, e port.Extractor, samples []Sample) {
	type outcome struct {
		out port.Extracted
		err error
	}
	want := make([]outcome, len(samples))
	for i, s := range samples {
		want[i].out, want[i].err = e.Extract(t.Context(), s.File)
	}
	var all sync.WaitGroup
	for range 3 {
		for i, s := range samples {
			all.Go(func() {
				out, err := e.Extract(t.Context(), s.File)
				if !reflect.DeepEqual(outcome{out, err}, want[i]) {
					t.Errorf("%s came out otherwise when it was read again", s.File.Name)
				}
			})
		}
		all.Wait()
	}
}

// ended checks that nothing is read for a caller that is gone or out of time.
func ended(t *testing.T, e port.Extractor, samples []Sample) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for _, s := range samples {
		if _, err := e.Extract(gone, s.File); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", s.File.Name, err)
		}
		if _, err := e.Extract(late, s.File); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, too late: %v", s.File.Name, err)
		}
	}
}

// damaged reads copies of a sample that are cut short or have other bytes here and
// there. Each is read or refused, and the sample itself is read afterwards as before.
func damaged(t *testing.T, e port.Extractor, s Sample, cuts int) {
	want, err := e.Extract(t.Context(), s.File)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, uint64(len(s.File.Content))))
	try := func(what string, content []byte) {
		f := s.File
		f.Content = content
		out, err := e.Extract(t.Context(), f)
		var why *port.FileError
		switch {
		case err == nil:
			if problem := wrong(out); problem != "" {
				t.Errorf("%s: %s", what, problem)
			}
		case !errors.As(err, &why):
			t.Errorf("%s: %T: %v", what, err, err)
		}
	}
	n := len(s.File.Content)
	for i := range cuts {
		at := i * n / cuts
		try(fmt.Sprintf("the first %d bytes", at), slices.Clip(bytes.Clone(s.File.Content[:at])))
		content := bytes.Clone(s.File.Content)
		for range 1 + i%8 {
			content[random.IntN(n)] = byte(random.IntN(256))
		}
		try(fmt.Sprintf("damage %d", i), content)
	}
	if again, err := e.Extract(t.Context(), s.File); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("after damaged copies the sample came out otherwise: %v", err)
	}
}
