// Package seal encrypts the secrets of other systems that a store keeps: envelope
// encryption with AES-256-GCM.
//
// Each organization has a data key, which is made with its first secret and lies in the
// store wrapped by a sealing key. Sealing keys come from the operator and never lie in
// the store: the store, a dump or a backup of it alone give no secret away.
// What is sealed is bound to its organization, table, row and name, so that one
// who can write to the store cannot have a secret used in another's place.
//
// Deleting an organization takes its data key along, and with it everything that was
// sealed with it, in copies of the store, too, as far as these have the row no more.
//
// Data keys are read and unwrapped at each use and kept nowhere in between: a key that
// was deleted or wrapped again by another process is so for this one at once.
package seal
