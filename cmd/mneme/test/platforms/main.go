// Command platforms looks at every package and test of this module as each system and
// processor has them that there is a program for: it parses and type-checks all of it,
// as a compiler would, and runs those parts of go vet that look at a package by itself.
//
//	go run ./cmd/mneme/test/platforms ./...
//
// go vet for eight targets would compile every dependency eight times first. Here the
// declarations of dependencies are enough, nothing is compiled, and a file that several
// targets share is parsed once. What that leaves out is the assembler's and the linker's.
//
// For tests only.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/framepointer"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/packages"
)

// targets are all that there is a program for.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
	"freebsd/amd64", "freebsd/arm64"}

// alone are the parts of go vet that need to know nothing of other packages' bodies.
var alone = []*analysis.Analyzer{asmdecl.Analyzer, assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer,
	copylock.Analyzer, directive.Analyzer, framepointer.Analyzer, ifaceassert.Analyzer, nilfunc.Analyzer, shift.Analyzer,
	sigchanyzer.Analyzer, stdmethods.Analyzer, stringintconv.Analyzer, structtag.Analyzer, unreachable.Analyzer,
	unsafeptr.Analyzer}

func main() {
	debug.SetGCPercent(400) // what is parsed and checked stays: collecting it again and again takes a quarter of the time
	patterns := os.Args[1:]
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	root, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	files := &parsed{fset: token.NewFileSet(), root: root + string(filepath.Separator), files: map[string]*ast.File{}}
	failed := false
	for _, target := range targets {
		n, complaints, err := look(files, target, patterns)
		if err != nil {
			complaints = append(complaints, err.Error())
		}
		for _, c := range complaints {
			fmt.Printf("%s: %s\n", target, c)
		}
		fmt.Printf("%s: %d packages and tests, %d complaints\n", target, n, len(complaints))
		failed = failed || len(complaints) > 0 || n == 0
	}
	if failed {
		os.Exit(1)
	}
}

// look gives how many packages and tests a target has and what is wrong with them.
func look(files *parsed, target string, patterns []string) (int, []string, error) {
	system, processor, _ := strings.Cut(target, "/")
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedModule | packages.NeedTypesSizes,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
		Tests: true,
	}, patterns...)
	if err != nil {
		return 0, nil, err
	}
	// What go test itself writes is nothing to look at.
	all = slices.DeleteFunc(all, func(p *packages.Package) bool { return strings.HasSuffix(p.ID, ".test") })
	var complaints []string
	note := func(err error) { complaints = append(complaints, err.Error()) }
	packages.Visit(all, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			note(e)
		}
		files.check(p, slices.Contains(all, p), note)
	})
	if len(complaints) > 0 {
		return len(all), unique(complaints), nil
	}
	graph, err := checker.Analyze(alone, all, nil)
	if err != nil {
		return len(all), nil, err
	}
	for act := range graph.All() {
		if act.Err != nil {
			note(act.Err)
		}
		if !act.IsRoot {
			continue
		}
		for _, d := range act.Diagnostics {
			note(fmt.Errorf("%s: %s", files.fset.Position(d.Pos), d.Message))
		}
	}
	return len(all), unique(complaints), nil
}

// check gives a package its syntax and types, once what it imports has them. Of what is
// not asked for, the declarations are enough.
func (p *parsed) check(pkg *packages.Package, whole bool, note func(error)) {
	pkg.Fset = p.fset
	if pkg.PkgPath == "unsafe" {
		pkg.Types = types.Unsafe
		return
	}
	for _, name := range pkg.CompiledGoFiles {
		tree, err := p.parse(name)
		if err != nil {
			note(err)
		}
		pkg.Syntax = append(pkg.Syntax, tree)
	}
	conf := types.Config{
		IgnoreFuncBodies: !whole,
		Sizes:            pkg.TypesSizes,
		Importer: importer(func(path string) (*types.Package, error) {
			if to := pkg.Imports[path]; to != nil {
				return to.Types, nil
			}
			return nil, fmt.Errorf("%s imports %s, which was not loaded", pkg.PkgPath, path)
		}),
		Error: note,
	}
	if pkg.Module != nil && pkg.Module.GoVersion != "" {
		conf.GoVersion = "go" + pkg.Module.GoVersion
	}
	if whole {
		pkg.TypesInfo = &types.Info{
			Types:        map[ast.Expr]types.TypeAndValue{},
			Defs:         map[*ast.Ident]types.Object{},
			Uses:         map[*ast.Ident]types.Object{},
			Implicits:    map[ast.Node]types.Object{},
			Instances:    map[*ast.Ident]types.Instance{},
			Scopes:       map[ast.Node]*types.Scope{},
			Selections:   map[*ast.SelectorExpr]*types.Selection{},
			FileVersions: map[*ast.File]string{},
		}
	}
	pkg.Types = types.NewPackage(pkg.PkgPath, pkg.Name)
	_ = types.NewChecker(&conf, p.fset, pkg.Types, pkg.TypesInfo).Files(pkg.Syntax) // note has heard of it
	if !whole {
		pkg.Syntax = nil
	}
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

func unique(lines []string) []string {
	slices.Sort(lines)
	return slices.Compact(lines)
}

// parsed holds what was parsed for any target.
type parsed struct {
	fset  *token.FileSet
	root  string // of this module
	files map[string]*ast.File
}

func (p *parsed) parse(name string) (*ast.File, error) {
	if tree := p.files[name]; tree != nil {
		return tree, nil
	}
	mode := parser.AllErrors | parser.SkipObjectResolution
	ours := strings.HasPrefix(name, p.root)
	if ours {
		mode |= parser.ParseComments
	}
	tree, err := parser.ParseFile(p.fset, name, nil, mode)
	if err != nil {
		return tree, err
	}
	if !ours {
		for _, d := range tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				fn.Body.List = nil
			}
		}
	}
	p.files[name] = tree
	return tree, nil
}
