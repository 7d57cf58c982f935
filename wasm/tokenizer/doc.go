// Package tokenizer reads a tokenizer.json as the tokenizers library of Hugging Face
// writes it, and makes of a text the token ids that the library makes: WordPiece,
// byte-level BPE, BPE with byte fallback, Unigram and whole words, with the
// normalizers, pre-tokenizers and post-processors of the encoders that people use.
//
// What it does not know is refused by Read, never passed over: one step left out
// would give other ids, and a model that reads them answers quietly worse.
package tokenizer
