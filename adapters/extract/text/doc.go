// Package text reads plain text in any charset, source code, and the tables and trees
// that are text: CSV, TSV, JSON, XML and subtitles. Rows and entries become list items and
// code a fenced block, which chunks keep together.
package text
