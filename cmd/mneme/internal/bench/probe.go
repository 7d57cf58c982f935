package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Usage is what a server and its database have used so far. What can't be seen
// from here, as on another machine, is zero.
type Usage struct {
	ServerCPU      float64          `json:"-"`                               // seconds
	DatabaseCPU    float64          `json:"-"`                               // seconds of all its processes
	ServerMemory   int64            `json:"server_memory_bytes,omitempty"`   // resident at its peak
	DatabaseMemory int64            `json:"database_memory_bytes,omitempty"` // its processes now, shared pages once
	Folder         int64            `json:"folder_bytes,omitempty"`          // the server's data folder
	Database       int64            `json:"database_bytes,omitempty"`        // tables and indexes
	Tables         map[string]int64 `json:"tables,omitempty"`                // each of them, with what is stored out of line
	WAL            int64            `json:"-"`                               // written by the database server so far
}

// Probe reads the usage.
type Probe func(context.Context) (Usage, error)

// Place says where to look.
type Place struct {
	PID    int      // of the server; 0: unknown
	Folder string   // its data folder; "": unknown
	DSNs   []string // its PostgreSQL databases, each once
	Schema string   // its tables in them
}

// Usage reads what the place has used.
func (p Place) Usage(ctx context.Context) (Usage, error) {
	u := Usage{Tables: map[string]int64{}}
	if p.PID != 0 {
		u.ServerCPU, u.ServerMemory = spent(p.PID), peak(p.PID)
	}
	if p.Folder != "" {
		var err error
		if u.Folder, err = folder(p.Folder); err != nil {
			return u, err
		}
	}
	counted := map[int]bool{}
	for _, dsn := range p.DSNs {
		if err := database(ctx, dsn, p.Schema, &u, counted); err != nil {
			return u, fmt.Errorf("ask the database for its size: %w", err)
		}
	}
	return u, nil
}

// folder is the size of all files below a folder. Files go while it looks.
func folder(dir string) (int64, error) {
	n := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("measure %s: %w", dir, err)
	}
	return n, nil
}

// database adds one database; processes of a server counted already are left out.
func database(ctx context.Context, dsn, schema string, u *Usage, counted map[int]bool) (err error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return errors.New("it can't be reached") // the driver's words may hold the password
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler may stand between
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return errors.New("it can't be reached")
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	rows, err := conn.Query(ctx, `SELECT c.relname, CASE c.relkind WHEN 'i' THEN pg_relation_size(c.oid) ELSE pg_table_size(c.oid) END
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'i', 'm')`, schema)
	if err != nil {
		return err
	}
	var name string
	var size int64
	if _, err := pgx.ForEachRow(rows, []any{&name, &size}, func() error {
		u.Tables[name] += size
		u.Database += size
		return nil
	}); err != nil {
		return err
	}
	var backend int
	var wal float64
	// A standby's or a managed server's refusal is no reason to measure nothing.
	if conn.QueryRow(ctx, "SELECT pg_backend_pid(), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8").Scan(&backend, &wal) != nil {
		return nil
	}
	host := conn.Config().Host
	if ip := net.ParseIP(host); !strings.HasPrefix(host, "/") && host != "localhost" && !ip.IsLoopback() {
		u.WAL = max(u.WAL, int64(wal))
		return nil
	}
	postmaster := parent(backend)
	if postmaster <= 1 || counted[postmaster] {
		return nil
	}
	counted[postmaster] = true
	u.WAL += int64(wal)
	for _, pid := range append(children(postmaster), postmaster) {
		u.DatabaseCPU += spent(pid)
		u.DatabaseMemory += proportional(pid)
	}
	return nil
}

// ticks are the units of processor time in /proc: USER_HZ, 100 on Linux everywhere.
const ticks = 100

// stat is what follows the program's name in /proc/PID/stat: proc(5). nil: the
// process is not there, or this is no Linux.
func stat(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 22 {
		return nil
	}
	return fields
}

// spent is the processor time of a process and of its children that ended.
func spent(pid int) float64 {
	sum := 0.0
	if f := stat(pid); f != nil {
		for _, field := range f[11:15] { // utime, stime, cutime, cstime
			n, _ := strconv.ParseFloat(field, 64)
			sum += n
		}
	}
	return sum / ticks
}

func parent(pid int) int {
	f := stat(pid)
	if f == nil {
		return 0
	}
	n, _ := strconv.Atoi(f[1])
	return n
}

func children(of int) []int {
	names, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	var out []int
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && parent(pid) == of {
			out = append(out, pid)
		}
	}
	return out
}

// peak is the most that a process had resident.
func peak(pid int) int64 { return kilobytes(pid, "status", "VmHWM:") }

// proportional is a process's memory with its part of what it shares.
func proportional(pid int) int64 { return kilobytes(pid, "smaps_rollup", "Pss:") }

func kilobytes(pid int, file, field string) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	if err != nil {
		return 0
	}
	_, rest, found := strings.Cut(string(b), field)
	words := strings.Fields(rest)
	if !found || len(words) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(words[0], 10, 64)
	return n << 10
}
