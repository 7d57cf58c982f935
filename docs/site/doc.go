// Site makes a site of static files out of the documentation, without a network:
//
//	go run ./docs/site -out dist/site
//
// docs/README.md decides what is in it: its sections are the navigation, its first page and
// llms.txt. Each page is there as HTML and, for programs, as Markdown; search.html searches an
// index in the reader's browser. All links are relative, so that the files work below any path
// and from a disk, and nothing but the search needs a script.
package main
