package markup

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml"
)

// maxFront bounds a front matter. Metadata may have 40 KiB.
const maxFront = 64 << 10

// frontMatter takes the block of YAML (between lines of ---) or TOML (+++) off a
// Markdown text that begins with one. A block that is no mapping is text: a page
// may begin with a thematic break.
func frontMatter(text string) (fields map[string]any, rest string) {
	first, after, _ := strings.Cut(text, "\n")
	fence := strings.TrimRight(first, " \t\r")
	if fence != "---" && fence != "+++" {
		return nil, text
	}
	for at := 0; at < min(len(after), maxFront); {
		line, _, _ := strings.Cut(after[at:], "\n")
		next := min(at+len(line)+1, len(after))
		if end := strings.TrimRight(line, " \t\r"); end == fence || fence == "---" && end == "..." {
			if decode(fence, after[:at], &fields) != nil {
				return nil, text
			}
			return fields, after[next:]
		}
		at = next
	}
	return nil, text
}

func decode(fence, block string, to *map[string]any) error {
	if fence == "+++" {
		_, err := toml.Decode(block, to)
		return err
	}
	return yaml.Unmarshal([]byte(block), to)
}

// maxFields bounds the fields of a front matter with their tables and lists taken
// apart: by aliases, a few lines of YAML can stand for more than memory holds.
const maxFields = 4096

// metadata makes what documents can carry of the fields of a front matter: text,
// numbers, booleans and lists of text. A field of a table gets the table's name
// before its own. What is empty is left out, and so are tables and lists in lists.
func metadata(fields map[string]any) map[string]any {
	out, left := map[string]any{}, maxFields
	var add func(name string, v any)
	add = func(name string, v any) {
		if left--; left < 0 {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				add(name+"."+k, v[k])
			}
		case []any:
			list := []string{}
			for _, e := range v {
				if text, ok := plain(e); ok {
					list = append(list, text)
				}
			}
			out[name] = list
		case string, bool:
			out[name] = v
		case int64, uint64:
			out[name] = json.Number(fmt.Sprint(v))
		case float64:
			out[name] = json.Number(strconv.FormatFloat(v, 'g', -1, 64))
			if math.IsInf(v, 0) || math.IsNaN(v) { // which JSON doesn't have
				out[name] = fmt.Sprint(v)
			}
		default:
			if text, ok := plain(v); ok {
				out[name] = text
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		add(k, fields[k])
	}
	return out
}

// plain is a single value as text.
func plain(v any) (string, bool) {
	switch v := v.(type) {
	case nil, map[string]any, []any, []map[string]any:
		return "", false
	case time.Time:
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly), true
		}
		return v.Format(time.RFC3339), true
	}
	return fmt.Sprint(v), true
}
