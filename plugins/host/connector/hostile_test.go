package connector_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	sourcev1 "github.com/mnemehq/mneme/plugins/proto/source"
)

// The test binary is also the program of connectors: started with "connector" and what it
// says of itself, it does what the configuration of each source asks for.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "connector" {
		serve(os.Args[2], append(os.Args[3:], "")[0])
		return
	}
	os.Exit(m.Run())
}

const (
	secret  = "a-token-that-nobody-may-see"
	another = "another-token-of-the-same-length"
)

// hostile does what no program should.
type hostile struct {
	plugin.NetRPCUnsupportedPlugin
	sourcev1.UnimplementedConnectorServer
	describes string
	flag      string // a file that says that it has been started before
	sent      atomic.Int64
	renew     chan *sourcev1.Renewed
	kept      chan *sourcev1.Kept
}

func serve(describes, flag string) {
	h := &hostile{describes: describes, flag: flag, renew: make(chan *sourcev1.Renewed), kept: make(chan *sourcev1.Kept, 1)}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: sourcev1.CookieKey, MagicCookieValue: sourcev1.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{sourcev1.Version: {sourcev1.PluginName: h}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(o, grpc.MaxSendMsgSize(64<<20))...)
		},
	})
}

func (h *hostile) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	sourcev1.RegisterConnectorServer(g, h)
	return nil
}

func (h *hostile) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("none")
}

func describedKind(name string) *sourcev1.Kind {
	return &sourcev1.Kind{
		Name:          name,
		Title:         "A kind",
		Summary:       "Of a test.",
		ConfigSchema:  []byte(`{"type": "object"}`),
		SecretsSchema: []byte(`{"type": "object", "properties": {"token": {"type": "string"}}}`),
		Revokes:       true,
	}
}

func (h *hostile) Describe(context.Context, *sourcev1.DescribeRequest) (*sourcev1.ConnectorInfo, error) {
	one := describedKind("hostile")
	info := &sourcev1.ConnectorInfo{Name: "hostile", Version: "1", Kinds: []*sourcev1.Kind{one}, Renews: true}
	switch h.describes {
	case "nothing":
		info.Kinds = nil
	case "no name":
		info.Name = ""
	case "a wrong name":
		one.Name = "Not A Name"
	case "no title":
		one.Title = ""
	case "twice":
		info.Kinds = append(info.Kinds, describedKind("hostile"))
	case "no schema":
		one.ConfigSchema = nil
	case "an array":
		one.SecretsSchema = []byte(`{"type": "array"}`)
	case "a long schema":
		one.ConfigSchema = []byte(`{"type": "object", "title": "` + strings.Repeat("x", sourcev1.MaxSchema) + `"}`)
	case "many":
		for i := range sourcev1.MaxKinds {
			info.Kinds = append(info.Kinds, describedKind("k"+strconv.Itoa(i)))
		}
	case "changes":
		if _, err := os.Stat(h.flag); err == nil {
			info.Version = "2"
		}
		_ = os.WriteFile(h.flag, nil, 0o600)
	case "an error":
		return nil, status.Error(codes.Internal, "not today")
	}
	return info, nil
}

const hoarded = 1 << 30 // where a program that nobody stops stops by itself

// hoard takes more and more memory.
func hoard() {
	var all [][]byte
	for range hoarded >> 23 {
		piece := make([]byte, 1<<23)
		for i := 0; i < len(piece); i += 4096 {
			piece[i] = 1
		}
		all = append(all, piece)
	}
	runtime.KeepAlive(all)
}

// asked is what a source's configuration asks for.
func asked(c *sourcev1.Connection) string {
	var config struct{ Do string }
	_ = json.Unmarshal(c.GetConfig(), &config)
	fmt.Fprintln(os.Stderr, "asked with", c.GetSecrets()["token"])
	return config.Do
}

func item(key string) *sourcev1.ListEvent {
	return &sourcev1.ListEvent{Event: &sourcev1.ListEvent_Item{Item: &sourcev1.Item{Key: key, Version: "1"}}}
}

func complete(snapshot bool) *sourcev1.ListEvent {
	return &sourcev1.ListEvent{Event: &sourcev1.ListEvent_Complete{Complete: &sourcev1.Complete{Snapshot: snapshot}}}
}

func checkpoint(state string) *sourcev1.ListEvent {
	return &sourcev1.ListEvent{Event: &sourcev1.ListEvent_Checkpoint{Checkpoint: &sourcev1.Checkpoint{State: []byte(state)}}}
}

func problem(p *sourcev1.Problem) *sourcev1.ListEvent {
	return &sourcev1.ListEvent{Event: &sourcev1.ListEvent_Problem{Problem: p}}
}

// failure is the error that a word asks for.
func failure(do string, c *sourcev1.Connection) error {
	word, ok := strings.CutPrefix(do, "fail ")
	if !ok {
		return nil
	}
	n, _ := strconv.Atoi(word)
	s := status.New(codes.Code(n), "it does not like "+c.GetSecrets()["token"])
	s, _ = s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(48 * time.Hour)})
	return s.Err()
}

func (h *hostile) List(r *sourcev1.ListRequest, stream sourcev1.Connector_ListServer) error {
	do := asked(r.GetConnection())
	if err := failure(do, r.GetConnection()); err != nil {
		return err
	}
	token := r.GetConnection().GetSecrets()["token"]
	send := func(all ...*sourcev1.ListEvent) error {
		for _, e := range all {
			if err := stream.Send(e); err != nil {
				return err
			}
		}
		return nil
	}
	withName := item("a")
	withName.GetItem().Name = "see " + token
	large := item("a")
	large.GetItem().Content = &sourcev1.Content{Data: make([]byte, sourcev1.MaxInline+1)}
	huge := item("a")
	huge.GetItem().Content = &sourcev1.Content{Data: make([]byte, sourcev1.MaxMessage+1)}
	odd := item("a")
	odd.GetItem().Content = &sourcev1.Content{Metadata: []byte(`["no", "object"]`)}
	switch do {
	case "hang":
		<-stream.Context().Done() // the time of the call may end here before it ends for who calls
		return stream.Context().Err()
	case "hang deaf": // and stays after its caller has gone
		select {}
	case "flood":
		for {
			if err := send(item("key " + strconv.FormatInt(h.sent.Add(1), 10))); err != nil {
				return err
			}
		}
	case "exit":
		_ = send(item("a"), item("b"))
		os.Exit(3)
	case "go on":
		return send(item("a"), complete(true), item("b"))
	case "twice":
		return send(item("a"), complete(true), complete(true))
	case "fail late":
		_ = send(item("a"), complete(true))
		return status.Error(codes.Internal, "after all")
	case "hoard":
		hoard()
	case "break off":
		return send(item("a"))
	case "secret name":
		return send(withName, complete(true))
	case "secret key":
		return send(item("/"+token+"/"), complete(true))
	case "secret state":
		return send(item("a"), checkpoint(`{"token":"`+token+`"}`), complete(true))
	case "no state":
		return send(checkpoint(""), complete(true))
	case "long state":
		return send(checkpoint(strings.Repeat("x", sourcev1.MaxState+1)), complete(true))
	case "large":
		return send(large, complete(true))
	case "huge":
		return send(huge, complete(true))
	case "odd metadata":
		return send(odd, complete(true))
	case "problems":
		one := &sourcev1.Problem{Path: "a/" + token, Code: sourcev1.Code_CODE_FORBIDDEN, Message: "not with " + token}
		return send(problem(one), problem(&sourcev1.Problem{Code: 99}), complete(true))
	case "from the future":
		return send(&sourcev1.ListEvent{}, item("a"), complete(true))
	case "empty":
		return send(complete(true))
	}
	return send(item("a"), item("b"), checkpoint("state"), complete(true))
}

func (h *hostile) Check(ctx context.Context, r *sourcev1.CheckRequest) (*sourcev1.CheckReport, error) {
	do := asked(r.GetConnection())
	if err := failure(do, r.GetConnection()); err != nil {
		return nil, err
	}
	one := &sourcev1.FieldProblem{Field: "config.do", Message: "is not " + r.GetConnection().GetSecrets()["token"]}
	out := &sourcev1.CheckReport{Problems: []*sourcev1.FieldProblem{one}}
	switch do {
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "a field of nobody's":
		one.Field = "path"
	case "no message":
		one.Message = ""
	case "many":
		for range 100 {
			out.Problems = append(out.Problems, one)
		}
	case "sent":
		one.Message = strconv.FormatInt(h.sent.Load(), 10)
	case "fine":
		out.Problems = nil
	}
	return out, nil
}

func (h *hostile) Fetch(r *sourcev1.FetchRequest, stream sourcev1.Connector_FetchServer) error {
	do := asked(r.GetConnection())
	if err := failure(do, r.GetConnection()); err != nil {
		return err
	}
	head := &sourcev1.FetchChunk{Chunk: &sourcev1.FetchChunk_Head{Head: &sourcev1.Content{MediaType: "text/plain",
		Metadata: []byte(`{"number": 12345678901234567890}`)}}}
	data := &sourcev1.FetchChunk{Chunk: &sourcev1.FetchChunk_Data{Data: []byte("text")}}
	switch do {
	case "hang":
		<-stream.Context().Done() // the time of the call may end here before it ends for who calls
		return stream.Context().Err()
	case "flood":
		_ = stream.Send(head)
		data.GetChunk().(*sourcev1.FetchChunk_Data).Data = make([]byte, 64<<10)
		for {
			if err := stream.Send(data); err != nil {
				return err
			}
		}
	case "no head":
		return stream.Send(data)
	case "nothing":
		return nil
	case "two heads":
		_ = stream.Send(head)
		return stream.Send(head)
	case "break off":
		_ = stream.Send(head)
		_ = stream.Send(data)
		return status.Error(codes.Unavailable, "the app broke off")
	case "exit":
		os.Exit(3)
	}
	_ = stream.Send(head)
	_ = stream.Send(data)
	return stream.Send(data)
}

func (h *hostile) Revoke(ctx context.Context, r *sourcev1.RevokeRequest) (*sourcev1.RevokeReport, error) {
	call := r.GetConnection().GetCall()
	renewed := &sourcev1.Renewed{Number: 7, Call: call, Secrets: map[string]string{"token": another}}
	times := 1
	switch asked(r.GetConnection()) {
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "renew another's":
		renewed.Call = "of somebody else"
	case "renew what there is not":
		renewed.Secrets = map[string]string{"key_of_the_server": "x"}
	case "renew to nothing":
		renewed.Secrets = map[string]string{"token": ""}
	case "renew nothing":
		renewed.Secrets = nil
	case "renew too much":
		renewed.Secrets = map[string]string{"token": strings.Repeat("x", 1<<20)}
	case "renew for ever":
		times = 102
	case "renew late":
		go func() { // after its call has ended
			<-ctx.Done()
			h.renew <- renewed
			<-h.kept
		}()
		return &sourcev1.RevokeReport{}, nil
	}
	answer := ""
	for range times {
		h.renew <- renewed
		kept := <-h.kept
		if kept.GetNumber() != renewed.GetNumber() {
			return nil, status.Error(codes.InvalidArgument, "an answer to something else")
		}
		answer = kept.GetError()
	}
	if answer != "" {
		return nil, status.Error(codes.InvalidArgument, answer)
	}
	return &sourcev1.RevokeReport{}, nil
}

func (h *hostile) Renew(stream sourcev1.Connector_RenewServer) error {
	go func() {
		for {
			k, err := stream.Recv()
			if err != nil {
				return
			}
			h.kept <- k
		}
	}()
	for {
		select {
		case r := <-h.renew:
			if err := stream.Send(r); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		}
	}
}
