package replicas_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the driver named sqlite

	"github.com/mnemehq/mneme/adapters/webhook/webhooktest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/seal"
)

// step is where a process stands, on an event's way to a receiver, when it is killed.
type step struct {
	name string
	// change is the change of a row, and when what is true of it, that a transaction has made and
	// not yet committed. With committed it stands in its commit instead, which nothing can stop any
	// more and of which the process never learns.
	change, when string
	committed    bool
	first        bool // the receiver takes one message before
	twice        int  // messages that it takes twice for it
}

// steps are those of a store. SQLite's commit cannot be held open: what it has stored then is what
// the next step begins with.
func steps(sqlite bool) []step {
	const (
		record, number = "INSERT ON events", "UPDATE OF seq ON events"
		claim, answer  = "INSERT ON claims", "UPDATE OF status ON deliveries"
		ofWebhook      = "NEW.name LIKE 'webhook/%'"
		taken          = "NEW.status = 'succeeded'"
	)
	all := []step{
		{name: "record", change: record},
		{name: "record, committed", change: record, committed: true},
		{name: "number", change: number},
		{name: "number, committed", change: number, committed: true},
		{name: "claim", change: claim, when: ofWebhook},
		{name: "claim, committed", change: claim, when: ofWebhook, committed: true},
		{name: "send"}, // the receiver has the message and does not answer
		{name: "answer", change: answer, when: taken, first: true, twice: 1},
		{name: "settle", change: answer, when: taken, first: true, committed: true},
	}
	if !sqlite {
		return all
	}
	all = slices.DeleteFunc(all, func(s step) bool { return s.committed })
	return append(all, step{name: "settle", first: true}) // by looking
}

// mostKills are for one commit that comes through.
const mostKills = 20

// store holds a process at a step, by a trigger in its database.
type store interface {
	// hold has the next process that comes to a step stay there.
	hold(s step)
	// held is a replica that stays there.
	held() (replica int, ok bool)
	// release is called when that one is dead: nobody stays any more.
	release(replica int)
	// count is the answer to a query for one number.
	count(query string) int
}

// TestKilledAtEachStep kills the server at each step of an event's way, from the transaction of the
// change to the one that stores that a receiver has taken it. What was acknowledged is told of, what is not
// there is not, each event has one number, a namespace's come in order, and one is taken
// twice only where the process died between the receiver's answer and its own note of it.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, of := range []set{
		{name: "sqlite+embedded", replicas: 1, sqlite: true},
		{name: "postgres+embedded", replicas: 2},
	} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			newStory(t, of).tell()
		})
	}
}

// story is a fleet whose events go to a receiver.
type story struct {
	*testing.T
	*fleet
	store
	receiver *webhooktest.Receiver
	webhook  string
	cursor   string // of GET /events
	n        int    // steps so far

	mu    sync.Mutex
	wrote map[string]bool // documents by whether the write was acknowledged
	came  int             // messages that were sent in this step
	dead  chan struct{}   // closed when the process of this step is
}

func newStory(t *testing.T, of set) *story {
	t.Helper()
	s := &story{T: t, receiver: webhooktest.New(t), cursor: "latest"}
	s.fleet = &fleet{t: t, set: of, postgres: database}
	s.begin(fmt.Sprintf("roles: {sparse: off, rerank: off}\nevents: {http: true, allow_private: [%q]}\nseal: {key: %q}\n",
		s.receiver.Network(), seal.NewKey().Reveal()))
	if of.sqlite {
		s.store = openSQLite(t, s.replicas[0].site.Data)
	} else {
		s.store = openPostgres(t, s.dsn)
	}
	var made struct{ ID, Secret string }
	s.ok(s.key, "POST", "/webhooks", object{"url": s.receiver.URL, "kinds": []string{"documents.written"}}).Into(&made)
	s.webhook = made.ID
	s.receiver.Know(made.Secret)
	return s
}

func (s *story) tell() {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "step\tkills\twrites\tacknowledged\tkept\ttaken\ttwice\tlost")
	s.pulled() // from here on
	for _, at := range steps(s.set.sqlite) {
		// A commit may fail yet where the test holds it, over another that ran beside it.
		for kill, kept := 1, 0; kept == 0 && !s.Failed(); kill++ {
			var row string
			row, kept = s.killed(at)
			fmt.Fprintln(w, row)
			switch {
			case at.name != "record, committed":
				kept = 1
			case kept == 0 && kill == mostKills:
				s.Errorf("%d writes were held in their commits, and none is there", kill)
			}
		}
	}
	_ = w.Flush() // into memory
	s.Logf("FIGURES %s, replicas: %d\n%s", s.set.name, s.set.replicas, &table)
	for _, r := range s.replicas {
		for _, server := range r.all {
			for _, line := range server.Complaints() {
				s.Errorf("a server logged %s", line)
			}
		}
	}
}

// killed kills a process at a step and looks at what has become of the writes around it. It
// gives the step's row, and how many writes are there that were not answered.
func (s *story) killed(at step) (row string, kept int) {
	s.Helper()
	before := len(s.receiver.Taken())
	settled := s.count("SELECT count(*) FROM deliveries WHERE status = 'succeeded'")
	s.mu.Lock()
	s.wrote, s.came, s.dead = map[string]bool{}, 0, make(chan struct{})
	dead := s.dead
	s.mu.Unlock()
	s.receiver.Fail(func(webhooktest.Message) bool {
		s.mu.Lock()
		s.came++
		first := s.came == 1
		s.mu.Unlock()
		if at.change != "" && !at.first || at.first && first {
			return false
		}
		<-dead
		return true
	})
	if at.change != "" {
		s.hold(at)
	}
	written := s.write()
	victim := -1
	harness.Eventually(s, "a process is at the step "+at.name, func() bool {
		s.mu.Lock()
		came := s.came
		s.mu.Unlock()
		switch {
		case at.change != "":
			var ok bool
			victim, ok = s.held()
			return ok
		case at.first && s.count("SELECT count(*) FROM deliveries WHERE status = 'succeeded'") == settled:
			return false
		}
		victim = 0
		if !s.set.sqlite {
			victim = slices.IndexFunc(s.replicas, func(r *replica) bool { return r.claims("webhook/" + s.webhook) })
		}
		return came > 0 && victim >= 0
	})
	s.replicas[victim].kill()
	s.receiver.Fail(nil)
	close(dead)
	if at.change != "" {
		s.release(victim)
	}
	s.replicas[victim].start()
	written()
	return s.look(at, before)
}

// write writes two documents one after the other to each of two namespaces, each through another
// replica where there are some; wait waits for the answers.
func (s *story) write() (wait func()) {
	s.n++
	var writers sync.WaitGroup
	for i, space := range []string{"left", "right"} {
		r := s.replicas[i%len(s.replicas)]
		writers.Go(func() {
			for k := range 2 {
				id := fmt.Sprintf("%d-%d", s.n, k)
				s.mu.Lock()
				s.wrote[space+"/"+id] = false
				s.mu.Unlock()
				a, err := r.ask(s.key, "POST", "/namespaces/"+space+"/documents",
					object{"documents": []object{document(id, "The gate is locked.")}})
				if err != nil {
					return // killed
				}
				s.mu.Lock()
				s.wrote[space+"/"+id] = a.Status == http.StatusOK
				s.mu.Unlock()
			}
		})
	}
	return writers.Wait
}

// toldEvent is an event of documents as receivers and readers get it.
type toldEvent struct {
	ID   string
	Data struct {
		Namespace string
		IDs       []string
		Change    int
	}
}

// pulled reads what GET /events has had to tell since the last time.
func (s *story) pulled() (all []toldEvent) {
	s.Helper()
	for {
		var page struct {
			Events     []toldEvent
			NextCursor string `json:"next_cursor"`
			Missed     bool
		}
		s.ok(s.key, "GET", "/events?kinds=documents.written&after="+url.QueryEscape(s.cursor), nil).Into(&page)
		if page.Missed {
			s.Error("a reader of events has missed some")
		}
		s.cursor = page.NextCursor
		if len(page.Events) == 0 {
			return all
		}
		all = append(all, page.Events...)
	}
}

// look waits until everything is told, and checks what was.
func (s *story) look(at step, before int) (row string, unanswered int) {
	s.Helper()
	acknowledged, kept := map[string]bool{}, map[string]bool{}
	for doc, well := range s.wrote {
		space, id, _ := strings.Cut(doc, "/")
		a := s.call(s.key, "GET", "/namespaces/"+space+"/documents/"+id, nil)
		switch {
		case a.Status == http.StatusOK && well:
			acknowledged[doc] = true
		case a.Status == http.StatusOK:
			kept[doc] = true
		case well:
			s.Errorf("%s: LOST: %s was acknowledged and is not there: %s", at.name, doc, a)
		}
	}
	switch {
	case at.name == "record" && len(kept) != 0:
		s.Errorf("%v is there, and its process died before the commit", kept)
	case at.name == "record, committed" && len(kept) > 1:
		s.Errorf("one process died in a commit, and %v are there without an answer", kept)
	}
	want := len(acknowledged) + len(kept)
	var messages []webhooktest.Message
	ids := map[string]int{}
	harness.EventuallySees(s, "everything is told", func() (bool, string) {
		messages = s.receiver.Taken()[before:]
		clear(ids)
		for _, m := range messages {
			ids[m.ID]++
		}
		pending := s.count("SELECT count(*) FROM deliveries WHERE status = 'pending'")
		fresh := s.count("SELECT count(*) FROM events WHERE seq IS NULL")
		claims := s.count("SELECT count(*) FROM claims WHERE name LIKE 'webhook/%'") // or the next step would go without one
		return len(ids) >= want && pending == 0 && fresh == 0 && claims == 0,
			fmt.Sprintf("%d of %d, %d pending, %d without a number, %d claims", len(ids), want, pending, fresh, claims)
	})
	var order []toldEvent // as they came first
	seen := map[string]bool{}
	for _, m := range messages {
		if seen[m.ID] {
			continue
		}
		seen[m.ID] = true
		e := toldEvent{ID: m.ID}
		if err := json.Unmarshal([]byte(m.Body), &e); err != nil {
			s.Fatal(err)
		}
		order = append(order, e)
	}
	told := s.told(at, "the receiver", order)
	twice, lost := 0, 0
	for _, n := range ids {
		twice += n - 1
	}
	for doc := range s.wrote {
		there := acknowledged[doc] || kept[doc]
		switch {
		case there && told[doc] == 0:
			lost++
		case !there && told[doc] > 0:
			s.Errorf("%s: %s is told of and is not there", at.name, doc)
		}
	}
	if twice != at.twice || lost != 0 {
		s.Errorf("%s: %d messages were taken twice, want %d, and %d lost", at.name, twice, at.twice, lost)
	}
	// A reader sees the same: each event has one number, in the order of its namespace.
	pulled := s.pulled()
	if len(pulled) != len(order) || len(s.told(at, "a reader", pulled)) != len(told) {
		s.Errorf("%s: a reader is told %v, the receiver %v", at.name, pulled, order)
	}
	if s.receiver.Refused() != 0 {
		s.Errorf("%d messages were not genuine", s.receiver.Refused())
	}
	return fmt.Sprintf("%s\t1\t%d\t%d\t%d\t%d\t%d\t%d", at.name, len(s.wrote), len(acknowledged), len(kept), len(ids), twice,
		lost), len(kept)
}

// told counts the documents that events tell of, each event once and a namespace's in order.
func (s *story) told(at step, by string, all []toldEvent) map[string]int {
	s.Helper()
	out, last, seen := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, e := range all {
		if seen[e.ID] || e.Data.Change <= last[e.Data.Namespace] {
			s.Errorf("%s: %s is told of %s, change %d of %s, after change %d", at.name, by, e.ID, e.Data.Change,
				e.Data.Namespace, last[e.Data.Namespace])
		}
		seen[e.ID], last[e.Data.Namespace] = true, e.Data.Change
		for _, id := range e.Data.IDs {
			out[e.Data.Namespace+"/"+id]++
		}
	}
	return out
}

// sqliteStore is a store in a folder. Its trigger never ends, and shows by the log of the
// database, which grows by what it writes.
type sqliteStore struct {
	t      *testing.T
	path   string
	before int64 // size of the log
}

const (
	spillRows, spillBytes = 512, 100_000
	spillShows            = 16 << 20 // of them; the rest may stay in the process's memory
)

func openSQLite(t *testing.T, dir string) *sqliteStore {
	t.Helper()
	return &sqliteStore{t: t, path: filepath.Join(dir, "mneme.db")}
}

// open is beside the server for a moment: a connection that stayed would keep for the next
// server what the dead one had in memory.
func (s *sqliteStore) open(fn func(*sql.DB) error) {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.path+"?_pragma=busy_timeout(60000)")
	if err != nil {
		s.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if err := errors.Join(fn(db), db.Close()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sqliteStore) exec(statements ...string) {
	s.t.Helper()
	s.open(func(db *sql.DB) error {
		for _, one := range statements {
			if _, err := db.ExecContext(s.t.Context(), one); err != nil {
				return fmt.Errorf("%s: %w", one, err)
			}
		}
		return nil
	})
}

func (s *sqliteStore) count(query string) (n int) {
	s.t.Helper()
	s.open(func(db *sql.DB) error { return db.QueryRowContext(s.t.Context(), query).Scan(&n) })
	return n
}

func (s *sqliteStore) size() int64 {
	f, err := os.Stat(s.path + "-wal")
	if err != nil {
		return 0
	}
	return f.Size()
}

func (s *sqliteStore) hold(at step) {
	s.t.Helper()
	when := ""
	if at.when != "" {
		when = "WHEN " + at.when
	}
	const endless = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
	s.exec("CREATE TABLE held_rows (b)", fmt.Sprintf(`CREATE TRIGGER held AFTER %s %s BEGIN
  INSERT INTO held_rows SELECT zeroblob(%d) FROM %s LIMIT %d);
  SELECT count(*) FROM %s);
END`, at.change, when, spillBytes, endless, spillRows, endless))
	s.before = s.size()
}

func (s *sqliteStore) held() (int, bool) { return 0, s.size() > s.before+spillShows }

func (s *sqliteStore) release(int) {
	s.t.Helper()
	if n := s.count("SELECT count(*) FROM held_rows"); n != 0 {
		s.t.Errorf("%d rows are there of a transaction whose process is dead", n)
	}
	s.exec("DROP TRIGGER held", "DROP TABLE held_rows")
}

// postgresStore is a store on a server. Its trigger waits for a lock that the test has, and the
// server says who does.
type postgresStore struct {
	t     *testing.T
	conn  *pgx.Conn
	table string // that the trigger is of
}

const heldLock = 471100

func openPostgres(t *testing.T, dsn string) *postgresStore {
	t.Helper()
	ctx := context.Background() // it is closed once the test's own is done
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(ctx) })
	s := &postgresStore{t: t, conn: conn}
	s.exec(fmt.Sprintf(`CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN PERFORM pg_advisory_xact_lock_shared(%d); RETURN NULL; END'`, heldLock))
	return s
}

func (s *postgresStore) exec(statements ...string) {
	s.t.Helper()
	for _, one := range statements {
		if _, err := s.conn.Exec(s.t.Context(), one); err != nil {
			s.t.Fatalf("%s: %v", one, err)
		}
	}
}

func (s *postgresStore) count(query string) (n int) {
	s.t.Helper()
	if err := s.conn.QueryRow(s.t.Context(), query).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (s *postgresStore) hold(at step) {
	s.t.Helper()
	kind, when, later := "TRIGGER", "", ""
	if at.when != "" {
		when = "WHEN (" + at.when + ")"
	}
	if at.committed {
		kind, later = "CONSTRAINT TRIGGER", "DEFERRABLE INITIALLY DEFERRED"
	}
	s.table = at.change[strings.LastIndexByte(at.change, ' ')+1:]
	s.exec(fmt.Sprintf("SELECT pg_advisory_lock(%d)", heldLock),
		fmt.Sprintf("CREATE %s held AFTER %s %s FOR EACH ROW %s EXECUTE FUNCTION held()", kind, at.change, later, when))
}

func (s *postgresStore) held() (replica int, ok bool) {
	s.t.Helper()
	var name string
	err := s.conn.QueryRow(s.t.Context(), `SELECT coalesce(min(a.application_name), '') FROM pg_locks l JOIN pg_stat_activity a
  ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.objid = $1 AND NOT l.granted AND a.datname = current_database()`,
		heldLock).Scan(&name)
	if err != nil {
		s.t.Fatal(err)
	}
	if name == "" {
		return 0, false
	}
	if _, err := fmt.Sscanf(name, "replica%d", &replica); err != nil {
		s.t.Fatalf("%q is held: %v", name, err)
	}
	return replica, true
}

func (s *postgresStore) release(replica int) {
	s.t.Helper()
	s.exec(fmt.Sprintf("SELECT pg_advisory_unlock(%d)", heldLock))
	harness.Eventually(s.t, "the server has ended what the dead process had begun", func() bool {
		return s.count(fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "+
			"application_name = 'replica%d'", replica)) == 0
	})
	s.exec("DROP TRIGGER held ON " + s.table)
}
