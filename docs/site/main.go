package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	var s settings
	out := flag.String("out", "dist/site", "the `folder` that the files are written to")
	flag.StringVar(&s.root, "root", ".", "the repository's `folder`")
	flag.StringVar(&s.url, "url", "", "where the site will be, for the addresses in llms.txt (default: relative ones)")
	flag.StringVar(&s.repository, "repository", "https://github.com/mnemehq/mneme", "where links to code lead")
	flag.Parse()
	if err := write(s, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func write(s settings, out string) error {
	files, err := build(s)
	if err != nil {
		return err
	}
	for name, content := range files {
		to := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d files in %s\n", len(files), out)
	return nil
}
