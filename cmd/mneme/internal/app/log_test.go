package app_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// kept is a log that several goroutines write.
type kept struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all.Write(p)
}

var quoted = regexp.MustCompile("`([^`]+)`")

// logged is what docs/operators.md says of lines of the log: the level and the attributes of
// each event, and what is not text by the field's name.
func logged(t *testing.T) (events map[string][2]string, forms map[string]string) {
	t.Helper()
	page, err := os.ReadFile("../../../../docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Log events\n")
	events, forms = map[string][2]string{}, map[string]string{}
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "## ") {
			break
		}
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		names := quoted.FindAllStringSubmatch(cells[0], -1)
		switch {
		case len(cells) == 2:
			for _, name := range names {
				forms[name[1]] = strings.TrimSpace(cells[1])
			}
		case len(cells) == 4 && len(names) == 1:
			events[names[0][1]] = [2]string{strings.TrimSpace(cells[1]), cells[2]}
		}
	}
	if len(events) < 100 || len(forms) < 20 {
		t.Fatalf("docs/operators.md describes %d events and %d fields", len(events), len(forms))
	}
	return events, forms
}

// fits reports whether a value has the form that the page gives its field.
func fits(form string, raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(form, "text, RFC 3339") {
			_, err := time.Parse(time.RFC3339Nano, v)
			return err == nil
		}
		return form == "" || strings.HasPrefix(form, "text")
	case float64:
		return strings.HasPrefix(form, "number") || strings.HasPrefix(form, "integer") && !strings.ContainsAny(string(raw), ".eE")
	case bool:
		return form == "boolean"
	case []any:
		return form == "list of texts"
	}
	return false
}

// Lines of the log are what docs/operators.md says of them: fields, forms and, by event, level and
// attributes.
func TestLinesOfTheLogAreAsDescribed(t *testing.T) {
	events, forms := logged(t)
	log := &kept{}
	a, err := openLogged(t, t.TempDir(), oneModel, nil, slog.New(slog.NewJSONHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	k, err := a.Keys.Issue(t.Context(), key.Issue{Kind: ident.Service})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, body, secret string }{
		{"/namespaces/n/documents", `{"documents":[{"id":"d","text":"a quetzal"}]}`, k.Secret},
		{"/namespaces/n/query", `{"query":"quetzal"}`, k.Secret},
		{"/namespaces/n/query", `{"query":""}`, k.Secret},
		{"/namespaces/none/query", `{"query":"quetzal"}`, k.Secret},
		{"/namespaces/n/query", `{"query":"quetzal"}`, "no-key"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+c.secret)
		a.Handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	calls := 0
	for line := range bytes.Lines(log.all.Bytes()) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var level, event string
		_, _ = json.Unmarshal(fields["level"], &level), json.Unmarshal(fields["msg"], &event)
		e, known := events[event]
		if !known || !strings.Contains(e[0], level) || level == "" {
			t.Errorf("docs/operators.md has for %q the level %q: %s", event, e[0], line)
		}
		if event == "call" {
			calls++
		}
		allowed := append(regexp.MustCompile(`\w+`).FindAllString(e[1], -1), "time", "level", "msg")
		for name, v := range fields {
			form := forms[name]
			if name == "level" {
				form = "text"
			}
			if !slices.Contains(allowed, name) || !fits(form, v) {
				t.Errorf("%q of %q is no %q: %s", name, event, form, line)
			}
		}
	}
	if calls != 5 {
		t.Errorf("%d calls are in the log:\n%s", calls, log.all.String())
	}
}

// What the page says is no text is an attribute of some event.
func TestFieldsOfTheLogAreOfEvents(t *testing.T) {
	events, forms := logged(t)
	all := "time, level, msg"
	for _, e := range events {
		all += "," + e[1]
	}
	for name := range forms {
		if name != "key=value" && !regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(all) {
			t.Errorf("docs/operators.md describes the field %s, which no event has", name)
		}
	}
}
