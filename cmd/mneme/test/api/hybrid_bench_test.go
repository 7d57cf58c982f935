package api_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/core/port"
)

// clustered gives each text a 384-dimensional unit vector near one of 2,000
// centres with a common part, at no cost worth timing.
type clustered struct {
	*coretest.Embedder
	centres [][]float32
}

func newClustered() *clustered {
	r := rand.New(rand.NewPCG(5, 8))
	c := &clustered{Embedder: coretest.NewEmbedder()}
	common := make([]float32, 384)
	for i := range common {
		common[i] = 1.6 * float32(r.NormFloat64())
	}
	for range 2000 {
		v := make([]float32, 384)
		for i := range v {
			v[i] = common[i] + .8*float32(r.NormFloat64())
		}
		c.centres = append(c.centres, v)
	}
	return c
}

func (c *clustered) Info() port.ModelInfo {
	i := c.Embedder.Info()
	i.Dimensions = 384
	return i
}

func (c *clustered) Embed(_ context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	d := port.Dense{Dim: 384, Tokens: make([]int, len(texts))}
	for _, t := range texts {
		h := fnv.New64a()
		h.Write([]byte(t))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		centre := c.centres[r.IntN(len(c.centres))]
		at, sum := len(d.Data), 0.0
		for _, x := range centre {
			x += .6 * float32(r.NormFloat64())
			sum += float64(x) * float64(x)
			d.Data = append(d.Data, x)
		}
		for i := at; i < len(d.Data); i++ {
			d.Data[i] /= float32(math.Sqrt(sum))
		}
	}
	return d, nil
}

// text reads sentences and questions of the evaluation sets, which stand in for
// a user's; without them the benchmark has nothing true to say and is skipped.
func text(b *testing.B) (sentences, questions []string) {
	root := os.Getenv("MNEME_TEST_DATA")
	if root == "" {
		root = "../../../../../shared/data"
	}
	rows := func(path string, each func(string)) {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			b.Fatal(err)
		}
		for dec := json.NewDecoder(z); dec.More(); {
			var row struct{ Text string }
			if err := dec.Decode(&row); err != nil {
				b.Fatal(err)
			}
			each(row.Text)
		}
	}
	sets, _ := filepath.Glob(filepath.Join(root, "eval", "*", "corpus.jsonl.gz"))
	if len(sets) == 0 {
		b.Skipf("SKIPPED: no evaluation sets under %s: set MNEME_TEST_DATA", root)
	}
	for _, s := range sets {
		rows(s, func(t string) {
			for _, s := range strings.SplitAfter(t, ". ") {
				if len(s) > 20 && len(s) < 600 {
					sentences = append(sentences, s)
				}
			}
		})
		n := 0
		rows(filepath.Join(filepath.Dir(s), "queries.jsonl.gz"), func(t string) {
			if n++; n <= 100 {
				questions = append(questions, t)
			}
		})
	}
	return sentences, questions
}

// BenchmarkHybrid asks natural-language questions of a namespace of 100,000
// chunks of about 100 words over HTTP, on the defaults. The query's vector comes
// from the cache, so this is everything but embedding: decode, authenticate,
// search, fuse, read the texts, answer.
func BenchmarkHybrid(b *testing.B) {
	sentences, questions := text(b)
	defaults := laptop
	defaults.change = embeddedAs(func(c *embedded.Config) { *c = embedded.Default() })
	s := start(b, defaults, options{embedder: newClustered()})
	r := rand.New(rand.NewPCG(7, 7))
	started := time.Now()
	const total = 100_000
	for at := 0; at < total; at += 100 {
		docs := make([]object, 100)
		for i := range docs {
			var t strings.Builder
			for words := 0; words < 90; {
				x := sentences[r.IntN(len(sentences))]
				words += strings.Count(x, " ") + 1
				t.WriteString(x)
			}
			docs[i] = doc(fmt.Sprintf("d%06d", at+i), strings.ReplaceAll(t.String(), "\n", " "),
				fmt.Sprintf(`{"hundredth":%d}`, (at+i)%100))
		}
		s.write("big", docs...).ok()
	}
	b.Logf("wrote %d documents in %s", total, time.Since(started).Round(time.Millisecond))
	for _, q := range questions { // the cache, and the operating system's
		s.query("big", object{"query": q}).ok()
	}
	for _, c := range []struct {
		name string
		body object
	}{
		{"all", object{}}, {"hundredth", object{"filter": object{"hundredth": 7}}},
		{"vector", object{"mode": "vector"}}, {"keyword", object{"mode": "keyword"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []float64
			for b.Loop() {
				c.body["query"] = questions[len(took)%len(questions)]
				at := time.Now()
				s.query("big", c.body).ok()
				took = append(took, float64(time.Since(at).Microseconds())/1000)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], "p50-ms")
			b.ReportMetric(took[len(took)*95/100], "p95-ms")
		})
	}
}
