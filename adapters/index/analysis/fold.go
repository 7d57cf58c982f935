package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold appends the common form of a word: ASCII in lower case; else decomposed,
// without the marks that readers leave out when they type, and composed again.
func (s *Scanner) fold(dst []byte, w string, plain bool) []byte {
	if !plain {
		plain = true
		for i := 0; i < len(w) && plain; i++ {
			plain = w[i] < utf8.RuneSelf
		}
	}
	if plain {
		for i := 0; i < len(w); i++ {
			c := w[i]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
		}
		return dst
	}
	s.whole = norm.NFKD.AppendString(s.whole[:0], w)
	mark := len(dst)
	for i := 0; i < len(s.whole); {
		r, size := utf8.DecodeRune(s.whole[i:])
		i += size
		switch {
		case r == utf8.RuneError || dropped(r):
		case r == 'ß' || r == 'ẞ':
			dst = append(dst, "ss"...)
		case r == 'ς':
			dst = utf8.AppendRune(dst, 'σ')
		case r == 'æ' || r == 'Æ':
			dst = append(dst, "ae"...)
		case r == 'œ' || r == 'Œ':
			dst = append(dst, "oe"...)
		case r == 'ø' || r == 'Ø':
			dst = append(dst, 'o')
		case r == 'ł' || r == 'Ł':
			dst = append(dst, 'l')
		case r == 'đ' || r == 'Đ':
			dst = append(dst, 'd')
		case r == 'ı': // of Turkish, for those who type without
			dst = append(dst, 'i')
		case r == 'ة': // as many write it
			dst = utf8.AppendRune(dst, 'ه')
		case r == 'ى' || r == 'ی':
			dst = utf8.AppendRune(dst, 'ي')
		case r == 'ک':
			dst = utf8.AppendRune(dst, 'ك')
		case r == 'ँ':
			dst = utf8.AppendRune(dst, 'ं')
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
	}
	if norm.NFC.IsNormal(dst[mark:]) {
		return dst
	}
	return append(dst[:mark], norm.NFC.Bytes(dst[mark:])...)
}

// dropped reports marks that carry no letter of their own: combining
// diacritics, Hebrew points, Arabic harakat and tatweel, the nukta of Hindi.
func dropped(r rune) bool {
	return r >= 0x0300 && r <= 0x036f || r >= 0x0591 && r <= 0x05c7 || r >= 0x064b && r <= 0x065f || r == 0x0670 || r == 0x0640 ||
		r == 0x093c || r == 0xfe0e || r == 0xfe0f || r == 0x200d
}
