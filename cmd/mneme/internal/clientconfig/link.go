package clientconfig

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Link is an address that has a client ask whether to enter a server, and the address of the
// same for pages that don't take links to programs.
func (c Client) Link(name string, s Server) (program, page string, err error) {
	e := c.entry(name, s)
	switch c.Name {
	case "cursor":
		body, err := json.Marshal(e)
		if err != nil {
			return "", "", fmt.Errorf("write the entry: %w", err)
		}
		query := "?name=" + url.QueryEscape(name) + "&config=" + url.QueryEscape(base64.StdEncoding.EncodeToString(body))
		return "cursor://anysphere.cursor-deeplink/mcp/install" + query, "https://cursor.com/en/install-mcp" + query, nil
	case "vscode", "vscode-insiders":
		scheme, quality := "vscode", ""
		if c.Name == "vscode-insiders" {
			scheme, quality = "vscode-insiders", "&quality=insiders"
		}
		body, err := json.Marshal(e)
		if err != nil {
			return "", "", fmt.Errorf("write the entry: %w", err)
		}
		asked := []input{}
		if s.Secret != "" {
			asked = append(asked, input{"promptString", inputID(name), "API key of Mneme", true})
		}
		whole, err := json.Marshal(struct {
			Name string `json:"name"`
			entry
			Inputs []input `json:"inputs,omitempty"`
		}{name, e, asked})
		if err != nil {
			return "", "", fmt.Errorf("write the entry: %w", err)
		}
		page = "https://insiders.vscode.dev/redirect/mcp/install?name=" + url.QueryEscape(name) + "&config=" + escape(body)
		if len(asked) > 0 {
			inputs, err := json.Marshal(asked)
			if err != nil {
				return "", "", fmt.Errorf("write the entry: %w", err)
			}
			page += "&inputs=" + escape(inputs)
		}
		return scheme + ":mcp/install?" + escape(whole), page + quality, nil
	}
	return "", "", errors.New("only cursor, vscode and vscode-insiders take links")
}

// escape is encodeURIComponent as these programs undo it: a plus sign is no space.
func escape(b []byte) string { return strings.ReplaceAll(url.QueryEscape(string(b)), "+", "%20") }
