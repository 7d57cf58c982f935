// Package session signs people in to the console: with the secret of an admin key, by a link
// that a command on the server's machine makes, or as a member of an organization, with a
// password or at an identity provider. A session stands for its key or member, which it never
// outlives, and acts in the organizations that they administer.
package session
