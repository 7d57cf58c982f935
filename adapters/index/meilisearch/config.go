package meilisearch

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

// Outage is what becomes of writes while Meilisearch can't take them.
type Outage string

// The policies.
const (
	// Refuse answers 503: the write is stored but not acknowledged, and repeating
	// it is safe.
	Refuse Outage = "refuse"
	// CatchUp acknowledges the write once it is stored. Keyword search fails, as
	// degraded or with strict as 503, until the index has caught up.
	CatchUp Outage = "catch_up"
)

// Changed says what to do about settings that somebody else has changed.
type Changed string

// The ways.
const (
	Report Changed = "refuse"
	Repair Changed = "repair"
)

// Ranking is how the chunks that were found are ordered.
type Ranking string

// The ways.
const (
	// ByRules takes Meilisearch's ranking scores.
	ByRules Ranking = "meilisearch"
	// ByBM25 reads the terms of the chunks found, some hundred kilobytes a query, and
	// computes the scores here.
	ByBM25 Ranking = "bm25"
)

// Config is the operator's settings of the index.
type Config struct {
	URL             string          `yaml:"url" help:"Address of the server, http://host:7700 or https://..."`
	APIKey          registry.Secret `yaml:"api_key" help:"API key with the actions search, documents.add, documents.get, documents.delete, indexes.create, settings.get, settings.update, tasks.get and version. Empty: the server has no master key."`
	IndexPrefix     string          `yaml:"index_prefix" help:"The index is named PREFIX_chunks. One prefix for each installation of mneme."`
	OnOutage        Outage          `yaml:"on_outage" help:"Writes while Meilisearch is out of reach: refuse (503; stored, and safe to repeat) or catch_up (acknowledged; keyword search is left out of answers until it has caught up)."`
	ChangedSettings Changed         `yaml:"changed_settings" help:"When somebody else changed the index's settings: refuse (searches and writes fail, naming the difference) or repair (set them again, which reindexes everything)."`
	Ranking         Ranking         `yaml:"ranking" help:"How what was found is ordered: meilisearch (its ranking scores, weighted by how rare the words are) or bm25 (counted here over the terms of what was found, which come along with every answer; better for long texts and dearer)."`
	Timeout         time.Duration   `yaml:"timeout" help:"Longest time of one request."`
	TaskTimeout     time.Duration   `yaml:"task_timeout" help:"Longest time to wait for the task of a write."`
	VerifyEvery     time.Duration   `yaml:"verify_every" help:"How often the index's settings are compared with what they should be."`
	MaxPayloadMB    int             `yaml:"max_payload_mb" help:"Largest request in MiB, below the server's http-payload-size-limit. A larger change is not one step to searches."`
	Stemmer         string          `yaml:"stemmer" help:"How words are reduced: porter2 (Snowball's stemmers, of the languages), plural (of English only) or none. A change rebuilds the index."`
	Languages       []string        `yaml:"languages" help:"Languages beside English whose words porter2 reduces, by their codes: de, fr, es, it, pt, nl, sv, tr (told by a text's function words), ru, ar and hi (told by their script). A change rebuilds the index."`
	StopWords       bool            `yaml:"stop_words" help:"Leave function words of a query's language out where it holds other words."`
}

// Default is the configuration without a URL.
func Default() Config {
	return Config{
		IndexPrefix:     "mneme",
		OnOutage:        Refuse,
		ChangedSettings: Report,
		Ranking:         ByRules,
		Timeout:         10 * time.Second,
		TaskTimeout:     30 * time.Second,
		VerifyEvery:     time.Minute,
		MaxPayloadMB:    64,
		Stemmer:         string(analysis.Porter2),
		Languages:       analysis.Languages(),
		StopWords:       true,
	}
}

// A prefix leaves room for a suffix within the 400 bytes of an index's name.
var prefixForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Validate reports every setting that is out of range. An empty URL is left to
// Open.
func (c Config) Validate() error {
	var errs []error
	bad := func(path, format string, args ...any) {
		errs = append(errs, &registry.Invalid{Path: path, Reason: fmt.Sprintf(format, args...)})
	}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			bad("url", "must be an address such as http://host:7700")
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			bad("url", "must hold no user, query or fragment; the key is api_key")
		}
	}
	if !prefixForm.MatchString(c.IndexPrefix) {
		bad("index_prefix", "must be 1 to 64 letters, digits, hyphens and underscores")
	}
	if c.OnOutage != Refuse && c.OnOutage != CatchUp {
		bad("on_outage", "must be %s or %s", Refuse, CatchUp)
	}
	if c.ChangedSettings != Report && c.ChangedSettings != Repair {
		bad("changed_settings", "must be %s or %s", Report, Repair)
	}
	if c.Ranking != ByRules && c.Ranking != ByBM25 {
		bad("ranking", "must be %s or %s", ByRules, ByBM25)
	}
	for _, d := range []struct {
		path        string
		value       time.Duration
		least, most time.Duration
	}{
		{"timeout", c.Timeout, 100 * time.Millisecond, 5 * time.Minute},
		{"task_timeout", c.TaskTimeout, 100 * time.Millisecond, time.Hour},
		{"verify_every", c.VerifyEvery, 10 * time.Millisecond, 24 * time.Hour},
	} {
		if d.value < d.least || d.value > d.most {
			bad(d.path, "must be between %s and %s", d.least, d.most)
		}
	}
	if c.MaxPayloadMB < 1 || c.MaxPayloadMB > 4096 {
		bad("max_payload_mb", "must be between 1 and 4096")
	}
	switch analysis.Stemmer(c.Stemmer) {
	case analysis.Porter2, analysis.Plural, analysis.None:
	default:
		bad("stemmer", "must be porter2, plural or none")
	}
	for _, code := range c.Languages {
		if !analysis.Knows(code) {
			bad("languages", "%q is not one of %s", code, strings.Join(analysis.Languages(), ", "))
		}
	}
	return errors.Join(errs...)
}
