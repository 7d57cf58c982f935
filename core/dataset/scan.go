package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Scan reads lines, checks their hashes and keeps to their order.
type Scan struct {
	Header Header
	Place  Place
	Open   *Partition // the partition whose lines come; nil: none
	Done   bool       // the trailer was read
	Counts Counts     // of the open partition

	r   lineReader
	sum hash.Hash // over the lines of the open partition
}

// Place is how far a data set was read.
type Place struct {
	Organization ident.Org      // whose lines come
	Partition    port.Partition // the last whole one; "" as its name: none
	Counts       Counts         // of whole partitions, and of what stands beside them
}

// NewScan reads a data set from r.
func NewScan(r io.Reader) *Scan {
	return &Scan{r: lineReader{r: bufio.NewReaderSize(r, 256<<10), limit: maxLine}, sum: sha256.New()}
}

// LimitLines refuses lines of more than a number of bytes. A text of 256 KiB with
// all its vectors takes a few MiB, and may take 256 MiB, which is the limit otherwise.
func (s *Scan) LimitLines(bytes int) { s.r.limit = bytes }

// Lines is how many were read.
func (s *Scan) Lines() int64 { return s.r.lines }

// Chain is the running hash of the lines read so far, as the last of them has it.
func (s *Scan) Chain() string { return encoding.EncodeToString(s.r.chain[:]) }

// Unread is how many bytes are buffered and not yet read.
func (s *Scan) Unread() int { return s.r.r.Buffered() }

// Reset reads what follows from another reader.
func (s *Scan) Reset(r io.Reader) { s.r.r.Reset(r) }

// Next reads a line and checks its place in the order; io.EOF at the end of the
// input, which is the end of the data set if Done is true. Errors:
// *Damaged; ErrCut inside one when the last line is not whole.
func (s *Scan) Next() (Line, error) {
	l, err := s.r.next()
	if err != nil {
		return l, err
	}
	if s.Done {
		return l, s.r.damaged("it comes after the trailer")
	}
	if (s.r.lines == 1) != (l.Kind == KindHeader) {
		return l, s.r.damaged("a data set begins with its header, and has one")
	}
	total := &s.Place.Counts
	inside := true
	switch l.Kind {
	case KindHeader:
		inside = false
		// A later version may have other fields: its number is read first.
		var version struct {
			Format  string `json:"format"`
			Version int    `json:"version"`
		}
		if err := json.Unmarshal(l.Data, &version); err != nil || version.Format != Format {
			return l, s.r.damaged("it is not the header of a data set")
		}
		if version.Version != Version {
			return l, fmt.Errorf("the data set has version %d; this program reads version %d", version.Version, Version)
		}
		if err = l.Decode(&s.Header); err == nil && !validID(s.Header.ID) {
			err = errors.New("its id is not one of a data set: set_ and 24 hexadecimal digits")
		}
	case KindOrganization:
		inside = false
		total.Organizations++
		var o Organization
		err = l.Decode(&o)
		s.Place.Organization = o.ID
	case KindIntegration:
		inside = false
		total.Integrations++
	case KindKey:
		inside = false
		total.Keys++
	case KindOperation:
		inside = false
		total.Operations++
	case KindSecret:
		inside = false
		total.Secrets++
	case KindPartition:
		inside = false
		var p Partition
		if err = l.Decode(&p); err == nil {
			err = p.valid(s.Place.Organization)
		}
		if s.Open == nil {
			s.Open, s.Counts = &p, Counts{}
			s.sum.Reset()
			return l, s.Damage(err)
		}
	case KindNamespace:
		if s.Open != nil && s.Open.Memories() {
			s.Counts.EndUsers++
		} else {
			s.Counts.Namespaces++
		}
	case KindDocument:
		s.Counts.Documents++
	case KindLink:
		s.Counts.Links++
	case KindRecord:
		s.Counts.Records++
	case KindReceipt:
		s.Counts.Receipts++
	case KindReplay:
		s.Counts.Replays++
	case KindEnd:
		if s.Open == nil {
			break
		}
		var e End
		if err = l.Decode(&e); err == nil {
			s.Counts.Chunks, s.Counts.Bytes = e.Counts.Chunks, e.Counts.Bytes
			if s.Counts != e.Counts {
				err = errors.New("the counts do not fit what came before")
			} else if Digest(s.sum.Sum(nil)) != e.Hash {
				err = fmt.Errorf("the hash of %s does not fit its lines", s.Open)
			}
		}
		total.Add(e.Counts)
		s.Place.Partition = s.Open.Of(s.Open.Organization, s.Open.Integration)
		s.Open = nil
		return l, s.Damage(err)
	case KindTrailer:
		inside = false
		var t Trailer
		if err = l.Decode(&t); err == nil && (t.Counts != *total || t.Lines != s.r.lines-1) {
			err = errors.New("its counts do not fit what came before")
		}
		s.Done = true
	case KindError:
		var f Failure
		if err = l.Decode(&f); err == nil {
			err = fmt.Errorf("the export failed here: %s (%s)", f.Message, f.Code)
		}
		return l, s.Damage(err)
	default:
		return l, s.r.damaged("a line of kind %q is not known", l.Kind)
	}
	if err == nil && inside != (s.Open != nil) {
		err = fmt.Errorf("a line of kind %s may not stand here", l.Kind)
	}
	if s.Open != nil {
		_, _ = s.sum.Write(l.Hash[:]) // never fails
	}
	return l, s.Damage(err)
}

// Damage wraps an error about the line that was read last in a *Damaged; nil stays nil.
func (s *Scan) Damage(err error) error {
	if err == nil {
		return nil
	}
	return s.r.damaged("%v", err)
}

// Whole returns an error unless the trailer was read. Call it at the end.
func (s *Scan) Whole() error {
	if s.Done {
		return nil
	}
	return fmt.Errorf("%w after line %d: the last line is no trailer", ErrCut, s.r.lines)
}
