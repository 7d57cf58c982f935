// Reranking: the probability that a text answers the query. A cross-encoder reads
// query and text together and scores the pair by its first state (Nogueira and Cho
// 2019, arXiv:1901.04085) or, head "joint", by late interaction inside the joint
// encoding as well. Head "late" encodes them apart and compares projected states
// (MaxSim: Khattab and Zaharia 2020, arXiv:2004.12832), each piece of the query
// weighted by a learned softmax, and a projection of the mean states. Head "colbert" is
// that paper's own: each of the query's states counts alike.
#include "bert.h"

typedef enum { HEAD_POOLER, HEAD_PLAIN, HEAD_JOINT, HEAD_LATE, HEAD_COLBERT } head;

// Features of a late pair: weighted MaxSim, cosine of the topics, ln(1 + pieces of the text).
enum { MAXSIM, TOPIC, LENGTH, FEATURES };

static struct {
	head head;
	f32 scale, bias;                 // calibration: probability = sigmoid(scale * raw + bias)
	linear pooler, project, topic;   // of the first state; late: of the states, of their mean
#ifdef GENERAL
	int gelu;                        // behind the pooler stands GELU in place of tanh
	norm norm;                       // and a norm of that; no weights: none
	u32 mark[2], mask, window;       // colbert: tokens behind the first of a passage, a query, 0: none; of expansion; most of a query
	int expand, expanded;            // colbert: queries are filled up to the window; their other tokens see what fills them
	u32 *skip, skips;                // colbert: tokens of passages that are not compared
#endif
	f32 *weight, *offset, *maxsim;   // of the pair's first state; of the sum; of the late interaction
	f32 *term, *gate;                // late: log weight of each word piece, by its id and by its state
	f32 *weights;                    // of the features, then their bias
	f32 *best;                       // largest cosine of each piece of the query
	// The query of the call.
	u32 *ids, len, from, pieces;     // pair: word pieces with the prefix; its own from there on
	f32 *states, *mix, *vector;      // late: projected unit states of its own pieces; their weights; topic
} q;

// open_projection opens a linear layer as wide as its bias says: a multiple of 4, at
// most the states' width.
static int open_projection(linear *l, const char *name, const char *bias) {
	u64 bytes = mneme_asset_size(bias, mneme_strlen(bias));
	return bytes && bytes % 16 == 0 && bytes <= 4 * m.hidden && linear_open(l, name, (u32)bytes / 4, m.hidden);
}

#ifdef GENERAL
static u64 open_colbert(const char *json, u32 n) {
	u32 width;
	m.first_only = 0;
	if (!config_number(json, n, "dense", 4, m.hidden, &width) || width % 4 || !config_number(json, n, "mask_id", 0, m.vocab - 1, &q.mask) ||
		!config_number(json, n, "query_window", 4, m.max_tokens < MAX_KEYS ? m.max_tokens : MAX_KEYS, &q.window) ||
		!config_option(json, n, "passage_mark", 0, m.vocab - 1, &q.mark[0]) || !config_option(json, n, "query_mark", 0, m.vocab - 1, &q.mark[1]))
		return mneme_fail(MNEME_INVALID, "open: a number of head colbert is missing or out of range");
	mneme_json_bool(json, n, "expand", &q.expand);
	mneme_json_bool(json, n, "attend_expansion", &q.expanded);
	u64 bytes = mneme_asset_size("skip", 4);
	if (bytes != ~0ull) {
		if (bytes % 4 || bytes > 1 << 16) return mneme_fail(MNEME_INVALID, "open: the tokens that are not compared are too many");
		q.skips = (u32)bytes / 4;
		if (!(q.skip = load_tensor("skip", (u32)bytes))) return mneme_fail(MNEME_NO_MEMORY, "open: not enough memory for the tokens that are not compared");
	}
	if (!linear_open(&q.project, "dense", width, m.hidden)) return mneme_fail(MNEME_INVALID, "open: the projection is missing, of another size, or does not fit the memory");
	q.best = reserve(q.window, 4);
	q.states = reserve((u64)q.window * width, 4);
	if (!q.best || !q.states) return mneme_fail(MNEME_NO_MEMORY, "open: not enough memory for the query");
	return 0;
}
#endif

u64 open_rerank(const char *json, u32 n) {
	char name[16];
	const char *raw;
	u32 len;
	if (!mneme_json_string(json, n, "head", name, sizeof name, &len)) return mneme_fail(MNEME_INVALID, "open: head is missing");
	if (same(name, len, "pooler")) q.head = HEAD_POOLER;
	else if (same(name, len, "plain")) q.head = HEAD_PLAIN;
	else if (same(name, len, "joint")) q.head = HEAD_JOINT;
	else if (same(name, len, "late")) q.head = HEAD_LATE;
#ifdef GENERAL
	else if (same(name, len, "colbert")) q.head = HEAD_COLBERT;
#endif
	else return mneme_fail(MNEME_UNSUPPORTED, "open: head must be pooler, plain, joint or late");
#ifdef HOSTED
#ifdef GENERAL
	if (q.head != HEAD_COLBERT)
#endif
	if (q.head != HEAD_POOLER && q.head != HEAD_PLAIN) return mneme_fail(MNEME_UNSUPPORTED, "open: head must be pooler or plain where the host tokenizes");
#endif
#ifdef GENERAL
	if (!m.rotary) m.first_only = 1;
	q.gelu = mneme_json_string(json, n, "head_activation", name, sizeof name, &len) && same(name, len, "gelu");
#else
	m.first_only = q.head == HEAD_POOLER || q.head == HEAD_PLAIN;
#endif
	q.scale = 1;
	if (mneme_json_raw(json, n, "calibration", &raw, &len) && *raw == '{') {
		double scale, bias;
		if (!mneme_json_number(raw, len, "scale", &scale) || !mneme_json_number(raw, len, "bias", &bias))
			return mneme_fail(MNEME_INVALID, "open: calibration needs a scale and a bias");
		q.scale = (f32)scale, q.bias = (f32)bias;
	}
#ifdef GENERAL
	if (q.head == HEAD_COLBERT) return open_colbert(json, n);
#endif
	u32 window = m.max_tokens;
	int loaded, late = q.head == HEAD_LATE;
	if (late)
		loaded = open_projection(&q.project, "late.project", "late.project.bias") && open_projection(&q.topic, "late.topic", "late.topic.bias") &&
			(q.term = load_tensor("late.term", 4 * m.vocab)) && (q.gate = load_tensor("late.gate", 4 * m.hidden)) &&
			(q.weights = load_tensor("late.weights", 4 * (FEATURES + 1)));
	else
		loaded = (q.weight = load_tensor("head.weight", 4 * m.hidden)) && (q.offset = load_tensor("head.bias", 4)) &&
			(q.head != HEAD_JOINT || (q.maxsim = load_tensor("head.scale", 4))) && (q.head != HEAD_POOLER || linear_open(&q.pooler, "pooler", m.hidden, m.hidden));
#ifdef GENERAL
	if (q.head == HEAD_POOLER && m.rotary) loaded = loaded && open_norm(&q.norm, "head.norm", m.hidden);
#endif
	if (!loaded) return mneme_fail(MNEME_INVALID, "open: a tensor of the head is missing, of another size, or does not fit the memory");
	q.ids = reserve(window, 4);
	q.best = reserve(window, 4);
	q.mix = late ? reserve(window, 4) : 0;
	q.states = late ? reserve((u64)window * q.project.n, 4) : 0;
	q.vector = late ? reserve(q.topic.n, 4) : 0;
	if (!q.ids || !q.best || (late && (!q.mix || !q.states || !q.vector))) return mneme_fail(MNEME_NO_MEMORY, "open: not enough memory for the query");
	return 0;
}

// read_query tokenizes the query of a pair: at most half the window.
static int read_query(mneme_text text) {
	u32 prefix = m.prefix_len[1], half = m.max_tokens / 2, room = prefix < half ? half - prefix : 0;
	if (prefix > half) prefix = half;
	__builtin_memcpy(q.ids, m.prefix[1], 4 * prefix);
	q.from = prefix;
	q.pieces = READ(1, text, q.ids + prefix, room);
	if (UNREAD(q.pieces)) return 0;
	q.len = prefix + q.pieces;
	return 1;
}

// read_pair gives [CLS] query [SEP] text [SEP], the text cut to what is left.
static u32 read_pair(run *r, u32 i, u32 *ids, u32 *first, u32 *cut) {
	u32 n = 0, got, room, prefix = m.prefix_len[0];
	ids[n++] = m.words.cls;
	__builtin_memcpy(ids + n, q.ids, 4 * q.len);
	n += q.len;
	ids[n++] = m.words.sep;
#ifdef HOSTED
	if (m.separators > 1) ids[n++] = m.words.sep;
#endif
	*first = n;
	room = m.max_tokens - 1 - n;
	if (prefix > room) prefix = room;
	__builtin_memcpy(ids + n, m.prefix[0], 4 * prefix);
	n += prefix, room -= prefix;
	got = READ(0, r->texts[i], ids + n, room + 1);
	if (UNREAD(got)) return got;
	*cut = got > room;
	n += got - *cut;
	ids[n++] = m.words.sep;
	return n;
}

static void put_score(run *r, u32 i, f32 raw) { ((f32 *)r->out)[i] = sigmoid(q.scale * raw + q.bias); }

// mean_best is the mean over the query's pieces of their largest cosine to a piece
// of the text. Both are of unit length.
static f32 mean_best(const f32 *query, const f32 *text, u32 pieces) {
	if (q.pieces == 0 || pieces == 0) return 0;
	f32 sum = 0;
	max_dot(query, q.pieces, text, pieces, m.hidden, q.best);
	for (u32 i = 0; i < q.pieces; i++) sum += q.best[i];
	return sum / (f32)q.pieces;
}

static int use_pairs(run *r, u32 i, u32 count) {
	u32 h = m.hidden, row = 0;
#ifdef GENERAL
	const u32 act = q.gelu ? ACT_GELU : ACT_NONE;
	if (m.rotary)
		for (u32 j = 0; j < count; row += rows_of(j++)) pool(m.x + (size_t)row * h, m.lens[j], 0, m.y + (size_t)j * h);
	else
#else
	const u32 act = ACT_NONE;
#endif
	for (u32 j = 0; j < count; row += rows_of(j++)) __builtin_memcpy(m.y + (size_t)j * h, m.x + (size_t)row * h, 4 * h);
	if (q.head == HEAD_POOLER) {
		int state = linear_run(&q.pooler, m.y, count, m.up, act);
		if (state != RUN_OK) return state;
		if (act == ACT_NONE) tanh_all(m.up, count * h);
#ifdef GENERAL
		if (q.norm.w) norm_rows(&q.norm, m.up, count, h, m.up);
#endif
	}
	const f32 *first = q.head == HEAD_POOLER ? m.up : m.y;
	row = 0;
	for (u32 j = 0; j < count; row += rows_of(j++)) {
		f32 raw = dot(q.weight, first + (size_t)j * h, h) + *q.offset;
		if (q.head == HEAD_JOINT) {
			f32 *x = m.x + (size_t)row * h, *query = x + (size_t)(1 + q.from) * h, *text = x + (size_t)m.first[j] * h;
			u32 prefix = m.prefix_len[0], pieces = m.lens[j] - m.first[j] - 1;
			if (prefix > pieces) prefix = pieces;
			text += (size_t)prefix * h, pieces -= prefix;
			normalize_rows(query, q.pieces, h);
			normalize_rows(text, pieces, h);
			raw += *q.maxsim * mean_best(query, text, pieces);
		}
		put_score(r, i + j, raw);
	}
	return RUN_OK;
}

// read_apart gives the query as row 0, then the texts, each alone.
static u32 read_apart(run *r, u32 i, u32 *ids, u32 *first, u32 *cut) {
	u32 n = read_text(r->texts[i], i == 0, ids, cut);
	*first = n;
	return n;
}

// own tells how many of a text's tokens are its own, not prefix or special, and
// where they begin.
static u32 own(int query, u32 tokens, u32 *from) {
	*from = 1 + m.prefix_len[query];
	return tokens - 1 - *from;
}

// keep_query keeps the call's query: its word pieces, states, projected unit states and topic.
static void keep_query(const u32 *ids, const f32 *x, const f32 *projected, const f32 *topic, u32 tokens) {
	u32 from, k = q.project.n;
	q.pieces = own(1, tokens, &from);
	f32 top = -__builtin_inff(), sum = 0;
	for (u32 i = 0; i < q.pieces; i++) {
		q.mix[i] = q.term[ids[from + i]] + dot(q.gate, x + (size_t)(from + i) * m.hidden, m.hidden);
		if (q.mix[i] > top) top = q.mix[i];
	}
	for (u32 i = 0; i < q.pieces; i++) sum += q.mix[i] = exponential(q.mix[i] - top);
	for (u32 i = 0; i < q.pieces; i++) q.mix[i] /= sum;
	__builtin_memcpy(q.states, projected + (size_t)from * k, 4 * q.pieces * k);
	__builtin_memcpy(q.vector, topic, 4 * q.topic.n);
}

static int use_late(run *r, u32 i, u32 count) {
	u32 h = m.hidden, k = q.project.n, rows = 0, from;
	for (u32 j = 0; j < count; rows += m.lens[j++]) { // the mean of each text's own states
		f32 *mean = m.y + (size_t)j * h;
		u32 pieces = own(i + j == 0, m.lens[j], &from);
		__builtin_memset(mean, 0, 4 * h);
		for (u32 p = 0; p < pieces; p++)
			for (u32 c = 0; c < h; c++) mean[c] += m.x[(size_t)(rows + from + p) * h + c] * (1 / (f32)pieces);
	}
	// A text has two tokens or more, so half of each buffer is free.
	f32 *topics = m.y + (size_t)count * h;
	int state;
	if ((state = linear_run(&q.topic, m.y, count, topics, ACT_NONE)) != RUN_OK || (state = linear_run(&q.project, m.x, rows, m.up, ACT_NONE)) != RUN_OK) return state;
	normalize_rows(topics, count, q.topic.n);
	normalize_rows(m.up, rows, k);
	for (u32 j = 0, row = 0; j < count; row += m.lens[j++]) {
		const f32 *projected = m.up + (size_t)row * k, *topic = topics + (size_t)j * q.topic.n;
		if (i + j == 0) {
			keep_query(m.ids, m.x, projected, topic, m.lens[0]);
			continue;
		}
		if (mneme_poll()) return RUN_STOPPED;
		u32 pieces = own(0, m.lens[j], &from);
		f32 features[FEATURES] = {0, 0, log1p_((f32)pieces)}, raw = q.weights[FEATURES];
		if (pieces && q.pieces) {
			max_dot(q.states, q.pieces, projected + (size_t)from * k, pieces, k, q.best);
			for (u32 p = 0; p < q.pieces; p++) features[MAXSIM] += q.mix[p] * q.best[p];
			features[TOPIC] = dot(q.vector, topic, q.topic.n);
		}
		for (u32 f = 0; f < FEATURES; f++) raw += q.weights[f] * features[f];
		put_score(r, i + j, raw);
	}
	return RUN_OK;
}

#ifdef GENERAL
// read_marked gives the query as row 0, filled up where the model wants that, then the texts.
static u32 read_marked(run *r, u32 i, u32 *ids, u32 *first, u32 *cut) {
	int query = i == 0;
	u32 whole = m.max_tokens, mark = q.mark[query], n;
	m.max_tokens = (query ? q.window : whole) - (mark != 0);
	n = read_text(r->texts[i], query, ids, cut);
	m.max_tokens = whole;
	if (UNREAD(n)) return n;
	if (mark) {
		__builtin_memmove(ids + 2, ids + 1, 4 * (n - 1));
		ids[1] = mark;
		n++;
	}
	if (query) {
		u32 seen = n;
		while (q.expand && n < q.window) ids[n++] = q.mask;
		q.pieces = n;
		m.keys = n > seen && !q.expanded ? seen : 0;
	}
	*first = n;
	return n;
}

static int skipped(u32 id) {
	for (u32 i = 0; i < q.skips; i++)
		if (q.skip[i] == id) return 1;
	return 0;
}

static int use_marked(run *r, u32 i, u32 count) {
	u32 k = q.project.n, rows = 0;
	for (u32 j = 0; j < count; j++) rows += m.lens[j];
	int state = linear_run(&q.project, m.x, rows, m.up, ACT_NONE);
	if (state != RUN_OK) return state;
	normalize_rows(m.up, rows, k);
	for (u32 j = 0, row = 0; j < count; row += m.lens[j++]) {
		f32 *states = m.up + (size_t)row * k, sum = 0;
		if (i + j == 0) {
			__builtin_memcpy(q.states, states, 4 * q.pieces * k);
			m.keys = 0;
			continue;
		}
		if (mneme_poll()) return RUN_STOPPED;
		u32 kept = 0;
		for (u32 p = 0; p < m.lens[j]; p++)
			if (!skipped(m.ids[row + p])) __builtin_memmove(states + (size_t)kept++ * k, states + (size_t)p * k, 4 * k);
		if (kept) {
			max_dot(q.states, q.pieces, states, kept, k, q.best);
			for (u32 p = 0; p < q.pieces; p++) sum += q.best[p];
		}
		put_score(r, i + j, sum / (f32)q.pieces);
	}
	return RUN_OK;
}
#endif

u64 rerank(const mneme_text *texts, u32 rows, int query) {
	(void)query;
	if (rows == 0) return mneme_fail(MNEME_INVALID, "there is no query");
	// Row 0 of the working tables is the query's; the answer begins behind it.
	u32 *tables = reserve(3ull * rows, 4);
	if (!tables) return mneme_fail(MNEME_NO_MEMORY, "no memory for the result");
	u32 n = rows - 1, *counts = tables, *cut = tables + rows;
	f32 *scores = (f32 *)(tables + 2 * rows);
	run r = {.texts = texts, .rows = rows, .counts = counts, .cut = cut, .read = read_apart, .use = use_late, .out = scores};
	int state = RUN_OK;
#ifdef GENERAL
	if (q.head == HEAD_COLBERT) r.read = read_marked, r.use = use_marked;
	if (q.head == HEAD_COLBERT || q.head == HEAD_LATE) {
#else
	if (q.head == HEAD_LATE) {
#endif
		state = run_texts(&r);
	} else if (!read_query(texts[0])) {
		state = UNREAD_STATE(q.pieces);
	} else {
		r = (run){.texts = texts + 1, .rows = n, .counts = counts + 1, .cut = cut + 1, .read = read_pair, .use = use_pairs, .out = scores + 1};
		state = run_texts(&r);
	}
	u64 out;
	mneme_result *result = state == RUN_OK ? mneme_new(MNEME_SCORES, n, 0, 0, 8ull * n, 1) : 0;
	if (state != RUN_OK) {
		out = run_failed(state);
	} else if (!result) {
		out = mneme_fail(MNEME_NO_MEMORY, "no memory for the result");
	} else {
		u8 *body = (u8 *)(result + 1);
		result->nnz = result->body_off + 4 * n; // of scores: where cut lies
		__builtin_memcpy(body, scores + 1, 4 * n);
		__builtin_memcpy(body + 4 * n, cut + 1, 4 * n);
		__builtin_memcpy((u8 *)result + result->tokens_off, counts + 1, 4 * n);
		out = mneme_finish(result);
	}
	mneme_free(tables, 12 * rows);
	return out;
}
