package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// archive is a backup as port.Dump.
type archive struct {
	r          *Repository
	m          Manifest
	chunks     []chunk
	onProgress func(table string, bytes int64)
	done       int64
}

func (a *archive) Schema() int { return a.m.Schema }

func (a *archive) Tables() (all []port.DumpTable) {
	for _, t := range a.m.Tables {
		all = append(all, t.DumpTable)
	}
	return all
}

// readAhead bounds what is read at once of chunks that lie one after the other.
const readAhead = 2 << 20

func (a *archive) Rows(ctx context.Context, table string, visit func([]byte) error) error {
	from := 0
	for _, t := range a.m.Tables {
		if t.Name != table {
			from += t.Chunks
			continue
		}
		return a.rows(ctx, t, a.chunks[from:from+t.Chunks], visit)
	}
	return fmt.Errorf("backup %s has no table %s", a.m.ID, table)
}

func (a *archive) rows(ctx context.Context, t Table, chunks []chunk, visit func([]byte) error) error {
	var count int64
	for len(chunks) > 0 {
		n, size := 1, chunks[0].Size
		for n < len(chunks) && chunks[n].Pack == chunks[0].Pack && chunks[n].Offset == chunks[0].Offset+size &&
			size+chunks[n].Size <= readAhead {
			size += chunks[n].Size
			n++
		}
		body, err := a.r.place.Read(ctx, packName(chunks[0].Pack), chunks[0].Offset, size)
		if err != nil {
			return a.r.missing(err, a.m.ID, t.Name, chunks[0])
		}
		for _, k := range chunks[:n] {
			raw, err := a.r.open(a.m.ID, t.Name, k, body[:k.Size])
			if err != nil {
				return err
			}
			body = body[k.Size:]
			err = eachRow(raw, func(row []byte) error { count++; return visit(row) })
			if err != nil {
				return err
			}
			a.done += k.Bytes
		}
		if a.onProgress != nil {
			a.onProgress(t.Name, a.done)
		}
		chunks = chunks[n:]
	}
	if count != t.Rows {
		return &Unreadable{a.m.ID, fmt.Errorf("table %s has %d rows instead of %d", t.Name, count, t.Rows)}
	}
	return nil
}

// Restore asks for a backup to be restored.
type Restore struct {
	ID         string // "" or "latest": the newest
	Now        func() time.Time
	OnProgress func(table string, bytes int64)
	// Fill fills an empty store.
	Fill func(ctx context.Context, from port.Restoring) error
}

// Restored is what was restored.
type Restored struct {
	Manifest

	Erased int // end users that were erased after the backup, and are to be erased again
}

// ErrNoBackup is inside the error of a backup that is asked for by an id and is not there.
var ErrNoBackup = fault.New(fault.NotFound, "there is no such backup")

// Restore fills an empty store from a backup. Every chunk's hash and every table's number of rows is
// checked on the way.
func (r *Repository) Restore(ctx context.Context, in Restore) (out Restored, err error) {
	all, damaged, err := r.List(ctx)
	if err != nil {
		return out, err
	}
	if in.Now == nil {
		in.Now = time.Now
	}
	for _, d := range damaged {
		if d.ID == in.ID {
			return out, d
		}
	}
	if len(all) == 0 {
		if len(damaged) > 0 {
			return out, damaged[0]
		}
		return out, fmt.Errorf("%s: %w", r.place, ErrNone)
	}
	newest := all[len(all)-1]
	chosen := newest
	if in.ID != "" && in.ID != "latest" {
		at := slices.IndexFunc(all, func(m Manifest) bool { return m.ID == in.ID })
		if at < 0 {
			return out, fmt.Errorf("%s: %w: %s", r.place, ErrNoBackup, in.ID)
		}
		chosen = all[at]
	}
	a, err := r.archive(ctx, chosen)
	if err != nil {
		return out, err
	}
	from := port.Restoring{Dump: a, At: in.Now()}
	if chosen.ID != newest.ID {
		if from.Erased, err = r.erasedSince(ctx, a, newest); err != nil {
			return out, err
		}
	}
	a.done, a.onProgress = 0, in.OnProgress
	if err := in.Fill(ctx, from); err != nil {
		return out, err
	}
	return Restored{chosen, len(from.Erased)}, nil
}

func (r *Repository) archive(ctx context.Context, m Manifest) (*archive, error) {
	chunks, err := r.index(ctx, m, nil)
	return &archive{r: r, m: m, chunks: chunks}, err
}

// erasedSince are the generations of end users of a backup that a later one does not have. Nothing but
// an erasure, or the deletion of their organization, ends one.
func (r *Repository) erasedSince(ctx context.Context, a *archive, later Manifest) (erased []int64, err error) {
	after, err := r.archive(ctx, later)
	if err != nil {
		return nil, err
	}
	now := map[int64]bool{}
	if err := endUsers(ctx, after, func(generation int64) { now[generation] = true }); err != nil {
		return nil, err
	}
	err = endUsers(ctx, a, func(generation int64) {
		if !now[generation] {
			erased = append(erased, generation)
		}
	})
	return erased, err
}

// endUsers visits the generations of end users whose erasure has not begun.
func endUsers(ctx context.Context, d port.Dump, visit func(int64)) error {
	columns := []string{"generation", "space", "dropped", "erasing_at"}
	for _, t := range d.Tables() {
		if tableOf(t.Name) != "namespaces" {
			continue
		}
		err := eachOf(ctx, d, t.Name, columns, func(v []any) error {
			generation, ok := v[0].(int64)
			if !ok {
				return errDecode
			}
			if v[1] == string(port.SpaceMemories) && v[2] == int64(0) && v[3] == int64(0) {
				visit(generation)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Verified is what a verification has found.
type Verified struct {
	Backups int
	Packs   int
	Chunks  int
	Bytes   int64   // as they are stored
	Damaged []error // *Damage and *Unreadable
}

// Verify reads everything that backups refer to, all of them or one, and checks it.
func (r *Repository) Verify(ctx context.Context, id string, onProgress func(done, total int)) (v Verified, err error) {
	all, damaged, err := r.List(ctx)
	if err != nil {
		return v, err
	}
	if id != "" {
		all = slices.DeleteFunc(all, func(m Manifest) bool { return m.ID != id })
		damaged = slices.DeleteFunc(damaged, func(u *Unreadable) bool { return u.ID != id })
		if len(all)+len(damaged) == 0 {
			return v, fmt.Errorf("%s: %w: %s", r.place, ErrNoBackup, id)
		}
	}
	for _, d := range damaged {
		v.Damaged = append(v.Damaged, d)
	}
	type use struct {
		chunk

		backup, table string // the first that has it
	}
	uses := map[sum]map[sum]use{} // by pack and hash
	refer := func(backup, table string, k chunk) {
		if uses[k.Pack] == nil {
			uses[k.Pack] = map[sum]use{}
		}
		if _, there := uses[k.Pack][k.Hash]; !there {
			uses[k.Pack][k.Hash] = use{k, backup, table}
		}
	}
	cache := map[sum][]chunk{}
	for _, m := range all {
		v.Backups++
		for _, k := range m.Index {
			refer(m.ID, "", k)
		}
		chunks, err := r.index(ctx, m, cache)
		if isDamage(err) {
			v.Damaged = append(v.Damaged, err)
			continue
		}
		if err != nil {
			return v, err
		}
		for _, t := range m.Tables {
			for _, k := range chunks[:t.Chunks] {
				refer(m.ID, t.Name, k)
			}
			chunks = chunks[t.Chunks:]
		}
	}
	ids := make([]sum, 0, len(uses))
	for id := range uses {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b sum) int { return cmp.Compare(a.String(), b.String()) })
	for i, id := range ids {
		if onProgress != nil {
			onProgress(i, len(ids))
		}
		var held []use
		for _, u := range uses[id] {
			held = append(held, u)
		}
		slices.SortFunc(held, func(a, b use) int { return cmp.Compare(a.Offset, b.Offset) })
		body, err := r.place.Read(ctx, packName(id), 0, 0)
		if err != nil {
			if err = r.missing(err, held[0].backup, held[0].table, held[0].chunk); !isDamage(err) {
				return v, err
			}
			v.Damaged = append(v.Damaged, err)
			continue
		}
		v.Packs++
		v.Bytes += int64(len(body))
		named := 0
		for _, u := range held {
			err := error(&Damage{u.backup, u.table, id.String(), u.Hash.String(), "the pack is too short"})
			if u.Offset+u.Size <= int64(len(body)) {
				_, err = r.open(u.backup, u.table, u.chunk, body[u.Offset:u.Offset+u.Size])
			}
			if err != nil {
				v.Damaged = append(v.Damaged, err)
				named++
				continue
			}
			v.Chunks++
		}
		if named == 0 && sum(sha256.Sum256(body)) != id {
			v.Damaged = append(v.Damaged, &Damage{held[0].backup, held[0].table, id.String(), "",
				"it is not what was stored; all that is used of it is well"})
		}
	}
	if onProgress != nil {
		onProgress(len(ids), len(ids))
	}
	return v, nil
}

func isDamage(err error) bool {
	switch err.(type) { //nolint:errorlint // as it was made here
	case *Damage, *Unreadable:
		return true
	}
	return false
}
