package ident

// What the patterns of names allow, for messages about one that does not match.
const (
	NamespaceRule  = "must be 1-64 characters of a-z 0-9 _ -, starting with a letter or digit"
	DocumentIDRule = "must be 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit"
)

// ValidNamespace reports whether a namespace name has the pattern
// ^[a-z0-9][a-z0-9_-]{0,63}$ (interface document, section 2).
func ValidNamespace(s string) bool {
	if len(s) < 1 || len(s) > 64 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || i > 0 && (c == '_' || c == '-')) {
			return false
		}
	}
	return true
}

// ValidDocumentID reports whether a document id has the pattern
// ^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$.
func ValidDocumentID(s string) bool {
	if len(s) < 1 || len(s) > 256 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != ':' && c != '-') {
			return false
		}
	}
	return true
}
