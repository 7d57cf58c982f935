// Package process is the adapter for vendors' connectors: programs beside this process, in
// any language, that speak the connector protocol of plugins/proto/source and bring kinds
// of sources along. Choose it for a source that no built-in kind reads. It costs a process
// and a hop over a socket for each item; a program that crashes, hangs or lies harms the
// sources of its own kinds and no others.
package process
