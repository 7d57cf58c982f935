package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/codec"
)

// call is a call of an operation as a program makes it over HTTP: what is shown of it is
// what is done.
type call struct {
	op    string
	path  map[string]string
	query url.Values
	body  any // marshalled as JSON; nil: there is none
	// fill hands a body on that the operation reads piece by piece; file says how programs send it.
	fill func(dst any)
	file string
}

// Transport is how calls of pages are named in metrics and logs.
const Transport = "console"

// do calls an operation as the visitor, and notes the call to be shown.
func do[Out any](v *visit, c call) (out Out, err error) {
	r, ok := v.routes[c.op]
	if !ok {
		return out, fmt.Errorf("console: there is no operation %s", c.op)
	}
	in := codec.Input{
		Path:   func(name string) string { return c.path[name] },
		Query:  c.query.Encode(),
		Header: func(string) []string { return nil },
	}
	if c.body != nil {
		if in.Body, err = marshal(c.body); err != nil {
			return out, fmt.Errorf("console: body of %s: %w", c.op, err)
		}
	}
	public, err := marshal(withoutSecrets(c.body))
	if err != nil {
		return out, fmt.Errorf("console: body of %s: %w", c.op, err)
	}
	if c.body == nil {
		public = nil
	}
	v.made = append(v.made, v.shown(r.Spec, c, public))
	ctx := v.r.Context()
	answer, err := r.Endpoint(ctx, &op.Call{
		Spec: &r.Spec, Transport: Transport, RequestID: ident.RequestID(ctx), Reply: &op.Reply{},
		Credential: op.Credential{Session: v.token, Org: v.org, Integration: v.acting},
		Decode: func(_ context.Context, dst any) error {
			if c.fill != nil {
				c.fill(dst)
			}
			return r.decoder.Decode(in, dst)
		},
	})
	if err != nil {
		return out, err
	}
	out, ok = answer.(Out)
	if !ok {
		return out, fmt.Errorf("console: %s answers %T", c.op, answer)
	}
	return out, nil
}

// example shows the call that the form of a page makes, where the page itself has made none.
func (v *visit) example(c call) {
	r, ok := v.routes[c.op]
	if !ok || len(v.made) > 0 {
		return
	}
	var body []byte
	if c.body != nil {
		var err error
		if body, err = marshal(c.body); err != nil { // of texts, which always can
			return
		}
	}
	v.made = append(v.made, v.shown(r.Spec, c, body))
}

// withoutSecrets is a body without the secrets of other systems, to be shown.
func withoutSecrets(body any) any {
	object, ok := body.(map[string]any)
	secrets, has := object["secrets"].(map[string]string)
	if !ok || !has {
		return body
	}
	object = maps.Clone(object)
	hidden := map[string]string{}
	for name := range secrets {
		hidden[name] = "…"
	}
	object["secrets"] = hidden
	return object
}

// optional is a call of a part that may be off, or out of the visitor's reach: without an
// answer the page goes on, and says why.
func optional[Out any](v *visit, c call) (out Out, why string, err error) {
	out, err = do[Out](v, c)
	if err == nil {
		return out, "", nil
	}
	f := fault.From(err)
	switch {
	case f.Code == fault.Unauthorized, f.Code == fault.NotFound, f.Code == fault.Canceled, // of the session, of the organization
		fault.Status(f.Code) == http.StatusBadRequest: // of what the page was asked
		return out, "", err
	}
	return out, f.Message, nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// shownCall is a call in the words of programs.
type shownCall struct {
	Summary, Method, Path    string
	Curl, TypeScript, Python string
}

// keyVariables are where the examples take the key of each API family from.
func keyVariable(f op.Family) string {
	switch f {
	case op.Memory:
		return "MNEME_INTEGRATION_KEY"
	case op.Administration:
		return "MNEME_ADMIN_KEY"
	}
	return "MNEME_KEY"
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// shown is how programs make a call.
func (v *visit) shown(s op.Spec, c call, body []byte) shownCall {
	at := placeholder.ReplaceAllStringFunc(s.Path, func(p string) string { return url.PathEscape(c.path[strings.Trim(p, "{}")]) })
	if q := c.query.Encode(); q != "" {
		at += "?" + q
	}
	to, key := v.address()+at, keyVariable(s.Family)
	out := shownCall{Summary: s.Summary, Method: s.Method, Path: at}
	out.Curl = "curl -s " + shellQuote(to) + ` -H "Authorization: Bearer $` + key + `"`
	out.TypeScript = "const response = await fetch(" + quote(to) + ", {\n"
	out.Python = "import os, requests\n\nresponse = requests." + strings.ToLower(s.Method) + "(\n    " + quote(to) + ",\n" +
		"    headers={\"Authorization\": f\"Bearer {os.environ['" + key + "']}\"},\n"
	if s.Method != http.MethodGet {
		out.Curl += " -X " + s.Method
		out.TypeScript += "  method: " + quote(s.Method) + ",\n"
	}
	out.TypeScript += "  headers: { Authorization: `Bearer ${process.env." + key + "}`"
	switch {
	case c.file != "" && s.BodyForm != nil:
		out.Curl += " \\\n  -F " + shellQuote("file=@"+c.file)
		out.TypeScript += " },\n  body: form, // a FormData with the files as \"file\"\n"
		out.Python += "    files={\"file\": open(" + quote(c.file) + ", \"rb\")},\n"
	case c.file != "":
		out.Curl += " \\\n  -H " + shellQuote("Content-Type: "+s.BodyType) + " --data-binary " + shellQuote("@"+c.file)
		out.TypeScript += `, "Content-Type": ` + quote(s.BodyType) + " },\n  body: file,\n"
		out.Python += "    data=open(" + quote(c.file) + ", \"rb\"),\n"
	case body != nil:
		out.Curl += " \\\n  -H 'Content-Type: application/json' -d " + shellQuote(string(body))
		out.TypeScript += `, "Content-Type": "application/json" },` + "\n  body: JSON.stringify(" + indent(body) + "),\n"
		out.Python += "    json=" + pythonLiteral(body) + ",\n"
	default:
		out.TypeScript += " },\n"
	}
	out.TypeScript += "});\nconst answer = await response.json();"
	out.Python += ")\nanswer = response.json()"
	return out
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func quote(s string) string {
	b, err := marshal(s)
	if err != nil { // a string always can
		return strconv.Quote(s)
	}
	return string(b)
}

func indent(body []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, body, "  ", "  ") != nil {
		return string(body)
	}
	return b.String()
}

// pythonLiteral writes JSON as Python does.
func pythonLiteral(body []byte) string {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return "{}"
	}
	var b strings.Builder
	writePython(&b, value, "    ")
	return b.String()
}

func writePython(b *strings.Builder, value any, margin string) {
	switch x := value.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[x])
	case json.Number:
		b.WriteString(x.String())
	case string:
		b.WriteString(quote(x))
	case []any:
		b.WriteString("[")
		for i, e := range x {
			if i > 0 {
				b.WriteString(", ")
			}
			writePython(b, e, margin)
		}
		b.WriteString("]")
	case map[string]any:
		b.WriteString("{")
		names := make([]string, 0, len(x))
		for name := range x {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			b.WriteString("\n" + margin + "    " + quote(name) + ": ")
			writePython(b, x[name], margin+"    ")
			b.WriteString(",")
		}
		if len(names) > 0 {
			b.WriteString("\n" + margin)
		}
		b.WriteString("}")
	}
}

// notThere is the fault of what a page names and is not there.
func notThere(format string, args ...any) error { return fault.New(fault.NotFound, format, args...) }
