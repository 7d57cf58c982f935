// The BERT-family encoder that embedding, learned-sparse encoding and reranking share.
#ifndef BERT_H
#define BERT_H
#include "mneme.h"
#include "tensor.h"
#include "tokenizer.h"

enum { PACK_TOKENS = 256 }; // tokens that go through the layers together

typedef enum { TASK_EMBED, TASK_SPARSE, TASK_RERANK } task;

typedef struct {
	linear qkv, attention, up, down;
	f32 *attention_w, *attention_b, *norm_w, *norm_b;
} layer;

typedef struct {
	int ready;
	task task;
	u32 hidden, layers, heads, intermediate, vocab, positions, max_tokens, cls_pooling, normalize;
	u32 late_layer;                // the layers there are, where a reranker stops early; else 0
	int first_only;                // of each text only the first state is wanted
	f32 epsilon;
	u32 *prefix[2], prefix_len[2]; // word pieces before a passage, a query
#ifdef HOSTED
	mneme_text before[2];          // the prefixes themselves, since they are tokenized with the text; the above are none
	u32 separators;                // between the texts of a pair
#endif
#ifdef GENERAL
	u32 dimensions;                // of the vectors: the first so many
	int rotary;                    // rotary.c runs the layers, and pools as it is told whatever the task
	u32 keys;                      // of the next pack's first text: how many of its rows are attended to; 0: all
#endif
	tokenizer words;
	f32 *word_scale, *position, *type, *norm_w, *norm_b;
	layer *layer;
	// Working memory for one pack of texts.
	u32 capacity;               // tokens
	u32 *ids, *lens, *first;    // of the pack, end to end; tokens of each text, those of type 0
	f32 *x, *y, *up;            // states; attention output and layer results; widest results
	i8 *row;                    // one word embedding
	f32 *pooled;                // one vector
} model;

extern model m;

// Built with GENERAL there are further architectures and shapes of vectors, for packs of format 3.
//
// READ tokenizes a text behind the prefix of passages or queries, ALONE without one, and
// UNREAD tells that it could not. Built with HOSTED the host tokenizes; without it the
// module has to stay the same to the byte, because it is part of what namespaces record.
#ifdef HOSTED
#define READ(query, text, ids, limit) tokenize(&m.words, m.before[query], text, ids, limit)
#define ALONE(text, ids, limit) tokenize(&m.words, (mneme_text){0, 0}, text, ids, limit)
#define UNREAD(n) ((n) >= TOKENIZE_FAILED)
#define UNREAD_STATE(n) ((n) == TOKENIZE_INVALID ? RUN_INVALID : (n) == TOKENIZE_STOPPED ? RUN_STOPPED : RUN_FAILED)
#define UNREAD_FRAME(n, message) run_failed(UNREAD_STATE(n))
#else
#define READ(query, text, ids, limit) tokenize(&m.words, text, ids, limit)
#define ALONE(text, ids, limit) tokenize(&m.words, text, ids, limit)
#define UNREAD(n) ((n) == TOKENIZE_INVALID)
#define UNREAD_STATE(n) RUN_INVALID
#define UNREAD_FRAME(n, message) mneme_fail(MNEME_INVALID, message)
#endif

// config_number reads a whole number of the configuration; 0 when it is absent or out of range.
int config_number(const char *json, u32 n, const char *key, u32 low, u32 high, u32 *out);
// config_option does the same and leaves *out alone when the key is absent.
int config_option(const char *json, u32 n, const char *key, u32 low, u32 high, u32 *out);
// reserve gives memory for count values of size bytes, NULL when there is none.
void *reserve(u64 count, u32 size);
// same tells whether the text of n bytes is word.
int same(const char *text, u32 n, const char *word);

// A run takes texts through the layers, several at a time.
typedef struct run run;
struct run {
	const mneme_text *texts;
	u32 rows;
	int query;
	u32 *counts, *cut; // filled unless NULL: tokens read of each text; whether it was cut
	// read gives the tokens of text i and how many of them are of type 0.
	u32 (*read)(run *r, u32 i, u32 *ids, u32 *first, u32 *cut);
	// use takes the states of count texts from the i-th on, which lie end to end in
	// m.x, rows_of each, their word pieces in m.ids. It may overwrite the states.
	int (*use)(run *r, u32 i, u32 count);
	void *out; // what use fills
};

// read_text tokenizes one text as the model reads it: [CLS] prefix text [SEP], cut
// at the window, which *cut tells. TOKENIZE_INVALID when it is not UTF-8. ids has
// room for max_tokens + 1.
u32 read_text(mneme_text text, int query, u32 *ids, u32 *cut);
// rows_of tells how many states there are of a text of the pack.
u32 rows_of(u32 text);
// read_single is that for row i of a run.
u32 read_single(run *r, u32 i, u32 *ids, u32 *first, u32 *cut);
// pool writes the vector of a text of the given states.
void pool(const f32 *x, u32 tokens, int normalize, f32 *out);

enum { RUN_INVALID = RUN_FAILED + 1, RUN_MEMORY }; // a text is not UTF-8; no memory for the answer

// run_texts runs all texts: RUN_OK, RUN_STOPPED, RUN_FAILED, RUN_INVALID or what use gave.
int run_texts(run *r);
// run_failed makes the error frame of a state other than RUN_OK.
u64 run_failed(int state);

#ifdef GENERAL
// rotary.c, which stands in for what bert.c does up to the states of the last layer, and in vectors.c what becomes of them.
u64 open_rotary(const char *json, u32 n);
u32 read_rotary(mneme_text text, int query, u32 *ids, u32 *cut);
int run_rotary(u32 texts);
// open_norm reads NAME.weight and NAME.bias, either of which may be absent.
int open_norm(norm *l, const char *name, u32 n);
// attend_pack computes the attention of a pack's texts, whose queries, keys and values are in m.up, into m.y.
void attend_pack(const attention_shape *a, u32 texts);
u64 open_vectors(const char *json, u32 n);
int use_vectors(run *r, u32 i, u32 count);
char *put_text(char *o, const char *s);
char *put_number(char *o, u32 v);
int open_prefix(const char *json, u32 n, const char *key, int query);
#endif

// Each task's part of mneme_open and its operation. open_* give an error frame or 0.
u64 open_sparse(const char *json, u32 n);
u64 open_rerank(const char *json, u32 n);
u64 sparse(const mneme_text *texts, u32 rows, int query);
u64 rerank(const mneme_text *texts, u32 rows, int query);
#endif
