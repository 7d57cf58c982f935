package ident

import "strings"

// What the patterns of names allow, for messages about one that does not match.
const (
	NamespaceRule  = "must be 1-64 characters of a-z 0-9 _ -, starting with a letter or digit"
	DocumentIDRule = "must be 1-256 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit"
	EndUserRule    = "must be 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor .."
	ContainerRule  = "must be 1-128 characters of A-Z a-z 0-9 . _ : -"
	SourceRule     = "must be 1-128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit"
	ExternalIDRule = DocumentIDRule
)

// ValidNamespace reports whether a namespace name has the pattern
// ^[a-z0-9][a-z0-9_-]{0,63}$ (docs/contract.md#ns-names).
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
func ValidDocumentID(s string) bool { return within(s, 256, "", "._:-") }

// ValidEndUser reports whether an end user identifier has the pattern
// ^[A-Za-z0-9@._-]{1,128}$ and is neither . nor .., which clients take out of the path of
// an address (docs/contract.md#user-ids).
func ValidEndUser(s string) bool { return s != "." && s != ".." && within(s, 128, "@._-", "@._-") }

// ValidContainer reports whether a container tag has the pattern
// ^[A-Za-z0-9._:-]{1,128}$ (docs/contract.md#mem-containers).
func ValidContainer(s string) bool { return within(s, 128, "._:-", "._:-") }

// ValidSource reports whether a source name has the pattern
// ^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$.
func ValidSource(s string) bool { return within(s, 128, "", "._:-") }

// ValidExternalID reports whether an external id has the pattern
// ^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$.
func ValidExternalID(s string) bool { return within(s, 256, "", "._:-") }

// within reports whether s has 1 to most letters, digits or the given signs.
func within(s string, most int, first, rest string) bool {
	if len(s) < 1 || len(s) > most {
		return false
	}
	for i := 0; i < len(s); i++ {
		c, signs := s[i], rest
		if i == 0 {
			signs = first
		}
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(signs, c) >= 0) {
			return false
		}
	}
	return true
}

// Format is the form of a kind of name: what its Valid function accepts, as a
// regular expression that ECMA-262 and RE2 read alike.
type Format struct {
	Name    string // "NamespaceName", as in JSON Schemas and struct tags schema:"..."
	Pattern string
	Rule    string // in words
	Valid   func(string) bool
	Except  []string // what the pattern takes and Valid does not, which Rule says
}

// Formats lists the forms of all names.
func Formats() []Format {
	return []Format{
		{"NamespaceName", "^[a-z0-9][a-z0-9_-]{0,63}$", NamespaceRule, ValidNamespace, nil},
		{"DocumentID", "^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$", DocumentIDRule, ValidDocumentID, nil},
		{"EndUserID", "^[A-Za-z0-9@._-]{1,128}$", EndUserRule, ValidEndUser, []string{".", ".."}},
		{"ContainerTag", "^[A-Za-z0-9._:-]{1,128}$", ContainerRule, ValidContainer, nil},
		{"SourceName", "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$", SourceRule, ValidSource, nil},
		{"ExternalID", "^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$", ExternalIDRule, ValidExternalID, nil},
	}
}
