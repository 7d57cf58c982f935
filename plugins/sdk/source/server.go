package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mnemehq/mneme/core/port"
	sourcev1 "github.com/mnemehq/mneme/plugins/proto/source"
)

// server is the wire side of connectors.
type server struct {
	plugin.NetRPCUnsupportedPlugin
	sourcev1.UnimplementedConnectorServer
	info       *sourcev1.ConnectorInfo
	connectors map[string]port.Connector // by kind
	renewals   *renewals
}

// statusOf are the codes of PROTOCOL-SOURCE.md.
var statusOf = map[port.SourceCode]codes.Code{
	port.SourceConfig:      codes.InvalidArgument,
	port.SourceCredentials: codes.Unauthenticated,
	port.SourceForbidden:   codes.PermissionDenied,
	port.SourceNotFound:    codes.NotFound,
	port.SourceTooLarge:    codes.OutOfRange,
	port.SourceRateLimited: codes.ResourceExhausted,
	port.SourceUnavailable: codes.Unavailable,
	port.SourceSkipped:     codes.FailedPrecondition,
}

// toStatus gives an error its code. Causes go to the log.
func toStatus(err error) error {
	if _, is := status.FromError(err); is { // of a stream, or none
		return err
	}
	var source *port.SourceError
	var file *port.FileError
	switch {
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, err.Error())
	case errors.As(err, &file):
		code := codes.FailedPrecondition
		if file.Code == port.FileTooLarge {
			code = codes.OutOfRange
		}
		return status.Error(code, file.Message)
	case !errors.As(err, &source):
		return status.Error(codes.Internal, err.Error())
	}
	if source.Err != nil {
		fmt.Fprintf(os.Stderr, "[WARN] %s: %v\n", source.Message, source.Err)
	}
	code, known := statusOf[source.Code]
	if !known {
		code = codes.Unavailable
	}
	s := status.New(code, source.Message)
	if source.RetryAfter > 0 {
		if with, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(source.RetryAfter)}); err == nil {
			s = with
		}
	}
	return s.Err()
}

// guarded runs a method of a connector. A panic becomes the call's error, with its stack in
// the log, and the program goes on serving.
func guarded(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "[ERROR] panic: %v\n%s\n", r, debug.Stack())
			err = status.Error(codes.Internal, "the connector panicked")
		}
	}()
	if err := do(); err != nil {
		return toStatus(err)
	}
	return nil
}

// connection finds the connector of a call and makes what it is called with.
func (s *server) connection(c *sourcev1.Connection) (port.Connector, port.Connection, error) {
	connector, ok := s.connectors[c.GetKind()]
	if !ok {
		return nil, port.Connection{}, status.Errorf(codes.Unimplemented, "this program has no kind %q", c.GetKind())
	}
	call := c.GetCall()
	return connector, port.Connection{
		Source:  c.GetSource(),
		Config:  json.RawMessage(c.GetConfig()),
		Secrets: c.GetSecrets(),
		Known:   func(context.Context, string) (string, bool, error) { return "", false, nil },
		Renew: func(ctx context.Context, secrets map[string]string) error {
			return s.renewals.renew(ctx, call, secrets)
		},
	}, nil
}

// Describe implements the protocol.
func (s *server) Describe(context.Context, *sourcev1.DescribeRequest) (*sourcev1.ConnectorInfo, error) {
	return s.info, nil
}

// Check implements the protocol.
func (s *server) Check(ctx context.Context, r *sourcev1.CheckRequest) (*sourcev1.CheckReport, error) {
	connector, c, err := s.connection(r.GetConnection())
	if err != nil {
		return nil, err
	}
	out := &sourcev1.CheckReport{}
	err = guarded(func() error {
		problems, err := connector.Check(ctx, c)
		for _, p := range problems {
			out.Problems = append(out.Problems, &sourcev1.FieldProblem{Field: p.Field, Message: p.Message})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// List implements the protocol.
func (s *server) List(r *sourcev1.ListRequest, stream sourcev1.Connector_ListServer) error {
	connector, c, err := s.connection(r.GetConnection())
	if err != nil {
		return err
	}
	var state []byte
	if len(r.GetState()) > 0 {
		state = r.GetState()
	}
	return guarded(func() error { return connector.List(stream.Context(), c, state, &listing{stream}) })
}

// listing puts what a connector lists into the stream.
type listing struct{ stream sourcev1.Connector_ListServer }

func (l *listing) send(ctx context.Context, e *sourcev1.ListEvent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.stream.Send(e); err != nil {
		return cmp.Or(l.stream.Context().Err(), err)
	}
	return nil
}

// Item implements port.SourceListing.
func (l *listing) Item(ctx context.Context, i port.SourceItem) error {
	out := &sourcev1.Item{Key: i.Key, Version: i.Version, Name: i.Name, Url: i.URL}
	if i.Size >= 0 {
		out.Size = &i.Size
	}
	if !i.Modified.IsZero() {
		out.ModifiedMs = i.Modified.UnixMilli()
	}
	if i.Content != nil {
		head, body, err := opened(*i.Content)
		if err != nil {
			return err
		}
		defer body.Close()
		data, err := io.ReadAll(io.LimitReader(body, sourcev1.MaxInline+1))
		if err != nil {
			return err
		}
		// What is longer is fetched when it is wanted.
		if len(data) <= sourcev1.MaxInline {
			head.Data = data
			out.Content = head
		}
	}
	return l.send(ctx, &sourcev1.ListEvent{Event: &sourcev1.ListEvent_Item{Item: out}})
}

// Gone implements port.SourceListing.
func (l *listing) Gone(ctx context.Context, key string) error {
	return l.send(ctx, &sourcev1.ListEvent{Event: &sourcev1.ListEvent_Gone{Gone: &sourcev1.Gone{Key: key}}})
}

// Checkpoint implements port.SourceListing.
func (l *listing) Checkpoint(ctx context.Context, state []byte) error {
	return l.send(ctx, &sourcev1.ListEvent{Event: &sourcev1.ListEvent_Checkpoint{Checkpoint: &sourcev1.Checkpoint{State: state}}})
}

// codeOf are the codes of problems.
var codeOf = map[port.SourceCode]sourcev1.Code{
	port.SourceConfig:      sourcev1.Code_CODE_CONFIG,
	port.SourceCredentials: sourcev1.Code_CODE_CREDENTIALS,
	port.SourceForbidden:   sourcev1.Code_CODE_FORBIDDEN,
	port.SourceNotFound:    sourcev1.Code_CODE_NOT_FOUND,
	port.SourceTooLarge:    sourcev1.Code_CODE_TOO_LARGE,
	port.SourceRateLimited: sourcev1.Code_CODE_RATE_LIMITED,
	port.SourceUnavailable: sourcev1.Code_CODE_UNAVAILABLE,
	port.SourceSkipped:     sourcev1.Code_CODE_SKIPPED,
}

// Problem implements port.SourceListing.
func (l *listing) Problem(ctx context.Context, p port.SourceProblem) error {
	return l.send(ctx, &sourcev1.ListEvent{Event: &sourcev1.ListEvent_Problem{
		Problem: &sourcev1.Problem{Path: p.Path, Code: codeOf[p.Code], Message: p.Message}}})
}

// Complete implements port.SourceListing.
func (l *listing) Complete(ctx context.Context, snapshot bool) error {
	return l.send(ctx, &sourcev1.ListEvent{Event: &sourcev1.ListEvent_Complete{Complete: &sourcev1.Complete{Snapshot: snapshot}}})
}

// opened is a content's head, without its data, and a reader of that.
func opened(c port.SourceContent) (*sourcev1.Content, io.ReadCloser, error) {
	head := &sourcev1.Content{Name: c.File.Name, MediaType: c.File.MediaType, Charset: c.File.Charset, Version: c.Version}
	body := c.Body
	if body == nil {
		body = io.NopCloser(&once{c.File.Content})
	}
	if len(c.Metadata) > 0 {
		var err error
		if head.Metadata, err = json.Marshal(c.Metadata); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("metadata: %w", err), body.Close())
		}
	}
	return head, body, nil
}

// once reads bytes without a copy of them before.
type once struct{ rest []byte }

func (o *once) Read(p []byte) (int, error) {
	if len(o.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// Fetch implements the protocol.
func (s *server) Fetch(r *sourcev1.FetchRequest, stream sourcev1.Connector_FetchServer) error {
	connector, c, err := s.connection(r.GetConnection())
	if err != nil {
		return err
	}
	i := r.GetItem()
	item := port.SourceItem{Key: i.GetKey(), Version: i.GetVersion(), Name: i.GetName(), URL: i.GetUrl(), Size: -1}
	if i.Size != nil {
		item.Size = i.GetSize()
	}
	if ms := i.GetModifiedMs(); ms != 0 {
		item.Modified = time.UnixMilli(ms)
	}
	return guarded(func() error {
		content, err := connector.Fetch(stream.Context(), c, item)
		if err != nil {
			return err
		}
		head, body, err := opened(content)
		if err != nil {
			return err
		}
		defer body.Close()
		if err := stream.Send(&sourcev1.FetchChunk{Chunk: &sourcev1.FetchChunk_Head{Head: head}}); err != nil {
			return err
		}
		for {
			part := make([]byte, sourcev1.MaxChunk)
			n, err := io.ReadFull(body, part)
			if n > 0 {
				if err := stream.Send(&sourcev1.FetchChunk{Chunk: &sourcev1.FetchChunk_Data{Data: part[:n]}}); err != nil {
					return err
				}
			}
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				return nil
			case err != nil:
				return err
			}
		}
	})
}

// Revoke implements the protocol.
func (s *server) Revoke(ctx context.Context, r *sourcev1.RevokeRequest) (*sourcev1.RevokeReport, error) {
	connector, c, err := s.connection(r.GetConnection())
	if err != nil {
		return nil, err
	}
	if err := guarded(func() error { return connector.Revoke(ctx, c) }); err != nil {
		return nil, err
	}
	return &sourcev1.RevokeReport{}, nil
}
