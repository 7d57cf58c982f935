package jcs_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/mnemehq/mneme/core/memory/jcs"
)

// The inputs and outputs of RFC 8785, sections 3.2.2 to 3.2.4, and of its test data.
func TestExamplesOfTheRFC(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`, `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"` + "€$" +
			`\u000f\nA'B\"\\\\\"/"}`},
		{`{
  "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
}`, `{"\r":"Carriage Return","1":"One","` + "\u0080" +
			`":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","` +
			"\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`},
		{`[56,{"d":true,"10":null,"1":[]}]`, `[56,{"1":[],"10":null,"d":true}]`},
		{`{"1":{"f":{"f":"hi","F":5},"\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}`,
			`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`},
		{`{"Unnormalized Unicode":"A\u030a"}`, `{"Unnormalized Unicode":"A` + "\u030a" + `"}`},
		{` "<&>\u2028\u007f" `, `"<&>` + "\u2028\u007f" + `"`},
		{`"\b\t\n\f\r\u0000\u001f"`, `"\b\t\n\f\r\u0000\u001f"`},
	} {
		got, err := jcs.Transform([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got %s, %v\nwant %s", c.in, got, err, c.want)
		}
	}
}

// Appendix B of the RFC: IEEE 754 bits and their text.
func TestNumbersOfTheRFC(t *testing.T) {
	for _, c := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"}, {0x8000000000000000, "0"}, {0x0000000000000001, "5e-324"}, {0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"}, {0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"}, {0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"}, {0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"}, {0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"}, {0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"}, {0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"}, {0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"}, {0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		got, err := jcs.Append(nil, math.Float64frombits(c.bits))
		if err != nil || string(got) != c.want {
			t.Errorf("%016x: got %s, %v; want %s", c.bits, got, err, c.want)
		}
	}
	for _, v := range []any{math.NaN(), math.Inf(1), json.Number("1e400"), "\xff", json.RawMessage("{"),
		json.RawMessage("1 2"), struct{}{}} {
		if got, err := jcs.Append(nil, v); err == nil {
			t.Errorf("%v gave %s", v, got)
		}
	}
}

func FuzzTransform(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1e30,"\u20ac",null]}`, `[0.1,-0,1e-7]`, `"x"`, `{"":{"":[]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := jcs.Transform(raw)
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("%q became %q, which is no JSON", raw, once)
		}
		twice, err := jcs.Transform(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q, then %q, %v", raw, once, twice, err)
		}
	})
}
