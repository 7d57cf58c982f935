// Package openai speaks OpenAI's protocol over this server's services: embeddings,
// models and searches of vector stores, in the words and with the errors that OpenAI's own clients read.
// docs/openai.md says what is spoken and what is not.
//
// It keeps nothing of its own: a vector store is a namespace, and a model is one of the configuration, by its name or an
// alias.
package openai
