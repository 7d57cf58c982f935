package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
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

// Each row stands in one cell, with rows of its subject, and cells of a subject in regions.
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
	regions, share := len(c.region), len(c.end)/regionCells
	if last := int(c.region[regions-1]); regions < share || regions > 3*share || last != len(c.end) {
		t.Errorf("%d cells in %d regions, of which the last ends at %d", len(c.end), regions, last)
	}
	cell, apart := uint32(0), 0
	for i, end := range c.region {
		if end <= cell {
			t.Fatalf("region %d is empty", i)
		}
		counts := map[int]int{}
		for ; cell < end; cell++ {
			for _, row := range c.rows[startOf(c.end, int(cell)):c.end[cell]] {
				if of[row] >= 0 {
					counts[of[row]]++
				}
			}
		}
		most := 0
		for _, n := range counts {
			apart += n
			most = max(most, n)
		}
		apart -= most
	}
	if apart > n/100 {
		t.Errorf("%d of %d rows stand in a region of another subject", apart, n)
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

// A row goes to the nearest cell of the nearest regions, of which there are more than it is compared with.
func TestTheNearestCell(t *testing.T) {
	const dim, count = 16, 3 * nearRegions
	k, err := simd.Best()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(4, 4))
	l := &levels{kernels: k, regions: newMeans(count, dim), cells: newMeans(2*count, dim)}
	cell := make([][]float32, 2*count)
	for region := range count {
		mean := make([]float32, dim)
		for j := range mean {
			mean[j] = float32(r.NormFloat64())
		}
		for i := range 2 {
			c := slices.Clone(mean)
			c[i] += .5
			cell[2*region+i] = normalized(c)
			l.cells.set(k, 2*region+i, 1, slices.Clone(cell[2*region+i]))
		}
		l.regions.set(k, region, 1, normalized(mean))
		l.regionEnd = append(l.regionEnd, 2*region+2)
		if region%(count/2) == count/2-1 {
			l.groupEnd = append(l.groupEnd, region+1)
		}
	}
	l.regions.grow(1) // without a cell, and near the first row
	l.regions.set(k, count, 1, slices.Clone(cell[0]))
	l.regionEnd, l.groupEnd[1] = append(l.regionEnd, 2*count), count+1
	code := make([]int8, dim)
	for i, v := range cell {
		step := k.QuantizeInt8(code, v)
		if got := l.nearest(simd.PrepareQuery(code), step, [nearGroups]uint16{0, 1, 1}); got != uint32(i) {
			t.Errorf("what lies in cell %d goes to %d", i, got)
		}
		if got := l.nearest(simd.PrepareQuery(code), step, [nearGroups]uint16{1, 1, 1}); got < count {
			t.Errorf("what is near the second group goes to cell %d of the first", got)
		}
	}
}

// What is known of cells and regions is the mean of their rows and a share of their spread.
func TestWhatCellsPromise(t *testing.T) {
	const n, dim = 5000, 24
	k, err := simd.Best()
	if err != nil {
		t.Fatal(err)
	}
	vectors, _ := subjects(rand.New(rand.NewPCG(6, 2)), n, 7, dim)
	rows := codesOf(t, k, vectors, dim)
	c, err := findCells(t.Context(), k, rows)
	if err != nil {
		t.Fatal(err)
	}
	image := newMemory(0)
	w := newImageWriter(t.Context(), image, true)
	c.write(k, w, rows, newCoarseEncoder(make([]float32, dim))) // around nothing, so that a bias is the spread's share alone
	section := func(i int) []float32 {
		at := w.table[i]
		return view[float32](slices.Clone(image.b[at.off : at.off+at.n]))
	}
	spread := func(rows []uint32) float64 {
		var list [][]float32
		mean := make([]float64, dim)
		for _, row := range rows {
			if v := vectors[row]; v != nil {
				list = append(list, v)
				for j, x := range v {
					mean[j] += float64(x)
				}
			}
		}
		var sum float64
		for _, v := range list {
			for j, x := range v {
				sum += math.Pow(float64(x)-mean[j]/float64(len(list)), 2)
			}
		}
		return math.Sqrt(sum / float64(len(list)))
	}
	check := func(what string, i int, terms []float32, from, to uint32) {
		t.Helper()
		if want := cellSpread * spread(c.rows[from:to]); math.Abs(float64(terms[2*i+1])-want) > 1e-3 {
			t.Errorf("%s %d has a bias of %v, want %v", what, i, terms[2*i+1], want)
		}
	}
	from := uint32(0)
	for i, end := range c.end {
		if end > from {
			check("cell", i, section(secCellTerm), from, end)
		}
		from = end
	}
	from = 0
	for i, end := range c.region {
		check("region", i, section(secRegionTerm), from, c.end[end-1])
		from = c.end[end-1]
	}
}

// More is read and opened of smaller segments and for more results; never more than there is.
func TestRowShares(t *testing.T) {
	const chunks = 1 << 20
	for name, c := range map[string]struct {
		rows                 rowShare
		plain, size, results float64
	}{"read": {rowsRead, .15, .3, .15}, "opened": {rowsOpened, .25, .2, .3}} {
		share := func(chunks, k int) float64 { return float64(c.rows.of(chunks, k)) / float64(chunks) }
		plain := share(chunks, 10)
		if math.Abs(plain-c.plain) > 1e-5 || share(chunks, 1) != plain {
			t.Errorf("%s: %v of the rows", name, plain)
		}
		if got, want := share(chunks/8, 10), plain*math.Pow(8, c.size); math.Abs(got-want) > 1e-4 {
			t.Errorf("%s: %v of the rows of a smaller segment, want %v", name, got, want)
		}
		if got, want := share(chunks, 100), plain*math.Pow(10, c.results); math.Abs(got-want) > 1e-4 {
			t.Errorf("%s: %v of the rows for more results, want %v", name, got, want)
		}
		if got := c.rows.of(1<<15, 1<<20); got != 1<<15 {
			t.Errorf("%s: all of %d rows are %d", name, 1<<15, got)
		}
	}
}

// Cells are read from the rank on below which hardly a row is expected to pass: the more differ rows from their cells, and
// the lower the worst result is, the more.
func TestCellsWorthReading(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	ranking := &promises{unit: 1000} // scores of 0 to 1.024
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
		if least := ranking.worthReading(5, d, 1); least != promiseRanks {
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
		for _, limit := range []int{10, 100} { // of regions that are not opened at first, too
			hits, err := x.Search(t.Context(), p, port.IndexQuery{Retriever: port.Vector, Vector: v, Limit: limit,
				Filter: &filter.Filter{Op: filter.In, Key: "subject", Values: []string{fmt.Sprint(furthest)}}})
			if err != nil || len(hits) != limit {
				t.Fatalf("%d of %d hits of subject %d for one of %d, %v", len(hits), limit, furthest, of[i], err)
			}
			least := kthLargest(scores[furthest], limit)
			for _, h := range hits {
				if wanted++; h.Score >= least-1e-3 {
					found++
				}
			}
		}
	}
	if recall := float64(found) / float64(wanted); !(recall >= .97) {
		t.Errorf("%.4f of the best are found", recall)
	}
	// Regions that are left at first, as they are of larger segments, are opened where nothing else passes.
	snap := x.open[1].acquire()
	defer snap.release()
	seg := snap.segs[0].segment
	coarse, last := newSelection(snap, coarsePass), newBitset(seg.chunks)
	near := prepareCoarse(x.kernels, vectors[0], seg.centre)
	scan := cellScan{Index: x, near: near, seg: seg, dots: make([]int32, scanRows)}
	scan.scoreRegions()
	region := slices.Index(scan.regions.scores, slices.Min(scan.regions.scores))
	rows := seg.cellRow[seg.cellStart(seg.regionStart(region)):seg.cellStart(seg.regionEnd[region])]
	for _, row := range rows {
		last.set(row)
	}
	if err := x.scanCells(t.Context(), coarse, near, seg, 0, last, seg.chunks, 10, true); err != nil {
		t.Fatal(err)
	}
	if got := len(coarse.best()); got != min(len(rows), coarsePass) {
		t.Errorf("%d of %d rows of the furthest region are found", got, len(rows))
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
	defer s.release()
	if len(seg.regionEnd) < len(seg.cellEnd)/regionCells {
		t.Fatalf("%d regions of %d cells", len(seg.regionEnd), len(seg.cellEnd))
	}
	for _, c := range []struct {
		key, value string
		every      int
		limit      int
		flat       bool // without regions, as files were before there were any
	}{{"", "", 1, 10, false}, {"", "", 1, 100, false}, {"half", "1", 2, 10, false}, {"half", "1", 2, 100, false},
		{"tenth", "3", 10, 10, false}, {"", "", 1, 10, true}, {"half", "1", 2, 10, true}} {
		if c.flat {
			seg.regionEnd = nil
		}
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

// Images of the versions before, without cells or regions, are read, so that an upgrade rebuilds nothing.
func TestVersionsBeforeAreRead(t *testing.T) {
	x := openTest(t, t.TempDir(), nil)
	s := made(t, x, rand.New(rand.NewPCG(9, 9)), "i", 20, 4, true)
	le := binary.LittleEndian
	for version, sections := range map[uint32]int{2: sectionCount2, 3: sectionCount3} {
		less := uint64(24 * (sectionCount - sections))
		old := slices.Concat(s.image[:24+24*sections], s.image[headerLen-8:])
		le.PutUint32(old[8:], version)
		le.PutUint32(old[12:], uint32(sections))
		le.PutUint64(old[16:], uint64(len(old)))
		for i := range sections {
			row := old[24+24*i:]
			le.PutUint64(row, le.Uint64(row)-less)
			le.PutUint32(row[16:], crc32.Checksum(s.sec[i], castagnoli()))
		}
		header := headerOf(sections)
		le.PutUint32(old[header-8:], crc32.Checksum(old[:header-8], castagnoli()))
		got, err := openSegment(old, verifyAll)
		if err != nil {
			t.Fatal(version, err)
		}
		for i, want := range s.sec {
			if !slices.Equal(got.sec[i], want) {
				t.Errorf("version %d: section %d is another", version, i)
			}
		}
		for _, other := range []uint32{1, 5 - version, segmentVersion, segmentVersion + 1} {
			le.PutUint32(old[8:], other)
			if _, err := openSegment(old, verifyNone); !errors.Is(err, errSegment) {
				t.Errorf("version %d with the sections of %d: %v", other, version, err)
			}
		}
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
	for _, section := range []int{secCentre, secCellCode, secCellTerm, secCellEnd, secCellRow, secRegionCode, secRegionTerm,
		secRegionEnd} {
		for _, n := range []uint64{0, uint64(len(seg.sec[section])) - 8} {
			image := slices.Clone(seg.image)
			le.PutUint64(image[24+24*section+8:], n)
			if _, err := openSegment(image, verifyNone); !errors.Is(err, errSegment) {
				t.Errorf("section %d of %d bytes: %v", section, n, err)
			}
		}
	}
}

// oneOfMany are as many chunks as make a file that is verified after it was opened, one of them with a vector.
func oneOfMany() [][]float32 {
	const dim = 384
	vectors := make([][]float32, verifyLater/(2*dim)+1)
	vectors[0] = normalized(slices.Repeat([]float32{1, -2, 3, 1}, dim/4))
	return vectors
}

// The codes of a large file are verified behind its opening. What is damaged is dropped then, and rebuilt by who asks;
// what else is damaged is found before the first search.
func TestALargeFileIsVerified(t *testing.T) {
	dir, vectors := t.TempDir(), oneOfMany()
	x, p := largeFile(t, dir, vectors)
	ctx := t.Context()
	asked := port.IndexQuery{Retriever: port.Vector, Vector: vectors[0], Limit: 1}
	if hits, err := x.Search(ctx, p, asked); err != nil || len(hits) != 1 {
		t.Fatal(hits, err)
	}
	s := x.open[1].acquire()
	seg := s.segs[0].segment
	if !seg.unverified {
		t.Fatalf("a file of %d bytes was verified when it was opened", len(seg.image))
	}
	place := func(section int) int64 { return int64(binary.LittleEndian.Uint64(seg.image[24+24*section:])) }
	places := map[int]int64{secOwner: place(secOwner), secCode: place(secCode) + 5<<20, secCoarse: place(secCoarse)}
	path := seg.file.path
	s.release()
	settle(x, p)
	if n, err := x.Applied(ctx, p); n != 1 || err != nil || x.Stats().Rebuilds != 0 {
		t.Fatalf("a whole file: applied %d, %v, %d rebuilds", n, err, x.Stats().Rebuilds)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for section, at := range places {
		for _, flip := range []byte{1, 0} { // 0: whole again, the partition having been removed
			broken := slices.Clone(image)
			broken[at] ^= flip
			copied := t.TempDir()
			copyDir(t, copied, dir)
			if err := os.WriteFile(filepath.Join(copied, partitionDirName(1), filepath.Base(path)), broken, 0o600); err != nil {
				t.Fatal(err)
			}
			x := openTest(t, copied, nil)
			if section == secOwner {
				if n, err := x.Applied(ctx, p); n != uint64(1-flip) || err != nil {
					t.Errorf("owners, %d changed: applied %d, %v", flip, n, err)
				}
				continue
			}
			if _, err := x.Applied(ctx, p); err != nil {
				t.Error(err)
			}
			settle(x, p)
			_, err := x.Search(ctx, p, asked)
			if rebuilds := x.Stats().Rebuilds; errors.Is(err, port.ErrGap) != (flip == 1) || rebuilds != uint64(flip) {
				t.Errorf("section %d, %d changed: %v, %d rebuilds", section, flip, err, rebuilds)
			}
		}
	}
}

// A file is not merged before it has been verified.
func TestMergesWaitUntilFilesAreVerified(t *testing.T) {
	dir, vectors := t.TempDir(), oneOfMany()
	n := len(vectors)
	x, p := largeFile(t, dir, vectors)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openTest(t, dir, func(c *Config) { c.FlushChunks = 1000 })
	for range cap(x.mergeSlots) {
		x.mergeSlots <- struct{}{}
	}
	free := sync.OnceFunc(func() {
		for range cap(x.mergeSlots) {
			<-x.mergeSlots
		}
	})
	t.Cleanup(free)
	b := port.Batch{After: 1, Upto: 2}
	for i := range n / 2 {
		b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprintf("%06d", i)})
	}
	if err := x.Apply(t.Context(), p, b); err != nil {
		t.Fatal(err)
	}
	part := x.open[1]
	part.mu.Lock()
	for part.flushing {
		part.idle.Wait()
	}
	x.schedule(part)
	if due := pickMerge(part.snap.Load(), part.kept, 1000); len(due) != 1 || part.merging || !part.unverified {
		t.Errorf("%d files are due, merging %v, unverified %v", len(due), part.merging, part.unverified)
	}
	part.mu.Unlock()
	free()
	settle(x, p)
	if st := x.Stats(); st.Merges != 1 || st.Rebuilds != 0 || st.Chunks != n-n/2 {
		t.Errorf("%+v", st)
	}
}
