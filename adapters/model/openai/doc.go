// Package openai is the model adapter for servers that speak OpenAI's chat
// completions or embeddings: OpenAI itself, and Ollama, vLLM, llama.cpp, Text
// Embeddings Inference and most gateways. Choose it for the role synthesize,
// where answers should be written rather than quoted, and for the role embed,
// where vectors should come from elsewhere. It costs a call over the network,
// and the texts leave this machine for the configured address.
package openai
