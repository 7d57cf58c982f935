// What becomes of the states of packs of format 3: pooled, taken through a linear layer where sentence-transformers
// has one behind the pooling, cut to their first dimensions (Matryoshka: Kusupati et al. 2022, arXiv:2205.13147),
// and brought to unit length.
#include "bert.h"

static struct {
	linear dense; // n 0: none
	int bounded;  // tanh behind it
	f32 *out;
} d;

u64 open_vectors(const char *json, u32 n) {
	u32 width = m.hidden;
	char act[8];
	u32 len;
	if (!config_option(json, n, "dense", 8, 16384, &d.dense.n)) return mneme_fail(MNEME_INVALID, "open: dense is out of range");
	if (d.dense.n) {
		width = d.dense.n;
		if (!linear_open(&d.dense, "dense", width, m.hidden) || !(d.out = reserve((u64)m.capacity * width, 4)))
			return mneme_fail(MNEME_INVALID, "open: the layer behind the pooling is missing, of another size, or does not fit the memory");
		d.bounded = mneme_json_string(json, n, "dense_activation", act, sizeof act, &len) && same(act, len, "tanh");
	}
	m.dimensions = width;
	if (!config_option(json, n, "dimensions", 1, width, &m.dimensions)) return mneme_fail(MNEME_INVALID, "open: dimensions is out of range");
	return 0;
}

int use_vectors(run *r, u32 i, u32 count) {
	u32 h = m.hidden, width = h;
	const f32 *x = m.x;
	f32 *rows = m.y; // a text has a state or more, so they fit
	for (u32 j = 0; j < count; x += (size_t)rows_of(j++) * h) pool(x, m.lens[j], 0, rows + (size_t)j * h);
	if (d.dense.n) {
		int state = linear_run(&d.dense, rows, count, d.out, ACT_NONE);
		if (state != RUN_OK) return state;
		rows = d.out, width = d.dense.n;
		if (d.bounded) tanh_all(rows, count * width);
	}
	for (u32 j = 0; j < count; j++, rows += width) {
		f32 *out = (f32 *)r->out + (size_t)(i + j) * m.dimensions, sum = 0, scale = 1;
		for (u32 c = 0; c < m.dimensions; c++) sum += rows[c] * rows[c];
		if (m.normalize) scale = sum > 0 ? 1 / __builtin_sqrtf(sum) : 0;
		for (u32 c = 0; c < m.dimensions; c++) out[c] = rows[c] * scale;
	}
	return RUN_OK;
}
