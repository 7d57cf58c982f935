package datasetfile

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
)

// Journal is installation.Journal in a file.
type Journal struct {
	data  string // the data folder
	name  string // of the file in its folder of imports
	root  *os.Root
	file  *os.File // nil until something is written
	found bool     // an earlier run has left it
	begun map[dataset.Partition]int64
}

// entry is a line of the file.
type entry struct {
	Partition dataset.Partition `json:"partition"`
	Before    int64             `json:"before"`         // generation that the partition had; 0: none
	Over      bool              `json:"over,omitempty"` // it is imported, or not ours any more
}

// journalFolder holds the journals of a data folder.
const journalFolder = "imports"

// OpenJournal reads the journal of the import of a data set into a data folder. It is
// found by a hash of the data set's id, which is somebody else's word, and no path
// leads out of the folder. Nothing is written before Begin.
func OpenJournal(data, set string) (*Journal, error) {
	sum := sha256.Sum256([]byte(set))
	j := &Journal{data: data, name: "move-" + hex.EncodeToString(sum[:16]) + ".jsonl", begun: map[dataset.Partition]int64{}}
	if err := j.read(); err != nil {
		return nil, fmt.Errorf("read the journal of the import: %w", errors.Join(err, j.closeRoot()))
	}
	return j, nil
}

func (j *Journal) read() (err error) {
	if j.root, err = os.OpenRoot(filepath.Join(j.data, journalFolder)); err != nil {
		return ignoreAbsent(err)
	}
	f, err := j.root.Open(j.name)
	if err != nil {
		return ignoreAbsent(err)
	}
	j.found = true
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			break // the process died while writing it, before it acted on it
		}
		if e.Over {
			delete(j.begun, e.Partition)
		} else {
			j.begun[e.Partition] = e.Before
		}
	}
	return errors.Join(lines.Err(), f.Close())
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Started implements installation.Journal.
func (j *Journal) Started(p dataset.Partition) (before int64, begun bool) {
	before, begun = j.begun[p]
	return before, begun
}

// Begin implements installation.Journal.
func (j *Journal) Begin(p dataset.Partition, before int64) error {
	if at, ok := j.begun[p]; ok && at == before {
		return nil
	}
	j.begun[p] = before
	return j.append(entry{Partition: p, Before: before})
}

// End implements installation.Journal.
func (j *Journal) End(p dataset.Partition) error {
	if _, ok := j.begun[p]; !ok {
		return nil
	}
	delete(j.begun, p)
	return j.append(entry{Partition: p, Over: true})
}

func (j *Journal) append(e entry) error {
	b, err := json.Marshal(e)
	if err == nil && j.file == nil {
		err = j.open()
	}
	if err == nil {
		_, err = j.file.Write(append(b, '\n'))
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write the journal of the import: %w", err)
	}
	return nil
}

// open rewrites the file with what is begun and not over, so that a line which was cut off
// is gone, and goes on writing it.
func (j *Journal) open() (err error) {
	folder := filepath.Join(j.data, journalFolder)
	if j.root == nil {
		if err := disk.MakeDir(disk.OS(), folder); err != nil {
			return err
		}
		if j.root, err = os.OpenRoot(folder); err != nil {
			return err
		}
	}
	// The data folder is this process's, so what is there by this name is left over.
	next := "." + j.name + ".new"
	f, err := j.root.OpenFile(next, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for p, before := range j.begun {
		b, err := json.Marshal(entry{Partition: p, Before: before})
		if err == nil {
			_, err = f.Write(append(b, '\n'))
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil { // Windows renames no file that is open
		return err
	}
	on := disk.OS()
	if err := on.Rename(filepath.Join(folder, next), filepath.Join(folder, j.name)); err != nil {
		return err
	}
	if err := on.SyncDir(folder); err != nil {
		return err
	}
	j.file, err = j.root.OpenFile(j.name, os.O_WRONLY|os.O_APPEND, 0)
	return err
}

// Close ends the journal. It removes the file if no partition is unfinished.
func (j *Journal) Close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	if (j.found || j.file != nil) && len(j.begun) == 0 {
		err = errors.Join(err, ignoreAbsent(j.root.Remove(j.name)))
	}
	return errors.Join(err, j.closeRoot())
}

func (j *Journal) closeRoot() error {
	if j.root == nil {
		return nil
	}
	return j.root.Close()
}

var _ installation.Journal = (*Journal)(nil)
