package directory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/core/port"
)

const (
	maxDepth = 100       // folders below each other, each held open
	maxNames = 1_000_000 // in one folder, held in memory to be put in order
	maxLinks = 1_000     // to folders, in one listing: their subtrees multiply
	stride   = 500       // items from one checkpoint to the next
	// young is how old a change has to be for its time to tell it from the next one.
	young = 2 * time.Second
)

// version tells one content of a file from another. A file that changed just now can
// change again without a sign of it in size and time; its content decides.
func (c *Connector) version(info fs.FileInfo, content []byte) string {
	v := fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano())
	if c.now().Sub(info.ModTime()) >= young {
		return v
	}
	sum := sha256.Sum256(content)
	return v + "-" + hex.EncodeToString(sum[:16])
}

// List lists the folder in order of paths.
func (c *Connector) List(ctx context.Context, conn port.Connection, state []byte, l port.SourceListing) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := c.must(conn)
	if err != nil {
		return err
	}
	defer f.Close()
	w := &walk{c: c, folder: f, listing: l, cursor: source.ParseCursor(state, conn.Config)}
	after := strings.Split(string(w.cursor.After), "/") // of none: a name that is before all others
	top, err := f.Stat(".")
	if err != nil {
		return c.explain(err)
	}
	if err := w.dir(ctx, f.Root, "", after, []fs.FileInfo{top}); err != nil {
		return err
	}
	return l.Complete(ctx, true)
}

// walk is one listing.
type walk struct {
	c       *Connector
	folder  *folder
	listing port.SourceListing
	cursor  source.Cursor
	since   int // items since the last checkpoint
	links   int // to folders, that were followed
}

// dir lists an open folder and those below. Of what it holds, names up to after's first
// were listed before, but for the rest of after's way. Above are the folders that it
// lies in, and itself.
func (w *walk) dir(ctx context.Context, root *os.Root, path string, after []string, above []fs.FileInfo) error {
	entries, err := w.entries(ctx, root, path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		var rest []string
		if len(after) > 0 {
			switch order := strings.Compare(e.name, after[0]); {
			case order < 0, order == 0 && len(after) == 1 && !e.dir: // a folder has taken the place of the last item
				continue
			case order == 0:
				rest = after[1:]
			}
		}
		if err := w.entry(ctx, root, join(path, e.name), e, rest, above); err != nil {
			return err
		}
	}
	return nil
}

// entry is what a folder said that it holds.
type entry struct {
	name string
	dir  bool
}

// entries are those of a folder, in order of names.
func (w *walk) entries(ctx context.Context, root *os.Root, path string) ([]entry, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, w.part(ctx, path, err)
	}
	defer dir.Close()
	var entries []entry
	for {
		some, err := dir.ReadDir(1000)
		for _, e := range some {
			entries = append(entries, entry{e.Name(), e.IsDir()})
		}
		switch {
		case isEOF(err):
			slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
			return entries, nil
		case err == nil && len(entries) > maxNames:
			err = port.SourceErrorf(port.SourceTooLarge, nil, "it holds more than %d files and folders", maxNames)
		case err == nil:
			err = ctx.Err()
		}
		if err != nil {
			return nil, w.part(ctx, path, err)
		}
	}
}

// part says that a folder could not be listed: a problem, or the listing's end where it
// is the source's own.
func (w *walk) part(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if path == "" {
		return w.c.explain(err)
	}
	p := port.SourceProblem{Path: source.Name(path), Code: port.SourceUnavailable, Message: "the folder can't be listed"}
	var known *port.SourceError
	switch {
	case errors.As(err, &known):
		p.Code, p.Message = known.Code, known.Message
	case errors.Is(err, fs.ErrNotExist): // it may have moved to where the listing has been
		p.Message = "the folder went away while it was listed"
	case errors.Is(err, fs.ErrPermission):
		p.Code, p.Message = port.SourceForbidden, "the server may not read the folder"
	}
	return w.listing.Problem(ctx, p)
}

// entry lists what an open folder said that it holds.
func (w *walk) entry(ctx context.Context, root *os.Root, path string, e entry, after []string, above []fs.FileInfo) error {
	info, err := root.Lstat(e.name)
	if errors.Is(err, fs.ErrNotExist) && !e.dir {
		return nil
	}
	if err == nil && e.dir && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		if e.dir && !w.folder.filter.Folder(path) {
			return nil
		}
		return w.part(ctx, path, err)
	}
	open := func() (*os.Root, error) { return root.OpenRoot(e.name) }
	if info.Mode()&fs.ModeSymlink != 0 {
		if !w.folder.follow || !w.folder.filter.File(path) && !w.folder.filter.Folder(path) {
			return nil
		}
		// A link is followed from the source's own folder: that is what it may not leave.
		target, err := w.folder.Stat(path)
		circle := func(f fs.FileInfo) bool { return os.SameFile(f, target) }
		if err != nil || target.IsDir() && (w.links == maxLinks || slices.ContainsFunc(above, circle)) {
			return w.item(ctx, path, info) // to be named: reading it says what is wrong
		}
		if info = target; info.IsDir() {
			w.links++
			open = func() (*os.Root, error) { return w.folder.OpenRoot(path) }
		}
	}
	switch {
	case info.IsDir() && !w.folder.filter.Folder(path):
		return nil
	case info.IsDir():
		return w.enter(ctx, open, path, info, after, above)
	case info.Mode().IsRegular():
		return w.item(ctx, path, info)
	default: // a pipe, a socket, a device
		return nil
	}
}

// enter lists a folder below.
func (w *walk) enter(
	ctx context.Context, open func() (*os.Root, error), path string, info fs.FileInfo, after []string, above []fs.FileInfo,
) error {
	if len(above) > maxDepth {
		return w.part(ctx, path, port.SourceErrorf(port.SourceTooLarge, nil, "it lies more than %d folders deep", maxDepth))
	}
	root, err := open()
	if err != nil {
		return w.part(ctx, path, err)
	}
	defer root.Close()
	now, err := root.Stat(".")
	if err == nil && !os.SameFile(now, info) { // a link has taken its place
		err = fs.ErrNotExist
	}
	if err != nil {
		return w.part(ctx, path, err)
	}
	return w.dir(ctx, root, path, after, append(slices.Clip(above), now))
}

// item lists a file.
func (w *walk) item(ctx context.Context, path string, info fs.FileInfo) error {
	if !w.folder.filter.File(path) {
		return nil
	}
	called := w.folder.composed(path)
	item := port.SourceItem{
		Key:      source.Key(called),
		Version:  fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano()),
		Name:     source.Name(called),
		Size:     info.Size(),
		Modified: info.ModTime(),
	}
	if w.c.now().Sub(info.ModTime()) < young && info.Mode().IsRegular() && info.Size() <= w.c.maxItem {
		// The version is that of the content; what can't be read now says so when it is fetched.
		if _, version, err := w.c.read(ctx, w.folder, path); err == nil {
			item.Version = version
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := w.listing.Item(ctx, item); err != nil {
		return err
	}
	if w.since++; w.since < stride {
		return nil
	}
	w.since = 0
	w.cursor.After = []byte(path)
	return w.listing.Checkpoint(ctx, w.cursor.State())
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }
