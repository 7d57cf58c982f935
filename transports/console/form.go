package console

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
)

// form is what was typed into a form, with what is wrong with it.
type form struct {
	Of     string // the action that it belongs to
	Wrong  string // as a sentence; "": nothing
	Field  string // that it is about; "": the form as a whole
	values url.Values
}

// Get is what was typed into a field, or chosen.
func (f form) Get(name string) string { return f.values.Get(name) }

// Has reports whether a box was ticked, or an option chosen.
func (f form) Has(name, value string) bool {
	for _, v := range f.values[name] {
		if v == value {
			return true
		}
	}
	return false
}

// WrongID is the id of the element that says what is wrong.
func (f form) WrongID() string {
	if f.Of == "" {
		return "form-wrong"
	}
	return f.Of + "-wrong"
}

// For is the form of an action; of another one nothing was typed.
func (f *form) For(action string) form {
	if f == nil || f.Of != action {
		return form{Of: action}
	}
	return *f
}

// filled is a form that is shown with values.
func filled(action string, values url.Values) form { return form{Of: action, values: values} }

// typed is the form that was sent.
func (v *visit) typed() form { return form{Of: v.r.PostForm.Get("do"), values: v.r.PostForm} }

// wrong is the form that was sent, with what is wrong.
func (v *visit) wrong(field, sentence string) *form {
	f := v.typed()
	f.Field, f.Wrong = field, sentence
	return &f
}

// refused is the form that was sent, where a call refused what it says; nil where the fault is of
// another kind, or of none, so that the form has nothing to do with it.
func (v *visit) refused(err error) *form {
	if err == nil {
		return nil
	}
	x := fault.From(err)
	switch fault.Status(x.Code) {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge:
	case http.StatusForbidden:
		if x.Code != fault.QuotaExceeded {
			return nil
		}
	default:
		return nil
	}
	field, _ := x.Details["field"].(string)
	return v.wrong(field, sentence(x.Message))
}

// sentence begins a message with a capital and ends it with a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if s[0] >= 'a' && s[0] <= 'z' && !strings.ContainsAny(strings.SplitN(s, " ", 2)[0], "_.:") {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// showForm makes a page that shows a form again: where something is wrong with it, its status
// says so.
func showForm(f *form, out view, err error) (view, error) {
	if f != nil && f.Wrong != "" && err == nil {
		out.status = http.StatusUnprocessableEntity
	}
	return out, err
}

// field is one field of a form, ready to be shown.
type field struct {
	ID, Name, Label, Kind, Value, Hint, Placeholder, Min, Max, Mode string
	Required, Code, Checked, Wrong, Focus, Multiple                 bool
	Fill, Rows, WrongID                                             string
	Choices                                                         []choice
}

// choice is an option of a field.
type choice struct {
	Value, Text string
	Chosen      bool
}

// Described are the ids of what is said of a field.
func (f field) Described() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.ID+"-hint")
	}
	if f.Wrong {
		ids = append(ids, f.WrongID)
	}
	return strings.Join(ids, " ")
}

// fieldOf makes a field of a form. Options are words (required, code, focus, multiple) and
// name=value pairs (type, hint, placeholder, value, min, max, rows, mode, fill, id).
func fieldOf(f form, name, label string, options ...string) field {
	out := field{ID: name, Name: name, Label: label, Kind: "text", Value: f.Get(name), Wrong: f.Wrong != "" && f.Field == name,
		WrongID: f.WrongID()}
	if f.Of != "" {
		out.ID = f.Of + "-" + name
	}
	for _, o := range options {
		key, value, _ := strings.Cut(o, "=")
		switch key {
		case "required":
			out.Required = true
		case "code":
			out.Code = true
		case "focus":
			out.Focus = true
		case "multiple":
			out.Multiple = true
		case "type":
			out.Kind = value
		case "hint":
			out.Hint = value
		case "placeholder":
			out.Placeholder = value
		case "min":
			out.Min = value
		case "max":
			out.Max = value
		case "fill":
			out.Fill = value
		case "rows":
			out.Rows = value
		case "mode":
			out.Mode = value
		case "id":
			out.ID = value
		case "value":
			if f.values == nil {
				out.Value = value
			}
		}
	}
	out.Checked = f.Get(name) != ""
	out.Focus = out.Focus || out.Wrong
	return out
}

// choiceOf makes a field that offers choices, each as value=text. One may be hint=text.
func choiceOf(f form, name, label string, choices ...string) field {
	out := fieldOf(f, name, label)
	for _, c := range choices {
		value, text, _ := strings.Cut(c, "=")
		if value == "hint" {
			out.Hint = text
			continue
		}
		out.Choices = append(out.Choices, choice{Value: value, Text: text})
	}
	for i, c := range out.Choices {
		out.Choices[i].Chosen = f.Has(name, c.Value)
	}
	return out
}

// among makes a field that offers choices which are known only as the page is made.
func among(f form, name, label string, choices []choice) field {
	out := fieldOf(f, name, label)
	for _, c := range choices {
		c.Chosen = f.Has(name, c.Value)
		out.Choices = append(out.Choices, c)
	}
	return out
}
