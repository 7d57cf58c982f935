// mneme.h: the C side of the Mneme model ABI 1.3 (wasm/abi/ABI.md). One header,
// no libc. Include it in every file; define MNEME_IMPLEMENTATION in one.
//
// Build: clang --target=wasm32 -O3 -msimd128 -mbulk-memory -nostdlib -Wl,--no-entry
// A model exports mneme_describe, mneme_open and the operations it offers;
// mneme_abi, mneme_alloc and mneme_free come from here. In C++ put extern "C" before
// each export; what is declared here has it.
//
//	u64 MNEME_EXPORT(mneme_embed)(const void *p, u32 n) {
//		mneme_text *texts;
//		u32 rows, flags;
//		u64 bad = mneme_frame(p, n, &texts, &rows, &flags); // reads the request
//		if (bad) return bad;
//		mneme_result *r = mneme_new_dense(rows, DIM);       // makes the answer
//		if (!r) return 0;                                   // 0 is "out of memory"
//		for (u32 i = 0; i < rows; i++) mneme_read(r)[i] = embed(texts[i], mneme_values(r) + i * DIM);
//		mneme_free(texts, rows * sizeof *texts);
//		return mneme_finish(r);
//	}
#ifndef MNEME_H
#define MNEME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef float f32;

#define MNEME_EXPORT(name) __attribute__((export_name(#name))) name
#define MNEME_IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

#define MNEME_ABI_MAJOR 1u
#ifndef MNEME_ABI_MINOR // a module that is written for an earlier one says so before it includes this
#define MNEME_ABI_MINOR 3u
#endif

// Kinds of a result frame.
enum { MNEME_ERROR, MNEME_DENSE, MNEME_SCORES, MNEME_SPARSE, MNEME_TEXT, MNEME_COUNTS, MNEME_IDS };
// Codes of an error frame.
enum { MNEME_INVALID = 1, MNEME_TOO_LONG, MNEME_UNSUPPORTED, MNEME_NO_MEMORY, MNEME_INTERNAL, MNEME_STOPPED };
// Flags of a request frame.
enum { MNEME_QUERY = 1 };
enum { MNEME_LOG_DEBUG, MNEME_LOG_INFO, MNEME_LOG_WARN, MNEME_LOG_ERROR };

// Imports, module "mneme".
MNEME_IMPORT("mneme", "asset_size") u64 mneme_asset_size(const char *name, u32 len); // bytes; ~0 when absent
MNEME_IMPORT("mneme", "asset_read") u32 mneme_asset_read(const char *name, u32 len, u64 off, void *dst, u32 n); // 0 when read whole
// A tokenizer.json among the assets: a handle, 0 when it is absent or not supported; the number of ids of a text, room at
// most, written unless ids is NULL; the id of a token. From MNEME_TOKENIZE_FAILED on it is neither.
MNEME_IMPORT("mneme", "tokenizer_open") u32 mneme_tokenizer_open(const char *name, u32 len);
MNEME_IMPORT("mneme", "tokenize") u32 mneme_tokenize(u32 handle, const void *text, u32 n, u32 *ids, u32 room);
MNEME_IMPORT("mneme", "token_id") u32 mneme_token_id(u32 handle, const char *token, u32 n);
#define MNEME_TOKENIZE_INVALID 0xFFFFFFFFu // not UTF-8; of token_id: there is no such token
#define MNEME_TOKENIZE_BAD 0xFFFFFFFEu     // a handle or pointer is wrong
#define MNEME_TOKENIZE_STOPPED 0xFFFFFFFDu // give up, answer MNEME_STOPPED
#define MNEME_TOKENIZE_FAILED 0xFFFFFFFCu  // the tokenizer takes too long on this text
MNEME_IMPORT("mneme", "log") void mneme_log(u32 level, const char *text, u32 len);
MNEME_IMPORT("mneme", "poll") u32 mneme_poll(void); // not 0: give up, answer MNEME_STOPPED

// Imports, module "mneme_nn": 0 from *_open and not 0 from the others mean
// "unsupported here": use your own loops.
MNEME_IMPORT("mneme_nn", "linear_open") u32 mneme_nn_linear_open(const char *name, u32 len, u32 n, u32 k);
MNEME_IMPORT("mneme_nn", "linear") u32 mneme_nn_linear(u32 handle, const f32 *x, u32 rows, f32 *y, u32 act);
MNEME_IMPORT("mneme_nn", "linear_max") u32 mneme_nn_linear_max(u32 handle, const f32 *x, u32 rows, f32 *y);
MNEME_IMPORT("mneme_nn", "attention") u32 mneme_nn_attention(const f32 *qkv, const u32 *lens, u32 nseq, u32 heads, u32 dim, f32 *out);
MNEME_IMPORT("mneme_nn", "add_norm") u32 mneme_nn_add_norm(f32 *x, const f32 *r, u32 rows, u32 n, const f32 *w, const f32 *b, f32 eps);

typedef struct { u32 version, rows, flags, zero; } mneme_request;   // then rows x {off, len}
typedef struct { u32 kind, rows, dim, nnz, body_off, tokens_off, code, total; } mneme_result; // of scores nnz is cut_off
typedef struct { const u8 *p; u32 n; } mneme_text;

// The exported allocator. 16-byte aligned; NULL when out of memory.
void *mneme_alloc(u32 n);
void mneme_free(void *p, u32 n);

#define MNEME_PACK(p, n) ((u64)(uintptr_t)(p) << 32 | (u32)(n))

// mneme_fail makes an error frame; 0 (no memory) when even that does not fit.
u64 mneme_fail(u32 code, const char *message);
// mneme_new makes a result frame of body bytes and, with tokens set, a u32 a row after it.
mneme_result *mneme_new(u32 kind, u32 rows, u32 dim, u32 nnz, u64 body, int tokens);
u64 mneme_finish(mneme_result *r);

// Answers by kind, zeroed; NULL when out of memory. mneme_read: the tokens read of each row, which the host
// wants of dense and sparse answers.
mneme_result *mneme_new_dense(u32 rows, u32 dim);  // mneme_values: rows x dim
mneme_result *mneme_new_scores(u32 rows);          // mneme_values: a probability a row; mneme_cut: not 0 where a text did not fit
mneme_result *mneme_new_sparse(u32 rows, u32 nnz); // mneme_offsets: rows + 1, mneme_terms and mneme_values: nnz
mneme_result *mneme_new_counts(u32 rows);          // mneme_offsets: a count a row
mneme_result *mneme_new_ids(u32 rows, u32 nnz);    // mneme_offsets: rows + 1, mneme_terms: nnz
f32 *mneme_values(mneme_result *r);
u32 *mneme_offsets(mneme_result *r);
u32 *mneme_terms(mneme_result *r);
u32 *mneme_cut(mneme_result *r);
u32 *mneme_read(mneme_result *r);

u64 mneme_ok(void);                  // the answer of a mneme_open that went well
u64 mneme_say(const char *json);     // the answer of mneme_describe
u8 *mneme_asset(const char *name, u32 *n); // a whole asset, to be freed; NULL when there is none or no memory

// mneme_frame checks a request; an error frame or 0. On success *texts holds the rows
// (release with mneme_free(texts, rows * sizeof(mneme_text))).
u64 mneme_frame(const void *p, u32 n, mneme_text **texts, u32 *rows, u32 *flags);

// Members of a flat JSON object, such as mneme_open gets: config of model.json, and beside it each setting that has a
// value. 0 where there is none of that type. Numbers read whole values and decimals with an exponent.
int mneme_json_number(const char *json, u32 n, const char *key, double *out);
int mneme_json_string(const char *json, u32 n, const char *key, char *out, u32 cap, u32 *len); // unescaped UTF-8
int mneme_json_bool(const char *json, u32 n, const char *key, int *out);
int mneme_json_raw(const char *json, u32 n, const char *key, const char **at, u32 *len);

static inline u32 mneme_strlen(const char *s) {
	u32 n = 0;
	while (s[n]) n++;
	return n;
}

#ifdef __cplusplus
}
#endif

#endif

#ifdef MNEME_IMPLEMENTATION
#ifdef __cplusplus
extern "C" {
#endif
#undef MNEME_IMPLEMENTATION

u32 MNEME_EXPORT(mneme_abi)(void) { return MNEME_ABI_MAJOR << 16 | MNEME_ABI_MINOR; }

// Allocator: blocks of 16-byte units in address order, a header each, first fit
// from a free list kept in address order so that neighbours merge on release.
typedef struct block { u32 units; struct block *next; u32 pad[2]; } block;

extern u8 __heap_base;
static block *mneme_free_list;
static u32 mneme_heap_end; // one past the memory the allocator has taken; 0 before the first call

static void mneme_release(block *b) {
	block **at = &mneme_free_list;
	while (*at && *at < b) at = &(*at)->next;
	b->next = *at;
	*at = b;
	if (b->next && b + b->units == b->next) {
		b->units += b->next->units;
		b->next = b->next->next;
	}
	if (at != &mneme_free_list) {
		block *prev = (block *)((u8 *)at - offsetof(block, next));
		if (prev + prev->units == b) {
			prev->units += b->units;
			prev->next = b->next;
		}
	}
}

static int mneme_grow(u32 units) {
	if (mneme_heap_end == 0) mneme_heap_end = ((u32)(uintptr_t)&__heap_base + 15) & ~15u;
	u64 have = (u64)__builtin_wasm_memory_size(0) << 16;
	u64 want = mneme_heap_end + (u64)units * sizeof(block);
	if (want > have) {
		u64 pages = (want - have + 65535) >> 16;
		if (pages > 65535 || __builtin_wasm_memory_grow(0, (u32)pages) == (size_t)-1) return 0;
		have = (u64)__builtin_wasm_memory_size(0) << 16;
	}
	if (have > 0xFFFFFFF0u) have = 0xFFFFFFF0u; // the last bytes of 4 GiB would overflow a pointer
	if (have <= mneme_heap_end) return 0;
	block *b = (block *)(uintptr_t)mneme_heap_end;
	b->units = (u32)((have - mneme_heap_end) / sizeof(block));
	mneme_heap_end += b->units * sizeof(block);
	mneme_release(b);
	return 1;
}

void *MNEME_EXPORT(mneme_alloc)(u32 n) {
	if (n > 0xFFFF0000u) return 0;
	u32 units = (n + sizeof(block) - 1) / sizeof(block) + 1;
	for (int tries = 0; tries < 2; tries++) {
		for (block **at = &mneme_free_list; *at; at = &(*at)->next) {
			block *b = *at;
			if (b->units < units) continue;
			if (b->units == units) {
				*at = b->next;
			} else { // take the lower end: what is left over stays behind older holes
				block *rest = b + units;
				rest->units = b->units - units;
				rest->next = b->next;
				*at = rest;
				b->units = units;
			}
			return b + 1;
		}
		if (!mneme_grow(units)) return 0;
	}
	return 0;
}

void MNEME_EXPORT(mneme_free)(void *p, u32 n) {
	(void)n;
	if (p) mneme_release((block *)p - 1);
}

mneme_result *mneme_new(u32 kind, u32 rows, u32 dim, u32 nnz, u64 body, int tokens) {
	u64 tokens_off = (sizeof(mneme_result) + body + 3) & ~3ull;
	u64 total = tokens_off + (tokens ? 4ull * rows : 0);
	if (total > 0xFFFF0000u) return 0;
	mneme_result *r = (mneme_result *)mneme_alloc((u32)total);
	if (!r) return 0;
	*r = (mneme_result){kind, rows, dim, nnz, sizeof(mneme_result), tokens ? (u32)tokens_off : 0, 0, (u32)total};
	return r;
}

u64 mneme_finish(mneme_result *r) { return MNEME_PACK(r, r->total); }

u64 mneme_fail(u32 code, const char *message) {
	u32 n = mneme_strlen(message);
	mneme_result *r = mneme_new(MNEME_ERROR, 0, 0, 0, n, 0);
	if (!r) return 0;
	r->code = code;
	r->total = sizeof(mneme_result) + n;
	__builtin_memcpy(r + 1, message, n);
	return mneme_finish(r);
}

static mneme_result *mneme_zeroed(u32 kind, u32 rows, u32 dim, u32 nnz, u64 body, int tokens) {
	mneme_result *r = mneme_new(kind, rows, dim, nnz, body, tokens);
	if (r) __builtin_memset(r + 1, 0, r->total - sizeof *r);
	return r;
}

mneme_result *mneme_new_dense(u32 rows, u32 dim) { return mneme_zeroed(MNEME_DENSE, rows, dim, 0, 4ull * rows * dim, 1); }

mneme_result *mneme_new_scores(u32 rows) {
	mneme_result *r = mneme_zeroed(MNEME_SCORES, rows, 0, 0, 8ull * rows, 1);
	if (r) r->nnz = r->body_off + 4 * rows;
	return r;
}

mneme_result *mneme_new_sparse(u32 rows, u32 nnz) { return mneme_zeroed(MNEME_SPARSE, rows, 0, nnz, 4ull * (rows + 1) + 8ull * nnz, 1); }
mneme_result *mneme_new_counts(u32 rows) { return mneme_zeroed(MNEME_COUNTS, rows, 0, 0, 4ull * rows, 0); }
mneme_result *mneme_new_ids(u32 rows, u32 nnz) { return mneme_zeroed(MNEME_IDS, rows, 0, nnz, 4ull * (rows + 1) + 4ull * nnz, 0); }

u32 *mneme_offsets(mneme_result *r) { return (u32 *)((u8 *)r + r->body_off); }
u32 *mneme_terms(mneme_result *r) { return mneme_offsets(r) + r->rows + 1; }
f32 *mneme_values(mneme_result *r) { return r->kind == MNEME_SPARSE ? (f32 *)(mneme_terms(r) + r->nnz) : (f32 *)mneme_offsets(r); }
u32 *mneme_cut(mneme_result *r) { return (u32 *)((u8 *)r + r->nnz); }
u32 *mneme_read(mneme_result *r) { return (u32 *)((u8 *)r + r->tokens_off); }

u64 mneme_ok(void) {
	mneme_result *r = mneme_new(MNEME_TEXT, 0, 0, 0, 0, 0);
	return r ? mneme_finish(r) : 0;
}

u64 mneme_say(const char *json) {
	u32 n = mneme_strlen(json);
	char *p = (char *)mneme_alloc(n);
	if (!p) return 0;
	__builtin_memcpy(p, json, n);
	return MNEME_PACK(p, n);
}

u8 *mneme_asset(const char *name, u32 *n) {
	u32 len = mneme_strlen(name);
	u64 size = mneme_asset_size(name, len);
	if (size > 0x7FFFFFFF) return 0;
	u8 *p = (u8 *)mneme_alloc((u32)size);
	if (!p) return 0;
	if (mneme_asset_read(name, len, 0, p, (u32)size)) {
		mneme_free(p, (u32)size);
		return 0;
	}
	*n = (u32)size;
	return p;
}

u64 mneme_frame(const void *p, u32 n, mneme_text **texts, u32 *rows, u32 *flags) {
	const mneme_request *q = (const mneme_request *)p;
	if (n < sizeof *q) return mneme_fail(MNEME_INVALID, "request: shorter than its header");
	if (q->version != 1) return mneme_fail(MNEME_UNSUPPORTED, "request: unknown frame version");
	if (q->flags & ~(u32)MNEME_QUERY) return mneme_fail(MNEME_UNSUPPORTED, "request: unknown flags");
	u32 count = q->rows;
	if (count > (n - sizeof *q) / 8) return mneme_fail(MNEME_INVALID, "request: row table does not fit the frame");
	const u32 *table = (const u32 *)(q + 1);
	mneme_text *t = (mneme_text *)mneme_alloc(count * sizeof *t);
	if (!t) return mneme_fail(MNEME_NO_MEMORY, "out of memory for the row table");
	for (u32 i = 0; i < count; i++) {
		u32 off = table[2 * i], len = table[2 * i + 1];
		if (off > n || len > n - off) {
			mneme_free(t, count * sizeof *t);
			return mneme_fail(MNEME_INVALID, "request: a row lies outside the frame");
		}
		t[i] = (mneme_text){(const u8 *)p + off, len};
	}
	*texts = t;
	*rows = count;
	*flags = q->flags;
	return 0;
}

// mneme_json_skip gives the position after the value at s, or 0.
static const char *mneme_json_skip(const char *s, const char *end) {
	u32 depth = 0;
	while (s < end) {
		char c = *s;
		if (c == '"') {
			for (s++; s < end && *s != '"'; s++)
				if (*s == '\\') s++;
			if (s >= end) return 0;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (depth == 0) return s;
			depth--;
		} else if (c == ',' && depth == 0) {
			return s;
		}
		s++;
	}
	return 0;
}

int mneme_json_raw(const char *s, u32 n, const char *key, const char **at, u32 *len) {
	const char *end = s + n;
	u32 klen = mneme_strlen(key);
	while (s < end && *s != '{') s++;
	for (s++; s < end;) {
		while (s < end && *s != '"') s++;
		const char *name = ++s;
		while (s < end && *s != '"') s += *s == '\\' ? 2 : 1;
		if (s >= end) return 0;
		u32 nlen = (u32)(s - name);
		for (s++; s < end && (*s == ' ' || *s == ':' || *s == '\n' || *s == '\t' || *s == '\r'); s++)
			;
		const char *value = s;
		if (!(s = mneme_json_skip(s, end))) return 0;
		int same = nlen == klen;
		for (u32 i = 0; same && i < klen; i++) same = name[i] == key[i];
		if (same) {
			*at = value;
			*len = (u32)(s - value);
			return 1;
		}
	}
	return 0;
}

int mneme_json_bool(const char *json, u32 n, const char *key, int *out) {
	const char *s;
	u32 len;
	if (!mneme_json_raw(json, n, key, &s, &len) || len == 0 || (*s != 't' && *s != 'f')) return 0;
	*out = *s == 't';
	return 1;
}

int mneme_json_number(const char *json, u32 n, const char *key, double *out) {
	const char *s;
	u32 len;
	if (!mneme_json_raw(json, n, key, &s, &len)) return 0;
	const char *end = s + len;
	int negative = s < end && *s == '-', digits = 0, exp = 0;
	double v = 0;
	for (s += negative; s < end && *s >= '0' && *s <= '9'; s++, digits++) v = v * 10 + (*s - '0');
	if (s < end && *s == '.')
		for (s++; s < end && *s >= '0' && *s <= '9'; s++, digits++, exp--) v = v * 10 + (*s - '0');
	if (s < end && (*s == 'e' || *s == 'E')) {
		int minus = 0, e = 0;
		s++;
		if (s < end && (*s == '-' || *s == '+')) minus = *s++ == '-';
		for (; s < end && *s >= '0' && *s <= '9' && e < 1000; s++) e = e * 10 + (*s - '0');
		exp += minus ? -e : e;
	}
	for (; exp > 0; exp--) v *= 10;
	for (; exp < 0; exp++) v /= 10;
	*out = negative ? -v : v;
	return digits > 0;
}

static u32 mneme_utf8(u32 r, char *out) {
	if (r < 0x80) return out[0] = (char)r, 1;
	if (r < 0x800) return out[0] = (char)(0xC0 | r >> 6), out[1] = (char)(0x80 | (r & 63)), 2;
	if (r < 0x10000) return out[0] = (char)(0xE0 | r >> 12), out[1] = (char)(0x80 | (r >> 6 & 63)), out[2] = (char)(0x80 | (r & 63)), 3;
	return out[0] = (char)(0xF0 | r >> 18), out[1] = (char)(0x80 | (r >> 12 & 63)), out[2] = (char)(0x80 | (r >> 6 & 63)), out[3] = (char)(0x80 | (r & 63)), 4;
}

static int mneme_hex4(const char *s, const char *end, u32 *out) {
	if (end - s < 4) return 0;
	*out = 0;
	for (int i = 0; i < 4; i++) {
		char c = s[i];
		u32 d = c >= '0' && c <= '9' ? (u32)(c - '0') : c >= 'a' && c <= 'f' ? (u32)(c - 'a' + 10) : c >= 'A' && c <= 'F' ? (u32)(c - 'A' + 10) : 99;
		if (d == 99) return 0;
		*out = *out << 4 | d;
	}
	return 1;
}

int mneme_json_string(const char *json, u32 n, const char *key, char *out, u32 cap, u32 *len) {
	const char *s;
	u32 raw, at = 0;
	if (!mneme_json_raw(json, n, key, &s, &raw) || raw < 2 || *s != '"') return 0;
	const char *end = s + raw;
	for (s++; s < end && *s != '"';) {
		u32 r = (u8)*s++;
		if (r != '\\') {
			if (at >= cap) return 0;
			out[at++] = (char)r;
			continue;
		}
		if (s >= end) return 0;
		switch (*s++) {
		case 'n': r = '\n'; break;
		case 't': r = '\t'; break;
		case 'r': r = '\r'; break;
		case 'b': r = '\b'; break;
		case 'f': r = '\f'; break;
		case 'u': {
			u32 low;
			if (!mneme_hex4(s, end, &r)) return 0;
			s += 4;
			if (r >= 0xD800 && r < 0xDC00) {
				if (end - s < 6 || s[0] != '\\' || s[1] != 'u' || !mneme_hex4(s + 2, end, &low) || low < 0xDC00 || low > 0xDFFF) return 0;
				r = 0x10000 + ((r - 0xD800) << 10) + (low - 0xDC00);
				s += 6;
			} else if (r >= 0xDC00 && r < 0xE000) {
				return 0;
			}
			break;
		}
		default: r = (u8)s[-1]; // quote, backslash, slash
		}
		if (at + 4 > cap) return 0;
		at += mneme_utf8(r, out + at);
	}
	*len = at;
	return 1;
}

#ifdef __cplusplus
}
#endif

#endif
