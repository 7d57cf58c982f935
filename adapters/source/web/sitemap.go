package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/core/port"
)

// Bounds of sitemaps: those of sitemaps.org, and how many files one index may lead to.
const (
	maxSitemap      = 50 << 20 // bytes, unpacked
	maxSitemapURLs  = 50_000   // of a file
	maxSitemaps     = 200
	maxSitemapDepth = 2 // files that lead to files
)

// sitemap lists what a sitemap names, in the order of the URLs, so that the last one
// asked for says how far a listing got, however the sitemap has changed since.
func (s *listing) sitemap(ctx context.Context, from state) error {
	urls, err := s.sitemapURLs(ctx, s.cfg.MaxPages)
	if err != nil {
		return err
	}
	problems := s.state.Problems
	s.state = state{Config: from.Config, Problems: problems}
	if !from.Over {
		s.state.After, s.state.Problems = from.After, problems || from.Problems
	}
	slices.Sort(urls)
	for _, at := range urls {
		s.seen[at] = true
	}
	for _, at := range urls {
		if at <= s.state.After {
			continue
		}
		if _, err := s.visit(ctx, target{URL: at}, true); err != nil {
			return err
		}
		s.state.After = at
		if err := s.save(ctx); err != nil {
			return err
		}
	}
	snapshot := !s.state.Problems
	s.state = state{Config: s.state.Config, Over: true}
	if err := s.checkpoint(ctx); err != nil {
		return err
	}
	return s.out.Complete(ctx, snapshot)
}

// sitemapURLs reads the sitemap and those it leads to, up to so many pages. Where there
// are more, or a part cannot be read, it tells the listing.
func (s *listing) sitemapURLs(ctx context.Context, most int) ([]string, error) {
	type file struct {
		at    string
		depth int
	}
	var urls []string
	outside := 0
	seen := map[string]bool{}
	files := []file{{at: s.cfg.Sitemap}}
	for asked := 0; len(files) > 0; asked++ {
		f := files[0]
		files = files[1:]
		s.opening = asked == 0
		pages, more, err := s.readSitemap(ctx, f.at)
		s.opening = false
		var failed *port.SourceError
		switch {
		case asked == 0 && err != nil:
			return nil, err
		case errors.As(err, &failed) && s.out != nil:
			if err := s.problem(ctx, f.at, failed); err != nil {
				return nil, err
			}
		case err != nil && failed == nil:
			return nil, err
		}
		for _, raw := range more {
			if !seen[raw] && f.depth < maxSitemapDepth {
				seen[raw] = true
				files = append(files, file{at: raw, depth: f.depth + 1})
			}
		}
		for _, raw := range pages {
			u, err := url.Parse(raw)
			if err != nil {
				continue
			}
			at, ok := normalize(u)
			switch {
			case !ok || seen[at.String()]:
			case !s.inside(at):
				outside++
			default:
				seen[at.String()] = true
				urls = append(urls, at.String())
			}
		}
		if len(urls) > most || asked+1 >= maxSitemaps && len(files) > 0 {
			urls = urls[:min(len(urls), most)]
			if s.out == nil {
				return urls, nil
			}
			return urls, s.tooMany(ctx)
		}
	}
	if len(urls) == 0 && outside > 0 {
		return nil, port.SourceErrorf(port.SourceConfig, nil,
			"its pages are all on other hosts, which same_host leaves out")
	}
	return urls, nil
}

// readSitemap reads one file: the pages and the sitemaps that it names.
func (s *listing) readSitemap(ctx context.Context, at string) (pages, more []string, err error) {
	a, err := s.w.client.Get(ctx, polite.Request{
		URL: at, Accept: "application/xml,text/xml,text/plain;q=0.9,*/*;q=0.5", MaxBytes: maxSitemap, Before: s.beforeSitemap,
	})
	if err != nil {
		return nil, nil, err
	}
	content := io.Reader(bytes.NewReader(a.Body))
	if bytes.HasPrefix(a.Body, []byte("\x1f\x8b")) {
		if content, err = gzip.NewReader(content); err != nil {
			return nil, nil, noSitemap(err)
		}
	}
	limited := &io.LimitedReader{R: content, N: maxSitemap + 1}
	pages, more, err = parseSitemap(limited)
	switch {
	case limited.N <= 0:
		return nil, nil, port.SourceErrorf(port.SourceTooLarge, nil, "it has more than %d bytes, unpacked", maxSitemap)
	case err != nil:
		return nil, nil, noSitemap(err)
	}
	return pages, more, nil
}

func noSitemap(err error) error {
	return port.SourceErrorf(port.SourceUnavailable, err, "it is no sitemap")
}

// beforeSitemap keeps a host's pause. Sitemaps are for robots: rules for pages do not
// hold for them, and they may lie on another host than their pages.
func (s *listing) beforeSitemap(ctx context.Context, to *url.URL) (time.Duration, error) {
	if s.opening {
		if at, ok := normalize(to); ok {
			s.hosts[at.Host] = true
		}
	}
	if !s.cfg.robots() {
		return 0, nil
	}
	pause, err := s.w.robots.allow(ctx, to)
	if errors.Is(err, errDisallowed) {
		err = nil
	}
	return pause, err
}

// parseSitemap reads the XML of sitemaps.org, or lines of text.
func parseSitemap(r io.Reader) (pages, more []string, err error) {
	b := bufio.NewReader(r)
	head, _ := b.Peek(512)
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if bytes.HasPrefix(text, []byte("http://")) || bytes.HasPrefix(text, []byte("https://")) {
		return parseLines(b)
	}
	d := xml.NewDecoder(b)
	d.CharsetReader = charset.NewReaderLabel
	depth, root, prefix := 0, "", ""
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) && root != "" && depth == 0 {
			return pages, more, nil
		}
		if err != nil {
			return nil, nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			depth++
			switch {
			case depth == 1 && e.Name.Local != "urlset" && e.Name.Local != "sitemapindex":
				return nil, nil, errors.New("its root is neither urlset nor sitemapindex")
			case depth == 1:
				root, prefix = e.Name.Local, e.Name.Space
			case depth == 3 && e.Name.Local == "loc" && e.Name.Space == prefix:
				at, err := location(d)
				if err != nil {
					return nil, nil, err
				}
				depth--
				if root == "urlset" && len(pages) < maxSitemapURLs {
					pages = append(pages, at)
				} else if root == "sitemapindex" && len(more) < maxSitemapURLs {
					more = append(more, at)
				}
			}
		case xml.EndElement:
			depth--
		}
	}
}

// location reads the text of an element to its end.
func location(d *xml.Decoder) (string, error) {
	var b strings.Builder
	for {
		token, err := d.RawToken()
		if err != nil {
			return "", err
		}
		switch e := token.(type) {
		case xml.CharData:
			if b.Len() <= maxURL {
				b.Write(e)
			}
		case xml.EndElement:
			return strings.TrimSpace(b.String()), nil
		case xml.StartElement:
			return "", errors.New("a loc holds elements")
		}
	}
}

func parseLines(r *bufio.Reader) (pages, more []string, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() && len(pages) < maxSitemapURLs {
		if line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")); line != "" {
			pages = append(pages, line)
		}
	}
	return pages, nil, lines.Err()
}
