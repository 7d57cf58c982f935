package admin

import (
	"context"
	"fmt"
	"time"

	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/organization"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// Settings configure a Service.
type Settings struct {
	Keys  *key.Service
	Store port.Store
	Pages *page.Signer
	// Erase removes an end user for good (docs/contract.md#admin-routes).
	Erase     func(context.Context, port.Partition) (Erasure, error)
	Reindex   *reindex.Service
	Jobs      *job.Runner
	Transfers *datasets.Service
	// Organizations deletes them.
	Organizations *organization.Service
	Configuration Configuration    // that the server runs with
	Now           func() time.Time // nil: time.Now
}

// Erasure says what an erasure did, for its certificate.
type Erasure struct {
	Removed  port.Erased
	Verified bool // nothing was found in the store and the indexes afterwards
	At       time.Time
}

// reader is what the service reads itself; what it changes, the services do that
// it puts behind operations.
type reader interface {
	port.IntegrationReader
	port.PartitionReader
	port.DocumentReader
	port.MemoryReader
	port.GrantReader
	port.JobReader
}

// Service does the admin operations.
type Service struct {
	keys          *key.Service
	store         port.Snapshots[reader]
	pages         *page.Signer
	erase         func(context.Context, port.Partition) (Erasure, error)
	reindex       *reindex.Service
	jobs          *job.Runner
	transfers     *datasets.Service
	organizations *organization.Service
	configuration Configuration
	now           func() time.Time
}

// New makes the service.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	return &Service{
		keys:          s.Keys,
		store:         port.NarrowReads(s.Store, func(r port.Reader) reader { return r }),
		pages:         s.Pages,
		erase:         s.Erase,
		reindex:       s.Reindex,
		jobs:          s.Jobs,
		transfers:     s.Transfers,
		organizations: s.Organizations,
		configuration: s.Configuration,
		now:           s.Now,
	}
}

// organization finds an organization that the caller may see; "" is the caller's own.
func (s *Service) organization(ctx context.Context, ref string) (port.Organization, error) {
	who := ident.From(ctx)
	if ref == "" {
		ref = string(who.Org)
	}
	o, err := s.keys.Organization(ctx, ref)
	if err == nil && who.Administers(o.ID) {
		port.AuditOf(ctx).About(o.ID)
		return o, nil
	}
	if err == nil || fault.CodeOf(err) == fault.NotFound {
		return port.Organization{}, fault.New(fault.NotFound, "there is no organization %q", fault.Clip(ref))
	}
	return port.Organization{}, err
}

// operator refuses a caller that administers one organization alone.
func operator(ctx context.Context, what string) error {
	if who := ident.From(ctx); !who.AllOrganizations() {
		return fault.New(fault.Forbidden, "only a key of all organizations may %s", what)
	}
	return nil
}

// Listing are the parameters that every list has.
type Listing struct {
	Limit  *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
}

// after is where a list by a unique text continues.
type after struct {
	Key string `json:"k"`
}

// cut takes a page out of a whole list in rising order of key.
func cut[T any](s *Service, l Listing, all []T, keyOf func(T) string, bind ...string) (some []T, next *string, err error) {
	var from after
	if err := s.pages.Open(l.Cursor, &from, bind...); err != nil {
		return nil, nil, err
	}
	start := 0
	for start < len(all) && l.Cursor != "" && keyOf(all[start]) <= from.Key {
		start++
	}
	all = all[start:]
	if n := page.Limit(l.Limit); len(all) > n {
		all = all[:n]
		c := s.pages.Seal(after{keyOf(all[n-1])}, bind...)
		next = &c
	}
	return all, next, nil
}

// optional is nil for an empty text.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// moment is nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

const (
	base    = "/admin/v1"
	oneOrg  = base + "/organizations/{org}"
	oneKey  = oneOrg + "/keys/{id}"
	oneInt  = oneOrg + "/integrations/{integration}"
	oneUser = base + "/end_users/{id}"
	oneJob  = base + "/jobs/{job}"
	oneNS   = oneOrg + "/namespaces/{namespace}"
)

// Operations declares the admin operations (docs/contract.md#admin-routes).
func Operations() []op.Op[*Service] {
	read := func(group op.Group, name, path, summary string, faults ...fault.Code) op.Spec {
		return op.Spec{
			Name:    name,
			Group:   group,
			Method:  "GET",
			Path:    path,
			Family:  op.Administration,
			Class:   op.Admin,
			Timeout: 10 * time.Second,
			Summary: summary,
			Faults:  faults,
		}
	}
	change := func(group op.Group, name, method, path, summary string, faults ...fault.Code) op.Spec {
		s := op.Spec{
			Name:    name,
			Group:   group,
			Method:  method,
			Path:    path,
			Family:  op.Administration,
			Class:   op.Admin,
			Mutates: true,
			MaxBody: 64 << 10,
			Timeout: 30 * time.Second,
			Summary: summary,
			Faults:  append([]fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.NotFound}, faults...),
		}
		if method == "DELETE" {
			s.MaxBody = 0
			s.Faults = faults
		}
		return s
	}
	optionalBody := func(s op.Spec) op.Spec { s.BodyOptional = true; return s }
	erase := change(op.AdminEndUsers, "admin.end_users.erase", "POST", oneUser+"/erase",
		"Erase an end user for good and answer the certificate", fault.InvalidEndUserID)
	erase.Timeout, erase.MaxBody = 120*time.Second, 0
	erase.Description = "The same as DELETE /api/v1/users/{endUserId}. Safe to repeat: an end user who is not there " +
		"answers zeros."
	export := read(op.AdminEndUsers, "admin.end_users.export", oneUser+"/export",
		"Export an end user's memories, records and receipts as NDJSON",
		fault.InvalidRequest, fault.InvalidEndUserID, fault.NotFound)
	export.Description = "One JSON object a line, its kind in `type`: end_user first, then memory, record and receipt, " +
		"and end last, with the counts. An answer without an end line was cut short."
	export.Answers = []op.Answer{{Status: 200, Summary: "The export, one JSON object a line.", Body: (*Export)(nil),
		Lines: []any{exportHead{}, exportMemory{}, exportRecord{}, exportReceipt{}, exportEnd{}}}}
	reindex := optionalBody(change(op.AdminNamespaces, "admin.namespaces.reindex", "POST", oneNS+"/reindex",
		"Recompute a namespace's vectors with the configured models",
		fault.InvalidNamespace, fault.NamespaceNotFound, fault.Conflict, fault.Unavailable))
	reindex.Description = "202 while it goes on in the background; GET says how far it is. A second generation of the " +
		"namespace is built beside the one that is served, both are compared by the same queries, and then the new one " +
		"is served in its place; queries and writes go on throughout if the previous model is loaded (roles.previous). " +
		"The replaced generation is kept for `back` until it is discarded. A namespace whose vectors are already of the " +
		"configured models is left alone unless `force` is true."
	progress := []op.Answer{{Status: 200, Summary: "It has ended, or nothing was to be done.", Body: Reindexing{}},
		{Status: 202, Summary: "It is under way.", Body: Reindexing{}}}
	reindex.Answers = progress
	reindexUser := optionalBody(change(op.AdminEndUsers, "admin.end_users.reindex", "POST", oneUser+"/reindex",
		"Recompute the vectors of an end user's memories with the configured models",
		fault.InvalidEndUserID, fault.Unavailable))
	reindexUser.Description, reindexUser.Answers = "As for a namespace.", progress
	cancel := change(op.AdminJobs, "admin.jobs.cancel", "POST", oneJob+"/cancel", "End a job early", fault.Conflict)
	cancel.Description = "A queued job ends at once, a running one within seconds; `cancelling` is true until then. What it " +
		"has done by then stays done. Safe to repeat. A job that has ended otherwise, or cannot be cancelled, answers 409."
	cancel.MaxBody, cancel.Faults = 0, []fault.Code{fault.InvalidRequest, fault.NotFound, fault.Conflict}
	remove := change(op.AdminOrganizations, "admin.organizations.delete", "DELETE", oneOrg,
		"Delete an organization with everything in it", fault.InvalidRequest, fault.Conflict)
	remove.Description = "It cannot be undone. Keys are refused at once; namespaces, end users, integrations and keys are " +
		"removed in the background, which goes on after a crash. Call it again, by the id, to see how far it is: 202 while it " +
		"goes on, 200 with the counts of what was removed when nothing is left, which can be read for a day. An organization " +
		"that is not there answers 200. The default organization stays (409), and so does one with a live key " +
		"that administers all."
	remove.Answers = []op.Answer{{Status: 200, Summary: "It is deleted, or was not there.", Body: OrganizationDeletion{}},
		{Status: 202, Summary: "It is under way.", Body: OrganizationDeletion{}}}
	far := func(s op.Spec) op.Spec { s.Answers = progress; return s }
	secret := func(s op.Spec) op.Spec {
		s.Answers = []op.Answer{{
			Status:  200,
			Summary: "The key with its secret.",
			Body:    IssuedKey{},
			Headers: []string{"Cache-Control"},
		}}
		return s
	}
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(change(op.AdminOrganizations, "admin.organizations.create", "POST", base+"/organizations",
			"Make an organization", fault.Conflict), (*Service).CreateOrganization),
		op.Define(read(op.AdminOrganizations, "admin.organizations.list", base+"/organizations", "List organizations",
			fault.InvalidRequest, fault.InvalidCursor), (*Service).ListOrganizations),
		op.Define(read(op.AdminOrganizations, "admin.organizations.get", oneOrg, "Read an organization", fault.NotFound),
			(*Service).GetOrganization),
		op.Define(change(op.AdminOrganizations, "admin.organizations.change", "PATCH", oneOrg,
			"Rename, suspend or resume an organization", fault.Conflict), (*Service).ChangeOrganization),
		op.Define(remove, (*Service).DeleteOrganization),

		op.Define(secret(change(op.AdminKeys, "admin.keys.create", "POST", oneOrg+"/keys",
			"Make a key; its secret is in this answer alone", fault.InvalidNamespace)), (*Service).CreateKey),
		op.Define(read(op.AdminKeys, "admin.keys.list", oneOrg+"/keys", "List an organization's keys",
			fault.InvalidRequest, fault.InvalidCursor, fault.NotFound), (*Service).ListKeys),
		op.Define(read(op.AdminKeys, "admin.keys.get", oneKey, "Read a key's description", fault.NotFound), (*Service).GetKey),
		op.Define(change(op.AdminKeys, "admin.keys.change", "PATCH", oneKey,
			"Change a key's name, limits, default namespace or read-only state", fault.InvalidNamespace), (*Service).ChangeKey),
		op.Define(secret(optionalBody(change(op.AdminKeys, "admin.keys.rotate", "POST", oneKey+"/rotate",
			"Make a new secret with a key's rights", fault.Conflict))), (*Service).RotateKey),
		op.Define(change(op.AdminKeys, "admin.keys.revoke", "DELETE", oneKey,
			"Revoke a key, within a second everywhere", fault.NotFound), (*Service).RevokeKey),

		op.Define(change(op.AdminIntegrations, "admin.integrations.create", "POST", oneOrg+"/integrations",
			"Make an integration", fault.Conflict), (*Service).CreateIntegration),
		op.Define(read(op.AdminIntegrations, "admin.integrations.list", oneOrg+"/integrations",
			"List an organization's integrations", fault.InvalidRequest, fault.InvalidCursor, fault.NotFound),
			(*Service).ListIntegrations),
		op.Define(read(op.AdminIntegrations, "admin.integrations.get", oneInt, "Read an integration", fault.NotFound),
			(*Service).GetIntegration),
		op.Define(change(op.AdminIntegrations, "admin.integrations.change", "PATCH", oneInt,
			"Change an integration's name or quotas", fault.Conflict), (*Service).ChangeIntegration),
		op.Define(secret(change(op.AdminIntegrations, "admin.integrations.keys.create", "POST", oneInt+"/keys",
			"Make a key of an integration; its secret is in this answer alone", fault.InvalidEndUserID)),
			(*Service).CreateIntegrationKey),
		op.Define(read(op.AdminIntegrations, "admin.integrations.keys.list", oneInt+"/keys",
			"List an integration's keys", fault.InvalidRequest, fault.InvalidCursor, fault.NotFound),
			(*Service).ListIntegrationKeys),

		op.Define(read(op.AdminNamespaces, "admin.namespaces.list", oneOrg+"/namespaces",
			"List namespaces, and whether their vectors are of the configured models",
			fault.InvalidRequest, fault.InvalidCursor, fault.NotFound), (*Service).ListNamespaces),
		op.Define(reindex, (*Service).ReindexNamespace),
		op.Define(far(read(op.AdminNamespaces, "admin.namespaces.reindexing", oneNS+"/reindex",
			"Say how far the reindexing of a namespace is", fault.InvalidNamespace, fault.NotFound)),
			(*Service).ReindexingOf),
		op.Define(change(op.AdminNamespaces, "admin.namespaces.discard", "DELETE", oneNS+"/reindex",
			"Discard what is kept of a namespace since it was reindexed, or what is held",
			fault.InvalidNamespace, fault.NamespaceNotFound, fault.Conflict), (*Service).DiscardReindexing),
		op.Define(exportNamespace(), (*Service).ExportNamespace),
		op.Define(importNamespace(), (*Service).ImportNamespace),

		op.Define(read(op.AdminEndUsers, "admin.end_users.list", oneOrg+"/end_users",
			"List end users with what is kept of them", fault.InvalidRequest, fault.InvalidCursor, fault.NotFound),
			(*Service).ListEndUsers),
		op.Define(export, (*Service).ExportEndUser),
		op.Define(erase, (*Service).EraseEndUser),
		op.Define(reindexUser, (*Service).ReindexEndUser),
		op.Define(far(read(op.AdminEndUsers, "admin.end_users.reindexing", oneUser+"/reindex",
			"Say how far the reindexing of an end user's memories is",
			fault.InvalidRequest, fault.InvalidEndUserID, fault.NotFound)), (*Service).ReindexingOfEndUser),

		op.Define(read(op.AdminJobs, "admin.jobs.list", base+"/jobs", "List background jobs, newest first",
			fault.InvalidRequest, fault.InvalidCursor, fault.NotFound), (*Service).ListJobs),
		op.Define(read(op.AdminJobs, "admin.jobs.get", oneJob, "Read how far a job is",
			fault.InvalidRequest, fault.NotFound), (*Service).GetJob),
		op.Define(cancel, (*Service).CancelJob),

		op.Define(readSettings(), (*Service).GetSettings),
	}, examples()), links())
}

// wrap names the operation in an error for the log.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
