// A small app to try the connector with until yours takes its place: its notes are the text
// files of a folder, and it answers what the connector asks, to anyone who has its token. Edit,
// add and delete files, and the connector follows.
//
//	APP_TOKEN=a-token-to-try-with ./sandbox/try 127.0.0.1:8099 sandbox/notes
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	inPage = 10
	plants = `Apples Beans Beetroot Cabbage Carrots Celery Cherries Chicory Corn Cress Fennel Figs Garlic Grapes Kale Leeks
		Lettuce Onions Parsley Parsnips Pears Peas Potatoes Quinces Radishes Rhubarb Spinach Squash Tomatoes Turnips`
)

// note is a file as it was last seen.
type note struct {
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Seq      int64     `json:"seq"` // its version
	Modified time.Time `json:"modified"`
	Deleted  bool      `json:"deleted,omitempty"`

	changed int64 // the change that it is of
}

type app struct {
	folder *os.Root
	token  string
	start  int64 // of the changes: earlier ones are not known

	mu      sync.Mutex
	changes int64
	notes   map[string]note
}

// look finds what has changed in the folder.
func (a *app) look() error {
	entries, err := fs.ReadDir(a.folder.FS(), ".")
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // it is going, or no note
		}
		name := e.Name()
		there[name] = true
		if old, known := a.notes[name]; known && !old.Deleted && old.Modified.Equal(info.ModTime()) {
			continue
		}
		a.changes++
		a.notes[name] = note{ID: name, Title: strings.TrimSuffix(name, filepath.Ext(name)), Seq: info.ModTime().UnixNano(),
			Modified: info.ModTime(), changed: a.changes}
	}
	for name, old := range a.notes {
		if !there[name] && !old.Deleted {
			a.changes++
			a.notes[name] = note{ID: name, Deleted: true, changed: a.changes}
		}
	}
	return nil
}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+a.token {
		http.Error(w, "wrong token", http.StatusUnauthorized)
		return
	}
	if err := a.look(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	query := r.URL.Query()
	found := []note{}
	switch r.URL.Path {
	case "/note":
		text, err := a.folder.ReadFile(query.Get("id"))
		if err != nil {
			http.Error(w, "no such note", http.StatusNotFound)
			return
		}
		w.Header().Set("X-Seq", strconv.FormatInt(a.notes[query.Get("id")].Seq, 10))
		_, _ = w.Write(text) // a caller that goes misses it
		return
	case "/notes":
		for _, n := range a.notes {
			if !n.Deleted && n.ID > query.Get("after") {
				found = append(found, n)
			}
		}
		slices.SortFunc(found, func(a, b note) int { return strings.Compare(a.ID, b.ID) })
	case "/changes":
		since, err := strconv.ParseInt(query.Get("since"), 10, 64)
		if err != nil || since < a.start || since > a.changes {
			http.Error(w, "too long ago", http.StatusGone)
			return
		}
		for _, n := range a.notes {
			if n.changed > since {
				found = append(found, n)
			}
		}
		slices.SortFunc(found, func(a, b note) int { return int(a.changed - b.changed) })
	default:
		http.NotFound(w, r)
		return
	}
	seq, more := a.changes, len(found) > inPage
	if more {
		if found = found[:inPage]; r.URL.Path == "/changes" {
			seq = found[inPage-1].changed
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"notes": found, "more": more, "seq": seq})
}

// fill writes some notes into a folder that is not there yet.
func fill(folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		if os.IsExist(err) {
			return nil
		}
		return err
	}
	for i, plant := range strings.Fields(plants) {
		text := fmt.Sprintf("%s grow in bed %d and were last watered on a %s.\n", plant, i+1, time.Weekday(i%7))
		if err := os.WriteFile(filepath.Join(folder, plant+".txt"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	token := os.Getenv("APP_TOKEN")
	if len(os.Args) != 3 || token == "" {
		log.Fatal("usage: APP_TOKEN=... try ADDRESS FOLDER")
	}
	if err := fill(os.Args[2]); err != nil {
		log.Fatal(err)
	}
	folder, err := os.OpenRoot(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	start := time.Now().UnixMicro() // above all numbers of earlier runs
	log.Printf("the notes of %s at http://%s", os.Args[2], os.Args[1])
	server := http.Server{
		Addr:              os.Args[1],
		Handler:           &app{folder: folder, token: token, start: start, changes: start, notes: map[string]note{}},
		ReadHeaderTimeout: time.Minute,
	}
	log.Fatal(server.ListenAndServe())
}
