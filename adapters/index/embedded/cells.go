package embedded

import (
	"context"
	"math"
	"slices"

	"github.com/mnemehq/mneme/core/simd"
)

// A large segment's coarse codes stand in cells of chunks whose vectors are alike (an inverted file: Jégou, Douze and
// Schmid, PAMI 2011, section 4), and a search reads the cells that promise most. Cells are small: a tenth of all rows
// in cells of 24 has more of what is looked for than a fifth in cells of 512, and to compare a query with a cell's mean
// costs what a row costs, since the mean has a coarse code, too. Cells are found by k-means in two levels, groups and
// the cells of each group, so that a chunk is compared with the groups and with the cells of the nearest ones only.
// All starts from evenly spread rows: the same rows give the same cells.
const (
	cellsLeast  = 1 << 15 // chunks of a segment that has cells
	cellChunks  = 24      // chunks of a cell, in the mean
	groupSample = 64      // rows a group that groups are found with
	cellSample  = 12      // rows a cell that cells are found with
	meansRounds = 5       // of k-means
	nearGroups  = 3       // groups whose cells a chunk is compared with
)

// means are vectors as int8 codes with what makes nearness of their products: |v-m|² = |v|² - 2(v·m - |m|²/2).
type means struct {
	dim  int
	code []int8
	step []float32
	half []float32 // |m|²/2
}

func newMeans(n, dim int) *means {
	return &means{dim, make([]int8, n*dim), make([]float32, n), make([]float32, n)}
}

// set makes the i-th mean that of a sum of n rows, which it divides.
func (m *means) set(k simd.Kernels, i, n int, sum []float32) {
	var square float64
	for j := range sum {
		sum[j] /= float32(n)
		square += float64(sum[j]) * float64(sum[j])
	}
	m.step[i] = k.QuantizeInt8(m.code[i*m.dim:(i+1)*m.dim], sum)
	m.half[i] = clampCoarse(square / 2)
}

// nearness of means from.. to a row, into out.
func (m *means) nearness(k simd.Kernels, q simd.Query, step float32, from int, out []float32, dots []int32) {
	dots = dots[:len(out)]
	k.DotRows(dots, q, m.code[from*m.dim:], m.dim)
	for i, d := range dots {
		out[i] = float32(d)*step*m.step[from+i] - m.half[from+i]
	}
}

// find is k-means (Lloyd) over rows, for the means from..to.
func (m *means) find(k simd.Kernels, rows vectorRows, which []uint32, from, to int) {
	n := to - from
	dots, near := make([]int32, n), make([]float32, n)
	sums, counts := make([]float32, n*m.dim), make([]int, n)
	for i := range n {
		code, step := rows.at(int(which[i*len(which)/n]))
		sum := sums[i*m.dim : (i+1)*m.dim]
		addRow(sum, code, step)
		m.set(k, from+i, 1, sum)
	}
	for range meansRounds {
		clear(sums)
		clear(counts)
		for _, row := range which {
			code, step := rows.at(int(row))
			m.nearness(k, simd.PrepareQuery(code), step, from, near, dots)
			best := greatest(near)
			addRow(sums[best*m.dim:(best+1)*m.dim], code, step)
			counts[best]++
		}
		for i, n := range counts {
			if n > 0 {
				m.set(k, from+i, n, sums[i*m.dim:(i+1)*m.dim])
			}
		}
	}
}

func addRow(sum []float32, code []int8, step float32) {
	for i, c := range code[:len(sum)] {
		sum[i] += step * float32(c)
	}
}

func greatest(v []float32) int {
	at := 0
	for i, x := range v {
		if x > v[at] {
			at = i
		}
	}
	return at
}

// cells are where the rows of a segment stand.
type cells struct {
	end  []uint32 // per cell: the end of its rows
	rows []uint32 // ordinals, cell by cell, rising in each
}

// findCells puts rows into cells; nil: hardly one has a vector.
func findCells(ctx context.Context, k simd.Kernels, rows vectorRows) (*cells, error) {
	groups := max(int(math.Sqrt(float64(rows.n)/cellChunks)), 1)
	sample := rows.spread(groups * groupSample)
	if len(sample) < groups {
		return nil, nil
	}
	top := newMeans(groups, rows.dim)
	top.find(k, rows, sample, 0, groups)
	members := make([][]uint32, groups)
	near, dots := make([]float32, groups), make([]int32, groups)
	for i := range rows.n {
		if i%scanRows == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if code, step := rows.at(i); step != 0 {
			top.nearness(k, simd.PrepareQuery(code), step, 0, near, dots)
			g := greatest(near)
			members[g] = append(members[g], uint32(i))
		}
	}
	ends := make([]int, groups) // per group: the end of its cells
	n := 0
	for g, m := range members {
		n += (len(m) + cellChunks - 1) / cellChunks
		ends[g] = n
	}
	low, from := newMeans(n, rows.dim), 0
	for g, m := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := ends[g]
		if to > from {
			every := max(len(m)/((to-from)*cellSample), 1)
			some := m[:0:0]
			for i := 0; i < len(m); i += every {
				some = append(some, m[i])
			}
			low.find(k, rows, some, from, to)
		}
		members[g], from = nil, to
	}
	return assignCells(ctx, k, rows, top, low, ends)
}

// assignCells puts each row into the nearest cell of the nearest groups.
func assignCells(ctx context.Context, k simd.Kernels, rows vectorRows, top, low *means, ends []int) (*cells, error) {
	of, counts := make([]uint32, rows.n), make([]uint32, len(low.step))
	near, close := make([]float32, len(ends)), make([]float32, len(low.step))
	dots := make([]int32, max(len(near), len(close)))
	for i := range of {
		if i%scanRows == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		code, step := rows.at(i)
		best, nearest := 0, float32(math.Inf(-1)) // a row without a vector stays in the first cell, where nothing finds it
		if step != 0 {
			q := simd.PrepareQuery(code)
			top.nearness(k, q, step, 0, near, dots)
			for range min(nearGroups, len(near)) {
				g := greatest(near)
				near[g] = float32(math.Inf(-1))
				from := 0
				if g > 0 {
					from = ends[g-1]
				}
				if from == ends[g] {
					continue
				}
				part := close[:ends[g]-from]
				low.nearness(k, q, step, from, part, dots)
				if c := greatest(part); part[c] > nearest {
					best, nearest = from+c, part[c]
				}
			}
		}
		of[i] = uint32(best)
		counts[best]++
	}
	c := &cells{make([]uint32, len(counts)), make([]uint32, rows.n)}
	next := make([]uint32, len(counts))
	var end uint32
	for i, n := range counts {
		next[i] = end
		end += n
		c.end[i] = end
	}
	for i, cell := range of {
		c.rows[next[cell]] = uint32(i)
		next[cell]++
	}
	return c, nil
}

// cellSpread is how much of a cell's spread (the root of the mean square of what its rows differ by from their mean) counts
// beside its mean's product with a query: the more they differ, the further the best of them lies from the mean. Between
// .08 and .15 the same share of cells holds as many of the best of real vectors; without, up to .02 less.
const cellSpread = .1

// write writes the sections of cells. Their means are coded as rows are, and spread is part of the bias.
func (c *cells) write(k simd.Kernels, w *imageWriter, rows vectorRows, e *coarseEncoder) {
	sum, code := make([]float32, rows.dim), make([]int8, rows.dim)
	terms := make([]float32, 0, 2*len(c.end))
	w.begin(secCellCode)
	var from uint32
	for _, end := range c.end {
		clear(sum)
		var squares, square float64
		n := 0
		for _, row := range c.rows[from:end] {
			code, step := rows.at(int(row))
			if step == 0 {
				continue
			}
			addRow(sum, code, step)
			for _, v := range code {
				squares += float64(step*float32(v)) * float64(step*float32(v))
			}
			n++
		}
		from = end
		for i := range sum {
			sum[i] /= float32(max(n, 1))
			square += float64(sum[i]) * float64(sum[i])
		}
		spread := math.Sqrt(max(squares/float64(max(n, 1))-square, 0))
		row, scale, bias := e.encode(code, k.QuantizeInt8(code, sum))
		_, _ = w.Write(row) // w keeps the error
		terms = append(terms, scale, clampCell(float64(bias)+cellSpread*spread))
	}
	w.section(secCellTerm, raw(terms))
	w.section(secCellEnd, raw(c.end))
	w.section(secCellRow, raw(c.rows))
}

// clampCell is clampCoarse but for a cell without a vector, which is read last.
func clampCell(v float64) float32 {
	if math.IsInf(v, -1) {
		return float32(v)
	}
	return clampCoarse(v)
}

// rowsRead is how many rows of a segment a search reads at most that wants the best k. In a larger segment a smaller share
// holds the nearest; the more are wanted, the further away the last of them lies. The figures are those of real vectors
// (BenchmarkLarge).
func rowsRead(chunks, k int) int {
	share := readShare * math.Pow(float64(chunks)/(1<<20), -.3) * math.Pow(float64(max(k, 10))/10, .15)
	return min(int(math.Ceil(share*float64(chunks))), chunks)
}

const (
	readShare    = .15  // of a segment of a million chunks, what a search for its ten best reads at most
	firstPart    = 16   // the best of them are read first: one of firstPart
	nextPart     = 4    // times as much has been read when it is asked again what is worth reading
	missedShare  = .002 // of the results, what is expected to lie in cells that are left out although they could be read
	leastSampled = 100  // rows whose differences tell a deviation; where a filter lets few through there are fewer
	sampledRows  = 4096
)

// cellRanks are ranks of a segment's cells, coarse enough for a sum of rows by rank: the higher, the more a cell promises.
const cellRanks = 1 << 10

// cellRanking is how much the cells of a segment promise a query: the score of each by its mean, and its rank by that.
type cellRanking struct {
	scores    []float32
	ranks     []uint16
	rows      [cellRanks]int // by rank
	low, unit float32        // a rank is (score-low)*unit
}

// rankCells scores a segment's cells by the codes of their means.
func (x *Index) rankCells(near coarseQuery, seg *segment, dots []int32) *cellRanking {
	n, width := len(seg.cellEnd), simd.NibbleBytes(seg.dim)
	r := &cellRanking{scores: make([]float32, n), ranks: make([]uint16, n)}
	low, high := float32(math.MaxFloat32), float32(-math.MaxFloat32)
	for from := 0; from < n; from += scanRows {
		part := dots[:min(scanRows, n-from)]
		x.kernels.DotNibbles(part, near.codes, seg.cellCode[from*width:], width)
		for i, d := range part {
			score := near.score(d, seg.cellTerm[2*(from+i):])
			r.scores[from+i] = score
			if score < low && score >= -math.MaxFloat32 { // has a vector
				low = score
			}
			if score > high {
				high = score
			}
		}
	}
	r.low, r.unit = low, (cellRanks-1)/max(high-low, math.SmallestNonzeroFloat32)
	from := uint32(0)
	for i, score := range r.scores {
		rank := uint16(0)
		if at := (score - r.low) * r.unit; at >= cellRanks-1 {
			rank = cellRanks - 1
		} else if at > 0 {
			rank = uint16(at)
		}
		end := seg.cellEnd[i]
		r.ranks[i] = rank
		r.rows[rank] += min(int(end-from), 64*cellChunks) // the first holds what has no vector, too
		from = end
	}
	return r
}

// worthReading is the lowest rank of the cells that are to be read. Those below are expected to hold no more than missed
// rows, all of them together, that score above floor, if rows differ from what their cells promise by the normal
// distribution that has the mean and deviation of d. Real ones differ by nearly that.
func (r *cellRanking) worthReading(floor float32, d differences, missed float64) uint16 {
	mean, deviation := d.normal()
	if d.n < leastSampled || !(deviation > 0) {
		return 0
	}
	for rank, rows := range r.rows {
		if rows == 0 {
			continue
		}
		score := float64(r.low) + (float64(rank)+.5)/float64(r.unit)
		missed -= float64(rows) * math.Erfc((float64(floor)-score-mean)/(deviation*math.Sqrt2)) / 2
		if missed < 0 {
			return uint16(rank)
		}
	}
	return cellRanks
}

// differences are those of rows' scores and their cells'.
type differences struct {
	n            int
	sum, squares float64
}

func (d *differences) add(v float32) {
	d.n++
	d.sum += float64(v)
	d.squares += float64(v) * float64(v)
}

func (d *differences) normal() (mean, deviation float64) {
	if d.n == 0 {
		return 0, 0
	}
	mean = d.sum / float64(d.n)
	return mean, math.Sqrt(max(d.squares/float64(d.n)-mean*mean, 0))
}

// scanCells offers the rows of the cells of a segment that promise most. Without a filter it reads at most what rowsRead
// says. What a filter leaves may lie far from the query, where the best of it are found all the same: then few pass, the
// score that a result must have is low, and more is read, all of it at the most.
func (x *Index) scanCells(ctx context.Context, coarse *selection, near coarseQuery, seg *segment, at uint32, set bitset,
	limit int, filtered bool) error {
	s := cellScan{Index: x, coarse: coarse, near: near, seg: seg, at: at, set: set,
		dots: make([]int32, scanRows), list: make([]uint32, scanRows)}
	s.cellRanking = x.rankCells(near, seg, s.dots)
	most := rowsRead(seg.chunks, limit)
	part := max(most/firstPart, 1)
	if filtered {
		most = seg.chunks
	}
	missed := missedShare * float64(limit) * float64(seg.chunks) / float64(max(coarse.topK.snap.live, seg.chunks))
	// The best go first: they have most of what is kept, few rows of the rest get past that, and they tell which of the rest
	// are worth reading. With each part these get fewer.
	least := uint16(0)
	for high, sum := uint16(cellRanks), 0; high > least && sum < most; part = min(nextPart*part, most) {
		low := high
		for low > least && sum < part {
			low--
			sum += s.rows[low]
		}
		if err := s.scan(ctx, low, high); err != nil {
			return err
		}
		high = low
		least = s.worthReading(coarse.kth(limit), s.differences, missed)
	}
	return nil
}

// cellScan is a search of a segment's cells.
type cellScan struct {
	*Index
	*cellRanking
	differences
	coarse *selection
	near   coarseQuery
	seg    *segment
	at     uint32 // of the segment
	set    bitset
	dots   []int32
	list   []uint32 // the places of rows that are scored next
}

// scan offers the rows of the cells with ranks from low to below high. Cells are short and lie apart, so that their rows
// are listed, and scored many at a time.
func (s *cellScan) scan(ctx context.Context, low, high uint16) error {
	n := 0
	for cell, rank := range s.ranks {
		if rank < low || rank >= high {
			continue
		}
		from, end := uint32(0), s.seg.cellEnd[cell]
		if cell > 0 {
			from = s.seg.cellEnd[cell-1]
		}
		for place := from; place < end; place++ {
			if s.set != nil && !s.set.has(s.seg.cellRow[place]) {
				continue
			}
			s.list[n] = place
			if n++; n == scanRows {
				if err := s.score(ctx, n); err != nil {
					return err
				}
				n = 0
			}
		}
	}
	return s.score(ctx, n)
}

// score offers the first n rows of the list. Of the first rows of a search it notes how they differ from their cells.
func (s *cellScan) score(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	list, dots := s.list[:n], s.dots[:n]
	s.kernels.DotNibblesAt(dots, s.near.codes, s.seg.coarse, simd.NibbleBytes(s.seg.dim), list, s.seg.coarseTerm)
	s.coarse.scanListed(dots, s.near, s.seg, s.at, list)
	if n > 0 && s.n < sampledRows {
		cell, _ := slices.BinarySearch(s.seg.cellEnd, list[0]+1)
		for j, place := range list {
			for place >= s.seg.cellEnd[cell] {
				cell++
			}
			if score := s.near.score(dots[j], s.seg.coarseTerm[2*place:]); score >= -math.MaxFloat32 {
				s.add(score - s.scores[cell])
			}
		}
	}
	return nil
}
