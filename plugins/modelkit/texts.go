package modelkit

import (
	"fmt"
	"strings"
	"unsafe"
)

// oddTexts are valid texts that a careless model trips over, with a name each.
func oddTexts() [][2]string {
	return [][2]string{{"empty", ""}, {"blank", " \t\n"}, {"one-rune", "ß"}, {"nul", "a\x00b"}, {"emoji", "👩‍🔬🏴"},
		{"cjk", "港の倉庫の鍵"}, {"rtl", "مفتاح المخزن"}}
}

const invalidUTF8 = "a\xff\xfeb"

// asking is a question with a text that answers it and one that does not.
type asking struct{ query, related, unrelated string }

// obvious are askings that even a model of words alone tells apart: every useful model
// passes.
func obvious() []asking {
	return []asking{
		{"how do I reset my password", "To reset your password, open the account page and follow the link.",
			"High tide comes twice on most days."},
		{"symptoms of a cold", "The symptoms of a cold are sneezing and a sore throat.",
			"They approved next year's budget for road repairs."},
		{"cheapest way to ship a parcel", "The cheapest way to ship a parcel is economy post.",
			"Photosynthesis turns light into chemical energy."},
		{"when does the museum open", "The museum will open at nine in the morning.", "Sort an array before searching it."},
	}
}

// paraphrases are askings whose answer says the same in other words.
func paraphrases() []asking {
	return []asking{
		{"how do I reset my password", "Choose new login credentials on the account page.",
			"High tide comes twice on most days."},
		{"symptoms of a cold", "A runny nose, sneezing and sore throats are typical.",
			"They approved next year's budget for road repairs."},
		{"cheapest way to ship a parcel", "Economy post costs least but takes longer.",
			"Photosynthesis turns light into chemical energy."},
		{"when does the museum open", "Visitors are welcome from nine in our gallery.", "Sort an array before searching it."},
	}
}

// crates are 32 texts of several lengths.
func crates() []string {
	texts := make([]string, 32)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("Crate %d stands in row %d. ", i, i%7), 1+i%5)
	}
	return texts
}

const passage = "The harbour master keeps the keys of the north store. " // 12 word pieces

// passages are n texts of about 120 word pieces, no two alike, so that nothing is
// gained by keeping answers.
func passages(seed, n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("Entry %d of day %d. ", i, seed) + strings.Repeat(passage, 10)
	}
	return texts
}

func question(i int) string { return fmt.Sprintf("how long is the notice period in year %d", i) }

// borrowed are texts whose bytes can be overwritten, as a host does with its
// buffers after a call.
func borrowed(texts []string) (lent []string, overwrite func()) {
	lent, buffers := make([]string, len(texts)), make([][]byte, len(texts))
	for i, s := range texts {
		buffers[i] = []byte(s)
		lent[i] = unsafe.String(unsafe.SliceData(buffers[i]), len(buffers[i]))
	}
	return lent, func() {
		for _, b := range buffers {
			for i := range b {
				b[i] = '#'
			}
		}
	}
}
