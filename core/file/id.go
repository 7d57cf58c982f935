package file

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	maxID     = 256
	maxFileID = 240 // leaves room for a part's suffix
)

// LegalID makes a document id (pattern ^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$) of any
// name. A legal name stays as it is. Any other becomes a readable one followed by
// "::" and 16 hexadecimal digits of the name's SHA-256: always the same one, and
// no two names share one unless their hashes do.
func LegalID(name string) string {
	if legal(name) && len(name) <= maxID {
		return name
	}
	return altered(name)
}

// DocumentID is the id of a file's document: its name with colons for slashes, or an
// altered one when the name holds anything else that an id cannot. Unaltered ones
// hold no "::", so the two kinds never meet.
func DocumentID(name string) string {
	id := strings.ReplaceAll(name, "/", ":")
	if !strings.Contains(name, ":") && legal(id) && len(id) <= maxFileID {
		return id
	}
	return altered(name)
}

func altered(name string) string {
	b := make([]byte, 0, len(name))
	for _, r := range name {
		switch {
		case r == '/':
			b = append(b, ':')
		case r < 0x80 && legalByte(byte(r)) && r != ':':
			b = append(b, byte(r))
		case len(b) > 0 && b[len(b)-1] != '-':
			b = append(b, '-')
		}
	}
	readable := strings.TrimLeft(string(b), "._:-")
	readable = strings.TrimRight(readable[:min(len(readable), maxFileID-18)], ":-")
	if readable == "" {
		readable = "document"
	}
	sum := sha256.Sum256([]byte(name))
	return readable + "::" + hex.EncodeToString(sum[:8])
}

func legal(id string) bool {
	if id == "" || strings.IndexByte("._:-", id[0]) >= 0 {
		return false
	}
	for i := 0; i < len(id); i++ {
		if !legalByte(id[i]) {
			return false
		}
	}
	return true
}

func legalByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("._:-", c) >= 0
}

// PartID names a part of a document that is too long for one, from 1.
func PartID(id string, part int) string { return fmt.Sprintf("%s%s%04d", id, partInfix, part) }

// partInfix is between the id of a file and the number of a part.
const partInfix = ":part-"

// Whole is the id of a file by that of a document of it: of a part, what it is a part of.
func Whole(id string) string {
	if at := strings.LastIndex(id, partInfix); at > 0 {
		if n := id[at+len(partInfix):]; len(n) >= 4 && strings.Trim(n, "0123456789") == "" {
			return id[:at]
		}
	}
	return id
}

// PartPrefix is what the ids of a file's parts begin with.
func PartPrefix(id string) string { return id + partInfix }
