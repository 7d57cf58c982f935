package pull

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/wasm/abi"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

// Installed is a model of the data folder, as its installed.json says.
type Installed struct {
	Name    string    `json:"name"`
	Kind    string    `json:"kind,omitempty"` // process; "": it runs in this process
	Module  string    `json:"module"`         // what a configuration names: "installed:NAME"
	Task    pack.Task `json:"task,omitempty"`
	Tasks   []string  `json:"tasks,omitempty"` // all that a vendor's model says that it does
	Version string    `json:"version"`
	Licence string    `json:"license"`
	Source  string    `json:"source"`
	From    []Origin  `json:"from"`
	Bytes   int64     `json:"bytes"`
	Digest  string    `json:"digest"`           // that namespaces made with it store; of a process: a sum over its files
	SHA256  string    `json:"sha256,omitempty"` // of the file that stands for all of it, for a configuration to pin

	// What a vendor's manifest asks an operator to approve.
	MemoryMB     int              `json:"memory_mb,omitempty"`
	Capabilities []abi.Capability `json:"capabilities,omitempty"`

	Publisher *Signature `json:"publisher,omitempty"` // whose key has signed the catalogue; nil: it was not asked for

	Installed time.Time `json:"installed"`
	Problem   string    `json:"problem,omitempty"` // why it cannot be used; of List alone
}

// Signature is who has signed for a model.
type Signature struct {
	Name      string    `json:"name"` // in the configuration
	PublicKey string    `json:"public_key"`
	Signed    time.Time `json:"signed"`
}

// Origin is a file that a model was made of.
type Origin struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

const (
	recordFile = "installed.json"
	downloads  = ".downloads"
)

// Store is the models of a data folder.
type Store struct {
	DataDir string
	Free    func(dir string) (uint64, error) // bytes that may be written there; nil: not asked
	Replace bool                             // another model of the same name; else it is refused
}

// Plan is a model to be pulled.
type Plan struct {
	Catalogue Catalogue
	Signed    *Signed // what Catalogue comes from; nil: it is not signed
	Mirror    Mirror
	Name      string // in the catalogue
	As        string // of the installed model; "": Name
	Client    Client
	Keep      bool // what was fetched, for another time
	// Accept is asked for a licence that the model's own manifest states and the
	// catalogue does not, if it asks for more than its notice; nil refuses it.
	Accept func(licence string) error
	// Progress hears what is done; total is 0 where nobody knows.
	Progress func(stage string, done, total int64)
}

func (s Store) dir() string { return filepath.Join(s.DataDir, models.InstalledFolder) }

// lock keeps others from installing at the same time.
func (s Store) lock(ctx context.Context) (unlock func() error, err error) {
	if err := os.MkdirAll(s.dir(), 0o700); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(s.dir(), ".lock"))
	if ok, err := l.TryLockContext(ctx, 200*time.Millisecond); err != nil || !ok {
		return nil, fmt.Errorf("wait for another installation: %w", err)
	}
	if err := s.sweep(); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return l.Unlock, nil
}

// sweep undoes what a crash left half done.
func (s Store) sweep() error {
	entries, err := os.ReadDir(s.dir())
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		at := filepath.Join(s.dir(), e.Name())
		if strings.HasPrefix(e.Name(), ".new-") {
			errs = append(errs, disk.OS().RemoveAll(at))
		}
		if name, ok := strings.CutPrefix(e.Name(), ".old-"); ok {
			if _, err := os.Stat(filepath.Join(s.dir(), name)); errors.Is(err, fs.ErrNotExist) &&
				!strings.HasSuffix(name, removedSuffix) {
				errs = append(errs, disk.OS().Rename(at, filepath.Join(s.dir(), name)))
			} else {
				errs = append(errs, disk.OS().RemoveAll(at))
			}
		}
	}
	return errors.Join(errs...)
}

// removedSuffix ends the name of a model that is on its way out.
const removedSuffix = "~"

// Pull fetches a model of the catalogue, converts it where it needs to be, and
// installs it. Another model under its name is kept, and ErrOccupied returned, unless
// the Store says Replace.
func (s Store) Pull(ctx context.Context, p Plan) (_ Installed, err error) {
	e, err := p.Catalogue.Model(p.Name)
	if err != nil {
		return Installed{}, err
	}
	p.As = cmp.Or(p.As, p.Name)
	if err := models.CheckName(p.As); err != nil {
		return Installed{}, err
	}
	if p.Progress == nil {
		p.Progress = func(string, int64, int64) {}
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return Installed{}, fmt.Errorf("pull %s: %w", p.Name, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if p.Signed != nil {
		if err := s.take(*p.Signed); err != nil {
			return Installed{}, fmt.Errorf("pull %s: publisher %s: %w", p.Name, p.Signed.Publisher.Name, err)
		}
	}
	in, err := s.pull(ctx, p, e)
	if err != nil {
		return in, fmt.Errorf("pull %s: %w", p.Name, err)
	}
	return in, nil
}

func (s Store) pull(ctx context.Context, p Plan, e Entry) (in Installed, err error) {
	fetched := filepath.Join(s.dir(), downloads)
	if err := os.MkdirAll(fetched, 0o700); err != nil {
		return in, err
	}
	if err := s.checkSpace(fetched, e); err != nil {
		return in, err
	}
	stage, err := os.MkdirTemp(s.dir(), ".new-")
	if err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, disk.OS().RemoveAll(stage)) }()
	from := filepath.Join(stage, "from")
	in = Installed{
		Name:    p.As,
		Module:  models.InstalledPrefix + p.As,
		Task:    e.Task,
		Version: e.Version,
		Licence: e.Licence,
		Source:  e.Source,
	}
	if by := p.Signed; by != nil {
		in.Publisher = &Signature{by.Publisher.Name, by.Publisher.Key.String(), by.At}
	}
	var files []string
	for i, f := range e.Files {
		address, err := p.Catalogue.URL(f, p.Mirror)
		if err != nil {
			return in, err
		}
		file := filepath.Join(fetched, f.SHA256)
		name := fmt.Sprintf("fetching %s (%d of %d)", path.Base(f.URL), i+1, len(e.Files))
		if err := p.Client.Fetch(ctx, address, f.SHA256, f.Bytes, file,
			func(done int64) { p.Progress(name, done, f.Bytes) }); err != nil {
			return in, err
		}
		if err := unpack(ctx, f, file, from); err != nil {
			return in, diskFull(s.dir(), fmt.Errorf("unpack %s: %w", path.Base(f.URL), err))
		}
		in.From, files = append(in.From, Origin{f.URL, f.SHA256}), append(files, file)
	}
	for name, text := range e.Write {
		if err := writeFile(from, name, strings.NewReader(text), int64(len(text))); err != nil {
			return in, diskFull(s.dir(), err)
		}
	}
	to := filepath.Join(stage, "to")
	if e.Format != Module && e.Format != Process {
		p.Progress("converting", 0, 0)
	}
	if err := e.convert(ctx, p.Name, from, to); err != nil {
		return in, diskFull(s.dir(), err)
	}
	if e.Format == Module || e.Format == Process {
		if got := formatOf(to); got != e.Format {
			return in, fmt.Errorf("the catalogue says that it is a %s, its %s that it is a %s", e.Format, models.ManifestFile,
				got)
		}
		if err := p.compare(&in, to); err != nil {
			return in, err
		}
	}
	if err := s.install(ctx, &in, to); err != nil {
		return in, diskFull(s.dir(), err)
	}
	if !p.Keep {
		for _, file := range files {
			os.Remove(file)
		}
	}
	return in, nil
}

// compare holds what a catalogue says of a vendor's model against the model's own
// manifest, which its digest covers. The manifest's version counts, the stricter licence
// counts, and a task that the model does not have is refused.
func (p Plan) compare(in *Installed, dir string) error {
	m, err := inspect(dir)
	if err != nil {
		return err
	}
	in.Version = cmp.Or(m.Version, in.Version)
	if in.Task != "" && m.Tasks != nil && !slices.Contains(m.Tasks, string(in.Task)) {
		return fmt.Errorf("the catalogue says that it does %s, its %s says %s", in.Task, models.ManifestFile,
			strings.Join(m.Tasks, ", "))
	}
	if m.Licence == "" || m.Licence == in.Licence {
		return nil
	}
	if Permissive(m.Licence) {
		if Permissive(in.Licence) {
			in.Licence = m.Licence
		}
		return nil
	}
	if p.Accept == nil {
		return fmt.Errorf("the catalogue says licence %s, its %s says %s", in.Licence, models.ManifestFile, m.Licence)
	}
	if err := p.Accept(m.Licence); err != nil {
		return err
	}
	in.Licence = m.Licence
	return nil
}

// found is a model in a folder.
type found struct {
	models.Source
	kind, digest string
}

// formatOf is the format of a vendor's folder.
func formatOf(dir string) Format {
	if models.IsProcess(dir) {
		return Process
	}
	return Module
}

// inspect opens the model in a folder, or reads all files of one that is a process, and
// lets its programs be run.
func inspect(dir string) (found, error) {
	if formatOf(dir) != Process {
		m, err := models.Open(models.InstalledIn(dir))
		if err != nil {
			return found{}, err
		}
		return found{m, "", digestOf(m)}, nil
	}
	p, err := models.ReadProcess(dir)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return found{}, err
	}
	if err := makeRunnable(p); err != nil {
		return found{}, err
	}
	return found{models.Source{Name: p.Name, Version: p.Version, Licence: p.Licence, Languages: p.Languages, Tasks: p.Tasks,
		MemoryMB: p.MemoryMB, File: models.ManifestFile, SHA256: p.SHA256}, models.KindProcess,
		fmt.Sprintf("sha256:%x", p.Identity())}, nil
}

// makeRunnable lets the programs of a process be run: what is unpacked may not be.
func makeRunnable(p models.Process) error {
	for _, program := range p.Programs {
		if err := os.Chmod(filepath.Join(p.Dir, filepath.FromSlash(program.Path)), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// checkSpace checks that what will be written fits: what is missing of the download, its
// unpacked form, which is at most thrice as large for weights, and the result.
func (s Store) checkSpace(fetched string, e Entry) error {
	if s.Free == nil {
		return nil
	}
	need := e.Bytes
	for _, f := range e.Files {
		have, _ := fileSize(filepath.Join(fetched, f.SHA256))
		part, _ := fileSize(filepath.Join(fetched, f.SHA256+".part"))
		need += f.Bytes - max(have, part) + f.Bytes
		if len(f.Take) > 0 {
			need += f.Bytes
		}
	}
	free, err := s.Free(s.dir())
	if err != nil {
		return err
	}
	if free < uint64(need) {
		return &DiskFull{Dir: s.dir(), Need: need, Free: int64(min(free, 1<<62))}
	}
	return nil
}

// diskFull turns a write error for lack of space into a DiskFull that names the folder.
func diskFull(dir string, err error) error {
	return (&fetch{part: filepath.Join(dir, "x")}).writeError(err)
}

// maxMember bounds what comes out of an archive, far above any model that this
// program runs.
const maxMember = 8 << 30

// unpack puts a file, or what is taken of it, below dir.
func unpack(ctx context.Context, f File, file, dir string) error {
	if f.As != "" {
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		return writeFile(dir, f.As, in, f.Bytes)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	return errors.Join(extractMembers(ctx, f, &z.Reader, dir), z.Close())
}

// UnpackRelease unpacks the archive of a vendor's release, whose files are in one folder,
// into dir.
func UnpackRelease(ctx context.Context, file, dir string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", file, err)
	}
	for _, member := range z.File {
		if below, name := path.Split(member.Name); name == models.ManifestFile && strings.Count(below, "/") == 1 {
			err := extractMembers(ctx, File{Take: map[string]string{below: ""}}, &z.Reader, dir)
			if p, none := models.ReadProcess(dir); none == nil && err == nil {
				err = makeRunnable(p)
			}
			if err := errors.Join(err, z.Close()); err != nil {
				return fmt.Errorf("unpack %s: %w", file, err)
			}
			return nil
		}
	}
	return errors.Join(fmt.Errorf("unpack %s: it is no release of a model: no folder in it has a %s", file, models.ManifestFile),
		z.Close())
}

// extractMembers writes the members that f takes from an archive below dir.
func extractMembers(ctx context.Context, f File, z *zip.Reader, dir string) error {
	used := map[string]bool{}
	for _, member := range z.File {
		to, rule := memberTarget(f.Take, member.Name)
		if rule == "" || member.FileInfo().IsDir() {
			continue
		}
		used[rule] = true
		if member.UncompressedSize64 > maxMember {
			return fmt.Errorf("%s has %d bytes", member.Name, member.UncompressedSize64)
		}
		in, err := member.Open()
		if err != nil {
			return err
		}
		err = writeFile(dir, to, contextReader{ctx, in}, int64(member.UncompressedSize64))
		if err := errors.Join(err, in.Close()); err != nil {
			return fmt.Errorf("%s: %w", member.Name, err)
		}
	}
	for rule := range f.Take {
		if !used[rule] {
			return fmt.Errorf("the archive has no %s", rule)
		}
	}
	return nil
}

// memberTarget is the path of an archive's member, and the rule of take that it is for; ""
// where there is none.
func memberTarget(take map[string]string, member string) (to, rule string) {
	if to, ok := take[member]; ok {
		return to, member
	}
	for folder, below := range take {
		if rest, ok := strings.CutPrefix(member, folder); ok && strings.HasSuffix(folder, "/") {
			return path.Join(below, rest), folder
		}
	}
	return "", ""
}

// contextReader fails once its context has ended.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (s contextReader) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(b)
}

// writeFile writes a file of exactly size bytes below dir.
func writeFile(dir, name string, from io.Reader, size int64) error {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return fmt.Errorf("path %q leaves the folder", name)
	}
	to := filepath.Join(dir, local)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(from, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("%s has not the %d bytes that it says", name, size)
	}
	return errors.Join(err, out.Close())
}

// convert makes the installable folder to out of the fetched one.
func (e Entry) convert(ctx context.Context, name, from, to string) error {
	switch e.Format {
	case Module, Process:
		return disk.OS().Rename(from, to)
	case Packed:
		if err := os.Mkdir(to, 0o700); err != nil {
			return err
		}
		return disk.OS().Rename(filepath.Join(from, models.PackFile), filepath.Join(to, models.PackFile))
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	o := e.Pack
	_, err := pack.Pack(ctx, from, filepath.Join(to, models.PackFile), pack.Options{
		Name:          name,
		Version:       e.Version,
		Licence:       e.Licence,
		Source:        e.Source,
		Languages:     e.Languages,
		Task:          e.Task,
		Pooling:       o.Pooling,
		MaxTokens:     o.MaxTokens,
		QueryPrefix:   o.QueryPrefix,
		PassagePrefix: o.PassagePrefix,
		Heads:         o.Heads,
		Terms:         o.Terms,
		QueryTerms:    o.QueryTerms,
		Calibration:   o.Calibration,
	})
	return err
}

// Adopt installs a pack or a vendor's folder that is on this machine already; about
// says where it came from.
func (s Store) Adopt(ctx context.Context, name string, about Installed, file string) (in Installed, err error) {
	if err := models.CheckName(name); err != nil {
		return in, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return in, fmt.Errorf("install %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	stage, err := os.MkdirTemp(s.dir(), ".new-")
	if err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, disk.OS().RemoveAll(stage)) }()
	to := filepath.Join(stage, "to")
	info, err := os.Stat(file)
	if err != nil {
		return in, err
	}
	if info.IsDir() {
		err = os.CopyFS(to, os.DirFS(file))
	} else {
		var f *os.File
		if f, err = os.Open(file); err == nil {
			err = errors.Join(writeFile(to, models.PackFile, f, info.Size()), f.Close())
		}
	}
	if err != nil {
		return in, diskFull(s.dir(), fmt.Errorf("install %s: %w", name, err))
	}
	in = Installed{Name: name, Module: models.InstalledPrefix + name, Source: about.Source, From: about.From}
	if err := s.install(ctx, &in, to); err != nil {
		return in, diskFull(s.dir(), fmt.Errorf("install %s: %w", name, err))
	}
	return in, nil
}

// ErrOccupied is why a model is not installed: another has its name.
var ErrOccupied = errors.New("another model is installed under this name")

// vacant checks that no other model would go. One that cannot be used makes room.
func (s Store) vacant(in Installed) error {
	if s.Replace {
		return nil
	}
	if _, err := os.Stat(filepath.Join(s.dir(), in.Name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if old := s.look(in.Name); old.Problem == "" && old.Digest != in.Digest {
		return fmt.Errorf("%w: %s %s of digest %s; namespaces that it filled, and roles.previous, need it", ErrOccupied, old.Name,
			old.Version, old.Digest)
	}
	return nil
}

// install opens the model in dir, completes its record and moves it to its place.
func (s Store) install(ctx context.Context, in *Installed, dir string) error {
	m, err := inspect(dir)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	in.Task, in.Version, in.Licence = cmp.Or(m.Task, in.Task), cmp.Or(in.Version, m.Version), cmp.Or(in.Licence, m.Licence)
	in.Tasks, in.MemoryMB, in.Capabilities, in.SHA256 = m.Tasks, m.MemoryMB, m.Allow, m.SHA256
	in.Digest, in.Kind = m.digest, m.kind
	if err := s.vacant(*in); err != nil {
		return err
	}
	in.Installed = time.Now().UTC().Truncate(time.Second)
	if in.Bytes, err = bytesBelow(dir); err != nil {
		return err
	}
	b, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		return err
	}
	if err := disk.Replace(disk.OS(), filepath.Join(dir, recordFile), append(b, '\n')); err != nil {
		return err
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = disk.OS().SyncDir(name)
		}
		return err
	})
	if err != nil {
		return err
	}
	// A folder cannot replace another in one step; one of the two names always has
	// a whole model, and a crash between the steps leaves the old one aside.
	place, aside := filepath.Join(s.dir(), in.Name), filepath.Join(s.dir(), ".old-"+in.Name)
	if err := disk.OS().RemoveAll(aside); err != nil {
		return err
	}
	if err := disk.OS().Rename(place, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := disk.OS().Rename(dir, place); err != nil {
		return errors.Join(err, disk.OS().Rename(aside, place))
	}
	return errors.Join(disk.OS().RemoveAll(aside), disk.OS().SyncDir(s.dir()))
}

func bytesBelow(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// List lists the installed models by name. One that cannot be used says why.
func (s Store) List() ([]Installed, error) {
	entries, err := os.ReadDir(s.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("list installed models: %w", err)
	}
	var all []Installed
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		all = append(all, s.look(e.Name()))
	}
	slices.SortFunc(all, func(a, b Installed) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// digestOf is what namespaces store of a model whose settings are those by default.
func digestOf(m models.Source) string {
	c := m.Defaults()
	return host.Module{Wasm: m.Wasm, Config: c.Config, Identity: c.Identity, Assets: m.Assets}.Digest()
}

// look reads what is installed under a name.
func (s Store) look(name string) Installed {
	in := Installed{Name: name, Module: models.InstalledPrefix + name}
	dir := filepath.Join(s.dir(), name)
	b, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err == nil {
		err = json.Unmarshal(b, &in)
	}
	if errors.Is(err, fs.ErrNotExist) { // copied here by hand
		err = nil
	}
	if err == nil {
		var m found
		if m, err = inspect(dir); err == nil {
			digest := m.digest
			in.Kind = m.kind
			in.Task, in.Version = cmp.Or(m.Task, in.Task), cmp.Or(in.Version, m.Version)
			in.Licence = cmp.Or(in.Licence, m.Licence)
			if in.Bytes == 0 {
				in.Bytes, err = bytesBelow(dir)
			}
			if in.Digest != "" && in.Digest != digest {
				err = errors.New("its files are not those that were installed; pull it again")
			}
			in.Digest = digest
		}
	}
	if err != nil {
		in.Problem = err.Error()
	}
	return in
}

// Remove removes an installed model.
func (s Store) Remove(ctx context.Context, name string) (err error) {
	if err := models.CheckName(name); err != nil {
		return err
	}
	place := filepath.Join(s.dir(), name)
	if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: it is not installed", name)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	aside := filepath.Join(s.dir(), ".old-"+name+removedSuffix)
	if err := errors.Join(disk.OS().RemoveAll(aside), disk.OS().Rename(place, aside), disk.OS().RemoveAll(aside)); err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}

// MirrorTo fetches a model's files into dir, laid out so that dir is a mirror.
func (p Plan) MirrorTo(ctx context.Context, dir string) error {
	e, err := p.Catalogue.Model(p.Name)
	if err != nil {
		return err
	}
	if p.Signed != nil {
		if err := p.Signed.MirrorTo(dir); err != nil {
			return err
		}
	}
	for i, f := range e.Files {
		address, err := p.Catalogue.URL(f, p.Mirror)
		if err != nil {
			return err
		}
		part := basePattern.FindStringSubmatch(f.URL)
		to := filepath.Join(dir, part[1], filepath.FromSlash(part[2]))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		name := fmt.Sprintf("fetching %s (%d of %d)", path.Base(f.URL), i+1, len(e.Files))
		if err := p.Client.Fetch(ctx, address, f.SHA256, f.Bytes, to,
			func(done int64) { p.Progress(name, done, f.Bytes) }); err != nil {
			return err
		}
		if err := os.Chmod(to, 0o644); err != nil {
			return err
		}
	}
	return nil
}
