package coretest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/mnemehq/mneme/core/dataset"
)

// End reads a data set of one namespace, which must be whole, and answers its end line.
func End(t testing.TB, set []byte) (e dataset.End) {
	t.Helper()
	s := dataset.NewScan(bytes.NewReader(set))
	for {
		l, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && l.Kind == dataset.KindEnd {
			err = l.Decode(&e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Whole(); err != nil {
		t.Fatal(err)
	}
	return e
}
