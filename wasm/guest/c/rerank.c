// Reranking: the probability that a text answers the query. A cross-encoder reads
// query and text together and scores the pair by its first state (Nogueira and Cho
// 2019, arXiv:1901.04085) or, head "joint", by late interaction inside the joint
// encoding as well; head "late" encodes them apart and compares their states (MaxSim:
// Khattab and Zaharia 2020, arXiv:2004.12832), weighted by how rare the word pieces are.
#include "bert.h"

typedef enum { HEAD_POOLER, HEAD_PLAIN, HEAD_JOINT, HEAD_LATE } head;

enum { FEATURES = 6 };      // of a late pair
static const f32 K1 = 0.9f; // saturation of BM25's term frequency

static struct {
	head head;
	f32 scale, bias;                 // calibration: probability = sigmoid(scale * raw + bias)
	linear pooler;
	f32 *weight, *offset, *maxsim;   // of the pair's first state; of the sum; of the late interaction
	f32 *idf, *weights;              // of each word piece; of the features, then their bias
	f32 *best;                       // largest cosine of each piece of the query
	// The query of the call.
	u32 *ids, len;                   // word pieces as the model reads them: prefix included when alone
	u32 from, pieces;                // its own pieces inside ids
	f32 *states, *vector, idf_sum;   // late: unit states of those; pooled; sum of their idf
} q;

u64 open_rerank(const char *json, u32 n) {
	char name[16];
	const char *raw;
	u32 len;
	if (!mneme_json_string(json, n, "head", name, sizeof name, &len)) return mneme_fail(MNEME_INVALID, "open: head is missing");
	if (same(name, len, "pooler")) q.head = HEAD_POOLER;
	else if (same(name, len, "plain")) q.head = HEAD_PLAIN;
	else if (same(name, len, "joint")) q.head = HEAD_JOINT;
	else if (same(name, len, "late")) q.head = HEAD_LATE;
	else return mneme_fail(MNEME_UNSUPPORTED, "open: head must be pooler, plain, joint or late");
	m.first_only = q.head == HEAD_POOLER || q.head == HEAD_PLAIN;
	q.scale = 1;
	if (mneme_json_raw(json, n, "calibration", &raw, &len) && *raw == '{') {
		double scale, bias;
		if (!mneme_json_number(raw, len, "scale", &scale) || !mneme_json_number(raw, len, "bias", &bias))
			return mneme_fail(MNEME_INVALID, "open: calibration needs a scale and a bias");
		q.scale = (f32)scale, q.bias = (f32)bias;
	}
	q.ids = reserve(m.max_tokens + 1, 4);
	q.best = reserve(m.max_tokens, 4);
	q.states = reserve((u64)m.max_tokens * m.hidden, 4);
	q.vector = reserve(2 * m.hidden, 4);
	if (!q.ids || !q.best || !q.states || !q.vector) return mneme_fail(MNEME_NO_MEMORY, "open: not enough memory for the query");
	if (q.head == HEAD_LATE ? (q.idf = load_tensor("late.idf", 4 * m.vocab)) && (q.weights = load_tensor("late.weights", 4 * (FEATURES + 1)))
		: (q.weight = load_tensor("head.weight", 4 * m.hidden)) && (q.offset = load_tensor("head.bias", 4)) &&
			(q.head != HEAD_JOINT || (q.maxsim = load_tensor("head.scale", 4))) && (q.head != HEAD_POOLER || linear_open(&q.pooler, "pooler", m.hidden, m.hidden)))
		return 0;
	return mneme_fail(MNEME_INVALID, "open: a tensor of the head is missing, of another size, or does not fit the memory");
}

// read_query tokenizes the query of a pair: at most half the window.
static int read_query(mneme_text text) {
	u32 prefix = m.prefix_len[1], half = m.max_tokens / 2, room = prefix < half ? half - prefix : 0;
	if (prefix > half) prefix = half;
	__builtin_memcpy(q.ids, m.prefix[1], 4 * prefix);
	q.from = prefix;
	if ((q.pieces = tokenize(&m.words, text, q.ids + prefix, room)) == TOKENIZE_INVALID) return 0;
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
	*first = n;
	room = m.max_tokens - 1 - n;
	if (prefix > room) prefix = room;
	__builtin_memcpy(ids + n, m.prefix[0], 4 * prefix);
	n += prefix, room -= prefix;
	if ((got = tokenize(&m.words, r->texts[i], ids + n, room + 1)) == TOKENIZE_INVALID) return got;
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
	for (u32 j = 0; j < count; row += rows_of(j++)) __builtin_memcpy(m.y + (size_t)j * h, m.x + (size_t)row * h, 4 * h);
	if (q.head == HEAD_POOLER) {
		int state = linear_run(&q.pooler, m.y, count, m.up, ACT_NONE);
		if (state != RUN_OK) return state;
		tanh_all(m.up, count * h);
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

// keep_query keeps the states of the call's query, which lie at x.
static void keep_query(const u32 *ids, f32 *x, u32 n) {
	q.from = 1 + m.prefix_len[1];
	q.pieces = n - 1 - q.from;
	__builtin_memcpy(q.ids, ids, 4 * n);
	pool(x, n, 1, q.vector);
	normalize_rows(x + (size_t)q.from * m.hidden, q.pieces, m.hidden);
	__builtin_memcpy(q.states, x + (size_t)q.from * m.hidden, 4 * q.pieces * m.hidden);
	q.idf_sum = 0;
	for (u32 i = 0; i < q.pieces; i++) q.idf_sum += q.idf[q.ids[q.from + i]];
}

// late_features computes the features of the query and the text of n tokens at x.
static void late_features(const u32 *ids, f32 *x, u32 n, f32 out[FEATURES]) {
	u32 h = m.hidden, from = 1 + m.prefix_len[0], pieces = n - 1 - from;
	f32 *vector = q.vector + h;
	pool(x, n, 1, vector);
	x += (size_t)from * h, ids += from;
	normalize_rows(x, pieces, h);
	f32 weighted = 0, covered = 0, saturated = 0;
	out[1] = mean_best(q.states, x, pieces);
	for (u32 i = 0; i < q.pieces; i++) {
		u32 id = q.ids[q.from + i], times = 0;
		for (u32 j = 0; j < pieces; j++) times += ids[j] == id;
		if (pieces) weighted += q.idf[id] * q.best[i];
		if (times) covered += q.idf[id], saturated += q.idf[id] * ((f32)times * (K1 + 1) / ((f32)times + K1));
	}
	f32 all = q.idf_sum > 0 ? q.idf_sum : 1;
	out[0] = weighted / all;
	out[2] = dot(q.vector, vector, h);
	out[3] = covered / all;
	out[4] = saturated / all;
	out[5] = log1p_((f32)pieces);
}

static int use_late(run *r, u32 i, u32 count) {
	u32 row = 0;
	for (u32 j = 0; j < count; row += m.lens[j++]) {
		f32 *x = m.x + (size_t)row * m.hidden, features[FEATURES], raw = q.weights ? q.weights[FEATURES] : 0;
		if (i + j == 0) {
			keep_query(m.ids, x, m.lens[0]);
			continue;
		}
		late_features(m.ids + row, x, m.lens[j], features);
		for (u32 f = 0; f < FEATURES; f++) raw += q.weights[f] * features[f];
		put_score(r, i + j, raw);
	}
	return RUN_OK;
}

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
	if (q.head == HEAD_LATE) {
		state = run_texts(&r);
	} else if (!read_query(texts[0])) {
		state = RUN_INVALID;
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
