//nolint:staticcheck // the suite still calls what revision 2026-07-28 deprecates: sampling, roots, logging
package mcp_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The conformance suite calls tools, resources and prompts by fixed names. These
// are they, registered beside the product's own tools on the production transport.
// What each must answer is in the description of its scenario.

const (
	pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==" // a PNG of one pixel
	// a WAV of no samples
	silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
)

// answer is what a fixture tool does. An error becomes a JSON-RPC error.
type answer func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error)

// fixtures gives what adds everything that the suite calls to a server. All servers
// share one seal, as a client may come back to another one.
func fixtures() func(*sdk.Server) {
	state := newState()
	return func(s *sdk.Server) { extend(s, state) }
}

func extend(s *sdk.Server, state *state) {
	for name, tool := range map[string]struct {
		schema string // "": no arguments
		answer answer
	}{
		"test_simple_text":   {"", says(text("This is a simple text response for testing."))},
		"test_image_content": {"", says(&sdk.ImageContent{Data: decode(pixel), MIMEType: "image/png"})},
		"test_audio_content": {"", says(&sdk.AudioContent{Data: decode(silence), MIMEType: "audio/wav"})},
		"test_embedded_resource": {"", says(&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
			URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content."}})},
		"test_multiple_content_types": {"", says(text("Multiple content types test:"),
			&sdk.ImageContent{Data: decode(pixel), MIMEType: "image/png"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
				URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"test":"data","value":123}`}})},
		"test_error_handling": {"", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{IsError: true,
				Content: []sdk.Content{text("This tool intentionally returns an error for testing")}}, nil
		}},
		"test_tool_with_logging": {"",
			logs("Tool execution started", "Tool processing data", "Tool execution completed")},
		"test_logging_tool":       {"", logs("a message that nobody asked for")},
		"test_tool_with_progress": {"", progresses},
		"test_sampling": {`{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`,
			samples},
		"test_elicitation": {
			`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
			elicits(`{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}},` +
				`"required":["username","email"]}`),
		},
		"test_elicitation_sep1034_defaults": {"", elicits(defaultsSchema)},
		"test_elicitation_sep1330_enums":    {"", elicits(enumsSchema)},
		"test_reconnection": {"", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if req.Extra != nil && req.Extra.CloseSSEStream != nil {
				req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
			}
			return &sdk.CallToolResult{Content: []sdk.Content{text("reconnected")}}, nil
		}},
		"json_schema_2020_12_tool": {vocabularySchema, says(text("read"))},
		"test_x_mcp_header": {`{"type":"object","properties":{"region":{"type":"string",` +
			`"x-mcp-header":"Region"},"level":{"type":"integer"}}}`, says(text("read"))},
		"test_missing_capability":    {"", needsSampling},
		"test_streaming_elicitation": {"", says(text("an answer, and no request of the server's own"))},
		"test_trigger_tool_change": {"", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			s.AddTool(&sdk.Tool{Name: "test_added_later", Description: "Appears while clients watch.",
				InputSchema: json.RawMessage(noArguments)},
				sdk.ToolHandler(says(text("added"))))
			return &sdk.CallToolResult{Content: []sdk.Content{text("a tool was added")}}, nil
		}},
		"test_trigger_prompt_change": {"", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			s.AddPrompt(&sdk.Prompt{Name: "test_prompt_added_later", Description: "Appears while clients watch."},
				prompts(text("added")))
			return &sdk.CallToolResult{Content: []sdk.Content{text("a prompt was added")}}, nil
		}},

		"test_input_required_result_elicitation": {"", asks(round{"user_name": name()}, "Hello, %s!")},
		"test_input_required_result_sampling": {"",
			asks(round{"capital_question": question("What is the capital of France?")}, "The model says: %s")},
		"test_input_required_result_list_roots": {"",
			asks(round{"client_roots": &sdk.ListRootsParams{}}, "The client shares %s")},
		"test_input_required_result_request_state":  {"", asksSealed(state, "state-ok", round{"confirm": confirm()})},
		"test_input_required_result_tampered_state": {"", asksSealed(state, "state-ok", round{"confirm": confirm()})},
		"test_input_required_result_multiple_inputs": {"",
			asksSealed(state, "all are here",
				round{"user_name": name(), "greeting": question("Generate a greeting"), "client_roots": &sdk.ListRootsParams{}})},
		"test_input_required_result_multi_round": {"", asksSealed(state, "both rounds are done",
			round{"step1": form("Step 1: What is your name?", "name", "string")},
			round{"step2": form("Step 2: What is your favorite color?", "color", "string")})},
		"test_input_required_result_capabilities": {"", asksWhatTheClientCan},
	} {
		schema := tool.schema
		if schema == "" {
			schema = noArguments
		}
		s.AddTool(&sdk.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: json.RawMessage(schema)},
			sdk.ToolHandler(tool.answer))
	}

	s.AddResource(&sdk.Resource{URI: "test://static-text", Name: "static-text", Description: "A text.", MIMEType: "text/plain"},
		reads(sdk.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."}))
	s.AddResource(&sdk.Resource{
		URI:         "test://static-binary",
		Name:        "static-binary",
		Description: "A picture.",
		MIMEType:    "image/png",
	},
		reads(sdk.ResourceContents{MIMEType: "image/png", Blob: decode(pixel)}))
	s.AddResource(&sdk.Resource{
		URI:         "test://watched-resource",
		Name:        "watched-resource",
		Description: "One to subscribe to.",
		MIMEType:    "text/plain",
	},
		reads(sdk.ResourceContents{MIMEType: "text/plain", Text: "watched"}))
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: "test://template/{id}/data",
		Name:        "template",
		Description: "A family.",
		MIMEType:    "application/json",
	},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			u, err := url.Parse(req.Params.URI)
			if err != nil {
				return nil, err
			}
			id := strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/data")
			body, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			if err != nil {
				return nil, err
			}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI,
				MIMEType: "application/json", Text: string(body)}}}, nil
		})

	s.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "Says one thing."},
		prompts(text("This is a simple prompt for testing.")))
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_image", Description: "Shows a picture."},
		prompts(&sdk.ImageContent{Data: decode(pixel), MIMEType: "image/png"}, text("Please analyze the image above.")))
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_arguments", Description: "Repeats its arguments.",
		Arguments: []*sdk.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}},
		func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			a := req.Params.Arguments
			return prompts(text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])))(ctx, req)
		})
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Embeds a resource.",
		Arguments: []*sdk.PromptArgument{{Name: "resourceUri", Required: true}}},
		func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return prompts(&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: req.Params.Arguments["resourceUri"],
				MIMEType: "text/plain",
				Text:     "Embedded resource content for testing."}}, text("Please process the embedded resource above."))(ctx,
				req)
		})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks before it answers."},
		func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			given, ok := given(req.Params.InputResponses["user_context"])
			if !ok {
				return &sdk.GetPromptResult{
					InputRequests: sdk.InputRequestMap{"user_context": form("What context should the prompt use?",
						"context", "string")},
				}, nil
			}
			return prompts(text("In this context: "+given))(ctx, req)
		})
}

const noArguments = `{"type":"object","properties":{}}`

// vocabularySchema uses words of JSON Schema 2020-12 that a careless server drops.
const vocabularySchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string",` +
	`"enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},` +
	`"else":{"required":["email"]},
"additionalProperties":false}`

const defaultsSchema = `{"type":"object","properties":{"name":{"type":"string","default":"John ` +
	`Doe"},"age":{"type":"integer","default":30},
"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],` +
	`"default":"active"},"verified":{"type":"boolean","default":true}}}`

const enumsSchema = `{"type":"object","properties":{
"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second ` +
	`Option"},{"const":"value3","title":"Third Option"}]},
"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First ` +
	`Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`

func text(s string) *sdk.TextContent { return &sdk.TextContent{Text: s} }

func decode(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func says(content ...sdk.Content) answer {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: content}, nil
	}
}

func reads(c sdk.ResourceContents) sdk.ResourceHandler {
	return func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		c.URI = req.Params.URI
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
	}
}

func prompts(content ...sdk.Content) sdk.PromptHandler {
	return func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		r := &sdk.GetPromptResult{}
		for _, c := range content {
			r.Messages = append(r.Messages, &sdk.PromptMessage{Role: "user", Content: c})
		}
		return r, nil
	}
}

func logs(lines ...string) answer {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for _, line := range lines {
			if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line}); err != nil {
				return nil, err
			}
			time.Sleep(20 * time.Millisecond)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{text("logged")}}, nil
	}
}

func progresses(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, at := range []float64{0, 50, 100} {
		if token != nil {
			if err := req.Session.NotifyProgress(ctx,
				&sdk.ProgressNotificationParams{ProgressToken: token, Progress: at, Total: 100}); err != nil {
				return nil, err
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{text("progressed")}}, nil
}

// samples asks the client's model in a request of the server's own, as revisions
// before 2026-07-28 do.
func samples(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	res, err := req.Session.CreateMessage(ctx, question(in.Prompt))
	if err != nil {
		return nil, err
	}
	said, _ := res.Content.(*sdk.TextContent)
	if said == nil {
		return nil, fmt.Errorf("the client sampled %T", res.Content)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{text("LLM response: " + said.Text)}}, nil
}

// elicits asks the person in a request of the server's own.
func elicits(schema string) answer {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res, err := req.Session.Elicit(ctx,
			&sdk.ElicitParams{Message: "Please fill this in", RequestedSchema: json.RawMessage(schema)})
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{text(fmt.Sprintf("User response: action=%s, content=%v",
			res.Action, res.Content))}}, nil
	}
}

func needsSampling(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
		return &sdk.CallToolResult{Content: []sdk.Content{text("the client can sample")}}, nil
	}
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}},
	})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities,
		Message: "this tool samples, and the client does not say that it can", Data: data}
}

// round is what one answer asks the client for, by key.
type round = sdk.InputRequestMap

func form(message, field, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: message,
		RequestedSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`,
			field, kind, field))}
}

func name() *sdk.ElicitParams    { return form("What is your name?", "name", "string") }
func confirm() *sdk.ElicitParams { return form("Please confirm", "ok", "boolean") }

func question(s string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: text(s)}}}
}

// given is what the client answered to one question, as text.
func given(r any) (string, bool) {
	switch r := r.(type) {
	case *sdk.ElicitResult:
		if r == nil || r.Action != "accept" {
			return "", false
		}
		for _, v := range r.Content { // each form has one field
			return fmt.Sprint(v), true
		}
	case *sdk.CreateMessageWithToolsResult:
		if r != nil && len(r.Content) > 0 {
			if t, ok := r.Content[0].(*sdk.TextContent); ok {
				return t.Text, true
			}
		}
	case *sdk.ListRootsResult:
		if r != nil {
			var uris []string
			for _, root := range r.Roots {
				uris = append(uris, root.URI)
			}
			return strings.Join(uris, ", "), true
		}
	}
	return "", false
}

// asks answers with one question until the client answers it; done has one verb
// for the answer.
func asks(want round, done string) answer {
	return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for key := range want {
			if v, ok := given(req.Params.InputResponses[key]); ok {
				return &sdk.CallToolResult{Content: []sdk.Content{text(fmt.Sprintf(done, v))}}, nil
			}
		}
		return &sdk.CallToolResult{InputRequests: want}, nil
	}
}

// asksSealed asks for one round after the other; which one is next travels with
// the client, under a seal.
func asksSealed(seal *state, done string, rounds ...round) answer {
	return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		at := 0
		if s := req.Params.RequestState; s != "" {
			n, ok := seal.open(s)
			if !ok || n >= len(rounds) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState was not given by this server"}
			}
			at = n
			complete := true
			for key := range rounds[at] {
				_, ok := given(req.Params.InputResponses[key])
				complete = complete && ok
			}
			if complete {
				at++
			}
		}
		if at == len(rounds) {
			return &sdk.CallToolResult{Content: []sdk.Content{text(done)}}, nil
		}
		return &sdk.CallToolResult{InputRequests: rounds[at], RequestState: seal.seal(at)}, nil
	}
}

func asksWhatTheClientCan(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	can, want := req.ClientCapabilities(), round{}
	if can != nil && can.Elicitation != nil {
		want["user_name"] = name()
	}
	if can != nil && can.Sampling != nil {
		want["greeting"] = question("Generate a greeting")
	}
	if can != nil && can.RootsV2 != nil {
		want["client_roots"] = &sdk.ListRootsParams{}
	}
	if len(want) == 0 || len(req.Params.InputResponses) > 0 {
		return &sdk.CallToolResult{Content: []sdk.Content{text("nothing more to ask")}}, nil
	}
	return &sdk.CallToolResult{InputRequests: want}, nil
}

// state seals a round number (HMAC-SHA256), so that a client can't make one up.
type state struct{ key [32]byte }

func newState() *state {
	s := &state{}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

func (s *state) seal(n int) string {
	m := hmac.New(sha256.New, s.key[:])
	_, _ = fmt.Fprint(m, n) // a hash takes everything
	return fmt.Sprintf("%d.%s", n, hex.EncodeToString(m.Sum(nil)))
}

func (s *state) open(sealed string) (n int, ok bool) {
	if _, err := fmt.Sscanf(sealed, "%d.", &n); err != nil {
		return 0, false
	}
	return n, hmac.Equal([]byte(sealed), []byte(s.seal(n)))
}

// configureFixtures gives a server what the suite expects of one that has
// completions and resources to watch.
func configureFixtures(o *sdk.ServerOptions) {
	o.CompletionHandler = func(_ context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
		return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{req.Params.Argument.Value + "is"},
			Total: 1}}, nil
	}
	o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
}
