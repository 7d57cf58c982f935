// A module that does what its first text says: the ways in which a stranger's
// model may fail or lie. Vectors have 4 dimensions, 16 terms make the vocabulary.
#define MNEME_IMPLEMENTATION
#define MNEME_ABI_MINOR 1u // it uses nothing later
#include "mneme.h"

MNEME_IMPORT("mneme", "emit") u32 mneme_emit(const void *p, u32 n);

// The tasks it claims: those that the configuration names, as numbers, else embedding.
static int embeds = 1, encodes, reranks, twice, windowless, unscaled, scaled;

static char *put(char *o, const char *s) {
	while (*s) *o++ = *s++;
	return o;
}

u64 MNEME_EXPORT(mneme_describe)(void) {
	char *p = mneme_alloc(512), *o = p;
	if (!p) return 0;
	o = put(o, "{\"name\":\"hostile\",\"version\":\"1\",\"licence\":\"Apache-2.0\",\"tasks\":[");
	const char *window = windowless ? ",\"max_tokens\":0" : ",\"max_tokens\":16", *comma = "";
	for (int i = 0; i <= twice; i++) {
		if (embeds) o = put(put(put(put(o, comma), unscaled ? "{\"task\":\"embedding\",\"dim\":4" : "{\"task\":\"embedding\",\"dim\":4,\"normalized\":true"), window), "}"), comma = ",";
		if (encodes) o = put(put(put(put(o, comma), encodes == 2 ? "{\"task\":\"sparse\"" : "{\"task\":\"sparse\",\"vocab\":16"), window), "}"), comma = ",";
		if (reranks) o = put(put(put(put(o, comma), "{\"task\":\"rerank\""), window), "}"), comma = ",";
	}
	o = put(o, "]}");
	return MNEME_PACK(p, o - p);
}

u64 MNEME_EXPORT(mneme_open)(const char *json, u32 n) {
	double v;
	if (mneme_json_number(json, n, "fail_open", &v) && v != 0) return mneme_fail(MNEME_UNSUPPORTED, "told to fail");
	if (mneme_json_number(json, n, "trap_open", &v) && v != 0) __builtin_trap();
	if (mneme_json_number(json, n, "sparse", &v)) encodes = (int)v, embeds = 0;
	if (mneme_json_number(json, n, "rerank", &v)) reranks = (int)v, embeds = 0;
	if (mneme_json_number(json, n, "embedding", &v)) embeds = (int)v;
	if (mneme_json_number(json, n, "twice", &v)) twice = (int)v;
	if (mneme_json_number(json, n, "windowless", &v)) windowless = (int)v;
	if (mneme_json_number(json, n, "unscaled", &v)) unscaled = (int)v; // does not claim unit length
	if (mneme_json_number(json, n, "scaled", &v)) scaled = (int)v;     // gives length 7
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

// tokenizers asks for tokenizers, texts and memory that are not there.
static const char *tokenizers(void) {
	static u32 ids[8];
	void *far = (void *)0xFFFFFFF0u;
	if (mneme_tokenizer_open(far, 64)) return "tokenizer_open read outside";
	if (mneme_tokenizer_open("nothing", 7)) return "tokenizer_open found nothing";
	if (mneme_tokenizer_open("secret", 6) || mneme_tokenizer_open("secret", 6)) return "tokenizer_open took what is none";
	u32 words = mneme_tokenizer_open("words", 5);
	if (!words || mneme_tokenizer_open("words", 5) != words) return "tokenizer_open made a second handle";
	if (mneme_tokenize(words, "ab b", 4, ids, 8) != 3 || ids[0] != 1 || ids[1] != 2 || ids[2] != 3 || ids[3]) return "tokenize is wrong";
	if (mneme_tokenize(words, "ab b", 4, 0, 0xFFFFFFFFu) != 3) return "tokenize counted wrong";
	ids[1] = 7;
	if (mneme_tokenize(words, "ab b", 4, ids, 1) != 1 || ids[1] != 7) return "tokenize left its room";
	if (mneme_tokenize(words, "", 0, ids, 8) != 0) return "tokenize found an empty text's ids";
	if (mneme_tokenize(words, "\xff", 1, ids, 8) != MNEME_TOKENIZE_INVALID) return "tokenize took what is not UTF-8";
	if (mneme_tokenize(words, far, 64, ids, 8) != MNEME_TOKENIZE_BAD) return "tokenize read outside";
	if (mneme_tokenize(words, "b", 1, far, 8) != MNEME_TOKENIZE_BAD) return "tokenize wrote outside";
	if (mneme_tokenize(words, "b", 1, ids, 0xFFFFFFFFu) != MNEME_TOKENIZE_BAD) return "tokenize overflowed";
	if (mneme_tokenize(words, "b", 1, (u32 *)((u8 *)ids + 1), 1) != MNEME_TOKENIZE_BAD) return "tokenize took odd memory";
	if (mneme_tokenize(words + 1, "b", 1, ids, 8) != MNEME_TOKENIZE_BAD) return "tokenize took a handle never given";
	if (mneme_tokenize(0, "b", 1, ids, 8) != MNEME_TOKENIZE_BAD) return "tokenize took no handle";
	u32 slow = mneme_tokenizer_open("slow", 4);
	if (!slow || slow == words) return "tokenizer_open knows one tokenizer only";
	static char many[3000];
	__builtin_memset(many, 'a', sizeof many);
	if (mneme_tokenize(slow, many, sizeof many, ids, 8) != MNEME_TOKENIZE_FAILED) return "tokenize went on for ever";
	if (mneme_token_id(words, "##b", 3) != 2) return "token_id is wrong";
	if (mneme_token_id(words, "x", 1) != MNEME_TOKENIZE_INVALID) return "token_id found nothing";
	if (mneme_token_id(words, far, 64) != MNEME_TOKENIZE_BAD) return "token_id read outside";
	if (mneme_token_id(9, "b", 1) != MNEME_TOKENIZE_BAD) return "token_id took a handle never given";
	return 0;
}

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
		if (mneme_nn_linear_max(handle, numbers, 1, numbers + 16) != 0) return "linear_max failed";
		for (int i = 16; i < 32; i++)
			if (numbers[i] < 15.7f || numbers[i] > 16.3f) return "linear_max is wrong";
		if (mneme_nn_linear_max(handle, (f32 *)far, 1, numbers) == 0) return "linear_max read outside";
		if (mneme_nn_linear_max(handle, numbers, 1, (f32 *)far) == 0) return "linear_max wrote outside";
		if (mneme_nn_linear_max(handle, numbers, 0, numbers) == 0) return "linear_max took no rows";
		if (mneme_nn_linear_max(handle, numbers, 0xFFFFFFFFu, numbers) == 0) return "linear_max overflowed";
		if (mneme_nn_linear_max(handle, numbers, 0x10000000u, numbers) == 0) return "linear_max overflowed its bytes";
		if (mneme_nn_linear(handle, (f32 *)((u8 *)numbers + 1), 1, numbers, 0) == 0) return "linear took odd memory";
	}
	if (mneme_nn_linear(handle + 1, numbers, 1, numbers, 0) == 0) return "linear took a handle never given";
	if (mneme_nn_linear(0, numbers, 1, numbers, 0) == 0) return "linear took no handle";
	if (mneme_nn_linear_max(0, numbers, 1, numbers) == 0) return "linear_max took no handle";
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

// misbehave does what t says where any operation may do it; 0 when it says
// nothing of that kind. *answer is then the operation's answer.
static int misbehave(const void *p, u32 n, mneme_text t, u64 *answer) {
	static volatile u32 sink;
	*answer = 0;
	if (is(t, "trap")) __builtin_trap();
	if (is(t, "loop"))
		for (;;) sink++;
	if (is(t, "spin")) // seconds, of the quickest processor one, deaf to the host
		for (u32 i = 0; i < 4; i++)
			for (u32 j = 0; j < 1500000000u; j++) sink = j;
	if (is(t, "poll")) {
		mneme_log(MNEME_LOG_INFO, "polling", 7);
		while (!mneme_poll()) sink++;
		*answer = mneme_fail(MNEME_STOPPED, "stopped");
		return 1;
	}
	if (is(t, "recurse")) {
		u8 frame[4096];
		frame[0] = (u8)n;
		sink += frame[sink & 4095];
		*answer = misbehave(p, n, t, answer) + sink;
		return 1;
	}
	if (is(t, "grow")) {
		while (mneme_alloc(1 << 20)) sink++;
		return 1;
	}
	if (is(t, "flood")) // a hundred thousand lines of the log and parts of an answer
		for (u32 i = 0; i < 100000; i++) mneme_log(MNEME_LOG_ERROR, "flood\x1b[2J\nflood", 15), mneme_emit("x", 1);
	if (is(t, "heavy")) { // an attention of 10^12 multiply-adds, which no deadline could stop
		u32 tokens = 1000000, *lens = mneme_alloc(4);
		f32 *qkv = mneme_alloc(12 * tokens), *out = mneme_alloc(4 * tokens);
		if (!lens || !qkv || !out) return 1;
		*lens = tokens;
		if (mneme_nn_attention(qkv, lens, 1, 1, 1, out) != 1) return *answer = failed("attention took too much work"), 1;
	}
	if (is(t, "kernel")) { // a layer in place over more rows than one panel has
		u32 rows = 40000;
		u32 handle = mneme_nn_linear_open("layer", 5, 16, 16);
		f32 *x = mneme_alloc(64 * rows);
		if (!x) return 1;
		mneme_log(MNEME_LOG_INFO, "kernel", 6);
		u32 said = mneme_nn_linear(handle, x, rows, x, 0);
		mneme_free(x, 64 * rows);
		mneme_log(MNEME_LOG_INFO, said ? "refused" : "survived", said ? 7 : 8);
	}
	if (is(t, "leak") && !mneme_alloc(1 << 20)) return 1; // until there is no more
	static u32 told;
	if (is(t, "tired") && told++) return *answer = mneme_fail(MNEME_NO_MEMORY, "only once an instance"), 1;
	if (is(t, "starving")) return *answer = mneme_fail(MNEME_NO_MEMORY, "never"), 1;
	if (is(t, "imports")) {
		const char *wrong = imports();
		if (!wrong) wrong = tokenizers();
		if (wrong) return *answer = failed(wrong), 1;
	}
	if (is(t, "invalid")) return *answer = mneme_fail(MNEME_INVALID, "not my language"), 1;
	if (is(t, "long")) return *answer = mneme_fail(MNEME_TOO_LONG, "too long"), 1;
	if (is(t, "internal")) return *answer = failed("secret path /home/x"), 1;
	if (is(t, "zero")) return 1;
	if (is(t, "outside")) return *answer = MNEME_PACK(0xFFFFFF00u, 4096), 1;
	if (is(t, "huge")) return *answer = MNEME_PACK(16, 0xFFFFFFF0u), 1;
	return 0;
}

// first reads the request; its first text says what to do. Not 0: the answer.
static u64 first(const void *p, u32 n, u32 *rows, mneme_text *t) {
	mneme_text *texts;
	u32 flags;
	u64 answer = mneme_frame(p, n, &texts, rows, &flags);
	if (answer) return answer;
	*t = *rows ? texts[0] : (mneme_text){0, 0};
	mneme_free(texts, *rows * sizeof *texts);
	return misbehave(p, n, *t, &answer) ? answer ? answer : 1 : 0; // 1: out of memory
}

// lie changes what every kind of answer has.
static u64 lie(mneme_result *r, mneme_text t) {
	if (is(t, "rows")) r->rows++;
	if (is(t, "fewer")) r->rows--;
	if (is(t, "total")) r->total += 4;
	if (is(t, "body")) r->body_off = 0xFFFFFFFCu;
	if (is(t, "tokens")) r->tokens_off = 0xFFFFFFFCu;
	if (is(t, "untold")) r->tokens_off = 0;
	if (is(t, "kind")) r->kind = 99;
	return MNEME_PACK(r, r->total - (is(t, "total") ? 4 : 0));
}

u64 MNEME_EXPORT(mneme_embed)(const void *p, u32 n) {
	mneme_text t;
	u32 rows;
	u64 answer = first(p, n, &rows, &t);
	if (answer) return answer == 1 ? 0 : answer;
	mneme_result *r = vectors(rows);
	if (is(t, "dim")) r->dim = 2;
	if (is(t, "product")) r->rows = 0xFFFFFFFFu, r->dim = 0xFFFFFFFFu;
	if (is(t, "scores")) r->kind = MNEME_SCORES;
	if (is(t, "nan")) ((u32 *)(r + 1))[1] = 0x7FC00000u;
	if (is(t, "scaled") || scaled) ((f32 *)(r + 1))[0] = 7;
	if (is(t, "slightly")) ((f32 *)(r + 1))[0] = 1.002f;
	if (is(t, "rounded")) ((f32 *)(r + 1))[0] = 1.0005f;
	if (is(t, "null vector")) ((f32 *)(r + 1))[0] = 0;
	return lie(r, t);
}

// Every text has terms 1 and 5.
u64 MNEME_EXPORT(mneme_sparse)(const void *p, u32 n) {
	mneme_text t;
	u32 rows;
	u64 answer = first(p, n, &rows, &t);
	if (answer) return answer == 1 ? 0 : answer;
	mneme_result *r = mneme_new(MNEME_SPARSE, rows, 0, 2 * rows, 4ull * (rows + 1) + 16ull * rows, 1);
	if (!r) return 0;
	u32 *offsets = (u32 *)(r + 1), *terms = offsets + rows + 1;
	f32 *weights = (f32 *)(terms + 2 * rows);
	for (u32 i = 0; i < rows; i++) {
		offsets[i] = 2 * i;
		terms[2 * i] = 1, terms[2 * i + 1] = 5;
		weights[2 * i] = 1, weights[2 * i + 1] = 0.5f;
		((u32 *)((u8 *)r + r->tokens_off))[i] = 3;
	}
	offsets[rows] = 2 * rows;
	if (is(t, "falling")) terms[0] = 6;
	if (is(t, "double")) terms[0] = 5;
	if (is(t, "vocabulary")) terms[1] = 16;
	if (is(t, "wild term")) terms[1] = 0xFFFFFFFFu;
	if (is(t, "weightless")) weights[1] = 0;
	if (is(t, "negative")) weights[0] = -1;
	if (is(t, "nan")) ((u32 *)weights)[0] = 0x7FC00000u;
	if (is(t, "infinite")) ((u32 *)weights)[0] = 0x7F800000u;
	if (is(t, "offsets")) offsets[1] = 0xFFFFFFF0u;
	if (is(t, "last offset")) offsets[rows]--;
	if (is(t, "more terms")) r->nnz += 2;
	if (is(t, "wild terms")) r->nnz = 0xFFFFFFFFu;
	if (is(t, "dense")) r->kind = MNEME_DENSE, r->dim = 1;
	return lie(r, t);
}

// Every text scores 0.5; those that are longer than 16 bytes were cut.
u64 MNEME_EXPORT(mneme_rerank)(const void *p, u32 n) {
	mneme_text t, *texts;
	u32 rows, flags;
	u64 answer = first(p, n, &rows, &t);
	if (answer) return answer == 1 ? 0 : answer;
	if ((answer = mneme_frame(p, n, &texts, &rows, &flags))) return answer;
	if (rows == 0) return mneme_fail(MNEME_INVALID, "there is no query");
	u32 count = rows - 1;
	mneme_result *r = mneme_new(MNEME_SCORES, count, 0, 0, 8ull * count, 1);
	if (!r) return 0;
	f32 *scores = (f32 *)(r + 1);
	u32 *cut = (u32 *)(scores + count), *tokens = (u32 *)((u8 *)r + r->tokens_off);
	r->nnz = (u32)((u8 *)cut - (u8 *)r);
	for (u32 i = 0; i < count; i++) scores[i] = 0.5f, cut[i] = texts[i + 1].n > 16, tokens[i] = cut[i] ? 16 : 3;
	mneme_free(texts, rows * sizeof *texts);
	if (is(t, "above")) scores[0] = 1.0000001f;
	if (is(t, "below")) scores[0] = -1e-9f;
	if (is(t, "nan")) ((u32 *)scores)[0] = 0x7FC00000u;
	if (is(t, "infinite")) ((u32 *)scores)[0] = 0xFF800000u;
	if (is(t, "cut")) r->nnz = 0xFFFFFFFCu;
	if (is(t, "uncut")) r->nnz = 0;
	if (is(t, "dense")) r->kind = MNEME_DENSE, r->dim = 1;
	if (is(t, "sparse")) r->kind = MNEME_SPARSE;
	return lie(r, t);
}
