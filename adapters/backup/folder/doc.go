// Package folder keeps backups in a folder (port.BackupPlace): on a disk of its own, or on a network
// drive that has locks and renames.
//
// An object is written beside its place, synced, and renamed. The lock is the operating system's, on
// the file lock, so that it ends with the process that has it.
package folder
