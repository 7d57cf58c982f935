package namespace_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/dataset"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
)

// depot exports and imports namespaces of one organization, with the services that
// fill and search them.
type depot struct {
	*coretest.Fixture
	t          testing.TB
	ctx        context.Context
	settings   datasets.Settings // of over, beside what the fixture has
	transfers  *datasets.Service
	documents  *document.Service
	namespaces *namespace.Service
	queries    *query.Service
}

func open(t testing.TB, o coretest.Options) *depot {
	t.Helper()
	f := coretest.New(t, o)
	d := &depot{Fixture: f, t: t, ctx: f.Caller(key.Issue{})}
	d.transfers = d.over(f.Store)
	d.documents = services.Documents(f)
	d.namespaces = namespace.New(f.Store, f.Pages, f.Models, f.Projector.Drop)
	d.queries = services.Queries(f, nil)
	return d
}

// over is the service over a store.
func (d *depot) over(store port.Store) *datasets.Service {
	return datasets.New(datasets.Settings{
		Store:                store,
		Changes:              d.Changes,
		Encoders:             d.Encoders,
		WithConfiguredModels: d.Models.WithConfiguredModels,
		Program:              "test",
		MaxImport:            d.settings.MaxImport,
		Spool:                d.settings.Spool,
		Now:                  d.Now,
		Log:                  d.Log,
	})
}

func (d *depot) partition(ns string) port.Partition { return port.Documents(ident.From(d.ctx).Org, ns) }

// stream exports a namespace through a service.
func (d *depot) stream(s *datasets.Service, ns string, vectors bool) ([]byte, error) {
	d.t.Helper()
	o, err := d.Keys.Organization(d.ctx, string(ident.From(d.ctx).Org))
	if err != nil {
		d.t.Fatal(err)
	}
	x, err := s.Export(d.ctx, o, d.partition(ns), vectors)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = x.Stream(d.ctx, &out)
	return out.Bytes(), err
}

func (d *depot) export(ns string, vectors bool) []byte {
	d.t.Helper()
	set, err := d.stream(d.transfers, ns, vectors)
	if err != nil {
		d.t.Fatal(err)
	}
	return set
}

func (d *depot) bring(ns string, policy dataset.Policy, set []byte) (datasets.Imported, error) {
	return d.transfers.Import(d.ctx, d.partition(ns), datasets.How{Policy: policy}, bytes.NewReader(set))
}

// fail is an import that replaces nothing.
var fail = datasets.How{Policy: dataset.Fail}

// tally is what an import did with documents.
type tally struct{ created, replaced, unchanged, skipped, embedded int64 }

// brings imports a data set, which has to succeed with such counts.
func (d *depot) brings(ns string, policy dataset.Policy, set []byte, want tally) datasets.Imported {
	d.t.Helper()
	got, err := d.bring(ns, policy, set)
	if err != nil {
		d.t.Fatal(err)
	}
	if is := (tally{got.Created, got.Replaced, got.Unchanged, got.Skipped, got.Embedded}); is != want ||
		got.Documents != want.created+want.replaced+want.unchanged+want.skipped {
		d.t.Errorf("imported %+v of %d documents, want %+v", is, got.Documents, want)
	}
	return got
}

// refuses imports a data set, which has to fail.
func (d *depot) refuses(ns string, policy dataset.Policy, set []byte, code fault.Code, words ...string) {
	d.t.Helper()
	_, err := d.bring(ns, policy, set)
	if fault.CodeOf(err) != code {
		d.t.Errorf("%v, want %s", err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			d.t.Errorf("%v does not name %q", err, w)
		}
	}
}

// doc makes a document to write; metadata comes as JSON, "" for none.
func doc(id, text, metadata string) coretest.Object {
	d := coretest.Object{"id": id, "text": text}
	if metadata != "" {
		d["metadata"] = json.RawMessage(metadata)
	}
	return d
}

// corpus makes documents of several chunks, some without a text.
func corpus(n int) []coretest.Object {
	words := strings.Fields("lease rent flat bread salt dough kitchen crash reset harbour light password page link music " +
		"train ticket river stone garden winter paper copper signal engine window letter market bridge cotton silver")
	r := rand.New(rand.NewPCG(21, 22))
	sentence := func(n int) string {
		s := make([]string, n)
		for i := range s {
			s[i] = words[r.IntN(len(words))]
		}
		return strings.Join(s, " ") + "."
	}
	out := make([]coretest.Object, n)
	for i := range out {
		text := sentence(6 + r.IntN(10))
		for range r.IntN(4) {
			text += "\n\n" + sentence(3+r.IntN(10))
		}
		if i%17 == 16 {
			text = ""
		}
		out[i] = doc(fmt.Sprintf("d%03d", i), text, fmt.Sprintf(`{"parity":"%d","group":%d}`, i%2, i%40))
	}
	return out
}

func (d *depot) write(ns string, docs ...coretest.Object) {
	d.t.Helper()
	for part := range slices.Chunk(docs, 50) {
		coretest.Ask(d.ctx, d.t, d.documents.Write, coretest.Object{"documents": part},
			func(in *document.WriteDocuments) { in.Namespace = ns }).OK()
	}
}

func (d *depot) remove(ns string, ids ...string) {
	d.t.Helper()
	coretest.Ask(d.ctx, d.t, d.documents.Delete, coretest.Object{"ids": ids},
		func(in *document.DeleteDocuments) { in.Namespace = ns }).OK()
}

func (d *depot) create(ns string, sparse bool) {
	d.t.Helper()
	coretest.Ask(d.ctx, d.t, d.namespaces.Create, coretest.Object{"name": ns, "sparse": sparse}).OK()
}

// stored is every document of a namespace as it is read, by id; nil when it is absent.
func (d *depot) stored(ns string) (out []string) {
	d.t.Helper()
	r := coretest.Ask(d.ctx, d.t, d.documents.List, coretest.Object{},
		func(in *document.ListDocuments) { in.Namespace, in.Limit = ns, new(1000) })
	if r.Err != nil {
		r.Fails("namespace_not_found")
		return nil
	}
	for _, id := range coretest.Column(r.List("documents"), "id") {
		out = append(out, string(d.get(ns, id).Body))
	}
	return out
}

func (d *depot) get(ns, id string) *coretest.Reply {
	d.t.Helper()
	return coretest.Ask(d.ctx, d.t, d.documents.Get, coretest.Object{},
		func(in *document.GetDocument) { in.Namespace, in.ID = ns, id }).OK()
}

// find queries a namespace and answers the documents of its hits, in order.
func (d *depot) find(ns string, q coretest.Object) []string {
	d.t.Helper()
	r := coretest.Ask(d.ctx, d.t, d.queries.Query, q, func(in *query.Request) { in.Namespace = ns }).OK()
	return coretest.Column(r.List("results"), "document_id")
}

// edit makes the lines that stand in the place of one; none: it is left out.
type edit func(kind string, data []byte) [][2]string

// relined changes lines of a data set and gives them hashes that fit: those of a
// namespace are summed up from its first line to the one before its end.
func relined(t testing.TB, set []byte, change edit) []byte {
	t.Helper()
	var out bytes.Buffer
	var chain [32]byte
	sum, lines := sha256.New(), int64(0)
	altered := func(data string, into any, alter func()) string {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		alter()
		b, err := json.Marshal(into)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for raw := range bytes.Lines(set) {
		var l struct {
			Type string          `json:"type"`
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		for _, made := range change(l.Type, l.Data) {
			kind, data := made[0], made[1]
			switch kind {
			case dataset.KindEnd:
				var e dataset.End
				data = altered(data, &e, func() { e.Hash = dataset.Digest(sum.Sum(nil)) })
			case dataset.KindTrailer:
				var last dataset.Trailer
				data = altered(data, &last, func() { last.Lines = lines })
			}
			hash := sha256.Sum256([]byte(kind + "\n" + data))
			chain = sha256.Sum256(append(chain[:], hash[:]...))
			text := base64.RawURLEncoding.EncodeToString
			out.WriteString(`{"type":"` + kind + `","data":` + data + `,"hash":"` + text(hash[:]) + `","chain":"` +
				text(chain[:]) + "\"}\n")
			if sum.Write(hash[:]); kind == dataset.KindPartition {
				sum.Reset()
			}
			lines++
		}
	}
	return out.Bytes()
}

// swap replaces a text in the lines of a kind.
func swap(kind, from, to string) edit {
	return func(k string, data []byte) [][2]string {
		if k == kind {
			data = bytes.Replace(data, []byte(from), []byte(to), 1)
		}
		return [][2]string{{k, string(data)}}
	}
}

// follow puts a line after those of a kind.
func follow(kind, more, line string) edit {
	return func(k string, data []byte) [][2]string {
		out := [][2]string{{k, string(data)}}
		if k == kind {
			out = append(out, [2]string{more, line})
		}
		return out
	}
}

// failing puts an error line in the place of the end.
func failing(kind string, data []byte) [][2]string {
	switch kind {
	case dataset.KindEnd:
		return [][2]string{{dataset.KindError, `{"code":"internal_error","message":"the disk is gone"}`}}
	case dataset.KindTrailer:
		return nil
	}
	return [][2]string{{kind, string(data)}}
}

// twice adds a second namespace.
func twice() edit {
	var org struct{ ID string }
	return func(kind string, data []byte) [][2]string {
		out := [][2]string{{kind, string(data)}}
		switch kind {
		case dataset.KindOrganization:
			_ = json.Unmarshal(data, &org) // of an export
		case dataset.KindEnd:
			out = append(out, [2]string{dataset.KindPartition,
				`{"organization":"` + org.ID + `","space":"documents","name":"two"}`})
		}
		return out
	}
}
