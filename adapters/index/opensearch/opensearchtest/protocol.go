package opensearchtest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// protocol is a server in this process that keeps to the part of OpenSearch's protocol that Mneme
// uses: what is refreshed alone is found, conditional writes conflict, features have nine bits, a
// blocked, closed or unassigned index answers as one. It compares all vectors, has one node and
// keeps everything in memory, each routing value in a shard of its own.
type protocol struct {
	sync.Mutex
	indexes map[string]*protocolIndex
}

// protocolIndex is one index; its alias is its own.
type protocolIndex struct {
	name, alias string
	mappings    fields
	settings    map[string]any // by their whole names
	closed, red bool
	shards      map[string]*protocolShard // by routing
	seqNo       int64
}

// protocolShard has what was written and what of it searches see.
type protocolShard struct {
	written, seen map[string]*protocolDocument
}

type protocolDocument struct {
	seqNo    int64
	source   fields
	features map[string]float64 // by field and name
}

type fields = map[string]any

// failed is an answer of another status than 200.
type failed struct {
	status       int
	kind, reason string
}

func (f *failed) Error() string { return f.reason }

// startProtocol starts the server; stop ends it.
func startProtocol() (url string, stop func()) {
	s := httptest.NewServer(newProtocol())
	return s.URL, s.Close
}

func newProtocol() *protocol { return &protocol{indexes: map[string]*protocolIndex{}} }

func (p *protocol) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.Lock()
	answer, err := p.answer(r, body)
	p.Unlock()
	status := http.StatusOK
	var f *failed
	switch {
	case errors.As(err, &f) && f.kind == "": // an answer, with a status of its own
		status = f.status
	case errors.As(err, &f):
		status, answer = f.status, fields{"status": f.status, "error": fields{"type": f.kind, "reason": f.reason,
			"root_cause": []fields{{"type": f.kind, "reason": f.reason}}}}
	case err != nil:
		status, answer = http.StatusBadRequest, fields{"error": fields{"type": "parse_exception", "reason": err.Error()}}
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the caller may have left
}

// parse reads a body that may be empty.
func parse(body []byte) (fields, error) {
	out := fields{}
	if len(body) == 0 {
		return out, nil
	}
	return out, json.Unmarshal(body, &out)
}

func (p *protocol) answer(r *http.Request, body []byte) (any, error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	name, verb := parts[0], ""
	if len(parts) > 1 {
		verb = parts[1]
	}
	switch {
	case name == "":
		return fields{"version": fields{"number": "2.19.1", "distribution": "opensearch"}}, nil
	case name == "_nodes":
		return fields{"nodes": fields{"n1": fields{"process": fields{"cpu": fields{"total_in_millis": 1000}},
			"jvm": fields{"mem": fields{"heap_committed_in_bytes": 1 << 29}}}}}, nil
	case name == "_cluster":
		return p.cluster(parts[1:])
	case r.Method == http.MethodPut && verb == "":
		return p.create(name, body)
	}
	x := p.find(name)
	if x == nil {
		return nil, &failed{http.StatusNotFound, "index_not_found_exception", "no such index [" + name + "]"}
	}
	switch r.Method + " " + verb {
	case "GET ":
		return fields{x.name: fields{"aliases": fields{x.alias: fields{}}, "mappings": x.mappings, "settings": x.settings}}, nil
	case "DELETE ":
		delete(p.indexes, x.name)
		return fields{"acknowledged": true}, nil
	case "PUT _mapping":
		return x.addFields(body)
	case "PUT _settings":
		return x.set(body)
	case "GET _settings":
		return fields{x.name: fields{"settings": x.settings}}, nil
	case "POST _close":
		x.closed = true
		return fields{"acknowledged": true}, nil
	case "POST _open":
		x.closed, x.red = false, x.unassigned()
		return fields{"acknowledged": true}, nil
	}
	if x.closed {
		return nil, &failed{http.StatusBadRequest, "index_closed_exception", "closed"}
	}
	if x.red {
		return nil, &failed{http.StatusServiceUnavailable, "no_shard_available_action_exception", "No shard available"}
	}
	q := r.URL.Query()
	shard := x.shard(q.Get("routing"))
	switch r.Method + " " + verb {
	case "POST _refresh", "POST _flush", "POST _forcemerge":
		x.refresh("")
		return fields{"_shards": fields{"total": 1, "successful": 1, "failed": 0}}, nil
	case "GET _stats":
		copies := []fields{{"seq_no": fields{"max_seq_no": x.seqNo}, "retention_leases": fields{"leases": []fields{
			{"retaining_seq_no": x.seqNo + 1}}}}}
		return fields{"indices": fields{x.name: fields{"shards": fields{"0": copies}}},
			"_all": fields{"total": fields{"store": fields{"size_in_bytes": 1000 * x.seqNo}}}}, nil
	case "GET _doc":
		d := shard.written[parts[2]]
		if d == nil {
			return fields{"_index": x.name, "_id": parts[2], "found": false}, &failed{status: http.StatusNotFound}
		}
		return fields{"found": true, "_seq_no": d.seqNo, "_primary_term": 1, "_source": fields{"m": d.source["m"]}}, nil
	case "PUT _doc":
		source, err := parse(body)
		if err == nil {
			err = x.write(shard, parts[2], source, q.Get("if_seq_no"), q.Get("op_type") == "create")
		}
		if err != nil {
			return nil, err
		}
		if q.Get("refresh") == "true" {
			x.refresh(q.Get("routing"))
		}
		return fields{"_seq_no": x.seqNo, "_primary_term": 1, "result": "created"}, nil
	case "POST _bulk":
		return x.bulk(body, q.Get("refresh") != "")
	case "POST _search":
		return x.search(q.Get("routing"), body)
	case "POST _count", "GET _count":
		request, err := parse(body)
		if err != nil {
			return nil, err
		}
		return fields{"count": len(x.matches("", request["query"])), "terminated_early": false}, nil
	case "POST _delete_by_query":
		return x.deleteByQuery(shard, q.Get("routing"), body)
	}
	return nil, &failed{http.StatusBadRequest, "illegal_argument_exception", "no handler found for " + r.URL.Path}
}

func (p *protocol) find(name string) *protocolIndex {
	for _, x := range p.indexes {
		if name == x.name || name == x.alias {
			return x
		}
	}
	return nil
}

func (p *protocol) cluster(parts []string) (any, error) {
	status := "green"
	if len(parts) > 1 {
		if x := p.find(parts[1]); x == nil {
			return nil, &failed{http.StatusNotFound, "index_not_found_exception", "no such index [" + parts[1] + "]"}
		} else if x.red {
			status = "red"
		}
	}
	return fields{"status": status}, nil
}

func (p *protocol) create(name string, body []byte) (any, error) {
	if p.indexes[name] != nil {
		return nil, &failed{http.StatusBadRequest, "resource_already_exists_exception", "index [" + name + "] already exists"}
	}
	if p.find(name) != nil {
		return nil, &failed{http.StatusBadRequest, "invalid_index_name_exception", "already exists as alias"}
	}
	request, err := parse(body)
	if err != nil {
		return nil, err
	}
	x := &protocolIndex{name: name, settings: map[string]any{}, shards: map[string]*protocolShard{}}
	x.mappings, _ = request["mappings"].(fields)
	if x.mappings == nil {
		x.mappings = fields{}
	}
	aliases, _ := request["aliases"].(fields)
	for x.alias = range aliases {
	}
	settings, _ := request["settings"].(fields)
	index, _ := settings["index"].(fields)
	for key, value := range index {
		x.settings["index."+key] = fmt.Sprint(value)
	}
	p.indexes[name] = x
	return fields{"acknowledged": true}, nil
}

func (x *protocolIndex) properties() fields {
	p, _ := x.mappings["properties"].(fields)
	return p
}

func (x *protocolIndex) addFields(body []byte) (any, error) {
	request, err := parse(body)
	if err != nil {
		return nil, err
	}
	more, _ := request["properties"].(fields)
	for name, field := range more {
		if was := x.properties()[name]; was != nil && fmt.Sprint(was) != fmt.Sprint(field) {
			return nil, &failed{http.StatusBadRequest, "illegal_argument_exception", "Cannot update parameter of [" + name + "]"}
		}
		x.properties()[name] = field
	}
	return fields{"acknowledged": true}, nil
}

func (x *protocolIndex) set(body []byte) (any, error) {
	request, err := parse(body)
	for key, value := range request {
		if value == nil {
			delete(x.settings, key)
			continue
		}
		x.settings[key] = fmt.Sprint(value)
	}
	x.red = x.red && x.unassigned()
	return fields{"acknowledged": true}, err
}

func (x *protocolIndex) unassigned() bool {
	return x.settings["index.routing.allocation.require._name"] != nil
}

func (x *protocolIndex) shard(routing string) *protocolShard {
	s := x.shards[routing]
	if s == nil {
		s = &protocolShard{map[string]*protocolDocument{}, map[string]*protocolDocument{}}
		x.shards[routing] = s
	}
	return s
}

// refresh lets searches see what was written in a shard; "": in all.
func (x *protocolIndex) refresh(routing string) {
	for name, s := range x.shards {
		if routing == "" || routing == name {
			s.seen = maps.Clone(s.written)
		}
	}
}

func (x *protocolIndex) write(s *protocolShard, id string, source fields, ifSeqNo string, create bool) error {
	if x.settings["index.blocks.read_only_allow_delete"] == "true" {
		return &failed{http.StatusTooManyRequests, "cluster_block_exception", "index [" + x.name + "] blocked by: " +
			"[TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];"}
	}
	was := s.written[id]
	if create && was != nil || ifSeqNo != "" && (was == nil || strconv.FormatInt(was.seqNo, 10) != ifSeqNo) {
		return &failed{http.StatusConflict, "version_conflict_engine_exception", "[" + id + "]: version conflict"}
	}
	d := &protocolDocument{source: source, features: map[string]float64{}}
	for name, value := range source {
		property, known := x.properties()[name].(fields)
		if !known {
			return &failed{http.StatusBadRequest, "strict_dynamic_mapping_exception", "[" + name + "] is not allowed"}
		}
		if property["type"] != "rank_features" {
			continue
		}
		for feature, weight := range value.(fields) {
			bits := math.Float32bits(float32(weight.(float64)))
			d.features[name+"."+feature] = float64(math.Float32frombits(bits &^ (1<<15 - 1)))
		}
	}
	x.seqNo++
	d.seqNo = x.seqNo
	s.written[id] = d
	return nil
}

func (x *protocolIndex) bulk(body []byte, refresh bool) (any, error) {
	var items []fields
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, len(body)+1)
	wrong, touched := false, map[string]bool{}
	for lines.Scan() {
		var action struct {
			Index struct {
				ID      string `json:"_id"`
				Routing string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &action); err != nil || !lines.Scan() {
			return nil, errors.Join(err, errors.New("an action without a document"))
		}
		source, err := parse(lines.Bytes())
		if err == nil {
			err = x.write(x.shard(action.Index.Routing), action.Index.ID, source, "", false)
		}
		item := fields{"_id": action.Index.ID, "status": http.StatusCreated}
		var f *failed
		if errors.As(err, &f) {
			item["status"], item["error"] = f.status, fields{"type": f.kind, "reason": f.reason}
		} else if err != nil {
			return nil, err
		}
		wrong = wrong || err != nil
		touched[action.Index.Routing] = true
		items = append(items, fields{"index": item})
	}
	for routing := range touched {
		if refresh {
			x.refresh(routing)
		}
	}
	return fields{"errors": wrong, "items": items}, lines.Err()
}

// found is a document that matches, with its score and the names of the clauses that it matches.
type found struct {
	id      string
	d       *protocolDocument
	score   float64
	clauses []string
}

// matches are the documents of a shard, or of all, that searches see and a query matches.
func (x *protocolIndex) matches(routing string, query any) (out []found) {
	for name, s := range x.shards {
		if routing != "" && routing != name {
			continue
		}
		for id, d := range s.seen {
			f := found{id: id, d: d}
			if ok, score := f.meets(query); ok {
				f.score = score
				out = append(out, f)
			}
		}
	}
	slices.SortFunc(out, func(a, b found) int {
		byNumber := func(f found) float64 { n, _ := f.d.source["c"].(float64); return n }
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(fmt.Sprint(a.d.source["d"]), fmt.Sprint(b.d.source["d"])),
			cmp.Compare(byNumber(a), byNumber(b)))
	})
	if q, ok := query.(fields); ok && q["knn"] != nil {
		for _, field := range q["knn"].(fields) {
			out = out[:min(len(out), int(field.(fields)["k"].(float64)))]
		}
	}
	return out
}

// meets reports whether a document meets a query, and with which score.
func (f *found) meets(query any) (bool, float64) {
	q, _ := query.(fields)
	for kind, body := range q {
		b, _ := body.(fields)
		switch kind {
		case "bool":
			return f.meetsAll(b)
		case "script_score":
			ok, _ := f.meets(b["query"])
			params := b["script"].(fields)["params"].(fields)
			return ok, f.cosine(params["field"].(string), params["query_value"])
		case "knn":
			for field, of := range b {
				ok, _ := f.meets(of.(fields)["filter"])
				return ok && f.d.source[field] != nil, f.cosine(field, of.(fields)["vector"])
			}
		case "exists":
			return f.d.source[b["field"].(string)] != nil, 1
		case "rank_feature":
			return f.feature(b)
		}
		for field, want := range b {
			have := f.d.source[field]
			switch kind {
			case "term":
				return has(have, want), 1
			case "terms":
				return slices.ContainsFunc(want.([]any), func(w any) bool { return has(have, w) }), 1
			case "range":
				n, ok := have.(float64)
				for end, bound := range want.(fields) {
					by := cmp.Compare(n, bound.(float64))
					ok = ok && map[string]bool{"gt": by > 0, "gte": by >= 0, "lt": by < 0, "lte": by <= 0}[end]
				}
				return ok, 1
			}
		}
	}
	return len(q) == 0, 1
}

// has reports whether a field, of one value or several, has a value.
func has(have, want any) bool {
	if all, ok := have.([]any); ok {
		return slices.Contains(all, want)
	}
	return have != nil && have == want
}

func (f *found) meetsAll(b fields) (bool, float64) {
	list := func(of string) []any { l, _ := b[of].([]any); return l }
	for _, q := range list("filter") {
		if ok, _ := f.meets(q); !ok {
			return false, 0
		}
	}
	for _, q := range list("must_not") {
		if ok, _ := f.meets(q); ok {
			return false, 0
		}
	}
	matched, sum := 0, 0.0
	for _, q := range list("should") {
		if ok, score := f.meets(q); ok {
			matched, sum = matched+1, sum+score
		}
	}
	least, _ := b["minimum_should_match"].(float64)
	return matched >= int(least), float64(float32(sum))
}

func (f *found) feature(b fields) (bool, float64) {
	weight, ok := f.d.features[b["field"].(string)]
	if !ok {
		return false, 0
	}
	if name, named := b["_name"].(string); named {
		f.clauses = append(f.clauses, name)
	}
	boost, given := b["boost"].(float64)
	if !given {
		boost = 1
	}
	if s, ok := b["saturation"].(fields); ok {
		weight /= weight + s["pivot"].(float64)
	}
	return true, boost * weight
}

// cosine is the score of a vector, which is never negative.
func (f *found) cosine(field string, query any) float64 {
	own, _ := f.d.source[field].([]any)
	asked := query.([]any)
	if len(own) != len(asked) {
		return 0
	}
	dot, a, b := 0.0, 0.0, 0.0
	for i := range own {
		v, w := own[i].(float64), asked[i].(float64)
		dot, a, b = dot+v*w, a+v*v, b+w*w
	}
	return float64(float32((1 + dot/math.Sqrt(a*b)) / 2))
}

func (x *protocolIndex) search(routing string, body []byte) (any, error) {
	request, err := parse(body)
	if err != nil {
		return nil, err
	}
	all := x.matches(routing, request["query"])
	size, _ := request["size"].(float64)
	hits := []fields{}
	for _, f := range all[:min(len(all), int(size))] {
		hits = append(hits, fields{"_id": f.id, "_score": f.score, "sort": []any{f.score, f.d.source["d"], f.d.source["c"]},
			"matched_queries": f.clauses})
	}
	aggregations := fields{}
	asked, _ := request["aggs"].(fields)
	for name, of := range asked {
		aggregations[name] = aggregate(all, of.(fields))
	}
	return fields{"timed_out": false, "_shards": fields{"total": 1, "successful": 1, "failed": 0},
		"hits": fields{"hits": hits}, "aggregations": aggregations}, nil
}

func aggregate(all []found, of fields) fields {
	for kind, body := range of {
		b := body.(fields)
		switch kind {
		case "filters":
			buckets := fields{}
			for name, q := range b["filters"].(fields) {
				n := 0
				for _, f := range all {
					if ok, _ := f.meets(q); ok {
						n++
					}
				}
				buckets[name] = fields{"doc_count": n}
			}
			return fields{"buckets": buckets}
		case "value_count", "sum":
			sum := 0.0
			for _, f := range all {
				n, ok := f.d.source[b["field"].(string)].(float64)
				if kind == "sum" {
					sum += n
				} else if ok {
					sum++
				}
			}
			return fields{"value": sum}
		case "composite":
			return composite(all, b)
		}
	}
	return nil
}

// composite lists the partitions, page by page.
func composite(all []found, b fields) fields {
	after := ""
	if a, ok := b["after"].(fields); ok {
		after = a["p"].(string)
	}
	names := map[string]bool{}
	for _, f := range all {
		if name := fmt.Sprint(f.d.source["p"]); name > after {
			names[name] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	buckets := []fields{}
	for _, name := range sorted[:min(len(sorted), int(b["size"].(float64)))] {
		buckets = append(buckets, fields{"key": fields{"p": name}})
	}
	return fields{"buckets": buckets}
}

func (x *protocolIndex) deleteByQuery(s *protocolShard, routing string, body []byte) (any, error) {
	request, err := parse(body)
	if err != nil {
		return nil, err
	}
	deleted, conflicts := 0, 0
	for _, f := range x.matches(routing, request["query"]) {
		switch now := s.written[f.id]; {
		case now == nil || now.seqNo != f.d.seqNo:
			conflicts++
		default:
			delete(s.written, f.id)
			deleted++
			x.seqNo++
		}
	}
	return fields{"timed_out": false, "deleted": deleted, "version_conflicts": conflicts, "failures": []any{}}, nil
}
