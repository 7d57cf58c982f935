package sdk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	modelv1 "github.com/mnemehq/mneme/plugins/proto"
)

// server is the wire side of a model.
type server struct {
	plugin.NetRPCUnsupportedPlugin
	modelv1.UnimplementedModelServer
	model        port.Model
	info         *modelv1.ModelInfo
	vocabulary   uint32
	unnormalized bool
}

// toStatus gives an error its code, see PROTOCOL.md.
func toStatus(err error) error {
	f := fault.From(err)
	switch f.Code {
	case fault.InvalidRequest:
		return status.Error(codes.InvalidArgument, f.Message)
	case fault.PayloadTooLarge:
		return status.Error(codes.OutOfRange, f.Message)
	case fault.Timeout:
		return status.Error(codes.DeadlineExceeded, f.Message)
	case fault.Canceled:
		return status.Error(codes.Canceled, f.Message)
	case fault.Unavailable, fault.RateLimited:
		s := status.New(codes.Unavailable, f.Message)
		if f.RetryAfter > 0 {
			if with, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(f.RetryAfter)}); err == nil {
				s = with
			}
		}
		return s.Err()
	}
	message := err.Error()
	if cause := errors.Unwrap(f); cause != nil {
		message = fmt.Sprintf("%s: %v", f.Message, cause)
	}
	return status.Error(codes.Internal, message)
}

// guarded runs a method of the model. A panic becomes the call's error, with its stack in
// the log, and the backend goes on serving.
func guarded[T any](do func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "[ERROR] panic: %v\n%s\n", r, debug.Stack())
			err = status.Errorf(codes.Internal, "panic: %v", r)
		}
	}()
	out, err = do()
	if err != nil {
		err = toStatus(err)
	}
	return out, err
}

// ability gives the model's methods for a task.
func ability[A any](s *server, task modelv1.Task) (A, error) {
	for _, t := range s.info.GetTasks() {
		if t.GetTask() == task {
			return s.model.(A), nil
		}
	}
	var none A
	return none, status.Errorf(codes.Unimplemented, "this model does not have task %s", task)
}

func kind(k modelv1.TextKind) port.TextKind {
	if k == modelv1.TextKind_TEXT_KIND_QUERY {
		return port.Query
	}
	return port.Passage
}

func counts(n []int) []uint32 {
	out := make([]uint32, len(n))
	for i, x := range n {
		out[i] = uint32(max(0, x))
	}
	return out
}

// Describe implements the protocol.
func (s *server) Describe(context.Context, *modelv1.DescribeRequest) (*modelv1.ModelInfo, error) {
	return s.info, nil
}

// Embed implements the protocol.
func (s *server) Embed(ctx context.Context, r *modelv1.TextBatch) (*modelv1.DenseBatch, error) {
	m, err := ability[port.Embedder](s, modelv1.Task_TASK_EMBEDDING)
	if err != nil {
		return nil, err
	}
	d, err := guarded(func() (port.Dense, error) { return m.Embed(ctx, kind(r.GetKind()), r.GetTexts()) })
	if err != nil {
		return nil, err
	}
	data := make([]byte, 4*len(d.Data))
	for i, x := range d.Data {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(x))
	}
	return &modelv1.DenseBatch{Dim: uint32(d.Dim), Data: data, Tokens: counts(d.Tokens)}, nil
}

// Sparse implements the protocol.
func (s *server) Sparse(ctx context.Context, r *modelv1.TextBatch) (*modelv1.SparseBatch, error) {
	m, err := ability[port.SparseEncoder](s, modelv1.Task_TASK_SPARSE)
	if err != nil {
		return nil, err
	}
	v, err := guarded(func() (port.Sparse, error) { return m.Encode(ctx, kind(r.GetKind()), r.GetTexts()) })
	if err != nil {
		return nil, err
	}
	return &modelv1.SparseBatch{RowOffsets: v.Rows, Terms: v.Terms, Weights: v.Weights, Tokens: counts(v.Tokens)}, nil
}

// Rerank implements the protocol.
func (s *server) Rerank(ctx context.Context, r *modelv1.RerankRequest) (*modelv1.ScoreBatch, error) {
	m, err := ability[port.Reranker](s, modelv1.Task_TASK_RERANK)
	if err != nil {
		return nil, err
	}
	truncated := 0
	out, err := guarded(func() (scores []float32, err error) {
		scores, truncated, err = m.Score(ctx, r.GetQuery(), r.GetTexts())
		return scores, err
	})
	if err != nil {
		return nil, err
	}
	return &modelv1.ScoreBatch{Scores: out, Truncated: uint32(max(0, truncated))}, nil
}

// Generate implements the protocol.
func (s *server) Generate(r *modelv1.GenerateRequest, stream modelv1.Model_GenerateServer) error {
	m, err := ability[port.Synthesizer](s, modelv1.Task_TASK_ANSWER)
	if err != nil {
		return err
	}
	q := port.Question{Text: r.GetQuestion(), MaxTokens: int(r.GetMaxTokens())}
	for _, t := range r.GetSources() {
		source := port.Source{Text: t.GetText()}
		if ms := t.GetTimeUnixMs(); ms != 0 {
			source.Time = time.UnixMilli(ms).UTC()
		}
		q.Sources = append(q.Sources, source)
	}
	a, err := guarded(func() (port.Synthesis, error) { return m.Synthesize(stream.Context(), q) })
	if err != nil {
		return err
	}
	return stream.Send(&modelv1.GenerateChunk{
		Text:         a.Text,
		Done:         true,
		InputTokens:  uint32(max(0, a.InputTokens)),
		OutputTokens: uint32(max(0, a.OutputTokens)),
	})
}

// CountTokens implements the protocol.
func (s *server) CountTokens(ctx context.Context, r *modelv1.TextBatch) (*modelv1.TokenCounts, error) {
	m, ok := s.model.(port.TokenCounter)
	if !ok {
		return nil, status.Error(codes.Unimplemented, "this model does not count tokens")
	}
	n, err := guarded(func() ([]int, error) { return m.CountTokens(ctx, r.GetTexts()) })
	if err != nil {
		return nil, err
	}
	return &modelv1.TokenCounts{Counts: counts(n)}, nil
}

// TokenIds implements the protocol.
func (s *server) TokenIds(ctx context.Context, r *modelv1.TextBatch) (*modelv1.TokenIdBatch, error) {
	m, ok := s.model.(port.Tokenizer)
	if !ok {
		return nil, status.Error(codes.Unimplemented, "this model gives no word pieces")
	}
	ids, err := guarded(func() ([][]uint32, error) { return m.TokenIDs(ctx, kind(r.GetKind()), r.GetTexts()) })
	if err != nil {
		return nil, err
	}
	out := &modelv1.TokenIdBatch{RowOffsets: make([]uint32, 1, len(ids)+1)}
	for _, row := range ids {
		out.Ids = append(out.Ids, row...)
		out.RowOffsets = append(out.RowOffsets, uint32(len(out.Ids)))
	}
	return out, nil
}
