package extract

import (
	"mime"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/mnemehq/mneme/core/port"
)

// Media types that content alone does not tell from each other.
const (
	plainText = "text/plain"
	zipped    = "application/zip"
	compound  = "application/x-ole-storage" // what Office wrote before 2007, and encrypts to
	unknown   = "application/octet-stream"
)

// detect finds out what a file is. Content decides; where it leaves several readings
// open, as text does, and packages that begin like any ZIP file, what the sender says
// chooses among those.
func (s *Set) detect(f port.File) string {
	said := s.said(f)
	found := mimetype.Detect(f.Content)
	text := false
	for m := found; m != nil; m = m.Parent() {
		text = text || m.Is(plainText)
	}
	for m := found; m != nil; m = m.Parent() {
		media, _, _ := strings.Cut(m.String(), ";")
		switch media {
		case zipped, compound, unknown:
			if _, ok := s.byType[said]; ok && !strings.HasPrefix(said, "text/") {
				return said
			}
		}
		if _, ok := s.byType[media]; ok {
			if text && said != "" && said != plainText && isText(said) {
				return said
			}
			return media
		}
		if s.fallback != nil && !text && media != unknown && s.fallbackReads(media) {
			return media
		}
	}
	media, _, _ := strings.Cut(found.String(), ";")
	return media
}

// said is the media type that a file's sender gives it, by its name where the type is
// none of those that are read.
func (s *Set) said(f port.File) string {
	if media, _, err := mime.ParseMediaType(f.MediaType); err == nil {
		if _, ok := s.byType[media]; ok && media != plainText {
			return media
		}
	}
	return s.byExt[strings.ToLower(path.Ext(f.Name))]
}

// textual are the formats of text whose media types do not say so.
var textual = map[string]bool{
	"application/json":     true,
	"application/xml":      true,
	"application/x-subrip": true,
	"application/mbox":     true,
	"message/rfc822":       true,
}

func isText(media string) bool { return strings.HasPrefix(media, "text/") || textual[media] }
