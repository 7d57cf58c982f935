package pull

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// files are those of file URLs, which begin with a drive: file:///C:/models. Shares need a
// letter of a drive, for what serves these URLs takes two slashes for one.
func files() http.FileSystem { return drives{} }

type drives struct{}

func (drives) Open(name string) (http.File, error) {
	return os.Open(filepath.FromSlash(strings.TrimPrefix(name, "/")))
}
