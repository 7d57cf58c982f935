package opensearchtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Server is a running OpenSearch.
type Server struct {
	once    sync.Once
	nodes   []*node
	options []string
	jars    string
	dir     string // everything that it keeps
	missing string // why there is none
	failed  error
}

// node is one of its processes, which may be killed and started again.
type node struct {
	url, transport string
	number         int
	kill           func() // nil: it does not run
	end            func() // as kill, in order
}

// New is a server of one node for the tests of a package, which starts when a test first asks
// for it. Stop, to be called by TestMain, ends it. The options are settings of its nodes,
// KEY=VALUE; without=NAME leaves a plugin out.
func New(options ...string) *Server { return Cluster(1, options...) }

// Cluster is New of several nodes.
func Cluster(nodes int, options ...string) *Server {
	return &Server{nodes: make([]*node, nodes), options: options}
}

// Whole reports whether the tests are to run over OpenSearch all that can: CI has the time for a
// part of it.
func Whole() bool { return os.Getenv("MNEME_TEST_OPENSEARCH") == "whole" }

// Part skips a test that CI has no time for.
func Part(t testing.TB) {
	t.Helper()
	if !Whole() {
		t.Skip("LEFT OUT: make opensearch-contract runs it")
	}
}

// Stop ends the server and removes what it kept.
func (s *Server) Stop() {
	for _, n := range s.nodes {
		if n != nil && n.kill != nil {
			n.kill()
		}
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // what is left over in the temporary folder does no harm
	}
}

// URL is the address of the server's first node. The test is skipped without a server, and fails
// where MNEME_TEST_REQUIRE is set.
func (s *Server) URL(t testing.TB) string { return s.URLs(t)[0] }

// URLs are the addresses of all nodes, also of those that were killed.
func (s *Server) URLs(t testing.TB) (all []string) {
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
	for _, n := range s.nodes {
		all = append(all, n.url)
	}
	return all
}

func (s *Server) begin() {
	if url := os.Getenv("MNEME_TEST_OPENSEARCH_URL"); url != "" && len(s.options) == 0 && len(s.nodes) == 1 {
		s.nodes[0] = &node{url: url}
		return
	}
	if os.Getenv("MNEME_TEST_OPENSEARCH") == "protocol" && len(s.options) == 0 && len(s.nodes) == 1 {
		url, stop := startProtocol()
		s.nodes[0] = &node{url: url, kill: stop}
		return
	}
	var err error
	s.jars, err = installed()
	if err != nil {
		s.missing = "OpenSearch is not there (" + err.Error() + "): install a JDK and Maven and run " +
			"adapters/index/opensearch/opensearchtest/install.sh, or name one by MNEME_TEST_OPENSEARCH_URL"
		return
	}
	if s.failed = s.start(); s.failed != nil {
		s.Stop()
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

func (s *Server) start() (err error) {
	if s.dir, err = os.MkdirTemp("", "mneme-opensearch-"); err != nil {
		return err
	}
	ports, err := free(context.Background(), 2*len(s.nodes))
	if err != nil {
		return err
	}
	for i := range s.nodes {
		s.nodes[i] = &node{url: fmt.Sprintf("http://127.0.0.1:%d", ports[2*i]),
			transport: fmt.Sprintf("127.0.0.1:%d", ports[2*i+1]), number: i + 1}
	}
	var ended []<-chan struct{}
	for _, n := range s.nodes {
		end, err := s.begins(n)
		if err != nil {
			return err
		}
		ended = append(ended, end)
	}
	for i, n := range s.nodes {
		if err := n.await(len(s.nodes), s.log(n), ended[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) log(n *node) string { return filepath.Join(s.dir, fmt.Sprintf("n%d.log", n.number)) }

// begins starts a node's process.
func (s *Server) begins(n *node) (ended <-chan struct{}, err error) {
	home := filepath.Join(s.dir, fmt.Sprintf("n%d", n.number))
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(n.url, "http://"), ":")
	args := []string{"-Xms512m", "-Xmx512m", "-XX:+UseSerialGC"}
	if !Whole() { // a short life is not worth the better compiler
		args = append(args, "-XX:TieredStopAtLevel=1")
	}
	args = append(args, "--add-modules=jdk.incubator.vector",
		"-cp", s.jars+string(os.PathListSeparator)+filepath.Join(s.jars, "lib", "*"), "Node",
		"path.home="+home, fmt.Sprintf("node.name=n%d", n.number), "cluster.name="+filepath.Base(s.dir),
		"http.port="+port, "transport.port="+n.transport[strings.LastIndex(n.transport, ":")+1:],
		// How full the disk of the machine is says nothing about the tests.
		"cluster.routing.allocation.disk.threshold_enabled=false")
	if len(s.nodes) == 1 {
		args = append(args, "discovery.type=single-node")
	} else {
		var seeds, names []string
		for _, each := range s.nodes {
			seeds, names = append(seeds, each.transport), append(names, fmt.Sprintf("n%d", each.number))
		}
		args = append(args, "discovery.seed_hosts="+strings.Join(seeds, ","),
			"cluster.initial_cluster_manager_nodes="+strings.Join(names, ","))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "java", append(args, s.options...)...)
	cmd.Dir = home
	log, err := os.OpenFile(s.log(n), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		cancel()
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	end := make(chan struct{})
	go func() {
		defer close(end)
		_ = cmd.Wait() // ended on purpose, or the tests see it
	}()
	n.kill = func() {
		cancel()
		<-end
		n.kill = nil
	}
	n.end = func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended already
		select {
		case <-end:
		case <-time.After(time.Minute):
		}
		n.kill()
	}
	return end, nil
}

// Kill ends a node, counted from 0, as kill -9 does.
func (s *Server) Kill(t testing.TB, i int) {
	t.Helper()
	s.nodes[i].kill()
}

// End ends a node in order, as a restart does.
func (s *Server) End(t testing.TB, i int) {
	t.Helper()
	s.nodes[i].end()
}

// Start starts a node that was killed or ended, over what it had on its disk, and waits until it is of the
// cluster.
func (s *Server) Start(t testing.TB, i int) {
	t.Helper()
	ended, err := s.begins(s.nodes[i])
	if err == nil {
		err = s.nodes[i].await(1, s.log(s.nodes[i]), ended)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Send makes a call of the API of a node that runs and returns its answer, which is "" for what is
// not there and what did not come about in time.
func (s *Server) Send(t testing.TB, method, path, body string) string {
	t.Helper()
	url := s.URL(t)
	for _, n := range s.nodes {
		if n.kill != nil {
			url = n.url
			break
		}
	}
	req, err := http.NewRequestWithContext(context.Background(), method, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		t.Fatal(err)
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusRequestTimeout:
		return ""
	case res.StatusCode >= 300:
		t.Fatalf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return string(text)
}

// Delete removes the index of a prefix, if there is one.
func (s *Server) Delete(t testing.TB, prefix string) {
	t.Helper()
	s.Send(t, http.MethodDelete, "/"+prefix+"-chunks-1", "")
}

// Traces lists the files of the nodes, the translog's among them, that hold a word in the index
// of a prefix, once all that is in memory is on the disk.
func (s *Server) Traces(t testing.TB, prefix, word string) (found []string) {
	t.Helper()
	if s.URL(t); s.dir == "" {
		t.Skip("LEFT OUT: the server has no disk within reach")
	}
	var settings map[string]struct {
		Settings struct{ Index struct{ UUID string } }
	}
	answer := s.Send(t, http.MethodGet, "/"+prefix+"-chunks-1/_settings", "")
	if answer == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(answer), &settings); err != nil {
		t.Fatal(err)
	}
	uuid := settings[prefix+"-chunks-1"].Settings.Index.UUID
	looked := 0
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.Contains(path, uuid) {
			return nil //nolint:nilerr // it went in between
		}
		looked++
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(bytes.ToLower(text), bytes.ToLower([]byte(word))) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil || uuid == "" || looked == 0 {
		t.Fatalf("%d files of the index %s, %v", looked, answer, err)
	}
	return found
}

// startTime is long, since a node takes ten seconds of processor time and may have to share it.
const startTime = 5 * time.Minute

// await waits until the node is of a cluster of so many.
func (n *node) await(nodes int, log string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	health := fmt.Sprintf("%s/_cluster/health?wait_for_nodes=%%3E%%3D%d&timeout=1s", n.url, nodes)
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, health, nil)
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
