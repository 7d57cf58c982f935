// Package voyage is the model adapter for Voyage's API: /embeddings for the role
// embed, /rerank for rerank. Choose it for Voyage's models. It costs a call over
// the network, and the texts leave this machine for the configured address.
// Scores are Voyage's own, 0-1 already.
package voyage
