package http

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// partCopies is how many times the bytes of a file are held while its text is read: its
// bytes, what they are unpacked to, and the text.
const partCopies = 3

// bodyParts gives the parts of the request's body.
func (x *exchange) bodyParts(ctx context.Context, s *op.Spec) (op.BodyParts, error) {
	media, params, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil || media != s.BodyType || params["boundary"] == "" {
		return nil, fault.Field(fault.InvalidRequest, "Content-Type", "must be %s with a boundary", s.BodyType)
	}
	body, err := x.bodyStream(ctx, s)
	if err != nil {
		return nil, err
	}
	return &parts{x: x, body: body, from: multipart.NewReader(body, params["boundary"])}, nil
}

// parts are those of a body. What was read of them counts as long as the operation runs.
type parts struct {
	x    *exchange
	body io.Reader
	from *multipart.Reader
	read int64
}

// Next implements op.BodyParts.
func (p *parts) Next() (*op.BodyPart, error) {
	part, err := p.from.NextPart()
	if errors.Is(err, io.EOF) {
		if _, err := io.Copy(io.Discard, p.body); err != nil { // what stands after the last part
			return nil, partError(err)
		}
		return nil, io.EOF
	}
	if err != nil {
		return nil, partError(err)
	}
	out := &op.BodyPart{Name: part.FormName(), FileName: part.FileName(), Content: &partContent{p, part}}
	if header := part.Header.Get("Content-Type"); header != "" {
		if media, params, err := mime.ParseMediaType(header); err == nil {
			out.MediaType, out.Charset = media, params["charset"]
		}
	}
	return out, nil
}

// partContent is what a part holds.
type partContent struct {
	of   *parts
	from *multipart.Part
}

func (c *partContent) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	if c.of.read += int64(n); n > 0 && !c.of.x.hold(partCopies*c.of.read) {
		return 0, c.of.x.busy()
	}
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, partError(err)
}

// partError is what the caller is told of a body whose parts cannot be read.
func partError(err error) error {
	var f *fault.Error
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.Wrap(fault.InvalidRequest, "read body", err, "the body is not %s as its Content-Type announces", op.Multipart)
}
