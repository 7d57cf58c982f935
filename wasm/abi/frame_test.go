package abi

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func requests() map[string]Request {
	return map[string]Request{
		"nothing": {Rows: []string{}},
		"a query": {Rows: []string{""}, Query: true},
		"texts":   {Rows: []string{"one", "", "zwei 字 😀", "\x00"}},
	}
}

func TestRequestRoundTrip(t *testing.T) {
	for _, want := range requests() {
		b, err := want.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != want.Size() {
			t.Errorf("%d bytes, Size says %d", len(b), want.Size())
		}
		got, err := ParseRequest(b)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
}

// TestRequestBytes pins the layout, which guests in other languages read.
func TestRequestBytes(t *testing.T) {
	b, err := Request{Rows: []string{"ab", "c"}, Query: true}.Append([]byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	want := "before" + "\x01\x00\x00\x00" + "\x02\x00\x00\x00" + "\x01\x00\x00\x00" + "\x00\x00\x00\x00" +
		"\x20\x00\x00\x00\x02\x00\x00\x00" + "\x22\x00\x00\x00\x01\x00\x00\x00" + "abc"
	if string(b) != want {
		t.Errorf("got  %q\nwant %q", b, want)
	}
}

func TestRequestRefused(t *testing.T) {
	if _, err := (Request{Rows: []string{"a", "\xff"}}).Append(nil); err == nil {
		t.Error("invalid UTF-8 was written")
	}
	if _, err := (Request{Rows: make([]string, MaxRows+1)}).Append(nil); err == nil {
		t.Error("too many rows were written")
	}
	for name, b := range badRequests(t) {
		if _, err := ParseRequest(b); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
}

// badRequests are frames that are refused.
func badRequests(t *testing.T) map[string][]byte {
	t.Helper()
	good, err := Request{Rows: []string{"abc", "d"}}.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string][]byte{}
	for name, change := range map[string]func([]byte) []byte{
		"short":         func(b []byte) []byte { return b[:15] },
		"version":       func(b []byte) []byte { b[0] = 2; return b },
		"unknown flag":  func(b []byte) []byte { b[8] = 2; return b },
		"reserved":      func(b []byte) []byte { b[12] = 1; return b },
		"rows":          func(b []byte) []byte { b[4] = 200; return b },
		"wild rows":     func(b []byte) []byte { b[7] = 0xff; return b },
		"offset":        func(b []byte) []byte { b[19] = 0xff; return b },
		"length":        func(b []byte) []byte { b[20] = 200; return b },
		"overflow":      func(b []byte) []byte { copy(b[16:], "\xff\xff\xff\xff\xff\xff\xff\xff"); return b },
		"invalid UTF-8": func(b []byte) []byte { b[len(b)-1] = 0xff; return b },
	} {
		bad[name] = change(slices.Clone(good))
	}
	return bad
}

func results() map[string]Result {
	return map[string]Result{
		"dense":      {Kind: KindDense, Rows: 2, Dim: 3, Floats: []float32{1, 2, 3, -4, 5, 0}, Tokens: []uint32{7, 8}},
		"dense bare": {Kind: KindDense, Rows: 1, Dim: 1, Floats: []float32{1}},
		"scores":     {Kind: KindScores, Rows: 3, Floats: []float32{0.5, -1, 2}},
		"cut":        {Kind: KindScores, Rows: 2, Floats: []float32{0, 1}, Tokens: []uint32{9, 512}, Cut: []uint32{0, 1}},
		"sparse": {
			Kind:   KindSparse,
			Rows:   3,
			Index:  []uint32{0, 2, 2, 3},
			Terms:  []uint32{4, 9, 1},
			Floats: []float32{1, 2, 3},
			Tokens: []uint32{1, 0, 2},
		},
		"text":   {Kind: KindText, Rows: 2, Text: []string{"häh", ""}, Tokens: []uint32{3, 1}},
		"counts": {Kind: KindCounts, Rows: 2, Counts: []uint32{0, 9}},
		"ids":    {Kind: KindIDs, Rows: 2, Index: []uint32{0, 1, 3}, Terms: []uint32{9, 9, 3}},
	}
}

func TestResultRoundTrip(t *testing.T) {
	for name, want := range results() {
		got, err := ParseResult(want.Append(nil))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestResultError(t *testing.T) {
	_, err := ParseResult(AppendError(nil, Error{Code: CodeTooLong, Message: "too\nlong \x1b[31m" + strings.Repeat("x", 2000)}))
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeTooLong {
		t.Fatalf("got %v", err)
	}
	if strings.ContainsAny(e.Message, "\n\x1b") || len(e.Message) > 512 {
		t.Errorf("the message is not one short line: %q", e.Message)
	}
}

// badResults are frames that are refused.
func badResults() map[string][]byte {
	bad := map[string][]byte{}
	put := func(word int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[4*word:], v); return b }
	}
	nan := math.Float32bits(float32(math.NaN()))
	for name, c := range map[string]struct {
		of     string
		change func([]byte) []byte
	}{
		"short":           {"dense", func(b []byte) []byte { return b[:31] }},
		"cut":             {"dense", func(b []byte) []byte { return b[:len(b)-1] }},
		"kind":            {"dense", put(0, 77)},
		"rows":            {"dense", put(1, 3)},
		"wild rows":       {"dense", put(1, math.MaxUint32)},
		"dim":             {"dense", put(2, 70000)},
		"body in header":  {"dense", put(4, 16)},
		"body outside":    {"dense", put(4, math.MaxUint32-3)},
		"tokens outside":  {"dense", put(5, math.MaxUint32-3)},
		"tokens in head":  {"dense", put(5, 4)},
		"NaN":             {"dense", put(9, nan)},
		"infinity":        {"scores", put(8, math.Float32bits(float32(math.Inf(1))))},
		"cut outside":     {"cut", put(3, math.MaxUint32-3)},
		"cut in header":   {"cut", put(3, 12)},
		"cut of more":     {"cut", put(1, 3)},
		"terms":           {"sparse", put(3, 4)},
		"wild terms":      {"sparse", put(3, math.MaxUint32)},
		"offsets":         {"sparse", put(9, 9)},
		"first offset":    {"sparse", put(8, 1)},
		"falling terms":   {"sparse", put(12, 9)},
		"text outside":    {"text", put(9, 200)},
		"text not UTF-8":  {"text", func(b []byte) []byte { b[49] = 0xff; return b }},
		"counts":          {"counts", put(1, 30)},
		"ids":             {"ids", put(3, 30)},
		"total too small": {"ids", put(7, 33)},
	} {
		bad[name] = c.change(results()[c.of].Append(nil))
	}
	return bad
}

func TestResultRefused(t *testing.T) {
	for name, b := range badResults() {
		if _, err := ParseResult(b); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
}

// FuzzResult: any bytes are read or refused, and what is read is whole.
func FuzzResult(f *testing.F) {
	for _, r := range results() {
		f.Add(r.Append(nil))
	}
	f.Add(AppendError(nil, Error{Code: 5, Message: "no"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseResult(b)
		if err != nil {
			return
		}
		if r.Tokens != nil && len(r.Tokens) != r.Rows {
			t.Fatalf("%d token counts for %d rows", len(r.Tokens), r.Rows)
		}
		if again, err := ParseResult(r.Append(nil)); err != nil || !cmp.Equal(r, again, cmpopts.EquateEmpty()) {
			t.Fatalf("%+v became %+v (%v)", r, again, err)
		}
		switch r.Kind {
		case KindDense:
			if len(r.Floats) != r.Rows*r.Dim {
				t.Fatalf("%d values for %dx%d", len(r.Floats), r.Rows, r.Dim)
			}
		case KindScores:
			if len(r.Floats) != r.Rows || r.Cut != nil && len(r.Cut) != r.Rows {
				t.Fatalf("%d scores and %d cuts for %d rows", len(r.Floats), len(r.Cut), r.Rows)
			}
		case KindSparse, KindIDs:
			for i := range r.Rows {
				_ = r.Terms[r.Index[i]:r.Index[i+1]]
			}
		case KindText:
			if len(r.Text) != r.Rows {
				t.Fatalf("%d texts for %d rows", len(r.Text), r.Rows)
			}
		case KindCounts:
			if len(r.Counts) != r.Rows {
				t.Fatalf("%d counts for %d rows", len(r.Counts), r.Rows)
			}
		default:
			t.Fatalf("kind %d was read", r.Kind)
		}
	})
}

// FuzzRequest: any bytes are read or refused, and what is read can be written.
func FuzzRequest(f *testing.F) {
	b, err := Request{Rows: []string{"a", "", "字"}, Query: true}.Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseRequest(b)
		if err != nil || r.Size() > 1<<20 {
			return
		}
		again, err := r.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := ParseRequest(again)
		if err != nil || !cmp.Equal(r, second) {
			t.Fatalf("%+v became %+v (%v)", r, second, err)
		}
	})
}

// TestRefusalSaysWhich: a result that breaks a rule is refused with the place and the value.
func TestRefusalSaysWhich(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	sparse := func(rows int, index, terms []uint32, weights ...float32) Result {
		return Result{Kind: KindSparse, Rows: rows, Index: index, Terms: terms, Floats: weights}
	}
	dense := func(rows, dim int, v ...float32) Result {
		return Result{Kind: KindDense, Rows: rows, Dim: dim, Floats: v}
	}
	for want, r := range map[string]Result{
		"row 1, dimension 2 is NaN":               dense(2, 3, 0, 1, 2, 3, 4, nan),
		"row 0, dimension 0 is +Inf":              dense(1, 1, inf),
		"2 rows of 3 do not fit":                  dense(2, 3, 0),
		"score 1 is NaN":                          {Kind: KindScores, Rows: 2, Floats: []float32{0, nan}},
		"3 scores do not fit":                     {Kind: KindScores, Rows: 3, Floats: []float32{0}},
		"weight 1, of term 9, is NaN":             sparse(1, []uint32{0, 2}, []uint32{4, 9}, 1, nan),
		"the terms of row 1 do not rise":          sparse(2, []uint32{0, 1, 3}, []uint32{4, 9, 9}, 1, 1, 1),
		"kind 5: the values of 4 rows do not fit": {Kind: KindCounts, Rows: 4, Counts: []uint32{1}},
	} {
		if _, err := ParseResult(r.Append(nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
