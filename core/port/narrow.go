package port

import "context"

// Snapshots is a store as a consumer that only reads sees it: R has the methods
// that it calls and no others.
type Snapshots[R any] struct {
	store  Store
	reader func(Reader) R
}

// NarrowReads gives a consumer the snapshots of a store as an R. The conversion is
// the caller's, func(r Reader) R { return r }, so that the compiler checks it.
func NarrowReads[R any](s Store, reader func(Reader) R) Snapshots[R] {
	return Snapshots[R]{store: s, reader: reader}
}

// View is Store.View.
func (s Snapshots[R]) View(ctx context.Context, fn func(R) error) error {
	return s.store.View(ctx, func(r Reader) error { return fn(s.reader(r)) })
}

// Narrowed is a store as one consumer sees it: R has the methods that it reads
// with, W those of its transactions.
type Narrowed[R, W any] struct {
	Snapshots[R]
	writer func(Writer) W
}

// Narrow gives a consumer a store as an R and a W. The conversions are the
// caller's, as those of NarrowReads are.
func Narrow[R, W any](s Store, reader func(Reader) R, writer func(Writer) W) Narrowed[R, W] {
	return Narrowed[R, W]{Snapshots: NarrowReads(s, reader), writer: writer}
}

// Update is Store.Update.
func (n Narrowed[R, W]) Update(ctx context.Context, fn func(W) error) error {
	return n.store.Update(ctx, func(w Writer) error { return fn(n.writer(w)) })
}
