package mneme

import (
	"errors"
	"unsafe"

	"github.com/mnemehq/mneme/wasm/abi"
)

// Tokenizer is a tokenizer.json among the model's files, which the host reads. model.json
// names the capability "tokenizers".
type Tokenizer struct{ handle uint32 }

// OpenTokenizer opens the asset of that name. Where the host does not take it, its log says why.
func OpenTokenizer(name string) (Tokenizer, error) {
	h := tokenizerOpen(unsafe.Pointer(unsafe.StringData(name)), uint32(len(name)))
	if h == 0 {
		return Tokenizer{}, errors.New("the tokenizer " + name + " is missing or not supported")
	}
	return Tokenizer{h}, nil
}

// ID is the id of a token, such as [CLS].
func (t Tokenizer) ID(token string) (uint32, bool) {
	id := tokenID(t.handle, unsafe.Pointer(unsafe.StringData(token)), uint32(len(token)))
	return id, id < abi.TokenizeFailed
}

// IDs are the ids of a text, most at most, without special tokens around it.
func (t Tokenizer) IDs(text string, most int) ([]uint32, error) {
	ids := make([]uint32, max(most, 1))
	n := tokenize(t.handle, unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)),
		unsafe.Pointer(unsafe.SliceData(ids)), uint32(max(most, 0)))
	if err := tokenizeError(n); err != nil {
		return nil, err
	}
	return ids[:n], nil
}

// Count is how many ids a text has.
func (t Tokenizer) Count(text string) (int, error) {
	n := tokenize(t.handle, unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)), nil, 1<<31)
	return int(n), tokenizeError(n)
}

func tokenizeError(n uint32) error {
	switch n {
	case abi.TokenizeInvalid:
		return &abi.Error{Code: abi.CodeInvalid, Message: "a text is not valid UTF-8"}
	case abi.TokenizeStopped:
		return ErrStopped
	case abi.TokenizeBad, abi.TokenizeFailed:
		return errors.New("tokenizing failed")
	}
	return nil
}
