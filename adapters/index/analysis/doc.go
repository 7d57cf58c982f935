// Package analysis turns text into index terms: Unicode words folded to a
// common form and stemmed, identifiers kept whole beside their parts, bigrams
// for scripts written without spaces.
//
// The rules, the same for documents and queries:
//
//   - A word is a run of letters, marks and digits. It is folded: compatibility
//     decomposition (NFKD), lower case, Latin, Greek, Cyrillic, Hebrew and Arabic
//     marks removed, composed again. Words of plain ASCII letters are stemmed
//     as English ones.
//   - A text's function words and letters tell which languages it may be of. Its
//     words are stemmed in the likeliest; what they are in English, and in a
//     second one where that is near, stands beside them, so that a wrong guess,
//     of a short question most often, still finds the words as they are written.
//     Words in Cyrillic, Arabic and Devanagari are Russian, Arabic and Hindi.
//   - Words joined by one of _ - . / : @ & + \ without space are parts of an
//     identifier. The parts are indexed, and the whole too when it holds a
//     digit or a joiner other than a hyphen, slash or colon between words:
//     err_conn_reset, v1.2.3, foo.bar@example.com, 10.0.0.1.
//   - camelCase is indexed whole and by its humps; C++, C# and #123 keep their
//     signs; 1,000 becomes 1000; 's is cut, don't becomes dont.
//   - Runs of Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer and Myanmar give
//     overlapping bigrams, a lone character itself; Han characters are indexed
//     alone too, so that a query of one finds them.
//   - A symbol such as an emoji is a term.
//
// Time is linear in the text, and a term is never longer than MaxTerm bytes.
package analysis
