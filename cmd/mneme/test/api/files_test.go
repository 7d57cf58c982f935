package api_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// sent is a part of a form; without a file's name it is a field.
type sent struct{ field, name, media, content string }

// form makes a body of parts, and its Content-Type.
func form(t testing.TB, parts ...sent) ([]byte, string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, p := range parts {
		disposition := fmt.Sprintf("form-data; name=%q", p.field)
		if p.name != "" {
			disposition += fmt.Sprintf("; filename=%q", p.name)
		}
		header := textproto.MIMEHeader{"Content-Disposition": {disposition}}
		if p.media != "" {
			header.Set("Content-Type", p.media)
		}
		to, err := w.CreatePart(header)
		if err == nil {
			_, err = to.Write([]byte(p.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), w.FormDataContentType()
}

func (s *server) upload(path string, parts ...sent) *reply {
	s.t.Helper()
	body, media := form(s.t, parts...)
	return s.post(path, body, "Content-Type", media)
}

func TestFilesAreUploaded(t *testing.T) {
	slides, err := os.ReadFile("../../../../adapters/extract/office/testdata/pandoc.pptx")
	if err != nil {
		t.Fatal(err)
	}
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const at = "/namespaces/docs/files"
		files := []sent{{"file", "slides.pptx", "", string(slides)}, {"file", "Ein Brief.txt",
			"text/plain; charset=windows-1252", "Gr\xfc\xdfe"},
			{"file", "scan.png", "image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"}, {"metadata", "", "",
				`{"kind": "guide", "page": 7}`}}
		dry := s.upload(at+"?dry_run=true", files...).ok()
		s.get("/namespaces/docs").fails(404, "namespace_not_found")
		shown := dry.list("files")[0]["documents"].([]any)[0].(object)
		chunks := shown["chunk_list"].([]any)
		last := chunks[len(chunks)-1].(object)
		if shown["id"] != "slides.pptx" || !strings.Contains(fmt.Sprint(shown["text"]), "- starts the boiler") ||
			last["page"] != 8.0 ||
			!strings.Contains(fmt.Sprint(last["text"]), "Until the harvest") || dry.json["written"] != 0.0 {
			t.Errorf("a dry run shows %s", dry.body)
		}

		r := s.upload(at, files...).ok()
		if r.json["written"] != 2.0 || r.json["failed"] != 1.0 || r.json["chunks"] != dry.json["chunks"] {
			t.Errorf("%s", r.body)
		}
		got := r.list("files")
		if got[0]["pages"] != 8.0 || got[0]["title"] != "The roastery’s handbook" || got[1]["media_type"] != "text/plain" ||
			got[2]["status"] != "failed" || got[2]["error"].(object)["code"] != "unsupported" {
			t.Errorf("%s", r.body)
		}
		d := s.get("/namespaces/docs/documents/slides.pptx").ok().json
		meta := d["metadata"].(object)
		if meta["kind"] != "guide" || meta["page"] != 1.0 || meta["author"] != "Ann Example" || meta["path"] != "slides.pptx" ||
			meta["file_hash"] != got[0]["content_hash"] || !strings.HasSuffix(fmt.Sprint(meta["media_type"]),
			"presentationml.presentation") {
			t.Errorf("metadata %v", meta)
		}
		if ids := s.ids("docs"); len(ids) != 2 || !strings.HasPrefix(ids[0], "Ein-Brief.txt::") {
			t.Errorf("%q", ids)
		} else if text := s.get("/namespaces/docs/documents/" + ids[0]).ok().json["text"]; text != "Grüße" {
			t.Errorf("text in windows-1252: %q", text)
		}
		hit := s.query("docs", object{"query": "checks its pressure", "mode": "keyword"}).ok().list("results")[0]
		if hit["page"] != 3.0 {
			t.Errorf("a hit on slide 3: %v", hit)
		}
		if r := s.upload(at, files...).ok(); r.json["written"] != 0.0 || r.json["unchanged"] != 2.0 {
			t.Errorf("again: %s", r.body)
		}

		all := s.upload("/namespaces/none/files", files[2]).ok()
		if all.json["failed"] != 1.0 || s.get("/namespaces/none").status != 404 {
			t.Errorf("no file could be read: %s", all.body)
		}
	})
}

// A file that was longer before leaves nothing of its former self.
func TestUploadReplacesParts(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const at = "/namespaces/docs/files"
		text := func(parts int) string {
			return strings.Repeat(strings.Repeat("word ", 2000)+"\n\n", parts*26)
		}
		s.write("docs", doc("long.txt:part-of-mine", "kept", "")).ok()
		for i, c := range []struct {
			parts int
			want  []string
		}{
			{2, []string{"long.txt:part-0001", "long.txt:part-0002"}},
			{0, []string{"long.txt"}},
			{2, []string{"long.txt:part-0001", "long.txt:part-0002"}},
		} {
			content := "short"
			if c.parts > 0 {
				content = text(c.parts)
			}
			body, media := form(t, sent{"file", "long.txt", "", content})
			if i == 1 { // by way of a job
				r := s.post(at, body, "Content-Type", media, "Prefer", "respond-async").is(202)
				if r.header.Get("Preference-Applied") != "respond-async" || r.list("files")[0]["status"] != "read" {
					t.Errorf("%v %s", r.header, r.body)
				}
				harness.Eventually(t, "written", func() bool {
					return s.get(r.header.Get("Location")).ok().json["status"] == "succeeded"
				})
			} else {
				s.post(at, body, "Content-Type", media).ok()
			}
			if got := s.ids("docs"); !slices.Equal(got, append(c.want, "long.txt:part-of-mine")) {
				t.Errorf("after %d parts there are %q", c.parts, got)
			}
		}
	})
}

func TestUploadsThatAreRefused(t *testing.T) {
	s := start(t, laptop, options{})
	const at = "/namespaces/docs/files"
	file := sent{"file", "a.txt", "", "text"}
	for name, c := range map[string]struct {
		code  string
		words string
		parts []sent
	}{
		"nothing":       {"invalid_request", "file: is required", nil},
		"no file":       {"invalid_request", "file: is required", []sent{{"metadata", "", "", "{}"}}},
		"no name":       {"invalid_request", "must have a file name", []sent{{"file", "", "", "text"}}},
		"long name":     {"invalid_request", "255 bytes", []sent{{"file", strings.Repeat("x", 256), "", "text"}}},
		"twice":         {"invalid_id", "two files", []sent{file, file}},
		"unknown field": {"invalid_request", "files: is not a known field", []sent{{"files", "a.txt", "", "text"}}},
		"metadata twice": {"invalid_request", "more than once", []sent{file, {"metadata", "", "", "{}"}, {"metadata", "",
			"", "{}"}}},
		"bad metadata":    {"invalid_metadata", "metadata", []sent{file, {"metadata", "", "", `{"a": {}}`}}},
		"too many files":  {"invalid_request", "at most 100 files", make([]sent, 101)},
		"a lot of fields": {"payload_too_large", "metadata", []sent{file, {"metadata", "", "", strings.Repeat(" ", 65<<10)}}},
	} {
		for i := range c.parts {
			if c.parts[i].field == "" {
				c.parts[i] = sent{"file", fmt.Sprint(i), "", "text"}
			}
		}
		status := 400
		if c.code == "payload_too_large" {
			status = 413
		}
		t.Log(name)
		s.upload(at, c.parts...).fails(status, c.code, c.words)
	}
	body, media := form(t, file)
	s.post(at, body, "Content-Type", "application/json").fails(400, "invalid_request", "Content-Type")
	s.post(at, body, "Content-Type", "multipart/form-data").fails(400, "invalid_request", "boundary")
	s.post(at, body[:len(body)-20], "Content-Type", media).fails(400, "invalid_request", "multipart/form-data")
	s.post(at, nil, "Content-Type", media).fails(400, "invalid_request", "body")
	s.post("/namespaces/docs_!/files", body, "Content-Type", media).fails(400, "invalid_namespace", "namespace")
	crowded := "---\n" + strings.Repeat("k", 3)
	for i := range 40 {
		crowded += fmt.Sprintf(": v\nkey%d", i)
	}
	r := s.upload(at, sent{"file", "a.md", "", crowded + ": v\n---\ntext"}, sent{"file", "b.md", "", "text"}).ok()
	if r.json["written"] != 1.0 || r.list("files")[0]["error"].(object)["code"] != "invalid_metadata" {
		t.Errorf("%s", r.body)
	}
	if got := s.ids("docs"); !slices.Equal(got, []string{"b.md"}) {
		t.Errorf("there are %q", got)
	}
}

func TestFormats(t *testing.T) {
	s := start(t, laptop, options{})
	var types []string
	for _, f := range s.get("/formats").ok().list("formats") {
		types = append(types, fmt.Sprint(f["media_type"]))
	}
	for _, want := range []string{"text/markdown", "text/html", "application/epub+zip"} {
		if !slices.Contains(types, want) {
			t.Errorf("%s is not among %q", want, types)
		}
	}
}
