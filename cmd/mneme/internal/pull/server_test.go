package pull_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
)

// shelf is a server of files with the faults of servers.
type shelf struct {
	mu    sync.Mutex
	files map[string][]byte // by path
	etag  map[string]string
	asked []request
	fault func(n int, w http.ResponseWriter, r *http.Request) bool // true: it has answered; n counts from 1
}

type request struct{ path, span, ifRange, agent string }

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, request{r.URL.Path, r.Header.Get("Range"), r.Header.Get("If-Range"), r.UserAgent()})
	n, body, ok, etag := len(s.asked), s.files[r.URL.Path], s.files[r.URL.Path] != nil, s.etag[r.URL.Path]
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && fault(n, w, r) {
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

func (s *shelf) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func serve(t *testing.T, s *shelf) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

// cut sends the first n bytes of what was asked for, and breaks the connection.
func (s *shelf) cut(w http.ResponseWriter, r *http.Request, n int) {
	body := s.files[r.URL.Path]
	from := 0
	if span, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		from, _ = strconv.Atoi(strings.TrimSuffix(span, "-"))
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(body)-1, len(body)))
	}
	if e := s.etag[r.URL.Path]; e != "" {
		w.Header().Set("ETag", e)
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)-from))
	if from > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
	w.Write(body[from:min(from+n, len(body))])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func sum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// quick is a client that does not wait long.
func quick() pull.Client {
	return pull.Client{UserAgent: "mneme/test", Stall: 300 * time.Millisecond, Backoff: time.Millisecond}
}

// checkpoint is a BERT of 2 layers, 16 wide, with random weights, as files.
func checkpoint() map[string][]byte {
	vocab := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##b"}
	r := rand.New(rand.NewPCG(3, 4))
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, data := map[string]entry{}, []byte(nil)
	add := func(name string, shape ...int) {
		start := len(data)
		n := 1
		for _, d := range shape {
			n *= d
		}
		for range n {
			data = binary.LittleEndian.AppendUint32(data, 0x3e000000|r.Uint32()>>9|r.Uint32()&1<<31)
		}
		header[name] = entry{"F32", shape, [2]int{start, len(data)}}
	}
	linear := func(name string, out, in int) { add(name+".weight", out, in); add(name+".bias", out) }
	norm := func(name string) { add(name+".weight", 16); add(name+".bias", 16) }
	add("embeddings.word_embeddings.weight", len(vocab), 16)
	add("embeddings.position_embeddings.weight", 12, 16)
	add("embeddings.token_type_embeddings.weight", 2, 16)
	norm("embeddings.LayerNorm")
	for i := range 2 {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, part := range []string{"query", "key", "value"} {
			linear(at+"attention.self."+part, 16, 16)
		}
		linear(at+"attention.output.dense", 16, 16)
		norm(at + "attention.output.LayerNorm")
		linear(at+"intermediate.dense", 32, 16)
		linear(at+"output.dense", 16, 32)
		norm(at + "output.LayerNorm")
	}
	head, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	weights := append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), append(head, data...)...)
	return map[string][]byte{"model.safetensors": weights, "vocab.txt": []byte(strings.Join(vocab, "\n") + "\n"),
		"config.json": []byte(`{"model_type":"bert","hidden_size":16,"num_hidden_layers":2,"num_attention_heads":2,` +
			`"intermediate_size":32,"max_position_embeddings":12,"type_vocab_size":2,"layer_norm_eps":1e-12,` +
			`"hidden_act":"gelu"}`)}
}

// archive zips files below a folder.
func archive(t *testing.T, folder string, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(folder + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// listed is a catalogue of one model, tiny, whose wheel lies at base/packages/tiny.whl.
func listed(t *testing.T, base string, wheel []byte, change func(*pull.Entry)) pull.Catalogue {
	t.Helper()
	e := pull.Entry{
		Summary:   "for tests",
		Task:      "embedding",
		Version:   "3",
		Licence:   "MIT",
		Source:    "made by the test",
		Bytes:     10_000,
		Languages: []string{"en"},
		Files: []pull.File{{
			URL:    "{here}/packages/tiny.whl",
			SHA256: sum(wheel),
			Bytes:  int64(len(wheel)),
			Take:   map[string]string{"tiny/model/": ""},
		}},
	}
	if change != nil {
		change(&e)
	}
	return pull.Catalogue{Version: 1, Bases: map[string]string{"here": base}, Models: map[string]pull.Entry{"tiny": e}}
}
