// Package admin is the service behind /admin/v1: organizations, their keys
// and integrations, and the roster of end users with export and erasure. It puts
// the key service and the erasure of memories behind operations and decides who
// may see what:
//
//   - An admin key belongs to an organization and sees that one alone; another
//     organization answers 404, as if it were not there.
//   - A key with organizations:all, which only the command line makes, sees every
//     organization, makes new ones, and renames, suspends and deletes them.
//   - Keys with organizations:all are out of sight and reach of keys without it.
package admin
