// Package release makes what the vendor of a model publishes: an archive with the files
// that its model.json lists, and the entry of a catalogue from which models pull
// installs it.
package release
