#include "tensor.h"
#include <wasm_simd128.h>

typedef v128_t v;
#define UNROLL _Pragma("unroll")

// ALIGNED masks a pointer that is a multiple of n anyway. With the low bits known
// to be zero, constant distances become offsets of the load instruction, and the
// run-time checks one bound for the whole block instead of one for each load.
#define ALIGNED(p, n) ((const void *)((uintptr_t)(p) & ~(uintptr_t)((n)-1)))
// FENCE keeps the load of the highest address, which is checked first, in front.
#define FENCE __asm__ volatile("" ::: "memory")

static i16 *packed;                   // quantized rows [rows/4][k/8][4][8]
static f32 *row_scale;                // of the packed rows
static i16 *keys, *values, *weights_; // attention: packed K, packed V^T, packed probabilities
static f32 *key_scale, *scores;
static u32 max_block;

static inline f32 hsum(v x) {
	return wasm_f32x4_extract_lane(x, 0) + wasm_f32x4_extract_lane(x, 1) + wasm_f32x4_extract_lane(x, 2) + wasm_f32x4_extract_lane(x, 3);
}
static inline f32 hmax(v x) {
	x = wasm_f32x4_pmax(x, wasm_i32x4_shuffle(x, x, 2, 3, 0, 1));
	x = wasm_f32x4_pmax(x, wasm_i32x4_shuffle(x, x, 1, 0, 3, 2));
	return wasm_f32x4_extract_lane(x, 0);
}
// add4 adds the lanes of each of four vectors.
static inline v add4(v a, v b, v c, v d) {
	v t0 = wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 1, 4, 5), wasm_i32x4_shuffle(a, b, 2, 3, 6, 7));
	v t1 = wasm_i32x4_add(wasm_i32x4_shuffle(c, d, 0, 1, 4, 5), wasm_i32x4_shuffle(c, d, 2, 3, 6, 7));
	return wasm_i32x4_add(wasm_i32x4_shuffle(t0, t1, 0, 2, 4, 6), wasm_i32x4_shuffle(t0, t1, 1, 3, 5, 7));
}

// dot4x2 multiplies four packed rows by two packed columns. k is a multiple of 16.
// pmaddwd takes pairs, so a lane holds k/4 products: the callers bound the values.
#define DOT4X2(name, wtype, LOADW, WBYTES)                                                        \
	static __attribute__((noinline)) void name(const i16 *a, const wtype *w, u32 k, i32 *out) {   \
		v s00 = wasm_i32x4_const_splat(0), s01 = s00, s10 = s00, s11 = s00;                        \
		v s20 = s00, s21 = s00, s30 = s00, s31 = s00;                                              \
		const i16 *end = a + k * 4;                                                                \
		do {                                                                                       \
			const i16 *x = ALIGNED(a, 128);                                                        \
			const wtype *y = ALIGNED(w, 32 * WBYTES);                                              \
			v x3 = wasm_v128_load(x + 56), y1 = LOADW(y + 24);                                     \
			FENCE;                                                                                 \
			v y0 = LOADW(y + 16), t;                                                               \
			s30 = wasm_i32x4_add(s30, wasm_i32x4_dot_i16x8(x3, y0));                               \
			s31 = wasm_i32x4_add(s31, wasm_i32x4_dot_i16x8(x3, y1));                               \
			t = wasm_v128_load(x + 48);                                                            \
			s20 = wasm_i32x4_add(s20, wasm_i32x4_dot_i16x8(t, y0));                                \
			s21 = wasm_i32x4_add(s21, wasm_i32x4_dot_i16x8(t, y1));                                \
			t = wasm_v128_load(x + 40);                                                            \
			s10 = wasm_i32x4_add(s10, wasm_i32x4_dot_i16x8(t, y0));                                \
			s11 = wasm_i32x4_add(s11, wasm_i32x4_dot_i16x8(t, y1));                                \
			t = wasm_v128_load(x + 32);                                                            \
			s00 = wasm_i32x4_add(s00, wasm_i32x4_dot_i16x8(t, y0));                                \
			s01 = wasm_i32x4_add(s01, wasm_i32x4_dot_i16x8(t, y1));                                \
			FENCE;                                                                                 \
			y1 = LOADW(y + 8), y0 = LOADW(y);                                                      \
			t = wasm_v128_load(x + 24);                                                            \
			s30 = wasm_i32x4_add(s30, wasm_i32x4_dot_i16x8(t, y0));                                \
			s31 = wasm_i32x4_add(s31, wasm_i32x4_dot_i16x8(t, y1));                                \
			t = wasm_v128_load(x + 16);                                                            \
			s20 = wasm_i32x4_add(s20, wasm_i32x4_dot_i16x8(t, y0));                                \
			s21 = wasm_i32x4_add(s21, wasm_i32x4_dot_i16x8(t, y1));                                \
			t = wasm_v128_load(x + 8);                                                             \
			s10 = wasm_i32x4_add(s10, wasm_i32x4_dot_i16x8(t, y0));                                \
			s11 = wasm_i32x4_add(s11, wasm_i32x4_dot_i16x8(t, y1));                                \
			t = wasm_v128_load(x);                                                                 \
			s00 = wasm_i32x4_add(s00, wasm_i32x4_dot_i16x8(t, y0));                                \
			s01 = wasm_i32x4_add(s01, wasm_i32x4_dot_i16x8(t, y1));                                \
			FENCE;                                                                                 \
			a += 64;                                                                               \
			w += 32;                                                                               \
		} while (a != end);                                                                        \
		wasm_v128_store(out + 4, add4(s01, s11, s21, s31));                                        \
		wasm_v128_store(out, add4(s00, s10, s20, s30));                                            \
	}

DOT4X2(dot4x2_i8, i8, wasm_i16x8_load8x8, 1)
DOT4X2(dot4x2_i16, i16, wasm_v128_load, 2)

// quantize rounds n values to v x scale and stores them eight by eight, 32 apart:
// one row of a group of four packed rows.
static void quantize(const f32 *x, u32 n, f32 scale, i16 *out) {
	// Adding 1.5 x 2^23 leaves the nearest integer in the low bits.
	v s = wasm_f32x4_splat(scale), magic = wasm_f32x4_const_splat(12582912.0f), bits = wasm_i32x4_const_splat(0x4B400000);
	for (u32 i = 0; i < n; i += 8) {
		v lo = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(x + i), s), magic);
		v hi = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(x + i + 4), s), magic);
		wasm_v128_store(out + 4 * i, wasm_i16x8_narrow_i32x4(wasm_i32x4_sub(lo, bits), wasm_i32x4_sub(hi, bits)));
	}
}

static f32 peak(const f32 *x, u32 n) {
	v m = wasm_f32x4_const_splat(0);
	for (u32 i = 0; i < n; i += 4) m = wasm_f32x4_pmax(m, wasm_f32x4_abs(wasm_v128_load(x + i)));
	return hmax(m);
}

// gelu computes x * Phi(x), Phi as a rational function on |x| < 5 fitted by
// iteratively reweighted least squares; error below 3e-6.
static void gelu(f32 *x, u32 n) {
	v top = wasm_f32x4_const_splat(5.0f), bottom = wasm_f32x4_const_splat(-5.0f), half = wasm_f32x4_const_splat(0.5f);
	for (u32 i = 0; i < n; i += 4) {
		v a = wasm_v128_load(x + i);
		v c = wasm_f32x4_pmax(bottom, wasm_f32x4_pmin(top, a));
		v t = wasm_f32x4_mul(c, c);
		v p = wasm_f32x4_add(wasm_f32x4_mul(t, wasm_f32x4_const_splat(6.25326309e-05f)), wasm_f32x4_const_splat(0.00432036712f));
		p = wasm_f32x4_add(wasm_f32x4_mul(p, t), wasm_f32x4_const_splat(0.0293789286f));
		p = wasm_f32x4_add(wasm_f32x4_mul(p, t), wasm_f32x4_const_splat(0.398966139f));
		v q = wasm_f32x4_add(wasm_f32x4_mul(t, wasm_f32x4_const_splat(3.81648307e-06f)), wasm_f32x4_const_splat(0.00150579905f));
		q = wasm_f32x4_add(wasm_f32x4_mul(q, t), wasm_f32x4_const_splat(0.0257218872f));
		q = wasm_f32x4_add(wasm_f32x4_mul(q, t), wasm_f32x4_const_splat(0.240491654f));
		q = wasm_f32x4_add(wasm_f32x4_mul(q, t), wasm_f32x4_const_splat(1.0f));
		v phi = wasm_f32x4_add(half, wasm_f32x4_div(wasm_f32x4_mul(c, p), q));
		wasm_v128_store(x + i, wasm_f32x4_mul(a, phi));
	}
}

// exp4 is e^x for x <= 0 (Cody-Waite reduction to 2^n 2^f, polynomial in f).
static inline v exp4(v x) {
	x = wasm_f32x4_pmax(x, wasm_f32x4_const_splat(-87.0f));
	v magic = wasm_f32x4_const_splat(12582912.0f);
	v n = wasm_f32x4_add(wasm_f32x4_mul(x, wasm_f32x4_const_splat(1.44269504f)), magic);
	v whole = wasm_f32x4_sub(n, magic);
	v f = wasm_f32x4_sub(x, wasm_f32x4_mul(whole, wasm_f32x4_const_splat(0.693359375f)));
	f = wasm_f32x4_sub(f, wasm_f32x4_mul(whole, wasm_f32x4_const_splat(-2.12194440e-4f)));
	v p = wasm_f32x4_add(wasm_f32x4_mul(f, wasm_f32x4_const_splat(8.3334519e-3f)), wasm_f32x4_const_splat(4.1668065e-2f));
	p = wasm_f32x4_add(wasm_f32x4_mul(p, f), wasm_f32x4_const_splat(1.6666582e-1f));
	p = wasm_f32x4_add(wasm_f32x4_mul(p, f), wasm_f32x4_const_splat(0.5f));
	p = wasm_f32x4_add(wasm_f32x4_mul(p, f), wasm_f32x4_const_splat(1.0f));
	p = wasm_f32x4_add(wasm_f32x4_mul(p, f), wasm_f32x4_const_splat(1.0f));
	v bits = wasm_i32x4_add(wasm_i32x4_sub(n, wasm_i32x4_const_splat(0x4B400000)), wasm_i32x4_const_splat(127));
	return wasm_f32x4_mul(p, wasm_i32x4_shl(bits, 23));
}

// load_padded reads an asset of that many bytes and adds zeros up to room.
static void *load_padded(const char *name, u32 bytes, u32 room) {
	u32 len = mneme_strlen(name);
	if (mneme_asset_size(name, len) != bytes) return 0;
	u8 *p = mneme_alloc(room);
	if (p && mneme_asset_read(name, len, 0, p, bytes) != 0) return 0;
	if (p) __builtin_memset(p + bytes, 0, room - bytes);
	return p;
}

void *load_tensor(const char *name, u32 bytes) { return load_padded(name, bytes, bytes); }

static void join(char *out, const char *a, const char *b) {
	while (*a) *out++ = *a++;
	while (*b) *out++ = *b++;
	*out = 0;
}

// aligned_alloc gives memory that the kernels may mask; it is never released.
static void *aligned_alloc_(u32 n) {
	u8 *p = mneme_alloc(n + 128);
	return p ? (void *)(((uintptr_t)p + 127) & ~(uintptr_t)127) : 0;
}

int linear_open(linear *l, const char *name, u32 n, u32 k) {
	*l = (linear){n, k, 0, 0, 0, 0};
	if ((l->handle = mneme_nn_linear_open(name, mneme_strlen(name), n, k))) return 1;
	char full[96];
	if (mneme_strlen(name) > 80) return 0;
	join(full, name, ".weight");
	u32 len = mneme_strlen(full);
	u32 padded = (n + 3) & ~3u; // outputs are computed four by four
	if ((u64)padded * k > 0xFFFF0000u || mneme_asset_size(full, len) != (u64)n * k) return 0;
	l->w = aligned_alloc_(padded * k);
	i8 *rows = mneme_alloc(2 * k);
	if (!l->w || !rows) return 0;
	for (u32 r = 0; r < padded; r += 2) {
		u32 there = r >= n ? 0 : n - r < 2 ? 1 : 2;
		if (there < 2) __builtin_memset(rows, 0, 2 * k);
		if (mneme_asset_read(full, len, (u64)(n < r ? n : r) * k, rows, there * k) != 0) return 0;
		i8 *out = l->w + (size_t)r * k;
		for (u32 i = 0; i < k; i += 8, out += 16) {
			__builtin_memcpy(out, rows + i, 8);
			__builtin_memcpy(out + 8, rows + k + i, 8);
		}
	}
	mneme_free(rows, 2 * k);
	join(full, name, ".scale");
	if (!(l->scale = load_padded(full, 4 * n, 4 * padded))) return 0;
	join(full, name, ".bias");
	return (l->bias = load_padded(full, 4 * n, 4 * padded)) != 0;
}

enum { BLOCK_BYTES = 24 << 10 }; // of quantized rows: what stays in the first-level cache

int workspace_open(u32 k, u32 window, u32 head_dim) {
	u32 dim = (head_dim + 15) & ~15u, keys_padded = (window + 15) & ~15u;
	max_block = 64;
	packed = aligned_alloc_(BLOCK_BYTES + 4 * 2 * (k > dim ? k : dim));
	row_scale = mneme_alloc(4 * max_block);
	keys = aligned_alloc_(2 * dim * keys_padded);
	values = aligned_alloc_(2 * dim * keys_padded);
	weights_ = aligned_alloc_(2 * 4 * keys_padded);
	key_scale = mneme_alloc(4 * keys_padded);
	scores = mneme_alloc(4 * 4 * keys_padded);
	return packed && row_scale && keys && values && weights_ && key_scale && scores;
}

// run is a linear layer on our own loops, into y[rows][n], or with top the largest
// over the rows into y[n].
static inline __attribute__((always_inline)) int run(const linear *l, const f32 *x, u32 rows, f32 *y, u32 act, int top) {
	u32 n = l->n, k = l->k, block = BLOCK_BYTES / (2 * k) & ~3u;
	if (block < 4) block = 4;
	if (block > max_block) block = max_block;
	// A lane adds k/4 products, the four lanes k: k x 127 x limit stays below 2^31.
	u32 limit = 0x7FFFFFFFu / 127 / k;
	if (limit > 32767) limit = 32767;
	for (u32 first = 0; first < rows; first += block) {
		if (mneme_poll()) return RUN_STOPPED;
		u32 count = rows - first < block ? rows - first : block, groups = (count + 3) / 4;
		for (u32 r = 0; r < 4 * groups; r++) {
			i16 *out = packed + (size_t)(r & ~3u) * k + 8 * (r & 3);
			const f32 *row = x + (size_t)(first + r) * k;
			f32 top = r < count ? peak(row, k) : 0;
			if (!(top > 1e-30f)) { // an empty row of the last group, or zeros
				row_scale[r] = 0;
				for (u32 i = 0; i < k; i += 8) wasm_v128_store(out + 4 * i, wasm_i32x4_const_splat(0));
				continue;
			}
			row_scale[r] = top / (f32)limit;
			quantize(row, k, (f32)limit / top, out);
		}
		for (u32 c = 0; c < n; c += 4) {
			v ws = wasm_v128_load(l->scale + c), bias = wasm_v128_load(l->bias + c);
			for (u32 g = 0; g < groups; g++) {
				i32 acc[16] __attribute__((aligned(16)));
				const i16 *a = packed + (size_t)g * 4 * k;
				dot4x2_i8(a, l->w + (size_t)c * k, k, acc);
				dot4x2_i8(a, l->w + (size_t)(c + 2) * k, k, acc + 8);
				v c0 = wasm_v128_load(acc), c1 = wasm_v128_load(acc + 4), c2 = wasm_v128_load(acc + 8), c3 = wasm_v128_load(acc + 12);
				v t0 = wasm_i32x4_shuffle(c0, c1, 0, 4, 1, 5), t1 = wasm_i32x4_shuffle(c0, c1, 2, 6, 3, 7);
				v t2 = wasm_i32x4_shuffle(c2, c3, 0, 4, 1, 5), t3 = wasm_i32x4_shuffle(c2, c3, 2, 6, 3, 7);
				v row[4] = {wasm_i32x4_shuffle(t0, t2, 0, 1, 4, 5), wasm_i32x4_shuffle(t0, t2, 2, 3, 6, 7),
					wasm_i32x4_shuffle(t1, t3, 0, 1, 4, 5), wasm_i32x4_shuffle(t1, t3, 2, 3, 6, 7)};
				u32 live = count - 4 * g;
				UNROLL for (u32 i = 0; i < 4; i++) {
					if (i >= live) break;
					v s = wasm_f32x4_mul(ws, wasm_f32x4_splat(row_scale[4 * g + i]));
					v sum = wasm_f32x4_add(wasm_f32x4_mul(wasm_f32x4_convert_i32x4(row[i]), s), bias);
					f32 *out = top ? y + c : y + (size_t)(first + 4 * g + i) * n + c;
					if (top && (first || g || i)) {
						v before = wasm_f32x4_const_splat(0);
						if (c + 4 <= n) before = wasm_v128_load(out);
						else __builtin_memcpy(&before, out, 4 * (n - c));
						sum = wasm_f32x4_pmax(sum, before);
					}
					if (c + 4 <= n) wasm_v128_store(out, sum);
					else __builtin_memcpy(out, &sum, 4 * (n - c));
				}
			}
		}
		if (act == ACT_GELU) gelu(y + (size_t)first * n, count * n);
	}
	return RUN_OK;
}

#ifdef GENERAL // one call of the host, which takes so many rows
#define IN_ONE(name) static int name##_in_one
#else
#define IN_ONE(name) int name
#endif

IN_ONE(linear_run)(const linear *l, const f32 *x, u32 rows, f32 *y, u32 act) {
	if (l->handle) return mneme_nn_linear(l->handle, x, rows, y, act) == 0 ? RUN_OK : RUN_FAILED;
	return run(l, x, rows, y, act, 0);
}

IN_ONE(linear_max)(const linear *l, const f32 *x, u32 rows, f32 *y) {
	if (l->handle) return mneme_nn_linear_max(l->handle, x, rows, y) == 0 ? RUN_OK : RUN_FAILED;
	return run(l, x, rows, y, ACT_NONE, 1);
}

#ifdef GENERAL
// at_once is how many rows the host takes in a call.
static u32 at_once(const linear *l) {
	u64 most = (1ull << 31) / ((u64)l->n * l->k + (1u << 14));
	return most < 16 ? 16 : (u32)most & ~15u;
}

int linear_run(const linear *l, const f32 *x, u32 rows, f32 *y, u32 act) {
	u32 most = at_once(l);
	for (; rows > most; rows -= most, x += (size_t)most * l->k, y += (size_t)most * l->n) {
		int state = linear_run_in_one(l, x, most, y, act);
		if (state != RUN_OK) return state;
	}
	return linear_run_in_one(l, x, rows, y, act);
}

int linear_max(const linear *l, const f32 *x, u32 rows, f32 *y) {
	static f32 *further; // of the rows behind the first
	static u32 room;
	u32 most = at_once(l);
	int state = linear_max_in_one(l, x, rows < most ? rows : most, y);
	if (rows > most && room < l->n) {
		mneme_free(further, 4 * room);
		room = 0;
		if (!(further = mneme_alloc(4 * l->n))) return RUN_FAILED;
		room = l->n;
	}
	while (rows > most && state == RUN_OK) {
		rows -= most, x += (size_t)most * l->k;
		state = linear_max_in_one(l, x, rows < most ? rows : most, further);
		for (u32 i = 0; i < l->n; i++)
			if (further[i] > y[i]) y[i] = further[i];
	}
	return state;
}
#endif

#ifdef HOSTED
const f32 *attention_bias;
static const f32 *head_bias; // of the head that one_head computes

// add_bias adds to the scores of row at over s keys what their distance tells.
static void add_bias(f32 *scores, u32 at, u32 s) {
	for (u32 j = 0; j < s; j++) {
		i32 d = (i32)j - (i32)at;
		d = d < -BIAS_REACH ? -BIAS_REACH : d > BIAS_REACH ? BIAS_REACH : d;
		scores[j] += head_bias[d + BIAS_REACH];
	}
}
#endif

#ifdef GENERAL
// The two functions below compute softmax(Q K^T / sqrt(dim)) V of one head of one text of
// s tokens in 16-bit integers: Q and K with a scale per row, V with a scale per column, the
// probabilities with a scale per row; sums stay below 2^31 by the limits chosen.
#define ONE_HEAD static inline __attribute__((always_inline)) void

static inline f32 largest_code(u32 dk) {
	f32 limit = __builtin_floorf(__builtin_sqrtf(2147483000.0f / (f32)dk));
	return limit > 32767 ? 32767 : limit;
}

// pack_head packs K and V of a head; tops gets the largest magnitude of each column of V.
ONE_HEAD pack_head(const f32 *k, const f32 *val, u32 stride, u32 s, u32 dim, f32 *tops) {
	u32 sk = (s + 15) & ~15u, dk = (dim + 15) & ~15u;
	f32 root = __builtin_sqrtf((f32)dim), limit = largest_code(dk);

	// K as columns of the score product: panels [s/2][dim/8][2][8].
	__builtin_memset(keys, 0, 2 * dk * sk);
	for (u32 j = 0; j < s; j++) {
		const f32 *row = k + (size_t)j * stride;
		f32 top = peak(row, dim);
		key_scale[j] = 0;
		if (!(top > 1e-30f)) continue;
		key_scale[j] = top / limit / root;
		f32 scale = limit / top;
		i16 *o = keys + (size_t)(j & ~1u) * dk + 8 * (j & 1);
		for (u32 i = 0; i < dim; i += 8, o += 16) {
			v magic = wasm_f32x4_const_splat(12582912.0f), bits = wasm_i32x4_const_splat(0x4B400000), m = wasm_f32x4_splat(scale);
			v lo = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(row + i), m), magic);
			v hi = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(row + i + 4), m), magic);
			wasm_v128_store(o, wasm_i16x8_narrow_i32x4(wasm_i32x4_sub(lo, bits), wasm_i32x4_sub(hi, bits)));
		}
	}
	for (u32 j = s; j < sk; j++) key_scale[j] = 0;

	// V transposed: columns of the second product, panels [dim/2][s/8][2][8].
	f32 inverse[256];
	for (u32 i = 0; i < dim; i += 4) {
		v m = wasm_f32x4_const_splat(0);
		for (u32 j = 0; j < s; j++) m = wasm_f32x4_pmax(m, wasm_f32x4_abs(wasm_v128_load(val + (size_t)j * stride + i)));
		wasm_v128_store(tops + i, m);
	}
	for (u32 i = 0; i < dim; i++) inverse[i] = tops[i] > 1e-30f ? 4095.0f / tops[i] : 0;
	if (s != sk) __builtin_memset(values, 0, 2 * dim * sk);
	for (u32 j = 0; j < s; j++) {
		const f32 *row = val + (size_t)j * stride;
		i16 *o = values + (size_t)(j >> 3) * 16 + (j & 7);
		for (u32 i = 0; i < dim; i += 2, o += (size_t)2 * sk) {
			o[0] = (i16)__builtin_rintf(row[i] * inverse[i]);
			o[8] = (i16)__builtin_rintf(row[i + 1] * inverse[i + 1]);
		}
	}
}

// A mask says which keys a row of attention sees: those up to behind tokens before it and ahead after it.
typedef struct { u32 behind, ahead; } mask;

// attend computes the rows of a head whose keys and values are packed; NULL: each sees all keys.
ONE_HEAD attend(const f32 *q, u32 stride, u32 s, u32 dim, u32 width, const f32 *tops, const mask *seen, f32 *out) {
	u32 sk = (s + 15) & ~15u, dk = (dim + 15) & ~15u;
	f32 limit = largest_code(dk);
	i32 acc[8] __attribute__((aligned(16)));
	for (u32 first = 0; first < s; first += 4) {
		u32 live = s - first < 4 ? s - first : 4;
		u32 from = 0, end = s, keys_seen = sk; // the keys that one of the four rows sees, from a multiple of 16
		if (seen) {
			u32 last = first + live - 1;
			from = first > seen->behind ? (first - seen->behind) & ~15u : 0;
			if (s - 1 - last > seen->ahead) end = last + seen->ahead + 1;
			keys_seen = (end - from + 15) & ~15u;
		}
		f32 qs[4];
		for (u32 r = 0; r < 4; r++) {
			const f32 *row = q + (size_t)(first + r) * stride;
			i16 *o = packed + 8 * r;
			f32 top = r < live ? peak(row, dim) : 0;
			qs[r] = top / limit;
			if (dk != dim || !(top > 1e-30f))
				for (u32 i = 0; i < dk; i += 8) wasm_v128_store(o + 4 * i, wasm_i32x4_const_splat(0));
			if (top > 1e-30f) quantize(row, dim, limit / top, o);
		}
		for (u32 j = from; j < end; j += 2) {
			dot4x2_i16(packed, keys + (size_t)j * dk, dk, acc);
			for (u32 r = 0; r < live; r++) {
				scores[r * sk + j - from] = (f32)acc[r] * (qs[r] * key_scale[j]);
				scores[r * sk + j - from + 1] = (f32)acc[4 + r] * (qs[r] * key_scale[j + 1]);
			}
		}
		f32 norm[4];
		for (u32 r = 0; r < 4; r++) {
			i16 *o = weights_ + 8 * r;
			f32 *row = scores + r * sk;
			norm[r] = 0;
			if (r >= live) {
				for (u32 j = 0; j < keys_seen; j += 8) wasm_v128_store(o + 4 * j, wasm_i32x4_const_splat(0));
				continue;
			}
#ifdef HOSTED
			if (attention_bias) add_bias(row, first + r, s);
#endif
			for (u32 j = end - from; j < keys_seen; j++) row[j] = -1e30f;
			if (seen) {
				u32 at = first + r;
				for (u32 j = from; j + seen->behind < at; j++) row[j - from] = -1e30f;
				for (u32 j = at + seen->ahead + 1; j < end; j++) row[j - from] = -1e30f;
			}
			v m = wasm_v128_load(row);
			for (u32 j = 4; j < keys_seen; j += 4) m = wasm_f32x4_pmax(m, wasm_v128_load(row + j));
			v top = wasm_f32x4_splat(hmax(m)), sum = wasm_f32x4_const_splat(0);
			for (u32 j = 0; j < keys_seen; j += 4) {
				v e = exp4(wasm_f32x4_sub(wasm_v128_load(row + j), top));
				sum = wasm_f32x4_add(sum, e);
				wasm_v128_store(row + j, e);
			}
			// Padding holds e^-87 and rounds to zero. Weights sum to at most 2^31 / 4095.
			f32 total = hsum(sum), scale = 524000.0f / total;
			if (scale > 32767) scale = 32767;
			quantize(row, keys_seen, scale, o);
			norm[r] = 1 / (total * scale);
		}
		for (u32 i = 0; i < dim; i += 2) {
			dot4x2_i16(weights_, values + (size_t)i * sk + 2 * from, keys_seen, acc);
			for (u32 r = 0; r < live; r++) {
				f32 *o = out + (size_t)(first + r) * width + i;
				o[0] = (f32)acc[r] * norm[r] * (tops[i] / 4095.0f);
				o[1] = (f32)acc[4 + r] * norm[r] * (tops[i + 1] / 4095.0f);
			}
		}
	}
}

static void one_head(const f32 *q, u32 stride, u32 s, u32 dim, u32 width, f32 *out) {
	f32 tops[256];
	pack_head(q + width, q + 2 * width, stride, s, dim, tops);
	attend(q, stride, s, dim, width, tops, 0, out);
}
#else // as it is in the modules that exist, to the byte: the above with all keys seen
// one_head computes softmax(Q K^T / sqrt(dim)) V of one head of one text of s tokens
// in 16-bit integers: Q and K with a scale per row, V with a scale per column, the
// probabilities with a scale per row; sums stay below 2^31 by the limits chosen.
static void one_head(const f32 *q, u32 stride, u32 s, u32 dim, u32 width, f32 *out) {
	const f32 *k = q + width, *val = q + 2 * width;
	u32 sk = (s + 15) & ~15u, dk = (dim + 15) & ~15u;
	f32 root = __builtin_sqrtf((f32)dim);
	f32 limit = __builtin_floorf(__builtin_sqrtf(2147483000.0f / (f32)dk));
	if (limit > 32767) limit = 32767;

	// K as columns of the score product: panels [s/2][dim/8][2][8].
	__builtin_memset(keys, 0, 2 * dk * sk);
	for (u32 j = 0; j < s; j++) {
		const f32 *row = k + (size_t)j * stride;
		f32 top = peak(row, dim);
		key_scale[j] = 0;
		if (!(top > 1e-30f)) continue;
		key_scale[j] = top / limit / root;
		f32 scale = limit / top;
		i16 *o = keys + (size_t)(j & ~1u) * dk + 8 * (j & 1);
		for (u32 i = 0; i < dim; i += 8, o += 16) {
			v magic = wasm_f32x4_const_splat(12582912.0f), bits = wasm_i32x4_const_splat(0x4B400000), m = wasm_f32x4_splat(scale);
			v lo = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(row + i), m), magic);
			v hi = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(row + i + 4), m), magic);
			wasm_v128_store(o, wasm_i16x8_narrow_i32x4(wasm_i32x4_sub(lo, bits), wasm_i32x4_sub(hi, bits)));
		}
	}
	for (u32 j = s; j < sk; j++) key_scale[j] = 0;

	// V transposed: columns of the second product, panels [dim/2][s/8][2][8].
	f32 tops[256], inverse[256];
	for (u32 i = 0; i < dim; i += 4) {
		v m = wasm_f32x4_const_splat(0);
		for (u32 j = 0; j < s; j++) m = wasm_f32x4_pmax(m, wasm_f32x4_abs(wasm_v128_load(val + (size_t)j * stride + i)));
		wasm_v128_store(tops + i, m);
	}
	for (u32 i = 0; i < dim; i++) inverse[i] = tops[i] > 1e-30f ? 4095.0f / tops[i] : 0;
	if (s != sk) __builtin_memset(values, 0, 2 * dim * sk);
	for (u32 j = 0; j < s; j++) {
		const f32 *row = val + (size_t)j * stride;
		i16 *o = values + (size_t)(j >> 3) * 16 + (j & 7);
		for (u32 i = 0; i < dim; i += 2, o += (size_t)2 * sk) {
			o[0] = (i16)__builtin_rintf(row[i] * inverse[i]);
			o[8] = (i16)__builtin_rintf(row[i + 1] * inverse[i + 1]);
		}
	}

	i32 acc[8] __attribute__((aligned(16)));
	for (u32 first = 0; first < s; first += 4) {
		u32 live = s - first < 4 ? s - first : 4;
		f32 qs[4];
		for (u32 r = 0; r < 4; r++) {
			const f32 *row = q + (size_t)(first + r) * stride;
			i16 *o = packed + 8 * r;
			f32 top = r < live ? peak(row, dim) : 0;
			qs[r] = top / limit;
			if (dk != dim || !(top > 1e-30f))
				for (u32 i = 0; i < dk; i += 8) wasm_v128_store(o + 4 * i, wasm_i32x4_const_splat(0));
			if (top > 1e-30f) quantize(row, dim, limit / top, o);
		}
		for (u32 j = 0; j < s; j += 2) {
			dot4x2_i16(packed, keys + (size_t)j * dk, dk, acc);
			for (u32 r = 0; r < live; r++) {
				scores[r * sk + j] = (f32)acc[r] * (qs[r] * key_scale[j]);
				scores[r * sk + j + 1] = (f32)acc[4 + r] * (qs[r] * key_scale[j + 1]);
			}
		}
		f32 norm[4];
		for (u32 r = 0; r < 4; r++) {
			i16 *o = weights_ + 8 * r;
			f32 *row = scores + r * sk;
			norm[r] = 0;
			if (r >= live) {
				for (u32 j = 0; j < sk; j += 8) wasm_v128_store(o + 4 * j, wasm_i32x4_const_splat(0));
				continue;
			}
#ifdef HOSTED
			if (attention_bias) add_bias(row, first + r, s);
#endif
			for (u32 j = s; j < sk; j++) row[j] = -1e30f;
			v m = wasm_v128_load(row);
			for (u32 j = 4; j < sk; j += 4) m = wasm_f32x4_pmax(m, wasm_v128_load(row + j));
			v top = wasm_f32x4_splat(hmax(m)), sum = wasm_f32x4_const_splat(0);
			for (u32 j = 0; j < sk; j += 4) {
				v e = exp4(wasm_f32x4_sub(wasm_v128_load(row + j), top));
				sum = wasm_f32x4_add(sum, e);
				wasm_v128_store(row + j, e);
			}
			// Padding holds e^-87 and rounds to zero. Weights sum to at most 2^31 / 4095.
			f32 total = hsum(sum), scale = 524000.0f / total;
			if (scale > 32767) scale = 32767;
			quantize(row, sk, scale, o);
			norm[r] = 1 / (total * scale);
		}
		for (u32 i = 0; i < dim; i += 2) {
			dot4x2_i16(weights_, values + (size_t)i * sk, sk, acc);
			for (u32 r = 0; r < live; r++) {
				f32 *o = out + (size_t)(first + r) * width + i;
				o[0] = (f32)acc[r] * norm[r] * (tops[i] / 4095.0f);
				o[1] = (f32)acc[4 + r] * norm[r] * (tops[i + 1] / 4095.0f);
			}
		}
	}
}
#endif

void attention(const f32 *qkv, const u32 *lens, u32 nseq, u32 heads, u32 dim, f32 *out) {
#ifdef HOSTED
	if (!attention_bias)
#endif
	if (mneme_nn_attention(qkv, lens, nseq, heads, dim, out) == 0) return;
	u32 width = heads * dim;
	for (u32 i = 0, at = 0; i < nseq; at += lens[i++])
		for (u32 h = 0; h < heads; h++) {
			mneme_poll(); // the linear layer that follows stops, if need be
#ifdef HOSTED
			if (attention_bias) head_bias = attention_bias + h * (2 * BIAS_REACH + 1);
#endif
			one_head(qkv + (size_t)at * 3 * width + h * dim, 3 * width, lens[i], dim, width, out + (size_t)at * width + h * dim);
		}
}

void add_norm(f32 *x, const f32 *r, u32 rows, u32 n, const f32 *w, const f32 *b, f32 eps) {
	if (r && mneme_nn_add_norm(x, r, rows, n, w, b, eps) == 0) return;
	for (u32 row = 0; row < rows; row++, x += n) {
		v sum = wasm_f32x4_const_splat(0);
		if (r) {
			for (u32 i = 0; i < n; i += 4) {
				v a = wasm_f32x4_add(wasm_v128_load(x + i), wasm_v128_load(r + i));
				wasm_v128_store(x + i, a);
				sum = wasm_f32x4_add(sum, a);
			}
			r += n;
		} else {
			for (u32 i = 0; i < n; i += 4) sum = wasm_f32x4_add(sum, wasm_v128_load(x + i));
		}
		v mean = wasm_f32x4_splat(hsum(sum) / (f32)n), square = wasm_f32x4_const_splat(0);
		for (u32 i = 0; i < n; i += 4) {
			v d = wasm_f32x4_sub(wasm_v128_load(x + i), mean);
			square = wasm_f32x4_add(square, wasm_f32x4_mul(d, d));
		}
		v scale = wasm_f32x4_splat(1 / __builtin_sqrtf(hsum(square) / (f32)n + eps));
		for (u32 i = 0; i < n; i += 4) {
			v d = wasm_f32x4_mul(wasm_f32x4_sub(wasm_v128_load(x + i), mean), scale);
			wasm_v128_store(x + i, wasm_f32x4_add(wasm_f32x4_mul(d, wasm_v128_load(w + i)), wasm_v128_load(b + i)));
		}
	}
}

f32 dot(const f32 *a, const f32 *b, u32 n) {
	v sum = wasm_f32x4_const_splat(0);
	for (u32 i = 0; i < n; i += 4) sum = wasm_f32x4_add(sum, wasm_f32x4_mul(wasm_v128_load(a + i), wasm_v128_load(b + i)));
	return hsum(sum);
}

void normalize_rows(f32 *x, u32 rows, u32 n) {
	for (u32 r = 0; r < rows; r++, x += n) {
		f32 square = dot(x, x, n);
		v scale = wasm_f32x4_splat(square > 0 ? 1 / __builtin_sqrtf(square) : 0);
		for (u32 i = 0; i < n; i += 4) wasm_v128_store(x + i, wasm_f32x4_mul(wasm_v128_load(x + i), scale));
	}
}

void max_dot(const f32 *a, u32 rows, const f32 *b, u32 count, u32 n, f32 *out) {
	u32 i = 0;
	for (; i + 4 <= rows; i += 4, a += 4 * n) {
		const f32 *a1 = a + n, *a2 = a1 + n, *a3 = a2 + n;
		v top = wasm_f32x4_const_splat(-__builtin_inff());
		for (u32 j = 0; j < count; j++) {
			const f32 *y = b + (size_t)j * n;
			v s0 = wasm_f32x4_const_splat(0), s1 = s0, s2 = s0, s3 = s0;
			for (u32 c = 0; c < n; c += 4) {
				v w = wasm_v128_load(y + c);
				s0 = wasm_f32x4_add(s0, wasm_f32x4_mul(w, wasm_v128_load(a + c)));
				s1 = wasm_f32x4_add(s1, wasm_f32x4_mul(w, wasm_v128_load(a1 + c)));
				s2 = wasm_f32x4_add(s2, wasm_f32x4_mul(w, wasm_v128_load(a2 + c)));
				s3 = wasm_f32x4_add(s3, wasm_f32x4_mul(w, wasm_v128_load(a3 + c)));
			}
			top = wasm_f32x4_pmax(top, wasm_f32x4_make(hsum(s0), hsum(s1), hsum(s2), hsum(s3)));
		}
		wasm_v128_store(out + i, top);
	}
	for (; i < rows; i++, a += n) {
		out[i] = dot(a, b, n);
		for (u32 j = 1; j < count; j++) {
			f32 d = dot(a, b + (size_t)j * n, n);
			if (d > out[i]) out[i] = d;
		}
	}
}

f32 exponential(f32 x) { return wasm_f32x4_extract_lane(exp4(wasm_f32x4_splat(x)), 0); }

void tanh_all(f32 *x, u32 n) {
	for (u32 i = 0; i < n; i++) {
		f32 size = __builtin_fabsf(x[i]), e = exponential(-2 * size);
		x[i] = __builtin_copysignf((1 - e) / (1 + e), x[i]);
	}
}

f32 sigmoid(f32 x) {
	f32 e = exponential(-__builtin_fabsf(x));
	return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

// ln is the natural logarithm of x >= 1 (Cephes logf).
static f32 ln(f32 x) {
	union { f32 f; u32 u; } u = {x};
	f32 e = (f32)(u.u >> 23) - 127;
	u.u = (u.u & 0x7FFFFF) | 0x3F800000;
	f32 f = u.f;
	if (f > 1.41421356f) f *= 0.5f, e += 1;
	f -= 1;
	f32 z = f * f, p = 7.0376836292e-2f;
	p = p * f - 1.1514610310e-1f;
	p = p * f + 1.1676998740e-1f;
	p = p * f - 1.2420140846e-1f;
	p = p * f + 1.4249322787e-1f;
	p = p * f - 1.6668057665e-1f;
	p = p * f + 2.0000714765e-1f;
	p = p * f - 2.4999993993e-1f;
	p = p * f + 3.3333331174e-1f;
	return f + (f * z * p + e * -2.12194440e-4f - 0.5f * z) + e * 0.693359375f;
}

f32 log1p_(f32 x) {
	f32 u = 1 + x;
	if (u == 1) return x;
	return x > 1e6f ? ln(x) : ln(u) * (x / (u - 1)); // the quotient undoes the rounding of u
}

#ifdef GENERAL
// sees_all tells whether each token of a text sees all of it.
static int sees_all(const attention_shape *a, u32 tokens) { return !a->causal && (!a->reach || tokens <= a->reach + 1); }

// The keys and values of a group of heads are packed once.
static void attend_text(const attention_shape *a, const f32 *text, u32 tokens, f32 *out) {
	u32 dim = a->dim, width = a->heads * dim, stride = (a->heads + 2 * a->groups) * dim, share = a->heads / a->groups;
	mask seen = {a->reach ? a->reach : ~0u, a->causal ? 0 : a->reach ? a->reach : ~0u};
	f32 tops[256];
	for (u32 g = 0; g < a->groups; g++) {
		mneme_poll(); // the linear layer that follows stops, if need be
		const f32 *key = text + width + g * dim;
		pack_head(key, key + a->groups * dim, stride, tokens, dim, tops);
		for (u32 h = g * share; h < (g + 1) * share; h++)
			attend(text + h * dim, stride, tokens, dim, width, tops, sees_all(a, tokens) ? 0 : &seen, out + h * dim);
	}
}

// Which texts the host's kernel takes depends on each alone, and not on what it comes with.
void attend_all(const attention_shape *a, const f32 *qkv, const u32 *lens, u32 nseq, f32 *out) {
	u32 width = a->heads * a->dim, stride = width + 2 * a->groups * a->dim;
	for (u32 i = 0, at = 0; i < nseq;) {
		const f32 *text = qkv + (size_t)at * stride;
		f32 *to = out + (size_t)at * width;
		u32 n = 0, rows = 0;
		while (a->groups == a->heads && i + n < nseq && sees_all(a, lens[i + n])) rows += lens[i + n++];
		if (n) {
			attention(text, lens + i, n, a->heads, a->dim, to);
		} else {
			attend_text(a, text, lens[i], to);
			n = 1, rows = lens[i];
		}
		i += n, at += rows;
	}
}

// One short text a call: plain loops do.
void attend_first(const attention_shape *a, const f32 *qkv, u32 rows, u32 keys, f32 *out) {
	u32 dim = a->dim, width = a->heads * dim, stride = (a->heads + 2 * a->groups) * dim, share = a->heads / a->groups;
	f32 weight[MAX_KEYS], scale = 1 / __builtin_sqrtf((f32)dim);
	for (u32 h = 0; h < a->heads; h++) {
		const f32 *key = qkv + width + h / share * dim, *value = key + a->groups * dim;
		mneme_poll(); // the linear layer that follows stops, if need be
		for (u32 i = 0; i < rows; i++) {
			const f32 *query = qkv + (size_t)i * stride + h * dim;
			f32 *o = out + (size_t)i * width + h * dim, top = -__builtin_inff(), sum = 0;
			for (u32 j = 0; j < keys; j++) {
				weight[j] = dot(query, key + (size_t)j * stride, dim) * scale;
				if (weight[j] > top) top = weight[j];
			}
			for (u32 j = 0; j < keys; j++) sum += weight[j] = exponential(weight[j] - top);
			for (u32 c = 0; c < dim; c++) o[c] = 0;
			for (u32 j = 0; j < keys; j++)
				for (u32 c = 0; c < dim; c++) o[c] += weight[j] / sum * value[(size_t)j * stride + c];
		}
	}
}

void norm_rows(const norm *l, const f32 *x, u32 rows, u32 stride, f32 *out) {
	u32 n = l->n;
	for (u32 row = 0; row < rows; row++, x += stride, out += stride) {
		v mean = wasm_f32x4_const_splat(0), square = mean;
		if (!l->root) {
			for (u32 i = 0; i < n; i += 4) mean = wasm_f32x4_add(mean, wasm_v128_load(x + i));
			mean = wasm_f32x4_splat(hsum(mean) / (f32)n);
		}
		for (u32 i = 0; i < n; i += 4) {
			v d = wasm_f32x4_sub(wasm_v128_load(x + i), mean);
			square = wasm_f32x4_add(square, wasm_f32x4_mul(d, d));
		}
		v scale = wasm_f32x4_splat(1 / __builtin_sqrtf(hsum(square) / (f32)n + l->epsilon));
		for (u32 i = 0; i < n; i += 4) {
			v d = wasm_f32x4_mul(wasm_f32x4_mul(wasm_f32x4_sub(wasm_v128_load(x + i), mean), scale), wasm_v128_load(l->w + i));
			wasm_v128_store(out + i, l->b ? wasm_f32x4_add(d, wasm_v128_load(l->b + i)) : d);
		}
	}
}

void add_rows(f32 *x, const f32 *r, u32 n) {
	for (u32 i = 0; i < n; i += 4) wasm_v128_store(x + i, wasm_f32x4_add(wasm_v128_load(x + i), wasm_v128_load(r + i)));
}

void rotate_row(f32 *x, u32 heads, u32 dim, const f32 *turn, u32 half) {
	for (u32 h = 0; h < heads; h++, x += dim)
		for (u32 i = 0; i < half; i += 4) {
			v a = wasm_v128_load(x + i), b = wasm_v128_load(x + half + i), c = wasm_v128_load(turn + i), s = wasm_v128_load(turn + half + i);
			wasm_v128_store(x + i, wasm_f32x4_sub(wasm_f32x4_mul(a, c), wasm_f32x4_mul(b, s)));
			wasm_v128_store(x + half + i, wasm_f32x4_add(wasm_f32x4_mul(b, c), wasm_f32x4_mul(a, s)));
		}
}

// times_sigmoid is x / (1 + e^-z).
static inline v times_sigmoid(v x, v z) {
	v e = exp4(wasm_f32x4_neg(wasm_f32x4_abs(z))), one = wasm_f32x4_const_splat(1.0f);
	v top = wasm_v128_bitselect(e, one, wasm_f32x4_lt(z, wasm_f32x4_const_splat(0)));
	return wasm_f32x4_mul(x, wasm_f32x4_div(top, wasm_f32x4_add(one, e)));
}

void gate_rows(f32 *x, u32 rows, u32 n, gating act) {
	f32 *out = x;
	for (u32 row = 0; row < rows; row++, x += 2 * n, out += n) {
		if (act == GATE_GELU) gelu(x, n);
		for (u32 i = 0; i < n; i += 4) {
			v a = wasm_v128_load(x + i), z = a;
			if (act == GATE_GELU_TANH) { // tanh(y) is 2 sigmoid(2y) - 1; 1.5957691 is 2 sqrt(2/pi)
				v cube = wasm_f32x4_mul(wasm_f32x4_mul(wasm_f32x4_mul(a, a), a), wasm_f32x4_const_splat(0.044715f));
				z = wasm_f32x4_mul(wasm_f32x4_add(a, cube), wasm_f32x4_const_splat(1.59576912f));
			}
			if (act != GATE_GELU) a = times_sigmoid(a, z);
			wasm_v128_store(out + i, wasm_f32x4_mul(a, wasm_v128_load(x + n + i)));
		}
	}
}

f32 cosine_of(f32 angle, f32 *sine) {
	// Quarter turns off in double, whose pi/2 is near enough for any window; then Taylor's series on |x| <= pi/4.
	double turns = __builtin_rint((double)angle * 0.63661977236758134), x = (double)angle - turns * 1.5707963267948966, t = x * x;
	double s = x * (1 + t * (-1.0 / 6 + t * (1.0 / 120 + t * (-1.0 / 5040 + t / 362880))));
	double c = 1 + t * (-1.0 / 2 + t * (1.0 / 24 + t * (-1.0 / 720 + t * (1.0 / 40320 - t / 3628800))));
	switch ((i32)turns & 3) {
	case 0: *sine = (f32)s; return (f32)c;
	case 1: *sine = (f32)c; return (f32)-s;
	case 2: *sine = (f32)-s; return (f32)-c;
	default: *sine = (f32)-c; return (f32)s;
	}
}
#endif
