package opensearch

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
)

// maxAnswer bounds what is read of one answer.
const maxAnswer = 256 << 20

// answer is an error that OpenSearch gave.
type answer struct {
	status       int
	kind, reason string
}

func (e *answer) Error() string { return fmt.Sprintf("status %d, %s: %s", e.status, e.kind, e.reason) }

// Kinds of errors.
const (
	kindIndexNotFound = "index_not_found_exception"
	kindIndexExists   = "resource_already_exists_exception"
	kindConflict      = "version_conflict_engine_exception"
	kindBlocked       = "cluster_block_exception"
	kindCreateBlocked = "index_create_block_exception"
)

// hasKind reports whether OpenSearch gave an error of this kind.
func hasKind(err error, kind string) bool {
	var a *answer
	return errors.As(err, &a) && a.kind == kind
}

// errGone says that the index is not there.
var errGone = errors.New("the index does not exist")

// unreachableError marks failures of the connection or of a cluster that can't answer now.
type unreachableError struct{ error }

func (e *unreachableError) Unwrap() error { return e.error }

// failure tells the log why, and callers that the index is not to be had.
type failure struct {
	op     string
	cause  error
	caller *fault.Error
}

func (e *failure) Error() string   { return e.op + ": " + e.cause.Error() }
func (e *failure) Unwrap() []error { return []error{e.caller, e.cause} }

func unavailable(op string, err error) error {
	op = "opensearch: " + op
	return &failure{op, err, fault.Wrap(fault.Unavailable, op, err, "the search index is not available").After(time.Second)}
}

// request is one call of the REST API.
type request struct {
	op     string // for errors
	method string
	path   string // with its query
	body   any    // encoded as JSON; []byte: lines of JSON as they are; nil: none
	limit  time.Duration
	empty  bool // 404 without an error's kind is an answer, not an error
}

// attempts is how often a request is sent that a node refuses because it has too much to do.
const attempts = 4

// call sends a request, repeats it where the node asks for that, reads the answer into
// out and translates errors. The client goes past nodes that are down. Every request
// may be sent twice: writes carry ids, and conditional ones say whose they are.
func (x *Index) call(ctx context.Context, r request, out any) error {
	if r.limit == 0 {
		r.limit = x.cfg.Timeout
	}
	var body []byte
	kind := "application/json"
	switch b := r.body.(type) {
	case nil:
	case []byte:
		body, kind = b, "application/x-ndjson"
	default:
		var err error
		if body, err = json.Marshal(b); err != nil {
			return fmt.Errorf("opensearch: %s: %w", r.op, err)
		}
	}
	limited, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	pause := 50 * time.Millisecond
	for try := 1; ; try++ {
		err := x.send(limited, r, body, kind, out)
		var a *answer
		if errors.As(err, &a) && a.status == http.StatusTooManyRequests && try < attempts && sleep(limited, pause) {
			pause *= 4
			continue
		}
		if err == nil {
			return nil
		}
		return x.explain(ctx, limited, r.op, err)
	}
}

func (x *Index) send(ctx context.Context, r request, body []byte, kind string, out any) error {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.path, reader)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	res, err := x.client.Stream(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return err
	}
	if res.StatusCode < 300 || r.empty && res.StatusCode == http.StatusNotFound && !bytes.Contains(text, []byte(`"error"`)) {
		if out == nil {
			return nil
		}
		if err := json.Unmarshal(text, out); err != nil {
			return fmt.Errorf("an answer of another form: %w", err)
		}
		return nil
	}
	return readError(res.StatusCode, text)
}

// readError reads an error's body, which has its cause deep down where a shard failed.
func readError(status int, text []byte) error {
	var e struct {
		Error struct {
			Type      string `json:"type"`
			Reason    string `json:"reason"`
			RootCause []struct {
				Type   string `json:"type"`
				Reason string `json:"reason"`
			} `json:"root_cause"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &e) != nil || e.Error.Type == "" {
		return &answer{status, http.StatusText(status), fault.Clip(string(text))}
	}
	a := &answer{status, e.Error.Type, fault.Clip(e.Error.Reason)}
	if len(e.Error.RootCause) > 0 && e.Error.RootCause[0].Type != a.kind {
		a.reason = fault.Clip(a.reason + ": " + e.Error.RootCause[0].Type + ": " + e.Error.RootCause[0].Reason)
	}
	return a
}

// explain says what went wrong in the operator's words. Callers see that the index is
// unavailable; what OpenSearch said is for the log.
func (x *Index) explain(ctx, limited context.Context, op string, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("opensearch: %s: %w", op, context.Canceled)
	}
	var a *answer
	switch {
	case limited.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		cause := &unreachableError{fmt.Errorf("no answer in time; look at the load of the nodes, or raise timeout or "+
			"write_timeout: %w", errors.Join(context.DeadlineExceeded, err))}
		op = "opensearch: " + op
		return &failure{op, cause, fault.Wrap(fault.Timeout, op, cause, "the search index did not answer in time")}
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return unavailable(op, &unreachableError{fmt.Errorf("the nodes' certificate is not trusted; set ca_file to the "+
			"authority that signed it, and name nodes in hosts as the certificate does: %w", err)})
	case !errors.As(err, &a):
		return unavailable(op, &unreachableError{fmt.Errorf("no node of hosts can be reached: %w", err)})
	case a.kind == kindIndexNotFound, a.kind == "alias_not_found_exception":
		return fmt.Errorf("opensearch: %s: %s: %w", op, x.alias, errGone)
	case a.kind == "index_closed_exception":
		return unavailable(op, &unreachableError{fmt.Errorf("the index is closed; open it by POST %s/_open: %w", x.alias, a)})
	case a.status == http.StatusUnauthorized:
		return unavailable(op, fmt.Errorf("OpenSearch refuses username and password; set those of a user it knows: %w", a))
	case a.kind == kindBlocked && (strings.Contains(a.reason, "read-only") || strings.Contains(a.reason, "disk usage")):
		return unavailable(op, fmt.Errorf("the index is blocked for writes, most often because a node's disk was nearly full; "+
			"free space, then set index.blocks.read_only_allow_delete of %s to null: %w", x.alias, a))
	case a.kind == kindBlocked:
		return unavailable(op, &unreachableError{fmt.Errorf("the cluster or the index is blocked; see GET _cluster/health and "+
			"the index's settings index.blocks: %w", a)})
	case a.kind == kindCreateBlocked:
		return unavailable(op, &unreachableError{fmt.Errorf("the cluster makes no new index, most often because the disks of "+
			"all nodes were nearly full, and lifts that itself within a minute of having space; if it does not, set "+
			"cluster.blocks.create_index to null by PUT _cluster/settings: %w", a)})
	case a.status == http.StatusForbidden:
		return unavailable(op, fmt.Errorf("the user may not do this; give it the permissions that docs/opensearch.md "+
			"names: %w", a))
	case a.status == http.StatusRequestEntityTooLarge:
		return unavailable(op, fmt.Errorf("a request is larger than the nodes' http.max_content_length; lower bulk_mb: %w", a))
	case a.status == http.StatusTooManyRequests:
		return unavailable(op, &unreachableError{fmt.Errorf("the nodes have too much to do: %w", a)})
	case a.status >= 500:
		return unavailable(op, &unreachableError{fmt.Errorf("a shard or the cluster can't answer; see GET "+
			"_cluster/health: %w", a)})
	}
	return unavailable(op, a)
}

// sleep waits, unless the context ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
