package models

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Where installed models lie in a data folder, and what they are called.
const (
	InstalledPrefix = "installed:"
	InstalledFolder = "models"            // of the data folder; each model has a folder of its name in it
	PackFile        = "model.safetensors" // of an installed pack; a vendor's model has ManifestFile instead
)

var installedName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// CheckName refuses what is no name of an installed model: 1 to 64 letters, digits,
// dots, dashes, underscores and at signs, a letter or digit first. NAME@VERSION is the
// custom for versions side by side.
func CheckName(name string) error {
	if !installedName.MatchString(name) {
		return fmt.Errorf("model name %q: want 1 to 64 letters, digits, dots, dashes, underscores and @, a letter or digit first",
			name)
	}
	return nil
}

// InstalledIn is what Open takes for the model in a folder of its own.
func InstalledIn(dir string) string {
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err == nil {
		return dir
	}
	return filepath.Join(dir, PackFile)
}

// Resolve turns "installed:NAME" into what Open takes for the model of that name in
// a data folder; other names stay as they are.
func Resolve(name, dataDir string) (string, error) {
	short, ok := strings.CutPrefix(name, InstalledPrefix)
	if !ok {
		return name, nil
	}
	if err := CheckName(short); err != nil {
		return "", err
	}
	if dataDir == "" {
		return "", fmt.Errorf("module %s: there is no data folder to find it in", name)
	}
	dir := filepath.Join(dataDir, InstalledFolder, short)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("module %s: it is not installed in %s; `mneme models pull %s` installs a model of the "+
			"catalogue, `mneme models list` shows what is there", name, dataDir, short)
	}
	return InstalledIn(dir), nil
}
