package importer

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
)

// Kind is how a file is read.
type Kind int

// The kinds of files.
const (
	Text      Kind = iota // .txt, .text
	Markdown              // .md, .markdown
	HTML                  // .html, .htm, .xhtml
	JSONLines             // .jsonl, .ndjson, each also with .gz
	JSON                  // .json: one record or an array of them
)

// kindOf tells a file's kind by its name; ok is false for names that are not read.
func kindOf(name string) (k Kind, ok bool) {
	switch ext(name) {
	case ".txt", ".text":
		return Text, true
	case ".md", ".markdown":
		return Markdown, true
	case ".html", ".htm", ".xhtml":
		return HTML, true
	case ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz":
		return JSONLines, true
	case ".json":
		return JSON, true
	}
	return 0, false
}

// Extensions lists the file names that are read, for help texts.
func Extensions() []string {
	return []string{".txt", ".text", ".md", ".markdown", ".html", ".htm", ".xhtml", ".jsonl", ".ndjson", ".jsonl.gz",
		".ndjson.gz", ".json"}
}

// File is one to import.
type File struct {
	FS      fs.FS
	Path    string // in FS
	Name    string // slash-separated and relative to the folder given; what ids are made of
	Kind    Kind
	Size    int64
	ModTime time.Time
}

// Scan lists the files of some paths, ordered by name. A folder is walked; in it
// hidden files and folders, symbolic links and files of other kinds are left out
// and counted as ignored. A path that is a file must be of a known kind.
//
// Names are relative to the folder; with several paths they begin with the
// folder's own name. Two files of one name are an error, as is a path that is
// absent.
func Scan(ctx context.Context, paths []string) (files []File, ignored int, err error) {
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, 0, fault.Wrap(fault.InvalidRequest, "importer.Scan", err, "%s: %v", p, err)
		}
		info, err := os.Stat(abs)
		if err != nil {
			return nil, 0, fault.Wrap(fault.InvalidRequest, "importer.Scan", err, "%s", strings.TrimPrefix(err.Error(), "stat "))
		}
		if info.IsDir() {
			prefix := ""
			if len(paths) > 1 {
				prefix = filepath.Base(abs)
			}
			in, skipped, err := ScanFS(ctx, os.DirFS(abs), prefix)
			if err != nil {
				return nil, 0, err
			}
			files, ignored = append(files, in...), ignored+skipped
			continue
		}
		kind, ok := kindOf(info.Name())
		if !ok {
			return nil, 0, fault.New(fault.InvalidRequest, "%s: not one of %s", p, strings.Join(Extensions(), " "))
		}
		files = append(files, File{os.DirFS(filepath.Dir(abs)), filepath.Base(abs), filepath.Base(abs), kind,
			info.Size(), info.ModTime()})
	}
	if err := sortFiles(files); err != nil {
		return nil, 0, err
	}
	return files, ignored, nil
}

// ScanFS lists the files of a file system as Scan does a folder, with a prefix
// before their names.
func ScanFS(ctx context.Context, root fs.FS, prefix string) (files []File, ignored int, err error) {
	err = fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if p != "." && strings.HasPrefix(d.Name(), ".") {
			if !d.IsDir() {
				ignored++
				return nil
			}
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		kind, ok := kindOf(p)
		if !ok || !d.Type().IsRegular() {
			ignored++
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files = append(files, File{root, p, path.Join(prefix, p), kind, info.Size(), info.ModTime()})
		return nil
	})
	if err != nil {
		return nil, 0, fault.Wrap(fault.InvalidRequest, "importer.ScanFS", err, "cannot list the files: %v", err)
	}
	if err := sortFiles(files); err != nil {
		return nil, 0, err
	}
	return files, ignored, nil
}

func sortFiles(files []File) error {
	sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
	for i := 1; i < len(files); i++ {
		if files[i].Name == files[i-1].Name {
			return fault.New(fault.InvalidRequest,
				"two files are named %s: import their folders one at a time, or under other names", files[i].Name)
		}
	}
	return nil
}
