package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	orderedmap "github.com/pb33f/ordered-map/v2"

	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/transports/codec"
)

// Version is the version of the interface that the document describes.
const Version = "1"

const (
	serviceKey     = "serviceKey"
	integrationKey = "integrationKey"
	personalKey    = "personalKey"
	adminKey       = "adminKey"
)

func info() *object {
	return of(
		"title", "Mneme",
		"summary", "A memory and document retrieval server",
		"description", `Mneme stores text durably and returns the passages that answer a question.

- The **namespace API** keeps documents in namespaces and searches them by vector, keyword and learned-sparse vector. `+
			`Keys begin with `+"`sk-service-`"+`.
- The **memory API** below /api/v1 keeps memories of end users, searches them and answers from them. Keys begin with `+
			"`cint_`"+`.
- The **admin API** below /admin/v1 is for operators. Keys begin with `+"`adm-`"+`.

Bodies are JSON (RFC 8259) in UTF-8; requests and answers may be gzipped. Unknown fields of a request body are refused, `+
			`unknown query parameters are ignored. Clients must ignore fields of an answer that they don't know. Every `+
			`answer carries the header X-Request-Id. GET operations answer HEAD, too.

A server may have limits of rate; the headers RateLimit and RateLimit-Policy tell what is left of them. Errors 429, `+
			`502, 503 and 504 may pass when the call is repeated after the seconds in Retry-After, or with growing `+
			`pauses where that is absent.

Not described here: GET /metrics (Prometheus text format) and /mcp (Model Context Protocol, which describes itself).`,
		"contact", of("name", "Mneme", "url", "https://github.com/mnemehq/mneme"),
		"license", of("name", "Apache License 2.0", "identifier", "Apache-2.0"),
		"version", Version,
	)
}

// tags describes the groups in use, in the order of op.Groups.
func tags(used map[op.Group]bool) []any {
	var out []any
	for _, g := range op.Groups() {
		if used[g] {
			out = append(out, of("name", string(g), "description", g.Text()))
		}
	}
	return out
}

// meaning is what an error status says.
func meaning(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "The request is invalid; the message says why."
	case http.StatusUnauthorized:
		return "The key is missing, wrong or revoked."
	case http.StatusForbidden:
		return "The key may not do this."
	case http.StatusNotFound:
		return "What the path names does not exist."
	case http.StatusMethodNotAllowed:
		return "The path has no such method; the header Allow lists those it has."
	case http.StatusConflict:
		return "The call contradicts what is stored."
	case http.StatusRequestEntityTooLarge:
		return "The body, or a text in it, is too large."
	case http.StatusTooManyRequests:
		return "A limit of rate is used up; wait Retry-After seconds."
	case http.StatusInternalServerError:
		return "The server failed."
	case http.StatusBadGateway:
		return "A model failed that the call needs."
	case http.StatusServiceUnavailable:
		return "Not available now; where Retry-After is given, it passes on its own."
	case http.StatusGatewayTimeout:
		return "The call took longer than its time limit, or than X-Timeout-Ms."
	}
	return http.StatusText(status)
}

// headerInfo describes the headers of answers by name.
func headerInfo(name string) (text string, schema *jsonschema.Schema) {
	str := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }
	switch name {
	case "X-Request-Id":
		s := str()
		s.Pattern, s.Examples = "^[A-Za-z0-9._-]{1,128}$", []any{"req_8mWqQ0fJ5tVvJmQe0r3K"}
		return "Names the request in logs and error bodies: the one that was sent, if well formed, else a new one.", s
	case "RateLimit":
		s := str()
		s.Examples = []any{`"read";r=597;t=31`}
		return "What is left of the limits that apply, by class: r calls, and t seconds until all are there again " +
			"(draft-ietf-httpapi-ratelimit-headers). Absent without a limit.", s
	case "RateLimit-Policy":
		s := str()
		s.Examples = []any{`"read";q=600;w=60`}
		return "The limits that apply, by class: q calls in w seconds. Absent without a limit.", s
	case "Retry-After":
		return "Seconds after which the call may be repeated.",
			&jsonschema.Schema{Type: "integer", Minimum: "1", Examples: []any{1}}
	case "WWW-Authenticate":
		s := str()
		s.Examples = []any{"Bearer"}
		return "How to authenticate (RFC 6750).", s
	case "Allow":
		s := str()
		s.Examples = []any{"GET, HEAD"}
		return "The methods that the path has.", s
	case "Location":
		return "Path of the operation that was accepted.", &jsonschema.Schema{Type: "string", Format: "uri-reference"}
	case "ETag":
		s := str()
		s.Pattern = `^"sha256:[0-9a-f]{64}"$`
		return "The content hash in quotes, for If-None-Match.", s
	case "Preference-Applied":
		s := str()
		s.Enum = []any{"respond-async", "searchable=soon"}
		return "The preference that was followed (RFC 7240).", s
	case "Idempotent-Replayed":
		s := str()
		s.Const = "true"
		return "Present when this is the stored answer of an earlier call.", s
	case "Cache-Control":
		s := str()
		s.Const = "no-store"
		return "The answer is not to be kept in caches.", s
	case "Deprecation":
		s := str()
		s.Pattern, s.Examples = "^@[0-9]+$", []any{"@1795219200"}
		return "Since when this is deprecated, as @ and Unix seconds (RFC 9745).", s
	case "Sunset":
		s := str()
		s.Examples = []any{"Sun, 21 Nov 2027 00:00:00 GMT"}
		return "When this ends (RFC 8594).", s
	case "Link":
		s := str()
		s.Examples = []any{`<https://github.com/mnemehq/mneme/blob/main/docs/versioning.md>; rel="deprecation"; type="text/html"`}
		return "The page that says what to call instead (RFC 8288, RFC 9745).", s
	}
	return "", nil
}

// componentOf is the name of a header's component.
func componentOf(header string) string { return strings.ReplaceAll(header, "-", "") }

func (b *builder) header(name string) *object {
	if _, schema := headerInfo(name); schema == nil && b.err == nil {
		b.err = fmt.Errorf("openapi: the header %s has no description", name)
	}
	b.headers[name] = true
	return ref("headers", componentOf(name))
}

func (b *builder) components() *object {
	schemas := of("Error", namespaceError(), "ErrorDetail", errorDetail(), "MemoryError", memoryError(),
		"OpenAIError", openAIError(), "OpenAIErrorDetail", openAIErrorDetail(), "Mem0Error", mem0Error())
	for _, name := range sorted(b.schemas) {
		schemas.Set(name, must(orderKeywords(b.schemas[name])))
	}
	headers := of()
	for _, name := range sorted(b.headers) {
		text, schema := headerInfo(name)
		headers.Set(componentOf(name), of("description", text, "schema", schema))
	}
	responses := of()
	for _, name := range sorted(b.responses) {
		responses.Set(name, b.responses[name])
	}
	bearer := func(prefix, text string) *object {
		return of("type", "http", "scheme", "bearer", "bearerFormat", prefix, "description", text)
	}
	return of(
		"schemas", schemas,
		"responses", responses,
		"parameters", of(
			"RequestId", of("name", "X-Request-Id", "in", "header",
				"description", "Names the request in logs and error bodies. One of other than 1-128 characters of A-Z "+
					"a-z 0-9 . _ - is replaced.",
				"schema", &jsonschema.Schema{Type: "string"}),
			"TimeoutMs", of("name", "X-Timeout-Ms", "in", "header",
				"description", "Lowers the operation's time limit, in milliseconds. A call that takes longer answers 504.",
				"schema", &jsonschema.Schema{Type: "integer", Format: "int64", Minimum: "1", Maximum: "9223372036854775807"}),
		),
		"headers", headers,
		"securitySchemes", of(
			serviceKey, bearer("sk-service-...",
				"A key of the namespace API. It reads and writes every namespace of its organization unless it was made "+
					"read-only or for one namespace."),
			integrationKey, bearer("cint_...", "A key of the memory API, of one integration and with scopes."),
			personalKey, bearer("cmem_...",
				"A personal key of the memory API, of one end user. Deprecated: integration keys replace it, and its "+
					"answers carry the header Deprecation."),
			adminKey, bearer("adm-...", "A key of the admin API."),
		),
	)
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func namespaceError() *object {
	return of("type", "object", "description", "The error body of the namespace and the admin API.", "required",
		[]string{"error"},
		"properties", of("error", ref("schemas", "ErrorDetail")))
}

func errorDetail() *object {
	return of("type", "object", "description", "What went wrong.", "required", []string{"code", "message", "request_id"},
		"properties", of(
			"code", of("type", "string", "description", "What went wrong, for programs. New codes may come."),
			"message", of("type", "string", "description", "What went wrong, for people."),
			"request_id", of("type", "string", "description", "As in the header X-Request-Id.")))
}

func memoryError() *object {
	return of("type", "object", "description", "The error body of the memory API.", "required",
		[]string{"statusCode", "code", "message", "requestId", "details"},
		"properties", of(
			"statusCode", of("type", "integer", "description", "The HTTP status."),
			"code", of("type", "string", "description", "What went wrong, for programs. New codes may come."),
			"message", of("type", "string", "description", "What went wrong, for people."),
			"requestId", of("type", "string", "description", "As in the header X-Request-Id."),
			"details", of("type", "object", "description",
				"More for programs: field and reason of a 400, scope of insufficient_scope, quota, limit and used of "+
					"quota_exceeded, retryAfter of a 429, currentVersion of a version conflict.")))
}

func openAIError() *object {
	return of("type", "object", "description", "The error body of the operations that speak OpenAI's protocol.", "required",
		[]string{"error"},
		"properties", of("error", ref("schemas", "OpenAIErrorDetail")))
}

func openAIErrorDetail() *object {
	return of("type", "object", "description", "What went wrong, as OpenAI's clients read it.", "required",
		[]string{"message", "type", "param", "code"},
		"properties", of(
			"message", of("type", "string", "description", "What went wrong, for people."),
			"type", of("type", "string", "description", "What kind of error it is, of the status."),
			"param", of("type", []string{"string", "null"}, "description", "The field at fault."),
			"code", of("type", "string", "description", "What went wrong, for programs. New codes may come.")))
}

func mem0Error() *object {
	return of("type", "object", "description", "The error body of the operations that speak mem0's protocol.", "required",
		[]string{"detail", "code", "request_id"},
		"properties", of(
			"detail", of("type", "string", "description", "What went wrong, for people."),
			"code", of("type", "string", "description", "What went wrong, for programs. New codes may come."),
			"request_id", of("type", "string", "description", "As in the header X-Request-Id.")))
}

// bodyExamples are the bodies of an operation's examples.
func bodyExamples(s *op.Spec) *object {
	out := orderedmap.New[string, any]()
	for _, e := range s.Examples {
		if e.Body != "" {
			var value any = json.RawMessage(e.Body)
			if s.BodyType != "" {
				value = e.Body
			}
			out.Set(e.Name, of("summary", e.Summary, "value", value))
		}
	}
	return out
}

// answerExamples are the bodies that an operation's examples answer with a status.
func answerExamples(s *op.Spec, status int) *object {
	out := orderedmap.New[string, any]()
	for _, e := range s.Examples {
		if e.Answer != "" && exampleStatus(s, e) == status {
			out.Set(e.Name, of("summary", e.Summary, "value", json.RawMessage(e.Answer)))
		}
	}
	return out
}

func exampleStatus(s *op.Spec, e op.Example) int {
	switch {
	case e.Status != 0:
		return e.Status
	case s.Success != 0:
		return s.Success
	}
	return http.StatusOK
}

// parameterExample is a parameter's value as JSON, of the text that stands in a URL.
func parameterExample(p codec.Parameter, text string) any {
	switch {
	case p.List:
		return strings.Split(text, ",")
	case p.Schema.Type == "integer" || p.Schema.Type == "number" || p.Schema.Type == "boolean":
		return json.RawMessage(text)
	}
	return text
}
