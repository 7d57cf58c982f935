package packages_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// object is one of Kubernetes, as YAML has it.
type object = map[string]any

// at is what lies below some keys; nil: nothing does.
func at(o object, keys ...string) (value any) {
	value = o
	for _, k := range keys {
		below, _ := value.(object)
		value = below[k]
	}
	return value
}

// objects are those of a text by kind and name. What a chart and a folder of manifests
// cannot have alike is taken out: names of revisions, labels of releases, what changes when
// the configuration does, and the image.
func objects(t *testing.T, text string, into map[string]object) {
	t.Helper()
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var o object
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		kind, _ := o["kind"].(string)
		name, _ := at(o, "metadata", "name").(string)
		if kind == "" || kind == "Namespace" || kind == "Kustomization" || kind == "Secret" {
			continue
		}
		if kind == "Job" {
			name = strings.TrimSuffix(name, "-1")
			at(o, "metadata").(object)["name"] = name
		}
		tidy(t, o)
		if meta, _ := o["metadata"].(object); meta != nil {
			labels, _ := meta["labels"].(object)
			delete(labels, "app.kubernetes.io/name") // all of the chart's have it
			if len(labels) == 0 {
				delete(meta, "labels")
			}
		}
		into[kind+" "+name] = o
	}
}

// tidy takes them out of a value and all below it.
func tidy(t *testing.T, value any) {
	t.Helper()
	switch v := value.(type) {
	case object:
		for _, k := range []string{"image", "imagePullPolicy", "app.kubernetes.io/part-of", "app.kubernetes.io/version",
			"app.kubernetes.io/managed-by", "helm.sh/chart", "checksum/config"} {
			delete(v, k)
		}
		if text, ok := v["mneme.yaml"].(string); ok {
			var config any
			if err := yaml.Unmarshal([]byte(text), &config); err != nil {
				t.Fatal(err)
			}
			v["mneme.yaml"] = config
		}
		for _, below := range v {
			tidy(t, below)
		}
	case []any:
		for _, below := range v {
			tidy(t, below)
		}
	}
}

// helm runs Helm.
func helm(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, ".cache", "helm", "helm"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		harness.Missing(t, "no Helm in .cache/helm: make chart-tools installs it")
	}
	return exec.CommandContext(t.Context(), path, args...)
}

// chart renders the chart with some values.
func chart(t *testing.T, values ...string) map[string]object {
	t.Helper()
	args := []string{"template", "mneme", filepath.Join(root, "deploy/helm/mneme"), "--namespace", "mneme"}
	for _, v := range values {
		args = append(args, "--set", v)
	}
	found := map[string]object{}
	objects(t, harness.Succeed(t, helm(t, args...)).Stdout, found)
	return found
}

// chartOf is a copy of the chart whose own values have a mode: linting takes no others.
func chartOf(t *testing.T, mode string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mneme") // as the chart is named
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "deploy/helm/mneme"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "values.yaml")
	values, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := modeLine.ReplaceAll(values, []byte("mode: "+mode))
	if !modeLine.Match(values) {
		t.Fatalf("%s has no mode", file)
	}
	if err := os.WriteFile(file, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

var modeLine = regexp.MustCompile(`(?m)^mode: \w+`)

// With its standard values the chart makes what the manifests have, in both shapes.
func TestTheChartIsTheManifests(t *testing.T) {
	harness.Outside(t)
	for mode, folder := range map[string]string{"scaled": "", "single": "single"} {
		t.Run(mode, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(root, "deploy/kubernetes", folder, "*.yaml"))
			if err != nil || len(files) < 5 {
				t.Fatal(files, err)
			}
			want := map[string]object{}
			for _, file := range files {
				objects(t, read(t, file), want)
			}
			values := []string{"mode=" + mode}
			if mode == "single" {
				values = append(values, "resources.requests.cpu=1")
			}
			got := chart(t, values...)
			for name, o := range want {
				if diff := cmp.Diff(o, got[name], numbers); diff != "" {
					t.Errorf("%s, manifest - and chart +:\n%s", name, diff)
				}
			}
			for name := range got {
				if want[name] == nil {
					t.Errorf("the chart makes %s", name)
				}
			}
			harness.Succeed(t, helm(t, "lint", chartOf(t, mode)))
			configured(t, got["ConfigMap mneme"])
		})
	}
}

// numbers has quantities alike that are written as numbers and as text.
var numbers = cmp.FilterValues(func(a, b any) bool {
	_, text := a.(string)
	_, other := b.(string)
	return text != other
}, cmp.Comparer(func(a, b any) bool { return plain(a) == plain(b) }))

func plain(v any) string {
	b, err := yaml.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return strings.Trim(string(bytes.TrimSpace(b)), `"`)
}

// configured holds the configuration of a ConfigMap to the program itself.
func configured(t *testing.T, o object) {
	t.Helper()
	body, err := yaml.Marshal(at(o, "data", "mneme.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"postgres-dsn": "postgres://mneme@127.0.0.1/mneme", "meilisearch-key": "key",
		"opensearch-password": "word",
		"mneme.yaml":          strings.ReplaceAll(string(body), "file:/secrets/", "file:"+filepath.ToSlash(dir)+"/")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	site := &harness.Site{T: t, Config: filepath.Join(dir, "mneme.yaml"),
		Env: []string{"MNEME_MEILISEARCH_URL=http://127.0.0.1:7700"}}
	site.Mneme("config", "lint")
}

// With hosts of OpenSearch all indexes are one there, and nothing is left of Meilisearch.
func TestTheChartOverOpenSearch(t *testing.T) {
	harness.Outside(t)
	for name, c := range map[string]struct {
		values []string
		want   object
	}{
		"as it comes": {nil, object{"username": "mneme", "password": "${file:/secrets/opensearch-password}",
			"index_prefix": "mneme", "shards": uint64(3), "replicas": uint64(1)}},
		"without credentials": {[]string{"scaled.opensearch.username=", "scaled.opensearch.shards=6",
			"scaled.opensearch.replicas=2", "scaled.opensearch.indexPrefix=other"},
			object{"index_prefix": "other", "shards": uint64(6), "replicas": uint64(2)}},
		"with an authority": {[]string{"scaled.opensearch.caFile=/secrets/ca.crt"}, object{"username": "mneme",
			"password": "${file:/secrets/opensearch-password}", "ca_file": "/secrets/ca.crt", "index_prefix": "mneme",
			"shards": uint64(3), "replicas": uint64(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := chart(t, append(c.values, "scaled.opensearch.hosts[0]=http://a:9200",
				"scaled.opensearch.hosts[1]=http://b:9200")...)
			c.want["hosts"], c.want["on_outage"] = []any{"http://a:9200", "http://b:9200"}, "catch_up"
			config := at(got["ConfigMap mneme"], "data", "mneme.yaml")
			for _, retriever := range []string{"keyword", "vector", "sparse"} {
				if diff := cmp.Diff(object{"opensearch": c.want}, at(config.(object), retriever)); diff != "" {
					t.Errorf("%s: %s", retriever, diff)
				}
			}
			if c.want["ca_file"] == nil {
				configured(t, got["ConfigMap mneme"])
			}
			all, err := yaml.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"meilisearch", "MEILISEARCH", "7700"} {
				if bytes.Contains(all, []byte(word)) {
					t.Errorf("%q is left", word)
				}
			}
			if !strings.Contains(plain(got["NetworkPolicy mneme"]), "9200") {
				t.Error("the servers may not reach OpenSearch")
			}
		})
	}
}

// A chart that is wrong does not pass.
func TestLintOfTheChartFinds(t *testing.T) {
	harness.Outside(t)
	dir := chartOf(t, "single")
	broken := []byte("kind: {{ .Values.none.such }}\n")
	if err := os.WriteFile(filepath.Join(dir, "templates", "broken.yaml"), broken, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := harness.Run(t, helm(t, "lint", dir)); r.Code == 0 {
		t.Errorf("%+v", r)
	}
}

// What values change is changed, and what they cannot be is refused with their names.
func TestValuesOfTheChart(t *testing.T) {
	harness.Outside(t)
	got := chart(t, "config.log.level=debug", "ingress.enabled=false", "networkPolicy.enabled=false",
		"scaled.autoscaling.enabled=false", "scaled.replicas=2", "env[0].name=A", "env[0].value=b")
	if at(got["ConfigMap mneme"], "data", "mneme.yaml", "log", "level") != "debug" ||
		at(got["ConfigMap mneme"], "data", "mneme.yaml", "log", "format") != "json" {
		t.Errorf("%v", got["ConfigMap mneme"])
	}
	if plain(at(got["Deployment mneme"], "spec", "replicas")) != "2" {
		t.Errorf("%v", at(got["Deployment mneme"], "spec", "replicas"))
	}
	containers, _ := at(got["Deployment mneme"], "spec", "template", "spec", "containers").([]any)
	if len(containers) != 1 {
		t.Fatal(containers)
	}
	env, _ := containers[0].(object)["env"].([]any)
	if !slices.ContainsFunc(env, func(v any) bool { return v.(object)["name"] == "A" && v.(object)["value"] == "b" }) {
		t.Errorf("%v", env)
	}
	for _, name := range []string{"Ingress mneme", "NetworkPolicy mneme", "HorizontalPodAutoscaler mneme"} {
		if got[name] != nil {
			t.Errorf("%s is there though it is off", name)
		}
	}
	for value, says := range map[string]string{"mode=both": "/mode", "sclaed.replicas=2": "sclaed", "host=a b": "/host",
		"scaled.autoscaling.minReplicas=0": "minReplicas", "scaled.opensearch.hosts[0]=node": "hosts"} {
		r := harness.Run(t, helm(t, "template", "mneme", filepath.Join(root, "deploy/helm/mneme"), "--set", value))
		if r.Code == 0 || !strings.Contains(r.Stderr, says) {
			t.Errorf("%s: %+v", value, r)
		}
	}
}
