package browser_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// A person who has just started the program follows the link, asks, and sees why the answer
// came, and goes to every section by keyboard; at the root and below a base path, on a narrow
// screen. Nothing is loaded from elsewhere, and the pages keep to their policy.
func TestTheConsoleWorksInABrowser(t *testing.T) {
	k := findTools(t)
	at := harness.NewSite(t, "")
	key := at.Key()
	server := at.Serve()
	server.Client(t, key).OK("POST", "/namespaces/notes/documents", harness.Object{"documents": []harness.Object{
		{"id": "lease", "text": "The lease runs until May <script>alert(1)</script> 2027."}}})
	below := prefixed(t, server.URL, "/memory/api")
	for name, base := range map[string]string{"at the root": server.URL, "below a base path": below} {
		t.Run(name, func(t *testing.T) {
			link := base + strings.TrimPrefix(strings.TrimSpace(at.Mneme("console", "open").Stdout), server.URL)
			var s struct {
				Requests, Complaints, Overflow, Marks, Lists, Sections, Cookies []string
				Address, Document, Palette, Again                               string
				Keys, Stored                                                    int
			}
			k.run(t, &s, "console.mjs", link, "notes", "when does the lease end?")
			if s.Address != base+"/console/o/default" {
				t.Errorf("the link leads to %s", s.Address)
			}
			for _, u := range s.Requests {
				if !strings.HasPrefix(u, base+"/console") || strings.Contains(u, "mnsl_") {
					t.Errorf("the page asked for %s", u)
				}
			}
			if len(s.Complaints) > 0 || len(s.Overflow) > 0 {
				t.Errorf("the browser complains: %q, and scrolls sideways at %q", s.Complaints, s.Overflow)
			}
			if !slices.Contains(s.Marks, "lease") || !slices.Equal(s.Lists, []string{"vector", "keyword", "fused"}) {
				t.Errorf("the hit marks %q and has the lists %q", s.Marks, s.Lists)
			}
			if s.Document != "The lease runs until May <script>alert(1)</script> 2027." {
				t.Errorf("the document shows %q", s.Document)
			}
			if len(s.Sections) != 15 || s.Keys < 15 || s.Palette != base+"/console/o/default" {
				t.Errorf("by keyboard it reached %q, was told of %d keys, and went to %s", s.Sections, s.Keys, s.Palette)
			}
			if s.Stored != 0 || !slices.Equal(s.Cookies, []string{"mneme true Strict"}) {
				t.Errorf("scripts can read %d characters; cookies %q", s.Stored, s.Cookies)
			}
			if !strings.Contains(s.Again, "not accepted") {
				t.Errorf("the link used again says %q", s.Again)
			}
		})
	}
}
