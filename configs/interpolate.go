package configs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// interpolate puts the values of ${VAR}, ${VAR:-default} and ${file:path} in
// place; $$ stands for one $, and a $ before anything else for itself. It works
// on decoded scalars, so a value can never change the file's structure, and
// values are not interpolated again. A relative path starts at the
// configuration's folder; one trailing line break of a file is dropped.
func interpolate(text, dir string, getenv func(string) (string, bool)) (string, error) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	var out strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i == len(text)-1 {
			out.WriteString(text)
			return out.String(), nil
		}
		out.WriteString(text[:i])
		switch text[i+1] {
		case '$':
			out.WriteByte('$')
			text = text[i+2:]
			continue
		case '{':
		default:
			out.WriteByte('$')
			text = text[i+1:]
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			return "", fmt.Errorf("%q has no closing brace; write $${ for a literal ${", text[i:])
		}
		value, err := expand(text[i+2:i+end], dir, getenv)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		text = text[i+end+1:]
	}
}

// errAbsent is inside the error of a value that is not on this machine.
var errAbsent = errors.New("it is not here")

// absent is an error that is errAbsent and does not say so.
type absent struct{ error }

func (a absent) Unwrap() []error { return []error{a.error, errAbsent} }

func expand(expr, dir string, getenv func(string) (string, bool)) (string, error) {
	if path, ok := strings.CutPrefix(expr, "file:"); ok {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		body, err := readFile(path)
		if err != nil {
			return "", absent{fmt.Errorf("${%s}: %w", expr, reason(err))}
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(body), "\n"), "\r"), nil
	}
	name, fallback, hasDefault := strings.Cut(expr, ":-")
	if !variable.MatchString(name) {
		return "", fmt.Errorf("${%s}: want ${NAME}, ${NAME:-default} or ${file:path}", expr)
	}
	if value, ok := getenv(name); ok && value != "" {
		return value, nil
	}
	if hasDefault {
		return fallback, nil
	}
	return "", absent{fmt.Errorf("${%s}: the environment variable is not set; ${%s:-default} gives it a default", name, name)}
}

// reason drops our own "read configuration" before what the system says.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path
	}
	return err
}
