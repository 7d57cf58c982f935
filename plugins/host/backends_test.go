package host_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host"
	modelv1 "github.com/mnemehq/mneme/plugins/proto"
	"github.com/mnemehq/mneme/plugins/sdk"
)

// The test binary is also every backend of the tests: started with "backend" and
// the name of a conduct, it is that.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "backend" {
		conduct, ok := conducts[os.Args[2]]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such conduct", os.Args[2])
			os.Exit(9)
		}
		conduct(append(os.Args[3:], "", ""))
		return
	}
	os.Exit(m.Run())
}

const dim = 8

const sum = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// vector is what the honest models give a text.
func vector(text string) []float32 {
	out, norm := make([]float32, dim), 0.0
	for i := range out {
		h := fnv.New32a()
		fmt.Fprint(h, i, text)
		out[i] = float32(h.Sum32())/math.MaxUint32 - .5
		norm += float64(out[i]) * float64(out[i])
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(norm))
	}
	return out
}

// honest has every task. before, where set, runs before each call.
type honest struct {
	before func(context.Context) error
}

func (honest) Info() port.ModelInfo {
	return port.ModelInfo{
		Name:       "honest",
		Version:    "1",
		Digest:     sum,
		Licence:    "MIT",
		Dimensions: dim,
		MaxTokens:  100,
		Languages:  []string{"en"},
		Tasks:      []port.Task{port.TaskEmbed, port.TaskSparse, port.TaskRerank, port.TaskSynthesize},
	}
}
func (honest) Close() error { return nil }

func (h honest) call(ctx context.Context) error {
	if h.before == nil {
		return nil
	}
	return h.before(ctx)
}

func tokens(texts []string) []int {
	out := make([]int, len(texts))
	for i, t := range texts {
		out[i] = min(100, len(strings.Fields(t)))
	}
	return out
}

func (h honest) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	out := port.Dense{Dim: dim, Tokens: tokens(texts)}
	for _, t := range texts {
		if t == "refused" {
			return out, fault.New(fault.InvalidRequest, "this text is refused")
		}
		if t == "panic" {
			panic("as asked")
		}
		if as == port.Query {
			t = "query: " + t
		}
		out.Data = append(out.Data, vector(t)...)
	}
	return out, h.call(ctx)
}

func (h honest) Encode(ctx context.Context, _ port.TextKind, texts []string) (port.Sparse, error) {
	out := port.Sparse{Rows: []uint32{0}, Tokens: tokens(texts)}
	for _, t := range texts {
		if t != "" {
			out.Terms, out.Weights = append(out.Terms, 3, uint32(10+len(t)%80)), append(out.Weights, .5, float32(len(t)))
		}
		out.Rows = append(out.Rows, uint32(len(out.Terms)))
	}
	return out, h.call(ctx)
}

func (h honest) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	out, cut := make([]float32, len(texts)), 0
	for i, t := range texts {
		out[i] = 1 / float32(1+len(t)+len(query))
		if len(t) > 1000 {
			cut++
		}
	}
	return out, cut, h.call(ctx)
}

func (h honest) Synthesize(ctx context.Context, q port.Question) (port.Synthesis, error) {
	return port.Synthesis{Text: q.Sources[0].Text + " " + q.Sources[0].Time.Format(time.DateOnly) + " [1].",
		InputTokens: 5, OutputTokens: 3}, h.call(ctx)
}

// mortal is honest, and ends with a text that says EVIL.
type mortal struct{ honest }

func (m mortal) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	if strings.Contains(strings.Join(texts, " "), "EVIL") {
		os.Exit(9)
	}
	return m.honest.Embed(ctx, as, texts)
}

func (m mortal) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	if strings.Contains(query+strings.Join(texts, " "), "EVIL") {
		os.Exit(9)
	}
	return m.honest.Score(ctx, query, texts)
}

// counter is honest that also counts and gives word pieces.
type counter struct{ honest }

func (counter) CountTokens(_ context.Context, texts []string) ([]int, error) {
	return tokens(texts), nil
}

func (counter) TokenIDs(_ context.Context, _ port.TextKind, texts []string) ([][]uint32, error) {
	out := make([][]uint32, len(texts))
	for i, n := range tokens(texts) {
		for range n {
			out[i] = append(out[i], 7)
		}
	}
	return out, nil
}

// embedder is honest without the other tasks.
type embedder struct{ honest }

func (embedder) Info() port.ModelInfo {
	i := honest{}.Info()
	i.Tasks = i.Tasks[:1]
	return i
}

// raw is a backend without the SDK: its own handshake, socket and service. What a
// test wants of it is in its fields.
type raw struct {
	modelv1.UnimplementedModelServer
	server *grpc.Server
	info   *modelv1.ModelInfo
	embed  func(context.Context, *modelv1.TextBatch, *modelv1.DenseBatch) (*modelv1.DenseBatch, error)
	sparse func(*modelv1.SparseBatch)
	rerank func(*modelv1.ScoreBatch)
	chunks []*modelv1.GenerateChunk
	calls  atomic.Int64
}

func rawInfo() *modelv1.ModelInfo {
	return &modelv1.ModelInfo{
		Name:          "raw",
		Version:       "1",
		Digest:        sum,
		CountsTokens:  true,
		GivesTokenIds: true,
		Tasks: []*modelv1.TaskInfo{
			{
				Task:       modelv1.Task_TASK_EMBEDDING,
				Dim:        dim,
				MaxTokens:  100,
				Normalized: true,
			}, {Task: modelv1.Task_TASK_SPARSE, MaxTokens: 100, Vocabulary: 100},
			{Task: modelv1.Task_TASK_RERANK, MaxTokens: 100}, {Task: modelv1.Task_TASK_ANSWER}},
	}
}

func (r *raw) Describe(context.Context, *modelv1.DescribeRequest) (*modelv1.ModelInfo, error) {
	return r.info, nil
}

func dense(texts []string) *modelv1.DenseBatch {
	out := &modelv1.DenseBatch{Dim: dim}
	for _, t := range texts {
		for _, x := range vector(t) {
			out.Data = binary.LittleEndian.AppendUint32(out.Data, math.Float32bits(x))
		}
		out.Tokens = append(out.Tokens, 1)
	}
	return out
}

func (r *raw) Embed(ctx context.Context, b *modelv1.TextBatch) (*modelv1.DenseBatch, error) {
	r.calls.Add(1)
	out := dense(b.GetTexts())
	if r.embed != nil {
		return r.embed(ctx, b, out)
	}
	return out, nil
}

func (r *raw) Sparse(_ context.Context, b *modelv1.TextBatch) (*modelv1.SparseBatch, error) {
	out := &modelv1.SparseBatch{RowOffsets: []uint32{0}}
	for range b.GetTexts() {
		out.Terms, out.Weights, out.Tokens = append(out.Terms, 1, 2), append(out.Weights, 1, 2), append(out.Tokens, 1)
		out.RowOffsets = append(out.RowOffsets, uint32(len(out.Terms)))
	}
	if r.sparse != nil {
		r.sparse(out)
	}
	return out, nil
}

func (r *raw) Rerank(_ context.Context, b *modelv1.RerankRequest) (*modelv1.ScoreBatch, error) {
	out := &modelv1.ScoreBatch{Scores: make([]float32, len(b.GetTexts()))}
	if r.rerank != nil {
		r.rerank(out)
	}
	return out, nil
}

func (r *raw) Generate(_ *modelv1.GenerateRequest, s modelv1.Model_GenerateServer) error {
	for _, c := range r.chunks {
		if c == nil {
			c = &modelv1.GenerateChunk{}
		}
		if err := s.Send(c); err != nil {
			return err
		}
	}
	return nil
}

// serve listens in the private folder, tells where, and stays.
func (r *raw) serve(args []string) {
	if r.info == nil {
		r.info = rawInfo()
	}
	path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "backend.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		panic(err)
	}
	r.server = grpc.NewServer(grpc.MaxSendMsgSize(1 << 30))
	h := health.NewServer()
	h.SetServingStatus(modelv1.HealthService, grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(r.server, h)
	modelv1.RegisterModelServer(r.server, r)
	fmt.Println("a library greets") // and is no handshake
	fmt.Printf("1|1|unix|%s|grpc\n", path)
	go func() { _ = r.server.Serve(l) }()
	_, _ = os.Stdin.Read(make([]byte, 1)) // ends with the host
	_ = args
}

// lying is a raw backend whose vectors change has spoiled.
func lying(change func(*modelv1.DenseBatch)) func([]string) {
	return func(args []string) {
		(&raw{embed: func(_ context.Context, _ *modelv1.TextBatch, out *modelv1.DenseBatch) (*modelv1.DenseBatch, error) {
			change(out)
			return out, nil
		}}).serve(args)
	}
}

func put(out *modelv1.DenseBatch, i int, x float64) {
	binary.LittleEndian.PutUint32(out.Data[4*i:], math.Float32bits(float32(x)))
}

func write(path, text string) {
	if err := os.WriteFile(path+".part", []byte(text), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		panic(err)
	}
}

// hosting is a program with a backend that forks.
func hosting(args []string) {
	self, _ := os.Executable()
	_, err := host.Open(context.Background(),
		host.Command{Args: []string{self, "backend", "fork", args[0]}, Unverified: true}, host.Options{MTLS: true})
	if err != nil {
		panic(err)
	}
	write(args[0]+".hosting", "yes")
	time.Sleep(time.Hour)
}

var conducts map[string]func(args []string)

func init() {
	defer func() { maps.Copy(conducts, systemConducts()) }()
	conducts = map[string]func([]string){
		"hosting":  hosting,
		"honest":   func([]string) { sdk.Serve(honest{}, sdk.Vocabulary(100)) },
		"counter":  func([]string) { sdk.Serve(counter{}, sdk.Vocabulary(100)) },
		"embedder": func([]string) { sdk.Serve(embedder{}) },
		"traced": func([]string) { // writes down the trace that a call belongs to
			sdk.Serve(embedder{honest{func(ctx context.Context) error {
				told, _ := metadata.FromIncomingContext(ctx)
				fmt.Fprintln(os.Stderr, "traceparent:", told.Get("traceparent"))
				return nil
			}}})
		},
		"raw": func(a []string) { (&raw{}).serve(a) },
		"slow-start": func(a []string) {
			d, _ := time.ParseDuration(a[0])
			time.Sleep(d)
			sdk.Serve(embedder{})
		},
		"slow": func(a []string) { // each call takes so long
			d, _ := time.ParseDuration(a[0])
			sdk.Serve(embedder{honest{func(context.Context) error { time.Sleep(d); return nil }}})
		},
		"no-start": func([]string) {
			fmt.Fprintln(os.Stderr, "cannot open weights.bin")
			os.Exit(3)
		},
		"mute":    func([]string) { fmt.Println("hello, world"); time.Sleep(time.Hour) },
		"version": func([]string) { fmt.Println("1|7|unix|/nowhere|grpc"); time.Sleep(time.Hour) },
		"core":    func([]string) { fmt.Println("9|1|unix|/nowhere|grpc"); time.Sleep(time.Hour) },
		"netrpc":  func([]string) { fmt.Println("1|1|unix|/nowhere|netrpc"); time.Sleep(time.Hour) },
		"tcp": func([]string) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				panic(err)
			}
			fmt.Printf("1|1|tcp|%s|grpc\n", l.Addr())
			time.Sleep(time.Hour)
		},
		"deaf": func([]string) { // says where it listens and serves nothing
			path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				panic(err)
			}
			fmt.Printf("1|1|unix|%s|grpc\n", path)
			for {
				if _, err := l.Accept(); err != nil {
					panic(err)
				}
			}
		},
		"fork": func(a []string) { // leaves children with its pipes
			var pids []string
			for range 3 {
				c := exec.Command(os.Args[0], "backend", "mute")
				c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
				c.SysProcAttr = apart(len(pids) == 2) // one leaves the group
				if err := c.Start(); err != nil {
					panic(err)
				}
				pids = append(pids, strconv.Itoa(c.Process.Pid))
			}
			write(a[0], strings.Join(append(pids, strconv.Itoa(os.Getpid())), " "))
			sdk.Serve(embedder{})
		},
		"hang": func([]string) { // heeds no deadline
			sdk.Serve(embedder{honest{func(context.Context) error { time.Sleep(time.Hour); return nil }}})
		},
		"heed": func(a []string) { // tells when it is called, and when its caller has left
			sdk.Serve(embedder{honest{func(ctx context.Context) error {
				write(a[1], "called")
				deadline, _ := ctx.Deadline()
				<-ctx.Done()
				write(a[0], fmt.Sprint(ctx.Err(), " ", time.Until(deadline) < time.Minute))
				return ctx.Err()
			}}})
		},
		"gone": func([]string) { // serves one call, then its socket goes while the process stays
			r := &raw{}
			r.embed = func(_ context.Context, _ *modelv1.TextBatch, out *modelv1.DenseBatch) (*modelv1.DenseBatch, error) {
				if r.calls.Load() > 1 {
					go r.server.Stop()
				}
				return out, nil
			}
			r.serve(nil)
		},
		"exit-after": func(a []string) { // ends in the middle of each third call
			n, left := 0, 2
			_, _ = fmt.Sscan(a[0], &left)
			sdk.Serve(embedder{honest{func(context.Context) error {
				if n++; n > left {
					os.Exit(7)
				}
				return nil
			}}})
		},
		"mortal": func([]string) { // ends with a text that says EVIL
			sdk.Serve(mortal{}, sdk.Vocabulary(100))
		},
		"environment": func(a []string) { write(a[0], strings.Join(os.Environ(), "\n")); sdk.Serve(embedder{}) },
		"flood": func([]string) {
			go func() {
				for {
					fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 10000))
					fmt.Fprintln(os.Stdout, strings.Repeat("noise ", 10000))
				}
			}()
			(&raw{}).serve(nil)
		},
		"logs": func([]string) {
			slog.New(slog.NewJSONHandler(os.Stderr, nil)).Warn("weights are old", "age", 5)
			fmt.Fprintln(os.Stderr, "ERROR:root:a Python line")
			sdk.Serve(embedder{})
		},
		"changing": func(a []string) { // is what a file says
			b, _ := os.ReadFile(a[0])
			info := rawInfo()
			switch strings.TrimSpace(string(b)) {
			case "dim":
				info.Tasks[0].Dim = dim + 1
			case "digest":
				info.Digest = strings.Replace(sum, "0", "f", 1)
			}
			(&raw{info: info}).serve(nil)
		},
		"stubborn": func([]string) { (&raw{}).serve(nil); time.Sleep(time.Hour) },
		"busy": func([]string) {
			(&raw{embed: func(context.Context, *modelv1.TextBatch, *modelv1.DenseBatch) (*modelv1.DenseBatch, error) {
				s, err := status.New(codes.Unavailable,
					"the GPU is taken").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
				return nil, errors.Join(err, s.Err())
			}}).serve(nil)
		},
		"codes": func([]string) { // the text names the code to answer
			(&raw{embed: func(_ context.Context, b *modelv1.TextBatch, _ *modelv1.DenseBatch) (*modelv1.DenseBatch, error) {
				n, _ := strconv.Atoi(b.GetTexts()[0])
				return nil, status.Error(codes.Code(n), "as asked")
			}}).serve(nil)
		},
		"huge": func([]string) {
			(&raw{embed: func(_ context.Context, _ *modelv1.TextBatch, out *modelv1.DenseBatch) (*modelv1.DenseBatch, error) {
				out.Data = make([]byte, modelv1.MaxResultBytes+1)
				return out, nil
			}}).serve(nil)
		},
		"nan":          lying(func(b *modelv1.DenseBatch) { put(b, 0, math.NaN()) }),
		"infinite":     lying(func(b *modelv1.DenseBatch) { put(b, 0, math.Inf(1)) }),
		"long":         lying(func(b *modelv1.DenseBatch) { put(b, 0, 3) }),
		"zero":         lying(func(b *modelv1.DenseBatch) { clear(b.Data) }),
		"other-dim":    lying(func(b *modelv1.DenseBatch) { b.Dim = dim / 2 }),
		"short":        lying(func(b *modelv1.DenseBatch) { b.Data = b.Data[4:] }),
		"more-rows":    lying(func(b *modelv1.DenseBatch) { b.Data = append(b.Data, b.Data...) }),
		"no-tokens":    lying(func(b *modelv1.DenseBatch) { b.Tokens = nil }),
		"many-tokens":  lying(func(b *modelv1.DenseBatch) { b.Tokens[0] = 101 }),
		"terms-fall":   func([]string) { (&raw{sparse: func(b *modelv1.SparseBatch) { b.Terms[0] = 5 }}).serve(nil) },
		"terms-beyond": func([]string) { (&raw{sparse: func(b *modelv1.SparseBatch) { b.Terms[1] = 100 }}).serve(nil) },
		"weights":      func([]string) { (&raw{sparse: func(b *modelv1.SparseBatch) { b.Weights[1] = 0 }}).serve(nil) },
		"offsets":      func([]string) { (&raw{sparse: func(b *modelv1.SparseBatch) { b.RowOffsets[1] = 9 }}).serve(nil) },
		"scores":       func([]string) { (&raw{rerank: func(b *modelv1.ScoreBatch) { b.Scores[0] = 1.5 }}).serve(nil) },
		"few-scores":   func([]string) { (&raw{rerank: func(b *modelv1.ScoreBatch) { b.Scores = b.Scores[1:] }}).serve(nil) },
		"broken-off":   func([]string) { (&raw{chunks: []*modelv1.GenerateChunk{{Text: "She li"}}}).serve(nil) },
		"endless": func([]string) {
			(&raw{chunks: []*modelv1.GenerateChunk{{Text: strings.Repeat("word ", 1000)}, {Done: true}}}).serve(nil)
		},
		"chatter": func([]string) { (&raw{chunks: make([]*modelv1.GenerateChunk, 100000)}).serve(nil) },
		"long-error": func([]string) {
			(&raw{embed: func(context.Context, *modelv1.TextBatch, *modelv1.DenseBatch) (*modelv1.DenseBatch, error) {
				return nil, status.Error(codes.InvalidArgument, strings.Repeat("no ", 1<<20))
			}}).serve(nil)
		},
		"no-digest": func([]string) { i := rawInfo(); i.Digest = "unknown"; (&raw{info: i}).serve(nil) },
		"no-task":   func([]string) { i := rawInfo(); i.Tasks = nil; (&raw{info: i}).serve(nil) },
		"odd-task":  func([]string) { i := rawInfo(); i.Tasks[0].Task = 99; (&raw{info: i}).serve(nil) },
		"no-dim":    func([]string) { i := rawInfo(); i.Tasks[0].Dim = 0; (&raw{info: i}).serve(nil) },
	}
}
