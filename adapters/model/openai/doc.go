// Package openai is the model adapter for servers that speak OpenAI's chat
// completions: OpenAI itself, and Ollama, vLLM, llama.cpp and most gateways.
// Choose it for the role synthesize, where answers should be written rather than
// quoted. It costs a call over the network for each answer, and the operator's
// memories leave this machine for the configured address.
//
// May import: core/port, core/fault, core/registry, the OpenAI client library.
package openai
