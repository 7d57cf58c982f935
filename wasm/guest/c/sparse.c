// Learned-sparse encoding (SPLADE: Formal et al. 2021, arXiv:2109.10086): the masked
// language model's head over every position, the largest logit of each word piece,
// ln(1 + relu(logit)), and of those the largest.
#include "bert.h"

enum { MAX_BITS = 11, BINS = 1 << MAX_BITS };

static struct {
	u32 terms[2];        // most terms of a passage, a query; 0: all
	linear transform, decoder;
	f32 *norm_w, *norm_b;
	f32 *top;            // largest logits of a text
	u32 *bins;
	// What the call's texts gave so far, grown as needed.
	u32 *offsets, *ids;
	f32 *weights;
	u32 used, room;
} s;

u64 open_sparse(const char *json, u32 n) {
	if (!config_option(json, n, "terms", 0, m.vocab, &s.terms[0]) || !config_option(json, n, "query_terms", 0, m.vocab, &s.terms[1]))
		return mneme_fail(MNEME_INVALID, "open: terms or query_terms is out of range");
	s.top = reserve(m.vocab, 4);
	s.bins = reserve(BINS, 4);
	if (!s.top || !s.bins) return mneme_fail(MNEME_NO_MEMORY, "open: not enough memory for the terms");
	if (!linear_open(&s.transform, "mlm.transform", m.hidden, m.hidden) || !linear_open(&s.decoder, "mlm.decoder", m.vocab, m.hidden) ||
		!(s.norm_w = load_tensor("mlm.norm.weight", 4 * m.hidden)) || !(s.norm_b = load_tensor("mlm.norm.bias", 4 * m.hidden)))
		return mneme_fail(MNEME_INVALID, "open: a tensor of the language model's head is missing, of another size, or does not fit the memory");
	return 0;
}

static u32 bits(f32 x) {
	union { f32 f; u32 u; } u = {x};
	return u.u;
}

// threshold gives the bits of the k-th largest of the positive logits and how many
// of those that equal it belong to the k: positive floats order as their bits, so
// three passes of counting find it.
static u32 threshold(u32 k, u32 *equal) {
	u32 prefix = 0;
	for (u32 shift = 20, width = MAX_BITS, above = 31;; ) {
		__builtin_memset(s.bins, 0, 4 << width);
		for (u32 i = 0; i < m.vocab; i++) {
			if (!(s.top[i] > 0)) continue;
			u32 b = bits(s.top[i]);
			if (above == 31 || b >> above == prefix) s.bins[b >> shift & ((1u << width) - 1)]++;
		}
		u32 bin = (1u << width) - 1;
		while (s.bins[bin] < k) k -= s.bins[bin--];
		prefix = prefix << width | bin;
		if (shift == 0) break;
		above = shift;
		width = 10;
		shift -= 10;
	}
	*equal = k;
	return prefix;
}

static int grow(u32 more) {
	if (s.room - s.used >= more) return 1;
	u32 room = 2 * s.room + more;
	if (room > 1u << 28) return 0;
	u32 *ids = mneme_alloc(4 * room);
	f32 *weights = mneme_alloc(4 * room);
	if (!ids || !weights) {
		mneme_free(ids, 4 * room);
		mneme_free(weights, 4 * room);
		return 0;
	}
	__builtin_memcpy(ids, s.ids, 4 * s.used);
	__builtin_memcpy(weights, s.weights, 4 * s.used);
	mneme_free(s.ids, 4 * s.room);
	mneme_free(s.weights, 4 * s.room);
	s.ids = ids, s.weights = weights, s.room = room;
	return 1;
}

// keep appends the text's terms; most 0 keeps all that are positive.
static int keep(u32 most) {
	u32 positive = 0, limit = 0, equal = 0;
	for (u32 i = 0; i < m.vocab; i++) positive += s.top[i] > 0;
	if (most == 0 || positive <= most) most = positive;
	else limit = threshold(most, &equal);
	if (!grow(most)) return RUN_MEMORY;
	for (u32 i = 0; i < m.vocab; i++) {
		if (!(s.top[i] > 0)) continue;
		u32 b = bits(s.top[i]);
		if (b < limit || (b == limit && equal == 0)) continue;
		if (b == limit) equal--;
		s.ids[s.used] = i;
		s.weights[s.used++] = log1p_(s.top[i]);
	}
	return RUN_OK;
}

static int use_terms(run *r, u32 i, u32 count) {
	int state;
	u32 rows = 0, h = m.hidden;
	for (u32 j = 0; j < count; j++) rows += m.lens[j];
	if ((state = linear_run(&s.transform, m.x, rows, m.y, ACT_GELU)) != RUN_OK) return state;
	add_norm(m.y, 0, rows, h, s.norm_w, s.norm_b, m.epsilon);
	const f32 *y = m.y;
	for (u32 j = 0; j < count; j++) {
		if (mneme_poll()) return RUN_STOPPED;
		if ((state = linear_max(&s.decoder, y, m.lens[j], s.top)) != RUN_OK) return state;
		y += (size_t)m.lens[j] * h;
		if ((state = keep(s.terms[r->query])) != RUN_OK) return state;
		s.offsets[i + j + 1] = s.used;
	}
	return RUN_OK;
}

u64 sparse(const mneme_text *texts, u32 rows, int query) {
	u32 *counts = reserve(rows, 4);
	s.offsets = reserve((u64)rows + 1, 4);
	s.used = 0;
	u64 out;
	if (!counts || !s.offsets) {
		out = mneme_fail(MNEME_NO_MEMORY, "no memory for the result");
	} else {
		s.offsets[0] = 0;
		run r = {.texts = texts, .rows = rows, .query = query != 0, .counts = counts, .read = read_single, .use = use_terms};
		int state = run_texts(&r);
		mneme_result *result = state == RUN_OK ? mneme_new(MNEME_SPARSE, rows, 0, s.used, 4ull * (rows + 1) + 8ull * s.used, 1) : 0;
		if (state != RUN_OK) {
			out = run_failed(state);
		} else if (!result) {
			out = mneme_fail(MNEME_NO_MEMORY, "no memory for the result");
		} else {
			u32 *body = (u32 *)(result + 1);
			__builtin_memcpy(body, s.offsets, 4 * (rows + 1));
			__builtin_memcpy(body + rows + 1, s.ids, 4 * s.used);
			__builtin_memcpy(body + rows + 1 + s.used, s.weights, 4 * s.used);
			__builtin_memcpy((u8 *)result + result->tokens_off, counts, 4 * rows);
			out = mneme_finish(result);
		}
	}
	mneme_free(counts, 4 * rows);
	mneme_free(s.offsets, 4 * (rows + 1));
	return out;
}
