// A small model in AssemblyScript: it finds texts that share words, parts of
// words, or concepts (concepts.txt). It embeds, makes sparse vectors and reranks;
// keep what you need. Everything but the next two lines and the last is yours to replace.
import { Counts, Dense, Model, Result, Scores, Sparse, Text, asset, register } from "./sdk/mneme";
export * from "./sdk/exports";

const DIM = 256; // of a vector
const VOCAB = 65536; // sparse terms
const WINDOW = 512; // words read of a text
const LONGEST = 64; // bytes read of a word
const PASSED_OVER = 0xFFFF;

// hash is FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
function hash(kind: u8, p: usize, n: i32): u32 {
	let h: u32 = (2166136261 ^ <u32>kind) * 16777619;
	for (let i = 0; i < n; i++) h = (h ^ load<u8>(p + i)) * 16777619;
	return h;
}

@inline function letter(c: u8): bool {
	return c >= 0x80 || (c >= 0x30 && c <= 0x39) || (c >= 0x61 && c <= 0x7A) || (c >= 0x41 && c <= 0x5A);
}

// Words reads the words of a text, runs of ASCII letters and digits and of
// anything beyond ASCII: in lower case and without the s of a plural.
class Words {
	edged: usize = heap.alloc(LONGEST + 2); // '#', the word, '#'
	n: i32 = 0;
	text: Text = new Text(0, 0);
	at: i32 = 0;
	begin(text: Text): void {
		this.text = text;
		this.at = 0;
	}
	@inline get word(): usize { return this.edged + 1; }
	next(): bool {
		let t = this.text, i = this.at;
		while (i < t.length && !letter(t[i])) i++;
		this.at = i;
		if (i == t.length) return false;
		this.n = 0;
		for (; i < t.length && letter(t[i]); i++) {
			let c = t[i];
			if (this.n < LONGEST) store<u8>(this.word + this.n++, c >= 0x41 && c <= 0x5A ? c + 32 : c);
		}
		if (this.n > 3 && load<u8>(this.word + this.n - 1) == 0x73 && load<u8>(this.word + this.n - 2) != 0x73) this.n--;
		store<u8>(this.edged, 0x23);
		store<u8>(this.word + this.n, 0x23);
		this.at = i;
		return true;
	}
}

const words = new Words();
const concepts = new Map<u32, i32>(); // from the hash of a word to the line that has it
const pair = heap.alloc(2);

// Features: what texts have in common. Weights are multiples of a quarter, so that
// sums do not depend on their order.
const found = new StaticArray<u32>(2 * WINDOW * (LONGEST + 2));
const weight = new StaticArray<f32>(2 * WINDOW * (LONGEST + 2));
let nfound = 0;
let cut = false;

function add(h: u32, w: f32): void {
	found[nfound] = h;
	weight[nfound++] = w;
}

// read fills found with the features of at most limit words of a text and returns
// how many it read; cut says whether there were more.
function read(text: Text, limit: i32, parts: bool): i32 {
	let n = 0, told = false;
	for (words.begin(text); n < limit && words.next(); n++) {
		let h = hash(0x77, words.word, words.n);
		if (!concepts.has(h) || concepts.get(h) != PASSED_OVER) told = true;
	}
	nfound = 0;
	words.begin(text);
	for (let i = 0; i < n; i++) {
		words.next();
		let h = hash(0x77, words.word, words.n);
		let concept = concepts.has(h) ? concepts.get(h) : 0;
		if (concept == PASSED_OVER) {
			if (!told) add(h, 1); // a text of nothing else
			continue;
		}
		add(h, 1);
		if (concept != 0) {
			store<u16>(pair, <u16>concept);
			add(hash(0x63, pair, 2), 0.75);
		}
		if (parts) for (let j = 0; j < words.n; j++) add(hash(0x74, words.edged + j, 3), 0.25);
	}
	cut = words.next();
	return n;
}

// Terms are features by number, in rising order, each once.
class Terms {
	ids: u32[] = [];
	weights: f32[] = [];
	find(id: u32): i32 {
		let low = 0, high = this.ids.length;
		while (low < high) {
			let middle = (low + high) >> 1;
			if (unchecked(this.ids[middle]) < id) low = middle + 1;
			else high = middle;
		}
		return low;
	}
	has(id: u32): bool {
		let i = this.find(id);
		return i < this.ids.length && this.ids[i] == id;
	}
	static collect(): Terms {
		let t = new Terms();
		for (let i = 0; i < nfound; i++) {
			let h = found[i], id = (h ^ h >> 16) % VOCAB, at = t.find(id);
			if (at == t.ids.length || t.ids[at] != id) {
				t.ids.push(0);
				t.weights.push(0);
				for (let j = t.ids.length - 1; j > at; j--) {
					t.ids[j] = t.ids[j - 1];
					t.weights[j] = t.weights[j - 1];
				}
				t.ids[at] = id;
				t.weights[at] = 0;
			}
			t.weights[at] += weight[i];
		}
		return t;
	}
}

class Acme extends Model {
	describe(): string {
		return `{"name":"acme","version":"1.0.0","licence":"Apache-2.0","tasks":[
			{"task":"embedding","dim":256,"max_tokens":512,"normalized":true},
			{"task":"sparse","vocab":65536,"max_tokens":512},
			{"task":"rerank","max_tokens":512}]}`;
	}

	open(config: Text): string | null {
		let b = asset("concepts.txt");
		if (!b) return "the asset concepts.txt is missing";
		let concept = 0;
		for (let at = 0; at < b.length; at++) {
			let from = at;
			while (at < b.length && b[at] != 0x0A) at++;
			if (at == from || b[from] == 0x23) continue;
			concept++;
			words.begin(new Text(b.dataStart + from, at - from));
			while (words.next()) {
				let h = hash(0x77, words.word, words.n);
				if (!concepts.has(h)) concepts.set(h, b[from] == 0x2D ? PASSED_OVER : concept);
			}
		}
		return concept < PASSED_OVER ? null : "the asset concepts.txt has too many lines";
	}

	// Each feature adds to or takes from one dimension.
	embed(texts: Text[], query: bool): Result {
		let d = new Dense(texts.length, DIM);
		for (let row = 0; row < texts.length; row++) {
			d.read(row, read(texts[row], WINDOW, true));
			for (let i = 0; i < nfound; i++) {
				let at = <i32>(found[i] % DIM);
				d.set(row, at, d.get(row, at) + (found[i] >> 31 ? -weight[i] : weight[i]));
			}
			let square: f32 = 0;
			for (let i = 0; i < DIM; i++) square += d.get(row, i) * d.get(row, i);
			if (square == 0) { // no text is without a direction
				d.set(row, 0, 1);
				square = 1;
			}
			let length = Mathf.sqrt(square);
			for (let i = 0; i < DIM; i++) d.set(row, i, d.get(row, i) / length);
		}
		return d;
	}

	sparse(texts: Text[], query: bool): Result {
		let ends: i32[] = [], terms: u32[] = [], weights: f32[] = [], tokens: i32[] = [];
		for (let row = 0; row < texts.length; row++) {
			tokens.push(read(texts[row], WINDOW, false));
			let t = Terms.collect();
			for (let i = 0; i < t.ids.length; i++) {
				terms.push(t.ids[i]);
				weights.push(t.weights[i] / (1 + t.weights[i]));
			}
			ends.push(terms.length);
		}
		let s = new Sparse(ends, terms, weights);
		for (let row = 0; row < texts.length; row++) s.read(row, tokens[row]);
		return s;
	}

	// The share of the query's terms that a text has, by weight.
	rerank(query: Text, texts: Text[]): Result {
		let asked = read(query, WINDOW / 2, false);
		let q = Terms.collect();
		let all: f32 = 0;
		for (let i = 0; i < q.ids.length; i++) all += q.weights[i];
		let s = new Scores(texts.length);
		for (let row = 0; row < texts.length; row++) {
			s.read(row, asked + read(texts[row], WINDOW - asked, false));
			if (cut) s.cut(row);
			let t = Terms.collect();
			let both: f32 = 0;
			for (let i = 0; i < q.ids.length; i++) if (t.has(q.ids[i])) both += q.weights[i];
			s.set(row, all == 0 ? 0.02 : <f32>0.02 + <f32>0.96 * (both / all));
		}
		return s;
	}

	tokens(texts: Text[]): Result {
		let c = new Counts(texts.length);
		for (let row = 0; row < texts.length; row++) {
			let n = 0;
			for (words.begin(texts[row]); words.next(); n++);
			c.set(row, n);
		}
		return c;
	}
}

register(new Acme());
