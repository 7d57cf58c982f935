package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/port"
)

// prose makes passages of sentences of this repository's pages, each another.
type prose struct {
	*rand.Rand
	sentences []string
}

func newProse(b *testing.B) *prose {
	b.Helper()
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) == 0 {
		b.Fatal("no pages", err)
	}
	p := &prose{Rand: rand.New(rand.NewPCG(3, 5))}
	whole := regexp.MustCompile(`[A-Z][A-Za-z ,']{40,160}\. `)
	for _, page := range pages {
		p.sentences = append(p.sentences, whole.FindAllString(string(harness.Read(b, page)), -1)...)
	}
	return p
}

// passage has some ninety words, about as many word pieces as fill a chunk by two thirds.
func (p *prose) passage() string {
	var out strings.Builder
	for words := 0; words < 80; {
		s := p.sentences[p.IntN(len(p.sentences))]
		words += strings.Count(s, " ")
		out.WriteString(s)
	}
	return strings.TrimSpace(out.String())
}

// BenchmarkImport imports MNEME_BENCH_PASSAGES passages (2,000) with the built-in model, each a document of
// one file or all of them one text, and has the model alone embed the same chunks, on all cores. It reports what
// share of the import's time the model alone takes (of-model), beside the import's chunks a second.
func BenchmarkImport(b *testing.B) {
	var passages int
	if _, err := fmt.Sscan(cmp.Or(os.Getenv("MNEME_BENCH_PASSAGES"), "2000"), &passages); err != nil {
		b.Fatal(err)
	}
	m, p := openStock(b), newProse(b)
	once := filepath.Join(b.TempDir(), "once.txt") // compiles the model for the runs that are timed
	harness.Write(b, once, []byte(p.passage()))
	harness.NewSite(b, "").Mneme("import", once, "--namespace", "n")
	b.Run("documents", func(b *testing.B) {
		var lines strings.Builder
		var chunks []string
		for i := range passages {
			chunks = append(chunks, p.passage())
			line, err := json.Marshal(map[string]string{"id": fmt.Sprint(i), "text": chunks[i]})
			if err != nil {
				b.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		compareImport(b, m, "passages.jsonl", lines.String(), func(*harness.Site) []string { return chunks })
	})
	b.Run("document", func(b *testing.B) {
		var text strings.Builder
		for range passages {
			text.WriteString(p.passage() + "\n\n")
		}
		compareImport(b, m, "passages.txt", text.String(), func(site *harness.Site) []string {
			client := site.Serve().Client(b, site.Key("--name", "bench"))
			var all struct{ Documents []struct{ ID string } } // a file of this length becomes several
			client.OK("GET", "/namespaces/n/documents?limit=1000", nil).Into(&all)
			var chunks []string
			for _, d := range all.Documents {
				var document struct {
					ChunkList []struct{ Start, End int } `json:"chunk_list"`
					Text      string
				}
				client.OK("GET", "/namespaces/n/documents/"+url.PathEscape(d.ID)+"?include=chunks", nil).Into(&document)
				for _, c := range document.ChunkList {
					chunks = append(chunks, document.Text[c.Start:c.End])
				}
			}
			return chunks
		})
	})
}

// openStock opens the built-in model as a server does.
func openStock(b *testing.B) port.Embedder {
	b.Helper()
	m, err := wasm.Open(b.Context(), wasm.Default(), os.Getenv("MNEME_CACHE"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Close() })
	return m.(port.Embedder)
}

// compareImport imports one file and embeds the chunks that it became. Whole calls of the model keep all cores busy,
// as an import is to.
func compareImport(b *testing.B, m port.Embedder, name, content string, chunksOf func(*harness.Site) []string) {
	var importing, embedding time.Duration
	chunks := 0
	for b.Loop() {
		file := filepath.Join(b.TempDir(), name)
		harness.Write(b, file, []byte(content))
		site := harness.NewSite(b, "")
		started := time.Now()
		site.Mneme("import", file, "--namespace", "n")
		importing += time.Since(started)
		texts := chunksOf(site)
		chunks += len(texts)
		started = time.Now()
		for call := range slices.Chunk(texts, 100) {
			if _, err := m.Embed(b.Context(), port.Passage, call); err != nil {
				b.Fatal(err)
			}
		}
		embedding += time.Since(started)
	}
	b.ReportMetric(float64(chunks)/importing.Seconds(), "chunks/s")
	b.ReportMetric(embedding.Seconds()/importing.Seconds(), "of-model")
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
}
