package ident_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/ident"
)

// What is published of the form of names is what is checked.
func TestTheFormsOfNamesAreWhatIsChecked(t *testing.T) {
	for _, f := range ident.Formats() {
		pattern := regexp.MustCompile(f.Pattern)
		agree := func(t interface{ Errorf(string, ...any) }, s string) {
			matches := pattern.MatchString(s) && !slices.Contains(f.Except, s)
			if matches != f.Valid(s) {
				t.Errorf("%s: %q matches %v, and is valid %v", f.Name, s, matches, f.Valid(s))
			}
		}
		for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 129, 255, 256, 257} {
			for _, c := range []string{"a", "A", "0", "-", ".", "é"} {
				agree(t, strings.Repeat(c, n))
				agree(t, "a"+strings.Repeat(c, n))
			}
		}
		for c := rune(0); c < 0x180; c++ {
			agree(t, string(c))
			agree(t, "a"+string(c))
		}
		rapid.Check(t, func(t *rapid.T) {
			agree(t, rapid.StringOfN(rapid.SampledFrom([]rune("abzAZ019._:-@ é/\x00\n")), 0, 8, -1).Draw(t, "name"))
		})
	}
}

// Clients take the names . and .. out of the path of an address before they send it, so
// an end user of that name could not be erased (docs/contract.md#user-ids).
func TestEndUsersAreNotDots(t *testing.T) {
	for id, want := range map[string]bool{".": false, "..": false, "...": true, ".a": true, "a.": true, "a..": true} {
		if ident.ValidEndUser(id) != want {
			t.Errorf("%q is taken: %v", id, !want)
		}
	}
}
