// Package postgres is what the adapters over PostgreSQL have in common: the
// settings of a connection with their checks, the driver's configuration made of
// them, the numbers of advisory locks, and what a failure says of a connection.
// The store is in adapters/storage/postgres, the index in adapters/index/postgres.
package postgres
