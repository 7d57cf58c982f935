package bunsql

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// A dump of several databases has the home's tables as one of a single database has them, and then those of each other
// database that organizations have rows in, called DATABASE/TABLE.

// Part is what one of several databases gives to a dump.
type Part struct {
	*Snapshot

	Name string // of the database; "": the home
	// Away are organizations whose rows here do not count: they are in another database, or in none.
	Away []ident.Org
	// Unknown are organizations that the dump knows nothing of: what the home has of them does not count.
	Unknown []ident.Org

	skipped map[string]map[any]bool // values of rows that are left out, by column
	unknown map[any]bool
	taken   map[any]bool // audit records that wait here, and that the home has already
}

// The columns that say whose a row is, the first that a table has.
var owners = []string{"org", "generation", "source", "run", "member"}

// partTable names a table of a part of a dump.
func partTable(part, table string) string {
	if part == "" {
		return table
	}
	return part + "/" + table
}

// cutTable takes such a name apart.
func cutTable(name string) (part, table string) {
	if part, table, cut := strings.Cut(name, "/"); cut {
		return part, table
	}
	return "", name
}

// ofOrganizations reports that a table has rows of organizations, which are in the database of theirs.
func ofOrganizations(table string) bool {
	return slices.ContainsFunc(MovedTables, func(t MovedTable) bool { return t.Name == table })
}

// inPart reports that databases other than the home have rows of a table that count.
func inPart(table string) bool {
	return table == "organizations" || table == "audit_waiting" || table == numbersTable || ofOrganizations(table)
}

// parts is one dump of several, the home's first.
type parts []*Part

// Join makes one dump of those of the databases of an installation, the home's first, which was taken last.
func Join(ctx context.Context, all []*Part) (port.Dump, error) {
	for _, p := range all {
		if err := p.prepare(ctx); err != nil {
			return nil, err
		}
	}
	for _, p := range all[1:] {
		if err := p.compareAudit(ctx, all[0]); err != nil {
			return nil, err
		}
	}
	return parts(all), nil
}

// prepare reads what tells which rows do not count.
func (p *Part) prepare(ctx context.Context) error {
	p.unknown = map[any]bool{}
	for _, org := range p.Unknown {
		p.unknown[string(org)] = true
	}
	if len(p.Away) == 0 {
		return nil
	}
	orgs := make([]string, len(p.Away))
	for i, org := range p.Away {
		orgs[i] = string(org)
	}
	list, err := each(orgs)
	if err != nil {
		return err
	}
	const those = `org IN (SELECT j.value FROM {{each}})`
	p.skipped = map[string]map[any]bool{"org": {}}
	for _, org := range orgs {
		p.skipped["org"][org] = true
	}
	for column, query := range map[string]string{
		"generation": `SELECT generation FROM namespaces WHERE ` + those,
		"source":     `SELECT id FROM sources WHERE ` + those,
		"run":        `SELECT r.id FROM sources s JOIN source_runs r ON r.source = s.id WHERE s.` + those,
		"member":     `SELECT id FROM members WHERE ` + those,
	} {
		if p.skipped[column], err = p.values(ctx, query, list); err != nil {
			return err
		}
	}
	return nil
}

// values are those of a query's only column.
func (p *Part) values(ctx context.Context, query string, args ...any) (map[any]bool, error) {
	const op = "read what a dump leaves out"
	rows, err := p.s.query(ctx, op, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[any]bool{}
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return nil, p.s.d.Fault(op, err)
		}
		out[v] = true
	}
	return out, p.s.d.Fault(op, rows.Err())
}

// compareAudit finds the audit records that the home has taken over since the part's snapshot, or before it was told so.
func (p *Part) compareAudit(ctx context.Context, home *Part) error {
	waiting, err := p.Reader.WaitingAudit(ctx, math.MaxInt32)
	if err != nil || len(waiting) == 0 {
		return err
	}
	ids := make([]string, len(waiting))
	for i, r := range waiting {
		ids[i] = r.ID
	}
	list, err := each(ids)
	if err != nil {
		return err
	}
	p.taken = map[any]bool{}
	for _, table := range []string{"audit_waiting", "audit_taken", "audit"} {
		some, err := home.values(ctx, `SELECT id FROM `+table+` WHERE id IN (SELECT j.value FROM {{each}})`, list)
		if err != nil {
			return err
		}
		for id := range some {
			p.taken[id] = true
		}
	}
	return nil
}

// skip says which rows of a table do not count; nil: all do.
func (p *Part) skip(t port.DumpTable) func([]any) bool {
	without := func(column string, values map[any]bool) func([]any) bool {
		at := slices.Index(t.Columns, column)
		if at < 0 || len(values) == 0 {
			return nil
		}
		return func(row []any) bool { return values[row[at]] }
	}
	switch {
	case t.Name == "organizations" && p.Name == "":
		return without("id", p.unknown)
	case t.Name == "organizations":
		return without("id", p.skipped["org"])
	case t.Name == "audit_waiting":
		return without("id", p.taken)
	case t.Name == "audit": // a chain, which has all that was ever done
		return nil
	case !ofOrganizations(t.Name):
		return without("org", p.unknown)
	}
	for _, column := range owners {
		if slices.Contains(t.Columns, column) {
			return without(column, p.skipped[column])
		}
	}
	return nil
}

func (all parts) Schema() int { return all[0].Schema() }

func (all parts) Tables() (out []port.DumpTable) {
	for _, p := range all {
		for _, t := range p.Tables() {
			if p.Name == "" || inPart(t.Name) {
				out = append(out, port.DumpTable{Name: partTable(p.Name, t.Name), Columns: t.Columns})
			}
		}
	}
	return out
}

func (all parts) Rows(ctx context.Context, name string, visit func([]byte) error) error {
	part, table := cutTable(name)
	for _, p := range all {
		at := slices.IndexFunc(p.tables, func(t port.DumpTable) bool { return t.Name == table })
		if p.Name == part && at >= 0 && (part == "" || inPart(table)) {
			return p.rows(ctx, table, p.skip(p.tables[at]), visit)
		}
	}
	return fmt.Errorf("there is no table %s to dump", name)
}

// PartsOf names the databases of a dump but the home.
func PartsOf(d port.Dump) (names []string) {
	for _, t := range d.Tables() {
		if part, _ := cutTable(t.Name); part != "" && !slices.Contains(names, part) {
			names = append(names, part)
		}
	}
	return names
}

// Share says what a database takes of a dump. Zero: all of it, as the only database.
type Share struct {
	Part string // "": the home's, and all that is not in Apart
	// Apart are the parts that databases of their own take.
	Apart []string
	// Installation is what the databases that take the dump have in common; "": there is one.
	Installation string
	// Then runs before what was filled is kept; nil: nothing does.
	Then func() error
}

// fillShare stores the rows of a share.
func (s *Session) fillShare(ctx context.Context, in port.Restoring, f Filling) error {
	for _, t := range in.Tables() {
		part, table := cutTable(t.Name)
		if part != f.Share.Part || table == numbersTable {
			continue
		}
		if err := s.fill(ctx, in, part, port.DumpTable{Name: table, Columns: t.Columns}, "", f.Insert); err != nil {
			return err
		}
	}
	if err := s.setNumbers(ctx, in, f.Share.Part, f.Numbers); err != nil || f.Share.Part != "" {
		return err
	}
	// The home has the organizations, whichever database they were in. What is numbered in a database gets its next
	// numbers, in the same order, so that what comes after it has higher ones.
	for _, t := range in.Tables() {
		part, table := cutTable(t.Name)
		if part == "" || slices.Contains(f.Share.Apart, part) || table == "organizations" || table == numbersTable {
			continue
		}
		numbered := ""
		if at := slices.IndexFunc(MovedTables, func(t MovedTable) bool { return t.Name == table }); at >= 0 {
			numbered = MovedTables[at].numbered
		}
		if err := s.fill(ctx, in, part, port.DumpTable{Name: table, Columns: t.Columns}, numbered, f.Insert); err != nil {
			return err
		}
	}
	return nil
}

// settleShare has the database know which one of which installation it is, and that no move is under way.
func (s *Session) settleShare(ctx context.Context, in port.Restoring, share Share) error {
	const op = "place organizations"
	installation := cmp.Or(share.Installation, rand.Text())
	if _, err := s.exec(ctx, op, `UPDATE organizations SET standing = 0, move = 0 WHERE standing <> 0 OR move <> 0`); err != nil {
		return err
	}
	if share.Part != "" {
		number, err := numberOf(ctx, in, share.Part)
		if err == nil {
			_, err = s.exec(ctx, op, `INSERT INTO databases (name, number, installation) VALUES (?, ?, ?)`, share.Part, number,
				installation)
		}
		return err
	}
	apart, err := each(append([]string{}, share.Apart...)) // a list, if an empty one
	if err != nil {
		return err
	}
	if _, err := s.exec(ctx, op, `DELETE FROM placements WHERE name NOT IN (SELECT j.value FROM {{each}})`, apart); err != nil {
		return err
	}
	// A number is not given again, since generations with it may be here: its database has a name that none can have.
	if _, err := s.exec(ctx, op, `UPDATE databases SET name = '(' || number || ')' WHERE number <> 0 `+
		`AND name NOT IN (SELECT j.value FROM {{each}})`, apart); err != nil {
		return err
	}
	_, err = s.exec(ctx, op, `UPDATE databases SET installation = ?`, installation)
	return err
}

// numberOf is the number that a dump gives to a database.
func numberOf(ctx context.Context, in port.Restoring, name string) (number int64, err error) {
	const table = "databases"
	at := slices.IndexFunc(in.Tables(), func(t port.DumpTable) bool { return t.Name == table })
	if at < 0 {
		return 0, damaged(table)
	}
	columns := in.Tables()[at].Columns
	named, numbered := slices.Index(columns, "name"), slices.Index(columns, "number")
	err = in.Rows(ctx, table, func(row []byte) error {
		values, err := packing.Row(row)
		if err != nil || len(values) != len(columns) || named < 0 || numbered < 0 {
			return damaged(table)
		}
		if values[named] == name {
			number, _ = values[numbered].(int64)
		}
		return nil
	})
	if err == nil && number == 0 {
		err = fmt.Errorf("the backup does not say which database %s is", name)
	}
	return number, err
}

// Retired reports that a database is none any more: what it had came into the home with a restore.
func (d Database) Retired() bool { return strings.HasPrefix(d.Name, "(") }
