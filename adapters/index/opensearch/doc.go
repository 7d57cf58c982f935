// Package opensearch serves keyword, vector and sparse search, any of them alone, from an
// OpenSearch cluster, through the official Go client.
//
// # When to choose it
//
// Where an OpenSearch is run already, or where the indexes outgrow one machine: its shards
// are spread over nodes and copied, and any number of replicas of mneme share it. The
// embedded index and index/postgres need no further server and answer sooner; choose them
// where nothing speaks for a cluster. What it costs: a write is visible after a refresh of
// its shard and four to six requests, and each query is three or four requests. Its data is
// derived and needs no backup.
//
// It needs OpenSearch 2.19 or later with the k-NN plugin, one index_prefix for each
// installation of mneme, and nobody else who changes the index.
//
// # One index for all
//
// The chunks of every partition are documents of one index, PREFIX-chunks-1, which is used
// by its alias PREFIX-chunks: what writes to an alias never makes an index that was
// deleted again, without its mapping. Each partition is routed to one shard by its name. Its
// fields:
//
//	p   the partition: "g" and its generation
//	h   hash of the document's id
//	d   the document's id          to sort by and given back
//	c   the chunk's number         to sort by and given back
//	a   the attempt that wrote it  see below
//	l   its length in words
//	f   hashes of the facet tokens
//	t   the time of memory search, Unix ms
//	k   the words of the text, as our analyzer cuts it, with their weights
//	s   the sparse terms, with their weights
//	vN  the vector of N dimensions; Lucene's engine, cosine
//	m   of a partition's own document: its state
//
// Weights are kept in nine bits, so scores are exact to .4 %.
//
// # A write
//
// A bulk request is visible to searches bit by bit, external versions are forgotten with the
// tombstones of deletions after a minute, and a process that was taken for dead may
// write late. So no write replaces anything:
//
//  1. The partition's own document, which says how far it is, is written with the number of a
//     new attempt, on condition that it is what was read before. It lies in the partition's
//     shard and is read by its id, which gives the last acknowledged write of it.
//  2. The chunks are written under that number, with ids of their own, and refreshed on all
//     copies of the shard. Batches that are written at the same time share refreshes.
//  3. The partition's document is written again, on the same condition: the attempt counts,
//     and the chunks that earlier attempts wrote of the same documents don't.
//  4. Those are deleted.
//
// A search reads the partition's document first, and asks for chunks of attempts that count.
// It reads the document again after, and begins again if another batch has come in between. A
// number is given out once in the life of a generation, and an attempt whose end nobody
// has seen is named in the document as void for ever: whatever comes late of it is in no
// answer. Another process waits five seconds for an attempt that shows no sign of life.
//
// Drop keeps the partition's document, with everything up to the last number cut off; it
// goes when the partition is found dead.
//
// # A search
//
// Filter and bounds are part of the query and hold before the cut. Answers of which a
// shard is missing, or that ran out of time, are refused. Equal scores are sorted by
// document and chunk by the server itself.
//
// BM25 of the server's own would count the words of all tenants of a shard. Here the weight
// of a word that stands tf times in a chunk of length l is stored as tf/l^b, and its part of
// the score is idf (k1+1) w/(w + k1/m^b), which is BM25 with (l/m)^b in the place of
// 1-b + b l/m: the two agree, slope included, at the mean length m. N and m are in the
// partition's document, and how many of its chunks have a word is counted by an
// aggregation before the search. No score depends on another partition.
//
// Vectors of a partition of up to exact_chunks chunks are all compared, of those that the
// filter leaves; of a larger one Lucene walks its graph, or compares them where the filter
// leaves few.
//
// # What is erased
//
// Drop deletes the chunks. OpenSearch keeps them on the disks of all copies until each has said,
// every 30 seconds, that it needs none of them to catch up; with expunge, segments are then
// rewritten in the background. Until then, and while a copy is away, the disks hold them.
// Snapshots of the cluster do until they are deleted. Nothing needs such
// snapshots: leave the index out of them.
//
// # When the cluster is away
//
// Queries leave the index out and say so, or fail with strict. Writes follow on_outage: with
// refuse they are answered 503; they are stored, and repeating them is safe. With catch_up
// they are acknowledged and brought to the index in the background.
package opensearch
