package core_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	anchorID = regexp.MustCompile(`<a id="([^"]*)"></a>`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	fenced   = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	citation = regexp.MustCompile(`docs/([a-z]+\.md)#([A-Za-z0-9_-]+)`)
	mdLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	repoPath = regexp.MustCompile("`((?:core|transports|adapters|plugins|wasm|configs|cmd|samples|deploy|docs)/" +
		"[A-Za-z0-9_./-]+)`")
	commented = regexp.MustCompile(`\n[ \t]*//[ \t]*`)
	// deadForm is a citation by number of a paper that readers of the repository do not have.
	deadForm = regexp.MustCompile(`(?i)\b(?:decisions?,? (?:section )?[0-9]+(?:\.[0-9]+)*\b|interface` + ` document\b)`)
)

// slug is the anchor that GitHub gives a heading.
func slug(title string) string {
	title = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(title, "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(title)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// checkCitations says what is wrong with the citations and links of files, which are
// texts by path: dead anchors and files, anchors that stand twice, and citations of
// papers outside. exists is asked for other paths than those of files.
func checkCitations(files map[string]string, exists func(string) bool) (problems []string) {
	anchors := map[string]map[string]bool{}
	for name, text := range files {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		ids := map[string]bool{}
		for _, m := range anchorID.FindAllStringSubmatch(text, -1) {
			if ids[m[1]] {
				problems = append(problems, fmt.Sprintf("%s has the anchor %s twice", name, m[1]))
			}
			ids[m[1]] = true
		}
		for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			ids[slug(m[1])] = true
		}
		anchors[name] = ids
	}
	for name, text := range files {
		running := text
		if strings.HasSuffix(name, ".go") {
			running = commented.ReplaceAllString(text, " ")
		}
		if m := deadForm.FindString(running); m != "" {
			problems = append(problems, fmt.Sprintf("%s cites %q, which readers do not have: cite an anchor of docs/contract.md",
				name, m))
		}
		for _, m := range citation.FindAllStringSubmatch(running, -1) {
			if ids, ok := anchors["docs/"+m[1]]; !ok || !ids[m[2]] {
				problems = append(problems, fmt.Sprintf("%s cites docs/%s#%s, which is not there", name, m[1], m[2]))
			}
		}
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		prose := fenced.ReplaceAllString(text, "")
		for _, m := range mdLink.FindAllStringSubmatch(prose, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // another site
			}
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if ids, ok := anchors[file]; ok && anchor != "" && !ids[anchor] || !ok && !exists(file) {
				problems = append(problems, fmt.Sprintf("%s links to %s, which is not there", name, m[1]))
			}
		}
		for _, m := range repoPath.FindAllStringSubmatch(prose, -1) {
			if _, ok := files[m[1]]; !ok && !exists(m[1]) {
				problems = append(problems, fmt.Sprintf("%s names %s, which is not there", name, m[1]))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// Code and documents cite rules by anchors that exist, and nothing that is not here.
func TestCitations(t *testing.T) {
	files := map[string]string{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != ".." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if name == "anchors_test.go" { // it has dead anchors for examples
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".yaml", ".sh", ".proto", ".c", ".h", ".py"}, filepath.Ext(name)) {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", file)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files["docs/contract.md"] == "" || files["core/op/op.go"] == "" {
		t.Fatal("the tree was not found")
	}
	problems := checkCitations(files, func(name string) bool {
		_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
		return err == nil
	})
	for _, p := range problems {
		t.Error(p)
	}
}

// What has to be found is found, and nothing else.
func TestCitationsAreRefused(t *testing.T) {
	const contract = "# The contract\n<a id=\"ns-names\"></a>\n## Names of `things`, [more](x.md)\n"
	for _, c := range []struct {
		what, name, text string
		problem          string // "" is none
	}{
		{"a citation", "a.go", "// Name (docs/contract.md#ns-names).", ""},
		{"a dead citation", "a.go", "// Name (docs/contract.md#ns-name).", "a.go cites docs/contract.md#ns-name,"},
		{"a citation of no file", "a.go", "// Name (docs/contracts.md#ns-names).", "cites docs/contracts.md#ns-names"},
		{"a dead citation in a document", "b.md", "See docs/contract.md#gone.", "b.md cites docs/contract.md#gone"},
		{"an anchor that stands twice", "b.md", `<a id="x"></a> <a id="x"></a>`, "b.md has the anchor x twice"},
		{"a paper by number", "a.go", "// Name (decisions" + " 3.3).", "a.go cites"},
		{"a paper by section", "a.go", "// Name (decisions," + " section 2).", "a.go cites"},
		{"a paper over two lines", "a.go", "// Name (interface\n\t// document, section 2).", "a.go cites"},
		{"a standard", "a.go", "// Name (RFC 9728 section 5.1).", ""},
		{"a word", "a.go", "// Two decisions of the 3 were right.", ""},
		{"a link to an anchor", "docs/b.md", "[x](contract.md#ns-names)", ""},
		{"a link to a heading", "docs/b.md", "[x](contract.md#names-of-things-more)", ""},
		{"a link to a dead anchor", "docs/b.md", "[x](contract.md#gone)", "links to contract.md#gone"},
		{"a link in the page", "docs/b.md", "# Here\n[x](#here)", ""},
		{"a dead link in the page", "docs/b.md", "# Here\n[x](#there)", "links to #there"},
		{"a link to a folder", "docs/b.md", "[x](../core)", ""},
		{"a link to no file", "docs/b.md", "[x](gone.md)", "links to gone.md"},
		{"a link elsewhere", "docs/b.md", "[x](https://example.com/gone.md#x)", ""},
		{"a link in code", "docs/b.md", "```go\nx[0](gone)\n```", ""},
		{"a path", "docs/b.md", "see `core/a.go`", ""},
		{"a path of nothing", "docs/b.md", "see `core/gone.go`", "names core/gone.go"},
	} {
		files := map[string]string{"docs/contract.md": contract, "docs/x.md": "", c.name: c.text}
		got := checkCitations(files, func(name string) bool { return name == "core" || name == "core/a.go" })
		switch {
		case c.problem == "" && len(got) > 0:
			t.Errorf("%s: %q", c.what, got)
		case c.problem != "" && (len(got) != 1 || !strings.Contains(got[0], c.problem)):
			t.Errorf("%s: %q, want %q", c.what, got, c.problem)
		}
	}
}
