// Package usage counts what is done on whose account, in hours, keeps quotas of organizations,
// and shows both.
//
// Counts are gathered in memory and stored together, a few seconds after the first of them, so
// that a call pays for an addition alone: a process that dies loses what it has not stored. What
// an organization keeps is read from the rows of its partitions after they have changed.
//
// A quota is held by Guard, which the store of the services goes through: it compares what a
// transaction adds with what the organization has. Over what the store has committed it puts what
// transactions of this process have in hand, so one process goes over no quota; of several each
// does not see what the others have in hand.
package usage
