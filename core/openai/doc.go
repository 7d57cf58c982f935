// Package openai speaks OpenAI's protocol over this server's services: embeddings,
// models, vector stores and their files, in the words and with the errors that OpenAI's own clients read.
// docs/openai.md says what is spoken and what is not.
//
// A vector store is a namespace and a file of it a document, by whichever protocol it was written; a model is one of the
// configuration, by its name or an alias. What is kept beside them is what a namespace has no place for: the names of stores,
// and the texts of files that are uploaded and wait for being attached (docs/decisions.md#d-108).
package openai
