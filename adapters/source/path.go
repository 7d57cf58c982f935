package source

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/port"
)

// Bounds of port.SourceItem.
const (
	maxKey  = 2048
	maxName = 1024
)

// Key is the key of the item at a path, which may hold any bytes: the path itself where
// it is a key as it stands. Else the key begins with a slash, as no such path does, and the
// path follows percent-encoded; two slashes and a hash stand for one that is too long.
func Key(path string) string {
	plain := path != "" && path[0] != '/' && utf8.ValidString(path) && !strings.ContainsFunc(path, unicode.IsControl)
	if plain && len(path) <= maxKey {
		return path
	}
	if key := "/" + url.PathEscape(path); len(key) <= maxKey && path != "" {
		return key
	}
	sum := sha256.Sum256([]byte(path))
	return "//" + hex.EncodeToString(sum[:])
}

// Path is the path that Key made a key of. The error says of a path that was too long
// that it can't be read.
func Path(key string) (string, error) {
	if strings.HasPrefix(key, "//") {
		return "", port.SourceErrorf(port.SourceTooLarge, nil, "its path is longer than %d bytes", maxKey)
	}
	path, err := key, error(nil)
	if escaped, ok := strings.CutPrefix(key, "/"); ok {
		path, err = url.PathUnescape(escaped)
	}
	if err != nil || Key(path) != key {
		return "", port.SourceErrorf(port.SourceNotFound, err, "it is not there")
	}
	return path, nil
}

// Name is a path as people can read it, in the bounds of an item's name: of a long one,
// the end.
func Name(path string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(path, string(utf8.RuneError)))
	if len(name) <= maxName {
		return name
	}
	const cut = "…"
	from := len(name) - maxName + len(cut)
	for !utf8.RuneStart(name[from]) {
		from++
	}
	return cut + name[from:]
}
