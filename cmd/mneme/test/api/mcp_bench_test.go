package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
)

// BenchmarkMCP is each tool through the official client, one call after another
// over one connection, with models that cost nothing.
func BenchmarkMCP(b *testing.B) {
	s := start(b, backends()[0], options{reranker: coretest.Reranker{}})
	for i := range 10 {
		docs := make([]object, 100)
		for j := range docs {
			docs[j] = doc(fmt.Sprintf("d%d-%d", i, j),
				strings.Repeat(fmt.Sprintf("Heron number %d wades in the shallow water. ", i*100+j), 20), `{"lang":"en"}`)
		}
		s.write("docs", docs...)
	}
	c := s.mcp(newest, "?namespace=docs")
	hundred := make([]string, 100)
	for i := range hundred {
		hundred[i] = fmt.Sprintf("gone-%d", i)
	}
	n := 0
	for name, call := range map[string]func(){
		"search":     func() { c.call("search", object{"query": "heron number 512"}) },
		"fetch":      func() { c.call("fetch", object{"id": "d5-12"}) },
		"save":       func() { n++; c.call("save", object{"id": "new", "text": fmt.Sprintf("Heron number %d.", n)}) },
		"save again": func() { c.call("save", object{"text": "The same heron."}) },
		"delete 100 absent": func() {
			if got := c.call("delete", object{"ids": hundred}); got["deleted"] != 0.0 {
				b.Fatal(got)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			c.t = b
			for b.Loop() {
				call()
			}
		})
	}
	b.Run("delete 100", func(b *testing.B) {
		c.t = b
		for b.Loop() {
			b.StopTimer()
			docs := make([]object, 100)
			for i := range docs {
				docs[i] = doc(hundred[i], "A heron that goes.", "")
			}
			s.write("docs", docs...)
			b.StartTimer()
			if got := c.call("delete", object{"ids": hundred}); got["deleted"] != 100.0 {
				b.Fatal(got)
			}
		}
	})
}
