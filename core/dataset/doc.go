// Package dataset is the format of a data set: what an installation, or a part of
// it, holds as JSON lines, written and read with its hashes.
//
// A line is {"type":T,"data":D,"hash":H,"chain":C}. H is SHA-256 of T, a line
// feed and D as it is written; C is SHA-256 of the C before (32 zero bytes at
// first) and H; both are base64url without padding. So the chain of the last line
// is a hash over everything. The order is
//
//	header       what the data set holds and where it comes from
//	organization then its integrations, keys and unfinished operations
//	partition    a namespace or an end user: namespace, documents, and of an end
//	             user context links, records with receipts and stored answers
//	end          closes the partition: counts, change number, hash
//	secret       only when asked for
//	trailer      counts of everything
//	error        in place of the remaining lines, when an export failed
//
// A data set that does not end with its trailer is not whole.
//
// The hash of an end line is SHA-256 over the hashes of the partition's lines
// after its partition line. What identifies a partition in one installation
// (organization, generation, change number) is not among them, nor when an end
// user was last seen. So the same data has the same hash in every store, and a
// partition that was moved is verified by reading it back.
//
// Each partition is read from one snapshot of the store, which its end line names
// by the change number; partitions written during the export are not in step
// with each other.
package dataset
