package api_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// TestWhatAServerMounts: beside the operations a server has metrics, the document
// and the page about itself, the MCP endpoint, and the OAuth front where it is on.
func TestWhatAServerMounts(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]bool{"without OAuth": false, "with OAuth": true} {
		t.Run(name, func(t *testing.T) {
			s := start(t, laptop, options{config: func(c *configs.Config) { c.OAuth.Enabled = on }})
			s.write("docs", doc("a", "a lighthouse", ""))
			anyone := s.as("")
			for path, holds := range map[string]string{"/metrics": "mneme_calls_running",
				"/openapi.json": `"` + s.url + `"`, "/openapi.yaml": s.url, "/docs": "<html"} {
				if r := anyone.get(path).ok(); !strings.Contains(string(r.body), holds) {
					t.Errorf("%s does not hold %q: %s", path, holds, clip(r.body))
				}
			}
			for _, path := range []string{"/.well-known/oauth-authorization-server",
				"/.well-known/oauth-protected-resource/mcp"} {
				if on {
					if r := anyone.get(path).ok(); !strings.Contains(string(r.body), s.url) {
						t.Errorf("%s does not name the server: %s", path, r.body)
					}
				} else {
					anyone.get(path).fails(404, "not_found")
				}
			}
			const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
			metadata := anyone.rpc(list).is(401).header.Get("WWW-Authenticate")
			if strings.Contains(metadata, s.url+"/.well-known/oauth-protected-resource/mcp") != on {
				t.Errorf("WWW-Authenticate %q with OAuth %t", metadata, on)
			}
			if r := s.rpc(list).ok(); !strings.Contains(string(r.body), `"search"`) {
				t.Errorf("tools: %s", clip(r.body))
			}
			s.rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{"id":"docs/a"}}}`).ok()
			if r := s.integration("app", nil).rpc(list).ok(); !strings.Contains(string(r.body), `"remember"`) {
				t.Errorf("tools of memories: %s", clip(r.body))
			}
			as := s.as(s.issue(key.Issue{Kind: ident.Admin}))
			as.rpc(list).is(401) // a key of another family
			for _, path := range []string{"/namespaces", "/models"} {
				s.get(path).ok()
			}
		})
	}
}
