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
	File    string `json:"file"`
	Name    string `json:"name"`
	Existed bool   `json:"existed"`
	After   string `json:"after"` // the hash of what it left
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
	if r, ok := i.recorded(); ok && c.existed && hash(c.Before) == r.After {
		if !r.Existed {
			c.Delete = true
			return c, nil
		}
		if c.After, err = os.ReadFile(i.base() + ".before"); err == nil {
			return c, nil
		}
	}
	after, found, err := i.Client.Remove(c.Before, i.Name)
	if err != nil {
		return nil, i.refusal(err)
	}
	if !found {
		return nil, fmt.Errorf("%s has no server called %s", i.File, i.Name)
	}
	c.After = after
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
		return fmt.Errorf("%s is on a read-only file system: %w", file, err)
	case disk.Full(err):
		return fmt.Errorf("the disk that %s is on is full; nothing was changed: %w", file, err)
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
		return c.forget()
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
	next := record{File: c.File, Existed: c.existed, After: hash(c.After)}
	var old record
	body, err := os.ReadFile(c.record)
	if again := err == nil && json.Unmarshal(body, &old) == nil && old.After == hash(c.Before); again {
		next.Existed = old.Existed
	} else if c.Copy != "" {
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
