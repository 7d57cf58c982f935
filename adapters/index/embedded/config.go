package embedded

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mnemehq/mneme/adapters/index/analysis"
)

// Config is the operator's settings of the embedded index.
type Config struct {
	MemoryMB    int     `yaml:"memory_mb" help:"Memory for index data that is not on disk yet, in MiB. Beyond it the partitions used longest ago leave memory and are rebuilt from the store when they are next used."`
	FlushChunks int     `yaml:"flush_chunks" help:"Chunks of a partition that are kept in memory before they are written to a segment file. Smaller partitions live in memory alone."`
	Merges      int     `yaml:"merges" help:"Merges of segment files that may run at the same time, and beside them as many partitions whose changes are written from memory."`
	Keyword     Keyword `yaml:"keyword" help:"How keyword search cuts and ranks words. A change rebuilds the index."`
}

// Keyword is the part of Config about keyword search.
type Keyword struct {
	K1        float64  `yaml:"k1" help:"BM25: how fast repeated words stop adding to the score."`
	B         float64  `yaml:"b" help:"BM25: how much long chunks are marked down, 0 to 1."`
	Stemmer   string   `yaml:"stemmer" help:"How words are reduced: porter2 (Snowball's stemmers, of the languages), plural (of English only) or none."`
	Languages []string `yaml:"languages" help:"Languages beside English whose words porter2 reduces, by their codes: de, fr, es, it, pt, nl, sv, tr (told by a text's function words), ru, ar and hi (told by their script)."`
	StopWords bool     `yaml:"stop_words" help:"Leave function words of a query's language out where it holds other words."`
}

// Default is the configuration used where the operator sets nothing.
func Default() Config {
	return Config{
		MemoryMB: 512, FlushChunks: 4096, Merges: 1,
		Keyword: Keyword{K1: .9, B: .65, Stemmer: string(analysis.Porter2), Languages: analysis.Languages(),
			StopWords: true},
	}
}

// Validate reports every setting that is out of range.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.MemoryMB >= 1, "memory_mb: %d is less than 1", c.MemoryMB)
	check(c.FlushChunks >= 1 && c.FlushChunks <= 1<<20, "flush_chunks: %d is not between 1 and %d", c.FlushChunks, 1<<20)
	check(c.Merges >= 1 && c.Merges <= 64, "merges: %d is not between 1 and 64", c.Merges)
	check(c.Keyword.K1 >= 0 && c.Keyword.K1 <= 10, "keyword.k1: %g is not between 0 and 10", c.Keyword.K1)
	check(c.Keyword.B >= 0 && c.Keyword.B <= 1, "keyword.b: %g is not between 0 and 1", c.Keyword.B)
	switch analysis.Stemmer(c.Keyword.Stemmer) {
	case analysis.Porter2, analysis.Plural, analysis.None:
	default:
		check(false, "keyword.stemmer: %q is not one of porter2, plural, none", c.Keyword.Stemmer)
	}
	for _, code := range c.Keyword.Languages {
		check(analysis.Knows(code), "keyword.languages: %q is not one of %s", code, strings.Join(analysis.Languages(), ", "))
	}
	return errors.Join(errs...)
}
