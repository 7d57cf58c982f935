package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// userDataDir is where data of this user's programs belong on this system.
func userDataDir() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the user's data folder: %w; name one with --data", err)
	}
	return dataDirOf(runtime.GOOS, home, os.Getenv), nil
}

func dataDirOf(system, home string, getenv func(string) string) string {
	switch system {
	case "windows":
		if dir := getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "Mneme")
		}
		return filepath.Join(home, "AppData", "Local", "Mneme")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "Mneme")
	}
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mneme")
	}
	return filepath.Join(home, ".local", "share", "mneme")
}

// systemDataDir is where data of this machine's services belong.
func systemDataDir(system string, getenv func(string) string) (string, error) {
	switch system {
	case "windows":
		if dir := getenv("PROGRAMDATA"); dir != "" {
			return filepath.Join(dir, "Mneme"), nil
		}
		return "", errors.New("PROGRAMDATA is not set; name a folder with --data")
	case "darwin":
		return "/Library/Application Support/Mneme", nil
	}
	return "/var/lib/mneme", nil
}
