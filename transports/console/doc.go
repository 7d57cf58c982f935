// Package console serves the pages at /console: HTML rendered here, forms and links, and
// a small script that nothing depends on. Every page calls operations of the operation table in
// this process, through their whole chain, so that what a page may do is what the API lets its
// caller do; each shows its calls as programs would make them.
//
// Links are relative, so that the pages work below any path of a proxy.
package console
