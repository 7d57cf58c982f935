package cli_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// made is the key that keys create or rotate prints, alone on standard output.
func made(t *testing.T, prefix, out string) string {
	t.Helper()
	if !regexp.MustCompile(`^` + prefix + `[A-Za-z0-9]{43}\n$`).MatchString(out) {
		t.Fatalf("printed %q, not a key alone that begins with %s", out, prefix)
	}
	return strings.TrimSpace(out)
}

type listedKey struct {
	ID, Name, Kind, State, Prefix string
	Scopes                        []string
	IntegrationName               string     `json:"integration_name"`
	CreatedBy                     string     `json:"created_by"`
	EndUser                       string     `json:"end_user_id"`
	ExpiresAt                     *time.Time `json:"expires_at"`
}

func listKeys(t *testing.T, data string) map[string]listedKey {
	t.Helper()
	var list struct{ Keys []listedKey }
	if err := json.Unmarshal([]byte(succeed(t, "keys", "list", "--data", data, "--json").Stdout), &list); err != nil {
		t.Fatal(err)
	}
	byName := map[string]listedKey{}
	for _, k := range list.Keys {
		byName[k.Name] = k
	}
	return byName
}

// What a command changes beside a running server is seen half a second later, and
// later where this machine is busy. That it holds within its second is tested in
// core/key, with a clock of the test's own.
func TestKeysOfTheMemoryAPI(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data)
	save := func(key, user, text string) (int, string) {
		return call(t, "POST", s.URL+"/api/v1/memories", key, `{"endUserId":"`+user+`","content":"`+text+`"}`)
	}
	status := func(key string) (code int, body string) { return call(t, "GET", s.URL+"/api/v1/status", key, "") }
	create := func(prefix string, args ...string) string {
		t.Helper()
		return made(t, prefix, succeed(t, append([]string{"keys", "create", "--data", data}, args...)...).Stdout)
	}

	chat := create("cint_", "--type", "integration", "--name", "chat", "--memories-per-user", "2", "--read-rate", "600")
	if code, body := status(chat); code != 200 ||
		!strings.Contains(body, `"memoriesPerEndUser":2,"readRatePerMin":600,"writeRatePerMin":6000`) ||
		!strings.Contains(body, `["memories:read","memories:write","status:read"]`) {
		t.Errorf("status of a new integration: %d %s", code, body)
	}
	reader := create("cint_", "--type", "integration", "--integration", "chat", "--scopes", "memories:read", "--name",
		"reader", "--expires", "720h")
	if code, body := save(reader, "ann", "x"); code != 403 || !strings.Contains(body, `"insufficient_scope"`) ||
		!strings.Contains(body, `"scope":"memories:write"`) {
		t.Errorf("a save without the scope: %d %s", code, body)
	}
	if code, body := save(chat, "ann", "Ann lives in Lyon."); code != 200 {
		t.Fatalf("save: %d %s", code, body)
	}
	personal := create("cmem_", "--type", "personal", "--integration", "chat", "--end-user", "ann", "--name", "of ann")
	if code, body := save(personal, "ann", "Ann has a dog."); code != 200 {
		t.Errorf("a personal key: %d %s", code, body)
	}
	if code, body := save(personal, "bob", "x"); code != 403 || !strings.Contains(body, `"forbidden"`) {
		t.Errorf("a personal key for another: %d %s", code, body)
	}
	if code, body := save(chat, "ann", "Ann has a cat."); code != 403 || !strings.Contains(body, `"quota_exceeded"`) {
		t.Errorf("over the quota: %d %s", code, body)
	}
	for _, kind := range []string{"team", "organization"} {
		if code, body := status(create("cmem_", "--type", kind, "--name", kind)); code != 401 ||
			!strings.Contains(body, "not valid on") {
			t.Errorf("a %s key: %d %s", kind, code, body)
		}
	}

	// Quotas of a running server's integration.
	out := succeed(t, "integrations", "set", "chat", "--data", data, "--memories-per-user", "3").Stdout
	if !regexp.MustCompile(`int_\w+ +chat +3 +600 +6000`).MatchString(out) {
		t.Errorf("integrations set prints\n%s", out)
	}
	harness.Eventually(t, "a raised quota", func() bool { code, _ := save(chat, "ann", "Ann has a cat."); return code == 200 })
	if out := succeed(t, "integrations", "set", "chat", "--data", data, "--grants-required").Stdout; !strings.Contains(out,
		"required") {
		t.Errorf("integrations set prints\n%s", out)
	}
	if out := succeed(t, "integrations", "list", "--data", data, "--json").Stdout; !strings.Contains(out,
		`"memories_per_end_user": 3`) || !strings.Contains(out, `"grants_required": true`) {
		t.Errorf("integrations list prints\n%s", out)
	}

	// Rotation and revocation.
	keys := listKeys(t, data)
	if k := keys["reader"]; k.IntegrationName != "chat" || len(k.Scopes) != 1 || k.Prefix != "cint_" ||
		k.ExpiresAt == nil || k.State != "live" {
		t.Errorf("listed %+v", k)
	}
	if k := keys["of ann"]; k.CreatedBy != "cli" {
		t.Errorf("listed as made by %q", k.CreatedBy)
	}
	if k := keys["of ann"]; k.EndUser != "ann" || k.Kind != "personal" {
		t.Errorf("listed %+v", k)
	}
	fresh := made(t, "cint_", succeed(t, "keys", "rotate", keys["reader"].ID, "--overlap", "1h", "--data", data).Stdout)
	for _, k := range []string{reader, fresh} {
		if code, body := status(k); code != 200 || !strings.Contains(body, `["memories:read","status:read"]`) {
			t.Errorf("during the overlap: %d %s", code, body)
		}
	}
	last := made(t, "cint_", succeed(t, "keys", "rotate", listKeys(t, data)["reader"].ID, "--overlap", "0", "--data",
		data).Stdout)
	harness.Eventually(t, "the end of a rotated key", func() bool { code, _ := status(fresh); return code == 401 })
	if code, _ := status(last); code != 200 {
		t.Errorf("the newest key: %d", code)
	}
	succeed(t, "keys", "revoke", keys["chat"].ID, "--data", data)
	harness.Eventually(t, "a revocation", func() bool { code, _ := status(chat); return code == 401 })

	table := succeed(t, "keys", "list", "--data", data).Stdout
	for _, want := range []string{"CREATED BY", "cli", "chat user ann", "cmem_...", "none (team)", "memories:read", "revoked"} {
		if !strings.Contains(table, want) {
			t.Errorf("the list lacks %q:\n%s", want, table)
		}
	}

	// No secret but the local ones lies in the data folder, in a list or in the log.
	secrets := []string{chat, reader, personal, fresh, last}
	check := func(where, text string) {
		for _, k := range secrets {
			if strings.Contains(text, k[6:]) {
				t.Errorf("%s holds a secret", where)
			}
		}
	}
	check("the list", table)
	check("the log", s.Logged())
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		check(path, string(body))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestKeysRefuses(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	succeed(t, "keys", "create", "--data", data, "--type", "integration", "--name", "chat")
	for name, c := range map[string]struct {
		args string
		code int
		says string
	}{
		"unknown type":                {"keys create --type root", 2, "admin"},
		"unknown scope":               {"keys create --type integration --name x --scopes memories:all", 1, "memories:write"},
		"recall without read":         {"keys create --type integration --name x --scopes recall:read", 1, "memories:read"},
		"scopes of a service key":     {"keys create --scopes memories:read", 1, "scopes"},
		"integration of a service":    {"keys create --integration chat", 1, "integration"},
		"quotas of a service key":     {"keys create --memories-per-user 5", 1, "quotas"},
		"a name that is taken":        {"keys create --type integration --name chat", 1, "join"},
		"quotas of another's making":  {"keys create --type integration --integration chat --memories-per-user 5", 1, "quotas"},
		"personal without end user":   {"keys create --type personal --integration chat", 1, "end_user_id"},
		"personal with a colon":       {"keys create --type personal --integration chat --end-user a:b", 1, "end_user_id"},
		"personal of no integration":  {"keys create --type personal --end-user ann", 1, "integration"},
		"personal of an unknown one":  {"keys create --type personal --integration none --end-user ann", 1, "none"},
		"a source that is not there":  {"keys create --source src_none", 1, "src_none"},
		"all of a service key":        {"keys create --all-organizations", 1, "all_organizations"},
		"a negative quota":            {"keys create --type integration --name x --read-rate -1", 1, "read_rate_per_min"},
		"rotating nothing":            {"keys rotate", 2, "arg"},
		"rotating an unknown key":     {"keys rotate key_none", 1, "key_none"},
		"too long an overlap":         {"keys rotate key_none --overlap 10000h", 2, "--overlap"},
		"setting nothing":             {"integrations set chat", 2, "nothing"},
		"setting an unknown one":      {"integrations set none --read-rate 5", 1, "none"},
		"an end user that is no id":   {"users erase a:b --yes", 2, "a:b"},
		"exporting an unknown one":    {"users export ann", 1, "ann"},
		"erasing an unknown one":      {"users erase ann --yes", 1, "ann"},
		"a server without a key":      {"users list --url http://127.0.0.1:1", 2, "MNEME_ADMIN_KEY"},
		"a list of less than nothing": {"users list --limit -1", 2, "--limit"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(strings.Fields(c.args), "--data", data)
			if strings.HasPrefix(c.args, "users") {
				args = append(args, "--config", keywordOnly(t))
			}
			if r := mneme(t, args...); r.Code != c.code || !strings.Contains(r.Stderr, c.says) || r.Stdout != "" {
				t.Errorf("exit code %d, want %d with %q: %s%s", r.Code, c.code, c.says, r.Stdout, r.Stderr)
			}
		})
	}
	if keys := listKeys(t, data); len(keys) != 2 { // the one, and the local one of users
		t.Errorf("refused commands left keys: %v", keys)
	}
}

// answering runs the program with an answer on standard input.
func answering(t *testing.T, answer string, args, env []string) harness.Result {
	t.Helper()
	cmd := (&harness.Site{T: t, Env: env}).Command(args...)
	cmd.Stdin = strings.NewReader(answer)
	return harness.Run(t, cmd)
}

// The commands about end users work beside a running server and without one.
func TestUsers(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"beside a server", "alone", "by URL"} {
		t.Run(how, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			s := start(t, "--data", data)
			create := func(name string) string {
				return made(t, "cint_", succeed(t, "keys", "create", "--data", data, "--type", "integration",
					"--integration", name).Stdout)
			}
			keys := map[string]string{"chat": create("chat"), "app": create("app")}
			save := func(integration, user, text string) {
				t.Helper()
				if code, body := call(t, "POST", s.URL+"/api/v1/memories", keys[integration],
					`{"endUserId":"`+user+`","content":"`+text+`","containerTag":"home"}`); code != 200 {
					t.Fatalf("save: %d %s", code, body)
				}
			}
			save("chat", "ann", "Ann lives in Lyon.")
			save("chat", "ann", "Ann has a dog.")
			save("app", "ann", "Another Ann.")
			save("chat", "ann.b", "Ann B.")
			save("chat", "bob", "Bob.")
			save("app", "...", "Dots.")
			var env []string
			where := []string{"--data", data}
			switch how {
			case "alone":
				if err := s.Stop(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			case "by URL":
				admin := made(t, "adm-", succeed(t, "keys", "create", "--data", data, "--type", "admin").Stdout)
				where, env = []string{"--url", s.URL}, []string{"MNEME_ADMIN_KEY=" + admin}
			}
			run := func(args ...string) harness.Result {
				t.Helper()
				return mnemeIn(t, "", env, append(args, where...)...)
			}
			ok := func(args ...string) string {
				t.Helper()
				r := run(args...)
				if r.Code != 0 {
					t.Fatalf("mneme %s: %d %s%s", strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
				}
				return r.Stdout
			}
			ids := func(args ...string) string {
				t.Helper()
				var list struct {
					EndUsers []struct {
						ID          string
						Integration string `json:"integration_name"`
					} `json:"end_users"`
				}
				if err := json.Unmarshal([]byte(ok(append([]string{"users", "list", "--json"}, args...)...)), &list); err != nil {
					t.Fatal(err)
				}
				var all []string
				for _, u := range list.EndUsers {
					all = append(all, u.Integration+"/"+u.ID)
				}
				return strings.Join(all, " ")
			}
			if out := ok("users", "erase", "...", "--yes"); !strings.Contains(out, "1 memory") {
				t.Errorf("erasing .. says %s", out)
			}
			if got := ids(); got != "app/ann chat/ann chat/ann.b chat/bob" && got != "chat/ann app/ann chat/ann.b chat/bob" {
				t.Errorf("users list: %s", got)
			}
			if got := ids("--integration", "chat", "--query", "ann"); got != "chat/ann chat/ann.b" {
				t.Errorf("users list of chat: %s", got)
			}
			if got := ids("--limit", "1", "--integration", "chat"); got != "chat/ann" {
				t.Errorf("users list of one: %s", got)
			}
			if out := ok("users", "list"); !regexp.MustCompile(`(?m)^ann +chat +2 +1 +32 `).MatchString(out) {
				t.Errorf("users list prints\n%s", out)
			}

			if r := run("users", "export", "ann"); r.Code != 2 || !strings.Contains(r.Stderr, "chat") ||
				!strings.Contains(r.Stderr, "app") || r.Stdout != "" {
				t.Errorf("an export of two end users: %+v", r)
			}
			export := ok("users", "export", "ann", "--integration", "chat")
			var kinds []string
			for lines := bufio.NewScanner(strings.NewReader(export)); lines.Scan(); {
				var line struct{ Type string }
				if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
					t.Fatal(err)
				}
				kinds = append(kinds, line.Type)
			}
			if got := strings.Join(kinds, " "); got != "end_user memory memory end" ||
				!strings.Contains(export, "Ann has a dog.") || strings.Contains(export, "Another") {
				t.Errorf("exported\n%s", export)
			}
			file := filepath.Join(t.TempDir(), "bob.ndjson")
			ok("users", "export", "bob", "--out", file)
			if body, err := os.ReadFile(file); err != nil || !strings.Contains(string(body), `"content":"Bob."`) {
				t.Errorf("the file holds %s, %v", body, err)
			}
			if r := run("users", "export", "bob", "--out", file); r.Code != 1 {
				t.Errorf("a file was overwritten: %+v", r)
			}

			// It asks, and takes no answer for a no.
			if r := run("users", "erase", "ann", "--integration", "chat"); r.Code != 1 ||
				!strings.Contains(r.Stderr, "2 memories") {
				t.Errorf("without an answer: %+v", r)
			}
			if got := ids("--integration", "chat"); got != "chat/ann chat/ann.b chat/bob" {
				t.Errorf("after no answer there are %s", got)
			}
			if out := answering(t, "no\n", append([]string{"users", "erase", "bob"}, where...), env); out.Code != 1 ||
				!strings.Contains(out.Stderr, "1 memory") {
				t.Errorf("answering no: %+v", out)
			}
			if out := answering(t, "y\n", append([]string{"users", "erase", "bob"}, where...), env); out.Code != 0 ||
				!strings.Contains(out.Stdout, "nothing is left") {
				t.Errorf("answering yes: %+v", out)
			}
			var certificate struct {
				Deleted  struct{ Memories int }
				Verified bool `json:"verified_absent"`
			}
			if err := json.Unmarshal([]byte(ok("users", "erase", "ann", "--integration", "chat", "--yes", "--json")),
				&certificate); err != nil ||
				certificate.Deleted.Memories != 2 || !certificate.Verified {
				t.Errorf("certificate %+v, %v", certificate, err)
			}
			if got := ids(); got != "app/ann chat/ann.b" {
				t.Errorf("after the erasure there are %s", got)
			}
			if out := ok("users", "erase", "ann", "--integration", "chat", "--yes"); !strings.Contains(out, "0 memories") {
				t.Errorf("erasing again says %s", out)
			}
			if got := ids(); got != "app/ann chat/ann.b" {
				t.Errorf("erasing again left %s", got)
			}
			if how != "by URL" {
				info, err := os.Stat(filepath.Join(data, "local-admin.key"))
				if err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("the local admin key: %v, %v", info, err)
				}
			}
		})
	}
}

// A user without a home, as many services have, can make a key: it needs no cache.
func TestKeysWithoutAHome(t *testing.T) {
	dir := t.TempDir()
	nowhere := filepath.Join(dir, "file", "home") // below a file nothing can be made, by root neither
	write(t, filepath.Join(dir, "file"), "")
	env := []string{"HOME=" + nowhere, "XDG_CACHE_HOME=" + filepath.Join(nowhere, ".cache"), "MNEME_CACHE="}
	data := filepath.Join(dir, "data")
	r := mnemeIn(t, "", env, "keys", "create", "--data", data)
	if r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	made(t, "sk-service-", r.Stdout)
	if _, err := os.Stat(filepath.Join(data, "cache")); err == nil {
		t.Error("it made a cache folder")
	}
	// Models use one in the data folder.
	if r := mnemeIn(t, "", env, "query", "absent", "x", "--data", data); !strings.Contains(r.Stderr, "namespace_not_found") {
		t.Errorf("a query: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(data, "cache")); err != nil {
		t.Errorf("the cache folder: %v", err)
	}
}
