package clientconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnemehq/mneme/adapters/disk"
)

// Change is what installing or uninstalling does to a client's configuration.
type Change struct {
	File   string // as it was found: a link's target is what is written
	Before []byte
	After  []byte
	Copy   string // where Before is kept; "": nothing was there, or nothing changes
	Delete bool   // the file was made by an installation, and goes

	existed bool
	has     bool     // the server was in it
	made    []string // what it lacks and gets: the list of servers, that of secrets to ask for
	folders []string // those that were made for it, the innermost first
	record  string
	install bool
}

// None reports that nothing would be changed.
func (c *Change) None() bool { return !c.Delete && c.existed && string(c.Before) == string(c.After) }

// Diff shows the change.
func (c *Change) Diff() string { return Diff(c.File, c.Before, c.After) }

// Installation is one server in one configuration of a client.
type Installation struct {
	Client Client
	File   string
	Name   string // of the server among others
	State  string // folder for copies and for what was done
}

// record is what an installation did, to take it back.
type record struct {
	File    string   `json:"file"`
	Name    string   `json:"name"`
	Existed bool     `json:"existed"`
	After   string   `json:"after"`             // the hash of what it left
	Made    []string `json:"made,omitempty"`    // as in Change
	Folders []string `json:"folders,omitempty"` // as in Change
	// Edited says that others changed the file between two installations, so that the copy holds our entry.
	Edited bool `json:"edited,omitempty"`
}

func (i Installation) base() string {
	sum := sha256.Sum256([]byte(i.File + "\x00" + i.Name))
	return filepath.Join(i.State, i.Client.Name+"-"+i.Name+"-"+hex.EncodeToString(sum[:4]))
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Install says what entering a server changes.
func (i Installation) Install(s Server, replace bool) (*Change, error) {
	c, err := i.read()
	if err != nil {
		return nil, err
	}
	_, ours := i.recorded()
	if c.After, err = i.Client.Add(c.Before, i.Name, s, replace || ours); err != nil {
		if errors.Is(err, ErrTaken) {
			return nil, fmt.Errorf("%s has a server called %s already, which was not entered by this command: give another "+
				"--name, or --force to replace it", i.File, i.Name)
		}
		return nil, i.refusal(err)
	}
	c.made, c.has = i.Client.lacks(c.Before, i.Name, s)
	if c.existed && !c.None() {
		c.Copy = i.base() + ".before"
	}
	c.record, c.install = i.base()+".json", true
	return c, nil
}

// Uninstall says what taking the server out changes: where nobody else has changed the file
// since, it becomes again what it was, byte by byte.
func (i Installation) Uninstall() (*Change, error) {
	c, err := i.read()
	if err != nil {
		return nil, err
	}
	c.record = i.base() + ".json"
	r, ok := i.recorded()
	c.folders = r.Folders
	if ok && c.existed && hash(c.Before) == r.After && !r.Edited {
		if !r.Existed {
			c.Delete = true
			return c, nil
		}
		if c.After, err = os.ReadFile(i.base() + ".before"); err == nil {
			return c, nil
		}
	}
	after, found, err := i.Client.Remove(c.Before, i.Name, r.Made...)
	if err != nil {
		return nil, i.refusal(err)
	}
	if !found {
		return nil, fmt.Errorf("%s has no server called %s", i.File, i.Name)
	}
	c.After = after
	if ok && !r.Existed && i.Client.empty(after) {
		c.After, c.Delete = nil, true
	}
	return c, nil
}

func (i Installation) recorded() (r record, ok bool) {
	body, err := os.ReadFile(i.base() + ".json")
	return r, err == nil && json.Unmarshal(body, &r) == nil
}

func (i Installation) refusal(err error) error {
	return fmt.Errorf("%s can't be changed: %w; nothing was written. Mend the file, or add the server by hand", i.File, err)
}

// read reads the file and finds out whether it may be written.
func (i Installation) read() (*Change, error) {
	c := &Change{File: i.File}
	info, err := os.Stat(i.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder, not a configuration file; name the file with --file", i.File)
	case err == nil && info.Mode().Perm()&0o200 == 0:
		return nil, fmt.Errorf("%s is read-only; nothing was written. Make it writable, or add the server by hand", i.File)
	}
	c.existed = true
	if c.Before, err = os.ReadFile(i.File); err != nil {
		return nil, explain(i.File, err)
	}
	return c, nil
}

// explain says in plain words why a file can't be read or written.
func explain(file string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("this user may not write %s; give yourself the right, or name another file with --file: %w", file, err)
	case disk.ReadOnly(err):
		return fmt.Errorf("%s is on a read-only file system; name another file with --file: %w", file, err)
	case disk.Full(err):
		return fmt.Errorf("the disk that %s is on is full; nothing was changed, make room first: %w", file, err)
	case strings.Contains(err.Error(), "not a directory"):
		return fmt.Errorf("%s lies below a file, where a folder should be: %w", file, err)
	}
	return fmt.Errorf("write %s: %w", file, err)
}

// Apply makes the change. First the copy is made; the file is replaced whole, so that a power
// cut or a full disk leaves it as it was.
func (c *Change) Apply() error {
	if c.None() {
		return nil
	}
	target := c.File
	if link, err := filepath.EvalSymlinks(c.File); err == nil {
		target = link // as of those who keep their configuration elsewhere
	}
	if c.Delete {
		if err := os.Remove(target); err != nil {
			return explain(c.File, err)
		}
		for _, dir := range c.folders {
			if os.Remove(dir) != nil {
				break // others have put something there
			}
		}
		return c.forget()
	}
	for dir := filepath.Dir(target); c.install; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		c.folders = append(c.folders, dir)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return explain(c.File, err)
	}
	if c.install {
		if err := c.remember(); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	if err := disk.Replace(disk.OS(), target, c.After); err != nil {
		return explain(c.File, err)
	}
	if err := os.Chmod(target, mode); err != nil {
		return explain(c.File, err)
	}
	if !c.install {
		return c.forget()
	}
	return nil
}

// remember keeps the copy and says what the file will be. The copy of a first installation is
// not replaced by that of a second: what was there before both is what is wanted back.
func (c *Change) remember() error {
	if err := os.MkdirAll(filepath.Dir(c.record), 0o700); err != nil {
		return explain(c.record, err)
	}
	next := record{File: c.File, Existed: c.existed, After: hash(c.After), Made: c.made, Folders: c.folders}
	var old record
	body, err := os.ReadFile(c.record)
	ours := err == nil && json.Unmarshal(body, &old) == nil && c.has
	if ours {
		next.Existed, next.Made = old.Existed, append(next.Made, old.Made...)
		next.Folders = append(next.Folders, old.Folders...)
		next.Edited = old.Edited || old.After != hash(c.Before)
	}
	if c.Copy != "" && (!ours || next.Edited) {
		if err := disk.Replace(disk.OS(), c.Copy, c.Before); err != nil {
			return explain(c.Copy, err)
		}
	}
	if body, err = json.Marshal(next); err != nil {
		return fmt.Errorf("write %s: %w", c.record, err)
	}
	if err := disk.Replace(disk.OS(), c.record, append(body, '\n')); err != nil {
		return explain(c.record, err)
	}
	return nil
}

func (c *Change) forget() error {
	for _, file := range []string{c.record, strings.TrimSuffix(c.record, ".json") + ".before"} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return explain(file, err)
		}
	}
	return nil
}
