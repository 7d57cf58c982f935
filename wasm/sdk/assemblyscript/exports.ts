// The functions that the host calls. The entry file of a model exports them:
// export * from "./sdk/exports".
import { Code, Level, Result, Text, failed, log, registered } from "./mneme";

export function mneme_abi(): u32 { return 1 << 16 | 2; }
export function mneme_alloc(n: u32): usize { return n > 0x3FFFFFFF ? 0 : heap.alloc(n); }
export function mneme_free(p: usize, n: u32): void { heap.free(p); }

export function mneme_describe(): u64 {
	let json = registered.describe();
	let n = String.UTF8.byteLength(json);
	let p = heap.alloc(n);
	String.UTF8.encodeUnsafe(changetype<usize>(json), json.length, p);
	return (<u64>p << 32) | <u64>n;
}

export function mneme_open(p: usize, n: u32): u64 {
	let why = registered.open(new Text(p, n));
	return why ? failed(Code.Unsupported, why).finish() : new Result(4, 0, 0, 0, 0).finish();
}

// rows reads a request; null when it is malformed.
function rows(p: usize, n: u32): Text[] | null {
	if (n < 16 || load<u32>(p) != 1 || (load<u32>(p, 8) & ~1) != 0) return null;
	let count = load<u32>(p, 4);
	if (count > (n - 16) / 8) return null;
	let texts = new Array<Text>(count);
	for (let i: u32 = 0; i < count; i++) {
		let offset = load<u32>(p + 16 + 8 * i), length = load<u32>(p + 20 + 8 * i);
		if (offset > n || length > n - offset) return null;
		texts[i] = new Text(p + offset, length);
	}
	return texts;
}

function malformed(p: usize, n: u32): u64 {
	// A flag of a later version asks for what this one does not do.
	if (n >= 16 && (load<u32>(p) != 1 || (load<u32>(p, 8) & ~1) != 0)) return failed(Code.Unsupported, "the request has a version or a flag that the model does not know").finish();
	return failed(Code.Invalid, "the request is malformed").finish();
}

export function mneme_embed(p: usize, n: u32): u64 {
	let texts = rows(p, n);
	return texts ? registered.embed(texts, load<u32>(p, 8) != 0).finish() : malformed(p, n);
}

export function mneme_sparse(p: usize, n: u32): u64 {
	let texts = rows(p, n);
	return texts ? registered.sparse(texts, load<u32>(p, 8) != 0).finish() : malformed(p, n);
}

export function mneme_rerank(p: usize, n: u32): u64 {
	let texts = rows(p, n);
	if (!texts || texts.length == 0) return malformed(p, n);
	let query = texts.shift();
	return registered.rerank(query, texts).finish();
}

export function mneme_tokens(p: usize, n: u32): u64 {
	let texts = rows(p, n);
	return texts ? registered.tokens(texts).finish() : malformed(p, n);
}

// abort replaces AssemblyScript's own, which would need an import that the host
// does not have (asconfig.json: use).
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
	log(Level.Error, (message ? message : "abort") + " at " + (file ? file : "?") + ":" + line.toString());
	unreachable();
}
