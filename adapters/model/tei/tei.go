package tei

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
)

// Open makes a *remote.Embedder, a *Sparse or a *remote.Reranker, as the task
// says. The server is not asked before the first call. id is the operator's name
// for the model; "": the server's.
func Open(id string, c Config, log *slog.Logger) (port.Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	info := c.model(id).Info()
	caller, err := remote.Open(info.ID, port.Task(c.Task), c.endpoint(), log)
	if err != nil {
		return nil, err
	}
	s := &server{Caller: caller, config: c}
	limits := remote.Limits{Texts: c.Batch, Window: c.MaxInputTokens}
	switch port.Task(c.Task) {
	case port.TaskSparse:
		return &Sparse{remote.SparseEncoder{Caller: caller, About: info, Limits: limits, Call: s.sparse}, s}, nil
	case port.TaskRerank:
		scale := remote.Probability
		if c.RawScores {
			scale = remote.Logit
		}
		return &remote.Reranker{Caller: caller, About: info, Limits: limits, Scale: scale, Call: s.rerank}, nil
	default:
		return &remote.Embedder{Caller: caller, About: info, Limits: limits, Call: s.embed,
			Prefixes: remote.Prefixes{Query: c.QueryPrefix, Passage: c.PassagePrefix}}, nil
	}
}

// server is one Text Embeddings Inference. Request and response bodies are those
// of its OpenAPI document, version 1.9.
type server struct {
	*remote.Caller
	config   Config
	verified atomic.Bool // it serves the configured model
}

// post is Post after the server was asked which model it holds. A failure may be
// that of a server that comes back with another one, so it is asked again.
func (s *server) post(ctx context.Context, path string, in, out any) error {
	err := s.verify(ctx)
	if err == nil {
		err = s.Post(ctx, path, in, out)
	}
	if err != nil {
		s.verified.Store(false)
	}
	return err
}

// verify asks once whether the server holds the configured model: nothing else would
// tell another model's vectors from its own.
func (s *server) verify(ctx context.Context) error {
	if s.verified.Load() {
		return nil
	}
	var info struct {
		ModelID  string `json:"model_id"`
		ModelSHA string `json:"model_sha"`
	}
	if err := s.Get(ctx, "/info", &info); err != nil {
		return err
	}
	if info.ModelID != s.config.Model {
		return remote.InvalidAnswer("the server holds model %.100q, the configuration names %q", info.ModelID, s.config.Model)
	}
	if isCommit(s.config.Revision) && info.ModelSHA != "" && info.ModelSHA != s.config.Revision {
		return remote.InvalidAnswer("the server holds revision %.60q, the configuration names %q",
			info.ModelSHA, s.config.Revision)
	}
	s.verified.Store(true)
	return nil
}

// isCommit tells a git commit from other revisions.
func isCommit(revision string) bool {
	if len(revision) != 40 {
		return false
	}
	for _, r := range revision {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}

func (s *server) prompt(as port.TextKind) string {
	if as == port.Query {
		return s.config.QueryPrompt
	}
	return s.config.PassagePrompt
}

type embedRequest struct {
	Inputs     []string `json:"inputs"`
	Truncate   bool     `json:"truncate"`
	Normalize  *bool    `json:"normalize,omitempty"`
	Dimensions int      `json:"dimensions,omitempty"`
	PromptName string   `json:"prompt_name,omitempty"`
}

func (s *server) embed(ctx context.Context, as port.TextKind, texts []string) ([]remote.Vector, int, error) {
	yes := true
	in := embedRequest{Inputs: texts, Truncate: true, Normalize: &yes, PromptName: s.prompt(as)}
	if s.config.RequestDimensions {
		in.Dimensions = s.config.Dimensions
	}
	var out []remote.Vector
	err := s.post(ctx, "/embed", in, &out)
	return out, 0, err
}

func (s *server) sparse(ctx context.Context, as port.TextKind, texts []string) ([][]remote.Term, error) {
	var out [][]remote.Term
	err := s.post(ctx, "/embed_sparse", embedRequest{Inputs: texts, Truncate: true, PromptName: s.prompt(as)}, &out)
	return out, err
}

func (s *server) rerank(ctx context.Context, query string, texts []string) ([]remote.Rank, error) {
	in := struct {
		Query      string   `json:"query"`
		Texts      []string `json:"texts"`
		Truncate   bool     `json:"truncate"`
		RawScores  bool     `json:"raw_scores"`
		ReturnText bool     `json:"return_text"`
	}{query, texts, true, s.config.RawScores, false}
	var out []struct {
		Index *int     `json:"index"`
		Score *float64 `json:"score"`
	}
	if err := s.post(ctx, "/rerank", in, &out); err != nil {
		return nil, err
	}
	results := make([]remote.Result, len(out))
	for i, r := range out {
		results[i] = remote.Result(r)
	}
	return remote.Ranks(results)
}

// Sparse is a port.SparseEncoder that can also tell the word pieces of a text.
type Sparse struct {
	remote.SparseEncoder
	server *server
}

type token struct {
	ID      uint32 `json:"id"`
	Special bool   `json:"special"`
}

// TokenIDs implements port.Tokenizer with POST /tokenize.
func (m *Sparse) TokenIDs(ctx context.Context, as port.TextKind, texts []string) ([][]uint32, error) {
	ids := make([][]uint32, len(texts))
	for from := 0; from < len(texts); from += m.Limits.Texts {
		part := texts[from:min(from+m.Limits.Texts, len(texts))]
		if err := m.tokenize(ctx, as, part, ids[from:]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func (m *Sparse) tokenize(ctx context.Context, as port.TextKind, texts []string, into [][]uint32) error {
	ctx, cancel := m.Begin(ctx, as)
	defer cancel()
	in := struct {
		Inputs           []string `json:"inputs"`
		AddSpecialTokens bool     `json:"add_special_tokens"`
		PromptName       string   `json:"prompt_name,omitempty"`
	}{make([]string, len(texts)), true, m.server.prompt(as)}
	for i, t := range texts {
		if in.Inputs[i] = t; t == "" {
			in.Inputs[i] = "." // the server takes no empty text; the piece is dropped below
		}
	}
	var out [][]token
	err := m.server.post(ctx, "/tokenize", in, &out)
	if err == nil && len(out) != len(texts) {
		err = remote.InvalidAnswer("the tokens of %d texts for %d", len(out), len(texts))
	}
	if err != nil {
		return m.Fault(ctx, err)
	}
	for i, tokens := range out {
		if texts[i] == "" {
			tokens = dropLast(tokens)
		}
		into[i] = cutToWindow(tokens, m.Limits.Window)
	}
	return nil
}

// dropLast leaves out the last token that is the text's own.
func dropLast(tokens []token) []token {
	for i := len(tokens) - 1; i >= 0; i-- {
		if !tokens[i].Special {
			return append(tokens[:i:i], tokens[i+1:]...)
		}
	}
	return tokens
}

// cutToWindow cuts as the model does: special tokens at the end stay.
func cutToWindow(tokens []token, longest int) []uint32 {
	tail := len(tokens)
	for tail > 0 && tokens[tail-1].Special {
		tail--
	}
	if over := len(tokens) - longest; over > 0 && over < tail {
		tokens = append(tokens[:tail-over:tail-over], tokens[tail:]...)
	}
	ids := make([]uint32, len(tokens))
	for i, t := range tokens {
		ids[i] = t.ID
	}
	return ids
}

var (
	_ port.SparseEncoder = (*Sparse)(nil)
	_ port.Tokenizer     = (*Sparse)(nil)
)
