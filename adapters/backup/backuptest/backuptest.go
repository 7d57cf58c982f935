package backuptest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Run checks the contract. open opens the same empty place each time.
func Run(t *testing.T, open func(t *testing.T) port.BackupPlace) {
	t.Helper()
	ctx := t.Context()
	p := open(t)
	names := func(prefix string) (all []string) {
		t.Helper()
		err := p.List(ctx, prefix, func(name string, size int64) error {
			if size < 1 {
				t.Errorf("%s has %d bytes", name, size)
			}
			all = append(all, name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(all)
		return all
	}
	if all := names("packs/"); len(all) != 0 {
		t.Errorf("an empty place has %v", all)
	}
	if _, err := p.Read(ctx, "packs/aa/absent", 0, 0); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an absent object: %v", err)
	}
	if err := p.Remove(ctx, "packs/aa/absent"); err != nil {
		t.Errorf("an absent object removed: %v", err)
	}
	body := bytes.Repeat([]byte("0123456789"), 100)
	for _, name := range []string{"packs/aa/one", "packs/bb/two", "backups/three"} {
		for _, b := range [][]byte{[]byte("before"), body} {
			if err := p.Write(ctx, name, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if have, err := p.Read(ctx, "packs/aa/one", 0, 0); err != nil || !bytes.Equal(have, body) {
		t.Errorf("read %d bytes, %v", len(have), err)
	}
	if have, err := p.Read(ctx, "packs/aa/one", 995, 5); err != nil || string(have) != "56789" {
		t.Errorf("read %q, %v", have, err)
	}
	for _, at := range []int64{996, 1000, 2000} {
		if have, err := p.Read(ctx, "packs/aa/one", at, 5); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("past the end at %d: %q, %v", at, have, err)
		}
	}
	if all := names("packs/"); !slices.Equal(all, []string{"packs/aa/one", "packs/bb/two"}) {
		t.Errorf("packs: %v", all)
	}
	if all := names(""); len(all) != 3 {
		t.Errorf("all: %v", all)
	}
	stop := errors.New("stop")
	if err := p.List(ctx, "", func(string, int64) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a list that is stopped: %v", err)
	}
	if err := p.Remove(ctx, "packs/aa/one"); err != nil {
		t.Error(err)
	}
	if all := names("packs/"); !slices.Equal(all, []string{"packs/bb/two"}) {
		t.Errorf("after a removal: %v", all)
	}
	locks(ctx, t, p, open(t))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := p.Write(ended, "backups/four", body); !errors.Is(err, context.Canceled) {
		t.Errorf("write after the end: %v", err)
	}
	if _, err := p.Read(ended, "backups/three", 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("read after the end: %v", err)
	}
}

func locks(ctx context.Context, t *testing.T, p, other port.BackupPlace) {
	t.Helper()
	held, release, err := p.Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := held(); err != nil {
		t.Errorf("a fresh lock: %v", err)
	}
	if _, _, err := other.Lock(ctx); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a second lock: %v", err)
	}
	release()
	_, release, err = other.Lock(ctx)
	if err != nil {
		t.Fatalf("after the first was released: %v", err)
	}
	release()
}
