package embedded

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// errFault is a read of damaged or vanished data: the partition is rebuilt.
var errFault = errors.New("index data can't be read")

// guard runs fn and turns what reading a damaged image can raise into an error:
// indexes out of range, and the fault of a mapped page that the disk no longer
// gives. Checksums are verified when a file is opened, so this is for files
// that change or fail underneath.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("%w: %w", errFault, r)
		case error:
			if !errors.Is(r, errPostings) {
				panic(r)
			}
			err = fmt.Errorf("%w: %w", errFault, r)
		default:
			panic(r)
		}
	}()
	return fn()
}

// isDamage reports errors after which a partition must be rebuilt.
func isDamage(err error) bool {
	return errors.Is(err, errFault) || errors.Is(err, errSegment) || errors.Is(err, errManifest)
}
