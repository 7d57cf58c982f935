package openapi_test

import (
	"os"
	"testing"

	"github.com/mnemehq/mneme/transports/openapi"
)

func BenchmarkBreaks(b *testing.B) {
	body, err := os.ReadFile("../../docs/openapi.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if breaks, err := openapi.Breaks(body, body); err != nil || len(breaks) > 0 {
			b.Fatalf("%v %v", breaks, err)
		}
	}
}
