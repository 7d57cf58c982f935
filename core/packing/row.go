package packing

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The kinds of a value in a row.
const (
	rowNull byte = iota
	rowInt
	rowText
	rowBlob
)

var errRow = errors.New("not a packed row")

// AppendRow appends the values of a table's row: nil, int64, string or []byte. Rows with the same
// values have the same bytes, whatever database they were read from.
func AppendRow(dst []byte, values []any) ([]byte, error) {
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			dst = append(dst, rowNull)
		case int64:
			dst = binary.AppendVarint(append(dst, rowInt), v)
		case string:
			dst = binary.AppendUvarint(append(dst, rowText), uint64(len(v)))
			dst = append(dst, v...)
		case []byte:
			dst = binary.AppendUvarint(append(dst, rowBlob), uint64(len(v)))
			dst = append(dst, v...)
		default:
			return dst, fmt.Errorf("pack row: a value of type %T", v)
		}
	}
	return dst, nil
}

// Row is the values that AppendRow has packed. Blobs are slices of b.
func Row(b []byte) ([]any, error) {
	var values []any
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		switch kind {
		case rowNull:
			values = append(values, nil)
		case rowInt:
			v, n := binary.Varint(b)
			if n <= 0 {
				return nil, errRow
			}
			values, b = append(values, v), b[n:]
		case rowText, rowBlob:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return nil, errRow
			}
			body := b[n : n+int(size)]
			if kind == rowText {
				values = append(values, string(body))
			} else {
				values = append(values, body)
			}
			b = b[n+int(size):]
		default:
			return nil, errRow
		}
	}
	return values, nil
}
