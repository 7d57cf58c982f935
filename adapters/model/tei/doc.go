// Package tei is the model adapter for Hugging Face's Text Embeddings Inference
// and servers that speak as it does: /embed for the role embed, /embed_sparse for
// sparse, /rerank for rerank. Choose it to run open models on a machine with an
// accelerator. One server holds one model; /info says which, and the adapter asks
// before the first call whether it is the configured one.
package tei
