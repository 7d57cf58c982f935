package endurance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// operator does what those do who keep a server, and what applications do seldom.
type operator struct {
	*site
	turn    int
	reloads int
	copied  int // namespaces that went out and in
	renewed int // reindexings that ended
}

// step does the next of its works; false when the server did not answer.
func (o *operator) step() bool {
	org := o.orgs[o.turn%2]
	works := []func(*organization) bool{o.keys, o.reindex, o.reload, o.lists, o.move, o.scores, o.beside, o.reindexUser,
		o.tools, o.health}
	o.turn++
	return works[o.turn/2%len(works)](org)
}

func admin(org *organization, path string) string {
	return "/admin/v1/organizations/" + org.name + path
}

// keys makes a key, exchanges it, takes it back and wants it to open nothing.
func (o *operator) keys(org *organization) bool {
	var made, next struct{ ID, Secret string }
	if !o.into(&made, "create key", o.admin, "POST", admin(org, "/keys"), object{"name": "passing"}) ||
		!o.into(&next, "rotate key", o.admin, "POST", admin(org, "/keys/"+made.ID+"/rotate"), object{"overlap_seconds": 0}) {
		return false
	}
	if a, ok := o.ask("list namespaces", next.Secret, "GET", "/namespaces", nil); ok && a.Status != http.StatusOK {
		o.score.report(lost, "a new key: %s", a)
	}
	if _, ok := o.ok("revoke key", o.admin, "DELETE", admin(org, "/keys/"+next.ID), nil); !ok {
		return false
	}
	for _, secret := range []string{made.Secret, next.Secret} {
		a, ok := o.ask("with a revoked key", secret, "GET", "/namespaces", nil)
		if ok && a.Status != http.StatusUnauthorized {
			o.score.report(stale, "a revoked key: %s", a)
		}
		o.mu.Lock()
		o.revoked = append(o.revoked, secret)
		o.mu.Unlock()
	}
	var p struct{ ID string }
	return o.into(&p, "create key", o.admin, "POST", admin(org, "/integrations/app/keys"),
		object{"kind": "personal", "end_user_id": "ann-c0", "name": "passing"}) && o.revoke(org, p.ID)
}

func (o *operator) revoke(org *organization, id string) bool {
	_, ok := o.ok("revoke key", o.admin, "DELETE", admin(org, "/keys/"+id), nil)
	return ok
}

// reindex encodes a namespace again beside its clients.
func (o *operator) reindex(org *organization) bool {
	path := admin(org, "/namespaces/docs/reindex")
	if a, ok := o.ask("reindex", o.admin, "POST", path, object{"force": true}); !ok || a.Status/100 != 2 {
		if ok && a.Status != http.StatusConflict { // one is under way
			o.score.report(wrong, "%s", a)
		}
		return ok
	}
	if !o.reindexed(path) {
		return false
	}
	_, ok := o.ok("discard", o.admin, "DELETE", path, nil)
	return ok
}

// reindexed waits for the end of a reindexing.
func (o *operator) reindexed(path string) bool {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		var state struct {
			Status string
			Error  struct{ Code string }
		}
		a, ok := o.ok("reindexing", o.admin, "GET", path, nil)
		if !ok {
			return false
		}
		err := json.Unmarshal(a.Body, &state)
		if state.Status == "failed" && state.Error.Code == "conflict" {
			return true // an end user who is written to all the time keeps the vectors of before
		}
		if err != nil || state.Status == "failed" || state.Status == "cancelled" {
			o.score.report(wrong, "%s", a)
			return true
		}
		if a.Status == http.StatusOK {
			o.renewed++
			return true
		}
		if time.Since(began) > 10*time.Minute {
			o.score.report(wrong, "it does not end: %s", a)
			return true
		}
	}
}

func (o *operator) reindexUser(org *organization) bool {
	path := "/admin/v1/end_users/ann-c0/reindex?integration=app&organization=" + org.name
	a, ok := o.ask("reindex end user", o.admin, "POST", path, object{"force": true})
	if !ok || a.Status == http.StatusNotFound || a.Status == http.StatusConflict { // none yet, or one is under way
		return ok
	}
	if a.Status/100 != 2 {
		o.score.report(wrong, "%s", a)
		return true
	}
	return o.reindexed(path)
}

// reload has the server read a changed configuration, and then the one before.
func (o *operator) reload(*organization) bool {
	for _, more := range []string{"log: {level: debug}\n", ""} {
		if err := os.WriteFile(o.Config+".next", []byte(settings+more), 0o600); err != nil {
			o.score.report(wrong, "%v", err)
			return true
		}
		if err := os.Rename(o.Config+".next", o.Config); err != nil {
			o.score.report(wrong, "%v", err)
			return true
		}
		if err := o.at.Load().Cmd.Process.Signal(syscall.SIGHUP); err != nil {
			if !o.killing {
				o.score.report(wrong, "SIGHUP: %v", err)
			}
			return false
		}
		o.reloads++
	}
	return true
}

// lists reads all that an administrator may.
func (o *operator) lists(org *organization) bool {
	for _, path := range []string{"/admin/v1/organizations?limit=50", admin(org, ""), admin(org, "/keys?limit=50"),
		admin(org, "/integrations"), admin(org, "/integrations/app"), admin(org, "/namespaces"), admin(org, "/end_users"),
		"/admin/v1/jobs?limit=50"} {
		if _, ok := o.ok("administration", o.admin, "GET", path, nil); !ok {
			return false
		}
	}
	for _, path := range []string{"/namespaces", "/namespaces/docs", "/models", "/models/e5-small-v2"} {
		if _, ok := o.ok("read", org.service, "GET", path, nil); !ok {
			return false
		}
	}
	_, ok := o.ok("status", org.memory, "GET", "/api/v1/status", nil)
	if !ok {
		return false
	}
	_, ok = o.ok("administration", o.admin, "PATCH", admin(org, "/integrations/app"), object{"name": "app"})
	return ok
}

// move takes a namespace out and in under another name, and compares both.
func (o *operator) move(org *organization) bool {
	path := admin(org, "/namespaces/")
	set, ok := o.ok("export", o.admin, "GET", path+"docs/export", nil)
	if !ok {
		return false
	}
	if bytes.Contains(set.Body, []byte(org.other.mark)) {
		o.score.report(leaked, "an export of %s has texts of the other organization", org.name)
	}
	var in struct{ Documents int }
	if !o.into(&in, "import", o.admin, "POST", path+"copy/import?on_conflict=replace", set.Body,
		"Content-Type", "application/x-ndjson") {
		return false
	}
	var have struct{ Documents int }
	if in.Documents > 0 {
		if !o.into(&have, "namespace", org.service, "GET", "/namespaces/copy", nil) {
			return false
		}
		if have.Documents < in.Documents {
			o.score.report(lost, "%d documents were imported, there are %d", in.Documents, have.Documents)
		}
	}
	if a, ok := o.ask("delete namespace", org.service, "DELETE", "/namespaces/copy", nil); !ok ||
		a.Status/100 != 2 && a.Status != http.StatusNotFound {
		if ok {
			o.score.report(wrong, "%s", a)
		}
		return ok
	}
	o.copied++
	a, ok := o.ask("export end user", o.admin, "GET", "/admin/v1/end_users/ann-c0/export?integration=app&organization="+
		org.name, nil)
	if ok && bytes.Contains(a.Body, []byte(org.other.mark)) {
		o.score.report(leaked, "an export of an end user of %s has texts of the other organization", org.name)
	}
	return ok
}

// scores scores texts by each of the routes for it.
func (o *operator) scores(org *organization) bool {
	texts := object{"query": "herring", "documents": []string{"Barrels of herring.", "A map of the moon."}}
	for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank"} {
		var got struct{ Results []struct{ Index int } }
		if !o.into(&got, "rerank", org.service, "POST", path, texts) {
			return false
		}
		if len(got.Results) != 2 || got.Results[0].Index != 0 {
			o.score.report(wrong, "%s of two texts: %+v", path, got)
		}
	}
	return true
}

// beside runs commands on the folder that the server has.
func (o *operator) beside(org *organization) bool {
	for _, args := range [][]string{{"keys", "list", "--org", org.name}, {"keys", "create", "--org", org.name}} {
		if r := o.Run(args...); r.Code != 0 {
			if !o.killing {
				o.score.report(wrong, "mneme %s: exit code %d: %s", strings.Join(args, " "), r.Code, r.Stderr)
			}
			return false
		} else if secret := strings.TrimSpace(r.Stdout); args[1] == "create" {
			a, ok := o.ask("list namespaces", secret, "GET", "/namespaces", nil)
			if ok && a.Status != http.StatusOK {
				o.score.report(lost, "a key that was made beside the server: %s", a)
			}
			return ok
		}
	}
	return true
}

// tools asks over MCP.
func (o *operator) tools(org *organization) bool {
	a, ok := o.ok("mcp", org.service, "POST", "/mcp", object{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": object{"name": "search", "arguments": object{"query": "ledger of herring"}}},
		"Accept", "application/json, text/event-stream")
	if ok && (bytes.Contains(a.Body, []byte(org.other.mark)) || !bytes.Contains(a.Body, []byte(`"result"`))) {
		o.score.report(leaked, "over MCP %s is answered %s", org.name, a)
	}
	return ok
}

func (o *operator) health(*organization) bool {
	for _, path := range []string{"/health", "/health/deep", "/metrics"} {
		if _, ok := o.ok("health", "", "GET", path, nil); !ok {
			return false
		}
	}
	return true
}
