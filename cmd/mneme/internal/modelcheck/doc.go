// Package modelcheck checks what the embedding model port promises on an open
// model: its description, shapes, odd texts, stability, sense and conduct. Speed
// is reported, never judged.
//
// May import: core/port, core/fault.
package modelcheck
