package mail_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/extracttest"
	"github.com/mnemehq/mneme/adapters/extract/mail"
	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/adapters/extract/office"
	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

const (
	eml  = "message/rfc822"
	mbox = "application/mbox"
)

// attachments reads some formats, as a server does.
func attachments() port.Extractor {
	limits := extract.DefaultLimits()
	return extract.New(extract.Settings{Log: slog.New(slog.DiscardHandler)}, text.New(limits), markup.New(), office.New(limits))
}

// made is a file that a real program wrote; testdata/make.py says which.
func made(t testing.TB, name, media string) port.File {
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return port.File{Name: name, MediaType: media, Content: content}
}

func file(name, media string, lines ...string) port.File {
	return port.File{Name: name, MediaType: media, Content: []byte(strings.Join(lines, "\n"))}
}

// letter is a message with that content, and the header fields of it.
func letter(name string, lines ...string) port.File {
	return file(name, eml, append([]string{"From: ann@example.org", "Subject: Lease"}, lines...)...)
}

// parted is a message of parts of such a kind.
func parted(name, kind string, parts ...string) port.File {
	lines := []string{"Mime-Version: 1.0", "Content-Type: multipart/" + kind + "; boundary=cut", "", "a preamble"}
	for _, p := range parts {
		lines = append(lines, "--cut", p)
	}
	return letter(name, append(lines, "--cut--", "an epilogue")...)
}

// attached is a part that is a file.
func attached(name, media, content string) string {
	return "Content-Type: " + media + "\nContent-Disposition: attachment; filename=" + name +
		"\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte(content))
}

// nested is a message with so many parts inside each other.
func nested(n int) port.File { return nestedAs("mixed", n) }

func nestedAs(kind string, n int) port.File {
	var b strings.Builder
	b.WriteString("Subject: deep\nMime-Version: 1.0\n")
	for i := range n {
		fmt.Fprintf(&b, "Content-Type: multipart/%s; boundary=b%d\n\n--b%d\n", kind, i, i)
	}
	return file("nested.eml", eml, b.String()+"Content-Type: text/plain\n\ninnermost\n")
}

// forwarded is a message in so many others.
func forwarded(n int) port.File {
	return file("forwarded.eml", eml, strings.Repeat("Subject: fw\nContent-Type: message/rfc822\n\n", n)+
		"Subject: x\n\ninnermost\n")
}

const (
	asPlain = "Content-Type: text/plain\n\nthe plain form"
	asPage  = "Content-Type: text/html\n\n<h2>Notice</h2><p>Three <b>months</b>.</p><script>x</script>"
	from    = "From ann@example.org Mon Mar  2 09:30:00 2026\n"
)

func TestMail(t *testing.T) {
	extracttest.Run(t, extracttest.Suite{
		Open:    func(*testing.T) port.Extractor { return mail.New(extract.DefaultLimits(), attachments()) },
		Samples: append(append(samples(t), bodies()...), parts()...),
		Refused: refusals(),
	})
}

// samples are what programs write.
func samples(t *testing.T) []extracttest.Sample {
	const subject = "Mietvertrag für die Wohnung: Kündigungsfrist, Nebenkosten, Übergabe der Schlüssel"
	return []extracttest.Sample{
		{File: made(t, "letter.eml", eml), Title: subject,
			Text: []string{"# " + subject + "\n\nFrom: Jürgen Groß <juergen@example.org>\n" +
				"To: Ann Example <ann@example.org>, Bob <bob@example.org>\nCc: office@example.org\nDate: 2026-03-02T08:30:00Z\n" +
				"Attachments: Übergabe.docx, prices.csv, plan.gif\n\nDie Kündigungsfrist beträgt drei Monate.\n\nGrüße",
				"## Übergabe.docx\n\n", "handbook", "## prices.csv\n\n- Name: Bag; Price: 4"},
			Never: []string{"<b>", "logo.png"},
			Metadata: map[string]any{"author": "Jürgen Groß <juergen@example.org>", "created_at": "2026-03-02T08:30:00Z",
				"to": "Ann Example <ann@example.org>, Bob <bob@example.org>"}},
		{File: made(t, "box.mbox", mbox), Text: []string{
			"# One\n\nFrom: ann@example.org\n\nfirst\n\nFrom here on it is quoted, even at 10:30 in 2026\n\n",
			"# Two\n\nFrom: ann@example.org\n\nsecond\n\n", "# Three\n\nFrom: ann@example.org\n\nthird, 日本語"}},
	}
}

// bodies are messages of one part.
func bodies() []extracttest.Sample {
	return []extracttest.Sample{
		{File: file("raw.eml", eml, "X-First: 1", ">From ann@example.org Mon Mar  2 09:30:00 2026", "no field",
			"SUBJECT : caf\xe9",
			"Subject: second", " folded", "From: =?klingon?q?a?=", "Date: yesterday", "", "a\x00b \xe9", ""), Title: "café",
			Text: []string{"# café\n\nFrom: =?klingon?q?a?=\nDate: yesterday\n\nab "}, Never: []string{"folded", "2026"}},
		{File: file("folded.eml", eml, "Subject: one", "\ttwo", "Message-Id: <x@example.org>"), Title: "one two",
			Text: []string{"# one two"}},
		{File: letter("printable.eml", "Content-Type: text/plain; charset=utf-8",
			"Content-Transfer-Encoding: Quoted-Printable", "",
			"caf=C3=A9 =", "au lait\x0c a=b"), Text: []string{"café au lait a=b"}},
		{File: letter("base64.eml", "Content-Transfer-Encoding: BASE64", "", "aGVsbG8s!IHdv", "cmxk", "IQ"),
			Text: []string{"hello, world!"}},
		{File: letter("charset.eml", "Content-Type: text/plain; charset=windows-1251", "", "\xcf\xf0\xe8"),
			Text: []string{"При"}},
		{File: letter("wrong.eml", "Content-Type: text/plain; charset=utf-8; charset=utf-8", "",
			"Die Miete f\xfcr die Wohnung betr\xe4gt "+
				"zehn Taler. Die K\xfcndigungsfrist betr\xe4gt drei Monate."), Text: []string{"Miete für die Wohnung beträgt"}},
		{File: letter("neither.eml", "Content-Type: text/plain; charset=utf-8", "", "a\xff\x00b"), Text: []string{"a\uFFFDb"}},
		{File: letter("page.eml", "Content-Type: text/html; charset=iso-8859-1", "", "<p>caf\xe9</p>"),
			Text: []string{"\n\ncafé"}},
		{File: letter("twice.eml", "Content-Type: TEXT/HTML; charset=iso-8859-1; charset=utf-8", "", "<p>caf\xe9</p>"),
			Text: []string{"\n\ncafé"}, Never: []string{"<p>"}},
		{File: letter("noise.eml", "Content-Transfer-Encoding: quoted-printable", "", strings.Repeat("\x01", 1<<20)+"said"),
			Text: []string{"\n\nsaid"}},
		{File: headed("full.eml", 256<<10), Text: []string{"To: ann@example.org"}},
		{File: headed("more.eml", 256<<10+1), Text: []string{"# Lease"}, Never: []string{"ann@"}},
		{File: file("field.eml", eml, "Subject: "+strings.Repeat("é", 600), "", "x"), Title: strings.Repeat("é", 500),
			Text: []string{"x"}},
		{File: dated("first.eml", "1 Jan 0001 00:00:00 +0000"), Text: []string{"Date: 0001-01-01T00:00:00Z"}},
		{File: dated("before.eml", "1 Jan 0001 00:30:00 +0100"), Text: []string{"Date: 1 Jan 0001 00:30:00 +0100"}},
		{File: dated("last.eml", "31 Dec 9999 23:59:59 +0000"), Text: []string{"Date: 9999-12-31T23:59:59Z"}},
		{File: dated("after.eml", "31 Dec 9999 23:30:00 -0100"), Text: []string{"Date: 31 Dec 9999 23:30:00 -0100"}},
		{File: letter("flowed.eml", "Content-Type: text/plain; format=flowed", "", "one ", "two", "> three ", "> four",
			">> five ",
			" six", "end ", "-- ", "Ann"), Text: []string{"one two\n> three four\n>> five \nsix\nend \n-- \nAnn"}},
		{File: letter("joined.eml", "Content-Type: text/plain; Format=Flowed; DelSp=Yes", "", "日 ", "本"), Text: []string{"日本"}},
		{File: letter("lines.eml", "Content-Type: text/plain", "", "one ", "two"), Text: []string{"one \ntwo"}},
		{File: letter("unbounded.eml", "Content-Type: multipart/mixed", "", "as it is"), Text: []string{"as it is"}},
		{File: letter("notice.eml", "Content-Type: message/delivery-status", "", "Status: 5.1.1"),
			Text: []string{"Status: 5.1.1"}},
		{File: letter("picture.eml", "Content-Type: image/png", "", "x"),
			Text: []string{"# Lease"}, Never: []string{"Attachments"}},
		{File: file("long.eml", eml, "Subject: "+strings.Repeat("word ", 1000), "X-Long: "+strings.Repeat("x", 300<<10),
			"To: ann@example.org", "", "body"), Text: []string{"# word word", "body"}, Never: []string{"ann@"}},
	}
}

// headed is a message whose header ends, so many bytes long, with whom it is to.
func headed(name string, n int) port.File {
	const before, to = "Subject: Lease\nX-Long: ", "\nTo: ann@example.org\n"
	return file(name, eml, before+strings.Repeat("x", n-len(before)-len(to))+to, "body")
}

func dated(name, at string) port.File { return file(name, eml, "Date: "+at, "", "said") }

// parts are messages of several parts.
func parts() []extracttest.Sample {
	invitation := "Content-Type: text/calendar\n\nBEGIN:VCALENDAR"
	return []extracttest.Sample{
		{File: parted("plain-first.eml", "alternative", asPlain, asPage, invitation), Text: []string{"the plain form"},
			Never: []string{"Notice", "amble", "logue", "CALENDAR"}},
		{File: parted("page-first.eml", "alternative", asPage, asPlain, asPlain),
			Text:  []string{"ann@example.org\n\nthe plain form"},
			Never: []string{"Notice", "form\n\nthe"}},
		{File: parted("page.eml", "alternative", "Content-Type: text/plain\n\n  ", asPage, asPage),
			Text:  []string{"org\n\n## Notice\n\nThree months."},
			Never: []string{"script", "months.\n\n##"}},
		{File: parted("two.eml", "mixed", "\nfirst", "Content-Type: multipart/alternative; boundary=in\n\n--in\n"+asPlain+
			"\n--in--", "\nlast"),
			Text: []string{"first\n\nthe plain form\n\nlast"}},
		{File: parted("both.eml", "alternative", "Content-Type: multipart/mixed; boundary=in\n\n--in\n"+asPlain+"\n--in\n"+
			attached("a.txt", "text/plain", "read")+"\n--in--", asPage),
			Text:  []string{"Attachments: a.txt\n\nthe plain form", "## a.txt\n\nread"},
			Never: []string{"Notice"}},
		{File: parted("related.eml", "mixed", "Content-Type: multipart/related; boundary=in\n\n--in\n"+asPage+"\n--in\n"+
			attached("logo.png", "image/png", "x")+"\n--in--", attached("photo.png", "image/png", "\x89PNG\r\n\x1a\n")),
			Text: []string{"Attachments: photo.png\n\n## Notice"}, Never: []string{"logo"}},
		{File: parted("signed.eml", "signed", asPlain,
			"Content-Type: application/pgp-signature; name=signature.asc\n\n-----BEGIN"),
			Text: []string{"org\n\nthe plain form"}, Never: []string{"BEGIN", "signature"}},
		{File: parted("opaque.eml", "mixed", asPlain,
			"Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m\n\n\x01"),
			Text: []string{"Attachments: smime.p7m\n\nthe plain form"}},
		{File: parted("named.eml", "mixed", asPlain,
			"Content-Type: text/plain; name=\"=?utf-8?q?caf=C3=A9?=.txt\"\n\nin a file",
			"Content-Type: application/zip\n\n\x01"),
			Text: []string{"Attachments: café.txt, application/zip\n\nthe plain form", "## café.txt\n\nin a file"}},
		{File: parted("why.eml", "mixed", asPlain, attached("old.txt", "text/plain", " "), attached("broken.docx",
			"application/x", "PK\x03\x04x"),
			attached("empty.txt", "text/plain", "")),
			Text: []string{"Attachments: old.txt (no_text), broken.docx", "empty.txt\n\nthe plain form"}},
		{File: parted("forward.eml", "mixed", asPlain,
			"Content-Type: message/rfc822\n\nSubject: Inner\nFrom: bob@example.org\n\nthe inner one",
			attached("saved.eml", "application/octet-stream", "Subject: Saved\n\nthe saved one"),
			"Content-Type: message/rfc822\n\nSubject: Sealed\nContent-Type: multipart/encrypted; boundary=x\n\n",
			"Content-Type: message/rfc822\n\nFrom: eve@example.org\n\nabout nothing",
			"Content-Type: message/rfc822\n\nno"),
			Text: []string{"the plain form", "## Forwarded: Inner\n\nFrom: bob@example.org\n\nthe inner one",
				"## Forwarded: Saved\n\nthe saved one",
				"## Forwarded: Sealed", "From: eve@example.org\n\nabout nothing"}},
		{File: letter("thousand.eml", "Content-Type: multipart/mixed; boundary=cut", "", strings.Repeat("--cut\n\n\n", 998)+
			"--cut\n\nthe last one"), Text: []string{"the last one"}},
		{File: file("each.mbox", mbox, strings.Repeat(from+"Subject: x\nContent-Type: multipart/mixed; boundary=cut\n\n"+
			strings.Repeat("--cut\n\n\n", 600)+"--cut\n\nthe last one\n--cut--\n\n", 2)),
			Text: []string{"# x\n\nthe last one\n\n", "# x\n\nthe last one"}},
		{File: parted("digest.eml", "digest", "\nSubject: One\n\nfirst", "\nSubject: Two\n\nsecond"),
			Text: []string{"## Forwarded: One\n\nfirst", "## Forwarded: Two\n\nsecond"}},
		{File: nested(100), Title: "deep", Text: []string{"# deep\n\ninnermost"}},
		{File: forwarded(100), Text: []string{"innermost"}},
		{File: letter("cut.eml", "Content-Type: multipart/mixed; boundary=cut", "", "--cut", asPlain, "--cut", "no field",
			"", "lost"),
			Text: []string{"the plain form"}},
		{File: file("one.mbox", mbox, from+"Subject: Only", "", "text"), Text: []string{"# Only\n\ntext"}},
		{File: file("from.mbox", mbox, from+"Subject: One", "", "From here", "", "From here on", "", "From there at 10:30",
			"", ">From a", "x >From b",
			from+"no beginning without a blank line", "", from+"X: y", "", from+"Subject: Sealed",
			"Content-Type: application/pkcs7-mime", "", "x", "",
			from+"From: last@example.org", "Content-Type: application/x-pkcs7-mime", ""),
			Text: []string{"# One\n\nFrom here\n\nFrom here on\n\nFrom there at 10:30\n\nFrom a\nx >From b\n" + from,
				"# Sealed\n\n(is encrypted)", "From: last@example.org\n\n(is encrypted)"}},
	}
}

func refusals() []extracttest.Refused {
	many := strings.Repeat("--cut\n\n\n", 1000)
	return []extracttest.Refused{
		{Name: "nested", File: nested(101), Code: port.FileTooLarge},
		{Name: "nested forms", File: nestedAs("alternative", 101), Code: port.FileTooLarge},
		{Name: "forwarded", File: forwarded(101), Code: port.FileTooLarge},
		{Name: "many parts of a forwarded one", File: letter("a.eml", "Content-Type: multipart/mixed; boundary=cut", "",
			strings.Repeat("--cut\n\n\n", 500)+"--cut\nContent-Type: message/rfc822\n\nSubject: in\n"+
				"Content-Type: multipart/mixed; boundary=in\n\n"+strings.Repeat("--in\n\n\n", 500)), Code: port.FileTooLarge},
		{Name: "many parts", File: letter("a.eml", "Content-Type: multipart/mixed; boundary=cut", "", many),
			Code: port.FileTooLarge},
		{Name: "many messages", File: file("a.mbox", mbox, strings.Repeat(from+"\n", 10_001)), Code: port.FileTooLarge},
		{Name: "no mailbox", File: file("a.mbox", mbox, "Subject: x", "", "y"), Code: port.FileBroken},
		{Name: "no e-mail", File: file("a.eml", eml, "just", "some: text", "", "y"), Code: port.FileBroken},
		{Name: "white space", File: file("a.eml", eml, " ", "", ""), Code: port.FileNoText},
		{Name: "nothing in it", File: file("a.eml", eml, "From: ann@example.org", "", ""), Code: port.FileNoText},
		{Name: "nothing in any", File: file("a.mbox", mbox, from+"Received: x", "", from), Code: port.FileNoText},
		{Name: "encrypted", File: parted("a.eml", "encrypted", "Content-Type: application/pgp-encrypted\n\nVersion: 1"),
			Code: port.FileEncrypted},
		{Name: "S/MIME", File: letter("a.eml", "Content-Type: application/pkcs7-mime; smime-type=enveloped-data", "", "x"),
			Code: port.FileEncrypted},
		{Name: "in its text", File: letter("a.eml", "", "-----BEGIN PGP MESSAGE-----", "x"), Code: port.FileEncrypted},
	}
}

func TestLimitOfText(t *testing.T) {
	limits := extract.DefaultLimits()
	limits.Text, limits.Entries = 200, 3
	read := func(f port.File) error {
		_, err := mail.New(limits, attachments()).Extract(t.Context(), f)
		return err
	}
	long := strings.Repeat("x", 90)
	const webpage = "Content-Type: text/html"
	for name, c := range map[string]struct {
		file port.File
		ok   bool
	}{
		"fits":        {letter("a.eml", "", long+long), true},
		"body":        {letter("a.eml", "", long+long+long), false},
		"page":        {letter("a.eml", "Content-Type: text/html", "", "<p>"+long+"<p>"+long+"<p>"+long), false},
		"addresses":   {file("a.eml", eml, "From: "+long, "To: "+long, "Cc: "+long, "", "x"), false},
		"markup":      {file("a.eml", eml, "Subject: a", webpage, "", "<p>b</p><!--"+long+long+"xxxx-->b"), true},
		"more markup": {file("a.eml", eml, "Subject: a", webpage, "", "<p>b</p><!--"+long+long+"xxxxx-->b"), false},
		"other forms": {parted("a.eml", "alternative", asPlain, "Content-Type: text/html\n\n"+long+long+long), true},
		"parts":       {parted("a.eml", "mixed", "\n"+long, "\n"+long, "\n"+long), false},
		"attachments": {parted("a.eml", "mixed", "\n"+long, attached("a.txt", "text/plain", long+long)), false},
		"subjects": {file("a.mbox", mbox, from+"Subject: "+long, "", from+"Subject: "+long, "", from+"Subject: "+long,
			""), false},
		"three": {file("a.mbox", mbox, from+"Subject: a", "", from+"Subject: b", "", from+"Subject: c", ""), true},
		"four":  {file("a.mbox", mbox, from+"Subject: a", "", from+"Subject: b", "", from+"Subject: c", "", from), false},
	} {
		var why *port.FileError
		if err := read(c.file); c.ok && err != nil || !c.ok && (!errors.As(err, &why) || why.Code != port.FileTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// counted is an extractor that counts what it reads.
type counted struct {
	files []port.File
	err   error
}

func (*counted) Formats() []port.Format { return nil }

func (c *counted) Extract(_ context.Context, f port.File) (port.Extracted, error) {
	f.Content = bytes.Clone(f.Content)
	c.files = append(c.files, f)
	return port.Extracted{Sections: []port.Section{{Text: "read", Page: 2}}}, c.err
}

func TestAttachmentsAreBounded(t *testing.T) {
	var all []string
	for i := range 40 {
		all = append(all, attached(fmt.Sprintf("%d.txt", i), "text/x; charset=koi8-r", fmt.Sprint("content ", i)))
	}
	c := &counted{}
	x, err := mail.New(extract.DefaultLimits(), c).Extract(t.Context(), parted("a.eml", "mixed", all...))
	if err != nil || len(c.files) != 32 || len(x.Sections) != 33 || !strings.Contains(x.Sections[0].Text, "31.txt, 32.txt") {
		t.Fatalf("%d files, %d sections: %v", len(c.files), len(x.Sections), err)
	}
	if f := c.files[31]; f.Name != "31.txt" || f.MediaType != "text/x" || f.Charset != "koi8-r" ||
		string(f.Content) != "content 31" {
		t.Errorf("%+v", f)
	}
	if s := x.Sections[32]; s.Text != "## 31.txt\n\nread" || s.Page != 0 {
		t.Errorf("%+v", s)
	}
	// 16 MiB of them altogether.
	c = &counted{}
	big, small := strings.Repeat("x", 9<<20), strings.Repeat("x", 7<<20)
	x, err = mail.New(extract.DefaultLimits(), c).Extract(t.Context(), parted("a.eml", "mixed", attached("a", "a/b", big),
		attached("b", "a/b", big), attached("c", "a/b", small), attached("d", "a/b", "x")))
	if err != nil || len(c.files) != 2 || c.files[1].Name != "c" || !strings.Contains(x.Sections[0].Text, "a, b, c, d") {
		t.Errorf("%d files: %v", len(c.files), err)
	}
}

// What an extractor outside this process fails with is no fault of the file, and what stays of
// the places where files are read is as good as none.
func TestAttachmentsThatCannotBeReadNow(t *testing.T) {
	c := &counted{err: fault.Busy("try again later")}
	letter := parted("a.eml", "mixed", asPlain, attached("a.txt", "text/plain", "x"))
	if _, err := mail.New(extract.DefaultLimits(), c).Extract(t.Context(), letter); !fault.IsBusy(err) {
		t.Error(err)
	}
	x, err := mail.New(extract.DefaultLimits(), nil).Extract(t.Context(), letter)
	if err != nil || len(x.Sections) != 1 || !strings.Contains(x.Sections[0].Text, "Attachments: a.txt\n\nthe plain form") {
		t.Errorf("%+v, %v", x.Sections, err)
	}
}

// ending is a context that ends after so many looks at it.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestReadingStops(t *testing.T) {
	long := parted("a.eml", "mixed", "\n"+strings.Repeat("some text\n", 2000), asPage, attached("a.txt", "text/plain",
		strings.Repeat("x", 32<<10)))
	e := mail.New(extract.DefaultLimits(), attachments())
	looks := &ending{t.Context(), 1 << 30}
	if _, err := e.Extract(looks, long); err != nil {
		t.Fatal(err)
	}
	for n := range 1<<30 - looks.left {
		if _, err := e.Extract(&ending{t.Context(), n}, long); !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d looks: %v", n, err)
		}
	}
}

func TestMailIsFoundByContent(t *testing.T) {
	limits := extract.DefaultLimits()
	set := extract.New(extract.Settings{Log: slog.New(slog.DiscardHandler)}, text.New(limits), mail.New(limits, nil))
	box := from + "Subject: x\n\ny\n"
	head := "From: ann@example.org\nTo: bob@example.org\n\ntext\n"
	for _, c := range []struct{ name, content, want string }{
		{"", box, mbox}, {"a.mbox", box, mbox}, {"a.txt", box, "text/plain"}, {"", "From me at 10:30\n", "text/plain"},
		{"", head, eml}, {"a.eml", head, eml}, {"a.txt", head, "text/plain"}, {"a.unknown", head, eml},
	} {
		x, err := set.Extract(t.Context(), port.File{Name: c.name, Content: []byte(c.content)})
		if err != nil || x.Format.MediaType != c.want {
			t.Errorf("%q as %q: %q, %v, want %s", c.content, c.name, x.Format.MediaType, err, c.want)
		}
	}
}

func FuzzMail(f *testing.F) {
	for _, s := range []port.File{made(f, "letter.eml", eml), made(f, "box.mbox", mbox), nested(3), forwarded(2),
		parted("", "alternative", asPlain, asPage)} {
		f.Add(s.Content)
	}
	limits := extract.DefaultLimits()
	limits.Text = 1 << 20
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, media := range []string{eml, mbox} {
			x, err := mail.New(limits, attachments()).Extract(t.Context(), port.File{MediaType: media, Content: content})
			if err != nil && !errors.As(err, new(*port.FileError)) || err == nil && len(x.Sections) == 0 {
				t.Fatalf("%d sections, %v", len(x.Sections), err)
			}
		}
	})
}

func BenchmarkMail(b *testing.B) {
	message := "From: ann@example.org\nSubject: Lease\nContent-Type: text/plain; charset=utf-8\n" +
		"Content-Transfer-Encoding: quoted-printable\n\n" +
		strings.Repeat("Die K=C3=BCndigungsfrist betr=C3=A4gt drei Monate.\n", 100) + "\n"
	deep := nested(100)
	deep.Content = append(deep.Content, strings.Repeat("x\n", 4<<20)...)
	extracttest.Bench(b, mail.New(extract.DefaultLimits(), nil), file("one.eml", eml, message),
		file("1000.mbox", mbox, strings.Repeat(from+message, 1000)), deep)
}
