package installation

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Authority says which lines of a data set that give rights are imported. Anyone who can
// write a file can put such lines into it, so its zero value takes none of them.
type Authority struct {
	Keys      bool // API keys without those of administrators, and accepted writes that are not done yet
	AdminKeys bool // keys of administrators
	Secrets   bool // what signs cursors and OAuth sessions
}

// takes reports whether a key is imported.
func (a Authority) takes(k dataset.Key) bool {
	if k.Kind == ident.Admin {
		return a.AdminKeys
	}
	return a.Keys
}

// Rights are what a data set has that gives rights, whether it is imported or not.
type Rights struct {
	Keys       int64 // without those of administrators
	Operations int64 // accepted writes that are not done yet
	AdminKeys  []AdminKey
	Secrets    []string // names
}

// AdminKey is a key of an administrator.
type AdminKey struct {
	ID, Name         string
	Organization     string // its name in the data set
	AllOrganizations bool   // it administers every organization
}

// Rights are those of the data set that Check has read.
func (m *Importer) Rights() Rights { return m.rights }

// Chain is the running hash of the data set that Check has read.
func (m *Importer) Chain() string { return m.chain }

// givesRights reports whether a line of this kind does.
func givesRights(kind string) bool {
	return kind == dataset.KindKey || kind == dataset.KindOperation || kind == dataset.KindSecret
}

// checkRights refuses a line that gives rights which a data set of its header can't have,
// and notes the others. Lines of other kinds pass.
func (m *Importer) checkRights(l dataset.Line) error {
	has := m.header.Contents
	if givesRights(l.Kind) {
		m.checked[l.Hash] = true
	}
	switch l.Kind {
	case dataset.KindOrganization:
		return decodeLine(l, func(o dataset.Organization) error {
			m.named = o.Name
			if only := has.Organization; only != "" && only != o.Name && only != string(o.ID) {
				return fmt.Errorf("it is of organization %s, in a data set of %s alone", o.Name, only)
			}
			return nil
		})
	case dataset.KindKey:
		return decodeLine(l, func(k dataset.Key) error { return m.noteKey(has, k) })
	case dataset.KindOperation:
		m.rights.Operations++
		if !has.Keys {
			return undeclared(l.Kind)
		}
	case dataset.KindSecret:
		return decodeLine(l, func(v dataset.Secret) error {
			switch {
			case !has.Secrets || has.Organization != "":
				return undeclared(l.Kind)
			case !slices.Contains(secretNames[:], v.Name):
				return fmt.Errorf("a secret %q is not known", fault.Clip(v.Name))
			}
			m.rights.Secrets = append(m.rights.Secrets, v.Name)
			return nil
		})
	}
	return nil
}

func undeclared(kind string) error {
	return fmt.Errorf("its header says that it holds no line of kind %s", kind)
}

func (m *Importer) noteKey(has dataset.Contents, k dataset.Key) error {
	all := slices.Contains(k.Scopes, ident.AllOrganizations)
	switch {
	case !has.Keys:
		return undeclared(dataset.KindKey)
	case k.Kind.Prefix() == "":
		return fmt.Errorf("key %s is of no known kind", fault.Clip(k.ID))
	case all && has.Organization != "":
		return fmt.Errorf("key %s administers every organization, in a data set of one", fault.Clip(k.ID))
	case all && k.Kind != ident.Admin:
		return fmt.Errorf("key %s is no administrator's and administers every organization", fault.Clip(k.ID))
	case k.Kind == ident.Admin:
		m.rights.AdminKeys = append(m.rights.AdminKeys, AdminKey{k.ID, k.Name, m.named, all})
	default:
		m.rights.Keys++
	}
	return nil
}

// checkKey looks whether a key that is to be imported is there as another one.
func (m *Importer) checkKey(ctx context.Context, org ident.Org, k dataset.Key) error {
	if _, known := m.apps[integrationKey(org, k.Integration)]; k.Integration != "" && !known {
		return fmt.Errorf("key %s is of an integration that does not come before it", k.ID)
	}
	if !m.Authority.takes(k) {
		return nil
	}
	return m.Store.View(ctx, func(r port.Reader) error {
		there, err := r.KeyByHash(ctx, k.Hash)
		if err == nil && m.another(there, org, k) {
			return &Conflict{"key " + k.ID}
		}
		return ignoreCode(err, fault.NotFound)
	})
}

// another reports whether a stored key is not the one of the data set that has its secret.
func (m *Importer) another(there port.Key, org ident.Org, k dataset.Key) bool {
	return there.ID != k.ID || there.Org != m.orgs[org] || there.Kind != k.Kind
}
