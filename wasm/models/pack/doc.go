// Package pack makes and reads model packs: one safetensors file with the
// int8 weights, scales, vocabulary and settings of a BERT-family encoder.
//
// Pack reads a Hugging Face style checkpoint folder (config.json, vocab.txt or
// tokenizer.json, model.safetensors or an ONNX file) and writes a pack; Parse reads
// one. File's comment names the tensors of a pack.
package pack
