package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// tensor is a weight in f32, row-major.
type tensor struct {
	dims []int
	data []float32
}

var errTruncated = errors.New("truncated protocol buffer")

// field is one field of a protocol buffer message: the bytes of a
// length-delimited or fixed-size field, or the number of a varint.
type field struct {
	num   int
	wire  int
	value uint64
	bytes []byte
}

// eachField walks one protocol buffer message (encoding specification, "Message
// structure"). Groups are refused: ONNX has none.
func eachField(b []byte, visit func(field) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > math.MaxInt32 {
			return errTruncated
		}
		b = b[n:]
		f := field{num: int(tag >> 3), wire: int(tag & 7)}
		switch f.wire {
		case 0:
			if f.value, n = binary.Uvarint(b); n <= 0 {
				return errTruncated
			}
			b = b[n:]
		case 1, 5:
			size := 8
			if f.wire == 5 {
				size = 4
			}
			if len(b) < size {
				return errTruncated
			}
			f.bytes, b = b[:size], b[size:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return errTruncated
			}
			f.bytes, b = b[n:n+int(size)], b[n+int(size):]
		default:
			return fmt.Errorf("protocol buffer wire type %d is not supported", f.wire)
		}
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

type onnxNode struct {
	name, op        string
	inputs, outputs []string
	transB          bool // of a Gemm: the weight lies as [out, in]
}

type onnxTensor struct {
	name  string
	dims  []int
	dtype int
	raw   []byte   // raw_data, or the packed float_data
	loose []uint32 // unpacked float_data
	outer bool     // data lies in another file
}

// readONNX reads the initializers of an ONNX model (onnx.proto: ModelProto 7 is
// the graph; GraphProto 1 nodes, 5 initializers) under their checkpoint names.
// The exporter folds the weight of a linear layer into an anonymous transposed
// initializer ("onnx::MatMul_123"); its name comes from the bias that is added
// to the product, or from the path of the node that multiplies by it. A Gemm names
// its bias itself and says which way its weight lies.
func readONNX(b []byte) (map[string]tensor, error) {
	var nodes []onnxNode
	found := map[string]onnxTensor{}
	err := eachField(b, func(f field) error {
		if f.num != 7 || f.wire != 2 {
			return nil
		}
		return eachField(f.bytes, func(f field) error {
			switch {
			case f.num == 1 && f.wire == 2:
				n, err := readNode(f.bytes)
				nodes = append(nodes, n)
				return err
			case f.num == 5 && f.wire == 2:
				t, err := readONNXTensor(f.bytes)
				found[t.name] = t
				return err
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read onnx: %w", err)
	}
	if len(found) == 0 {
		return nil, errors.New("read onnx: no weights found; is this an ONNX model?")
	}
	for _, n := range nodes {
		switch n.op {
		case "MatMulInteger", "DynamicQuantizeLinear", "QLinearMatMul", "DequantizeLinear", "MatMulNBits",
			"DynamicQuantizeMatMul", "QAttention":
			return nil, fmt.Errorf("read onnx: the model is quantized already (%s); use the file in float32 or float16", n.op)
		}
	}

	linear := linearNames(nodes, found)
	out := make(map[string]tensor, len(found))
	for name, raw := range found {
		if raw.dtype != 1 && raw.dtype != 10 {
			continue // shapes and other integer constants
		}
		t, err := raw.floats()
		if err != nil {
			return nil, fmt.Errorf("read onnx: %s: %w", name, err)
		}
		if as, ok := linear[name]; ok {
			if len(t.dims) != 2 {
				continue
			}
			if name = as.name; !as.straight {
				t = t.transposed()
			}
		}
		out[name] = t
	}
	return out, nil
}

// linearWeight is what an initializer is in the checkpoint.
type linearWeight struct {
	name     string
	straight bool // [out, in] already
}

// linearNames maps the initializers that a MatMul or Gemm multiplies by to the
// checkpoint name of the weight.
func linearNames(nodes []onnxNode, found map[string]onnxTensor) map[string]linearWeight {
	biasOf := map[string]string{} // value name → bias added to it
	for _, n := range nodes {
		if n.op != "Add" || len(n.inputs) != 2 {
			continue
		}
		for i, in := range n.inputs {
			if strings.HasSuffix(in, ".bias") {
				biasOf[n.inputs[1-i]] = in
			}
		}
	}
	names := map[string]linearWeight{}
	for _, n := range nodes {
		if n.op == "Gemm" && len(n.inputs) == 3 && strings.HasSuffix(n.inputs[2], ".bias") {
			if _, ok := found[n.inputs[1]]; ok {
				names[n.inputs[1]] = linearWeight{strings.TrimSuffix(n.inputs[2], "bias") + "weight", n.transB}
			}
			continue
		}
		if n.op != "MatMul" || len(n.inputs) != 2 || len(n.outputs) != 1 {
			continue
		}
		weight := n.inputs[1]
		if _, ok := found[weight]; !ok {
			continue
		}
		if bias, ok := biasOf[n.outputs[0]]; ok {
			names[weight] = linearWeight{name: strings.TrimSuffix(bias, "bias") + "weight"}
		} else if path, ok := strings.CutSuffix(n.name, "/MatMul"); ok {
			names[weight] = linearWeight{name: strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".") + ".weight"}
		}
	}
	return names
}

func readNode(b []byte) (onnxNode, error) {
	var n onnxNode
	err := eachField(b, func(f field) error {
		if f.wire != 2 {
			return nil
		}
		switch f.num {
		case 1:
			n.inputs = append(n.inputs, string(f.bytes))
		case 2:
			n.outputs = append(n.outputs, string(f.bytes))
		case 3:
			n.name = string(f.bytes)
		case 4:
			n.op = string(f.bytes)
		case 5: // AttributeProto: 1 name, 3 integer
			var name string
			var value uint64
			err := eachField(f.bytes, func(f field) error {
				switch {
				case f.num == 1 && f.wire == 2:
					name = string(f.bytes)
				case f.num == 3 && f.wire == 0:
					value = f.value
				}
				return nil
			})
			n.transB = n.transB || name == "transB" && value == 1
			return err
		}
		return nil
	})
	return n, err
}

// readONNXTensor reads a TensorProto: 1 dims, 2 data_type (1 f32, 10 f16),
// 4 float_data, 8 name, 9 raw_data, 13 and 14 external data.
func readONNXTensor(b []byte) (onnxTensor, error) {
	var t onnxTensor
	err := eachField(b, func(f field) error {
		switch f.num {
		case 1:
			if f.wire == 0 {
				t.dims = append(t.dims, int(f.value))
				return nil
			}
			for rest := f.bytes; len(rest) > 0; {
				v, n := binary.Uvarint(rest)
				if n <= 0 {
					return errTruncated
				}
				t.dims, rest = append(t.dims, int(v)), rest[n:]
			}
		case 2:
			t.dtype = int(f.value)
		case 4:
			if f.wire == 5 {
				t.loose = append(t.loose, binary.LittleEndian.Uint32(f.bytes))
			} else {
				t.raw = f.bytes
			}
		case 8:
			t.name = string(f.bytes)
		case 9:
			t.raw = f.bytes
		case 13:
			t.outer = true
		case 14:
			t.outer = t.outer || f.value == 1
		}
		return nil
	})
	return t, err
}

func (t onnxTensor) floats() (tensor, error) {
	if t.outer {
		return tensor{}, errors.New("weights in a separate file are not supported; save the model as one file")
	}
	n, err := elements(t.dims)
	if err != nil {
		return tensor{}, err
	}
	raw := t.raw
	if len(t.loose) > 0 {
		raw = make([]byte, 0, 4*len(t.loose))
		for _, v := range t.loose {
			raw = binary.LittleEndian.AppendUint32(raw, v)
		}
	}
	kind := "F32"
	if t.dtype == 10 {
		kind = "F16"
	}
	data, err := decodeFloats(kind, raw, n)
	return tensor{dims: t.dims, data: data}, err
}

// transposed turns an [in, out] matrix into [out, in].
func (t tensor) transposed() tensor {
	rows, cols := t.dims[0], t.dims[1]
	out := make([]float32, len(t.data))
	for r := range rows {
		for c := range cols {
			out[c*rows+r] = t.data[r*cols+c]
		}
	}
	return tensor{dims: []int{cols, rows}, data: out}
}

// elements multiplies the dimensions; a negative or absurd one is an error.
func elements(dims []int) (int, error) {
	n := 1
	for _, d := range dims {
		if d < 0 || (d > 0 && n > (1<<31)/d) {
			return 0, fmt.Errorf("bad shape %v", dims)
		}
		n *= d
	}
	return n, nil
}

// decodeFloats widens n little-endian values of a safetensors dtype to f32.
func decodeFloats(dtype string, raw []byte, n int) ([]float32, error) {
	size := map[string]int{"F32": 4, "F16": 2, "BF16": 2, "F64": 8}[dtype]
	if size == 0 {
		return nil, fmt.Errorf("data type %s is not a float", dtype)
	}
	if len(raw) != n*size {
		return nil, fmt.Errorf("%d bytes for %d values of %s", len(raw), n, dtype)
	}
	out := make([]float32, n)
	for i := range out {
		switch dtype {
		case "F32":
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		case "F16":
			out[i] = halfToFloat(binary.LittleEndian.Uint16(raw[2*i:]))
		case "BF16":
			out[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		case "F64":
			out[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		}
	}
	return out, nil
}

// halfToFloat widens an IEEE 754 binary16.
func halfToFloat(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exp {
	case 0:
		v := float32(frac) / (1 << 24)
		if sign != 0 {
			v = -v
		}
		return v
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
