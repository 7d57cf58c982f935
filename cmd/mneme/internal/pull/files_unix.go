//go:build unix

package pull

import "net/http"

// files are those of file URLs.
func files() http.FileSystem { return http.Dir("/") }
