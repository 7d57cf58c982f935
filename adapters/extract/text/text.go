package text

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/port"
)

// Extractor reads text.
type Extractor struct{ limits extract.Limits }

// New makes an Extractor.
func New(l extract.Limits) *Extractor { return &Extractor{l} }

// format is one format and how it is read.
type format struct {
	port.Format
	read func(e *Extractor, ctx context.Context, f port.File, text string) (port.Extracted, error)
}

var formats = []format{
	{port.Format{MediaType: "text/plain", Name: "plain text", Extensions: []string{".txt", ".text", ".log"}}, plain},
	{port.Format{MediaType: "text/x-source", Name: "source code", Extensions: sourceExtensions()}, source},
	{port.Format{MediaType: "text/csv", Name: "CSV", Extensions: []string{".csv"}}, table(',')},
	{port.Format{MediaType: "text/tab-separated-values", Name: "TSV", Extensions: []string{".tsv", ".tab"}}, table('\t')},
	{port.Format{MediaType: "application/json", Name: "JSON", Extensions: []string{".json"}}, tree},
	{port.Format{MediaType: "application/x-ndjson", Name: "JSON lines", Extensions: []string{".jsonl", ".ndjson"}}, tree},
	{port.Format{MediaType: "text/xml", Name: "XML", Extensions: []string{".xml"}}, markup},
}

// Formats implements port.Extractor.
func (e *Extractor) Formats() []port.Format {
	out := make([]port.Format, len(formats))
	for i, f := range formats {
		out[i] = f.Format
	}
	return out
}

// Extract implements port.Extractor.
func (e *Extractor) Extract(ctx context.Context, f port.File) (port.Extracted, error) {
	if err := ctx.Err(); err != nil {
		return port.Extracted{}, err
	}
	for _, known := range formats {
		if known.MediaType != f.MediaType {
			continue
		}
		text, err := Decode(f.Content, f.Charset)
		if err != nil {
			return port.Extracted{}, err
		}
		if strings.TrimSpace(text) == "" {
			return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text")
		}
		return known.read(e, ctx, f, text)
	}
	return port.Extracted{}, port.FileErrorf(port.FileUnsupported, nil, "is of the kind %s, which is no text", f.MediaType)
}

func one(text string) port.Extracted {
	return port.Extracted{Sections: []port.Section{{Text: text}}}
}

func plain(_ *Extractor, _ context.Context, _ port.File, text string) (port.Extracted, error) {
	return one(text), nil
}

// languages are those of source code by extension, as fenced blocks name them.
var languages = map[string]string{
	".bash": "bash", ".c": "c", ".cc": "cpp", ".clj": "clojure", ".cpp": "cpp", ".cs": "csharp", ".css": "css", ".cxx": "cpp",
	".dart": "dart", ".erl": "erlang", ".ex": "elixir", ".exs": "elixir", ".fs": "fsharp", ".go": "go", ".gradle": "groovy",
	".groovy": "groovy", ".h": "c", ".hpp": "cpp", ".hs": "haskell", ".ini": "ini", ".java": "java", ".jl": "julia",
	".js": "javascript", ".jsx": "jsx", ".kt": "kotlin", ".kts": "kotlin", ".lua": "lua", ".m": "objectivec",
	".mjs": "javascript",
	".php": "php", ".pl": "perl", ".proto": "protobuf", ".ps1": "powershell", ".py": "python", ".r": "r", ".rb": "ruby",
	".rs": "rust", ".scala": "scala", ".scss": "scss", ".sh": "sh", ".sql": "sql", ".swift": "swift", ".tf": "hcl",
	".toml": "toml", ".ts": "typescript", ".tsx": "tsx", ".vb": "vbnet", ".yaml": "yaml", ".yml": "yaml", ".zig": "zig",
}

func sourceExtensions() []string {
	return slices.Sorted(maps.Keys(languages))
}

// source fences code, in which a # begins no heading.
func source(_ *Extractor, _ context.Context, f port.File, text string) (port.Extracted, error) {
	x := one(Fenced(languages[strings.ToLower(path.Ext(f.Name))], text))
	x.Title = path.Base(f.Name)
	return x, nil
}

// Fenced puts a text into a fenced block of Markdown.
func Fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.Trim(text, "\r\n") + "\n" + fence
}
