package cli

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/core"
	"github.com/mnemehq/mneme/plugins"
	"github.com/mnemehq/mneme/plugins/examples"
	"github.com/mnemehq/mneme/wasm"
	"github.com/mnemehq/mneme/wasm/models"
)

// modelName is what a model's name may be: it appears in file names, module paths
// and configuration keys.
var modelName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

func (c *command) modelsInitCommand() *cobra.Command {
	var language, name string
	var process bool
	cmd := &cobra.Command{
		Use:   "init --lang LANGUAGE DIR",
		Short: "Write a new model project that passes the check",
		Long: `Write a small model with its SDK, build script and manifest into DIR: a project to
build, check and turn on as it is, and then to make your own. Its README.md says how.
The languages are ` + strings.Join(languages(), ", ") + `: a
module for this process, but in python a program that runs beside it, and in go with
--process. The model's name is the folder's unless --name says another.`,
		Example: "  mneme models init --lang c ./acme\n  mneme models init --lang go --name acme ./models/acme\n" +
			"  mneme models init --lang go --process ./acme",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if language == "" {
				return usage("models init needs --lang: %s", strings.Join(languages(), ", "))
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if name == "" {
				name = filepath.Base(dir)
			}
			if !modelName.MatchString(name) {
				return usage("a model cannot be named %q: use lower-case letters, digits and _, a letter first (--name)", name)
			}
			files, err := projectFiles(language, name, process)
			if err != nil {
				return err
			}
			if err := writeProject(args[0], files); err != nil {
				return err
			}
			next := "mneme models seal .\n  mneme models check ."
			switch {
			case language == python:
				next = "mneme models check --process .venv/bin/python model.py"
			case process:
				next = "mneme models check --process ./" + name
			}
			fmt.Fprintf(c.stdout, "%s: %s in %s. Next:\n\n  cd %s\n  sh build.sh\n  %s\n\nREADME.md says the rest.\n",
				args[0], plural(len(files), "file"), language, args[0], next)
			return nil
		},
	}
	cmd.Flags().StringVar(&language, "lang", "", strings.Join(languages(), ", ")+" (required)")
	cmd.Flags().BoolVar(&process, "process", false, "a program that runs beside the server, in "+goLanguage+" or "+python)
	cmd.Flags().StringVar(&name, "name", "", "the model's name (default: the folder's)")
	return cmd
}

// ownProjects is what new projects have of their own; their SDKs and most of the code are
// those of the examples.
//
//go:embed project
var ownProjects embed.FS

const (
	python     = "python"
	goLanguage = "go"
)

// languages are those that a new project can be in.
func languages() []string { return append(wasm.Languages(), python) }

// projectFiles gives the files of a new project by their paths.
func projectFiles(language, name string, process bool) (map[string][]byte, error) {
	if !slices.Contains(languages(), language) {
		return nil, usage("no project in %q; there is %s", language, strings.Join(languages(), ", "))
	}
	switch {
	case language == goLanguage && process:
		return goProcess(name)
	case language == python:
		return pythonProcess(name)
	case process:
		return nil, usage("no process in %q; there is %s and %s", language, goLanguage, python)
	}
	return wasm.Project(language, name)
}

// sdkModules are what the SDKs of Go processes are linked with.
var sdkModules = []string{"github.com/fatih/color", "github.com/golang/protobuf", "github.com/hashicorp/go-hclog",
	"github.com/hashicorp/go-plugin", "github.com/hashicorp/yamux", "github.com/mattn/go-colorable", "github.com/mattn/go-isatty",
	"github.com/oklog/run", "golang.org/x/net", "golang.org/x/sys", "golang.org/x/text",
	"google.golang.org/genproto/googleapis/rpc", "google.golang.org/grpc", "google.golang.org/protobuf"}

const (
	serverModule = "github.com/mnemehq/mneme"
	goVersion    = "1.26"
)

// goProcess is a project of a process in Go: the example backend with the SDK.
func goProcess(name string) (map[string][]byte, error) {
	main, err := fs.ReadFile(examples.Files, "go/main.go")
	if err != nil {
		return nil, err
	}
	files, err := goProject(name, "go", plugins.Sources)
	if err != nil {
		return nil, err
	}
	files["main.go"] = bytes.ReplaceAll(main, []byte("hashing-go"), []byte(name))
	files[".gitignore"] = []byte("/" + name + "\n")
	return files, nil
}

// goProject is what projects in Go have in common: what is their own below project/own, and
// the SDK as a module under Mneme's own import paths, with the versions that this program
// has of what it requires.
func goProject(name, own string, sdk fs.FS) (map[string][]byte, error) {
	files, err := ownFiles(name, own)
	if err != nil {
		return nil, err
	}
	files["go.mod"] = fmt.Appendf(nil, "module %s\n\ngo %s\n\nrequire %s v0.0.0\n\nreplace %s => ./sdk\n", name, goVersion,
		serverModule, serverModule)
	required := fmt.Sprintf("module %s\n\ngo %s\n", serverModule, goVersion)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if slices.Contains(sdkModules, m.Path) {
				required += fmt.Sprintf("\nrequire %s %s\n", m.Path, m.Version)
			}
		}
	}
	files["sdk/go.mod"] = []byte(required)
	for folder, sources := range map[string]fs.FS{"core": core.Sources, "plugins": sdk} {
		err := fs.WalkDir(sources, ".", func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(file, "_test.go") {
				return err
			}
			files["sdk/"+folder+"/"+file], err = fs.ReadFile(sources, file)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// pythonProcess is a project of a process in Python.
func pythonProcess(name string) (map[string][]byte, error) {
	files, err := ownFiles(name, python)
	if err != nil {
		return nil, err
	}
	files["concepts.txt"], files[".gitignore"] = wasm.Concepts(), []byte(pythonIgnored)
	return files, copyExample(files, python, "mneme_*.py")
}

const pythonIgnored = ".venv/\n__pycache__/\n"

// ownFiles are the files below project/own, under the vendor's name.
func ownFiles(name, own string) (map[string][]byte, error) {
	files := map[string][]byte{}
	entries, err := ownProjects.ReadDir("project/" + own)
	for _, e := range entries {
		b, err := ownProjects.ReadFile("project/" + own + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		files[e.Name()] = wasm.Named(b, name)
	}
	return files, err
}

// copyExample adds the files of an example whose names match.
func copyExample(files map[string][]byte, example, pattern string) error {
	folder, err := fs.Sub(examples.Files, example)
	if err != nil {
		return err
	}
	names, err := fs.Glob(folder, pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		if files[name], err = fs.ReadFile(folder, name); err != nil {
			return err
		}
	}
	return nil
}

// writeProject writes files below dir and overwrites none.
func writeProject(dir string, files map[string][]byte) error {
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s exists already; nothing was written", filepath.Join(dir, name))
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) modelsSealCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "seal DIR",
		Short: "Write the digests of a model's files into its model.json",
		Long: `Write the digests of the module and the assets, or of a process's programs and files,
into the model.json of DIR, and print
the configuration that turns the model on, pinned to exactly these files. A model
whose files are not the sealed ones is refused.`,
		Example: "  mneme models seal ./acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			sum, err := models.Seal(args[0])
			if err != nil {
				return err
			}
			lines, err := configSnippet(args[0], sum)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.stdout, "sealed %s; to turn it on:\n\n%s", filepath.Join(args[0], models.ManifestFile), lines)
			return err
		},
	}
}

// configSnippet is the configuration that turns a sealed model on.
func configSnippet(dir, sum string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, models.ManifestFile))
	if err != nil {
		return "", err
	}
	if models.IsProcess(dir) {
		p, err := models.ReadProcess(dir)
		if err != nil {
			return "", err
		}
		name := p.Name
		if !modelName.MatchString(name) {
			name = "mine"
		}
		return fmt.Sprintf("models:\n  %s: { process: { manifest: %q, sha256: %q } }\nroles: { %s }\n", name,
			filepath.ToSlash(p.Dir), sum, rolesOf(p.Tasks, name)), nil
	}
	var m models.Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return "", err
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := m.Name
	if !modelName.MatchString(name) {
		name = "mine"
	}
	var required []string
	for _, setting := range slices.Sorted(maps.Keys(m.Settings)) {
		if m.Settings[setting].Required {
			required = append(required, fmt.Sprintf("%s: \"${%s}\"", setting, strings.ToUpper(setting)))
		}
	}
	settings := ""
	if len(required) > 0 {
		settings = ", settings: { " + strings.Join(required, ", ") + " }"
	}
	return fmt.Sprintf("models:\n  %s: { wasm: { module: %q, sha256: %q%s } }\nroles: { %s }\n", name,
		filepath.ToSlash(path), sum, settings, rolesOf(m.Tasks, name)), nil
}

// rolesOf gives a model the roles of its tasks, as a configuration does.
func rolesOf(tasks []string, name string) string {
	var roles []string
	for _, r := range []struct{ task, role string }{{"embedding", "embed"}, {"sparse", "sparse"}, {"rerank", "rerank"}} {
		if slices.Contains(tasks, r.task) {
			roles = append(roles, r.role+": "+name)
		}
	}
	return strings.Join(roles, ", ")
}
