package opensearchtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// versions are those of install.sh, the newest first.
var versions = []string{"3.6.0", "2.19.1"}

// Server is a running OpenSearch of one node.
type Server struct {
	once    sync.Once
	options []string
	url     string
	missing string // why there is none
	failed  error
	stop    func()
}

// New is a server for the tests of a package, which starts when a test first asks for it.
// Stop, to be called by TestMain, ends it. The options are settings of the node, KEY=VALUE;
// without=NAME leaves a plugin out.
func New(options ...string) *Server { return &Server{options: options, stop: func() {}} }

// Stop ends the server and removes what it kept.
func (s *Server) Stop() { s.stop() }

// URL is the server's address. The test is skipped without a server, and fails where
// MNEME_TEST_REQUIRE is set.
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	s.once.Do(s.begin)
	if s.failed != nil {
		t.Fatalf("OpenSearch did not start: %v", s.failed)
	}
	if s.missing != "" && os.Getenv("MNEME_TEST_REQUIRE") != "" {
		t.Fatal(s.missing)
	}
	if s.missing != "" {
		t.Skip("SKIPPED: " + s.missing)
	}
	return s.url
}

func (s *Server) begin() {
	if s.url = os.Getenv("MNEME_TEST_OPENSEARCH_URL"); s.url != "" && len(s.options) == 0 {
		return
	}
	jars, err := installed()
	if err != nil {
		s.missing = "OpenSearch is not there (" + err.Error() + "): install a JDK and Maven and run " +
			"adapters/index/opensearch/opensearchtest/install.sh, or name one by MNEME_TEST_OPENSEARCH_URL"
		return
	}
	if s.failed = s.start(jars); s.failed != nil {
		s.stop()
		s.stop = func() {}
	}
}

// installed is the folder of the jars.
func installed() (string, error) {
	if _, err := exec.LookPath("java"); err != nil {
		return "", err
	}
	cache := os.Getenv("CACHE")
	if cache == "" {
		root, err := checkout()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(root, ".cache")
	}
	var missing error
	for _, v := range versions {
		dir, err := filepath.Abs(filepath.Join(cache, "opensearch", v))
		if err != nil {
			return "", err
		}
		if _, missing = os.Stat(filepath.Join(dir, "Node.class")); missing == nil {
			return dir, nil
		}
	}
	return "", missing
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

func (s *Server) start(jars string) error {
	dir, err := os.MkdirTemp("", "mneme-opensearch-")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = func() { // what is left over in the temporary folder does no harm
		cancel()
		_ = os.RemoveAll(dir)
	}
	ports, err := free(ctx, 2)
	if err != nil {
		return err
	}
	args := []string{"-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "--add-modules=jdk.incubator.vector",
		"-cp", jars + string(os.PathListSeparator) + filepath.Join(jars, "lib", "*"), "Node",
		"path.home=" + dir, "node.name=n1", "cluster.name=" + filepath.Base(dir), "discovery.type=single-node",
		fmt.Sprintf("http.port=%d", ports[0]), fmt.Sprintf("transport.port=%d", ports[1]),
		// How full the disk of the machine is says nothing about the tests.
		"cluster.routing.allocation.disk.threshold_enabled=false"}
	node := exec.CommandContext(ctx, "java", append(args, s.options...)...)
	node.Dir = dir
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	node.Stdout, node.Stderr = log, log
	node.WaitDelay = 10 * time.Second // nothing it keeps is wanted any more: it is killed
	if err := node.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = node.Wait() // ended on purpose, or the tests see it
	}()
	s.stop = func() {
		cancel()
		<-ended
		_ = os.RemoveAll(dir)
	}
	s.url = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	return await(ctx, s.url, filepath.Join(dir, "log"), ended)
}

// startTime is long, since a node takes ten seconds of processor time and may have to share it.
const startTime = 5 * time.Minute

// await waits until the node is a cluster.
func await(ctx context.Context, url, log string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/_cluster/health?wait_for_status=yellow&timeout=1s", nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			err = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return err
			}
			err = errors.Join(err, errors.New(res.Status))
		}
		select {
		case <-time.After(100 * time.Millisecond):
			continue
		case <-ended:
			err = errors.New("the node ended")
		case <-ctx.Done():
		}
		said, _ := os.ReadFile(log)
		return errors.Join(err, errors.New(strings.TrimSpace(string(said))))
	}
}

// free are ports that were free a moment ago.
func free(ctx context.Context, n int) ([]int, error) {
	var out []int
	for range n {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() //nolint:errcheck // nothing was sent
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}
