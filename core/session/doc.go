// Package session signs people in to the console: with the secret of an admin key, or by
// a link that a command on the server's machine makes. A session stands for its key, which it
// never outlives, and acts in the organizations that the key administers.
package session
