package key

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Settings configure a Service. Store is required.
type Settings struct {
	Store port.Store
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: nothing is logged
	// CacheFor is how long a verified key is trusted without asking the store,
	// at most 500 ms: another process's revocation holds after that long.
	CacheFor time.Duration
	// Maker is recorded as who makes keys where no key asks for it. "": unknown.
	Maker string
	// FlushEvery is how often Run writes last uses to the store. 0: 30 s.
	FlushEvery time.Duration
}

// maxCacheFor leaves half of the second, within which a revocation must hold,
// to the caller's own work.
const maxCacheFor = 500 * time.Millisecond

// reader and writer are what the service uses of the store.
type reader interface {
	port.OrganizationReader
	port.KeyReader
	port.IntegrationReader
	port.SourceReader
}

type writer interface {
	reader
	port.OrganizationWriter
	port.KeyWriter
	port.IntegrationWriter
}

// Service manages and verifies keys. Safe for concurrent use.
type Service struct {
	store port.Narrowed[reader, writer]
	now   func() time.Time
	log   *slog.Logger
	maker string
	flush time.Duration
	cache cache
	used  lastUses
}

// New makes the service.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.CacheFor <= 0 || s.CacheFor > maxCacheFor {
		s.CacheFor = maxCacheFor
	}
	if s.FlushEvery <= 0 {
		s.FlushEvery = 30 * time.Second
	}
	// Microseconds, as stores keep times, so that later answers show the same ones.
	now := func() time.Time { return s.Now().Truncate(time.Microsecond) }
	return &Service{
		store: port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		now:   now,
		log:   s.Log,
		maker: s.Maker,
		flush: s.FlushEvery,
		cache: cache{ttl: s.CacheFor, entries: map[[32]byte]*entry{}, hashes: map[orgKey][32]byte{}},
		used:  lastUses{at: map[string]time.Time{}, fresh: make(chan struct{}, 1)},
	}
}

// Issue asks for a new key. A field that means nothing for the kind of key must be
// left out: a right or limit without effect would mislead.
type Issue struct {
	Org  string // the organization's name or id; "": default
	Name string // for people; at most 128 characters
	Kind ident.Kind
	// ReadOnly refuses whatever changes data. Service and admin keys.
	ReadOnly bool
	// Namespace, not empty, is the only one that a service key reaches, and the one whose
	// passages an integration's or personal key may have in blocks of context.
	// DefaultNamespace is that of calls that name none. Service keys.
	Namespace        string
	DefaultNamespace string
	// Source, not empty, is the id of the only source that the key reaches. Service keys.
	Source string
	// Scopes are an integration key's rights; nil: memories:read and memories:write.
	Scopes []ident.Scope
	Limits map[string]ident.Rate // of the key alone, by rate class
	// Integration is the name or id of the integration that the key belongs to. An
	// integration key makes one that does not exist, and one of its own, named
	// like the key, when this is empty. A personal key's must exist.
	Integration string
	Quotas      *ident.Quotas // of the integration made here; nil: ident.DefaultQuotas
	EndUser     string        // the only one that a personal key reaches
	// AllOrganizations lets an admin key administer every organization.
	AllOrganizations bool
	ExpiresAt        time.Time // zero: never
	// Maker is recorded in place of Settings.Maker where no key asks.
	Maker string
}

// Who makes keys that no other key has asked for.
const (
	MadeByCommandLine   = "cli"           // a user who may write to the data folder
	MadeByBootstrap     = "bootstrap"     // the program, for commands on its machine
	MadeByConfiguration = "configuration" // the first key, which a configuration gives
)

// Issued is a new key with its secret, which is not kept.
type Issued struct {
	Info
	Secret string
}

// Info describes a key.
type Info struct {
	ID               string
	Org              ident.Org
	Name             string
	Kind             ident.Kind
	Last4            string
	ReadOnly         bool
	Namespace        string
	Source           string // id
	DefaultNamespace string
	Scopes           []ident.Scope
	Limits           map[string]ident.Rate
	Integration      string // id; of an integration or personal key
	IntegrationName  string
	EndUser          string // of a personal key
	CreatedBy        string // id of the key that asked for it, or a MadeBy...; "": unknown
	CreatedAt        time.Time
	ExpiresAt        time.Time // zero: never
	RevokedAt        time.Time // zero: live
	LastUsedAt       time.Time // zero: not yet; written about every FlushEvery
}

// AllOrganizations reports whether an admin key administers every organization.
func (i Info) AllOrganizations() bool { return slices.Contains(i.Scopes, ident.AllOrganizations) }

// State is live, expired or revoked at a time.
func (i Info) State(now time.Time) string {
	switch {
	case !i.RevokedAt.IsZero():
		return "revoked"
	case !i.ExpiresAt.IsZero() && !now.Before(i.ExpiresAt):
		return "expired"
	}
	return "live"
}

func info(k port.Key, integration string) Info {
	return Info{
		ID:               k.ID,
		Org:              k.Org,
		Name:             k.Name,
		Kind:             k.Kind,
		Last4:            k.Last4,
		ReadOnly:         k.ReadOnly,
		Namespace:        k.Namespace,
		Source:           k.Source,
		DefaultNamespace: k.DefaultNamespace,
		Scopes:           k.Scopes,
		Limits:           k.Limits,
		Integration:      k.Integration,
		IntegrationName:  integration,
		EndUser:          k.EndUser,
		CreatedBy:        k.CreatedBy,
		CreatedAt:        k.CreatedAt,
		ExpiresAt:        k.ExpiresAt,
		RevokedAt:        k.RevokedAt,
		LastUsedAt:       k.LastUsedAt,
	}
}

func (s *Service) check(in *Issue) error {
	if in.Kind == "" {
		in.Kind = ident.Service
	}
	switch {
	case in.Kind.Prefix() == "":
		return fault.Field(fault.InvalidRequest, "kind", "%q is not a kind of key", in.Kind)
	case !printable(in.Name, 128):
		return badName()
	case !in.ExpiresAt.IsZero() && !in.ExpiresAt.After(s.now()):
		return fault.Field(fault.InvalidRequest, "expires_at", "is not in the future")
	case in.ReadOnly && in.Kind != ident.Service && in.Kind != ident.Admin:
		return unusedField("read_only", in.Kind)
	case in.AllOrganizations && in.Kind != ident.Admin:
		return unusedField("all_organizations", in.Kind)
	case in.Source != "" && in.Kind != ident.Service:
		return unusedField("source", in.Kind)
	}
	if err := checkNamespaces(in.Kind, in.Namespace, in.DefaultNamespace); err != nil {
		return err
	}
	if err := checkLimits(in.Kind, in.Limits); err != nil {
		return err
	}
	if err := checkMember(in); err != nil {
		return err
	}
	return setScopes(in)
}

func badName() error {
	return fault.Field(fault.InvalidRequest, "name", "must be at most 128 printable characters")
}

// unusedField is the fault of a field that the kind of key does not have.
func unusedField(field string, k ident.Kind) error {
	return fault.Field(fault.InvalidRequest, field, "is not for a key of kind %s", k)
}

func checkNamespaces(k ident.Kind, only, standard string) error {
	switch {
	case only != "" && k != ident.Service && k != ident.Integration && k != ident.Personal:
		return unusedField("namespace", k)
	case standard != "" && k != ident.Service:
		return unusedField("default_namespace", k)
	case only != "" && !ident.ValidNamespace(only):
		return fault.Field(fault.InvalidNamespace, "namespace", "%s", ident.NamespaceRule)
	case standard != "" && !ident.ValidNamespace(standard):
		return fault.Field(fault.InvalidNamespace, "default_namespace", "%s", ident.NamespaceRule)
	case only != "" && standard != "" && only != standard:
		return fault.Field(fault.InvalidRequest, "default_namespace",
			"must be the namespace that the key is limited to, %q", only)
	}
	return nil
}

// checkSource refuses a source that the organization does not have.
func checkSource(ctx context.Context, r reader, org ident.Org, id string) error {
	absent := fault.Field(fault.InvalidRequest, "source", "%q is no source of the organization", fault.Clip(id))
	switch {
	case id == "":
		return nil
	case !printable(id, 128): // some stores cannot even search for such a string
		return absent
	}
	_, err := r.Source(ctx, org, id)
	if fault.CodeOf(err) == fault.SourceNotFound {
		return absent
	}
	return err
}

// maxRate and maxMemories keep arithmetic with limits far from overflow.
const (
	maxRate     = 100_000_000
	maxMemories = 1_000_000_000
)

// classes are the rate classes that a kind of key is charged in.
func classes(k ident.Kind) []op.Class {
	switch k {
	case ident.Service:
		return []op.Class{op.Read, op.Write, op.Rerank, op.Admin}
	case ident.Integration, ident.Personal:
		return []op.Class{op.MemoryRead, op.MemoryWrite, op.Recall}
	case ident.Admin:
		return []op.Class{op.Admin}
	}
	return nil
}

func checkLimits(k ident.Kind, limits map[string]ident.Rate) error {
	for class, r := range limits {
		if !slices.Contains(classes(k), op.Class(class)) {
			return unusedField("limits."+fault.Clip(class), k)
		}
		if r.PerMinute < 0 || r.Burst < 0 || r.PerMinute > maxRate || r.Burst > maxRate {
			return fault.Field(fault.InvalidRequest, "limits."+class, "must be 0-%d, where 0 is unlimited", maxRate)
		}
	}
	return nil
}

// checkMember checks what ties a key to an integration and an end user.
func checkMember(in *Issue) error {
	switch {
	case in.Integration != "" && in.Kind != ident.Integration && in.Kind != ident.Personal:
		return unusedField("integration", in.Kind)
	case in.Integration == "" && in.Kind == ident.Personal:
		return fault.Field(fault.InvalidRequest, "integration",
			"is required for a personal key: its memories are that integration's")
	case in.EndUser != "" && in.Kind != ident.Personal:
		return unusedField("end_user_id", in.Kind)
	case in.Kind == ident.Personal && !ident.ValidEndUser(in.EndUser):
		return fault.Field(fault.InvalidEndUserID, "end_user_id", "%s", ident.EndUserRule)
	case in.Quotas != nil && in.Kind != ident.Integration:
		return unusedField("quotas", in.Kind)
	case in.Quotas != nil:
		return checkQuotas(*in.Quotas)
	}
	return nil
}

// setScopes sets the scopes: the default ones, or those asked for without repeats, in the
// order of ident.Scopes.
func setScopes(in *Issue) error {
	switch in.Kind {
	case ident.Integration:
		if in.Scopes == nil {
			in.Scopes = []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite}
			return nil
		}
	case ident.Personal:
		if in.Scopes != nil {
			return fault.Field(fault.InvalidRequest, "scopes", "are always %s and %s for a personal key",
				ident.MemoriesRead, ident.MemoriesWrite)
		}
		in.Scopes = []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite}
		return nil
	default:
		if in.Scopes != nil {
			return unusedField("scopes", in.Kind)
		}
		if in.AllOrganizations {
			in.Scopes = []ident.Scope{ident.AllOrganizations}
		}
		return nil
	}
	asked := in.Scopes
	if len(asked) == 0 {
		return fault.Field(fault.InvalidRequest, "scopes", "must name at least one scope")
	}
	for _, scope := range asked {
		if !slices.Contains(ident.Scopes(), scope) {
			return fault.Field(fault.InvalidRequest, "scopes", "%q is no scope; there are %s", scope, scopeNames())
		}
	}
	if slices.Contains(asked, ident.RecallRead) && !slices.Contains(asked, ident.MemoriesRead) {
		return fault.Field(fault.InvalidRequest, "scopes", "%s needs %s too, for an answer quotes memories",
			ident.RecallRead, ident.MemoriesRead)
	}
	in.Scopes = slices.DeleteFunc(ident.Scopes(), func(s ident.Scope) bool { return !slices.Contains(asked, s) })
	return nil
}

func scopeNames() string {
	names := make([]string, 0, 5)
	for _, s := range ident.Scopes() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func printable(s string, most int) bool {
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > most {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7F })
}

// newSecret makes a key's secret, and the hash and last characters that are stored.
func newSecret(k ident.Kind) (secret string, hash [32]byte, last4 string) {
	secret = k.Prefix() + random(secretLength)
	return secret, sha256.Sum256([]byte(secret)), secret[len(secret)-4:]
}

// Issue makes a key and returns its secret. The default organization is
// created with its first key. Faults: InvalidRequest, InvalidNamespace,
// InvalidEndUserID, NotFound for an unknown organization or a personal key's
// unknown integration, Conflict for an integration that is there already with
// other quotas, Forbidden for a suspended organization.
func (s *Service) Issue(ctx context.Context, in Issue) (Issued, error) {
	if err := s.check(&in); err != nil {
		return Issued{}, err
	}
	secret, hash, last4 := newSecret(in.Kind)
	k := port.Key{
		ID:               "key_" + random(idLength),
		Name:             in.Name,
		Kind:             in.Kind,
		Hash:             hash,
		Last4:            last4,
		ReadOnly:         in.ReadOnly,
		Namespace:        in.Namespace,
		Source:           in.Source,
		DefaultNamespace: in.DefaultNamespace,
		Scopes:           in.Scopes,
		Limits:           in.Limits,
		EndUser:          in.EndUser,
		CreatedBy:        s.makerOf(ctx, in.Maker),
		CreatedAt:        s.now().UTC(),
	}
	if !in.ExpiresAt.IsZero() {
		k.ExpiresAt = in.ExpiresAt.UTC()
	}
	var joined port.Integration
	err := s.store.Update(ctx, func(w writer) error {
		o, err := s.organization(ctx, w, in.Org)
		if err != nil {
			return err
		}
		if err := active(o); err != nil {
			return err
		}
		k.Org = o.ID
		if err := checkSource(ctx, w, o.ID, in.Source); err != nil {
			return err
		}
		if joined, err = s.joinIntegration(ctx, w, o, in); err != nil {
			return err
		}
		k.Integration = joined.ID
		changes(ctx, o.ID, k.ID)
		return w.PutKey(ctx, k)
	})
	if err != nil {
		return Issued{}, err
	}
	return Issued{Info: info(k, joined.Name), Secret: secret}, nil
}

// changes says in the audit log whose data an operation changes, and what of it.
func changes(ctx context.Context, org ident.Org, id string) {
	e := port.AuditOf(ctx)
	e.About(org)
	e.Made(id)
}

// makerOf is who makes a key: the key that asks, if one does.
func (s *Service) makerOf(ctx context.Context, otherwise string) string {
	if who := ident.Known(ctx); who != nil {
		return who.KeyID
	}
	return cmp.Or(otherwise, s.maker)
}

// Ref names a key. Org may be left out where the id alone must do.
type Ref struct {
	Org string // the organization's name or id; "": whichever has the key
	ID  string
}

// Revoke ends a key. This process refuses it at once, another one within
// CacheFor. Revoking again changes nothing. Fault NotFound for an unknown key.
func (s *Service) Revoke(ctx context.Context, ref Ref) error {
	err := s.store.Update(ctx, func(w writer) error {
		orgs, err := s.owners(ctx, w, ref.Org)
		if err != nil {
			return err
		}
		for _, o := range orgs {
			err := w.RevokeKey(ctx, o.ID, ref.ID, s.now().UTC())
			if fault.CodeOf(err) != fault.NotFound {
				changes(ctx, o.ID, ref.ID)
				return err // nil too
			}
		}
		return fault.New(fault.NotFound, "there is no key %s", ref.ID)
	})
	s.cache.forget()
	return err
}

// List lists an organization's keys by creation time, revoked ones included; org
// is its name or id, "" is every organization's.
func (s *Service) List(ctx context.Context, org string) ([]Info, error) {
	var out []Info
	err := s.store.View(ctx, func(r reader) error {
		out = nil
		orgs, err := s.owners(ctx, r, org)
		if err != nil {
			return err
		}
		for _, o := range orgs {
			infos, err := infosOf(ctx, r, o.ID, port.KeyList{})
			if err != nil {
				return err
			}
			out = append(out, infos...)
		}
		return nil
	})
	return out, err
}

// Page lists a page of an organization's keys by creation time, then id, revoked
// ones included. Fault NotFound for an unknown organization.
func (s *Service) Page(ctx context.Context, org string, l port.KeyList) (out []Info, err error) {
	err = s.store.View(ctx, func(r reader) error {
		o, err := findOrganization(ctx, r, org)
		if err == nil {
			out, err = infosOf(ctx, r, o.ID, l)
		}
		return err
	})
	return out, err
}

func infosOf(ctx context.Context, r reader, org ident.Org, l port.KeyList) ([]Info, error) {
	keys, err := r.Keys(ctx, org, l)
	if err != nil {
		return nil, err
	}
	integrations, err := r.Integrations(ctx, org)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(integrations))
	for _, i := range integrations {
		names[i.ID] = i.Name
	}
	out := make([]Info, len(keys))
	for i, k := range keys {
		out[i] = info(k, names[k.Integration])
	}
	return out, nil
}

// Find describes one key. Fault NotFound.
func (s *Service) Find(ctx context.Context, ref Ref) (k Info, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		_, k, err = s.find(ctx, r, ref)
		return err
	})
	return k, err
}

func (s *Service) find(ctx context.Context, r reader, ref Ref) (port.Organization, Info, error) {
	orgs, err := s.owners(ctx, r, ref.Org)
	if err != nil {
		return port.Organization{}, Info{}, err
	}
	if !validName(ref.ID) { // every id is
		orgs = nil
	}
	for _, o := range orgs {
		k, err := r.Key(ctx, o.ID, ref.ID)
		if fault.CodeOf(err) == fault.NotFound {
			continue
		}
		var i port.Integration
		if err == nil && k.Integration != "" {
			i, err = r.Integration(ctx, o.ID, k.Integration)
		}
		return o, info(k, i.Name), err
	}
	return port.Organization{}, Info{}, fault.New(fault.NotFound, "there is no key %q", fault.Clip(ref.ID))
}

func (s *Service) owners(ctx context.Context, r reader, ref string) ([]port.Organization, error) {
	if ref == "" {
		return r.Organizations(ctx)
	}
	o, err := findOrganization(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	return []port.Organization{o}, nil
}

const (
	alphabet     = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	secretLength = 43 // base62: 256 bits
	idLength     = 16 // base62: 95 bits
)

// random is n characters of the alphabet, each equally likely.
func random(n int) string {
	out := make([]byte, 0, n)
	var buf [64]byte
	for {
		_, _ = rand.Read(buf[:]) // never fails
		for _, b := range buf {
			// 248 is the largest multiple of 62 in a byte; the rest would favour
			// the first characters.
			if b >= 248 {
				continue
			}
			if out = append(out, alphabet[b%62]); len(out) == n {
				return string(out)
			}
		}
	}
}
