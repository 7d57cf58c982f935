package simd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed assembly is what the generator writes.
func TestAssemblyIsGenerated(t *testing.T) {
	dir := t.TempDir()
	run := exec.Command("go", "run", "./gen", "-dir", dir)
	run.Env = append(os.Environ(), "GOOS=", "GOARCH=") // for this machine, whatever the test is built for
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("go run ./gen: %v\n%s", err, out)
	}
	written, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(written) == 0 {
		t.Fatalf("the generator wrote %v, %v", written, err)
	}
	for _, path := range written {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, have) {
			t.Errorf("%s is not what go generate writes", filepath.Base(path))
		}
	}
}
