package tenants_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// attack is what the first organization does, in a process of its own, which has to work
// little for what it asks: what is measured is how the server shares its processors out.
type attack struct {
	Name  string
	Addr  string
	Width int // connections at once
	// Requests go to the connections by turns. Each is sent again when it is answered, with
	// other numbers for its placeholders.
	Requests [][]byte
	// Hold has a connection send its request, then a byte every so often, and nothing be
	// read.
	Hold time.Duration
}

// The placeholders of a request, as long as what stands for them.
const (
	numbered = "#number##" // a number of its own
	fifty    = "#50"       // one of fifty
	five     = "#5"        // one of five
)

// with puts a number into a request, which gets no longer.
func with(n int64, request []byte) []byte {
	request = bytes.ReplaceAll(request, []byte(numbered), fmt.Appendf(nil, "%09d", n))
	request = bytes.ReplaceAll(request, []byte(fifty), fmt.Appendf(nil, "%03d", n%50))
	return bytes.ReplaceAll(request, []byte(five), fmt.Appendf(nil, "%02d", n%5))
}

// isAttacker says in the environment that the process is the attacker's.
const isAttacker = "MNEME_TEST_ATTACKER"

// start begins the attack and comes back when every connection is open and has sent its
// first request. stop ends it and says how many answers there were of each status.
func (a attack) start(t *testing.T) (stop func() map[string]int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), self)
	if nice, err := exec.LookPath("nice"); err == nil {
		cmd = exec.CommandContext(context.Background(), nice, "-n", "19", self)
	}
	cmd.Env = append(os.Environ(), isAttacker+"=1", "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := sync.OnceFunc(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(ended)
	if err := json.NewEncoder(in).Encode(a); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	if line, err := said.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the attacker says %q: %v", line, err)
	}
	return func() map[string]int {
		_ = in.Close()
		answers := map[string]int{}
		if err := json.NewDecoder(said).Decode(&answers); err != nil {
			t.Errorf("what the attacker was answered: %v", err)
		}
		ended()
		return answers
	}
}

// attacker is the attacker's process: it reads an attack, carries it out until its input
// ends, and tells how many answers it had of each status.
func attacker() error {
	input := json.NewDecoder(os.Stdin)
	var a attack
	if err := input.Decode(&a); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, io.MultiReader(input.Buffered(), os.Stdin))
		cancel()
	}()
	var all sync.WaitGroup
	var sent sync.WaitGroup
	sent.Add(a.Width)
	var number atomic.Int64
	answers := make([]map[string]int, a.Width)
	for i := range a.Width {
		answers[i] = map[string]int{}
		all.Go(func() {
			first := sync.OnceFunc(sent.Done)
			defer first()
			for ctx.Err() == nil {
				err := a.connect(ctx, a.Requests[i%len(a.Requests)], &number, first, answers[i])
				if err != nil && ctx.Err() == nil {
					answers[i]["broken"]++
					first()
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	sent.Wait()
	fmt.Println("ready")
	all.Wait()
	total := map[string]int{}
	for _, some := range answers {
		for what, n := range some {
			total[what] += n
		}
	}
	return json.NewEncoder(os.Stdout).Encode(total)
}

// connect uses one connection to its end.
func (a attack) connect(ctx context.Context, request []byte, number *atomic.Int64, sent func(),
	answers map[string]int) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", a.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	read := bufio.NewReader(conn)
	for {
		_, err := conn.Write(with(number.Add(1), request))
		sent()
		for a.Hold > 0 && err == nil && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(a.Hold):
				_, err = conn.Write([]byte(" "))
			}
		}
		if err != nil {
			return err
		}
		answer, err := http.ReadResponse(read, nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			return err
		}
		answers[answer.Status]++
		if answer.Close {
			return nil
		}
	}
}
