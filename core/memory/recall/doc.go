// Package recall answers a question from one end user's memories: it finds the
// memories that matter, answers from them, by quoting their best sentences or
// through a language model, and proves every sentence with a verbatim quote.
// When the memories hold no answer it says so.
package recall
