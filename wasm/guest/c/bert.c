// A BERT-family text encoder (Devlin et al. 2018, arXiv:1810.04805) over packed
// int8 weights: word, position and type embeddings, layers of self-attention and
// feed-forward, then what the task makes of the states: a pooled vector here,
// term weights in sparse.c, a probability in rerank.c.
//
// Texts of one call are laid end to end, each attending to itself alone, so no
// work goes into padding and an answer doesn't depend on the batch it came in.
#define MNEME_IMPLEMENTATION
#ifdef HOSTED
#define MNEME_ABI_MINOR 3u // since there are tokenizers
#else
#define MNEME_ABI_MINOR 1u // it uses nothing later
#endif
#include "bert.h"

enum { MAX_PREFIX = 512 };  // bytes, and so word pieces

model m;

void *reserve(u64 count, u32 size) { return count * size > 0xFFFF0000u ? 0 : mneme_alloc((u32)count * size); }

int same(const char *text, u32 n, const char *word) {
	u32 i = 0;
	while (i < n && word[i] && text[i] == word[i]) i++;
	return i == n && !word[i];
}

#ifdef GENERAL
#define SHARED // with rotary.c
#define DIMENSIONS m.dimensions
#else
#define SHARED static
#define DIMENSIONS m.hidden
#endif

SHARED char *put_text(char *o, const char *s) {
	while (*s) *o++ = *s++;
	return o;
}

SHARED char *put_number(char *o, u32 v) {
	char digits[10];
	u32 n = 0;
	do digits[n++] = (char)('0' + v % 10); while (v /= 10);
	while (n) *o++ = digits[--n];
	return o;
}

u64 MNEME_EXPORT(mneme_describe)(void) {
	static const char *const names[] = {"embedding", "sparse", "rerank"};
	char *text = mneme_alloc(256);
	if (!text) return 0;
	char *o = put_text(text, "{\"name\":\"bert-encoder\",\"version\":\"1.1\",\"licence\":\"Apache-2.0\",\"tasks\":[{\"task\":\"");
	o = put_text(put_text(o, names[m.task]), "\"");
	if (m.ready) {
		o = put_number(put_text(o, ",\"max_tokens\":"), m.max_tokens);
		if (m.task == TASK_SPARSE) o = put_number(put_text(o, ",\"vocab\":"), m.vocab);
		if (m.task == TASK_EMBED) {
			o = put_number(put_text(o, ",\"dim\":"), DIMENSIONS);
			o = put_text(o, m.normalize ? ",\"normalized\":true" : ",\"normalized\":false");
		}
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

int config_option(const char *json, u32 n, const char *key, u32 low, u32 high, u32 *out) {
	const char *raw;
	u32 len;
	return !mneme_json_raw(json, n, key, &raw, &len) || config_number(json, n, key, low, high, out);
}

int config_number(const char *json, u32 n, const char *key, u32 low, u32 high, u32 *out) {
	double v;
	if (!mneme_json_number(json, n, key, &v) || !(v >= low && v <= high)) return 0;
	*out = (u32)v;
	return *out == v;
}

#ifdef HOSTED
SHARED int open_prefix(const char *json, u32 n, const char *key, int query) {
	char *text = mneme_alloc(MAX_PREFIX);
	u32 bytes;
	if (!text || !mneme_json_string(json, n, key, text, MAX_PREFIX, &bytes)) return 0;
	m.before[query] = (mneme_text){(const u8 *)text, bytes};
	return 1;
}

// open_bias loads the bias of attention, where there is one.
static int open_bias(void) {
	u32 room = 4 * m.heads * (2 * BIAS_REACH + 1);
	u64 bytes = mneme_asset_size("attention.bias", 14);
	return bytes == ~0ull || (bytes == room && (attention_bias = load_tensor("attention.bias", room)));
}
#else
static int open_prefix(const char *json, u32 n, const char *key, int query) {
	char text[MAX_PREFIX];
	u32 bytes;
	if (!mneme_json_string(json, n, key, text, sizeof text, &bytes) || !(m.prefix[query] = mneme_alloc(4 * MAX_PREFIX))) return 0;
	u32 room = m.max_tokens - 2 < MAX_PREFIX ? m.max_tokens - 2 : MAX_PREFIX;
	m.prefix_len[query] = tokenize(&m.words, (mneme_text){(const u8 *)text, bytes}, m.prefix[query], room);
	return m.prefix_len[query] != TOKENIZE_INVALID;
}
#endif

static int open_task(const char *json, u32 n) {
	char name[16];
	const char *raw;
	u32 len;
	m.task = TASK_EMBED;
	if (!mneme_json_raw(json, n, "task", &raw, &len)) return 1;
	if (!mneme_json_string(json, n, "task", name, sizeof name, &len)) return 0;
	if (same(name, len, "sparse")) m.task = TASK_SPARSE;
	else if (same(name, len, "rerank")) m.task = TASK_RERANK;
	else return len == 0 || same(name, len, "embedding");
	return 1;
}

u64 MNEME_EXPORT(mneme_open)(const char *json, u32 n) {
	if (m.ready) return mneme_fail(MNEME_INVALID, "open: already open");
	double epsilon;
	char pooling[16];
	u32 len;
	const char *raw;
	if (!open_task(json, n)) return mneme_fail(MNEME_UNSUPPORTED, "open: task must be embedding, sparse or rerank");
#ifdef GENERAL
	char architecture[16];
	m.rotary = mneme_json_string(json, n, "architecture", architecture, sizeof architecture, &len) && same(architecture, len, "rotary");
	if (m.rotary) return open_rotary(json, n);
#endif
	if (!config_number(json, n, "hidden", 16, 4096, &m.hidden) || !config_number(json, n, "layers", 1, 64, &m.layers) ||
		!config_number(json, n, "heads", 1, 64, &m.heads) || !config_number(json, n, "intermediate", 16, 16384, &m.intermediate) ||
		!config_number(json, n, "vocab", 5, 1 << 20, &m.vocab) || !config_number(json, n, "positions", 8, 8192, &m.positions) ||
		!config_number(json, n, "max_tokens", 8, m.positions, &m.max_tokens) || !config_number(json, n, "pad_id", 0, m.vocab - 1, &m.words.pad) ||
		!config_number(json, n, "unk_id", 0, m.vocab - 1, &m.words.unk) || !config_number(json, n, "cls_id", 0, m.vocab - 1, &m.words.cls) ||
		!config_number(json, n, "sep_id", 0, m.vocab - 1, &m.words.sep) || !config_number(json, n, "mask_id", 0, m.vocab - 1, &m.words.mask_id))
		return mneme_fail(MNEME_INVALID, "open: a number of the configuration is missing or out of range");
	if (!mneme_json_number(json, n, "epsilon", &epsilon) || !(epsilon > 0 && epsilon < 1)) return mneme_fail(MNEME_INVALID, "open: epsilon is missing or out of range");
	if (m.hidden % 16 || m.intermediate % 16 || m.hidden % m.heads || m.hidden / m.heads % 8 || m.hidden / m.heads > 256)
		return mneme_fail(MNEME_UNSUPPORTED, "open: widths must be multiples of 16, heads of 8 and at most 256");
	if (!mneme_json_string(json, n, "pooling", pooling, sizeof pooling, &len)) return mneme_fail(MNEME_INVALID, "open: pooling is missing");
	m.cls_pooling = same(pooling, len, "cls");
	if (!m.cls_pooling && !same(pooling, len, "mean")) return mneme_fail(MNEME_UNSUPPORTED, "open: pooling must be mean or cls");
	m.normalize = mneme_json_raw(json, n, "normalize", &raw, &len) && len >= 4 && raw[0] == 't';
	m.epsilon = (f32)epsilon;
	m.first_only = m.task == TASK_EMBED && m.cls_pooling;
	if (m.task == TASK_RERANK && !config_option(json, n, "late_layer", 0, m.layers, &m.late_layer))
		return mneme_fail(MNEME_INVALID, "open: late_layer is out of range");
	if (m.late_layer) m.layers = m.late_layer; // those above are neither loaded nor run

	m.capacity = m.max_tokens > PACK_TOKENS ? m.max_tokens : PACK_TOKENS;
	u32 wide = 3 * m.hidden > m.intermediate ? 3 * m.hidden : m.intermediate, head = m.hidden / m.heads;
#ifndef HOSTED
	u64 vocab_bytes = mneme_asset_size("vocab", 5);
#endif
	m.layer = reserve(m.layers, sizeof(layer));
	m.ids = reserve(m.capacity + m.max_tokens + 1, 4); // a pack and the text that may not fit it
	m.lens = reserve(m.capacity, 4);
	m.first = reserve(m.capacity, 4);
	m.x = reserve((u64)m.capacity * m.hidden, 4);
	m.y = reserve((u64)m.capacity * m.hidden, 4);
	m.up = reserve((u64)m.capacity * wide, 4);
	m.row = reserve(m.hidden, 1);
	m.pooled = reserve(m.hidden, 4);
	if (!m.layer || !m.ids || !m.lens || !m.first || !m.x || !m.y || !m.up || !m.row || !m.pooled ||
		!workspace_open(m.intermediate > m.hidden ? m.intermediate : m.hidden, m.max_tokens, head))
		return mneme_fail(MNEME_NO_MEMORY, "open: not enough memory for the working buffers");
#ifdef HOSTED
	m.separators = 1;
	if (!tokenizer_open(&m.words)) return mneme_fail(MNEME_INVALID, "open: the tokenizer is missing or not supported; the log says why");
	if (!config_option(json, n, "separators", 1, 2, &m.separators)) return mneme_fail(MNEME_INVALID, "open: separators is out of range");
	if (!open_bias()) return mneme_fail(MNEME_INVALID, "open: attention.bias is of another size, or does not fit the memory");
#else
	u8 *vocab = vocab_bytes <= 64 << 20 ? load_tensor("vocab", (u32)vocab_bytes) : 0;
	if (!vocab || !tokenizer_open(&m.words, vocab, (u32)vocab_bytes, m.vocab)) return mneme_fail(MNEME_INVALID, "open: the vocabulary is missing or of another size");
#endif
	if (!open_prefix(json, n, "passage_prefix", 0) || !open_prefix(json, n, "query_prefix", 1))
		return mneme_fail(MNEME_INVALID, "open: a prefix is missing, malformed or longer than 508 bytes");
	if (mneme_asset_size("embeddings.word.weight", 22) != (u64)m.vocab * m.hidden || !(m.word_scale = load_tensor("embeddings.word.scale", 4 * m.vocab)) ||
		!(m.position = load_tensor("embeddings.position", 4 * m.positions * m.hidden)) || !(m.type = load_tensor("embeddings.type", 8 * m.hidden)) ||
		!(m.norm_w = load_tensor("embeddings.norm.weight", 4 * m.hidden)) || !(m.norm_b = load_tensor("embeddings.norm.bias", 4 * m.hidden)))
		return mneme_fail(MNEME_INVALID, "open: an embedding table is missing, of another size, or does not fit the memory");
	for (u32 i = 0; i < m.layers; i++)
		if (!open_layer(i)) return mneme_fail(MNEME_INVALID, "open: a layer's tensor is missing, of another size, or does not fit the memory");
#ifdef GENERAL
	u64 unread = open_vectors(json, n);
	if (unread) return unread;
#endif
	u64 failed = m.task == TASK_SPARSE ? open_sparse(json, n) : m.task == TASK_RERANK ? open_rerank(json, n) : 0;
	if (failed) return failed;
	m.ready = 1;
	return mneme_finish(mneme_new(MNEME_TEXT, 0, 0, 0, 0, 0));
}

u32 read_text(mneme_text text, int query, u32 *ids, u32 *cut) {
#ifdef GENERAL
	if (m.rotary) return read_rotary(text, query, ids, cut);
#endif
	u32 n = 1 + m.prefix_len[query], room = m.max_tokens - 1 - n, got;
	ids[0] = m.words.cls;
	__builtin_memcpy(ids + 1, m.prefix[query], 4 * m.prefix_len[query]);
	got = READ(query, text, ids + n, room + 1);
	if (UNREAD(got)) return got;
	*cut = got > room;
	n += got - *cut;
	ids[n++] = m.words.sep;
	return n;
}

// keep_first moves the first row of each text to the front.
static void keep_first(f32 *x, u32 texts) {
	for (u32 i = 0, row = 0; i < texts; row += m.lens[i++]) __builtin_memmove(x + (size_t)i * m.hidden, x + (size_t)row * m.hidden, 4 * m.hidden);
}

#ifdef GENERAL
void attend_pack(const attention_shape *a, u32 texts) {
	u32 width = a->heads * a->dim, stride = width + 2 * a->groups * a->dim, first = m.keys != 0, rows = first ? m.lens[0] : 0;
	if (first) attend_first(a, m.up, rows, m.keys, m.y);
	attend_all(a, m.up + (size_t)rows * stride, m.lens + first, texts - first, m.y + (size_t)rows * width);
}
#endif

// run_pack takes the pack's texts through the layers; the states are left in m.x.
static int run_pack(u32 texts) {
	u32 h = m.hidden, rows = 0;
	for (u32 i = 0; i < texts; i++)
		for (u32 p = 0; p < m.lens[i]; p++, rows++) {
			u32 id = m.ids[rows];
			if (mneme_asset_read("embeddings.word.weight", 22, (u64)id * h, m.row, h) != 0) return RUN_FAILED;
			f32 scale = m.word_scale[id], *x = m.x + (size_t)rows * h;
			const f32 *at = m.position + (size_t)p * h, *type = p < m.first[i] ? m.type : m.type + h;
			for (u32 c = 0; c < h; c++) x[c] = (f32)m.row[c] * scale + at[c] + type[c];
		}
	add_norm(m.x, 0, rows, h, m.norm_w, m.norm_b, m.epsilon);
	for (u32 i = 0; i < m.layers; i++) {
		const layer *l = &m.layer[i];
		if (mneme_poll()) return RUN_STOPPED;
		int state;
		if ((state = linear_run(&l->qkv, m.x, rows, m.up, ACT_NONE)) != RUN_OK) return state;
#ifdef GENERAL
		attend_pack(&(attention_shape){m.heads, m.heads, h / m.heads, 0, 0}, texts);
#else
		attention(m.up, m.lens, texts, m.heads, h / m.heads, m.y);
#endif
		if (m.first_only && i + 1 == m.layers) { // nobody looks at the other rows any more
			keep_first(m.x, texts);
			keep_first(m.y, texts);
			rows = texts;
		}
		if ((state = linear_run(&l->attention, m.y, rows, m.up, ACT_NONE)) != RUN_OK) return state;
		add_norm(m.x, m.up, rows, h, l->attention_w, l->attention_b, m.epsilon);
		if ((state = linear_run(&l->up, m.x, rows, m.up, ACT_GELU)) != RUN_OK || (state = linear_run(&l->down, m.up, rows, m.y, ACT_NONE)) != RUN_OK) return state;
		add_norm(m.x, m.y, rows, h, l->norm_w, l->norm_b, m.epsilon);
	}
	return RUN_OK;
}

static int run_and_use(run *r, u32 first, u32 end) {
#ifdef GENERAL
	int state = m.rotary ? run_rotary(end - first) : run_pack(end - first);
#else
	int state = run_pack(end - first);
#endif
	return state == RUN_OK ? r->use(r, first, end - first) : state;
}

int run_texts(run *r) {
	u32 used = 0, first = 0; // tokens and first text of the pack
	for (u32 i = 0; i < r->rows; i++) {
		u32 *ids = m.ids + used, cut = 0, zero = 0, n = r->read(r, i, ids, &zero, &cut);
		if (UNREAD(n)) return UNREAD_STATE(n);
		if (used && used + n > PACK_TOKENS) { // comes behind the pack, not into it
			int state = run_and_use(r, first, i);
			if (state != RUN_OK) return state;
			__builtin_memmove(m.ids, ids, 4 * n);
			first = i;
			used = 0;
		}
		m.lens[i - first] = n;
		m.first[i - first] = zero;
		if (r->counts) r->counts[i] = n;
		if (r->cut) r->cut[i] = cut;
		used += n;
	}
	return used ? run_and_use(r, first, r->rows) : RUN_OK;
}

u64 run_failed(int state) {
	switch (state) {
	case RUN_MEMORY: return mneme_fail(MNEME_NO_MEMORY, "no memory for the result");
	case RUN_STOPPED: return mneme_fail(MNEME_STOPPED, "the host asked to stop");
	case RUN_INVALID: return mneme_fail(MNEME_INVALID, "a text is not valid UTF-8");
	default: return mneme_fail(MNEME_INTERNAL, "a tensor operation failed");
	}
}

u32 rows_of(u32 text) { return m.first_only ? 1 : m.lens[text]; }

u32 read_single(run *r, u32 i, u32 *ids, u32 *first, u32 *cut) {
	u32 n = read_text(r->texts[i], r->query, ids, cut);
	*first = n;
	return n;
}

void pool(const f32 *x, u32 tokens, int normalize, f32 *out) {
	u32 h = m.hidden, count = m.cls_pooling ? 1 : tokens;
	for (u32 c = 0; c < h; c++) m.pooled[c] = 0;
	for (u32 p = 0; p < count; p++)
		for (u32 c = 0; c < h; c++) m.pooled[c] += x[(size_t)p * h + c];
	f32 scale = 1.0f / (f32)count;
	if (normalize) {
		f32 sum = 0;
		for (u32 c = 0; c < h; c++) sum += m.pooled[c] * m.pooled[c];
		scale = sum > 0 ? 1 / __builtin_sqrtf(sum) : 0;
	}
	for (u32 c = 0; c < h; c++) out[c] = m.pooled[c] * scale;
}

#ifndef GENERAL
static int use_vectors(run *r, u32 i, u32 count) {
	f32 *out = r->out;
	const f32 *x = m.x;
	for (u32 j = 0; j < count; x += (size_t)rows_of(j++) * m.hidden) pool(x, m.lens[j], m.normalize, out + (size_t)(i + j) * m.hidden);
	return RUN_OK;
}
#endif

static u64 embed(const mneme_text *texts, u32 rows, int query) {
	mneme_result *result = mneme_new(MNEME_DENSE, rows, DIMENSIONS, 0, (u64)rows * DIMENSIONS * 4, 1);
	if (!result) return mneme_fail(MNEME_NO_MEMORY, "embed: no memory for the result");
	run r = {.texts = texts, .rows = rows, .query = query, .counts = (u32 *)((u8 *)result + result->tokens_off), .read = read_single, .use = use_vectors, .out = result + 1};
	int state = run_texts(&r);
	if (state == RUN_OK) return mneme_finish(result);
	mneme_free(result, result->total);
	return run_failed(state);
}

// serve reads the request and runs the operation when this model has the task.
static u64 serve(const void *p, u32 n, task which, u64 (*operation)(const mneme_text *, u32, int)) {
	mneme_text *texts;
	u32 rows, flags;
	if (!m.ready) return mneme_fail(MNEME_INTERNAL, "not open");
	if (m.task != which) return mneme_fail(MNEME_UNSUPPORTED, "this model is for another task");
	u64 out = mneme_frame(p, n, &texts, &rows, &flags);
	if (out) return out;
	out = operation(texts, rows, flags & MNEME_QUERY);
	mneme_free(texts, rows * sizeof *texts);
	return out;
}

u64 MNEME_EXPORT(mneme_embed)(const void *p, u32 n) { return serve(p, n, TASK_EMBED, embed); }
u64 MNEME_EXPORT(mneme_sparse)(const void *p, u32 n) { return serve(p, n, TASK_SPARSE, sparse); }
u64 MNEME_EXPORT(mneme_rerank)(const void *p, u32 n) { return serve(p, n, TASK_RERANK, rerank); }

// mneme_tokens counts the word pieces of each text: no prefix, no special tokens, no cut.
u64 MNEME_EXPORT(mneme_tokens)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags;
	if (!m.ready) return mneme_fail(MNEME_INTERNAL, "tokens: not open");
	u64 failed = mneme_frame(p, n, &texts, &rows, &flags);
	if (failed) return failed;
	mneme_result *r = mneme_new(MNEME_COUNTS, rows, 0, 0, 4ull * rows, 0);
	for (u32 i = 0; r && i < rows; i++) {
		u32 count = ALONE(texts[i], 0, TOKENIZE_INVALID - 1);
		if (UNREAD(count)) {
			mneme_free(r, r->total);
			mneme_free(texts, rows * sizeof *texts);
			return UNREAD_FRAME(count, "tokens: a text is not valid UTF-8");
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
		u32 cut, count = read_text(texts[i], flags & MNEME_QUERY, m.ids, &cut);
		if (UNREAD(count)) {
			mneme_free(texts, rows * sizeof *texts);
			return UNREAD_FRAME(count, "ids: a text is not valid UTF-8");
		}
		total += count;
	}
	mneme_result *r = mneme_new(MNEME_IDS, rows, 0, total, 4ull * (rows + 1) + 4ull * total, 0);
	if (r) {
		u32 *offsets = (u32 *)(r + 1), *ids = offsets + rows + 1;
		offsets[0] = 0;
		for (u32 i = 0; i < rows; i++) {
			u32 cut, count = read_text(texts[i], flags & MNEME_QUERY, m.ids, &cut);
			__builtin_memcpy(ids + offsets[i], m.ids, 4 * count);
			offsets[i + 1] = offsets[i] + count;
		}
	}
	mneme_free(texts, rows * sizeof *texts);
	return r ? mneme_finish(r) : mneme_fail(MNEME_NO_MEMORY, "ids: no memory for the result");
}
