package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withHead adds the tensors of a head, by shape, with random values.
func withHead(w map[string]tensor, shapes map[string][]int) map[string]tensor {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		n, err := elements(shapes[name])
		if err != nil {
			panic(err)
		}
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(rng.NormFloat64())
		}
		w[name] = tensor{shapes[name], data}
	}
	return w
}

func masked() map[string]tensor {
	return withHead(tiny(), map[string][]int{"cls.predictions.transform.dense.weight": {16, 16},
		"cls.predictions.transform.dense.bias":       {16},
		"cls.predictions.transform.LayerNorm.weight": {16}, "cls.predictions.transform.LayerNorm.bias": {16},
		"cls.predictions.bias": {8}})
}

func classifier() map[string]tensor {
	return withHead(tiny(), map[string][]int{"classifier.weight": {1, 16}, "classifier.bias": {1}})
}

func pooled() map[string]tensor {
	return withHead(classifier(), map[string][]int{"pooler.dense.weight": {16, 16}, "pooler.dense.bias": {16}})
}

func joint() map[string]tensor {
	return withHead(tiny(), map[string][]int{"head.weight": {16}, "head.bias": {1}, "head.scale": {1}})
}

// folder is a checkpoint of these weights, named tiny-model.
func folder(t *testing.T, weights map[string]tensor, form func(map[string]tensor) (string, []byte)) string {
	t.Helper()
	return checkpoint(t, func(map[string]tensor) (string, []byte) { return form(weights) })
}

// packed gives the pack of a checkpoint and its bytes.
func packed(t *testing.T, dir string, o Options) (*File, []byte) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.safetensors")
	if _, err := Pack(t.Context(), dir, out, o); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return f, b
}

// TestHeads: the task and the head are read off the weights, and every form of
// checkpoint gives the same pack.
func TestHeads(t *testing.T) {
	bert := func(name string) string {
		if strings.HasPrefix(name, "cls.") || strings.HasPrefix(name, "classifier.") || strings.HasPrefix(name, "head.") {
			return name
		}
		return "bert." + name
	}
	old := strings.NewReplacer("LayerNorm.weight", "LayerNorm.gamma", "LayerNorm.bias", "LayerNorm.beta")
	for name, c := range map[string]struct {
		weights func() map[string]tensor
		task    Task
		head    Head
		tensors map[string][]int // beside the encoder's
	}{
		"masked": {masked, Sparse, "", map[string][]int{"mlm.transform.weight": {16, 16}, "mlm.transform.scale": {16},
			"mlm.transform.bias": {16},
			"mlm.norm.weight":    {16}, "mlm.norm.bias": {16}, "mlm.decoder.bias": {8}}},
		"masked, untied": {func() map[string]tensor {
			return withHead(masked(), map[string][]int{"cls.predictions.decoder.weight": {8, 16}})
		}, Sparse, "", map[string][]int{"mlm.transform.weight": {16, 16}, "mlm.transform.scale": {16}, "mlm.transform.bias": {16},
			"mlm.norm.weight": {16}, "mlm.norm.bias": {16}, "mlm.decoder.weight": {8, 16}, "mlm.decoder.scale": {8},
			"mlm.decoder.bias": {8}}},
		"pooler": {pooled, Rerank, Pooler,
			map[string][]int{"pooler.weight": {16, 16}, "pooler.scale": {16}, "pooler.bias": {16}, "head.weight": {16},
				"head.bias": {1}}},
		"plain": {classifier, Rerank, Plain, map[string][]int{"head.weight": {16}, "head.bias": {1}}},
		"joint": {joint, Rerank, Joint, map[string][]int{"head.weight": {16}, "head.bias": {1}, "head.scale": {1}}},
	} {
		t.Run(name, func(t *testing.T) {
			f, first := packed(t, folder(t, c.weights(), asSafetensors(same)), Options{})
			if f.Config.Task != c.task || f.Config.Head != c.head {
				t.Errorf("task %q head %q, want %q %q", f.Config.Task, f.Config.Head, c.task, c.head)
			}
			plain, _ := packed(t, folder(t, tiny(), asSafetensors(same)), Options{})
			got := map[string][]int{}
			for name, x := range f.Tensors {
				if _, ok := plain.Tensors[name]; !ok {
					got[name] = x.Shape
				}
			}
			if d := cmp.Diff(c.tensors, got); d != "" {
				t.Error(d)
			}
			for form, dir := range map[string]string{
				"prefixed":  folder(t, c.weights(), asSafetensors(bert)),
				"old names": folder(t, c.weights(), asSafetensors(func(s string) string { return old.Replace(s) })),
				"by bias":   folder(t, c.weights(), asONNX(false)),
				"by path":   folder(t, c.weights(), asONNX(true)),
				"gemm":      folder(t, c.weights(), asGemm),
			} {
				if _, b := packed(t, dir, Options{}); !bytes.Equal(b, first) {
					t.Errorf("%s: the pack differs from the one of safetensors", form)
				}
			}
		})
	}
}

// TestTiedDecoder: a decoder that repeats the word embeddings is stored once and
// handed out twice.
func TestTiedDecoder(t *testing.T) {
	_, once := packed(t, folder(t, masked(), asSafetensors(same)), Options{})
	weights := masked()
	weights["cls.predictions.decoder.weight"] = weights["embeddings.word_embeddings.weight"]
	f, twice := packed(t, folder(t, weights, asSafetensors(same)), Options{})
	if !bytes.Equal(once, twice) {
		t.Error("the repeated weights change the pack")
	}
	assets := f.Assets()
	for _, part := range []string{"weight", "scale"} {
		if got, want := assets["mlm.decoder."+part], assets["embeddings.word."+part]; len(got) == 0 || &got[0] != &want[0] {
			t.Errorf("mlm.decoder.%s is not the word embeddings' bytes", part)
		}
	}
}

// TestHeadSettings: what the checkpoint says of terms, calibration and window, and
// what options say instead.
func TestHeadSettings(t *testing.T) {
	dir := folder(t, masked(), asSafetensors(same))
	f, _ := packed(t, dir, Options{})
	if f.Config.Terms != 8 || f.Config.QueryTerms != 0 { // no more than the vocabulary has
		t.Errorf("%d and %d terms", f.Config.Terms, f.Config.QueryTerms)
	}
	f, _ = packed(t, dir, Options{Terms: 5, QueryTerms: 3})
	if f.Config.Terms != 5 || f.Config.QueryTerms != 3 {
		t.Errorf("%d and %d terms", f.Config.Terms, f.Config.QueryTerms)
	}
	write(t, dir, "1_Pooling/config.json", []byte(`{"pooling_mode_mean_tokens":true}`))
	if f, _ = packed(t, dir, Options{}); f.Config.Does() != Embedding {
		t.Errorf("a checkpoint with pooling is packed for %s", f.Config.Does())
	}
	if f, _ = packed(t, dir, Options{Task: Sparse}); f.Config.Does() != Sparse {
		t.Errorf("packed for %s", f.Config.Does())
	}
	dir = folder(t, joint(), asSafetensors(same))
	write(t, dir, "config.json", []byte(strings.Replace(tinyConfig, "{",
		`{"max_tokens":9,"calibration":{"scale":2.5,"bias":-1},`, 1)))
	if f, _ = packed(t, dir, Options{}); f.Config.MaxTokens != 9 || f.Config.Calibration == nil ||
		*f.Config.Calibration != (Calibration{2.5, -1}) {
		t.Errorf("window %d, calibration %v", f.Config.MaxTokens, f.Config.Calibration)
	}
	if f, _ = packed(t, dir, Options{Calibration: &Calibration{3, 0}}); *f.Config.Calibration != (Calibration{3, 0}) {
		t.Errorf("calibration %v", f.Config.Calibration)
	}
	if f, _ = packed(t, dir, Options{Task: Embedding}); f.Config.Does() != Embedding || f.Config.Calibration != nil {
		t.Errorf("packed for %s", f.Config.Does())
	}
}

func without(w map[string]tensor, name string) map[string]tensor {
	delete(w, name)
	return w
}

func TestHeadsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		weights map[string]tensor
		o       Options
		want    string
	}{
		"unknown task":   {tiny(), Options{Task: "answer"}, `task "answer" is not supported`},
		"no head":        {tiny(), Options{Task: Rerank}, "no reranker's head"},
		"no masked head": {tiny(), Options{Task: Sparse}, "cls.predictions.transform.dense.weight is missing"},
		"two labels": {withHead(tiny(), map[string][]int{"classifier.weight": {2, 16}, "classifier.bias": {2}}),
			Options{}, "2 labels"},
		"half a head":     {without(joint(), "head.bias"), Options{}, "head.bias is missing"},
		"half a pooler":   {without(pooled(), "pooler.dense.bias"), Options{}, "pooler.dense.bias is missing"},
		"no decoder bias": {without(masked(), "cls.predictions.bias"), Options{}, "cls.predictions.decoder.bias is missing"},
		"other decoder": {withHead(masked(), map[string][]int{"cls.predictions.decoder.weight": {7, 16}}), Options{},
			"want [8 16]"},
		"terms":            {masked(), Options{Terms: 9}, "terms is 9"},
		"negative terms":   {masked(), Options{Terms: -1}, "terms is -1"},
		"terms of another": {joint(), Options{Terms: 3}, "task sparse"},
		"calibration":      {joint(), Options{Calibration: &Calibration{Scale: -1}}, "calibration -1"},
		"calibration of":   {masked(), Options{Calibration: &Calibration{Scale: 1}}, "task rerank"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Pack(t.Context(), folder(t, c.weights, asSafetensors(same)), filepath.Join(t.TempDir(), "out"), c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// extension writes a late reranker's file over the tiny model.
func extension(t testing.TB, settings string, tensors map[string]tensor) []byte {
	t.Helper()
	var out []named
	for name, x := range tensors {
		tensor := Tensor{"F32", x.dims, floatBytes(x.data)}
		if len(x.dims) == 2 {
			q, _ := quantizeRows(x.data, x.dims[0], x.dims[1])
			tensor = Tensor{"I8", x.dims, q}
		}
		out = append(out, named{name, tensor})
	}
	var b bytes.Buffer
	if err := writeSafetensors(&b, out, map[string]string{MetadataKey: settings}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const lateSettings = `{"base":"tiny-model","task":"rerank","head":"late","late_layer":2,"name":"tiny-rerank",` +
	`"calibration":{"scale":3,"bias":-1}}`

func lateTensors() map[string]tensor {
	return withHead(map[string]tensor{}, map[string][]int{"late.term": {8}, "late.gate": {16}, "late.weights": {4},
		"late.project.weight": {4, 16}, "late.project.scale": {4}, "late.project.bias": {4},
		"late.topic.weight": {8, 16}, "late.topic.scale": {8}, "late.topic.bias": {8}})
}

// TestExtend: a late reranker is the embedder's tensors, uncopied, with its own.
func TestExtend(t *testing.T) {
	f, _ := packed(t, folder(t, tiny(), asSafetensors(same)), Options{Languages: []string{"en", "fr"}})
	before := fmt.Sprintf("%+v", f.Config)
	late, err := f.Extend(extension(t, strings.Replace(lateSettings, "{", `{"languages":["de"],`, 1), lateTensors()))
	if err != nil {
		t.Fatal(err)
	}
	c := late.Config
	if c.Name != "tiny-rerank" || c.Head != Late || c.LateLayer != 2 || c.Hidden != 16 ||
		*c.Calibration != (Calibration{3, -1}) || !slices.Equal(c.Languages, []string{"de"}) {
		t.Errorf("configuration %+v", c)
	}
	if after := fmt.Sprintf("%+v", f.Config); after != before || len(f.Tensors) != len(late.Tensors)-9 {
		t.Errorf("the base changed: %s", after)
	}
	own, shared := late.Assets(), f.Assets()
	for name, b := range shared {
		if &own[name][0] != &b[0] {
			t.Errorf("%s is copied", name)
		}
	}
	if len(own["late.weights"]) != 16 || len(own["late.project.weight"]) != 64 {
		t.Errorf("%d and %d bytes of its own", len(own["late.weights"]), len(own["late.project.weight"]))
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

func TestExtendRefused(t *testing.T) {
	f, _ := packed(t, folder(t, tiny(), asSafetensors(same)), Options{})
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"not a file": {[]byte("hello"), "safetensors"},
		"other base": {extension(t, strings.Replace(lateSettings, "tiny-model", "other", 1), lateTensors()), `of "other"`},
		"unknown":    {extension(t, strings.Replace(lateSettings, "{", `{"colour":1,`, 1), lateTensors()), "colour"},
		"layer": {extension(t, strings.Replace(lateSettings, `"late_layer":2`, `"late_layer":3`, 1), lateTensors()),
			"late_layer is 3"},
		"not JSON": {extension(t, "{", lateTensors()), "settings"},
		"no topic": {extension(t, lateSettings, without(lateTensors(), "late.topic.weight")),
			"late.topic.weight has 0 outputs"},
		"no scale": {extension(t, lateSettings, without(lateTensors(), "late.project.scale")),
			"late.project.scale is missing"},
		"short term": {extension(t, lateSettings, withHead(lateTensors(), map[string][]int{"late.term": {7}})),
			"late.term is F32 [7], want F32 [8]"},
		"too wide": {extension(t, lateSettings, withHead(lateTensors(), map[string][]int{"late.project.weight": {17, 16}})),
			"17 outputs"},
		"odd": {extension(t, lateSettings, withHead(lateTensors(), map[string][]int{"late.topic.weight": {3, 16}})),
			"3 outputs"},
		"only a bias": {extension(t, lateSettings, withHead(lateTensors(), map[string][]int{"late.weights": {1}})),
			"late.weights is F32 [1]"},
		"takes over": {extension(t, lateSettings, withHead(lateTensors(), map[string][]int{"layer.0.norm.bias": {16}})),
			"in the pack already"},
		"another window": {extension(t, strings.Replace(lateSettings, "{", `{"max_tokens":4000,`, 1), lateTensors()),
			"max_tokens is 4000"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := f.Extend(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// FuzzExtend: any bytes extend a pack to a valid model or are refused.
func FuzzExtend(f *testing.F) {
	out := filepath.Join(f.TempDir(), "out")
	dir := f.TempDir()
	name, weights := asSafetensors(same)(tiny())
	for name, b := range map[string][]byte{"config.json": []byte(tinyConfig),
		"vocab.txt": []byte(strings.Join(tinyVocab(), "\n")), name: weights} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := Pack(f.Context(), dir, out, Options{Name: "tiny-model"}); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		f.Fatal(err)
	}
	base, err := Parse(b)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(extension(f, lateSettings, lateTensors()))
	f.Fuzz(func(t *testing.T, b []byte) {
		late, err := base.Extend(b)
		if err != nil {
			return
		}
		if err := late.Config.Validate(); err != nil {
			t.Error(err)
		}
		if late.Config.Head == Late && len(late.Tensors["late.term"].Data) != 4*late.Config.Vocab {
			t.Error("term weights of another vocabulary")
		}
	})
}
