package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Extend makes a second model out of a pack's tensors: extension is a small
// safetensors file whose metadata holds the settings that differ from f's, with
// "base" naming the pack that they are meant for, and whose tensors are added to
// f's. Nothing is copied: both models' tensors alias f's bytes, so a host that
// shares equal assets holds them once. It keeps extension, which must not change.
func (f *File) Extend(extension []byte) (*File, error) {
	out, err := f.extend(extension)
	if err != nil {
		return nil, fmt.Errorf("extend pack %s: %w", f.Config.Name, err)
	}
	return out, nil
}

func (f *File) extend(extension []byte) (*File, error) {
	tensors, meta, err := parseSafetensors(extension)
	if err != nil {
		return nil, err
	}
	raw, ok := meta[MetadataKey]
	if !ok {
		return nil, errors.New("the extension has no mneme settings in its metadata")
	}
	settings := struct {
		Base string `json:"base"`
		*Config
	}{Config: new(f.Config)}
	settings.Config.Languages = slices.Clone(f.Config.Languages)
	strict := json.NewDecoder(bytes.NewReader([]byte(raw)))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&settings); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	if settings.Base != f.Config.Name {
		return nil, fmt.Errorf("the extension is of %q", settings.Base)
	}
	out := &File{Config: *settings.Config, Tensors: maps.Clone(f.Tensors)}
	for name, t := range tensors {
		if _, taken := out.Tensors[name]; taken {
			return nil, fmt.Errorf("tensor %s is in the pack already", name)
		}
		out.Tensors[name] = t
	}
	if err := out.Config.Validate(); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	return out, out.check()
}
