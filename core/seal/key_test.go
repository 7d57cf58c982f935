package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/seal"
)

func TestKeysAreParsed(t *testing.T) {
	a, b := seal.NewKey(), seal.NewKey()
	if a == b {
		t.Fatal("two new keys are the same")
	}
	if raw, err := base64.StdEncoding.DecodeString(a.Reveal()); err != nil || len(raw) != 32 {
		t.Fatalf("a key is %d bytes, %v", len(raw), err)
	}
	for _, text := range []string{
		a.Reveal() + "," + b.Reveal(),
		a.Reveal() + " " + b.Reveal() + "\n",
		a.Reveal() + "\r\n" + b.Reveal() + "\r\n",
		"\n# made in January\n" + a.Reveal() + " # the new one\n\n\t" + b.Reveal() + "# the old one",
		strings.TrimRight(a.Reveal(), "=") + ", " + strings.TrimRight(b.Reveal(), "="),
	} {
		keys, err := seal.ParseKeys(text)
		if err != nil || len(keys) != 2 || keys[0] != a || keys[1] != b {
			t.Errorf("%q: %d keys, %v", text, len(keys), err)
		}
	}
}

// What is wrong with a key is said by its number and its length: the key itself may be in
// a log already when somebody reads that.
func TestBadKeysAreRefused(t *testing.T) {
	good := seal.NewKey().Reveal()
	for text, want := range map[string]string{
		"":                      "there is no key; 'mneme seal key' prints a new one",
		" \n# only a comment\n": "there is no key; 'mneme seal key' prints a new one",
		"hunter2!":              "key 1 is not base64",
		good + "\nhunter2!":     "key 2 is not base64",
		"aHVudGVyMg==":          "key 1 has 7 bytes, a key has 32",
		good + ",aHVudGVyMg":    "key 2 has 7 bytes, a key has 32",
		good + " " + good:       "key 2 is key 1 again",
		good[:42] + "B=":        "key 1 is not base64", // bits that no key has
		good + good:             "key 1 is not base64",
		strings.Repeat("A", 88): "key 1 has 66 bytes, a key has 32",
	} {
		if keys, err := seal.ParseKeys(text); err == nil || err.Error() != want || keys != nil {
			t.Errorf("%q: %d keys, %v; want %s", text, len(keys), err, want)
		}
	}
}

// However a key is printed, it does not show, and its id does.
func TestAKeyDoesNotShow(t *testing.T) {
	k := seal.NewKey()
	raw, err := base64.StdEncoding.DecodeString(k.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", k, "keys", []seal.Key{k}, "settings",
		seal.Settings{Keys: []seal.Key{k}})
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", k, "keys", []seal.Key{k})
	shown := log.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%08b"} {
		shown += fmt.Sprintf(verb, k) + fmt.Sprintf(verb, []seal.Key{k}) + fmt.Sprintf(verb, struct{ K seal.Key }{k})
	}
	asJSON, err := json.Marshal(map[string]any{"key": k})
	if err != nil {
		t.Fatal(err)
	}
	shown += string(asJSON)
	for _, form := range []string{k.Reveal()[:8], string(raw[:4]), fmt.Sprintf("%x", raw[:4]), fmt.Sprintf("%X", raw[:4]),
		fmt.Sprintf("%d", raw[:4])[1:], fmt.Sprintf("%#v", raw[:4])[7:]} {
		if strings.Contains(shown, strings.TrimRight(form, "]}")) {
			t.Errorf("%q shows in %s", form, shown)
		}
	}
	if len(k.ID()) != 16 || k.ID() == seal.NewKey().ID() || fmt.Sprint(k) != "[sealing key "+k.ID()+"]" {
		t.Errorf("shown as %v", k)
	}
	again, err := seal.ParseKeys(k.Reveal())
	if err != nil || again[0].ID() != k.ID() {
		t.Errorf("read again as %v, %v", again, err)
	}
}

// Whatever a file of keys holds, it is refused or holds keys that can be written and read again.
func FuzzParseKeys(f *testing.F) {
	const key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	for _, seed := range []string{key, key + "\n# old\n" + key, "aHVudGVyMg==", "=,=#=", "\xff" + key, key + ",AA" + key[2:]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := seal.ParseKeys(text)
		if (err == nil) != (len(keys) > 0) {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		var again strings.Builder
		for _, k := range keys {
			again.WriteString(k.Reveal() + "\n")
		}
		if err != nil {
			return
		}
		if back, err := seal.ParseKeys(again.String()); err != nil || !slices.Equal(back, keys) {
			t.Errorf("read again: %d keys of %d, %v", len(back), len(keys), err)
		}
	})
}
