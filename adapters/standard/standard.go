// Package standard is the list of components that a stock binary carries, and
// nothing else.
package standard

import (
	"log/slog"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/mail"
	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/adapters/extract/office"
	"github.com/mnemehq/mneme/adapters/extract/pdf"
	"github.com/mnemehq/mneme/adapters/extract/remote"
	"github.com/mnemehq/mneme/adapters/extract/subtitle"
	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/adapters/index/opensearch"
	indexpostgres "github.com/mnemehq/mneme/adapters/index/postgres"
	"github.com/mnemehq/mneme/adapters/limit/off"
	"github.com/mnemehq/mneme/adapters/limit/redis"
	"github.com/mnemehq/mneme/adapters/limit/store"
	"github.com/mnemehq/mneme/adapters/model/cohere"
	"github.com/mnemehq/mneme/adapters/model/jina"
	"github.com/mnemehq/mneme/adapters/model/ollama"
	"github.com/mnemehq/mneme/adapters/model/openai"
	"github.com/mnemehq/mneme/adapters/model/process"
	"github.com/mnemehq/mneme/adapters/model/tei"
	"github.com/mnemehq/mneme/adapters/model/voyage"
	"github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/adapters/source/directory"
	"github.com/mnemehq/mneme/adapters/source/feed"
	"github.com/mnemehq/mneme/adapters/source/git"
	"github.com/mnemehq/mneme/adapters/source/polite"
	sourceprocess "github.com/mnemehq/mneme/adapters/source/process"
	"github.com/mnemehq/mneme/adapters/source/s3"
	"github.com/mnemehq/mneme/adapters/source/web"
	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the stock components.
func Register(r *registry.Registry) {
	sqlite.Register(r)
	postgres.Register(r)
	embedded.Register(r)
	meilisearch.Register(r)
	indexpostgres.Register(r)
	opensearch.Register(r)
	wasm.Register(r)
	openai.Register(r)
	process.Register(r)
	ollama.Register(r)
	tei.Register(r)
	cohere.Register(r)
	jina.Register(r)
	voyage.Register(r)
	off.Register(r)
	store.Register(r)
	redis.Register(r)
	directory.Register(r)
	sourceprocess.Register(r)
	git.Register(r)
	hosts := polite.NewHosts() // a site and its feed are one host
	feed.Register(r, hosts)
	web.Register(r, hosts)
	remote.Register(r)
	s3.Register(r)
}

// Extractor reads the stock formats, and what they are not elsewhere; nil: it does not. What it
// compiles it keeps in cacheDir; "": not.
func Extractor(cacheDir string, elsewhere port.Extractor, log *slog.Logger) *extract.Set {
	limits := extract.DefaultLimits()
	settings := extract.Settings{Limits: limits, Fallback: elsewhere, Log: log}
	all := []port.Extractor{text.New(limits), markup.New(), office.New(limits), subtitle.New(),
		pdf.New(pdf.Settings{CacheDir: cacheDir, Limits: limits, Log: log})}
	// Attachments are read in a set of their own: a mail that waited for one of the places
	// of which it holds one could wait for ever.
	return extract.New(settings, append(all, mail.New(limits, extract.New(settings, all...)))...)
}
