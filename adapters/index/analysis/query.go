package analysis

import "slices"

// QueryTerm is a distinct term of a query.
type QueryTerm struct {
	Term    string
	Weight  float32  // how often it stands in the query, see extraWeight
	Surface []string // the forms in which the user wrote it
}

// extraWeight is the weight of query terms that stand beside others: the whole
// of an identifier and the humps of camelCase, whose words count already.
const extraWeight = .5

// Query gives the terms of a query in the order of their first places. Those of
// stop, which are terms as StopWords gives them, are left out when others remain.
func (a *Analyzer) Query(text string, stop map[string]bool) []QueryTerm {
	var terms []QueryTerm
	at := map[string]int{}
	content := false
	a.Scanner(func(t Token) {
		if t.Part {
			return // the bigrams around it say more
		}
		i, ok := at[string(t.Term)]
		if !ok {
			i = len(terms)
			term := string(t.Term)
			at[term] = i
			terms = append(terms, QueryTerm{Term: term})
			content = content || !stop[term]
		}
		w := float32(1)
		if t.Extra {
			w = extraWeight
		}
		terms[i].Weight += w
		if s := text[t.Start:t.End]; !slices.Contains(terms[i].Surface, s) {
			terms[i].Surface = append(terms[i].Surface, s)
		}
	}).Scan(text)
	if content {
		terms = slices.DeleteFunc(terms, func(t QueryTerm) bool { return stop[t.Term] })
	}
	return terms
}
