package connector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host/supervise"
	sourcev1 "github.com/mnemehq/mneme/plugins/proto/source"
)

// Connector is one kind of a program.
type Connector struct {
	program     *Program
	kind        port.SourceKind
	secretNames []string
}

// Kind describes it.
func (c *Connector) Kind() port.SourceKind { return c.kind }

// errViolation is what breaks a rule of the protocol.
type errViolation struct{ why string }

func (e *errViolation) Error() string { return e.why }

func violation(format string, args ...any) error { return &errViolation{fmt.Sprintf(format, args...)} }

// call makes one call over the wire, with a connection that is good for it alone.
func (c *Connector) call(ctx context.Context, op string, conn port.Connection, limit time.Duration,
	do func(context.Context, sourcev1.ConnectorClient, *sourcev1.Connection) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := c.program
	run, err := p.backend.Run()
	if err != nil {
		return c.translate(ctx, op, err)
	}
	defer p.secrets.hold(conn.Secrets)()
	id, done := p.calls.begin(ctx, c, conn)
	defer done()
	wire := &sourcev1.Connection{
		Kind:    c.kind.Name,
		Config:  conn.Config,
		Secrets: conn.Secrets,
		Source:  conn.Source,
		Call:    id,
	}
	err = p.backend.Call(ctx, run, limit, func(ctx context.Context) error {
		return do(ctx, sourcev1.NewConnectorClient(run.Conn()), wire)
	})
	return c.translate(ctx, op, err)
}

// enter waits for a place among the calls of a sort.
func enter(ctx context.Context, places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// codeOf are the codes of errors.
var codeOf = map[codes.Code]port.SourceCode{
	codes.InvalidArgument:    port.SourceConfig,
	codes.Unauthenticated:    port.SourceCredentials,
	codes.PermissionDenied:   port.SourceForbidden,
	codes.NotFound:           port.SourceNotFound,
	codes.OutOfRange:         port.SourceTooLarge,
	codes.ResourceExhausted:  port.SourceRateLimited,
	codes.Unavailable:        port.SourceUnavailable,
	codes.FailedPrecondition: port.SourceSkipped,
}

// maxWait is how long a program may ask to be left alone.
const maxWait = 24 * time.Hour

// translate makes the error of a call one of the port's.
func (c *Connector) translate(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	var ours *port.SourceError
	if errors.As(err, &ours) {
		return ours
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	unavailable := func(wait time.Duration, format string, args ...any) error {
		e := port.SourceErrorf(port.SourceUnavailable, err, format, args...)
		e.RetryAfter = wait
		return e
	}
	var broken *errViolation
	var f *fault.Error
	switch {
	case errors.Is(err, supervise.ErrEnded):
		return unavailable(time.Second, "its connector ended and is started again")
	case errors.As(err, &f):
		return unavailable(f.RetryAfter, "%s", strings.Replace(f.Message, "the connector", "its connector", 1))
	case errors.As(err, &broken):
		c.program.log.Error("connector protocol violation", "kind", c.kind.Name, "op", op,
			"error", c.program.secrets.redact(broken.why))
		return unavailable(0, "its connector gave an answer that breaks the protocol")
	case errors.Is(err, supervise.ErrOverdue):
		return unavailable(0, "its connector took longer than its time limit")
	}
	s, known := status.FromError(err)
	if !known {
		return unavailable(0, "its connector failed")
	}
	message := c.program.secrets.redact(fault.Clip(s.Message()))
	code, ofSource := codeOf[s.Code()]
	switch {
	case s.Code() == codes.ResourceExhausted && strings.HasPrefix(s.Message(), "grpc: "):
		return c.translate(ctx, op, violation("a message of more than %d bytes: %s", sourcev1.MaxMessage, message))
	case s.Code() == codes.Unimplemented:
		return c.translate(ctx, op, violation("it does not implement what it claims: %s", message))
	case s.Code() == codes.Unavailable && lost(s.Message()):
		return unavailable(time.Second, "its connector does not answer")
	case !ofSource || message == "":
		c.program.log.Warn("connector call failed", "kind", c.kind.Name, "op", op, "code", s.Code().String(), "error", message)
		return unavailable(0, "its connector failed")
	}
	e := &port.SourceError{Code: code, Message: message}
	for _, d := range s.Details() {
		if r, ok := d.(*errdetails.RetryInfo); ok {
			e.RetryAfter = min(max(0, r.GetRetryDelay().AsDuration()), maxWait)
		}
	}
	return e
}

// lost reports whether Unavailable is this side's word that the connection is gone.
func lost(message string) bool {
	return strings.HasPrefix(message, "connection error:") || strings.HasPrefix(message, "error reading from server:") ||
		strings.HasPrefix(message, "transport is closing") || strings.HasPrefix(message, "keepalive ping failed") ||
		message == "the connection is draining"
}

// Check asks the program; see port.Connector.
func (c *Connector) Check(ctx context.Context, conn port.Connection) ([]port.SourceFieldProblem, error) {
	const most = 100
	leave, err := enter(ctx, c.program.checks)
	if err != nil {
		return nil, err
	}
	defer leave()
	var out []port.SourceFieldProblem
	err = c.call(ctx, "check", conn, c.program.options.CallTimeout,
		func(ctx context.Context, rpc sourcev1.ConnectorClient, wire *sourcev1.Connection) error {
			r, err := rpc.Check(ctx, &sourcev1.CheckRequest{Connection: wire})
			if err != nil {
				return err
			}
			if len(r.GetProblems()) > most {
				return violation("%d problems of a connection", len(r.GetProblems()))
			}
			for _, p := range r.GetProblems() {
				field, _, _ := strings.Cut(p.GetField(), ".")
				if field != "config" && field != "secrets" || len(p.GetField()) > 256 || p.GetMessage() == "" {
					return violation("a problem of the field %q", fault.Clip(p.GetField()))
				}
				out = append(out, port.SourceFieldProblem{Field: c.program.secrets.redact(p.GetField()),
					Message: c.program.secrets.redact(fault.Clip(p.GetMessage()))})
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Revoke asks the program; see port.Connector.
func (c *Connector) Revoke(ctx context.Context, conn port.Connection) error {
	if !c.kind.Revokes {
		return nil
	}
	leave, err := enter(ctx, c.program.checks)
	if err != nil {
		return err
	}
	defer leave()
	return c.call(ctx, "revoke", conn, c.program.options.CallTimeout,
		func(ctx context.Context, rpc sourcev1.ConnectorClient, wire *sourcev1.Connection) error {
			_, err := rpc.Revoke(ctx, &sourcev1.RevokeRequest{Connection: wire})
			return err
		})
}

// errSilent is the cause of the end of a listing in which nothing happens.
var errSilent = errors.New("connector: nothing was listed for too long")

// List lists by the program; see port.Connector.
func (c *Connector) List(ctx context.Context, conn port.Connection, state []byte, l port.SourceListing) error {
	o := c.program.options
	taker := listing{to: l, caller: ctx, secrets: newSecrets(), all: c.program.secrets}
	taker.secrets.hold(conn.Secrets)
	err := c.call(ctx, "list", conn, o.ListTimeout,
		func(ctx context.Context, rpc sourcev1.ConnectorClient, wire *sourcev1.Connection) error {
			ctx, end := context.WithCancelCause(ctx)
			defer end(nil)
			stream, err := rpc.List(ctx, &sourcev1.ListRequest{Connection: wire, State: state})
			if err != nil {
				return err
			}
			silence := time.AfterFunc(o.SilenceTimeout, func() { end(errSilent) })
			defer silence.Stop()
			for {
				e, err := stream.Recv()
				silence.Stop()
				switch {
				case errors.Is(err, io.EOF):
					return nil
				case err != nil && errors.Is(context.Cause(ctx), errSilent):
					c.program.backend.Overdue()
					return port.SourceErrorf(port.SourceUnavailable, err, "its connector listed nothing for %s", o.SilenceTimeout)
				case err != nil:
					return err
				}
				c.program.backend.Answered()
				if err := taker.take(e); err != nil {
					return err
				}
				silence.Reset(o.SilenceTimeout)
			}
		})
	if taker.err != nil {
		return taker.err
	}
	return err
}

// listing hands on what a program lists.
type listing struct {
	to       port.SourceListing
	caller   context.Context //nolint:containedctx // what is listed is settled though the program may have ended since
	secrets  *secrets        // of the connection
	all      *secrets
	events   int
	problems int
	complete bool
	err      error // of to
}

// take takes one event.
func (l *listing) take(e *sourcev1.ListEvent) error {
	if err := l.caller.Err(); err != nil { // more may be on its way than the caller wants
		return err
	}
	if l.events++; l.events > sourcev1.MaxEvents {
		return violation("a listing of more than %d events", sourcev1.MaxEvents)
	}
	if l.complete {
		return violation("a listing that goes on after complete")
	}
	switch e := e.GetEvent().(type) {
	case *sourcev1.ListEvent_Item:
		item, err := l.item(e.Item)
		if err != nil {
			return err
		}
		l.err = l.to.Item(l.caller, item)
	case *sourcev1.ListEvent_Gone:
		l.err = l.to.Gone(l.caller, e.Gone.GetKey())
	case *sourcev1.ListEvent_Checkpoint:
		state := e.Checkpoint.GetState()
		switch {
		case len(state) == 0 || len(state) > sourcev1.MaxState:
			return violation("a state of %d bytes", len(state))
		case l.secrets.within(string(state)):
			return violation("a state that holds a secret")
		}
		l.err = l.to.Checkpoint(l.caller, state)
	case *sourcev1.ListEvent_Problem:
		if l.problems++; l.problems > sourcev1.MaxProblems {
			return violation("more than %d problems", sourcev1.MaxProblems)
		}
		l.err = l.to.Problem(l.caller, l.problem(e.Problem))
	case *sourcev1.ListEvent_Complete:
		l.complete = true
		l.err = l.to.Complete(l.caller, e.Complete.GetSnapshot())
	} // others are of a newer protocol, which adds what may be left out
	return l.err
}

// ofProblem are the codes of problems.
var ofProblem = map[sourcev1.Code]port.SourceCode{
	sourcev1.Code_CODE_CONFIG:       port.SourceConfig,
	sourcev1.Code_CODE_CREDENTIALS:  port.SourceCredentials,
	sourcev1.Code_CODE_FORBIDDEN:    port.SourceForbidden,
	sourcev1.Code_CODE_NOT_FOUND:    port.SourceNotFound,
	sourcev1.Code_CODE_TOO_LARGE:    port.SourceTooLarge,
	sourcev1.Code_CODE_RATE_LIMITED: port.SourceRateLimited,
	sourcev1.Code_CODE_UNAVAILABLE:  port.SourceUnavailable,
	sourcev1.Code_CODE_SKIPPED:      port.SourceSkipped,
}

func (l *listing) problem(p *sourcev1.Problem) port.SourceProblem {
	code, ok := ofProblem[p.GetCode()]
	if !ok {
		code = port.SourceUnavailable // whatever it is, it proves no absence
	}
	message := l.all.redact(fault.Clip(p.GetMessage()))
	if message == "" {
		message = "its connector does not say why"
	}
	return port.SourceProblem{Path: l.all.redact(p.GetPath()), Code: code, Message: message}
}

// item takes an item.
func (l *listing) item(i *sourcev1.Item) (port.SourceItem, error) {
	for _, text := range []string{i.GetKey(), i.GetVersion(), i.GetName(), i.GetUrl()} {
		if l.secrets.within(text) {
			return port.SourceItem{}, violation("an item that names a secret")
		}
	}
	item := port.SourceItem{Key: i.GetKey(), Version: i.GetVersion(), Name: i.GetName(), URL: i.GetUrl(), Size: -1}
	if i.Size != nil && i.GetSize() >= 0 {
		item.Size = i.GetSize()
	}
	if ms := i.GetModifiedMs(); ms != 0 {
		item.Modified = time.UnixMilli(ms).UTC()
	}
	if item.Name == "" {
		item.Name = item.Key
	}
	if content := i.GetContent(); content != nil {
		if len(content.GetData()) > sourcev1.MaxInline {
			return item, violation("an item with a content of %d bytes", len(content.GetData()))
		}
		c, err := head(content, item.Name)
		if err != nil {
			return item, err
		}
		c.File.Content = content.GetData()
		item.Content = &c
	}
	return item, nil
}

// head is a content without its data.
func head(c *sourcev1.Content, name string) (port.SourceContent, error) {
	out := port.SourceContent{Version: c.GetVersion()}
	out.File = port.File{Name: c.GetName(), MediaType: c.GetMediaType(), Charset: c.GetCharset()}
	if out.File.Name == "" {
		out.File.Name = name
	}
	if len(c.GetVersion()) > 256 || len(c.GetMetadata()) > sourcev1.MaxMetadata {
		return out, violation("a version of %d bytes, or metadata of %d", len(c.GetVersion()), len(c.GetMetadata()))
	}
	if len(c.GetMetadata()) > 0 {
		d := json.NewDecoder(bytes.NewReader(c.GetMetadata()))
		d.UseNumber() // a number stays as it is written
		if err := d.Decode(&out.Metadata); err != nil || d.More() {
			return out, violation("metadata that is no JSON object: %v", err)
		}
	}
	return out, nil
}

// Fetch reads an item by the program; see port.Connector.
func (c *Connector) Fetch(ctx context.Context, conn port.Connection, item port.SourceItem) (port.SourceContent, error) {
	leave, err := enter(ctx, c.program.fetches)
	if err != nil {
		return port.SourceContent{}, err
	}
	defer leave()
	var out port.SourceContent
	most := c.program.options.MaxItem
	err = c.call(ctx, "fetch", conn, c.program.options.CallTimeout,
		func(ctx context.Context, rpc sourcev1.ConnectorClient, wire *sourcev1.Connection) error {
			ctx, end := context.WithCancel(ctx)
			defer end()
			asked := &sourcev1.Item{Key: item.Key, Version: item.Version, Name: item.Name, Url: item.URL}
			if item.Size >= 0 {
				asked.Size = &item.Size
			}
			if !item.Modified.IsZero() {
				asked.ModifiedMs = item.Modified.UnixMilli()
			}
			stream, err := rpc.Fetch(ctx, &sourcev1.FetchRequest{Connection: wire, Item: asked})
			if err != nil {
				return err
			}
			first, err := stream.Recv()
			switch {
			case errors.Is(err, io.EOF):
				return violation("a content without a head")
			case err != nil:
				return err
			case first.GetHead() == nil:
				return violation("a content that does not begin with its head")
			}
			if out, err = head(first.GetHead(), item.Name); err != nil {
				return err
			}
			var body bytes.Buffer
			for part := first.GetHead().GetData(); ; {
				if int64(body.Len())+int64(len(part)) > most {
					return port.SourceErrorf(port.SourceTooLarge, nil, "it has more than %d bytes", most)
				}
				body.Write(part)
				next, err := stream.Recv()
				switch {
				case errors.Is(err, io.EOF):
					out.File.Content = body.Bytes()
					return nil
				case err != nil:
					return err
				case next.GetHead() != nil:
					return violation("a content with two heads")
				}
				part = next.GetData()
			}
		})
	if err != nil {
		return port.SourceContent{}, err
	}
	return out, nil
}

var _ port.Connector = (*Connector)(nil)
