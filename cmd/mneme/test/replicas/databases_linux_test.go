package replicas_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// Two servers over three database servers: one organization is moved from database to database under load, by a command
// that is killed at random moments, as are a server and a database server meanwhile, all by SIGKILL; then the move is
// called again until it ends. Nothing acknowledged is lost or there twice, and nothing is another's. Whatever becomes of
// the move, the organization is read and the other one is read and written, except while one of its databases is away.
func TestDatabases(t *testing.T) {
	if os.Getenv("MNEME_TEST_POSTGRES_DSN") != "" {
		t.Skip("the PostgreSQL of MNEME_TEST_POSTGRES_DSN is not the tests' to kill")
	}
	t.Parallel()
	s := &spread{fleet: &fleet{t: t, set: set{name: "three databases", replicas: 2}}, databases: map[string]*member{}}
	for _, name := range []string{"home", "b", "c"} {
		server := postgrestest.Start()
		t.Cleanup(server.Stop)
		m := &member{dsn: server.DSN(t)}
		t.Cleanup(func() {
			if m.down != nil {
				m.down()
			}
		})
		s.databases[name] = m
	}
	s.own, s.others = s.databases["home"].dsn, fmt.Sprintf(", place: home, connect_timeout: 2s, databases: [{name: b, dsn: %q}, "+
		"{name: c, dsn: %q}]", s.databases["b"].dsn, s.databases["c"].dsn)
	s.begin("roles: {sparse: off, rerank: off}\nlimits: {read: 600000/min burst 60000, write: 600000/min burst 60000}\n")
	s.ok(s.admin, "POST", "/admin/v1/organizations", object{"name": "rival", "database": "c"})
	moving := &client{s: s, t: &tenant{org: "default", mark: "aardwolf"}, in: []string{"b", "c"}}
	other := &client{s: s, t: &tenant{org: "rival", mark: "zorilla"}, in: []string{"c"}, always: true}
	s.clients = []*client{moving, other}
	for _, c := range s.clients {
		c.t.key = s.issue(c.t.org, object{"name": "test"})
		for range 3 {
			c.write(100)
		}
	}
	var load sync.WaitGroup
	stop := make(chan struct{})
	for _, c := range s.clients {
		for _, step := range []func(){func() { c.write(1) }, c.read} {
			load.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						step()
					}
				}
			})
		}
	}
	at, length := "home", 500*time.Millisecond // about as long as half a move takes
	for round := range harness.Rounds(t, 2, 1) {
		to := []string{"b", "c", "home"}[round%3]
		command := s.move("default", to)
		time.Sleep(rand.N(length))
		died := s.crash(round)
		time.Sleep(rand.N(length))
		_ = command.cmd.Process.Kill() // it may have ended
		first := command.wait()
		s.mend()
		tries, took := s.moved("default", to)
		t.Logf("round %d, from %s to %s, without %s: the first command %s; called %d times more, the last took %v", round, at, to,
			died, first, tries, took.Round(time.Millisecond))
		if first == "" { // it was not killed in time
			length = max(length/2, 100*time.Millisecond)
		} else if tries > 0 {
			length = max(took, 100*time.Millisecond)
		}
		at = to
	}
	close(stop)
	load.Wait()
	for _, c := range s.clients {
		c.check()
	}
	s.lies("default", at)
	s.lies("rival", "c")
	t.Logf("FIGURES: %d documents acknowledged to the organization that moves, %d to the other; %d reads; %d answers of 503 "+
		"with Retry-After", len(moving.acked()), len(other.acked()), moving.reads.Load()+other.reads.Load(), s.refused.Load())
}

// spread is a fleet over several databases.
type spread struct {
	*fleet
	databases map[string]*member
	clients   []*client
}

// member is a database, alone on its server.
type member struct {
	dsn  string
	up   func() (down func()) // starts the server that was killed
	down func()               // ends the one that was started
	// changes is odd while the database is away: from before it is killed until a server has used it again.
	changes atomic.Int64
}

// command is mneme orgs move, running.
type command struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

func (s *spread) move(org, to string) *command {
	s.t.Helper()
	c := &command{cmd: s.beside.Command("orgs", "move", org, "--to", to)}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	if err := c.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// wait waits for the end, and says what became of it: "" where it did what it was told.
func (c *command) wait() string {
	if err := c.cmd.Wait(); err != nil {
		return fmt.Sprintf("%v: %s", err, lastLine(c.out.String()))
	}
	return ""
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// moved calls a move until the organization is there; how often it failed, and how long the last call took. Another move
// counts as alive for a while after it was killed.
func (s *spread) moved(org, to string) (tries int, took time.Duration) {
	s.t.Helper()
	for began := time.Now(); ; tries++ {
		called := time.Now()
		said := s.move(org, to).wait()
		switch took = time.Since(called); {
		case said == "" || strings.Contains(said, "is in database "+to+" already"):
			return tries, took
		case time.Since(began) > harness.Patience:
			s.t.Fatalf("move %s to %s: %s", org, to, said)
		case !strings.Contains(said, "by another command"):
			s.t.Logf("move %s to %s: %s", org, to, said)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// crash kills a database server but the home's, or a server, or both, by turns.
func (s *spread) crash(round int) string {
	s.t.Helper()
	var killed []string
	if round%3 != 1 {
		name := []string{"b", "c"}[rand.IntN(2)]
		m := s.databases[name]
		m.changes.Add(1)
		m.up = crash(s.t, m.dsn, syscall.SIGKILL)
		killed = append(killed, "database "+name)
	}
	if round%3 != 0 {
		r := s.replicas[rand.IntN(len(s.replicas))]
		r.kill()
		killed = append(killed, "a server")
	}
	return strings.Join(killed, " and ")
}

// mend starts what was killed.
func (s *spread) mend() {
	s.t.Helper()
	for _, m := range s.databases {
		if m.up == nil {
			continue
		}
		m.down, m.up = m.up(), nil
	}
	for _, r := range s.replicas {
		if r.running() == nil {
			r.start()
		}
	}
	up := time.Now()
	for name, m := range s.databases {
		if m.changes.Load()%2 == 0 {
			continue
		}
		for _, r := range s.replicas {
			harness.EventuallySees(s.t, "a server to use database "+name+" again", func() (bool, string) {
				a, err := r.ask(s.admin, "GET", "/health/deep", nil)
				if err != nil {
					return false, err.Error()
				}
				var health struct {
					Time   time.Time
					Checks map[string]struct{ Status string }
				}
				a.Into(&health) // an answer is kept for a while
				return health.Time.After(up) && health.Checks["store/"+name].Status == "ok", a.String()
			})
		}
		m.changes.Add(1)
	}
}

// lies wants an organization to be in one database alone.
func (s *spread) lies(org, in string) {
	s.t.Helper()
	var id string
	on(s.t, s.dsn, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT id FROM organizations WHERE name = $1", org).Scan(&id)
	})
	got := map[string]int{}
	for name, m := range s.databases {
		on(s.t, m.dsn, func(ctx context.Context, conn *pgx.Conn) error {
			var n int
			err := conn.QueryRow(ctx, "SELECT count(*) FROM namespaces WHERE org = $1 AND dropped = 0", id).Scan(&n)
			if n > 0 {
				got[name] = n
			}
			return err
		})
	}
	if diff := cmp.Diff(map[string]int{in: 1}, got); diff != "" {
		s.t.Errorf("namespaces of %s by database (-want +got):\n%s", org, diff)
	}
	var list struct {
		Organizations []struct{ Name, Database string }
	}
	if err := json.Unmarshal([]byte(s.beside.Mneme("orgs", "list", "--json").Stdout), &list); err != nil {
		s.t.Fatal(err)
	}
	if !slices.Contains(list.Organizations, struct{ Name, Database string }{org, in}) {
		s.t.Errorf("of %s, which is in %s, orgs list says: %+v", org, in, list.Organizations)
	}
}

// client writes and reads what one organization has.
type client struct {
	s      *spread
	t      *tenant
	in     []string // databases without which it may be refused
	always bool     // else its writes may be refused while it moves
	reads  atomic.Int64
	next   int

	mu  sync.Mutex
	ids []string // acknowledged
}

func (c *client) acked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.ids)
}

func (c *client) text(id string) string { return "The " + c.t.mark + " knows the word w" + id + "w." }

// fair looks whether an answer may be as it is: 503 only while a database is away.
func (c *client) fair(bears bool, call func() (harness.Answer, error)) (harness.Answer, bool) {
	changes := func() (n int64, away bool) {
		for _, name := range c.in {
			now := c.s.databases[name].changes.Load()
			n, away = n+now, away || now%2 != 0
		}
		return n, away
	}
	before, away := changes()
	a, err := call()
	after, _ := changes()
	switch {
	case err != nil: // the server was killed
		return a, false
	case a.Status/100 == 2:
		return a, true
	case a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "":
		c.s.t.Errorf("%s, with Retry-After %q", a, a.Header.Get("Retry-After"))
	case bears && !away && before == after:
		c.s.t.Errorf("its databases are there, and yet %s", a)
	}
	c.s.refused.Add(1)
	return a, false
}

// anyone is one server after the other.
func (c *client) anyone() *replica { return c.s.replicas[int(c.s.turn.Add(1))%len(c.s.replicas)] }

// write writes documents until they are acknowledged.
func (c *client) write(n int) {
	var all []object
	var ids []string
	for range n {
		c.next++
		id := fmt.Sprintf("d%05d", c.next)
		ids, all = append(ids, id), append(all, document(id, c.text(id)))
	}
	for began := time.Now(); ; {
		_, ok := c.fair(c.always, func() (harness.Answer, error) {
			return c.anyone().ask(c.t.key, "POST", docs, object{"documents": all})
		})
		if ok {
			break
		}
		if time.Since(began) > c.s.patience() {
			c.s.t.Errorf("%s is not acknowledged", ids)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, ids...)
}

// read reads a document that was acknowledged.
func (c *client) read() {
	ids := c.acked()
	id := ids[rand.IntN(len(ids))]
	a, ok := c.fair(true, func() (harness.Answer, error) {
		return c.anyone().ask(c.t.key, "GET", docs+"/"+id, nil)
	})
	if !ok {
		time.Sleep(5 * time.Millisecond)
		return
	}
	c.reads.Add(1)
	if got, _ := a.JSON()["text"].(string); got != c.text(id) {
		c.s.t.Errorf("%s of %s is %s", id, c.t.org, a)
	}
}

// check wants what was acknowledged, once and nothing else, through each server, and to find it.
func (c *client) check() {
	t, want := c.s.t, c.acked()
	t.Helper()
	slices.Sort(want)
	for _, r := range c.s.replicas {
		var got []string
		for cursor := ""; ; {
			a := r.call(c.t.key, "GET", docs+"?limit=100&cursor="+url.QueryEscape(cursor), nil)
			var page struct {
				Documents []struct{ ID string }
				Next      string `json:"next_cursor"`
			}
			a.Into(&page)
			for _, d := range page.Documents {
				got = append(got, d.ID)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("documents of %s (-acknowledged +there):\n%s", c.t.org, diff)
		}
		for range 20 {
			id := want[rand.IntN(len(want))]
			found := hits(t, r.call(c.t.key, "POST", "/namespaces/docs/query", object{"query": "w" + id + "w"}))
			if !slices.Contains(found, hit{id, c.text(id)}) {
				t.Errorf("LOST: %s finds %v by the word of %s", c.t.org, found, id)
			}
			for _, h := range found {
				if !strings.Contains(h.text, c.t.mark) {
					t.Errorf("FOREIGN: %s finds %v", c.t.org, h)
				}
			}
		}
	}
}
