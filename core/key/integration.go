package key

import (
	"context"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// The prefixes of ids, which no name may have, so that a reference is one or
// the other.
const (
	organizationID = "org_"
	integrationID  = "int_"
)

func checkQuotas(q ident.Quotas) error {
	for _, x := range []struct {
		field       string
		value, most int
	}{
		{"memories_per_end_user", q.MemoriesPerEndUser, maxMemories},
		{"read_rate_per_min", q.ReadRatePerMin, maxRate},
		{"write_rate_per_min", q.WriteRatePerMin, maxRate},
	} {
		if x.value < 0 || x.value > x.most {
			return fault.Field(fault.InvalidRequest, "quotas."+x.field, "must be 0-%d, where 0 is unlimited", x.most)
		}
	}
	return nil
}

// checkIntegrationName answers InvalidRequest for what is no integration's name.
func checkIntegrationName(field, name string) error {
	if !validName(name) || strings.HasPrefix(name, integrationID) {
		return fault.Field(fault.InvalidRequest, field, "%s, and not %s", nameRule, integrationID)
	}
	return nil
}

// joinIntegration finds or makes the integration that a new key belongs to; zero if it
// belongs to none.
func (s *Service) joinIntegration(ctx context.Context, w writer, o port.Organization, in Issue) (port.Integration, error) {
	if in.Kind != ident.Integration && in.Kind != ident.Personal {
		return port.Integration{}, nil
	}
	if in.Integration != "" {
		i, err := findIntegration(ctx, w, o, in.Integration)
		if err == nil && in.Quotas != nil && *in.Quotas != i.Quotas {
			return i, fault.New(fault.Conflict,
				"the integration %q is there already, with other quotas; change them on the integration", i.Name)
		}
		if err == nil || fault.CodeOf(err) != fault.NotFound || in.Kind == ident.Personal {
			return i, err
		}
		if err := checkIntegrationName("integration", in.Integration); err != nil {
			return i, err
		}
	}
	i := s.newIntegration(o.ID, in.Integration, in.Quotas)
	if in.Integration == "" && checkIntegrationName("name", in.Name) == nil {
		i.Name = in.Name
	}
	err := w.PutIntegration(ctx, i)
	if fault.CodeOf(err) == fault.Conflict {
		return i, fault.New(fault.Conflict,
			"the organization has an integration %q already; name it as the key's integration to join it", i.Name)
	}
	return i, err
}

// newIntegration is named by its id when no name is given.
func (s *Service) newIntegration(org ident.Org, name string, q *ident.Quotas) port.Integration {
	i := port.Integration{
		ID:        integrationID + random(idLength),
		Org:       org,
		Name:      name,
		Quotas:    ident.DefaultQuotas(),
		CreatedAt: s.now().UTC(),
	}
	if i.Name == "" {
		i.Name = i.ID
	}
	if q != nil {
		i.Quotas = *q
	}
	return i
}

// findIntegration finds an organization's integration by id or name.
func findIntegration(ctx context.Context, r reader, o port.Organization, ref string) (port.Integration, error) {
	find := r.IntegrationByName
	if strings.HasPrefix(ref, integrationID) {
		find = r.Integration
	}
	absent := fault.New(fault.NotFound, "the organization %q has no integration %q", o.Name, fault.Clip(ref))
	if !validName(ref) { // no name or id; some stores cannot even search for such a string
		return port.Integration{}, absent
	}
	i, err := find(ctx, o.ID, ref)
	if fault.CodeOf(err) == fault.NotFound {
		return i, absent
	}
	return i, err
}

// Integrations lists an organization's integrations by name; "" is every
// organization's. Fault NotFound for an unknown organization.
func (s *Service) Integrations(ctx context.Context, org string) ([]port.Integration, error) {
	var out []port.Integration
	err := s.store.View(ctx, func(r reader) error {
		out = nil
		orgs, err := s.owners(ctx, r, org)
		if err != nil {
			return err
		}
		for _, o := range orgs {
			some, err := r.Integrations(ctx, o.ID)
			if err != nil {
				return err
			}
			out = append(out, some...)
		}
		return nil
	})
	return out, err
}

// Integration finds one of an organization ("": default), both by id or name.
// Fault NotFound.
func (s *Service) Integration(ctx context.Context, org, ref string) (i port.Integration, err error) {
	err = s.store.View(ctx, func(r reader) error {
		o, err := findOrganization(ctx, r, orDefault(org))
		if err == nil {
			i, err = findIntegration(ctx, r, o, ref)
		}
		return err
	})
	return i, err
}

// CreateIntegration makes an integration with what c changes of ident.DefaultQuotas.
// Faults: InvalidRequest, NotFound for an unknown organization, Forbidden for a
// suspended one, Conflict when the name is taken.
func (s *Service) CreateIntegration(ctx context.Context, org, name string, c IntegrationChange) (i port.Integration, err error) {
	if err := checkIntegrationName("name", name); err != nil {
		return i, err
	}
	q := c.Quotas(ident.DefaultQuotas())
	if err := checkQuotas(q); err != nil {
		return i, err
	}
	err = s.store.Update(ctx, func(w writer) error {
		o, err := s.organization(ctx, w, org)
		if err != nil {
			return err
		}
		if err := active(o); err != nil {
			return err
		}
		i = s.newIntegration(o.ID, name, &q)
		changes(ctx, o.ID, i.ID)
		assign(&i.GrantsRequired, c.GrantsRequired)
		return w.PutIntegration(ctx, i)
	})
	return i, err
}

// IntegrationChange says what to change of an integration; nil keeps.
type IntegrationChange struct {
	Name               *string
	MemoriesPerEndUser *int
	ReadRatePerMin     *int
	WriteRatePerMin    *int
	GrantsRequired     *bool
}

// Quotas are some quotas after the change.
func (c IntegrationChange) Quotas(q ident.Quotas) ident.Quotas {
	assign(&q.MemoriesPerEndUser, c.MemoriesPerEndUser)
	assign(&q.ReadRatePerMin, c.ReadRatePerMin)
	assign(&q.WriteRatePerMin, c.WriteRatePerMin)
	return q
}

// ChangeIntegration changes one of an organization ("": default), both found by
// id or name. What is new holds at once here and within CacheFor in other
// processes. Faults: InvalidRequest, NotFound, Conflict when the name is taken.
func (s *Service) ChangeIntegration(ctx context.Context, org, ref string, c IntegrationChange) (i port.Integration, err error) {
	if c.Name != nil {
		if err := checkIntegrationName("name", *c.Name); err != nil {
			return i, err
		}
	}
	err = s.store.Update(ctx, func(w writer) error {
		o, err := findOrganization(ctx, w, orDefault(org))
		if err != nil {
			return err
		}
		if i, err = findIntegration(ctx, w, o, ref); err != nil {
			return err
		}
		changes(ctx, o.ID, i.ID)
		assign(&i.Name, c.Name)
		assign(&i.GrantsRequired, c.GrantsRequired)
		i.Quotas = c.Quotas(i.Quotas)
		if err := checkQuotas(i.Quotas); err != nil {
			return err
		}
		return w.PutIntegration(ctx, i)
	})
	s.cache.forget()
	return i, err
}

func assign[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
