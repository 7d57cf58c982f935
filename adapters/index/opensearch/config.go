package opensearch

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/registry"
)

// Outage is what becomes of writes while OpenSearch can't take them.
type Outage string

// The policies.
const (
	// Refuse answers 503: the write is stored but not acknowledged, and repeating
	// it is safe.
	Refuse Outage = "refuse"
	// CatchUp acknowledges the write once it is stored. Searches over the index fail, as
	// degraded or with strict as 503, until it has caught up.
	CatchUp Outage = "catch_up"
)

// Refresh is how a batch becomes visible to searches.
type Refresh string

// The ways.
const (
	// Immediate makes each batch visible by itself.
	Immediate Refresh = "immediate"
	// Interval waits for the refresh that the index makes every refresh_interval.
	Interval Refresh = "interval"
)

// Config is the operator's settings of the index.
type Config struct {
	Hosts           []string        `yaml:"hosts" help:"Addresses of nodes, http://host:9200 or https://... Requests go to all of them in turn, and past one that is down."`
	Username        string          `yaml:"username" help:"User of the security plugin. Empty: requests carry no credentials."`
	Password        registry.Secret `yaml:"password" help:"Password of that user."`
	CAFile          string          `yaml:"ca_file" help:"PEM file with the authorities that the nodes' certificates are checked against. Empty: those of the system."`
	IndexPrefix     string          `yaml:"index_prefix" help:"The index is named PREFIX-chunks-1 and used by its alias PREFIX-chunks. One prefix for each installation of mneme."`
	Shards          int             `yaml:"shards" help:"Primary shards of the index when it is made: 1 to 1024. A partition lies in one of them, so more shards hold more partitions and don't make one larger."`
	Replicas        int             `yaml:"replicas" help:"Copies of each shard beside the primary when the index is made: 0 to 10. With 0 a node that is lost takes its part of the index along, which is rebuilt from the store."`
	Refresh         Refresh         `yaml:"refresh" help:"How a write becomes visible: immediate (at once, by a refresh of its shard) or interval (it waits for the refresh that the index makes every refresh_interval; many writers share one)."`
	RefreshInterval time.Duration   `yaml:"refresh_interval" help:"With refresh: interval, how often the index refreshes; 100ms to 1m. Taken over when the index is made."`
	OnOutage        Outage          `yaml:"on_outage" help:"Writes while OpenSearch is out of reach: refuse (503; stored, and safe to repeat) or catch_up (acknowledged; its searches are left out of answers until it has caught up)."`
	Timeout         time.Duration   `yaml:"timeout" help:"Longest time of one search or other short request."`
	WriteTimeout    time.Duration   `yaml:"write_timeout" help:"Longest time of one bulk request, deletion or merge."`
	BulkMB          int             `yaml:"bulk_mb" help:"Largest bulk request in MiB, below the nodes' http.max_content_length. A larger batch is several requests and still one step to searches."`
	Expunge         bool            `yaml:"expunge" help:"When a partition is dropped, also rewrite the segments that hold what was deleted, so that it leaves the nodes' disks within a minute, or once a copy that is away has caught up. Off: it stays there until a merge comes by."`
	Vector          Vector          `yaml:"vector" help:"How vectors are searched."`
	Keyword         Keyword         `yaml:"keyword" help:"How keyword search cuts and ranks words."`
}

// Vector is the part of Config about vector search.
type Vector struct {
	ExactChunks    int `yaml:"exact_chunks" help:"Up to so many chunks every vector of a partition that the filter leaves is compared. Beyond that Lucene's HNSW graph is walked."`
	M              int `yaml:"m" help:"HNSW: links of a vector in each layer, 2 to 100. Holds for vectors of a dimension that the index has not seen yet."`
	EfConstruction int `yaml:"ef_construction" help:"HNSW: candidates looked at when a vector is added, 4 to 1000. Holds as m does."`
	Candidates     int `yaml:"candidates" help:"HNSW: least number of neighbours that a search asks for, whatever its limit, 10 to 1000. More find more and take longer."`
}

// Keyword is the part of Config about keyword search.
type Keyword struct {
	K1        float64  `yaml:"k1" help:"BM25: how fast repeated words stop adding to the score, above 0 to 10."`
	B         float64  `yaml:"b" help:"BM25: how much long chunks are marked down, 0 to 1. A change rebuilds the index."`
	Stemmer   string   `yaml:"stemmer" help:"How words are reduced: porter2 (Snowball's stemmers, of the languages), plural (of English only) or none. A change rebuilds the index."`
	Languages []string `yaml:"languages" help:"Languages beside English whose words porter2 reduces, by their codes: de, fr, es, it, pt, nl, sv, tr (told by a text's function words), ru, ar and hi (told by their script). A change rebuilds the index."`
	StopWords bool     `yaml:"stop_words" help:"Leave function words of a query's language out where it holds other words."`
}

// Default is the configuration without hosts.
func Default() Config {
	return Config{
		IndexPrefix:     "mneme",
		Shards:          3,
		Replicas:        1,
		Refresh:         Immediate,
		RefreshInterval: time.Second,
		OnOutage:        Refuse,
		Timeout:         10 * time.Second,
		WriteTimeout:    time.Minute,
		BulkMB:          8,
		Expunge:         true,
		Vector:          Vector{ExactChunks: 20_000, M: 16, EfConstruction: 128, Candidates: 300},
		Keyword: Keyword{K1: .9, B: .65, Stemmer: string(analysis.Porter2), Languages: analysis.Languages(),
			StopWords: true},
	}
}

// The names of indexes are of lower case.
var prefixForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Validate reports every setting that is out of range. Empty hosts are left to Open.
func (c Config) Validate() error {
	var errs []error
	bad := func(path, format string, args ...any) {
		errs = append(errs, &registry.Invalid{Path: path, Reason: fmt.Sprintf(format, args...)})
	}
	for i, h := range c.Hosts {
		u, err := url.Parse(h)
		switch path := fmt.Sprintf("hosts[%d]", i); {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			bad(path, "must be an address such as http://host:9200")
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			bad(path, "must hold no user, query or fragment; credentials are username and password")
		}
	}
	if (c.Username == "") != (c.Password.Reveal() == "") {
		bad("username", "username and password are set together or not at all")
	}
	if !prefixForm.MatchString(c.IndexPrefix) {
		bad("index_prefix", "must be 1 to 64 lower-case letters, digits, hyphens and underscores, and begin with a letter or "+
			"digit")
	}
	if c.Refresh != Immediate && c.Refresh != Interval {
		bad("refresh", "must be %s or %s", Immediate, Interval)
	}
	if c.OnOutage != Refuse && c.OnOutage != CatchUp {
		bad("on_outage", "must be %s or %s", Refuse, CatchUp)
	}
	for _, n := range []struct {
		path               string
		value, least, most int
	}{
		{"shards", c.Shards, 1, 1024},
		{"replicas", c.Replicas, 0, 10},
		{"bulk_mb", c.BulkMB, 1, 1024},
		{"vector.exact_chunks", c.Vector.ExactChunks, 0, 10_000_000},
		{"vector.m", c.Vector.M, 2, 100},
		{"vector.ef_construction", c.Vector.EfConstruction, 4, 1000},
		{"vector.candidates", c.Vector.Candidates, 10, 1000},
	} {
		if n.value < n.least || n.value > n.most {
			bad(n.path, "must be between %d and %d", n.least, n.most)
		}
	}
	for _, d := range []struct {
		path        string
		value       time.Duration
		least, most time.Duration
	}{
		{"refresh_interval", c.RefreshInterval, 100 * time.Millisecond, time.Minute},
		{"timeout", c.Timeout, 100 * time.Millisecond, 5 * time.Minute},
		{"write_timeout", c.WriteTimeout, 100 * time.Millisecond, time.Hour},
	} {
		if d.value < d.least || d.value > d.most {
			bad(d.path, "must be between %s and %s", d.least, d.most)
		}
	}
	if !(c.Keyword.K1 > 0 && c.Keyword.K1 <= 10) {
		bad("keyword.k1", "must be above 0 and at most 10")
	}
	if !(c.Keyword.B >= 0 && c.Keyword.B <= 1) {
		bad("keyword.b", "must be between 0 and 1")
	}
	switch analysis.Stemmer(c.Keyword.Stemmer) {
	case analysis.Porter2, analysis.Plural, analysis.None:
	default:
		bad("keyword.stemmer", "must be porter2, plural or none")
	}
	for _, code := range c.Keyword.Languages {
		if !analysis.Knows(code) {
			bad("keyword.languages", "%q is not one of %s", code, strings.Join(analysis.Languages(), ", "))
		}
	}
	return errors.Join(errs...)
}
