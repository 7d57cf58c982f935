package git

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/core/port"
)

const (
	maxDepth = 100       // folders below each other
	maxTrees = 1_000_000 // folders and files of a listing: a small pack can name the same ones over and over
	stride   = 500       // items from one checkpoint to the next
)

// kind is what an entry of a tree is.
type kind int

const (
	other kind = iota // a symbolic link
	file
	folder
	submodule
)

// entry is one of a tree.
type entry struct {
	kind kind
	name string
	hash plumbing.Hash
}

// version tells one content of an entry from another.
func (e entry) version() string {
	if e.kind == submodule {
		return "submodule-" + e.hash.String()
	}
	return e.hash.String()
}

// parseTree reads a tree: for each entry its mode, a space, its name, NUL and its hash.
func parseTree(b []byte) (entries []entry, err error) {
	for len(b) > 0 {
		mode, rest, ok := bytes.Cut(b, []byte(" "))
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < len(plumbing.Hash{}) || len(name) == 0 {
			return nil, broken(errors.New("a tree that is cut off"))
		}
		e := entry{name: string(name)}
		b = rest[copy(e.hash[:], rest):]
		switch string(mode) {
		case "100644", "100755", "100664":
			e.kind = file
		case "40000", "040000":
			e.kind = folder
		case "160000":
			e.kind = submodule
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// tree reads a tree.
func (cl *clone) tree(h plumbing.Hash) ([]entry, error) {
	b, err := cl.object(h, plumbing.TreeObject)
	if err != nil {
		return nil, err
	}
	return parseTree(b)
}

// find is the entry at a path.
func (cl *clone) find(path string) (entry, error) {
	at := entry{kind: folder, hash: cl.root}
	for i, name := range strings.Split(path, "/") {
		if at.kind != folder || i > maxDepth {
			return entry{}, errGone
		}
		entries, err := cl.tree(at.hash)
		if err != nil {
			return entry{}, err
		}
		at = entry{}
		for _, e := range entries {
			if e.name == name {
				at = e
			}
		}
		if at.name == "" {
			return entry{}, errGone
		}
	}
	return at, nil
}

// errEnough ends a walk that has come to its limit.
var errEnough = errors.New("git: enough")

// walk is one listing.
type walk struct {
	clone   *clone
	filter  source.Filter
	listing port.SourceListing
	cursor  source.Cursor
	after   string // what comes up to it was listed before
	since   int    // items since the last checkpoint
	seen    int    // entries
	lacking bool   // something could not be listed
}

func (w *walk) problem(ctx context.Context, path string, code port.SourceCode, message string) error {
	w.lacking = true
	return w.listing.Problem(ctx, port.SourceProblem{Path: source.Name(path), Code: code, Message: message})
}

// tree lists a folder in the order in which git keeps it, which is that of whole paths.
func (w *walk) tree(ctx context.Context, h plumbing.Hash, path string, depth int) error {
	if depth > maxDepth {
		return w.problem(ctx, path, port.SourceTooLarge, "it lies too many folders deep")
	}
	entries, err := w.clone.tree(h)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return w.problem(ctx, path, port.SourceUnavailable, "the folder comes damaged")
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.seen++; w.seen > maxTrees {
			if err := w.problem(ctx, path, port.SourceTooLarge, "there are too many files and folders"); err != nil {
				return err
			}
			return errEnough
		}
		at := e.name
		if path != "" {
			at = path + "/" + e.name
		}
		switch e.kind {
		case folder:
			below := at + "/"
			if !w.filter.Folder(at) || w.after > below && !strings.HasPrefix(w.after, below) {
				continue
			}
			err = w.tree(ctx, e.hash, at, depth+1)
		case file, submodule:
			if !w.filter.File(at) || w.after != "" && at <= w.after {
				continue
			}
			err = w.item(ctx, at, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) item(ctx context.Context, path string, e entry) error {
	item := port.SourceItem{Key: source.Key(path), Version: e.version(), Name: source.Name(path), Size: -1}
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
