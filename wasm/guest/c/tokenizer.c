#include "tokenizer.h"
#include "unicode_tables.h"

enum { WORD, SPACE, PUNCT, DROPPED = 1 << 2, CJK = 1 << 3, MAPPING = 4 };
enum { MAX_CHARS = 100 }; // a longer word becomes [UNK]
enum { POLL_BYTES = 16 << 10 };

static u16 entry(u32 r) {
	u32 block = r >> 7;
	if (block > CHAR_INDEX_LAST) block = CHAR_INDEX_LAST;
	return char_data[(u32)char_index[block] << 7 | (r & 127)];
}

// FNV-1a; the pieces that continue a word start from another value.
#define HASH_FIRST 2166136261u
#define HASH_CONTINUED 84696351u
static inline u32 hash_step(u32 h, u8 b) { return (h ^ b) * 16777619u; }
static inline u32 hash_end(u32 h) { return h ^ h >> 15; }

static int continued(const u8 *p, u32 n) { return n > 2 && p[0] == '#' && p[1] == '#'; }

int tokenizer_open(tokenizer *t, const u8 *text, u32 n, u32 count) {
	u32 slots = 1;
	while (slots < 2 * count) slots <<= 1;
	t->text = text;
	t->count = count;
	t->mask = slots - 1;
	t->longest = 0;
	t->start = mneme_alloc((count + 1) * 4);
	t->slots = mneme_alloc(slots * 4);
	if (!t->start || !t->slots) return 0;
	__builtin_memset(t->slots, 0, slots * 4);
	u32 at = 0;
	for (u32 i = 0; i < count; i++) {
		u32 end = at;
		while (end < n && text[end] != '\n') end++;
		if (end == n) return 0;
		t->start[i] = at;
		const u8 *p = text + at;
		u32 len = end - at, h = HASH_FIRST;
		if (continued(p, len)) h = HASH_CONTINUED, p += 2, len -= 2;
		if (len > t->longest) t->longest = len;
		for (u32 j = 0; j < len; j++) h = hash_step(h, p[j]);
		u32 slot = hash_end(h) & t->mask;
		while (t->slots[slot]) slot = (slot + 1) & t->mask;
		t->slots[slot] = i + 1;
		at = end + 1;
	}
	t->start[count] = at;
	return at == n;
}

// find gives the piece whose text is p[0..n), continuing a word or not; count when absent.
static u32 find(const tokenizer *t, const u8 *p, u32 n, u32 h, int more) {
	for (u32 slot = hash_end(h) & t->mask; t->slots[slot]; slot = (slot + 1) & t->mask) {
		u32 id = t->slots[slot] - 1;
		const u8 *q = t->text + t->start[id];
		u32 len = t->start[id + 1] - 1 - t->start[id];
		if (continued(q, len) != more) continue;
		if (more) q += 2, len -= 2;
		if (len != n) continue;
		u32 i = 0;
		while (i < n && p[i] == q[i]) i++;
		if (i == n) return id;
	}
	return t->count;
}

typedef struct {
	const tokenizer *t;
	u32 *ids, limit, n;
	u32 bytes, chars;        // of the word being gathered
	u8 word[4 * MAX_CHARS];
} state;

static void put(state *s, u32 id) {
	if (s->n >= s->limit) return;
	if (s->ids) s->ids[s->n] = id;
	s->n++;
}

static void flush(state *s) {
	u32 bytes = s->bytes, chars = s->chars;
	if (chars == 0) return;
	s->bytes = s->chars = 0;
	if (chars > MAX_CHARS) {
		put(s, s->t->unk);
		return;
	}
	u32 pieces[MAX_CHARS], n = 0;
	for (u32 at = 0; at < bytes;) {
		u32 h = at ? HASH_CONTINUED : HASH_FIRST, best = s->t->count, best_len = 0;
		u32 most = bytes - at < s->t->longest ? bytes - at : s->t->longest;
		for (u32 len = 1; len <= most; len++) {
			h = hash_step(h, s->word[at + len - 1]);
			if (at + len < bytes && (s->word[at + len] & 0xC0) == 0x80) continue; // inside a character
			u32 id = find(s->t, s->word + at, len, h, at > 0);
			if (id != s->t->count) best = id, best_len = len;
		}
		if (best == s->t->count) {
			put(s, s->t->unk);
			return;
		}
		pieces[n++] = best;
		at += best_len;
	}
	for (u32 i = 0; i < n; i++) put(s, pieces[i]);
}

static void append(state *s, u32 r) {
	if (s->chars < MAX_CHARS) {
		u8 *o = s->word + s->bytes;
		if (r < 0x80) {
			o[0] = (u8)r, s->bytes += 1;
		} else if (r < 0x800) {
			o[0] = (u8)(0xC0 | r >> 6), o[1] = (u8)(0x80 | (r & 63)), s->bytes += 2;
		} else if (r < 0x10000) {
			o[0] = (u8)(0xE0 | r >> 12), o[1] = (u8)(0x80 | (r >> 6 & 63)), o[2] = (u8)(0x80 | (r & 63)), s->bytes += 3;
		} else {
			o[0] = (u8)(0xF0 | r >> 18), o[1] = (u8)(0x80 | (r >> 12 & 63)), o[2] = (u8)(0x80 | (r >> 6 & 63)), o[3] = (u8)(0x80 | (r & 63)), s->bytes += 4;
		}
	}
	if (s->chars <= MAX_CHARS) s->chars++;
}

static void character(state *s, u32 r, u32 class) {
	if (class == WORD) {
		append(s, r);
	} else {
		flush(s);
		if (class == PUNCT) {
			append(s, r);
			flush(s);
		}
	}
}

// decode reads one code point of strict UTF-8; 0 bytes read means it is none.
static u32 decode(const u8 *p, u32 n, u32 *r) {
	u32 b = p[0];
	if (b < 0x80) return *r = b, 1;
	if (b < 0xC2 || b > 0xF4) return 0;
	u32 len = b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
	if (n < len) return 0;
	u32 v = b & (0x7F >> len);
	for (u32 i = 1; i < len; i++) {
		if ((p[i] & 0xC0) != 0x80) return 0;
		v = v << 6 | (p[i] & 63);
	}
	if ((len == 3 && (v < 0x800 || (v >= 0xD800 && v < 0xE000))) || (len == 4 && (v < 0x10000 || v > 0x10FFFF))) return 0;
	*r = v;
	return len;
}

// special gives the id of the special token that the text begins with, as the
// reference does, which looks for them in the raw text; count when none.
static u32 special(const tokenizer *t, const u8 *p, u32 n, u32 *len) {
	const struct { const char *name; u32 id; } all[] = {{"[PAD]", t->pad}, {"[UNK]", t->unk}, {"[CLS]", t->cls}, {"[SEP]", t->sep}, {"[MASK]", t->mask_id}};
	for (u32 i = 0; i < 5; i++) {
		u32 j = 0;
		while (all[i].name[j] && j < n && (u8)all[i].name[j] == p[j]) j++;
		if (!all[i].name[j]) return *len = j, all[i].id;
	}
	return t->count;
}

u32 tokenize(const tokenizer *t, mneme_text text, u32 *ids, u32 limit) {
	state s = {.t = t, .ids = ids, .limit = limit};
	for (u32 at = 0, rest = POLL_BYTES; at < text.n && s.n < limit;) {
		if (at >= rest) { // a long text: let the host in between
			mneme_poll();
			rest = at + POLL_BYTES;
		}
		u32 r, len = decode(text.p + at, text.n - at, &r);
		if (len == 0) return TOKENIZE_INVALID;
		if (r == '[') {
			u32 id = special(t, text.p + at, text.n - at, &len);
			if (id != t->count) {
				flush(&s);
				put(&s, id);
				at += len;
				continue;
			}
		}
		at += len;
		u32 e = entry(r);
		if (e & DROPPED) continue;
		if (e & CJK) flush(&s);
		if (r >= 0xAC00 && r <= 0xD7A3) { // Hangul syllables decompose by arithmetic (Unicode 3.12)
			u32 i = r - 0xAC00;
			append(&s, 0x1100 + i / 588);
			append(&s, 0x1161 + i % 588 / 28);
			if (i % 28) append(&s, 0x11A7 + i % 28);
		} else if (e >> MAPPING) {
			for (u32 i = char_map_at[e >> MAPPING]; i < char_map_at[(e >> MAPPING) + 1]; i++)
				character(&s, char_map[i], entry(char_map[i]) & 3);
		} else {
			character(&s, r, e & 3);
		}
		if (e & CJK) flush(&s);
	}
	flush(&s);
	return s.n;
}
