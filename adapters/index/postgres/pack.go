package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// A small write would rewrite hundreds of posting rows for a few entries each.
// So its lists are first kept together in one row, a pack, under a key of its
// own, and folded into the terms' rows when packs come to foldAt bytes. A search
// reads all packs, which bounds how much that may be.
const (
	packList = 'p' // the key, by itself
	foldAt   = 256 << 10
)

var errPack = errors.New("a pack of postings is damaged")

// pack puts lists by key into one row: for each the key and the list, both after
// their length.
func pack(posts map[string][]byte) []byte {
	n := 0
	for k, d := range posts {
		n += len(k) + len(d) + 6
	}
	out := make([]byte, 0, n)
	for _, k := range slices.Sorted(maps.Keys(posts)) {
		out = append(binary.AppendUvarint(out, uint64(len(k))), k...)
		out = append(binary.AppendUvarint(out, uint64(len(posts[k]))), posts[k]...)
	}
	return out
}

// unpack calls fn with what pack put in; the slices are parts of data.
func unpack(data []byte, fn func(key, list []byte)) error {
	field := func() ([]byte, bool) {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			return nil, false
		}
		f := data[size : size+int(n) : size+int(n)]
		data = data[size+int(n):]
		return f, true
	}
	for len(data) > 0 {
		key, ok1 := field()
		list, ok2 := field()
		if !ok1 || !ok2 || len(key) == 0 || len(list)%entryLen(key[0]) != 0 {
			return errPack
		}
		fn(key, list)
	}
	return nil
}

// appendToPacks adds lists to those of the terms, with the packs that the span has.
func (w *batchWriter) appendToPacks(ctx context.Context, span int32, last int, posts map[string][]byte) error {
	if w.state.pending > 0 {
		rows, err := w.c.Query(ctx, "DELETE FROM index_posting WHERE generation = $1 AND span = $2 AND term = $3 RETURNING data",
			w.generation, span, []byte{packList})
		if err != nil {
			return err
		}
		var data []byte
		if _, err := pgx.ForEachRow(rows, []any{&data}, func() error {
			return unpack(data, func(key, list []byte) { posts[string(key)] = append(posts[string(key)], list...) })
		}); err != nil {
			return err
		}
		w.state.pending = 0
	}
	return w.appendPostings(ctx, span, last, posts)
}

// foldLast folds the packs of the last span that has chunks.
func (w *batchWriter) foldLast(ctx context.Context) error {
	last := w.state.next - 1
	return w.appendToPacks(ctx, int32(last/spanLen), int(last%spanLen), map[string][]byte{})
}
