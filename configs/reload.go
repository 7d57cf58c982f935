package configs

import (
	"reflect"
	"slices"
)

// Reloaded is the configuration of a running server after it has read a new one:
// what it can change is the new one's, the rest stays as it was.
func (c *Config) Reloaded(next *Config) *Config {
	out := *c
	out.Log.Level = next.Log.Level
	return &out
}

// Changed names the settings, by section, in which a new configuration differs from
// that of a running server and which need a restart.
func Changed(is, next *Config) []string {
	same := next.Reloaded(is) // what needs no restart is alike
	a, b := reflect.ValueOf(*is), reflect.ValueOf(*same)
	sections := []string{}
	for i := range a.NumField() {
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			sections = append(sections, a.Type().Field(i).Tag.Get("yaml"))
		}
	}
	slices.Sort(sections)
	return sections
}
