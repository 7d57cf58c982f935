package models

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/wasm/abi"
	"github.com/mnemehq/mneme/wasm/models/e5small"
	"github.com/mnemehq/mneme/wasm/models/encoder"
	"github.com/mnemehq/mneme/wasm/models/pack"
	"github.com/mnemehq/mneme/wasm/models/reranksmall"
	"github.com/mnemehq/mneme/wasm/models/spladetiny"
)

// Source is a model as it is handed to the host: code, settings and weights.
// The byte slices may alias read-only memory.
type Source struct {
	Wasm      []byte
	Config    []byte            // JSON for mneme_open
	Assets    map[string][]byte // by the names that the module asks for
	Name      string
	Version   string
	Licence   string
	Languages []string
	Task      pack.Task // of a pack; empty: the module says
	Bytes     int       // of the file it came from; a model that shares another's weights has few
	Trusted   bool      // our own module, which polls; others are interrupted by force

	// What a vendor's manifest says beside, and what an operator pins.
	Tasks    []string         // nil: not said
	MemoryMB int              // most memory that an instance takes; 0: not said
	Allow    []abi.Capability // nil: not said
	Settings map[string]Setting
	File     string // that stands for all of the model; empty: built in
	Digest   string // host.Module's, where it is known beforehand; empty: to be computed
	SHA256   string // of File, in hex
}

const builtinPrefix = "builtin:"

// The built-in models.
const (
	Default       = builtinPrefix + "e5-small-v2"  // the default embedder
	DefaultSparse = builtinPrefix + "splade-tiny"  // the default learned-sparse encoder
	DefaultRerank = builtinPrefix + "rerank-small" // the default reranker
)

// builtin is a model inside this program.
type builtin struct {
	name string
	// What host.Module.Digest gives, since hashing the weights is a third of a server's
	// start. TestBuiltinDigests says what belongs here when a model or the engine changes.
	digest string
	open   func() (Source, error)
}

func builtins() []builtin {
	return []builtin{
		{Default, "sha256:c3ba9660225974d7cfc7d79d2e4b4abec95e2fd521a96a16a6f35c3e08af3dc6",
			func() (Source, error) { return fromPack(e5small.Pack()) }},
		{DefaultSparse, "sha256:2d4701928ac1639b84dad7dfa9a6265a9f09abd8cc4b3c39b3655e780f55e97b",
			func() (Source, error) { return fromPack(spladetiny.Pack()) }},
		{DefaultRerank, "sha256:edef835c25083a556546ea845944fcd44ebe4895aac7c95c76d484ea51bb61ed",
			func() (Source, error) { return extended(e5small.Pack(), reranksmall.Extension()) }},
	}
}

// Builtin lists the names of the models inside this program.
func Builtin() []string {
	var names []string
	for _, b := range builtins() {
		names = append(names, b.name)
	}
	return names
}

// Open finds a model by name: "builtin:NAME", a pack made by pack.Pack, a
// vendor's .wasm file, or a folder with a vendor's model.json.
func Open(name string) (Source, error) {
	s, err := open(name)
	if err != nil {
		return Source{}, fmt.Errorf("module %s: %w", name, err)
	}
	return s, nil
}

func open(name string) (Source, error) {
	if strings.HasPrefix(name, builtinPrefix) {
		for _, b := range builtins() {
			if b.name == name {
				s, err := b.open()
				s.Digest = b.digest
				return s, err
			}
		}
		return Source{}, fmt.Errorf("there is no such built-in model; there is %s", strings.Join(Builtin(), ", "))
	}
	stat, err := os.Stat(name)
	if err != nil {
		return Source{}, err
	}
	if stat.IsDir() {
		return fromFolder(name)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return Source{}, err
	}
	return fromFileBytes(name, b)
}

func fromPack(b []byte) (Source, error) {
	f, err := pack.Parse(b)
	if err != nil {
		return Source{}, err
	}
	return fromFile(f, len(b))
}

// extended is a second model over the weights of base: both alias its bytes.
func extended(base, extension []byte) (Source, error) {
	f, err := pack.Parse(base)
	if err != nil {
		return Source{}, err
	}
	if f, err = f.Extend(extension); err != nil {
		return Source{}, err
	}
	return fromFile(f, len(extension))
}

// fromFile is a pack run by the built-in encoder.
func fromFile(f *pack.File, size int) (Source, error) {
	config, err := json.Marshal(f.Config)
	if err != nil {
		return Source{}, err
	}
	c := f.Config
	module := encoder.Module()
	var settings map[string]Setting
	switch {
	case c.Format == 3:
		module = encoder.General()
		if settings, config, err = packSettings(c, config); err != nil {
			return Source{}, err
		}
	case c.Hosted():
		module = encoder.Hosted()
	}
	return Source{Wasm: module, Config: config, Assets: f.Assets(), Task: c.Does(), Bytes: size, Trusted: true,
		Settings: settings, Name: c.Name, Version: c.Version, Licence: c.Licence, Languages: c.Languages}, nil
}

// packSettings are what an operator may set of an embedder of format 3, with what the pack says as defaults, and its
// configuration without them. Each makes another model.
func packSettings(c pack.Config, config []byte) (map[string]Setting, []byte, error) {
	if c.Does() != pack.Embedding {
		return nil, config, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(config, &members); err != nil {
		return nil, nil, err
	}
	whole := c
	whole.Dimensions = 0
	least, most := float64(pack.MinDimensions), float64(whole.Width())
	settings := map[string]Setting{
		"dimensions": {Type: SettingInteger, Minimum: &least, Maximum: &most, Default: json.RawMessage(strconv.Itoa(c.Width())),
			Description: "how many of a vector's first values are kept; for models that were trained to be cut"},
	}
	for name, texts := range map[string]string{"query_prefix": "queries", "passage_prefix": "passages"} {
		settings[name] = Setting{Type: SettingString, MaxLength: pack.MaxPrefix, Default: members[name],
			Description: "put before " + texts}
	}
	for name := range settings {
		delete(members, name)
	}
	config, err := json.Marshal(members)
	return settings, config, err
}
