package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/core/port"
)

// limits of what is fetched.
type limits struct {
	pack   int64 // bytes, as sent
	object int64 // bytes of one, expanded: the library has some of them in memory
	item   int64 // bytes of a file that is read
}

const (
	maxObjects = 1_000_000 // of a pack; each takes some 300 bytes of memory
	maxExpand  = 16        // times the most that may be sent, all objects together
	cacheBytes = 16 << 20  // of a clone's objects that are kept in memory
)

// clone is a commit's files, in one pack.
type clone struct {
	commit   string
	root     plumbing.Hash // of its tree
	filtered bool          // without the blobs that are too large
	limits   limits
	file     packFile

	mu    sync.Mutex // the library reads one object at a time
	index *idxfile.MemoryIndex
	pack  *packfile.Packfile

	// Of the connector's lock:
	c    *Connector
	uses int
	old  bool // to be closed with the last use
}

// slot is where a source's clone is kept.
type slot struct {
	fetching chan struct{} // holds one: a clone is made at a time
	// Of the connector's lock:
	waiting int
	clone   *clone
	timer   *time.Timer
}

// packFile is a file as the library takes it.
type packFile struct{ *os.File }

func (packFile) Lock() error   { return nil }
func (packFile) Unlock() error { return nil }

// key names a source with its configuration: what one may see is not shown to another.
func key(conn port.Connection) string {
	h := sha256.New()
	secrets, err := json.Marshal(conn.Secrets) // in order of names
	if err != nil {
		panic("git: " + err.Error()) // strings always have a JSON form
	}
	fmt.Fprintf(h, "%q %q %q", conn.Source, conn.Config, secrets)
	return hex.EncodeToString(h.Sum(nil))
}

// kept is a source's clone, if there is one; it is to be released.
func (c *Connector) kept(conn port.Connection) *clone {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.use(c.clones[key(conn)])
}

// use counts a use of a slot's clone and puts its end off. The connector is locked.
func (c *Connector) use(s *slot) *clone {
	if s == nil || s.clone == nil {
		return nil
	}
	s.clone.uses++
	s.timer.Reset(c.keep)
	return s.clone
}

// release ends a use.
func (cl *clone) release() {
	cl.c.mu.Lock()
	defer cl.c.mu.Unlock()
	cl.uses--
	cl.end()
}

// end closes a clone that is old and not in use. The connector is locked.
func (cl *clone) end() {
	if cl.old && cl.uses == 0 {
		discard(cl.file.File)
	}
}

// discard closes a file that nobody is to have after that.
func discard(f *os.File) {
	f.Close()
	_ = os.Remove(f.Name()) // gone already, where a file that is open can go
}

// drop gives up a slot's clone. The connector is locked.
func (c *Connector) drop(k string, s *slot) {
	if s.clone != nil {
		s.timer.Stop()
		s.clone.old = true
		s.clone.end()
		s.clone = nil
	}
	if s.waiting == 0 {
		delete(c.clones, k)
	}
}

// keepClone puts a clone into a slot, for as long as it is used, and gives the first use.
func (c *Connector) keepClone(k string, s *slot, cl *clone) *clone {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(k, s)
	s.clone = cl
	s.timer = time.AfterFunc(c.keep, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if s.clone == cl {
			c.drop(k, s)
		}
	})
	return c.use(s)
}

// fetch brings the commit of a repository here, unless same says of it that nobody wants
// it; without same, whatever commit is kept will do. The clone is to be released; there
// is none of an empty repository or of a commit that is not wanted.
func (c *Connector) fetch(
	ctx context.Context, conn port.Connection, r *repository, same func(commit string) bool,
) (cl *clone, commit string, err error) {
	k := key(conn)
	c.mu.Lock()
	s := c.clones[k]
	if s == nil {
		s = &slot{fetching: make(chan struct{}, 1)}
		c.clones[k] = s
	}
	s.waiting++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if s.waiting--; s.waiting == 0 && s.clone == nil {
			delete(c.clones, k)
		}
	}()
	select {
	case s.fetching <- struct{}{}:
		defer func() { <-s.fetching }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	if same == nil {
		if cl = c.kept(conn); cl != nil {
			return cl, cl.commit, nil
		}
	}
	err = c.watched(ctx, func(ctx context.Context, heard func()) error {
		talk, err := r.dial(ctx, heard)
		if err != nil {
			return err
		}
		defer talk.Close()
		if commit, err = resolve(talk.refs(), r.Ref); err != nil {
			return err
		}
		if commit == "" || same != nil && same(commit) {
			return nil
		}
		if cl = c.kept(conn); cl != nil && cl.commit == commit {
			return nil
		}
		if cl != nil {
			cl.release()
		}
		if cl, err = c.clone(ctx, talk, commit, heard); err != nil {
			return err
		}
		cl = c.keepClone(k, s, cl)
		return nil
	})
	if errors.Is(err, errNoRef) {
		err = port.SourceErrorf(port.SourceNotFound, nil, "the repository has no branch or tag of this name")
	}
	if err != nil {
		return nil, "", err
	}
	return cl, commit, nil
}

// clone makes a clone of a commit.
func (c *Connector) clone(ctx context.Context, talk session, commit string, heard func()) (*clone, error) {
	request, filtered := ask(talk.refs(), commit, c.limits.item)
	var body bytes.Buffer
	if err := encode(&body, request); err != nil {
		return nil, err
	}
	answer, err := talk.pack(ctx, &body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	pack, err := openPack(answer, request)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(c.dir, "mneme-git-*.pack")
	if err != nil {
		return nil, noRoom(err)
	}
	_ = os.Remove(f.Name()) // where that can be done, it goes with this process, however that ends
	cl := &clone{commit: commit, filtered: filtered, limits: c.limits, file: packFile{f}, c: c}
	if err := cl.read(ctx, pack, heard); err != nil {
		discard(f)
		return nil, err
	}
	return cl, nil
}

func noRoom(err error) error {
	return port.SourceErrorf(port.SourceUnavailable, err, "the server has no room for the repository's files")
}

// read takes a pack in and makes an index of it.
func (cl *clone) read(ctx context.Context, pack io.Reader, heard func()) error {
	n, err := io.Copy(&spool{cl.file.File}, io.LimitReader(pack, cl.limits.pack+1))
	switch {
	case n > cl.limits.pack:
		return port.SourceErrorf(port.SourceTooLarge, nil, "the commit takes more than %d bytes", cl.limits.pack)
	case err != nil:
		return err
	}
	return contained(func() error {
		if err := cl.measure(ctx, heard); err != nil {
			return err
		}
		return cl.open(ctx, heard)
	})
}

// spool writes a pack; its errors are those of this machine.
type spool struct{ f *os.File }

func (s *spool) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	if err != nil {
		err = noRoom(err)
	}
	return n, err
}

// contained makes a panic of the library an error.
func contained(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = broken(fmt.Errorf("panic: %v", p))
		}
	}()
	return do()
}

func broken(err error) error {
	return port.SourceErrorf(port.SourceUnavailable, err, "the repository's files come damaged")
}

// reading is a file that ends with a context. It keeps a watch quiet: what takes time
// here is not the server.
type reading struct {
	ctx   context.Context
	heard func()
	*io.SectionReader
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	r.heard()
	return r.SectionReader.Read(p)
}

func (cl *clone) reading(ctx context.Context, heard func()) (reading, error) {
	info, err := cl.file.Stat()
	if err != nil {
		return reading{}, noRoom(err)
	}
	return reading{ctx, heard, io.NewSectionReader(cl.file, 0, info.Size())}, nil
}

// measure refuses a pack that expands beyond the limits. It holds nothing of it.
func (cl *clone) measure(ctx context.Context, heard func()) error {
	r, err := cl.reading(ctx, heard)
	if err != nil {
		return err
	}
	s := packfile.NewScanner(r)
	_, n, err := s.Header()
	if err != nil {
		return broken(err)
	}
	if n > maxObjects {
		return port.SourceErrorf(port.SourceTooLarge, nil, "the commit has more than %d files and folders", maxObjects)
	}
	var all int64
	for range n {
		h, err := s.NextObjectHeader()
		if err != nil {
			return broken(err)
		}
		head := beginning{}
		if h.Length <= cl.limits.object { // else it is refused below, unread
			if _, _, err = s.NextObject(&head); err != nil {
				return broken(err)
			}
		}
		size := h.Length
		if h.Type == plumbing.OFSDeltaObject || h.Type == plumbing.REFDeltaObject {
			size = max(size, head.target())
		}
		if size > cl.limits.object || size < 0 {
			return port.SourceErrorf(port.SourceTooLarge, nil, "the commit has a file of more than %d bytes", cl.limits.object)
		}
		if all += size; all > maxExpand*cl.limits.pack {
			return port.SourceErrorf(port.SourceTooLarge, nil, "the commit's files have more than %d bytes",
				maxExpand*cl.limits.pack)
		}
	}
	return nil
}

// beginning keeps the first bytes that are written to it.
type beginning struct {
	b [20]byte
	n int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.n += copy(b.b[b.n:], p)
	return len(p), nil
}

// target is the size that a delta says its result has: the second of two numbers of
// seven bits a byte, the low ones first.
func (b *beginning) target() int64 {
	var numbers [2]uint64
	rest := b.b[:b.n]
	for i := range numbers {
		n, used := binary.Uvarint(rest)
		if used <= 0 {
			return -1
		}
		numbers[i], rest = n, rest[used:]
	}
	return int64(min(numbers[1], math.MaxInt64))
}

// open makes the index.
func (cl *clone) open(ctx context.Context, heard func()) error {
	r, err := cl.reading(ctx, heard)
	if err != nil {
		return err
	}
	var w idxfile.Writer
	parser, err := packfile.NewParser(packfile.NewScanner(r), &w)
	if err != nil {
		return broken(err)
	}
	if _, err := parser.Parse(); err != nil {
		return broken(err)
	}
	if cl.index, err = w.Index(); err != nil {
		return broken(err)
	}
	cl.pack = packfile.NewPackfileWithCache(cl.index, nil, cl.file, cache.NewObjectLRU(cacheBytes), 0)
	head, err := cl.object(plumbing.NewHash(cl.commit), plumbing.CommitObject)
	if err != nil {
		return err
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	tree, ok := bytes.CutPrefix(line, []byte("tree "))
	if !ok || !plumbing.IsHash(string(tree)) {
		return broken(errors.New("a commit without a tree"))
	}
	cl.root = plumbing.NewHash(string(tree))
	return nil
}

var errMissing = errors.New("git: an object is missing")

// object reads an object of a type, which is within the limits.
func (cl *clone) object(h plumbing.Hash, want plumbing.ObjectType) (content []byte, err error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	err = contained(func() error {
		if ok, err := cl.index.Contains(h); err != nil || !ok {
			return broken(errors.Join(errMissing, err))
		}
		o, err := cl.pack.Get(h)
		if err != nil {
			return broken(err)
		}
		if o.Type() != want {
			return broken(fmt.Errorf("a %s in the place of a %s", o.Type(), want))
		}
		r, err := o.Reader()
		if err != nil {
			return broken(err)
		}
		defer r.Close()
		if content, err = io.ReadAll(r); err != nil {
			return broken(err)
		}
		return nil
	})
	return content, err
}

// blob reads a file.
func (cl *clone) blob(ctx context.Context, h plumbing.Hash) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var size int64
	cl.mu.Lock()
	err := contained(func() error {
		offset, err := cl.index.FindOffset(h)
		if err == nil {
			size, err = cl.pack.GetSizeByOffset(offset)
		}
		return err
	})
	cl.mu.Unlock()
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound) && cl.filtered, size > cl.limits.item:
		return nil, source.TooLarge(cl.limits.item)
	case err != nil:
		return nil, broken(err)
	}
	content, err := cl.object(h, plumbing.BlobObject)
	return content, err
}
