package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/mnemehq/mneme/cmd/mneme/internal/evaluate"
)

// Workload is what every set of backends is given: the same for the same source
// and seed.
type Workload struct {
	Name      string
	Documents []Document
	Queries   []Query
}

// Document is one document to write.
type Document struct {
	ID       string          `json:"id"`
	Text     string          `json:"text"`
	Metadata json.RawMessage `json:"metadata"`
}

// Query is one question. Grades is nil where nothing is known to be relevant.
type Query struct {
	Text   string
	Grades evaluate.Grades
}

// The metadata that every document gets: a filter by one value of it keeps a
// tenth, a hundredth or a thousandth of them.
const (
	tenth      = "bench_tenth"
	hundredth  = "bench_hundredth"
	thousandth = "bench_thousandth"
)

func metadata(i int) json.RawMessage {
	// Steps that are coprime to the divisors keep the three independent of the order.
	return fmt.Appendf(nil, `{%q:%q,%q:%q,%q:%q}`, tenth, fmt.Sprint(i*7%10), hundredth, fmt.Sprint(i*37%100),
		thousandth, fmt.Sprint(i*373%1000))
}

// filterOf keeps the share of a key for the i-th query.
func filterOf(key string, i int) json.RawMessage {
	n := map[string]int{tenth: 10, hundredth: 100, thousandth: 1000}[key]
	return fmt.Appendf(nil, `{%q:%q}`, key, fmt.Sprint(i*31%n))
}

// FromCollection takes the first documents of a collection, all for 0, and the
// questions about them.
func FromCollection(c *evaluate.Collection, documents int) (*Workload, error) {
	if documents == 0 {
		documents = len(c.Corpus)
	}
	if documents > len(c.Corpus) {
		return nil, fmt.Errorf("%s has %d documents, fewer than %d", c.Name, len(c.Corpus), documents)
	}
	w := &Workload{Name: c.Name}
	have := map[string]bool{}
	for i, d := range c.Corpus[:documents] {
		have[d.ID] = true
		w.Documents = append(w.Documents, Document{d.ID, d.Text, metadata(i)})
	}
	for _, q := range c.Queries {
		for id, grade := range q.Grades {
			if grade > 0 && have[id] {
				w.Queries = append(w.Queries, Query{q.Text, q.Grades})
				break
			}
		}
	}
	if len(w.Queries) == 0 {
		return nil, fmt.Errorf("%s has no judged question about its first %d documents", c.Name, documents)
	}
	return w, nil
}

// Shape of generated texts: about as long as the chunks that documents are cut
// into, so that a document is one chunk, with words as frequent as Zipf's law
// has it.
const (
	vocabulary   = 60_000
	leastWords   = 50
	mostWords    = 100
	queryWords   = 7
	zipfExponent = 1.07
)

// Generate makes documents of nonsense words and questions made of words of
// theirs.
func Generate(documents, queries int, seed uint64) *Workload {
	r := rand.New(rand.NewPCG(seed, 1))
	zipf := rand.NewZipf(r, zipfExponent, 2, vocabulary-1)
	w := &Workload{Name: fmt.Sprintf("generated-%d", documents), Documents: make([]Document, documents),
		Queries: make([]Query, queries)}
	for i := range w.Documents {
		words := make([]string, leastWords+r.IntN(mostWords-leastWords+1))
		for j := range words {
			words[j] = word(zipf.Uint64())
			if j%12 == 11 || j == len(words)-1 {
				words[j] += "."
			}
		}
		w.Documents[i] = Document{fmt.Sprintf("doc-%07d", i), strings.Join(words, " "), metadata(i)}
	}
	for i := range w.Queries {
		of := strings.Fields(strings.ReplaceAll(w.Documents[r.IntN(documents)].Text, ".", ""))
		words := make([]string, queryWords)
		for j := range words {
			words[j] = of[r.IntN(len(of))]
		}
		w.Queries[i] = Query{Text: strings.Join(words, " ")}
	}
	return w
}

// word is the i-th of the nonsense words, pronounceable, and different for each i.
func word(i uint64) string {
	const consonants, vowels = "bdfgklmnprtvz", "aou"
	var b strings.Builder
	for range max(2, int(math.Ceil(math.Log(float64(i+2))/math.Log(float64(len(consonants)*len(vowels)))))) {
		b.WriteByte(consonants[i%uint64(len(consonants))])
		i /= uint64(len(consonants))
		b.WriteByte(vowels[i%uint64(len(vowels))])
		i /= uint64(len(vowels))
	}
	return b.String() + "x"
}
