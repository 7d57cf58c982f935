package web_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/adapters/source/sourcetest"
	"github.com/mnemehq/mneme/core/port"
)

// contractBytes is what an item of the contract may have; its page has some more.
const contractBytes = 64 << 10

// upstream is a site of one page an item, which root names.
func upstream(t *testing.T, fields map[string]any, root func(s *site, paths []string)) sourcetest.Upstream {
	s := newSite(t, func(p *polite.Settings) { p.MaxBytes = contractBytes + 1000 })
	for field, value := range fields {
		fields[field] = strings.ReplaceAll(fmt.Sprint(value), "SITE", s.url)
	}
	set := func(_ *testing.T, items map[string]string) {
		s.mu.Lock()
		s.at = map[string]answer{}
		s.mu.Unlock()
		for name, text := range items {
			s.set("/"+name, answer{body: "<main>" + text + "</main>", head: map[string]string{"ETag": fmt.Sprintf(`"%x"`,
				sha256.Sum256([]byte(text)))}})
		}
		var paths []string
		for _, name := range slices.Sorted(maps.Keys(items)) {
			paths = append(paths, "/"+name)
		}
		root(s, paths)
	}
	stop := func(after int) func(t *testing.T) func() {
		return func(*testing.T) func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			were, n := s.at, 0
			s.at = map[string]answer{}
			s.other = func(path string) (answer, bool) {
				s.mu.Lock()
				defer s.mu.Unlock()
				if n++; n <= after {
					a, ok := were[path]
					return a, ok
				}
				return answer{status: http.StatusBadGateway}, true
			}
			return func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.at, s.other = were, nil
				s.clock.now = s.clock.now.Add(time.Hour)
			}
		}
	}
	connection := s.connection(fields)
	connection.Known = nil
	return sourcetest.Upstream{
		Connector: s.web, Connection: connection, Set: set,
		Key: func(name string) string { return s.url + "/" + name },
		Holds: func(content, set string) bool {
			text, _, err := markup.HTML([]byte(content), "utf-8")
			return err == nil && text == set
		},
		Name: func(n int) string { return fmt.Sprintf("folder-%d/page-%d", n%7, n) },
		Many: 70, MaxItem: contractBytes,
		Break: stop(0), BreakMidway: stop(30),
		Hang: func(*testing.T) func() {
			released := make(chan struct{})
			s.mu.Lock()
			defer s.mu.Unlock()
			s.at = map[string]answer{}
			s.other = func(string) (answer, bool) {
				return answer{do: func(_ http.ResponseWriter, r *http.Request) {
					select {
					case <-released:
					case <-r.Context().Done():
					}
				}}, true
			}
			return func() { close(released) }
		},
		Vanish: func(*testing.T) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.at = map[string]answer{}
		},
		Wrong: []sourcetest.Wrong{
			{Name: "nowhere", Connection: port.Connection{Config: []byte("{}")}, Field: "config.start_url",
				Code: port.SourceConfig},
			{Name: "no URL", Connection: port.Connection{Config: []byte(`{"sitemap":"sitemap.xml"}`)}, Field: "config.sitemap",
				Code: port.SourceConfig},
		},
	}
}

func TestContractOfCrawls(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Upstream {
		return upstream(t, map[string]any{"start_url": "SITE/"}, func(s *site, paths []string) {
			s.set("/", answer{body: html("all", `<meta name="robots" content="noindex">`, paths...)})
		})
	})
}

func TestContractOfSitemaps(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Upstream {
		return upstream(t, map[string]any{"sitemap": "SITE/sitemap.xml"}, func(s *site, paths []string) {
			var b strings.Builder
			for _, p := range paths {
				fmt.Fprintf(&b, "<url><loc>%s%s</loc></url>", s.url, p)
			}
			s.set("/sitemap.xml", answer{body: "<urlset>" + b.String() + "</urlset>"})
		})
	})
}
