// Package models holds every model of this repository to the checks that vendors'
// models are held to: the built-in ones, the examples, a model behind each remote
// dialect, and those of the catalogue. It walks the registry, the list of built-in
// models, the languages and the catalogue, so that a new one cannot be forgotten.
//
// What is missing for a model is told by a skip; with MNEME_TEST_REQUIRE=1 it is a
// failure. Checkpoints and artifacts lie in CACHE/models (default .cache of the
// repository), where wasm/models/fetch.sh puts them; MNEME_BACKEND_PYTHON names a
// Python that has the requirements of plugins/examples/python.
package models
