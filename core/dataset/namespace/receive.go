package namespace

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// compareRows is how many documents are compared with the store at once.
const compareRows = 256

// received is a data set that was read to its end and checked.
type received struct {
	spooled *spool
	header  dataset.Header
	row     dataset.Namespace
	end     dataset.End
}

// receiver reads a data set.
type receiver struct {
	s      *Service
	p      port.Partition
	how    How
	out    received
	opened bool // its partition came
	last   string
	heads  []head // to be compared
}

// head identifies a document's contents.
type head struct {
	id         string
	text, meta [32]byte
}

// receive reads a data set to its end, checks it, and compares it with the stored
// documents. The caller closes received.kept.
func (s *Service) receive(ctx context.Context, p port.Partition, how How, body io.Reader) (out *received, err error) {
	spooled, err := s.spools.open(p.Org())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, spooled.close())
		}
	}()
	buffered := bufio.NewWriterSize(spooled, 256<<10)
	zipped, err := gzip.NewWriterLevel(buffered, gzip.BestSpeed) // what expands much takes little room
	if err != nil {
		return nil, err
	}
	in := receiver{s: s, p: p, how: how, out: received{spooled: spooled}}
	scan := dataset.NewScan(io.TeeReader(&bounded{body, s.maxImport, s.maxImport}, zipped))
	scan.LimitLines(MaxLine)
	for {
		l, err := scan.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = in.handleLine(ctx, scan, &l)
		}
		if err != nil {
			return nil, refusal(scan, err)
		}
	}
	if err := scan.Whole(); err != nil {
		return nil, refusal(scan, err)
	}
	if !in.opened {
		return nil, fault.New(fault.InvalidRequest, "the data set holds no namespace; nothing was imported")
	}
	if err := in.compare(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(zipped.Close(), buffered.Flush()); err != nil {
		return nil, err
	}
	spooled.end(nil)
	in.out.header = scan.Header
	return &in.out, nil
}

// bounded reads a data set up to a number of bytes.
type bounded struct {
	from      io.Reader
	left, max int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fault.New(fault.PayloadTooLarge, "the data set is larger than the %d MiB that the server takes at once "+
			"(limits.import_mb; exported without vectors it is smaller); nothing was imported", b.max>>20)
	}
	return n, err
}

// refusal turns an error about a data set into the fault that the caller gets.
func refusal(scan *dataset.Scan, err error) error {
	var f *fault.Error
	var damaged *dataset.Damaged
	switch {
	case errors.As(err, &f), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, dataset.ErrLong):
		return fault.Wrap(fault.PayloadTooLarge, "import", err,
			"line %d of the data set is longer than %d bytes (exported without vectors it is shorter); nothing was imported",
			scan.Lines(), MaxLine)
	case errors.As(err, &damaged):
		return fault.Wrap(fault.InvalidRequest, "import", err, "line %d of the data set: %s; nothing was imported",
			damaged.Line, damaged.Reason)
	case errors.Is(err, dataset.ErrCut):
		return fault.Wrap(fault.InvalidRequest, "import", err,
			"the data set is cut off after line %d; nothing was imported", scan.Lines())
	}
	return fault.Wrap(fault.InvalidRequest, "import", err, "line %d of the data set: %v; nothing was imported", scan.Lines(), err)
}

func (in *receiver) handleLine(ctx context.Context, scan *dataset.Scan, l *dataset.Line) error {
	switch l.Kind {
	case dataset.KindHeader, dataset.KindOrganization, dataset.KindTrailer:
	case dataset.KindPartition:
		if in.opened || scan.Open.Memories() {
			return fmt.Errorf("a namespace is imported alone, and here comes %s; mneme import takes a whole data set", scan.Open)
		}
		in.opened = true
	case dataset.KindNamespace:
		if err := l.Decode(&in.out.row); err != nil {
			return scan.Damage(err)
		}
		if in.how.Embedder != "" {
			in.out.row.Embedder = in.how.Embedder
		}
		return in.checkHeader(ctx)
	case dataset.KindDocument:
		var d dataset.Document
		if err := l.Decode(&d); err != nil {
			return scan.Damage(err)
		}
		if err := in.check(&d); err != nil {
			return err
		}
		in.heads = append(in.heads, head{d.ID, d.TextHash, d.MetadataHash})
		if len(in.heads) == compareRows {
			return in.compare(ctx)
		}
	case dataset.KindEnd:
		if err := l.Decode(&in.out.end); err != nil {
			return scan.Damage(err)
		}
	default:
		return fmt.Errorf("a namespace is imported alone, and here comes a line of kind %s; mneme import takes a whole data set",
			l.Kind)
	}
	return ctx.Err()
}

// checkHeader refuses a data set as early as possible, before any document is read.
func (in *receiver) checkHeader(ctx context.Context) error {
	return in.s.store.View(ctx, func(r dataset.Reader) error {
		n, exists, err := in.s.target(ctx, r, in.p, in.out.row)
		if err != nil {
			return err
		}
		if asked := in.how.Embedder; exists && asked != "" && asked != n.Embedder {
			return fault.New(fault.Conflict, "namespace %q exists with the embedding model %s; the import asks for %s, which "+
				"reindexing can give it", in.p.Name(), n.EmbeddingModel, asked)
		}
		if n.Documents == 0 {
			n = in.s.withCurrentModels(n)
		}
		if reusable(in.out.row, n) {
			return nil
		}
		return in.s.encoders.For(n).Ready(n.Sparse)
	})
}

// check applies the rules of a write to a document, and checks that its parts agree.
func (in *receiver) check(d *dataset.Document) error {
	at := "document " + fault.Clip(d.ID)
	switch {
	case !ident.ValidDocumentID(d.ID):
		return fault.New(fault.InvalidID, "the id %q of a document %s; nothing was imported", fault.Clip(d.ID),
			ident.DocumentIDRule)
	case d.ID <= in.last:
		return fmt.Errorf("%s stands after %s: documents stand in the order of their ids, each once", at, fault.Clip(in.last))
	case len(d.Text) > maxText:
		return fault.New(fault.PayloadTooLarge,
			"the text of %s is %d bytes and at most %d are allowed; nothing was imported", at, len(d.Text), maxText)
	case strings.IndexByte(d.Text, 0) >= 0 || !utf8.ValidString(d.Text):
		return fmt.Errorf("the text of %s holds a NUL character or is not valid UTF-8", at)
	case sha256.Sum256([]byte(d.Text)) != d.TextHash:
		return fmt.Errorf("the text of %s does not have its hash", at)
	case d.Container != "" || d.ContentKey != dataset.Digest{} || d.Source != "" || d.ExternalID != "":
		return fmt.Errorf("%s has fields of a memory", at)
	}
	in.last = d.ID
	m, err := filter.ParseMetadata("metadata of "+at, d.Metadata)
	if err != nil {
		return err
	}
	if m.Hash() != d.MetadataHash {
		return fmt.Errorf("the metadata of %s does not have its hash", at)
	}
	w, _, err := d.Write()
	if err == nil {
		err = dataset.CheckVectors(&w, in.out.row)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// compare looks for stored documents with other contents. Those written while the
// data set is received are found when it is stored.
func (in *receiver) compare(ctx context.Context) error {
	ids := make([]string, len(in.heads))
	for i, h := range in.heads {
		ids[i] = h.id
	}
	var there []port.DocumentHead
	err := in.s.store.View(ctx, func(r dataset.Reader) (err error) {
		there, err = r.Documents(ctx, in.p, ids, 0)
		return ignoreAbsent(err)
	})
	if err != nil {
		return err
	}
	at := 0
	for _, h := range there {
		for in.heads[at].id != h.ID {
			at++
		}
		if other := h.TextHash != in.heads[at].text || h.MetadataHash != in.heads[at].meta; other {
			if err := checkPolicy(in.how.Policy, h); err != nil {
				err.Message += "; nothing was imported"
				return err
			}
		}
	}
	in.heads = in.heads[:0]
	return nil
}

// ignoreAbsent is nil where there is no namespace yet.
func ignoreAbsent(err error) error {
	if fault.IsPartitionNotFound(err) {
		return nil
	}
	return err
}
