// Package pdf reads PDF files: text in reading order with its pages, headings from the
// outline or from the size of letters, rows of tables, the title and the author.
//
// # The sandbox
//
// The parser is PDFium, the one of Chromium, compiled to WebAssembly by
// github.com/klippa-app/go-pdfium. It runs in a wazero runtime of its own without files,
// network or environment, in an instance for each file, which is thrown away
// afterwards: whatever a file does to the parser's memory ends with it. An instance
// has a ceiling of memory, and is closed when the context ends, in whatever loop it is.
// For that wazero calls into Go in every round of every loop, which makes the parser
// about four times slower and also lets the garbage collector run in between.
//
// PDFium is compiled on the first file. That takes seconds of a processor, which the
// compile cache saves for later starts.
//
// # The text
//
// PDFium gives the characters of a page line by line and where each stands. Lines are
// put together again as paragraphs where nothing speaks for a break: a wider gap, another
// size, an indent, a bullet, or room that the next word would still have fitted into.
// Words that were divided at a line's end are joined. Wide gaps within a line are the
// edges of a table's cells. Lines at the top and the bottom that nearby pages repeat
// are left out, but where they stand first.
package pdf
