package core_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forwarders are the files that log messages which are no constants, with the
// events among them that the product itself makes.
var forwarders = map[string][]string{
	"core/middleware/observe.go":       {"call", "call failed", "call refused", "caller gone"}, // chosen by how the call ended
	"plugins/host/supervise/output.go": nil,                                                    // lines of a backend
	"wasm/host/imports.go":             nil,                                                    // lines of a module
}

// event is what the source says of a constant message.
type event struct{ levels, attributes map[string]bool }

var (
	logMethod = regexp.MustCompile(`^(Debug|Info|Warn|Error|Log|LogAttrs)(Context)?$`)
	eventForm = regexp.MustCompile(`^[a-z][a-zA-Z0-9 -]{2,40}$`)
	eventRow  = regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]*) \\| ([^|]*) \\| (.*) \\|$")
)

// logs reports whether an expression is a logger: a variable, a field or a function
// of that name.
func logs(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return strings.EqualFold(x.Name, "log") || x.Name == "logger" || x.Name == "slog"
	case *ast.SelectorExpr:
		return logs(x.Sel)
	case *ast.CallExpr:
		return logs(x.Fun)
	}
	return false
}

func literal(x ast.Expr) (string, bool) {
	l, ok := x.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// events finds what the files other than tests log.
func events(t *testing.T, root string) map[string]event {
	t.Helper()
	all := map[string]event{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() && file != root {
			_, err := os.Stat(filepath.Join(file, "go.mod"))
			if strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || rel == "cmd/mneme/test" || err == nil {
				return filepath.SkipDir
			}
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, file, nil, 0)
		if err != nil {
			return err
		}
		literals := map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok {
				if s, ok := literal(l); ok {
					literals[s] = true
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !logMethod.MatchString(method.Sel.Name) || !logs(method.X) {
				return true
			}
			at := 0
			level := strings.ToLower(strings.TrimSuffix(method.Sel.Name, "Context"))
			switch {
			case strings.HasPrefix(level, "log"):
				at, level = 2, ""
			case strings.HasSuffix(method.Sel.Name, "Context"):
				at = 1
			}
			if len(call.Args) <= at {
				return true
			}
			name, constant := literal(call.Args[at])
			if _, forwards := forwarders[rel]; !constant {
				if !forwards {
					t.Errorf("%s logs a message that is not constant: name the event, and put the rest into attributes",
						files.Position(call.Pos()))
				}
				return true
			}
			if !eventForm.MatchString(name) {
				t.Errorf("%s logs %q: an event is a few words without punctuation", files.Position(call.Pos()), name)
			}
			e := all[name]
			if e.levels == nil {
				e = event{map[string]bool{}, map[string]bool{}}
				all[name] = e
			}
			if level != "" {
				e.levels[strings.ToUpper(level)] = true
			}
			for i := at + 1; i < len(call.Args); i += 2 {
				if key, ok := literal(call.Args[i]); ok {
					e.attributes[key] = true
				}
			}
			return true
		})
		for _, name := range forwarders[rel] {
			if !literals[name] {
				t.Errorf("%s does not make the event %q any more", rel, name)
			}
			all[name] = event{map[string]bool{}, map[string]bool{}}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func joined(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ", ") }

// The table of docs/operators.md has every event, and no other. With -update it gets
// a row for each new one, to be completed by hand, and its columns level and
// attributes follow the source; those of events that the source does not tell by
// themselves (forwarders) are written by hand.
func TestEvents(t *testing.T) {
	const page, heading = "../docs/operators.md", "| event | level | attributes | what to do |"
	found := events(t, "..")
	if len(found) < 50 {
		t.Fatalf("the source logs %d events; they are not found", len(found))
	}
	body, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, table, ok := strings.Cut(string(body), heading+"\n|---|---|---|---|\n")
	if !ok {
		t.Fatalf("%s has no table %s", page, heading)
	}
	rest := ""
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		m := eventRow.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			rest = table[strings.Index(table, line):]
			break
		}
		if _, twice := rows[m[1]]; twice {
			t.Errorf("%s lists %q twice", page, m[1])
		}
		rows[m[1]] = strings.TrimSuffix(line, "\n")
	}
	var updated strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		e, row := found[name], rows[name]
		advice := "TELL WHAT TO DO"
		level, attributes := joined(e.levels), joined(e.attributes)
		if m := eventRow.FindStringSubmatch(row); m != nil {
			if advice = m[4]; len(e.levels) == 0 {
				level, attributes = m[2], m[3]
			}
		}
		want := fmt.Sprintf("| `%s` | %s | %s | %s |", name, level, attributes, advice)
		updated.WriteString(want + "\n")
		if row != want && !*update {
			t.Errorf("%s has for the event %q\n%s\nwant\n%s", page, name, row, want)
		}
		if strings.Contains(want, "TELL WHAT TO DO") {
			t.Errorf("%s does not say what to do about %q", page, name)
		}
	}
	for name := range rows {
		if _, ok := found[name]; !ok && !*update {
			t.Errorf("%s lists %q, which nothing logs", page, name)
		}
	}
	if *update {
		text := before + heading + "\n|---|---|---|---|\n" + updated.String() + rest
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
