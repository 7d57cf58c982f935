package remote

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// Vector decodes the two ways in which embeddings travel: a JSON array of
// numbers, or a string with the base64 of little-endian 32-bit floats.
type Vector []float32

var errVector = errors.New("an embedding that is neither numbers nor base64")

// UnmarshalJSON takes either form. Numbers beyond 32 bits are refused; base64
// can hold NaN and infinities, which Embedder refuses.
func (v *Vector) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) >= 2 && b[0] == '"':
		return v.fromBase64(b[1 : len(b)-1])
	case len(b) >= 2 && b[0] == '[':
		return v.fromArray(b)
	}
	return errVector
}

func (v *Vector) fromBase64(b []byte) error {
	// base64 has only one character that JSON may escape.
	raw := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' {
			if i++; i == len(b) || b[i] != '/' {
				return errVector
			}
		}
		raw = append(raw, b[i])
	}
	n, err := base64.StdEncoding.Decode(raw, raw)
	if err != nil || n%4 != 0 {
		return errVector
	}
	out := make(Vector, n/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	*v = out
	return nil
}

// fromArray parses without reflection: vectors are nearly all of an answer. The
// JSON is known to be well-formed.
func (v *Vector) fromArray(b []byte) error {
	out := make(Vector, 0, len(b)/12)
	for i := 1; i < len(b)-1; {
		switch b[i] {
		case ' ', '\t', '\r', '\n', ',':
			i++
			continue
		}
		end := i
		for end < len(b)-1 && b[end] != ',' && b[end] > ' ' {
			end++
		}
		if c := b[i]; c != '-' && (c < '0' || c > '9') { // ParseFloat knows "inf" and "nan"
			return errVector
		}
		x, err := strconv.ParseFloat(string(b[i:end]), 32)
		if err != nil {
			return errVector
		}
		out = append(out, float32(x))
		i = end
	}
	*v = out
	return nil
}

// List is the answer to a call for embeddings in the shape that OpenAI, Jina,
// Voyage and servers compatible with them share.
type List struct {
	Data []struct {
		Index     *int   `json:"index"`
		Embedding Vector `json:"embedding"`
	} `json:"data"`
	Usage struct {
		TotalTokens int `json:"total_tokens"`
	} `json:"usage"`
}

// Ordered gives the vectors of n texts by index, and the tokens counted.
func (l *List) Ordered(n int) ([]Vector, int, error) {
	if len(l.Data) != n {
		return nil, 0, InvalidAnswer("%d vectors for %d texts", len(l.Data), n)
	}
	out := make([]Vector, n)
	for _, d := range l.Data {
		if d.Index == nil || *d.Index < 0 || *d.Index >= n || out[*d.Index] != nil || d.Embedding == nil {
			return nil, 0, InvalidAnswer("a vector without an index of its own")
		}
		out[*d.Index] = d.Embedding
	}
	return out, l.Usage.TotalTokens, nil
}

// Result is a score in the shape that Cohere, Jina and Voyage share.
type Result struct {
	Index *int     `json:"index"`
	Score *float64 `json:"relevance_score"`
}

// Ranks checks that nothing is missing.
func Ranks(results []Result) ([]Rank, error) {
	out := make([]Rank, len(results))
	for i, r := range results {
		if r.Index == nil || r.Score == nil {
			return nil, InvalidAnswer("a result without index or relevance_score")
		}
		out[i] = Rank{*r.Index, *r.Score}
	}
	return out, nil
}
