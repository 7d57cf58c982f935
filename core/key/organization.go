package key

import (
	"context"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// CreateOrganization makes an organization. Faults: InvalidRequest for a name
// that is no name, Conflict when it is taken.
func (s *Service) CreateOrganization(ctx context.Context, name string) (port.Organization, error) {
	if !validOrganization(name) {
		return port.Organization{}, fault.Field(fault.InvalidRequest, "name",
			"must be 1-64 characters of A-Z a-z 0-9 . _ -, starting with a letter or digit")
	}
	o := port.Organization{ID: ident.Org("org_" + random(idLength)), Name: name, CreatedAt: s.now().UTC()}
	err := s.store.Update(ctx, func(w port.Writer) error { return w.PutOrganization(ctx, o) })
	return o, err
}

func validOrganization(name string) bool {
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

// Organizations lists all by name.
func (s *Service) Organizations(ctx context.Context) ([]port.Organization, error) {
	var out []port.Organization
	err := s.store.View(ctx, func(r port.Reader) (err error) {
		out, err = r.Organizations(ctx)
		return err
	})
	return out, err
}

// Suspend makes every key of an organization answer 403; Resume ends that. Both
// hold within CacheFor in other processes and may be repeated. Fault NotFound
// for an unknown name.
func (s *Service) Suspend(ctx context.Context, name string) error {
	return s.setSuspended(ctx, name, true)
}

// Resume lets a suspended organization's keys work again.
func (s *Service) Resume(ctx context.Context, name string) error {
	return s.setSuspended(ctx, name, false)
}

func (s *Service) setSuspended(ctx context.Context, name string, to bool) error {
	err := s.store.Update(ctx, func(w port.Writer) error {
		o, err := w.OrganizationByName(ctx, name)
		if err != nil {
			return err
		}
		o.Suspended = to
		return w.PutOrganization(ctx, o)
	})
	s.cache.forget()
	return err
}

// EnsureDefault makes the default organization when it is missing.
func (s *Service) EnsureDefault(ctx context.Context) (o port.Organization, err error) {
	err = s.store.View(ctx, func(r port.Reader) (err error) {
		o, err = r.OrganizationByName(ctx, ident.DefaultOrg)
		return err
	})
	if fault.CodeOf(err) != fault.NotFound {
		return o, err
	}
	err = s.store.Update(ctx, func(w port.Writer) (err error) {
		o, err = s.organization(ctx, w, ident.DefaultOrg)
		return err
	})
	return o, err
}

// organization finds one by name; the default one is made when it is missing.
func (s *Service) organization(ctx context.Context, w port.Writer, name string) (port.Organization, error) {
	if name == "" {
		name = ident.DefaultOrg
	}
	o, err := w.OrganizationByName(ctx, name)
	if name != ident.DefaultOrg || fault.CodeOf(err) != fault.NotFound {
		return o, err
	}
	o = port.Organization{ID: ident.Org("org_" + random(idLength)), Name: name, CreatedAt: s.now().UTC()}
	return o, w.PutOrganization(ctx, o)
}

func suspended(name string) error {
	return fault.New(fault.Forbidden, "the organization %q is suspended", name)
}
