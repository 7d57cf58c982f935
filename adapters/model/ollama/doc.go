// Package ollama is the model adapter for Ollama's own API: /api/embed for the
// role embed, /api/chat for the role synthesize. Choose it over the openai
// adapter for an Ollama that should cut long texts itself, keep a model loaded or
// be given a longer context. A model that is not loaded yet takes seconds to
// answer first.
package ollama
