package installation_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// ruled is a data set that has everything that gives rights: a service key, an accepted
// write, a secret, and the keys of two administrators.
func ruled(t testing.TB) []byte {
	t.Helper()
	s, ctx := open(t), t.Context()
	bring(t, importer(t, s), sample(t))
	err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		orgs, err := w.Organizations(ctx)
		if err != nil {
			return err
		}
		at := time.Now()
		return errors.Join(
			w.PutKey(ctx, port.Key{ID: "key_2", Org: orgs[0].ID, Name: "root", Kind: ident.Admin, Hash: [32]byte{2},
				Scopes: []ident.Scope{ident.AllOrganizations}, CreatedAt: at}),
			w.PutKey(ctx, port.Key{ID: "key_3", Org: orgs[0].ID, Name: "ops", Kind: ident.Admin, Hash: [32]byte{3},
				CreatedAt: at}))
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := (&installation.Exporter{Store: s, Contents: everything}).Stream(ctx, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// bring imports a data set that has to be good.
func bring(t testing.TB, m *installation.Importer, set []byte) installation.Result {
	t.Helper()
	if _, err := m.Check(t.Context(), bytes.NewReader(set)); err != nil {
		t.Fatal(err)
	}
	result, err := m.Run(t.Context(), bytes.NewReader(set))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// A data set gives nobody rights unless it is asked for, and says which it has.
func TestAuthority(t *testing.T) {
	set := ruled(t)
	for name, c := range map[string]struct {
		installation.Authority
		keys              []string
		operation, secret bool
	}{
		"none":           {installation.Authority{}, nil, false, false},
		"keys":           {installation.Authority{Keys: true}, []string{"key_1"}, true, false},
		"administrators": {installation.Authority{AdminKeys: true}, []string{"key_2", "key_3"}, false, false},
		"secrets":        {installation.Authority{Secrets: true}, nil, false, true},
		"all":            {all, []string{"key_1", "key_2", "key_3"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			m := importer(t, s)
			m.Authority = c.Authority
			if result := bring(t, m, set); result.Imported != 1 || result.Documents != 1 || result.Keys != int64(len(c.keys)) {
				t.Errorf("%+v", result)
			}
			has := m.Rights()
			if has.Keys != 1 || has.Operations != 1 || !slices.Equal(has.Secrets, []string{"cursor"}) ||
				!slices.Equal(has.AdminKeys, []installation.AdminKey{
					{"key_2", "root", "default", true}, {"key_3", "ops", "default", false}}) {
				t.Errorf("it has %+v", has)
			}
			err := s.View(t.Context(), func(r port.Reader) error {
				orgs, err := r.Organizations(t.Context())
				if err != nil {
					return err
				}
				keys, err := r.Keys(t.Context(), orgs[0].ID, port.KeyList{Limit: 10})
				if err != nil {
					return err
				}
				var ids []string
				for _, k := range keys {
					ids = append(ids, k.ID)
				}
				slices.Sort(ids)
				if !slices.Equal(ids, c.keys) {
					t.Errorf("keys %v", ids)
				}
				if _, err := r.Job(t.Context(), orgs[0].ID, "op_1"); (err == nil) != c.operation {
					t.Errorf("accepted write: %v", err)
				}
				if _, err := r.Secret(t.Context(), "cursor"); (err == nil) != c.secret {
					t.Errorf("secret: %v", err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Lines that give rights which the header does not announce are refused before anything
// is written, whatever is asked for.
func TestRightsBeyondTheHeader(t *testing.T) {
	set := ruled(t)
	header := func(from, to string) func(kind, data string) string { return swap(dataset.KindHeader, from, to) }
	both := func(a, b func(kind, data string) string) func(kind, data string) string {
		return func(kind, data string) string { return b(kind, a(kind, data)) }
	}
	one := header(`"contents":{`, `"contents":{"organization":"default",`)
	for name, c := range map[string]struct {
		says   string
		change func(kind, data string) string
	}{
		"keys":    {"no line of kind key", header(`"keys":true`, `"keys":false`)},
		"secrets": {"no line of kind secret", header(`"secrets":true`, `"secrets":false`)},
		"a secret of one": {"no line of kind secret",
			both(one, swap(dataset.KindKey, `"scopes":["organizations:all"]`, `"scopes":[]`))},
		"all, in a set of one": {"key_2 administers every organization, in a data set of one",
			both(one, func(kind, data string) string { return data })},
		"another organization": {"in a data set of acme alone",
			header(`"contents":{`, `"contents":{"organization":"acme",`)},
		"all, of a service key": {"key_2 is no administrator's", swap(dataset.KindKey, `"kind":"admin"`, `"kind":"service"`)},
		"a key of no kind":      {"of no known kind", swap(dataset.KindKey, `"kind":"service"`, `"kind":"root"`)},
		"a secret of no name":   {`secret "other" is not known`, swap(dataset.KindSecret, `"name":"cursor"`, `"name":"other"`)},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			_, err := importer(t, s).Check(t.Context(), bytes.NewReader(relined(t, set, c.change)))
			var damaged *dataset.Damaged
			if !errors.As(err, &damaged) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Check: %v", err)
			}
		})
	}
	// An accepted write alone is beyond it, too.
	var bare bytes.Buffer
	for raw := range bytes.Lines(set) {
		if !bytes.HasPrefix(raw, []byte(`{"type":"key"`)) {
			bare.Write(raw)
		}
	}
	keyless := relined(t, bare.Bytes(), header(`"keys":true`, `"keys":false`))
	_, err := importer(t, open(t)).Check(t.Context(), bytes.NewReader(keyless))
	if err == nil || !strings.Contains(err.Error(), "no line of kind operation") {
		t.Errorf("Check: %v", err)
	}
}

// A key of the data set is not another one that is there, which could be widened by it.
func TestKeyOfAnotherKind(t *testing.T) {
	set, s := ruled(t), open(t)
	bring(t, importer(t, s), set)
	swapped := relined(t, set, swap(dataset.KindKey, `"kind":"service"`, `"kind":"integration"`))
	m := importer(t, s)
	m.Conflict = dataset.Replace
	var conflict *installation.Conflict
	if _, err := m.Check(t.Context(), bytes.NewReader(swapped)); !errors.As(err, &conflict) || conflict.What != "key key_1" {
		t.Errorf("Check: %v", err)
	}
}

// What is imported is what was checked: a file that was changed in between gives no rights.
func TestChangedSinceTheCheck(t *testing.T) {
	set, s := ruled(t), open(t)
	m := importer(t, s)
	if _, err := m.Check(t.Context(), bytes.NewReader(set)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(kind, data string) string{
		"a key":       swap(dataset.KindKey, `"name":"ops"`, `"name":"me"`),
		"the trailer": swap(dataset.KindHeader, `"program":""`, `"program":"x"`),
	} {
		_, err := m.Run(t.Context(), bytes.NewReader(relined(t, set, change)))
		if err == nil || !strings.Contains(err.Error(), "changed in the meantime") {
			t.Errorf("%s: %v", name, err)
		}
		err = s.View(t.Context(), func(r port.Reader) error {
			k, err := r.KeyByHash(t.Context(), [32]byte{3})
			if err == nil && k.Name == "me" {
				t.Errorf("%s: the other key is there", name)
			}
			if fault.CodeOf(err) == fault.NotFound {
				err = nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A file does not let a suspended organization work again; with its keys it does.
func TestSuspendedStaysSo(t *testing.T) {
	set, ctx := sample(t), t.Context()
	for name, keys := range map[string]bool{"without keys": false, "with keys": true} {
		s := open(t)
		bring(t, importer(t, s), set)
		var id ident.Org
		err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
			orgs, err := w.Organizations(ctx)
			if err != nil {
				return err
			}
			id, orgs[0].Suspended = orgs[0].ID, true
			return w.PutOrganization(ctx, orgs[0])
		})
		if err != nil {
			t.Fatal(err)
		}
		m := importer(t, s)
		m.Conflict, m.Authority = dataset.Replace, installation.Authority{Keys: keys}
		bring(t, m, set)
		err = s.View(ctx, func(r port.Reader) error {
			o, err := r.Organization(ctx, id)
			if o.Suspended == keys {
				t.Errorf("%s: suspended is %v", name, o.Suspended)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
