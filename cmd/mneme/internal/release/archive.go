package release

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

// Release is a packed model.
type Release struct {
	Name  string     // of the model
	File  string     // the archive's path
	Names []string   // what it holds, without the folder that all of it is in
	Entry pull.Entry // of a catalogue; the URL of its one file begins with a base that is named after the model
}

// folder is what a release needs to know of a vendor's folder.
type folder struct {
	name, version, licence string
	languages, tasks       []string
	format                 pull.Format
	files                  map[string]member // by their paths with slashes
}

// member is a file of a release.
type member struct {
	sum     string // that it has to have; "": any
	program bool
}

// version is what a version may be: it stands in file names and URLs.
var version = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

// legal are the names, without their endings, of files that come along without being listed.
var legal = []string{"license", "licence", "copying", "notice"}

// Archive packs the sealed folder of a model into a zip archive: what its model.json
// lists, and licences and notices beside it. Nothing else of the folder is taken, and
// a file that is not the sealed one is refused. Equal files give equal bytes. to is
// the archive's path; "": NAME-VERSION.zip here.
func Archive(dir, to string) (Release, error) {
	r, err := archive(dir, to)
	if err != nil {
		return r, fmt.Errorf("pack %s: %w", dir, err)
	}
	return r, nil
}

func archive(dir, to string) (r Release, err error) {
	f, err := readFolder(dir)
	if err != nil {
		return r, err
	}
	if err := f.check(); err != nil {
		return r, err
	}
	if err := f.addLegal(dir); err != nil {
		return r, err
	}
	below := f.name + "-" + f.version + "/"
	r = Release{Name: f.name, File: cmp.Or(to, f.name+"-"+f.version+".zip"), Names: slices.Sorted(maps.Keys(f.files))}
	bytes, sum, unpacked, err := f.write(dir, below, r)
	if err != nil {
		return r, err
	}
	r.Entry = pull.Entry{
		Task:      pack.Task(slices.Concat(f.tasks, []string{""})[0]),
		Version:   f.version,
		Languages: f.languages,
		Licence:   f.licence,
		Format:    f.format,
		Bytes:     unpacked,
		Files: []pull.File{{
			URL:    "{" + baseOf(f.name) + "}/" + filepath.Base(r.File),
			SHA256: sum,
			Bytes:  bytes,
			Take:   map[string]string{below: ""},
		}},
	}
	return r, nil
}

// readFolder reads the manifest of a vendor's folder.
func readFolder(dir string) (folder, error) {
	if models.IsProcess(dir) {
		return readProcess(dir)
	}
	m, err := models.ReadManifest(dir)
	if err != nil {
		return folder{}, err
	}
	f := folder{
		name:      m.Name,
		version:   m.Version,
		licence:   m.Licence,
		languages: m.Languages,
		tasks:     m.Tasks,
		format:    pull.Module,
		files:     map[string]member{models.ManifestFile: {}},
	}
	for _, a := range append([]models.Asset{m.Module}, m.Assets...) {
		f.add(a.Path, member{sum: cmp.Or(strings.ToLower(a.SHA256), unsealed)})
	}
	return f, nil
}

// readProcess reads the manifest of a process, with the programs of all systems.
func readProcess(dir string) (folder, error) {
	p, err := models.ReadProcess(dir)
	if err != nil {
		return folder{}, err
	}
	f := folder{
		name:      p.Name,
		version:   p.Version,
		licence:   p.Licence,
		languages: p.Languages,
		tasks:     p.Tasks,
		format:    pull.Process,
		files:     map[string]member{models.ManifestFile: {}},
	}
	for i, a := range p.All() {
		f.add(a.Path, member{sum: cmp.Or(strings.ToLower(a.SHA256), unsealed), program: i < len(p.Programs)})
	}
	return f, nil
}

// unsealed is the sum of a file that the manifest gives none: no file has it.
const unsealed = "none"

func (f folder) add(name string, m member) { f.files[path.Clean(filepath.ToSlash(name))] = m }

// check refuses a manifest that says too little for a release.
func (f folder) check() error {
	var errs []error
	missing := func(what string) {
		errs = append(errs, fmt.Errorf("%s: a release needs %s", models.ManifestFile, what))
	}
	if err := models.CheckName(f.name); err != nil {
		missing("a name of letters, digits, dots, dashes and underscores")
	}
	if !version.MatchString(f.version) {
		missing("a version of letters, digits, dots, dashes, underscores and plus signs")
	}
	if f.licence == "" {
		missing("a licence, as an SPDX expression")
	}
	if len(f.tasks) == 0 {
		missing("the tasks that the model has")
	}
	return errors.Join(errs...)
}

// addLegal adds licences and notices that lie in the folder.
func (f folder) addLegal(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.ToLower(e.Name()), ".")
		if _, listed := f.files[e.Name()]; listed || !slices.Contains(legal, name) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err != nil || !info.Mode().IsRegular() {
			continue // a folder of licences would have to be listed
		}
		f.files[e.Name()] = member{}
	}
	return nil
}

// write writes the archive beside its place and moves it there when it is whole. It gives
// the archive's size and sum and the size of what is in it.
func (f folder) write(dir, below string, r Release) (bytes int64, sum string, unpacked int64, err error) {
	counted := &counter{sum: sha256.New()}
	err = disk.PublishFrom(r.File, func(out io.Writer) error {
		counted.to = out
		z := zip.NewWriter(counted)
		for _, name := range r.Names {
			n, err := f.put(z, dir, below, name)
			if err != nil {
				return err
			}
			unpacked += n
		}
		return z.Close()
	})
	return counted.n, hex.EncodeToString(counted.sum.Sum(nil)), unpacked, err
}

// archived is the time of every file of an archive: the first that a zip can tell.
var archived = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// put adds a file to an archive.
func (f folder) put(z *zip.Writer, dir, below, name string) (int64, error) {
	in, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return 0, err
	}
	defer in.Close()
	m := f.files[name]
	h := &zip.FileHeader{Name: below + name, Method: zip.Deflate, Modified: archived}
	h.SetMode(fs.FileMode(0o644))
	if m.program {
		h.SetMode(fs.FileMode(0o755))
	}
	w, err := z.CreateHeader(h)
	if err != nil {
		return 0, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), in)
	if err != nil {
		return n, fmt.Errorf("%s: %w", name, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); m.sum != "" && got != m.sum {
		return n, fmt.Errorf("%s is not the file that %s was sealed with; after a change of your own run: mneme models seal %s",
			name, models.ManifestFile, dir)
	}
	return n, nil
}

// counter counts and sums what goes through it.
type counter struct {
	to  io.Writer
	sum hash.Hash
	n   int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	c.sum.Write(b[:n])
	return n, err
}
