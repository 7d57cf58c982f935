package tokenizer

// Pieces are what a text is split into before the model sees it.
func (t *Tokenizer) Pieces(text string) []string {
	var out []string
	k := &recorder{model: t.model, out: &out}
	e := &encoder{t: &Tokenizer{normalizer: t.normalizer, splitters: t.splitters, raw: t.raw, normal: t.normal, model: k},
		left: 1}
	e.run(text)
	return out
}

type recorder struct {
	model
	out *[]string
}

func (r *recorder) tokenize(_ *encoder, s string) { *r.out = append(*r.out, s) }
