package service

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// installedWords is the command line of an installed service; nil where there is none. Any user may ask.
func installedWords(name string) []string {
	called, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil
	}
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return nil
	}
	defer func() { _ = windows.CloseServiceHandle(manager) }()
	s, err := windows.OpenService(manager, called, windows.SERVICE_QUERY_CONFIG)
	if err != nil {
		return nil
	}
	defer func() { _ = windows.CloseServiceHandle(s) }()
	line, err := commandLine(s)
	if err != nil {
		return nil
	}
	words, err := windows.DecomposeCommandLine(line)
	if err != nil {
		return nil
	}
	return words
}

func commandLine(s windows.Handle) (string, error) {
	for size := uint32(1024); ; {
		buffer := make([]byte, size)
		config := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(&buffer[0]))
		switch err := windows.QueryServiceConfig(s, config, size, &size); {
		case err == nil:
			return windows.UTF16PtrToString(config.BinaryPathName), nil
		case !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) || size <= uint32(len(buffer)):
			return "", err
		}
	}
}
