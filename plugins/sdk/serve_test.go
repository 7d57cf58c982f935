package sdk

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	modelv1 "github.com/mnemehq/mneme/plugins/proto"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		Serve(model{port.ModelInfo{Digest: os.Args[2]}})
	}
	os.Exit(m.Run())
}

type model struct{ info port.ModelInfo }

func (m model) Info() port.ModelInfo { return m.info }
func (model) Close() error           { return nil }

type embedder struct{ model }

func (embedder) Embed(context.Context, port.TextKind, []string) (port.Dense, error) {
	return port.Dense{}, fault.New(fault.Unavailable, "busy").After(3 * time.Second)
}

func TestDescription(t *testing.T) {
	sum := "sha256:" + strings.Repeat("a", 64)
	info := port.ModelInfo{
		Name:       "a",
		Version:    "1",
		Digest:     sum,
		Licence:    "MIT",
		Dimensions: 3,
		MaxTokens:  7,
		Tasks:      []port.Task{port.TaskEmbed},
	}
	s, err := newServer(embedder{model{info}}, Unnormalized(), Vocabulary(9))
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Describe(t.Context(), nil)
	if err != nil || d.GetName() != "a" || d.GetDigest() != sum || len(d.GetTasks()) != 1 || d.GetCountsTokens() ||
		d.GetGivesTokenIds() {
		t.Errorf("%v, %v", d, err)
	}
	if task := d.GetTasks()[0]; task.GetTask() != modelv1.Task_TASK_EMBEDDING || task.GetDim() != 3 ||
		task.GetMaxTokens() != 7 || task.GetNormalized() {
		t.Errorf("%v", task)
	}
	if _, err := s.Sparse(t.Context(), nil); status.Code(err) != codes.Unimplemented {
		t.Errorf("sparse: %v", err)
	}
	_, err = s.Embed(t.Context(), nil)
	if got := status.Convert(err); got.Code() != codes.Unavailable || len(got.Details()) != 1 ||
		got.Details()[0].(*errdetails.RetryInfo).GetRetryDelay().AsDuration() != 3*time.Second {
		t.Errorf("busy: %v", err)
	}
	for name, m := range map[string]port.Model{
		"no digest":  embedder{model{port.ModelInfo{Tasks: info.Tasks}}},
		"no methods": model{info},
	} {
		if _, err := newServer(m); err == nil {
			t.Errorf("%s is served", name)
		}
	}
}

func TestCodes(t *testing.T) {
	for want, err := range map[codes.Code]error{
		codes.InvalidArgument: fault.New(fault.InvalidRequest, "x"),
		codes.OutOfRange:      fault.New(fault.PayloadTooLarge, "x"), codes.Internal: errors.New("x"),
		codes.DeadlineExceeded: context.DeadlineExceeded, codes.Canceled: context.Canceled,
		codes.Unavailable: fault.New(fault.RateLimited, "x"),
	} {
		if got := status.Code(toStatus(err)); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
	if got := status.Convert(toStatus(fault.Wrap(fault.Upstream, "op", errors.New("the cause"),
		"failed"))); !strings.Contains(got.Message(), "the cause") {
		t.Errorf("the host's log does not learn the cause: %v", got)
	}
}

// A backend started by hand, and one that cannot be served, say so and end.
func TestByHand(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for want, env := range map[string][]string{"mneme models check": nil,
		"the model's digest": {modelv1.CookieKey + "=" + modelv1.CookieValue}} {
		cmd := exec.Command(self, "serve", "none")
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, want %q:\n%s", err, want, out)
		}
	}
}
