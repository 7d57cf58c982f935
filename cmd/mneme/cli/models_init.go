package cli

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/plugins/examples"
	"github.com/mnemehq/mneme/wasm"
	"github.com/mnemehq/mneme/wasm/models"
)

// modelName is what a model's name may be: it appears in file names, module paths
// and configuration keys.
var modelName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

func (c *command) modelsInitCommand() *cobra.Command {
	var language, name string
	cmd := &cobra.Command{
		Use:   "init --lang LANGUAGE DIR",
		Short: "Write a new model project that passes the check",
		Long: `Write a small model with its SDK, build script and manifest into DIR: a project to
build, check and turn on as it is, and then to make your own. Its README.md says how.
The languages are ` + strings.Join(languages(), ", ") + `: a
module for this process, but in python a program that runs beside it. The model's
name is the folder's unless --name says another.`,
		Example: "  mneme models init --lang c ./acme\n  mneme models init --lang go --name acme ./models/acme",
		Args:    cobra.ExactArgs(1),
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
			files, err := projectFiles(language, name)
			if err != nil {
				return err
			}
			if err := writeProject(args[0], files); err != nil {
				return err
			}
			next := "mneme models seal .\n  mneme models check ."
			if language == python {
				next = "mneme models check --process .venv/bin/python model.py"
			}
			fmt.Fprintf(c.stdout, "%s: %s in %s. Next:\n\n  cd %s\n  sh build.sh\n  %s\n\nREADME.md says the rest.\n",
				args[0], plural(len(files), "file"), language, args[0], next)
			return nil
		},
	}
	cmd.Flags().StringVar(&language, "lang", "", strings.Join(languages(), ", ")+" (required)")
	cmd.Flags().StringVar(&name, "name", "", "the model's name (default: the folder's)")
	return cmd
}

// pythonProject is what a new project in Python has of its own; its SDK is that of
// the example backend.
//
//go:embed project/python
var pythonProject embed.FS

const python = "python"

// languages are those that a new project can be in.
func languages() []string { return append(wasm.Languages(), python) }

// projectFiles gives the files of a new project by their paths.
func projectFiles(language, name string) (map[string][]byte, error) {
	if !slices.Contains(languages(), language) {
		return nil, usage("no project in %q; there is %s", language, strings.Join(languages(), ", "))
	}
	if language != python {
		return wasm.Project(language, name)
	}
	files := map[string][]byte{"concepts.txt": wasm.Concepts(), ".gitignore": []byte(".venv/\n__pycache__/\n")}
	sdk, err := fs.Sub(examples.Files, python)
	if err != nil {
		return nil, err
	}
	own, err := fs.Sub(pythonProject, "project/python")
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		files fs.FS
		names string
		own   bool
	}{{sdk, "mneme_*.py", false}, {own, "*", true}} {
		names, err := fs.Glob(part.files, part.names)
		if err != nil {
			return nil, err
		}
		for _, file := range names {
			if files[file], err = fs.ReadFile(part.files, file); err != nil {
				return nil, err
			}
			if part.own {
				files[file] = wasm.Named(files[file], name)
			}
		}
	}
	return files, nil
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
		Long: `Write the digests of the module and the assets into the model.json of DIR, and print
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
	var roles []string
	for _, r := range []struct{ task, role string }{{"embedding", "embed"}, {"sparse", "sparse"}, {"rerank", "rerank"}} {
		if slices.Contains(m.Tasks, r.task) {
			roles = append(roles, r.role+": "+name)
		}
	}
	return fmt.Sprintf("models:\n  %s: { wasm: { module: %q, sha256: %q } }\nroles: { %s }\n", name,
		filepath.ToSlash(path), sum, strings.Join(roles, ", ")), nil
}
