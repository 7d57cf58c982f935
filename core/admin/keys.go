package admin

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// Rate is a limit of one rate class.
type Rate struct {
	PerMinute int `json:"per_minute" minimum:"0" maximum:"100000000" doc:"calls a minute; 0: unlimited"`
	Burst     int `json:"burst,omitempty" minimum:"0" maximum:"100000000" doc:"calls at once; 0: a tenth of a minute's worth"`
}

// RateChange is a limit to set. What is left out must not mean unlimited.
type RateChange struct {
	PerMinute *int `json:"per_minute" at:"parent" minimum:"0" maximum:"100000000" doc:"calls a minute; 0: unlimited"`
	Burst     int  `json:"burst,omitempty" at:"parent" minimum:"0" maximum:"100000000" doc:"calls at once; 0: a tenth of a minute's worth"`
}

func rates(in map[string]RateChange) map[string]ident.Rate {
	if in == nil {
		return nil
	}
	out := make(map[string]ident.Rate, len(in))
	for class, r := range in {
		out[class] = ident.Rate{PerMinute: value(r.PerMinute), Burst: r.Burst}
	}
	return out
}

// Key describes a key; the secret is not part of it.
type Key struct {
	ID               string          `json:"id" doc:"id of the key"`
	Organization     string          `json:"organization_id" doc:"id of its organization"`
	Name             string          `json:"name" doc:"for people"`
	Kind             string          `json:"kind" enum:"service,integration,personal,team,organization,admin" doc:"what it is for"`
	Prefix           string          `json:"prefix" doc:"how the secret begins"`
	LastFour         string          `json:"last_four" doc:"how it ends"`
	ReadOnly         bool            `json:"read_only" doc:"whether it is refused where data would change"`
	Namespace        *string         `json:"namespace" doc:"the only one that a service key reaches; null: all. For another key, the one whose passages its blocks of context may have; null: none"`
	Source           *string         `json:"source" doc:"id of the only source the key reaches; null: all"`
	DefaultNamespace *string         `json:"default_namespace" doc:"of calls that name none"`
	Scopes           []string        `json:"scopes" doc:"rights of an integration's key"`
	Integration      *string         `json:"integration" doc:"id of the integration that it belongs to"`
	IntegrationName  *string         `json:"integration_name" doc:"name of that integration"`
	EndUser          *string         `json:"end_user_id" doc:"the only one a personal key reaches"`
	Limits           map[string]Rate `json:"limits" doc:"of the key itself, by rate class"`
	CreatedBy        *string         `json:"created_by" doc:"id of the key or member that made it, cli (the command line) or bootstrap (the program, for commands on its machine); null: not known"`
	CreatedAt        time.Time       `json:"created_at"`
	LastUsedAt       *time.Time      `json:"last_used_at" doc:"about half a minute late"`
	ExpiresAt        *time.Time      `json:"expires_at" doc:"null: never"`
	RevokedAt        *time.Time      `json:"revoked_at" doc:"null: it was not"`
	State            string          `json:"state" enum:"live,expired,revoked" doc:"whether it works"`
}

// ShowKey gives a key's description the form of the admin API; its state is that
// at a time.
func ShowKey(k key.Info, now time.Time) Key {
	out := Key{
		ID:               k.ID,
		Organization:     string(k.Org),
		Name:             k.Name,
		Kind:             string(k.Kind),
		Prefix:           k.Kind.Prefix(),
		LastFour:         k.Last4,
		ReadOnly:         k.ReadOnly,
		Namespace:        optional(k.Namespace),
		Source:           optional(k.Source),
		DefaultNamespace: optional(k.DefaultNamespace),
		Integration:      optional(k.Integration),
		IntegrationName:  optional(k.IntegrationName),
		EndUser:          optional(k.EndUser),
		CreatedBy:        optional(k.CreatedBy),
		CreatedAt:        k.CreatedAt.UTC(),
		Scopes:           []string{},
		Limits:           map[string]Rate{},
		LastUsedAt:       moment(k.LastUsedAt),
		ExpiresAt:        moment(k.ExpiresAt),
		RevokedAt:        moment(k.RevokedAt),
		State:            k.State(now),
	}
	for _, scope := range k.Scopes {
		out.Scopes = append(out.Scopes, string(scope))
	}
	for class, r := range k.Limits {
		out.Limits[class] = Rate(r)
	}
	return out
}

// IssuedKey is a new key with its secret, which is not kept.
type IssuedKey struct {
	Key
	Secret string `json:"secret" doc:"the key itself; it is not shown again"`
}

// Headers keep the secret out of caches.
func (IssuedKey) Headers() map[string]string { return map[string]string{"Cache-Control": "no-store"} }

// CreateKey is the body of POST /organizations/{org}/keys.
type CreateKey struct {
	OrganizationRef
	Kind             *string               `json:"kind,omitempty" enum:"service,admin,team,organization" rule:"must be service, admin, team or organization; integration and personal keys are made by POST /admin/v1/organizations/{org}/integrations/{integration}/keys" default:"service" doc:"what it is for; team and organization are for migration only"`
	Name             string                `json:"name,omitempty" pattern:"^[^\\u0000-\\u001f\\u007f]*$" maxLength:"128" rule:"must be at most 128 printable characters" doc:"for people"`
	ReadOnly         bool                  `json:"read_only,omitempty" default:"false" doc:"refuses whatever changes data"`
	Namespace        *string               `json:"namespace,omitempty" schema:"NamespaceName" doc:"limits a service key to one namespace; gives blocks of context of an integration or personal key passages of it"`
	Source           *string               `json:"source,omitempty" schema:"Text" minLength:"1" maxLength:"128" doc:"limits a service key to the source with this id, as of a vendor's process that pushes its items"`
	DefaultNamespace *string               `json:"default_namespace,omitempty" schema:"NamespaceName" doc:"of calls that name none"`
	Limits           map[string]RateChange `json:"limits,omitempty" keys:"read,write,rerank,admin" doc:"of the key itself, by rate class"`
	ExpiresAt        *time.Time            `json:"expires_at,omitempty" doc:"in the future; default: never"`
}

// JSONSchema implements op.Schemer: what a kind of key has no use for is refused.
func (c *CreateKey) JSONSchema() string {
	return `{"if": {"properties": {"kind": {"enum": ["service", null]}}}, "else": {
		"properties": {"namespace": {"const": null}, "default_namespace": {"const": null}},
		"if": {"properties": {"kind": {"const": "admin"}}},
		"then": {"properties": {"limits": {"propertyNames": {"const": "admin"}}}},
		"else": {"properties": {"limits": {"maxProperties": 0}, "read_only": {"const": false}}}},
		"dependentSchemas": {"source": {"anyOf": [{"properties": {"source": {"const": null}}},
			{"properties": {"kind": {"enum": ["service", null]}}}]}}}`
}

// CreateIntegrationKey is the body of POST .../integrations/{integration}/keys.
type CreateIntegrationKey struct {
	IntegrationRef
	Kind      *string               `json:"kind,omitempty" enum:"integration,personal" default:"integration" doc:"what it is for"`
	Name      string                `json:"name,omitempty" pattern:"^[^\\u0000-\\u001f\\u007f]*$" maxLength:"128" rule:"must be at most 128 printable characters" doc:"for people"`
	Scopes    []string              `json:"scopes,omitempty" maxDecoded:"32" enum:"memories:read,memories:write,recall:read,users:erase,status:read" minItems:"1" doc:"rights of an integration's key; default memories:read and memories:write"`
	EndUser   *string               `json:"end_user_id,omitempty" schema:"EndUserID" doc:"the only one that a personal key reaches, required for it"`
	Limits    map[string]RateChange `json:"limits,omitempty" keys:"memory_read,memory_write,recall" doc:"of this key alone, by rate class"`
	ExpiresAt *time.Time            `json:"expires_at,omitempty" doc:"in the future; default: never"`
}

// JSONSchema implements op.Schemer: what a kind of key has no use for is refused.
func (c *CreateIntegrationKey) JSONSchema() string {
	return `{"if": {"required": ["kind"], "properties": {"kind": {"const": "personal"}}},
		"then": {"required": ["end_user_id"], "properties": {"end_user_id": {"type": "string"}, "scopes": false}},
		"else": {"properties": {"end_user_id": {"const": null},
			"scopes": {"if": {"contains": {"const": "recall:read"}}, "then": {"contains": {"const": "memories:read"}}}}}}`
}

// KeyRef names a key in a path.
type KeyRef struct {
	OrganizationRef
	ID string `path:"id" json:"-" doc:"id of the key"`
}

// ListKeys are the parameters of GET /organizations/{org}/keys.
type ListKeys struct {
	OrganizationRef
	Listing
}

// ListIntegrationKeys are the parameters of GET .../integrations/{integration}/keys.
type ListIntegrationKeys struct {
	IntegrationRef
	Listing
}

// Keys answers a list of keys.
type Keys struct {
	Keys       []Key   `json:"keys"`
	NextCursor *string `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// ChangeKey is the body of PATCH /organizations/{org}/keys/{id}.
type ChangeKey struct {
	KeyRef
	Name             *string               `json:"name,omitempty" pattern:"^[^\\u0000-\\u001f\\u007f]*$" maxLength:"128" rule:"must be at most 128 printable characters" doc:"for people"`
	ReadOnly         *bool                 `json:"read_only,omitempty" doc:"refuses whatever changes data"`
	DefaultNamespace *string               `json:"default_namespace,omitempty" pattern:"^([a-z0-9][a-z0-9_-]{0,63})?$" limitFault:"invalid_namespace" rule:"must be 1-64 characters of a-z 0-9 _ -, starting with a letter or digit" doc:"of calls that name none; empty: none"`
	Limits           map[string]RateChange `json:"limits,omitempty" keys:"read,write,rerank,admin,memory_read,memory_write,recall" doc:"replace all of the key's own"`
}

// JSONSchema implements op.Schemer: a change of nothing is refused.
func (c *ChangeKey) JSONSchema() string {
	return `{"not": {"properties": {"name": {"const": null}, "read_only": {"const": null}, "default_namespace": ` +
		`{"const": null}, "limits": false}}}`
}

// Validate refuses a change of nothing.
func (c *ChangeKey) Validate() error {
	if c.Name == nil && c.ReadOnly == nil && c.DefaultNamespace == nil && c.Limits == nil {
		return nothing("name, read_only, default_namespace or limits")
	}
	return nil
}

// RotateKey is the body of POST /organizations/{org}/keys/{id}/rotate.
type RotateKey struct {
	KeyRef
	OverlapSeconds *int64     `json:"overlap_seconds,omitempty" minimum:"0" maximum:"7776000" default:"86400" doc:"seconds after which the old key ends; 0: at once"`
	ExpiresAt      *time.Time `json:"expires_at,omitempty" doc:"when the new key ends, in the future; default: as long as the old one was made for"`
}

// Revoked answers DELETE /organizations/{org}/keys/{id}.
type Revoked struct {
	Revoked bool `json:"revoked" doc:"false: it was revoked already"`
}

// CreateKey makes a key that belongs to no integration. One of all organizations
// is made on the command line alone, by someone who has the server itself.
func (s *Service) CreateKey(ctx context.Context, in CreateKey) (IssuedKey, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return IssuedKey{}, err
	}
	if err := ownKind(ctx, ident.Kind(value(in.Kind))); err != nil {
		return IssuedKey{}, err
	}
	return s.issue(ctx, key.Issue{
		Org:              string(o.ID),
		Name:             in.Name,
		Kind:             ident.Kind(value(in.Kind)),
		ReadOnly:         in.ReadOnly,
		Namespace:        value(in.Namespace),
		Source:           value(in.Source),
		DefaultNamespace: value(in.DefaultNamespace),
		Limits:           rates(in.Limits),
		ExpiresAt:        value(in.ExpiresAt),
	})
}

// CreateIntegrationKey makes a key of an integration that exists.
func (s *Service) CreateIntegrationKey(ctx context.Context, in CreateIntegrationKey) (IssuedKey, error) {
	o, i, err := s.integration(ctx, in.IntegrationRef)
	if err != nil {
		return IssuedKey{}, err
	}
	issue := key.Issue{
		Org:         string(o.ID),
		Name:        in.Name,
		Kind:        ident.Kind(value(in.Kind)),
		Integration: i.ID,
		EndUser:     value(in.EndUser),
		Limits:      rates(in.Limits),
		ExpiresAt:   value(in.ExpiresAt),
	}
	if issue.Kind == "" {
		issue.Kind = ident.Integration
	}
	if in.Scopes != nil {
		issue.Scopes = []ident.Scope{}
		for _, scope := range in.Scopes {
			issue.Scopes = append(issue.Scopes, ident.Scope(scope))
		}
	}
	return s.issue(ctx, issue)
}

func (s *Service) issue(ctx context.Context, in key.Issue) (IssuedKey, error) {
	issued, err := s.keys.Issue(ctx, in)
	if err != nil {
		return IssuedKey{}, wrap("create key", err)
	}
	return IssuedKey{ShowKey(issued.Info, s.now()), issued.Secret}, nil
}

// value is what p points to, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// ownKind refuses keys of kind admin, which have an owner's rights, to members who are none.
func ownKind(ctx context.Context, k ident.Kind) error {
	if k == ident.Admin && !ident.From(ctx).Owns() {
		return fault.New(fault.Forbidden, "only an owner may make, change or revoke keys of kind admin")
	}
	return nil
}

// visible reports whether the caller may see a key of an organization that it
// administers.
func visible(ctx context.Context, k key.Info) bool {
	who := ident.From(ctx)
	return !k.AllOrganizations() || who.AllOrganizations()
}

type keyPosition struct {
	Created int64  `json:"c"` // Unix microseconds
	ID      string `json:"k"`
}

// listKeys pages through the keys that the caller may see, of one integration or
// of all.
func (s *Service) listKeys(ctx context.Context, l Listing, org ident.Org, integration string) (Keys, error) {
	bind := []string{"admin.keys", string(org), integration}
	var from keyPosition
	if err := s.pages.Open(l.Cursor, &from, bind...); err != nil {
		return Keys{}, err
	}
	list := port.KeyList{Integration: integration, AfterID: from.ID, Limit: page.Limit(l.Limit) + 1}
	if from.ID != "" {
		list.AfterCreated = time.UnixMicro(from.Created)
	}
	var seen []key.Info
	for len(seen) < list.Limit {
		some, err := s.keys.Page(ctx, string(org), list)
		if err != nil {
			return Keys{}, wrap("list keys", err)
		}
		for _, k := range some {
			if visible(ctx, k) {
				seen = append(seen, k)
			}
		}
		if len(some) < list.Limit {
			break
		}
		list.AfterID, list.AfterCreated = some[len(some)-1].ID, some[len(some)-1].CreatedAt
	}
	out := Keys{Keys: []Key{}}
	if n := page.Limit(l.Limit); len(seen) > n {
		seen = seen[:n]
		c := s.pages.Seal(keyPosition{seen[n-1].CreatedAt.UnixMicro(), seen[n-1].ID}, bind...)
		out.NextCursor = &c
	}
	for _, k := range seen {
		out.Keys = append(out.Keys, ShowKey(k, s.now()))
	}
	return out, nil
}

// ListKeys pages through an organization's keys by creation time, revoked and
// expired ones included.
func (s *Service) ListKeys(ctx context.Context, in ListKeys) (Keys, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return Keys{}, err
	}
	return s.listKeys(ctx, in.Listing, o.ID, "")
}

// ListIntegrationKeys pages through an integration's keys.
func (s *Service) ListIntegrationKeys(ctx context.Context, in ListIntegrationKeys) (Keys, error) {
	o, i, err := s.integration(ctx, in.IntegrationRef)
	if err != nil {
		return Keys{}, err
	}
	return s.listKeys(ctx, in.Listing, o.ID, i.ID)
}

// find finds a key that the caller may see.
func (s *Service) find(ctx context.Context, in KeyRef) (key.Ref, key.Info, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return key.Ref{}, key.Info{}, err
	}
	ref := key.Ref{Org: string(o.ID), ID: in.ID}
	k, err := s.keys.Find(ctx, ref)
	if err == nil && visible(ctx, k) {
		return ref, k, nil
	}
	if err == nil || fault.CodeOf(err) == fault.NotFound {
		err = fault.New(fault.NotFound, "the organization %q has no key %q", o.Name, fault.Clip(in.ID))
	}
	return key.Ref{}, key.Info{}, wrap("find key", err)
}

// GetKey reads one.
func (s *Service) GetKey(ctx context.Context, in KeyRef) (Key, error) {
	_, k, err := s.find(ctx, in)
	if err != nil {
		return Key{}, err
	}
	return ShowKey(k, s.now()), nil
}

// ChangeKey changes one.
func (s *Service) ChangeKey(ctx context.Context, in ChangeKey) (Key, error) {
	ref, k, err := s.find(ctx, in.KeyRef)
	if err == nil {
		err = ownKind(ctx, k.Kind)
	}
	if err != nil {
		return Key{}, err
	}
	k, err = s.keys.Change(ctx, ref, key.Change{
		Name:             in.Name,
		ReadOnly:         in.ReadOnly,
		DefaultNamespace: in.DefaultNamespace,
		Limits:           rates(in.Limits),
	})
	if err != nil {
		return Key{}, wrap("change key", err)
	}
	return ShowKey(k, s.now()), nil
}

// RotateKey makes a new secret with a key's rights.
func (s *Service) RotateKey(ctx context.Context, in RotateKey) (IssuedKey, error) {
	ref, k, err := s.find(ctx, in.KeyRef)
	if err == nil {
		err = ownKind(ctx, k.Kind)
	}
	if err != nil {
		return IssuedKey{}, err
	}
	overlap := key.DefaultOverlap
	if in.OverlapSeconds != nil {
		overlap = time.Duration(*in.OverlapSeconds) * time.Second
	}
	issued, err := s.keys.Rotate(ctx, ref, key.Rotation{Overlap: overlap, ExpiresAt: value(in.ExpiresAt)})
	if err != nil {
		return IssuedKey{}, wrap("rotate key", err)
	}
	return IssuedKey{ShowKey(issued.Info, s.now()), issued.Secret}, nil
}

// RevokeKey ends one; it is safe to repeat.
func (s *Service) RevokeKey(ctx context.Context, in KeyRef) (Revoked, error) {
	ref, k, err := s.find(ctx, in)
	if err == nil {
		err = ownKind(ctx, k.Kind)
	}
	if err != nil {
		return Revoked{}, err
	}
	if err := s.keys.Revoke(ctx, ref); err != nil {
		return Revoked{}, wrap("revoke key", err)
	}
	return Revoked{k.RevokedAt.IsZero()}, nil
}
