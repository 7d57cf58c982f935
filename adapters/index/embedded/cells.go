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
// costs what a row costs, since the mean has a coarse code, too. So that not each cell has to be compared, cells that are
// alike stand together in regions with a mean of their own. All are found by k-means in three levels, groups, the regions
// of each group and the cells of each region: a chunk is compared with the groups and with what lies in the nearest ones
// only. All starts from evenly spread rows: the same rows give the same cells.
const (
	cellsLeast  = 1 << 15 // chunks of a segment that has cells
	cellChunks  = 24      // chunks of a cell, in the mean
	regionCells = 16      // cells of a region, in the mean
	groupSample = 64      // rows a group, and a region, that these are found with
	cellSample  = 12      // rows a cell that cells are found with
	meansRounds = 5       // of k-means
	nearGroups  = 3       // groups whose regions a chunk is compared with
	nearRegions = 8       // regions of these whose cells it is compared with
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

// grow adds n means that are to be found.
func (m *means) grow(n int) {
	m.code = append(m.code, make([]int8, n*m.dim)...)
	m.step, m.half = append(m.step, make([]float32, n)...), append(m.half, make([]float32, n)...)
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
	region []uint32 // per region: the end of its cells
	end    []uint32 // per cell: the end of its rows
	rows   []uint32 // ordinals, cell by cell, rising in each
}

// levels are the means of groups, of their regions and of the cells of these.
type levels struct {
	kernels                simd.Kernels
	rows                   vectorRows
	groups, regions, cells *means
	groupEnd, regionEnd    []int     // where the regions of a group end, and the cells of a region
	near                   []float32 // of the last call of scores
	dots                   []int32
}

// findCells puts rows into cells; nil: hardly one has a vector.
func findCells(ctx context.Context, k simd.Kernels, rows vectorRows) (*cells, error) {
	n := max(int(math.Sqrt(float64(rows.n)/cellChunks)), 1)
	sample := rows.spread(n * groupSample)
	if len(sample) < n {
		return nil, nil
	}
	l := &levels{kernels: k, rows: rows,
		groups: newMeans(n, rows.dim), regions: newMeans(0, rows.dim), cells: newMeans(0, rows.dim)}
	l.groups.find(k, rows, sample, 0, n)
	nearest := make([][nearGroups]uint16, rows.n)
	members := make([][]uint32, n)
	for i := range rows.n {
		if i%scanRows == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if code, step := rows.at(i); step != 0 {
			near := l.scores(l.groups, simd.PrepareQuery(code), step, 0, n)
			for j := range nearest[i] {
				g := greatest(near)
				nearest[i][j] = uint16(g)
				near[g] = float32(math.Inf(-1))
			}
			g := nearest[i][0]
			members[g] = append(members[g], uint32(i))
		}
	}
	for g, m := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.split(m)
		members[g] = nil
	}
	return l.assign(ctx, nearest)
}

// split finds the regions of the next group, whose rows are given, and their cells.
func (l *levels) split(rows []uint32) {
	from := len(l.regions.step)
	l.regions.grow((len(rows) + regionCells*cellChunks - 1) / (regionCells * cellChunks))
	to := len(l.regions.step)
	l.groupEnd = append(l.groupEnd, to)
	if from == to {
		return
	}
	l.regions.find(l.kernels, l.rows, some(rows, (to-from)*groupSample), from, to)
	members := make([][]uint32, to-from)
	for _, row := range rows {
		code, step := l.rows.at(int(row))
		r := greatest(l.scores(l.regions, simd.PrepareQuery(code), step, from, to))
		members[r] = append(members[r], row)
	}
	for _, m := range members {
		from := len(l.cells.step)
		l.cells.grow((len(m) + cellChunks - 1) / cellChunks)
		to := len(l.cells.step)
		l.regionEnd = append(l.regionEnd, to)
		if from < to {
			l.cells.find(l.kernels, l.rows, some(m, (to-from)*cellSample), from, to)
		}
	}
}

// some are at least n evenly spread ones of rows, or all.
func some(rows []uint32, n int) []uint32 {
	every := max(len(rows)/n, 1)
	out := make([]uint32, 0, (len(rows)+every-1)/every)
	for i := 0; i < len(rows); i += every {
		out = append(out, rows[i])
	}
	return out
}

// assign puts each row into the nearest cell of the nearest regions of its nearest groups.
func (l *levels) assign(ctx context.Context, nearest [][nearGroups]uint16) (*cells, error) {
	of, counts := make([]uint32, l.rows.n), make([]uint32, len(l.cells.step))
	for i := range of {
		if i%scanRows == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if code, step := l.rows.at(i); step != 0 { // a row without a vector stays in the first cell, where nothing finds it
			of[i] = l.nearest(simd.PrepareQuery(code), step, nearest[i])
		}
		counts[of[i]]++
	}
	c := &cells{end: make([]uint32, len(counts)), rows: make([]uint32, l.rows.n)}
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
	last := 0
	for _, end := range l.regionEnd {
		if end > last {
			c.region = append(c.region, uint32(end))
		}
		last = end
	}
	return c, nil
}

// nearest is the cell of a row.
func (l *levels) nearest(q simd.Query, step float32, groups [nearGroups]uint16) uint32 {
	var regions [nearRegions]int
	var scores [nearRegions]float32
	found := 0
	for i, g := range groups {
		if slices.Contains(groups[:i], g) { // there are fewer
			continue
		}
		from := startOf(l.groupEnd, int(g))
		near := l.scores(l.regions, q, step, from, l.groupEnd[g])
		for r, score := range near {
			at := found
			for at > 0 && scores[at-1] < score {
				at--
			}
			if at == nearRegions {
				continue
			}
			found = min(found+1, nearRegions)
			copy(regions[at+1:found], regions[at:])
			copy(scores[at+1:found], scores[at:])
			regions[at], scores[at] = from+r, score
		}
	}
	best, most := 0, float32(math.Inf(-1))
	for _, r := range regions[:found] {
		from := startOf(l.regionEnd, r)
		if from == l.regionEnd[r] {
			continue
		}
		near := l.scores(l.cells, q, step, from, l.regionEnd[r])
		if c := greatest(near); near[c] > most {
			best, most = from+c, near[c]
		}
	}
	return uint32(best)
}

// scores is the nearness of means from..to to a row, until the next call.
func (l *levels) scores(m *means, q simd.Query, step float32, from, to int) []float32 {
	n := to - from
	l.near, l.dots = slices.Grow(l.near[:0], n)[:n], slices.Grow(l.dots[:0], n)[:n]
	m.nearness(l.kernels, q, step, from, l.near, l.dots)
	return l.near
}

// cellSpread is how much of a cell's spread (the root of the mean square of what its rows differ by from their mean) counts
// beside its mean's product with a query: the more they differ, the further the best of them lies from the mean. Between
// .08 and .15 the same share of cells holds as many of the best of real vectors; without, up to .02 less.
const cellSpread = .1

// gathering is what a mean and a spread are made of.
type gathering struct {
	sum     []float32
	squares float64 // of all components
	n       int
	mean    []float32 // encode's
	code    []int8
}

func newGathering(dim int) *gathering {
	return &gathering{sum: make([]float32, dim), mean: make([]float32, dim), code: make([]int8, dim)}
}

func (g *gathering) add(code []int8, step float32) {
	addRow(g.sum, code, step)
	for _, v := range code {
		g.squares += float64(step*float32(v)) * float64(step*float32(v))
	}
	g.n++
}

func (g *gathering) addAll(other *gathering) {
	for i, s := range other.sum {
		g.sum[i] += s
	}
	g.squares += other.squares
	g.n += other.n
}

func (g *gathering) reset() {
	clear(g.sum)
	g.squares, g.n = 0, 0
}

// encode codes the mean as rows are, and adds the spread's share to its bias. The row is overwritten by the next call.
func (g *gathering) encode(k simd.Kernels, e *coarseEncoder) (row []byte, scale, bias float32) {
	var square float64
	n := max(g.n, 1)
	for i, s := range g.sum {
		g.mean[i] = s / float32(n)
		square += float64(g.mean[i]) * float64(g.mean[i])
	}
	spread := math.Sqrt(max(g.squares/float64(n)-square, 0))
	row, scale, bias = e.encode(g.code, k.QuantizeInt8(g.code, g.mean))
	return row, scale, clampCell(float64(bias) + cellSpread*spread)
}

// write writes the sections of cells and regions.
func (c *cells) write(k simd.Kernels, w *imageWriter, rows vectorRows, e *coarseEncoder) {
	cell, region := newGathering(rows.dim), newGathering(rows.dim)
	terms, regionTerms := make([]float32, 0, 2*len(c.end)), make([]float32, 0, 2*len(c.region))
	var regionCodes []byte
	w.begin(secCellCode)
	at, from := 0, uint32(0)
	for _, last := range c.region {
		for ; at < int(last); at++ {
			for _, row := range c.rows[from:c.end[at]] {
				if code, step := rows.at(int(row)); step != 0 {
					cell.add(code, step)
				}
			}
			from = c.end[at]
			row, scale, bias := cell.encode(k, e)
			_, _ = w.Write(row) // w keeps the error
			terms = append(terms, scale, bias)
			region.addAll(cell)
			cell.reset()
		}
		row, scale, bias := region.encode(k, e)
		regionCodes = append(regionCodes, row...)
		regionTerms = append(regionTerms, scale, bias)
		region.reset()
	}
	w.section(secCellTerm, raw(terms))
	w.section(secCellEnd, raw(c.end))
	w.section(secCellRow, raw(c.rows))
	w.section(secRegionCode, regionCodes)
	w.section(secRegionTerm, raw(regionTerms))
	w.section(secRegionEnd, raw(c.region))
}

// clampCell is clampCoarse but for a cell without a vector, which is read last.
func clampCell(v float64) float32 {
	if math.IsInf(v, -1) {
		return float32(v)
	}
	return clampCoarse(v)
}

// rowShare is a share of a segment's rows. Of a larger segment a smaller share holds the nearest; the more are wanted, the
// further away the last of them lies. The figures are those of real vectors (BenchmarkLarge).
type rowShare struct {
	million float64 // of a segment of a million chunks, for the ten best
	size    float64 // exponent of the size
	results float64 // exponent of the results
}

// rowsRead are what a search reads at most, rowsOpened those of the regions whose cells it compares.
var (
	rowsRead   = rowShare{.15, -.3, .15}
	rowsOpened = rowShare{.25, -.2, .3}
)

// of is how many rows that are of a segment, for the best k.
func (s rowShare) of(chunks, k int) int {
	share := s.million * math.Pow(float64(chunks)/(1<<20), s.size) * math.Pow(float64(max(k, 10))/10, s.results)
	return min(int(math.Ceil(share*float64(chunks))), chunks)
}

const (
	firstPart    = 16   // the best of them are read first: one of firstPart
	nextPart     = 4    // times as much has been read when it is asked again what is worth reading
	missedShare  = 5e-5 // of the results, what is expected in cells that are left out; where vectors stand in clumps, .02 is
	leastSampled = 100  // rows whose differences tell a deviation; where a filter lets few through there are fewer
	sampledRows  = 4096
	scanMeans    = 512 // means a kernel call scores
)

// promiseRanks are ranks by promise, coarse enough for a sum of rows by rank: the higher, the more.
const promiseRanks = 1 << 10

// promises are how much some cells, or regions, promise a query: the score of each by its mean, and its rank by that.
type promises struct {
	scores    []float32
	ranks     []uint16
	rows      [promiseRanks]int // by rank
	low, unit float32           // a rank is (score-low)*unit
}

// rank fills in ranks by scores; rowsOf is how many rows the i-th has.
func (p *promises) rank(rowsOf func(i int) uint32) {
	low, high := float32(math.MaxFloat32), float32(-math.MaxFloat32)
	for _, score := range p.scores {
		if score < low && score >= -math.MaxFloat32 { // has a vector
			low = score
		}
		high = max(high, score)
	}
	p.low, p.unit = low, (promiseRanks-1)/max(high-low, math.SmallestNonzeroFloat32)
	p.ranks = slices.Grow(p.ranks[:0], len(p.scores))[:len(p.scores)]
	clear(p.rows[:])
	for i, score := range p.scores {
		rank := uint16(0)
		if at := (score - low) * p.unit; at >= promiseRanks-1 {
			rank = promiseRanks - 1
		} else if at > 0 {
			rank = uint16(at)
		}
		p.ranks[i] = rank
		p.rows[rank] += min(int(rowsOf(i)), 64*cellChunks*regionCells) // one holds what has no vector, too
	}
}

// best is the highest rank such that all from it up to below high have some rows together, or least.
func (p *promises) best(high, least uint16, rows int) (low uint16, sum int) {
	for low = high; low > least && sum < rows; {
		low--
		sum += p.rows[low]
	}
	return low, sum
}

// worthReading is the lowest rank of what is to be read. What is below is expected to hold no more than missed
// rows, all of it together, that score above floor, if rows differ from what their cells or regions promise by the normal
// distribution that has the mean and deviation of d. Real ones differ by nearly that.
func (p *promises) worthReading(floor float32, d differences, missed float64) uint16 {
	mean, deviation := d.normal()
	if d.n < leastSampled || !(deviation > 0) {
		return 0
	}
	for rank, rows := range p.rows {
		if rows == 0 {
			continue
		}
		score := float64(p.low) + (float64(rank)+.5)/float64(p.unit)
		missed -= float64(rows) * math.Erfc((float64(floor)-score-mean)/(deviation*math.Sqrt2)) / 2
		if missed < 0 {
			return uint16(rank)
		}
	}
	return promiseRanks
}

// differences are those of rows' scores and what was promised.
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

// scanCells offers the rows of the cells of a segment that promise most. Without a filter it compares at most the cells that
// rowsOpened says, and reads what rowsRead says. What a filter leaves may lie far from the query, where the best of it
// are found all the same: then few pass, the score that a result must have is low, and more is read, all of it at the most.
// passing is how many rows set lets through.
func (x *Index) scanCells(ctx context.Context, coarse *selection, near coarseQuery, seg *segment, at uint32, set bitset,
	passing, limit int, filtered bool) error {
	s := cellScan{Index: x, coarse: coarse, near: near, seg: seg, at: at, set: set, limit: limit,
		dots: make([]int32, scanRows), list: make([]uint32, scanRows), of: make([]uint32, scanRows)}
	s.missed = missedShare * float64(limit) * float64(seg.chunks) / float64(max(coarse.topK.snap.live, seg.chunks))
	most := rowsRead.of(seg.chunks, limit)
	part := max(most/firstPart, 1)
	if filtered {
		most = seg.chunks
	}
	if len(seg.regionEnd) == 0 { // a file of before regions
		s.openCells(0, uint32(len(seg.cellEnd)), 0)
		s.scoreCells()
		return s.scanOpen(ctx, part, most)
	}
	s.scoreRegions()
	// Of what passes a filter the best lie as far away as so many times as many of all rows.
	low, _ := s.regions.best(promiseRanks, 0, rowsOpened.of(seg.chunks, limit*seg.chunks/max(passing, 1)))
	s.openRegions(low, promiseRanks)
	if err := s.scanOpen(ctx, part, most); err != nil || !filtered {
		return err
	}
	s.openRegions(s.regions.worthReading(coarse.kth(limit), s.ofRegions, s.missed), low)
	return s.scanOpen(ctx, part, most)
}

// cellScan is a search of a segment's cells.
type cellScan struct {
	*Index
	coarse *selection
	near   coarseQuery
	seg    *segment
	at     uint32 // of the segment
	set    bitset
	limit  int
	missed float64 // rows that may be expected in what is not read

	regions            promises
	open, home         []uint32 // cells that are compared with the query, and the region of each
	cells              promises // these
	ofCells, ofRegions differences
	dots               []int32
	list, of           []uint32 // the places of rows that are scored next, and the place of each one's cell in open
}

// scoreRegions compares the query with the means of regions.
func (s *cellScan) scoreRegions() {
	all := make([]uint32, len(s.seg.regionEnd))
	for i := range all {
		all[i] = uint32(i)
	}
	s.regions.scores = s.scoreMeans(nil, s.seg.regionCode, s.seg.regionTerm, all)
	s.regions.rank(func(i int) uint32 {
		return s.seg.cellStart(s.seg.regionEnd[i]) - s.seg.cellStart(s.seg.regionStart(i))
	})
}

// openRegions has the cells of the regions with ranks from low to below high compared, and no others.
func (s *cellScan) openRegions(low, high uint16) {
	s.open, s.home = s.open[:0], s.home[:0]
	for i, rank := range s.regions.ranks {
		if rank >= low && rank < high {
			s.openCells(s.seg.regionStart(i), s.seg.regionEnd[i], uint32(i))
		}
	}
	s.scoreCells()
}

func (s *cellScan) openCells(from, to, region uint32) {
	_ = s.seg.cellEnd[to-1] // damage ends here, not with memory
	for cell := from; cell < to; cell++ {
		s.open, s.home = append(s.open, cell), append(s.home, region)
	}
}

// scoreCells compares the query with the means of open cells.
func (s *cellScan) scoreCells() {
	s.cells.scores = s.scoreMeans(s.cells.scores[:0], s.seg.cellCode, s.seg.cellTerm, s.open)
	s.cells.rank(func(i int) uint32 { return s.seg.cellEnd[s.open[i]] - s.seg.cellStart(s.open[i]) })
}

// scoreMeans appends the scores of the listed means.
func (s *cellScan) scoreMeans(scores []float32, codes []byte, terms []float32, list []uint32) []float32 {
	scores = slices.Grow(scores, len(list))
	for part := range slices.Chunk(list, scanMeans) {
		dots := s.dots[:len(part)]
		s.kernels.DotNibblesAt(dots, s.near.codes, codes, simd.NibbleBytes(s.seg.dim), part, terms)
		for i, mean := range part {
			scores = append(scores, s.near.score(dots[i], terms[2*mean:]))
		}
	}
	return scores
}

// scanOpen offers the rows of open cells that are worth it: so many first, and most at most. The best go first: they have
// most of what is kept, few rows of the rest get past that, and they tell which of the rest are worth reading. With each
// part these get fewer.
func (s *cellScan) scanOpen(ctx context.Context, part, most int) error {
	least := s.cells.worthReading(s.coarse.kth(s.limit), s.ofCells, s.missed)
	for high, read := uint16(promiseRanks), 0; high > least && read < most; part = min(nextPart*part, most) {
		low, rows := s.cells.best(high, least, part-read)
		if err := s.scan(ctx, low, high); err != nil {
			return err
		}
		read += rows
		high = low
		least = s.cells.worthReading(s.coarse.kth(s.limit), s.ofCells, s.missed)
	}
	return nil
}

// scan offers the rows of open cells with ranks from low to below high. Cells are short and lie apart, so that their rows
// are listed, and scored many at a time.
func (s *cellScan) scan(ctx context.Context, low, high uint16) error {
	n := 0
	for i, rank := range s.cells.ranks {
		if rank < low || rank >= high {
			continue
		}
		cell := s.open[i]
		for place, end := s.seg.cellStart(cell), s.seg.cellEnd[cell]; place < end; place++ {
			if s.set != nil && !s.set.has(s.seg.cellRow[place]) {
				continue
			}
			s.list[n], s.of[n] = place, uint32(i)
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

// score offers the first n rows of the list. Of the first rows of a search it notes how they differ from their cells and
// regions.
func (s *cellScan) score(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	list, dots := s.list[:n], s.dots[:n]
	s.kernels.DotNibblesAt(dots, s.near.codes, s.seg.coarse, simd.NibbleBytes(s.seg.dim), list, s.seg.coarseTerm)
	s.coarse.scanListed(dots, s.near, s.seg, s.at, list)
	if s.ofCells.n >= sampledRows {
		return nil
	}
	for j, place := range list {
		if score := s.near.score(dots[j], s.seg.coarseTerm[2*place:]); score >= -math.MaxFloat32 {
			cell := s.of[j]
			s.ofCells.add(score - s.cells.scores[cell])
			if len(s.regions.scores) > 0 {
				s.ofRegions.add(score - s.regions.scores[s.home[cell]])
			}
		}
	}
	return nil
}
