package opensearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/registry"
)

const (
	// 2.19 is the oldest that this has been run over.
	minMajor, minMinor = 2, 19
	// format is the version of what documents hold; another rebuilds the index.
	format = 1
	// verifyEvery is how often settings and mapping are compared with what they should be.
	verifyEvery = time.Minute
)

// ready makes sure, at the first contact and from time to time, that the cluster and the
// index are what searches and writes rely on.
func (x *Index) ready(ctx context.Context) error {
	x.verify.Lock()
	defer x.verify.Unlock()
	if x.verify.opened && time.Since(x.verify.at) < verifyEvery {
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
	if !x.verify.opened {
		if err := x.checkVersion(ctx); err != nil {
			return err
		}
	}
	err := x.checkIndex(ctx)
	if errors.Is(err, errGone) {
		if err = x.create(ctx); err == nil {
			err = x.checkIndex(ctx)
		}
	}
	if err != nil {
		return err
	}
	x.verify.opened, x.verify.at = true, time.Now()
	return nil
}

// operatorFault is a state that an operator has to put right.
func operatorFault(format string, args ...any) error {
	return unavailable("check", fmt.Errorf(format, args...))
}

// checkVersion refuses what is no OpenSearch, or too old.
func (x *Index) checkVersion(ctx context.Context) error {
	var info struct {
		Version struct {
			Number       string `json:"number"`
			Distribution string `json:"distribution"`
		} `json:"version"`
	}
	if err := x.call(ctx, request{op: "read the version", method: http.MethodGet, path: "/"}, &info); err != nil {
		return err
	}
	if info.Version.Distribution != "opensearch" {
		return operatorFault("the server at hosts is not OpenSearch but says %q; name the nodes of an OpenSearch of %d.%d or "+
			"later",
			info.Version.Number, minMajor, minMinor)
	}
	major, minor, ok := parseVersion(info.Version.Number)
	if !ok || major < minMajor || major == minMajor && minor < minMinor {
		return operatorFault("OpenSearch is version %.40q; upgrade it to %d.%d or later", info.Version.Number, minMajor, minMinor)
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

// object is one of JSON.
type object = map[string]any

// wantedMapping is the mapping without the fields of vectors; doc.go says what they are.
func wantedMapping() object {
	return object{
		"dynamic":  "strict",
		"_source":  object{"includes": []string{"m"}},
		"_routing": object{"required": true},
		"properties": object{
			"p": object{"type": "keyword"},
			"h": object{"type": "keyword", "doc_values": false},
			"d": object{"type": "keyword", "index": false},
			"c": object{"type": "integer", "index": false},
			"a": object{"type": "long"},
			"l": object{"type": "integer", "index": false},
			"f": object{"type": "keyword", "doc_values": false},
			"t": object{"type": "long"},
			"k": object{"type": "rank_features"},
			"s": object{"type": "rank_features"},
			"m": object{"type": "object", "enabled": false},
		},
	}
}

// create makes the index. Another process doing so at the same time is no error.
func (x *Index) create(ctx context.Context) error {
	interval := "-1"
	if x.cfg.Refresh == Interval {
		interval = fmt.Sprintf("%dms", x.cfg.RefreshInterval.Milliseconds())
	}
	err := x.call(ctx, request{op: "create the index", method: http.MethodPut, path: "/" + x.alias + "-1",
		limit: x.cfg.WriteTimeout,
		body: object{
			"aliases":  object{x.alias: object{"is_write_index": true}},
			"mappings": wantedMapping(),
			"settings": object{"index": object{
				"number_of_shards":   x.cfg.Shards,
				"number_of_replicas": x.cfg.Replicas,
				"refresh_interval":   interval,
				// With segments copied, a refresh holds for the primary alone.
				"replication.type":    "DOCUMENT",
				"translog.durability": "request",
				"knn":                 true,
				// What is deleted is to leave the disk when it is asked to, see expunge.
				"merge.policy.expunge_deletes_allowed": 0,
			}},
		}}, nil)
	var a *answer
	switch {
	case hasKind(err, kindIndexExists):
		return nil
	case errors.As(err, &a) && strings.Contains(a.reason, "index.knn"):
		return operatorFault("the nodes lack the k-NN plugin: install opensearch-knn on each of them: %w", a)
	case errors.As(err, &a) && strings.Contains(a.reason, "already exists as alias"), err == nil:
		return nil
	}
	return err
}

// checkIndex compares the settings and the mapping of the index.
func (x *Index) checkIndex(ctx context.Context) error {
	var all map[string]struct {
		Settings map[string]any `json:"settings"`
		Mappings struct {
			Dynamic    any    `json:"dynamic"`
			Source     object `json:"_source"`
			Routing    object `json:"_routing"`
			Properties map[string]struct {
				Type      string `json:"type"`
				Dimension int    `json:"dimension"`
				Method    struct {
					Engine string `json:"engine"`
					Space  string `json:"space_type"`
				} `json:"method"`
			} `json:"properties"`
		} `json:"mappings"`
	}
	err := x.call(ctx, request{op: "read the index", method: http.MethodGet, path: "/" + x.alias + "?flat_settings=true"}, &all)
	if err != nil {
		return err
	}
	if len(all) != 1 {
		return operatorFault("the alias %s stands for %d indexes; leave it on %s-1 alone", x.alias, len(all), x.alias)
	}
	for name, is := range all {
		if name == x.alias {
			return operatorFault("%s is an index and not an alias of %s-1: delete it, and it is made again and rebuilt "+
				"from the store", x.alias, x.alias)
		}
		remake := "delete the index " + name + ", which is made again and rebuilt from the store"
		for _, s := range []struct{ key, want, change string }{
			{"index.replication.type", "DOCUMENT", remake},
			{"index.knn", "true", remake},
			{"index.translog.durability", "REQUEST", "set it to request"},
		} {
			got, set := is.Settings[s.key]
			if text := fmt.Sprint(got); set && !strings.EqualFold(text, s.want) || !set && s.want == "DOCUMENT" {
				return operatorFault("%s of the index %s is %v, not %s: %s", s.key, name, got, s.want, s.change)
			}
		}
		if _, set := is.Settings["index.knn"]; !set {
			return operatorFault("index.knn of the index %s is not set: %s", name, remake)
		}
		if interval := fmt.Sprint(is.Settings["index.refresh_interval"]); x.cfg.Refresh == Interval && interval == "-1" {
			return operatorFault("refresh is interval, and the index %s never refreshes by itself: set its "+
				"index.refresh_interval, or refresh to immediate", name)
		}
		fields := map[int]bool{}
		if fmt.Sprint(is.Mappings.Dynamic) != "strict" || fmt.Sprint(is.Mappings.Routing["required"]) != "true" ||
			fmt.Sprint(is.Mappings.Source["includes"]) != "[m]" {
			return operatorFault("the mapping of the index %s is not of mneme (dynamic, _routing or _source): %s", name, remake)
		}
		for field, want := range wantedMapping()["properties"].(object) {
			if got := is.Mappings.Properties[field].Type; got != want.(object)["type"] && (field != "m" || got != "") {
				return operatorFault("the field %s of the index %s is %q, not %q: %s", field, name, got, want.(object)["type"],
					remake)
			}
		}
		for field, got := range is.Mappings.Properties {
			if got.Type != "knn_vector" {
				continue
			}
			if got.Method.Engine != "lucene" || got.Method.Space != "cosinesimil" || field != vectorField(got.Dimension) {
				return operatorFault("the field %s of the index %s has the engine %q and space %q, not lucene and "+
					"cosinesimil: %s",
					field, name, got.Method.Engine, got.Method.Space, remake)
			}
			fields[got.Dimension] = true
		}
		x.verify.fields = fields
	}
	return nil
}

func vectorField(dimension int) string { return "v" + strconv.Itoa(dimension) }

// addVectors makes sure that the mapping has a field for vectors of a dimension. Adding one
// that another process has added is no error.
func (x *Index) addVectors(ctx context.Context, dimension int) error {
	x.verify.Lock()
	defer x.verify.Unlock()
	if x.verify.fields[dimension] {
		return nil
	}
	err := x.call(ctx, request{op: "add a field for vectors", method: http.MethodPut, path: "/" + x.alias + "/_mapping",
		limit: x.cfg.WriteTimeout,
		body: object{"properties": object{vectorField(dimension): object{
			"type":      "knn_vector",
			"dimension": dimension,
			// The default engine is native code, which not every installation has.
			"method": object{"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil",
				"parameters": object{"m": x.cfg.Vector.M, "ef_construction": x.cfg.Vector.EfConstruction}},
		}}}}, nil)
	var a *answer
	if errors.As(err, &a) && a.status == http.StatusBadRequest {
		// Another process may have added it with another m.
		if again := x.checkIndex(ctx); again != nil || !x.verify.fields[dimension] {
			return errors.Join(err, again)
		}
		return nil
	}
	if err == nil {
		x.verify.fields[dimension] = true
	}
	return err
}

// Ping checks that the cluster answers and that the index is whole and as it should be.
func (x *Index) Ping(ctx context.Context) error {
	if err := x.ready(ctx); err != nil {
		return err
	}
	var health struct {
		Status string `json:"status"`
	}
	err := x.call(ctx, request{op: "health", method: http.MethodGet,
		path: "/_cluster/health/" + x.alias + "?timeout=1s&level=cluster"}, &health)
	if err == nil && health.Status == "red" {
		err = unavailable("health", &unreachableError{errors.New("the index is red, a primary shard has no node: see GET " +
			"_cluster/allocation/explain, and bring the node back; if it is lost, delete the index, which is rebuilt from the " +
			"store")})
	}
	return err
}

// deleteIndex removes the index of a configuration with everything in it. One that does
// not exist is no error.
func (c Config) deleteIndex(ctx context.Context) error {
	x, err := newIndex(c, Options{})
	if err != nil {
		return err
	}
	err = x.call(ctx, request{op: "delete the index", method: http.MethodDelete, path: "/" + x.alias + "-1",
		limit: c.WriteTimeout}, nil)
	if errors.Is(err, errGone) {
		err = nil
	}
	return errors.Join(err, x.Close())
}

// usage is what the index of a configuration takes on the nodes' disks, copies among it, and what
// the nodes have used of processors and memory, page cache aside.
func (c Config) usage(ctx context.Context) (registry.Usage, error) {
	x, err := newIndex(c, Options{})
	if err != nil {
		return registry.Usage{}, err
	}
	var index struct {
		All struct {
			Total struct {
				Store struct {
					Bytes int64 `json:"size_in_bytes"`
				} `json:"store"`
			} `json:"total"`
		} `json:"_all"`
	}
	err = x.call(ctx, request{op: "read the index's size", method: http.MethodGet, path: "/" + x.alias + "/_stats/store"}, &index)
	var nodes struct {
		Nodes map[string]struct {
			Process struct {
				CPU struct {
					Milliseconds int64 `json:"total_in_millis"`
				} `json:"cpu"`
			} `json:"process"`
			JVM struct {
				Memory struct {
					Heap  int64 `json:"heap_committed_in_bytes"`
					Other int64 `json:"non_heap_committed_in_bytes"`
				} `json:"mem"`
			} `json:"jvm"`
		} `json:"nodes"`
	}
	if err == nil {
		err = x.call(ctx, request{op: "read what nodes use", method: http.MethodGet, path: "/_nodes/stats/process,jvm"}, &nodes)
	}
	if a := (*answer)(nil); errors.As(err, &a) && a.status == http.StatusForbidden {
		err = nil // an index needs no such permission
	}
	u := registry.Usage{Place: c.Hosts[0] + "/" + x.alias, Tables: map[string]int64{x.alias: index.All.Total.Store.Bytes}}
	for _, n := range nodes.Nodes {
		u.CPU += float64(n.Process.CPU.Milliseconds) / 1000
		u.Memory += n.JVM.Memory.Heap + n.JVM.Memory.Other
	}
	return u, errors.Join(err, x.Close())
}

// Retain drops the partitions that are not among the live ones. A partition may have been
// created since live was read: generations rise, so one below the highest live generation
// is gone for certain, and one above it is dropped only if the next list lacks it too.
// Generations below zero are not the store's but those of health checks. With the cluster
// out of reach, everything is left to the next call.
func (x *Index) Retain(live []int64) error {
	ctx := context.Background()
	err := x.ready(ctx)
	if err == nil {
		err = x.retain(ctx, live)
	}
	var away *unreachableError
	if errors.As(err, &away) {
		x.log.WarnContext(ctx, "search index cleanup failed", "error", err)
		return nil
	}
	return err
}

func (x *Index) retain(ctx context.Context, live []int64) error {
	keep, highest := make(map[string]bool, len(live)), int64(0)
	for _, g := range live {
		keep["g"+strconv.FormatInt(g, 10)], highest = true, max(highest, g)
	}
	have, err := x.partitions(ctx)
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return err
	}
	x.mu.Lock()
	before, unlisted := x.unlisted, map[string]bool{}
	x.unlisted = unlisted
	x.mu.Unlock()
	have = slices.DeleteFunc(have, func(name string) bool {
		g, err := strconv.ParseInt(strings.TrimPrefix(name, "g"), 10, 64)
		if err != nil || g <= 0 || keep[name] {
			return true
		}
		unlisted[name] = true // should its deletion fail, too
		return g > highest && !before[name]
	})
	for _, g := range have {
		if err := x.deleteAll(ctx, g, object{"term": object{"p": g}}); err != nil {
			return err
		}
	}
	x.expunging.Lock()
	begun := x.expunging.begun
	x.expunging.Unlock()
	if len(have) > 0 || !begun { // of the life before, too
		x.expunge()
	}
	return nil
}

// partitions lists the names of all partitions that the index has something of.
func (x *Index) partitions(ctx context.Context) ([]string, error) {
	if err := x.refresh(ctx); err != nil {
		return nil, err
	}
	const page = 1000
	var out []string
	composite := object{"size": page, "sources": []object{{"p": object{"terms": object{"field": "p"}}}}}
	for {
		var r searchAnswer
		err := x.call(ctx, request{op: "list partitions", method: http.MethodPost,
			path: "/" + x.alias + "/_search?allow_partial_search_results=false", limit: x.cfg.WriteTimeout,
			body: object{"size": 0, "track_total_hits": false, "aggs": object{"all": object{"composite": composite}}}}, &r)
		if err == nil {
			err = r.whole()
		}
		if err != nil {
			return nil, err
		}
		for _, b := range r.Aggregations.All.Buckets {
			out = append(out, b.Key.P)
		}
		if len(r.Aggregations.All.Buckets) < page {
			return out, nil
		}
		composite["after"] = object{"p": out[len(out)-1]}
	}
}
