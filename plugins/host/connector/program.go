package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host/supervise"
	sourcev1 "github.com/mnemehq/mneme/plugins/proto/source"
)

// Command is what to start.
type Command = supervise.Command

// Options bound a program. A field left zero has the default.
type Options struct {
	Name           string        // the operator's name of the program
	MTLS           bool          // go-plugin's AutoMTLS; otherwise a unix socket in a private folder is the only address taken
	StartTimeout   time.Duration // 1m: from the start to the description
	CallTimeout    time.Duration // 2m: a check, a fetch, a grant given back
	SilenceTimeout time.Duration // 10m: between two events of a listing, the time not counted that settling them takes
	ListTimeout    time.Duration // 24h: a listing
	HealthInterval time.Duration // 5s: between health checks, and the longest that one may take
	Concurrency    int           // 16: fetches at once
	MaxRestarts    int           // 0, no end: runs in a row that fail or are short and without an answer before it stays down
	MemoryMB       int           // 0, no end: most that it and all that it starts hold, before it is ended; on Linux alone
	// MaxRestartsPerHour is how many runs may end within an hour before it stays down,
	// whether they had answered or not; 0: any number.
	MaxRestartsPerHour int
	MaxItem            int64 // 64 MiB: bytes of an item
	Log                *slog.Logger
}

func (o *Options) defaults() {
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{{&o.StartTimeout, time.Minute}, {&o.CallTimeout, 2 * time.Minute}, {&o.SilenceTimeout, 10 * time.Minute},
		{&o.ListTimeout, 24 * time.Hour}, {&o.HealthInterval, 5 * time.Second}} {
		if *d.at <= 0 {
			*d.at = d.value
		}
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 16
	}
	if o.MaxItem <= 0 {
		o.MaxItem = 64 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Program is a running program of connectors.
type Program struct {
	backend    *supervise.Backend
	options    Options
	log        *slog.Logger
	secrets    *secrets
	calls      *calls
	connectors []port.Connector
	fetches    chan struct{} // places
	checks     chan struct{}
}

// Open starts a program and returns once it serves.
func Open(ctx context.Context, c Command, o Options) (*Program, error) {
	o.defaults()
	p := &Program{
		options: o,
		log:     o.Log.With("connector", o.Name),
		secrets: newSecrets(),
		calls:   newCalls(),
		fetches: make(chan struct{}, o.Concurrency),
		checks:  make(chan struct{}, o.Concurrency),
	}
	backend, err := supervise.Open(ctx, p.service(), c, supervise.Options{
		MTLS:               o.MTLS,
		DeclaredOnly:       true,
		StartTimeout:       o.StartTimeout,
		Silence:            o.CallTimeout,
		HealthInterval:     o.HealthInterval,
		MaxRestarts:        o.MaxRestarts,
		MaxRestartsPerHour: o.MaxRestartsPerHour,
		MemoryMB:           o.MemoryMB,
		Log:                p.log,
		Redact:             p.secrets.redact,
	})
	if err != nil {
		return nil, fmt.Errorf("start connector: %w", err)
	}
	p.backend = backend
	for _, k := range backend.Description().(description).kinds {
		p.connectors = append(p.connectors, &Connector{program: p, kind: k.SourceKind, secretNames: k.secrets})
	}
	return p, nil
}

// Connectors are the program's, one a kind.
func (p *Program) Connectors() []port.Connector { return p.connectors }

// Close ends the program, with everything that it started.
func (p *Program) Close() error { p.backend.Close(); return nil }

// service is the protocol of connectors, to its supervisor.
func (p *Program) service() supervise.Service {
	return supervise.Service{
		Noun:        "the connector",
		CookieKey:   sourcev1.CookieKey,
		CookieValue: sourcev1.CookieValue,
		Version:     sourcev1.Version,
		Plugin:      sourcev1.PluginName,
		Health:      sourcev1.HealthService,
		MaxSend:     sourcev1.MaxMessage,
		MaxReceive:  sourcev1.MaxMessage,
		Window:      64 << 10,
		Describe: func(ctx context.Context, c *grpc.ClientConn) (fmt.Stringer, error) {
			m, err := sourcev1.NewConnectorClient(c).Describe(ctx, &sourcev1.DescribeRequest{})
			if err != nil {
				return nil, err
			}
			d, err := checkInfo(m)
			return d, err
		},
		Attach: func(r *supervise.Run, d fmt.Stringer) supervise.Attachment {
			if !d.(description).renews {
				return nil
			}
			return p.renewals(r)
		},
	}
}

// description is what a program says of itself, checked.
type description struct {
	name, version string
	renews        bool
	kinds         []describedKind
}

type describedKind struct {
	port.SourceKind
	secrets []string // that the schema names
}

// String names what matters of a description in a log line.
func (d description) String() string {
	names := make([]string, len(d.kinds))
	for i, k := range d.kinds {
		names[i] = k.Name
	}
	return fmt.Sprintf("%s %s (kinds %s)", d.name, d.version, strings.Join(names, ", "))
}

var kindName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// checkInfo takes a description.
func checkInfo(m *sourcev1.ConnectorInfo) (description, error) {
	d := description{name: m.GetName(), version: m.GetVersion(), renews: m.GetRenews()}
	switch {
	case d.name == "" || d.version == "" || len(d.name) > 200 || len(d.version) > 200:
		return d, errors.New("the description has no name or no version, or one of more than 200 bytes")
	case len(m.GetKinds()) == 0 || len(m.GetKinds()) > sourcev1.MaxKinds:
		return d, fmt.Errorf("the description has %d kinds, not 1 to %d", len(m.GetKinds()), sourcev1.MaxKinds)
	}
	for _, k := range m.GetKinds() {
		one := describedKind{SourceKind: port.SourceKind{
			Name:        k.GetName(),
			Title:       k.GetTitle(),
			Summary:     k.GetSummary(),
			Config:      k.GetConfigSchema(),
			Secrets:     k.GetSecretsSchema(),
			Incremental: k.GetIncremental(),
			Revokes:     k.GetRevokes(),
			Keeps:       k.GetKeeps(),
		}}
		switch {
		case !kindName.MatchString(one.Name):
			return d, fmt.Errorf("the description has a kind %q, which is not of [a-z0-9_], at most 32", fault.Clip(one.Name))
		case one.Title == "" || one.Summary == "" || len(one.Title) > 200 || len(one.Summary) > 1000:
			return d, fmt.Errorf("kind %s has no title or no summary, or one that is too long", one.Name)
		}
		for _, other := range d.kinds {
			if other.Name == one.Name {
				return d, fmt.Errorf("the description has the kind %s twice", one.Name)
			}
		}
		if _, err := properties(one.Config); err != nil {
			return d, fmt.Errorf("kind %s: config_schema: %w", one.Name, err)
		}
		var err error
		if one.secrets, err = properties(one.SourceKind.Secrets); err != nil {
			return d, fmt.Errorf("kind %s: secrets_schema: %w", one.Name, err)
		}
		d.kinds = append(d.kinds, one)
	}
	return d, nil
}

// properties are the names in a schema of an object.
func properties(schema json.RawMessage) ([]string, error) {
	if len(schema) > sourcev1.MaxSchema {
		return nil, fmt.Errorf("has more than %d bytes", sourcev1.MaxSchema)
	}
	var s struct {
		Type       string
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, errors.New(`is not of an object: it has no "type": "object"`)
	}
	return sorted(s.Properties), nil
}
