// Package pack makes and reads model packs: one safetensors file with the
// int8 weights, scales, vocabulary and settings of a BERT-family encoder.
//
// Pack reads a Hugging Face style checkpoint folder (config.json, vocab.txt or
// tokenizer.json, model.safetensors or an ONNX file) and writes a pack; Open
// reads one. The tensors of a pack are named in Layout's comment.
package pack
