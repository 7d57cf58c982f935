// Package member is the service of people who sign in to the console as themselves: each is
// a member of one organization, in which a role says what they may do. It keeps members and
// their invitations and checks passwords. core/session begins their sessions.
//
//   - An owner may do everything in the organization, an admin everything but deciding who
//     administers it (members, and keys of kind admin), a viewer reads. Admin keys have an
//     owner's rights.
//   - An organization that has owners keeps one.
package member
