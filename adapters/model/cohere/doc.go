// Package cohere is the model adapter for Cohere's second API: /v2/embed for the
// role embed, /v2/rerank for rerank. Choose it for Cohere's models, hosted or in a
// private deployment. It costs a call over the network, and the texts leave this
// machine for the configured address. Scores are Cohere's own, 0-1 already.
package cohere
