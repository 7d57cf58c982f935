package backup

import (
	"context"
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// Keep says which backups stay: the newest ones, and the newest of each of the last days (UTC) that
// have any. The newest one always stays.
type Keep struct {
	Last  int
	Daily int
}

// Pruned is what was removed.
type Pruned struct {
	Kept    []string // ids, oldest first
	Removed []string
	Packs   int
	Bytes   int64 // of these packs
}

// Prune removes backups that are not to be kept, and then the packs that no backup refers to. It may be
// interrupted at any moment: a pack is removed only once nothing refers to it. With dry it only says what
// would go. Errors: fault Conflict while another process writes to the place.
func Prune(ctx context.Context, place port.BackupPlace, keys Keys, keep Keep, dry bool) (p Pruned, err error) {
	held, release, err := place.Lock(ctx)
	if err != nil {
		return p, err
	}
	defer release()
	r, err := Open(ctx, place, keys)
	if err != nil {
		return p, err
	}
	all, err := r.whole(ctx)
	if err != nil {
		return p, err
	}
	stays := keep.choose(all)
	used, cache := map[sum]bool{}, map[sum][]chunk{}
	for i, m := range all {
		if !stays[i] {
			p.Removed = append(p.Removed, m.ID)
			continue
		}
		p.Kept = append(p.Kept, m.ID)
		chunks, err := r.index(ctx, m, cache)
		if err != nil { // what it needs is not known
			return Pruned{}, err
		}
		for _, k := range slices.Concat(chunks, m.Index) {
			used[k.Pack] = true
		}
	}
	var unused []sum
	err = r.packs(ctx, func(id sum, size int64) error {
		if !used[id] {
			unused = append(unused, id)
			p.Bytes += size
		}
		return nil
	})
	if err != nil {
		return Pruned{}, err
	}
	p.Packs = len(unused)
	if dry {
		return p, nil
	}
	var names []string
	for _, id := range p.Removed {
		names = append(names, backupsPrefix+id)
	}
	for _, id := range unused {
		names = append(names, packName(id))
	}
	for _, name := range names {
		if err := held(); err != nil {
			return Pruned{}, err
		}
		if err := place.Remove(ctx, name); err != nil {
			return Pruned{}, err
		}
	}
	return p, nil
}

// choose says which of the backups stay, which are given oldest first.
func (k Keep) choose(all []Manifest) []bool {
	stays := make([]bool, len(all))
	days := map[string]bool{}
	for i, m := range slices.Backward(all) {
		age := len(all) - 1 - i
		day := m.Began.UTC().Format(time.DateOnly)
		first := !days[day] && len(days) < k.Daily
		if first {
			days[day] = true
		}
		stays[i] = age == 0 || age < k.Last || first
	}
	return stays
}
