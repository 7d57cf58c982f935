package embedded

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/edsrzf/mmap-go"

	"github.com/mnemehq/mneme/adapters/disk"
)

// A partition's directory is p<generation>. It holds segment files s<id>.seg,
// each written once, and the file manifest, which is replaced as a whole and
// says which of them count. Files that it does not name are left-overs of a
// crash and are removed when the partition is opened.

// segmentFile is a mapped segment file. Snapshots that hold its segment hold a
// reference; the last one unmaps it, and removes it if it has been replaced.
type segmentFile struct {
	id       uint64
	disk     disk.FS
	path     string
	sum      uint32 // checksum of the header, which covers those of the sections
	data     mmap.MMap
	refs     atomic.Int64
	obsolete atomic.Bool
}

func (f *segmentFile) release() {
	if f.refs.Add(-1) > 0 {
		return
	}
	_ = f.data.Unmap() // fails only for what is not mapped
	if f.obsolete.Load() {
		_ = f.disk.Remove(f.path) // a left-over is removed at the next opening
	}
}

func segmentName(id uint64) string { return "s" + strconv.FormatUint(id, 10) + ".seg" }

// openSegmentFile maps and checks a file. The caller owns one reference.
func openSegmentFile(on disk.FS, dir string, id uint64, verify verification) (*segment, error) {
	f := &segmentFile{id: id, disk: on, path: filepath.Join(dir, segmentName(id))}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, damaged("%s is not a file", segmentName(id))
	}
	if info.Size() < int64(headerOf(sectionCount2)) || info.Size() > 1<<40 {
		return nil, damaged("%s is %d bytes long", segmentName(id), info.Size())
	}
	if f.data, err = mmap.Map(file, mmap.RDONLY, 0); err != nil {
		return nil, fmt.Errorf("map %s: %w", segmentName(id), err)
	}
	var s *segment
	if err = guard(func() (err error) { s, err = openSegment(f.data, verify); return err }); err != nil {
		_ = f.data.Unmap()
		return nil, fmt.Errorf("%s: %w", segmentName(id), err)
	}
	f.sum = s.sum
	f.refs.Store(1)
	s.file = f
	return s, nil
}

// writeSegmentFile writes merged inputs durably and opens the result.
func (x *Index) writeSegmentFile(ctx context.Context, dir string, id uint64,
	inputs []mergeInput) (s *segment, moved [][]uint32, err error) {
	path := filepath.Join(dir, segmentName(id))
	file, err := x.disk.Create(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = x.disk.Remove(path)
		}
	}()
	buf := bufio.NewWriterSize(file, 256<<10)
	if _, err = buf.Write(make([]byte, headerLen)); err != nil {
		return nil, nil, err
	}
	w := newImageWriter(ctx, buf, true)
	if moved, err = x.merge(ctx, w, inputs); err != nil {
		return nil, nil, err
	}
	header, err := w.finish()
	if err != nil {
		return nil, nil, err
	}
	if err = buf.Flush(); err != nil {
		return nil, nil, err
	}
	if _, err = file.WriteAt(header, 0); err != nil {
		return nil, nil, err
	}
	if err = file.Sync(); err != nil {
		return nil, nil, err
	}
	if err = file.Close(); err != nil {
		return nil, nil, err
	}
	s, err = openSegmentFile(x.disk, dir, id, verifyAll)
	return s, moved, err
}

// manifest is the durable state of a partition.
type manifest struct {
	Partition string            `json:"partition"`
	Analyzer  string            `json:"analyzer"`
	K1        float32           `json:"k1"`
	B         float32           `json:"b"`
	Durable   uint64            `json:"durable"`
	Dim       int               `json:"dim"`
	Next      uint64            `json:"next"` // id of the next segment
	Segments  []manifestSegment `json:"segments"`
}

type manifestSegment struct {
	ID     uint64 `json:"id"`
	Header uint32 `json:"header"`         // checksum of the segment's header
	Dead   []byte `json:"dead,omitempty"` // roaring bitmap of deleted ordinals
}

const (
	manifestName  = "manifest"
	manifestMagic = "MNEMMAN1"
	manifestLimit = 1 << 30
)

var errManifest = errors.New("manifest is damaged")

func (m *manifest) encode() ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	b := append([]byte(manifestMagic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(body, castagnoli()))
	binary.LittleEndian.PutUint32(b[12:], uint32(len(body)))
	return append(b, body...), nil
}

func decodeManifest(b []byte) (*manifest, error) {
	if len(b) < 16 || string(b[:8]) != manifestMagic || uint64(binary.LittleEndian.Uint32(b[12:])) != uint64(len(b)-16) {
		return nil, errManifest
	}
	if crc32.Checksum(b[16:], castagnoli()) != binary.LittleEndian.Uint32(b[8:]) {
		return nil, fmt.Errorf("%w: checksum", errManifest)
	}
	m := new(manifest)
	if err := json.Unmarshal(b[16:], m); err != nil {
		return nil, fmt.Errorf("%w: %w", errManifest, err)
	}
	seen := map[uint64]bool{}
	for _, s := range m.Segments {
		if s.ID >= m.Next || seen[s.ID] {
			return nil, fmt.Errorf("%w: segment %d", errManifest, s.ID)
		}
		seen[s.ID] = true
	}
	if m.Dim < 0 || m.Dim > 1<<16 {
		return nil, fmt.Errorf("%w: %d dimensions", errManifest, m.Dim)
	}
	return m, nil
}

func readManifest(dir string) (*manifest, error) {
	file, err := os.Open(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > manifestLimit {
		return nil, errManifest
	}
	b := make([]byte, info.Size())
	if _, err := readFull(file, b); err != nil {
		return nil, err
	}
	return decodeManifest(b)
}

func readFull(f *os.File, b []byte) (int, error) {
	n, err := f.ReadAt(b, 0)
	if n == len(b) {
		return n, nil
	}
	return n, err
}

// write replaces the manifest durably. The segment files that it names have been synced
// before, and so are their names, for otherwise a power cut could leave a manifest without
// its files where there was a whole one.
func (m *manifest) write(on disk.FS, dir string) error {
	b, err := m.encode()
	if err != nil {
		return err
	}
	if err := on.SyncDir(dir); err != nil {
		return err
	}
	return disk.Replace(on, filepath.Join(dir, manifestName), b)
}

// encodeDead is the complement of live as the manifest keeps it; nil: none.
func encodeDead(live bitset, n int) ([]byte, error) {
	if live == nil {
		return nil, nil
	}
	bm := roaring.New()
	for o := range uint32(n) {
		if !live.has(o) {
			bm.Add(o)
		}
	}
	if bm.IsEmpty() {
		return nil, nil
	}
	bm.RunOptimize()
	return bm.ToBytes()
}

// decodeDead is the inverse of encodeDead.
func decodeDead(dead []byte, n int) (live bitset, alive int, err error) {
	if len(dead) == 0 {
		return nil, n, nil
	}
	bm := roaring.New()
	if _, err := bm.FromBuffer(dead); err != nil {
		return nil, 0, fmt.Errorf("%w: deletions: %w", errManifest, err)
	}
	if err := bm.Validate(); err != nil {
		return nil, 0, fmt.Errorf("%w: deletions: %w", errManifest, err)
	}
	if !bm.IsEmpty() && int(bm.Maximum()) >= n {
		return nil, 0, fmt.Errorf("%w: deletion of chunk %d of %d", errManifest, bm.Maximum(), n)
	}
	live, alive = fullBitset(n), n
	for it := bm.Iterator(); it.HasNext(); {
		live.unset(it.Next())
		alive--
	}
	return live, alive, nil
}

// removeStrays removes files that the manifest does not name.
func removeStrays(on disk.FS, dir string, m *manifest) error {
	keep := map[string]bool{manifestName: true}
	for _, s := range m.Segments {
		keep[segmentName(s.ID)] = true
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !keep[e.Name()] {
			if err := on.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func partitionDirName(generation int64) string { return "p" + strconv.FormatInt(generation, 10) }

// generationOf is the inverse of partitionDirName.
func generationOf(name string) (int64, bool) {
	digits, ok := strings.CutPrefix(name, "p")
	if !ok {
		return 0, false
	}
	g, err := strconv.ParseInt(digits, 10, 64)
	return g, err == nil && partitionDirName(g) == name
}
