//go:build !unix

package supervise

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

// killGroup kills a backend; there are no process groups here.
func killGroup(p *os.Process) { _ = p.Kill() }

type guard struct{}

func newGuard(int, string) *guard { return nil }

func (*guard) dismiss() {}
