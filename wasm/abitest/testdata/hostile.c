// A module that does what its first text says: the ways in which a stranger's
// model may fail or lie. Vectors have 4 dimensions.
#define MNEME_IMPLEMENTATION
#include "mneme.h"

MNEME_IMPORT("mneme", "emit") u32 mneme_emit(const void *p, u32 n);

static const char about[] = "{\"name\":\"hostile\",\"version\":\"1\",\"licence\":\"Apache-2.0\",\"tasks\":[{\"task\":\"embedding\",\"dim\":4,\"max_tokens\":16,\"normalized\":true}]}";

u64 MNEME_EXPORT(mneme_describe)(void) {
	char *p = mneme_alloc(sizeof about - 1);
	if (!p) return 0;
	__builtin_memcpy(p, about, sizeof about - 1);
	return MNEME_PACK(p, sizeof about - 1);
}

u64 MNEME_EXPORT(mneme_open)(const char *json, u32 n) {
	double v;
	if (mneme_json_number(json, n, "fail_open", &v) && v != 0) return mneme_fail(MNEME_UNSUPPORTED, "told to fail");
	if (mneme_json_number(json, n, "trap_open", &v) && v != 0) __builtin_trap();
	return mneme_finish(mneme_new(MNEME_TEXT, 0, 0, 0, 0, 0));
}

static int is(mneme_text t, const char *word) {
	u32 n = mneme_strlen(word);
	if (t.n != n) return 0;
	for (u32 i = 0; i < n; i++)
		if (t.p[i] != (u8)word[i]) return 0;
	return 1;
}

static mneme_result *vectors(u32 rows) {
	mneme_result *r = mneme_new(MNEME_DENSE, rows, 4, 0, 16ull * rows, 1);
	if (!r) __builtin_trap();
	for (u32 i = 0; i < 4 * rows; i++) ((f32 *)(r + 1))[i] = i % 4 == 0;
	for (u32 i = 0; i < rows; i++) ((u32 *)((u8 *)r + r->tokens_off))[i] = 3;
	return r;
}

static u64 failed(const char *what) { return mneme_fail(MNEME_INTERNAL, what); }

// imports asks the host for memory that is not there; 0 when it refused it all.
static const char *imports(void) {
	static u8 buffer[64];
	static f32 numbers[64];
	u32 far = 0xFFFFFFF0u;
	if (mneme_asset_size("secret", 6) != 6) return "asset_size is wrong";
	if (mneme_asset_size("nothing", 7) != ~0ull) return "asset_size found nothing";
	if (mneme_asset_size((const char *)far, 64) != ~0ull) return "asset_size read outside";
	if (mneme_asset_read("secret", 6, 0, buffer, 6) != 0 || buffer[0] != 's') return "asset_read failed";
	if (mneme_asset_read("secret", 6, 6, buffer, 0) != 0) return "empty asset_read failed";
	if (mneme_asset_read("secret", 6, 1, buffer, 6) == 0) return "asset_read went past the end";
	if (mneme_asset_read("secret", 6, ~0ull, buffer, 2) == 0) return "asset_read overflowed";
	if (mneme_asset_read("secret", 6, 7, buffer, 0) == 0) return "asset_read began past the end";
	if (mneme_asset_read("secret", 6, 0, (void *)far, 6) == 0) return "asset_read wrote outside";
	mneme_log(9, "level", 5);
	mneme_log(MNEME_LOG_INFO, (const char *)far, 64);
	mneme_log(MNEME_LOG_INFO, "hello", 5);
	if (mneme_emit(buffer, 1) == 0) return "emit took a part";
	if (mneme_nn_linear_open((const char *)far, 64, 4, 4)) return "linear_open read outside";
	if (mneme_nn_linear_open("layer", 5, 0, 16)) return "linear_open took no outputs";
	if (mneme_nn_linear_open("layer", 5, 16, 0)) return "linear_open took no inputs";
	if (mneme_nn_linear_open("layer", 5, 0xFFFFFFFFu, 0xFFFFFFFFu)) return "linear_open overflowed";
	if (mneme_nn_linear_open("layer", 5, 32, 16)) return "linear_open took another shape";
	u32 handle = mneme_nn_linear_open("layer", 5, 16, 16);
	if (handle) { // on machines with kernels
		for (int i = 0; i < 16; i++) numbers[i] = 1;
		if (mneme_nn_linear_open("layer", 5, 16, 16) != handle) return "linear_open made a second handle";
		if (mneme_nn_linear(handle, numbers, 1, numbers + 16, 0) != 0) return "linear failed";
		for (int i = 16; i < 32; i++)
			if (numbers[i] < 15.7f || numbers[i] > 16.3f) return "linear is wrong";
		if (mneme_nn_linear(handle, (f32 *)far, 1, numbers, 0) == 0) return "linear read outside";
		if (mneme_nn_linear(handle, numbers, 1, (f32 *)far, 0) == 0) return "linear wrote outside";
		if (mneme_nn_linear(handle, numbers, 0xFFFFFFFFu, numbers, 0) == 0) return "linear overflowed";
		if (mneme_nn_linear(handle, numbers, 0x10000000u, numbers, 0) == 0) return "linear overflowed its bytes";
		if (mneme_nn_linear(handle, numbers, 1, numbers, 7) == 0) return "linear took an activation";
		if (mneme_nn_linear(handle, (f32 *)((u8 *)numbers + 1), 1, numbers, 0) == 0) return "linear took odd memory";
	}
	if (mneme_nn_linear(handle + 1, numbers, 1, numbers, 0) == 0) return "linear took a handle never given";
	if (mneme_nn_linear(0, numbers, 1, numbers, 0) == 0) return "linear took no handle";
	if (mneme_nn_linear(0xFFFFFFFFu, numbers, 1, numbers, 0) == 0) return "linear took a wild handle";
	static u32 lens[4] = {0xFFFFFFFFu, 0xFFFFFFFFu, 2, 0};
	if (mneme_nn_attention(numbers, lens, 1, 1, 8, numbers) == 0) return "attention took a wild length";
	if (mneme_nn_attention(numbers, lens, 2, 1, 8, numbers) == 0) return "attention overflowed";
	if (mneme_nn_attention(numbers, lens + 2, 0xFFFFFFFFu, 1, 8, numbers) == 0) return "attention read a wild table";
	if (mneme_nn_attention(numbers, lens + 2, 1, 0xFFFFFFFFu, 0xFFFFFFFFu, numbers) == 0) return "attention took wild heads";
	if (mneme_nn_attention(numbers, lens + 2, 1, 0, 0, numbers) == 0) return "attention took no heads";
	if (mneme_nn_attention((f32 *)far, lens + 2, 1, 1, 8, numbers) == 0) return "attention read outside";
	if (mneme_nn_attention(numbers, (u32 *)far, 16, 1, 8, numbers) == 0) return "attention read its table outside";
	mneme_nn_attention(numbers, (u32 *)numbers, 2, 1, 8, numbers); // the table lies in the output
	if (mneme_nn_add_norm(numbers, numbers, 0xFFFFFFFFu, 0xFFFFFFFFu, numbers, numbers, 1) == 0) return "add_norm overflowed";
	if (mneme_nn_add_norm(numbers, (f32 *)far, 1, 16, numbers, numbers, 1) == 0) return "add_norm read outside";
	if (mneme_nn_add_norm(numbers, numbers, 1, 0, numbers, numbers, 1) == 0) return "add_norm took no width";
	return 0;
}

u64 MNEME_EXPORT(mneme_embed)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags;
	u64 bad = mneme_frame(p, n, &texts, &rows, &flags);
	if (bad) return bad;
	if (rows == 0) return mneme_finish(vectors(0));
	mneme_text t = texts[0];
	mneme_free(texts, rows * sizeof *texts);
	static volatile u32 sink;
	if (is(t, "trap")) __builtin_trap();
	if (is(t, "loop"))
		for (;;) sink++;
	if (is(t, "spin")) // about a second, deaf to the host
		for (u32 i = 0; i < 1500000000u; i++) sink = i;
	if (is(t, "poll")) {
		mneme_log(MNEME_LOG_INFO, "polling", 7);
		while (!mneme_poll()) sink++;
		return mneme_fail(MNEME_STOPPED, "stopped");
	}
	if (is(t, "recurse")) {
		u8 frame[4096];
		frame[0] = (u8)rows;
		sink += frame[sink & 4095];
		return mneme_embed(p, n) + sink;
	}
	if (is(t, "grow")) {
		while (mneme_alloc(1 << 20)) sink++;
		return 0;
	}
	if (is(t, "imports")) {
		const char *wrong = imports();
		if (wrong) return failed(wrong);
	}
	if (is(t, "invalid")) return mneme_fail(MNEME_INVALID, "not my language");
	if (is(t, "long")) return mneme_fail(MNEME_TOO_LONG, "too long");
	if (is(t, "internal")) return failed("secret path /home/x");
	if (is(t, "zero")) return 0;
	if (is(t, "outside")) return MNEME_PACK(0xFFFFFF00u, 4096);
	if (is(t, "huge")) return MNEME_PACK(16, 0xFFFFFFF0u);
	mneme_result *r = vectors(rows);
	if (is(t, "rows")) r->rows++;
	if (is(t, "dim")) r->dim = 2;
	if (is(t, "product")) r->rows = 0xFFFFFFFFu, r->dim = 0xFFFFFFFFu;
	if (is(t, "total")) r->total += 4;
	if (is(t, "body")) r->body_off = 0xFFFFFFFCu;
	if (is(t, "tokens")) r->tokens_off = 0xFFFFFFFCu;
	if (is(t, "untold")) r->tokens_off = 0;
	if (is(t, "kind")) r->kind = 99;
	if (is(t, "scores")) r->kind = MNEME_SCORES;
	if (is(t, "nan")) ((u32 *)(r + 1))[1] = 0x7FC00000u;
	return MNEME_PACK(r, r->total - (is(t, "total") ? 4 : 0));
}
