package engine_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/fault"
)

// The contract lists what operations of the memory API answer besides what any of them can
// (docs/contract.md#err-memory-statuses).
func TestTheContractListsTheStatusesOfTheMemoryAPI(t *testing.T) {
	page, err := os.ReadFile("../../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), `<a id="err-memory-statuses"></a>`)
	if !found {
		t.Fatal("the contract has no such table")
	}
	table, _, _ = strings.Cut(table, "<a id=")
	row, status := regexp.MustCompile("(?m)^\\| `([A-Z]+ [^`]+)` \\|[^|]*\\|([^|]*)\\|$"), regexp.MustCompile(`\b[45]\d\d\b`)
	documented := map[string][]string{}
	for _, r := range row.FindAllStringSubmatch(table, -1) {
		documented[r[1]] = status.FindAllString(r[2], -1)
	}
	common := []string{"400", "401", "403", "405", "413", "429", "500", "503", "504"}
	own := func(all []string) []string {
		all = slices.DeleteFunc(slices.Sorted(slices.Values(all)), func(s string) bool { return slices.Contains(common, s) })
		return slices.Compact(all)
	}
	for _, r := range engine.Operations().Routes() {
		path, is := strings.CutPrefix(r.Spec.Path, "/api/v1")
		if !is {
			continue
		}
		name := r.Spec.Method + " " + path
		listed, is := documented[name]
		delete(documented, name)
		if !is {
			t.Errorf("%s is not in the table", name)
			continue
		}
		var answers []string
		for _, code := range r.Spec.Faults {
			answers = append(answers, strconv.Itoa(fault.Status(code)))
		}
		if want, got := own(answers), own(listed); !slices.Equal(want, got) {
			t.Errorf("%s answers %v, the table says %v", name, want, got)
		}
	}
	if left := slices.Collect(maps.Keys(documented)); len(left) > 0 {
		t.Errorf("the table has %v, which are no operations", left)
	}
}
