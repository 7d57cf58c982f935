package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ours is who may reach what is private: this user, and those that administer the machine,
// who could take the right anyhow, and back up and scan its files. What lies in such a folder
// inherits that.
type ours struct {
	user    *windows.SID
	allowed []*windows.SID
	list    *windows.ACL
	attr    *windows.SecurityAttributes
}

var private = sync.OnceValues(func() (*ours, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	o := &ours{user: user.User.Sid, allowed: []*windows.SID{user.User.Sid}}
	for _, known := range []windows.WELL_KNOWN_SID_TYPE{windows.WinLocalSystemSid, windows.WinBuiltinAdministratorsSid,
		windows.WinCreatorOwnerSid, windows.WinCreatorOwnerRightsSid} {
		sid, err := windows.CreateWellKnownSid(known)
		if err != nil {
			return nil, err
		}
		o.allowed = append(o.allowed, sid)
	}
	sd, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;" + o.user.String() + ")(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)")
	if err != nil {
		return nil, err
	}
	if o.list, _, err = sd.DACL(); err != nil {
		return nil, err
	}
	o.attr = &windows.SecurityAttributes{SecurityDescriptor: sd}
	o.attr.Length = uint32(unsafe.Sizeof(*o.attr))
	return o, nil
})

func mkdir(dir string) error {
	o, err := private()
	if err == nil {
		var name *uint16
		if name, err = windows.UTF16PtrFromString(dir); err == nil {
			err = windows.CreateDirectory(name, o.attr)
		}
	}
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	return nil
}

func openPrivate(path string, flag int) (*os.File, error) {
	if flag&os.O_CREATE != 0 {
		if err := create(path); err != nil && (flag&os.O_EXCL != 0 || !errors.Is(err, fs.ErrExist)) {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
	return os.OpenFile(path, flag&^(os.O_CREATE|os.O_EXCL), 0o600)
}

// create makes an empty file.
func create(path string) error {
	o, err := private()
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, o.attr,
		windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return err
	}
	return windows.CloseHandle(h)
}

// patience is how long a file is waited for that another program holds: one that scans,
// indexes or copies it, or a reader of ours.
const patience = 2 * time.Second

// patiently tries again while another program holds a file.
func patiently(try func() error) error {
	until := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := try()
		if err == nil || !held(err) || time.Now().Add(pause).After(until) {
			return err
		}
		time.Sleep(pause)
	}
}

// held reports what Windows answers about a file that is open elsewhere. A name without the
// right to it is answered alike.
func held(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) ||
		errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

// rename is durable when it returns, which os.Rename is not here.
func rename(from, to string) error {
	old, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	next, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	err = patiently(func() error {
		err := windows.MoveFileEx(old, next, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			if info, stat := os.Lstat(to); stat == nil && info.IsDir() { // which is never replaced
				return windows.ERROR_ALREADY_EXISTS
			}
		}
		return err
	})
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func remove(path string) error { return patiently(func() error { return os.Remove(path) }) }

func removeAll(path string) error {
	err := patiently(func() error { return os.RemoveAll(path) })
	if errors.Is(err, windows.ERROR_INVALID_FUNCTION) { // a file system that knows only the old way to remove files
		return patiently(func() error { return removeEach(path) })
	}
	return err
}

func removeEach(top string) error {
	var all []string
	err := filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			all = append(all, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, path := range slices.Backward(all) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncDir has nothing to do: Windows flushes no folders, and its file systems keep the order
// of changes to names.
func syncDir(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// changing are the rights to change a file or folder, or who may.
const changing = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | 0x40 /* FILE_DELETE_CHILD */ | windows.DELETE |
	windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL

// Look says who may reach a file or folder.
func Look(path string) (Access, error) {
	o, err := private()
	if err != nil {
		return Access{}, err
	}
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return Access{}, &fs.PathError{Op: "look at the access list of", Path: path, Err: err}
	}
	list, _, err := sd.DACL()
	if list == nil || err != nil { // as on a file system without rights
		return Access{Who: "everybody may reach it", Read: true, Write: true}, nil //nolint:nilerr // there is none
	}
	var a Access
	var who []string
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return Access{}, err
		}
		sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 ||
			ace.Mask == 0 || slices.ContainsFunc(o.allowed, sid.Equals) {
			continue
		}
		a.Read, a.Write = true, a.Write || ace.Mask&changing != 0
		if n := name(sid); !slices.Contains(who, n) {
			who = append(who, n)
		}
	}
	a.Who = "its owner alone may reach it"
	if a.Read {
		a.Who = strings.Join(who, ", ") + " may reach it"
	}
	return a, nil
}

// name is an account's as people know it.
func name(sid *windows.SID) string {
	account, domain, _, err := sid.LookupAccount("")
	switch {
	case err != nil:
		return sid.String()
	case domain == "":
		return account
	}
	return domain + `\` + account
}

// Private keeps others out of a folder that they may write into, where the folder is this user's. private
// is false where they stay: the folder is somebody else's, or its file system has no rights.
func Private(dir string) (private bool, err error) {
	a, err := Look(dir)
	if err != nil || !a.Write {
		return err == nil, err
	}
	return enclose(dir)
}

func enclose(dir string) (bool, error) {
	o, err := private()
	if err != nil {
		return false, err
	}
	sd, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return false, err
	}
	owner, _, err := sd.Owner()
	if err != nil || !slices.ContainsFunc(o.allowed, owner.Equals) { // of an elevated process, the administrators
		return false, err
	}
	err = windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, o.list, nil)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_NOT_SUPPORTED) ||
		errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a, err := Look(dir) // a file system without rights accepts any
	return err == nil && !a.Write, err
}

// Free is what this user may still write to the disk of a folder.
func Free(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &fs.PathError{Op: "look for room in", Path: dir, Err: err}
	}
	return free, nil
}

// Writable would have to try: who may write is told by more than a folder's access list.
func Writable(string) error { return nil }

// Full reports an error of a disk, or of a user's part of it, without room.
func Full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// ReadOnly reports an error of a file system that can't be written.
func ReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }
