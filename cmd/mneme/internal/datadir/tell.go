package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/mnemehq/mneme/adapters/disk"
)

// The file that is written to tell has a folder of its own: where folders are watched and not files, the
// database beside it would wake the watcher with every write.
const (
	toldDir  = "told"
	toldFile = "at"
)

// Tell tells the process that has the folder that this one has stored something in it. It is nothing that
// has to arrive: the holder looks by itself now and then.
func Tell(dir string) error {
	path := filepath.Join(dir, toldDir, toldFile)
	err := os.Remove(path) // another user, who may write into the folder, may have made it
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) { // no holder has ever listened
		return nil
	}
	return fmt.Errorf("tell the data folder's server: %w", err)
}

// Told gives a value after other processes have told something.
type Told struct {
	C      <-chan struct{}
	notify *fsnotify.Watcher
	done   chan struct{}
}

// Listen has the holder hear what is told. It fails where the system can't watch the folder.
func (l *Lock) Listen() (_ *Told, err error) {
	dir := filepath.Join(l.dir, toldDir)
	if err := disk.MakeDir(disk.OS(), dir); err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, err)
	}
	w, err := fsnotify.NewBufferedWatcher(1)
	if err == nil {
		if err = w.Add(dir); err != nil {
			err = errors.Join(err, w.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	c := make(chan struct{}, 1)
	t := &Told{C: c, notify: w, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for {
			select {
			case _, open := <-w.Events:
				if !open {
					return
				}
			case _, open := <-w.Errors: // too many at once: something was told
				if !open {
					return
				}
			}
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}()
	return t, nil
}

// Close ends the listening. C stays open.
func (t *Told) Close() error {
	err := t.notify.Close()
	<-t.done
	return err
}
