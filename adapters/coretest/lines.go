package coretest

import (
	"log/slog"
	"strings"
	"sync"
)

// Lines are what a part has logged. Safe for concurrent use.
type Lines struct {
	mu  sync.Mutex
	all strings.Builder
}

// Logger writes to l.
func (l *Lines) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Write implements io.Writer.
func (l *Lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

// String is all of it until now.
func (l *Lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}
