// Package markup reads Markdown, whose front matter becomes metadata, and HTML, which it
// writes as Markdown without what is no text of the page.
package markup
