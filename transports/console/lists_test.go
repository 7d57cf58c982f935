package console_test

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// Long lists are paged through from any place, and no page grows with them. MNEME_CONSOLE_LISTS is how many
// documents there are in one namespace, with a tenth as many end users and, up to 10,000, namespaces: with 1000000
// the log tells how long pages take, and what they weigh with all that they load, compressed.
func TestLongLists(t *testing.T) {
	documents := 3000
	if n, err := strconv.Atoi(os.Getenv("MNEME_CONSOLE_LISTS")); err == nil {
		documents = n
	}
	s := serve(t, nil)
	org := s.key.Org
	chat, err := s.engine.Keys().Issue(t.Context(), key.Issue{Org: string(org), Kind: ident.Integration, Integration: "bot"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	row := port.PartitionRow{EmbeddingModel: s.embedder.Info().ID, EmbeddingDigest: s.embedder.Digest, Dimensions: 3,
		Chunker: "1"}
	notes := port.Documents(org, "many")
	for at := 0; at < documents; at += 1000 {
		err := s.store.UpdateDocuments(t.Context(), func(w port.DocumentWriter) error {
			if at == 0 {
				if _, err := w.CreatePartition(t.Context(), notes, row); err != nil {
					return err
				}
			}
			var batch []port.DocumentWrite
			for i := at; i < min(at+1000, documents); i++ {
				d := port.Document{ID: fmt.Sprintf("doc-%07d", i), Text: "A line of text.", CreatedAt: now}
				batch = append(batch, port.DocumentWrite{Document: d})
			}
			if _, err := w.PutDocuments(t.Context(), notes, now, batch); err != nil {
				return err
			}
			for i := at / 10; i < min(at+1000, documents)/10; i++ {
				p := port.Memories(org, chat.Integration, fmt.Sprintf("user-%06d", i))
				if _, err := w.CreatePartition(t.Context(), p, row); err != nil {
					return err
				}
				if i >= 10000 {
					continue
				}
				space := port.Documents(org, fmt.Sprintf("space-%05d", i))
				if _, err := w.CreatePartition(t.Context(), space, row); err != nil {
					return err
				}
				one := []port.DocumentWrite{{Document: port.Document{ID: "one", Text: "A line of text.", CreatedAt: now}}}
				if _, err := w.PutDocuments(t.Context(), space, now, one); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	b := s.signedIn(s.key.Secret)
	const o = "/console/o/default"
	middle := fmt.Sprintf("doc-%04d", documents/2000)
	spaces := min(10000, documents/10)
	last := fmt.Sprintf("space-%05d", spaces-1)
	for i := range documents / 1000 {
		name := fmt.Sprintf("assistant-%04d", i)
		if _, err := s.engine.Keys().CreateIntegration(t.Context(), string(org), name, key.IntegrationChange{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{o, o + "/n", o + "/n?prefix=" + last, o + "/n/many", o + "/n/many?order=updated_at",
		o + "/n/many?prefix=" + middle, o + "/n/" + last, o + "/n/" + last + "/upkeep", o + "/n/" + last + "/query?q=line",
		o + "/users", o + "/users?query=user-0001", o + "/integrations", o + "/usage", "/console/models"} {
		best := time.Duration(0)
		for range 5 {
			begun := time.Now()
			b.get(at).want(t, 200)
			if took := time.Since(begun); best == 0 || took < best {
				best = took
			}
		}
		weight := b.weight(at)
		if weight > heaviest {
			t.Errorf("%s weighs %d bytes", at, weight)
		}
		t.Logf("%-50s %v, %d bytes, of %d documents, %d end users and %d namespaces", at, best.Round(100*time.Microsecond),
			weight, documents, documents/10, spaces)
	}
	b.get(o+"/n?prefix="+last).want(t, 200, last)
	b.get(o+"/n/many?prefix="+middle).want(t, 200, middle)
	seen := 0
	for at, pages := o+"/users", 0; at != "" && pages < 3; pages++ {
		a := b.get(at).want(t, 200)
		seen += len(a.elements("tr")) - 1
		at = ""
		for _, n := range a.elements("a") {
			if rel, _ := attribute(n, "rel"); rel == "next" {
				next, _ := attribute(n, "href")
				to, err := url.Parse(next)
				if err != nil {
					t.Fatal(err)
				}
				at = a.Request.URL.ResolveReference(to).RequestURI()
			}
		}
	}
	if seen != 150 {
		t.Errorf("three pages show %d end users", seen)
	}
}
