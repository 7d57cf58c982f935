// Package feed is the connector of kind feed: the entries of an RSS, Atom or JSON feed.
//
// An entry's document is what the feed holds of it, its title and its content or summary;
// the page that it links to is not read (kind web does that). A listing reads the whole
// feed and is a snapshot of it, but a feed names only what is new: entries that left it
// stay, unless the source's deletions are set to propagate. A feed that has not changed
// costs a request without a body. The robots.txt of its host is not asked: a feed is there
// for programs.
package feed
