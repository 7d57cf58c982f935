package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"
)

// ErrTaken is the error of a name that the configuration has already, for another server.
var ErrTaken = errors.New("the name is taken")

// Add enters a server into a configuration; nil stands for a file that is not there.
// Another server of that name is replaced only if replace says so, else the error is ErrTaken.
func (c Client) Add(src []byte, name string, s Server, replace bool) ([]byte, error) {
	if c.toml {
		return c.addTOML(src, name, s, replace)
	}
	e := c.entry(name, s)
	doc, err := parse(src)
	if err != nil {
		return nil, err
	}
	if has := doc.find(c.section, name); has != nil && !replace && !sameJSON(has, e) {
		return nil, ErrTaken
	} else if has == nil || !sameJSON(has, e) {
		if err := doc.set([]string{c.section, name}, e); err != nil {
			return nil, err
		}
	}
	if c.inputs && s.Secret != "" {
		if err := doc.addInput(input{"promptString", inputID(name), "API key of Mneme", true}); err != nil {
			return nil, err
		}
	}
	return doc.bytes(), nil
}

// lacks says which lists a configuration that can be read has to get for a server, and whether it has one of that name.
func (c Client) lacks(src []byte, name string, s Server) (lists []string, has bool) {
	if c.toml { // where a table needs nothing around it
		_, servers, err := c.decodeTOML(src)
		_, has = servers[name]
		return nil, err == nil && has
	}
	doc, err := parse(src)
	if err != nil {
		return nil, false
	}
	if doc.find(c.section) == nil {
		lists = append(lists, c.section)
	}
	if c.inputs && s.Secret != "" && doc.find("inputs") == nil {
		lists = append(lists, "inputs")
	}
	return lists, doc.find(c.section, name) != nil
}

// empty reports that a configuration says nothing, not even in a comment.
func (c Client) empty(src []byte) bool {
	src = bytes.TrimPrefix(src, bom)
	if c.toml {
		return len(bytes.TrimSpace(src)) == 0
	}
	return string(bytes.Join(bytes.Fields(src), nil)) == "{}"
}

// Remove takes a server out of a configuration, and lists that were made for it where nothing is left in
// them. found is false where it has none of that name.
func (c Client) Remove(src []byte, name string, made ...string) (out []byte, found bool, err error) {
	if c.toml {
		return c.removeTOML(src, name)
	}
	doc, err := parse(src)
	if err != nil {
		return nil, false, err
	}
	if doc.find(c.section, name) == nil {
		return src, false, nil
	}
	section := doc.find(c.section)
	err = doc.remove(section, func(i int) bool {
		return section.Value.(*hujson.Object).Members[i].Name.Value.(hujson.Literal).String() == name
	})
	if asked := doc.elements("inputs"); err == nil && c.inputs && asked != nil {
		err = doc.remove(doc.find("inputs"), func(i int) bool {
			var has input
			return standard(asked[i], &has) == nil && has.ID == inputID(name)
		})
	}
	for _, list := range made {
		if v := doc.find(list); err != nil || v == nil || !bare(doc.src[v.StartOffset:v.EndOffset]) {
			continue
		}
		root := doc.root.Value.(*hujson.Object)
		err = doc.remove(&doc.root, func(i int) bool { return root.Members[i].Name.Value.(hujson.Literal).String() == list })
	}
	return doc.bytes(), true, err
}

// bare reports that an object or an array holds nothing but white space.
func bare(text []byte) bool { return len(bytes.TrimSpace(text[1:len(text)-1])) == 0 }

// document is a JSON file with comments, as its bytes and as they are understood.
type document struct {
	src     []byte
	root    hujson.Value
	newline string
	bom     bool
	open    bool // its last line has no end
}

var bom = []byte("\ufeff")

func parse(src []byte) (*document, error) {
	d := &document{newline: "\n"}
	src, d.bom = bytes.CutPrefix(src, bom)
	if bytes.Contains(src, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	if len(bytes.TrimSpace(src)) == 0 {
		src = []byte("{}\n")
	}
	if d.open = !bytes.HasSuffix(src, []byte("\n")); d.open { // the parser wants one behind a comment
		src = append(bytes.Clone(src), '\n')
	}
	return d, d.read(src)
}

func (d *document) read(src []byte) (err error) {
	if d.root, err = hujson.Parse(src); err != nil {
		return fmt.Errorf("it is no valid JSON: %w", err)
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return errors.New("it is JSON, but no object")
	}
	if err := unique(root); err != nil {
		return err
	}
	for i := range root.Members {
		if o, ok := root.Members[i].Value.Value.(*hujson.Object); ok {
			if err := unique(o); err != nil {
				return err
			}
		}
	}
	d.src = src
	return nil
}

// unique fails on an object with a name twice: readers differ in which one they take.
func unique(o *hujson.Object) error {
	seen := map[string]bool{}
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		if seen[name] {
			return fmt.Errorf("it has %q twice", name)
		}
		seen[name] = true
	}
	return nil
}

func (d *document) bytes() []byte {
	out := bytes.Clone(d.src)
	if d.open {
		out = bytes.TrimSuffix(out, []byte("\n"))
	}
	if d.bom {
		return append(bytes.Clone(bom), out...)
	}
	return out
}

// member finds a member of an object.
func member(v *hujson.Value, name string) *hujson.Value {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &o.Members[i].Value
		}
	}
	return nil
}

func (d *document) find(path ...string) *hujson.Value {
	v := &d.root
	for _, name := range path {
		if v = member(v, name); v == nil {
			return nil
		}
	}
	return v
}

func (d *document) elements(name string) []hujson.Value {
	if v := d.find(name); v != nil {
		if a, ok := v.Value.(*hujson.Array); ok {
			return a.Elements
		}
	}
	return nil
}

// standard decodes a value that may have comments.
func standard(v hujson.Value, into any) error {
	v = v.Clone()
	v.Standardize()
	return json.Unmarshal(v.Pack(), into)
}

func sameJSON(has *hujson.Value, want any) bool {
	var a, b any
	body, err := json.Marshal(want)
	return err == nil && standard(*has, &a) == nil && json.Unmarshal(body, &b) == nil && reflect.DeepEqual(a, b)
}

// set gives a path of names a value, and makes the objects on the way that are missing.
func (d *document) set(path []string, value any) error {
	v, depth := &d.root, 0
	for ; depth < len(path); depth++ {
		next := member(v, path[depth])
		if next == nil {
			break
		}
		if v = next; depth < len(path)-1 {
			if _, ok := v.Value.(*hujson.Object); !ok {
				return fmt.Errorf("its %s is no object", path[depth])
			}
		}
	}
	for i := len(path) - 1; i > depth; i-- {
		value = map[string]any{path[i]: value}
	}
	if depth == len(path) {
		body, err := d.render(value, depth)
		if err != nil {
			return err
		}
		return d.splice(edit{v.StartOffset, v.EndOffset, body})
	}
	body, err := d.render(value, depth+1)
	if err != nil {
		return err
	}
	return d.insert(v, depth, strconv.Quote(path[depth])+": "+body)
}

// addInput enters a secret to ask for, unless it is there.
func (d *document) addInput(in input) error {
	list := d.find("inputs")
	if list == nil {
		return d.set([]string{"inputs"}, []input{in})
	}
	if _, ok := list.Value.(*hujson.Array); !ok {
		return errors.New("its inputs are no array")
	}
	for _, has := range d.elements("inputs") {
		var known input
		if standard(has, &known) == nil && known.ID == in.ID {
			return nil
		}
	}
	body, err := d.render(in, 2)
	if err != nil {
		return err
	}
	return d.insert(list, 1, body)
}

// edit replaces a range of bytes.
type edit struct {
	from, to int
	text     string
}

// splice applies edits, given in their order, and reads the result.
func (d *document) splice(edits ...edit) error {
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, d.src[at:e.from]...), e.text...)
		at = e.to
	}
	return d.read(append(out, d.src[at:]...))
}

// insert puts text behind what an object or array at a depth holds, on a line of its own.
func (d *document) insert(v *hujson.Value, depth int, text string) error {
	var last *hujson.Value
	switch c := v.Value.(type) {
	case *hujson.Object:
		if n := len(c.Members); n > 0 {
			last = &c.Members[n-1].Value
		}
	case *hujson.Array:
		if n := len(c.Elements); n > 0 {
			last = &c.Elements[n-1]
		}
	}
	end := v.EndOffset - 1 // of the closing bracket
	from := v.StartOffset + 1
	var edits []edit
	trailing := last != nil && last.AfterExtra != nil // a comma follows the last value
	if last != nil {
		from = last.EndOffset
		if !trailing {
			edits = append(edits, edit{from, from, ","})
		}
	}
	inside := d.src[from:end]
	at := from + len(bytes.TrimRight(inside, " \t\r\n")) // behind comments
	text = d.newline + d.indent(depth+1) + text
	if trailing {
		text += ","
	}
	if !bytes.Contains(d.src[at:end], []byte("\n")) {
		text += d.newline + d.indent(depth)
		edits = append(edits, edit{at, end, text})
	} else {
		edits = append(edits, edit{at, at, text})
	}
	return d.splice(edits...)
}

// item is a member of an object or an element of an array, as ranges of bytes.
type item struct{ from, to, comma int }

func itemOf(from int, v hujson.Value) item {
	return item{from, v.EndOffset, v.EndOffset + len(v.AfterExtra)}
}

// remove takes a member or an element out, with its line and its comma. Comments stay: they
// may be about what is around it.
func (d *document) remove(of *hujson.Value, is func(i int) bool) error {
	var items []item
	trailing := false
	switch c := of.Value.(type) {
	case *hujson.Object:
		for _, m := range c.Members {
			items = append(items, itemOf(m.Name.StartOffset, m.Value))
			trailing = m.Value.AfterExtra != nil
		}
	case *hujson.Array:
		for _, e := range c.Elements {
			items = append(items, itemOf(e.StartOffset, e))
			trailing = e.AfterExtra != nil
		}
	}
	for i, it := range items {
		if !is(i) {
			continue
		}
		from := len(bytes.TrimRight(d.src[:it.from], " \t"))
		if before := bytes.TrimSuffix(bytes.TrimSuffix(d.src[:from], []byte("\n")), []byte("\r")); len(before) < from {
			from = len(before)
		} else {
			from = it.from
		}
		gone := edit{from, it.to, ""}
		switch {
		case i < len(items)-1 || trailing:
			return d.splice(gone, edit{it.comma, it.comma + 1, ""})
		case i > 0:
			return d.splice(edit{items[i-1].comma, items[i-1].comma + 1, ""}, gone)
		}
		return d.splice(gone)
	}
	return nil
}

// unit is what the file indents by.
func (d *document) unit() string {
	o := d.root.Value.(*hujson.Object)
	if len(o.Members) > 0 {
		before := string(o.Members[0].Name.BeforeExtra)
		if i := strings.LastIndexByte(before, '\n'); i >= 0 {
			line := before[i+1:]
			if unit := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; unit != "" {
				return unit
			}
		}
	}
	return "  "
}

func (d *document) indent(depth int) string { return strings.Repeat(d.unit(), depth) }

// render writes a value as it stands at a depth.
func (d *document) render(value any, depth int) (string, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	enc.SetIndent(d.indent(depth), d.unit())
	if err := enc.Encode(value); err != nil {
		return "", fmt.Errorf("write the entry: %w", err)
	}
	return strings.ReplaceAll(strings.TrimSuffix(body.String(), "\n"), "\n", d.newline), nil
}

// decodeTOML reads a configuration and gives the table of its servers, which may be nil.
func (c Client) decodeTOML(src []byte) (all, servers map[string]any, err error) {
	if _, err := toml.Decode(string(bytes.TrimPrefix(src, bom)), &all); err != nil {
		return nil, nil, fmt.Errorf("it is no valid TOML: %w", err)
	}
	servers, _ = all[c.section].(map[string]any)
	return all, servers, nil
}

// addTOML appends a table. What the file says is read again afterwards: nothing else may have
// changed, however it was written.
func (c Client) addTOML(src []byte, name string, s Server, replace bool) ([]byte, error) {
	all, has, err := c.decodeTOML(src)
	if err != nil {
		return nil, err
	}
	table := map[string]any{"command": s.Command, "args": s.Args}
	if s.Secret != "" && c.forward {
		table["env_vars"] = []string{s.Secret}
	}
	var text bytes.Buffer
	enc := toml.NewEncoder(&text)
	enc.Indent = ""
	if err := enc.Encode(map[string]any{c.section: map[string]any{name: table}}); err != nil {
		return nil, fmt.Errorf("write the entry: %w", err)
	}
	body := strings.TrimPrefix(text.String(), "["+c.section+"]\n")
	var want map[string]any
	if _, err := toml.Decode(body, &want); err != nil {
		return nil, fmt.Errorf("write the entry: %w", err)
	}
	entry := want[c.section].(map[string]any)[name]
	if old, ok := has[name]; ok {
		switch {
		case reflect.DeepEqual(old, entry):
			return src, nil
		case !replace:
			return nil, ErrTaken
		}
		if src, _, err = c.removeTOML(src, name); err != nil {
			return nil, err
		}
		delete(has, name)
	}
	if len(has) > 0 && !c.byTables(src) {
		return nil, c.entangled()
	}
	out := bytes.Clone(src)
	newline := "\n"
	if bytes.Contains(src, []byte("\r\n")) {
		newline = "\r\n"
	}
	if n := len(out); n > 0 {
		if out[n-1] != '\n' {
			out = append(out, newline...)
		}
		out = append(out, newline...)
	}
	out = append(out, strings.ReplaceAll(strings.TrimLeft(body, "\n"), "\n", newline)...)
	if all == nil {
		all = map[string]any{}
	}
	return out, c.checkTOML(out, all, name, entry)
}

// checkTOML fails where a configuration does not say what it said before but for one server.
func (c Client) checkTOML(out []byte, before map[string]any, name string, entry any) error {
	after, has, err := c.decodeTOML(out)
	if err == nil && reflect.DeepEqual(has[name], entry) && reflect.DeepEqual(c.without(before, name), c.without(after, name)) {
		return nil
	}
	return c.entangled()
}

func (c Client) entangled() error {
	return fmt.Errorf("its %s is written in a way that can't be changed without touching the rest", c.section)
}

// byTables reports that some server stands under a header of its own, so that another one may
// follow. An inline table can't be added to.
func (c Client) byTables(src []byte) bool {
	for line := range bytes.Lines(src) {
		if key, ok := header(line); ok && len(key) >= 2 && key[0] == c.section {
			return true
		}
	}
	return false
}

// without is a configuration less a server, and less the table of servers where that was all.
func (c Client) without(all map[string]any, name string) map[string]any {
	out := map[string]any{}
	for k, v := range all {
		if k != c.section {
			out[k] = v
			continue
		}
		rest := map[string]any{}
		if servers, ok := v.(map[string]any); ok {
			for n, s := range servers {
				if n != name {
					rest[n] = s
				}
			}
		}
		if len(rest) > 0 {
			out[k] = rest
		}
	}
	return out
}

// removeTOML takes the tables of a server out, with the comments that stand in them and the
// empty line before.
func (c Client) removeTOML(src []byte, name string) ([]byte, bool, error) {
	all, has, err := c.decodeTOML(src)
	if err != nil {
		return nil, false, err
	}
	if _, ok := has[name]; !ok {
		return src, false, nil
	}
	var out []byte
	within := false
	for line := range bytes.Lines(src) {
		if key, ok := header(line); ok {
			ours := len(key) >= 2 && key[0] == c.section && key[1] == name
			if ours && !within && bytes.HasSuffix(out, []byte("\n")) {
				trimmed := bytes.TrimRight(out, "\r\n")
				if len(trimmed) > 0 {
					end := len(trimmed) + bytes.IndexByte(out[len(trimmed):], '\n') + 1
					trimmed = out[:end]
				}
				out = bytes.Clone(trimmed)
			}
			if within && !ours && len(out) > 0 {
				out = append(out, '\n')
			}
			within = ours
		}
		if !within {
			out = append(out, line...)
		}
	}
	if err := c.checkTOML(out, all, name, nil); err != nil {
		return nil, false, err
	}
	return out, true, nil
}

// header reads a line as the header of a table: its key in parts.
func header(line []byte) (key []string, ok bool) {
	text := strings.TrimSpace(string(line))
	if !strings.HasPrefix(text, "[") || strings.HasPrefix(text, "[[") {
		return nil, strings.HasPrefix(text, "[[")
	}
	var table map[string]any
	meta, err := toml.Decode(text, &table)
	if err != nil || len(meta.Keys()) == 0 {
		return nil, false
	}
	return meta.Keys()[len(meta.Keys())-1], true
}
