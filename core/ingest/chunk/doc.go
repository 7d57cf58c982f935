// Package chunk cuts documents into the passages that are embedded and indexed.
//
// A document is read as Markdown-like text: headings (ATX, setext), paragraphs,
// lists, tables, code fences and leading front matter. The rules, Version 3:
//
//   - A block is what stands between two paragraph breaks: a blank line, a
//     heading or a thematic break. A chunk never reaches over a block's edge.
//     Blank lines inside a fence, between the items of one list, and between a
//     lead-in paragraph that ends in a colon and the list, table or fence it
//     introduces are no paragraph breaks: such a lead-in says what the items are.
//   - A block that fits MaxTokens word pieces, its context included, is one
//     chunk. A longer one is packed greedily from whole sentences, list items,
//     table rows and code lines. A list item or fence that fits a chunk is kept
//     whole; a lead-in goes with what it introduces.
//   - Between two chunks of one paragraph the last sentence is repeated where it
//     still fits.
//   - A sentence longer than a chunk is cut after a line end, else after clause
//     punctuation, else at a space, else between grapheme clusters.
//   - The headings above a chunk are its Context, outermost first, joined by
//     " > "; outer ones are left out beyond a fifth of the budget. A later part
//     of a split table carries the table's header row on a second line. A
//     heading that is no chunk's context is a chunk of its own. A heading line
//     of more than 200 bytes is text.
//   - A document's title counts as a heading above all others: one that is known
//     beside the text; a first line of at most 200 bytes before a blank one, where it
//     is no markup of something else and what follows is longer, structured, ends the
//     text, or begins with a lower heading; else the title in front matter. A line is
//     the context of every chunk but the first one below it, which begins with the
//     line itself.
//   - A known title is in the context of every chunk, whatever else is left out of it;
//     at two fifths of the budget it is cut, and under other headings at a fifth. It
//     is not said twice: a first line, a heading or front matter that says the same is
//     the title, and the first chunk of a text that begins with it goes without.
//     Any other title stands below it.
//   - Markup of headings and thematic breaks is in no chunk; every other
//     character that is not white space is in at least one.
//
// A block's chunks depend on nothing but the block and the headings above it, so
// an edit leaves the hashes of other blocks' chunks alone. Time and memory are
// linear in the size of the text.
//
// Sentences follow UAX #29 (Unicode Text Segmentation, section 5), grapheme
// clusters its section 3.
package chunk
