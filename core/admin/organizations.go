package admin

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// Organization is an organization as it is shown.
type Organization struct {
	ID         string     `json:"id"`
	Name       string     `json:"name" doc:"unique; in paths as good as the id"`
	Suspended  bool       `json:"suspended" doc:"true: all its keys answer 403"`
	DeletingAt *time.Time `json:"deleting_at" doc:"when its deletion began; null: it did not"`
	CreatedAt  time.Time  `json:"created_at"`
	Database   string     `json:"database,omitempty" doc:"of several databases the one that it lies in"`
}

func showOrganization(o port.Organization) Organization {
	return Organization{
		ID:         string(o.ID),
		Name:       o.Name,
		Suspended:  o.Suspended,
		DeletingAt: moment(o.Deleting),
		CreatedAt:  o.CreatedAt.UTC(),
		Database:   o.Database,
	}
}

// OrganizationRef names an organization in a path.
type OrganizationRef struct {
	Org string `path:"org" json:"-" doc:"id or name of the organization"`
}

// CreateOrganization is the body of POST /organizations.
type CreateOrganization struct {
	Name     string `json:"name" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" not:"^org_" rule:"must be 1-64 characters of A-Z a-z 0-9 . _ -, starting with a letter or digit, and not with org_" doc:"its name, which does not begin with org_"`
	Database string `json:"database,omitempty" maxLength:"32" doc:"of several databases the one that it is to lie in; without it the server's setting decides"`
}

// ListOrganizations are the parameters of GET /organizations.
type ListOrganizations struct {
	Listing
}

// Organizations answers GET /organizations.
type Organizations struct {
	Organizations []Organization `json:"organizations"`
	NextCursor    *string        `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// ChangeOrganization is the body of PATCH /organizations/{org}.
type ChangeOrganization struct {
	OrganizationRef
	Name      *string `json:"name,omitempty" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" not:"^org_" rule:"must be 1-64 characters of A-Z a-z 0-9 . _ -, starting with a letter or digit, and not with org_" doc:"its new name, which does not begin with org_"`
	Suspended *bool   `json:"suspended,omitempty" doc:"true makes all its keys answer 403"`
}

// JSONSchema implements op.Schemer: a change of nothing is refused.
func (c *ChangeOrganization) JSONSchema() string {
	return `{"not": {"properties": {"name": {"const": null}, "suspended": {"const": null}}}}`
}

// Validate refuses a change of nothing.
func (c *ChangeOrganization) Validate() error {
	if c.Name == nil && c.Suspended == nil {
		return nothing("name or suspended")
	}
	return nil
}

func nothing(fields string) error {
	return fault.New(fault.InvalidRequest, "nothing is changed: give %s", fields)
}

// CreateOrganization makes an organization.
func (s *Service) CreateOrganization(ctx context.Context, in CreateOrganization) (Organization, error) {
	if err := operator(ctx, "make organizations"); err != nil {
		return Organization{}, err
	}
	o, err := s.keys.PlaceOrganization(ctx, in.Name, in.Database)
	return showOrganization(o), wrap("create organization", err)
}

// ListOrganizations pages through what the caller sees, by name.
func (s *Service) ListOrganizations(ctx context.Context, in ListOrganizations) (Organizations, error) {
	who := ident.From(ctx)
	all, err := s.keys.Organizations(ctx)
	if err != nil {
		return Organizations{}, wrap("list organizations", err)
	}
	seen := all[:0]
	for _, o := range all {
		if who.Administers(o.ID) {
			seen = append(seen, o)
		}
	}
	some, next, err := cut(s, in.Listing, seen, func(o port.Organization) string { return o.Name },
		"admin.organizations", who.KeyID)
	if err != nil {
		return Organizations{}, err
	}
	out := Organizations{Organizations: make([]Organization, len(some)), NextCursor: next}
	for i, o := range some {
		out.Organizations[i] = showOrganization(o)
	}
	return out, nil
}

// GetOrganization reads one.
func (s *Service) GetOrganization(ctx context.Context, in OrganizationRef) (Organization, error) {
	o, err := s.organization(ctx, in.Org)
	return showOrganization(o), err
}

// ChangeOrganization renames, suspends or resumes one.
func (s *Service) ChangeOrganization(ctx context.Context, in ChangeOrganization) (Organization, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return Organization{}, err
	}
	if err := operator(ctx, "rename or suspend organizations"); err != nil {
		return Organization{}, err
	}
	o, err = s.keys.ChangeOrganization(ctx, string(o.ID), key.OrganizationChange{Name: in.Name, Suspended: in.Suspended})
	return showOrganization(o), wrap("change organization", err)
}

// DeleteOrganization are the parameters of DELETE /organizations/{org}.
type DeleteOrganization struct {
	OrganizationRef
	Name string `query:"name" json:"-" schema:"Text" required:"true" doc:"the organization's name again, so that none is deleted by mistake"`
}

// OrganizationDeletion says how far the deletion of an organization is.
type OrganizationDeletion struct {
	ID        *string             `json:"id" doc:"id of the organization; null: there is none of that name"`
	JobID     *string             `json:"job_id" doc:"the job that deletes it; null: there is no organization"`
	Status    string              `json:"status" enum:"deleting,deleted,absent" doc:"deleted: nothing of it is left; absent: there was nothing to delete"`
	Done      int                 `json:"done" minimum:"0" doc:"namespaces and end users removed"`
	Total     int                 `json:"total" minimum:"0" doc:"what done is when all are; 0 until they are counted"`
	Deleted   OrganizationRemoved `json:"deleted" doc:"what was removed so far"`
	DeletedAt *time.Time          `json:"deleted_at" doc:"when nothing was left"`
}

// OrganizationRemoved counts what a deletion has removed.
type OrganizationRemoved struct {
	Namespaces   int64 `json:"namespaces" minimum:"0"`
	Documents    int64 `json:"documents" minimum:"0"`
	EndUsers     int64 `json:"end_users" minimum:"0"`
	Memories     int64 `json:"memories" minimum:"0"`
	Integrations int64 `json:"integrations" minimum:"0"`
	Keys         int64 `json:"keys" minimum:"0"`
	Jobs         int64 `json:"jobs" minimum:"0" doc:"records of background work"`
}

// The statuses of a deletion.
const (
	Deleting   = "deleting"
	WasDeleted = "deleted"
	Absent     = "absent"
)

// StatusCode is 202 while it is under way.
func (d OrganizationDeletion) StatusCode() int {
	if d.Status == Deleting {
		return 202
	}
	return 200
}

// DeleteOrganization begins to delete an organization with everything in it, or says
// how far that is.
func (s *Service) DeleteOrganization(ctx context.Context, in DeleteOrganization) (OrganizationDeletion, error) {
	if err := operator(ctx, "delete organizations"); err != nil {
		if _, unseen := s.organization(ctx, in.Org); unseen != nil {
			return OrganizationDeletion{}, unseen
		}
		return OrganizationDeletion{}, err
	}
	d, err := s.organizations.Delete(ctx, in.Org, func(o port.Organization) error {
		if in.Name != o.Name {
			return fault.Field(fault.InvalidRequest, "name", "must be the name of the organization that is to be deleted")
		}
		e := port.AuditOf(ctx)
		e.About(o.ID)
		e.Made(string(o.ID)) // the caller may have named it otherwise
		return nil
	})
	if err != nil {
		return OrganizationDeletion{}, wrap("delete organization", err)
	}
	out := OrganizationDeletion{
		ID:        optional(string(d.Org)),
		JobID:     optional(d.Job),
		Status:    Deleting,
		Done:      d.Done,
		Total:     d.Total,
		Deleted:   OrganizationRemoved(d.Removed),
		DeletedAt: moment(d.Ended),
	}
	switch {
	case d.Org == "":
		out.Status = Absent
	case !d.Ended.IsZero():
		out.Status = WasDeleted
	}
	return out, nil
}
