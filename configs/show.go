package configs

import (
	"encoding"
	"fmt"
	"reflect"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/mnemehq/mneme/core/registry"
)

// YAML renders the effective configuration, secrets redacted. Reading it back
// gives the same configuration, but for the secrets.
func (c *Config) YAML(r *registry.Registry) ([]byte, error) {
	fields, err := registry.Fields(reflect.TypeFor[Config]())
	if err != nil {
		return nil, fmt.Errorf("configuration structs: %w", err)
	}
	body, err := yaml.MarshalWithOptions(render(r, fields, reflect.ValueOf(c).Elem()), yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("render configuration: %w", err)
	}
	return body, nil
}

func render(r *registry.Registry, fields []registry.Field, v reflect.Value) yaml.MapSlice {
	items := make(yaml.MapSlice, 0, len(fields))
	for _, f := range fields {
		items = append(items, yaml.MapItem{Key: f.Name, Value: renderValue(r, f, v.FieldByIndex(f.Index))})
	}
	return items
}

func renderValue(r *registry.Registry, f registry.Field, v reflect.Value) any {
	switch f.Shape {
	case registry.Struct:
		return render(r, f.Fields, v)
	case registry.Select:
		s := v.Interface().(registry.Selection)
		table, _ := r.Table(f.Kind)
		info, ok := table.Component(s.Component)
		if !ok {
			return yaml.MapSlice{{Key: s.Component, Value: yaml.MapSlice{}}}
		}
		return yaml.MapSlice{{Key: s.Component, Value: render(r, info.Fields(), reflect.ValueOf(s.Config).Elem())}}
	case registry.List:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = renderValue(r, *f.Elem, v.Index(i))
		}
		return list
	case registry.Map:
		byName := map[string]any{}
		for _, k := range v.MapKeys() {
			byName[k.String()] = renderValue(r, *f.Elem, v.MapIndex(k))
		}
		items := yaml.MapSlice{}
		for _, k := range sortedKeys(byName) {
			items = append(items, yaml.MapItem{Key: k, Value: byName[k]})
		}
		return items
	case registry.Duration:
		return shortDuration(time.Duration(v.Int()))
	case registry.Sensitive:
		return v.Interface().(registry.Secret).String()
	case registry.Text:
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	return v.Interface()
}

// shortDuration writes 2m0s as 2m, as an operator would.
func shortDuration(d time.Duration) string {
	switch {
	case d == 0:
		return "0s"
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
