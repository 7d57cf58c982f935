// Command archive packs a folder into a .tar.gz or a .zip, the same bytes each time: names in order, every file as old
// as SOURCE_DATE_EPOCH says (https://reproducible-builds.org/specs/source-date-epoch/), owned by root.
//
//	archive FILE.tar.gz|FILE.zip FOLDER
//
// It imports nothing of the product.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return errors.New("usage: archive FILE.tar.gz|FILE.zip FOLDER")
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is no time: %w", err)
	}
	out, err := os.Create(os.Args[1])
	if err != nil {
		return err
	}
	pack := tarball
	if strings.HasSuffix(os.Args[1], ".zip") {
		pack = zipped
	}
	err = pack(out, os.Args[2], time.Unix(seconds, 0).UTC())
	return errors.Join(err, out.Close())
}

// each calls do with every file of a folder in the order of their names, below the folder's own name.
func each(folder string, do func(name string, info fs.FileInfo, content io.Reader) error) error {
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		content, err := os.Open(file)
		if err != nil {
			return err
		}
		defer func() { _ = content.Close() }()
		return do(path.Join(filepath.Base(folder), filepath.ToSlash(relative)), info, content)
	})
}

// permissions are those of a file that everybody may read and, where its owner may, run.
func permissions(info fs.FileInfo) fs.FileMode {
	if info.Mode()&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

func tarball(to io.Writer, folder string, at time.Time) error {
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = each(folder, func(name string, info fs.FileInfo, content io.Reader) error {
		err := t.WriteHeader(&tar.Header{Name: name, Size: info.Size(), Mode: int64(permissions(info)), ModTime: at,
			Uname: "root", Gname: "root", Format: tar.FormatUSTAR})
		if err == nil {
			_, err = io.Copy(t, content)
		}
		return err
	})
	return errors.Join(err, t.Close(), z.Close())
}

func zipped(to io.Writer, folder string, at time.Time) error {
	z := zip.NewWriter(to)
	err := each(folder, func(name string, info fs.FileInfo, content io.Reader) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
		header.SetMode(permissions(info))
		w, err := z.CreateHeader(header)
		if err == nil {
			_, err = io.Copy(w, content)
		}
		return err
	})
	return errors.Join(err, z.Close())
}
