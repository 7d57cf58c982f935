// Package meilisearch serves keyword search from a Meilisearch server, through
// the official Go client.
//
// # When to choose it
//
// Where a Meilisearch is run already, or where keyword search is to live outside
// the processes that serve the API: any number of replicas share it. The embedded
// index and index/postgres need no further server and rank by exact BM25; choose
// them where nothing speaks for Meilisearch. What it costs: a server with its
// disk, whose data is derived and needs no backup; a task of it for each write,
// which comes after the store's own commit and takes .06 s, on a large machine
// without a limit of its indexing memory .5 s, on a loaded one seconds; and two round trips for each query. The
// server's search API answers within its own memory map, so give it memory for
// the whole index.
//
// It needs Meilisearch 1.15 or later, one index_prefix for each installation of
// mneme, and nobody else who changes the index.
//
// # One index for all
//
// The chunks of every partition are documents of one index, PREFIX_chunks. Its
// attributes:
//
//	id  hash of partition, document and chunk number; the primary key
//	p   the partition: "g" and its generation           filterable
//	h   hash of the document's id                       filterable
//	d   the document's id                               given back
//	c   the chunk's number                              filterable, given back
//	w   the terms of the text, as our analyzer cuts it  searchable
//	f   hashes of the facet tokens                      filterable
//	t   the time of memory search, Unix ms              filterable
//	v   the change number that wrote it                 filterable
//	n   of a partition's own document: how far it is    filterable
//
// One document describes the index: whose it is, and a random id of its current life,
// which partitions' own documents repeat. If the index is deleted or emptied while a write
// is in progress, what that write leaves names another life, and the partition is rebuilt.
//
// Meilisearch compares strings in filters without regard to case and cuts long
// ones, so facets go in as hashes. They are letters and digits alone, and so a
// filter can't be broken out of. Terms of our analyzer that are more than letters
// and digits are written in hexadecimal: its tokenizer leaves every term whole,
// no dictionary or separator has to be set, stemming is the same as in the other
// indexes, and typo tolerance and prefix search, which would let the identifier
// AB-1234 match AB-1235, are off.
//
// # A write
//
// Apply makes one task of everything: the chunks, empty documents in the place of
// chunks that went, and the document that says how far the partition is. A task
// is one transaction, so a search sees all of it or nothing, and the number never
// runs ahead of what searches reflect. The task's end is awaited. What two
// processes wrote at once is put right after that: chunks beyond a document's last
// which are older than its change are deleted by a filter. Whatever was cut off is replayed
// by the caller, and replaying is harmless. A batch larger than max_payload_mb is
// several tasks, the number in the last.
//
// # A search
//
// Meilisearch drops the words of a question one after the other, so that a text
// without the rarest word is never found, and reads ten words at most. One request
// asks for all words together and for each of them alone, in quotes, since a word
// without is also looked for cut in two. The lists are merged by the words'
// inverse document frequency, or, with ranking: bm25, by BM25 over the terms of
// what was found. Each list ends at the query's limit, and which of equal chunks
// are in it is Meilisearch's choice. So what comes out orders chunks and says
// nothing about how good they are: the index declares its scores to be ranks
// (port.Ranker), fusion takes them as such, and the score_kind of keyword search
// alone is "fused".
//
// nDCG@10 over 300 queries of judged sets or all that they have, over the server
// of meilisearchtest, and of a well-known BM25 over all:
//
//	             meilisearch   bm25   a well-known BM25
//	squad-dev-a     .90        .92        .89
//	cranfield       .35        .50        .48
//	locomo-a        .52        .51        .47
//
// Over Meilisearch 1.50.0, a hundred queries of each: .90, .37 and .49 by its
// rules, .91, .50 and .49 by bm25. Its own way of searching, the plain text with the
// matching strategy frequency, gives .64, .12 and .23; with last .16, .03 and .04.
//
// # When the server is away
//
// Queries leave keyword search out and say so, or fail with strict. Writes follow
// on_outage. With refuse they are answered 503; they are stored, and repeating
// them is safe. With catch_up they are acknowledged and brought to the index in
// the background, partition by partition, as soon as it is back. Either way the
// store has everything, and the index says itself how far it is.
//
// # Keys
//
// The key needs the actions search, documents.add, documents.get,
// documents.delete, indexes.create, settings.get, settings.update, tasks.get and
// version, and no others.
package meilisearch
