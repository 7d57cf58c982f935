// Package organization deletes organizations with everything in them: namespaces, end
// users, integrations, keys, jobs and what indexes derive of them
// (docs/contract.md#admin-organizations).
//
// A deletion is a job, so that it goes on after a crash. It is kept in the default
// organization, which cannot be deleted, because the rows of an organization's own
// jobs go with it. The organization is marked in the transaction that stores the job:
// from then on its keys are refused and nothing is made in it.
package organization
