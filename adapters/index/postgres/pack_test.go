package postgres

import (
	"bytes"
	"maps"
	"testing"
)

func TestPack(t *testing.T) {
	posts := map[string][]byte{"kword": []byte("123456abcdef"), string(sparseKey(7)): []byte("654321"),
		"fcolour\x00red": []byte("1234"), "k": {}}
	got := map[string][]byte{}
	if err := unpack(pack(posts), func(key, list []byte) { got[string(key)] = list }); err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(got, posts, bytes.Equal) {
		t.Errorf("got %q, want %q", got, posts)
	}
}

// What is damaged is told, and nothing reads past its end.
func FuzzUnpack(f *testing.F) {
	f.Add(pack(map[string][]byte{"kword": []byte("123456"), "fx": []byte("12")}))
	f.Add([]byte{})
	f.Add([]byte{1, 'k', 5, 1})
	f.Add([]byte{0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'k'})
	f.Fuzz(func(t *testing.T, data []byte) {
		posts, twice := map[string][]byte{}, false
		err := unpack(data, func(key, list []byte) {
			if len(key) == 0 || len(list)%entryLen(key[0]) != 0 {
				t.Errorf("key %q with %d bytes", key, len(list))
			}
			_, ok := posts[string(key)]
			twice = twice || ok
			posts[string(key)] = list
		})
		if err != nil || twice {
			return
		}
		again := map[string][]byte{}
		if err := unpack(pack(posts), func(key, list []byte) { again[string(key)] = list }); err != nil {
			t.Fatal(err)
		}
		if !maps.EqualFunc(again, posts, bytes.Equal) {
			t.Errorf("packed again: %q, was %q", again, posts)
		}
	})
}
