// Package coretest holds what the tests of core's services share: the parts that a
// service is made of, real ones over a folder of the test (New), small deterministic
// models (Embedder, SparseEncoder, Reranker), and a store and an index that a test can
// make fail or wait (Store, Index). Only tests import it.
//
// A test of service x lives beside it in package x_test:
//
//	f := coretest.New(t, coretest.Options{})
//	documents := document.New(document.Settings{Store: f.Store, Encoders: f.Encoders, ...})
//	ctx := f.Caller(key.Issue{})
//	written, err := coretest.Call(ctx, documents.Write, document.WriteDocuments{...})
package coretest
