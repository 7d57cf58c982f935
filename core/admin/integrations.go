package admin

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// Quotas bound what an integration may keep and ask; 0 is unlimited.
type Quotas struct {
	MemoriesPerEndUser int `json:"memories_per_end_user" minimum:"0" maximum:"1000000000" doc:"0: unlimited"`
	ReadRatePerMin     int `json:"read_rate_per_min" minimum:"0" maximum:"100000000" doc:"searches and reads a minute; 0: unlimited"`
	WriteRatePerMin    int `json:"write_rate_per_min" minimum:"0" maximum:"100000000" doc:"memories a minute; 0: unlimited"`
}

// QuotaChange changes the quotas it names.
type QuotaChange struct {
	MemoriesPerEndUser *int `json:"memories_per_end_user,omitempty" minimum:"0" maximum:"1000000000" doc:"0: unlimited"`
	ReadRatePerMin     *int `json:"read_rate_per_min,omitempty" minimum:"0" maximum:"100000000" doc:"searches and reads a minute; 0: unlimited"`
	WriteRatePerMin    *int `json:"write_rate_per_min,omitempty" minimum:"0" maximum:"100000000" doc:"memories a minute; 0: unlimited"`
}

// change is what q changes; nil: nothing.
func (q *QuotaChange) change() key.IntegrationChange {
	if q == nil {
		return key.IntegrationChange{}
	}
	return key.IntegrationChange{MemoriesPerEndUser: q.MemoriesPerEndUser, ReadRatePerMin: q.ReadRatePerMin,
		WriteRatePerMin: q.WriteRatePerMin}
}

// Integration is an integration as it is shown.
type Integration struct {
	ID             string    `json:"id"`
	Organization   string    `json:"organization_id" doc:"id of its organization"`
	Name           string    `json:"name" doc:"unique in its organization; in paths as good as the id"`
	Quotas         Quotas    `json:"quotas"`
	GrantsRequired bool      `json:"grants_required" doc:"whether sources write memories of its end users by a grant only"`
	CreatedAt      time.Time `json:"created_at"`
}

// ShowIntegration gives an integration the form of the admin API.
func ShowIntegration(i port.Integration) Integration {
	return Integration{i.ID, string(i.Org), i.Name, Quotas(i.Quotas), i.GrantsRequired, i.CreatedAt.UTC()}
}

// IntegrationRef names an integration in a path.
type IntegrationRef struct {
	OrganizationRef
	Integration string `path:"integration" json:"-" doc:"id or name of the integration"`
}

// CreateIntegration is the body of POST /organizations/{org}/integrations.
type CreateIntegration struct {
	OrganizationRef
	Name           string       `json:"name" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" not:"^int_" rule:"must be 1-64 characters of A-Z a-z 0-9 . _ -, starting with a letter or digit, and not int_" doc:"its name, which does not begin with int_"`
	Quotas         *QuotaChange `json:"quotas,omitempty" doc:"those left out take the defaults"`
	GrantsRequired *bool        `json:"grants_required,omitempty" default:"false" doc:"whether sources write memories of its end users by a grant only"`
}

// ListIntegrations are the parameters of GET /organizations/{org}/integrations.
type ListIntegrations struct {
	OrganizationRef
	Listing
}

// Integrations answers GET /organizations/{org}/integrations.
type Integrations struct {
	Integrations []Integration `json:"integrations"`
	NextCursor   *string       `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// ChangeIntegration is the body of PATCH .../integrations/{integration}.
type ChangeIntegration struct {
	IntegrationRef
	Name           *string      `json:"name,omitempty" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" not:"^int_" rule:"must be 1-64 characters of A-Z a-z 0-9 . _ -, starting with a letter or digit, and not int_" doc:"its new name, which does not begin with int_"`
	Quotas         *QuotaChange `json:"quotas,omitempty" doc:"those left out stay"`
	GrantsRequired *bool        `json:"grants_required,omitempty" doc:"whether sources write memories of its end users by a grant only"`
}

// JSONSchema implements op.Schemer: a change of nothing is refused.
func (c *ChangeIntegration) JSONSchema() string {
	return `{"not": {"properties": {"name": {"const": null}, "grants_required": {"const": null}, "quotas": {"properties": {
		"memories_per_end_user": {"const": null}, "read_rate_per_min": {"const": null}, "write_rate_per_min": {"const": ` +
		`null}}}}}}`
}

// Validate refuses a change of nothing.
func (c *ChangeIntegration) Validate() error {
	if c.Name == nil && c.GrantsRequired == nil && (c.Quotas == nil || *c.Quotas == QuotaChange{}) {
		return nothing("name, quotas or grants_required")
	}
	return nil
}

// integration finds an organization's integration that the caller may see.
func (s *Service) integration(ctx context.Context, in IntegrationRef) (o port.Organization, i port.Integration, err error) {
	if o, err = s.organization(ctx, in.Org); err != nil {
		return o, i, err
	}
	i, err = s.keys.Integration(ctx, string(o.ID), in.Integration)
	return o, i, wrap("find integration", err)
}

// CreateIntegration makes an integration without a key.
func (s *Service) CreateIntegration(ctx context.Context, in CreateIntegration) (Integration, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return Integration{}, err
	}
	c := in.Quotas.change()
	c.GrantsRequired = in.GrantsRequired
	i, err := s.keys.CreateIntegration(ctx, string(o.ID), in.Name, c)
	return ShowIntegration(i), wrap("create integration", err)
}

// ListIntegrations pages through an organization's integrations by name.
func (s *Service) ListIntegrations(ctx context.Context, in ListIntegrations) (Integrations, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return Integrations{}, err
	}
	all, err := s.keys.Integrations(ctx, string(o.ID))
	if err != nil {
		return Integrations{}, wrap("list integrations", err)
	}
	some, next, err := cut(s, in.Listing, all, func(i port.Integration) string { return i.Name }, "admin.integrations",
		string(o.ID))
	if err != nil {
		return Integrations{}, err
	}
	out := Integrations{Integrations: make([]Integration, len(some)), NextCursor: next}
	for n, i := range some {
		out.Integrations[n] = ShowIntegration(i)
	}
	return out, nil
}

// GetIntegration reads one.
func (s *Service) GetIntegration(ctx context.Context, in IntegrationRef) (Integration, error) {
	_, i, err := s.integration(ctx, in)
	return ShowIntegration(i), err
}

// ChangeIntegration changes one; what is new holds within a second.
func (s *Service) ChangeIntegration(ctx context.Context, in ChangeIntegration) (Integration, error) {
	o, i, err := s.integration(ctx, in.IntegrationRef)
	if err != nil {
		return Integration{}, err
	}
	c := in.Quotas.change()
	c.Name, c.GrantsRequired = in.Name, in.GrantsRequired
	i, err = s.keys.ChangeIntegration(ctx, string(o.ID), i.ID, c)
	return ShowIntegration(i), wrap("change integration", err)
}
