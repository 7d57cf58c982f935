// Package modelcheck checks what the ports of models promise on an open model that
// embeds, encodes learned-sparse vectors or reranks: its description, shapes, odd
// texts, stability, sense and conduct. Speed is reported, never judged.
//
// May import: core/port, core/fault.
package modelcheck
