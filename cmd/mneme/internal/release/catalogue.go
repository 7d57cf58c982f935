package release

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
)

// Listing is how a release stands in a catalogue.
type Listing struct {
	Summary, Source string // "": what the catalogue says already
	At              string // URL of the folder where the archive will lie; "": the base that the catalogue has for it
}

var notBase = regexp.MustCompile(`[^a-z0-9_]+`)

// baseOf is the base of a model's URLs.
func baseOf(name string) string { return notBase.ReplaceAllString(strings.ToLower(name), "_") }

// Print gives the part of a catalogue that lists a release, to be merged by hand.
func (r Release) Print(l Listing) (string, error) {
	e := r.Entry
	e.Summary, e.Source = l.Summary, l.Source
	entry, err := render(r.Name, e)
	if err != nil {
		return "", err
	}
	head := ""
	if l.At != "" {
		head = fmt.Sprintf("bases:\n  %s: %q\n", baseOf(r.Name), l.At)
	}
	return head + "models:\n" + indent(entry, 2), nil
}

// AddTo lists a release in a catalogue file: its entry is added, or replaces the one of
// that name; everything else stays as it is written. A file that is not there is made.
// It reports whether the file was changed.
func (r Release) AddTo(file string, l Listing) (changed bool, err error) {
	old, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if l.At == "" {
			return false, fmt.Errorf("there is no catalogue %s; to make one say where the archive will lie: --at URL", file)
		}
		old, err = fmt.Appendf(nil, "version: 1\nbases:\n  %s: %q\nmodels:\n", baseOf(r.Name), l.At), nil
	}
	if err != nil {
		return false, err
	}
	text, err := r.merge(old, l)
	if err != nil {
		return false, fmt.Errorf("add %s to %s: %w", r.Name, file, err)
	}
	if bytes.Equal(text, old) {
		return false, nil
	}
	err = disk.Publish(file, text)
	return err == nil, err
}

// merge lists a release in the text of a catalogue.
func (r Release) merge(old []byte, l Listing) ([]byte, error) {
	var was pull.Catalogue
	if err := yaml.UnmarshalWithOptions(old, &was, yaml.Strict()); err != nil {
		return nil, err
	}
	e := r.Entry
	e.Summary, e.Source = l.Summary, l.Source
	if before, ok := was.Models[r.Name]; ok {
		if e.Summary == "" {
			e.Summary = before.Summary
		}
		if e.Source == "" {
			e.Source = before.Source
		}
	}
	base := baseOf(r.Name)
	switch at := was.Bases[base]; {
	case at == "" && l.At == "":
		return nil, fmt.Errorf("it has no base %s: put the URL of the folder where the archive will lie under bases", base)
	case at == "":
		return nil, fmt.Errorf("it has no base %s: put %q under bases", base, l.At)
	case l.At != "" && at != l.At:
		return nil, fmt.Errorf("its base %s is %s, not %s", base, at, l.At)
	}
	if before, ok := was.Models[r.Name]; ok && reflect.DeepEqual(before, e) {
		return old, nil
	}
	entry, err := render(r.Name, e)
	if err != nil {
		return nil, err
	}
	text, err := splice(old, r.Name, entry)
	if err != nil {
		return nil, err
	}
	// What is written has to read as what is meant, however the file is written.
	want := was
	want.Models = map[string]pull.Entry{r.Name: e}
	for name, other := range was.Models {
		if name != r.Name {
			want.Models[name] = other
		}
	}
	if is, err := pull.Parse(text); err != nil {
		return nil, err
	} else if !reflect.DeepEqual(is, want) {
		return nil, errOddForm
	}
	return text, nil
}

var errOddForm = errors.New("it is written in a form that cannot be changed here; without --catalogue the entry is printed, " +
	"to be put in by hand")

// splice puts an entry into the models of a catalogue, at the end or in the place of the
// one of that name.
func splice(old []byte, name, entry string) ([]byte, error) {
	lines := strings.SplitAfter(strings.TrimRight(string(old), "\n")+"\n", "\n")
	lines = lines[:len(lines)-1] // what is behind the last line break is nothing
	f, err := parser.ParseBytes(old, 0)
	if err != nil {
		return nil, err
	}
	if len(f.Docs) != 1 {
		return nil, errOddForm
	}
	root, ok := f.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		return nil, errOddForm
	}
	// from and to are the lines of the old entry, or of none where the new one goes.
	for i, section := range root.Values {
		if section.Key.String() != "models" {
			continue
		}
		end := len(lines)
		if i+1 < len(root.Values) {
			end = before(lines, line(root.Values[i+1]))
		}
		from, to, column := end, end, 2
		switch body := section.Value.(type) {
		case *ast.NullNode:
		case *ast.MappingNode:
			if body.IsFlowStyle {
				return nil, errOddForm
			}
			column = body.Values[0].Key.GetToken().Position.Column - 1
			for j, model := range body.Values {
				if key := model.Key.GetToken().Value; key != name {
					continue
				}
				from = line(model)
				if j+1 < len(body.Values) {
					to = before(lines, line(body.Values[j+1]))
				}
			}
		default:
			return nil, errOddForm
		}
		return []byte(strings.Join(lines[:from], "") + indent(entry, column) + strings.Join(lines[to:], "")), nil
	}
	return nil, errOddForm
}

// line is the line of a key, counted from 0.
func line(v *ast.MappingValueNode) int { return v.Key.GetToken().Position.Line - 1 }

// before is the line behind what comes before a key: comments and empty lines above the
// key are its own.
func before(lines []string, key int) int {
	for key > 0 {
		above := strings.TrimSpace(lines[key-1])
		if above != "" && !strings.HasPrefix(above, "#") {
			break
		}
		key--
	}
	return key
}

// render writes an entry under its name.
func render(name string, e pull.Entry) (string, error) {
	entry := yaml.MapSlice{}
	add := func(key string, value any) {
		if v := reflect.ValueOf(value); !v.IsZero() {
			entry = append(entry, yaml.MapItem{Key: key, Value: value})
		}
	}
	add("summary", e.Summary)
	add("task", string(e.Task))
	add("version", e.Version)
	add("languages", e.Languages)
	add("licence", e.Licence)
	add("source", e.Source)
	add("format", string(e.Format))
	add("bytes", e.Bytes)
	var files []yaml.MapSlice
	for _, f := range e.Files {
		files = append(files, yaml.MapSlice{{Key: "url", Value: f.URL}, {Key: "sha256", Value: f.SHA256},
			{Key: "bytes", Value: f.Bytes}, {Key: "take", Value: f.Take}})
	}
	add("files", files)
	b, err := yaml.MarshalWithOptions(yaml.MapSlice{{Key: name, Value: entry}}, yaml.IndentSequence(true))
	return string(b), err
}

func indent(text string, columns int) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(strings.Repeat(" ", columns) + l)
	}
	return b.String()
}
