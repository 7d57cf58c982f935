package host_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host"
)

// start opens a backend of the test binary. Those without the SDK know no certificates.
func start(t testing.TB, o host.Options, args ...string) (port.Model, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m, err := host.Open(t.Context(), host.Command{Args: append([]string{self, "backend"}, args...), Unverified: true}, o)
	if err == nil {
		t.Cleanup(func() { _ = m.Close() })
	}
	return m, err
}

func open(t testing.TB, o host.Options, args ...string) port.Model {
	t.Helper()
	m, err := start(t, o, args...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func embed(ctx context.Context, m port.Model, texts ...string) (port.Dense, error) {
	return m.(port.Embedder).Embed(ctx, port.Passage, texts)
}

// right tells whether an answer holds the vectors of the texts.
func right(d port.Dense, texts ...string) bool {
	if d.Dim != dim || len(d.Data) != dim*len(texts) || len(d.Tokens) != len(texts) {
		return false
	}
	for i, text := range texts {
		for j, x := range vector(text) {
			if math.Abs(float64(d.Row(i)[j]-x)) > 1e-6 {
				return false
			}
		}
	}
	return true
}

// TestTasks: every task goes over the wire and back, with and without mTLS, in the
// order of the texts whatever the batches were.
func TestTasks(t *testing.T) {
	for _, mtls := range []bool{true, false} {
		t.Run(fmt.Sprintf("mtls=%v", mtls), func(t *testing.T) {
			m := open(t, host.Options{ID: "mine", MTLS: mtls, BatchTexts: 3}, "counter")
			i := m.Info()
			if i.ID != "mine" || i.Name != "honest" || i.Version != "1" || i.Dimensions != dim || i.MaxTokens != 100 ||
				i.Licence != "MIT" || i.Runtime != "plugin" ||
				!strings.HasPrefix(i.Digest, "sha256:") || len(i.Digest) != 71 || i.Digest == sum ||
				len(i.Tasks) != 4 || len(i.Languages) != 1 {
				t.Errorf("info %+v", i)
			}
			var texts []string
			for n := range 20 {
				texts = append(texts, strings.Repeat("word ", (n*7)%20))
			}
			d, err := embed(t.Context(), m, texts...)
			if err != nil || !right(d, texts...) || !slices.Equal(d.Tokens, tokens(texts)) {
				t.Errorf("%+v, %v", d, err)
			}
			if d, err := m.(port.Embedder).Embed(t.Context(), port.Query, []string{"a"}); err != nil || !right(d, "query: a") {
				t.Errorf("query %+v, %v", d, err)
			}
			if d, err := embed(t.Context(), m); err != nil || len(d.Data) != 0 {
				t.Errorf("no texts %+v, %v", d, err)
			}
			want, _ := honest{}.Encode(t.Context(), port.Passage, texts)
			s, err := m.(port.SparseEncoder).Encode(t.Context(), port.Passage, texts)
			if err != nil || !slices.Equal(s.Rows, want.Rows) || !slices.Equal(s.Terms, want.Terms) ||
				!slices.Equal(s.Weights, want.Weights) || !slices.Equal(s.Tokens, want.Tokens) {
				t.Errorf("sparse %+v, %v", s, err)
			}
			scored := append(texts, strings.Repeat("x", 2000), strings.Repeat("y", 1500))
			wantScores, _, _ := honest{}.Score(t.Context(), "q", scored)
			got, cut, err := m.(port.Reranker).Score(t.Context(), "q", scored)
			if err != nil || cut != 2 || !slices.Equal(got, wantScores) {
				t.Errorf("scores %v, %d cut, %v", got, cut, err)
			}
			a, err := m.(port.Synthesizer).Synthesize(t.Context(),
				port.Question{Text: "?", MaxTokens: 20,
					Sources: []port.Source{{Text: "Lyon", Time: time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)}}})
			if err != nil || a != (port.Synthesis{Text: "Lyon 2026-05-04 [1].", InputTokens: 5, OutputTokens: 3}) {
				t.Errorf("answer %+v, %v", a, err)
			}
			n, err := m.(port.TokenCounter).CountTokens(t.Context(), texts)
			if err != nil || !slices.Equal(n, tokens(texts)) {
				t.Errorf("counts %v, %v", n, err)
			}
			ids, err := m.(port.Tokenizer).TokenIDs(t.Context(), port.Passage, []string{"", "a b"})
			if err != nil || len(ids) != 2 || len(ids[0]) != 0 || !slices.Equal(ids[1], []uint32{7, 7}) {
				t.Errorf("ids %v, %v", ids, err)
			}
		})
	}
}

// TestUnclaimed: what a backend does not claim is not there.
func TestUnclaimed(t *testing.T) {
	m := open(t, host.Options{MTLS: true}, "embedder")
	if _, ok := m.(port.TokenCounter); ok {
		t.Error("it counts tokens")
	}
	if _, ok := m.(port.Tokenizer); ok {
		t.Error("it gives word pieces")
	}
	if _, _, err := m.(port.Reranker).Score(t.Context(), "q", []string{"a"}); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("rerank: %v", err)
	}
}

// TestInput: what callers may not send, and what a backend refuses or fails at.
func TestInput(t *testing.T) {
	m := open(t, host.Options{MTLS: true}, "honest")
	for name, c := range map[string]struct {
		text string
		want fault.Code
	}{
		"invalid UTF-8": {"\xff", fault.InvalidRequest}, "refused": {"refused", fault.InvalidRequest},
		"panic": {"panic", fault.Upstream},
		"NUL":   {"a\x00b", ""}, "empty": {"", ""}, "5 MiB": {strings.Repeat("é", 5<<19), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := embed(t.Context(), m, c.text); fault.CodeOf(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := embed(t.Context(), m, "refused"); !strings.Contains(err.Error(), "this text is refused") {
		t.Errorf("the reason is lost: %v", err)
	}
}

// TestMessageLimit: texts of many megabytes go over in messages under gRPC's limit.
func TestMessageLimit(t *testing.T) {
	m := open(t, host.Options{MTLS: true, BatchTexts: 1000}, "honest")
	var texts []string
	for n := range 60 {
		texts = append(texts, strings.Repeat(string(rune('a'+n%26)), 300<<10))
	}
	d, err := embed(t.Context(), m, texts...)
	if err != nil || !right(d, texts...) {
		t.Errorf("%d rows, %v", len(d.Tokens), err)
	}
	if _, _, err := m.(port.Reranker).Score(t.Context(), strings.Repeat("q", 700<<10), texts); err != nil {
		t.Error(err)
	}
	if _, _, err := m.(port.Reranker).Score(t.Context(), strings.Repeat("q", 1<<20),
		texts); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("a long query: %v", err)
	}
}

// TestLies: a backend that breaks the protocol gives upstream_error, never an
// answer, and serves on where it can.
func TestLies(t *testing.T) {
	question := port.Question{Text: "?", MaxTokens: 10, Sources: []port.Source{{Text: "a"}}}
	for conduct, call := range map[string]func(port.Model) error{
		"nan": nil, "infinite": nil, "long": nil, "zero": nil, "other-dim": nil, "short": nil, "more-rows": nil,
		"no-tokens": nil, "many-tokens": nil, "huge": nil, "long-error": nil,
		"terms-fall": sparse, "terms-beyond": sparse, "weights": sparse, "offsets": sparse,
		"scores": score, "few-scores": score,
		"broken-off": func(m port.Model) error {
			_, err := m.(port.Synthesizer).Synthesize(t.Context(), question)
			return err
		},
		"endless": func(m port.Model) error {
			_, err := m.(port.Synthesizer).Synthesize(t.Context(), question)
			return err
		},
		"chatter": func(m port.Model) error {
			_, err := m.(port.Synthesizer).Synthesize(t.Context(), question)
			return err
		},
		"raw": func(m port.Model) error { // claims abilities that it does not have
			_, err := m.(port.TokenCounter).CountTokens(t.Context(), []string{"a"})
			return err
		},
	} {
		t.Run(conduct, func(t *testing.T) {
			t.Parallel()
			m := open(t, host.Options{}, conduct)
			if call == nil {
				call = func(m port.Model) error { _, err := embed(context.Background(), m, "a", "b"); return err }
			}
			for range 2 {
				if err := call(m); fault.CodeOf(err) != fault.Upstream {
					t.Fatalf("got %v, want upstream_error", err)
				}
			}
		})
	}
}

func sparse(m port.Model) error {
	_, err := m.(port.SparseEncoder).Encode(context.Background(), port.Passage, []string{"a", "b"})
	return err
}

func score(m port.Model) error {
	_, _, err := m.(port.Reranker).Score(context.Background(), "q", []string{"a", "b"})
	return err
}

// TestCodes: the codes of the protocol reach the caller as those of the ABI do.
func TestCodes(t *testing.T) {
	m := open(t, host.Options{}, "codes")
	for code, want := range map[string]fault.Code{"3": fault.InvalidRequest, "11": fault.InvalidRequest,
		"12": fault.Upstream, "8": fault.Upstream, "13": fault.Upstream,
		"2": fault.Upstream, "4": fault.Timeout, "14": fault.Unavailable, "1": fault.Upstream, "16": fault.Upstream} {
		if _, err := embed(t.Context(), m, code); fault.CodeOf(err) != want {
			t.Errorf("code %s: %v, want %s", code, err, want)
		}
		if code == "14" {
			time.Sleep(50 * time.Millisecond)
		}
	}
	busy := open(t, host.Options{}, "busy")
	if _, err := embed(t.Context(), busy, "a"); fault.CodeOf(err) != fault.Unavailable ||
		fault.From(err).RetryAfter != 7*time.Second {
		t.Errorf("busy: %v, after %s", err, fault.From(err).RetryAfter)
	}
}

// TestNoStart: what keeps a backend from serving is told with its last words, and
// nothing stays behind.
func TestNoStart(t *testing.T) {
	for conduct, want := range map[string]string{
		"no-start": "exit status 3; its last output:\ncannot open weights.bin", "mute": "it did not serve within 2s",
		"deaf":    "it did not serve within 2s",
		"version": "Plugin version: 7, Client versions: [1]", "core": "incompatible core API version", "tcp": "without mtls",
		"no-digest": "sha256: and 64 hex digits", "no-task": "claims no task", "odd-task": "task 99",
		"no-dim": "0 dimensions", "nothing": "no such conduct",
	} {
		t.Run(conduct, func(t *testing.T) {
			t.Parallel()
			began, limit := time.Now(), 15*time.Second
			if strings.Contains(want, "2s") {
				limit = 2 * time.Second
			}
			_, err := start(t, host.Options{StartTimeout: limit}, conduct)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
			if d := time.Since(began); d > time.Minute {
				t.Errorf("took %s", d)
			}
		})
	}
	t.Run("no certificate", func(t *testing.T) {
		if _, err := start(t, host.Options{MTLS: true, StartTimeout: 10 * time.Second}, "raw"); err == nil ||
			!strings.Contains(err.Error(), "mtls: off") {
			t.Errorf("%v", err)
		}
	})
	t.Run("canceled", func(t *testing.T) {
		self, _ := os.Executable()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, err := host.Open(ctx, host.Command{Args: []string{self, "backend", "mute"}, Unverified: true},
			host.Options{}); err == nil || time.Since(began) > time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestSlowStart(t *testing.T) {
	m := open(t, host.Options{MTLS: true, StartTimeout: 30 * time.Second}, "slow-start", "1s")
	if d, err := embed(t.Context(), m, "a"); err != nil || !right(d, "a") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestVerify: nothing starts that is not what was approved.
func TestVerify(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := fmt.Sprintf("%x", sha256.Sum256(b))
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	if err := os.WriteFile(filepath.Join(dir, "weights"), []byte("w"), 0o600); err != nil {
		t.Fatal(err)
	}
	weights := fmt.Sprintf("%x", sha256.Sum256([]byte("w")))
	args := []string{self, "backend", "environment", ran}
	for name, c := range map[string]struct {
		command host.Command
		want    string
	}{
		"no sum":    {host.Command{Args: args}, "sha256: is needed"},
		"wrong sum": {host.Command{Args: args, SHA256: weights}, "not the file that was approved"},
		"no hex":    {host.Command{Args: args, SHA256: "xyz"}, "not the file that was approved"},
		"wrong file": {host.Command{
			Args:   args,
			SHA256: program,
			Dir:    dir,
			Files:  map[string]string{"weights": program},
		}, "not the file that was approved"},
		"file gone": {host.Command{
			Args:   args,
			SHA256: program,
			Dir:    dir,
			Files:  map[string]string{"gone": weights},
		}, "no such file"},
		"no program":    {host.Command{Args: []string{filepath.Join(dir, "gone")}, Unverified: true}, "no such file"},
		"no name":       {host.Command{Unverified: true}, "names nothing"},
		"no executable": {host.Command{Args: []string{filepath.Join(dir, "weights")}, Unverified: true}, "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := host.Open(t.Context(), c.command, host.Options{MTLS: true}); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("it was started")
			}
		})
	}
	good := host.Command{Args: args, SHA256: program, Dir: dir, Files: map[string]string{"weights": weights}}
	m, err := host.Open(t.Context(), good, host.Options{MTLS: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	good.Files = nil
	other, err := host.Open(t.Context(), good, host.Options{MTLS: true})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	declared, err := host.Open(t.Context(), good, host.Options{MTLS: true, DeclaredOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer declared.Close()
	if a, b, c := m.Info().Digest, other.Info().Digest, declared.Info().Digest; a == b || b == c || a == c {
		t.Errorf("identities %s, %s, %s", a, b, c)
	}
}

// TestEnvironment: a backend sees what it was given, and nothing of this process's.
func TestEnvironment(t *testing.T) {
	t.Setenv("MNEME_TEST_SECRET", "of the host")
	self, _ := os.Executable()
	file := filepath.Join(t.TempDir(), "env")
	m, err := host.Open(t.Context(), host.Command{Args: []string{self, "backend", "environment", file},
		Unverified: true, Env: []string{"GIVEN=yes"}}, host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "GIVEN=yes") {
		t.Errorf("not given what was meant for it:\n%s", b)
	}
	for _, line := range strings.Split(string(b), "\n") {
		name, _, _ := strings.Cut(line, "=")
		if name != "GIVEN" && name != "MNEME_MODEL_BACKEND" && !strings.HasPrefix(name, "PLUGIN_") {
			t.Errorf("the environment has %s", line)
		}
	}
}

// safe is a buffer that several goroutines write.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(b []byte) (int, error) { s.mu.Lock(); defer s.mu.Unlock(); return s.b.Write(b) }
func (s *safe) String() string              { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// TestLogs: what a backend writes is in our log at its level, and a flood of it
// neither stops the backend nor fills the log.
func TestLogs(t *testing.T) {
	var log safe
	o := host.Options{ID: "m", MTLS: true, Log: slog.New(slog.NewTextHandler(&log, nil))}
	m := open(t, o, "logs")
	_ = m.Close()
	for _, want := range []string{`level=WARN msg="weights are old {\"age\":5}" model=m`,
		`level=ERROR msg="ERROR:root:a Python line" model=m`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in\n%s", want, log.String())
		}
	}
	var flooded safe
	o.MTLS, o.Log = false, slog.New(slog.NewTextHandler(&flooded, nil))
	began := time.Now()
	f := open(t, o, "flood")
	// What was left out of a second is told with the next line after it.
	for end := time.Now().Add(time.Minute); !strings.Contains(flooded.String(), "lines_left_out") && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if d, err := embed(t.Context(), f, "a"); err != nil || !right(d, "a") {
		t.Errorf("%+v, %v", d, err)
	}
	_ = f.Close()
	seconds := 1 + int(time.Since(began)/time.Second)
	if n := len(flooded.String()); n > 2*seconds<<20 || n == 0 {
		t.Errorf("%d bytes of log", n)
	}
	if !strings.Contains(flooded.String(), "lines_left_out") {
		t.Error("no word of what was left out")
	}
}
