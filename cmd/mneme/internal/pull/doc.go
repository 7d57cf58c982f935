// Package pull fetches the model packs that a catalogue names, converts them and
// installs them into the data folder, where a configuration names them
// installed:NAME. What is fetched is told by its SHA-256, so it may come from any
// mirror, in any number of attempts.
//
// The data folder's part, models/:
//
//	NAME/model.safetensors   a pack; or a vendor's folder with model.json
//	NAME/installed.json      what it is and where it came from (Installed)
//	.downloads/SHA256        what was fetched; .part and .part.json while it is
//	.publishers.json         when the newest catalogue of each key was signed
//	.lock                    held while something is installed or removed
package pull
