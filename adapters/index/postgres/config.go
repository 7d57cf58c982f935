package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/adapters/postgres"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's settings of the index.
type Config struct {
	postgres.Connection
	Vector  Vector  `yaml:"vector" help:"How vectors are searched."`
	Keyword Keyword `yaml:"keyword" help:"How keyword search cuts and ranks words."`
}

// Vector is the part of Config about vector search.
type Vector struct {
	ExactChunks    int `yaml:"exact_chunks" help:"Up to so many chunks every vector of a partition is compared. One with more gets an HNSW index of its own, built in the background; what a filter leaves of it is compared where that is faster."`
	M              int `yaml:"m" help:"HNSW: links of a vector in each layer, 2 to 100. Holds for indexes built from then on."`
	EfConstruction int `yaml:"ef_construction" help:"HNSW: candidates looked at when a vector is added, 4 to 1000 and at least twice m. Holds for indexes built from then on."`
	EfSearch       int `yaml:"ef_search" help:"HNSW: candidates looked at by a search, 10 to 1000. More find more and take longer."`
	MaxScanTuples  int `yaml:"max_scan_tuples" help:"HNSW: vectors that a search with a filter may visit before every vector that the filter leaves is compared instead."`
	BuildMemoryMB  int `yaml:"build_memory_mb" help:"Memory for building an HNSW index in the database server, in MiB. 0: the server's maintenance_work_mem. Without effect behind a pooler."`
}

// Keyword is the part of Config about keyword search.
type Keyword struct {
	K1        float64  `yaml:"k1" help:"BM25: how fast repeated words stop adding to the score."`
	B         float64  `yaml:"b" help:"BM25: how much long chunks are marked down, 0 to 1."`
	Stemmer   string   `yaml:"stemmer" help:"How words are reduced: porter2 (Snowball's stemmers, of the languages), plural (of English only) or none. A change rebuilds the index."`
	Languages []string `yaml:"languages" help:"Languages beside English whose words porter2 reduces, by their codes: de, fr, es, it, pt, nl, sv, tr (told by a text's function words), ru, ar and hi (told by their script). A change rebuilds the index."`
	StopWords bool     `yaml:"stop_words" help:"Leave function words of a query's language out where it holds other words."`
}

// Default is the configuration without a DSN.
func Default() Config {
	return Config{
		Connection: postgres.DefaultConnection(),
		Vector:     Vector{ExactChunks: 20_000, M: 16, EfConstruction: 128, EfSearch: 300, MaxScanTuples: 20_000},
		Keyword: Keyword{K1: .9, B: .65, Stemmer: string(analysis.Porter2), Languages: analysis.Languages(),
			StopWords: true},
	}
}

// Validate reports every setting that is out of range.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	bad := func(path, format string, args ...any) {
		errs = append(errs, &registry.Invalid{Path: path, Reason: fmt.Sprintf(format, args...)})
	}
	for _, n := range []struct {
		path               string
		value, least, most int
	}{
		{"vector.exact_chunks", c.Vector.ExactChunks, 0, 10_000_000},
		{"vector.m", c.Vector.M, 2, 100},
		{"vector.ef_construction", c.Vector.EfConstruction, max(4, 2*c.Vector.M), 1000},
		{"vector.ef_search", c.Vector.EfSearch, 10, 1000},
		{"vector.max_scan_tuples", c.Vector.MaxScanTuples, 1000, 10_000_000},
		{"vector.build_memory_mb", c.Vector.BuildMemoryMB, 0, 1 << 20},
	} {
		if n.value < n.least || n.value > n.most {
			bad(n.path, "must be between %d and %d", n.least, n.most)
		}
	}
	if !(c.Keyword.K1 >= 0 && c.Keyword.K1 <= 10) {
		bad("keyword.k1", "must be between 0 and 10")
	}
	if !(c.Keyword.B >= 0 && c.Keyword.B <= 1) {
		bad("keyword.b", "must be between 0 and 1")
	}
	switch analysis.Stemmer(c.Keyword.Stemmer) {
	case analysis.Porter2, analysis.Plural, analysis.None:
	default:
		bad("keyword.stemmer", "must be porter2, plural or none")
	}
	for _, code := range c.Keyword.Languages {
		if !analysis.Knows(code) {
			bad("keyword.languages", "%q is not one of %s", code, strings.Join(analysis.Languages(), ", "))
		}
	}
	return errors.Join(errs...)
}
