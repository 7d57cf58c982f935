package process_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// build builds a program of this module.
func build(t testing.TB, folder string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(folder))
	if b, err := exec.Command("go", "build", "-o", out, filepath.Join("..", "..", "..", folder)).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", folder, err, b)
	}
	return out
}

func sumOf(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}
