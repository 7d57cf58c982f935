package core_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what is generated of docs/architecture.md")

const mapFile = "../docs/architecture.md"

// mapRow is a row of the map's tables: a folder, what lives there, and what it may
// import, which is generated.
var mapRow = regexp.MustCompile("^\\| `([^`]+)` \\| (.*) \\| ([^|]*) \\|$")

// mayImport is the rule's cell in the map.
func mayImport(r rule) string {
	var cells []string
	for _, m := range r.may {
		switch {
		case m == "*":
			cells = append(cells, "any library")
			continue
		case strings.HasPrefix(m, "golang.org/"):
			m = strings.TrimPrefix(m, "golang.org/")
		default:
			m = strings.TrimPrefix(m, "github.com/")
		}
		cells = append(cells, "`"+m+"`")
	}
	if len(cells) == 0 && r.bare {
		cells = append(cells, "the standard library alone")
	} else if r.bare {
		cells = append(cells, "not fault, ident")
	}
	for _, n := range r.never {
		cells = append(cells, "not `"+n+"`")
	}
	return strings.Join(cells, ", ")
}

// checkMap returns the map with its generated cells current, and what only a person
// can mend: a package without a row, a row without a folder.
func checkMap(text string, pkgs []string, isFolder func(string) bool) (string, []string) {
	var problems []string
	rows := map[string]bool{}
	first := map[string]string{} // the folder whose row says a long cell first
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		m := mapRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		folder := m[1]
		if rows[folder] {
			problems = append(problems, folder+" has two rows in docs/architecture.md")
		}
		if !isFolder(folder) {
			problems = append(problems, "docs/architecture.md has a row for "+folder+", which is no folder: delete the row")
		}
		rows[folder] = true
		r, _ := ruleOf(folder)
		cell := mayImport(r)
		switch earlier, said := first[cell]; {
		case r.folder == "":
			cell = "no package"
		case said && len(r.may) > 3:
			cell = "as `" + earlier + "`"
		default:
			first[cell] = folder
		}
		lines[i] = "| `" + folder + "` | " + m[2] + " | " + cell + " |"
	}
	for _, r := range rules {
		if !slices.ContainsFunc(pkgs, func(pkg string) bool { return below(pkg, r.folder) }) {
			problems = append(problems, "the rule of "+r.folder+" in core/arrows_test.go covers no package: delete it")
		}
	}
	for _, pkg := range pkgs {
		r, ok := ruleOf(pkg)
		if !ok {
			problems = append(problems, broken(pkg, ""))
			continue
		}
		if !rows[r.folder] {
			problems = append(problems, pkg+" has no row in docs/architecture.md: add | `"+r.folder+
				"` | what lives there | | and run make generate")
		}
	}
	slices.Sort(problems)
	return strings.Join(lines, "\n"), slices.Compact(problems)
}

// The map of docs/architecture.md has every package of the module, and says of its
// imports what the rules say.
func TestMap(t *testing.T) {
	text, err := os.ReadFile(mapFile)
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []string
	for pkg := range imports(t, "..") {
		pkgs = append(pkgs, pkg)
	}
	want, problems := checkMap(string(text), pkgs, func(folder string) bool {
		info, err := os.Stat(filepath.Join("..", folder))
		return err == nil && info.IsDir()
	})
	for _, p := range problems {
		t.Error(p)
	}
	switch {
	case string(text) == want:
	case !*update:
		t.Error("docs/architecture.md is not what core/arrows_test.go says: run make generate")
	default:
		if err := os.WriteFile(mapFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The map is refused where it has drifted, with a sentence that says what to do.
func TestMapRefuses(t *testing.T) {
	var all []string
	rows := ""
	for _, r := range rules {
		all = append(all, r.folder)
		rows += "| `" + r.folder + "` | x |  |\n"
	}
	yes := func(string) bool { return true }
	table, problems := checkMap(rows, all, yes)
	if len(problems) > 0 {
		t.Fatalf("a whole map is refused: %v\n%s", problems, table)
	}
	if again, _ := checkMap(table, all, yes); again != table {
		t.Fatalf("a current map is rewritten:\n%s", again)
	}
	for _, c := range []struct {
		what, text string
		pkgs       []string
		isFolder   func(string) bool
		problem    string // "" where the text is to be rewritten
	}{
		{"a new package", table, append([]string{"core/unheard"}, all...), yes, "core/unheard has no rule: add one"},
		{"a package without a row", strings.Replace(table, "`core/page`", "core/page", 1), all, yes, "core/page has no row"},
		{"two rows", table + "| `core/page` | x |  |\n", all, yes, "core/page has two rows"},
		{"a row of nothing", table, all, func(f string) bool { return f != "core/page" },
			"a row for core/page, which is no folder"},
		{"a rule of nothing", table, slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == "core/page" }), yes,
			"the rule of core/page in core/arrows_test.go covers no package"},
		{"a cell that lies", strings.Replace(table, "| `core/port` | x | `core/filter` |", "| `core/port` | x | `core` |", 1),
			all, yes, ""},
	} {
		got, problems := checkMap(c.text, c.pkgs, c.isFolder)
		switch {
		case c.problem == "" && (len(problems) > 0 || got != table || c.text == table):
			t.Errorf("%s: problems %v, rewritten %v", c.what, problems, got == table)
		case c.problem != "" && (len(problems) != 1 || !strings.Contains(problems[0], c.problem)):
			t.Errorf("%s: problems %q, want %q", c.what, problems, c.problem)
		}
	}
}
