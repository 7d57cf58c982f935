package opensearch

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	client "github.com/opensearch-project/opensearch-go/v4"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/port"
)

// Options are what an index gets beside its configuration.
type Options struct {
	Log *slog.Logger // nil: none
}

// Index is port.Index on an OpenSearch cluster.
type Index struct {
	cfg      Config
	log      *slog.Logger
	http     *http.Transport
	client   *client.Client
	alias    string
	me       string // of this process, in the names of its attempts
	analyzer *analysis.Analyzer
	version  string // of what a partition's entries are made by
	large    int64  // largePartition

	verify struct {
		sync.Mutex
		opened bool // version, settings and mapping have been checked
		at     time.Time
		fields map[int]bool // dimensions that the mapping has a field for
	}

	expunging  expunging
	refreshing refreshing

	mu       sync.Mutex
	locks    map[int64]*partitionLock // by generation
	seen     map[int64]bool           // generations that the index has had something of
	swept    map[int64]int64          // by generation: up to which attempt replaced chunks are deleted
	attempt  int64
	unlisted map[string]bool // partitions above the highest live one that the list of the last Retain lacked
}

// partitionLock lets one writer of a partition through at a time.
type partitionLock struct {
	held    chan struct{} // of capacity 1
	waiting int
}

// Open connects and checks the cluster: its version and plugins, and the index's settings
// and mapping. The index is made where there is none. A cluster out of reach is checked when
// it comes back: what has to be there for queries and writes is decided by each of them,
// not by a start.
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
		x.log.WarnContext(ctx, "search index unreachable", "error", err)
	}
	return x, nil
}

// Look asks the cluster for its version, with the credentials that Open would use, and
// changes nothing there. Errors are those of Open.
func Look(ctx context.Context, c Config, o Options) error {
	x, err := newIndex(c, o)
	if err != nil {
		return err
	}
	return errors.Join(x.checkVersion(ctx), x.Close())
}

// newIndex is an index whose cluster has not been asked anything yet.
func newIndex(c Config, o Options) (*Index, error) {
	if len(c.Hosts) == 0 {
		return nil, errors.New("hosts is not set")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	a, err := analysis.New(analysis.Stemmer(c.Keyword.Stemmer), c.Keyword.Languages...)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file: %s holds no certificate in PEM", c.CAFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	x := &Index{cfg: c, log: o.Log, http: transport, alias: c.IndexPrefix + "-chunks", me: rand.Text(), analyzer: a,
		version: fmt.Sprintf("%d-%s-%g", format, a.Version(), c.Keyword.B), large: largePartition,
		locks: map[int64]*partitionLock{}, seen: map[int64]bool{}, swept: map[int64]int64{}}
	x.expunging.life, x.expunging.stop = context.WithCancel(context.Background())
	x.client, err = client.NewClient(client.Config{Addresses: c.Hosts, Username: c.Username, Password: c.Password.Reveal(),
		Transport: transport, HealthCheckMaxRetries: -1})
	if err != nil {
		x.expunging.stop()
		return nil, fmt.Errorf("opensearch: %w", err)
	}
	return x, nil
}

// Retrievers lists what the index serves.
func (x *Index) Retrievers() []port.Retriever {
	return []port.Retriever{port.Keyword, port.Vector, port.SparseTerms}
}

// MayLag says whether writes are acknowledged before this index has them.
func (x *Index) MayLag() bool { return x.cfg.OnOutage == CatchUp }

// BatchDocuments is large: each batch is refreshed, and several requests beside its chunks.
func (x *Index) BatchDocuments() int { return 2000 }

// Close ends the connections.
func (x *Index) Close() error {
	x.expunging.end()
	err := x.client.Close()
	x.http.CloseIdleConnections()
	return err
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
		return nil, fmt.Errorf("opensearch: wait for another write: %w", context.Cause(ctx))
	}
}

// partitionName is the partition's name in the index.
func partitionName(p port.Partition) (string, error) {
	if p.Generation() == 0 {
		return "", fmt.Errorf("opensearch: partition %s has no generation", p)
	}
	return "g" + strconv.FormatInt(p.Generation(), 10), nil
}

// Hashes are 130 bits in base 32.
var hashEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func hash(s string) string {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(s)))
	h := sha256.Sum256(append(n[:], s...))
	return hashEncoding.EncodeToString(h[:])[:26]
}

// Optional interfaces of core.
var (
	_ port.Index       = (*Index)(nil)
	_ port.Lagging     = (*Index)(nil)
	_ port.Bulky       = (*Index)(nil)
	_ port.Highlighter = (*Index)(nil)
)
