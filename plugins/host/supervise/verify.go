package supervise

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Command is what to start.
type Command struct {
	Args       []string          // the executable and its arguments; a bare name is looked up in PATH
	Dir        string            // working folder; "": this process's
	Env        []string          // NAME=value, the whole environment
	SHA256     string            // hex, of the executable
	Unverified bool              // start it without SHA256
	Foreign    bool              // it is a program of this machine, such as an interpreter: it has no SHA256
	Files      map[string]string // path to hex SHA-256 of what else has to be as it was: scripts, weights
	Identity   *[32]byte         // stands for all that is compared; nil: a sum over the executable and the files
}

// executable is the path of what to start.
func (c Command) executable() (string, error) {
	if len(c.Args) == 0 {
		return "", errors.New("command: names nothing to start")
	}
	name := c.Args[0]
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) && c.Dir != "" {
		name = filepath.Join(c.Dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", fmt.Errorf("command: %w", err)
	}
	return filepath.Abs(path)
}

// file is a path of Files as the backend would read it.
func (c Command) file(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}

// Verify reads the executable and the files and compares their sums. It gives the
// path of the executable and one sum over all that was read. The caller sees to it
// that nobody else may write them between this and the start.
func (c Command) Verify() (path string, sum [32]byte, err error) {
	path, err = c.executable()
	if err != nil {
		return "", sum, err
	}
	if c.SHA256 == "" && !c.Unverified && !c.Foreign {
		return "", sum, fmt.Errorf("sha256: is needed to start %s, or unverified: true", path)
	}
	whole := sha256.New()
	read := func(path, want, what string) error {
		got, err := sumOf(path)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if want != "" {
			if wanted, err := hex.DecodeString(strings.TrimPrefix(want, "sha256:")); err != nil ||
				subtle.ConstantTimeCompare(wanted, got) != 1 {
				return fmt.Errorf("%s: %s has the sha256 %x, not %s: it is not the file that was approved", what, path, got, want)
			}
		}
		whole.Write(got)
		return nil
	}
	if err := read(path, c.SHA256, "sha256"); err != nil {
		return "", sum, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		if c.Files[name] == "" {
			return "", sum, fmt.Errorf("files: %s has no sha256", name)
		}
		if err := read(c.file(name), c.Files[name], "files"); err != nil {
			return "", sum, err
		}
	}
	if c.Identity != nil {
		return path, *c.Identity, nil
	}
	return path, [32]byte(whole.Sum(nil)), nil
}

func sumOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return h.Sum(nil), nil
}
