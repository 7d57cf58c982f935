// Package backuptest is the contract of a place for backups, as tests of the adapters run it.
package backuptest
