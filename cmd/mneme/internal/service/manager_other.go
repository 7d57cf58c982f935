//go:build !windows

package service

import "github.com/kardianos/service"

// dispatch has nothing to do: managers of these systems send signals.
func dispatch(service.Interface) error { return errUnmanaged }

// installedWords has nothing to tell: here units are files.
func installedWords(string) []string { return nil }
