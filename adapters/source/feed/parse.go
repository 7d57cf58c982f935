package feed

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mmcdole/gofeed"
	"github.com/wlynxg/chardet"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
)

// maxDepth is how deep elements may lie in each other: the parser calls itself for each.
const maxDepth = 256

// declaration begins an XML file, and may hold its charset.
var (
	declaration = regexp.MustCompile(`^\s*<\?xml[^>]*\?>`)
	declared    = regexp.MustCompile(`encoding\s*=\s*["']\s*([^"'>\s]+)`)
)

// Guessing a charset: from how much, and how sure it has to be.
const (
	sampled         = 64 << 10
	leastConfidence = 0.5
)

// parse reads a feed. The library gets it as UTF-8, whatever it claims to be: it
// would decode text a second time, or refuse a charset that is misspelt.
func parse(body []byte, contentType string, at *url.URL) (entries []entry, err error) {
	defer func() {
		if p := recover(); p != nil {
			entries, err = nil, fmt.Errorf("the parser panicked: %v", p)
		}
	}()
	body = clean(decode(body, contentType))
	if err := shallow(body); err != nil {
		return nil, err
	}
	f, err := gofeed.NewParser().Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if f.FeedType == "json" && !strings.Contains(f.FeedVersion, "jsonfeed.org/version/") {
		return nil, errors.New("it is JSON, and no feed")
	}
	base := at
	if home := link(at, f.Link); home != "" {
		if u, err := url.Parse(home); err == nil {
			base = u
		}
	}
	seen := map[string]bool{}
	for _, i := range f.Items {
		e := newEntry(f, i, base)
		if !seen[e.key] { // of two with one key, the first is the newer one
			seen[e.key] = true
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// decode gives a feed as UTF-8 without a declaration: by its byte order mark, as it is
// where it is UTF-8, in the charset that it declares, or its server, or that it looks like.
func decode(body []byte, contentType string) []byte {
	for mark, e := range map[string]encoding.Encoding{
		"\xff\xfe": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "\xfe\xff": unicode.UTF16(unicode.BigEndian,
			unicode.UseBOM),
	} {
		if bytes.HasPrefix(body, []byte(mark)) {
			return declaration.ReplaceAll(convert(body, e), nil)
		}
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	var labels []string
	if m := declared.FindSubmatch(declaration.Find(body)); m != nil {
		labels = append(labels, string(m[1]))
	}
	if _, parameters, err := mime.ParseMediaType(contentType); err == nil {
		labels = append(labels, parameters["charset"])
	}
	if !utf8.Valid(body) {
		guess := chardet.Detect(body[:min(len(body), sampled)])
		if guess.Confidence >= leastConfidence {
			labels = append(labels, guess.Encoding)
		}
		body = convert(body, choose(append(labels, "windows-1252")))
	} else if e := choose(labels); e == japanese.ISO2022JP { // which is ASCII to look at
		body = convert(body, e)
	}
	return declaration.ReplaceAll(body, nil)
}

// choose is the first of some charsets that can be, of a text that is not UTF-8.
func choose(labels []string) encoding.Encoding {
	for _, l := range labels {
		if e, err := htmlindex.Get(l); err == nil && e != unicode.UTF8 && e != encoding.Replacement {
			return e
		}
	}
	return nil
}

func convert(body []byte, e encoding.Encoding) []byte {
	decoded, err := e.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return decoded
}

// clean leaves out characters that XML does not allow, and many feeds hold.
func clean(body []byte) []byte {
	return bytes.Map(func(r rune) rune {
		switch {
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xFFFE, r == 0xFFFF:
			return -1
		}
		return r
	}, bytes.ToValidUTF8(body, []byte("\uFFFD")))
}

// shallow refuses XML whose elements lie too deep in each other.
func shallow(body []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return nil
	}
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	for depth := 0; ; {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return errors.New("its elements lie too deep in each other")
			}
		case xml.EndElement:
			depth--
		}
	}
}

// announced are the feeds that a page names, a few of them.
func announced(body []byte, at *url.URL) (feeds []string) {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Link || len(feeds) >= 3 {
			continue
		}
		a := map[string]string{}
		for _, attr := range n.Attr {
			a[attr.Key] = attr.Val
		}
		switch strings.ToLower(a["type"]) {
		case "application/rss+xml", "application/atom+xml", "application/feed+json":
			if to := link(at, a["href"]); to != "" && strings.EqualFold(a["rel"], "alternate") {
				feeds = append(feeds, to)
			}
		}
	}
	return feeds
}
