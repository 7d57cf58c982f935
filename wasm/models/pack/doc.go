// Package pack makes and reads model packs: one safetensors file with the
// int8 weights, scales, vocabulary and settings of a BERT-family encoder.
//
// Pack reads a Hugging Face style checkpoint folder (config.json, vocab.txt or
// tokenizer.json, model.safetensors or an ONNX file) and writes a pack; Parse reads
// one. A pack of format 2 has a tokenizer.json, which the host reads, where one of
// format 1 has the word pieces of BERT's uncased tokenizer, which the engine knows. File's comment names the tensors of a pack.
package pack
