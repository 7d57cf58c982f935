package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// version is that of install.sh.
const version = "0.15.2"

// Server is a running PostgreSQL.
type Server struct {
	dsn     string
	made    atomic.Int64
	missing string // why there is none
	failed  error
	stop    func()

	mu        sync.Mutex
	templates map[string]*template // by what Copy calls them
}

// template is a database that others begin as.
type template struct {
	once sync.Once
	name string
	err  error
}

// Start starts a server for the tests of a package, to be used in TestMain; Stop
// ends it. Where there is none to start, Database skips the tests.
func Start() *Server {
	s := &Server{stop: func() {}}
	if s.dsn = os.Getenv("MNEME_TEST_POSTGRES_DSN"); s.dsn != "" {
		return s
	}
	bin, err := installed()
	if err != nil {
		s.missing = "PostgreSQL is not there (" + err.Error() +
			"): run adapters/storage/postgres/postgrestest/install.sh, or name one by MNEME_TEST_POSTGRES_DSN"
		return s
	}
	if s.failed = s.start(bin); s.failed != nil {
		s.stop()
		s.stop = func() {}
	}
	return s
}

// Stop ends the server and removes what it kept.
func (s *Server) Stop() {
	for _, made := range s.templates {
		_ = run(s.dsn, "DROP DATABASE IF EXISTS "+made.name+" WITH (FORCE)") // of a server that goes on
	}
	s.stop()
}

// DSN is the connection string of the server's own database. The test is skipped
// without a server, and fails where MNEME_TEST_REQUIRE is set.
func (s *Server) DSN(t testing.TB) string {
	t.Helper()
	if s.failed != nil {
		t.Fatalf("PostgreSQL did not start: %v", s.failed)
	}
	if s.missing != "" && os.Getenv("MNEME_TEST_REQUIRE") != "" {
		t.Fatal(s.missing)
	}
	if s.missing != "" {
		t.Skip("SKIPPED: " + s.missing)
	}
	return s.dsn
}

// Database makes an empty database, which goes with the test, and gives its
// connection string. It skips as DSN does.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	return s.database(t, "template0")
}

// Copy is Database, of a database that begins as prepare has left it. Copying the files
// of a schema takes a seventh of the processor time of making it. prepare is called once for
// each kind, so all calls with one must mean the same by it, and it may leave no connection
// behind.
func (s *Server) Copy(t testing.TB, kind string, prepare func(dsn string) error) string {
	t.Helper()
	dsn := s.DSN(t)
	s.mu.Lock()
	if s.templates[kind] == nil {
		if s.templates == nil {
			s.templates = map[string]*template{}
		}
		s.templates[kind] = &template{name: s.name()}
	}
	from := s.templates[kind]
	s.mu.Unlock()
	from.once.Do(func() {
		if from.err = run(dsn, "CREATE DATABASE "+from.name+" TEMPLATE template0"); from.err == nil {
			from.err = prepare(named(dsn, from.name))
		}
	})
	if from.err != nil {
		t.Fatalf("prepare a database: %v", from.err)
	}
	return s.database(t, from.name+" STRATEGY FILE_COPY")
}

func (s *Server) database(t testing.TB, template string) string {
	t.Helper()
	dsn, name := s.DSN(t), s.name()
	if err := run(dsn, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run(dsn, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return named(dsn, name)
}

func (s *Server) name() string { return fmt.Sprintf("mneme_test_%d_%d", os.Getpid(), s.made.Add(1)) }

// named is the connection string of another database of the same server.
func named(dsn, database string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(err) // a connection was made with it
	}
	u.Path = "/" + database
	return u.String()
}

func run(dsn, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// installed is the folder of the server's programs.
func installed() (string, error) {
	cache := os.Getenv("CACHE")
	if cache == "" {
		root, err := checkout()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(root, ".cache")
	}
	bin, err := filepath.Abs(filepath.Join(cache, "postgres", version, "bin"))
	if err != nil {
		return "", err
	}
	_, err = os.Stat(filepath.Join(bin, "postgres"))
	return bin, err
}

// checkout is the folder of this module that the tests run in. Where this file lies says
// nothing in a program that was built with -trimpath.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is in no checkout, and CACHE is not set", dir)
		}
	}
}

func (s *Server) start(bin string) error {
	dir, err := os.MkdirTemp("", "mneme-postgres-")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = func() { // what is left over in the temporary folder does no harm
		cancel()
		_ = os.RemoveAll(dir)
	}
	who, err := unprivileged(dir)
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	env := []string{"LD_LIBRARY_PATH=" + filepath.Join(bin, "../lib"), "LC_ALL=C", "PATH=/usr/bin:/bin", "TZ=UTC"}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust",
		"--no-sync", "--no-instructions", "-E", "UTF8", "--locale", "C")
	initdb.Dir, initdb.SysProcAttr, initdb.Env = dir, who, env
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := free(ctx)
	if err != nil {
		return err
	}
	// Nothing here has to outlive a power cut.
	server := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port), "-c",
		"listen_addresses=127.0.0.1", "-k", dir,
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300", "-c", "shared_buffers=64MB")
	server.Dir, server.SysProcAttr, server.Env = dir, who, env
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	server.Stdout, server.Stderr = log, log // closed with this process
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = 10 * time.Second
	begun, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // the server is told when this thread ends, so it must not
		err := server.Start()
		begun <- err
		if err == nil {
			_ = server.Wait() // ended on purpose, or the tests see it
		}
	}()
	s.stop = func() {
		cancel()
		<-ended
		_ = os.RemoveAll(dir)
	}
	if err := <-begun; err != nil {
		return err
	}
	s.dsn = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	return s.await(filepath.Join(dir, "log"))
}

func (s *Server) await(log string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.dsn)
		if err == nil {
			return conn.Close(ctx)
		}
		if ctx.Err() != nil {
			said, _ := os.ReadFile(log)
			return errors.Join(err, errors.New(string(said)))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// free is a port that was free a moment ago.
func free(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
