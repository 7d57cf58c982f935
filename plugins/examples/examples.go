package examples

import "embed"

// Files are the examples as a vendor copies them: models in the folders go and python,
// connectors in source-go and source-python.
//
//go:embed go/main.go go/README.md python/*.py python/*.md python/requirements.txt python/setup.sh
//go:embed source-go/main.go source-go/sandbox/main.go source-python/*.py source-python/requirements.txt
var Files embed.FS
