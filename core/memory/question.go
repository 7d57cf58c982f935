package memory

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// IsQuestion reports whether a sentence asks: it ends with a question mark, or it begins
// as English questions do and has no other mark at its end. A speaker before it does not
// count, nor do quotes, brackets and emojis after it.
func IsQuestion(sentence string) bool {
	if name := Speaker(sentence); name != "" {
		sentence = sentence[len(name)+1:]
	}
	s := strings.TrimRightFunc(sentence, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Pe, unicode.Pf, unicode.So, unicode.Sk, unicode.Mn, unicode.Cf) ||
			strings.ContainsRune(`"'*_~`, r)
	})
	switch last, _ := utf8.DecodeLastRuneInString(s); {
	case strings.ContainsRune("?？؟⁇⁈⁉", last):
		return true
	case unicode.IsPunct(last):
		return false
	}
	return beginsAsQuestion(strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(s), "’", "'"),
		func(r rune) bool { return unicode.IsSpace(r) || r == ',' }))
}

// beginsAsQuestion reports whether words in lower case begin as an English question:
// "where do ...", "so what's ...", "how many ...", "have you ...".
func beginsAsQuestion(words []string) bool {
	for len(words) > 0 && leadIns[words[0]] {
		words = words[1:]
	}
	if len(words) < 2 {
		return false
	}
	first, second := words[0], words[1]
	if name, _, contracted := strings.Cut(first, "'"); contracted && interrogatives[name] {
		return true
	}
	return interrogatives[first] && auxiliaries[second] || first == "how" && measures[second] ||
		auxiliaries[first] && subjects[second]
}

var (
	leadIns        = words("and so but then well ok okay oh hey hi now also or")
	interrogatives = words("what where when who whom whose why how")
	measures       = words("many much long often old far big tall soon late about come")
	subjects       = words("you he she they we i your there")
	auxiliaries    = words("am is are was were do does did have has had can could will would shall should may might must " +
		"isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't won't wouldn't shouldn't")
)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// FinalQuestion is the last sentence of a text where that asks, else "".
func FinalQuestion(text string) string {
	all := chunk.Sentences(text)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	if s := text[last[0]:last[1]]; IsQuestion(s) {
		return s
	}
	return ""
}

// onlyAsks reports whether a text is questions and nothing else.
func onlyAsks(text string) bool {
	all := chunk.Sentences(text)
	for _, s := range all {
		if !IsQuestion(text[s[0]:s[1]]) {
			return false
		}
	}
	return len(all) > 0
}

// PrecedingTurns finds the text of the turn before each result of a search, "" where the
// result is no turn of a conversation or has none before it within the query's scope.
func (s *Service) PrecedingTurns(ctx context.Context, q Query, results []Result) ([]string, error) {
	p := partition(ctx, q.EndUserID)
	leave := s.work.enter(p)
	defer leave()
	ids := make([]string, len(results))
	for i, r := range results {
		ids[i] = r.ID
	}
	said := map[string]string{} // by the id of the turn
	before := map[string]string{}
	err := s.store.View(ctx, func(r snapshot) error {
		links, err := r.ContextLinks(ctx, p, ids, false)
		if err != nil || len(links) == 0 {
			return err
		}
		var contexts []string
		for _, l := range links {
			if slices.Contains(ids, l.ID) {
				before[l.ID], contexts = l.Context, append(contexts, l.Context)
			}
		}
		docs, err := r.Documents(ctx, p, contexts, port.PartText)
		for _, d := range docs {
			if q.contains(d.Document) {
				said[d.ID] = d.Text
			}
		}
		return err
	})
	out := make([]string, len(results))
	if fault.IsPartitionNotFound(err) { // it has been erased since
		return out, nil
	}
	for i, id := range ids {
		out[i] = said[before[id]]
	}
	return out, err
}

// putRepliesFirst lets a turn that only asks change places with the reply to it, where
// that was found behind it: the words that were searched for are the question's, and what
// is asked for is in the reply.
func (s *Service) putRepliesFirst(ctx context.Context, p port.Partition, results []Result) error {
	var asking []string
	at := map[string]int{}
	for i, r := range results {
		if at[r.ID] = i; onlyAsks(r.Memory.Text) {
			asking = append(asking, r.ID)
		}
	}
	if len(asking) == 0 {
		return nil
	}
	var links []port.ContextLink
	err := s.store.View(ctx, func(r snapshot) (err error) {
		links, err = r.ContextLinks(ctx, p, asking, false)
		return err
	})
	for _, l := range links {
		reply, found := at[l.ID]
		if question := at[l.Context]; found && slices.Contains(asking, l.Context) && !slices.Contains(asking, l.ID) &&
			question < reply {
			results[question], results[reply] = results[reply], results[question]
			results[question].Score, results[reply].Score = results[reply].Score, results[question].Score
		}
	}
	return err
}
