package sharded_test

import (
	"context"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/port"
)

// A server that dies when it has taken an audit record over, and before the record is gone from where it waited, leaves
// nothing that would get a second number.
func TestAuditTakenBeforeACrash(t *testing.T) {
	ctx := t.Context()
	o := options(t, "b")
	var home, b port.DocumentStore
	keep := func(open func(context.Context) (port.DocumentStore, error),
		in *port.DocumentStore) func(context.Context) (port.DocumentStore, error) {
		return func(ctx context.Context) (s port.DocumentStore, err error) {
			s, err = open(ctx)
			*in = s
			return s, err
		}
	}
	o.Home.Open, o.Others[0].Open = keep(o.Home.Open, &home), keep(o.Others[0].Open, &b)
	s := open(t, o)
	defer func() { _ = s.Close() }()
	record := port.AuditRecord{ID: "aud_1", Org: "org_b", At: time.Unix(1, 0).UTC()}
	update := func(s port.DocumentStore, fn func(port.Writer) error) {
		t.Helper()
		if err := s.Update(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	waiting := func(s port.DocumentStore) (rs []port.AuditRecord) {
		t.Helper()
		if err := s.View(ctx, func(r port.Reader) (err error) { rs, err = r.WaitingAudit(ctx, 10); return err }); err != nil {
			t.Fatal(err)
		}
		return rs
	}
	update(b, func(w port.Writer) error { return w.AppendAudit(ctx, record) })
	update(home, func(w port.Writer) error {
		return w.(*bunsql.Writer).TakeAudit(ctx, "b", []port.AuditRecord{record})
	})
	record.Seq, record.Hash = 1, record.Sum()
	update(s, func(w port.Writer) error { return w.NumberAudit(ctx, []port.AuditRecord{record}) })
	if again := waiting(s); len(again) > 0 {
		t.Errorf("it waits again: %+v", again)
	}
	if left := waiting(b); len(left) > 0 {
		t.Errorf("it waits still where it was: %+v", left)
	}
}
