package backup

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// Settings are what a backup is made with.
type Settings struct {
	Place   port.BackupPlace
	Keys    Keys
	Program string           // version, for the record
	Store   string           // component of the store, for the record
	Now     func() time.Time // nil: the system's clock
	// Due says whether one is to be made after the newest one, nil where there is none; nil: always.
	Due func(newest *Manifest) bool
	// OnProgress gets the bytes of rows read so far; nil: none.
	OnProgress func(table string, bytes int64)
}

// ErrNotDue is the error where Settings.Due says no.
var ErrNotDue = errors.New("no backup is due")

// uploads is how many packs are written at the same time.
const uploads = 4

// Create makes a backup of all that a store holds. Until its last step there is nothing but packs
// that nothing refers to, which the next one goes on with. Errors: fault Conflict while another
// process writes to the place; ErrOther, and those of Open.
func Create(ctx context.Context, store port.Dumper, s Settings) (m Manifest, err error) {
	if s.Now == nil {
		s.Now = time.Now
	}
	if _, err := look(ctx, s.Place); err != nil && !errors.Is(err, ErrNone) { // before anything is written there
		return m, err
	}
	held, release, err := s.Place.Lock(ctx)
	if err != nil {
		return m, err
	}
	defer release()
	r, err := begin(ctx, s.Place, s.Keys)
	if err != nil {
		return m, err
	}
	w, newest, err := r.writer(ctx)
	if err != nil {
		return m, err
	}
	defer w.wait.Wait() // nothing is written once the place is given back
	defer w.stop()
	if s.Due != nil && !s.Due(newest) {
		return m, ErrNotDue
	}
	err = store.Dump(ctx, func(d port.Dump) error {
		m = Manifest{Program: s.Program, Store: s.Store, Schema: d.Schema(), Began: s.Now().UTC().Truncate(time.Millisecond)}
		m.ID = newID(m.Began)
		if m.Organizations, err = organizations(ctx, d); err != nil {
			return err
		}
		if newest != nil && !slices.ContainsFunc(m.Organizations, func(id string) bool {
			return slices.Contains(newest.Organizations, id)
		}) {
			return fmt.Errorf("%s: %w", s.Place, ErrOther)
		}
		return w.tables(ctx, d, &m, s.OnProgress)
	})
	if err != nil {
		return Manifest{}, err
	}
	if err := w.index(ctx, &m); err != nil {
		return Manifest{}, err
	}
	m.Added = w.added
	m.Ended = s.Now().UTC().Truncate(time.Millisecond)
	body, err := r.encodeManifest(m)
	if err == nil {
		err = held()
	}
	if err == nil {
		err = s.Place.Write(ctx, backupsPrefix+m.ID, body)
	}
	if err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// organizations are the ids of a store's organizations.
func organizations(ctx context.Context, d port.Dump) (ids []string, err error) {
	err = eachOf(ctx, d, "organizations", []string{"id"}, func(v []any) error {
		id, ok := v[0].(string)
		if !ok {
			return errDecode
		}
		ids = append(ids, id)
		return nil
	})
	return ids, err
}

// eachOf visits some columns of a table's rows.
func eachOf(ctx context.Context, d port.Dump, table string, columns []string, visit func([]any) error) error {
	tables := d.Tables()
	at := slices.IndexFunc(tables, func(t port.DumpTable) bool { return t.Name == table })
	if at < 0 {
		return fmt.Errorf("there is no table %s", table)
	}
	places := make([]int, len(columns))
	for i, c := range columns {
		if places[i] = slices.Index(tables[at].Columns, c); places[i] < 0 {
			return fmt.Errorf("table %s has no column %s", table, c)
		}
	}
	return d.Rows(ctx, table, func(row []byte) error {
		values, err := packing.Row(row)
		if err != nil || len(values) != len(tables[at].Columns) {
			return fmt.Errorf("table %s: %w", table, errDecode)
		}
		some := make([]any, len(places))
		for i, p := range places {
			some[i] = values[p]
		}
		return visit(some)
	})
}

// pack is one that is being filled, or was.
type pack struct {
	id   sum
	body []byte
	held []chunk
}

// stored is a chunk that is in a pack already, whose name may not be known yet.
type stored struct {
	chunk

	pack *pack // nil: chunk.Pack is right
}

func (s stored) place() chunk {
	if s.pack != nil {
		s.Pack = s.pack.id
	}
	return s.chunk
}

// writer puts chunks into packs, and packs into the place.
type writer struct {
	r     *Repository
	ctx   context.Context
	stop  func()
	known map[sum]stored
	at    *pack
	added int64

	slots  chan struct{}
	wait   sync.WaitGroup
	mu     sync.Mutex
	failed error

	chunks []stored // of the tables, in order
}

// writer reads what the place has. newest is the last backup; nil: there is none.
func (r *Repository) writer(ctx context.Context) (*writer, *Manifest, error) {
	all, err := r.whole(ctx)
	if err != nil {
		return nil, nil, err
	}
	sizes := map[sum]int64{}
	if err := r.packs(ctx, func(id sum, size int64) error { sizes[id] = size; return nil }); err != nil {
		return nil, nil, err
	}
	w := &writer{r: r, known: map[sum]stored{}, at: &pack{}, slots: make(chan struct{}, uploads)}
	w.ctx, w.stop = context.WithCancel(ctx)
	var newest *Manifest
	referred := map[sum]bool{}
	sparse := map[sum]bool{} // packs of which the newest backup uses little
	cache := map[sum][]chunk{}
	for _, m := range slices.Backward(all) {
		chunks, err := r.index(ctx, m, cache)
		if err != nil {
			return nil, nil, err
		}
		chunks = slices.Concat(chunks, m.Index)
		if newest == nil {
			newest = &m
			sparse = sparsePacks(chunks, sizes)
		}
		for _, k := range chunks {
			referred[k.Pack] = true
			if _, there := sizes[k.Pack]; there && !sparse[k.Pack] {
				w.known[k.Hash] = stored{chunk: k}
			}
		}
	}
	for id := range sizes {
		if referred[id] {
			continue
		}
		body, err := r.place.Read(ctx, packName(id), 0, 0)
		if err != nil {
			return nil, nil, err
		}
		left, err := r.tail(id, body)
		if err != nil { // of no use, and of no harm
			continue
		}
		for _, k := range left {
			w.known[k.Hash] = stored{chunk: k}
		}
	}
	return w, newest, nil
}

// sparsePacks are those of which a backup uses less than a third.
func sparsePacks(chunks []chunk, sizes map[sum]int64) map[sum]bool {
	used := map[sum]int64{}
	seen := map[sum]bool{}
	for _, k := range chunks {
		if !seen[k.Hash] {
			seen[k.Hash] = true
			used[k.Pack] += k.Size
		}
	}
	sparse := map[sum]bool{}
	for id, size := range sizes {
		if used[id]*3 < size {
			sparse[id] = true
		}
	}
	return sparse
}

// packs visits the packs of the place.
func (r *Repository) packs(ctx context.Context, visit func(id sum, size int64) error) error {
	return r.place.List(ctx, packsPrefix, func(name string, size int64) error {
		var id sum
		b, err := hex.DecodeString(name[strings.LastIndexByte(name, '/')+1:])
		if copy(id[:], b); err != nil || packName(id) != name {
			return nil //nolint:nilerr // not one of ours
		}
		return visit(id, size)
	})
}

// tables stores the rows of a dump.
func (w *writer) tables(ctx context.Context, d port.Dump, m *Manifest, progress func(string, int64)) error {
	for _, t := range d.Tables() {
		table := Table{DumpTable: t}
		before := len(w.chunks)
		c := cutter{emit: func(raw []byte) error {
			k, err := w.add(raw)
			w.chunks = append(w.chunks, k)
			if progress != nil {
				progress(t.Name, m.Bytes+table.Bytes)
			}
			return err
		}}
		err := d.Rows(ctx, t.Name, func(row []byte) error {
			table.Rows++
			table.Bytes += int64(len(row))
			return c.add(row)
		})
		if err == nil {
			err = c.end()
		}
		if err != nil {
			return err
		}
		table.Chunks = len(w.chunks) - before
		m.Bytes += table.Bytes
		m.Tables = append(m.Tables, table)
	}
	return nil
}

// index stores where the chunks are. All packs are in the place when it returns.
func (w *writer) index(ctx context.Context, m *Manifest) error {
	if err := w.flush(); err != nil { // gives the packs their names
		return err
	}
	var parts []stored
	c := cutter{emit: func(raw []byte) error {
		k, err := w.add(raw)
		parts = append(parts, k)
		return err
	}}
	for _, k := range w.chunks {
		if err := c.add(appendEntry(nil, k.place())); err != nil {
			return err
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.wait.Wait()
	for _, k := range parts {
		m.Index = append(m.Index, k.place())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.failed, ctx.Err())
}

// add stores a chunk, unless it is there.
func (w *writer) add(raw []byte) (stored, error) {
	hash := sum(sha256.Sum256(raw))
	if k, ok := w.known[hash]; ok {
		return k, nil
	}
	k := stored{chunk: chunk{Hash: hash, Offset: int64(len(w.at.body)), Bytes: int64(len(raw))}, pack: w.at}
	w.at.body = w.r.encode(w.at.body, pieceChunk, raw)
	k.Size = int64(len(w.at.body)) - k.Offset
	w.at.held = append(w.at.held, k.chunk)
	w.known[hash] = k
	if len(w.at.body) >= packTarget {
		return k, w.flush()
	}
	return k, nil
}

// flush has the present pack written beside what comes next.
func (w *writer) flush() error {
	if len(w.at.held) == 0 {
		return w.failure()
	}
	p := w.at
	w.at = &pack{}
	p.body = w.r.appendTail(p.body, p.held)
	p.id = sha256.Sum256(p.body)
	w.added += int64(len(p.body))
	select {
	case w.slots <- struct{}{}:
	case <-w.ctx.Done():
		return errors.Join(w.failure(), w.ctx.Err())
	}
	body := p.body
	p.body, p.held = nil, nil
	w.wait.Go(func() {
		defer func() { <-w.slots }()
		if err := w.r.place.Write(w.ctx, packName(p.id), body); err != nil {
			w.mu.Lock()
			if w.failed == nil {
				w.failed = err
			}
			w.mu.Unlock()
			w.stop()
		}
	})
	return w.failure()
}

func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// cutter cuts rows into chunks where their contents say so.
type cutter struct {
	emit func(raw []byte) error
	raw  []byte
}

func (c *cutter) add(row []byte) error {
	c.raw = binary.AppendUvarint(c.raw, uint64(len(row)))
	c.raw = append(c.raw, row...)
	if len(c.raw) >= chunkMost || len(c.raw) >= chunkLeast && endsChunk(row) {
		return c.end()
	}
	return nil
}

func (c *cutter) end() error {
	if len(c.raw) == 0 {
		return nil
	}
	err := c.emit(c.raw)
	c.raw = c.raw[:0]
	return err
}

// endsChunk says that a chunk ends with a row: with a chance of its length among chunkTarget, which
// only its contents decide (FNV-1a, and a mix of all bits).
func endsChunk(row []byte) bool {
	h := uint64(14695981039346656037)
	for _, b := range row {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	return h%chunkTarget < uint64(len(row))
}

// Locked says that another process writes to a place.
func Locked(err error) bool { return fault.CodeOf(err) == fault.Conflict }
