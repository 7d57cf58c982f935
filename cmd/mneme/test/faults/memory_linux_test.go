package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// memorySite is a site whose key is an integration's, without limits.
func memorySite(t testing.TB) *site {
	t.Helper()
	s := newSite(t, "", smallIndex)
	s.key = s.Key("--type", "integration", "--name", "chat", "--scopes",
		"memories:read,memories:write,users:erase",
		"--memories-per-user", "0", "--read-rate", "0", "--write-rate", "0")
	return s
}

// traces finds which of the texts the files of a data folder hold.
func traces(t testing.TB, dir string, texts []string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if at := bytes.Index(b, []byte(text)); at >= 0 {
				found[text] = fmt.Sprintf("%s at %d: %q", path, at, b[max(0, at-60):min(len(b), at+60)])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestErasureAcrossKills erases one end user in a loop while clients write to
// it, and kills the process at random points. What was written before an
// erasure that was answered 200 is in no file from then on; an erasure that was
// not answered is finished by the next process.
func TestErasureAcrossKills(t *testing.T) {
	s := memorySite(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	const users, user = "/api/v1/users/", "ann"
	var erased []string // markers of what was erased and answered
	answered, unanswered := 0, 0
	all := harness.Rounds(t, 12, 3)
	for round := 0; round < all || answered == 0 && round < all+20; round++ { // a slow machine answers none in some
		p := s.start()
		ctx, cancel := context.WithCancel(context.Background())
		var stop atomic.Bool
		var wg sync.WaitGroup
		noise := fmt.Sprintf("zqxnoise%dx", round)
		for w := range 3 { // these never wait for an erasure
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := 0; !stop.Load(); i++ {
					text := fmt.Sprintf("%s said %d of %d. ", noise, i, w)
					a, err := p.Ask(ctx, "POST", "/api/v1/memories/batch",
						object{"endUserId": user, "memories": []object{{"content": text}, {"content": text + text}}})
					if err == nil && a.Status != 200 && (a.Status != 503 || a.Header.Get("Retry-After") == "") {
						t.Errorf("write: %s", a)
					}
					if w == 0 {
						a, err = p.Ask(ctx, "PUT", fmt.Sprintf("/api/v1/memories/r%d", i%3),
							object{"endUserId": user, "source": "crm", "version": i + 1, "content": text,
								"occurredAt": "2026-01-02T03:04:05Z"})
						if err == nil && a.Status >= 500 && a.Status != 503 {
							t.Errorf("upsert: %s", a)
						}
					}
				}
			}()
		}
		wg.Add(1)
		go func() { // writes, waits for the answers, erases
			defer wg.Done()
			for i := 0; !stop.Load(); i++ {
				mark := fmt.Sprintf("zqxerased%dx%dx", round, i)
				var list []object
				for k := range 6 {
					list = append(list, object{"content": fmt.Sprintf("%s tells part %d of a story. ", mark, k),
						"metadata": object{"of": mark}})
				}
				if _, err := p.Ask(ctx, "POST", "/api/v1/memories/batch", object{"endUserId": user, "memories": list},
					"Idempotency-Key", mark); err != nil {
					return
				}
				a, err := p.Ask(ctx, "DELETE", users+user, nil)
				if err != nil {
					unanswered++
					return
				}
				if a.Status != 200 {
					t.Errorf("erase: %s", a)
					return
				}
				answered++
				erased = append(erased, mark)
			}
		}()
		time.Sleep(300*time.Millisecond + time.Duration(rng.IntN(1500))*time.Millisecond)
		p.Kill()
		stop.Store(true)
		cancel()
		wg.Wait()
		if found := traces(t, s.Data, erased); len(found) != 0 {
			t.Fatalf("round %d: after the kill %v are in files although their erasure was answered", round, found)
		}
		// The next process finishes what was begun, and its own erasure leaves
		// nothing of anybody.
		p = s.start()
		harness.EventuallySees(t, "writes are taken again", func() (bool, string) {
			a := p.Call("POST", "/api/v1/memories", object{"endUserId": user, "content": noise + " is back."})
			return a.Status == 200, a.String()
		})
		p.OK("DELETE", users+user, nil)
		if found := traces(t, s.Data, append([]string{noise, fmt.Sprintf("zqxerased%dx", round)}, erased...)); len(found) != 0 {
			t.Fatalf("round %d: %v are in files after the erasure", round, found)
		}
		var list struct{ Memories []object }
		p.OK("GET", "/api/v1/memories?endUserId="+user, nil).Into(&list)
		if len(list.Memories) != 0 {
			t.Fatalf("round %d: %d memories after the erasure", round, len(list.Memories))
		}
		p.Kill()
	}
	t.Logf("%d erasures answered, %d killed", answered, unanswered)
	if answered == 0 {
		t.Error("no erasure was answered: the test shows nothing")
	}
}

// TestReceiptsAcrossKills kills the process while versions are written: every
// version that was answered is there with its receipt, and what the record says
// is what a search finds.
func TestReceiptsAcrossKills(t *testing.T) {
	s := memorySite(t)
	type applied struct {
		Record, Receipt struct {
			Version                           int64
			Status, ContentHash, DocumentID   string
			Operation, Outcome, RequestHash   string
			OccurredAt, AppliedAt, ExternalID string
			Source                            string
			UpdatedAt                         string
		}
	}
	type fate struct {
		acked, sent int64
		answer      applied
	}
	const records = 8
	fates := map[string]*fate{}
	for i := range records {
		fates[fmt.Sprintf("r%d", i)] = &fate{}
	}
	path := func(id string) string { return "/api/v1/memories/" + id + "?endUserId=ann&source=crm" }
	body := func(id string, v int64) object {
		return object{"endUserId": "ann", "source": "crm", "version": v,
			"content": fmt.Sprintf("Record %s has version %d.", id, v), "occurredAt": "2026-01-02T03:04:05Z"}
	}
	acked, all := 0, harness.Rounds(t, 10, 3)
	for round := 0; round < all || acked == 0 && round < all+20; round++ { // a slow machine answers none in some
		p := s.start()
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for id, f := range maps.All(fates) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for {
					f.sent++
					var a harness.Answer
					var err error
					if f.sent%4 == 0 {
						a, err = p.Ask(ctx, "DELETE",
							path(id)+fmt.Sprintf("&version=%d&occurredAt=2026-01-02T03:04:05Z", f.sent), nil)
					} else {
						a, err = p.Ask(ctx, "PUT", "/api/v1/memories/"+id, body(id, f.sent))
					}
					if err != nil {
						return
					}
					if a.Status != 200 {
						t.Errorf("%s version %d: %s", id, f.sent, a)
						return
					}
					f.acked, f.answer = f.sent, applied{}
					if err := json.Unmarshal(a.Body, &f.answer); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		time.Sleep(200*time.Millisecond + time.Duration(rand.IntN(600))*time.Millisecond)
		p.Kill()
		cancel()
		wg.Wait()
		p = s.start()
		live := 0
		for id, f := range fates {
			if f.acked > 0 {
				acked++
			} else if p.Call("GET", path(id), nil).Status == 404 {
				continue // never answered, nor stored
			}
			var got applied
			p.OK("GET", path(id), nil).Into(&got)
			v := got.Record.Version
			if v < f.acked || v > f.sent || got.Receipt.Version != v || got.Record.ContentHash != got.Receipt.ContentHash {
				t.Fatalf("round %d: %s has version %d with a receipt of %d; %d was answered, %d was sent", round, id, v,
					got.Receipt.Version, f.acked, f.sent)
			}
			if v == f.acked && got != f.answer {
				t.Fatalf("round %d: %s answers %+v, was answered %+v", round, id, got, f.answer)
			}
			if got.Record.Status == "active" {
				live++
				if v%4 != 0 { // the same request again answers the same
					a := p.Call("PUT", "/api/v1/memories/"+id, body(id, v))
					var again applied
					if err := json.Unmarshal(a.Body, &again); err != nil ||
						a.Header.Get("Idempotent-Replayed") != "true" || again != got {
						t.Fatalf("round %d: %s repeated: %s", round, id, a)
					}
				}
				var found struct {
					Results []struct{ ID, MatchedContent string }
				}
				p.OK("POST", "/api/v1/search",
					object{"endUserId": "ann", "query": fmt.Sprintf("record %s version %d", id, v), "limit": 100}).Into(&found)
				seen := false
				for _, r := range found.Results {
					if r.ID == got.Record.DocumentID {
						seen = r.MatchedContent == body(id, v)["content"]
					}
				}
				if !seen {
					t.Fatalf("round %d: %s version %d is not found: %+v", round, id, v, found)
				}
			}
		}
		var list struct{ Memories []object }
		p.OK("GET", "/api/v1/memories?limit=100&endUserId=ann", nil).Into(&list)
		if len(list.Memories) != live {
			t.Fatalf("round %d: %d memories of %d live records", round, len(list.Memories), live)
		}
		p.Kill()
	}
	if acked == 0 {
		t.Error("no version was answered: the test shows nothing")
	}
}
