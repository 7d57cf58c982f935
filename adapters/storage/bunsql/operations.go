package bunsql

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

type operationRow struct {
	bun.BaseModel `bun:"table:operations,alias:o"`

	Org        string  `bun:"org,pk"`
	ID         string  `bun:"id,pk"`
	Namespace  string  `bun:"namespace"`
	Status     string  `bun:"status"`
	Done       int64   `bun:"done"`
	Total      int64   `bun:"total"`
	Request    []byte  `bun:"request"`
	Principal  []byte  `bun:"principal"`
	Result     *string `bun:"result"`
	Error      *string `bun:"error"`
	CreatedAt  int64   `bun:"created_at"`
	FinishedAt int64   `bun:"finished_at"`
}

func (r operationRow) port() port.Operation {
	o := port.Operation{
		ID: r.ID, Org: ident.Org(r.Org), Namespace: r.Namespace, Status: r.Status, Done: int(r.Done), Total: int(r.Total),
		Request: r.Request, Principal: r.Principal, CreatedAt: instant(r.CreatedAt), FinishedAt: instant(r.FinishedAt),
	}
	if r.Result != nil {
		o.Result = []byte(*r.Result)
	}
	if r.Error != nil {
		o.Error = []byte(*r.Error)
	}
	return o
}

// Operation implements port.OperationReader.
func (r *Reader) Operation(ctx context.Context, org ident.Org, namespace, id string) (port.Operation, error) {
	if err := r.check(ctx); err != nil {
		return port.Operation{}, err
	}
	var row operationRow
	err := r.s.conn.NewSelect().Model(&row).
		Where("org = ?", string(org)).Where("id = ?", id).Where("namespace = ?", namespace).Scan(r.s.d.Context(ctx))
	if errors.Is(err, sql.ErrNoRows) {
		return port.Operation{}, fault.New(fault.NotFound, "operation %s does not exist", id)
	}
	if err != nil {
		return port.Operation{}, r.s.d.Fault("read operation", err)
	}
	return row.port(), nil
}

// UnfinishedOperations implements port.OperationReader.
func (r *Reader) UnfinishedOperations(ctx context.Context, limit int) ([]port.Operation, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	now, err := r.now(ctx)
	if err != nil {
		return nil, err
	}
	var rows []operationRow
	err = r.s.conn.NewSelect().Model(&rows).Where("finished_at = 0").
		Where("NOT EXISTS (SELECT 1 FROM claims c JOIN replicas r ON r.id = c.replica AND r.epoch = c.epoch WHERE c.name = 'operation/' || o.org || '/' || o.id AND r.expires_at > ?)", now).
		Order("created_at", "id").Limit(int64(limit)).Scan(r.s.d.Context(ctx))
	if err != nil {
		return nil, r.s.d.Fault("list operations", err)
	}
	out := make([]port.Operation, len(rows))
	for i := range rows {
		out[i] = rows[i].port()
	}
	return out, nil
}

// PutOperation implements port.OperationWriter. It goes by prepared statement
// because a request holds up to a hundred documents.
func (w *Writer) PutOperation(ctx context.Context, o port.Operation) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.requireOrganization(ctx, o.Org); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write operation", `INSERT INTO operations
  (org, id, namespace, status, done, total, request, principal, result, error, created_at, finished_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (org, id) DO UPDATE SET namespace = EXCLUDED.namespace, status = EXCLUDED.status, done = EXCLUDED.done,
  total = EXCLUDED.total, request = EXCLUDED.request, principal = EXCLUDED.principal, result = EXCLUDED.result,
  error = EXCLUDED.error, created_at = EXCLUDED.created_at, finished_at = EXCLUDED.finished_at`,
		string(o.Org), o.ID, o.Namespace, o.Status, o.Done, o.Total, o.Request, o.Principal,
		text(o.Result), text(o.Error), micros(o.CreatedAt), micros(o.FinishedAt))
	if err != nil {
		return w.fail(err)
	}
	w.written.Bytes += len(o.Request)
	return nil
}

// DeleteOperations implements port.OperationWriter.
func (w *Writer) DeleteOperations(ctx context.Context, before time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "delete operations", `DELETE FROM operations WHERE finished_at <> 0 AND finished_at < ?`, micros(before))
	if err != nil {
		return w.fail(err)
	}
	return nil
}

// text is JSON as a nullable text argument.
func text(b []byte) sql.NullString {
	return sql.NullString{String: string(b), Valid: b != nil}
}
