package sqlite_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mnemehq/mneme/adapters/disk/disktest"
)

// recorded stands before SQLite's own access to files ("unix") and tells a recorder of
// every change. It is the default while a test has it, so that the store needs no way to
// name it.
var recorded struct {
	once sync.Once
	unix uintptr // *sqlite3_vfs, and the copy of it that records
	copy uintptr

	mu      sync.Mutex
	root    string
	disk    *disktest.Recorder // nil: none records
	files   map[uintptr]*recordedFile
	methods map[uintptr]uintptr // copies of sqlite3_io_methods that record, by what they stand before
	keep    []any               // functions that only SQLite still knows of
}

// recordedFile is an open sqlite3_file.
type recordedFile struct {
	disk *disktest.Recorder
	file int
	name string
	// A new journal's first sync is one of its folder, too (unixSync, UNIXFILE_DIRSYNC).
	syncsDir bool
	is       *sqlite3.Tsqlite3_io_methods // what the copy stands before
}

// The functions of sqlite3_vfs and sqlite3_io_methods that are stood before.
type (
	openFunc   = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deleteFunc = func(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32
	closeFunc  = func(tls *libc.TLS, file uintptr) int32
	writeFunc  = func(tls *libc.TLS, file, from uintptr, n int32, at int64) int32
	cutFunc    = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc   = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// pointer is a function as the translated C code calls it.
func pointer[F any](f F) uintptr {
	held := &struct{ f F }{f}
	recorded.keep = append(recorded.keep, held)
	return *(*uintptr)(unsafe.Pointer(held))
}

// function is the inverse of pointer.
func function[F any](at uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{at})) }

// at is what C memory holds.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// record has everything that SQLite changes below a folder told to a recorder until the
// end of the test.
func record(t testing.TB, root string) *disktest.Recorder {
	t.Helper()
	tls := libc.NewTLS()
	t.Cleanup(tls.Close)
	r := &recorded
	r.once.Do(func() {
		r.unix = sqlite3.Xsqlite3_vfs_find(tls, 0)
		r.files, r.methods = map[uintptr]*recordedFile{}, map[uintptr]uintptr{}
		r.copy = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
		name, err := libc.CString("recorded")
		if err != nil {
			t.Fatal(err)
		}
		v := at[sqlite3.Tsqlite3_vfs](r.copy)
		*v = *at[sqlite3.Tsqlite3_vfs](r.unix)
		v.FzName, v.FxOpen, v.FxDelete = name, pointer[openFunc](recordedOpen), pointer[deleteFunc](recordedDelete)
	})
	disk := disktest.New(root)
	r.mu.Lock()
	r.root, r.disk = root, disk
	r.mu.Unlock()
	if rc := sqlite3.Xsqlite3_vfs_register(tls, r.copy, 1); rc != sqlite3.SQLITE_OK {
		t.Fatalf("register: %d", rc)
	}
	t.Cleanup(func() {
		sqlite3.Xsqlite3_vfs_register(tls, r.unix, 1)
		r.mu.Lock()
		r.disk = nil
		r.mu.Unlock()
	})
	return disk
}

func recordedOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	r := &recorded
	rc := function[openFunc](at[sqlite3.Tsqlite3_vfs](r.unix).FxOpen)(tls, r.unix, name, file, flags, out)
	r.mu.Lock()
	defer r.mu.Unlock()
	f := at[sqlite3.Tsqlite3_file](file)
	if rc != sqlite3.SQLITE_OK || name == 0 || r.disk == nil || flags&sqlite3.SQLITE_OPEN_READONLY != 0 {
		return rc
	}
	path := libc.GoString(name)
	if !strings.HasPrefix(path, r.root+string(filepath.Separator)) {
		return rc
	}
	is := f.FpMethods
	if r.methods[is] == 0 {
		to := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
		m := at[sqlite3.Tsqlite3_io_methods](to)
		*m = *at[sqlite3.Tsqlite3_io_methods](is)
		m.FxClose, m.FxWrite = pointer[closeFunc](recordedClose), pointer[writeFunc](recordedWrite)
		m.FxTruncate, m.FxSync = pointer[cutFunc](recordedTruncate), pointer[syncFunc](recordedSync)
		r.methods[is] = to
	}
	f.FpMethods = r.methods[is]
	const journal = sqlite3.SQLITE_OPEN_WAL | sqlite3.SQLITE_OPEN_MAIN_JOURNAL | sqlite3.SQLITE_OPEN_SUPER_JOURNAL
	r.files[file] = &recordedFile{disk: r.disk, file: r.disk.Opened(path), name: path, is: at[sqlite3.Tsqlite3_io_methods](is),
		syncsDir: flags&sqlite3.SQLITE_OPEN_CREATE != 0 && flags&journal != 0}
	return rc
}

func recordedDelete(tls *libc.TLS, _, name uintptr, syncDir int32) int32 {
	r := &recorded
	rc := function[deleteFunc](at[sqlite3.Tsqlite3_vfs](r.unix).FxDelete)(tls, r.unix, name, syncDir)
	r.mu.Lock()
	defer r.mu.Unlock()
	path := libc.GoString(name)
	if rc == sqlite3.SQLITE_OK && r.disk != nil && strings.HasPrefix(path, r.root+string(filepath.Separator)) {
		r.disk.Removed(path)
		if syncDir != 0 {
			r.disk.SyncedDir(filepath.Dir(path))
		}
	}
	return rc
}

func opened(file uintptr) *recordedFile {
	recorded.mu.Lock()
	defer recorded.mu.Unlock()
	return recorded.files[file]
}

func recordedClose(tls *libc.TLS, file uintptr) int32 {
	f := opened(file)
	recorded.mu.Lock()
	delete(recorded.files, file)
	recorded.mu.Unlock()
	return function[closeFunc](f.is.FxClose)(tls, file)
}

func recordedWrite(tls *libc.TLS, file, from uintptr, n int32, to int64) int32 {
	f := opened(file)
	rc := function[writeFunc](f.is.FxWrite)(tls, file, from, n, to)
	if rc == sqlite3.SQLITE_OK {
		f.disk.Wrote(f.file, to, unsafe.Slice(at[byte](from), n))
	}
	return rc
}

func recordedTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f := opened(file)
	rc := function[cutFunc](f.is.FxTruncate)(tls, file, size)
	if rc == sqlite3.SQLITE_OK {
		f.disk.Truncated(f.file, size)
	}
	return rc
}

func recordedSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := opened(file)
	rc := function[syncFunc](f.is.FxSync)(tls, file, flags)
	if rc == sqlite3.SQLITE_OK {
		f.disk.Synced(f.file)
		if f.syncsDir {
			f.disk.SyncedDir(filepath.Dir(f.name))
			f.syncsDir = false
		}
	}
	return rc
}
