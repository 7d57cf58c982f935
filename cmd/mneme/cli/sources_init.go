package cli

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/plugins"
)

// connectorName is what a connector's name may be: it is its kind's, too.
var connectorName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

func (c *command) sourcesInitCommand() *cobra.Command {
	var language, name string
	languages := []string{goLanguage, python}
	cmd := &cobra.Command{
		Use:   "init --lang LANGUAGE DIR",
		Short: "Write a new connector project that passes the check",
		Long: `Write a small connector with its SDK and build script into DIR, in ` + strings.Join(languages, " or ") + `,
and an app that it follows: a project to build, check and turn on as it is, and then to
put your own app in.
Its README.md says how. The kind's name is the folder's unless --name says another.`,
		Example: "  mneme sources init --lang go ./acme\n  mneme sources init --lang python --name acme ./connectors/acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if name == "" {
				name = filepath.Base(dir)
			}
			var files map[string][]byte
			var next string
			switch {
			case language == "":
				return usage("sources init needs --lang: %s", strings.Join(languages, ", "))
			case !connectorName.MatchString(name):
				return usage("a connector cannot be named %q: use at most 32 lower-case letters, digits and _, a letter first "+
					"(--name)", name)
			case c.hasKind(name):
				return usage("a connector cannot be named %q: that is a kind of source which Mneme has (--name)", name)
			case language == goLanguage && (name == "sdk" || name == "sandbox"):
				return usage("a connector cannot be named %q: the project has a folder of that name (--name)", name)
			case language == goLanguage:
				files, err = goConnector(name)
				next = "./" + name
			case language == python:
				files, err = pythonConnector(name)
				next = ".venv/bin/python connector.py"
			default:
				return usage("no project in %q; there is %s", language, strings.Join(languages, ", "))
			}
			if err != nil {
				return err
			}
			if err := writeProject(args[0], files); err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "%s: %s in %s. Next:\n\n  cd %s\n  sh build.sh\n  mneme sources check %s\n\n"+
				"README.md says the rest.\n", args[0], plural(len(files), "file"), language, args[0], next)
			return nil
		},
	}
	cmd.Flags().StringVar(&language, "lang", "", strings.Join(languages, ", ")+" (required)")
	cmd.Flags().StringVar(&name, "name", "", "the kind's name (default: the folder's)")
	return cmd
}

// hasKind reports whether the server has a kind of a name.
func (c *command) hasKind(name string) bool { return slices.Contains(c.ownKinds(), name) }

// ownKinds are the names of the kinds that the server has.
func (c *command) ownKinds() []string {
	names := []string{"push"}
	for _, own := range c.registry.Source.Components() {
		names = append(names, own.Name)
	}
	return names
}

// ofKind gives the example's code the vendor's kind.
func ofKind(code []byte, name string) []byte {
	return []byte(strings.NewReplacer(
		`Name:    "notes"`, `Name:    "`+name+`"`, `source.Serve("notes"`, `source.Serve("`+name+`"`, // Go
		`pb.Kind(name="notes"`, `pb.Kind(name="`+name+`"`, `sdk.serve("notes"`, `sdk.serve("`+name+`"`). // Python
		Replace(string(code)))
}

// goConnector is a project of a connector in Go.
func goConnector(name string) (map[string][]byte, error) {
	files, err := goProject(name, "source-go", plugins.ConnectorSources)
	if err != nil {
		return nil, err
	}
	for _, pattern := range []string{"main.go", "sandbox/main.go"} {
		if err := copyExample(files, "source-go", pattern); err != nil {
			return nil, err
		}
	}
	files["main.go"] = ofKind(files["main.go"], name)
	files[".gitignore"] = []byte("/" + name + "\n/sandbox/try\n/sandbox/notes/\n")
	return files, nil
}

// pythonConnector is a project of a connector in Python.
func pythonConnector(name string) (map[string][]byte, error) {
	files, err := ownFiles(name, "source-python")
	if err != nil {
		return nil, err
	}
	for _, pattern := range []string{"*.py", "requirements.txt"} {
		if err := copyExample(files, "source-python", pattern); err != nil {
			return nil, err
		}
	}
	files["connector.py"] = ofKind(files["connector.py"], name)
	files[".gitignore"] = []byte(pythonIgnored + "/notes/\n")
	return files, nil
}
