package bunsql

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// served is the unpinned partition whose shadow p is.
func served(p port.Partition) port.Partition {
	return port.Documents(p.Org(), p.Name())
}

// shadowOf finds the shadow of the life that is served; ok is false of another
// life, which has none, and of the memories of an end user.
func (r *Reader) shadowOf(ctx context.Context, p port.Partition, ref namespaceRef) (generation int64, ok bool, err error) {
	if ref.memories || ref.life != port.Active {
		return 0, false, nil
	}
	query, args := byName(served(p).Shadow(), `generation`)
	ok, err = r.s.get(ctx, "find shadow", query, args, &generation)
	return generation, ok, err
}

// Shadows implements port.PartitionReader.
func (r *Reader) Shadows(ctx context.Context, org ident.Org) ([]port.PartitionEntry, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	var rows []namespaceRow
	// With the condition as it is in the index, which SQLite then uses.
	q := r.s.conn.NewSelect().Model(&rows).Where("life <> 0").Where("dropped = 0").Order("generation")
	if org != "" {
		q = q.Where("org = ?", string(org))
	}
	if err := q.Scan(r.s.d.Context(ctx)); err != nil {
		return nil, r.s.d.Fault("list shadows", err)
	}
	out := make([]port.PartitionEntry, len(rows))
	for i := range rows {
		n := rows[i].port()
		out[i] = port.PartitionEntry{Partition: port.Documents(ident.Org(rows[i].Org), n.Name).At(n.Generation), Row: n}
	}
	return out, nil
}

// SwapPartition implements port.PartitionWriter.
func (w *Writer) SwapPartition(ctx context.Context, p port.Partition) error {
	const op = "swap namespace"
	ref, err := w.writable(ctx, p)
	if err != nil {
		return err
	}
	shadow, ok, err := w.shadowOf(ctx, p, ref)
	if err != nil {
		return err
	}
	if !ok {
		return fault.New(fault.PartitionNotFound, "namespace %s has no shadow", p.Name())
	}
	w.forget()
	// One after the other, by way of a life that no row has: they are unique by name.
	for _, step := range [...]struct{ life, generation int64 }{{-1, ref.generation}, {int64(port.Active), shadow},
		{int64(port.Retained), ref.generation}} {
		if _, err := w.s.exec(ctx, op, `UPDATE namespaces SET life = ?, paused_until = 0 WHERE generation = ?`,
			step.life, step.generation); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// PausePartition implements port.PartitionWriter.
func (w *Writer) PausePartition(ctx context.Context, p port.Partition, until time.Time) error {
	ref, err := w.writable(ctx, p)
	if err != nil {
		return err
	}
	_, err = w.s.exec(ctx, "pause namespace", `UPDATE namespaces SET paused_until = ? WHERE generation = ?`,
		micros(until), ref.generation)
	return w.fail(err)
}
