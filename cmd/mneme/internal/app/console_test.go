package app_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/configs"
)

const modelless = "roles: { embed: off, sparse: off, rerank: off }\n"

func ask(t *testing.T, h http.Handler, method, at string, form url.Values, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+at, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.RemoteAddr = "10.1.2.3:4567"
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The console is there unless one line of the configuration switches it off.
func TestTheConsoleIsSwitchedOffByOneLine(t *testing.T) {
	a, err := open(t, modelless)
	if err != nil {
		t.Fatal(err)
	}
	link, err := a.SignInLink(t.Context(), "http://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	page, code, _ := strings.Cut(link, "#code=")
	if page != "http://localhost/console/sign-in" || code == "" {
		t.Errorf("the link is %s", link)
	}
	w := ask(t, a.Handler, "POST", "/console/session", url.Values{"key": {code}})
	if w.Code != http.StatusSeeOther {
		t.Fatalf("the link's code answered %d: %s", w.Code, w.Body)
	}
	w = ask(t, a.Handler, "GET", "/console/o/default", nil, "Cookie", w.Header().Get("Set-Cookie"))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Nothing is stored yet") {
		t.Errorf("the overview answered %d: %s", w.Code, w.Body)
	}
	if id := w.Header().Get("X-Request-Id"); id == "" {
		t.Error("pages have no id of their request")
	}
	for range 10 {
		ask(t, a.Handler, "POST", "/console/session", url.Values{"key": {""}}) // not a try
	}
	for n := 1; n <= 10; n++ { // one try was the link's
		w = ask(t, a.Handler, "POST", "/console/session", url.Values{"key": {"adm-wrong"}})
		if want := map[bool]int{true: 403, false: 429}[n < 10]; w.Code != want {
			t.Errorf("wrong key number %d answered %d, want %d", n, w.Code, want)
		}
	}

	a, err = open(t, modelless+"console: { enabled: false }\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"/console", "/console/sign-in", "/console/session", "/console/static/0/console.css"} {
		for _, method := range []string{"GET", "POST"} {
			if w := ask(t, a.Handler, method, at, nil); w.Code != http.StatusNotFound ||
				!strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
				t.Errorf("%s %s answered %d: %s", method, at, w.Code, w.Body)
			}
		}
	}
	if link, err := a.SignInLink(t.Context(), "http://localhost"); link != "" || err != nil {
		t.Errorf("it is off, and there is a link: %s, %v", link, err)
	}
}

func TestTheConsolesNetworks(t *testing.T) {
	for networks, want := range map[string]int{"[]": 200, "[10.0.0.0/8]": 200, "[10.1.2.3]": 200,
		"['2001:db8::/32', 10.1.0.0/16]": 200,
		"[10.1.2.4]":                     403, "[192.168.0.0/16]": 403} {
		a, err := open(t, modelless+"console: { allowed_networks: "+networks+" }\n")
		if err != nil {
			t.Fatal(err)
		}
		if w := ask(t, a.Handler, "GET", "/console/sign-in", nil); w.Code != want {
			t.Errorf("%s: answered %d, want %d", networks, w.Code, want)
		}
	}
	for setting, value := range map[string]string{"allowed_networks": "[10.0.0.0/8, everywhere]", "session": "1m"} {
		_, err := configs.Load(components(), configs.Source{Getenv: func(string) (string, bool) { return "", false },
			Settings: []configs.Setting{{Path: "console." + setting, Value: value}}})
		if err == nil || !strings.Contains(err.Error(), "console."+setting) {
			t.Errorf("%s %s: %v", setting, value, err)
		}
	}
}
