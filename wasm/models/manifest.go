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
	"slices"
	"strings"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/wasm/abi"
)

// ManifestFile is the name of a Manifest in its folder.
const ManifestFile = "model.json"

// Manifest is a vendor's model.json: what a person should approve. A member that
// is not of this type is refused.
type Manifest struct {
	Schema       string           `json:"$schema"` // for editors
	Kind         string           `json:"kind"`    // "module", or left out; see Process
	ABI          string           `json:"abi"`     // "major.minor" that the module needs; "": any of the current major
	Name         string           `json:"name"`
	Version      string           `json:"version"`
	Licence      string           `json:"licence"` // SPDX expression
	Languages    []string         `json:"languages"`
	Tasks        []string         `json:"tasks"`        // all that the module claims; absent: not checked
	MemoryMB     int              `json:"memory_mb"`    // most memory that an instance takes; 0: not said
	Capabilities []abi.Capability `json:"capabilities"` // the imports it uses; absent: any
	Module       Asset            `json:"module"`       // the .wasm file
	Assets       []Asset          `json:"assets"`
	Config       json.RawMessage  `json:"config"` // handed to mneme_open; default {}

	// Settings are what operators may set beside, by name.
	Settings map[string]Setting `json:"settings"`
}

// Asset is one file of a vendor's model.
type Asset struct {
	Name   string `json:"name,omitempty"` // that the module asks for; default: the path
	Path   string `json:"path"`           // inside the folder
	SHA256 string `json:"sha256"`
}

// parseManifest reads a model.json and reports everything that is wrong with it.
func parseManifest(b []byte) (Manifest, error) {
	var m Manifest
	if kindOf(b) == KindProcess {
		return m, fmt.Errorf("%s: it is a process, which runs as process: {manifest: ...}", ManifestFile)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", ManifestFile, fmt.Sprintf(format, args...)))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		bad("there is something behind the object")
	}
	if m.Kind != "" && m.Kind != "module" {
		bad("kind: %q is not module or process", m.Kind)
	}
	if m.Module.Path == "" {
		bad(`module: must name the .wasm file, e.g. {"path": "model.wasm", "sha256": "..."}`)
	}
	if m.ABI != "" {
		if major, minor, ok := version(m.ABI); !ok {
			bad("abi: %q is no version such as \"%d.%d\"", m.ABI, abi.Major, abi.Minor)
		} else if major != abi.Major || minor > abi.Minor {
			bad("abi: the module needs %s, this version has %d.%d", m.ABI, abi.Major, abi.Minor)
		}
	}
	if m.MemoryMB < 0 || m.MemoryMB > 4096 {
		bad("memory_mb: %d is not between 0 and 4096", m.MemoryMB)
	}
	for _, c := range m.Capabilities {
		if !slices.Contains(abi.Capabilities(), c) {
			bad("capabilities: there is no %q; there are %v", c, abi.Capabilities())
		}
	}
	taken := map[string]bool{}
	for i := range m.Assets {
		a := &m.Assets[i]
		if a.Name == "" {
			a.Name = a.Path
		}
		if taken[a.Name] {
			bad("asset %q twice", a.Name)
		}
		taken[a.Name] = true
	}
	for _, a := range append([]Asset{m.Module}, m.Assets...) {
		if !filepath.IsLocal(a.Path) && a.Path != "" {
			bad("path %q leaves the folder", a.Path)
		}
	}
	m.checkSettings(bad)
	return m, errors.Join(errs...)
}

// ReadManifest reads the model.json of a vendor's folder, and none of the files that it
// names. Their digests may be missing: it may not be sealed.
func ReadManifest(dir string) (Manifest, error) {
	m, _, err := readManifest(dir)
	if err != nil {
		return m, fmt.Errorf("read model %s: %w", dir, err)
	}
	return m, nil
}

func readManifest(dir string) (Manifest, []byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if errors.Is(err, os.ErrNotExist) {
		return Manifest{}, nil, fmt.Errorf("%w; a folder is a model when it has a %s", err, ManifestFile)
	}
	if err != nil {
		return Manifest{}, nil, err
	}
	m, err := parseManifest(b)
	return m, b, err
}

// fromFolder opens a vendor's model by its manifest.
func fromFolder(dir string) (Source, error) {
	m, b, err := readManifest(dir)
	if err != nil {
		return Source{}, err
	}
	sum := sha256.Sum256(b)
	s := Source{
		Config:    m.Config,
		Settings:  m.Settings,
		Assets:    map[string][]byte{},
		Name:      m.Name,
		Version:   m.Version,
		Licence:   m.Licence,
		Languages: slices.Clone(m.Languages),
		Tasks:     m.Tasks,
		MemoryMB:  m.MemoryMB,
		Allow:     m.Capabilities,
		File:      ManifestFile,
		SHA256:    hex.EncodeToString(sum[:]),
	}
	if len(s.Config) == 0 {
		s.Config = []byte("{}")
	}
	var errs []error
	read := func(a Asset) []byte {
		b, err := os.ReadFile(filepath.Join(dir, a.Path))
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		s.Bytes += len(b)
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != strings.ToLower(a.SHA256) {
			errs = append(errs, fmt.Errorf("%s: sha256 is %x, %s says %q; after a change of your own run: mneme models seal %s",
				a.Path, sum, ManifestFile, a.SHA256, dir))
		}
		return b
	}
	s.Wasm = read(m.Module)
	for _, a := range m.Assets {
		s.Assets[a.Name] = read(a)
	}
	return s, errors.Join(errs...)
}

// fromModule opens a .wasm file: by the model.json beside it that names it, or
// by itself, without assets and settings.
func fromModule(file string, b []byte) (Source, error) {
	dir, base := filepath.Split(file)
	if manifest, err := os.ReadFile(filepath.Join(dir, ManifestFile)); err == nil {
		if m, err := parseManifest(manifest); err == nil && filepath.Clean(m.Module.Path) == base {
			return fromFolder(filepath.Clean(dir))
		}
	}
	sum := sha256.Sum256(b)
	return Source{
		Wasm:   b,
		Config: []byte("{}"),
		Assets: map[string][]byte{},
		Bytes:  len(b),
		File:   base,
		SHA256: hex.EncodeToString(sum[:]),
	}, nil
}

// Seal writes the digests of module and assets into a folder's model.json, and
// leaves the rest of the file as it is. It gives the digest of the sealed file.
func Seal(dir string) (string, error) {
	sum, err := seal(dir)
	if err != nil {
		return "", fmt.Errorf("seal model %s: %w", dir, err)
	}
	return sum, nil
}

func seal(dir string) (string, error) {
	file := filepath.Join(dir, ManifestFile)
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var raw orderedObject
	if kindOf(b) == KindProcess {
		if err = json.Unmarshal(b, &raw); err == nil {
			err = sealProcess(dir, &raw)
		}
	} else {
		err = sealModule(dir, &raw)
	}
	if err != nil {
		return "", err
	}
	out, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return "", err
	}
	out = append(out, '\n')
	if !bytes.Equal(out, b) {
		if err := disk.Publish(file, out); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256(out)
	return hex.EncodeToString(sum[:]), nil
}

// sealModule puts the digests of module and assets into the members of a manifest.
func sealModule(dir string, raw *orderedObject) error {
	m, b, err := readManifest(dir)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, raw); err != nil {
		return fmt.Errorf("%s: %w", ManifestFile, err)
	}
	digest := func(a *Asset) (err error) {
		if a.Name == a.Path {
			a.Name = ""
		}
		a.SHA256, err = fileSum(filepath.Join(dir, a.Path))
		return err
	}
	if err := digest(&m.Module); err != nil {
		return err
	}
	for i := range m.Assets {
		if err := digest(&m.Assets[i]); err != nil {
			return err
		}
	}
	raw.set("module", m.Module)
	if len(m.Assets) > 0 {
		raw.set("assets", m.Assets)
	}
	return nil
}

// orderedObject is a JSON object whose members keep their order.
type orderedObject []member

type member struct {
	name  string
	value any
}

func (o *orderedObject) set(name string, value any) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

// UnmarshalJSON reads an object; values stay as they are written.
func (o *orderedObject) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		o.set(name.(string), value) // the key of an object is a string
	}
	return nil
}

// MarshalJSON writes the members in order.
func (o orderedObject) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// wasmMagic begins every WebAssembly binary.
const wasmMagic = "\x00asm"

func fromFileBytes(file string, b []byte) (Source, error) {
	if bytes.HasPrefix(b, []byte(wasmMagic)) {
		return fromModule(file, b)
	}
	s, err := fromPack(b)
	if err != nil {
		return Source{}, fmt.Errorf("it is neither a WebAssembly module nor a pack made by models pack: %w", err)
	}
	sum := sha256.Sum256(b)
	s.File, s.SHA256 = filepath.Base(file), hex.EncodeToString(sum[:])
	return s, nil
}

// Pinned checks that a source is what an operator pinned: the sha256 of the file
// that stands for all of it (a pack, a module by itself, or model.json, which has
// the digests of the rest).
func (s Source) Pinned(sum string) error {
	want := strings.TrimPrefix(strings.ToLower(sum), "sha256:")
	switch {
	case want == s.SHA256:
		return nil
	case s.SHA256 == "":
		return errors.New("sha256: a built-in model is part of this program and cannot be pinned")
	}
	return fmt.Errorf("sha256: %s has %s, pinned is %s; find out why it changed before you pin the new one", s.File,
		s.SHA256, want)
}

// CheckTasks compares what a manifest says with what the module claims.
func (s Source) CheckTasks(claimed []string) error {
	if s.Tasks == nil {
		return nil
	}
	a, b := slices.Sorted(slices.Values(s.Tasks)), slices.Sorted(slices.Values(claimed))
	if !slices.Equal(a, b) {
		return fmt.Errorf("%s says that the model has the tasks %v, the module claims %v", ManifestFile, a, b)
	}
	return nil
}
