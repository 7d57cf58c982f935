package sdk

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/mnemehq/mneme/core/port"
	modelv1 "github.com/mnemehq/mneme/plugins/proto"
)

// Option adds what port.ModelInfo does not say.
type Option func(*server)

// Vocabulary is needed by a model with sparse vectors: terms are below n.
func Vocabulary(n int) Option { return func(s *server) { s.vocabulary = uint32(max(0, n)) } }

// Unnormalized says that vectors have any length; the host divides by it.
func Unnormalized() Option { return func(s *server) { s.unnormalized = true } }

// Serve serves a model to the host that started this process, until that ends. It
// does not return. The model has the methods of each task that its Info claims:
// Embed, Encode, Score, Synthesize; and CountTokens and TokenIDs where it offers
// these. Methods are called side by side, and their context ends with the call.
// Errors of code InvalidRequest reach the caller, others the host's log.
//
// Write logs to os.Stderr, as plain lines or as JSON by slog; os.Stdout belongs to
// the handshake.
func Serve(m port.Model, options ...Option) {
	if os.Getenv(modelv1.CookieKey) != modelv1.CookieValue {
		fmt.Fprintf(os.Stderr, "%s is a model backend of Mneme and is not started by hand. Try it with: mneme models "+
			"check --process %s\n", os.Args[0], os.Args[0])
		os.Exit(2)
	}
	s, err := newServer(m, options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ERROR", err)
		os.Exit(1)
	}
	// The standard input ends when the host wants the backend to end, and when the
	// host itself has ended, in whatever way.
	input := os.Stdin
	go func() {
		_, _ = io.Copy(io.Discard, input)
		_ = m.Close() // the process ends anyway
		os.Exit(0)
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: modelv1.CookieKey, MagicCookieValue: modelv1.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{modelv1.Version: {modelv1.PluginName: s}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(o, grpc.MaxSendMsgSize(modelv1.MaxResultBytes))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
	})
	os.Exit(0)
}

// newServer describes a model, or says why it cannot be served.
func newServer(m port.Model, options ...Option) (*server, error) {
	s := &server{model: m}
	for _, o := range options {
		o(s)
	}
	info := m.Info()
	s.info = &modelv1.ModelInfo{
		Name:      info.Name,
		Version:   info.Version,
		Digest:    info.Digest,
		Licence:   info.Licence,
		Languages: info.Languages,
	}
	if !strings.HasPrefix(info.Digest, "sha256:") {
		return nil, fmt.Errorf("the model's digest is %q: make it sha256: and the sum of weights, tokenizer and settings",
			info.Digest)
	}
	for _, task := range info.Tasks {
		t := &modelv1.TaskInfo{MaxTokens: uint32(max(0, info.MaxTokens))}
		has := false
		switch task {
		case port.TaskEmbed:
			t.Task, t.Dim, t.Normalized = modelv1.Task_TASK_EMBEDDING, uint32(max(0, info.Dimensions)), !s.unnormalized
			_, has = m.(port.Embedder)
		case port.TaskSparse:
			t.Task, t.Vocabulary = modelv1.Task_TASK_SPARSE, s.vocabulary
			_, has = m.(port.SparseEncoder)
		case port.TaskRerank:
			t.Task = modelv1.Task_TASK_RERANK
			_, has = m.(port.Reranker)
		case port.TaskSynthesize:
			t.Task = modelv1.Task_TASK_ANSWER
			_, has = m.(port.Synthesizer)
		}
		if !has {
			return nil, fmt.Errorf("the model claims task %s, and %T does not have its methods", task, m)
		}
		s.info.Tasks = append(s.info.Tasks, t)
	}
	_, s.info.CountsTokens = m.(port.TokenCounter)
	_, s.info.GivesTokenIds = m.(port.Tokenizer)
	return s, nil
}

// GRPCServer implements plugin.GRPCPlugin.
func (s *server) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	modelv1.RegisterModelServer(g, s)
	return nil
}

// GRPCClient implements plugin.GRPCPlugin; a backend calls none.
func (s *server) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("a backend calls no model")
}

var _ plugin.GRPCPlugin = (*server)(nil)
