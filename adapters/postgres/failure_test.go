package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnemehq/mneme/adapters/postgres"
)

func TestFailures(t *testing.T) {
	said := func(code string) error { return fmt.Errorf("write: %w", &pgconn.PgError{Code: code}) }
	_, refused := pgx.Connect(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=5")
	for name, c := range map[string]struct {
		err         error
		state       string
		unreachable bool
	}{
		"nothing":                {nil, "", false},
		"another error":          {errors.New("else"), "", false},
		"a constraint":           {said("23505"), "23505", false},
		"a conflict":             {said(postgres.SerializationFailure), "40001", false},
		"a statement's end":      {said(postgres.QueryCanceled), "57014", false},
		"a connection lost":      {said("08006"), "08006", true},
		"a shutdown":             {said("57P01"), "57P01", true},
		"an idle session":        {said("57P05"), "57P05", true},
		"the end of the stream":  {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), "", true},
		"the network":            {fmt.Errorf("read: %w", &net.OpError{Op: "read", Err: errors.New("reset")}), "", true},
		"nobody at that address": {refused, "", true},
	} {
		if got := postgres.State(c.err); got != c.state {
			t.Errorf("%s: state %q, want %q", name, got, c.state)
		}
		if got := postgres.Unreachable(c.err); got != c.unreachable {
			t.Errorf("%s: unreachable %v, want %v", name, got, c.unreachable)
		}
	}
}
