package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness/repositories"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/key"
)

// following is a server with sources, which may read a folder and reach some addresses of this machine.
type following struct {
	*server
	folder string
}

func follows(t *testing.T, b backend, reach ...string) *following {
	t.Helper()
	f := &following{folder: t.TempDir()}
	f.server = start(t, b, options{config: func(c *configs.Config) {
		c.Sources.Enabled, c.Sources.Directories, c.Sources.AllowPrivate = true, []string{f.folder}, reach
	}})
	return f
}

func (f *following) put(name, text string) {
	f.t.Helper()
	at := filepath.Join(f.folder, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// add connects a source to the namespace docs.
func (f *following) add(kind string, config object, more ...any) (id string) {
	f.t.Helper()
	in := object{"name": "Docs", "kind": kind, "namespace": "docs", "config": config}
	for i := 0; i+1 < len(more); i += 2 {
		in[more[i].(string)] = more[i+1]
	}
	r := f.post("/sources", in).is(201)
	return r.json["id"].(string)
}

// idle waits until a source runs no more.
func (f *following) idle(id string) *reply {
	f.t.Helper()
	var r *reply
	harness.EventuallySees(f.t, "the run has ended", func() (bool, string) {
		r = f.get("/sources/" + id).ok()
		return r.json["state"] != "syncing", clip(r.body)
	})
	return r
}

// ran is the newest run of a source once it has ended, as "status" and the counts that are not zero.
func (f *following) ran(id string) (run, did string) {
	f.t.Helper()
	last := f.idle(id).json["last_run"].(object)
	did = fmt.Sprint(last["status"])
	counts := last["counts"].(object)
	for _, name := range []string{"seen", "created", "updated", "unchanged", "deleted", "withheld", "failed", "skipped"} {
		if n := counts[name]; n != 0.0 {
			did += fmt.Sprintf(" %s=%v", name, n)
		}
	}
	return last["id"].(string), did
}

func (f *following) did(what, id, want string) (run string) {
	f.t.Helper()
	run, got := f.ran(id)
	if got != want {
		f.t.Errorf("%s: %s, want %s", what, got, want)
	}
	return run
}

func (f *following) sync(id string) {
	f.t.Helper()
	f.post("/sources/"+id+"/sync", nil).is(202)
}

// first is the path of the best hit of a keyword query.
func (f *following) first(words string) string {
	f.t.Helper()
	hits := f.query("docs", object{"query": words, "mode": "keyword"}).list("results")
	if len(hits) == 0 {
		return ""
	}
	return fmt.Sprint(hits[0]["metadata"].(object)["path"])
}

// A folder is searchable and followed: a change, a rename, a deletion; suspiciously many deletions
// wait until they are applied.
func TestSourcesFollowAFolder(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		f := follows(t, b)
		if got := column(f.get("/source_kinds").ok().list("kinds"), "name"); !slices.Equal(got,
			[]string{"directory", "feed", "git", "push", "s3", "web"}) {
			t.Errorf("kinds %q", got)
		}
		f.put("gate.md", "The gate sticks in the rain.")
		f.put("more/hedge.md", "The hedge is cut in February.")
		f.put("empty.md", "")
		config := object{"path": f.folder}
		checked := f.post("/sources/check", object{"kind": "directory", "config": config}).ok()
		if checked.json["ok"] != true || len(checked.list("items")) != 3 || checked.json["complete"] != true {
			t.Errorf("checked: %s", checked.body)
		}
		if f.get("/namespaces/docs").status != 404 || len(f.get("/sources").ok().list("sources")) != 0 {
			t.Error("a check has written something")
		}
		id := f.add("directory", config, "schedule", object{"every": "6h"})
		run := f.did("first", id, "partial seen=3 created=2 failed=1")
		if got := f.first("hedge February"); got != "more/hedge.md" {
			t.Errorf("found %q", got)
		}
		s := f.get("/sources/" + id).ok().json
		fields(t, "a source", s, "id", "name", "kind", "namespace", "config", "secrets_set", "schedule", "deletions", "enabled",
			"state", "state_reason", "items", "documents", "last_run", "next_run_at", "created_at", "updated_at")
		if s["state"] != "idle" || s["documents"] != 2.0 || s["items"] != 3.0 || s["next_run_at"] == nil ||
			s["deletions"] != "propagate" {
			t.Errorf("the source: %v", s)
		}
		failed := f.get("/sources/" + id + "/runs/" + run + "/items?status=failed").ok().list("items")
		if len(failed) != 1 || failed[0]["key"] != "empty.md" || failed[0]["error"].(object)["code"] != "no_text" {
			t.Errorf("failed: %v", failed)
		}
		kept := f.get("/sources/" + id + "/items?prefix=more/&status=active").ok().list("items")
		if len(kept) != 1 || kept[0]["key"] != "more/hedge.md" {
			t.Fatalf("kept: %v", kept)
		}
		document := fmt.Sprint(kept[0]["document_id"])
		if d := f.get("/namespaces/docs/documents/" + document).ok().json; d["source_id"] != id ||
			d["metadata"].(object)["source_kind"] != "directory" {
			t.Errorf("the document: %v", d)
		}
		f.post("/namespaces/docs/documents", object{"documents": []object{doc(document, "mine", "")}}).fails(409, "conflict")

		f.put("empty.md", "It holds something.")
		f.post("/sources/"+id+"/runs/"+run+"/retry_failed", nil).is(202)
		f.did("retried", id, "completed seen=1 created=1")
		f.put("gate.md", "The gate is oiled.")
		if err := os.Rename(filepath.Join(f.folder, "more/hedge.md"), filepath.Join(f.folder, "fence.md")); err != nil {
			t.Fatal(err)
		}
		f.sync(id)
		f.did("changed", id, "completed seen=3 created=1 updated=1 unchanged=1 deleted=1")
		if got := f.first("hedge February"); got != "fence.md" {
			t.Errorf("after the rename found %q", got)
		}
		if got := f.first("oiled"); got != "gate.md" {
			t.Errorf("after the change found %q", got)
		}
		f.get("/namespaces/docs/documents/"+document).fails(404, "document_not_found")

		for _, name := range []string{"gate.md", "fence.md", "empty.md"} {
			if err := os.Remove(filepath.Join(f.folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		f.sync(id)
		run = f.did("emptied", id, "partial withheld=3")
		if got := column(f.get("/sources/"+id+"/runs/"+run+"/items?status=withheld").ok().list("items"), "key"); len(got) != 3 {
			t.Errorf("withheld %q", got)
		}
		f.post("/sources/"+id+"/apply_deletions", object{"max": 2}).is(202)
		f.did("too few allowed", id, "partial withheld=3")
		f.post("/sources/"+id+"/apply_deletions", object{"max": 3}).is(202)
		f.did("allowed", id, "completed deleted=3")
		if got := f.ids("docs"); len(got) != 0 {
			t.Errorf("left: %q", got)
		}
		runs := f.get("/sources/" + id + "/runs?limit=2").ok()
		if got := column(runs.list("runs"), "trigger"); !slices.Equal(got, []string{"manual", "manual"}) ||
			runs.json["next_cursor"] == nil {
			t.Errorf("runs: %s", runs.body)
		}
	})
}

// Anyone who pauses or removes a source ends what it does; its documents go only where that is said.
func TestSourcesArePausedAndRemoved(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		f := follows(t, b)
		f.put("gate.md", "The gate sticks in the rain.")
		config := object{"path": f.folder}
		id := f.add("directory", config, "schedule", object{"cron": "30 4 * * *"})
		f.did("first", id, "completed seen=1 created=1")
		if s := f.do("PATCH", "/sources/"+id, object{"enabled": false}).ok().json; s["state"] != "paused" ||
			s["next_run_at"] != nil {
			t.Errorf("paused: %v", s)
		}
		f.post("/sources/"+id+"/sync", nil).fails(409, "conflict", "paused")
		f.post("/sources/"+id+"/apply_deletions", object{"max": 1}).fails(409, "conflict", "paused")
		if s := f.do("PATCH", "/sources/"+id, object{"enabled": true, "name": "Garden"}).ok().json; s["state"] != "idle" ||
			s["next_run_at"] == nil || s["name"] != "Garden" {
			t.Errorf("resumed: %v", s)
		}
		f.do("PATCH", "/sources/"+id, object{"config": object{"path": f.folder, "include": []string{"*.txt"}}}).ok()
		f.did("other settings", id, "partial withheld=1")
		gone := func(id string) {
			t.Helper()
			harness.Eventually(t, "the source is gone", func() bool { return f.get("/sources/"+id).status == 404 })
			f.get("/sources/"+id).fails(404, "source_not_found")
		}
		if s := f.do("DELETE", "/sources/"+id, nil).is(202).json; s["state"] != "deleting" {
			t.Errorf("removed: %v", s)
		}
		gone(id)
		if got := f.ids("docs"); len(got) != 1 {
			t.Fatalf("its documents: %q", got)
		}
		f.write("docs", doc(f.ids("docs")[0], "Mine now.", ""))
		second := f.add("directory", config)
		f.did("second", second, "completed seen=1 created=1")
		f.do("DELETE", "/sources/"+second+"?documents=delete", nil).is(202)
		gone(second)
		if got := f.ids("docs"); len(got) != 1 || strings.HasPrefix(got[0], second) {
			t.Errorf("left: %q", got)
		}
	})
}

// repository is a git repository that is served, with a way to hold up who fetches it.
type repository struct {
	t    *testing.T
	work string
	url  string
	at   string                        // address
	hold atomic.Pointer[chan struct{}] // fetching waits until it is closed
	held chan struct{}                 // takes one for each that waits
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	harness.Installed(t, "git")
	dir := t.TempDir()
	r := &repository{t: t, work: filepath.Join(dir, "work"), held: make(chan struct{}, 16)}
	r.git(dir, "init", "--quiet", "--initial-branch=main", r.work)
	r.git(dir, "init", "--quiet", "--bare", "--initial-branch=main", "docs.git")
	r.git(r.work, "remote", "add", "origin", filepath.Join(dir, "docs.git"))
	backend, err := repositories.Handler(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if gate := r.hold.Load(); gate != nil && q.Method == http.MethodPost {
			r.held <- struct{}{}
			select {
			case <-*gate:
			case <-q.Context().Done():
			}
		}
		backend.ServeHTTP(w, q)
	}))
	t.Cleanup(s.Close)
	r.url, r.at = s.URL+"/docs.git", s.Listener.Addr().String()
	return r
}

func (r *repository) git(dir string, args ...string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b.example", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.example"}
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// commit makes the branch hold these files and no others.
func (r *repository) commit(files map[string]string) {
	r.t.Helper()
	old, err := filepath.Glob(filepath.Join(r.work, "[^.]*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range old {
		if err := os.RemoveAll(name); err != nil {
			r.t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(r.work, name), []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git(r.work, "add", "--all")
	r.git(r.work, "commit", "--quiet", "--allow-empty", "--message", "x")
	r.git(r.work, "push", "--quiet", "origin", "main")
}

// A repository that is served over HTTP is searchable and follows a commit, a rename and a deletion.
func TestSourcesFollowARepository(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		r := newRepository(t)
		f := follows(t, b, r.at)
		r.commit(map[string]string{"gate.md": "The gate sticks in the rain.", "hedge.md": "The hedge is cut in February."})
		id := f.add("git", object{"url": r.url, "ref": "main"})
		f.did("first", id, "completed seen=2 created=2")
		if got := f.first("hedge February"); got != "hedge.md" {
			t.Errorf("found %q", got)
		}
		f.sync(id)
		f.did("again", id, "completed")
		r.commit(map[string]string{"gate.md": "The gate is oiled.", "fence.md": "The hedge is cut in February."})
		f.sync(id)
		f.did("changed", id, "completed seen=2 created=1 updated=1 deleted=1")
		if got := f.first("hedge February"); got != "fence.md" {
			t.Errorf("after the rename found %q", got)
		}
		r.commit(map[string]string{"gate.md": "The gate is oiled."})
		f.sync(id)
		f.did("less", id, "completed seen=1 unchanged=1 deleted=1")
		if got := f.first("hedge February"); got != "" {
			t.Errorf("after the deletion found %q", got)
		}
		f.post("/sources", object{"name": "n", "kind": "git", "namespace": "docs", "config": object{"url": r.url,
			"ref": "none"}}).
			fails(400, "invalid_request", "config.ref")
	})
}

// A run that is under way is joined, cancelled, and ended by a pause and a removal.
func TestSourceRunsAreCancelled(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		r := newRepository(t)
		f := follows(t, b, r.at)
		r.commit(map[string]string{"gate.md": "The gate sticks in the rain."})
		gate := make(chan struct{})
		r.hold.Store(&gate)
		id := f.add("git", object{"url": r.url})
		await(t, "the first run fetches", r.held)
		s := f.get("/sources/" + id).ok().json
		run := s["last_run"].(object)["id"].(string)
		if s["state"] != "syncing" {
			t.Errorf("state %v", s["state"])
		}
		if joined := f.post("/sources/"+id+"/sync", object{"full": true}).ok(); joined.json["id"] != run {
			t.Errorf("joined %s, want %s", joined.body, run)
		}
		f.post("/sources/"+id+"/apply_deletions", object{"max": 1}).fails(409, "conflict", "under way")
		for range 2 {
			if got := f.post("/sources/"+id+"/runs/"+run+"/cancel", nil).ok().json; got["status"] != "cancelled" {
				t.Errorf("cancelled: %v", got)
			}
		}
		f.did("cancelled", id, "cancelled")
		f.sync(id)
		await(t, "the second run fetches", r.held)
		if s := f.do("PATCH", "/sources/"+id, object{"enabled": false}).ok().json; s["state"] != "paused" ||
			s["last_run"].(object)["status"] != "cancelled" {
			t.Errorf("paused: %v", s)
		}
		f.do("PATCH", "/sources/"+id, object{"enabled": true}).ok()
		f.sync(id)
		await(t, "the third run fetches", r.held)
		f.do("DELETE", "/sources/"+id, nil).is(202)
		harness.Eventually(t, "the source is gone", func() bool { return f.get("/sources/"+id).status == 404 })
		close(gate)
		if f.get("/namespaces/docs").status != 404 {
			t.Error("a cancelled run has written")
		}
		again := f.add("git", object{"url": r.url})
		run = f.did("let through", again, "completed seen=1 created=1")
		f.post("/sources/"+again+"/runs/"+run+"/cancel", nil).fails(409, "conflict", "completed")
	})
}

// A program brings items, in calls of their own and in runs that say what is gone.
func TestSourcesOfKindPush(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		f := follows(t, b)
		id := f.add("push", object{})
		at := "/sources/" + id
		item := func(key, version, text string) object { return object{"key": key, "version": version, "text": text} }
		brought := func(run string, items ...object) []string {
			t.Helper()
			in := object{"items": items}
			if run != "" {
				in["run_id"] = run
			}
			return column(f.post(at+"/items", in).ok().list("items"), "status")
		}
		if got := brought("", item("a", "1", "The gate sticks."), item("b", "1", "The hedge is cut."), item("c", "1",
			"")); !slices.Equal(got,
			[]string{"created", "created", "failed"}) {
			t.Errorf("brought: %q", got)
		}
		if got := f.first("hedge"); got != "b" {
			t.Errorf("found %q", got)
		}
		if got := brought("", item("a", "1", "The gate sticks."), object{"key": "b", "deleted": true}); !slices.Equal(got,
			[]string{"unchanged", "deleted"}) {
			t.Errorf("again: %q", got)
		}
		run := f.post(at+"/runs", object{"mode": "full"}).is(201).json["id"].(string)
		brought(run, item("d", "1", "The pond freezes over."))
		f.post(at+"/runs/"+run+"/complete", object{"snapshot": true}).is(202)
		f.did("a snapshot", id, "completed seen=1 created=1 deleted=1")
		if got := column(f.get(at+"/items").ok().list("items"), "key"); !slices.Equal(got, []string{"d"}) {
			t.Errorf("kept %q", got)
		}
		f.post(at+"/items", object{"run_id": run, "items": []object{item("e", "1", "x")}}).fails(409, "conflict",
			"no items any more")
		f.post(at+"/items", object{"run_id": "run_none", "items": []object{item("e", "1", "x")}}).fails(404, "not_found")
		f.post(at+"/sync", nil).fails(409, "conflict", "push")

		many := make([]object, 101)
		for i := range many {
			many[i] = item(fmt.Sprint("k", i), "1", "x")
		}
		for name, c := range map[string]struct {
			items []object
			code  string
			words string
		}{
			"too many":       {many, "invalid_request", "items"},
			"none":           {nil, "invalid_request", "items"},
			"no text":        {[]object{{"key": "x"}}, "invalid_request", "items[0].text"},
			"a key twice":    {[]object{item("x", "1", "a"), item("x", "2", "b")}, "invalid_request", "duplicates items[0]"},
			"a long key":     {[]object{item(strings.Repeat("k", 2049), "1", "a")}, "payload_too_large", "items[0].key"},
			"a long version": {[]object{item("x", strings.Repeat("v", 257), "a")}, "invalid_request", "items[0].version"},
			"text of a gone": {[]object{{"key": "x", "deleted": true, "text": "a"}}, "invalid_request", "deleted"},
			"a long text":    {[]object{item("x", "1", strings.Repeat("a ", 4<<20+1))}, "payload_too_large", "items[0].text"},
			"no metadata":    {[]object{{"key": "x", "text": "a", "metadata": "y"}}, "invalid_metadata", "items[0].metadata"},
			"a lot of it":    {[]object{{"key": "x", "text": "a", "metadata": numbered(21)}}, "invalid_metadata", "has 21 keys"},
			"unknown field":  {[]object{{"key": "x", "text": "a", "txet": "a"}}, "invalid_request", "txet"},
		} {
			status := 400
			if c.code == "payload_too_large" {
				status = 413
			}
			t.Log(name)
			f.post(at+"/items", object{"items": c.items}).fails(status, c.code, c.words)
		}
		if got := f.ids("docs"); len(got) != 1 {
			t.Errorf("refused calls left %q", got)
		}
	})
}

// numbered is metadata of so many keys.
func numbered(n int) object {
	out := object{}
	for i := range n {
		out[fmt.Sprint("k", i)] = i
	}
	return out
}

// What cannot work is refused by its field, and nothing is written.
func TestSourcesThatAreRefused(t *testing.T) {
	t.Parallel()
	f := follows(t, laptop)
	f.put("gate.md", "The gate sticks in the rain.")
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(f.folder, "link")); err != nil {
		t.Fatal(err)
	}
	folder := object{"path": f.folder}
	for _, c := range []struct {
		what  string
		in    object
		code  string
		words string
	}{
		{"kind", object{"kind": "direktory"}, "invalid_request",
			`kind: "direktory" is no kind of source here; did you mean "directory"?`},
		{"no kind", object{"kind": nil}, "invalid_request", "kind"},
		{"setting", object{"config": object{"paht": f.folder}}, "invalid_request",
			`config.paht: is unknown; did you mean "path"?`},
		{"no setting", object{"config": object{}}, "invalid_request", "config.path: is required"},
		{"type", object{"config": object{"path": f.folder, "hidden": "yes"}}, "invalid_request",
			"config.hidden: must be of type boolean"},
		{"pattern", object{"config": object{"path": f.folder, "include": []string{"[a"}}}, "invalid_request",
			"config.include[0]"},
		{"outside", object{"config": object{"path": outside}}, "invalid_request", "config.path: is in none of the folders"},
		{"dots", object{"config": object{"path": f.folder + "/../" + filepath.Base(outside)}}, "invalid_request",
			"config.path: is in none"},
		{"link", object{"config": object{"path": f.folder + "/link"}}, "invalid_request", "config.path: leads out"},
		{"file", object{"config": object{"path": f.folder + "/gate.md"}}, "invalid_request", "config.path: is not a folder"},
		{"relative", object{"config": object{"path": "docs"}}, "invalid_request", "config.path: has to be an absolute path"},
		{"absent", object{"config": object{"path": f.folder + "/none"}}, "invalid_request",
			"config: cannot work: the folder does not exist"},
		{"secret", object{"secrets": object{"token": "hunter2"}}, "invalid_request", "secrets.token: is unknown"},
		{"private git", object{"kind": "git", "config": object{"url": "https://10.1.2.3/x.git"}}, "invalid_request",
			"not a public one"},
		{"clear git", object{"kind": "git", "config": object{"url": "http://git.example/x.git"}}, "invalid_request",
			"config.url"},
		{"private site", object{"kind": "web", "config": object{"start_url": "http://[::1]/"}}, "invalid_request",
			"not a public one"},
		{"private feed", object{"kind": "feed", "config": object{"url": "http://169.254.169.254/latest"}}, "invalid_request",
			"not a public one"},
		{"mapped feed", object{"kind": "feed", "config": object{"url": "http://[::ffff:10.0.0.1]/"}}, "invalid_request",
			"not a public one"},
		{"private bucket", object{"kind": "s3", "config": object{"bucket": "abc", "region": "r",
			"endpoint": "http://192.168.1.1"}},
			"invalid_request", "not a public one"},
		{"half a key", object{"kind": "s3", "config": object{"bucket": "abc"}, "secrets": object{"access_key_id": "a"}},
			"invalid_request",
			"secrets.secret_access_key"},
		{"cron", object{"schedule": object{"cron": "soon"}}, "invalid_request", "schedule.cron"},
		{"cron that never comes", object{"schedule": object{"cron": "0 0 31 2 *"}}, "invalid_request",
			"schedule.cron: names no time"},
		{"cron of seconds", object{"schedule": object{"cron": "* * * * * *"}}, "invalid_request", "schedule.cron"},
		{"every", object{"schedule": object{"every": "1s"}}, "invalid_request", "schedule.every"},
		{"both", object{"schedule": object{"every": "1h", "cron": "* * * * *"}}, "invalid_request", "schedule: has both"},
		{"a push by schedule", object{"kind": "push", "config": object{}, "schedule": object{"every": "1h"}}, "invalid_request",
			"schedule"},
		{"deletions", object{"deletions": "perhaps"}, "invalid_request", "deletions"},
		{"namespace", object{"namespace": "Do cs"}, "invalid_namespace", "namespace"},
		{"name", object{"name": ""}, "invalid_request", "name"},
		{"field", object{"nmae": "x"}, "invalid_request", `did you mean "name"?`},
	} {
		in := object{"name": "n", "kind": "directory", "namespace": "docs", "config": folder}
		for k, v := range c.in {
			if in[k] = v; v == nil {
				delete(in, k)
			}
		}
		t.Log(c.what)
		if r := f.post("/sources", in).fails(400, c.code, c.words); strings.Contains(string(r.body), "hunter2") {
			t.Errorf("the secret is answered: %s", r.body)
		}
	}
	if got := f.get("/sources").ok().list("sources"); len(got) != 0 || f.get("/namespaces/docs").status != 404 {
		t.Errorf("something was written: %v", got)
	}

	id := f.add("directory", folder)
	run := f.did("one that works", id, "completed seen=1 created=1")
	before := f.get("/sources/" + id).ok().json
	for _, in := range []object{{"config": object{"path": outside}}, {"config": object{"path": f.folder, "a": 1}},
		{"schedule": object{"cron": "soon"}}, {"secrets": object{"token": "x"}}, {"deletions": "perhaps"}, {"namespace": "other"},
		{"kind": "git"}, {"name": ""}} {
		f.do("PATCH", "/sources/"+id, in).fails(400, "invalid_request")
	}
	if after := f.get("/sources/" + id).ok().json; fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("refused changes have made of %v\n%v", before, after)
	}

	// Cursors of other lists, and of other sources.
	f.put("hedge.md", "The hedge is cut in February.")
	other := f.add("directory", folder)
	f.did("another", other, "completed seen=2 created=2")
	f.sync(other)
	f.did("another again", other, "completed seen=2 unchanged=2")
	cursor := func(path string) string {
		t.Helper()
		c, _ := f.get(path).ok().json["next_cursor"].(string)
		if c == "" {
			t.Fatalf("%s has one page", path)
		}
		return c
	}
	runs, items, all := cursor("/sources/"+other+"/runs?limit=1"), cursor("/sources/"+other+"/items?limit=1"),
		cursor("/sources?limit=1")
	for _, path := range []string{"/sources/" + id + "/runs?cursor=" + runs, "/sources/" + id + "/items?cursor=" + items,
		"/sources/" + other + "/runs?cursor=" + items, "/sources/" + other + "/items?cursor=" + all, "/sources?cursor=" + runs,
		"/sources?kind=git&cursor=" + all, "/sources/" + id + "/runs/" + run + "/items?cursor=" + items} {
		f.get(path).fails(400, "invalid_cursor")
	}
	f.get("/sources/"+id+"/runs/run_none").fails(404, "not_found")
	f.get("/sources/"+other+"/runs/"+run).fails(404, "not_found")
	f.get("/sources/src_none").fails(404, "source_not_found")
	f.post("/sources/"+id+"/runs", object{"mode": "full"}).fails(409, "conflict", "push")
	f.post("/sources/"+id+"/items", object{"items": []object{{"key": "a", "text": "b"}}}).fails(409, "conflict", "push")
	f.post("/sources/"+id+"/apply_deletions", object{}).fails(400, "invalid_request", "max")
}

// Another organization, and a key of another namespace, see and touch nothing; a key that may only
// read changes nothing.
func TestSourcesOfOthers(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		f := follows(t, b)
		f.put("gate.md", "The gate sticks in the rain.")
		id := f.add("directory", object{"path": f.folder})
		run := f.did("first", id, "completed seen=1 created=1")
		at := "/sources/" + id
		calls := []struct {
			method, path string
			body         any
			writes       bool
		}{
			{"GET", at, nil, false}, {"PATCH", at, object{"name": "theirs"}, true}, {"DELETE", at, nil, true},
			{"POST", at + "/sync", nil, true}, {"POST", at + "/apply_deletions", object{"max": 5}, true},
			{"GET", at + "/items", nil, false}, {"POST", at + "/items", object{"items": []object{{"key": "a", "text": "b"}}},
				true},
			{"GET", at + "/runs", nil, false}, {"POST", at + "/runs", nil, true}, {"GET", at + "/runs/" + run, nil, false},
			{"GET", at + "/runs/" + run + "/items", nil, false}, {"POST", at + "/runs/" + run + "/cancel", nil, true},
			{"POST", at + "/runs/" + run + "/retry_failed", nil, true}, {"POST", at + "/runs/" + run + "/complete", nil, true},
		}
		before := f.get(at).ok().json
		for who, s := range map[string]*server{
			"another organization":    f.organization("other"),
			"a key of a namespace":    f.as(f.issue(key.Issue{Namespace: "elsewhere"})),
			"a key that may but read": f.as(f.issue(key.Issue{ReadOnly: true})),
		} {
			reads := who == "a key that may but read"
			for _, c := range calls {
				switch r := s.do(c.method, c.path, c.body); {
				case !reads:
					r.fails(404, "source_not_found")
				case c.writes:
					r.fails(403, "forbidden")
				default:
					r.ok()
				}
			}
			if got := s.get("/sources").ok().list("sources"); reads != (len(got) == 1) {
				t.Errorf("%s lists %v", who, got)
			}
			check := s.post("/sources/check", object{"kind": "directory", "config": object{"path": f.folder}, "source_id": id})
			if !reads && check.status != 404 {
				t.Errorf("%s checks with another's source: %s", who, check.body)
			}
		}
		limited := f.as(f.issue(key.Issue{Namespace: "elsewhere"}))
		limited.post("/sources", object{"name": "n", "kind": "push", "namespace": "docs"}).fails(403, "forbidden", "elsewhere")
		if got := f.as(f.issue(key.Issue{Namespace: "docs"})).get("/sources").ok().list("sources"); len(got) != 1 {
			t.Errorf("a key of its namespace lists %v", got)
		}
		if after := f.get(at).ok().json; fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("others have made of %v\n%v", before, after)
		}
	})
}
