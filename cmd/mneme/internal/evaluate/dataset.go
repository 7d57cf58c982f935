package evaluate

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/file"
)

// maxLine bounds one JSON line of a collection.
const maxLine = 4 << 20

// Collection is a test collection: documents, queries and judgements.
type Collection struct {
	Name    string // of its folder
	Digest  string // of the corpus as it is written: hex SHA-256
	Corpus  []Document
	Queries []Query // those with at least one relevant document
	// Unanswerable are questions about a user that nothing in the corpus answers
	// (meta.unanswerable); only recall is asked them.
	Unanswerable []Query
}

// Document is one document as it is written.
type Document struct {
	ID       string          // safe as a document id
	Text     string          // with its title as Titles say
	Metadata json.RawMessage // nil: none
	User     string          // meta.user, "" where the set has no users
	Time     time.Time       // meta.time; zero: none
}

// Query is one query with its judgements, by safe document ids.
type Query struct {
	ID       string
	Text     string
	User     string // searches only this user's documents; "": all
	Category string // meta.category
	Grades   Grades
	// Says are phrases of which a right answer holds one, in any case (meta.says);
	// none: it is right when it quotes a relevant document.
	Says []string
}

type record struct {
	ID    string         `json:"id"`
	Alias string         `json:"_id"` // BEIR's own files
	Title string         `json:"title"`
	Text  string         `json:"text"`
	Meta  map[string]any `json:"meta"`
}

func (r record) id() string {
	if r.ID != "" {
		return r.ID
	}
	return r.Alias
}

func (r record) meta(key string) string {
	s, _ := r.Meta[key].(string)
	return s
}

// says are the phrases of meta.says, a string or a list of strings.
func (r record) says() (out []string) {
	switch v := r.Meta["says"].(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// parseTime reads an ISO 8601 time, UTC where it has no zone; zero when it is none.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Titles say where the titles of documents are written.
type Titles string

// The places of a title.
const (
	TitleHeading  Titles = "heading"  // the text's first heading, which is what imports and files make of it
	TitleLine     Titles = "line"     // a line of its own before the text, as most people write one
	TitleMetadata Titles = "metadata" // metadata.title alone
	TitleNone     Titles = "none"     // left out
)

// AllTitles lists them.
func AllTitles() []Titles { return []Titles{TitleHeading, TitleLine, TitleMetadata, TitleNone} }

// put writes a title into a document and its metadata. One without a text is its title.
func (t Titles) put(title string, d *Document, metadata map[string]any) {
	if strings.TrimSpace(d.Text) == "" && (t == TitleMetadata || t == TitleNone) {
		d.Text = title
	}
	switch t {
	case TitleHeading:
		d.Text = "# " + title + "\n\n" + d.Text
	case TitleLine:
		d.Text = title + "\n\n" + d.Text
	case TitleMetadata:
		metadata["title"] = title
	case TitleNone:
	}
}

// Load reads a folder with corpus.jsonl, queries.jsonl, each plain or gzipped,
// and qrels.tsv.
func Load(dir string, titles Titles) (*Collection, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", dir, err)
	}
	c := &Collection{Name: filepath.Base(abs)}
	ids := map[string]string{} // as in the files to safe
	sum := sha256.New()
	err = lines(dir, "corpus.jsonl", func(n int, line []byte) error {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.id() == "" {
			return errors.New("no id")
		}
		if _, twice := ids[r.id()]; twice {
			return fmt.Errorf("id %q is used twice", r.id())
		}
		safe := file.LegalID(r.id())
		ids[r.id()] = safe
		d := Document{ID: safe, Text: r.Text, User: r.meta("user")}
		d.Time = parseTime(r.meta("time"))
		metadata := map[string]any{}
		maps.Copy(metadata, r.Meta)
		if r.Title != "" {
			titles.put(r.Title, &d, metadata)
		}
		if strings.TrimSpace(d.Text) == "" {
			return nil // nothing to find; collections have such documents
		}
		if len(metadata) > 0 {
			if d.Metadata, err = json.Marshal(metadata); err != nil {
				return err
			}
		}
		c.Corpus = append(c.Corpus, d)
		hashFields(sum, d.ID, d.Text, string(d.Metadata))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", dir, err)
	}
	c.Digest = hex.EncodeToString(sum.Sum(nil))
	grades, err := judgements(dir, ids)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", dir, err)
	}
	err = lines(dir, "queries.jsonl", func(n int, line []byte) error {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		q := Query{
			ID:       r.id(),
			Text:     r.Text,
			User:     r.meta("user"),
			Category: r.meta("category"),
			Grades:   grades[r.id()],
			Says:     r.says(),
		}
		unanswerable, _ := r.Meta["unanswerable"].(bool)
		switch {
		case len(q.Grades) > 0:
			c.Queries = append(c.Queries, q)
		case unanswerable:
			c.Unanswerable = append(c.Unanswerable, q)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", dir, err)
	}
	if len(c.Corpus) == 0 || len(c.Queries) == 0 {
		return nil, fmt.Errorf("load %s: %d documents and %d judged queries; both are needed", dir, len(c.Corpus), len(c.Queries))
	}
	return c, nil
}

// hashFields hashes fields with their lengths, so that moving a border changes it.
func hashFields(h hash.Hash, fields ...string) {
	for _, f := range fields {
		fmt.Fprintf(h, "%d:%s,", len(f), f)
	}
}

// lines calls fn for each non-empty line of dir/name or dir/name.gz.
func lines(dir, name string, fn func(n int, line []byte) error) error {
	f, err := os.Open(filepath.Join(dir, name+".gz"))
	zipped := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(filepath.Join(dir, name))
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if zipped {
		name += ".gz"
		if r, err = gzip.NewReader(bufio.NewReader(f)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, maxLine)
	n := 0
	for scan.Scan() {
		n++
		if line := bytes.TrimSpace(scan.Bytes()); len(line) > 0 {
			if err := fn(n, line); err != nil {
				return fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return nil
}

// judgements reads qrels.tsv: query, document, grade under one header line.
// Documents that the corpus lacks stay in, as they count as not found.
func judgements(dir string, ids map[string]string) (map[string]Grades, error) {
	all := map[string]Grades{}
	err := lines(dir, "qrels.tsv", func(n int, line []byte) error {
		cells := strings.Split(string(line), "\t")
		if n == 1 {
			return nil
		}
		if len(cells) != 3 {
			return fmt.Errorf("%d columns, want query-id, doc-id and score", len(cells))
		}
		grade, err := strconv.Atoi(cells[2])
		if err != nil {
			return fmt.Errorf("score %q is not a whole number", cells[2])
		}
		if grade <= 0 {
			return nil
		}
		id, ok := ids[cells[1]]
		if !ok {
			id = "\x00" + cells[1] // no ranking can hold it
		}
		if all[cells[0]] == nil {
			all[cells[0]] = Grades{}
		}
		all[cells[0]][id] = grade
		return nil
	})
	return all, err
}
