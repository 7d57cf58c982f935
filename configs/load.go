package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/mnemehq/mneme/core/registry"
)

// maxFile is far above any sensible configuration and keeps a wrong path from
// filling memory.
const maxFile = 4 << 20

// Source says where a configuration comes from. Later ones win: defaults, file,
// environment, settings.
type Source struct {
	File     string                      // path of the YAML file; "": none
	Getenv   func(string) (string, bool) // nil: the process's environment
	Settings []Setting                   // from flags
	// Absent hears of a variable that is not set, or a file that cannot be read, in the value of
	// the setting at path, which is then not checked: secrets are not everywhere that a file is.
	// nil: that is a problem.
	Absent func(path string, err error)
}

// Setting overrides one scalar setting.
type Setting struct {
	Path  string // "server.addr"
	Value string
	From  string // "flag --addr", for problems
}

// Load reads and checks a configuration. The error is Problems when the
// configuration is at fault, with every problem in it.
func Load(r *registry.Registry, s Source) (*Config, error) {
	if s.Getenv == nil {
		s.Getenv = os.LookupEnv
	}
	c := Default(r)
	fields, err := registry.Fields(reflect.TypeFor[Config]())
	if err != nil {
		return nil, fmt.Errorf("configuration structs: %w", err)
	}
	d := &decoder{
		registry:  r,
		getenv:    s.Getenv,
		absent:    s.Absent,
		unchecked: map[string]bool{},
		places:    map[string]place{},
		anchors:   map[string]ast.Node{},
	}
	builtin := c.Models
	if s.File != "" {
		d.file, d.dir = s.File, filepath.Dir(s.File)
		body, err := readFile(s.File)
		if err != nil {
			return nil, err
		}
		d.document(body, fields, reflect.ValueOf(c).Elem())
	}
	d.environment(fields, reflect.ValueOf(c).Elem(), "")
	for _, set := range s.Settings {
		d.setting(fields, reflect.ValueOf(c).Elem(), set)
	}
	if len(d.problems) == 0 || !d.broken {
		d.shortRedis(c)
		c.validate(d.at)
		d.components(c)
	}
	d.problems = slices.DeleteFunc(d.problems, func(p Problem) bool { return d.unchecked[p.Path] })
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	roles := c.Roles
	for name := range builtin {
		_, given := d.places["models."+name]
		if !given && name != roles.Embed && name != roles.Sparse && name != roles.Rerank && name != roles.Synthesize &&
			!slices.Contains(roles.Previous, name) && len(c.Aliases[name]) == 0 {
			delete(c.Models, name)
		}
	}
	return c, nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read configuration: %w; name a file that is there with --config or MNEME_CONFIG", err)
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("read configuration: %s is a folder; name the file in it", path)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("read configuration: %s has %d bytes, more than %d", path, info.Size(), maxFile)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return body, nil
}

// document decodes the one YAML document of a file over the defaults.
func (d *decoder) document(body []byte, fields []registry.Field, into reflect.Value) {
	file, err := parser.ParseBytes(body, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		p := Problem{File: d.file, Line: 1, Column: 1, Reason: "not valid YAML: " + err.Error()}
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			p.Reason = "not valid YAML: " + syntax.Message
			if t := syntax.Token; t != nil && strings.Contains(syntax.Message+t.Value+t.Origin, "\t") {
				p.Reason += "; a tab stands there: indent with spaces"
			}
			if syntax.Token != nil && syntax.Token.Position != nil {
				p.Line, p.Column = syntax.Token.Position.Line, syntax.Token.Position.Column
			}
		}
		d.problems, d.broken = append(d.problems, p), true
		return
	}
	documents := 0
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if documents++; documents > 1 {
			d.problem(doc.Body, "", "a configuration is one YAML document")
			return
		}
		d.structure(doc.Body, fields, into, "")
	}
}

// components asks every configured component's Validate.
func (d *decoder) components(c *Config) {
	check := func(path string, table registry.Table, s registry.Selection) {
		info, _ := table.Component(s.Component)
		v, ok := s.Config.(interface{ Validate() error })
		if !ok {
			return
		}
		path += "." + s.Component
		for _, err := range flatten(v.Validate()) {
			// "key: reason" is about that key.
			key, reason, ok := strings.Cut(err.Error(), ": ")
			if ok && known(info.Fields(), key) {
				d.at(path+"."+key, "%s", reason)
			} else {
				d.at(path, "%v", err)
			}
		}
	}
	check("storage", d.registry.Store, c.Storage)
	check("keyword", d.registry.Index, c.Keyword)
	check("vector", d.registry.Index, c.Vector)
	check("sparse", d.registry.Index, c.Sparse)
	check("limits.shared", d.registry.Limit, c.Limits.Shared)
	check("files.remote", d.registry.Extractor, c.Files.Remote)
	for _, name := range sortedKeys(c.Sources.Plugins) {
		check("sources.plugins."+name, d.registry.SourcePlugin, c.Sources.Plugins[name])
	}
	for _, name := range sortedKeys(c.Models) {
		check("models."+name, d.registry.Model, c.Models[name])
	}
}

// shortRedis puts the URL of limits.redis where component redis takes it.
func (d *decoder) shortRedis(c *Config) {
	const short, component, setting = "limits.redis", "redis", "url"
	given := c.Limits.Redis.Reveal()
	if given == "" {
		return
	}
	info, _ := d.registry.Limit.Component(component)
	f, ok := find(info.Fields(), setting)
	if !ok || c.Limits.Shared.Component != component {
		d.at(short, "is of use only with limits.shared: redis")
		return
	}
	url := reflect.ValueOf(c.Limits.Shared.Config).Elem().FieldByIndex(f.Index)
	if url.String() != "" {
		d.at(short, "says again what limits.shared.redis.url says; leave one of them out")
		return
	}
	url.SetString(given)
	d.places[join("limits.shared", join(component, setting))] = d.places[short]
	c.Limits.Redis = ""
}

// known reports whether a path such as "pool.size" leads to a setting.
func known(fields []registry.Field, path string) bool {
	name, rest, deeper := strings.Cut(path, ".")
	f, ok := find(fields, name)
	return ok && (!deeper || known(f.Fields, rest))
}

func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, flatten(e)...)
		}
		return all
	}
	return []error{err}
}

// environment applies the variables that fields declare.
func (d *decoder) environment(fields []registry.Field, into reflect.Value, path string) {
	for _, f := range fields {
		if f.Shape == registry.Struct {
			d.environment(f.Fields, into.FieldByIndex(f.Index), join(path, f.Name))
		}
		if f.Env == "" {
			continue
		}
		if value, ok := d.getenv(f.Env); ok && value != "" {
			d.override(f, into.FieldByIndex(f.Index), join(path, f.Name), value, "environment "+f.Env)
		}
	}
}

func (d *decoder) setting(fields []registry.Field, into reflect.Value, s Setting) {
	rest := strings.Split(s.Path, ".")
	for i, name := range rest {
		f, ok := find(fields, name)
		if !ok {
			break
		}
		into = into.FieldByIndex(f.Index)
		if i == len(rest)-1 {
			d.override(f, into, s.Path, s.Value, s.From)
			return
		}
		fields = f.Fields
	}
	d.problems = append(d.problems, Problem{File: s.From, Path: s.Path, Reason: "no such setting"})
}

func (d *decoder) override(f registry.Field, into reflect.Value, path, value, from string) {
	d.places[path] = place{file: from}
	if err := setScalar(f, into, value); err != nil {
		d.at(path, "%v", err)
	}
}

func find(fields []registry.Field, name string) (registry.Field, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	return registry.Field{}, false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Set selects a component with some of its settings given by key, the rest at
// their defaults.
func Set(info registry.Info, values map[string]string) (registry.Selection, error) {
	s := info.Select()
	for _, key := range sortedKeys(values) {
		f, ok := find(info.Fields(), key)
		if !ok {
			return s, fmt.Errorf("component %s has no setting %s", info.Name, key)
		}
		if err := setScalar(f, reflect.ValueOf(s.Config).Elem().FieldByIndex(f.Index), values[key]); err != nil {
			return s, fmt.Errorf("component %s: %s: %w", info.Name, key, err)
		}
	}
	return s, nil
}
