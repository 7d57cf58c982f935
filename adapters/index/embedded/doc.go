// Package embedded is the retrieval engine that Mneme carries: keyword, vector
// and sparse search over one set of segments for each partition. It needs
// nothing but a directory, and is the right choice up to some millions of
// chunks a partition and any number of small partitions.
//
// # Shape
//
// A segment is an immutable image of some documents' chunks: posting lists with
// block-max bounds, codes of vectors in contiguous rows, facet bitmaps,
// ids, lengths and times. Each Apply makes one from its batch; small ones are
// merged on the heap at once, and when FlushChunks are on the heap a background
// flush writes them as one file, which is mapped. Files of like size are merged
// in the background, and when a partition has come to rest nearly all of them. A
// partition smaller than FlushChunks never touches the disk: when it leaves memory
// the caller replays it from the store.
//
// Searches run on a snapshot: a list of segments with a bitmap of live chunks
// each. Whatever changes a partition publishes a new snapshot, so searches never
// wait and see a batch wholly or not at all. A deletion clears bits; its chunks
// leave a segment when it is merged. Until then they still count in document
// frequencies and mean lengths, so keyword scores (not which chunks match) may
// differ slightly from those of a rebuilt index.
//
// # Search
//
// Filter and time bounds become a bitmap of allowed chunks first. Vector search
// scans codes of 4 bits a component around the segment's mean vector (core/simd)
// and scores the best 512 or more again with int8 codes; where the bitmap is
// sparse or the segment small, int8 codes are scanned. Files of 32,768 chunks or
// more hold these codes in small cells of chunks that are alike, and cells in
// regions. The cells that promise most, of the regions that do, are scanned, until
// the rest hardly holds another of the best: the one step that can miss what
// scanning all would find. The best 256 or more are scored once more with a second
// int8 code of what the first left over, on both sides: 16 bits in all. Keyword
// search is BM25 and sparse search a dot product, whose query weighs by inverse document frequency
// where it brings no weights; both prune with MaxScore over windows of chunks.
// Ties go by document id, then chunk number.
//
// # Durability
//
// The manifest of a partition names its files, their deletions and the number
// of the last change that they reflect; it is replaced atomically after the
// files are synced. Everything is checksummed and verified when opened, but the
// codes of vectors of large files, which follow in the background and change scores
// alone; until then no file is merged. What does not verify is thrown away and
// Applied answers 0. Search answers port.ErrGap when a partition has left memory, by
// eviction or damage, after a caller could have read a higher Applied: bring it up
// to date and ask again.
//
// # Costs
//
// With 384-dimensional vectors and chunks of 100 words: about 1,200 bytes a
// chunk, of which 960 are codes: a vector search reads 192 of each chunk and the
// rest of few. Files live in the page cache and do not count
// against memory_mb.
package embedded
