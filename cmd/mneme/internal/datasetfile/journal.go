package datasetfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
)

// Journal is installation.Journal in a file.
type Journal struct {
	path  string
	file  *os.File // nil until something is written
	begun map[dataset.Partition]int64
}

// entry is a line of the file.
type entry struct {
	Partition dataset.Partition `json:"partition"`
	Before    int64             `json:"before"`         // generation that the partition had; 0: none
	Over      bool              `json:"over,omitempty"` // it is imported, or not ours any more
}

// OpenJournal reads the journal of the import of a data set, kept in dir.
func OpenJournal(dir, set string) (*Journal, error) {
	j := &Journal{path: filepath.Join(dir, "move-"+set+".jsonl"), begun: map[dataset.Partition]int64{}}
	f, err := os.Open(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal of the import: %w", err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
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
	return j, nil
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
		if err = os.MkdirAll(filepath.Dir(j.path), 0o700); err == nil {
			// A line that was cut off ends here, so that the next one can be read.
			if j.file, err = os.OpenFile(j.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
				err = j.compact()
			}
		}
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

// compact rewrites the file with what is begun and not over.
func (j *Journal) compact() error {
	if err := j.file.Close(); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(j.path), ".move-*")
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
	if err := errors.Join(f.Sync(), os.Rename(f.Name(), j.path), syncDir(filepath.Dir(j.path))); err != nil {
		return errors.Join(err, f.Close())
	}
	j.file = f
	return nil
}

// Close ends the journal. It removes the file if no partition is unfinished.
func (j *Journal) Close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	if len(j.begun) == 0 {
		if gone := os.Remove(j.path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

var _ installation.Journal = (*Journal)(nil)
