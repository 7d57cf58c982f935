// Package status is the service of health: liveness, and a deep check that
// searches a built-in corpus through every retriever.
package status
