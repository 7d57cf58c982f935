package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host/supervise"
	modelv1 "github.com/mnemehq/mneme/plugins/proto"
)

// Options bound a backend. A field left zero has the default.
type Options struct {
	ID             string        // the operator's name of the model; "": its own
	MTLS           bool          // go-plugin's AutoMTLS; otherwise a unix socket in a private folder is the only address taken
	DeclaredOnly   bool          // the identity leaves executable and files out; see Open
	StartTimeout   time.Duration // 1m: from the start to the description
	CallTimeout    time.Duration // 30s: one call over the wire
	QueueTimeout   time.Duration // 10s: waiting for a place
	HealthInterval time.Duration // 5s: between health checks, and the longest that one may take
	Concurrency    int           // 4: calls over the wire at once
	Queue          int           // 256: calls that wait
	BatchTexts     int           // 16: most texts of a call over the wire
	MaxRestarts    int           // 0, no end: runs in a row that fail or are short and without an answer before it stays down
	MemoryMB       int           // 0, no end: most that it and all that it starts hold, before it is ended; on Linux alone
	// MaxRestartsPerHour is how many runs may end within an hour before it stays down,
	// whether they had answered or not; 0: any number.
	MaxRestartsPerHour int
	Log                *slog.Logger
}

func (o *Options) defaults() {
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{{&o.StartTimeout, time.Minute}, {&o.CallTimeout, 30 * time.Second}, {&o.QueueTimeout, 10 * time.Second},
		{&o.HealthInterval, 5 * time.Second}} {
		if *d.at <= 0 {
			*d.at = d.value
		}
	}
	for _, d := range []struct {
		at    *int
		value int
	}{{&o.Concurrency, 4}, {&o.Queue, 256}, {&o.BatchTexts, 16}} {
		if *d.at <= 0 {
			*d.at = d.value
		}
	}
	o.BatchTexts = min(o.BatchTexts, modelv1.MaxRows)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Model is a running backend. Which tasks it has is in Info().Tasks; calls of
// another fail.
type Model struct {
	backend     *supervise.Backend
	options     Options
	log         *slog.Logger
	quarantine  *quarantine
	description description
	info        port.ModelInfo
	gate        *gate
}

// Command is what to start.
type Command = supervise.Command

// service is the protocol of models, to its supervisor.
func service(q *quarantine) supervise.Service {
	return supervise.Service{
		Noun:        "the model",
		CookieKey:   modelv1.CookieKey,
		CookieValue: modelv1.CookieValue,
		Version:     modelv1.Version,
		Plugin:      modelv1.PluginName,
		Health:      modelv1.HealthService,
		MaxSend:     4 << 20,
		MaxReceive:  modelv1.MaxResultBytes,
		Describe: func(ctx context.Context, c *grpc.ClientConn) (fmt.Stringer, error) {
			m, err := modelv1.NewModelClient(c).Describe(ctx, &modelv1.DescribeRequest{})
			if err != nil {
				return nil, err
			}
			d, err := checkInfo(m)
			return d, err
		},
		Attach: func(*supervise.Run, fmt.Stringer) supervise.Attachment { return &journey{quarantine: q} },
	}
}

// journey is the calls of a run of the backend, and who is to blame when it ends.
type journey struct {
	flights
	quarantine *quarantine
}

// Checking implements supervise.Attachment.
func (j *journey) Checking() func() {
	open := j.list(true)
	return func() { j.alive(open) }
}

// Ended implements supervise.Attachment.
func (j *journey) Ended() { j.quarantine.blame(j.list(false)) }

// Close implements supervise.Attachment.
func (j *journey) Close() {}

// Open starts a backend and returns once it serves. The result implements
// port.Embedder, port.SparseEncoder, port.Reranker and port.Synthesizer, and
// port.TokenCounter and port.Tokenizer where the backend has these abilities.
//
// Its digest is the identity that namespaces record: a sum over the sums of the
// executable and the files that Command names, and over the name, version, digest,
// dimensions and vocabulary that the backend declares. So another build counts as
// another model, since nobody can tell from outside what it changed. DeclaredOnly
// leaves the files out: the vendor's word alone says when vectors change.
func Open(ctx context.Context, c Command, o Options) (port.Model, error) {
	o.defaults()
	log := o.Log.With("model", o.ID)
	q := &quarantine{log: log, now: time.Now, suspects: map[fingerprint]suspicion{}}
	b, err := supervise.Open(ctx, service(q), c, supervise.Options{
		MTLS:               o.MTLS,
		DeclaredOnly:       o.DeclaredOnly,
		StartTimeout:       o.StartTimeout,
		Silence:            o.CallTimeout,
		HealthInterval:     o.HealthInterval,
		MaxRestarts:        o.MaxRestarts,
		MaxRestartsPerHour: o.MaxRestartsPerHour,
		MemoryMB:           o.MemoryMB,
		Log:                log,
	})
	if err != nil {
		return nil, fmt.Errorf("start model backend: %w", err)
	}
	d := b.Description().(description)
	m := &Model{backend: b, options: o, log: log, quarantine: q, description: d,
		gate: &gate{size: o.Concurrency, queue: o.Queue}}
	m.info = port.ModelInfo{
		ID:         o.ID,
		Name:       d.name,
		Version:    d.version,
		Tasks:      d.tasks,
		Digest:     d.identity(b.Verified(), o.DeclaredOnly),
		Dimensions: d.dim,
		MaxTokens:  d.maxTokens,
		Languages:  d.languages,
		Licence:    d.licence,
		Runtime:    "plugin",
	}
	if m.info.ID == "" {
		m.info.ID = d.name
	}
	counter, tokenizer := counting{m}, tokenizing{m}
	switch {
	case d.counts && d.ids:
		return struct {
			*Model
			counting
			tokenizing
		}{m, counter, tokenizer}, nil
	case d.counts:
		return struct {
			*Model
			counting
		}{m, counter}, nil
	case d.ids:
		return struct {
			*Model
			tokenizing
		}{m, tokenizer}, nil
	}
	return m, nil
}

// identity is the digest of a model, see Open.
func (d description) identity(files [32]byte, declaredOnly bool) string {
	h := sha256.New()
	fmt.Fprintf(h, "mneme process model 1\n%q\n%q\n%s\n%d %t %d\n", d.name, d.version, d.digest, d.dim, d.normalized,
		d.vocabulary)
	if !declaredOnly {
		h.Write(files[:])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// String names what matters of a description in a log line.
func (d description) String() string {
	return fmt.Sprintf("%s %s (%s, %d dimensions, tasks %v)", d.name, d.version, d.digest, d.dim, d.tasks)
}

// Info describes the model.
func (m *Model) Info() port.ModelInfo { return m.info }

// State says whether the backend serves; see port.Stateful.
func (m *Model) State() port.ModelState { return m.backend.State() }

// Figures are the calls in line, the memory and the restarts; see port.Measured.
func (m *Model) Figures() port.ModelFigures {
	m.gate.mu.Lock()
	f := port.ModelFigures{Waiting: m.gate.waiting, MaxMemory: int64(m.options.MemoryMB) << 20}
	m.gate.mu.Unlock()
	f.Memory, f.Restarts = m.backend.Memory(), m.backend.Ends()
	return f
}

// Close ends the backend, with everything that it started.
func (m *Model) Close() error { m.backend.Close(); return nil }

// requireTask fails unless the model has a task.
func (m *Model) requireTask(task port.Task) error {
	if slices.Contains(m.info.Tasks, task) {
		return nil
	}
	return fault.New(fault.Upstream, "the model %s does not have task %s", m.info.ID, task)
}

// call makes one call over the wire: it waits for a place, keeps to both the caller's
// deadline and the model's, and updates the supervisor's counters. The parts are what
// it sends, for the case that the backend ends.
func (m *Model) call(ctx context.Context, op string, c class, parts []part,
	do func(context.Context, modelv1.ModelClient) error) error {
	b := m.backend
	i, err := b.Run()
	if err != nil {
		return err
	}
	leave, err := m.gate.enter(ctx, c, m.quarantine.suspected(parts...), m.options.QueueTimeout, i.Ended())
	if err != nil {
		return m.translate(ctx, op, err)
	}
	defer leave()
	calls := &i.Attached().(*journey).flights
	err = b.Call(ctx, i, m.options.CallTimeout, func(ctx context.Context) error {
		sent := calls.add(parts)
		err := do(ctx, modelv1.NewModelClient(i.Conn()))
		switch status.Code(err) {
		case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
			calls.unanswered(sent, status.Code(err) == codes.Unavailable)
		default:
			calls.landed(sent)
		}
		return err
	})
	if err == nil {
		m.quarantine.clear(parts)
	}
	if errors.Is(err, supervise.ErrOverdue) {
		return fault.Wrap(fault.Timeout, op, err, "the model took longer than its time limit")
	}
	return m.translate(ctx, op, err)
}

// translate turns a failed call into a fault: the codes of the protocol are those
// of the ABI, 1 to 5.
func (m *Model) translate(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, ctx.Err())
	}
	if errors.Is(err, supervise.ErrEnded) {
		return fault.Wrap(fault.Unavailable, op, err, "the model is restarting").After(time.Second)
	}
	s, known := status.FromError(err)
	if !known {
		return fault.Wrap(fault.Upstream, op, err, "the model %s failed", m.info.ID)
	}
	switch s.Code() {
	case codes.InvalidArgument, codes.OutOfRange:
		return fault.Wrap(fault.InvalidRequest, op, err, "the model refused the input: %s", fault.Clip(s.Message()))
	case codes.DeadlineExceeded:
		return fault.Wrap(fault.Timeout, op, err, "the model took longer than its time limit")
	case codes.Unavailable:
		wait := time.Second
		for _, d := range s.Details() {
			if r, ok := d.(*errdetails.RetryInfo); ok {
				wait = min(max(wait, r.GetRetryDelay().AsDuration()), time.Hour)
			}
		}
		return fault.Wrap(fault.Unavailable, op, err, "the model is not available").After(wait)
	}
	return fault.Wrap(fault.Upstream, op, err, "the model %s failed", m.info.ID)
}

// protocolViolation is the fault of a result that breaks the protocol.
func (m *Model) protocolViolation(op string, err error) error {
	m.log.Error("model backend protocol violation", "op", op, "error", err)
	return fault.Wrap(fault.Upstream, op, err, "the model %s gave an answer that breaks the protocol", m.info.ID)
}

// maxTextBytes is how many bytes of a text go over the wire: no window is so wide.
const maxTextBytes = modelv1.MaxRequestBytes - 64<<10

// batch is the part of a call that goes over the wire at once.
type batch struct {
	rows  []int // where the texts stand in the call
	texts []string
	parts []part
	alone bool // its text is suspected
}

// makeBatches makes batches under the limits of a message, of texts of about one length
// each, since a backend that pads pays for the longest. query is what goes with each. A
// text that is suspected goes by itself, each of them where the query is.
func (m *Model) makeBatches(texts []string, parts []part, query string, head []part) []batch {
	q := m.quarantine
	each := q.suspected(head...)
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(texts[b]) - len(texts[a]) })
	rows := m.options.BatchTexts
	if m.info.Dimensions > 0 {
		rows = max(1, min(rows, modelv1.MaxResultBytes/2/(4*m.info.Dimensions)))
	}
	var all []batch
	used := 0
	for _, i := range order {
		text := clipText(texts[i])
		n := len(text) + 8
		alone := each || q.suspected(parts[i])
		if last := len(all) - 1; last < 0 || alone || all[last].alone || len(all[last].rows) == rows ||
			used+n > modelv1.MaxRequestBytes {
			all = append(all, batch{parts: slices.Clone(head), alone: alone})
			used = len(query)
		}
		b := &all[len(all)-1]
		b.rows, b.texts, b.parts = append(b.rows, i), append(b.texts, text), append(b.parts, parts[i])
		used += n
	}
	return all
}

// clipText cuts a text that no message could hold, between runes.
func clipText(s string) string {
	if len(s) <= maxTextBytes {
		return s
	}
	n := maxTextBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// runBatches checks the texts and runs their batches side by side. It returns with the
// first failure.
func (m *Model) runBatches(ctx context.Context, op string, c class, texts []string, query string,
	do func(context.Context, modelv1.ModelClient, batch) error) error {
	for i, s := range texts {
		if !utf8.ValidString(s) {
			return fault.Field(fault.InvalidRequest, "texts", "text %d is not valid UTF-8", i)
		}
	}
	kind := port.Passage
	if c == queries {
		kind = port.Query
	}
	var head []part
	if query != "" {
		head = []part{partOf(op, kind, false, query)}
	}
	parts := make([]part, len(texts))
	for i, s := range texts {
		parts[i] = partOf(op, kind, query != "", s)
	}
	if err := m.quarantine.check(head, parts); err != nil {
		return err
	}
	batches := m.makeBatches(texts, parts, query, head)
	if len(batches) == 1 {
		return m.call(ctx, op, c, batches[0].parts,
			func(ctx context.Context, rpc modelv1.ModelClient) error { return do(ctx, rpc, batches[0]) })
	}
	group, grouped := errgroup.WithContext(ctx)
	group.SetLimit(m.options.Concurrency)
	for _, b := range batches {
		group.Go(func() error {
			if err := grouped.Err(); err != nil {
				return err
			}
			return m.call(grouped, op, c, b.parts,
				func(ctx context.Context, rpc modelv1.ModelClient) error { return do(ctx, rpc, b) })
		})
	}
	return group.Wait()
}

func classAndKind(as port.TextKind) (class, modelv1.TextKind) {
	if as == port.Query {
		return queries, modelv1.TextKind_TEXT_KIND_QUERY
	}
	return passages, modelv1.TextKind_TEXT_KIND_PASSAGE
}

// Embed turns texts into vectors; see port.Embedder.
func (m *Model) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	const op = "embed"
	if err := m.requireTask(port.TaskEmbed); err != nil {
		return port.Dense{}, err
	}
	out := port.Dense{Dim: m.info.Dimensions, Data: make([]float32, len(texts)*m.info.Dimensions),
		Tokens: make([]int, len(texts))}
	c, kind := classAndKind(as)
	err := m.runBatches(ctx, op, c, texts, "", func(ctx context.Context, rpc modelv1.ModelClient, b batch) error {
		r, err := rpc.Embed(ctx, &modelv1.TextBatch{Texts: b.texts, Kind: kind})
		if err != nil {
			return err
		}
		data, tokens, err := checkDense(r, len(b.rows), m.description)
		if err != nil {
			return m.protocolViolation(op, err)
		}
		for i, row := range b.rows {
			copy(out.Row(row), data[i*out.Dim:(i+1)*out.Dim])
			out.Tokens[row] = tokens[i]
		}
		return nil
	})
	if err != nil {
		return port.Dense{}, err
	}
	return out, nil
}

// Encode turns texts into learned-sparse vectors; see port.SparseEncoder.
func (m *Model) Encode(ctx context.Context, as port.TextKind, texts []string) (port.Sparse, error) {
	const op = "encode"
	if err := m.requireTask(port.TaskSparse); err != nil {
		return port.Sparse{}, err
	}
	type row struct {
		terms   []uint32
		weights []float32
	}
	rows := make([]row, len(texts))
	out := port.Sparse{Rows: make([]uint32, 1, len(texts)+1), Tokens: make([]int, len(texts))}
	c, kind := classAndKind(as)
	err := m.runBatches(ctx, op, c, texts, "", func(ctx context.Context, rpc modelv1.ModelClient, b batch) error {
		r, err := rpc.Sparse(ctx, &modelv1.TextBatch{Texts: b.texts, Kind: kind})
		if err != nil {
			return err
		}
		tokens, err := checkSparse(r, len(b.rows), m.description)
		if err != nil {
			return m.protocolViolation(op, err)
		}
		for i, at := range b.rows {
			from, to := r.GetRowOffsets()[i], r.GetRowOffsets()[i+1]
			rows[at] = row{r.GetTerms()[from:to], r.GetWeights()[from:to]}
			out.Tokens[at] = tokens[i]
		}
		return nil
	})
	if err != nil {
		return port.Sparse{}, err
	}
	for _, r := range rows {
		out.Terms, out.Weights = append(out.Terms, r.terms...), append(out.Weights, r.weights...)
		out.Rows = append(out.Rows, uint32(len(out.Terms)))
	}
	return out, nil
}

// Score gives the probability that each text answers the query; see port.Reranker.
func (m *Model) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	const op = "score"
	if err := m.requireTask(port.TaskRerank); err != nil {
		return nil, 0, err
	}
	if !utf8.ValidString(query) {
		return nil, 0, fault.Field(fault.InvalidRequest, "query", "is not valid UTF-8")
	}
	if len(query) > modelv1.MaxRequestBytes/4 {
		return nil, 0, fault.Field(fault.InvalidRequest, "query", "is longer than %d bytes", modelv1.MaxRequestBytes/4)
	}
	out, cut := make([]float32, len(texts)), make([]int, len(texts))
	err := m.runBatches(ctx, op, scores, texts, query, func(ctx context.Context, rpc modelv1.ModelClient, b batch) error {
		r, err := rpc.Rerank(ctx, &modelv1.RerankRequest{Query: query, Texts: b.texts})
		if err != nil {
			return err
		}
		truncated, err := checkScores(r, len(b.rows))
		if err != nil {
			return m.protocolViolation(op, err)
		}
		for i, row := range b.rows {
			out[row] = r.GetScores()[i]
		}
		cut[b.rows[0]] = truncated
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	truncated := 0
	for _, n := range cut {
		truncated += n
	}
	return out, truncated, nil
}

// Synthesize writes an answer; see port.Synthesizer.
func (m *Model) Synthesize(ctx context.Context, q port.Question) (port.Synthesis, error) {
	const op = "synthesize"
	if err := m.requireTask(port.TaskSynthesize); err != nil {
		return port.Synthesis{}, err
	}
	request, size := &modelv1.GenerateRequest{Question: q.Text, MaxTokens: uint32(max(0, q.MaxTokens))}, len(q.Text)
	if !utf8.ValidString(q.Text) {
		return port.Synthesis{}, fault.Field(fault.InvalidRequest, "question", "is not valid UTF-8")
	}
	for i, s := range q.Sources {
		if !utf8.ValidString(s.Text) {
			return port.Synthesis{}, fault.Field(fault.InvalidRequest, "sources", "source %d is not valid UTF-8", i)
		}
		source := &modelv1.Source{Text: s.Text}
		if !s.Time.IsZero() {
			source.TimeUnixMs = s.Time.UnixMilli()
		}
		request.Sources = append(request.Sources, source)
		size += len(s.Text) + 24
	}
	if size > modelv1.MaxRequestBytes {
		return port.Synthesis{}, fault.Field(fault.InvalidRequest, "sources",
			"are %d bytes with the question, more than %d", size, modelv1.MaxRequestBytes)
	}
	asked := []part{partOf(op, port.Query, false, fmt.Sprintf("%q", append([]string{q.Text}, sourceTexts(q.Sources)...)))}
	if err := m.quarantine.check(nil, asked); err != nil {
		return port.Synthesis{}, errRefused("question")
	}
	a := answer{max: q.MaxTokens}
	err := m.call(ctx, op, scores, asked, func(ctx context.Context, rpc modelv1.ModelClient) error {
		stream, err := rpc.Generate(ctx, request)
		if err != nil {
			return err
		}
		for {
			chunk, err := stream.Recv()
			switch {
			case errors.Is(err, io.EOF) && a.done:
				return nil
			case errors.Is(err, io.EOF):
				return m.protocolViolation(op, errors.New("the answer broke off"))
			case err != nil:
				return err
			}
			if err := a.add(chunk); err != nil {
				return m.protocolViolation(op, err)
			}
		}
	})
	if err != nil {
		return port.Synthesis{}, err
	}
	return a.out, nil
}

func sourceTexts(sources []port.Source) []string {
	out := make([]string, len(sources))
	for i, s := range sources {
		out[i] = s.Text
	}
	return out
}

// counting is port.TokenCounter of a backend that counts.
type counting struct{ m *Model }

// CountTokens implements port.TokenCounter.
func (c counting) CountTokens(ctx context.Context, texts []string) ([]int, error) {
	const op = "count tokens"
	for i, s := range texts {
		if len(s) > maxTextBytes {
			return nil, fault.Field(fault.InvalidRequest, "texts", "text %d is longer than %d bytes", i, maxTextBytes)
		}
	}
	out := make([]int, len(texts))
	err := c.m.runBatches(ctx, op, queries, texts, "", func(ctx context.Context, rpc modelv1.ModelClient, b batch) error {
		r, err := rpc.CountTokens(ctx, &modelv1.TextBatch{Texts: b.texts})
		if err != nil {
			return err
		}
		counts, err := checkCounts(r, b.texts)
		if err != nil {
			return c.m.protocolViolation(op, err)
		}
		for i, row := range b.rows {
			out[row] = counts[i]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// tokenizing is port.Tokenizer of a backend that gives word pieces.
type tokenizing struct{ m *Model }

// TokenIDs implements port.Tokenizer.
func (t tokenizing) TokenIDs(ctx context.Context, as port.TextKind, texts []string) ([][]uint32, error) {
	const op = "token ids"
	_, kind := classAndKind(as)
	out := make([][]uint32, len(texts))
	err := t.m.runBatches(ctx, op, queries, texts, "", func(ctx context.Context, rpc modelv1.ModelClient, b batch) error {
		r, err := rpc.TokenIds(ctx, &modelv1.TextBatch{Texts: b.texts, Kind: kind})
		if err != nil {
			return err
		}
		ids, err := checkIDs(r, len(b.rows), t.m.description)
		if err != nil {
			return t.m.protocolViolation(op, err)
		}
		for i, row := range b.rows {
			out[row] = ids[i]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

var (
	_ port.Embedder      = (*Model)(nil)
	_ port.SparseEncoder = (*Model)(nil)
	_ port.Reranker      = (*Model)(nil)
	_ port.Synthesizer   = (*Model)(nil)
	_ port.TokenCounter  = counting{}
	_ port.Tokenizer     = tokenizing{}
)
