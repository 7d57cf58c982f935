package pack

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Tensor is one tensor of a safetensors file. Data aliases the file.
type Tensor struct {
	DType string // I8, U8, F32, ...
	Shape []int
	Data  []byte // little-endian, row-major
}

const maxHeader = 100 << 20 // the limit of the reference reader

// parseSafetensors reads a safetensors file: u64 header length, JSON header,
// tensor data. Every offset is checked; data may not overlap its neighbours'
// header, may lie in any order, and is not copied.
func parseSafetensors(b []byte) (map[string]Tensor, map[string]string, error) {
	if len(b) < 8 {
		return nil, nil, errors.New("safetensors: shorter than its header length")
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || n > uint64(len(b)-8) {
		return nil, nil, fmt.Errorf("safetensors: header of %d bytes does not fit the file", n)
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		return nil, nil, fmt.Errorf("safetensors: header: %w", err)
	}
	body := b[8+n:]
	var meta map[string]string
	tensors := make(map[string]Tensor, len(header))
	for name, raw := range header {
		if name == "__metadata__" {
			if err := json.Unmarshal(raw, &meta); err != nil {
				return nil, nil, fmt.Errorf("safetensors: metadata: %w", err)
			}
			continue
		}
		var entry struct {
			DType   string    `json:"dtype"`
			Shape   []int     `json:"shape"`
			Offsets [2]uint64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &entry); err != nil {
			return nil, nil, fmt.Errorf("safetensors: %s: %w", name, err)
		}
		count, err := elements(entry.Shape)
		if err != nil {
			return nil, nil, fmt.Errorf("safetensors: %s: %w", name, err)
		}
		size, ok := dtypeSize[entry.DType]
		if !ok {
			return nil, nil, fmt.Errorf("safetensors: %s: unknown data type %q", name, entry.DType)
		}
		lo, hi := entry.Offsets[0], entry.Offsets[1]
		if lo > hi || hi > uint64(len(body)) || hi-lo != uint64(count)*uint64(size) {
			return nil, nil, fmt.Errorf("safetensors: %s: offsets %d-%d do not fit shape %v in %d bytes", name, lo, hi,
				entry.Shape, len(body))
		}
		tensors[name] = Tensor{DType: entry.DType, Shape: entry.Shape, Data: body[lo:hi:hi]}
	}
	return tensors, meta, nil
}

var dtypeSize = map[string]int{"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8}

// named is a tensor on its way into a file.
type named struct {
	name string
	Tensor
}

// writeSafetensors writes the tensors with the wider data types first, so that
// each starts at a multiple of its element size, and then by name: equal input
// gives equal bytes.
func writeSafetensors(w io.Writer, tensors []named, meta map[string]string) error {
	slices.SortFunc(tensors, func(a, b named) int {
		if d := dtypeSize[b.DType] - dtypeSize[a.DType]; d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header := map[string]any{"__metadata__": meta}
	end := 0
	for _, t := range tensors {
		header[t.name] = entry{t.DType, t.Shape, [2]int{end, end + len(t.Data)}}
		end += len(t.Data)
	}
	head, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for (len(head)+8)%64 != 0 {
		head = append(head, ' ')
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(head)))); err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := w.Write(t.Data); err != nil {
			return err
		}
	}
	return nil
}
