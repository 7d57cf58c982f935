package directory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/source/directory"
	"github.com/mnemehq/mneme/adapters/source/sourcetest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

const maxItem = 64 << 10

// connect is a connector and a connection to a folder, which lies in one that is open.
func connect(t *testing.T, more ...string) (*directory.Connector, port.Connection, string) {
	t.Helper()
	return connectAt(t, time.Now, more...)
}

func connectAt(t *testing.T, now func() time.Time, more ...string) (*directory.Connector, port.Connection, string) {
	t.Helper()
	open := t.TempDir()
	root := filepath.Join(open, "root")
	mkdir(t, root)
	c, err := directory.New(directory.Settings{Directories: []string{t.TempDir(), open}, MaxItem: maxItem, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return c, connection(root, more...), root
}

// connection is one to a folder; more are further fields of its configuration.
func connection(root string, more ...string) port.Connection {
	path, _ := json.Marshal(root)
	fields := append([]string{`"path": ` + string(path)}, more...)
	return port.Connection{Config: json.RawMessage("{" + strings.Join(fields, ", ") + "}")}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o777); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestContract(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Upstream {
		// A clock that stands still: each change is young and counts, however long a test takes.
		var now atomic.Int64
		now.Store(time.Now().UnixNano())
		c, conn, root := connectAt(t, func() time.Time { return time.Unix(0, now.Load()) }, `"hidden": true`)
		outside := t.TempDir()
		link := filepath.Join(filepath.Dir(root), "link")
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(filepath.Dir(root), "file")
		write(t, file, "not a folder")
		held := map[string]string{}
		return sourcetest.Upstream{
			Connector:  c,
			Connection: conn,
			Key: func(name string) string {
				switch name {
				case "new\nline.txt":
					return "/new%0Aline.txt"
				case "tab\t.txt":
					return "/tab%09.txt"
				case "latin-\xe9.txt":
					return "/latin-%E9.txt"
				}
				return name
			},
			Set: func(t *testing.T, items map[string]string) {
				for name := range held {
					if _, ok := items[name]; !ok {
						if err := os.Remove(filepath.Join(root, name)); err != nil {
							t.Fatal(err)
						}
						delete(held, name)
					}
				}
				for name, text := range items {
					if was, ok := held[name]; !ok || was != text {
						write(t, filepath.Join(root, name), text)
						held[name] = text
					}
				}
			},
			Rename: func(t *testing.T, from, to string) {
				mkdir(t, filepath.Dir(filepath.Join(root, to)))
				if err := os.Rename(filepath.Join(root, from), filepath.Join(root, to)); err != nil {
					t.Fatal(err)
				}
			},
			Hostile: []string{"latin-\xe9.txt"},
			Many:    550,
			MaxItem: maxItem,
			BreakMidway: func(t *testing.T) (mend func()) {
				// It may have moved to where the listing has been: its files are not proven to be gone.
				last, aside := filepath.Join(root, "folder-6"), filepath.Join(root, "folder-0", "moved")
				if err := os.Rename(last, aside); err != nil {
					t.Fatal(err)
				}
				return func() {
					if err := os.Rename(aside, last); err != nil {
						t.Fatal(err)
					}
				}
			},
			Vanish: func(t *testing.T) {
				if err := os.RemoveAll(root); err != nil {
					t.Fatal(err)
				}
			},
			Crowd: func(t *testing.T, n int) {
				now.Store(time.Now().Add(time.Hour).UnixNano()) // what is old is not read
				for i := range 20 {
					dir := filepath.Join(root, fmt.Sprint(i))
					mkdir(t, dir)
					for j := range n / 20 {
						f, err := os.Create(filepath.Join(dir, fmt.Sprintf("a-file-with-some-name-%d.txt", j)))
						if err != nil {
							t.Fatal(err)
						}
						f.Close()
					}
				}
			},
			Wrong: []sourcetest.Wrong{
				{Name: "missing", Connection: connection(root + "/missing"), Code: port.SourceNotFound},
				{Name: "a file", Connection: connection(file), Field: "config.path", Code: port.SourceConfig},
				{Name: "not open", Connection: connection(outside), Field: "config.path", Code: port.SourceConfig},
				{Name: "out by dots", Connection: connection(root + "/../../.."), Field: "config.path", Code: port.SourceConfig},
				{Name: "beside", Connection: connection(filepath.Dir(root) + "-beside"), Field: "config.path",
					Code: port.SourceConfig},
				{Name: "relative", Connection: connection("root"), Field: "config.path", Code: port.SourceConfig},
				{Name: "out by a link", Connection: connection(link), Field: "config.path",
					Code: port.SourceConfig},
				{Name: "pattern", Connection: connection(root, `"exclude": ["["]`), Field: "config.exclude[0]",
					Code: port.SourceConfig},
				{Name: "misspelt", Connection: connection(root, `"inlcude": []`), Code: port.SourceConfig},
			},
		}
	})
}

// list lists all of a connection that works.
func list(t *testing.T, c *directory.Connector, conn port.Connection) *sourcetest.Kept {
	t.Helper()
	k := &sourcetest.Kept{}
	if err := c.List(t.Context(), conn, nil, k); err != nil || !k.Snapshot {
		t.Fatalf("%v, complete: %v", err, k.Snapshot)
	}
	return k
}

func wantKeys(t *testing.T, k *sourcetest.Kept, want ...string) {
	t.Helper()
	if got := k.Keys(); !slices.Equal(got, want) {
		t.Errorf("listed: %q\n  want: %q", got, want)
	}
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// TestLinks: without being told to, no link is followed; else those that stay inside are,
// and each other one is named.
func TestLinks(t *testing.T) {
	c, conn, root := connect(t)
	secret := filepath.Join(t.TempDir(), "secret.txt")
	write(t, secret, "secret")
	write(t, root+"/real/a.txt", "A")
	write(t, root+"/real/deep/b.txt", "B")
	symlink(t, "real", root+"/inside")
	symlink(t, "real/a.txt", root+"/file")
	symlink(t, "../../real", root+"/real/deep/loop")
	symlink(t, secret, root+"/out")
	symlink(t, "../../"+filepath.Base(filepath.Dir(secret))+"/secret.txt", root+"/out-by-dots")
	symlink(t, filepath.Dir(secret), root+"/out-folder")
	symlink(t, "nowhere", root+"/broken")
	symlink(t, "self", root+"/self")
	wantKeys(t, list(t, c, conn), "real/a.txt", "real/deep/b.txt")
	for _, key := range []string{"file", "out", "broken"} {
		wantFetch(t, c, conn, key, "", port.SourceSkipped)
	}

	follow := connection(root, `"follow_symlinks": true`)
	k := list(t, c, follow)
	wantKeys(t, k, "broken", "file", "inside/a.txt", "inside/deep/b.txt", "inside/deep/loop", "out", "out-by-dots", "out-folder",
		"real/a.txt", "real/deep/b.txt", "real/deep/loop", "self")
	if len(k.Problems) > 0 {
		t.Errorf("links that lead nowhere make a listing incomplete: %v", k.Problems)
	}
	for key, want := range map[string]string{"file": "A", "inside/a.txt": "A", "inside/deep/b.txt": "B", "real/a.txt": "A"} {
		wantFetch(t, c, follow, key, want, "")
	}
	for _, key := range []string{"broken", "inside/deep/loop", "out", "out-by-dots", "out-folder", "self"} {
		wantFetch(t, c, follow, key, "", port.SourceSkipped)
	}
	for _, key := range []string{"out-folder/secret.txt", "inside/../../out"} {
		if _, err := c.Fetch(t.Context(), follow, port.SourceItem{Key: key}); err == nil {
			t.Errorf("%s is read", key)
		}
	}
	// A file's version is that of what the link leads to.
	write(t, root+"/real/a.txt", "A, and more")
	again := list(t, c, follow)
	for i, item := range again.Items {
		if changed := item.Version != k.Items[i].Version; changed != (item.Key == "file" || strings.HasSuffix(item.Key,
			"a.txt")) {
			t.Errorf("%s changed: %v", item.Key, changed)
		}
	}
}

func wantFetch(t *testing.T, c *directory.Connector, conn port.Connection, key, want string, code port.SourceCode) {
	t.Helper()
	content, err := c.Fetch(t.Context(), conn, port.SourceItem{Key: key, Version: "1", Size: -1})
	if code == "" {
		if err != nil || string(content.File.Content) != want || content.File.Name != filepath.Base(key) ||
			content.Version == "" {
			t.Errorf("%s: %q, %+v, %v", key, content.File.Content, content, err)
		}
		return
	}
	var why *port.SourceError
	if !errors.As(err, &why) || why.Code != code {
		t.Errorf("%s: %v, want %s", key, err, code)
	}
}

// TestManyLinks: links that multiply what there is end at a bound.
func TestManyLinks(t *testing.T) {
	c, _, root := connect(t)
	const folders = 12 // each with two links to the next: 2 to the 12th ways to the file
	for i := range folders {
		mkdir(t, fmt.Sprintf("%s/%d", root, i))
		symlink(t, fmt.Sprintf("../%d", i+1), fmt.Sprintf("%s/%d/l", root, i))
		symlink(t, fmt.Sprintf("../%d", i+1), fmt.Sprintf("%s/%d/r", root, i))
	}
	write(t, fmt.Sprintf("%s/%d/file.txt", root, folders), "the file")
	k := list(t, c, connection(root, `"follow_symlinks": true`))
	if len(k.Items) < 100 || len(k.Items) > 2500 || len(k.Problems) > 0 {
		t.Errorf("%d items, %v", len(k.Items), k.Problems)
	}
}

// TestOtherFiles: what is neither file nor folder is never opened.
func TestOtherFiles(t *testing.T) {
	c, conn, root := connect(t)
	write(t, root+"/a.txt", "A")
	if err := pipe(root + "/pipe"); err != nil {
		t.Skipf("SKIPPED: no pipe: %v", err)
	}
	wantKeys(t, list(t, c, conn), "a.txt")
	wantFetch(t, c, conn, "pipe", "", port.SourceNotFound)
	wantFetch(t, c, conn, ".", "", port.SourceNotFound)
}

// TestYoungChange: a change that size and time do not show is seen as long as time could
// not have shown it.
func TestYoungChange(t *testing.T) {
	_, conn, root := connect(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := at.Add(1999 * time.Millisecond)
	c, err := directory.New(directory.Settings{Directories: []string{root}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	version := func(text string) string {
		t.Helper()
		write(t, root+"/a.txt", text)
		if err := os.Chtimes(root+"/a.txt", at, at); err != nil {
			t.Fatal(err)
		}
		k := list(t, c, conn)
		wantKeys(t, k, "a.txt")
		item := k.Items[0]
		content, err := c.Fetch(t.Context(), conn, item)
		if err != nil || content.Version != item.Version || item.Size != 4 || !item.Modified.Equal(at) || item.Name != "a.txt" {
			t.Errorf("%+v: %+v, %v", item, content, err)
		}
		return item.Version
	}
	young := version("text")
	if version("TEXT") == young {
		t.Error("a young change is not seen")
	}
	if version("text") != young {
		t.Error("a young version does not last")
	}
	now = at.Add(2 * time.Second)
	old := version("text")
	if old == young || version("TEXT") != old {
		t.Error("a file that is old enough is read for its version")
	}
	now = at.Add(-time.Hour) // a clock that went back, or another machine's
	if future := version("text"); future != young || version("TEXT") == future {
		t.Error("a change of the future is not read")
	}
}

// TestLargestYoungFile: what is listed of a file that is as large as one may be, and young, is
// what is fetched.
func TestLargestYoungFile(t *testing.T) {
	c, conn, root := connect(t)
	write(t, root+"/a.txt", strings.Repeat("x", maxItem))
	item := list(t, c, conn).Items[0]
	if content, err := c.Fetch(t.Context(), conn, item); err != nil || content.Version != item.Version {
		t.Errorf("listed as %s, fetched as %s, %v", item.Version, content.Version, err)
	}
}

// TestWrongConfiguration: nothing is listed or fetched by one.
func TestWrongConfiguration(t *testing.T) {
	c, _, root := connect(t)
	write(t, root+"/a.txt", "A")
	for _, conn := range []port.Connection{connection(root, `"include": ["["]`), connection(t.TempDir())} {
		var why *port.SourceError
		if err := c.List(t.Context(), conn, nil, &sourcetest.Kept{}); !errors.As(err, &why) || why.Code != port.SourceConfig {
			t.Errorf("%s: %v", conn.Config, err)
		}
		wantFetch(t, c, conn, "a.txt", "", port.SourceConfig)
	}
}

// TestChangeMeanwhile: an item that changed since it was listed is kept with the version
// that was read.
func TestChangeMeanwhile(t *testing.T) {
	c, conn, root := connect(t)
	write(t, root+"/a.txt", "listed")
	item := list(t, c, conn).Items[0]
	write(t, root+"/a.txt", "changed since")
	content, err := c.Fetch(t.Context(), conn, item)
	if err != nil || string(content.File.Content) != "changed since" || content.Version == item.Version {
		t.Fatalf("%+v, %v", content, err)
	}
	if next := list(t, c, conn).Items[0]; next.Version != content.Version {
		t.Errorf("fetched as %s, listed as %s", content.Version, next.Version)
	}
}

// TestGoingOn: in order of paths, whatever was in the place of the last one before.
func TestGoingOn(t *testing.T) {
	c, conn, root := connect(t)
	for i := range 500 {
		write(t, fmt.Sprintf("%s/b/%04d.txt", root, i), "x")
	}
	write(t, root+"/a.txt", "x")
	write(t, root+"/b.txt", "x")
	write(t, root+"/c/d.txt", "x")
	all := list(t, c, conn)
	if len(all.States) != 1 {
		t.Fatalf("%d checkpoints", len(all.States))
	}
	goOn := func(want ...string) {
		t.Helper()
		k := &sourcetest.Kept{}
		if err := c.List(t.Context(), conn, all.States[0], k); err != nil {
			t.Fatal(err)
		}
		wantKeys(t, k, want...)
	}
	goOn("b/0499.txt", "b.txt", "c/d.txt")
	if err := os.Remove(root + "/b/0498.txt"); err != nil {
		t.Fatal(err)
	}
	goOn("b/0499.txt", "b.txt", "c/d.txt")
	write(t, root+"/b/0498.txt/new.txt", "a folder where the last file was")
	goOn("b/0498.txt/new.txt", "b/0499.txt", "b.txt", "c/d.txt")
	if err := os.RemoveAll(root + "/b"); err != nil {
		t.Fatal(err)
	}
	goOn("b.txt", "c/d.txt")
}

// TestDepth: a tree that is too deep is a problem, and no end of the listing.
func TestDepth(t *testing.T) {
	c, conn, root := connect(t)
	write(t, root+"/"+strings.Repeat("d/", 100)+"last.txt", "x")
	write(t, root+"/z.txt", "x")
	if k := list(t, c, conn); len(k.Items) != 2 || len(k.Problems) > 0 {
		t.Errorf("%d items, %v", len(k.Items), k.Problems)
	}
	write(t, root+"/"+strings.Repeat("d/", 100)+"d/over/x.txt", "x")
	k := list(t, c, conn)
	if len(k.Items) != 2 || len(k.Problems) != 1 || k.Problems[0].Code != port.SourceTooLarge ||
		!strings.HasSuffix(k.Problems[0].Path, "/d/d") {
		t.Errorf("%d items, %+v", len(k.Items), k.Problems)
	}
}

// TestPatterns: a folder that is left out is not looked into.
func TestPatterns(t *testing.T) {
	c, _, root := connect(t)
	for _, name := range []string{"a.md", "a.txt", "docs/b.md", "node_modules/c.md", ".hidden/d.md", "docs/.e.md",
		".git/config"} {
		write(t, filepath.Join(root, name), "x")
	}
	wantKeys(t, list(t, c, connection(root, `"include": ["*.md"]`, `"exclude": ["node_modules"]`)), "a.md", "docs/b.md")
	wantKeys(t, list(t, c, connection(root, `"include": ["*.md"]`, `"hidden": true`)),
		".hidden/d.md", "a.md", "docs/.e.md", "docs/b.md", "node_modules/c.md")
}

// TestRefusedFolder: a folder that the server may not read is a problem; a file is listed.
func TestRefusedFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	c, conn, root := connect(t)
	write(t, root+"/closed/a.txt", "x")
	write(t, root+"/file.txt", "x")
	for _, path := range []string{"/closed", "/file.txt"} {
		if err := os.Chmod(root+path, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(root+"/closed", 0o700) })
	k := list(t, c, conn)
	wantKeys(t, k, "file.txt")
	if len(k.Problems) != 1 || k.Problems[0].Code != port.SourceForbidden || k.Problems[0].Path != "closed" {
		t.Errorf("%+v", k.Problems)
	}
	wantFetch(t, c, conn, "file.txt", "", port.SourceForbidden)
}

// TestVanishingFile: a file that goes while its folder is listed is no problem.
func TestVanishingFile(t *testing.T) {
	c, conn, root := connect(t)
	write(t, root+"/a.txt", "x")
	write(t, root+"/b.txt", "x")
	k := &sourcetest.Kept{Each: func(item port.SourceItem) {
		if item.Key == "a.txt" {
			if err := os.Remove(root + "/b.txt"); err != nil {
				t.Error(err)
			}
		}
	}}
	if err := c.List(t.Context(), conn, nil, k); err != nil || !k.Snapshot || len(k.Problems) > 0 {
		t.Errorf("%v, %+v", err, k)
	}
	wantKeys(t, k, "a.txt")
}

// TestRegistered: the component reads what the operator has opened, and no more of a file
// than the operator allows.
func TestRegistered(t *testing.T) {
	r := registry.New()
	directory.Register(r)
	info, ok := r.Source.Component("directory")
	if !ok {
		t.Fatal("the component is not registered under its name")
	}
	root := t.TempDir()
	c, err := r.Source.Open(t.Context(), info.Select(), registry.Env{Reach: registry.Reach{Directories: []string{root},
		MaxItem: 3}})
	if err != nil || c.Kind().Name != "directory" {
		t.Fatal(c, err)
	}
	write(t, root+"/a.txt", "abc")
	write(t, root+"/b.txt", "abcd")
	if content, err := c.Fetch(t.Context(), connection(root), port.SourceItem{Key: "a.txt"}); err != nil ||
		len(content.File.Content) != 3 {
		t.Errorf("%+v, %v", content, err)
	}
	var why *port.SourceError
	_, err = c.Fetch(t.Context(), connection(root), port.SourceItem{Key: "b.txt"})
	if !errors.As(err, &why) || why.Code != port.SourceTooLarge {
		t.Error(err)
	}
}

func TestSettings(t *testing.T) {
	if _, err := directory.New(directory.Settings{Directories: []string{"relative"}}); err == nil {
		t.Error("a relative folder is opened")
	}
	c, err := directory.New(directory.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	problems, err := c.Check(t.Context(), connection(t.TempDir()))
	if err != nil || len(problems) != 1 {
		t.Errorf("without folders: %v, %v", problems, err)
	}
	if err := c.Revoke(t.Context(), port.Connection{}); err != nil {
		t.Error(err)
	}
}

// TestSpelling: a file has the same key, however the system composes the letters of its name,
// and is read by it. Where two files differ in nothing else, each has a key of its own.
func TestSpelling(t *testing.T) {
	const two, one = "cafe\u0301", "caf\u00e9"
	const kelvin = "\u212a.txt" // in composed letters it would be a K
	c, conn, root := connect(t)
	mkdir(t, root+"/"+two)
	write(t, root+"/"+two+"/"+two+".txt", "A")
	write(t, root+"/"+two+"/plain.txt", "B")
	write(t, root+"/"+kelvin, "C")
	wantKeys(t, list(t, c, conn), one+"/"+one+".txt", one+"/plain.txt", kelvin)
	wantFetch(t, c, conn, one+"/"+one+".txt", "A", "")
	wantFetch(t, c, conn, one+"/plain.txt", "B", "")
	wantFetch(t, c, conn, kelvin, "C", "")
	wantFetch(t, c, conn, one+"/none.txt", "", port.SourceNotFound)
	wantFetch(t, c, conn, one, "", port.SourceNotFound)

	mkdir(t, root+"/"+one)
	write(t, root+"/"+one+"/"+one+".txt", "D")
	write(t, root+"/"+one+"/other.txt", "E")
	if entries, err := os.ReadDir(root); err != nil || len(entries) < 3 {
		t.Skipf("SKIPPED: this file system takes both for one name (%v)", err)
	}
	wantKeys(t, list(t, c, conn), two+"/"+two+".txt", one+"/plain.txt", one+"/"+one+".txt", one+"/other.txt", kelvin)
	wantFetch(t, c, conn, two+"/"+two+".txt", "A", "")
	wantFetch(t, c, conn, one+"/plain.txt", "B", "")
	wantFetch(t, c, conn, one+"/"+one+".txt", "D", "")
	wantFetch(t, c, conn, one+"/other.txt", "E", "")
}

// TestLinkedSpellings: two spellings that lead to one file, as where the system takes both for one
// name, are one key.
func TestLinkedSpellings(t *testing.T) {
	const two, one = "cafe\u0301.txt", "caf\u00e9.txt"
	c, conn, root := connect(t)
	write(t, root+"/"+two, "A")
	if err := os.Link(root+"/"+two, root+"/"+one); err != nil {
		t.Skipf("SKIPPED: no second name: %v", err)
	}
	wantKeys(t, list(t, c, conn), one, one)
	wantFetch(t, c, conn, one, "A", "")
}

// TestPathOfFile: the reason is that of the folder it lies in, whatever else the operator has
// opened that is not there.
func TestPathOfFile(t *testing.T) {
	open := t.TempDir()
	c, err := directory.New(directory.Settings{Directories: []string{filepath.Join(open, "none"), open}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, open+"/file.txt", "x")
	problems, err := c.Check(t.Context(), connection(open+"/file.txt"))
	if err != nil || len(problems) != 1 || problems[0].Message != "is not a folder" {
		t.Errorf("%+v, %v", problems, err)
	}
}

// TestYoungFileGoes: a young file that can't be read for its version is listed nonetheless; where
// the listing was called off, nothing is.
func TestYoungFileGoes(t *testing.T) {
	var before func()
	c, conn, root := connectAt(t, func() time.Time { before(); return time.Now() })
	write(t, root+"/a.txt", "x")
	before = func() {
		if err := os.Remove(root + "/a.txt"); err != nil {
			t.Error(err)
		}
	}
	wantKeys(t, list(t, c, conn), "a.txt")

	write(t, root+"/a.txt", "x")
	ctx, cancel := context.WithCancel(t.Context())
	before = cancel
	k := &sourcetest.Kept{}
	if err := c.List(ctx, conn, nil, k); !errors.Is(err, context.Canceled) || len(k.Items) > 0 || k.Snapshot {
		t.Errorf("called off: %v, %+v", err, k)
	}
}
