package supervise

import (
	"log/slog"
	"testing"
)

// FuzzLines: any output gives lines within bounds, and levels that are ours.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"@level":"warn","@message":"x"}` + "\n[ERROR] y\nlevel=INFO z\nno end"))
	f.Add([]byte("{\"level\":5,\"msg\":[]}\n\x00\xff\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		o := newOutput(slog.New(slog.DiscardHandler))
		l := &lineWriter{to: o, stream: "stderr"}
		for len(b) > 0 {
			n := min(len(b), 7)
			if wrote, err := l.Write(b[:n]); wrote != n || err != nil {
				t.Fatal(wrote, err)
			}
			b = b[n:]
		}
		l.flush()
		if len(o.tail) > tailLines || len(l.part) > maxLine {
			t.Fatalf("%d lines, %d bytes", len(o.tail), len(l.part))
		}
		for _, line := range o.tail {
			if len(line) > 4*maxLine {
				t.Fatalf("a line of %d bytes", len(line))
			}
		}
	})
}

func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		`{"level":"WARN","msg":"old","age":5}`:                   `WARN old {"age":5}`,
		`{"@level":"error","@message":"bad","@timestamp":"now"}`: "ERROR bad",
		"[WARN] plug":                     "WARN [WARN] plug",
		"WARNING:root:py":                 "WARN WARNING:root:py",
		"time=x level=ERROR msg=y":        "ERROR time=x level=ERROR msg=y",
		"CRITICAL: gone":                  "ERROR CRITICAL: gone",
		"plain":                           "INFO plain",
		"{not json":                       "INFO {not json",
		"debugging is not debug at level": "INFO debugging is not debug at level",
	} {
		text, level := parseLine(line, 0)
		if got := level.String() + " " + text; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
