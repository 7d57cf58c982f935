package host

import (
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/mnemehq/mneme/core/port"
	modelv1 "github.com/mnemehq/mneme/plugins/proto"
)

// FuzzAnswers: whatever bytes a backend sends, what the checks let through keeps to
// the ports.
func FuzzAnswers(f *testing.F) {
	add := func(m proto.Message) {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		for rows := range uint8(4) {
			f.Add(b, rows)
		}
	}
	one := []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0}
	add(&modelv1.DenseBatch{Dim: 2, Data: slices.Concat(one, one), Tokens: []uint32{1, 2}})
	add(&modelv1.DenseBatch{Dim: 2, Data: []byte{0, 0, 0xc0, 0x7f, 0, 0, 0, 0}, Tokens: []uint32{1}})
	add(&modelv1.SparseBatch{
		RowOffsets: []uint32{0, 2, 3},
		Terms:      []uint32{1, 5, 2},
		Weights:    []float32{1, 2, 3},
		Tokens:     []uint32{2, 1},
	})
	add(&modelv1.ScoreBatch{Scores: []float32{.1, .9}, Truncated: 1})
	add(&modelv1.TokenIdBatch{RowOffsets: []uint32{0, 1, 1}, Ids: []uint32{9}})
	add(&modelv1.TokenCounts{Counts: []uint32{1, 0}})
	add(&modelv1.ModelInfo{
		Name:    "a",
		Version: "1",
		Digest:  "sha256:" + string(slices.Repeat([]byte{'a'}, 64)),
		Tasks:   []*modelv1.TaskInfo{{Task: 1, Dim: 2, MaxTokens: 3}, {Task: 2, Vocabulary: 9, MaxTokens: 3}},
	})
	add(&modelv1.GenerateChunk{Text: "yes", Done: true})
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		rows := int(n) % 8
		d := description{dim: 2, vocabulary: 10, maxTokens: 3, window: map[port.Task]int{port.TaskEmbed: 3, port.TaskSparse: 3}}
		for _, d.normalized = range []bool{false, true} {
			m := new(modelv1.DenseBatch)
			if proto.Unmarshal(b, m) != nil {
				continue
			}
			data, tokens, err := checkDense(m, rows, d)
			if err != nil {
				continue
			}
			if len(data) != rows*2 || len(tokens) != rows {
				t.Fatalf("%d numbers, %d tokens for %d rows", len(data), len(tokens), rows)
			}
			for r := range rows {
				if norm := math.Hypot(float64(data[2*r]), float64(data[2*r+1])); !(math.Abs(norm-1) < 2e-3) ||
					tokens[r] < 0 || tokens[r] > 3 {
					t.Fatalf("row %d has the length %g and %d tokens", r, norm, tokens[r])
				}
			}
		}
		if m := new(modelv1.SparseBatch); proto.Unmarshal(b, m) == nil {
			if tokens, err := checkSparse(m, rows, d); err == nil {
				if len(tokens) != rows || len(m.RowOffsets) != rows+1 || int(m.RowOffsets[rows]) != len(m.Terms) ||
					len(m.Terms) != len(m.Weights) {
					t.Fatalf("shapes of %v", m)
				}
				for r := range rows {
					row := m.Terms[m.RowOffsets[r]:m.RowOffsets[r+1]]
					for i, term := range row {
						if w := m.Weights[int(m.RowOffsets[r])+i]; term >= 10 || i > 0 && row[i-1] >= term ||
							!(w > 0) || w > math.MaxFloat32 {
							t.Fatalf("row %d of %v", r, m)
						}
					}
				}
			}
		}
		if m := new(modelv1.ScoreBatch); proto.Unmarshal(b, m) == nil {
			if cut, err := checkScores(m, rows); err == nil {
				for _, s := range m.Scores {
					if !(s >= 0 && s <= 1) || len(m.Scores) != rows || cut < 0 || cut > rows {
						t.Fatalf("%v, %d cut", m, cut)
					}
				}
			}
		}
		if m := new(modelv1.TokenIdBatch); proto.Unmarshal(b, m) == nil {
			if ids, err := checkIDs(m, rows, d); err == nil {
				if len(ids) != rows {
					t.Fatalf("%d rows", len(ids))
				}
				for _, row := range ids {
					if len(row) > 3 || slices.ContainsFunc(row, func(id uint32) bool { return id >= 10 }) {
						t.Fatalf("row %v", row)
					}
				}
			}
		}
		if m := new(modelv1.TokenCounts); proto.Unmarshal(b, m) == nil {
			if counts, err := checkCounts(m, make([]string, rows)); err == nil &&
				(len(counts) != rows || slices.ContainsFunc(counts, func(n int) bool { return n > 16 })) {
				t.Fatalf("counts %v", counts)
			}
		}
		if m := new(modelv1.GenerateChunk); proto.Unmarshal(b, m) == nil {
			a := answer{max: 2}
			if a.add(m) == nil && len(a.out.Text) > 2*bytesPerToken {
				t.Fatalf("%d bytes of answer", len(a.out.Text))
			}
		}
		if m := new(modelv1.ModelInfo); proto.Unmarshal(b, m) == nil {
			if d, err := checkInfo(m); err == nil &&
				(d.name == "" || len(d.tasks) == 0 || d.dim > modelv1.MaxDim || !digest.MatchString(d.digest)) {
				t.Fatalf("described %+v", d)
			}
		}
	})
}

// Other versions of a backend, and other files, are other models.
func TestIdentity(t *testing.T) {
	base := description{name: "a", version: "1", digest: "sha256:x", dim: 3}
	seen := map[string]string{}
	for name, change := range map[string]func(*description, *[32]byte){
		"same": func(*description, *[32]byte) {}, "name": func(d *description, _ *[32]byte) { d.name = "b" },
		"version":    func(d *description, _ *[32]byte) { d.version = "2" },
		"digest":     func(d *description, _ *[32]byte) { d.digest = "sha256:y" },
		"dim":        func(d *description, _ *[32]byte) { d.dim = 4 },
		"normalized": func(d *description, _ *[32]byte) { d.normalized = true },
		"files":      func(_ *description, s *[32]byte) { s[0] = 1 },
	} {
		d, s := base, [32]byte{}
		change(&d, &s)
		id := d.identity(s, false)
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s are one model", name, other)
		}
		seen[id] = name
		if name == "files" && d.identity(s, true) != base.identity([32]byte{}, true) {
			t.Error("declared identity heeds files")
		}
	}
}
