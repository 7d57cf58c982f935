// Package service runs the server in the background by the means of the system: systemd on
// Linux, launchd on macOS, the service manager on Windows.
package service
