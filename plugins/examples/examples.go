package examples

import "embed"

// Files are the examples as a vendor copies them, in the folders go and python.
//
//go:embed go/main.go go/README.md python/*.py python/*.md python/requirements.txt python/setup.sh
var Files embed.FS
