package key

import (
	"context"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

const nameRule = "must be 1-64 characters of A-Z a-z 0-9 . _ -, starting with a letter or digit"

// CreateOrganization makes an organization. Faults: InvalidRequest for a name
// that is no name, Conflict when it is taken.
func (s *Service) CreateOrganization(ctx context.Context, name string) (port.Organization, error) {
	return s.PlaceOrganization(ctx, name, "")
}

// PlaceOrganization is CreateOrganization in a database of a store that consists of several; "": where the store places it.
// Fault InvalidRequest for one that the store does not have.
func (s *Service) PlaceOrganization(ctx context.Context, name, database string) (port.Organization, error) {
	if err := checkOrganizationName(name); err != nil {
		return port.Organization{}, err
	}
	o := s.newOrganization(name)
	err := s.store.Update(ctx, func(w writer) error {
		o.Database = database
		changes(ctx, o.ID, string(o.ID))
		if err := w.PutOrganization(ctx, o); err != nil {
			return err
		}
		return placed(ctx, w, &o)
	})
	return o, err
}

// placed completes organizations by their Database.
func placed(ctx context.Context, r reader, all ...*port.Organization) error {
	of := make([]port.Organization, len(all))
	for i, o := range all {
		of[i] = *o
	}
	in, err := r.Placements(ctx, of)
	for _, o := range all {
		o.Database = in[o.ID]
	}
	return err
}

func (s *Service) newOrganization(name string) port.Organization {
	return port.Organization{ID: ident.Org(organizationID + random(idLength)), Name: name, CreatedAt: s.now().UTC()}
}

func checkOrganizationName(name string) error {
	if !validName(name) || strings.HasPrefix(name, organizationID) {
		return fault.Field(fault.InvalidRequest, "name", "%s, and not %s", nameRule, organizationID)
	}
	return nil
}

func validName(name string) bool {
	if name == "" || len(name) > 64 || strings.IndexByte("._-", name[0]) >= 0 {
		return false
	}
	for i := range len(name) {
		if c := name[i]; strings.IndexByte(alphabet, c) < 0 && strings.IndexByte("._-", c) < 0 {
			return false
		}
	}
	return true
}

// findOrganization finds one by id or name.
func findOrganization(ctx context.Context, r reader, ref string) (port.Organization, error) {
	if !validName(ref) { // no name or id; some stores cannot even search for such a string
		return port.Organization{}, fault.New(fault.NotFound, "there is no organization %q", fault.Clip(ref))
	}
	if strings.HasPrefix(ref, organizationID) {
		o, err := r.Organization(ctx, ident.Org(ref))
		if fault.CodeOf(err) != fault.NotFound {
			return o, err
		}
		// It may be a name from before the prefix was reserved for ids.
	}
	return r.OrganizationByName(ctx, ref)
}

// Organization finds one by id or name, with its Database. Fault NotFound.
func (s *Service) Organization(ctx context.Context, ref string) (o port.Organization, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		if o, err = findOrganization(ctx, r, ref); err != nil {
			return err
		}
		return placed(ctx, r, &o)
	})
	return o, err
}

// Organizations lists all by name, with their Database.
func (s *Service) Organizations(ctx context.Context) ([]port.Organization, error) {
	var out []port.Organization
	err := s.store.View(ctx, func(r reader) (err error) {
		if out, err = r.Organizations(ctx); err != nil {
			return err
		}
		all := make([]*port.Organization, len(out))
		for i := range out {
			all[i] = &out[i]
		}
		return placed(ctx, r, all...)
	})
	return out, err
}

// Suspend makes every key of an organization, found by id or name, answer 403,
// but for those that administer all; Resume ends that. Both hold within CacheFor
// in other processes and may be repeated. Fault NotFound.
func (s *Service) Suspend(ctx context.Context, org string) error {
	_, err := s.ChangeOrganization(ctx, org, OrganizationChange{Suspended: new(true)})
	return err
}

// Resume lets a suspended organization's keys work again.
func (s *Service) Resume(ctx context.Context, org string) error {
	_, err := s.ChangeOrganization(ctx, org, OrganizationChange{Suspended: new(false)})
	return err
}

// OrganizationChange says what to change of an organization; nil keeps.
type OrganizationChange struct {
	Name      *string
	Suspended *bool
}

// ChangeOrganization changes an organization, found by id or name. The default
// one keeps its name: keys made without an organization go there. Faults:
// InvalidRequest, NotFound, Conflict when the name is taken or the organization is
// being deleted.
func (s *Service) ChangeOrganization(ctx context.Context, ref string, c OrganizationChange) (o port.Organization, err error) {
	if c.Name != nil {
		if err := checkOrganizationName(*c.Name); err != nil {
			return o, err
		}
	}
	err = s.store.Update(ctx, func(w writer) (err error) {
		if o, err = findOrganization(ctx, w, ref); err != nil {
			return err
		}
		if c.Name != nil && *c.Name != o.Name && o.Name == ident.DefaultOrg {
			return fault.Field(fault.InvalidRequest, "name", "the organization %q keeps its name", o.Name)
		}
		if !o.Deleting.IsZero() {
			return fault.New(fault.Conflict, "the organization %q is being deleted", o.Name)
		}
		changes(ctx, o.ID, string(o.ID))
		assign(&o.Name, c.Name)
		assign(&o.Suspended, c.Suspended)
		if err := w.PutOrganization(ctx, o); err != nil {
			return err
		}
		return placed(ctx, w, &o)
	})
	s.cache.forget()
	return o, err
}

// EnsureDefault makes the default organization when it is missing.
func (s *Service) EnsureDefault(ctx context.Context) (o port.Organization, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		o, err = r.OrganizationByName(ctx, ident.DefaultOrg)
		return err
	})
	if fault.CodeOf(err) != fault.NotFound {
		return o, err
	}
	err = s.store.Update(ctx, func(w writer) (err error) {
		o, err = s.organization(ctx, w, ident.DefaultOrg)
		return err
	})
	return o, err
}

// orDefault is the default organization where none is named.
func orDefault(ref string) string {
	if ref == "" {
		return ident.DefaultOrg
	}
	return ref
}

// organization finds one by id or name, the default one where none is named,
// which is made when it is missing.
func (s *Service) organization(ctx context.Context, w writer, ref string) (port.Organization, error) {
	o, err := findOrganization(ctx, w, orDefault(ref))
	if orDefault(ref) != ident.DefaultOrg || fault.CodeOf(err) != fault.NotFound {
		return o, err
	}
	o = s.newOrganization(ident.DefaultOrg)
	return o, w.PutOrganization(ctx, o)
}

// active answers Forbidden for an organization that is suspended or being deleted.
func active(o port.Organization) error {
	if !o.Deleting.IsZero() {
		return fault.New(fault.Forbidden, "the organization %q is being deleted", o.Name)
	}
	if o.Suspended {
		return fault.New(fault.Forbidden, "the organization %q is suspended", o.Name)
	}
	return nil
}

// Forget has the next use of each key ask the store, after others than this service
// have changed what it goes by.
func (s *Service) Forget() { s.cache.forget() }
