package registry

import (
	"fmt"

	"github.com/mnemehq/mneme/core/fault"
)

// Suggest is `; did you mean "x"?` for the nearest of the known names, or
// nothing when none is near.
func Suggest(name string, known []string) string {
	if n := fault.Nearest(name, known); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}
