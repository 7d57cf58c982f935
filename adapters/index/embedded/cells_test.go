package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

// subjects are vectors around means that lie far from one another; each tenth row has none.
func subjects(r *rand.Rand, n, count, dim int) (vectors [][]float32, of []int) {
	means := make([][]float32, count)
	for i := range means {
		means[i] = make([]float32, dim)
		for j := range means[i] {
			means[i][j] = float32(r.NormFloat64())
		}
	}
	vectors, of = make([][]float32, n), make([]int, n)
	for i := range vectors {
		if of[i] = r.IntN(count); i%10 == 4 {
			of[i] = -1
			continue
		}
		v := make([]float32, dim)
		for j := range v {
			v[j] = means[of[i]][j] + .2*float32(r.NormFloat64())
		}
		vectors[i] = normalized(v)
	}
	return vectors, of
}

func codesOf(t *testing.T, k simd.Kernels, vectors [][]float32, dim int) vectorRows {
	t.Helper()
	codes, steps := make([]int8, len(vectors)*dim), make([]float32, len(vectors))
	for i, v := range vectors {
		if v != nil {
			steps[i] = k.QuantizeInt8(codes[i*dim:(i+1)*dim], v)
		}
	}
	return vectorRows{len(vectors), dim, func(i int) ([]int8, float32) { return codes[i*dim : (i+1)*dim], steps[i] }}
}

// Each row stands in one cell, with rows of its subject, and a cell's mean is that of its rows.
func TestRowsStandInCellsOfTheirSubject(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after another, and long under the race detector")
	}
	const n, count, dim = 20_000, 10, 24
	k, err := simd.Best()
	if err != nil {
		t.Fatal(err)
	}
	vectors, of := subjects(rand.New(rand.NewPCG(1, 2)), n, count, dim)
	c, err := findCells(t.Context(), k, codesOf(t, k, vectors, dim))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(c.end); got < n*8/10/cellChunks || got > 2*n/cellChunks || len(c.rows) != n || c.end[got-1] != n {
		t.Fatalf("%d cells, %d rows, the last ends at %d", got, len(c.rows), c.end[got-1])
	}
	seen := make([]bool, n)
	from, mixed := uint32(0), 0
	for cell, end := range c.end {
		rows := c.rows[from:end]
		from = end
		if !slices.IsSorted(rows) {
			t.Errorf("rows of cell %d do not rise", cell)
		}
		subject := -1
		for _, row := range rows {
			if seen[row] {
				t.Fatalf("row %d stands in two cells", row)
			}
			seen[row] = true
			if of[row] < 0 {
				if cell != 0 {
					t.Errorf("row %d without a vector stands in cell %d", row, cell)
				}
				continue
			}
			if subject < 0 {
				subject = of[row]
			}
			if of[row] != subject {
				mixed++
			}
		}
		if cell > 0 && len(rows) > 40*cellChunks {
			t.Errorf("%d rows in cell %d", len(rows), cell)
		}
	}
	if mixed > n/100 {
		t.Errorf("%d of %d rows stand with another subject", mixed, n)
	}
	again, err := findCells(t.Context(), k, codesOf(t, k, vectors, dim))
	if err != nil || !slices.Equal(again.rows, c.rows) || !slices.Equal(again.end, c.end) {
		t.Errorf("the same rows give other cells; %v", err)
	}
	none := make([][]float32, 3000)
	if c, err := findCells(t.Context(), k, codesOf(t, k, none, dim)); c != nil || err != nil {
		t.Errorf("rows without vectors have cells: %v, %v", c, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := findCells(over, k, codesOf(t, k, vectors, dim)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// More is read of smaller segments and for more results; never more than there is.
func TestRowsRead(t *testing.T) {
	const chunks = 1 << 20
	share := func(chunks, k int) float64 { return float64(rowsRead(chunks, k)) / float64(chunks) }
	plain := share(chunks, 10)
	if math.Abs(plain-readShare) > 1e-5 || share(chunks, 1) != plain {
		t.Errorf("%v of the rows", plain)
	}
	if got, want := share(chunks/8, 10), plain*math.Pow(8, .3); math.Abs(got-want) > 1e-4 {
		t.Errorf("%v of the rows of a smaller segment, want %v", got, want)
	}
	if got, want := share(chunks, 100), plain*math.Pow(10, .15); math.Abs(got-want) > 1e-4 {
		t.Errorf("%v of the rows for more results, want %v", got, want)
	}
	if got := rowsRead(1<<15, 1<<20); got != 1<<15 {
		t.Errorf("all of %d rows are %d", 1<<15, got)
	}
}

// Cells are read from the rank on below which hardly a row is expected to pass: the more differ rows from their cells, and
// the lower the worst result is, the more.
func TestCellsWorthReading(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	ranking := &cellRanking{unit: 1000} // scores of 0 to 1.024
	for i := range ranking.rows {
		ranking.rows[i] = 100
	}
	for _, deviation := range []float64{.02, .05, .1} {
		var d differences
		for range 10_000 {
			d.add(float32(.01 + deviation*r.NormFloat64()))
		}
		last := uint16(0)
		for _, floor := range []float32{.5, .7, .9} {
			least := ranking.worthReading(floor, d, 1)
			passed := 0 // of the rows below, ten times
			for rank := range int(least) {
				for range 10 * ranking.rows[rank] {
					if (float64(rank)+.5)/1000+.01+deviation*r.NormFloat64() > float64(floor) {
						passed++
					}
				}
			}
			if passed > 25 || least <= last {
				t.Errorf("deviation %v, floor %v: from rank %d on, %d tenths of a row missed", deviation, floor, least, passed)
			}
			last = least
		}
		if few := ranking.worthReading(.5, d, 10); few <= ranking.worthReading(.5, d, 1) {
			t.Errorf("deviation %v: with ten missed rows allowed cells are read from rank %d on", deviation, few)
		}
		if least := ranking.worthReading(float32(math.Inf(-1)), d, 1); least != 0 {
			t.Errorf("deviation %v: with too few results cells are read from rank %d on", deviation, least)
		}
		if least := ranking.worthReading(5, d, 1); least != cellRanks {
			t.Errorf("deviation %v: nothing can pass, and cells are read from rank %d on", deviation, least)
		}
	}
	for n, want := range map[int]bool{0: false, 2: false, leastSampled - 1: false, leastSampled: true} {
		var few differences
		for few.n < n {
			few.add(float32(few.n%2) / 100)
		}
		if least := ranking.worthReading(.5, few, 1); (least != 0) != want {
			t.Errorf("of %d rows, cells are read from rank %d on", n, least)
		}
	}
}

// largeFile is an index whose one partition is a file in cells.
func largeFile(t *testing.T, dir string, vectors [][]float32) (*Index, port.Partition) {
	t.Helper()
	x := openTest(t, dir, func(c *Config) { c.FlushChunks = cellsLeast })
	p := port.Documents("org", "n").At(1)
	b := port.Batch{Upto: 1}
	for i, v := range vectors {
		b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprintf("%06d", i), Entries: []port.Entry{{Vector: v,
			Facets: []string{filter.Token("half", fmt.Sprint(i%2)), filter.Token("tenth", fmt.Sprint(i%10))}}}})
	}
	if err := x.Apply(t.Context(), p, b); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil { // which writes the file
		t.Fatal(err)
	}
	return openTest(t, dir, nil), p
}

// A filter that leaves but what lies furthest from the query finds the best of it nevertheless.
func TestCellsHideNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after another, and long under the race detector")
	}
	const n, count, dim = cellsLeast + 4000, 20, 16
	vectors, of := subjects(rand.New(rand.NewPCG(5, 5)), n, count, dim)
	x := openTest(t, t.TempDir(), func(c *Config) { c.FlushChunks = cellsLeast })
	p := port.Documents("org", "n").At(1)
	b := port.Batch{Upto: 1}
	for i, v := range vectors {
		b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprintf("%06d", i), Entries: []port.Entry{{Vector: v,
			Facets: []string{filter.Token("subject", fmt.Sprint(of[i]))}}}})
	}
	if err := x.Apply(t.Context(), p, b); err != nil {
		t.Fatal(err)
	}
	settle(x, p)
	found, wanted := 0, 0
	for i, v := range vectors[:40] {
		if v == nil {
			continue
		}
		scores := make([][]float32, count) // of each subject
		for j, other := range vectors {
			if other != nil {
				scores[of[j]] = append(scores[of[j]], x.kernels.Dot(v, other))
			}
		}
		furthest := 0
		for subject := range scores {
			if slices.Max(scores[subject]) < slices.Max(scores[furthest]) {
				furthest = subject
			}
		}
		hits, err := x.Search(t.Context(), p, port.IndexQuery{Retriever: port.Vector, Vector: v, Limit: 100,
			Filter: &filter.Filter{Op: filter.In, Key: "subject", Values: []string{fmt.Sprint(furthest)}}})
		if err != nil || len(hits) != 100 {
			t.Fatalf("%d of 100 hits of subject %d for one of %d, %v", len(hits), furthest, of[i], err)
		}
		least := kthLargest(scores[furthest], 100)
		for _, h := range hits {
			if wanted++; h.Score >= least-1e-3 {
				found++
			}
		}
	}
	if recall := float64(found) / float64(wanted); !(recall >= .97) {
		t.Errorf("%.4f of the best are found", recall)
	}
	hits, err := x.Search(t.Context(), p, port.IndexQuery{Retriever: port.Vector, Vector: vectors[0], Limit: 1000})
	if err != nil || len(hits) != 1000 {
		t.Errorf("%d of 1000 hits, %v", len(hits), err)
	}
}

// A file in cells is searched as any other: filters, deletions and chunks without a vector.
func TestALargeFileIsSearchedByCells(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after another, and long under the race detector")
	}
	const n, count, dim = cellsLeast + 4000, 40, 16
	r := rand.New(rand.NewPCG(7, 1))
	vectors, _ := subjects(r, n, count, dim)
	dir := t.TempDir()
	x, p := largeFile(t, dir, vectors)
	deleted := map[int]bool{}
	b := port.Batch{After: 1, Upto: 2}
	for range 3000 {
		i := r.IntN(n)
		deleted[i] = true
		b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprintf("%06d", i)})
	}
	if err := x.Apply(t.Context(), p, b); err != nil {
		t.Fatal(err)
	}
	s := x.open[1].acquire()
	seg := s.segs[0].segment
	if len(s.segs) != 1 || seg.file == nil || len(seg.cellEnd) < n*8/10/cellChunks {
		t.Fatalf("%d segments, the first of %d cells", len(s.segs), len(seg.cellEnd))
	}
	for _, section := range []int{secCoarse, secCellCode} {
		if at := binary.LittleEndian.Uint64(seg.image[24+24*section:]); at%64 != 0 {
			t.Errorf("section %d begins within a cache line, at %d", section, at)
		}
	}
	s.release()
	for _, c := range []struct {
		key, value string
		every      int
		limit      int
	}{{"", "", 1, 10}, {"", "", 1, 100}, {"half", "1", 2, 10}, {"half", "1", 2, 100}, {"tenth", "3", 10, 10}} {
		found, wanted := 0, 0
		for range 20 {
			query := vectors[r.IntN(n)/10*10]
			q := port.IndexQuery{Retriever: port.Vector, Vector: query, Limit: c.limit}
			allowed := func(i int) bool { return vectors[i] != nil && !deleted[i] }
			if c.key != "" {
				q.Filter = &filter.Filter{Op: filter.In, Key: c.key, Values: []string{c.value}}
				allowed = func(i int) bool { return vectors[i] != nil && !deleted[i] && fmt.Sprint(i%c.every) == c.value }
			}
			hits, err := x.Search(t.Context(), p, q)
			if err != nil || len(hits) != c.limit {
				t.Fatalf("%d hits, %v", len(hits), err)
			}
			var scores []float32
			for i, v := range vectors {
				if allowed(i) {
					scores = append(scores, x.kernels.Dot(query, v))
				}
			}
			least := kthLargest(scores, c.limit)
			for _, h := range hits {
				var i int
				if _, err := fmt.Sscanf(h.Document, "%d", &i); err != nil || !allowed(i) {
					t.Fatalf("%+v: found %s, %v", c, h.Document, err)
				}
				if got := x.kernels.Dot(query, vectors[i]); math.Abs(float64(got-h.Score)) > 1e-3 {
					t.Fatalf("%+v: %s scores %v, not %v", c, h.Document, h.Score, got)
				} else if got >= least-1e-4 {
					found++
				}
			}
			wanted += c.limit
		}
		if recall := float64(found) / float64(wanted); recall < .97 {
			t.Errorf("%+v: %.4f of the best are found", c, recall)
		}
	}
}

// An image of version 2, which has no cells, is read, so that an upgrade rebuilds nothing.
func TestTheVersionBeforeIsRead(t *testing.T) {
	x := openTest(t, t.TempDir(), nil)
	s := made(t, x, rand.New(rand.NewPCG(9, 9)), "i", 20, 4, true)
	le := binary.LittleEndian
	const less = 24 * (sectionCount - sectionCount2)
	old := slices.Concat(s.image[:24+24*sectionCount2], s.image[headerLen-8:])
	le.PutUint32(old[8:], 2)
	le.PutUint32(old[12:], sectionCount2)
	le.PutUint64(old[16:], uint64(len(old)))
	for i := range sectionCount2 {
		row := old[24+24*i:]
		le.PutUint64(row, le.Uint64(row)-less)
		le.PutUint32(row[16:], crc32.Checksum(s.sec[i], castagnoli()))
	}
	const header = 24 + 24*sectionCount2 + 8
	le.PutUint32(old[header-8:], crc32.Checksum(old[:header-8], castagnoli()))
	got, err := openSegment(old, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range s.sec {
		if !slices.Equal(got.sec[i], want) {
			t.Errorf("section %d is another", i)
		}
	}
	for _, version := range []uint32{1, 4} {
		le.PutUint32(old[8:], version)
		if _, err := openSegment(old, false); !errors.Is(err, errSegment) {
			t.Errorf("version %d: %v", version, err)
		}
	}
	le.PutUint32(old[8:], segmentVersion)
	if _, err := openSegment(old, false); !errors.Is(err, errSegment) {
		t.Errorf("fewer sections than the version has: %v", err)
	}
}

// Sections of cells that do not fit the chunks are damage.
func TestCellsAreChecked(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after another, and long under the race detector")
	}
	const n, dim = cellsLeast, 4
	vectors, _ := subjects(rand.New(rand.NewPCG(3, 3)), n, 20, dim)
	x, p := largeFile(t, t.TempDir(), vectors)
	if n, err := x.Applied(t.Context(), p); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	s := x.open[1].acquire()
	defer s.release()
	seg := s.segs[0].segment
	le := binary.LittleEndian
	for _, section := range []int{secCentre, secCellCode, secCellTerm, secCellEnd, secCellRow} {
		for _, n := range []uint64{0, uint64(len(seg.sec[section])) - 8} {
			image := slices.Clone(seg.image)
			le.PutUint64(image[24+24*section+8:], n)
			if _, err := openSegment(image, false); !errors.Is(err, errSegment) {
				t.Errorf("section %d of %d bytes: %v", section, n, err)
			}
		}
	}
}
