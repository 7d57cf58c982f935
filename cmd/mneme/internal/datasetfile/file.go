package datasetfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
)

// partSuffix names the file of an export that has not ended.
const partSuffix = ".part"

// memberSize is about how much of a compressed file is lost at most when the
// export stops: a new member begins at the next end of a partition.
const memberSize = 4 << 20

// Written is what an export has made.
type Written struct {
	Counts  dataset.Counts
	Lines   int64
	Chain   string // the running hash of all lines
	Resumed bool   // it went on where an earlier one had stopped
}

// Export exports to a file, by way of one with ".part" at its end, which is all
// that a stopped export leaves behind. With resume it goes on after the last
// whole partition of that one; without, it starts over. A file whose name ends in
// .gz is compressed. An existing file is an error. A signature of sign, if it is not nil, stands
// beside the file when it has its name.
func Export(ctx context.Context, x *installation.Exporter, path string, resume bool, sign *Signer) (out Written, err error) {
	defer func() { err = explain(path, err) }()
	if err := checkFree(path); err != nil {
		return out, err
	}
	h, err := x.Plan(ctx)
	if err != nil {
		return out, err
	}
	flags := os.O_CREATE | os.O_RDWR
	if !resume {
		flags |= os.O_TRUNC
	}
	f, err := disk.OpenPrivate(path+partSuffix, flags)
	if err != nil {
		return out, fmt.Errorf("write the data set: %w", err)
	}
	defer func() { err = errors.Join(err, closeOnce(f)) }()
	w := newFileWriter(f, strings.HasSuffix(path, ".gz"))
	var from *dataset.Place
	if resume {
		var before dataset.Header
		if before, from, err = w.resume(); err != nil {
			return out, fmt.Errorf("%s%s: %w", path, partSuffix, err)
		}
		if from != nil {
			if !reflect.DeepEqual(before.Contents, h.Contents) {
				return out, fmt.Errorf("%s%s was begun with other options; give the same ones, or leave --resume out to "+
					"start over", path, partSuffix)
			}
			h, out.Resumed = before, true
		}
	}
	out.Counts, err = x.Write(ctx, h, w, from)
	out.Lines, out.Chain = w.Lines(), w.Chain()
	if err = errors.Join(err, w.close()); err != nil {
		return out, err
	}
	return out, complete(f, path, out.Chain, sign)
}

// Receive writes a data set that comes as a stream to a file as Export does, and
// checks it on the way: what is not whole, or not as it was written, leaves the
// file with ".part" at its end. progress gets the number of documents received so far.
func Receive(r io.Reader, path string, sign *Signer, progress func(done, total int64)) (out Written, err error) {
	defer func() { err = explain(path, err) }()
	if err := checkFree(path); err != nil {
		return out, err
	}
	f, err := disk.OpenPrivate(path+partSuffix, os.O_CREATE|os.O_TRUNC|os.O_RDWR)
	if err != nil {
		return out, fmt.Errorf("write the data set: %w", err)
	}
	defer func() { err = errors.Join(err, closeOnce(f)) }()
	w := newFileWriter(f, strings.HasSuffix(path, ".gz"))
	if out, err = Check(io.TeeReader(r, &w.written), progress); err != nil {
		return out, errors.Join(err, w.close())
	}
	if err := w.close(); err != nil {
		return out, err
	}
	return out, complete(f, path, out.Chain, sign)
}

// Check reads a data set to its end and answers what it holds. Errors:
// *dataset.Damaged, naming the line, when it is not as it was written.
func Check(r io.Reader, progress func(done, total int64)) (out Written, err error) {
	s := dataset.NewScan(r)
	for {
		l, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
		if l.Kind == dataset.KindDocument {
			progress(s.Place.Counts.Documents+s.Counts.Documents, s.Header.Planned.Documents)
		}
	}
	out.Counts, out.Lines, out.Chain = s.Place.Counts, s.Lines(), s.Chain()
	return out, s.Whole()
}

// checkFree refuses a path that is taken.
func checkFree(path string) error {
	_, err := os.Stat(path)
	if err == nil {
		return fmt.Errorf("%s exists already; remove it, or choose another file", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("write the data set: %w", err)
}

// explain adds what to do about a file that can't be written.
func explain(path string, err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) || !strings.HasPrefix(at.Path, path) {
		return err
	}
	remedy := ""
	switch {
	case disk.Full(err):
		remedy = "make room, or name a file on another disk"
	case disk.ReadOnly(err):
		remedy = "name a file on a disk that can be written"
	case errors.Is(err, fs.ErrPermission):
		remedy = "name a file that this user may write"
	case errors.Is(err, fs.ErrNotExist):
		remedy = "make its folder first, or name another file"
	case errors.Is(err, syscall.ENOTDIR):
		remedy = "it would lie below a file; name another"
	default:
		return err
	}
	return fmt.Errorf("%w; %s", err, remedy)
}

// closeOnce closes a file that may be closed already.
func closeOnce(f *os.File) error {
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

// complete gives a whole file its name, after its signature if it gets one, and closes it
// before: Windows renames no file that is open.
func complete(f *os.File, path, chain string, sign *Signer) error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the data set: %w", err)
	}
	if sign != nil {
		if err := sign.write(path, chain); err != nil {
			return err
		}
	}
	if err := disk.OS().Rename(path+partSuffix, path); err != nil {
		return fmt.Errorf("write the data set: %w", err)
	}
	return disk.OS().SyncDir(filepath.Dir(path))
}

// fileWriter is an installation.Sink over a file.
type fileWriter struct {
	*dataset.Writer
	file     *os.File
	buffered *bufio.Writer
	zip      *gzip.Writer // nil: not compressed
	written  counter      // before compression
	member   int64        // written when the member began
}

// counter counts bytes on their way.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

func newFileWriter(f *os.File, compressed bool) *fileWriter {
	w := &fileWriter{file: f, buffered: bufio.NewWriterSize(f, 256<<10)}
	w.written.w = w.buffered
	if compressed {
		// Vectors and hashes hardly shrink; slower levels gain a few percent.
		w.zip, _ = gzip.NewWriterLevel(w.buffered, gzip.BestSpeed) // the level is valid
		w.written.w = w.zip
	}
	w.Writer = dataset.NewWriter(&w.written)
	return w
}

func (w *fileWriter) Boundary() error {
	if w.zip == nil || w.written.n-w.member < memberSize {
		return nil
	}
	if err := w.zip.Close(); err != nil {
		return fmt.Errorf("write the data set: %w", err)
	}
	w.zip.Reset(w.buffered)
	w.member = w.written.n
	return nil
}

func (w *fileWriter) close() error {
	var err error
	if w.zip != nil {
		err = w.zip.Close()
	}
	if err = errors.Join(err, w.buffered.Flush()); err != nil {
		return fmt.Errorf("write the data set: %w", err)
	}
	return nil
}

// resume finds the last boundary of an unfinished data set and cuts off what
// comes after it. from is nil when there is none and everything starts over.
func (w *fileWriter) resume() (h dataset.Header, from *dataset.Place, err error) {
	var at int64
	if w.zip == nil {
		at, err = w.resumePlain(&h, &from)
	} else {
		at, err = w.resumeZip(&h, &from)
	}
	if err != nil {
		return h, nil, err
	}
	if err := w.file.Truncate(at); err != nil {
		return h, nil, fmt.Errorf("cut off the last part: %w", err)
	}
	if _, err := w.file.Seek(at, io.SeekStart); err != nil {
		return h, nil, fmt.Errorf("go to the end: %w", err)
	}
	return h, from, nil
}

// mark records that everything read so far is good.
func (w *fileWriter) mark(s *dataset.Scan, from **dataset.Place) {
	p := s.Place
	*from = &p
	w.Continue(s)
}

func (w *fileWriter) resumePlain(h *dataset.Header, from **dataset.Place) (at int64, err error) {
	in := &byteCounter{r: bufio.NewReaderSize(w.file, 256<<10)}
	s := dataset.NewScan(in)
	for {
		l, err := s.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, dataset.ErrCut):
			return at, nil
		case err != nil:
			return 0, err
		case l.Kind == dataset.KindHeader:
			*h = s.Header
		case l.Kind == dataset.KindEnd:
			at = in.n - int64(s.Unread())
			w.mark(s, from)
		}
	}
}

// resumeZip keeps whole members: each ends with a partition.
func (w *fileWriter) resumeZip(h *dataset.Header, from **dataset.Place) (at int64, err error) {
	in := &byteCounter{r: bufio.NewReaderSize(w.file, 256<<10)}
	var s *dataset.Scan
	zip, err := gzip.NewReader(in)
	for {
		if err != nil { // the end, or a member whose beginning is cut off
			return at, nil
		}
		zip.Multistream(false)
		if s == nil {
			s = dataset.NewScan(zip)
		} else {
			s.Reset(zip)
		}
		whole := false
		for {
			l, err := s.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if errors.Is(err, dataset.ErrCut) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
				return at, nil
			}
			if err != nil {
				return 0, err
			}
			if l.Kind == dataset.KindHeader {
				*h = s.Header
			}
			whole = l.Kind == dataset.KindEnd
		}
		if !whole {
			return at, nil
		}
		at = in.n
		w.mark(s, from)
		err = zip.Reset(in)
	}
}

// byteCounter counts what is taken from a buffer, byte for byte: a decompressor
// reads no further than its member.
type byteCounter struct {
	r *bufio.Reader
	n int64
}

func (c *byteCounter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *byteCounter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// OpenFile opens a data set. It decompresses by what the file begins with.
func OpenFile(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReaderSize(f, 256<<10)
	if magic, _ := buffered.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return opened{buffered, f}, nil
	}
	zip, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return opened{zip, f}, nil
}

type opened struct {
	io.Reader
	io.Closer
}

// IsDataSet reports whether a file begins as a data set does.
func IsDataSet(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := OpenFile(path)
	if err != nil {
		return false
	}
	defer f.Close()
	want := `{"type":"` + dataset.KindHeader + `","data":{"format":"` + dataset.Format + `",`
	got := make([]byte, len(want))
	_, err = io.ReadFull(f, got)
	return err == nil && string(got) == want
}
