package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// KindProcess is the kind of a manifest whose model runs as a process.
const KindProcess = "process"

// Process is the model.json of a model that runs as a process of its own.
type Process struct {
	Schema     string   `json:"$schema"` // for editors
	Kind       string   `json:"kind"`
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Licence    string   `json:"licence"` // SPDX expression
	Languages  []string `json:"languages"`
	Tasks      []string `json:"tasks"`      // all that it describes
	Dimensions int      `json:"dimensions"` // of its vectors; 0: not said
	MemoryMB   int      `json:"memory_mb"`  // most that it and all that it starts hold; 0: not said
	MTLS       string   `json:"mtls"`       // auto (default), or off for one without go-plugin's AutoMTLS

	// Programs are the executables by system, as Go names it: linux/amd64.
	Programs map[string]Asset `json:"programs"`
	// Interpreter is a program of the machine that runs it, found in PATH, instead.
	Interpreter string   `json:"interpreter"`
	Args        []string `json:"args"`  // of either
	Files       []Asset  `json:"files"` // what else it reads of its folder

	// Of the folder that it was read from.
	Dir    string `json:"-"`
	SHA256 string `json:"-"` // of model.json
}

var platform = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9]+$`)

// IsProcess tells whether a folder's manifest is that of a process.
func IsProcess(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	return err == nil && kindOf(b) == KindProcess
}

func kindOf(manifest []byte) string {
	var m struct {
		Kind string `json:"kind"`
	}
	if json.NewDecoder(bytes.NewReader(manifest)).Decode(&m) != nil {
		return ""
	}
	return m.Kind
}

// ReadProcess reads the manifest of a process, and none of the files that it names.
func ReadProcess(dir string) (Process, error) {
	p, _, err := readProcess(dir)
	if err != nil {
		return p, fmt.Errorf("read model %s: %w", dir, err)
	}
	return p, nil
}

func readProcess(dir string) (p Process, b []byte, err error) {
	if p.Dir, err = filepath.Abs(dir); err != nil {
		return p, nil, err
	}
	if b, err = os.ReadFile(filepath.Join(dir, ManifestFile)); err != nil {
		return p, nil, err
	}
	if kindOf(b) != KindProcess {
		return p, b, fmt.Errorf("%s: its kind is not %q: a module runs as wasm: {module: ...}", ManifestFile, KindProcess)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, b, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	sum := sha256.Sum256(b)
	p.SHA256 = hex.EncodeToString(sum[:])
	errs := p.problems()
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		errs = append(errs, errors.New("there is something behind the object"))
	}
	for i, err := range errs {
		errs[i] = fmt.Errorf("%s: %w", ManifestFile, err)
	}
	return p, b, errors.Join(errs...)
}

func (p Process) problems() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if (len(p.Programs) == 0) == (p.Interpreter == "") {
		bad("want either programs, or the interpreter that runs it")
	}
	if strings.ContainsAny(p.Interpreter, `/\`) {
		bad("interpreter: %q is a path; want the name of a program that a machine has", p.Interpreter)
	}
	for on := range p.Programs {
		if !platform.MatchString(on) {
			bad("programs: %q is no system such as linux/amd64", on)
		}
	}
	if !slices.Contains([]string{"", "auto", "off"}, p.MTLS) {
		bad("mtls: %q is not auto or off", p.MTLS)
	}
	if p.MemoryMB < 0 || p.MemoryMB > 1<<24 {
		bad("memory_mb: %d is not between 0 and %d", p.MemoryMB, 1<<24)
	}
	if p.Dimensions < 0 {
		bad("dimensions: %d is below 0", p.Dimensions)
	}
	taken := map[string]bool{}
	for _, a := range p.All() {
		switch {
		case !filepath.IsLocal(filepath.FromSlash(a.Path)):
			bad("path %q is none inside the folder", a.Path)
		case taken[a.Path]:
			bad("path %q twice", a.Path)
		}
		taken[a.Path] = true
	}
	return errs
}

// systems are those that it has programs for.
func (p Process) systems() []string {
	var all []string
	for on := range p.Programs {
		all = append(all, on)
	}
	slices.Sort(all)
	return all
}

// All are the files of the model: the programs of every system, and what they read.
func (p Process) All() (all []Asset) {
	for _, on := range p.systems() {
		all = append(all, p.Programs[on])
	}
	return append(all, p.Files...)
}

// Program is the executable for a system; false: an interpreter runs it.
func (p Process) Program(system string) (Asset, bool, error) {
	if p.Interpreter != "" {
		return Asset{}, false, nil
	}
	a, ok := p.Programs[system]
	if !ok {
		return a, true, fmt.Errorf("it has no program for %s, only for %s", system, strings.Join(p.systems(), ", "))
	}
	return a, true, nil
}

// Identity is a sum over all that makes an answer: the programs of every system, so that
// it is the same model on each, the interpreter's name, the arguments and the files.
func (p Process) Identity() [32]byte {
	h := sha256.New()
	for _, on := range p.systems() {
		fmt.Fprintf(h, "program %q %s\n", on, strings.ToLower(p.Programs[on].SHA256))
	}
	fmt.Fprintf(h, "interpreter %q\nargs %q\n", p.Interpreter, p.Args)
	files := slices.Clone(p.Files)
	slices.SortFunc(files, func(a, b Asset) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		fmt.Fprintf(h, "file %q %s\n", f.Path, strings.ToLower(f.SHA256))
	}
	return [32]byte(h.Sum(nil))
}

// Check reads every file and compares it with the manifest.
func (p Process) Check() error {
	var errs []error
	for _, a := range p.All() {
		sum, err := fileSum(filepath.Join(p.Dir, filepath.FromSlash(a.Path)))
		switch {
		case err != nil:
			errs = append(errs, err)
		case sum != strings.ToLower(a.SHA256):
			errs = append(errs, fmt.Errorf("%s: sha256 is %s, %s says %q; after a change of your own run: mneme models seal %s",
				a.Path, sum, ManifestFile, a.SHA256, p.Dir))
		}
	}
	return errors.Join(errs...)
}

func fileSum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sealProcess puts the digests of the files into the members of a process's manifest.
func sealProcess(dir string, raw *orderedObject) error {
	p, _, err := readProcess(dir)
	if err != nil {
		return err
	}
	sealed := func(a Asset) (Asset, error) {
		var err error
		a.SHA256, err = fileSum(filepath.Join(dir, filepath.FromSlash(a.Path)))
		return a, err
	}
	programs := orderedObject{}
	for _, on := range p.systems() {
		a, err := sealed(p.Programs[on])
		if err != nil {
			return err
		}
		programs.set(on, a)
	}
	if len(programs) > 0 {
		raw.set("programs", programs)
	}
	for i := range p.Files {
		if p.Files[i], err = sealed(p.Files[i]); err != nil {
			return err
		}
	}
	if len(p.Files) > 0 {
		raw.set("files", p.Files)
	}
	return nil
}
