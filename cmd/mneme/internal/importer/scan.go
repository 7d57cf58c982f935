package importer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Scanner lists the files to import and says why it leaves others out. In a
// folder it leaves out what is hidden, node_modules, what .gitignore files name,
// symbolic links and files of other kinds. The patterns are those of .gitignore
// files, and a file that is named itself meets Include and Exclude alone.
type Scanner struct {
	Include []string // only files that one of them matches; empty: all
	Exclude []string // no file or folder that one of them matches
	Hidden  bool     // hidden files and folders, too; never .git
	All     bool     // also node_modules and what .gitignore files name
	Prefix  string   // before all names, as a folder
	Skip    []string // absolute paths of folders that hold nothing to import

	Encoding  encoding.Encoding // of text that is not UTF-8
	Extractor port.Extractor    // reads documents; nil: what a stock binary has
}

// Encoding finds a character encoding by its name, as the Encoding Standard
// (https://encoding.spec.whatwg.org) spells it: windows-1252, latin1, shift_jis.
func Encoding(name string) (encoding.Encoding, error) {
	e, err := htmlindex.Get(name)
	if err != nil || e == encoding.Replacement {
		return nil, fault.New(fault.InvalidRequest,
			"encoding %q is not known; there are windows-1252 (Western Europe), iso-8859-2, windows-1251, shift_jis, gbk "+
				"and others", name)
	}
	return e, nil
}

// Listing is what a Scanner found.
type Listing struct {
	Files []File // ordered by name
	Left  []Left // in the order in which they were met
	Dirs  []string
}

// Left is a file or folder that was left out.
type Left struct {
	Name   string // as File.Name would be; a folder's ends with a slash
	Reason string
	Named  bool // it was given itself, not met in a folder
	Failed bool // it should have been imported and cannot be read
}

// Why is the reason in a word or two; that of a file of another kind is its
// extension.
func (l Left) Why() string {
	if l.Reason == otherKind {
		if e := ext(l.Name); e != "" {
			return e
		}
		return "without an extension"
	}
	return strings.TrimPrefix(strings.TrimPrefix(l.Reason, "is "), "a ")
}

// Folder reports that all below it was left out with it.
func (l Left) Folder() bool { return strings.HasSuffix(l.Name, "/") }

// Problems are the files and folders that cannot be read.
func (l Listing) Problems() []*Problem {
	var out []*Problem
	for _, left := range l.Left {
		if left.Failed {
			out = append(out, &Problem{At: Position{File: left.Name}, Err: errors.New(left.Reason)})
		}
	}
	return out
}

// LeftFiles counts the files that were left out for other reasons than that they
// cannot be read. Those in a folder that was left out are not among them.
func (l Listing) LeftFiles() int {
	n := 0
	for _, left := range l.Left {
		if !left.Folder() && !left.Failed {
			n++
		}
	}
	return n
}

const otherKind = "is of another kind"

// Scan lists the files of some paths. What cannot be read is left out as Failed,
// and an error when nothing else is there.
//
// Names are relative to the folder; with several paths they begin with the
// folder's own name. Two files of one name are an error.
func (s Scanner) Scan(ctx context.Context, paths []string) (Listing, error) {
	w, err := s.walk(ctx)
	if err != nil {
		return Listing{}, err
	}
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return Listing{}, fault.Wrap(fault.InvalidRequest, "importer.Scan", err, "%s: %v", p, err)
		}
		info, err := os.Stat(abs)
		switch {
		case err != nil:
			w.leave(Left{Name: p, Reason: cause(err), Named: true, Failed: true})
			err = nil
		case info.IsDir():
			name := s.Prefix
			if len(paths) > 1 {
				name = path.Join(name, filepath.Base(abs))
			}
			err = w.root(abs, name)
		default:
			w.named(p, abs, info)
		}
		if err != nil {
			return Listing{}, err
		}
	}
	if len(w.Files) == 0 {
		for _, left := range w.Left {
			if left.Named {
				return Listing{}, fault.New(fault.InvalidRequest, "%s: %s", left.Name, left.Reason)
			}
		}
	}
	return w.Listing, sortFiles(w.Files)
}

// ScanFS lists the files of a file system as Scan does a folder.
func (s Scanner) ScanFS(ctx context.Context, root fs.FS) (Listing, error) {
	w, err := s.walk(ctx)
	if err != nil {
		return Listing{}, err
	}
	w.fsys, w.name, w.top, w.ignored = root, s.Prefix, nil, nil
	if err := w.dir(".", nil); err != nil {
		return Listing{}, err
	}
	return w.Listing, sortFiles(w.Files)
}

// walker is one scan.
type walker struct {
	Scanner
	Listing
	ctx              context.Context
	kinds            kinds
	include, exclude []gitignore.Pattern

	// of the folder that is walked
	fsys    fs.FS
	abs     string
	name    string
	top     []string            // its path in the repository that it is part of
	ignored []gitignore.Pattern // by .gitignore files above it
}

func (s Scanner) walk(ctx context.Context) (*walker, error) {
	if s.Extractor == nil {
		s.Extractor = stock()
	}
	w := &walker{Scanner: s, ctx: ctx, kinds: kindsOf(s.Extractor)}
	for _, list := range []struct {
		from []string
		to   *[]gitignore.Pattern
	}{{s.Include, &w.include}, {s.Exclude, &w.exclude}} {
		for _, p := range list.from {
			if _, err := path.Match(p, ""); err != nil || strings.TrimSpace(p) == "" {
				return nil, fault.New(fault.InvalidRequest,
					"%q is not a pattern as in .gitignore files, such as *.md, drafts/ or a/**/b", p)
			}
			*list.to = append(*list.to, gitignore.ParsePattern(p, nil))
		}
	}
	return w, nil
}

func (w *walker) leave(l Left) {
	l.Name = called(l.Name)
	w.Left = append(w.Left, l)
}

// called is a name as files are called here. Systems compose letters with accents in
// different ways, and what they mean by a name shall not hang on that.
func called(name string) string { return norm.NFC.String(name) }

// named takes a file that was given itself.
func (w *walker) named(given, abs string, info fs.FileInfo) {
	base := filepath.Base(abs)
	kind, ok := w.kinds.of(base)
	switch {
	case !ok:
		w.leave(Left{Name: given, Reason: notRead(), Named: true})
	case !info.Mode().IsRegular():
		w.leave(Left{Name: given, Reason: "is not a regular file", Named: true, Failed: true})
	case match(w.exclude, []string{base}, false):
		w.leave(Left{Name: given, Reason: "is excluded", Named: true})
	case len(w.include) > 0 && !match(w.include, []string{base}, false):
		w.leave(Left{Name: given, Reason: "is not included", Named: true})
	default:
		w.Files = append(w.Files, File{
			FS:        os.DirFS(filepath.Dir(abs)),
			Path:      base,
			Name:      called(path.Join(w.Prefix, base)),
			Kind:      kind,
			Size:      info.Size(),
			ModTime:   info.ModTime(),
			Extractor: w.Extractor,
			Abs:       abs,
			Encoding:  w.Encoding,
		})
		if dir := filepath.Dir(abs); !slices.Contains(w.Dirs, dir) {
			w.Dirs = append(w.Dirs, dir)
		}
	}
}

// root walks a folder of this machine.
func (w *walker) root(abs, name string) error {
	w.fsys, w.abs, w.name, w.top, w.ignored = os.DirFS(abs), abs, name, nil, nil
	if repo := repository(abs); repo != "" && !w.All {
		rel, err := filepath.Rel(repo, abs)
		if err != nil {
			return fault.Wrap(fault.InvalidRequest, "importer.Scan", err, "%s: %v", abs, err)
		}
		if rel != "." {
			w.top = strings.Split(filepath.ToSlash(rel), "/")
		}
		w.ignored = patterns(os.DirFS(repo), ".git/info/exclude", nil)
		for i := range w.top { // the folder's own file is read when it is walked
			above := w.top[:i]
			file := path.Join(path.Join(above...), ".gitignore")
			w.ignored = append(w.ignored, patterns(os.DirFS(repo), file, above)...)
		}
		if len(w.top) > 0 && match(w.ignored, w.top, true) {
			w.ignored = nil // asked for all the same
		}
	}
	return w.dir(".", w.ignored)
}

// repository is the folder of the Git repository that a folder is part of.
func repository(abs string) string {
	for dir := abs; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// patterns reads a .gitignore file; one that is absent has none.
func patterns(fsys fs.FS, name string, domain []string) []gitignore.Pattern {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil
	}
	var out []gitignore.Pattern
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			out = append(out, gitignore.ParsePattern(line, domain))
		}
	}
	return out
}

func match(ps []gitignore.Pattern, at []string, dir bool) bool {
	return len(ps) > 0 && gitignore.NewMatcher(ps).Match(at, dir)
}

// dir walks a folder of the file system, with the patterns of those above it.
func (w *walker) dir(p string, ignored []gitignore.Pattern) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(w.fsys, p)
	if err != nil {
		w.leave(Left{Name: path.Join(w.name, p) + "/", Reason: cause(err), Failed: true})
		return nil
	}
	if w.abs != "" {
		w.Dirs = append(w.Dirs, filepath.Join(w.abs, filepath.FromSlash(p)))
	}
	if !w.All {
		ignored = append(slices.Clip(ignored), patterns(w.fsys, path.Join(p, ".gitignore"), w.inRepository(p))...)
	}
	for _, e := range entries {
		at := path.Join(p, e.Name())
		reason := w.reason(at, e, ignored)
		switch {
		case reason != "" && e.IsDir():
			w.leave(Left{Name: path.Join(w.name, at) + "/", Reason: reason})
		case reason != "":
			w.leave(Left{Name: path.Join(w.name, at), Reason: reason})
		case e.IsDir():
			if err := w.dir(at, ignored); err != nil {
				return err
			}
		default:
			w.file(at, e)
		}
	}
	return nil
}

// inRepository is the path that .gitignore files speak of.
func (w *walker) inRepository(p string) []string {
	if p == "." {
		return w.top
	}
	return append(slices.Clip(w.top), strings.Split(p, "/")...)
}

// reason says why something in a folder is left out; empty when it is not.
func (w *walker) reason(at string, e fs.DirEntry, ignored []gitignore.Pattern) string {
	parts := strings.Split(at, "/")
	_, known := w.kinds.of(at)
	switch {
	case e.Name() == ".git", !w.Hidden && strings.HasPrefix(e.Name(), "."):
		return "is hidden"
	case strings.HasPrefix(e.Name(), "._"), e.Name() == ".DS_Store":
		return "is what macOS keeps about a file or folder"
	case e.IsDir() && !w.All && e.Name() == "node_modules":
		return "holds packages of others"
	case match(ignored, w.inRepository(at), e.IsDir()):
		return "is named in a .gitignore file"
	case match(w.exclude, parts, e.IsDir()):
		return "is excluded"
	case e.IsDir() && w.abs != "" && slices.Contains(w.Skip, filepath.Join(w.abs, filepath.FromSlash(at))):
		return "is Mneme's data folder"
	case e.IsDir():
		return ""
	case e.Type()&fs.ModeSymlink != 0:
		return "is a symbolic link"
	case !e.Type().IsRegular():
		return "is not a regular file"
	case !known:
		return otherKind
	case len(w.include) > 0 && !match(w.include, parts, false):
		return "is not included"
	}
	return ""
}

func (w *walker) file(at string, e fs.DirEntry) {
	kind, _ := w.kinds.of(at)
	info, err := e.Info()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // deleted in the meantime
			w.leave(Left{Name: path.Join(w.name, at), Reason: cause(err), Failed: true})
		}
		return
	}
	f := File{
		FS:        w.fsys,
		Path:      at,
		Name:      called(path.Join(w.name, at)),
		Kind:      kind,
		Size:      info.Size(),
		ModTime:   info.ModTime(),
		Extractor: w.Extractor,
		Encoding:  w.Encoding,
	}
	if w.abs != "" {
		f.Abs = filepath.Join(w.abs, filepath.FromSlash(at))
	}
	w.Files = append(w.Files, f)
}

// cause is what the system said, without the path and the call.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func sortFiles(files []File) error {
	sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
	for i := 1; i < len(files); i++ {
		if files[i].Name == files[i-1].Name {
			return fault.New(fault.InvalidRequest,
				"two files are named %s: import their folders one at a time, each with a --prefix", files[i].Name)
		}
	}
	return nil
}
