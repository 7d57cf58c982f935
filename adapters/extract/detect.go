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
	unknown   = "application/octet-stream"
)

// generic are containers of many formats: what Office wrote before 2007, and encrypts to,
// is in application/x-ole-storage.
var generic = map[string]bool{"application/zip": true, "application/x-ole-storage": true, unknown: true}

// guessed are formats that content alone makes likely at most.
var guessed = map[string]bool{"text/csv": true, "text/tab-separated-values": true}

// claimed are formats that a text may look like: one that is said to be plain text is that.
var claimed = map[string]bool{"message/rfc822": true}

// opaque are formats that are text whose words nobody reads as they are.
var opaque = map[string]bool{"text/rtf": true}

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
	if text && said != "" && said != plainText && isText(said) {
		return said
	}
	for m := found; m != nil; m = m.Parent() {
		media, _, _ := strings.Cut(m.String(), ";")
		if media == unknown && m != found {
			break // everything is bytes
		}
		if _, ok := s.byType[media]; !ok && !generic[media] {
			if opaque[media] || s.fallback != nil && !text && s.fallbackReads(media) {
				return media
			}
			continue
		}
		switch {
		case generic[media] && said != "" && (media == unknown || !isText(said)):
			return said
		case guessed[media] && said != media:
			continue // text, whose lines happen to have as many commas
		case claimed[media] && said == plainText:
			continue // and not what begins with To: and Date:
		case media == plainText && said == "":
			return s.sniff(f.Content)
		case !generic[media]:
			return media
		}
	}
	media, _, _ := strings.Cut(found.String(), ";")
	return media
}

func (s *Set) sniff(content []byte) string {
	for _, of := range s.sniffers {
		if media := of.Sniff(content); media != "" {
			return media
		}
	}
	return plainText
}

// said is the media type that a file's sender gives it, by its name where the type is
// none of those that are read.
func (s *Set) said(f port.File) string {
	if media, _, err := mime.ParseMediaType(f.MediaType); err == nil {
		if m := mimetype.Lookup(media); m != nil {
			media, _, _ = strings.Cut(m.String(), ";") // of several names the usual one
		}
		if _, ok := s.byType[media]; ok && media != plainText {
			return media
		}
	}
	return s.byExt[strings.ToLower(path.Ext(f.Name))]
}

// textual are the formats of text whose media types do not say so.
var textual = map[string]bool{
	"application/json":     true,
	"application/x-ndjson": true,
	"application/x-subrip": true,
	"application/mbox":     true,
	"message/rfc822":       true,
}

func isText(media string) bool { return strings.HasPrefix(media, "text/") || textual[media] }
