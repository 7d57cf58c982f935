package audit

import (
	"reflect"
	"strings"

	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// describe says what a call is done to, and which fields its body sets. A call that was
// refused before its request was read has neither.
func (s *Service) describe(r *port.AuditRecord, c *op.Call) {
	if c.Input == nil {
		return
	}
	in := reflect.ValueOf(c.Input).Elem()
	path := map[string]string{}
	r.Fields = fields(in, path, nil)
	var target []string
	for part := range strings.SplitSeq(c.Spec.Path, "/") {
		name, isParameter := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		switch {
		case !isParameter, c.Spec.Family == op.Memory && name != "id", // another names an end user's own
			name == "org" && strings.Count(c.Spec.Path, "{") > 1:
		case c.Spec.Group == op.AdminEndUsers && name == "id":
			target = append(target, s.EndUser(r.Org, path[name]))
		default:
			target = append(target, path[name])
		}
	}
	if several, ok := c.Input.(op.EndUsersNaming); ok {
		var all []string
		for _, id := range several.EndUsers() {
			all = append(all, s.EndUser(r.Org, id))
		}
		target = append(target, strings.Join(all, ","))
	} else if u, ok := c.Input.(op.EndUserScoped); ok && c.Spec.Family == op.Memory {
		target = append(target, s.EndUser(r.Org, u.EndUser()))
	}
	if len(target) == 0 && c.Namespace != "" {
		target = append(target, c.Namespace)
	}
	r.Target = strings.Join(target, "/")
}

// fields adds the names of the body's fields that are set, and collects what the path says.
func fields(in reflect.Value, path map[string]string, names []string) []string {
	if in.Kind() != reflect.Struct {
		return names
	}
	for i := range in.NumField() {
		f := in.Type().Field(i)
		if f.Anonymous {
			names = fields(in.Field(i), path, names)
			continue
		}
		if !f.IsExported() {
			continue
		}
		if name := f.Tag.Get("path"); name != "" {
			path[name] = in.Field(i).String()
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && !in.Field(i).IsZero() {
			names = append(names, name)
		}
	}
	return names
}
