package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Part is a piece of what a model reads: a special token, or one of its texts.
type Part struct {
	IDs  []uint32 // of a special token
	Text int      // 1 or 2 for the first or second text; 0 for a special token
	Type int      // the segment that it belongs to
}

// template is how a post-processor puts texts between special tokens.
type template struct{ single, pair []Part }

func plainTemplate() template {
	return template{single: []Part{{Text: 1}}, pair: []Part{{Text: 1}, {Text: 2, Type: 1}}}
}

type tokenAndID struct {
	token string
	id    uint32
}

func (t *tokenAndID) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[2]any{&t.token, &t.id})
}

func readTemplate(raw json.RawMessage, depth int) (template, error) {
	kind, err := typeOf(raw, "post_processor", depth)
	if err != nil || kind == "" {
		return plainTemplate(), err
	}
	var p struct {
		Sep, Cls   *tokenAndID
		Single     []json.RawMessage
		Pair       []json.RawMessage
		Special    map[string]struct{ IDs []uint32 } `json:"special_tokens"`
		Processors []json.RawMessage
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return template{}, fmt.Errorf("post_processor %s: %w", kind, err)
	}
	switch kind {
	case "ByteLevel":
		return plainTemplate(), nil
	case "BertProcessing", "RobertaProcessing":
		if p.Sep == nil || p.Cls == nil {
			return template{}, fmt.Errorf("post_processor %s has no sep or no cls", kind)
		}
		sep, cls := Part{IDs: []uint32{p.Sep.id}}, Part{IDs: []uint32{p.Cls.id}}
		second, end := Part{Text: 2}, sep
		pair := []Part{cls, {Text: 1}, sep}
		if kind == "RobertaProcessing" {
			pair = append(pair, sep)
		} else {
			second.Type, end.Type = 1, 1
		}
		return template{single: []Part{cls, {Text: 1}, sep}, pair: append(pair, second, end)}, nil
	case "TemplateProcessing":
		ids := func(name string) ([]uint32, bool) {
			s, ok := p.Special[name]
			return s.IDs, ok && len(s.IDs) > 0
		}
		single, err1 := readParts(p.Single, ids, 1)
		pair, err2 := readParts(p.Pair, ids, 2)
		if err := errors.Join(err1, err2); err != nil {
			return template{}, fmt.Errorf("post_processor TemplateProcessing: %w", err)
		}
		return template{single, pair}, nil
	case "Sequence":
		out, found := plainTemplate(), false
		for _, inner := range p.Processors {
			kind, err := typeOf(inner, "post_processor", depth+1)
			if err != nil {
				return template{}, err
			}
			t, err := readTemplate(inner, depth+1)
			if err != nil {
				return template{}, err
			}
			if kind == "ByteLevel" {
				continue
			}
			if found {
				return template{}, errors.New("post_processor Sequence: of several that add tokens none is supported; one " +
					"alone is")
			}
			out, found = t, true
		}
		return out, nil
	}
	return template{}, unsupported("post_processor", kind,
		"BertProcessing, RobertaProcessing, TemplateProcessing, ByteLevel and Sequence")
}

// readParts reads a template, in which each of the texts has its place once.
func readParts(raw []json.RawMessage, ids func(string) ([]uint32, bool), texts int) ([]Part, error) {
	var out []Part
	places := map[int]int{}
	for _, b := range raw {
		type named struct {
			ID   string `json:"id"`
			Type int    `json:"type_id"`
		}
		var p struct{ SpecialToken, Sequence *named }
		if err := json.Unmarshal(b, &p); err != nil {
			return nil, err
		}
		switch {
		case p.SpecialToken != nil:
			known, ok := ids(p.SpecialToken.ID)
			if !ok {
				return nil, fmt.Errorf("special_tokens has no ids of %q", p.SpecialToken.ID)
			}
			out = append(out, Part{IDs: known, Type: p.SpecialToken.Type})
		case p.Sequence != nil && (p.Sequence.ID == "A" || p.Sequence.ID == "B"):
			text := int(p.Sequence.ID[0]-'A') + 1
			places[text]++
			out = append(out, Part{Text: text, Type: p.Sequence.Type})
		default:
			return nil, fmt.Errorf("the part %.60s is neither a SpecialToken nor the Sequence A or B", b)
		}
	}
	for text := 1; text <= 2; text++ {
		want := 1
		if text > texts {
			want = 0
		}
		if places[text] != want {
			return nil, fmt.Errorf("text %c stands %d times in the template of %d, want %d", 'A'+text-1, places[text], texts,
				want)
		}
	}
	return out, nil
}
