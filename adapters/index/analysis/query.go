package analysis

import "slices"

// QueryTerm is a distinct term of a query.
type QueryTerm struct {
	Term    string
	Weight  float32  // how often it stands in the query, see extraWeight
	Surface []string // the forms in which the user wrote it
}

// extraWeight is the weight of query terms that stand beside others: the whole of an identifier
// and the humps of camelCase, whose words count already, and a word's form in a second language.
const extraWeight = .5

// Query gives the terms of a query in the order of their first places. With stop, function words
// of its language are left out when others remain.
func (a *Analyzer) Query(text string, stop bool) []QueryTerm {
	var terms []QueryTerm
	at := map[string]int{}
	stops := map[string]bool{} // terms that stand for function words alone
	content := false
	s := a.Scanner(func(t Token) {
		if t.Part {
			return // the bigrams around it say more
		}
		i, ok := at[string(t.Term)]
		if !ok {
			i = len(terms)
			term := string(t.Term)
			at[term], stops[term] = i, true
			terms = append(terms, QueryTerm{Term: term})
		}
		if !t.stop {
			stops[terms[i].Term], content = false, true
		}
		w := float32(1)
		if t.Extra {
			w = extraWeight
		}
		terms[i].Weight += w
		if s := text[t.Start:t.End]; !slices.Contains(terms[i].Surface, s) {
			terms[i].Surface = append(terms[i].Surface, s)
		}
	})
	s.marks = stop
	s.Scan(text)
	if content {
		terms = slices.DeleteFunc(terms, func(t QueryTerm) bool { return stops[t.Term] })
	}
	return terms
}
