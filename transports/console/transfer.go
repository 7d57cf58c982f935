package console

import (
	"bufio"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// stepTime is how long a browser may take for each piece of a file.
const stepTime = 30 * time.Second

// send sends a file as it comes into being. One that fails on the way is cut short, which the
// browser shows as a failed download.
func (v *visit) send(out view) {
	head := v.w.Header()
	head.Set("Content-Type", out.file.ContentType())
	head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": out.name}))
	v.w.WriteHeader(http.StatusOK)
	if v.r.Method == http.MethodHead {
		return
	}
	w := bufio.NewWriterSize(patient{v.w, http.NewResponseController(v.w)}, 32<<10)
	err := out.file.Stream(v.r.Context(), w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		return
	}
	if v.r.Context().Err() == nil {
		v.Log.ErrorContext(v.r.Context(), "console download failed", "file", out.name, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// patient gives each step of a file the time of a step.
type patient struct {
	io.Writer
	control *http.ResponseController
}

func (p patient) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(stepTime)) // where there is no such thing, none is needed
	return p.Writer.Write(b)
}

// fileName makes the name of a file of parts that may hold anything.
func fileName(ending string, parts ...string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, strings.Join(parts, "-"))
	return strings.TrimLeft(short(name, 80), ".") + ending
}

// upload is a form that carries files: its fields come first, as in the page.
type upload struct {
	fields map[string]string
	first  *multipart.Part // the first file; nil: there is none
	rest   *multipart.Reader
}

// maxField bounds a field of a form that carries files.
const maxField = 64 << 10

// readUpload reads the fields of a form up to its first file. Its files may have so many bytes
// altogether.
func (v *visit) readUpload(most int64) (*upload, error) {
	control := http.NewResponseController(v.w)
	v.r.Body = http.MaxBytesReader(v.w, patientBody{v.r.Body, control}, most+maxField)
	r, err := v.r.MultipartReader()
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "this form did not arrive with files")
	}
	u := &upload{fields: map[string]string{}, rest: r}
	for {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return u, nil
		}
		if err != nil {
			return nil, unread(err)
		}
		if isFile(p) {
			if p.FileName() != "" {
				u.first = p
				return u, nil
			}
			continue // a field for files in which none was chosen
		}
		value, err := io.ReadAll(io.LimitReader(p, maxField+1))
		if err != nil {
			return nil, unread(err)
		}
		if len(value) > maxField {
			return nil, fault.New(fault.PayloadTooLarge, "the field %s is too long", fault.Clip(p.FormName()))
		}
		u.fields[p.FormName()] = string(value)
	}
}

func isFile(p *multipart.Part) bool {
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	_, ok := params["filename"]
	return err == nil && ok
}

// unread is the fault of a body that could not be read.
func unread(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return fault.New(fault.PayloadTooLarge, "the files are larger than %d bytes altogether", tooLarge.Limit)
	case errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Canceled, "read form", err, "the browser left")
	}
	return fault.Wrap(fault.InvalidRequest, "read form", err, "the files did not arrive whole")
}

// patientBody gives each piece of a body the time of a step.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (p patientBody) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(stepTime))
	return p.ReadCloser.Read(b)
}

// file is the first file, for an operation that takes one.
func (u *upload) file() io.Reader { return faulty{u.first} }

// faulty gives the errors of a part as faults.
type faulty struct{ io.Reader }

func (f faulty) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unread(err)
	}
	return n, err
}

// Next implements op.BodyParts: the metadata, and then each file.
func (u *upload) Next() (*op.BodyPart, error) {
	if m := strings.TrimSpace(u.fields["metadata"]); m != "" {
		delete(u.fields, "metadata")
		return &op.BodyPart{Name: "metadata", Content: strings.NewReader(m)}, nil
	}
	p := u.first
	u.first = nil
	for p == nil {
		var err error
		if p, err = u.rest.NextPart(); errors.Is(err, io.EOF) {
			return nil, io.EOF
		} else if err != nil {
			return nil, unread(err)
		}
		if p.FormName() != "file" || p.FileName() == "" {
			p = nil
		}
	}
	out := &op.BodyPart{Name: "file", FileName: p.FileName(), Content: faulty{p}}
	if media, params, err := mime.ParseMediaType(p.Header.Get("Content-Type")); err == nil {
		out.MediaType, out.Charset = media, params["charset"]
	}
	return out, nil
}
