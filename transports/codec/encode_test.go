package codec_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/transports/codec"
)

type tree struct {
	Name     string  `json:"name"`
	Children []*tree `json:"children"`
}

type base struct {
	Seq int64 `json:"seq"`
}

type answer struct {
	base
	Text   string             `json:"text"`
	List   []string           `json:"list"`
	Map    map[string]float64 `json:"map"`
	None   *string            `json:"none"`
	Raw    json.RawMessage    `json:"raw"`
	At     time.Time          `json:"at"`
	Any    any                `json:"any"`
	F32    float32            `json:"f32"`
	Left   string             `json:"left,omitempty"`
	Zero   *int               `json:"zero,omitempty"`
	Off    bool               `json:"off,omitempty"`
	LeftAt time.Time          `json:"left_at,omitzero"`
	Hidden string             `json:"-"`
}

type Sum struct {
	Total int `json:"total"`
}

type Ticket struct {
	ID string `json:"id"`
}

// oneOf is one answer or the other, as encoding/json flattens it.
type oneOf struct {
	*Sum
	*Ticket
}

type refusing struct{}

func (refusing) MarshalJSON() ([]byte, error) { return nil, errors.New("refused") }

func TestAppend(t *testing.T) {
	var e codec.Encoder
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{"zero", answer{}, `{"seq":0,"text":"","list":[],"map":{},"none":null,"raw":null,"at":"0001-01-01T00:00:00.000000Z",` +
			`"any":null,"f32":0}`},
		{"html stays", map[string]string{"b": "<a href='x'>&\u2028", "a": "1"}, `{"a":"1","b":"<a href='x'>&` + "\u2028" + `"}`},
		{"strings", "\x00\x1f\"\\\n\r\té😀\xff", `"\u0000\u001f\"\\\n\r\té😀` + "\ufffd" + `"`},
		{"floats", []float64{0, 1, -1.5, 1e21, 1e-7, 0.1, 123456789}, `[0,1,-1.5,1e+21,1e-07,0.1,123456789]`},
		{"float32 keeps its own shortest form", []float32{0.1, 0.83}, `[0.1,0.83]`},
		{"recursive", tree{"a", []*tree{{Name: "b"}, nil}}, `{"name":"a","children":[{"name":"b","children":[]},null]}`},
		{"raw", json.RawMessage(`{"k": 1}`), `{"k": 1}`},
		{"any", []any{nil, true, 3, "x", map[string]any{"z": []int(nil)}}, `[null,true,3,"x",{"z":[]}]`},
		{"embedded pointer", []oneOf{{Sum: &Sum{3}}, {Ticket: &Ticket{"t"}}, {}}, `[{"total":3},{"id":"t"},{}]`},
		{"nil", nil, "null"},
		{"times have one form", []any{
			time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			new(time.Date(2026, 1, 2, 3, 4, 5, 678_900_999, time.FixedZone("", 3600))),
			(*time.Time)(nil), map[string]any{"at": []*time.Time{nil}},
		}, `["2026-01-02T03:04:05.000000Z","2026-01-02T02:04:05.678900Z",null,{"at":[null]}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := e.Append(nil, c.in)
			if err != nil || string(got) != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
			if !json.Valid(got) {
				t.Error("not valid JSON")
			}
		})
	}
	for _, in := range []any{math.NaN(), math.Inf(1), make(chan int), map[int]int{}, []any{refusing{}}} {
		if got, err := e.Append(nil, in); err == nil {
			t.Errorf("%v was written as %s", in, got)
		}
	}
}

// FuzzAppendString holds written strings against the strict reader.
func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\x00\x7f\u2028😀\xff\xed\xa0\x80")
	var e codec.Encoder
	f.Fuzz(func(t *testing.T, s string) {
		b, err := e.Append(nil, s)
		if err != nil || codec.Check(b) != nil {
			t.Fatalf("%q: %s %v %v", s, b, err, codec.Check(b))
		}
		var back string
		if err := json.Unmarshal(b, &back); err != nil ||
			back != strings.ToValidUTF8(s, "\ufffd") && len([]rune(back)) != len([]rune(s)) {
			t.Fatalf("%q became %q, %v", s, back, err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	var e codec.Encoder
	list := make([]answer, 100)
	for i := range list {
		list[i] = answer{Text: strings.Repeat("some text ", 60), List: []string{"a", "b"}, Map: map[string]float64{"vector": .5}}
	}
	buf, err := e.Append(nil, list)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if buf, err = e.Append(buf[:0], list); err != nil {
			b.Fatal(err)
		}
	}
}
