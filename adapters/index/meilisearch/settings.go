package meilisearch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	jitter "math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	client "github.com/meilisearch/meilisearch-go"
)

// 1.12 brought the settings prefixSearch and facetSearch, 1.15 typoTolerance's
// disableOnNumbers, which the client always sends.
const minMajor, minMinor = 1, 15

// format is the version of what documents hold; another rebuilds the index.
const format = 1

const (
	markID     = "mneme" // the document that says whose index this is
	primaryKey = "id"
)

// mark is that document. Life changes each time the index starts empty.
type mark struct {
	ID       string `json:"id"`
	Format   int    `json:"format"`
	Analysis string `json:"analysis"`
	Life     string `json:"life"`
}

func (x *Index) wantedMark(life string) mark {
	return mark{markID, format, x.analyzer.Version(), life}
}

// wantedSettings are the settings of the index. There is no dictionary and no separator,
// since every term is one run of letters and digits.
func wantedSettings() client.Settings {
	disabled := "disabled"
	return client.Settings{
		SearchableAttributes: []string{"w"},
		FilterableAttributes: []string{"c", "f", "h", "n", "p", "t", "v"},
		DisplayedAttributes:  []string{"*"},
		SortableAttributes:   []string{},
		RankingRules:         []string{"words", "proximity", "exactness"},
		StopWords:            []string{},
		Synonyms:             map[string][]string{},
		Dictionary:           []string{},
		SeparatorTokens:      []string{},
		NonSeparatorTokens:   []string{},
		ProximityPrecision:   client.ByWord,
		TypoTolerance: &client.TypoTolerance{
			Enabled:             false,
			MinWordSizeForTypos: client.MinWordSizeForTypos{OneTypo: 5, TwoTypos: 9},
			DisableOnWords:      []string{},
			DisableOnAttributes: []string{},
		},
		// It also bounds the hit counts of searches, from which frequencies are read.
		Pagination:   &client.Pagination{MaxTotalHits: 1_000_000_000},
		PrefixSearch: &disabled,
		FacetSearch:  false,
		// Terms are not of a language any more; detecting one would cut some of them.
		LocalizedAttributes: []*client.LocalizedAttributes{{Locales: []string{"eng"}, AttributePatterns: []string{"*"}}},
		// At this cutoff the server returns partial results without saying so; our own
		// deadlines are shorter.
		SearchCutoffMs: 60_000,
	}
}

// difference lists the settings that are not as wanted.
func difference(is client.Settings) []string {
	want := wantedSettings()
	var out []string
	add := func(name string, is, want any) {
		if !reflect.DeepEqual(is, want) {
			out = append(out, fmt.Sprintf("%s is %v, not %v", name, is, want))
		}
	}
	list := func(name string, is, want []string, ordered bool) {
		is, want = slices.Clone(is), slices.Clone(want)
		if !ordered {
			slices.Sort(is)
			slices.Sort(want)
		}
		if !slices.Equal(is, want) {
			out = append(out, fmt.Sprintf("%s is %q, not %q", name, is, want))
		}
	}
	list("searchableAttributes", is.SearchableAttributes, want.SearchableAttributes, true)
	list("filterableAttributes", is.FilterableAttributes, want.FilterableAttributes, false)
	list("displayedAttributes", is.DisplayedAttributes, want.DisplayedAttributes, false)
	list("sortableAttributes", is.SortableAttributes, want.SortableAttributes, false)
	list("rankingRules", is.RankingRules, want.RankingRules, true)
	list("stopWords", is.StopWords, want.StopWords, false)
	list("dictionary", is.Dictionary, want.Dictionary, false)
	list("separatorTokens", is.SeparatorTokens, want.SeparatorTokens, false)
	list("nonSeparatorTokens", is.NonSeparatorTokens, want.NonSeparatorTokens, false)
	add("synonyms", len(is.Synonyms), len(want.Synonyms))
	add("proximityPrecision", is.ProximityPrecision, want.ProximityPrecision)
	add("typoTolerance.enabled", is.TypoTolerance != nil && is.TypoTolerance.Enabled, want.TypoTolerance.Enabled)
	add("pagination.maxTotalHits", valueOf(is.Pagination).MaxTotalHits, want.Pagination.MaxTotalHits)
	add("prefixSearch", valueOf(is.PrefixSearch), valueOf(want.PrefixSearch))
	add("facetSearch", is.FacetSearch, want.FacetSearch)
	add("distinctAttribute", valueOf(is.DistinctAttribute), "")
	add("searchCutoffMs", is.SearchCutoffMs, want.SearchCutoffMs)
	local := func(l []*client.LocalizedAttributes) string {
		var b strings.Builder
		for _, a := range l {
			fmt.Fprint(&b, valueOf(a))
		}
		return b.String()
	}
	add("localizedAttributes", local(is.LocalizedAttributes), local(want.LocalizedAttributes))
	add("embedders", len(is.Embedders), 0)
	return out
}

// valueOf is what a pointer points to, or nothing.
func valueOf[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}

// ready makes sure, at the first contact and from time to time, that the server
// and the index are what searches and writes rely on.
func (x *Index) ready(ctx context.Context) error {
	x.verify.Lock()
	defer x.verify.Unlock()
	if x.verify.opened && time.Since(x.verify.at) < x.cfg.VerifyEvery {
		return nil
	}
	return x.check(ctx)
}

// recheck checks at once: the index was found missing or changed.
func (x *Index) recheck(ctx context.Context) error {
	x.verify.Lock()
	defer x.verify.Unlock()
	return x.check(ctx)
}

// check runs under verify's lock.
func (x *Index) check(ctx context.Context) error {
	first := !x.verify.opened
	if first {
		if err := x.version(ctx); err != nil {
			return err
		}
	}
	is, err := x.settings(ctx)
	switch {
	case errors.Is(err, errGone):
		if !first {
			x.log.WarnContext(ctx, "keyword index recreated", "index", x.uid)
		}
		if err := x.create(ctx); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if err := x.adopt(ctx, is, first); err != nil {
			return err
		}
	}
	x.verify.opened, x.verify.at = true, time.Now()
	if first && !x.shared {
		x.deleteEmptied(ctx)
	}
	return nil
}

// operatorFault is a state that an operator has to put right.
func operatorFault(format string, args ...any) error {
	return unavailable("meilisearch: check", fmt.Errorf(format, args...))
}

// version refuses a server that is too old.
func (x *Index) version(ctx context.Context) error {
	var v *client.Version
	err := x.call(ctx, "read the version", func(ctx context.Context) (err error) {
		v, err = x.server.VersionWithContext(ctx)
		return err
	})
	if err != nil {
		return err
	}
	major, minor, ok := parseVersion(v.PkgVersion)
	if !ok || major < minMajor || major == minMajor && minor < minMinor {
		return operatorFault("Meilisearch at %s is version %.40q; at least %d.%d is needed", x.cfg.URL, v.PkgVersion,
			minMajor, minMinor)
	}
	return nil
}

func parseVersion(s string) (major, minor int, ok bool) {
	parts := strings.SplitN(s, ".", 3)
	if len(parts) < 2 {
		return 0, 0, false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return major, minor, err1 == nil && err2 == nil
}

// settings reads those of the index. One of a form that the client does not know
// is a difference of its own.
func (x *Index) settings(ctx context.Context) (client.Settings, error) {
	var s *client.Settings
	var unknown bool
	err := x.call(ctx, "read the settings", func(ctx context.Context) (err error) {
		s, err = x.index.GetSettingsWithContext(ctx)
		var e *client.Error
		if errors.As(err, &e) && e.ErrCode == client.ErrCodeResponseUnmarshalBody && e.StatusCode < 300 {
			unknown, err = true, nil
		}
		return err
	})
	if err != nil {
		return client.Settings{}, err
	}
	if unknown || s == nil {
		return client.Settings{FilterableAttributes: []string{"(of another form)"}}, nil
	}
	return *s, nil
}

// create makes the index. Another process doing so at the same time is no error.
func (x *Index) create(ctx context.Context) error {
	err := x.run(ctx, "create the index", func(ctx context.Context) (*client.TaskInfo, error) {
		return x.server.CreateIndexWithContext(ctx, &client.IndexConfig{Uid: x.uid, PrimaryKey: primaryKey})
	})
	var failed *taskError
	if err != nil && (!errors.As(err, &failed) || failed.code != codeIndexExists) {
		return err
	}
	return x.configure(ctx, false)
}

// settingsAttempts bounds how often a process that starts checks the settings while
// others may be applying them; settingsPause is the wait in between.
const settingsAttempts = 8

func settingsPause(attempt int) time.Duration {
	return 50*time.Millisecond + jitter.N(time.Duration(attempt)*200*time.Millisecond)
}

// configure applies the settings and then says that the index is ours. reset is
// for settings that an update does not clear: the client leaves empty lists out
// of one.
func (x *Index) configure(ctx context.Context, reset bool) error {
	for attempt := 1; ; attempt++ {
		is, err := x.applySettings(ctx, reset)
		if err != nil {
			return err
		}
		d := difference(is)
		if len(d) == 0 {
			break
		}
		// Either a setting is left that only a reset clears, or another process has reset
		// the settings in the meantime. Of the two, the one that waits longer finds them applied.
		if attempt == settingsAttempts || !sleep(ctx, settingsPause(attempt)) {
			return operatorFault("the settings of the Meilisearch index %s do not hold: %s", x.uid, strings.Join(d, "; "))
		}
		if is, err = x.settings(ctx); err != nil {
			return err
		}
		if len(difference(is)) == 0 {
			break
		}
		reset = true
	}
	m, err := x.mark(ctx)
	if err != nil {
		return err
	}
	life := cmp.Or(valueOf(m).Life, rand.Text())
	return x.run(ctx, "mark the index", func(ctx context.Context) (*client.TaskInfo, error) {
		return x.index.AddDocumentsWithContext(ctx, []mark{x.wantedMark(life)}, nil)
	})
}

// applySettings applies the settings once and reads what they are then.
func (x *Index) applySettings(ctx context.Context, reset bool) (client.Settings, error) {
	if reset {
		if err := x.run(ctx, "reset the settings", x.index.ResetSettingsWithContext); err != nil {
			return client.Settings{}, err
		}
	}
	want := wantedSettings()
	_, err := x.enqueue(ctx, "apply the settings", func(ctx context.Context) (*client.TaskInfo, error) {
		return x.index.UpdateSettingsWithContext(ctx, &want)
	})
	if err != nil {
		return client.Settings{}, err
	}
	// Tasks end in the order in which they came.
	err = x.run(ctx, "apply the settings", func(ctx context.Context) (*client.TaskInfo, error) {
		return x.index.UpdateFacetSearchWithContext(ctx, false)
	})
	if err != nil {
		return client.Settings{}, err
	}
	return x.settings(ctx)
}

// adopt checks an index that exists. Only at the process's start (first) does it discard
// anything, so that two versions of mneme don't keep undoing each other's settings.
func (x *Index) adopt(ctx context.Context, is client.Settings, first bool) error {
	m, err := x.mark(ctx)
	var n int64
	if err == nil && m == nil {
		if n, err = x.count(ctx, nil); err == nil && n > 0 {
			m, err = x.mark(ctx) // another process may have finished it in between
		}
	}
	differs := difference(is)
	// Another process that starts, too, may have set them since they were read, or
	// be about to.
	for attempt := 1; err == nil && m != nil && len(differs) > 0 && attempt <= settingsAttempts; attempt++ {
		if attempt > 1 && (!first || !sleep(ctx, settingsPause(attempt))) {
			break
		}
		is, err = x.settings(ctx)
		differs = difference(is)
	}
	switch {
	case err != nil:
		return err
	case m == nil && n > 0:
		ours, err := x.holdsOwnDocuments(ctx)
		if err != nil {
			return err
		}
		if ours {
			// It was deleted, and a write in progress created it again.
			x.log.WarnContext(ctx, "keyword index recreated", "index", x.uid)
			err := x.run(ctx, "empty the index", func(ctx context.Context) (*client.TaskInfo, error) {
				return x.index.DeleteAllDocumentsWithContext(ctx, nil)
			})
			if err != nil {
				return err
			}
			return x.configure(ctx, false)
		}
		return operatorFault("the Meilisearch index %s holds %d documents and was not made by mneme; choose another index_prefix",
			x.uid, n)
	case m == nil: // nobody's, or ours and not finished
		return x.configure(ctx, false)
	case *m != x.wantedMark(m.Life):
		if !first {
			return operatorFault("the Meilisearch index %s was recreated with format %d, analysis %s; this process works with "+
				"format %d, analysis %s",
				x.uid, m.Format, m.Analysis, format, x.analyzer.Version())
		}
		x.log.InfoContext(ctx, "keyword index rebuilding", "index", x.uid, "from", m.Analysis, "to", x.analyzer.Version())
		err := x.run(ctx, "empty the index", func(ctx context.Context) (*client.TaskInfo, error) {
			return x.index.DeleteAllDocumentsWithContext(ctx, nil)
		})
		if err != nil {
			return err
		}
		return x.configure(ctx, len(differs) > 0)
	case len(differs) == 0:
		return nil
	case x.cfg.ChangedSettings == Repair:
		x.log.WarnContext(ctx, "keyword index settings repaired", "index", x.uid, "differences", differs)
		return x.configure(ctx, true)
	}
	return operatorFault("somebody changed the settings of the Meilisearch index %s: %s. Set them back, or let mneme do it "+
		"with changed_settings: repair",
		x.uid, strings.Join(differs, "; "))
}

// mark reads whose index it is; nil: nobody has said so.
func (x *Index) mark(ctx context.Context) (*mark, error) {
	var m mark
	err := x.call(ctx, "read whose index it is", func(ctx context.Context) error {
		return x.index.GetDocumentWithContext(ctx, markID, nil, &m)
	})
	if hasCode(err, codeDocumentNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &m, nil
}

// holdsOwnDocuments reports whether the first documents of an index without a mark are such as
// Apply writes.
func (x *Index) holdsOwnDocuments(ctx context.Context) (bool, error) {
	var r client.DocumentsResult
	err := x.call(ctx, "read whose documents they are", func(ctx context.Context) error {
		return x.index.GetDocumentsWithContext(ctx, &client.DocumentsQuery{Limit: 100}, &r)
	})
	if err != nil {
		return false, err
	}
	for _, d := range r.Results {
		var c struct {
			P string  `json:"p"`
			H string  `json:"h"`
			N string  `json:"n"`
			V *uint64 `json:"v"`
		}
		if err := d.DecodeInto(&c); err != nil {
			return false, nil
		}
		chunk := strings.HasPrefix(c.P, "g") && strings.HasPrefix(c.H, "h") && c.V != nil
		progress := strings.HasPrefix(c.P, "g") && c.N != ""
		gone := c.V != nil && *c.V == 0 && len(d) == 2
		if !chunk && !progress && !gone {
			return false, nil
		}
	}
	return len(r.Results) > 0, nil
}

// count is how many documents a filter leaves.
func (x *Index) count(ctx context.Context, filter any) (int64, error) {
	var r client.DocumentsResult
	err := x.call(ctx, "count documents", func(ctx context.Context) error {
		return x.index.GetDocumentsWithContext(ctx, &client.DocumentsQuery{Limit: 1, Fields: []string{"id"}, Filter: filter}, &r)
	})
	return r.Total, err
}
