package backup

import (
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// What a place can be that no backup can be made at.
var (
	ErrNone    = errors.New("there are no backups")
	ErrForeign = errors.New("the place holds something else: name an empty one")
	ErrNewer   = errors.New("the backups there are of a newer program")
	ErrOther   = errors.New("the backups there are of another installation: name another place")
)

// Repository is a place with backups.
type Repository struct {
	place port.BackupPlace
	id    string
	*codec
}

// header is repository.json.
type header struct {
	Format  string   `json:"format"`
	Version int      `json:"version"`
	ID      string   `json:"id"`
	Keys    [][]byte `json:"keys,omitempty"` // the data key, sealed by age; none: not encrypted
}

// look reads what a place is. Errors: ErrNone, ErrForeign, ErrNewer.
func look(ctx context.Context, place port.BackupPlace) (h header, err error) {
	body, err := place.Read(ctx, repositoryName, 0, 0)
	if fault.CodeOf(err) == fault.NotFound {
		foreign := false
		err := place.List(ctx, "", func(name string, _ int64) error {
			foreign = foreign || !ownName(name)
			return nil
		})
		switch {
		case err != nil:
			return h, err
		case foreign:
			return h, fmt.Errorf("%s: %w", place, ErrForeign)
		}
		return h, fmt.Errorf("%s: %w", place, ErrNone)
	}
	if err != nil {
		return h, err
	}
	switch err := json.Unmarshal(body, &h); {
	case err != nil || h.Format != formatName || h.Version < 1:
		return h, fmt.Errorf("%s: %w", place, ErrForeign)
	case h.Version > formatVersion:
		return h, fmt.Errorf("%s: %w: its format is %d, this one knows %d", place, ErrNewer, h.Version, formatVersion)
	}
	return h, nil
}

// Open opens a place. Errors: ErrNone where nothing was ever backed up, ErrForeign, ErrNewer, and
// those of keys.
func Open(ctx context.Context, place port.BackupPlace, keys Keys) (*Repository, error) {
	h, err := look(ctx, place)
	if err != nil {
		return nil, err
	}
	r := &Repository{place: place, id: h.ID}
	var aead cipher.AEAD // nil: not encrypted
	switch {
	case len(h.Keys) == 0 && !keys.none():
		return nil, fmt.Errorf("%s: %w", place, ErrPlain)
	case len(h.Keys) > 0:
		if aead, err = keys.open(h.Keys); err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
	}
	r.codec, err = newCodec(aead)
	return r, err
}

// ownName says that an object may be there before repository.json.
func ownName(name string) bool { return name == "lock" || strings.HasPrefix(name, "locks/") }

// begin opens a place that is locked, and makes it where there is nothing.
func begin(ctx context.Context, place port.BackupPlace, keys Keys) (*Repository, error) {
	r, err := Open(ctx, place, keys)
	if !errors.Is(err, ErrNone) {
		return r, err
	}
	h := header{Format: formatName, Version: formatVersion, ID: strings.ToLower(rand.Text())}
	r = &Repository{place: place, id: h.ID}
	var aead cipher.AEAD
	if !keys.none() {
		if aead, h.Keys, err = keys.newKey(); err != nil {
			return nil, err
		}
	}
	body, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	if err := place.Write(ctx, repositoryName, append(body, '\n')); err != nil {
		return nil, err
	}
	r.codec, err = newCodec(aead)
	return r, err
}

// Encrypted says whether the place is.
func (r *Repository) Encrypted() bool { return r.aead != nil }

var backupID = regexp.MustCompile(`^[0-9]{8}t[0-9]{6}z-[a-z2-7]{8}$`)

func newID(at time.Time) string {
	return strings.ToLower(at.UTC().Format("20060102T150405Z")) + "-" + strings.ToLower(rand.Text()[:8])
}

// Unreadable is a backup of which not even the list of its tables can be read.
type Unreadable struct {
	ID  string
	Err error
}

// Error names the backup.
func (u *Unreadable) Error() string { return fmt.Sprintf("backup %s can't be read: %v", u.ID, u.Err) }

// Unwrap gives the cause.
func (u *Unreadable) Unwrap() error { return u.Err }

// List is all backups, oldest first, and those that can't be read.
func (r *Repository) List(ctx context.Context) (all []Manifest, damaged []*Unreadable, err error) {
	var ids []string
	err = r.place.List(ctx, backupsPrefix, func(name string, _ int64) error {
		if id := strings.TrimPrefix(name, backupsPrefix); backupID.MatchString(id) {
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(ids)
	for _, id := range ids {
		stored, err := r.place.Read(ctx, backupsPrefix+id, 0, 0)
		if fault.CodeOf(err) == fault.NotFound { // pruned since
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		m, err := r.decodeManifest(id, stored)
		if err != nil {
			damaged = append(damaged, &Unreadable{id, err})
			continue
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Manifest) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.ID, b.ID)) })
	return all, damaged, nil
}

// whole is List where all backups have to be readable: what they refer to must be known.
func (r *Repository) whole(ctx context.Context) ([]Manifest, error) {
	all, damaged, err := r.List(ctx)
	if err == nil && len(damaged) > 0 {
		err = fmt.Errorf("%s: %w; remove %s%s there if it is lost", r.place, damaged[0], backupsPrefix, damaged[0].ID)
	}
	return all, err
}

// Damage is a piece of a backup that is not what was stored, or is gone.
type Damage struct {
	Backup string
	Table  string // "": the index
	Pack   string
	Chunk  string // "": the pack as a whole
	Reason string
}

// Error names the piece.
func (d *Damage) Error() string {
	what := "its index"
	if d.Table != "" {
		what = "table " + d.Table
	}
	where := "pack " + d.Pack
	if d.Chunk != "" {
		where = "chunk " + d.Chunk + " of " + where
	}
	return fmt.Sprintf("backup %s is damaged, %s: %s: %s", d.Backup, what, where, d.Reason)
}

// index reads where the chunks of a backup are, table by table. cache holds parts of indexes that
// were read before; nil: none are kept.
func (r *Repository) index(ctx context.Context, m Manifest, cache map[sum][]chunk) ([]chunk, error) {
	var all []chunk
	for _, k := range m.Index {
		part, ok := cache[k.Hash]
		if !ok {
			raw, err := r.read(ctx, m.ID, "", k)
			if err != nil {
				return nil, err
			}
			err = eachRow(raw, func(row []byte) error {
				k, err := entry(row)
				part = append(part, k)
				return err
			})
			if err != nil {
				return nil, &Damage{m.ID, "", k.Pack.String(), k.Hash.String(), err.Error()}
			}
			if cache != nil {
				cache[k.Hash] = part
			}
		}
		all = append(all, part...)
	}
	want := 0
	for _, t := range m.Tables {
		want += t.Chunks
	}
	if len(all) != want {
		return nil, &Unreadable{m.ID, errors.New("its index does not fit its tables")}
	}
	return all, nil
}

// read reads one chunk.
func (r *Repository) read(ctx context.Context, backup, table string, k chunk) ([]byte, error) {
	stored, err := r.place.Read(ctx, packName(k.Pack), k.Offset, k.Size)
	if err != nil {
		return nil, r.missing(err, backup, table, k)
	}
	return r.open(backup, table, k, stored)
}

func (r *Repository) missing(err error, backup, table string, k chunk) error {
	if fault.CodeOf(err) == fault.NotFound {
		return &Damage{backup, table, k.Pack.String(), "", "it is gone, or too short"}
	}
	return err
}

func (r *Repository) open(backup, table string, k chunk, stored []byte) ([]byte, error) {
	raw, err := r.chunk(k, stored)
	if err != nil {
		return nil, &Damage{backup, table, k.Pack.String(), k.Hash.String(), err.Error()}
	}
	return raw, nil
}
