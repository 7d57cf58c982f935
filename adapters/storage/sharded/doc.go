// Package sharded is the system of record in several databases, each of which holds whole
// organizations: what an organization has lies in one of them, and its transactions take place
// there. Any store over bunsql can be a member; over SQLite, organizations are moved only to
// databases with higher numbers.
//
// Choose it when one database server is not enough and no single organization is too large for
// one. It costs a look-up in each database for a key that this process has not seen yet, and a
// transaction for each database in what looks at all organizations.
//
// The home, number 0, has what belongs to nobody or has to be found first: the list of organizations and
// which database each has its rows in (placements), secrets, rate limits, clients of OAuth, the
// numbered audit log, usage, and the leases of replicas. A database that has organizations repeats
// of it what its own statements refer to: the row of each of its organizations, and the leases.
// Identity columns of two databases are 2^40 apart, so a generation is found in one database alone.
//
// A function of View or Update begins a transaction in a database when it first names an
// organization of it. Where a function writes to several databases, the home commits last; nothing makes these
// commits one. Only these do so, and each may be repeated: what makes, changes, deletes or erases an
// organization, the numbering of events, the taking over of audit records, and sweeps, such as the forgetting of
// expired rows. A claim that the home gives, such as that of numbering events, is confirmed in each
// database by its fence, which keeps out a holder that slept.
//
// Each database says in its row of an organization what it is to it, which a transaction looks at
// when it first names the organization, and holds when it writes. So an organization can be moved
// while processes that have placed it before go on, see MoveOrganization.
//
// A database that does not answer is left alone for a moment. What is asked of its
// organizations meanwhile is Unavailable, sweeps pass it over, and what has to know of all
// organizations fails.
package sharded
