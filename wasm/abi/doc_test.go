package abi

import (
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"
)

var hexBlock = regexp.MustCompile("(?s):\n```\n(.*?)```") // none that names a language

// TestSpecifiedBytes holds the frames that ABI.md shows to what this package writes.
func TestSpecifiedBytes(t *testing.T) {
	b, err := os.ReadFile("ABI.md")
	if err != nil {
		t.Fatal(err)
	}
	var frames []string
	for _, block := range hexBlock.FindAllStringSubmatch(string(b), -1) {
		digits := ""
		for line := range strings.Lines(block[1]) {
			bytes, _, _ := strings.Cut(line, "   ")
			digits += strings.ReplaceAll(bytes, " ", "")
		}
		frame, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatalf("%v in\n%s", err, block[1])
		}
		frames = append(frames, string(frame))
	}
	request, err := Request{Rows: []string{"ab", "c"}, Query: true}.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	result := Result{Kind: KindDense, Rows: 2, Dim: 2, Floats: []float32{1, 0, 0.5, -2}, Tokens: []uint32{3, 4}}.Append(nil)
	if len(frames) != 2 || frames[0] != string(request) || frames[1] != string(result) {
		t.Errorf("ABI.md shows %x, want %x and %x", frames, request, result)
	}
}
