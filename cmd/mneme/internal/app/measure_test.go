package app_test

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/core/fault"
)

var update = flag.Bool("update", false, "write the table of metrics")

const oneModel = "models:\n  e: {wasm: {tasks: [embedding]}}\nroles: {embed: e, sparse: off, rerank: off}\n"

var metricRow = regexp.MustCompile("^\\| `([a-z_]+)` \\| ([^|]*) \\| ([^|]*) \\| ([^|]*) \\| (.*) \\|$")

// The table of docs/operators.md has every metric, and no other. With -update it gets a
// row for each new one, whose last column is written by hand.
func TestTheDocumentationListsEveryMetric(t *testing.T) {
	const page, heading = "../../../../docs/operators.md", "| metric | type | labels | what it is | what to watch |"
	a, err := open(t, oneModel)
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, table, ok := strings.Cut(string(body), heading+"\n|---|---|---|---|---|\n")
	if !ok {
		t.Fatalf("%s has no table %s", page, heading)
	}
	rows := map[string]string{}
	for table != "" {
		line, after, _ := strings.Cut(table, "\n")
		m := metricRow.FindStringSubmatch(line)
		if m == nil {
			break
		}
		if _, twice := rows[m[1]]; twice {
			t.Errorf("%s lists %s twice", page, m[1])
		}
		rows[m[1]], table = line, after
	}
	var updated strings.Builder
	families := a.Metrics.Families()
	for _, f := range families {
		watch := "TELL WHAT TO WATCH"
		if m := metricRow.FindStringSubmatch(rows[f.Name]); m != nil {
			watch = m[5]
		}
		want := fmt.Sprintf("| `%s` | %s | %s | %s | %s |", f.Name, f.Type, strings.Join(f.Labels, ", "), f.Help, watch)
		updated.WriteString(want + "\n")
		if rows[f.Name] != want && !*update {
			t.Errorf("%s has for %s\n%s\nwant\n%s", page, f.Name, rows[f.Name], want)
		}
		if strings.Contains(want, "TELL WHAT TO WATCH") {
			t.Errorf("%s does not say what to watch of %s", page, f.Name)
		}
		delete(rows, f.Name)
	}
	for name := range rows {
		if !*update {
			t.Errorf("%s lists %s, which nothing measures", page, name)
		}
	}
	if *update {
		text := before + heading + "\n|---|---|---|---|---|\n" + updated.String() + table
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Names follow the conventions of Prometheus, and no label names a tenant.
func TestMetricsAreNamedByTheConventions(t *testing.T) {
	a, err := open(t, oneModel)
	if err != nil {
		t.Fatal(err)
	}
	bounded := map[string]bool{"op": true, "transport": true, "code": true, "model": true, "kind": true, "state": true,
		"part": true, "reason": true, "limit": true, "space": true, "status": true, "outcome": true, "pool": true,
		"cache": true, "version": true, "database": true}
	for _, f := range a.Metrics.Families() {
		if !strings.HasPrefix(f.Name, "mneme_") || strings.HasSuffix(f.Name, "_total") != (f.Type == "counter") {
			t.Errorf("%s is a %s", f.Name, f.Type)
		}
		if strings.Contains(f.Name, "_ms") || f.Type == "histogram" && !strings.HasSuffix(f.Name, "_seconds") {
			t.Errorf("%s is not in seconds", f.Name)
		}
		for _, l := range f.Labels {
			if !bounded[l] {
				t.Errorf("%s has the label %s", f.Name, l)
			}
		}
	}
}

// scrape reads the metrics as Prometheus does, by series.
func scrape(t *testing.T, a *app.App) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	a.Admin.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	out := map[string]float64{}
	for line := range strings.Lines(w.Body.String()) {
		series, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !strings.HasPrefix(line, "mneme_") {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out[series] = n
	}
	return out
}

// What the process is and has is there from the first look: the disk and the folder on
// it, the connections, and no lease of a process that has its store for itself.
func TestAServerMeasuresItself(t *testing.T) {
	began, dir := time.Now(), t.TempDir()
	a, err := openIn(t, dir, oneModel)
	if err != nil {
		t.Fatal(err)
	}
	got := scrape(t, a)
	database, err := os.Stat(filepath.Join(dir, "data", "mneme.db"))
	if err != nil {
		t.Fatal(err)
	}
	if got["mneme_data_bytes"] < float64(database.Size()) || got["mneme_data_free_bytes"] <= 0 {
		t.Errorf("the folder has %v bytes, the disk %v free", got["mneme_data_bytes"], got["mneme_data_free_bytes"])
	}
	most := got[`mneme_pool_connections_max{database="",pool="store"}`]
	used := got[`mneme_pool_connections{database="",pool="store"}`]
	if most < 8 || used > most {
		t.Errorf("of %v connections %v are in use", most, used)
	}
	for _, zero := range []string{"mneme_index_builds", "mneme_index_behind", "mneme_index_unreachable",
		"mneme_lease_lapses_total", `mneme_query_encodings_total{cache="hit"}`, "mneme_calls_running", "mneme_calls_waiting",
		`mneme_pool_waits_total{database="",pool="store"}`} {
		if n, ok := got[zero]; !ok || n != 0 {
			t.Errorf("%s is %v", zero, n)
		}
	}
	for series, want := range map[string]float64{`mneme_model_restarts_total{model="e",reason="memory"}`: 1,
		`mneme_model_restarts_total{model="e",reason="failure"}`: 0, `mneme_model_waiting{model="e"}`: 2,
		`mneme_model_memory_bytes{model="e"}`: 5, `mneme_model_memory_max_bytes{model="e"}`: 7} {
		if n, ok := got[series]; !ok || n != want {
			t.Errorf("%s is %v, want %v", series, n, want)
		}
	}
	for _, absent := range []string{"mneme_lease_renewed_timestamp_seconds", `mneme_pool_connections{database="",pool="index"}`} {
		if n, ok := got[absent]; ok {
			t.Errorf("%s is %v", absent, n)
		}
	}
	for counted := false; !counted; got = scrape(t, a) { // in the background, soon after the start
		time.Sleep(time.Millisecond)
		_, counted = got["mneme_counted_timestamp_seconds"]
	}
	if at := got["mneme_counted_timestamp_seconds"]; at < float64(began.Unix()) || at > float64(time.Now().Unix()+1) {
		t.Errorf("counted at %v", at)
	}
	for series, want := range map[string]float64{"mneme_organizations": 1, "mneme_namespaces": 0, "mneme_end_users": 0,
		"mneme_replicas": 1, `mneme_documents{space="documents"}`: 0, `mneme_chunks{space="memories"}`: 0} {
		if n, ok := got[series]; !ok || n != want {
			t.Errorf("%s is %v, want %v", series, n, want)
		}
	}
	a.Metrics.Meter.Refused(fault.BodyLimit)
	if n := scrape(t, a)[`mneme_refused_total{limit="bodies"}`]; n != 1 {
		t.Errorf("%v refusals", n)
	}
}
