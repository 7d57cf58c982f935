package meilisearch

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	client "github.com/meilisearch/meilisearch-go"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Options are what an index gets beside its configuration.
type Options struct {
	Shared bool         // no cleaning; for a command beside the servers
	Log    *slog.Logger // nil: none
}

// Index is port.Index on a Meilisearch server. It serves keyword search alone.
type Index struct {
	cfg      Config
	log      *slog.Logger
	shared   bool
	http     *http.Client
	server   client.ServiceManager
	index    client.IndexManager
	uid      string
	analyzer *analysis.Analyzer

	verify struct {
		sync.Mutex
		opened bool // version and owner are checked, the index exists
		at     time.Time
	}

	mu        sync.Mutex
	locks     map[int64]*partitionLock // by generation
	unawaited map[int64]pending        // by generation: tasks that were not awaited to their end
	// Partitions above the highest live one that the list of the last Retain lacked.
	unlisted map[string]bool
}

// partitionLock lets one writer of a partition through at a time.
type partitionLock struct {
	held    chan struct{} // of capacity 1
	waiting int
}

// pending is a task that a write gave up waiting for.
type pending struct{ task int64 }

// Open connects and checks the server: its version, whose index it is and its
// settings. A server out of reach is checked when it comes back: what has to be there
// for queries and writes is decided by each of them, not by a start.
func Open(ctx context.Context, c Config, o Options) (*Index, error) {
	x, err := newIndex(c, o)
	if err != nil {
		return nil, err
	}
	if err := x.ready(ctx); err != nil {
		var away *unreachableError
		if !errors.As(err, &away) {
			_ = x.Close()
			return nil, err
		}
		x.log.WarnContext(ctx, "keyword index unreachable", "error", err)
	}
	return x, nil
}

// Look asks the server for its version, with the key that Open would use, and
// changes nothing there. Errors are those of Open.
func Look(ctx context.Context, c Config, o Options) error {
	x, err := newIndex(c, o)
	if err != nil {
		return err
	}
	return errors.Join(x.version(ctx), x.Close())
}

// newIndex is an index whose server has not been asked anything yet.
func newIndex(c Config, o Options) (*Index, error) {
	if c.URL == "" {
		return nil, errors.New("url is not set")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	a, err := analysis.New(analysis.Stemmer(c.Stemmer), c.Languages...)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	x := &Index{cfg: c, log: o.Log, shared: o.Shared, http: &http.Client{Transport: transport}, uid: c.IndexPrefix + "_chunks",
		analyzer: a, locks: map[int64]*partitionLock{}, unawaited: map[int64]pending{}}
	x.server = client.New(c.URL, client.WithCustomClient(x.http), client.WithAPIKey(c.APIKey.Reveal()), client.DisableRetries())
	x.index = x.server.Index(x.uid)
	return x, nil
}

// Retrievers lists keyword search alone.
func (x *Index) Retrievers() []port.Retriever { return []port.Retriever{port.Keyword} }

// RanksOnly says that the scores order hits and are not to be compared.
func (x *Index) RanksOnly(port.Retriever) bool { return true }

// MayLag says whether writes are acknowledged before this index has them.
func (x *Index) MayLag() bool { return x.cfg.OnOutage == CatchUp }

// BatchDocuments is that of a replay; each batch is a task, and those are done one after another.
func (x *Index) BatchDocuments() int { return 128 }

// Close ends the connections.
func (x *Index) Close() error {
	x.http.CloseIdleConnections()
	return nil
}

// Ping checks that the server answers, that it takes the key and that the index
// is as it should be.
func (x *Index) Ping(ctx context.Context) error {
	err := x.call(ctx, "health", func(ctx context.Context) error {
		_, err := x.server.HealthWithContext(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return x.ready(ctx)
}

// errGone says that the index is not there.
var errGone = errors.New("the index does not exist")

// unreachableError marks failures of the connection or of a server that is not up.
type unreachableError struct{ error }

func (e *unreachableError) Unwrap() error { return e.error }

const attempts = 3

// call runs one request within its time limit, repeats it where the server asks for
// that, and translates its error.
func (x *Index) call(ctx context.Context, op string, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, x.cfg.Timeout)
	defer cancel()
	pause := 50 * time.Millisecond
	for try := 1; ; try++ {
		err := request(ctx)
		if err == nil {
			return nil
		}
		if !retryable(err) || try == attempts || !sleep(ctx, pause) {
			return x.explain(ctx, op, err)
		}
		pause *= 4
	}
}

// retryable reports whether a status asks for another attempt.
func retryable(err error) bool {
	var e *client.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
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

// Codes of Meilisearch's error reference.
const (
	codeIndexNotFound    = "index_not_found"
	codeIndexExists      = "index_already_exists"
	codeDocumentNotFound = "document_not_found"
	codeSearchFilter     = "invalid_search_filter"
	codeDocumentFilter   = "invalid_document_filter"
)

// answer is an error that the server gave.
type answer struct {
	status        int
	code, message string
}

func (e *answer) Error() string { return fmt.Sprintf("status %d, %s: %s", e.status, e.code, e.message) }

// hasCode reports whether the server gave this error code.
func hasCode(err error, code string) bool {
	var a *answer
	return errors.As(err, &a) && a.code == code
}

// explain says what went wrong in the operator's words. Callers see that keyword
// search is unavailable; what the server said is for the log.
func (x *Index) explain(ctx context.Context, op string, err error) error {
	op = "meilisearch: " + op
	var e *client.Error
	if !errors.As(err, &e) {
		e = &client.Error{OriginError: err}
	}
	cause := err
	if e.OriginError != nil {
		cause = e.OriginError
	}
	if errors.Is(cause, context.Canceled) {
		return fmt.Errorf("%s: %w", op, context.Canceled)
	}
	if e.StatusCode > 0 { // the client's own text repeats the request
		cause = &answer{e.StatusCode, e.MeilisearchApiError.Code, fault.Clip(e.MeilisearchApiError.Message)}
	}
	switch {
	case errors.Is(cause, context.DeadlineExceeded), ctx.Err() != nil:
		cause = &unreachableError{fmt.Errorf("no answer in time: %w", cause)}
		return &failure{op, cause, fault.Wrap(fault.Timeout, op, cause, "the keyword index did not answer in time")}
	case e.MeilisearchApiError.Code == codeIndexNotFound:
		return fmt.Errorf("%s: index %s: %w", op, x.uid, errGone)
	case e.StatusCode == http.StatusUnauthorized, e.StatusCode == http.StatusForbidden:
		return unavailable(op, fmt.Errorf("the server refuses the API key: %w", cause))
	case e.StatusCode == http.StatusRequestEntityTooLarge:
		return unavailable(op, fmt.Errorf("max_payload_mb is larger than the server's http-payload-size-limit: %w", cause))
	case e.StatusCode == 0 || retryable(err) || e.StatusCode >= 500:
		return unavailable(op, &unreachableError{cause})
	}
	return unavailable(op, cause)
}

// failure tells the log why, and callers that keyword search is not to be had.
type failure struct {
	op     string
	cause  error
	caller *fault.Error
}

func (e *failure) Error() string   { return e.op + ": " + e.cause.Error() }
func (e *failure) Unwrap() []error { return []error{e.caller, e.cause} }

func unavailable(op string, err error) error {
	return &failure{op, err, fault.Wrap(fault.Unavailable, op, err, "the keyword index is not available").After(time.Second)}
}

// await polls a task until its end, within task_timeout and the caller's time.
func (x *Index) await(ctx context.Context, op string, task int64) error {
	ctx, cancel := context.WithTimeout(ctx, x.cfg.TaskTimeout)
	defer cancel()
	pause := 2 * time.Millisecond
	for {
		var t *client.Task
		err := x.call(ctx, op, func(ctx context.Context) (err error) {
			t, err = x.server.GetTaskWithContext(ctx, task)
			return err
		})
		if err != nil {
			return err
		}
		switch t.Status {
		case client.TaskStatusSucceeded:
			return nil
		case client.TaskStatusFailed, client.TaskStatusCanceled:
			if t.Error.Code == codeIndexNotFound {
				return fmt.Errorf("meilisearch: %s: index %s: %w", op, x.uid, errGone)
			}
			return unavailable("meilisearch: "+op, &taskError{task, string(t.Status), t.Error.Code, fault.Clip(t.Error.Message)})
		}
		if !sleep(ctx, pause) {
			return x.explain(ctx, op, fmt.Errorf("task %d is still %s: %w", task, t.Status, context.Cause(ctx)))
		}
		pause = min(2*pause, 250*time.Millisecond)
	}
}

// taskError is a task that did not succeed.
type taskError struct {
	task                  int64
	status, code, message string
}

func (e *taskError) Error() string {
	return fmt.Sprintf("task %d %s, %s: %s", e.task, e.status, e.code, e.message)
}

// deleteIndex removes the index of a configuration with everything in it. One that
// does not exist is no error. It takes an API key with the action indexes.delete.
func (c Config) deleteIndex(ctx context.Context) error {
	x, err := newIndex(c, Options{})
	if err != nil {
		return err
	}
	err = x.run(ctx, "delete the index", func(ctx context.Context) (*client.TaskInfo, error) {
		return x.server.DeleteIndexWithContext(ctx, x.uid)
	})
	if errors.Is(err, errGone) {
		err = nil
	}
	return errors.Join(err, x.Close())
}

// run enqueues a task and awaits it.
func (x *Index) run(ctx context.Context, op string, enqueue func(context.Context) (*client.TaskInfo, error)) error {
	task, err := x.enqueue(ctx, op, enqueue)
	if err != nil {
		return err
	}
	return x.await(ctx, op, task)
}

func (x *Index) enqueue(ctx context.Context, op string, enqueue func(context.Context) (*client.TaskInfo, error)) (int64, error) {
	var info *client.TaskInfo
	err := x.call(ctx, op, func(ctx context.Context) (err error) {
		info, err = enqueue(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	return info.TaskUID, nil
}

// lock waits for the partition's lock; unlock hands it to the next waiter.
func (x *Index) lock(ctx context.Context, generation int64) (unlock func(), err error) {
	x.mu.Lock()
	t := x.locks[generation]
	if t == nil {
		t = &partitionLock{held: make(chan struct{}, 1)}
		x.locks[generation] = t
	}
	t.waiting++
	x.mu.Unlock()
	leave := func() {
		x.mu.Lock()
		if t.waiting--; t.waiting == 0 {
			delete(x.locks, generation)
		}
		x.mu.Unlock()
	}
	select {
	case t.held <- struct{}{}:
		return func() { <-t.held; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, fmt.Errorf("meilisearch: wait for another write: %w", context.Cause(ctx))
	}
}

// partitionName is the partition's name in the index.
func partitionName(p port.Partition) (string, error) {
	if p.Generation() == 0 {
		return "", fmt.Errorf("meilisearch: partition %s has no generation", p)
	}
	return "g" + strconv.FormatInt(p.Generation(), 10), nil
}

// Hashes are 130 bits in lower-case base 32: letters and digits, which filters
// and primary keys take as they are, and of one case, since filters have none.
// The letter in front keeps them from looking like numbers.
var hashEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return "h" + hashEncoding.EncodeToString(h.Sum(nil))[:26]
}

// Optional interfaces of core.
var (
	_ port.Index       = (*Index)(nil)
	_ port.Ranker      = (*Index)(nil)
	_ port.Lagging     = (*Index)(nil)
	_ port.Highlighter = (*Index)(nil)
)
