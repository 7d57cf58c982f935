package web

import (
	"encoding/json"
	"errors"
	"net/url"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/core/port"
)

// Bounds of a listing.
const (
	defaultPages = 1000
	mostPages    = 10_000
	maxDepth     = 10 // links between the first page and the last
)

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "oneOf": [{"required": ["start_url"]}, {"required": ["sitemap"]}],
  "properties": {
    "start_url": {
      "type": "string", "format": "uri", "maxLength": 2000,
      "description": "The page that a crawl starts from; it follows links, up to 10 from there."
    },
    "sitemap": {
      "type": "string", "format": "uri", "maxLength": 2000,
      "description": "A sitemap or an index of them, XML or lines of text, also in gzip. Its pages are read and no others."
    },
    "same_host": {
      "type": "boolean", "default": true,
      "description": "Read only pages of the host of start_url or sitemap, or of the host that it redirects to."
    },
    "max_pages": {
      "type": "integer", "minimum": 1, "maximum": 10000, "default": 1000,
      "description": "As many pages are read at most. A site that has more deletes nothing but what it says is gone."
    },
    "robots": {
      "type": "boolean", "default": true,
      "description": "Obey robots.txt and what pages say to robots: noindex, nofollow. False is for sites of your own."
    }
  }
}`

const secretsSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {}
}`

// config is a source's configuration.
type config struct {
	StartURL string `json:"start_url"`
	Sitemap  string `json:"sitemap"`
	SameHost *bool  `json:"same_host"`
	MaxPages int    `json:"max_pages"`
	Robots   *bool  `json:"robots"`
}

// read reads a configuration, or says what is wrong with it.
func read(raw json.RawMessage) (config, []port.SourceFieldProblem) {
	c := config{MaxPages: defaultPages}
	if err := json.Unmarshal(raw, &c); err != nil {
		var wrong *json.UnmarshalTypeError
		field := "config"
		if errors.As(err, &wrong) && wrong.Field != "" {
			field += "." + wrong.Field
		}
		return c, []port.SourceFieldProblem{{Field: field, Message: "does not fit the kind's schema"}}
	}
	var problems []port.SourceFieldProblem
	report := func(field, message string) {
		problems = append(problems, port.SourceFieldProblem{Field: "config." + field, Message: message})
	}
	switch {
	case c.StartURL == "" && c.Sitemap == "":
		report("start_url", "is missing, and so is sitemap: one of them says what is read")
	case c.StartURL != "" && c.Sitemap != "":
		report("sitemap", "is set beside start_url: only one of them can be")
	default:
		field, at := c.root()
		u, err := url.Parse(at)
		if err != nil || outbound.CheckURL(at) != nil {
			report(field, "is not an absolute http or https URL without a user")
		} else if _, ok := normalize(u); !ok {
			report(field, "cannot be a page's URL: it is too long or repeats itself")
		}
	}
	if c.MaxPages < 1 || c.MaxPages > mostPages {
		report("max_pages", "has to be 1 to 10000")
	}
	return c, problems
}

// root is the URL that a listing begins with, and the field that holds it.
func (c config) root() (field, at string) {
	if c.Sitemap != "" {
		return "sitemap", c.Sitemap
	}
	return "start_url", c.StartURL
}

func (c config) sameHost() bool { return c.SameHost == nil || *c.SameHost }
func (c config) robots() bool   { return c.Robots == nil || *c.Robots }
