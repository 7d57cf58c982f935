package directory

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Systems spell letters with accents as one character or as two, and some take both for the
// same name. Keys are in composed letters, so that one tree has the same documents everywhere.

// composed is a path as its key has it: in composed letters, unless another file has that name.
func (f *folder) composed(at string) string {
	to := norm.NFC.String(at)
	if to == at || ascii(to) {
		return at
	}
	if other, err := f.Lstat(to); err == nil {
		if this, err := f.Lstat(at); err != nil || !os.SameFile(this, other) {
			return at
		}
	}
	return to
}

// spelled is the path of a key as the folder spells it. One that leads to nothing stays as
// it is.
func (f *folder) spelled(at string) string {
	if ascii(at) || !f.missing(at) {
		return at
	}
	if found := f.search(".", strings.Split(at, "/")); found != "" {
		return found
	}
	return at
}

// search finds names below each other.
func (f *folder) search(in string, names []string) string {
	if len(names) == 0 {
		return in
	}
	if exact := path.Join(in, names[0]); !f.missing(exact) {
		if found := f.search(exact, names[1:]); found != "" {
			return found
		}
	}
	entries, err := fs.ReadDir(f.FS(), in)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Name() != names[0] && norm.NFC.String(e.Name()) == names[0] {
			if found := f.search(path.Join(in, e.Name()), names[1:]); found != "" {
				return found
			}
		}
	}
	return ""
}

func (f *folder) missing(at string) bool {
	_, err := f.Lstat(at)
	return errors.Is(err, fs.ErrNotExist)
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}
