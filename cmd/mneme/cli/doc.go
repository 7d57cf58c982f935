// Package cli is the command line: it parses flags, loads the configuration,
// puts the parts together and prints. What a command does stands in core or in
// the packages below cmd/mneme/internal.
//
// Exit codes: 0 done, 1 failed, 2 the command line itself is wrong. Results go
// to standard output, everything else to standard error.
package cli
