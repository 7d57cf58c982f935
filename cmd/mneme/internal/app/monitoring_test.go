package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
)

const monitoring = "../../../../deploy/"

// expression is one of PromQL, with who has it.
type expression struct{ of, text, legend string }

// rule is an alert of deploy/prometheus/rules.yaml.
type rule struct {
	Alert, Expr string
	Labels      map[string]string
	Annotations map[string]string
}

func rules(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []rule }
	}
	text, err := os.ReadFile(monitoring + "prometheus/rules.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &file)
	}
	if err != nil || len(file.Groups) != 1 || len(file.Groups[0].Rules) < 20 {
		t.Fatalf("rules: %v: %+v", err, file)
	}
	return file.Groups[0].Rules
}

// panel is one of the dashboard.
type panel struct {
	ID          int
	Type, Title string
	GridPos     struct{ H, W, X, Y int }
	Datasource  struct{ UID string }
	Targets     []struct{ Expr, LegendFormat string }
}

func panels(t *testing.T) []panel {
	t.Helper()
	var board struct {
		UID, Title string
		Panels     []panel
		Templating struct{ List []struct{ Name string } }
	}
	text, err := os.ReadFile(monitoring + "grafana/mneme.json")
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil || board.UID == "" || len(board.Panels) < 30 || len(board.Templating.List) != 3 {
		t.Fatalf("dashboard: %v: %+v", err, board)
	}
	return board.Panels
}

// expressions are all of the rules and of the dashboard, with the variables of the dashboard filled in.
func expressions(t *testing.T) (all []expression) {
	t.Helper()
	for _, r := range rules(t) {
		all = append(all, expression{of: r.Alert, text: r.Expr})
	}
	filled := strings.NewReplacer("$job", ".*", "$instance", ".*", "$__rate_interval", "5m")
	for _, p := range panels(t) {
		for _, target := range p.Targets {
			all = append(all, expression{p.Title, filled.Replace(target.Expr), target.LegendFormat})
		}
	}
	return all
}

var (
	selector = regexp.MustCompile(`\b((?:mneme|go|process)_[a-z0-9_]+|up\b)(\{[^}]*\})?`)
	matcher  = regexp.MustCompile(`(\w+) *(?:=~|!~|!=|=)`)
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring) *\(([^)]*)\)`)
	shown    = regexp.MustCompile(`\{\{ *(\w+) *\}\}`)
	answered = regexp.MustCompile(`(?m)^([a-z0-9_]+)(?:\{([^}]*)\})? `)
)

// labels are those of each series that the server has, by its name, as its registry and its
// answer say.
func labels(t *testing.T, a *app.App) map[string][]string {
	t.Helper()
	all := map[string][]string{"up": nil}
	for _, f := range a.Metrics.Families() {
		all[f.Name] = f.Labels
		if f.Type == "histogram" {
			delete(all, f.Name)
			all[f.Name+"_count"], all[f.Name+"_sum"] = f.Labels, f.Labels
			all[f.Name+"_bucket"] = append([]string{"le"}, f.Labels...)
		}
	}
	w := httptest.NewRecorder()
	a.Admin.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, m := range answered.FindAllStringSubmatch(w.Body.String(), -1) {
		if _, known := all[m[1]]; !known {
			if all[m[1]] = nil; strings.HasPrefix(m[1], "mneme_") {
				t.Errorf("%s is served and unknown", m[1])
			}
		}
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(all[m[1]], l[1]) {
				all[m[1]] = append(all[m[1]], l[1])
			}
		}
	}
	return all
}

// What the alert rules and the dashboard name is what the server serves: metrics and their labels.
func TestRulesAndDashboardNameWhatIsServed(t *testing.T) {
	a, err := open(t, oneModel)
	if err != nil {
		t.Fatal(err)
	}
	known := labels(t, a)
	asked := map[string]bool{}
	for _, e := range expressions(t) {
		has := []string{"job", "instance"} // Prometheus' own
		found := selector.FindAllStringSubmatch(e.text, -1)
		if len(found) == 0 {
			t.Errorf("%s asks for nothing: %s", e.of, e.text)
		}
		for _, m := range found {
			of, ok := known[m[1]]
			if !ok {
				t.Errorf("%s asks for %s, which is not served", e.of, m[1])
			}
			asked[m[1]] = true
			has = append(has, of...)
			for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(append([]string{"job", "instance"}, of...), l[1]) {
					t.Errorf("%s asks for %s by %s, a label that it lacks", e.of, m[1], l[1])
				}
			}
		}
		for _, g := range grouping.FindAllStringSubmatch(e.text, -1) {
			for l := range strings.SplitSeq(g[1], ",") {
				if !slices.Contains(has, strings.TrimSpace(l)) {
					t.Errorf("%s groups by %s, a label that nothing in it has: %s", e.of, l, e.text)
				}
			}
		}
		for _, l := range shown.FindAllStringSubmatch(e.legend, -1) {
			left := has
			if by := grouping.FindStringSubmatch(e.text); by != nil {
				left = strings.Split(by[1], ", ")
			}
			if !slices.Contains(left, l[1]) {
				t.Errorf("%s shows %s, which %s does not have", e.of, l[1], e.text)
			}
		}
	}
	for _, f := range a.Metrics.Families() {
		if !asked[f.Name] && !asked[f.Name+"_count"] {
			t.Errorf("no rule and no panel asks for %s", f.Name)
		}
	}
}

// A dashboard's panels lie beside each other, and each has a name and a source that is chosen.
func TestTheDashboardIsLaidOut(t *testing.T) {
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range panels(t) {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (len(p.Targets) == 0 || p.Datasource.UID != "${datasource}") {
			t.Errorf("%+v", p)
		}
		ids[p.ID] = true
		if g := p.GridPos; g.X+g.W > 24 || g.W == 0 || g.H == 0 {
			t.Errorf("%s is %+v", p.Title, g)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if taken[at] != "" {
					t.Fatalf("%s lies over %s", p.Title, taken[at])
				}
				taken[at] = p.Title
			}
		}
	}
}

var alertRow = regexp.MustCompile("(?m)^\\| `(Mneme[A-Za-z]+)` \\| (critical|warning) \\| (.+) \\| (.+) \\|$")

// docs/operators.md says of each alert what it means and what to do, and of each metric to be alerted on
// there is one. Each has a test in which it fires.
func TestEveryAlertIsExplained(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(monitoring + "prometheus/rules_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]string{}
	for _, m := range alertRow.FindAllStringSubmatch(string(page), -1) {
		explained[m[1]] = m[2]
	}
	asked := ""
	for _, r := range rules(t) {
		if r.Labels["severity"] == "" || explained[r.Alert] != r.Labels["severity"] {
			t.Errorf("docs/operators.md has the severity %q for %s, the rule %q", explained[r.Alert], r.Alert,
				r.Labels["severity"])
		}
		if r.Annotations["summary"] == "" {
			t.Errorf("%s has no summary", r.Alert)
		}
		for _, test := range []string{"- alertname: " + r.Alert + "\n", "{ alertname: " + r.Alert + ", "} {
			if !strings.Contains(string(tests), test) {
				t.Errorf("no test sees %s fire, or not fire", r.Alert)
			}
		}
		delete(explained, r.Alert)
		asked += r.Expr + "\n"
	}
	for name := range explained {
		t.Errorf("docs/operators.md explains %s, which is no rule", name)
	}
	for line := range strings.Lines(string(page)) {
		if m := metricRow.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil && strings.Contains(m[5], "Alert:") &&
			!strings.Contains(asked, m[1]) {
			t.Errorf("docs/operators.md tells to alert on %s, and no rule does", m[1])
		}
	}
}

// tool skips a test whose program is not there, or fails it where it has to be.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("MNEME_TEST_REQUIRE") == "1" {
		t.Fatalf("MISSING: %s (apt-get install prometheus)", name)
	}
	t.Skipf("SKIPPED, MISSING: %s (apt-get install prometheus)", name)
	return ""
}

// The rules and the configuration are what Prometheus reads, and do what they are for.
func TestRulesByPromtool(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "--lint-fatal", "rules.yaml"}, {"check", "config", "prometheus.yaml"},
		{"test", "rules", "rules_test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = monitoring + "prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
}

// A real Prometheus with the configuration of deploy/ asks a server, evaluates each rule, and answers what
// each panel of the dashboard asks.
func TestPrometheusAsksAServer(t *testing.T) {
	program := tool(t, "prometheus")
	a, err := open(t, oneModel)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Admin)
	defer server.Close()
	dir := t.TempDir()
	config, err := os.ReadFile(monitoring + "prometheus/prometheus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	at, err := filepath.Abs(monitoring + "prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ours := strings.NewReplacer("127.0.0.1:8081", server.Listener.Addr().String(), "rules.yaml", at, ": 15s", ": 1s")
	file := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(file, []byte(ours.Replace(string(config))), 0o600); err != nil {
		t.Fatal(err)
	}
	address := unused(t)
	cmd := exec.CommandContext(t.Context(), program, "--config.file="+file, "--web.listen-address="+address,
		"--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--log.level=error")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var up struct{ Result []struct{ Value [2]any } }
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		query := url.Values{"query": {`up{job="mneme"} == 1 and on (instance) mneme_build_info`}}
		err := askPrometheus(t, address, "query", query, &up)
		if err == nil && len(up.Result) == 1 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("Prometheus does not ask the server: %v\n%s", err, said.String())
		}
	}
	var evaluated struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError, State string }
		}
	}
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if err := askPrometheus(t, address, "rules", nil, &evaluated); err != nil {
			t.Fatal(err)
		}
		waits := false
		for _, g := range evaluated.Groups {
			for _, r := range g.Rules {
				waits = waits || r.Health == "unknown"
			}
		}
		if !waits && len(evaluated.Groups) == 1 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("rules are not evaluated: %+v", evaluated)
		}
	}
	if n := len(evaluated.Groups[0].Rules); n != len(rules(t)) {
		t.Errorf("Prometheus has %d rules", n)
	}
	for _, r := range evaluated.Groups[0].Rules {
		if r.Health != "ok" {
			t.Errorf("%s: %s %s", r.Name, r.Health, r.LastError)
		}
	}
	for _, e := range expressions(t) {
		if err := askPrometheus(t, address, "query", url.Values{"query": {e.text}}, nil); err != nil {
			t.Errorf("%s: %s: %v", e.of, e.text, err)
		}
	}
}

// askPrometheus asks Prometheus and reads the data of its answer.
func askPrometheus(t *testing.T, address, path string, query url.Values, into any) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v1/"+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var doc struct {
		Status, Error string
		Data          json.RawMessage
	}
	body, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(body, &doc)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", body, err)
	case doc.Status != "success":
		return errors.New(doc.Error)
	case into == nil:
		return nil
	}
	return json.Unmarshal(doc.Data, into)
}

// unused is an address that nothing listens at.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
