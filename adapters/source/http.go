package source

import (
	"errors"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/core/port"
)

// Unreachable says what a request over the guarded client failed for, or gives nil where
// that is nothing of the client's. What names the one that was asked, such as "the bucket".
func Unreachable(what string, err error) error {
	for _, e := range []struct {
		err  error
		code port.SourceCode
	}{
		{outbound.ErrURL, port.SourceConfig},
		{outbound.ErrPort, port.SourceForbidden}, // before ErrNotPublic, which it is as well
		{outbound.ErrNotPublic, port.SourceForbidden},
		{outbound.ErrTooLarge, port.SourceTooLarge},
		{outbound.ErrTimeout, port.SourceUnavailable},
		{outbound.ErrRedirects, port.SourceUnavailable},
		{outbound.ErrCertificate, port.SourceUnavailable},
		{outbound.ErrUnreachable, port.SourceUnavailable},
	} {
		if errors.Is(err, e.err) {
			return port.SourceErrorf(e.code, err, "%s: %s", what, e.err)
		}
	}
	return nil
}
