package bunsql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// dumped is a table of a dump, and in which order its rows come.
type dumped struct {
	name string
	key  string // columns of a unique index, separated by ", "
	// in names the table by whose columns vectors are ordered: theirs say nothing of time.
	in string
}

// dumpedTables are those that a backup holds, after those that they refer to.
var dumpedTables = []dumped{
	{name: "organizations", key: "id"},
	{name: "api_keys", key: "id"},
	{name: "integrations", key: "org, id"},
	{name: "namespaces", key: "generation"},
	{name: "documents", key: "generation, seq, id"},
	{name: "vectors", key: "generation, seq, id", in: "documents"},
	{name: "tombstones", key: "generation, seq, id"},
	{name: "memory_contexts", key: "generation, id"},
	{name: "memory_records", key: "generation, source, external_id"},
	{name: "memory_receipts", key: "generation, source, external_id, version"},
	{name: "replays", key: "org, integration, idempotency_key"},
	{name: "grants", key: "org, id"},
	{name: "oauth_clients", key: "id"},
	{name: "oauth_grants", key: "id"},
	{name: "jobs", key: "org, id"},
	{name: "data_keys", key: "org"},
	{name: "sources", key: "id"},
	{name: "source_secrets", key: "source, name"},
	{name: "source_items", key: "source, number"},
	{name: "source_runs", key: "id"},
	{name: "source_run_items", key: "run, place"},
	{name: "events", key: "position"},
	{name: "event_streams", key: "org"},
	{name: "event_readers", key: "org"},
	{name: "webhooks", key: "org, id"},
	{name: "webhook_secrets", key: "org, webhook, id"},
	{name: "deliveries", key: "position"},
	{name: "audit_waiting", key: "id"},
	{name: "audit", key: "seq"},
	{name: "audit_head", key: "id"},
	{name: "usage_hours", key: "hour, org, namespace, integration, key_id"},
	{name: "usage_bytes", key: "org, namespace, integration, hour"},
	{name: "quotas", key: "org, name"},
	{name: "members", key: "id"},
	{name: "invitations", key: "hash"},
	{name: "saved_queries", key: "org, namespace, name"},
	{name: "vector_stores", key: "org, id"},
	{name: "kept_files", key: "org, id"},
	{name: "kept_parts", key: "org, file, number"},
	{name: "attachments", key: "org, namespace, file"},
	{name: "secrets", key: "name"},
	{name: "databases", key: "number"},
	{name: "placements", key: "org"},
}

// NotDumped are the tables that a backup leaves out: of what runs at the moment, and of people who are signed in.
var NotDumped = []string{
	"schema_migrations", "pings", "replicas", "claims", "consumers", "watermarks", "erasure_acks", "buckets",
	"sessions", "member_sessions", "sign_in_links", "oauth_access_tokens", "audit_taken", "moves",
}

// identities are the columns that number rows, never twice.
var identities = []struct {
	table, column string
	// skip is left out after a restore: numbers given since the backup are known elsewhere.
	skip int64
}{{"namespaces", "generation", 1 << 20}, {"events", "position", 0}, {"deliveries", "position", 0}}

// numbersTable is a table of a dump that is none of the database: the last number of each
// identity column.
const numbersTable = "numbers"

var numbersColumns = []string{"name", "last"}

// Numbers is how a database keeps the last number of an identity column.
type Numbers interface {
	Last(ctx context.Context, s *Session, table, column string) (int64, error)
	Set(ctx context.Context, s *Session, table, column string, last int64) error
}

const dumpPage = 1000 // rows of a query

// Snapshot is a database as port.Dump.
type Snapshot struct {
	Reader *Reader // of the same snapshot

	s       *Session
	numbers Numbers
	schema  int
	tables  []port.DumpTable
}

// Dump is what the snapshot of a session holds.
func Dump(ctx context.Context, s *Session, n Numbers) (*Snapshot, error) {
	known, err := Migrations()
	if err != nil {
		return nil, err
	}
	d := &Snapshot{Reader: &Reader{s: s}, s: s, numbers: n}
	if d.schema, err = CheckSchema(ctx, s, known); err != nil {
		return nil, err
	}
	if d.schema != len(known) {
		return nil, fmt.Errorf("the database has schema %d and this program %d", d.schema, len(known))
	}
	for _, t := range dumpedTables {
		columns, err := s.columns(ctx, t.name)
		if err != nil {
			return nil, err
		}
		d.tables = append(d.tables, port.DumpTable{Name: t.name, Columns: columns})
	}
	d.tables = append(d.tables, port.DumpTable{Name: numbersTable, Columns: numbersColumns})
	return d, nil
}

func (s *Session) columns(ctx context.Context, table string) ([]string, error) {
	rows, err := s.query(ctx, "read the schema", "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, s.d.Fault("read the schema", err)
	}
	return columns, rows.Err()
}

// Schema implements port.Dump.
func (d *Snapshot) Schema() int { return d.schema }

// Tables implements port.Dump.
func (d *Snapshot) Tables() []port.DumpTable { return d.tables }

// Rows implements port.Dump.
func (d *Snapshot) Rows(ctx context.Context, table string, visit func([]byte) error) error {
	return d.rows(ctx, table, nil, visit)
}

// rows is Rows without those that skip says are none of the dump; nil: all are.
func (d *Snapshot) rows(ctx context.Context, table string, skip func([]any) bool, visit func([]byte) error) error {
	if table == numbersTable {
		return d.lastNumbers(ctx, visit)
	}
	at := slices.IndexFunc(dumpedTables, func(t dumped) bool { return t.name == table })
	if at < 0 {
		return fmt.Errorf("there is no table %s to dump", table)
	}
	t := dumpedTables[at]
	width := len(d.tables[at].Columns)
	keys := strings.Split(t.key, ", ")
	from, by, extra := t.name+" t", "t.", ""
	if t.in != "" {
		from, by, extra = t.in+" o CROSS JOIN "+t.name+" t", "o.", ", o.seq"
	}
	order := by + strings.Join(keys, ", "+by)
	query := "SELECT t.*" + extra + " FROM " + from
	var conditions []string
	if t.in != "" {
		conditions = append(conditions, "t.generation = o.generation AND t.id = o.id")
	}
	where := func(more ...string) string {
		if all := slices.Concat(conditions, more); len(all) > 0 {
			return " WHERE " + strings.Join(all, " AND ")
		}
		return ""
	}
	end := fmt.Sprintf(" ORDER BY %s LIMIT %d", order, dumpPage)
	first := query + where() + end
	next := query + where("("+order+") > ("+strings.Repeat("?, ", len(keys)-1)+"?)") + end
	places := make([]int, len(keys)) // of the key among what is read
	for i, key := range keys {
		if places[i] = slices.Index(d.tables[at].Columns, key); places[i] < 0 {
			places[i] = width // what the other table adds
		}
	}
	if extra != "" {
		width++
	}
	values, into := make([]any, width), make([]any, width)
	for i := range values {
		into[i] = &values[i]
	}
	var packed []byte
	var after []any
	for {
		n, statement := 0, first
		if after != nil {
			statement = next
		}
		rows, err := d.s.query(ctx, "dump "+table, statement, after...)
		if err != nil {
			return err
		}
		for rows.Next() {
			if err = rows.Scan(into...); err != nil {
				err = d.s.d.Fault("dump "+table, err)
				break
			}
			n++
			if skip != nil && skip(values) {
				continue
			}
			if packed, err = packing.AppendRow(packed[:0], values[:len(d.tables[at].Columns)]); err != nil {
				break
			}
			if err = visit(packed); err != nil {
				break
			}
		}
		if err == nil {
			err = d.s.d.Fault("dump "+table, rows.Err())
		}
		if closed := rows.Close(); err == nil {
			err = d.s.d.Fault("dump "+table, closed)
		}
		if err != nil || n < dumpPage {
			return err
		}
		after = make([]any, len(keys))
		for i, place := range places {
			after[i] = values[place]
			if b, ok := after[i].([]byte); ok {
				after[i] = slices.Clone(b)
			}
		}
	}
}

func (d *Snapshot) lastNumbers(ctx context.Context, visit func([]byte) error) error {
	for _, i := range identities {
		last, err := d.numbers.Last(ctx, d.s, i.table, i.column)
		if err != nil {
			return err
		}
		row, err := packing.AppendRow(nil, []any{i.table, last})
		if err != nil {
			return err
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

// Filling is how a database takes the rows of a dump.
type Filling struct {
	Numbers

	// Insert stores rows of a table.
	Insert func(ctx context.Context, table string, columns []string, rows [][]any) error
	Now    func() time.Time
	Share  Share
}

// Bounds of what one Insert gets.
const (
	fillRows  = 500
	fillBytes = 4 << 20
)

// Fill makes the schema of an empty database as the dump has it, stores the rows, and brings the
// schema up to date. All of it happens in the session's transaction.
func Fill(ctx context.Context, s *Session, in port.Restoring, f Filling) error {
	known, err := Migrations()
	if err != nil {
		return err
	}
	if in.Schema() > len(known) {
		return fmt.Errorf("%w: its schema is version %d and this program knows up to %d; use a newer program",
			ErrNewerSchema, in.Schema(), len(known))
	}
	if in.Schema() < 1 {
		return fmt.Errorf("schema %d is none that a backup can have", in.Schema())
	}
	alone := func(ctx context.Context, fn func(*Session) error) error { return fn(s) }
	if err := Migrate(ctx, known[:in.Schema()], f.Now, alone); err != nil {
		return err
	}
	// The default organization has another id than the one that comes.
	if _, err := s.exec(ctx, "make room", `DELETE FROM organizations`); err != nil {
		return err
	}
	if err := s.fillShare(ctx, in, f); err != nil {
		return err
	}
	for _, generation := range in.Erased {
		const mark = `UPDATE namespaces SET erasing_at = ? WHERE generation = ? AND dropped = 0 AND erasing_at = 0`
		if _, err := s.exec(ctx, "mark what was erased", mark, micros(in.At), generation); err != nil {
			return err
		}
	}
	if err := Migrate(ctx, known, f.Now, alone); err != nil {
		return err
	}
	return s.settleShare(ctx, in, f.Share)
}

// setNumbers has the identity columns go on behind the last numbers of a part of the dump.
func (s *Session) setNumbers(ctx context.Context, in port.Restoring, part string, n Numbers) error {
	return in.Rows(ctx, partTable(part, numbersTable), func(row []byte) error {
		values, err := packing.Row(row)
		if err != nil || len(values) != len(numbersColumns) {
			return damaged(numbersTable)
		}
		for _, i := range identities {
			last, ok := values[1].(int64)
			if !ok || values[0] != i.table {
				continue
			}
			if err := n.Set(ctx, s, i.table, i.column, last+i.skip); err != nil {
				return err
			}
		}
		return nil
	})
}

func damaged(table string) error {
	return fmt.Errorf("a row of table %s is not whole", table)
}

// fill stores the rows of a table of a part of the dump, but for a column that is numbered again ("": none is).
func (s *Session) fill(ctx context.Context, in port.Restoring, part string, t port.DumpTable, numbered string,
	insert func(context.Context, string, []string, [][]any) error) error {
	known, err := s.hasTable(ctx, t.Name) // its name and columns become part of statements
	if err != nil {
		return err
	}
	if !known {
		return fmt.Errorf("schema %d has no table %q", in.Schema(), t.Name)
	}
	columns, err := s.columns(ctx, t.Name)
	if err != nil {
		return err
	}
	for _, c := range t.Columns {
		if !slices.Contains(columns, c) {
			return fmt.Errorf("schema %d has no column %q in table %s", in.Schema(), c, t.Name)
		}
	}
	width, leave := len(t.Columns), slices.Index(t.Columns, numbered)
	columns = t.Columns
	if leave >= 0 {
		columns = slices.Delete(slices.Clone(columns), leave, leave+1)
	}
	var rows [][]any
	bytes := 0
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		err := insert(ctx, t.Name, columns, rows)
		rows, bytes = rows[:0], 0
		return err
	}
	err = in.Rows(ctx, partTable(part, t.Name), func(row []byte) error {
		values, err := packing.Row(slices.Clone(row))
		if err != nil || len(values) != width {
			return damaged(t.Name)
		}
		if leave >= 0 {
			values = slices.Delete(values, leave, leave+1)
		}
		rows, bytes = append(rows, values), bytes+len(row)
		if len(rows) < fillRows && bytes < fillBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return err
}

// ErrNotEmpty is inside the error of a restore into a store that holds something.
var ErrNotEmpty = fault.New(fault.Conflict, "there is an installation already; a restore needs an empty place")
