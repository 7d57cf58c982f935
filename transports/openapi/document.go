package openapi

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	orderedmap "github.com/pb33f/ordered-map/v2"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/codec"
)

// Options say what a document describes.
type Options struct {
	Set    *op.Set
	Server string // URL of the server, absolute or "/"; "": "/"
}

// Document is an OpenAPI document.
type Document struct{ root *object }

// object is a JSON object whose members keep their order.
type object = orderedmap.OrderedMap[string, any]

// of makes an object of names and values; nil values are left out.
func of(members ...any) *object {
	o := orderedmap.New[string, any]()
	for i := 0; i < len(members); i += 2 {
		switch v := members[i+1].(type) {
		case nil:
			continue
		case string:
			if v == "" {
				continue
			}
		case *object:
			if v == nil || v.Len() == 0 {
				continue
			}
		case *jsonschema.Schema:
			o.Set(members[i].(string), must(orderKeywords(v)))
			continue
		}
		o.Set(members[i].(string), members[i+1])
	}
	return o
}

func must(v any, err error) any {
	if err != nil {
		panic(err) // a mistake in a tag; New answers it
	}
	return v
}

func ref(kind, name string) *object { return of("$ref", "#/components/"+kind+"/"+name) }

// builder collects what operations share.
type builder struct {
	schemas   map[string]*jsonschema.Schema
	types     map[codec.Name]string
	headers   map[string]bool
	responses map[string]*object
	shared    map[string]string // key of an error answer to the name of its component
	err       error
}

// New makes the document of a Set. It fails on a mistake in a Spec, such as an
// unknown header or a link to nowhere.
func New(o Options) (_ *Document, err error) {
	defer func() { // codec panics on tags that can't be read
		if p := recover(); p != nil {
			err = fmt.Errorf("openapi: %v", p)
		}
	}()
	b := &builder{
		schemas:   map[string]*jsonschema.Schema{},
		types:     map[codec.Name]string{},
		headers:   map[string]bool{},
		responses: map[string]*object{},
	}
	var routes []*op.Route
	for _, r := range o.Set.Routes() {
		if r.Spec.Method != "" { // others are tools
			routes = append(routes, r)
		}
	}
	b.share(routes)
	paths := orderedmap.New[string, any]()
	used := map[op.Group]bool{}
	for _, r := range routes {
		item, ok := paths.Get(r.Spec.Path)
		if !ok {
			item = of()
			paths.Set(r.Spec.Path, item)
		}
		operation, err := b.operation(r, routes)
		if err != nil {
			return nil, fmt.Errorf("openapi: operation %s: %w", r.Spec.Name, err)
		}
		item.(*object).Set(strings.ToLower(r.Spec.Method), operation)
		used[r.Spec.Group] = true
	}
	root := of(
		"openapi", "3.1.0",
		"info", info(),
		"servers", []any{of("url", cmp.Or(o.Server, "/"), "description", "This server")},
		"tags", tags(used),
		"paths", paths,
		"webhooks", b.webhooks(o.Set.Events),
		"components", b.components(),
	)
	return &Document{root}, b.err
}

// operation describes one.
func (b *builder) operation(r *op.Route, all []*op.Route) (*object, error) {
	s := &r.Spec
	if s.Group.Text() == "" {
		return nil, fmt.Errorf("the group %q is not one of op.Groups", s.Group)
	}
	var parameters []any
	gen := b.generator()
	for _, p := range gen.Parameters(r.In) {
		o := of("name", p.Name, "in", p.In, "description", p.Doc)
		if p.Required {
			o.Set("required", true)
		}
		if p.List {
			o.Set("style", "form")
			o.Set("explode", false)
		}
		o.Set("schema", must(orderKeywords(p.Schema)))
		for _, e := range s.Examples {
			if v, ok := e.Parameters[p.Name]; ok {
				o.Set("example", parameterExample(p, v))
				break
			}
		}
		parameters = append(parameters, o)
	}
	parameters = append(parameters, ref("parameters", "RequestId"), ref("parameters", "TimeoutMs"))
	out := of(
		"operationId", s.Name,
		"tags", []string{string(s.Group)},
		"summary", s.Summary,
		"description", description(s),
	)
	if s.Deprecated != nil {
		out.Set("deprecated", true)
		out.Set("x-deprecated-since", s.Deprecated.Since.UTC().Format("2006-01-02"))
		out.Set("x-sunset", s.Deprecated.Sunset.UTC().Format("2006-01-02"))
	}
	out.Set("parameters", parameters)
	if s.MaxBody > 0 && codec.HasBody(r.In) {
		media := of("schema", gen.Input(r.In))
		if e := bodyExamples(s); e.Len() > 0 {
			media.Set("examples", e)
		}
		out.Set("requestBody", of("description", fmt.Sprintf("At most %s.", size(s.MaxBody)), "required", !s.BodyOptional,
			"content", of("application/json", media)))
	}
	if s.BodyForm != nil {
		form := gen.Input(reflect.TypeOf(s.BodyForm))
		out.Set("requestBody", of("description", fmt.Sprintf("At most %s.", size(s.MaxBody)), "required", true,
			"content", of(s.BodyType, of("schema", form))))
	} else if s.BodyType != "" {
		media := of("schema", stream(gen, s.BodyType, s.BodyLines))
		if e := bodyExamples(s); e.Len() > 0 {
			media.Set("examples", e)
		}
		out.Set("requestBody", of("description",
			fmt.Sprintf("At most %s, decompressed. It is read as it comes.", size(s.MaxBody)), "required", true,
			"content", of(s.BodyType, media)))
	}
	responses := of()
	successes := answers(r)
	for _, a := range successes {
		answer, err := b.answer(r, a, all)
		if err != nil {
			return nil, err
		}
		responses.Set(strconv.Itoa(a.Status), answer)
	}
	for _, f := range failures(s) {
		key := strconv.Itoa(f.status)
		if already, ok := responses.Get(key); ok { // the status has a body of its own, too
			b.mergeError(already.(*object), f)
			continue
		}
		if name, ok := b.shared[f.key()]; ok {
			responses.Set(key, ref("responses", name))
			continue
		}
		responses.Set(key, b.failure(f))
	}
	out.Set("responses", responses)
	out.Set("security", security(s))
	return out, nil
}

// generator makes schemas whose named types become components.
func (b *builder) generator() *codec.Schemas {
	return &codec.Schemas{Refer: func(n codec.Name, build func() *jsonschema.Schema) *jsonschema.Schema {
		name, ok := b.types[n]
		if !ok {
			name = b.nameFor(n)
			b.types[n] = name
			b.schemas[name] = nil // taken, before the fields, which may refer to it
			b.schemas[name] = tellDefaults(build())
		}
		return &jsonschema.Schema{Ref: "#/components/schemas/" + name}
	}}
}

// tellDefaults moves the defaults of fields into their descriptions: some generators of
// clients make a field with a default one that has to be given, and others send the
// default of the day they ran instead of leaving it to the server.
func tellDefaults(s *jsonschema.Schema) *jsonschema.Schema {
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		if p.Value.Default != nil {
			if p.Value.Description != "" {
				p.Value.Description += "; "
			}
			p.Value.Description += fmt.Sprintf("default: %s", p.Value.Default)
			p.Value.Default = nil
		}
	}
	return s
}

// nameFor is a free name for a component: the type's, after its package unless the
// name says it already.
func (b *builder) nameFor(n codec.Name) string {
	if n.Type == nil {
		return n.Shape
	}
	name := n.Type.Name()
	name = strings.ToUpper(name[:1]) + name[1:]
	pkg := n.Type.PkgPath()
	pkg = pkg[strings.LastIndexByte(pkg, '/')+1:]
	if pkg != "retrieve" && !strings.Contains(strings.ToLower(name), pkg) {
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	for _, suffix := range []string{"", map[bool]string{true: "Input", false: "Output"}[n.Strict], "2", "3"} {
		if _, taken := b.schemas[name+suffix]; !taken {
			return name + suffix
		}
	}
	panic("there are too many types named " + name)
}

// answers lists the success answers of an operation.
func answers(r *op.Route) []op.Answer {
	if len(r.Spec.Answers) > 0 {
		return r.Spec.Answers
	}
	return []op.Answer{{Status: cmp.Or(r.Spec.Success, http.StatusOK), Body: reflect.Zero(r.Out).Interface()}}
}

func (b *builder) answer(r *op.Route, a op.Answer, all []*op.Route) (*object, error) {
	headers := of("X-Request-Id", b.header("X-Request-Id"))
	if r.Spec.Class != op.Free {
		headers.Set("RateLimit", b.header("RateLimit"))
		headers.Set("RateLimit-Policy", b.header("RateLimit-Policy"))
	}
	if r.Spec.Deprecated != nil {
		for _, h := range []string{"Deprecation", "Sunset", "Link"} {
			headers.Set(h, b.header(h))
		}
	}
	for _, h := range a.Headers {
		headers.Set(h, b.header(h))
	}
	out := of("description", cmp.Or(a.Summary, http.StatusText(a.Status)), "headers", headers)
	gen := b.generator()
	switch body := a.Body.(type) {
	case nil:
	default:
		media := of("schema", gen.Output(reflect.TypeOf(body)))
		if e := answerExamples(&r.Spec, a.Status); e.Len() > 0 {
			media.Set("examples", e)
		}
		out.Set("content", of("application/json", media))
	case op.Streamer:
		out.Set("content", of(body.ContentType(), of("schema", stream(gen, body.ContentType(), a.Lines))))
	}
	links := of()
	for _, l := range r.Spec.Links {
		if cmp.Or(l.Status, answers(r)[0].Status) != a.Status {
			continue
		}
		if err := checkLink(l, all); err != nil {
			return nil, err
		}
		link := of("operationId", l.To, "description", l.Summary)
		if len(l.Parameters) > 0 {
			link.Set("parameters", sortedMembers(l.Parameters))
		}
		links.Set(l.Name, link)
	}
	if links.Len() > 0 {
		out.Set("links", links)
	}
	return out, nil
}

// stream is the schema of JSON lines.
func stream(gen *codec.Schemas, media string, lines []any) *jsonschema.Schema {
	if len(lines) == 0 {
		return &jsonschema.Schema{Type: "string", ContentMediaType: media}
	}
	if len(lines) == 1 {
		return &jsonschema.Schema{Type: "string", Description: "One JSON object a line, as in contentSchema.",
			ContentMediaType: media, ContentSchema: gen.Output(reflect.TypeOf(lines[0]))}
	}
	line := &jsonschema.Schema{}
	for _, l := range lines {
		line.OneOf = append(line.OneOf, gen.Output(reflect.TypeOf(l)))
	}
	return &jsonschema.Schema{Type: "string", Description: "One JSON object a line, each of one of the forms of contentSchema.",
		ContentMediaType: media, ContentSchema: line}
}

// checkLink refuses one to an operation, or with a parameter of it, that is not there.
func checkLink(l op.Link, all []*op.Route) error {
	i := slices.IndexFunc(all, func(r *op.Route) bool { return r.Spec.Name == l.To })
	if i < 0 {
		return fmt.Errorf("link %s: there is no operation %s", l.Name, l.To)
	}
	known := (&codec.Schemas{}).Parameters(all[i].In)
	for name := range l.Parameters {
		if !slices.ContainsFunc(known, func(p codec.Parameter) bool { return p.Name == name && p.In != "header" }) {
			return fmt.Errorf("link %s: operation %s has no parameter %s", l.Name, l.To, name)
		}
	}
	return nil
}

func sortedMembers(m map[string]string) *object {
	o := of()
	for _, name := range sorted(m) {
		o.Set(name, m[name])
	}
	return o
}

// errorStatus is an error status of an operation with its codes.
type errorStatus struct {
	status     int
	memory     bool // the body of the memory API
	speaks     op.Protocol
	class      op.Class
	deprecated bool
	codes      []string
}

func (f errorStatus) key() string {
	return fmt.Sprint(f.memory, f.speaks, f.status, f.class != op.Free, f.deprecated, f.codes)
}

// failures lists the error statuses of an operation in rising order.
func failures(s *op.Spec) []errorStatus {
	by := map[int]*errorStatus{}
	for _, c := range s.Codes() {
		status := fault.Status(c)
		if by[status] == nil {
			by[status] = &errorStatus{status: status, memory: s.Family == op.Memory, speaks: s.Protocol, class: s.Class,
				deprecated: s.Deprecated != nil}
		}
		by[status].codes = append(by[status].codes, string(c))
	}
	var out []errorStatus
	for _, f := range by {
		slices.Sort(f.codes)
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b errorStatus) int { return cmp.Compare(a.status, b.status) })
	return out
}

// share names the error answers that many operations have in common.
func (b *builder) share(routes []*op.Route) {
	used, first := map[string]int{}, map[string]errorStatus{}
	var order []string
	for _, r := range routes {
		for _, f := range failures(&r.Spec) {
			k := f.key()
			if used[k]++; used[k] == 1 {
				first[k] = f
				order = append(order, k)
			}
		}
	}
	slices.SortStableFunc(order, func(x, y string) int { return cmp.Compare(used[y], used[x]) })
	b.shared = map[string]string{}
	for _, k := range order {
		f := first[k]
		name := strings.NewReplacer(" ", "", "-", "").Replace(http.StatusText(f.status))
		switch {
		case f.speaks == op.OpenAI:
			name = "OpenAI" + name
		case f.speaks == op.Mem0:
			name = "Mem0" + name
		case f.memory:
			name = "Memory" + name
		}
		if f.class == op.Free {
			name += "Unlimited"
		}
		if _, taken := b.responses[name]; taken || used[k] < 3 {
			continue
		}
		b.shared[k] = name
		b.responses[name] = b.failure(f)
	}
}

// failure is the answer of an error status.
func (b *builder) failure(f errorStatus) *object {
	headers := of("X-Request-Id", b.header("X-Request-Id"))
	// A call that needs no key is charged nothing.
	if f.class != op.Free && f.status != http.StatusUnauthorized && f.status != http.StatusMethodNotAllowed {
		headers.Set("RateLimit", b.header("RateLimit"))
		headers.Set("RateLimit-Policy", b.header("RateLimit-Policy"))
	}
	switch f.status {
	case http.StatusUnauthorized:
		headers.Set("WWW-Authenticate", b.header("WWW-Authenticate"))
	case http.StatusMethodNotAllowed:
		headers.Set("Allow", b.header("Allow"))
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway:
		headers.Set("Retry-After", b.header("Retry-After"))
	}
	if f.deprecated {
		for _, h := range []string{"Deprecation", "Sunset", "Link"} {
			headers.Set(h, b.header(h))
		}
	}
	text := meaning(f.status)
	if len(f.codes) > 1 || f.status == http.StatusNotFound {
		text += "\n"
		for _, code := range f.codes {
			e, _ := fault.Describe(fault.Code(code))
			text += fmt.Sprintf("\n- `%s`: %s", code, e.Meaning)
		}
	}
	return of("description", text, "headers", headers, "content", of("application/json", of("schema", errorSchema(f))))
}

// mergeError adds an error's body to an answer that has a body of its own.
func (b *builder) mergeError(answer *object, f errorStatus) {
	content, _ := answer.Get("content")
	media, _ := content.(*object).Get("application/json")
	schema, _ := media.(*object).Get("schema")
	media.(*object).Set("schema", of("oneOf", []any{schema, errorSchema(f)}))
	headers, _ := answer.Get("headers")
	failure, _ := b.failure(f).Get("headers")
	for p := failure.(*object).Oldest(); p != nil; p = p.Next() {
		headers.(*object).Set(p.Key, p.Value)
	}
}

// errorSchema is the family's error body with the codes that can stand in it. The
// codes are bound by dependentSchemas: generators of clients keep the body's type
// then, where properties beside a reference would be a type of their own.
func errorSchema(f errorStatus) *object {
	code := of("code", of("enum", f.codes))
	switch {
	case f.speaks == op.OpenAI:
		return of("$ref", "#/components/schemas/OpenAIError", "dependentSchemas",
			of("error", of("properties", of("error", of("properties", code)))))
	case f.speaks == op.Mem0:
		return of("$ref", "#/components/schemas/Mem0Error", "dependentSchemas", of("code", of("properties", code)))
	case f.memory:
		code.Set("statusCode", of("const", f.status))
		return of("$ref", "#/components/schemas/MemoryError", "dependentSchemas", of("code", of("properties", code)))
	}
	return of("$ref", "#/components/schemas/Error", "dependentSchemas",
		of("error", of("properties", of("error", of("properties", code)))))
}

// security lists the keys that an operation takes. The scopes stand in its
// description: OpenAPI has them for OAuth only.
func security(s *op.Spec) []any {
	key := func(name string) *object { return of(name, []string{}) }
	switch {
	case s.Auth == op.NoKey:
		return []any{}
	case s.Auth == op.OptionalKey:
		return []any{orderedmap.New[string, any](), key(serviceKey), key(integrationKey), key(adminKey)}
	case s.Family == op.Memory:
		return []any{key(integrationKey), key(personalKey)}
	case s.Family == op.Administration:
		return []any{key(adminKey)}
	}
	return []any{key(serviceKey)}
}

// description is the operation's text with what its Spec says beside it.
func description(s *op.Spec) string {
	text := s.Description
	add := func(format string, args ...any) {
		if text != "" {
			text += "\n\n"
		}
		text += fmt.Sprintf(format, args...)
	}
	if d := s.Deprecated; d != nil {
		add("**Deprecated** since %s; it ends on %s. See [what to call instead](%s).",
			d.Since.UTC().Format("2006-01-02"), d.Sunset.UTC().Format("2006-01-02"), d.Guide)
	}
	needs := ""
	for i, scope := range s.Scopes {
		if i > 0 {
			needs += " and"
		}
		needs += fmt.Sprintf(" `%s`", scope)
	}
	switch {
	case needs != "" && s.Class != op.Free:
		add("Scope:%s. Rate class: `%s`.", needs, s.Class)
	case s.Class != op.Free:
		add("Rate class: `%s`.", s.Class)
	}
	return text
}

func size(n int64) string {
	switch {
	case n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
