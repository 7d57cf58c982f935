package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/mnemehq/mneme/core/port"
)

// Decode reads a kind's configuration. What the schema of a kind does not allow is an
// error here, too.
func Decode(config json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(config))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("more follows")
	}
	if err != nil {
		return port.SourceErrorf(port.SourceConfig, err, "the configuration is not of this kind")
	}
	return nil
}

// Read reads all of an item, no more than most bytes; size is what it is said to have,
// or below 0. It ends with its context between two reads.
func Read(ctx context.Context, r io.Reader, size, most int64) ([]byte, error) {
	if size > most {
		return nil, TooLarge(most)
	}
	var b bytes.Buffer
	b.Grow(int(max(size, 0)) + bytes.MinRead) // room to see the end without growing
	n, err := b.ReadFrom(&reader{ctx: ctx, r: io.LimitReader(r, most+1)})
	switch {
	case n > most:
		return nil, TooLarge(most)
	case err != nil:
		return nil, err
	}
	return b.Bytes(), nil
}

// TooLarge is the error of an item of more than most bytes.
func TooLarge(most int64) error {
	return port.SourceErrorf(port.SourceTooLarge, nil, "it has more than %d bytes", most)
}

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
