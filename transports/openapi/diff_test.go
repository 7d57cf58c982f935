package openapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/transports/openapi"
)

const before = `
openapi: 3.1.0
paths:
  /things/{id}:
    put:
      operationId: things.put
      parameters:
      - {name: id, in: path, required: true, schema: {type: string, pattern: "^[a-z]+$"}}
      - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100}}
      - {$ref: "#/components/parameters/Trace"}
      requestBody:
        required: false
        content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}
      responses:
        "200":
          headers: {ETag: {schema: {type: string}}}
          content: {application/json: {schema: {$ref: "#/components/schemas/Answer"}}}
        "409": {$ref: "#/components/responses/Conflict"}
      security: [{one: []}, {two: []}]
components:
  parameters:
    Trace: {name: Trace, in: header, schema: {type: string}}
  responses:
    Conflict:
      content:
        application/json:
          schema: {$ref: "#/components/schemas/Error", dependentSchemas: {error: {properties: {error: {properties: ` +
	`{code: {enum: [conflict, stale]}}}}}}}
  schemas:
    Error: {type: object, properties: {error: {type: object, properties: {code: {type: string}}}}}
    Thing:
      type: object
      additionalProperties: false
      required: [name]
      dependentSchemas: {kind: {required: [note]}, parts: {required: [note]}}
      properties:
        name: {type: string, maxLength: 10}
        kind: {type: string, enum: [a, b]}
        note: {type: [string, "null"]}
        parts: {type: array, items: {$ref: "#/components/schemas/Thing"}}
        rerank: {anyOf: [{type: boolean}, {type: object, properties: {depth: {type: integer}}}]}
    Answer:
      type: object
      required: [id, state]
      properties:
        id: {type: string}
        state: {type: string, enum: [on, "off"]}
        at: {type: string, format: date-time}
        more: {type: object, properties: {count: {type: integer}}}
`

func TestWhatBreaksClientsIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		want     []string // parts of a break each
	}{
		"nothing": {"openapi", "openapi", nil},
		"a new optional field": {`        kind: {type: string, enum: [a, b]}`,
			"        kind: {type: string, enum: [a, b]}\n        size: {type: integer}", nil},
		"a new value of a request": {"enum: [a, b]", "enum: [a, b, c]", nil},
		"a new value of an answer": {`[on, "off"]`, `[on, "off", broken]`, nil},
		"a new field of an answer": {"        id: {type: string}",
			"        id: {type: string}\n        size: {type: integer}", nil},
		"a wider bound":           {"maxLength: 10", "maxLength: 20", nil},
		"a new code":              {"[conflict, stale]", "[conflict, stale, other]", nil},
		"a new kind of key":       {"{two: []}]", "{two: []}, {three: []}]", nil},
		"a new form of a request": {"{type: boolean}, ", "{type: boolean}, {type: string}, ", nil},
		"an operation removed":    {"    put:", "    post:", []string{"PUT /things/{id}: is removed"}},
		"an operation renamed":    {"things.put", "things.set", []string{"operationId things.set instead of things.put"}},
		"a parameter removed": {`      - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100}}` +
			"\n", "", []string{"query parameter limit: is removed"}},
		"a shared parameter required": {"{name: Trace, in: header,", "{name: Trace, in: header, required: true,",
			[]string{"header parameter Trace: is required now"}},
		"a new required parameter": {"      - {name: limit",
			"      - {name: x, in: query, required: true, schema: {type: string}}\n      - {name: limit",
			[]string{"query parameter x: is new and required"}},
		"a pattern changed":         {`"^[a-z]+$"`, `"^[a-y]+$"`, []string{"path parameter id: has another pattern"}},
		"a bound lowered":           {"maximum: 100", "maximum: 50", []string{"limit: has the maximum 50 instead of 100"}},
		"a bound raised from below": {"minimum: 1,", "minimum: 2,", []string{"limit: has the minimum 2 instead of 1"}},
		"a body required":           {"required: false", "required: true", []string{"request body: is required now"}},
		"a condition gone":          {"{kind: {required: [note]}, parts:", "{parts:", nil},
		"a condition changed": {"parts: {required: [note]}", "parts: {required: [kind]}",
			[]string{"request body: has another dependentSchemas"}},
		"a condition on what is new": {"{kind: {required: [note]}, parts:",
			"{fresh: {required: [note]}, kind: {required: [note]}, parts:", nil},
		"a condition more": {"{kind: {required: [note]}, parts:", "{name: {}, kind: {required: [note]}, parts:",
			[]string{"request body: has another dependentSchemas"}},
		"a length cut": {"maxLength: 10", "maxLength: 9", []string{"name: has the maxLength 9 instead of 10"}},
		"a value gone": {"enum: [a, b]", "enum: [a]", []string{"kind: no longer takes the value b"}},
		"null refused": {`note: {type: [string, "null"]}`, "note: {type: string}",
			[]string{"note: no longer takes null"}},
		"a field of a request removed": {`        kind: {type: string, enum: [a, b]}` + "\n", "", []string{"kind: is removed"}},
		"a field required":             {"required: [name]", "required: [name, kind]", []string{"kind: is required now"}},
		"a form gone":                  {"{type: boolean}, ", "", []string{"rerank: no longer takes form 1"}},
		"a form narrowed": {"depth: {type: integer}", "depth: {type: integer, maximum: 3}",
			[]string{"depth: has the maximum 3 instead of none"}},
		"a field of an answer removed": {"        id: {type: string}\n", "", []string{"status 200: id: is removed"}},
		"a field of an answer deep":    {"{count: {type: integer}}", "{}", []string{"more: count: is removed"}},
		"a field that may be absent":   {"required: [id, state]", "required: [id]", []string{"state: may be absent now"}},
		"a field that may be null": {"        id: {type: string}", `        id: {type: [string, "null"]}`,
			[]string{"id: may be null now"}},
		"another type": {"        id: {type: string}", "        id: {type: integer}",
			[]string{"id: may be integer now"}},
		"another format": {"format: date-time", "format: date",
			[]string{"at: is no longer in the format date-time"}},
		"a code gone": {"[conflict, stale]", "[conflict]", []string{"status 409: no longer has the code stale"}},
		"a status gone": {`        "409": {$ref: "#/components/responses/Conflict"}` + "\n", "",
			[]string{"status 409: is removed"}},
		"a header gone": {"headers: {ETag: {schema: {type: string}}}", "headers: {}",
			[]string{"no longer has the header ETag"}},
		"another media type": {"        content: {application/json: {schema: {$ref: \"#/components/schemas/Thing\"}}}",
			"        content: {text/plain: {schema: {}}}", []string{"no longer taken as application/json"}},
		"a kind of key shut out": {"[{one: []}, {two: []}]", "[{one: []}]", []string{"is closed to two"}},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(before, c.from) {
				t.Fatalf("the document has no %s", c.from)
			}
			got, err := openapi.Breaks([]byte(before), []byte(strings.Replace(before, c.from, c.to, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if (len(got) == 0) != (len(c.want) == 0) {
				t.Errorf("breaks %v, want %q", got, c.want)
			}
			for _, w := range c.want {
				if !slices.ContainsFunc(got, func(b openapi.Break) bool { return strings.Contains(b.String(), w) }) {
					t.Errorf("breaks %v, want %q", got, w)
				}
			}
		})
	}
}

// What a field of a request takes is compared, whichever way the schema says it.
func TestWaysToSayTheSameAreTheSame(t *testing.T) {
	document := func(schema string) []byte {
		return []byte(`paths: {/a: {post: {requestBody: {content: {application/json: {schema: {properties: {x: ` + schema +
			`}}}}}}}}`)
	}
	for name, c := range map[string]struct{ one, other, lesser string }{
		"nothing": {`{if: {properties: {y: false}}}`, `{if: {properties: {y: {not: {}}}}}`,
			`{if: {properties: {y: true}}}`},
		"anything": {`{if: {anyOf: [{const: 1}, true]}}`, `{if: {anyOf: [{const: 1}, {}]}}`,
			`{if: {anyOf: [{const: 1}]}}`},
		"an empty value": {`{not: {const: {}}}`, `{not: {const: {}}}`, `{not: {const: true}}`},
		"empty values":   {`{not: {enum: [{}]}}`, `{not: {enum: [{}]}}`, `{not: {enum: [true]}}`},
		"more than not":  {`{if: {not: {}, type: string}}`, `{if: {not: {}, type: string}}`, `{if: false}`},
		"one truth value": {`{type: [boolean, "null"], enum: [true, null]}`,
			`{type: [boolean, "null"], not: {const: false}}`, `{type: [boolean, "null"], not: {const: true}}`},
		"the other": {`{type: boolean, enum: [false]}`, `{type: boolean, not: {const: true}}`,
			`{type: boolean, not: {const: false}}`},
		"not null": {`{type: boolean, enum: [false]}`, `{type: boolean, not: {const: true}}`,
			`{type: "null", not: {const: true}}`},
		"a list of types": {`{type: [string, number]}`, `{anyOf: [{type: number}, {type: string}]}`,
			`{anyOf: [{type: string}, {type: boolean}]}`},
		"a bounded list": {`{type: [string, number], maxLength: 3}`,
			`{anyOf: [{type: number, maxLength: 3}, {type: string, maxLength: 3}]}`,
			`{anyOf: [{type: number, maxLength: 3}, {type: string, maxLength: 2}]}`},
		"of other types": {`{type: [boolean, string], not: {const: false}}`,
			`{type: [boolean, string], not: {const: false}}`, `{type: [boolean, string], enum: [true]}`},
		"with values": {`{type: boolean, enum: [true], not: {const: false}}`,
			`{type: boolean, enum: [true], not: {const: false}}`, `{type: boolean, not: {const: true}}`},
		"more than a value": {`{type: boolean, not: {const: false, type: string}}`,
			`{type: boolean, not: {const: false, type: string}}`, `{type: boolean, not: {const: false}}`},
		"any type": {`{not: {const: false}}`, `{not: {const: false}}`, `{type: boolean, not: {const: false}}`},
	} {
		for _, pair := range []struct {
			from, to string
			breaks   bool
		}{{c.one, c.other, false}, {c.other, c.one, false}, {c.one, c.lesser, true}, {c.other, c.lesser, true}} {
			got, err := openapi.Breaks(document(pair.from), document(pair.to))
			if err != nil || (len(got) > 0) != pair.breaks {
				t.Errorf("%s: %s to %s breaks %v, %v", name, pair.from, pair.to, got, err)
			}
		}
	}
}

// What refuses fewer bodies than before breaks nobody, and the other way round it does.
func TestARefusalOfLess(t *testing.T) {
	document := func(not string) []byte {
		return []byte(`paths: {/a: {post: {requestBody: {content: {application/json: {schema: {type: object, not: ` + not +
			`}}}}}}}`)
	}
	const some = `{properties: {a: {const: null}, in: {properties: {b: {const: null}}}}}`
	for less, breaks := range map[string]bool{
		`{properties: {a: {const: null}, in: {properties: {b: {const: null}}}, c: {const: null}}}`: false,
		`{properties: {a: {const: null}, in: {properties: {b: {const: null}, c: {const: null}}}}}`: false,
		`{properties: {a: {const: null}}}`: true,
		`{properties: {a: {const: null}, in: {properties: {b: {const: 1}}}, c: {const: null}}}`:               true,
		`{properties: {a: {const: null}, in: {properties: {b: {const: null}}}}, required: [a]}`:               true,
		`{properties: {a: {const: null}, in: {properties: {b: {const: null}}, additionalProperties: false}}}`: true,
	} {
		if got, err := openapi.Breaks(document(some), document(less)); err != nil || (len(got) > 0) != breaks {
			t.Errorf("to not %s: %v, %v", less, got, err)
		}
	}
	const bare = `{properties: {a: {const: null}}}`
	if got, err := openapi.Breaks(document(`{properties: {a: {const: null}}, additionalProperties: false}`),
		document(bare)); err != nil || len(got) == 0 {
		t.Errorf("a refusal of more: %v, %v", got, err)
	}
	if got, err := openapi.Breaks(document(some), document(bare)); err != nil || len(got) == 0 {
		t.Errorf("a refusal of more: %v, %v", got, err)
	}
}

func TestOnlyDocumentsAreCompared(t *testing.T) {
	for _, bad := range []string{"", "[]", "x: 1", "\t", "paths: 3"} {
		if _, err := openapi.Breaks([]byte(before), []byte(bad)); err == nil {
			t.Errorf("%q is taken for a document", bad)
		}
	}
}

func FuzzBreaks(f *testing.F) {
	f.Add(before)
	f.Add("paths: {/a: {get: {parameters: [{$ref: '#/paths'}]}}}")
	f.Add("paths: {/a: {get: {requestBody: {$ref: '#/paths/~1a/get/requestBody'}}}}")
	f.Fuzz(func(t *testing.T, other string) {
		_, _ = openapi.Breaks([]byte(before), []byte(other)) // it ends, and does not panic
		_, _ = openapi.Breaks([]byte(other), []byte(other))
	})
}

// An operation that was only announced, with an object without fields for its answer, can be
// given any form; one that said more cannot.
func TestWhatWasOnlyAnnouncedBreaksNobody(t *testing.T) {
	const announced = `
paths:
  /plans/{id}:
    post:
      operationId: plans.make
      parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
      responses:
        "200": {content: {application/json: {schema: {$ref: "#/components/schemas/Nothing"}}}}
        "503": {description: not yet}
components: {schemas: {Nothing: {type: object}}}
`
	const served = `
paths:
  /plans/{id}:
    post:
      operationId: plans.make
      parameters:
      - {name: id, in: path, required: true, schema: {type: string, pattern: "^p"}}
      requestBody: {required: true, content: {application/json: {schema: {type: object}}}}
      responses:
        "201": {content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}
components: {schemas: {Nothing: {type: object}}}
`
	breaks := func(older, newer string) int {
		t.Helper()
		all, err := openapi.Breaks([]byte(older), []byte(newer))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if n := breaks(announced, served); n != 0 {
		t.Errorf("%d breaks of what was announced", n)
	}
	if n := breaks(announced, strings.ReplaceAll(served, "plans.make", "plans.other")); n != 1 {
		t.Errorf("%d breaks where its name has changed", n)
	}
	if n := breaks(announced, "paths: {}\n"); n != 1 {
		t.Errorf("%d breaks where it is gone", n)
	}
	for _, more := range []string{
		strings.ReplaceAll(announced, "Nothing: {type: object}", "Nothing: {type: object, properties: {id: {type: string}}}"),
		strings.ReplaceAll(announced, "Nothing: {type: object}", "Nothing: {type: object, additionalProperties: {type: string}}"),
		strings.ReplaceAll(announced, `"503"`,
			"\"202\": {content: {application/json: {schema: {type: array}}}}\n        \"503\""),
		strings.ReplaceAll(announced, "      responses:",
			"      requestBody: {content: {application/json: {schema: {type: object}}}}\n      responses:"),
		strings.ReplaceAll(announced, `"200"`, `"400"`),
	} {
		if more == announced {
			t.Fatal("nothing was changed")
		}
		if breaks(more, served) == 0 {
			t.Errorf("no break of\n%s", more)
		}
	}
}
