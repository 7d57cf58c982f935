// Command mneme is the memory and document retrieval server and its command
// line. A vendor's own binary is a copy of this file with one more Register line.
package main

import (
	"os"

	"github.com/mnemehq/mneme/adapters/standard"
	"github.com/mnemehq/mneme/cmd/mneme/cli"
	"github.com/mnemehq/mneme/core/registry"
)

func main() {
	r := registry.New()
	standard.Register(r)
	os.Exit(cli.Main(r, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
