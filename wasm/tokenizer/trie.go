package tokenizer

import (
	"slices"
	"sort"
)

// none is what a node of a trie holds at which no key ends.
const none = ^uint32(0)

// trie finds the keys that a text begins with. Nodes are numbered level by level, so
// the children of a node lie side by side: first[n] to first[n+1].
type trie struct {
	first  []uint32
	label  []byte // of the edge that leads to a node
	values []uint32
}

type entry struct {
	key   string
	value uint32
}

// newTrie keeps the last value of a key that comes several times.
func newTrie(entries []entry) *trie {
	slices.SortStableFunc(entries, func(a, b entry) int {
		if a.key < b.key {
			return -1
		} else if a.key > b.key {
			return 1
		}
		return 0
	})
	type span struct{ from, to, depth int }
	t := &trie{label: []byte{0}}
	nodes := []span{{0, len(entries), 0}}
	for n := 0; n < len(nodes); n++ {
		at := nodes[n]
		value := none
		for at.from < at.to && len(entries[at.from].key) == at.depth {
			value = entries[at.from].value
			at.from++
		}
		t.values = append(t.values, value)
		t.first = append(t.first, uint32(len(nodes)))
		for from := at.from; from < at.to; {
			b := entries[from].key[at.depth]
			to := from + sort.Search(at.to-from, func(i int) bool { return entries[from+i].key[at.depth] > b })
			nodes = append(nodes, span{from, to, at.depth + 1})
			t.label = append(t.label, b)
			from = to
		}
	}
	t.first = append(t.first, uint32(len(nodes)))
	return t
}

// step is the child of node n that b leads to; none where there is none.
func (t *trie) step(n uint32, b byte) uint32 {
	from, to := t.first[n], t.first[n+1]
	for to-from > 8 {
		if middle := (from + to) / 2; t.label[middle] > b {
			to = middle
		} else {
			from = middle
		}
	}
	for ; from < to; from++ {
		if t.label[from] == b {
			return from
		}
	}
	return none
}

// walk is the node that s leads to from node n; none where there is none.
func (t *trie) walk(n uint32, s string) uint32 {
	for i := 0; i < len(s) && n != none; i++ {
		n = t.step(n, s[i])
	}
	return n
}

// get is the value of a key; none where there is no such key.
func (t *trie) get(key string) uint32 {
	n := t.walk(0, key)
	if n == none {
		return none
	}
	return t.values[n]
}

// longest is the longest key that s begins with, from node n on: its bytes and its
// value, none where there is none.
func (t *trie) longest(n uint32, s string) (length int, value uint32) {
	value = none
	for i := 0; i < len(s); i++ {
		if n = t.step(n, s[i]); n == none {
			break
		}
		if t.values[n] != none {
			length, value = i+1, t.values[n]
		}
	}
	return length, value
}
