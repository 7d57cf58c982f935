package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/mnemehq/mneme/core/port"
	sourcev1 "github.com/mnemehq/mneme/plugins/proto/source"
)

// Serve serves connectors, one a kind, to the host that started this process, until that
// ends. It does not return. Name and version are the program's.
//
// Connections that the host sends have Renew, which returns once the host has kept the
// secrets, whatever has become of the call in the meantime. Known always answers that nothing is
// known: let listings give versions, and the host asks for what is new.
//
// Write logs to os.Stderr, as plain lines or as JSON by slog; os.Stdout belongs to the
// handshake. The message of a *port.SourceError reaches the person who configured the source;
// causes and other errors reach the host's log.
func Serve(name, version string, connectors ...port.Connector) {
	if os.Getenv(sourcev1.CookieKey) != sourcev1.CookieValue {
		fmt.Fprintf(os.Stderr, "%s is a connector of Mneme and is not started by hand. An operator names it below "+
			"sources.plugins\n", os.Args[0])
		os.Exit(2)
	}
	s, err := newServer(name, version, connectors...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ERROR", err)
		os.Exit(1)
	}
	// The standard input ends when the host wants the program to end, and when the host
	// itself has ended, in whatever way.
	input := os.Stdin
	go func() {
		_, _ = io.Copy(io.Discard, input)
		os.Exit(0)
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: sourcev1.CookieKey, MagicCookieValue: sourcev1.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{sourcev1.Version: {sourcev1.PluginName: s}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(o, grpc.MaxSendMsgSize(sourcev1.MaxMessage))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
	})
	os.Exit(0)
}

// newServer describes connectors, or says why they cannot be served.
func newServer(name, version string, connectors ...port.Connector) (*server, error) {
	s := &server{
		info:       &sourcev1.ConnectorInfo{Name: name, Version: version, Renews: true},
		connectors: map[string]port.Connector{},
		renewals:   newRenewals(),
	}
	if name == "" || version == "" || len(connectors) == 0 {
		return nil, errors.New("a program of connectors has a name, a version and one kind at least")
	}
	for _, c := range connectors {
		k := c.Kind()
		if _, twice := s.connectors[k.Name]; twice {
			return nil, fmt.Errorf("two connectors are of the kind %q", k.Name)
		}
		s.connectors[k.Name] = c
		s.info.Kinds = append(s.info.Kinds, &sourcev1.Kind{
			Name:          k.Name,
			Title:         k.Title,
			Summary:       k.Summary,
			ConfigSchema:  k.Config,
			SecretsSchema: k.Secrets,
			Incremental:   k.Incremental,
			Revokes:       k.Revokes,
			Keeps:         k.Keeps,
		})
	}
	return s, nil
}

// GRPCServer implements plugin.GRPCPlugin.
func (s *server) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	sourcev1.RegisterConnectorServer(g, s)
	return nil
}

// GRPCClient implements plugin.GRPCPlugin; a program of connectors calls none.
func (s *server) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a program of connectors calls none")
}

var _ plugin.GRPCPlugin = (*server)(nil)
