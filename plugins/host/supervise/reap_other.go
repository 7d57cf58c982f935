//go:build !linux

package supervise

import "os/exec"

// reap waits until a child has ended and calls then.
func reap(cmd *exec.Cmd, then func()) error {
	err := cmd.Wait()
	then()
	return err
}

// killStrays is for systems that show the environment of processes.
func killStrays(string) {}
