// BERT's uncased WordPiece tokenizer (Devlin et al. 2018; Wu et al. 2016 for the
// pieces): clean, decompose, strip accents, lower, split on white space and
// punctuation, then greedy longest match. Output equals Hugging Face tokenizers'.
#ifndef TOKENIZER_H
#define TOKENIZER_H
#include "mneme.h"

#define TOKENIZE_INVALID 0xFFFFFFFFu
#ifdef HOSTED // the host tokenizes, as the pack's tokenizer.json says: hosted.c

#define TOKENIZE_STOPPED MNEME_TOKENIZE_STOPPED
#define TOKENIZE_FAILED MNEME_TOKENIZE_FAILED

typedef struct {
	u32 handle;
	u32 pad, unk, cls, sep, mask_id;
	u8 *joined; // a prefix and a text behind it, grown as needed
	u32 room;
} tokenizer;

// tokenizer_open opens the asset "tokenizer"; 0 when the host does not take it.
int tokenizer_open(tokenizer *t);
// tokenize writes the token ids of prefix and text, read as one text, to ids and gives
// their number, limit at most. ids may be NULL to count. From TOKENIZE_FAILED on it is none.
u32 tokenize(tokenizer *t, mneme_text prefix, mneme_text text, u32 *ids, u32 limit);

#else

typedef struct {
	const u8 *text;        // the pieces, a line feed after each
	u32 count, longest;    // pieces; bytes of the longest
	u32 *start;            // of piece i; count + 1 entries
	u32 *slots, mask;      // open addressing: piece + 1, 0 is empty
	u32 pad, unk, cls, sep, mask_id;
} tokenizer;

// tokenizer_open indexes the vocabulary; text must stay. 0 when out of memory or not count pieces.
int tokenizer_open(tokenizer *t, const u8 *text, u32 n, u32 count);

// tokenize writes the piece ids of text to ids and gives their number. It stops
// as soon as limit ids are there. ids may be NULL to count.
// TOKENIZE_INVALID: the text is not UTF-8.
u32 tokenize(const tokenizer *t, mneme_text text, u32 *ids, u32 limit);
#endif
#endif
