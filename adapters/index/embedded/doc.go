// Package embedded is the retrieval engine that Mneme carries: keyword, vector
// and sparse search over one set of segments for each partition.
//
// May import: core/port, core/filter, core/simd, its own subpackages, the
// standard library, roaring bitmaps and mmap.
package embedded
