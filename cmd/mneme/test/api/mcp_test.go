package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/transports/mcp"
)

// withHeader sends more headers with each request.
type withHeader struct {
	base   http.RoundTripper
	header map[string]string
}

func (w withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range w.header {
		r.Header.Set(k, v)
	}
	return w.base.RoundTrip(r)
}

// mcpClient is a connected client of the official library.
type mcpClient struct {
	t testing.TB
	*sdk.ClientSession
}

// connect opens a session; version "" is the newest. Query is that of the URL.
func (s *server) connect(version, query string, headers ...string) (*mcpClient, error) {
	s.t.Helper()
	header := map[string]string{"Authorization": "Bearer " + s.key}
	for i := 0; i+1 < len(headers); i += 2 {
		header[headers[i]] = headers[i+1]
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(context.Background(),
		&sdk.StreamableClientTransport{Endpoint: s.url + "/mcp" + query, DisableStandaloneSSE: true,
			HTTPClient: &http.Client{Transport: withHeader{s.client.Transport, header}, Timeout: s.client.Timeout}},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, err
	}
	s.t.Cleanup(func() {
		closed := make(chan error, 1)
		go func() { closed <- session.Close() }()
		await(s.t, "the client closes its session", closed)
	})
	return &mcpClient{s.t, session}, nil
}

func (s *server) mcp(version, query string, headers ...string) *mcpClient {
	s.t.Helper()
	c, err := s.connect(version, query, headers...)
	if err != nil {
		s.t.Fatalf("connect: %v", err)
	}
	return c
}

// call calls a tool and expects success; the structured answer and the text must
// be the same JSON.
func (c *mcpClient) call(tool string, args any) object {
	c.t.Helper()
	r, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	text := r.Content[0].(*sdk.TextContent).Text
	if r.IsError {
		c.t.Fatalf("%s: %s", tool, text)
	}
	var out object
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		c.t.Fatalf("%s: the text is no JSON: %v", tool, err)
	}
	structured, err := json.Marshal(r.StructuredContent)
	if err != nil {
		c.t.Fatal(err)
	}
	var again object
	if err := json.Unmarshal(structured, &again); err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	if a, b := canonicalJSON(c.t, out), canonicalJSON(c.t, again); a != b {
		c.t.Errorf("%s: text and structured answer differ:\n%s\n%s", tool, a, b)
	}
	return out
}

func canonicalJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// refuses calls a tool and expects an error with a code whose text holds words.
func (c *mcpClient) refuses(tool string, args any, code string, words ...string) {
	c.t.Helper()
	r, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Errorf("%s: %v; want an answer that says %s", tool, err, code)
		return
	}
	text := r.Content[0].(*sdk.TextContent).Text
	if !r.IsError || r.StructuredContent != nil || !strings.HasPrefix(text, code+": ") {
		c.t.Errorf("%s: error %t, structured %v, text %q; want %s", tool, r.IsError, r.StructuredContent, text, code)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			c.t.Errorf("%s: %q does not name %q", tool, text, w)
		}
	}
}

// The whole story, in every revision of the protocol.
func TestMCPStory(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		for _, version := range mcp.Versions() {
			t.Run(version, func(t *testing.T) {
				ns := "story-" + version
				c := s.mcp(version, "?namespace="+ns)
				saved := c.call("save", object{"text": "The heron stands in the reeds.\nSecond line.", "title": "Heron"})
				id, _ := saved["id"].(string)
				if !strings.HasPrefix(id, ns+"/mcp:") || saved["created"] != true || saved["namespace"] != ns {
					t.Errorf("saved %v", saved)
				}
				found := c.call("search", object{"query": "where is the heron"})
				if hits := found["results"].([]any); len(hits) != 1 || hits[0].(object)["id"] != id {
					t.Errorf("found %v", found)
				}
				if got := c.call("fetch", object{"id": id}); got["text"] != "The heron stands in the reeds.\nSecond line." ||
					got["title"] != "Heron" {
					t.Errorf("fetched %v", got)
				}
				if got := c.call("delete", object{"ids": []string{id}}); got["deleted"] != 1.0 {
					t.Errorf("deleted %v", got)
				}
				c.refuses("fetch", object{"id": id}, "namespace_not_found")
			})
		}
	})
}

// fails calls a tool and gives the error of the protocol.
func (c *mcpClient) fails(tool string, args any) error {
	c.t.Helper()
	_, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: args})
	return err
}
