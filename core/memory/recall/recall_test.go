package recall_test

import (
	"context"
	"testing"

	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/port"
)

// doubting gives every text the same low probability.
type doubting struct{ port.Reranker }

func (doubting) Score(_ context.Context, _ string, texts []string) ([]float32, int, error) {
	scores := make([]float32, len(texts))
	for i := range scores {
		scores[i] = 0.01
	}
	return scores, 0, nil
}

// TestTheLowestProbabilityIsTheConfiguredOne: 0 quotes whatever ranks best, and only
// where nothing is set does the default hold.
func TestTheLowestProbabilityIsTheConfiguredOne(t *testing.T) {
	search := func(context.Context, memory.Query) (memory.Results, error) {
		return memory.Results{Results: []memory.Result{{ID: "mem_1", Memory: port.Document{Text: "Ann moved to Lyon."}}}}, nil
	}
	for name, c := range map[string]struct {
		least     *float64
		abstained bool
	}{
		"none set":     {nil, true},
		"zero":         {new(0.0), false},
		"below":        {new(0.005), false},
		"above":        {new(0.02), true},
		"the default":  {new(recall.DefaultMinProbability), true},
		"one, nothing": {new(1.0), true},
	} {
		s := recall.New(recall.Settings{Search: search, Reranker: doubting{}, MinProbability: c.least})
		got, err := s.Recall(t.Context(), recall.Request{EndUserID: "ann", Query: "Where does Ann live?"})
		if err != nil || got.Abstained != c.abstained || (got.Answer == nil) != c.abstained {
			t.Errorf("%s: %+v, %v; want abstained %v", name, got, err, c.abstained)
		}
	}
}
