package installation_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"testing"
)

func sum(text string) [32]byte { return sha256.Sum256([]byte(text)) }

// relined changes the data of lines and gives them hashes that fit, as doc.go says
// they are made: another program may write data sets, too. Data that begins with a
// zero byte is the new kind of the line.
func relined(t testing.TB, set []byte, change func(kind, data string) string) []byte {
	t.Helper()
	var out bytes.Buffer
	var chain [32]byte
	for raw := range bytes.Lines(set) {
		var l struct {
			Type string          `json:"type"`
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		kind, data := l.Type, change(l.Type, string(l.Data))
		if data[0] == 0 {
			kind, data = data[1:], string(l.Data)
		}
		hash := sum(kind + "\n" + data)
		chain = sha256.Sum256(append(chain[:], hash[:]...))
		b64 := base64.RawURLEncoding.EncodeToString
		out.WriteString(`{"type":"` + kind + `","data":` + data + `,"hash":"` + b64(hash[:]) + `","chain":"` +
			b64(chain[:]) + "\"}\n")
	}
	return out.Bytes()
}

// The hashes are made as the documentation of the format says.
func TestFormatAsDocumented(t *testing.T) {
	set := sample(t)
	if again := relined(t, set, func(_, data string) string { return data }); !bytes.Equal(again, set) {
		t.Errorf("made by the documentation:\n%s\nmade by export:\n%s", again, set)
	}
}
