// Package web is the connector of kind web: the pages of a site, by its sitemap or by
// following links.
//
// Choose the sitemap where there is a good one: every listing reads it whole, so what
// left it is gone, and a page that has not changed since costs a request without a body.
// A crawl has to read pages for their links. The first one reads all of them; those after
// it ask for the pages that the last one found, with If-None-Match, and read what has
// changed for links to more. A page is then gone when it says so itself, with 404 or 410,
// and once a week everything is read from the start again, which finds what nothing
// leads to any more.
//
// A host is asked once a second at most, less where its robots.txt says so: a thousand
// pages take 17 minutes. A page becomes its main element, its articles, or what
// readability takes for its article; files in formats such as PDF are read as they are,
// all else is passed over. A page's key is its URL, normalized, after redirects; one that
// names another as its canonical URL is left to that one.
package web
