#include "tokenizer.h"

int tokenizer_open(tokenizer *t) { return (t->handle = mneme_tokenizer_open("tokenizer", 9)) != 0; }

u32 tokenize(tokenizer *t, mneme_text prefix, mneme_text text, u32 *ids, u32 limit) {
	if (prefix.n) { // a token may reach from the prefix into the text
		u32 n = prefix.n + text.n;
		if (n > t->room) {
			mneme_free(t->joined, t->room);
			t->room = 0;
			if (!(t->joined = mneme_alloc(n))) return TOKENIZE_FAILED;
			t->room = n;
		}
		__builtin_memcpy(t->joined, prefix.p, prefix.n);
		__builtin_memcpy(t->joined + prefix.n, text.p, text.n);
		text = (mneme_text){t->joined, n};
	}
	return mneme_tokenize(t->handle, text.p, text.n, ids, limit);
}
