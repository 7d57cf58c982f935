// What a model in AssemblyScript imports: it speaks the Mneme model ABI 1.3
// (wasm/abi/ABI.md), the model computes. Extend Model, register one in the entry
// file, and export what the host calls from there:
//
//	import { Model, register } from "./sdk/mneme";
//	export * from "./sdk/exports";
//	class Acme extends Model { ... }
//	register(new Acme());

// A text of the caller: UTF-8 at ptr. It is gone when the call ends.
export class Text {
	constructor(public ptr: usize, public length: i32) {}
	@inline @operator("[]") byte(i: i32): u8 { return load<u8>(this.ptr + i); }
	toString(): string { return String.UTF8.decodeUnsafe(this.ptr, this.length); }
}

// What a model offers. Override what it does; calls come one at a time.
export class Model {
	// describe gives the model's description as JSON: name, version, licence, tasks.
	describe(): string { return "{}"; }
	// open is called once, before anything else, with config of model.json and, as
	// further members, the settings that it declares and that have a value (JSON; {}
	// when there is neither). It returns null, or why the model cannot start.
	open(config: Text): string | null { return null; }
	// embed gives each text a vector of unit length. query: they are queries, not passages.
	embed(texts: Text[], query: bool): Result { return unsupported(); }
	// sparse gives each text weighted terms.
	sparse(texts: Text[], query: bool): Result { return unsupported(); }
	// rerank gives each text the probability that it answers the query.
	rerank(query: Text, texts: Text[]): Result { return unsupported(); }
	// tokens counts the tokens of each text, beyond the window as well. Without it the host estimates.
	tokens(texts: Text[]): Result { return unsupported(); }
}

// An answer. Make one of the classes below, or failed.
export class Result {
	constructor(
		public kind: u32,
		public rows: i32,
		public dim: i32,
		public body: i32, // bytes
		public tail: i32, // tables of a u32 a row behind the body: token counts, and what was cut
	) {
		this.frame = heap.alloc(<usize>HEADER + body + <usize>tail * 4 * rows);
		memory.fill(this.frame, 0, <usize>HEADER + body + <usize>tail * 4 * rows);
	}
	frame: usize = 0; // given to the host, which frees it
	nnz: u32 = 0;
	code: u32 = 0;

	@inline at(offset: i32): usize { return this.frame + HEADER + offset; }
	@inline size(): i32 { return HEADER + this.body + this.tail * 4 * this.rows; }
	finish(): u64 {
		let p = this.frame;
		store<u32>(p, this.kind);
		store<u32>(p, this.rows, 4);
		store<u32>(p, this.dim, 8);
		store<u32>(p, this.nnz, 12);
		store<u32>(p, HEADER, 16);
		store<u32>(p, this.tail > 0 ? HEADER + this.body : 0, 20);
		store<u32>(p, this.code, 24);
		store<u32>(p, this.size(), 28);
		return (<u64>p << 32) | <u64>this.size();
	}
}

const HEADER: i32 = 32;

// Vectors: set every value, or add to it, and say how many tokens were read of each text.
export class Dense extends Result {
	constructor(rows: i32, dim: i32) { super(1, rows, dim, 4 * rows * dim, 1); }
	@inline get(row: i32, i: i32): f32 { return load<f32>(this.at(4 * (row * this.dim + i))); }
	@inline set(row: i32, i: i32, value: f32): void { store<f32>(this.at(4 * (row * this.dim + i)), value); }
	@inline read(row: i32, tokens: i32): void { store<u32>(this.at(this.body + 4 * row), tokens); }
}

// Probabilities: set each, say how many tokens were read for it, the query's
// included, and which texts did not fit the window.
export class Scores extends Result {
	constructor(rows: i32) {
		super(2, rows, 0, 4 * rows, 2);
		this.nnz = HEADER + 8 * rows;
	}
	@inline set(row: i32, probability: f32): void { store<f32>(this.at(4 * row), probability); }
	@inline read(row: i32, tokens: i32): void { store<u32>(this.at(4 * this.rows + 4 * row), tokens); }
	@inline cut(row: i32): void { store<u32>(this.at(8 * this.rows + 4 * row), 1); }
}

// Weighted terms of all texts, row behind row: terms rise within a row, weights
// are above 0. ends says where each row ends.
export class Sparse extends Result {
	constructor(ends: i32[], terms: u32[], weights: f32[]) {
		super(3, ends.length, 0, 4 * (ends.length + 1) + 8 * terms.length, 1);
		this.nnz = terms.length;
		for (let i = 0; i < ends.length; i++) store<u32>(this.at(4 * (i + 1)), ends[i]);
		for (let i = 0; i < terms.length; i++) {
			store<u32>(this.at(4 * (ends.length + 1 + i)), terms[i]);
			store<f32>(this.at(4 * (ends.length + 1 + terms.length + i)), weights[i]);
		}
	}
	@inline read(row: i32, tokens: i32): void { store<u32>(this.at(this.body + 4 * row), tokens); }
}

// Token counts.
export class Counts extends Result {
	constructor(rows: i32) { super(5, rows, 0, 4 * rows, 0); }
	@inline set(row: i32, tokens: i32): void { store<u32>(this.at(4 * row), tokens); }
}

export enum Code {
	Invalid = 1, // the caller is at fault and gets the message, with status 400
	TooLong = 2, // likewise
	Unsupported = 3,
	NoMemory = 4,
	Internal = 5,
	Stopped = 6, // stop() said so
}

// An answer that says why there is none.
export function failed(code: Code, message: string): Result {
	let n = String.UTF8.byteLength(message);
	let r = new Result(0, 0, 0, n, 0);
	r.code = code;
	String.UTF8.encodeUnsafe(changetype<usize>(message), message.length, r.at(0));
	return r;
}

function unsupported(): Result { return failed(Code.Unsupported, "the model does not do this"); }

// The module's model. A module is one, and the host calls exported functions,
// which have no other way to it.
export let registered: Model = new Model();
export function register(m: Model): void { registered = m; }

@external("mneme", "asset_size") declare function assetSize(name: usize, length: i32): u64;
@external("mneme", "asset_read") declare function assetRead(name: usize, length: i32, offset: u64, to: usize, n: i32): u32;
@external("mneme", "tokenizer_open") declare function tokenizerOpen(name: usize, length: i32): u32;
@external("mneme", "tokenize") declare function tokenizeText(handle: u32, text: usize, length: i32, ids: usize, room: u32): u32;
@external("mneme", "token_id") declare function tokenId(handle: u32, token: usize, length: i32): u32;
@external("mneme", "log") declare function logLine(level: u32, text: usize, length: i32): void;
@external("mneme", "poll") declare function poll(): u32;

// asset reads a file that model.json lists; null when there is none of this name.
export function asset(name: string): Uint8Array | null {
	let utf8 = String.UTF8.encode(name);
	let at = changetype<usize>(utf8), length = utf8.byteLength;
	let size = assetSize(at, length);
	if (size > 0x3FFFFFFF) return null;
	let bytes = new Uint8Array(<i32>size);
	return assetRead(at, length, 0, bytes.dataStart, <i32>size) == 0 ? bytes : null;
}

// A tokenizer.json among the model's files, which the host reads; model.json names the
// capability "tokenizers".
export class Tokenizer {
	constructor(private handle: u32) {}
	// open opens the asset of that name; null where the host does not take it, and its log says why.
	static open(name: string): Tokenizer | null {
		let utf8 = String.UTF8.encode(name);
		let handle = tokenizerOpen(changetype<usize>(utf8), utf8.byteLength);
		return handle ? new Tokenizer(handle) : null;
	}
	// id is the id of a token, such as [CLS]; -1 when there is none.
	id(token: string): i32 {
		let utf8 = String.UTF8.encode(token);
		let id = tokenId(this.handle, changetype<usize>(utf8), utf8.byteLength);
		return id < TOKENIZE_FAILED ? <i32>id : -1;
	}
	// ids are the ids of a text, most at most, without special tokens around it; null
	// where the call may end: answer failed(Code.Stopped, "").
	ids(text: Text, most: i32): StaticArray<u32> | null {
		let ids = new StaticArray<u32>(most);
		let n = tokenizeText(this.handle, text.ptr, text.length, changetype<usize>(ids), most);
		return n < TOKENIZE_FAILED ? ids.slice<StaticArray<u32>>(0, n) : null;
	}
	// count is how many ids a text has; -1 where the call may end.
	count(text: Text): i32 {
		let n = tokenizeText(this.handle, text.ptr, text.length, 0, 1 << 30);
		return n < TOKENIZE_FAILED ? <i32>n : -1;
	}
}

const TOKENIZE_FAILED: u32 = 0xFFFFFFFC; // and what is greater: no number

export enum Level { Debug, Info, Warn, Error }

// log writes a line to the host's log, which keeps 1 KiB of it and some lines a second.
export function log(level: Level, text: string): void {
	let utf8 = String.UTF8.encode(text);
	logLine(level, changetype<usize>(utf8), utf8.byteLength);
}

// stop tells whether the call may end: its caller is gone or its time is up. A
// model that works long asks every millisecond and answers failed(Code.Stopped, "").
export function stop(): bool { return poll() != 0; }
