package namespace_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
)

// TestNames: what is no name is refused by every call, and nothing is made of it.
func TestNames(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{})
	for _, name := range []string{
		"", "Docs", "a b", "-a", "_a", "a/b", "default/shared", "a.b", "ä", "a\x00", "..", strings.Repeat("a", 65),
	} {
		c.create(coretest.Object{"name": name}).Fails("invalid_namespace", "name")
		c.get(name).Fails("invalid_namespace", "namespace")
		c.remove(name).Fails("invalid_namespace", "namespace")
	}
	for _, name := range []string{"a", "0", "a-_0", strings.Repeat("a", 64)} {
		c.create(coretest.Object{"name": name}).OK()
		c.write(name, "a", "x")
		if got := c.get(name).OK().JSON["name"]; got != name {
			t.Errorf("%s is read as %v", name, got)
		}
	}
	if got := c.names(); len(got) != 4 {
		t.Errorf("there are %v", got)
	}
}

// TestModelIdentity: a namespace keeps the identity of the models that made its
// vectors, whatever is configured later, until it is deleted.
func TestModelIdentity(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
	c.create(coretest.Object{"name": "docs", "sparse": true}).OK()
	c.write("docs", "a", "one text")
	before := c.get("docs").OK()
	c.Close()

	c = open(t, coretest.Options{Dir: c.Dir, Embedder: &coretest.Embedder{Digest: "sha256:test-embedder-2"}})
	if after := c.get("docs").OK(); string(after.Body) != string(before.Body) {
		t.Errorf("under other models %s, was %s", after.Body, before.Body)
	}
	if listed := c.list().OK().List("namespaces")[0]; listed["embedding_digest"] != "sha256:test-embedder-1" ||
		listed["sparse_model"] != "test-sparse" {
		t.Errorf("listed as %v", listed)
	}
	if r := c.create(coretest.Object{"name": "docs", "sparse": true}).OK(); r.JSON["sparse"] != true {
		t.Errorf("created again: %s", r.Body)
	}
	if got := c.get("docs").OK().JSON["embedding_digest"]; got != "sha256:test-embedder-1" {
		t.Errorf("creating again changed the identity to %v", got)
	}
	c.remove("docs").OK()
	c.write("docs", "a", "one text")
	if n := c.get("docs").OK(); n.JSON["embedding_digest"] != "sha256:test-embedder-2" || n.JSON["sparse_model"] != nil {
		t.Errorf("a new life has the identity of the old: %s", n.Body)
	}
}

// TestOrganizations: the same name in another organization is another namespace.
func TestOrganizations(t *testing.T) {
	t.Parallel()
	one := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
	two := one.as(one.Caller(key.Issue{Org: "two"}))
	one.write("shared", "a", "of one")
	two.absent("shared")
	if r := two.remove("shared").OK(); r.JSON["deleted"] != false {
		t.Errorf("another organization's namespace is deleted: %s", r.Body)
	}
	two.create(coretest.Object{"name": "shared", "sparse": true}).OK() // no conflict with that of one
	two.write("shared", "b", "of the second")
	for of, want := range map[*catalog]float64{one: 6, two: 13} {
		if n := of.get("shared").OK(); n.Number("documents") != 1 || n.Number("bytes") != want {
			t.Errorf("%s, want %v bytes", n.Body, want)
		}
		if got := of.names(); !slices.Equal(got, []string{"shared"}) {
			t.Errorf("listed %v", got)
		}
	}
	if r := two.remove("shared").OK(); r.JSON["deleted"] != true {
		t.Errorf("its own namespace: %s", r.Body)
	}
	two.absent("shared")
	one.get("shared").OK()
}

// TestCreatedByOne: of many who create a namespace at once, all are told that it is
// there, or that it has the other index; none sees an error of the store.
func TestCreatedByOne(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
	answers := make(chan error, 40)
	for i := range cap(answers) {
		go func() {
			in := namespace.CreateNamespace{Name: "docs", Sparse: i%2 == 0}
			_, err := coretest.Call(c.ctx, c.namespaces.Create, in)
			answers <- err
		}()
	}
	made, conflicts := 0, 0
	for range cap(answers) {
		switch err := <-answers; {
		case err == nil:
			made++
		case strings.HasPrefix(err.Error(), "conflict"):
			conflicts++
		default:
			t.Error(errors.Unwrap(err), err)
		}
	}
	if made != 20 || conflicts != 20 {
		t.Errorf("%d were told that it is there, %d that it has the other index", made, conflicts)
	}
}

// TestOperations: what the table of operations says of each, which limits and rates
// go by.
func TestOperations(t *testing.T) {
	type declared struct {
		name, method, path string
		class              op.Class
		mutates            bool
		body               int64
		timeout            time.Duration
	}
	const one = "/namespaces/{namespace}"
	want := []declared{
		{"namespaces.create", "POST", "/namespaces", op.Write, true, 65536, 30 * time.Second},
		{"namespaces.list", "GET", "/namespaces", op.Read, false, 0, 5 * time.Second},
		{"namespaces.get", "GET", one, op.Read, false, 0, 5 * time.Second},
		{"namespaces.delete", "DELETE", one, op.Write, true, 0, 2 * time.Minute},
	}
	var got []declared
	for _, o := range namespace.Operations() {
		s := o.Spec
		got = append(got, declared{s.Name, s.Method, s.Path, s.Class, s.Mutates, s.MaxBody, s.Timeout})
	}
	if !slices.Equal(got, want) {
		t.Errorf("declared %+v\nwant %+v", got, want)
	}
}
