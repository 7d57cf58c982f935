package console

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// edited is a field of a form that changes something, with its label.
type edited struct {
	name, label string
	tick        bool
}

// shownField is the field in which a form that changes something holds the values that it was shown with.
const shownField = "shown"

// Shown are the values that the form was shown with at first: what it was sent with, where it is shown again.
func (f form) Shown() string {
	if f.values.Has(shownField) {
		return f.values.Get(shownField)
	}
	return f.values.Encode()
}

// Over is the form as it was sent, where it is that of the same action, or else as it is shown at first.
func (f *form) Over(first form) form {
	if f == nil || f.Of != first.Of {
		return first
	}
	return *f
}

// overtaken asks again where somebody else changed what the form is about after it was shown, and sending it would undo
// that: a field that was left alone holds what it is now, one that was typed into keeps what was typed. now are the
// values that the form would be shown with. nil: there is nothing to ask, as where the form is sent twice.
func (v *visit) overtaken(now url.Values, fields ...edited) *form {
	f := v.typed()
	shown, err := url.ParseQuery(f.Get(shownField))
	if err != nil || !f.values.Has(shownField) {
		return nil
	}
	merged, first := maps.Clone(f.values), ""
	var said []string
	for _, e := range fields {
		was, is, typed := wordsOf(shown[e.name]), wordsOf(now[e.name]), wordsOf(f.values[e.name])
		if slices.Equal(was, is) || slices.Equal(typed, is) {
			continue
		}
		s := fmt.Sprintf("%s was %s and is now %s", e.label, e.say(was), e.say(is))
		if slices.Equal(typed, was) {
			merged[e.name] = now[e.name]
		} else {
			s += ", and you say " + e.say(typed)
			if first == "" {
				first = e.name
			}
		}
		said = append(said, s+".")
	}
	if len(said) == 0 {
		return nil
	}
	merged.Set(shownField, now.Encode())
	f.values, f.Field = merged, first
	f.Wrong = "This was changed by somebody else since the form was shown. " + strings.Join(said, " ") +
		" Send the form again to save what it says now."
	return &f
}

// wordsOf are the values of a field, as they are compared: browsers end lines in their own way, and the order of boxes
// says nothing.
func wordsOf(values []string) []string {
	var out []string
	for _, x := range values {
		if x = strings.TrimSpace(strings.ReplaceAll(x, "\r\n", "\n")); x != "" {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

// say is a field's value in a sentence.
func (e edited) say(values []string) string {
	switch {
	case e.tick && len(values) > 0:
		return "ticked"
	case e.tick:
		return "not ticked"
	case len(values) == 0:
		return "empty"
	}
	return "“" + short(strings.Join(values, ", "), 120) + "”"
}
