package host

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestCached(t *testing.T) {
	busy, broken := &os.LinkError{Op: "rename", Err: fs.ErrPermission}, errors.New("no module")
	for name, c := range map[string]struct {
		fails []error
		calls int
		want  error
	}{
		"works":            {nil, 1, nil},
		"a file is busy":   {[]error{busy, &fs.PathError{Op: "open", Err: fs.ErrPermission}}, 3, nil},
		"it stays busy":    {[]error{busy, busy, busy, busy, busy}, 4, busy},
		"the module fails": {[]error{broken}, 1, broken},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := cached(func() error {
				calls++
				if calls <= len(c.fails) {
					return c.fails[calls-1]
				}
				return nil
			})
			if !errors.Is(err, c.want) || calls != c.calls {
				t.Errorf("%v after %d calls, want %v after %d", err, calls, c.want, c.calls)
			}
		})
	}
}
