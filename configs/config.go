package configs

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/retrieve"
	"github.com/mnemehq/mneme/core/seal"
)

// Config is the operator's whole configuration.
type Config struct {
	DataDir   string                        `yaml:"data_dir" env:"MNEME_DATA" help:"Folder that holds all durable data. Relative to the working directory."`
	CacheDir  string                        `yaml:"cache_dir" env:"MNEME_CACHE" help:"Folder for files that can be rebuilt, such as compiled models. Empty: the user's cache folder."`
	Storage   registry.Selection            `yaml:"storage" kind:"storage" help:"The system of record. One key names the component; its value is that component's configuration."`
	Keyword   registry.Selection            `yaml:"keyword" kind:"index" retriever:"keyword" help:"The index of keyword search."`
	Vector    registry.Selection            `yaml:"vector" kind:"index" retriever:"vector" help:"The index of vector search. The same component with equal settings under several keys is opened once."`
	Sparse    registry.Selection            `yaml:"sparse" kind:"index" retriever:"sparse" help:"The index of learned-sparse search."`
	Models    map[string]registry.Selection `yaml:"models" kind:"model" help:"Models by a name of your choice. They are added to the built-in ones; a built-in model that no role names is not loaded."`
	Roles     Roles                         `yaml:"roles" help:"Which model does what."`
	Aliases   map[string][]string           `yaml:"aliases" help:"Further names of models, such as e5-small-v2: [text-embedding-3-small], for clients whose model cannot be chosen. A built-in model that has one is loaded though no role names it."`
	Protocols Protocols                     `yaml:"protocols" help:"Protocols of other services, which their clients speak to this one. One that is false answers 404 to all of its calls."`
	Limits    Limits                        `yaml:"limits" help:"Rate limits per key, and what the process takes on at once."`
	Server    Server                        `yaml:"server" help:"The HTTP server."`
	Timeouts  Timeouts                      `yaml:"timeouts" help:"How long an operation may take before it answers 504."`
	Query     Query                         `yaml:"query" help:"How the retrievers of a query are fused."`
	Memory    Memory                        `yaml:"memory" help:"Searching and recalling the memories of end users."`
	OAuth     OAuth                         `yaml:"oauth" help:"Lets MCP clients that cannot send an API key connect: a page asks the user for a key, and the client gets tokens that stand for it. Off unless enabled; no route of it exists then."`
	Sources   Sources                       `yaml:"sources" help:"Keeps namespaces in step with folders, repositories, sites, feeds and buckets. Off unless enabled; every route of it answers 503 then."`
	Events    Events                        `yaml:"events" help:"What is kept of what happens, for those who read /events."`
	Seal      Seal                          `yaml:"seal" help:"The sealing key: secrets of other systems, such as a source's password, are kept encrypted with it. Keep a copy where the backups of the store are not."`
	FirstKey  FirstKey                      `yaml:"first_key" help:"The admin key that 'mneme serve' makes in a store without keys, of all organizations. Once there is a key it does nothing."`
	Usage     Usage                         `yaml:"usage" help:"What is done on whose account, by the hour, which administrators read."`
	Audit     Audit                         `yaml:"audit" help:"The log of who did what, which administrators read."`
	Backup    Backup                        `yaml:"backup" help:"Backups of everything that is stored: where they are kept, and when the server makes them."`
	Console   Console                       `yaml:"console" help:"The pages at /console, where people see what is stored, ask it, and run the server. Signing in takes an admin key, or a link that 'mneme console open' prints."`
	Files     Files                         `yaml:"files" help:"Reading files that are uploaded or imported."`
	Pull      Pull                          `yaml:"pull" help:"Where 'mneme models pull' gets models from. The server fetches none."`
	Log       Log                           `yaml:"log" help:"Logging, to standard error."`
}

// Protocols says which protocols of others are spoken.
type Protocols struct {
	OpenAI bool `yaml:"openai" help:"Embeddings, models and searches of vector stores below /v1, as OpenAI's clients call them (docs/openai.md)."`
	Mem0   bool `yaml:"mem0" help:"Memories below /v1, /v2 and /v3, as the clients of mem0's platform call them (docs/mem0.md)."`
}

// Off is the role value that leaves a role without a model.
const Off = "off"

// Roles names the model of each task.
type Roles struct {
	Embed      string `yaml:"embed" help:"Model that makes the vectors of texts and queries. off: writes answer 503, and queries are by keyword alone."`
	Sparse     string `yaml:"sparse" help:"Model that makes learned-sparse vectors. off: sparse namespaces answer 503."`
	Rerank     string `yaml:"rerank" help:"Model that reorders found chunks. off: rerank answers 503."`
	Synthesize string `yaml:"synthesize" help:"Model that writes answers. off: answers are quoted from the memories."`

	Previous []string `yaml:"previous" help:"Models that embed or sparse named before. Namespaces and end users whose vectors are theirs are served with them until 'mneme reindex' has replaced the vectors, and can be rolled back to them. Models left out here are not loaded; what has their vectors answers 409 until then."`
}

// Limits holds the rate of each class and the process's ceiling.
type Limits struct {
	Read   Rate `yaml:"read" help:"Queries, reads and lists, per key: a count per s, min or h, and optionally the burst, such as 600/min burst 60. 0: unlimited. A burst left out is a tenth of a minute's worth."`
	Write  Rate `yaml:"write" help:"Writes and deletions, per key."`
	Rerank Rate `yaml:"rerank" help:"Rerank calls and queries with rerank, per key."`
	Admin  Rate `yaml:"admin" help:"Sources and other administration, per key."`

	Shared registry.Selection `yaml:"shared" kind:"limit" help:"Where rate limits are counted. off: each process counts for itself, so that N replicas allow N times the rate. store: in the system of record. redis: in the server of limits.redis. While that does not answer, each process counts for itself."`
	Redis  registry.Secret    `yaml:"redis" help:"URL of a server that speaks the Redis protocol, redis://user:password@host:6379/0, or rediss:// for TLS. Short for shared: {redis: {url: ...}}."`

	Concurrency int `yaml:"concurrency" help:"Requests served at once. 0: 16 for each core."`
	Queue       int `yaml:"queue" help:"Requests that may wait to be served; one more answers 503 with Retry-After. 0: four times the concurrency."`

	BodyMB int `yaml:"body_mb" help:"Memory for the bodies of requests, in MiB, 256 to 65536. An organization holds at most as much of it as is left for the others, a key half as much; more of theirs answers 503 with Retry-After."`

	ImportMB int    `yaml:"import_mb" help:"Size of a data set that is imported over the API, in MiB, decompressed, 1 to 65536."`
	TempDir  string `yaml:"temp_dir" help:"Folder for data sets on their way in or out over the API. It has to be there. Empty: the system's folder for temporary files."`
	TempMB   int    `yaml:"temp_mb" help:"Most that such data sets take there together, in MiB, up to 16777216. 0: what its disk has free but for 256 MiB. An organization takes at most as much of it as is left for the others."`

	RerankDocuments int `yaml:"rerank_documents" help:"Texts that one rerank call may score, 1 to 1000."`
}

// Server is the HTTP server's configuration.
type Server struct {
	Addr           string   `yaml:"addr" env:"MNEME_ADDR" help:"Address to listen on, host:port. Port 0 picks a free one."`
	AdminAddr      string   `yaml:"admin_addr" env:"MNEME_ADMIN_ADDR" help:"Second address to listen on, host:port, for /health, /health/deep and /metrics alone. It answers whatever the first one suffers, and while the server ends, when /health there says 503. The first one serves no /metrics then. Empty: none."`
	BaseURL        string   `yaml:"base_url" env:"MNEME_BASE_URL" help:"URL under which clients reach the server, shown when it starts. Empty: made from addr."`
	AllowedOrigins []string `yaml:"allowed_origins" help:"Origins of web pages that may call the MCP endpoint, such as https://app.example.com, beside those of this machine and of the server itself. * is any."`
	MaxConnections int      `yaml:"max_connections" help:"Most open connections. When all are taken, one that waits for a request is closed for the next client, of the address that has most; where none waits, the next client does."`

	ConnectionsPerAddress int `yaml:"connections_per_address" help:"Most open connections of one address, an IPv6 network of 64 bits counting as one. 0: any number, as behind a proxy, whose address is everybody's."`

	TLS TLS `yaml:"tls" help:"Serve https. Empty: http, as behind a proxy that ends TLS."`

	ShutdownTimeout time.Duration `yaml:"shutdown_timeout" help:"How long a shutdown waits at most for requests in progress; as long as a write may take unless set."`
}

// TLS is the certificate of the server's first address.
type TLS struct {
	Cert string `yaml:"cert" help:"PEM file with the certificate and those that it was issued by. A changed file is taken within ten seconds, or at once on SIGHUP."`
	Key  string `yaml:"key" help:"PEM file with its private key."`
}

// Timeouts holds the deadline of each kind of operation.
type Timeouts struct {
	Header time.Duration `yaml:"header" help:"Reading a request's header."`
	Idle   time.Duration `yaml:"idle" help:"An idle kept-alive connection."`
	Read   time.Duration `yaml:"read" help:"Reads and lists."`
	Query  time.Duration `yaml:"query" help:"A query. One with rerank may take twice as long."`
	Rerank time.Duration `yaml:"rerank" help:"A rerank call."`
	Write  time.Duration `yaml:"write" help:"A write or a deletion."`
}

// Query holds the fusion's constants.
type Query struct {
	Fusion     string  `yaml:"fusion" enum:"zscore,rrf" help:"zscore: weighted sum of each list's normalised scores. rrf: reciprocal rank fusion."`
	Weights    Weights `yaml:"weights" help:"Weight of each retriever, 0 to 10, renormalised over those that a query uses."`
	Candidates int     `yaml:"candidates" help:"Chunks that each retriever gives to the fusion, 10 to 1000."`
	RRFK       int     `yaml:"rrf_k" help:"The constant k of reciprocal rank fusion, 1 to 1000."`

	RerankPrior   float64 `yaml:"rerank_prior" help:"Weight of the fused score beside the reranker's, 0 to 10: one standard deviation of the fused score, or .19 where that is more, counts as much as this many of the reranker's log-odds. 0: the reranker alone."`
	RerankFloor   float64 `yaml:"rerank_floor" help:"Reranker scores (log-odds) below mean + N standard deviations are raised to that value, so that low scores are ties and keep their fused order. -10 to 10."`
	RerankAbstain bool    `yaml:"rerank_abstain" help:"Leave the order of a query's hits where the reranker finds the first one best, too. For a reranker that is better than what finds the hits, false."`
	RerankDepth   int     `yaml:"rerank_depth" help:"Most chunks that a query with rerank scores unless it names a depth, 1 to 100."`
	SparseQueries string  `yaml:"sparse_queries" enum:"encoder,idf" help:"encoder: the sparse model expands a query. idf: the query's own word pieces, weighted by their inverse document frequency in the namespace; no model runs."`
}

// Weights holds the weight of each retriever.
type Weights struct {
	Vector  float64 `yaml:"vector" help:"Weight of vector search."`
	Keyword float64 `yaml:"keyword" help:"Weight of keyword search."`
	Sparse  float64 `yaml:"sparse" help:"Weight of learned-sparse search; beside vector and keyword search two fifths of it at most, where vectors are uncertain, and less, down to none, the further the nearest vector stands out."`
}

// Memory holds what is particular to end users' memories.
type Memory struct {
	RerankDepth    int     `yaml:"rerank_depth" help:"Most memories that a search scores with the reranker, 0 to 100. 0: searches are not reranked."`
	RerankBytes    int     `yaml:"rerank_bytes" help:"Text that a search gives the reranker for each core, 0 to 1000000; of long memories fewer are scored, but at least ten. 0: no bound."`
	RerankPrior    float64 `yaml:"rerank_prior" help:"Weight of the fused score beside the reranker's in a search of memories, 0 to 10, as query.rerank_prior."`
	Sparse         bool    `yaml:"sparse" help:"Give new end users a learned-sparse index, which their searches use. It needs the role sparse."`
	MinProbability float64 `yaml:"min_probability" help:"Lowest probability, 0 to 1, that a sentence answers the question at which recall quotes it. Below it recall abstains, unless search puts the memory of the best sentence first and holds it probable: of that a quarter is enough."`
	AnswerFallback bool    `yaml:"answer_fallback" help:"Quote memories when the model of role synthesize fails, and say so in degraded. Otherwise recall answers 502."`
	Environment    string  `yaml:"environment" help:"Name of this installation in the status call, such as production."`
}

// OAuth is the front for MCP clients that cannot send a key.
type OAuth struct {
	Enabled              bool          `yaml:"enabled" help:"Serve it. It needs server.base_url, an https origin without a path, or an http one of this machine."`
	KnownHosts           []string      `yaml:"known_hosts" help:"Hosts that the page sends people back to without a warning."`
	ClientDocuments      bool          `yaml:"client_documents" help:"Take clients whose id is the https URL of a document that describes them. The server reads it from the network."`
	PrivateDocuments     bool          `yaml:"private_documents" help:"Let those documents be on private networks, and at http URLs of this machine. For development: it lets strangers make the server call addresses behind your firewall."`
	Registration         bool          `yaml:"registration" help:"Take clients that register themselves, as older ones do."`
	MaxClients           int           `yaml:"max_clients" help:"Registered clients kept, 1 to 100000; further ones replace the oldest that was never used. One that nobody used is forgotten after a day."`
	AccessTokenLifetime  time.Duration `yaml:"access_token_lifetime" help:"How long an access token is good, 1m to 1h. It ends with its key at any time."`
	RefreshTokenLifetime time.Duration `yaml:"refresh_token_lifetime" help:"How long a client may stay away before the user is asked again, 1h to 8760h."`
	AddressHeader        string        `yaml:"address_header" help:"Header in which the proxy in front puts the caller's address, such as X-Forwarded-For, whose last entry counts. It is what attempts are limited by. Empty: the connection's address."`
}

// Console is the pages for people.
type Console struct {
	Enabled         bool          `yaml:"enabled" help:"Serve it. false: no route of it exists, and /console answers 404."`
	AllowedNetworks []string      `yaml:"allowed_networks" help:"Networks or addresses that browsers may come from, such as 10.0.0.0/8 or 192.168.7.4. Others get 403, for signing in too. Behind a proxy set oauth.address_header. Empty: any."`
	Session         time.Duration `yaml:"session" help:"How long a sign-in is good, 5m to 168h. It ends after an hour without use, and with its key at any time."`
	Passwords       bool          `yaml:"passwords" help:"Let members sign in with a password. false: at the provider of oidc alone; admin keys and links go on working."`
	TrustedProxies  []string      `yaml:"trusted_proxies" help:"Networks or addresses of proxies that end TLS, whose header X-Forwarded-Proto is believed. Not needed with an https server.base_url. Empty: nobody's is."`
	OIDC            OIDC          `yaml:"oidc" help:"A provider of OpenID Connect, where members sign in with an account of theirs. It signs in whom an owner has invited, and nobody else."`
}

// OIDC names a provider of OpenID Connect.
type OIDC struct {
	Issuer       string          `yaml:"issuer" help:"URL of the provider, such as https://login.example.org/realms/staff; http is for this machine alone. It needs server.base_url, and server.base_url/console/sign-in/return registered there as redirect URI. Empty: none."`
	ClientID     string          `yaml:"client_id" help:"Id of this server at the provider."`
	ClientSecret registry.Secret `yaml:"client_secret" env:"MNEME_OIDC_CLIENT_SECRET" help:"Its secret there. Empty: it is a public client, which PKCE alone protects."`
	Name         string          `yaml:"name" help:"Name of the provider on the button. Empty: the host of issuer."`
	Domains      []string        `yaml:"domains" help:"Domains of the addresses that may sign in there, such as example.org. Empty: any; a member has to be invited all the same."`
}

func (o OIDC) validate(base string, report func(path, format string, args ...any)) {
	if o.Issuer == "" {
		if o.ClientID != "" || o.ClientSecret != "" || o.Name != "" || len(o.Domains) > 0 {
			report("console.oidc.issuer", "is needed with the other settings of console.oidc")
		}
		return
	}
	if !private(o.Issuer) {
		report("console.oidc.issuer",
			"%q is not an absolute https URL without user, query and fragment; http is for this machine alone", o.Issuer)
	}
	if !private(base) {
		report("console.oidc.issuer",
			"needs an https server.base_url, to which the provider sends people back; http is for this machine alone")
	}
	if o.ClientID == "" {
		report("console.oidc.client_id", "is needed with console.oidc.issuer")
	}
	for i, d := range o.Domains {
		if d == "" || strings.ContainsAny(d, "@ *") {
			report(fmt.Sprintf("console.oidc.domains[%d]", i), "%q is no domain, such as example.org", d)
		}
	}
}

// private reports whether what is sent to a URL can be read by nobody on its way.
func private(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// Networks are the allowed networks; an address is the network of itself.
func (c Console) Networks() ([]netip.Prefix, error) {
	return networks("console.allowed_networks", c.AllowedNetworks)
}

// Proxies are the networks of the trusted proxies.
func (c Console) Proxies() ([]netip.Prefix, error) {
	return networks("console.trusted_proxies", c.TrustedProxies)
}

func networks(path string, from []string) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, len(from))
	for i, s := range from {
		n, err := netip.ParsePrefix(s)
		if err != nil {
			var a netip.Addr
			if a, err = netip.ParseAddr(s); err == nil {
				n, err = a.Prefix(a.BitLen())
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %q is no network, such as 10.0.0.0/8, nor an address", path, i, s)
		}
		out[i] = n.Masked()
	}
	return out, nil
}

// Sources says what sources may reach, which is the same for every organization.
type Sources struct {
	Enabled      bool     `yaml:"enabled" help:"Serve sources."`
	Directories  []string `yaml:"directories" help:"Folders below which sources of kind directory may lie. Every organization with a key can read what is in them. Empty: none."`
	AllowPrivate []string `yaml:"allow_private" help:"Networks that sources may reach beside public addresses at ports 80 and 443, as an address or a network with or without a port, such as 10.1.0.0/16 or 192.168.7.4:9000."`
	GitSSHHosts  []string `yaml:"git_ssh_hosts" help:"Hosts that sources of kind git may reach over SSH, each as a line of a known_hosts file: name and public key."`
	// Plugins are programs of vendors.
	Plugins   map[string]registry.Selection `yaml:"plugins" kind:"source_plugin" help:"Programs of vendors that bring kinds of sources along, by a name of your choice. They are started with the server, which does not start without them."`
	Workers   int                           `yaml:"workers" help:"Runs at once in this process, 1 to 64."`
	MaxItemMB int                           `yaml:"max_item_mb" help:"Size of an item, in MiB, decompressed, 1 to 64. One is in memory for each of the four items that a run reads at once."`
	Stall     time.Duration                 `yaml:"stall" help:"How long a run may go without a settled or a listed item, 1m to 24h. It is ended then and counts as interrupted."`
}

// Events says what is kept of what happens.
type Events struct {
	Record    string        `yaml:"record" enum:"all,subscribed,off" help:"Which events are recorded. all; subscribed: those of organizations that have webhooks, or whose events somebody has read in the last 30 days; off."`
	Retention time.Duration `yaml:"retention" help:"How long an event is kept, 1h to 8760h."`

	AllowPrivate []string `yaml:"allow_private" help:"Networks that webhooks may reach beside public addresses at ports 80 and 443, as an address or a network with or without a port, such as 10.1.0.0/16 or 192.168.7.4:9000."`
	HTTP         bool     `yaml:"http" help:"Take webhooks with http URLs, whose deliveries anybody on their way can read. For development, and for networks of your own."`
}

// Usage says how long it is kept what was done.
type Usage struct {
	Retention time.Duration `yaml:"retention" help:"How long usage is kept, 24h to 87600h."`
}

// Audit says what is recorded of who did what, and for how long.
type Audit struct {
	Level     string        `yaml:"level" enum:"admin,deletes,all" help:"admin: changes over /admin/v1 and by commands that administer, refused calls of /admin/v1, keys lent to MCP clients, and jobs that reindex or delete an organization. deletes: also what deletes documents, memories and sources. all: every change."`
	Retention time.Duration `yaml:"retention" help:"How long a record is kept, 24h to 87600h."`
}

// Seal says what the secrets of other systems are encrypted with.
type Seal struct {
	KeyFile string          `yaml:"key_file" help:"File with sealing keys, one a line: 32 bytes in base64, as 'mneme seal key' prints them. The first seals, the others open what they sealed before. Empty, with storage sqlite: seal.key in the data folder, which is made where it is missing. With another storage there is none, and such secrets are refused."`
	Key     registry.Secret `yaml:"key" env:"MNEME_SEAL_KEY" help:"The keys themselves, apart by commas or line breaks, instead of a file."`
}

func (s Seal) validate(report func(path, format string, args ...any)) {
	if s.Key == "" {
		return
	}
	if _, err := seal.ParseKeys(s.Key.Reveal()); err != nil {
		report("seal.key", "%v", err)
	}
	if s.KeyFile != "" {
		report("seal.key_file", "is beside seal.key (MNEME_SEAL_KEY); leave one of them out")
	}
}

// FirstKey says what the first key of a new installation is.
type FirstKey struct {
	Key  registry.Secret `yaml:"key" env:"MNEME_FIRST_KEY" help:"The key, as 'mneme keys secret' prints one. Empty: none."`
	File string          `yaml:"file" env:"MNEME_FIRST_KEY_FILE" help:"File with the key, instead. Where it is missing and the store has no keys, one is made and written there, for this user alone (0600)."`
}

func (f FirstKey) validate(report func(path, format string, args ...any)) {
	if f.Key == "" {
		return
	}
	if err := key.CheckFirst(f.Key.Reveal()); err != nil {
		report("first_key.key", "%s", fault.From(err).Message)
	}
	if f.File != "" {
		report("first_key.file", "is beside first_key.key (MNEME_FIRST_KEY); leave one of them out")
	}
}

// Files says how files are read.
type Files struct {
	Remote registry.Selection `yaml:"remote" kind:"extractor" help:"A server of yours that reads what this program does not. off: none. tika: Apache Tika, for DOC, PPT, RTF and more. docling: docling-serve, for scanned pages. It gets the files of all organizations."`
}

// Pull says where models are pulled from.
type Pull struct {
	Mirror    string `yaml:"mirror" env:"MNEME_MODELS_MIRROR" help:"URL or folder to fetch from instead of the catalogue's places, each of which is a folder of its name there; or place=URL for some of them, separated by commas. Empty: none."`
	Catalogue string `yaml:"catalogue" env:"MNEME_MODELS_CATALOGUE" help:"Catalogue file. Empty: the program's own."`

	Publishers map[string]Publisher `yaml:"publishers" help:"Publishers whose signed catalogues 'mneme models pull --publisher NAME' takes, by names of yours: {acme: {url: ..., public_key: ...}}."`
}

// Publisher is who signs a catalogue.
type Publisher struct {
	URL       string `yaml:"url" help:"URL of the catalogue, or its path. Its signature lies beside it, as NAME.minisig."`
	PublicKey string `yaml:"public_key" help:"The publisher's key in the form of minisign, as 'mneme models keygen' prints it. What it has not signed is refused."`
}

// publisherName is what a publisher may be called: it is the name of a folder of mirrors.
var publisherName = regexp.MustCompile(`^[a-z0-9_-]+$`)

func (p Publisher) validate(name string, report func(path, format string, args ...any)) {
	path := "pull.publishers." + name
	if !publisherName.MatchString(name) {
		report(path, "the name of a publisher has lower-case letters, digits, - and _ alone")
	}
	u, err := url.Parse(p.URL)
	if p.URL == "" || err != nil || !slices.Contains([]string{"https", "http", "file", ""}, u.Scheme) || u.RawQuery != "" {
		report(path+".url", "%q is no http, https or file URL without a query, nor a path", p.URL)
	}
	// The form: two letters for the algorithm, eight bytes that name the key, and the key.
	if key, err := base64.StdEncoding.DecodeString(p.PublicKey); err != nil || len(key) != 42 || string(key[:2]) != "Ed" {
		report(path+".public_key", "is no public key in the form of minisign, such as RWQ and 53 more characters")
	}
}

// Log says what is logged and how.
type Log struct {
	Level  string `yaml:"level" env:"MNEME_LOG_LEVEL" enum:"debug,info,warn,error" help:"Lowest level that is logged."`
	Format string `yaml:"format" env:"MNEME_LOG_FORMAT" enum:"text,json" help:"text for people, json for collectors."`
}

// The built-in components, where a registry has them.
const (
	defaultStorage = "sqlite"
	defaultIndex   = "embedded"
	defaultModel   = "wasm"
	defaultLimit   = "off"
	defaultRemote  = "off"
)

// The models that need no configuration.
const (
	BuiltinEmbedder = "e5-small-v2"
	BuiltinSparse   = "splade-tiny"
	BuiltinReranker = "rerank-small"
)

// Default is the configuration of an empty file.
func Default(r *registry.Registry) *Config {
	selected := func(t registry.Table, name string) registry.Selection {
		info, ok := t.Component(name)
		if !ok {
			return registry.Selection{Component: name}
		}
		return info.Select()
	}
	models := map[string]registry.Selection{}
	for _, name := range []string{BuiltinEmbedder, BuiltinSparse, BuiltinReranker} {
		models[name] = selected(r.Model, defaultModel)
		if info, ok := r.Model.Component(defaultModel); ok {
			// else it is a test's own component
			if s, err := Set(info, map[string]string{"module": "builtin:" + name}); err == nil {
				models[name] = s
			}
		}
	}
	return &Config{
		DataDir: "mneme-data",
		Storage: selected(r.Store, defaultStorage),
		Keyword: selected(r.Index, defaultIndex),
		Vector:  selected(r.Index, defaultIndex),
		Sparse:  selected(r.Index, defaultIndex),
		Models:  models,
		Roles:   Roles{Embed: BuiltinEmbedder, Sparse: BuiltinSparse, Rerank: BuiltinReranker, Synthesize: Off},
		Server:  Server{Addr: "127.0.0.1:8080", MaxConnections: 2048, ShutdownTimeout: 2*time.Minute + 5*time.Second},
		Timeouts: Timeouts{Header: 10 * time.Second, Idle: 2 * time.Minute, Read: 5 * time.Second, Query: 10 * time.Second,
			Rerank: 20 * time.Second, Write: 2 * time.Minute},
		Limits: Limits{Shared: selected(r.Limit, defaultLimit), BodyMB: 256, ImportMB: 2048, RerankDocuments: 100},
		Query:  defaultQuery(),
		Memory: Memory{
			RerankDepth:    20,
			RerankBytes:    2200,
			RerankPrior:    memory.DefaultReranking().Prior,
			MinProbability: recall.DefaultMinProbability,
			Environment:    memory.DefaultEnvironment,
		},
		OAuth: OAuth{
			KnownHosts:           []string{"claude.ai", "claude.com", "chatgpt.com", "vscode.dev"},
			ClientDocuments:      true,
			Registration:         true,
			MaxClients:           1000,
			AccessTokenLifetime:  15 * time.Minute,
			RefreshTokenLifetime: 30 * 24 * time.Hour,
		},
		Console:   Console{Enabled: true, Session: 12 * time.Hour, Passwords: true},
		Sources:   Sources{Workers: 2, MaxItemMB: 64, Stall: 10 * time.Minute},
		Events:    Events{Record: "subscribed", Retention: 30 * 24 * time.Hour},
		Usage:     Usage{Retention: 400 * 24 * time.Hour},
		Audit:     Audit{Level: "admin", Retention: 400 * 24 * time.Hour},
		Files:     Files{Remote: selected(r.Extractor, defaultRemote)},
		Protocols: Protocols{OpenAI: true, Mem0: true},
		Log:       Log{Level: "info", Format: "text"},
	}
}

// Reranking are the constants of reranking: what is measured, but for what is configured.
func (q Query) Reranking() retrieve.Reranking {
	r := retrieve.DefaultReranking()
	r.Prior, r.Floor, r.Abstain, r.Depth = q.RerankPrior, q.RerankFloor, q.RerankAbstain, q.RerankDepth
	return r
}

// defaultQuery is what core/retrieve has measured.
func defaultQuery() Query {
	fusion, reranking := retrieve.DefaultFusion(), retrieve.DefaultReranking()
	return Query{
		Fusion: string(fusion.Method),
		Weights: Weights{
			Vector:  fusion.Weights[port.Vector],
			Keyword: fusion.Weights[port.Keyword],
			Sparse:  fusion.Weights[port.SparseTerms],
		},
		Candidates:    fusion.Depth,
		RRFK:          int(fusion.K),
		RerankPrior:   reranking.Prior,
		RerankFloor:   reranking.Floor,
		RerankAbstain: reranking.Abstain,
		RerankDepth:   reranking.Depth,
		SparseQueries: string(retrieve.EncodedQueries),
	}
}

// Indexes is the selection of each retriever.
func (c *Config) Indexes() map[port.Retriever]registry.Selection {
	return map[port.Retriever]registry.Selection{port.Keyword: c.Keyword, port.Vector: c.Vector, port.SparseTerms: c.Sparse}
}

// validate reports what decoding alone cannot see.
func (c *Config) validate(report func(path, format string, args ...any)) {
	if c.DataDir == "" {
		report("data_dir", "must name a folder")
	}
	for _, role := range []struct{ name, model string }{
		{"embed", c.Roles.Embed}, {"sparse", c.Roles.Sparse}, {"rerank", c.Roles.Rerank}, {"synthesize", c.Roles.Synthesize}} {
		if _, ok := c.Models[role.model]; !ok && role.model != Off {
			names := make([]string, 0, len(c.Models)+1)
			for n := range c.Models {
				names = append(names, n)
			}
			report("roles."+role.name, "no model is named %q%s", role.model, registry.Suggest(role.model, append(names, Off)))
		}
	}
	for i, name := range c.Roles.Previous {
		at := fmt.Sprintf("roles.previous[%d]", i)
		if _, ok := c.Models[name]; !ok {
			report(at, "no model is named %q%s", name, registry.Suggest(name, c.ModelNames()))
		}
		if name == c.Roles.Embed || name == c.Roles.Sparse {
			report(at, "%s is in use: name models that were before", name)
		}
	}
	taken := map[string]string{}
	for _, of := range sortedKeys(c.Aliases) {
		if _, ok := c.Models[of]; !ok {
			report("aliases."+of, "no model is named %q%s", of, registry.Suggest(of, c.ModelNames()))
		}
		for i, alias := range c.Aliases[of] {
			at := fmt.Sprintf("aliases.%s[%d]", of, i)
			if _, ok := c.Models[alias]; ok || alias == "" {
				report(at, "%q is no further name: it is empty, or a model's own", alias)
			}
			if other, ok := taken[alias]; ok {
				report(at, "%q is a name of %s already", alias, other)
			}
			taken[alias] = of
		}
	}
	if _, ok := c.Models[Off]; ok {
		report("models."+Off, "a model cannot be named %s, which leaves a role empty", Off)
	}
	if err := checkAddr(c.Server.Addr); err != nil {
		report("server.addr", "%v", err)
	}
	if c.Server.AdminAddr != "" {
		if err := checkAddr(c.Server.AdminAddr); err != nil {
			report("server.admin_addr", "%v", err)
		} else if _, port, _ := net.SplitHostPort(c.Server.AdminAddr); port != "0" && c.Server.AdminAddr == c.Server.Addr {
			report("server.admin_addr", "is the address of server.addr; choose another port")
		}
	}
	if c.Server.BaseURL != "" {
		if u, err := url.Parse(c.Server.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			report("server.base_url", "%q is not an http or https URL", c.Server.BaseURL)
		}
	}
	if t := c.Server.TLS; (t.Cert == "") != (t.Key == "") {
		report("server.tls", "needs both cert and key")
	} else if t.Cert != "" && strings.HasPrefix(c.Server.BaseURL, "http://") {
		report("server.base_url", "%q is not https, which server.tls serves", c.Server.BaseURL)
	}
	for i, origin := range c.Server.AllowedOrigins {
		u, err := url.Parse(origin)
		if origin != "*" && origin != "null" &&
			(err != nil || u.Scheme == "" || u.Host == "" || strings.Trim(u.Path, "/") != "") {
			report(fmt.Sprintf("server.allowed_origins[%d]", i),
				"%q is not the origin of a web page, such as https://app.example.com, null or *", origin)
		}
	}
	for _, n := range []struct {
		path            string
		value, min, max int
	}{
		{"server.max_connections", c.Server.MaxConnections, 1, 1 << 20},
		{"server.connections_per_address", c.Server.ConnectionsPerAddress, 0, 1 << 20},
		{"limits.concurrency", c.Limits.Concurrency, 0, 1 << 16}, {"limits.queue", c.Limits.Queue, 0, 1 << 20},
		{"query.candidates", c.Query.Candidates, 10, 1000}, {"query.rrf_k", c.Query.RRFK, 1, 1000},
		{"query.rerank_depth", c.Query.RerankDepth, 1, 100}, {"memory.rerank_depth", c.Memory.RerankDepth, 0, 100},
		{"memory.rerank_bytes", c.Memory.RerankBytes, 0, 1_000_000},
		{"limits.rerank_documents", c.Limits.RerankDocuments, 1, 1000},
		{"limits.body_mb", c.Limits.BodyMB, 256, 1 << 16},
		{"sources.workers", c.Sources.Workers, 1, 64}, {"sources.max_item_mb", c.Sources.MaxItemMB, 1, 64},
		{"limits.import_mb", c.Limits.ImportMB, 1, 1 << 16}, {"limits.temp_mb", c.Limits.TempMB, 0, 1 << 24},
	} {
		if n.value < n.min || n.value > n.max {
			report(n.path, "%d is not between %d and %d", n.value, n.min, n.max)
		}
	}
	for _, d := range []struct {
		path  string
		value time.Duration
	}{
		{"server.shutdown_timeout", c.Server.ShutdownTimeout}, {"timeouts.header", c.Timeouts.Header},
		{"timeouts.idle", c.Timeouts.Idle},
		{"timeouts.read", c.Timeouts.Read}, {"timeouts.query", c.Timeouts.Query},
		{"timeouts.rerank", c.Timeouts.Rerank}, {"timeouts.write", c.Timeouts.Write},
	} {
		if d.value <= 0 || d.value > time.Hour {
			report(d.path, "%s is not between 1ms and 1h", d.value)
		}
	}
	if d := c.Sources.Stall; d < time.Minute || d > 24*time.Hour {
		report("sources.stall", "%s is not between 1m and 24h", d)
	}
	if d := c.Events.Retention; d < time.Hour || d > 8760*time.Hour {
		report("events.retention", "%s is not between 1h and 8760h", d)
	}
	if d := c.Usage.Retention; d < 24*time.Hour || d > 87600*time.Hour {
		report("usage.retention", "%s is not between 24h and 87600h", d)
	}
	if d := c.Audit.Retention; d < 24*time.Hour || d > 87600*time.Hour {
		report("audit.retention", "%s is not between 24h and 87600h", d)
	}
	if d := c.Console.Session; d < 5*time.Minute || d > 168*time.Hour {
		report("console.session", "%s is not between 5m and 168h", d)
	}
	for _, networks := range []func() ([]netip.Prefix, error){c.Console.Networks, c.Console.Proxies} {
		if _, err := networks(); err != nil {
			path, text, _ := strings.Cut(err.Error(), ": ")
			report(path, "%s", text)
		}
	}
	c.Console.OIDC.validate(c.Server.BaseURL, report)
	for i, dir := range c.Sources.Directories {
		if !filepath.IsAbs(dir) {
			report(fmt.Sprintf("sources.directories[%d]", i), "%q is not an absolute path", dir)
		}
	}
	c.OAuth.validate(c.Server.BaseURL, report)
	c.Seal.validate(report)
	c.FirstKey.validate(report)
	c.Backup.validate(report)
	for name, p := range c.Pull.Publishers {
		p.validate(name, report)
	}
	w := c.Query.Weights
	for _, f := range []struct {
		name  string
		value float64
	}{{"vector", w.Vector}, {"keyword", w.Keyword}, {"sparse", w.Sparse}} {
		if !(f.value >= 0 && f.value <= 10) {
			report("query.weights."+f.name, "%v is not between 0 and 10", f.value)
		}
	}
	if p := c.Query.RerankPrior; !(p >= 0 && p <= 10) {
		report("query.rerank_prior", "%v is not between 0 and 10", p)
	}
	if p := c.Memory.RerankPrior; !(p >= 0 && p <= 10) {
		report("memory.rerank_prior", "%v is not between 0 and 10", p)
	}
	if f := c.Query.RerankFloor; !(f >= -10 && f <= 10) {
		report("query.rerank_floor", "%v is not between -10 and 10", f)
	}
	if p := c.Memory.MinProbability; !(p >= 0 && p <= 1) {
		report("memory.min_probability", "%v is not between 0 and 1", p)
	}
	if w.Vector == 0 && w.Keyword == 0 && w.Sparse == 0 {
		report("query.weights", "at least one weight must be above 0")
	}
}

func (o OAuth) validate(base string, report func(path, format string, args ...any)) {
	if o.Enabled {
		u, err := url.Parse(base)
		ip := net.IP(nil)
		if err == nil {
			ip = net.ParseIP(u.Hostname())
		}
		switch {
		case err != nil || u.Host == "":
			report("oauth.enabled", "needs server.base_url, which tokens are bound to")
		case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
			report("oauth.enabled", "needs a server.base_url without a path, not %q", base)
		case u.Scheme != "https" && u.Hostname() != "localhost" && !ip.IsLoopback():
			report("oauth.enabled", "needs an https server.base_url, for keys and tokens must not travel in the clear; "+
				"http is for this machine alone")
		}
		if !o.ClientDocuments && !o.Registration {
			report("oauth.enabled", "needs client_documents or registration; no client could connect otherwise")
		}
	}
	if o.MaxClients < 1 || o.MaxClients > 100_000 {
		report("oauth.max_clients", "%d is not between 1 and 100000", o.MaxClients)
	}
	if d := o.AccessTokenLifetime; d < time.Minute || d > time.Hour {
		report("oauth.access_token_lifetime", "%s is not between 1m and 1h", d)
	}
	if d := o.RefreshTokenLifetime; d < time.Hour || d > 8760*time.Hour {
		report("oauth.refresh_token_lifetime", "%s is not between 1h and 8760h", d)
	}
}

func checkAddr(addr string) error {
	_, p, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not host:port", addr)
	}
	if n, err := strconv.Atoi(p); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q has no port between 0 and 65535", addr)
	}
	return nil
}

// Rate is a rate limit as written in a file.
type Rate ident.Rate

// UnmarshalText reads 0 or COUNT/UNIT with UNIT s, min or h, optionally followed
// by "burst COUNT".
func (r *Rate) UnmarshalText(b []byte) error {
	const form = `want 0 for unlimited, or a rate a second, minute or hour (s, min, h) such as "600/min" or "600/min burst 60"`
	text := strings.TrimSpace(string(b))
	if text == "0" {
		*r = Rate{}
		return nil
	}
	rate, burst, hasBurst := strings.Cut(text, "burst")
	count, unit, ok := strings.Cut(strings.TrimSpace(rate), "/")
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if !ok || err != nil || n < 1 || n > 1_000_000_000 {
		return fmt.Errorf("%q: %s", text, form)
	}
	var parsed Rate
	switch strings.TrimSpace(unit) {
	case "s":
		parsed.PerMinute = n * 60
	case "min":
		parsed.PerMinute = n
	case "h":
		if n%60 != 0 {
			return fmt.Errorf("%q: a rate per hour must be a whole number per minute", text)
		}
		parsed.PerMinute = n / 60
	default:
		return fmt.Errorf("%q: %s", text, form)
	}
	if hasBurst {
		if parsed.Burst, err = strconv.Atoi(strings.TrimSpace(burst)); err != nil || parsed.Burst < 1 ||
			parsed.Burst > 1_000_000_000 {
			return fmt.Errorf("%q: %s", text, form)
		}
	}
	*r = parsed
	return nil
}

// MarshalText writes the form that UnmarshalText reads.
func (r Rate) MarshalText() ([]byte, error) {
	switch {
	case r.PerMinute == 0:
		return []byte("0"), nil
	case r.Burst == 0:
		return fmt.Appendf(nil, "%d/min", r.PerMinute), nil
	}
	return fmt.Appendf(nil, "%d/min burst %d", r.PerMinute, r.Burst), nil
}

// Pattern is the regular expression of the form, for the JSON Schema.
func (Rate) Pattern() string { return `^(0|[0-9]+/(s|min|h)( burst [0-9]+)?)$` }

// ByAlias is the model that each alias names.
func (c *Config) ByAlias() map[string]string {
	out := map[string]string{}
	for of, aliases := range c.Aliases {
		for _, alias := range aliases {
			out[alias] = of
		}
	}
	return out
}

// ModelNames lists the configured models by name.
func (c *Config) ModelNames() []string { return sortedKeys(c.Models) }
