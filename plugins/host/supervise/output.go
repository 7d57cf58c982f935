package supervise

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	maxLine   = 4 << 10 // bytes of a line that are kept
	lineRate  = 50      // lines a second that reach the log
	tailLines = 20      // kept for the message of a failed start
)

// output takes the lines that a backend writes: it keeps the last ones, and logs
// as many as the rate allows, each at the level that it names.
type output struct {
	log *slog.Logger
	now func() time.Time
	// redact takes out what a log must not hold.
	redact func(string) string

	mu      sync.Mutex
	tail    []string
	second  time.Time // start of the running second
	used    int
	dropped int
}

func newOutput(log *slog.Logger) *output {
	return &output{log: log, now: time.Now, redact: func(s string) string { return s }}
}

// line takes one line of a stream; level is for lines that name none.
func (o *output) line(stream string, level slog.Level, b []byte) {
	text := strings.ToValidUTF8(strings.TrimRight(string(b), "\r\n\x00 "), "\ufffd")
	if text == "" {
		return
	}
	text, level = parseLine(o.redact(text), level)
	o.mu.Lock()
	if len(o.tail) == tailLines {
		o.tail = append(o.tail[:0], o.tail[1:]...)
	}
	o.tail = append(o.tail, text)
	now, dropped := o.now(), 0
	if now.Sub(o.second) >= time.Second {
		dropped, o.second, o.used, o.dropped = o.dropped, now, 0, 0
	}
	o.used++
	pass := o.used <= lineRate
	if !pass {
		o.dropped++
	}
	o.mu.Unlock()
	if dropped > 0 {
		o.log.Warn("backend output truncated", "lines_left_out", dropped)
	}
	if pass {
		o.log.Log(context.Background(), level, text, "stream", stream)
	}
}

// last gives the end of what was kept.
func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := strings.Join(o.tail, "\n")
	if len(all) > maxLine {
		all = "..." + strings.ToValidUTF8(all[len(all)-maxLine:], "")
	}
	return all
}

var levels = map[string]slog.Level{
	"TRACE": slog.LevelDebug, "DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "NOTICE": slog.LevelInfo,
	"WARN": slog.LevelWarn, "WARNING": slog.LevelWarn,
	"ERROR": slog.LevelError, "CRITICAL": slog.LevelError, "FATAL": slog.LevelError,
}

// parseLine finds message and level of a line: JSON as slog, hclog and most loggers
// write it, level=WARN as slog's text has it, or a level at the front as in
// "[WARN] ..." and Python's "WARNING:name:...".
func parseLine(text string, level slog.Level) (string, slog.Level) {
	if strings.HasPrefix(text, "{") {
		var fields map[string]any
		if json.Unmarshal([]byte(text), &fields) == nil {
			for _, k := range []string{"level", "@level", "severity", "levelname"} {
				if s, ok := fields[k].(string); ok {
					if l, ok := levels[strings.ToUpper(s)]; ok {
						level = l
						break
					}
				}
			}
			for _, k := range []string{"msg", "@message", "message"} {
				if s, ok := fields[k].(string); ok && s != "" {
					for _, gone := range []string{"level", "@level", "severity", "levelname", "time", "@timestamp", k} {
						delete(fields, gone)
					}
					if rest, err := json.Marshal(fields); err == nil && len(fields) > 0 {
						s += " " + string(rest)
					}
					return s, level
				}
			}
		}
		return text, level
	}
	if _, after, ok := strings.Cut(text, "level="); ok {
		if l, ok := levels[leadingLetters(after)]; ok {
			return text, l
		}
	}
	if l, ok := levels[leadingLetters(strings.TrimLeft(text, "[ "))]; ok {
		return text, l
	}
	return text, level
}

// leadingLetters is the letters that a text begins with.
func leadingLetters(s string) string {
	end := 0
	for end < len(s) && end < 9 && (s[end] >= 'A' && s[end] <= 'Z' || s[end] >= 'a' && s[end] <= 'z') {
		end++
	}
	return strings.ToUpper(s[:end])
}

// lineWriter is a writer that hands whole lines to an output; the part of a line
// beyond longestLine is dropped.
type lineWriter struct {
	to     *output
	stream string
	level  slog.Level
	mu     sync.Mutex
	part   []byte
}

// Write never fails.
func (l *lineWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		piece := b
		if i >= 0 {
			piece = b[:i]
		}
		if room := maxLine - len(l.part); room > 0 {
			l.part = append(l.part, piece[:min(room, len(piece))]...)
		}
		if i < 0 {
			return n, nil
		}
		l.to.line(l.stream, l.level, l.part)
		l.part, b = l.part[:0], b[i+1:]
	}
}

// flush hands on what has no line end.
func (l *lineWriter) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to.line(l.stream, l.level, l.part)
	l.part = l.part[:0]
}
