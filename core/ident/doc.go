// Package ident says who is calling: organizations, key kinds, scopes and the
// Principal that a verified key stands for, with its carriage in a context.
package ident
