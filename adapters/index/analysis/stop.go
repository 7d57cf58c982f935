package analysis

import "strings"

// englishStop lists words that say how a sentence is built, not what it is about.
const englishStop = `a about above after again against all am an and any are as at be because been before being below
between both but by can cannot could did do does doing down during each few for from further had has have having he her
here hers herself him himself his how i if in into is it its itself just me more most my myself no nor not now of off on
once only or other our ours ourselves out over own same she should so some such than that the their theirs them
themselves then there these they this those through to too under until up very was we were what when where which while
who whom why will with would you your yours yourself yourselves
dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt
im ive id youre youve youll theyre theyve theyll weve well thats whats`

// StopWords are common English words as terms of this analyzer.
func (a *Analyzer) StopWords() map[string]bool {
	out := map[string]bool{}
	s := a.Scanner(func(t Token) { out[string(t.Term)] = true })
	for _, w := range strings.Fields(englishStop) {
		s.Scan(w)
	}
	return out
}
