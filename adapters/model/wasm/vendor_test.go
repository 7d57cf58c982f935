package wasm

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// vendor makes a model folder around the test module of wasm/abitest.
func vendor(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "wasm", "abitest", "testdata", "hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	manifest := fmt.Sprintf(`{"name":"vendor-model","licence":"Proprietary","module":{"path":"model.wasm","sha256":"%x"}}`, sha256.Sum256(b))
	for name, content := range map[string][]byte{"model.wasm": b, "model.json": []byte(manifest)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
