package host

import "testing"

// TestSecrets: every place of every secret is overwritten, and nothing else.
func TestSecrets(t *testing.T) {
	s := newSecrets([]string{"", "abc", "key-1", "key-123", "\xff\xfe\xfd\xfc"})
	for text, want := range map[string]string{
		"":                        "",
		"abc key":                 "abc key",
		"key-1":                   "*****",
		"a key-1key-1, key-1 end": "a **********, ***** end",
		"no key-2, key-123":       "no key-2, *******",
		"raw \xff\xfe\xfd\xfc":    "raw ****",
	} {
		b := []byte(text)
		if s.hide(b); string(b) != want {
			t.Errorf("%q: %q, want %q", text, b, want)
		}
	}
	if n := s.longest(); n != 7 {
		t.Errorf("the longest has %d bytes, want 7", n)
	}
	if n := newSecrets([]string{"abc"}).longest(); n != 0 {
		t.Errorf("one that isn't looked for has %d bytes", n)
	}
}
