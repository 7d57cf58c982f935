package analysis

import (
	"slices"

	"github.com/mnemehq/mneme/core/port"
)

// QueryTerm is a distinct term of a query.
type QueryTerm struct {
	Term    string
	Weight  float32  // how often it stands in the query, see extraWeight
	Surface []string // the forms in which the user wrote it
}

// extraWeight is the weight of query terms that stand beside others: the whole of an identifier
// and the humps of camelCase, whose words count already, and a word's form in a second language.
const extraWeight = .5

// guessWeight is that of a word's form in a language that nothing tells of.
const guessWeight = .1

// Query gives the terms of a query in the order of their first places; those of languages that
// nothing tells of come last. With stop, function words of its language are left out when others
// remain.
func (a *Analyzer) Query(q port.Wording, stop bool) []QueryTerm {
	var terms []QueryTerm
	at := map[string]int{}
	stops := map[string]bool{}   // terms that stand for function words alone
	guesses := map[string]bool{} // terms that are guesses alone
	content := false
	s := a.Scanner(func(t Token) {
		if t.Part {
			return // the bigrams around it say more
		}
		i, ok := at[string(t.Term)]
		if !ok {
			i = len(terms)
			term := string(t.Term)
			at[term], stops[term], guesses[term] = i, true, true
			terms = append(terms, QueryTerm{Term: term})
		}
		if !t.stop {
			stops[terms[i].Term], content = false, true
		}
		guesses[terms[i].Term] = guesses[terms[i].Term] && t.guess
		w := float32(1)
		switch {
		case t.guess:
			w = guessWeight
		case t.Extra:
			w = extraWeight
		}
		terms[i].Weight += w
		if s := q.Text[t.Start:t.End]; !slices.Contains(terms[i].Surface, s) {
			terms[i].Surface = append(terms[i].Surface, s)
		}
	})
	s.question, s.marks = true, stop
	s.Scan(q)
	if content {
		terms = slices.DeleteFunc(terms, func(t QueryTerm) bool { return stops[t.Term] })
	}
	slices.SortStableFunc(terms, func(x, y QueryTerm) int {
		switch {
		case guesses[x.Term] == guesses[y.Term]:
			return 0
		case guesses[x.Term]:
			return 1
		}
		return -1
	})
	return terms
}
