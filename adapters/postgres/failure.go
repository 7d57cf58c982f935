package postgres

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// The SQLSTATE codes that decide something in more than one adapter (PostgreSQL
// manual, appendix A).
const (
	SerializationFailure = "40001"
	DeadlockDetected     = "40P01"
	LockNotAvailable     = "55P03"
	QueryCanceled        = "57014"
)

// State is the SQLSTATE inside err, or "".
func State(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Unreachable reports whether err says that the server is not there or that the
// connection is of no use any more: of the network, of class 08, of a server that
// shuts down or starts, or that ended this session (57P01 to 57P05).
func Unreachable(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	s := State(err)
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.HasPrefix(s, "08") || strings.HasPrefix(s, "57P0") || pgconn.SafeToRetry(err)
}
