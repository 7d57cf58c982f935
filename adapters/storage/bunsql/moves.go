package bunsql

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// Standing says what a database, one of several, is to an organization (package sharded).
type Standing int64

// The standings of an organization.
const (
	Settled   Standing = iota // its rows are here; that of an organization which was never moved, too
	Leaving                   // its rows are copied to another database: they may be read and not changed
	Elsewhere                 // rows that are here are a copy that does not count yet, or no more
)

// Standing reads what this database is to an organization; there is false where it knows nothing of it. p is the
// partition that the transaction is for, zero where it is for none.
func (r *Reader) Standing(ctx context.Context, org ident.Org, p port.Partition) (s Standing, there bool, err error) {
	return r.standing(ctx, org, p, `SELECT standing FROM organizations WHERE id = ?`)
}

// Hold is Standing, which stays as it is until the transaction ends.
func (w *Writer) Hold(ctx context.Context, org ident.Org, p port.Partition) (s Standing, there bool, err error) {
	return w.standing(ctx, org, p, `SELECT standing FROM organizations WHERE id = ?{{share}}`)
}

func (r *Reader) standing(ctx context.Context, org ident.Org, p port.Partition, query string) (s Standing, there bool,
	err error) {
	if err := r.use(ctx, p); err != nil {
		return s, false, err
	}
	there, err = r.s.get(ctx, "find an organization", query, []any{string(org)}, &s)
	return s, there, err
}

// Unsettled lists the organizations whose standing here is least or more.
func (r *Reader) Unsettled(ctx context.Context, least Standing) (map[ident.Org]bool, error) {
	const op = "list moved organizations"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT id FROM organizations WHERE standing <> 0 AND standing >= ?`, int64(least))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[ident.Org]bool{}
	for rows.Next() {
		var org string
		if err := rows.Scan(&org); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out[ident.Org(org)] = true
	}
	return out, r.s.d.Fault(op, rows.Err())
}

// Move is the way of an organization from one database to another, as the home knows it.
type Move struct {
	Org            ident.Org
	Number         int64 // of this run; a later one has a higher number
	Origin, Target string
	Expires        time.Time // until when nobody else may go on with it, by the home's clock
	Ended          bool
}

// Move reads the last move of an organization; ok is false when there was none.
func (r *Reader) Move(ctx context.Context, org ident.Org) (m Move, ok bool, err error) {
	if err := r.check(ctx); err != nil {
		return m, false, err
	}
	m.Org = org
	var expires, ended int64
	ok, err = r.s.get(ctx, "read move", `SELECT number, origin, target, expires_at, ended FROM moves WHERE org = ?`,
		[]any{string(org)}, &m.Number, &m.Origin, &m.Target, &expires, &ended)
	m.Expires, m.Ended = instant(expires), ended != 0
	return m, ok, err
}

// Moves gives the number of the last move and how many have not ended.
func (r *Reader) Moves(ctx context.Context) (last, open int64, err error) {
	if err := r.check(ctx); err != nil {
		return 0, 0, err
	}
	_, err = r.s.get(ctx, "count moves", `SELECT coalesce(max(number), 0), coalesce(sum(1 - ended), 0) FROM moves`, nil,
		&last, &open)
	return last, open, err
}

// PutMove writes the move of an organization in place of the one before.
func (w *Writer) PutMove(ctx context.Context, m Move) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write move", `INSERT INTO moves (org, number, origin, target, expires_at, ended)
VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (org) DO UPDATE SET number = EXCLUDED.number, origin = EXCLUDED.origin,
  target = EXCLUDED.target, expires_at = EXCLUDED.expires_at, ended = EXCLUDED.ended`,
		string(m.Org), m.Number, m.Origin, m.Target, micros(m.Expires), flag(m.Ended))
	return w.fail(err)
}

// errOvertaken is the answer to a run of a move that another has taken over.
func errOvertaken(org ident.Org) error {
	return fault.New(fault.Conflict, "another command goes on with the move of organization %s", org)
}

// ChangeMove says of a move until when it is this run's, or that it has ended: fault Conflict where another run
// has taken it over.
func (w *Writer) ChangeMove(ctx context.Context, m Move) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	n, err := w.s.exec(ctx, "write move", `UPDATE moves SET expires_at = ?, ended = ? WHERE org = ? AND number = ?`,
		micros(m.Expires), flag(m.Ended), string(m.Org), m.Number)
	if err == nil && n == 0 {
		return errOvertaken(m.Org)
	}
	return w.fail(err)
}

// Stand says what this database is to an organization, and waits for the transactions that hold it. Fault
// Conflict where a later move was here, NotFound where nothing is known of the organization.
func (w *Writer) Stand(ctx context.Context, org ident.Org, s Standing, move int64) error {
	const op = "write standing"
	if err := w.check(ctx); err != nil {
		return err
	}
	n, err := w.s.exec(ctx, op, `UPDATE organizations SET standing = ?, move = ? WHERE id = ? AND move <= ?`, int64(s), move,
		string(org), move)
	if err != nil || n > 0 {
		return w.fail(err)
	}
	if _, err := w.Organization(ctx, org); err != nil {
		return err
	}
	return errOvertaken(org)
}

// Forget removes an organization of which nothing is left here, and which is in another database.
func (w *Writer) Forget(ctx context.Context, org ident.Org, move int64) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "forget organization", `DELETE FROM organizations WHERE id = ? AND move = ? AND standing = ?`,
		string(org), move, int64(Elsewhere))
	return w.fail(err)
}

// MovedTable is a table of which a move takes an organization's rows along.
type MovedTable struct {
	Name string
	key  string // columns of a unique index, separated by ", "
	// where selects the organization's rows; each ? is its id. "": rows are of a generation.
	where string
	// numbered is an identity column whose numbers are given anew, in the same order, so that they rise with those
	// of the database that takes the rows.
	numbered string
	// passing is a column that says when something was used last. What is used during a move may be forgotten.
	passing string
	// Early says that rows are copied before writes are refused, and what changed then is brought after it.
	Early bool
	// stamp are the columns, separated by ", " and with the key, that tell whether a row is another than it was; "": all.
	stamp string
	// along are tables whose rows of the same key come and go with a row.
	along []string
}

// GoesAlong reports that the rows come and go with those of another table. They may be others than they were all the same.
func (t MovedTable) GoesAlong() bool {
	return slices.ContainsFunc(MovedTables, func(o MovedTable) bool { return slices.Contains(o.along, t.Name) })
}

// Names reports that the rows are namespaces, which other rows refer to and whose names are unique.
func (t MovedTable) Names() bool { return t.Name == "namespaces" }

// Stamped reports that MovePage reads of the rows what tells whether they changed, and MovedRows all.
func (t MovedTable) Stamped() bool { return t.stamp != "" }

// PerGeneration reports that the rows are of the organization's generations.
func (t MovedTable) PerGeneration() bool { return t.where == "" }

const (
	byOrg     = `org = ?`
	bySource  = `source IN (SELECT id FROM sources WHERE org = ?)`
	byMember  = `member IN (SELECT id FROM members WHERE org = ?)`
	ofOrgLive = `org = ? AND dropped = 0`
)

// MovedTables are those tables, after those that they refer to.
var MovedTables = []MovedTable{
	{Name: "api_keys", key: "id", where: byOrg, passing: "last_used_at"},
	{Name: "integrations", key: "id", where: byOrg},
	{Name: "namespaces", key: "generation", where: ofOrgLive, passing: "seen_at", Early: true},
	// Whatever changes a document or its vectors gives it another change number.
	{Name: "documents", key: "id", Early: true, stamp: "id, seq", along: []string{"vectors", "memory_contexts"}},
	{Name: "vectors", key: "id", Early: true, stamp: "id"},
	{Name: "tombstones", key: "id", Early: true},
	{Name: "memory_contexts", key: "id", Early: true},
	{Name: "memory_records", key: "source, external_id", Early: true},
	{Name: "memory_receipts", key: "source, external_id, version", Early: true},
	{Name: "erasure_acks", key: "replica", Early: true},
	{Name: "replays", key: "integration, idempotency_key", where: byOrg},
	{Name: "grants", key: "id", where: byOrg},
	{Name: "oauth_grants", key: "id", where: byOrg},
	{Name: "oauth_access_tokens", key: "hash", where: `grant_id IN (SELECT id FROM oauth_grants WHERE org = ?)`},
	{Name: "jobs", key: "id", where: byOrg},
	{Name: "data_keys", key: "org", where: byOrg},
	{Name: "sources", key: "id", where: byOrg},
	{Name: "source_secrets", key: "source, name", where: bySource},
	{Name: "source_items", key: "source, number", where: bySource},
	{Name: "source_runs", key: "id", where: bySource},
	{Name: "source_run_items", key: "run, place",
		where: `run IN (SELECT r.id FROM source_runs r JOIN sources s ON s.id = r.source WHERE s.org = ?)`},
	{Name: "events", key: "position", where: byOrg, numbered: "position"},
	{Name: "event_streams", key: "org", where: byOrg},
	{Name: "event_readers", key: "org", where: byOrg},
	{Name: "webhooks", key: "id", where: byOrg},
	{Name: "webhook_secrets", key: "webhook, id", where: byOrg},
	{Name: "deliveries", key: "position", where: byOrg, numbered: "position"},
	{Name: "quotas", key: "name", where: byOrg},
	{Name: "members", key: "id", where: byOrg},
	{Name: "invitations", key: "hash", where: byMember},
	{Name: "member_sessions", key: "hash", where: byMember},
	{Name: "sessions", key: "hash", where: byOrg},
	{Name: "sign_in_links", key: "hash", where: byOrg},
	{Name: "saved_queries", key: "namespace, name", where: byOrg},
	{Name: "vector_stores", key: "id", where: byOrg},
	{Name: "kept_files", key: "id", where: byOrg},
	{Name: "kept_parts", key: "file, number", where: byOrg},
	{Name: "attachments", key: "namespace, file", where: byOrg},
	{Name: "claims", key: "name", where: `(name IN (SELECT 'job/' || org || '/' || id FROM jobs WHERE org = ?)
  OR name IN (SELECT 'webhook/' || id FROM webhooks WHERE org = ?))`},
}

// NotMoved are the tables that stay: of the home, of a database, and how far indexes were, which they say again.
var NotMoved = []string{
	"organizations", "schema_migrations", "pings", "replicas", "consumers", "watermarks", "buckets", "databases",
	"placements", "audit_taken", "moves", "oauth_clients", "audit_waiting", "audit", "audit_head", "usage_hours", "usage_bytes",
	"secrets",
}

// condition selects the rows of an organization, or of a generation of it.
func (t MovedTable) condition(org ident.Org, generation int64) (where string, args []any) {
	if t.PerGeneration() {
		return "generation = ?", []any{generation}
	}
	for range strings.Count(t.where, "?") {
		args = append(args, string(org))
	}
	return t.where, args
}

// Bounds of a page of a move.
const (
	movePage  = 500
	moveKeys  = 5000 // where it has keys and stamps alone
	moveBytes = 2 << 20
	moveRows  = 20 // of one statement
)

// MovePage is some rows of a table, in the order of its key.
type MovePage struct {
	Table   MovedTable
	columns []string
	Rows    [][]any
	Bytes   int
	Next    []any // of the last row, for the page behind it; nil: there is none
	along   []MovePage
}

// MovePage reads a page of what an organization has in a table, from the start with after nil: of a table with stamps these
// alone.
func (r *Reader) MovePage(ctx context.Context, t MovedTable, org ident.Org, generation int64, after []any) (MovePage, error) {
	columns, most := "*", movePage
	if t.stamp != "" {
		columns, most = t.stamp, moveKeys
	}
	where, args := t.condition(org, generation)
	if after != nil {
		where += " AND (" + t.key + ") > (" + strings.Repeat("?, ", len(t.keys())-1) + "?)"
		args = append(args, after...)
	}
	return r.movePage(ctx, t, fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT %d", columns, t.Name, where, t.key, most),
		most, args...)
}

// MovedRows reads the rows of keys, as far as a page goes, with those that go along. Of a table without stamps the page has
// them.
func (r *Reader) MovedRows(ctx context.Context, generation int64, keys MovePage) (p MovePage, err error) {
	if keys.Table.stamp == "" {
		return keys, nil
	}
	list, err := keys.ids()
	if err != nil {
		return p, err
	}
	const query = "SELECT * FROM %s WHERE generation = ? AND id IN (SELECT j.value FROM {{each}}) ORDER BY id LIMIT %d"
	if p, err = r.movePage(ctx, keys.Table, fmt.Sprintf(query, keys.Table.Name, movePage), movePage, generation,
		list); err != nil {
		return p, err
	}
	if list, err = p.ids(); err != nil {
		return p, err
	}
	for _, name := range p.Table.along {
		t := MovedTables[slices.IndexFunc(MovedTables, func(t MovedTable) bool { return t.Name == name })]
		rows, err := r.s.query(ctx, "move "+name, fmt.Sprintf(query, name, movePage), generation, list)
		if err != nil {
			return p, err
		}
		also := MovePage{Table: t}
		if err := also.read(r.s, rows, math.MaxInt); err != nil {
			return p, err
		}
		p.Bytes += also.Bytes
		p.along = append(p.along, also)
	}
	return p, nil
}

func (r *Reader) movePage(ctx context.Context, t MovedTable, query string, most int, args ...any) (p MovePage, err error) {
	p.Table = t
	if err := r.check(ctx); err != nil {
		return p, err
	}
	rows, err := r.s.query(ctx, "move "+t.Name, query, args...)
	if err == nil {
		err = p.read(r.s, rows, moveBytes)
	}
	if err == nil && (len(p.Rows) == most || p.Bytes >= moveBytes) {
		p.Next = p.key(len(p.Rows) - 1)
	}
	return p, err
}

// read takes rows until there are so many bytes.
func (p *MovePage) read(s *Session, rows *sql.Rows, most int) (err error) {
	op := "move " + p.Table.Name
	defer rows.Close()
	if p.columns, err = rows.Columns(); err != nil {
		return s.d.Fault(op, err)
	}
	into := make([]any, len(p.columns))
	for p.Bytes < most && rows.Next() {
		values := make([]any, len(p.columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return s.d.Fault(op, err)
		}
		for i, v := range values {
			switch v := v.(type) {
			case []byte:
				values[i] = slices.Clone(v)
				p.Bytes += len(v)
			case string:
				p.Bytes += len(v)
			}
		}
		p.Rows = append(p.Rows, values)
	}
	return s.d.Fault(op, rows.Err())
}

func (t MovedTable) keys() []string { return strings.Split(t.key, ", ") }

// key is that of a row.
func (p MovePage) key(row int) (key []any) {
	for _, name := range p.Table.keys() {
		key = append(key, p.Rows[row][slices.Index(p.columns, name)])
	}
	return key
}

// upTo is how many rows have keys up to one.
func (p MovePage) upTo(last []any) int {
	n, _ := slices.BinarySearchFunc(p.Rows, last, func(row []any, last []any) int {
		key := MovePage{Table: p.Table, columns: p.columns, Rows: [][]any{row}}.key(0)
		if compareKeys(key, last) <= 0 {
			return -1
		}
		return 1
	})
	return n
}

// ids are the keys of a table that has one of text, as {{each}} takes them.
func (p MovePage) ids() (string, error) {
	all := make([]string, len(p.Rows))
	for i := range all {
		all[i], _ = p.key(i)[0].(string)
	}
	return each(all)
}

// compareKeys has text in the order of its bytes, as databases have it.
func compareKeys(a, b []any) int {
	for i := range a {
		c := 0
		switch x := a[i].(type) {
		case int64:
			y, _ := b[i].(int64)
			c = cmp.Compare(x, y)
		case string:
			y, _ := b[i].(string)
			c = cmp.Compare(x, y)
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// Align cuts two pages that begin behind the same key, of one table, to the keys of which both have all rows.
func Align(a, b *MovePage) {
	upto := a.Next
	if upto == nil || b.Next != nil && compareKeys(b.Next, upto) < 0 {
		upto = b.Next
	}
	if upto == nil {
		return
	}
	for _, p := range []*MovePage{a, b} {
		p.Rows, p.Next = p.Rows[:p.upTo(upto)], upto
	}
}

// Differing gives the rows of a that are others in b or not there, and those of b that are not in a: parts of pages that were
// aligned.
func Differing(a, b MovePage) (put, drop MovePage, err error) {
	put, drop = MovePage{Table: a.Table, columns: a.columns}, MovePage{Table: b.Table, columns: b.columns}
	var x, y []byte
	for i, j := 0, 0; i < len(a.Rows) || j < len(b.Rows); {
		c := 0
		switch {
		case j == len(b.Rows):
			c = -1
		case i == len(a.Rows):
			c = 1
		default:
			c = compareKeys(a.key(i), b.key(j))
		}
		switch {
		case c > 0:
			drop.Rows = append(drop.Rows, b.Rows[j])
		case c < 0:
			put.Rows = append(put.Rows, a.Rows[i])
		default:
			if x, err = a.packed(x, i); err == nil {
				y, err = b.packed(y, j)
			}
			if err != nil {
				return put, drop, err
			}
			if !bytes.Equal(x, y) {
				put.Rows = append(put.Rows, a.Rows[i])
			}
		}
		if c <= 0 {
			i++
		}
		if c >= 0 {
			j++
		}
	}
	return put, drop, nil
}

// After leaves out the rows up to the last one of another page of the same table.
func (p MovePage) After(o MovePage) MovePage {
	if len(o.Rows) == 0 {
		p.Rows = nil
		return p
	}
	p.Rows = p.Rows[p.upTo(o.key(len(o.Rows)-1)):]
	return p
}

// packed is a row but for what is another in each database.
func (p MovePage) packed(into []byte, row int) ([]byte, error) {
	kept := make([]any, 0, len(p.columns))
	for i, c := range p.columns {
		if c != p.Table.numbered && c != p.Table.passing {
			kept = append(kept, p.Rows[row][i])
		}
	}
	return packing.AppendRow(into[:0], kept)
}

// Sum adds the rows to a hash, with those that go along, but for what is another in each database.
func (p MovePage) Sum(h hash.Hash) error {
	var packed []byte
	for i := range p.Rows {
		var err error
		if packed, err = p.packed(packed, i); err != nil {
			return err
		}
		packed = binary.AppendUvarint(packed, uint64(len(packed))) // so that rows can't run into one another
		_, _ = h.Write(packed)                                     // never fails
	}
	for _, also := range p.along {
		if err := also.Sum(h); err != nil {
			return err
		}
	}
	return nil
}

// moved fails with fault Conflict unless the rows that are here of an organization are those of a move that goes on.
func (w *Writer) moved(ctx context.Context, op string, org ident.Org, move int64) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	var one int64
	mine, err := w.s.get(ctx, op, `SELECT 1 FROM organizations WHERE id = ? AND move = ? AND standing = ?{{share}}`,
		[]any{string(org), move, int64(Elsewhere)}, &one)
	if err == nil && !mine {
		err = errOvertaken(org)
	}
	return err
}

// PutMoved stores a page of an organization whose rows are Elsewhere, with the rows that go along. A namespace that is there
// is replaced if it says so, and else left as it is, as is one whose name another has.
func (w *Writer) PutMoved(ctx context.Context, org ident.Org, move int64, p MovePage, replaces bool) error {
	op := "move " + p.Table.Name
	if err := w.moved(ctx, op, org, move); err != nil {
		return err
	}
	columns, leave := slices.Clone(p.columns), -1
	if p.Table.numbered != "" {
		leave = slices.Index(columns, p.Table.numbered)
		columns = slices.Delete(columns, leave, leave+1)
	}
	insert := "INSERT INTO " + p.Table.Name + " (" + strings.Join(columns, ", ") + ") VALUES "
	row, there := "("+strings.Repeat("?, ", len(columns)-1)+"?)", ""
	switch {
	case p.Table.Names() && replaces:
		set := make([]string, len(columns))
		for i, c := range columns {
			set[i] = c + " = EXCLUDED." + c
		}
		there = " ON CONFLICT (generation) DO UPDATE SET " + strings.Join(set, ", ")
	case p.Table.Names():
		there = " ON CONFLICT DO NOTHING"
	}
	for rows := p.Rows; len(rows) > 0; {
		n := 1
		if len(rows) >= moveRows { // two statements alone are prepared
			n = moveRows
		}
		var args []any
		for _, values := range rows[:n] {
			for i, v := range values {
				if i != leave {
					args = append(args, v)
				}
			}
		}
		if _, err := w.s.exec(ctx, op, insert+strings.Repeat(row+", ", n-1)+row+there, args...); err != nil {
			return w.fail(err)
		}
		rows = rows[n:]
	}
	for _, also := range p.along {
		if err := w.PutMoved(ctx, org, move, also, replaces); err != nil {
			return err
		}
	}
	return nil
}

// DropMoved removes rows of an organization whose rows are Elsewhere, with those that go along. What a namespace had is
// purged as that of any namespace that was deleted.
func (w *Writer) DropMoved(ctx context.Context, org ident.Org, move, generation int64, p MovePage) error {
	op := "move " + p.Table.Name
	if err := w.moved(ctx, op, org, move); err != nil {
		return err
	}
	where, scope := p.Table.condition(org, generation)
	remove := "DELETE FROM " + p.Table.Name
	if p.Table.Names() {
		remove, w.written.Dropped = "UPDATE namespaces SET dropped = 1, erasing_at = 0", true
	}
	remove += " WHERE " + where
	if p.Table.PerGeneration() && p.Table.key == "id" {
		list, err := p.ids()
		if err == nil && len(p.Rows) > 0 {
			_, err = w.s.exec(ctx, op, remove+" AND id IN (SELECT j.value FROM {{each}})", append(scope, list)...)
		}
		return w.fail(err)
	}
	return w.eachMoved(ctx, remove, scope, p)
}

// FreeNames takes their names from namespaces of an organization whose rows are Elsewhere, until they are replaced.
func (w *Writer) FreeNames(ctx context.Context, org ident.Org, move int64, p MovePage) error {
	if err := w.moved(ctx, "move namespaces", org, move); err != nil {
		return err
	}
	return w.eachMoved(ctx, "UPDATE namespaces SET life = -2 - generation WHERE org = ?", []any{string(org)}, p)
}

// eachMoved runs a statement for the key of each row.
func (w *Writer) eachMoved(ctx context.Context, statement string, scope []any, p MovePage) error {
	for _, key := range p.Table.keys() {
		statement += " AND " + key + " = ?"
	}
	for i := range p.Rows {
		if _, err := w.s.exec(ctx, "move "+p.Table.Name, statement, append(slices.Clone(scope), p.key(i)...)...); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// RemoveMoved removes up to limit rows of a table, or of what a generation has, of an organization whose rows are
// Elsewhere; more is false when nothing is left but the organization's own row.
func (w *Writer) RemoveMoved(ctx context.Context, org ident.Org, move int64, limit int) (more bool, err error) {
	const op = "remove what was moved"
	if err := w.moved(ctx, op, org, move); err != nil {
		return false, err
	}
	for _, t := range slices.Backward(MovedTables) {
		if t.PerGeneration() || t.Names() {
			continue
		}
		where, args := t.condition(org, 0)
		key := t.key
		if strings.Contains(key, ",") {
			key = "(" + key + ")"
		}
		if where == byOrg && t.numbered == "" {
			where, args = byOrg+" AND "+key+" IN (SELECT "+t.key+" FROM "+t.Name+" WHERE "+byOrg+" LIMIT ?)",
				append(args, string(org), limit)
		} else {
			where, args = key+" IN (SELECT "+t.key+" FROM "+t.Name+" WHERE "+where+" LIMIT ?)", append(args, limit)
		}
		n, err := w.s.exec(ctx, op, "DELETE FROM "+t.Name+" WHERE "+where, args...)
		if err != nil {
			return false, w.fail(err)
		}
		if n >= int64(limit) {
			return true, nil
		}
	}
	// By an index each, and in transactions of their own: one that has read other namespaces conflicts with whoever
	// writes in them, and where many do it would never commit.
	n, err := w.s.exec(ctx, op, `UPDATE namespaces SET dropped = 1, erasing_at = 0 WHERE org = ? AND dropped = 0`, string(org))
	if err != nil {
		return false, w.fail(err)
	}
	if n > 0 {
		w.forget()
		return true, nil
	}
	var generation int64
	left, err := w.s.get(ctx, op, `SELECT generation FROM namespaces WHERE org = ? AND dropped <> 0 ORDER BY generation LIMIT 1`,
		[]any{string(org)}, &generation)
	if err != nil || !left {
		return false, err
	}
	_, err = w.Purge(ctx, generation, limit)
	return true, err
}

// MovedGenerations lists the generations of an organization.
func (r *Reader) MovedGenerations(ctx context.Context, org ident.Org) ([]int64, error) {
	return r.generations(ctx, `SELECT generation FROM namespaces WHERE org = ? AND dropped = 0 ORDER BY generation`, string(org))
}

// CheckNumbers fails where an identity column of the database would give numbers of another: one of SQLite goes
// on behind the largest row, whoever numbered it.
func (r *Reader) CheckNumbers(ctx context.Context, n Numbers, number int64) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	for _, i := range identities {
		last, err := n.Last(ctx, r.s, i.table, i.column)
		if err != nil {
			return err
		}
		if last >= (number+1)*numbersApart {
			return fmt.Errorf("%s.%s would give the numbers of another database", i.table, i.column)
		}
	}
	return nil
}

// Sought is what an organization is found by.
type Sought string

// What may be looked for in all databases.
const (
	SoughtKey        Sought = `SELECT org FROM api_keys WHERE hash = ?`
	SoughtLink       Sought = `SELECT org FROM sign_in_links WHERE hash = ?`
	SoughtInvitation Sought = `SELECT m.org FROM invitations i JOIN members m ON m.id = i.member WHERE i.hash = ?`
	SoughtGrant      Sought = `SELECT org FROM oauth_grants WHERE id = ?`
	SoughtCode       Sought = `SELECT org FROM oauth_grants WHERE code = ?`
	SoughtFamily     Sought = `SELECT org FROM oauth_grants WHERE family = ?`
	SoughtWebhook    Sought = `SELECT org FROM webhooks WHERE id = ?`
	SoughtAccess     Sought = `SELECT g.org FROM oauth_access_tokens a JOIN oauth_grants g ON g.id = a.grant_id WHERE a.hash = ?`
	SoughtSession    Sought = `SELECT org FROM sessions WHERE hash = ?
UNION ALL SELECT m.org FROM member_sessions s JOIN members m ON m.id = s.member WHERE s.hash = ?`
)

// Owner is the organization of what is looked for here by a hash or an id; "": there is none.
func (r *Reader) Owner(ctx context.Context, s Sought, key any) (ident.Org, error) {
	if err := r.check(ctx); err != nil {
		return "", err
	}
	args := []any{key}
	if s == SoughtSession {
		args = append(args, key)
	}
	var org string
	_, err := r.s.get(ctx, "look where it is", string(s), args, &org)
	return ident.Org(org), err
}
