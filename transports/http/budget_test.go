package http_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	mnemehttp "github.com/mnemehq/mneme/transports/http"
)

// gauges takes the measurements of a handler.
type gauges map[string]func() float64

func (g *gauges) add(name, _ string, read func() float64) {
	if *g == nil {
		*g = gauges{}
	}
	(*g)[name] = read
}

func (g *gauges) held() int { return int((*g)["mneme_body_bytes"]()) }

// await waits until at least so many bytes are held; 0: until none are.
func (g *gauges) await(t testing.TB, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if got := g.held(); n > 0 && got >= n || got == 0 && n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d bytes are held, want %d", g.held(), n)
		}
	}
}

// begun is the header of a write of n bytes and its first part.
func begun(path, key string, n int, part string, header ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n%s\r\n%s", path, key, n, strings.Join(header, ""), part)
}

const bulk = "/shelves/a/bulk"

func bulkText(n int) string { return `{"id":"x","text":"` + strings.Repeat("t", n) + `"}` }

// crowd begins bodies of a size with the keys in turn until each has been refused one.
func crowd(t *testing.T, addr string, g *gauges, size int, keys ...string) (taken int) {
	t.Helper()
	for _, key := range keys {
		for {
			c := dial(t, addr)
			send(t, c, begun(bulk, key, size, bulkText(size/2)))
			answered := make(chan bool, 1)
			go func() {
				n, _ := c.Read(make([]byte, 1))
				answered <- n == 1
			}()
			refused := false
			for before := taken * size; !refused && g.held() < before+size; {
				select {
				case refused = <-answered:
				case <-time.After(time.Millisecond):
				}
			}
			if refused {
				break
			}
			taken++
		}
	}
	return taken
}

// A key, and an organization with many keys, hold their share with bodies that never
// end. Others are served on, and so are their own queries.
func TestBodiesAreSharedOut(t *testing.T) {
	const size = 1 << 20
	type call struct {
		what, path, key string
		size, status    int
	}
	always := []call{
		{"a large body", bulk, "good", size, 503},
		{"a small body", "/shelves/a/notes", "good", 1000, 201},
		{"a large body of another organization", bulk, "other", 2 * size, 201},
		{"a small body of another organization", "/shelves/a/notes", "other", 1000, 201},
	}
	for _, c := range []struct {
		name  string
		keys  []string
		taken int // of 13
		calls []call
	}{
		{"one key", []string{"good"}, 4, []call{{"a large body of another key", bulk, "free", size, 201}}},
		{"one organization", []string{"good", "free", "slow", "shelf-a"}, 6,
			[]call{{"a large body of another key", bulk, "free", size, 503}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g gauges
			o := setup{http: mnemehttp.Options{BodyBytes: 16 << 20, Gauge: g.add, BodyIdle: time.Minute}}
			addr, _, _ := serve(t, o, mnemehttp.ServerOptions{})
			if taken := crowd(t, addr, &g, size, c.keys...); taken != c.taken {
				t.Errorf("%d bodies are held, want %d", taken, c.taken)
			}
			for _, k := range append(c.calls, always...) {
				a := do(t, "POST", "http://"+addr+k.path, bulkText(k.size), "Authorization", "Bearer "+k.key)
				if a.status != k.status || a.status == 503 && a.header.Get("Retry-After") != "1" {
					t.Errorf("%s: %d %s", k.what, a.status, a.body)
				}
			}
		})
	}
}

// The part for small bodies is shared out as well.
func TestSmallBodiesAreSharedOut(t *testing.T) {
	var g gauges
	var refused atomic.Int32
	addr, _, _ := serve(t, setup{http: mnemehttp.Options{BodyBytes: 256 << 10, Gauge: g.add, Refused: func(l fault.Limit) {
		if l == fault.BodyLimit {
			refused.Add(1)
		}
	}}}, mnemehttp.ServerOptions{})
	// 4 KiB each: 32 KiB are for small bodies and 208 KiB for all.
	for range 64 {
		send(t, dial(t, addr), begun("/shelves/a/notes", "good", 5000, "{"))
	}
	g.await(t, 19*4<<10)
	last := dial(t, addr)
	send(t, last, begun("/shelves/a/notes", "good", 5000, "{"))
	if a := receive(t, last); a.status != 503 {
		t.Errorf("a small body of a key that holds its share: %d", a.status)
	}
	if n := refused.Load(); n != 64-19+1 {
		t.Errorf("%d bodies were told as refused, want %d", n, 64-19+1)
	}
	if a := do(t, "POST", "http://"+addr+"/shelves/a/notes", bulkText(1000), "Authorization", "Bearer other"); a.status != 201 {
		t.Errorf("another organization: %d %s", a.status, a.body)
	}
}

// Announcing a body takes no memory, and what one took is given back.
func TestMemoryFollowsWhatArrives(t *testing.T) {
	var g gauges
	addr, _, _ := serve(t, setup{http: mnemehttp.Options{Gauge: g.add}}, mnemehttp.ServerOptions{})
	c := dial(t, addr)
	text := bulkText(4 << 20)
	send(t, c, begun(bulk, "good", len(text), text[:1]))
	g.await(t, 1)
	if got := g.held(); got > 8<<10 {
		t.Errorf("one byte of an announced 4 MiB holds %d", got)
	}
	send(t, c, text[1:500<<10])
	g.await(t, 500<<10)
	if got := g.held(); got > 800<<10 {
		t.Errorf("500 KiB of 4 MiB hold %d", got)
	}
	send(t, c, text[500<<10:3<<20])
	g.await(t, len(text))
	if got := g.held(); got != len(text)+1 {
		t.Errorf("three quarters of %d bytes hold %d", len(text), got)
	}
	send(t, c, text[3<<20:])
	if a := receive(t, c); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
	g.await(t, 0)
	leaves := dial(t, addr)
	send(t, leaves, begun(bulk, "good", len(text), text[:100<<10]))
	g.await(t, 100<<10)
	_ = leaves.Close()
	g.await(t, 0)
}

// A body that nobody knows the length of may be as large as the limit.
func TestBodiesOfUnknownLength(t *testing.T) {
	addr, _, _ := serve(t, setup{}, mnemehttp.ServerOptions{})
	for n, want := range map[int]int{maxLarge: 201, maxLarge + 1: 413} {
		req, err := http.NewRequest("POST", "http://"+addr+bulk, io.MultiReader(strings.NewReader(bulkText(n-len(bulkText(0))))))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer good")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes: %d, want %d", n, res.StatusCode, want)
		}
	}
}

// A gzip body that is held may expand so far and no further.
func TestExpansionIsBounded(t *testing.T) {
	addr, _, _ := serve(t, setup{}, mnemehttp.ServerOptions{})
	for n, want := range map[int]int{1 << 20: 201, 2 << 20: 413} {
		a := do(t, "POST", "http://"+addr+bulk, zipped(bulkText(n-len(bulkText(0)))), "Content-Encoding", "gzip")
		if a.status != want {
			t.Errorf("%d bytes of one letter: %d %s, want %d", n, a.status, a.body, want)
		}
		if want == 413 && !strings.Contains(a.body, "more than 32 times its size") {
			t.Errorf("the refusal says %s", a.body)
		}
	}
}

// A client that trickles is cut off although it never stops for long.
func TestTricklingBodiesAreCutOff(t *testing.T) {
	addr, _, _ := serve(t, setup{http: mnemehttp.Options{BodyIdle: 500 * time.Millisecond}}, mnemehttp.ServerOptions{})
	c := dial(t, addr)
	text := bulkText(200)
	send(t, c, begun(bulk, "good", len(text), ""))
	go func() {
		for i := range len(text) { // the whole of it takes 2 s at least
			if _, err := io.WriteString(c, text[i:i+1]); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if a := receive(t, c); a.status != 504 || !strings.Contains(a.body, "did not arrive in time") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// A client that sends enough is waited for as long as it needs.
func TestSteadyBodiesAreWaitedFor(t *testing.T) {
	addr, _, _ := serve(t, setup{http: mnemehttp.Options{BodyIdle: 2 * time.Second}}, mnemehttp.ServerOptions{})
	c := dial(t, addr)
	text := bulkText(40 << 10)
	send(t, c, begun(bulk, "good", len(text), ""))
	for len(text) > 0 { // 3 s and more, in which it may be waited for 7
		part := text[:min(len(text), 4<<10)]
		send(t, c, part)
		text = text[len(part):]
		time.Sleep(300 * time.Millisecond)
	}
	if a := receive(t, c); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Bodies of callers of whom nothing is known have little room, which one address
// cannot take whole, and what is known of a caller takes it elsewhere.
func TestStrangersHaveRoomOfTheirOwn(t *testing.T) {
	var g gauges
	o := mnemehttp.Options{BodyBytes: 16 << 20, Gauge: g.add, AddressHeader: "X-Real-Ip"} // 1 MiB for strangers
	read := func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(fault.Status(fault.CodeOf(err)))
		}
	}
	o.Mounts = map[string]http.Handler{
		"POST /form": http.HandlerFunc(read),
		"POST /known": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mnemehttp.Identify(r.Context(), ident.Principal{Org: "org_1", KeyID: "key_1"})
			read(w, r)
		}),
	}
	addr, _, _ := serve(t, setup{http: o}, mnemehttp.ServerOptions{})
	form := begun("/form", "", 100, "x", "X-Real-Ip: 192.0.2.1\r\n")
	for range 128 {
		send(t, dial(t, addr), form)
	}
	g.await(t, 128*4<<10)
	last := dial(t, addr)
	send(t, last, form)
	if a := receive(t, last); a.status != 503 {
		t.Errorf("the last of 129 forms of one address: %d", a.status)
	}
	url := "http://" + addr
	for _, c := range []struct {
		what, path, address string
		size, status        int
	}{
		{"a form of another address", "/form", "192.0.2.2", 8 << 10, 200},
		{"a large form", "/form", "192.0.2.2", 256 << 10, 503},
		{"a body of somebody known", "/known", "192.0.2.1", 256 << 10, 200},
		{"an operation", bulk, "192.0.2.1", 256 << 10, 201},
	} {
		if a := do(t, "POST", url+c.path, bulkText(c.size), "X-Real-Ip", c.address); a.status != c.status {
			t.Errorf("%s: %d %s", c.what, a.status, a.body)
		}
	}
}
