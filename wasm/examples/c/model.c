// A small model in C: it finds texts that share words, parts of words, or
// concepts (concepts.txt). It embeds, makes sparse vectors and reranks; keep what
// you need. Every function of this file but the exports at its end is yours to
// replace.
#define MNEME_IMPLEMENTATION
#include "mneme.h"

// Settings of the operator's, which model.json declares.
static int parts = 1;       // vectors find parts of words, too
static double least = 0.02; // probability of a text that shares nothing with the query

enum {
	DIM = 256,      // of a vector
	VOCAB = 65536,  // sparse terms
	WINDOW = 512,   // words read of a text
	LONGEST = 64,   // bytes read of a word
	SLOTS = 4096,   // of the table of concepts
	PASSED_OVER = 0xFFFF,
};

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
static u32 hash(u8 kind, const u8 *p, u32 n) {
	u32 h = (2166136261u ^ kind) * 16777619u;
	for (u32 i = 0; i < n; i++) h = (h ^ p[i]) * 16777619u;
	return h;
}

// Words: runs of ASCII letters and digits and of anything beyond ASCII.

typedef struct { u8 p[LONGEST + 2]; u32 n; } word; // p[0] and p[n + 1] are '#'

static int letter(u8 c) { return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// next reads the next word of t from *at: in lower case and without the s of a
// plural. False at the end.
static int next(mneme_text t, u32 *at, word *w) {
	u32 i = *at;
	while (i < t.n && !letter(t.p[i])) i++;
	if (i == t.n) return *at = i, 0;
	for (w->n = 0; i < t.n && letter(t.p[i]); i++) {
		u8 c = t.p[i];
		if (w->n < LONGEST) w->p[++w->n] = c >= 'A' && c <= 'Z' ? c + 32 : c;
	}
	if (w->n > 3 && w->p[w->n] == 's' && w->p[w->n - 1] != 's') w->n--;
	w->p[0] = w->p[w->n + 1] = '#';
	return *at = i, 1;
}

// Concepts: an open hash table from words to the line that has them.

static u32 slot_hash[SLOTS];
static u16 slot_concept[SLOTS]; // 0: free

static u32 slot(u32 h) {
	u32 i = h % SLOTS;
	while (slot_concept[i] && slot_hash[i] != h) i = (i + 1) % SLOTS;
	return i;
}

static int learn(const u8 *p, u32 n) {
	u32 concept = 0, words = 0;
	for (u32 at = 0; at < n; at++) {
		mneme_text line = {p + at, 0};
		while (at < n && p[at] != '\n') at++, line.n++;
		if (line.n == 0 || *line.p == '#') continue;
		concept++;
		word w;
		for (u32 i = 0; next(line, &i, &w);) {
			u32 h = hash('w', w.p + 1, w.n), s = slot(h);
			if (slot_concept[s]) continue;
			if (++words > SLOTS / 2 || concept >= PASSED_OVER) return 0;
			slot_hash[s] = h;
			slot_concept[s] = *line.p == '-' ? PASSED_OVER : (u16)concept;
		}
	}
	return 1;
}

// Features: what texts have in common. Weights are multiples of a quarter, so that
// sums do not depend on their order.

typedef struct { u32 hash; f32 weight; } feature;

static feature found[2 * WINDOW * (LONGEST + 2)];
static u32 nfound;

static void add(u32 h, f32 weight) { found[nfound++] = (feature){h, weight}; }

// read fills found with the features of at most limit words of t and returns how
// many words it read; *cut says whether there were more.
static u32 read(mneme_text t, u32 limit, int with_parts, u32 *cut) {
	word w;
	u32 words = 0, told = 0;
	for (u32 at = 0; words < limit && next(t, &at, &w); words++) told += slot_concept[slot(hash('w', w.p + 1, w.n))] != PASSED_OVER;
	nfound = 0;
	u32 at = 0;
	for (u32 i = 0; i < words; i++) {
		next(t, &at, &w);
		u32 h = hash('w', w.p + 1, w.n);
		u16 concept = slot_concept[slot(h)];
		if (concept == PASSED_OVER) {
			if (told == 0) add(h, 1); // a text of nothing else
			continue;
		}
		add(h, 1);
		if (concept) add(hash('c', (u8[]){(u8)concept, (u8)(concept >> 8)}, 2), 0.75f);
		for (u32 j = 0; with_parts && j < w.n; j++) add(hash('t', w.p + j, 3), 0.25f);
	}
	*cut = next(t, &at, &w);
	return words;
}

// embed writes the direction of t's features to v: each adds to or takes from one dimension.
static u32 embed(mneme_text t, f32 *v) {
	u32 cut, words = read(t, WINDOW, parts, &cut);
	for (u32 i = 0; i < nfound; i++) v[found[i].hash % DIM] += found[i].hash >> 31 ? -found[i].weight : found[i].weight;
	f32 square = 0;
	for (u32 i = 0; i < DIM; i++) square += v[i] * v[i];
	if (square == 0) v[0] = square = 1; // no text is without a direction
	f32 length = __builtin_sqrtf(square);
	for (u32 i = 0; i < DIM; i++) v[i] /= length;
	return words;
}

// Terms: features by number, in rising order, each once.

typedef struct { u32 n, term[2 * WINDOW]; f32 weight[2 * WINDOW]; } terms;

static void collect(terms *s) {
	s->n = 0;
	for (u32 i = 0; i < nfound; i++) {
		u32 term = (found[i].hash ^ found[i].hash >> 16) % VOCAB, low = 0, high = s->n;
		while (low < high) {
			u32 middle = (low + high) / 2;
			if (s->term[middle] < term) low = middle + 1;
			else high = middle;
		}
		if (low == s->n || s->term[low] != term) {
			for (u32 j = s->n++; j > low; j--) s->term[j] = s->term[j - 1], s->weight[j] = s->weight[j - 1];
			s->term[low] = term;
			s->weight[low] = 0;
		}
		s->weight[low] += found[i].weight;
	}
}

static terms query, text;

// score is the share of the query's terms that the text has, by weight.
static f32 score(void) {
	f32 all = 0, both = 0;
	for (u32 i = 0, j = 0; i < query.n; i++) {
		all += query.weight[i];
		while (j < text.n && text.term[j] < query.term[i]) j++;
		if (j < text.n && text.term[j] == query.term[i]) both += query.weight[i];
	}
	return (f32)least + (f32)(0.98 - least) * (all == 0 ? 0 : both / all);
}

// What the host calls.

u64 MNEME_EXPORT(mneme_describe)(void) {
	return mneme_say("{\"name\":\"acme\",\"version\":\"1.0.0\",\"licence\":\"Apache-2.0\",\"tasks\":["
	                 "{\"task\":\"embedding\",\"dim\":256,\"max_tokens\":512,\"normalized\":true},"
	                 "{\"task\":\"sparse\",\"vocab\":65536,\"max_tokens\":512},"
	                 "{\"task\":\"rerank\",\"max_tokens\":512}]}");
}

u64 MNEME_EXPORT(mneme_open)(const char *config, u32 n) {
	mneme_json_bool(config, n, "parts", &parts);
	mneme_json_number(config, n, "least", &least);
	u32 size;
	u8 *concepts = mneme_asset("concepts.txt", &size);
	if (!concepts) return mneme_fail(MNEME_UNSUPPORTED, "the asset concepts.txt is missing");
	int fits = learn(concepts, size);
	mneme_free(concepts, size);
	return fits ? mneme_ok() : mneme_fail(MNEME_UNSUPPORTED, "the asset concepts.txt has too many words");
}

u64 MNEME_EXPORT(mneme_embed)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags;
	u64 bad = mneme_frame(p, n, &texts, &rows, &flags);
	if (bad) return bad;
	mneme_result *r = mneme_new_dense(rows, DIM);
	for (u32 i = 0; r && i < rows; i++) mneme_read(r)[i] = embed(texts[i], mneme_values(r) + i * DIM);
	mneme_free(texts, rows * sizeof *texts);
	return r ? mneme_finish(r) : 0;
}

u64 MNEME_EXPORT(mneme_sparse)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags, cut, total = 0;
	u64 bad = mneme_frame(p, n, &texts, &rows, &flags);
	if (bad) return bad;
	for (u32 i = 0; i < rows; i++) { // once to know the size
		read(texts[i], WINDOW, 0, &cut);
		collect(&text);
		total += text.n;
	}
	mneme_result *r = mneme_new_sparse(rows, total);
	for (u32 i = 0, at = 0; r && i < rows; i++) {
		mneme_read(r)[i] = read(texts[i], WINDOW, 0, &cut);
		collect(&text);
		for (u32 j = 0; j < text.n; j++, at++) {
			mneme_terms(r)[at] = text.term[j];
			mneme_values(r)[at] = text.weight[j] / (1 + text.weight[j]);
		}
		mneme_offsets(r)[i + 1] = at;
	}
	mneme_free(texts, rows * sizeof *texts);
	return r ? mneme_finish(r) : 0;
}

u64 MNEME_EXPORT(mneme_rerank)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags, cut;
	u64 bad = mneme_frame(p, n, &texts, &rows, &flags);
	if (bad) return bad;
	if (rows == 0) return mneme_fail(MNEME_INVALID, "there is no query");
	mneme_result *r = mneme_new_scores(rows - 1);
	if (r) {
		u32 asked = read(texts[0], WINDOW / 2, 0, &cut);
		collect(&query);
		for (u32 i = 1; i < rows; i++) {
			mneme_read(r)[i - 1] = asked + read(texts[i], WINDOW - asked, 0, &mneme_cut(r)[i - 1]);
			collect(&text);
			mneme_values(r)[i - 1] = score();
		}
	}
	mneme_free(texts, rows * sizeof *texts);
	return r ? mneme_finish(r) : 0;
}

u64 MNEME_EXPORT(mneme_tokens)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags;
	u64 bad = mneme_frame(p, n, &texts, &rows, &flags);
	if (bad) return bad;
	mneme_result *r = mneme_new_counts(rows);
	word w;
	for (u32 i = 0; r && i < rows; i++)
		for (u32 at = 0; next(texts[i], &at, &w);) mneme_offsets(r)[i]++;
	mneme_free(texts, rows * sizeof *texts);
	return r ? mneme_finish(r) : 0;
}
