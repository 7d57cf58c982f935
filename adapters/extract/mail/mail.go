package mail

import (
	"bytes"
	"context"
	"errors"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/port"
)

// Media types of what is read here.
const (
	messageType = "message/rfc822"
	mailboxType = "application/mbox"
)

// Extractor reads e-mails.
type Extractor struct {
	limits extract.Limits
	files  port.Extractor
}

// New makes an Extractor. attachments reads those, and no e-mails; nil: they are named
// alone.
func New(l extract.Limits, attachments port.Extractor) *Extractor { return &Extractor{l, attachments} }

// Formats implements port.Extractor.
func (*Extractor) Formats() []port.Format {
	return []port.Format{
		{MediaType: messageType, Name: "e-mail", Extensions: []string{".eml"}},
		{MediaType: mailboxType, Name: "mailbox", Extensions: []string{".mbox"}},
	}
}

// Sniff implements extract.Sniffer: to programs that know types by what a file begins with, a
// mailbox is plain text.
func (*Extractor) Sniff(content []byte) string {
	if isMailbox(content) {
		return mailboxType
	}
	return ""
}

// Extract implements port.Extractor. A message of a mailbox that cannot be read is named by
// what its header says, so that it doesn't take the others with it.
func (e *Extractor) Extract(ctx context.Context, f port.File) (port.Extracted, error) {
	if err := ctx.Err(); err != nil {
		return port.Extracted{}, err
	}
	if len(bytes.TrimSpace(f.Content)) == 0 {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text")
	}
	r := &reader{ctx: ctx, limits: e.limits, files: e.files, left: maxAttached}
	if isMailbox(f.Content) {
		return r.mailbox(f.Content)
	}
	if f.MediaType == mailboxType {
		return port.Extracted{}, port.FileErrorf(port.FileBroken, nil,
			"is no mailbox: its first line is not From, a sender and a time")
	}
	return r.alone(f.Content)
}

// alone reads a file of one message.
func (r *reader) alone(content []byte) (port.Extracted, error) {
	m, err := r.message(bytes.NewReader(content), 0)
	if err != nil {
		return port.Extracted{}, err
	}
	x := port.Extracted{Title: m.Subject, Metadata: map[string]any{}, Sections: m.sections()}
	for k, v := range map[string]string{"author": m.From, "to": m.To, "created_at": m.time()} {
		if v != "" {
			x.Metadata[k] = v
		}
	}
	return x, nil
}

func (r *reader) mailbox(content []byte) (port.Extracted, error) {
	var x port.Extracted
	n := 0
	for content := range messages(content) {
		if n++; n > r.limits.Entries {
			return port.Extracted{}, port.FileErrorf(port.FileTooLarge, nil, "holds more than %d messages", r.limits.Entries)
		}
		m, err := r.message(bytes.NewReader(content), 0)
		var why *port.FileError
		switch {
		case !errors.As(err, &why) && err != nil, why != nil && why.Code == port.FileTooLarge:
			return port.Extracted{}, err
		case why != nil && m.Subject == "" && m.From == "":
			continue // it says nothing that could be named
		case why != nil:
			m.text = append(m.text, "("+why.Message+")")
		}
		x.Sections = append(x.Sections, m.sections()...)
	}
	if len(x.Sections) == 0 {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text")
	}
	return x, nil
}

var (
	_ port.Extractor  = (*Extractor)(nil)
	_ extract.Sniffer = (*Extractor)(nil)
)
