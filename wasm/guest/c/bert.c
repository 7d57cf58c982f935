// A BERT-family text encoder (Devlin et al. 2018, arXiv:1810.04805) over packed
// int8 weights: word, position and type embeddings, layers of self-attention and
// feed-forward, mean or CLS pooling, unit length.
//
// Texts of one call are laid end to end, each attending to itself alone, so no
// work goes into padding and a vector doesn't depend on the batch it came in.
#define MNEME_IMPLEMENTATION
#include "mneme.h"
#include "tensor.h"
#include "tokenizer.h"

enum { PACK_TOKENS = 256 }; // tokens that go through the layers together

typedef struct {
	linear qkv, attention, up, down;
	f32 *attention_w, *attention_b, *norm_w, *norm_b;
} layer;

static struct {
	int ready;
	u32 hidden, layers, heads, intermediate, vocab, positions, max_tokens, cls_pooling, normalize;
	f32 epsilon;
	char prefix[2][512]; // passage, query
	u32 prefix_len[2];
	tokenizer words;
	f32 *word_scale, *position, *type, *norm_w, *norm_b;
	layer *layer;
	// Working memory for one pack of texts.
	u32 capacity;        // tokens
	u32 *ids, *lens;     // of the pack, end to end; tokens of each text
	f32 *x, *y, *up;     // states; attention output and layer results; widest results
	i8 *row;             // one word embedding
	f32 *pooled;         // one vector
} m;

static void *reserve(u64 count, u32 size) { return count * size > 0xFFFF0000u ? 0 : mneme_alloc((u32)count * size); }

static char *put_text(char *o, const char *s) {
	while (*s) *o++ = *s++;
	return o;
}

static char *put_number(char *o, u32 v) {
	char digits[10];
	u32 n = 0;
	do digits[n++] = (char)('0' + v % 10); while (v /= 10);
	while (n) *o++ = digits[--n];
	return o;
}

u64 MNEME_EXPORT(mneme_describe)(void) {
	char *text = mneme_alloc(256);
	if (!text) return 0;
	char *o = put_text(text, "{\"name\":\"bert-encoder\",\"version\":\"1.0\",\"licence\":\"Apache-2.0\",\"tasks\":[{\"task\":\"embedding\"");
	if (m.ready) {
		o = put_number(put_text(o, ",\"dim\":"), m.hidden);
		o = put_number(put_text(o, ",\"max_tokens\":"), m.max_tokens);
		o = put_text(o, m.normalize ? ",\"normalized\":true" : ",\"normalized\":false");
	}
	o = put_text(o, "}]}");
	return MNEME_PACK(text, o - text);
}

static char *tensor_name(char *out, u32 layer, const char *part) {
	char *o = put_number(put_text(out, "layer."), layer);
	*o++ = '.';
	*put_text(o, part) = 0;
	return out;
}

static int open_layer(u32 i) {
	layer *l = &m.layer[i];
	char name[64];
	u32 bytes = 4 * m.hidden;
	return linear_open(&l->qkv, tensor_name(name, i, "qkv"), 3 * m.hidden, m.hidden) &&
		linear_open(&l->attention, tensor_name(name, i, "attention"), m.hidden, m.hidden) &&
		linear_open(&l->up, tensor_name(name, i, "up"), m.intermediate, m.hidden) &&
		linear_open(&l->down, tensor_name(name, i, "down"), m.hidden, m.intermediate) &&
		(l->attention_w = load_tensor(tensor_name(name, i, "attention.norm.weight"), bytes)) &&
		(l->attention_b = load_tensor(tensor_name(name, i, "attention.norm.bias"), bytes)) &&
		(l->norm_w = load_tensor(tensor_name(name, i, "norm.weight"), bytes)) &&
		(l->norm_b = load_tensor(tensor_name(name, i, "norm.bias"), bytes));
}

static int number(const char *json, u32 n, const char *key, u32 low, u32 high, u32 *out) {
	double v;
	if (!mneme_json_number(json, n, key, &v) || !(v >= low && v <= high)) return 0;
	*out = (u32)v;
	return *out == v;
}

u64 MNEME_EXPORT(mneme_open)(const char *json, u32 n) {
	if (m.ready) return mneme_fail(MNEME_INVALID, "open: already open");
	double epsilon;
	char pooling[16];
	u32 len;
	const char *raw;
	if (!number(json, n, "hidden", 16, 4096, &m.hidden) || !number(json, n, "layers", 1, 64, &m.layers) || !number(json, n, "heads", 1, 64, &m.heads) ||
		!number(json, n, "intermediate", 16, 16384, &m.intermediate) || !number(json, n, "vocab", 5, 1 << 20, &m.vocab) ||
		!number(json, n, "positions", 8, 8192, &m.positions) || !number(json, n, "max_tokens", 8, m.positions, &m.max_tokens) ||
		!number(json, n, "pad_id", 0, m.vocab - 1, &m.words.pad) || !number(json, n, "unk_id", 0, m.vocab - 1, &m.words.unk) ||
		!number(json, n, "cls_id", 0, m.vocab - 1, &m.words.cls) || !number(json, n, "sep_id", 0, m.vocab - 1, &m.words.sep) ||
		!number(json, n, "mask_id", 0, m.vocab - 1, &m.words.mask_id))
		return mneme_fail(MNEME_INVALID, "open: a number of the configuration is missing or out of range");
	if (!mneme_json_number(json, n, "epsilon", &epsilon) || !(epsilon > 0 && epsilon < 1)) return mneme_fail(MNEME_INVALID, "open: epsilon is missing or out of range");
	if (m.hidden % 16 || m.intermediate % 16 || m.hidden % m.heads || m.hidden / m.heads % 8 || m.hidden / m.heads > 256)
		return mneme_fail(MNEME_UNSUPPORTED, "open: widths must be multiples of 16, heads of 8 and at most 256");
	if (!mneme_json_string(json, n, "pooling", pooling, sizeof pooling, &len)) return mneme_fail(MNEME_INVALID, "open: pooling is missing");
	m.cls_pooling = len == 3 && pooling[0] == 'c' && pooling[1] == 'l' && pooling[2] == 's';
	if (!m.cls_pooling && !(len == 4 && pooling[0] == 'm' && pooling[1] == 'e' && pooling[2] == 'a' && pooling[3] == 'n'))
		return mneme_fail(MNEME_UNSUPPORTED, "open: pooling must be mean or cls");
	if (!mneme_json_string(json, n, "passage_prefix", m.prefix[0], sizeof m.prefix[0], &m.prefix_len[0]) ||
		!mneme_json_string(json, n, "query_prefix", m.prefix[1], sizeof m.prefix[1], &m.prefix_len[1]))
		return mneme_fail(MNEME_INVALID, "open: a prefix is missing, malformed or longer than 508 bytes");
	m.normalize = mneme_json_raw(json, n, "normalize", &raw, &len) && len >= 4 && raw[0] == 't';
	m.epsilon = (f32)epsilon;

	m.capacity = m.max_tokens > PACK_TOKENS ? m.max_tokens : PACK_TOKENS;
	u32 wide = 3 * m.hidden > m.intermediate ? 3 * m.hidden : m.intermediate, head = m.hidden / m.heads;
	u64 vocab_bytes = mneme_asset_size("vocab", 5);
	m.layer = reserve(m.layers, sizeof(layer));
	m.ids = reserve(m.capacity, 4);
	m.lens = reserve(m.capacity, 4);
	m.x = reserve((u64)m.capacity * m.hidden, 4);
	m.y = reserve((u64)m.capacity * m.hidden, 4);
	m.up = reserve((u64)m.capacity * wide, 4);
	m.row = reserve(m.hidden, 1);
	m.pooled = reserve(m.hidden, 4);
	if (!m.layer || !m.ids || !m.lens || !m.x || !m.y || !m.up || !m.row || !m.pooled ||
		!workspace_open(m.intermediate > m.hidden ? m.intermediate : m.hidden, m.max_tokens, head))
		return mneme_fail(MNEME_NO_MEMORY, "open: not enough memory for the working buffers");
	u8 *vocab = vocab_bytes <= 64 << 20 ? load_tensor("vocab", (u32)vocab_bytes) : 0;
	if (!vocab || !tokenizer_open(&m.words, vocab, (u32)vocab_bytes, m.vocab)) return mneme_fail(MNEME_INVALID, "open: the vocabulary is missing or of another size");
	if (mneme_asset_size("embeddings.word.weight", 22) != (u64)m.vocab * m.hidden || !(m.word_scale = load_tensor("embeddings.word.scale", 4 * m.vocab)) ||
		!(m.position = load_tensor("embeddings.position", 4 * m.positions * m.hidden)) || !(m.type = load_tensor("embeddings.type", 8 * m.hidden)) ||
		!(m.norm_w = load_tensor("embeddings.norm.weight", 4 * m.hidden)) || !(m.norm_b = load_tensor("embeddings.norm.bias", 4 * m.hidden)))
		return mneme_fail(MNEME_INVALID, "open: an embedding table is missing, of another size, or does not fit the memory");
	for (u32 i = 0; i < m.layers; i++)
		if (!open_layer(i)) return mneme_fail(MNEME_INVALID, "open: a layer's tensor is missing, of another size, or does not fit the memory");
	m.ready = 1;
	return mneme_finish(mneme_new(MNEME_TEXT, 0, 0, 0, 0, 0));
}

// read_text tokenizes one text as the model reads it: [CLS] prefix text [SEP], cut
// at the window. TOKENIZE_INVALID when it is not UTF-8.
static u32 read_text(mneme_text text, int query, u32 *ids) {
	u32 room = m.max_tokens - 1, n = 1, got;
	ids[0] = m.words.cls;
	n += tokenize(&m.words, (mneme_text){(const u8 *)m.prefix[query], m.prefix_len[query]}, ids + n, room - n);
	if ((got = tokenize(&m.words, text, ids + n, room - n)) == TOKENIZE_INVALID) return got;
	n += got;
	ids[n++] = m.words.sep;
	return n;
}

// run_pack takes the pack's texts through the layers; the states are left in m.x.
static int run_pack(u32 texts) {
	u32 h = m.hidden, rows = 0;
	for (u32 i = 0; i < texts; i++)
		for (u32 p = 0; p < m.lens[i]; p++, rows++) {
			u32 id = m.ids[rows];
			if (mneme_asset_read("embeddings.word.weight", 22, (u64)id * h, m.row, h) != 0) return RUN_FAILED;
			f32 scale = m.word_scale[id], *x = m.x + (size_t)rows * h;
			const f32 *at = m.position + (size_t)p * h;
			for (u32 c = 0; c < h; c++) x[c] = (f32)m.row[c] * scale + at[c] + m.type[c];
		}
	add_norm(m.x, 0, rows, h, m.norm_w, m.norm_b, m.epsilon);
	for (u32 i = 0; i < m.layers; i++) {
		const layer *l = &m.layer[i];
		if (mneme_poll()) return RUN_STOPPED;
		int state;
		if ((state = linear_run(&l->qkv, m.x, rows, m.up, ACT_NONE)) != RUN_OK) return state;
		attention(m.up, m.lens, texts, m.heads, h / m.heads, m.y);
		if ((state = linear_run(&l->attention, m.y, rows, m.up, ACT_NONE)) != RUN_OK) return state;
		add_norm(m.x, m.up, rows, h, l->attention_w, l->attention_b, m.epsilon);
		if ((state = linear_run(&l->up, m.x, rows, m.up, ACT_GELU)) != RUN_OK || (state = linear_run(&l->down, m.up, rows, m.y, ACT_NONE)) != RUN_OK) return state;
		add_norm(m.x, m.y, rows, h, l->norm_w, l->norm_b, m.epsilon);
	}
	return RUN_OK;
}

static void pool(const f32 *x, u32 tokens, f32 *out) {
	u32 h = m.hidden, count = m.cls_pooling ? 1 : tokens;
	for (u32 c = 0; c < h; c++) m.pooled[c] = 0;
	for (u32 p = 0; p < count; p++)
		for (u32 c = 0; c < h; c++) m.pooled[c] += x[(size_t)p * h + c];
	f32 scale = 1.0f / (f32)count;
	if (m.normalize) {
		f32 sum = 0;
		for (u32 c = 0; c < h; c++) sum += m.pooled[c] * m.pooled[c];
		scale = sum > 0 ? 1 / __builtin_sqrtf(sum) : 0;
	}
	for (u32 c = 0; c < h; c++) out[c] = m.pooled[c] * scale;
}

static u64 embed(const mneme_text *texts, u32 rows, int query) {
	mneme_result *r = mneme_new(MNEME_DENSE, rows, m.hidden, 0, (u64)rows * m.hidden * 4, 1);
	if (!r) return mneme_fail(MNEME_NO_MEMORY, "embed: no memory for the result");
	f32 *out = (f32 *)((u8 *)r + r->body_off);
	u32 *counts = (u32 *)((u8 *)r + r->tokens_off);
	u32 used = 0, first = 0; // tokens and first text of the pack
	for (u32 i = 0; i <= rows; i++) {
		u32 n = 0;
		if (i < rows) {
			// A text goes behind the pack when it surely fits, else after the pack has run.
			if (used + m.max_tokens <= m.capacity || used == 0) {
				n = read_text(texts[i], query, m.ids + used);
			} else {
				u32 need = tokenize(&m.words, texts[i], 0, m.max_tokens);
				if (need != TOKENIZE_INVALID && used + need + 2 + m.prefix_len[query] <= PACK_TOKENS) n = read_text(texts[i], query, m.ids + used);
			}
			if (n == TOKENIZE_INVALID) {
				mneme_free(r, r->total);
				return mneme_fail(MNEME_INVALID, "embed: a text is not valid UTF-8");
			}
		}
		if (n) {
			counts[i] = m.lens[i - first] = n;
			used += n;
			if (used < PACK_TOKENS && i + 1 < rows) continue;
		}
		u32 end = n ? i + 1 : i, row = 0;
		if (end > first) {
			int state = run_pack(end - first);
			if (state != RUN_OK) {
				mneme_free(r, r->total);
				return state == RUN_STOPPED ? mneme_fail(MNEME_STOPPED, "embed: the host asked to stop") : mneme_fail(MNEME_INTERNAL, "embed: a tensor operation failed");
			}
			for (u32 j = first; j < end; row += counts[j++]) pool(m.x + (size_t)row * m.hidden, counts[j], out + (size_t)j * m.hidden);
		}
		first = end;
		used = 0;
		if (!n && i < rows) i--; // comes again, now with the whole pack to itself
	}
	return mneme_finish(r);
}

u64 MNEME_EXPORT(mneme_embed)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags;
	if (!m.ready) return mneme_fail(MNEME_INTERNAL, "embed: not open");
	u64 failed = mneme_frame(p, n, &texts, &rows, &flags);
	if (failed) return failed;
	u64 out = embed(texts, rows, flags & MNEME_QUERY);
	mneme_free(texts, rows * sizeof *texts);
	return out;
}

// mneme_tokens counts the word pieces of each text: no prefix, no special tokens, no cut.
u64 MNEME_EXPORT(mneme_tokens)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags;
	if (!m.ready) return mneme_fail(MNEME_INTERNAL, "tokens: not open");
	u64 failed = mneme_frame(p, n, &texts, &rows, &flags);
	if (failed) return failed;
	mneme_result *r = mneme_new(MNEME_COUNTS, rows, 0, 0, 4ull * rows, 0);
	for (u32 i = 0; r && i < rows; i++) {
		u32 count = tokenize(&m.words, texts[i], 0, TOKENIZE_INVALID - 1);
		if (count == TOKENIZE_INVALID) {
			mneme_free(r, r->total);
			mneme_free(texts, rows * sizeof *texts);
			return mneme_fail(MNEME_INVALID, "tokens: a text is not valid UTF-8");
		}
		((u32 *)(r + 1))[i] = count;
	}
	mneme_free(texts, rows * sizeof *texts);
	return r ? mneme_finish(r) : mneme_fail(MNEME_NO_MEMORY, "tokens: no memory for the result");
}

// mneme_ids gives the word pieces of each text as the model reads it: prefix and
// special tokens included, cut at the window.
u64 MNEME_EXPORT(mneme_ids)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags, total = 0;
	if (!m.ready) return mneme_fail(MNEME_INTERNAL, "ids: not open");
	u64 out = mneme_frame(p, n, &texts, &rows, &flags);
	if (out) return out;
	for (u32 i = 0; i < rows; i++) {
		u32 count = read_text(texts[i], flags & MNEME_QUERY, m.ids);
		if (count == TOKENIZE_INVALID) {
			mneme_free(texts, rows * sizeof *texts);
			return mneme_fail(MNEME_INVALID, "ids: a text is not valid UTF-8");
		}
		total += count;
	}
	mneme_result *r = mneme_new(MNEME_IDS, rows, 0, total, 4ull * (rows + 1) + 4ull * total, 0);
	if (r) {
		u32 *offsets = (u32 *)(r + 1), *ids = offsets + rows + 1;
		offsets[0] = 0;
		for (u32 i = 0; i < rows; i++) {
			u32 count = read_text(texts[i], flags & MNEME_QUERY, m.ids);
			__builtin_memcpy(ids + offsets[i], m.ids, 4 * count);
			offsets[i + 1] = offsets[i] + count;
		}
	}
	mneme_free(texts, rows * sizeof *texts);
	return r ? mneme_finish(r) : mneme_fail(MNEME_NO_MEMORY, "ids: no memory for the result");
}
