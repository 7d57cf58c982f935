package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher waits for changes in folders. File systems over a network commonly don't
// tell of what other machines change.
type Watcher struct {
	Quiet time.Duration // how long nothing may change before changes are told; 500 ms
	Most  time.Duration // after how long they are in any case; 10 s

	notify *fsnotify.Watcher
}

// NewWatcher makes a Watcher of no folder.
func NewWatcher() (*Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch folders: %w", err)
	}
	return &Watcher{Quiet: 500 * time.Millisecond, Most: 10 * time.Second, notify: w}, nil
}

// Scan lists what is there once its folders are watched: whatever changes after it
// was listed is told.
func (w *Watcher) Scan(ctx context.Context, s Scanner, paths []string) (Listing, error) {
	var watched []string
	for {
		l, err := s.Scan(ctx, paths)
		if err != nil {
			return l, err
		}
		added := false
		for _, dir := range l.Dirs {
			added = added || !slices.Contains(watched, dir)
		}
		if !added && watched != nil {
			return l, nil
		}
		watched = l.Dirs
		for _, dir := range l.Dirs { // again and again: a folder of a name may be another one by now
			if err := w.notify.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return l, fmt.Errorf("watch %s: %w", dir, err)
			}
		}
	}
}

// Wait returns once something has changed and nothing did for a while, or with the
// context's error.
func (w *Watcher) Wait(ctx context.Context) error {
	var quiet, most <-chan time.Time
	for {
		select {
		case e, ok := <-w.notify.Events:
			if !ok {
				return fmt.Errorf("watch folders: %w", fsnotify.ErrClosed)
			}
			if e.Op == fsnotify.Chmod {
				continue // also what only reads may do it
			}
			quiet = time.After(w.Quiet)
			if most == nil {
				most = time.After(w.Most)
			}
		case _, ok := <-w.notify.Errors: // too many events: anything may have changed
			if !ok {
				return fmt.Errorf("watch folders: %w", fsnotify.ErrClosed)
			}
			quiet = time.After(w.Quiet)
		case <-quiet:
			return nil
		case <-most:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends the watching.
func (w *Watcher) Close() error { return w.notify.Close() }
