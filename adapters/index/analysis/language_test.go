package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/port"
)

// plain is a text whose language nobody has said.
func plain(text string) port.Wording { return port.Wording{Text: text} }

func tongues(t testing.TB) *analysis.Analyzer {
	t.Helper()
	a, err := analysis.New(analysis.Porter2, analysis.Languages()...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// sentences have the terms of their first language, and in brackets those of others beside them.
var sentences = []struct{ text, want string }{
	{"Die Kinder lesen über die Häuser der Städte.",
		"die kind [kinder] les [lesen] uber die haus [hauser] der stadt [stadte]"},
	{"Les étudiantes ont écrit des rapports sur l'économie.",
		"le [les] etudi [etudiantes] ont ecrit de [des] rapport sur l econom [economie]"},
	{"Los niños corrían por las calles de la ciudad.",
		"los nin [ninos] corr [corrian] por las call de la ciud [ciudad]"},
	{"I ragazzi hanno mangiato le mele nella cucina.",
		"i ragazz [ragazzi] hann [hanno] mang [mangiato] le mel [mele] nell [nella] cucin [cucina]"},
	{"As crianças não comeram as maçãs da cozinha.",
		"as crianc [criancas] na [nao] com [comeram] as macas da cozinh [cozinha]"},
	{"De kinderen hebben de boeken van hun vrienden gelezen.",
		"de kinder [kinderen] hebb [hebben] de boek [boeken] van hun vriend [vrienden] gelez [gelezen]"},
	{"Barnen har läst böckerna om husen i städerna.",
		"barn [barnen] har last bock [bockerna] om hus [husen] i stad [staderna]"},
	{"Çocuklar evlerde kitapları okudular ve ISPARTA'ya gittiler.",
		"cocuk [cocuklar] ev [evlerd] kitap [kitaplari] okudu [okudular] ve ispar [isparta] ya git [gittil]"},
	{"Дети читали книги о больших городах.",
		"дет чита книг о больш город"},
	{"الكتب في المكتبة الكبيرة",
		"كتب في مكتب كبير"},
	{"बच्चों ने किताबें पढ़ीं",
		"बच्च ने किताब पढ"},
	{"The report says \"Дети читали\" and Straße.",
		"the report say [says] дет чита and strasse [strass]"},
	{"getUserName liest die Datei config.yaml für den Dienst",
		"getusernam [get] [user] [name] liest die datei config yaml [config.yaml] fur den dien [dienst]"},
	{"The children were running.",
		"the children were run"},
}

func TestTermsOfLanguages(t *testing.T) {
	a := tongues(t)
	for _, c := range sentences {
		var got []string
		a.Scanner(func(tok analysis.Token) {
			w := string(tok.Term)
			if tok.Extra {
				w = "[" + w + "]"
			}
			got = append(got, w)
		}).Scan(plain(c.text))
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q: got %q, want %q", c.text, strings.Join(got, " "), c.want)
		}
	}
}

// What is asked in one form of a word finds another one, in the language of each.
func TestFormsMeet(t *testing.T) {
	a := tongues(t)
	for _, c := range []struct{ query, text string }{
		{"Wo wohnen die Kinder?", "«Kind», das in der Stadt «wohnen» will."},
		{"la maison des étudiants", "Une «étudiante» et ses «maisons»."},
		{"¿Dónde están las casas?", "La «casa» de mi hermano es grande."},
		{"dove sono i bambini", "La «bambina» che dorme e i suoi «bambini»."},
		{"onde estão as crianças", "A «criança» que não dorme."},
		{"waar zijn de boeken", "Het «boek» van mijn vriend."},
		{"var är böckerna eller boken", "Flera «böcker» som jag har i «boken»."},
		{"kitaplar nerede", "Bu «kitap» çok güzel ve «kitabı» yok."},
		{"где мои книги", "Это «книга» о городе."},
		{"أين الكتب", "قرأت «كتب» كثيرة"},
		{"किताबें कहाँ हैं", "यह «किताब» अच्छी है"},
		{"Kinder Straße", "Ein «Kind» und ein Kinderbuch liegen auf der «Strasse»."},
	} {
		text := strings.NewReplacer("«", "", "»", "").Replace(c.text)
		var got strings.Builder
		at := 0
		for _, s := range a.Spans(a.Query(plain(c.query), true), plain(text)) {
			got.WriteString(text[at:s.Start] + "«" + text[s.Start:s.End] + "»")
			at = s.End
		}
		if got.WriteString(text[at:]); got.String() != c.text {
			t.Errorf("%q marks %s, want %s", c.query, got.String(), c.text)
		}
	}
}

// Function words of a query's language are left out, those of others stay; alone they are all
// there is to ask for.
func TestFunctionWords(t *testing.T) {
	a := tongues(t)
	for query, want := range map[string]string{
		"Wer ist der Autor?":       "autor",
		"qui est l'auteur":         "auteur",
		"quién es el autor":        "autor",
		"кто этот автор":           "автор",
		"यह किताब किसकी है":        "किताब किसक",
		"the author of die hard":   "author die hard",
		"der die das":              "der die das",
		"to be or not to be":       "to be or not",
		"What does 'être' mean":    "etre mean",
		"the report of der Verein": "report der verein",
	} {
		var got []string
		for _, term := range a.Query(plain(query), true) {
			got = append(got, term.Term)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q asks for %q, want %q", query, strings.Join(got, " "), want)
		}
	}
}

// A language that is not chosen is treated as before: ASCII words by the rules of English, and
// others as they are.
func TestChosenLanguages(t *testing.T) {
	if _, err := analysis.New(analysis.Porter2, "de", "xx"); err == nil || !strings.Contains(err.Error(), `"xx"`) {
		t.Errorf("a language that is none: %v", err)
	}
	versions := map[string]bool{}
	for _, c := range []struct {
		stemmer analysis.Stemmer
		codes   []string
		want    string
	}{
		{analysis.Porter2, nil, "die kinder in den hausern или книги"},
		{analysis.Porter2, []string{"de"}, "die kind [kinder] in den haus [hausern] или книги"},
		{analysis.Porter2, []string{"fr", "ru"}, "die kinder in den hausern ил книг"},
		{analysis.Porter2, []string{"en"}, "die kinder in den hausern или книги"},
		{analysis.None, analysis.Languages(), "die kinder in den hausern или книги"},
	} {
		a, err := analysis.New(c.stemmer, c.codes...)
		if err != nil {
			t.Fatal(err)
		}
		versions[a.Version()] = true
		var got []string
		a.Scanner(func(tok analysis.Token) {
			w := string(tok.Term)
			if tok.Extra {
				w = "[" + w + "]"
			}
			got = append(got, w)
		}).Scan(plain("Die Kinder in den Häusern или книги"))
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %v: %q, want %q", c.stemmer, c.codes, strings.Join(got, " "), c.want)
		}
	}
	if len(versions) != 4 { // no language and English alone are the same
		t.Errorf("versions %v", versions)
	}
}
