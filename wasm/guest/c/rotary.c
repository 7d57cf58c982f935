// Encoders whose positions are rotary and whose feed-forward block is gated: ModernBERT (Warner et al. 2024,
// arXiv:2412.13663), Nomic's BERT (Nussbaum et al. 2024, arXiv:2402.01613), and decoders that embed, such as those
// of Qwen3 (arXiv:2506.05176) and Gemma 3 (arXiv:2509.20354). What tells them apart is in the configuration and in
// which norms the pack has; the packer folds constant factors into weights.
#include "bert.h"

enum { MAX_LAYERS = 64 };

typedef struct {
	linear qkv, attention, up, down;
	norm query, key;           // of each head
	norm attention_before, attention_after, attention_norm; // before the block, of what it adds, of the sum
	norm before, after, norm;  // of the feed-forward block, likewise
	int local;
} rotary_layer;

static struct {
	u32 head_dim, groups, reach, half, wide; // wide: values of a row of queries, keys and values
	int root, causal, last;    // last: the vector is the last state
	int no_cls, no_sep;        // nothing stands before a text, behind it
	gating gate;
	norm embeddings, final;
	f32 *type;                 // added to every word embedding; NULL: nothing
	f32 *turn[2];              // cosines and sines of each position: of global layers, of local ones
	rotary_layer *layer;
} r;

static char *part_name(char *out, u32 layer, const char *part) {
	char *o = put_number(put_text(out, "layer."), layer);
	*o++ = '.';
	*put_text(o, part) = 0;
	return out;
}

static char *suffixed(char *out, const char *name, const char *suffix) {
	*put_text(put_text(out, name), suffix) = 0;
	return out;
}

int open_norm(norm *l, const char *name, u32 n) {
	char full[96];
	*l = (norm){n, r.root, m.epsilon, 0, 0};
	suffixed(full, name, ".weight");
	if (mneme_asset_size(full, mneme_strlen(full)) == ~0ull) return 1;
	if (!(l->w = load_tensor(full, 4 * n))) return 0;
	suffixed(full, name, ".bias");
	return mneme_asset_size(full, mneme_strlen(full)) == ~0ull || (l->b = load_tensor(full, 4 * n));
}

static int open_rotary_layer(u32 i) {
	rotary_layer *l = &r.layer[i];
	char name[64];
	u32 h = m.hidden, all = m.heads * r.head_dim;
	return linear_open(&l->qkv, part_name(name, i, "qkv"), r.wide, h) && linear_open(&l->attention, part_name(name, i, "attention"), h, all) &&
		linear_open(&l->up, part_name(name, i, "up"), 2 * m.intermediate, h) && linear_open(&l->down, part_name(name, i, "down"), h, m.intermediate) &&
		open_norm(&l->query, part_name(name, i, "query.norm"), r.head_dim) && open_norm(&l->key, part_name(name, i, "key.norm"), r.head_dim) &&
		open_norm(&l->attention_before, part_name(name, i, "attention.before"), h) && open_norm(&l->attention_after, part_name(name, i, "attention.after"), h) &&
		open_norm(&l->attention_norm, part_name(name, i, "attention.norm"), h) && open_norm(&l->before, part_name(name, i, "before"), h) &&
		open_norm(&l->after, part_name(name, i, "after"), h) && open_norm(&l->norm, part_name(name, i, "norm"), h);
}

// open_turns computes cosines and sines from the frequencies that asset name holds.
static int open_turns(f32 **turn, const char *name) {
	u32 half = r.half;
	f32 *frequency = load_tensor(name, 4 * half), *o = *turn = reserve((u64)m.max_tokens * 2 * half, 4);
	if (!frequency || !o) return 0;
	for (u32 p = 0; p < m.max_tokens; p++, o += 2 * half)
		for (u32 i = 0; i < half; i++) o[i] = cosine_of((f32)p * frequency[i], o + half + i);
	return 1;
}

static int named(const char *json, u32 n, const char *key, const char *const *names, u32 count, u32 *out) {
	char text[16];
	u32 len;
	if (!mneme_json_string(json, n, key, text, sizeof text, &len)) return 0;
	for (*out = 0; *out < count; ++*out)
		if (same(text, len, names[*out])) return 1;
	return 0;
}

// open_special reads the id of a token that stands before or behind texts; -1: none does.
static int open_special(const char *json, u32 n, const char *key, u32 *id, int *none) {
	double v;
	*none = mneme_json_number(json, n, key, &v) && v == -1;
	return *none || config_number(json, n, key, 0, m.vocab - 1, id);
}

u64 open_rotary(const char *json, u32 n) {
	static const char *const norms[] = {"layer", "root"}, *const gates[] = {"gelu", "gelu_tanh", "silu"}, *const poolings[] = {"mean", "cls", "last"};
	char spans[MAX_LAYERS + 1];
	double epsilon;
	u32 root, gate, span, pooling, local = 0;
	if (!config_number(json, n, "hidden", 16, 4096, &m.hidden) || !config_number(json, n, "layers", 1, MAX_LAYERS, &m.layers) ||
		!config_number(json, n, "heads", 1, 64, &m.heads) || !config_number(json, n, "kv_heads", 1, m.heads, &r.groups) ||
		!config_number(json, n, "head_dim", 8, 256, &r.head_dim) || !config_number(json, n, "rotary_dim", 8, r.head_dim, &r.half) ||
		!config_number(json, n, "intermediate", 16, 16384, &m.intermediate) || !config_number(json, n, "vocab", 5, 1 << 20, &m.vocab) ||
		!config_number(json, n, "unk_id", 0, m.vocab - 1, &m.words.unk) || !config_number(json, n, "max_tokens", 8, 8192, &m.max_tokens) || !config_option(json, n, "reach", 1, 8192, &r.reach) ||
		!open_special(json, n, "cls_id", &m.words.cls, &r.no_cls) || !open_special(json, n, "sep_id", &m.words.sep, &r.no_sep) ||
		!mneme_json_number(json, n, "epsilon", &epsilon) || !(epsilon > 0 && epsilon < 1))
		return mneme_fail(MNEME_INVALID, "open: a number of the configuration is missing or out of range");
	if (r.no_cls && r.no_sep) return mneme_fail(MNEME_UNSUPPORTED, "open: a text needs a token before or behind it");
	if (m.task == TASK_RERANK && (r.no_cls || r.no_sep)) return mneme_fail(MNEME_UNSUPPORTED, "open: a pair needs tokens around its texts");
	m.separators = 1;
	if (!config_option(json, n, "separators", 1, 2, &m.separators)) return mneme_fail(MNEME_INVALID, "open: separators is out of range");
	u32 h = m.hidden, all = m.heads * r.head_dim;
	if (h % 16 || m.intermediate % 16 || r.head_dim % 8 || all % 16 || r.half % 8 || m.heads % r.groups)
		return mneme_fail(MNEME_UNSUPPORTED, "open: widths must be multiples of 16, heads of 8 and of those that share keys");
	if (!named(json, n, "norm", norms, 2, &root) || !named(json, n, "gate", gates, 3, &gate) || !named(json, n, "pooling", poolings, 3, &pooling))
		return mneme_fail(MNEME_UNSUPPORTED, "open: norm, gate or pooling is not known");
	if (!mneme_json_string(json, n, "spans", spans, sizeof spans, &span) || span != m.layers)
		return mneme_fail(MNEME_INVALID, "open: spans does not say of each layer how far it sees");
	m.epsilon = (f32)epsilon;
	r.half /= 2;
	r.root = (int)root, r.gate = (gating)gate;
	m.cls_pooling = pooling > 0;
	m.first_only = m.cls_pooling && m.task != TASK_SPARSE;
	r.last = pooling == 2;
	mneme_json_bool(json, n, "causal", &r.causal);
	int normalize = 0;
	mneme_json_bool(json, n, "normalize", &normalize);
	m.normalize = (u32)normalize;
	r.wide = all + 2 * r.groups * r.head_dim;

	m.capacity = m.max_tokens > PACK_TOKENS ? m.max_tokens : PACK_TOKENS;
	u32 widest = all > h ? all : h;
	u64 room = (u64)m.capacity * (r.wide > h ? r.wide : h), block = (u64)PACK_TOKENS * 2 * m.intermediate;
	r.layer = reserve(m.layers, sizeof *r.layer);
	m.ids = reserve(m.capacity + m.max_tokens + 1, 4); // a pack and the text that may not fit it
	m.lens = reserve(m.capacity, 4);
	m.first = reserve(m.capacity, 4);
	m.x = reserve((u64)m.capacity * h, 4);
	m.y = reserve((u64)m.capacity * widest, 4);
	m.up = reserve(room > block ? room : block, 4);
	m.row = reserve(h, 1);
	m.pooled = reserve(h, 4);
	if (!r.layer || !m.ids || !m.lens || !m.first || !m.x || !m.y || !m.up || !m.row || !m.pooled ||
		!workspace_open(m.intermediate > widest ? m.intermediate : widest, m.max_tokens, r.head_dim))
		return mneme_fail(MNEME_NO_MEMORY, "open: not enough memory for the working buffers");
	if (!tokenizer_open(&m.words)) return mneme_fail(MNEME_INVALID, "open: the tokenizer is missing or not supported; the log says why");
	if (!open_prefix(json, n, "passage_prefix", 0) || !open_prefix(json, n, "query_prefix", 1))
		return mneme_fail(MNEME_INVALID, "open: a prefix is missing, malformed or longer than 508 bytes");
	if (mneme_asset_size("embeddings.word.weight", 22) != (u64)m.vocab * h || !(m.word_scale = load_tensor("embeddings.word.scale", 4 * m.vocab)))
		return mneme_fail(MNEME_INVALID, "open: an embedding table is missing, of another size, or does not fit the memory");
	if (!open_norm(&r.embeddings, "embeddings.norm", h) || !open_norm(&r.final, "final.norm", h) ||
		(mneme_asset_size("embeddings.type", 15) != ~0ull && !(r.type = load_tensor("embeddings.type", 4 * h))))
		return mneme_fail(MNEME_INVALID, "open: a norm or the type embedding is of another size, or does not fit the memory");
	for (u32 i = 0; i < m.layers; i++) {
		if (spans[i] != 'g' && spans[i] != 'l') return mneme_fail(MNEME_INVALID, "open: spans has others than g and l");
		if (!open_rotary_layer(i)) return mneme_fail(MNEME_INVALID, "open: a layer's tensor is missing, of another size, or does not fit the memory");
		local += r.layer[i].local = spans[i] == 'l';
	}
	if ((m.layers > local && !open_turns(&r.turn[0], "rope.global")) || (local && !open_turns(&r.turn[1], "rope.local")))
		return mneme_fail(MNEME_INVALID, "open: the frequencies of the positions are missing, of another size, or do not fit the memory");
	u64 failed = m.task == TASK_SPARSE ? open_sparse(json, n) : m.task == TASK_RERANK ? open_rerank(json, n) : open_vectors(json, n);
	if (failed) return failed;
	m.ready = 1;
	return mneme_finish(mneme_new(MNEME_TEXT, 0, 0, 0, 0, 0));
}

u32 read_rotary(mneme_text text, int query, u32 *ids, u32 *cut) {
	u32 n = 0;
	if (!r.no_cls) ids[n++] = m.words.cls;
	u32 room = m.max_tokens - n - !r.no_sep, got = READ(query, text, ids + n, room + 1);
	if (UNREAD(got)) return got;
	*cut = got > room;
	n += got - *cut;
	if (!r.no_sep) ids[n++] = m.words.sep;
	return n;
}

// add_block adds what a block gave to x: normed where the layer norms that, or the sum.
static void add_block(f32 *x, f32 *y, u32 rows, const norm *after, const norm *sum) {
	u32 h = m.hidden;
	if (after->w) norm_rows(after, y, rows, h, y);
	add_rows(x, y, rows * h);
	if (sum->w) norm_rows(sum, x, rows, h, x);
}

static int feed(const rotary_layer *l, f32 *x, u32 rows) {
	u32 h = m.hidden;
	for (u32 first = 0; first < rows; first += PACK_TOKENS, x += (size_t)PACK_TOKENS * h) {
		u32 count = rows - first < PACK_TOKENS ? rows - first : PACK_TOKENS;
		int state;
		if (l->before.w) norm_rows(&l->before, x, count, h, m.y);
		if ((state = linear_run(&l->up, l->before.w ? m.y : x, count, m.up, ACT_NONE)) != RUN_OK) return state;
		gate_rows(m.up, count, m.intermediate, r.gate);
		if ((state = linear_run(&l->down, m.up, count, m.y, ACT_NONE)) != RUN_OK) return state;
		add_block(x, m.y, count, &l->after, &l->norm);
	}
	return RUN_OK;
}

// place norms and turns queries and keys of the texts.
static void place(const rotary_layer *l, f32 *qkv, u32 texts) {
	u32 dim = r.head_dim, heads = m.heads;
	for (u32 i = 0; i < texts; i++) {
		const f32 *turn = r.turn[l->local];
		for (u32 p = 0; p < m.lens[i]; p++, qkv += r.wide, turn += 2 * r.half) {
			if (l->query.w) norm_rows(&l->query, qkv, heads, dim, qkv);
			if (l->key.w) norm_rows(&l->key, qkv + heads * dim, r.groups, dim, qkv + heads * dim);
			rotate_row(qkv, heads + r.groups, dim, turn, r.half);
		}
	}
}

// keep_pooled moves the row of each text that its vector is made of to the front.
static void keep_pooled(f32 *x, u32 width, u32 texts) {
	for (u32 i = 0, row = 0; i < texts; row += m.lens[i++])
		__builtin_memmove(x + (size_t)i * width, x + (size_t)(row + (r.last ? m.lens[i] - 1 : 0)) * width, 4 * width);
}

int run_rotary(u32 texts) {
	u32 h = m.hidden, rows = 0;
	for (u32 i = 0; i < texts; i++)
		for (u32 p = 0; p < m.lens[i]; p++, rows++) {
			u32 id = m.ids[rows] < m.vocab ? m.ids[rows] : m.words.unk; // the tokenizer may know more
			if (mneme_asset_read("embeddings.word.weight", 22, (u64)id * h, m.row, h) != 0) return RUN_FAILED;
			f32 scale = m.word_scale[id], *x = m.x + (size_t)rows * h;
			for (u32 c = 0; c < h; c++) x[c] = (f32)m.row[c] * scale + (r.type ? r.type[c] : 0);
		}
	if (r.embeddings.w) norm_rows(&r.embeddings, m.x, rows, h, m.x);
	for (u32 i = 0; i < m.layers; i++) {
		const rotary_layer *l = &r.layer[i];
		attention_shape shape = {m.heads, r.groups, r.head_dim, l->local ? r.reach : 0, r.causal};
		int state;
		if (mneme_poll()) return RUN_STOPPED;
		if (l->attention_before.w) norm_rows(&l->attention_before, m.x, rows, h, m.y);
		if ((state = linear_run(&l->qkv, l->attention_before.w ? m.y : m.x, rows, m.up, ACT_NONE)) != RUN_OK) return state;
		place(l, m.up, texts);
		attend_pack(&shape, texts);
		if (m.first_only && i + 1 == m.layers) { // nobody looks at the other rows any more
			keep_pooled(m.x, h, texts);
			keep_pooled(m.y, m.heads * r.head_dim, texts);
			rows = texts;
		}
		if ((state = linear_run(&l->attention, m.y, rows, m.up, ACT_NONE)) != RUN_OK) return state;
		add_block(m.x, m.up, rows, &l->attention_after, &l->attention_norm);
		if ((state = feed(l, m.x, rows)) != RUN_OK) return state;
	}
	if (r.final.w) norm_rows(&r.final, m.x, rows, h, m.x);
	return RUN_OK;
}
