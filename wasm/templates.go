package wasm

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed abi/abi.go abi/doc.go abi/frame.go abi/model.schema.json
//go:embed sdk/c/mneme.h sdk/go/*.go sdk/rust/Cargo.toml sdk/rust/src/lib.rs sdk/assemblyscript/*.ts
//go:embed examples/go/concepts.txt
//go:embed examples/*/README.md examples/*/build.sh examples/*/gitignore examples/*/model.json
//go:embed examples/c/model.c examples/go/model.go examples/go/model_test.go examples/rust/Cargo.toml examples/rust/model.rs
//go:embed examples/assemblyscript/model.ts examples/assemblyscript/*.json
var sources embed.FS

// Languages are those that Project knows.
func Languages() []string { return []string{"assemblyscript", "c", "go", "rust"} }

// exampleName is the name of the model in the examples.
const exampleName = "acme"

// concepts is the one copy of the asset that all examples have.
const concepts = "examples/go/concepts.txt"

// Project gives the files of a vendor's new model, by their paths in its folder:
// the example of the language under the vendor's name, with the SDK beside it.
func Project(language, name string) (map[string][]byte, error) {
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("no project in %q; there is %s", language, strings.Join(Languages(), ", "))
	}
	files := map[string][]byte{}
	add := func(from, to string) error {
		b, err := sources.ReadFile(from)
		if err != nil {
			return fmt.Errorf("read project template: %w", err)
		}
		files[to] = b
		return nil
	}
	example := "examples/" + language
	entries, err := sources.ReadDir(example)
	if err != nil {
		return nil, fmt.Errorf("read project template: %w", err)
	}
	for _, e := range entries {
		if err := add(path.Join(example, e.Name()), e.Name()); err != nil {
			return nil, err
		}
		files[e.Name()] = Named(files[e.Name()], name)
	}
	files[".gitignore"] = files["gitignore"] // under its own name it would hide files of this repository
	delete(files, "gitignore")
	if err := add(concepts, "concepts.txt"); err != nil {
		return nil, err
	}
	if err := add("abi/model.schema.json", "sdk/model.schema.json"); err != nil {
		return nil, err
	}
	if language == "go" {
		// The SDK keeps its import path: a module of Mneme's name stands in for it.
		files["go.mod"] = []byte("module " + name +
			"\n\ngo 1.24\n\nrequire github.com/mnemehq/mneme v0.0.0\n\nreplace github.com/mnemehq/mneme => ./sdk\n")
		files["sdk/go.mod"] = []byte("module github.com/mnemehq/mneme\n\ngo 1.24\n")
		for _, folder := range []string{"abi", "sdk/go"} {
			if err := copyFolder(folder, "sdk/wasm/"+folder, add); err != nil {
				return nil, err
			}
		}
		return files, nil
	}
	return files, copyFolder("sdk/"+language, "sdk", add)
}

// Named gives a file of an example the vendor's name.
func Named(file []byte, name string) []byte {
	return bytes.ReplaceAll(file, []byte(exampleName), []byte(name))
}

// Concepts is the asset of the examples.
func Concepts() []byte {
	b, err := sources.ReadFile(concepts)
	if err != nil {
		panic(err) // it is part of this program
	}
	return b
}

// copyFolder adds every file of code below a folder of the sources, but tests.
func copyFolder(from, to string, add func(from, to string) error) error {
	return fs.WalkDir(sources, from, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".json") && from == "abi" {
			return err
		}
		return add(file, to+strings.TrimPrefix(file, from))
	})
}
