package analysis

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// questions are short ones, as people type them, the last ones without a question word.
var questions = map[language][]string{
	inEnglish: {
		"who wrote the report", "opening hours", "how do I reset a password", "die hard", "was he in Paris?",
		"les paul guitar", "vector database pricing", "Hotel Zürich", "no man is an island",
		"el niño effects on the coast",
	},
	inGerman: {
		"Wer hat den Bericht geschrieben?", "Wie setze ich mein Passwort zurück?", "wo wohnt Anna",
		"Öffnungszeiten der Bibliothek", "Was kostet das?", "Rechnungen vom letzten Jahr",
		"Kinderbücher über Züge", "wann fährt der Zug nach Bern",
	},
	inFrench: {
		"Qui a écrit le rapport ?", "Comment réinitialiser mon mot de passe", "où habite Anne",
		"heures d'ouverture de la bibliothèque", "Combien ça coûte ?", "les factures de l'année dernière",
		"livres pour enfants", "à quelle heure part le train",
	},
	inSpanish: {
		"¿Quién escribió el informe?", "cómo cambio mi contraseña", "dónde vive Ana",
		"horario de la biblioteca", "¿Cuánto cuesta?", "las facturas del año pasado", "libros para niños",
		"a qué hora sale el tren",
	},
	inItalian: {
		"Chi ha scritto il rapporto?", "come cambio la mia password", "dove abita Anna",
		"orari della biblioteca", "Quanto costa?", "le fatture dell'anno scorso", "libri per i bambini",
		"a che ora parte il treno",
	},
	inPortuguese: {
		"Quem escreveu o relatório?", "como mudo a minha senha", "onde mora a Ana", "horário da biblioteca",
		"Quanto custa isso?", "as faturas do ano passado", "livros para crianças",
		"a que horas sai o trem do Porto",
	},
	inDutch: {
		"Wie heeft het rapport geschreven?", "hoe wijzig ik mijn wachtwoord", "waar woont Anna",
		"openingstijden van de bibliotheek", "Hoeveel kost het?", "facturen van het vorige jaar",
		"boeken voor kinderen", "wanneer vertrekt de trein naar Utrecht",
	},
	inSwedish: {
		"Vem skrev rapporten?", "hur byter jag mitt lösenord", "var bor Anna", "bibliotekets öppettider",
		"Vad kostar det?", "fakturor från förra året", "böcker för barn", "när går tåget till Lund",
	},
	inTurkish: {
		"Raporu kim yazdı?", "şifremi nasıl değiştiririm", "Anna nerede oturuyor",
		"kütüphanenin açılış saatleri", "Bu ne kadar?", "geçen yılın faturaları", "çocuk kitapları",
		"tren saat kaçta kalkıyor",
	},
}

// TestQuestionsAreTold counts the questions whose language comes first, and those where it is none
// of those that are tried. English stands among them always.
func TestQuestionsAreTold(t *testing.T) {
	a, err := New(Porter2, Languages()...)
	if err != nil {
		t.Fatal(err)
	}
	asked, first, missed := 0, 0, 0
	for l, all := range questions {
		for _, q := range all {
			likely, n := a.tell(q)
			tried, english := false, false
			for _, one := range likely[:n] {
				tried, english = tried || one == l, english || one == inEnglish
			}
			asked++
			switch {
			case likely[0] == l:
				first++
			case !tried:
				missed++
				t.Logf("%s: %q is taken for %s", tongues[l].code, q, tongues[likely[0]].code)
			default:
				t.Logf("%s: %q is taken for %s first", tongues[l].code, q, tongues[likely[0]].code)
			}
			if !english || l == inEnglish && likely[0] != l {
				t.Errorf("%q: %v", q, likely[:n])
			}
		}
	}
	t.Logf("%d of %d questions are told, %d are taken for others alone", first, asked, missed)
	if first < asked*9/10 || missed > asked/20 {
		t.Errorf("%d of %d questions are told, %d are taken for others alone", first, asked, missed)
	}
}

// TestFreshQuestionsAreTold counts the same of questions that nothing was chosen by. Each has to be
// tried in its own language.
func TestFreshQuestionsAreTold(t *testing.T) {
	a, err := New(Porter2, Languages()...)
	if err != nil {
		t.Fatal(err)
	}
	asked, first, english := 0, 0, 0
	for l := range latin {
		data, err := os.ReadFile("testdata/questions/" + tongues[l].code + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			q, _, _ := strings.Cut(line, " | ")
			likely, _ := a.tellQuery(q)
			asked++
			switch {
			case likely[0] == l:
				first++
			case !slices.Contains(likely, l):
				t.Errorf("%s: %q is taken for %s alone", tongues[l].code, q, tongues[likely[0]].code)
			case likely[0] == inEnglish:
				english++
			}
		}
	}
	t.Logf("%d of %d questions are told, %d of the others are taken for English", first, asked, english)
	if first < 101 || first+english < 176 {
		t.Errorf("%d of %d questions are told, %d of the others are taken for English", first, asked, english)
	}
}

// A function word that is longer than those that are looked at would never be found.
func TestFunctionWordsAreFound(t *testing.T) {
	for _, known := range tongues[:latin] {
		for w := range strings.FieldsSeq(known.function) {
			if len(w) > maxFunction || w != strings.ToLower(w) {
				t.Errorf("%s: %q", known.code, w)
			}
		}
	}
}

// BenchmarkLanguages compares a text of English alone with one whose language is looked for.
func BenchmarkLanguages(b *testing.B) {
	text := strings.Repeat("The keeper of the lighthouse wrote every evening how far the ships were from the rocks, "+
		"and who had signalled. ", 10)
	for name, codes := range map[string][]string{"english": nil, "all": Languages()} {
		a, err := New(Porter2, codes...)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		s := a.Scanner(func(Token) { n++ })
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Scan(port.Wording{Text: text})
			}
		})
	}
}
