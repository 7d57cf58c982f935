package usage

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// OrganizationRef names an organization in a path.
type OrganizationRef struct {
	Org string `path:"org" json:"-" doc:"id or name of the organization"`
}

// Quotas are those of an organization, with what it uses of them.
type Quotas struct {
	OrganizationID string `json:"organization_id"`
	Bytes          Quota  `json:"bytes" doc:"UTF-8 bytes of the texts of documents and memories"`
	Documents      Quota  `json:"documents" doc:"documents of all namespaces"`
	Namespaces     Quota  `json:"namespaces" doc:"namespaces, empty ones too"`
	EndUsers       Quota  `json:"end_users" doc:"end users of all integrations: one with two integrations counts twice"`
}

// Quota bounds what an organization has of something.
type Quota struct {
	Limit      *int64     `json:"limit" doc:"null: unlimited"`
	Used       int64      `json:"used" minimum:"0"`
	ExceededAt *time.Time `json:"exceeded_at" doc:"when it first refused a write; null: it did not, or less than 95 % of it were in use since"`
}

// ChangeQuotas is the body of PATCH /organizations/{org}/quotas.
type ChangeQuotas struct {
	OrganizationRef
	Bytes      *int64 `json:"bytes,omitempty" minimum:"0" maximum:"9007199254740991" doc:"UTF-8 bytes of the texts of documents and memories; 0: unlimited"`
	Documents  *int64 `json:"documents,omitempty" minimum:"0" maximum:"9007199254740991" doc:"documents of all namespaces; 0: unlimited"`
	Namespaces *int64 `json:"namespaces,omitempty" minimum:"0" maximum:"9007199254740991" doc:"namespaces, empty ones too; 0: unlimited"`
	EndUsers   *int64 `json:"end_users,omitempty" minimum:"0" maximum:"9007199254740991" doc:"end users of all integrations; 0: unlimited"`
}

// JSONSchema implements op.Schemer: a change of nothing is refused.
func (c *ChangeQuotas) JSONSchema() string {
	return `{"not": {"properties": {"bytes": {"const": null}, "documents": {"const": null}, "namespaces": {"const": null}, ` +
		`"end_users": {"const": null}}}}`
}

// Validate refuses a change of nothing.
func (c *ChangeQuotas) Validate() error {
	if len(c.limits()) == 0 {
		return fault.New(fault.InvalidRequest, "nothing is changed: give bytes, documents, namespaces or end_users")
	}
	return nil
}

func (c *ChangeQuotas) limits() map[port.QuotaName]int64 {
	out := map[port.QuotaName]int64{}
	for name, limit := range map[port.QuotaName]*int64{port.QuotaBytes: c.Bytes, port.QuotaDocuments: c.Documents,
		port.QuotaNamespaces: c.Namespaces, port.QuotaEndUsers: c.EndUsers} {
		if limit != nil {
			out[name] = *limit
		}
	}
	return out
}

// Quotas shows the quotas of an organization.
func (s *Service) Quotas(ctx context.Context, in OrganizationRef) (Quotas, error) {
	org, err := s.within(ctx, in.Org)
	if err != nil {
		return Quotas{}, err
	}
	var qs []port.Quota
	var has port.Holdings
	err = s.store.View(ctx, func(r reader) (err error) {
		if qs, err = r.Quotas(ctx, org); err == nil {
			has, err = r.Holdings(ctx, org)
		}
		return err
	})
	of := func(name port.QuotaName) Quota {
		out := Quota{Used: has.Of(name)}
		for _, q := range qs {
			if q.Name == name {
				out.Limit = &q.Limit
				if !q.Exceeded.IsZero() {
					out.ExceededAt = &q.Exceeded
				}
			}
		}
		return out
	}
	return Quotas{
		OrganizationID: string(org),
		Bytes:          of(port.QuotaBytes),
		Documents:      of(port.QuotaDocuments),
		Namespaces:     of(port.QuotaNamespaces),
		EndUsers:       of(port.QuotaEndUsers),
	}, err
}

// ChangeQuotas changes some of an organization's quotas. One may be less than what is used:
// then nothing is added until enough is deleted.
func (s *Service) ChangeQuotas(ctx context.Context, in ChangeQuotas) (Quotas, error) {
	org, err := s.within(ctx, in.Org)
	if err != nil {
		return Quotas{}, err
	}
	if !ident.From(ctx).AllOrganizations() {
		return Quotas{}, fault.New(fault.Forbidden, "only a key of all organizations may change quotas")
	}
	port.AuditOf(ctx).Made(string(org)) // the caller may have named it otherwise
	limits := in.limits()
	err = s.store.Update(ctx, func(w writer) error {
		for _, name := range port.QuotaNames() {
			if limit, ok := limits[name]; ok {
				if err := w.PutQuota(ctx, org, name, limit); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return Quotas{}, err
	}
	return s.Quotas(ctx, in.OrganizationRef)
}
