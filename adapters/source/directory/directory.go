package directory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/core/port"
)

// Settings are the operator's.
type Settings struct {
	Directories []string         // absolute paths; a source's folder is one of them or below
	MaxItem     int64            // bytes of a file that is read; 0: 64 MiB
	Now         func() time.Time // nil: time.Now
}

// Connector follows folders.
type Connector struct {
	directories []string
	maxItem     int64
	now         func() time.Time
}

// New makes a connector.
func New(s Settings) (*Connector, error) {
	c := &Connector{maxItem: cmp.Or(s.MaxItem, 64<<20), now: s.Now}
	if c.now == nil {
		c.now = time.Now
	}
	for _, d := range s.Directories {
		if !filepath.IsAbs(d) {
			return nil, fmt.Errorf("%q is not an absolute path", d)
		}
		c.directories = append(c.directories, filepath.Clean(d))
	}
	return c, nil
}

const configSchema = `{
  "type": "object", "required": ["path"], "additionalProperties": false,
  "properties": {
    "path": {
      "type": "string", "minLength": 1, "maxLength": 4096,
      "description": "Absolute path of the folder, as the server sees it. It lies in one that the operator has opened to sources."
    },
    ` + source.FilterSchema + `,
    "follow_symlinks": {
      "type": "boolean", "default": false,
      "description": "Also what symbolic links lead to, as long as that is in the folder."
    }
  }
}`

type config struct {
	Path   string `json:"path"`
	Follow bool   `json:"follow_symlinks"`
	source.FilterConfig
}

// Kind describes the connector.
func (c *Connector) Kind() port.SourceKind {
	return port.SourceKind{
		Name:    "directory",
		Title:   "Folder",
		Summary: "The files of a folder on the server's machine.",
		Config:  json.RawMessage(configSchema),
		Secrets: json.RawMessage(`{"type": "object", "additionalProperties": false}`),
	}
}

// folder is what a connection leads to.
type folder struct {
	*os.Root
	filter source.Filter
	follow bool
}

// open opens the folder. Problems are of fields; the error is the folder's.
func (c *Connector) open(conn port.Connection) (*folder, []port.SourceFieldProblem, error) {
	var cfg config
	if err := source.Decode(conn.Config, &cfg); err != nil {
		return nil, nil, err
	}
	filter, problems := source.NewFilter(cfg.FilterConfig)
	field := func(message string) {
		problems = append(problems, port.SourceFieldProblem{Field: "config.path", Message: message})
	}
	var root *os.Root
	var err error
	switch above, below, allowed := c.allowed(cfg.Path); {
	case !filepath.IsAbs(cfg.Path):
		field("has to be an absolute path")
	case !allowed:
		field("is in none of the folders that the operator has opened to sources")
	default:
		if root, err = openBelow(above, below); err != nil {
			if message := c.astray(cfg.Path); message != "" {
				field(message)
				err = nil
				break
			}
			err = c.explain(err)
		}
	}
	if err != nil || len(problems) > 0 {
		if root != nil {
			root.Close()
		}
		return nil, problems, err
	}
	return &folder{Root: root, filter: filter, follow: cfg.Follow}, nil, nil
}

// allowed is the folder of the operator's that a path lies in, and the way from there.
func (c *Connector) allowed(path string) (above, below string, ok bool) {
	for _, d := range c.directories {
		rel, err := filepath.Rel(d, filepath.Clean(path))
		if err == nil && filepath.IsLocal(rel) && len(d) > len(above) {
			above, below, ok = d, rel, true
		}
	}
	return above, below, ok
}

// astray says why a path that is there can never be followed: what it leads to is no folder, or, by
// links, in none that is allowed. "": it is neither.
func (c *Connector) astray(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for _, d := range c.directories {
		root, err := filepath.EvalSymlinks(d)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			if info, err := os.Stat(real); err == nil && !info.IsDir() {
				return "is not a folder"
			}
			return ""
		}
	}
	return "leads out of the folders that the operator has opened to sources"
}

// openBelow opens a folder on a way that does not leave the one above, be it by links.
func openBelow(above, below string) (*os.Root, error) {
	outer, err := os.OpenRoot(above)
	if err != nil || below == "." {
		return outer, err
	}
	defer outer.Close()
	return outer.OpenRoot(below)
}

// explain says what keeps the folder from being read.
func (c *Connector) explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return port.SourceErrorf(port.SourceNotFound, err, "the folder does not exist")
	case errors.Is(err, fs.ErrPermission):
		return port.SourceErrorf(port.SourceForbidden, err, "the server may not read the folder")
	default: // a file, a link that leads out, an input or output error
		return port.SourceErrorf(port.SourceUnavailable, err, "the folder can't be opened")
	}
}

// must is open where nothing of the configuration is expected to be wrong.
func (c *Connector) must(conn port.Connection) (*folder, error) {
	f, problems, err := c.open(conn)
	if err == nil && len(problems) > 0 {
		err = port.SourceErrorf(port.SourceConfig, nil, "%s %s", problems[0].Field, problems[0].Message)
	}
	return f, err
}

// Check looks whether the folder can be read.
func (c *Connector) Check(ctx context.Context, conn port.Connection) ([]port.SourceFieldProblem, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, problems, err := c.open(conn)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	defer f.Close()
	dir, err := f.Open(".")
	if err == nil {
		_, err = dir.ReadDir(1)
		dir.Close()
	}
	if err != nil && !isEOF(err) {
		return nil, c.explain(err)
	}
	return nil, nil
}

// Fetch reads a file.
func (c *Connector) Fetch(ctx context.Context, conn port.Connection, item port.SourceItem) (port.SourceContent, error) {
	if err := ctx.Err(); err != nil {
		return port.SourceContent{}, err
	}
	path, err := source.Path(item.Key)
	if err != nil {
		return port.SourceContent{}, err
	}
	f, err := c.must(conn)
	if err != nil {
		return port.SourceContent{}, err
	}
	defer f.Close()
	if !filepath.IsLocal(path) {
		return port.SourceContent{}, port.SourceErrorf(port.SourceNotFound, nil, "it is not there")
	}
	content, version, err := c.read(ctx, f, f.spelled(path))
	if err != nil {
		return port.SourceContent{}, err
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return port.SourceContent{File: port.File{Name: source.Name(name), Content: content}, Version: version}, nil
}

// read reads a file as it is at one moment: again, where it was changed in the meantime.
func (c *Connector) read(ctx context.Context, f *folder, path string) (content []byte, version string, err error) {
	for range 3 {
		content, version, err = c.once(ctx, f, path)
		if err != nil || version != "" {
			return content, version, err
		}
	}
	return nil, "", port.SourceErrorf(port.SourceUnavailable, nil, "it changes while it is read")
}

// once reads a file; version is empty if it changed in the meantime.
func (c *Connector) once(ctx context.Context, f *folder, path string) (content []byte, version string, err error) {
	if !f.follow || leadsAstray(f, path) {
		if info, err := f.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, "", port.SourceErrorf(port.SourceSkipped, nil,
				"it is a link to a folder that is listed already, out of the source, or to nothing")
		}
	}
	file, err := f.OpenFile(path, os.O_RDONLY|nonblocking, 0) // a pipe in its place must not hold anybody up
	if err != nil {
		return nil, "", explainItem(err)
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return nil, "", explainItem(err)
	}
	if !before.Mode().IsRegular() {
		return nil, "", port.SourceErrorf(port.SourceNotFound, nil, "it is not a file any more")
	}
	content, err = source.Read(ctx, file, before.Size(), c.maxItem)
	if err != nil {
		return nil, "", explainItem(err)
	}
	after, err := file.Stat()
	if err != nil {
		return nil, "", explainItem(err)
	}
	if after.Size() != before.Size() || after.Size() != int64(len(content)) || !after.ModTime().Equal(before.ModTime()) {
		return nil, "", nil
	}
	return content, c.version(after, content), nil
}

// leadsAstray reports whether a path is there and leads to no file.
func leadsAstray(f *folder, path string) bool {
	info, err := f.Stat(path)
	return err != nil || info.IsDir()
}

// explainItem says what keeps a file from being read.
func explainItem(err error) error {
	var known *port.SourceError
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return port.SourceErrorf(port.SourceNotFound, err, "it is not there")
	case errors.Is(err, fs.ErrPermission):
		return port.SourceErrorf(port.SourceForbidden, err, "the server may not read it")
	default:
		return port.SourceErrorf(port.SourceUnavailable, err, "it can't be read")
	}
}

// Revoke has nothing to give back.
func (c *Connector) Revoke(context.Context, port.Connection) error { return nil }

var _ port.Connector = (*Connector)(nil)
