package chunk

import (
	"context"
	"unicode"

	"github.com/mnemehq/mneme/core/fault"
)

// Bounds of one call of a Counter, which may be a call into a model.
const (
	callTexts = 4096
	callBytes = 256 << 10
)

// tally collects texts to count and where their counts go.
type tally struct {
	texts []string
	into  []*int
}

func (t *tally) add(text string, into *int) {
	t.texts = append(t.texts, text)
	t.into = append(t.into, into)
}

func (t *tally) run(ctx context.Context, count Counter) error {
	for from := 0; from < len(t.texts); {
		to, size := from, 0
		for to < len(t.texts) && to-from < callTexts && (to == from || size+len(t.texts[to]) <= callBytes) {
			size += len(t.texts[to])
			to++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := t.texts[from:to]
		counts, err := count(ctx, batch)
		if err != nil {
			return err
		}
		if len(counts) != len(batch) {
			return fault.New(fault.Internal, "the token counter answered %d counts for %d texts", len(counts), len(batch))
		}
		for i, n := range counts {
			*t.into[from+i] = max(n, 0)
		}
		from = to
	}
	return nil
}

// Approximate counts without a tokenizer: a run of ASCII letters costs one piece
// for every six characters begun, a run of digits or of other letters and marks
// one for every three, a CJK, kana or Hangul character one, any other printing
// character one. It is a Counter for models that cannot count. Against the BERT
// uncased WordPiece it gave 4 to 24 percent more on seven English collections:
// chunks come out a little short, not too long.
func Approximate(ctx context.Context, texts []string) ([]int, error) {
	counts := make([]int, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, left, step := 0, 0, 0 // left: characters that the last piece still takes
		for _, r := range text {
			per := 0 // characters a piece; 0: stands alone
			switch {
			case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
				per = 6
			case '0' <= r && r <= '9':
				per = 3
			case unicode.IsSpace(r):
				step = 0
				continue
			case !wide(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)):
				per = 3
			}
			if per == 0 || per != step || left == 0 {
				n++
				left = per
			}
			left--
			step = per
		}
		counts[i] = n
	}
	return counts, nil
}

// wide reports a character of a script written without spaces whose characters
// are pieces of their own.
func wide(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
