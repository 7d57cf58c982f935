// Package jina is the model adapter for Jina's API: /embeddings for the role
// embed, /rerank for rerank. Choose it for Jina's models, and for servers that
// took over its rerank dialect, as vLLM, llama.cpp and Infinity did: base_url is
// then theirs. It costs a call over the network, and the texts leave this machine
// for the configured address.
package jina
