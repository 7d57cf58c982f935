package registry

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sort"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// Stability says what an operator may expect of a component.
type Stability string

// The levels.
const (
	Experimental Stability = "experimental" // may change or go in any release
	Beta         Stability = "beta"         // complete; its settings may still change
	Stable       Stability = "stable"       // changes only with a deprecation
)

// Env is all that a component may reach beside its configuration.
type Env struct {
	Log     *slog.Logger
	DataDir string // durable data; exists and is locked by this process, or shared by agreement of the component
	// another process serves DataDir: no lock and no background work; for a store, keys, data keys and organizations only
	Shared   bool
	CacheDir string           // may be emptied at any time while nothing runs
	Name     string           // what the operator calls this part, e.g. a model's name; the component's name if none
	Now      func() time.Time // the clock
	Store    port.Store       // of a limiter: the open system of record, which outlives it; else nil
	Reach    Reach            // of a connector: what it may do; else zero
	Sparing  bool             // there is little memory: hold none that only a call needs which may never come
}

// Reach is what the operator lets every connector do.
type Reach struct {
	Directories []string // folders below which files may be read
	Private     []string // networks that may be reached beside public addresses at ports 80 and 443, as in "10.0.0.0/8:443"
	SSHHosts    []string // lines as in a known_hosts file: hosts that may be reached over SSH, with their keys
	MaxItem     int64    // bytes of an item; never 0
	UserAgent   string   // of requests over HTTP
}

// Component is one implementation of port P, configured by struct C.
type Component[P, C any] struct {
	Name       string // the configuration key, lower_snake_case
	Summary    string // one line
	Stability  Stability
	Retrievers []port.Retriever // of an index: what it can serve; else nil
	Default    func() C         // C is a struct with yaml and help tags; see Fields. It may have Validate() error
	Open       func(ctx context.Context, cfg C, env Env) (P, error)
	// Migrate brings the schema of what the component keeps up to date, as Open may
	// do, too, or with dry only looks at it. nil: it has none.
	Migrate func(ctx context.Context, cfg C, env Env, dry bool) (Migration, error)
	// Look reports what is wrong with what the component keeps, as far as it shows without
	// opening it: it changes nothing, and may run beside a process that has it open. nil: nothing shows.
	Look func(ctx context.Context, cfg C, env Env) error
	// Restore fills what the component keeps with the rows of a backup. Where there is anything already
	// the error is of code Conflict. Until all is stored there is nothing. nil: it takes none.
	Restore func(ctx context.Context, cfg C, env Env, from port.Restoring) error
	// Isolate gives the component's data in a server a name of its own; see
	// Kind.Isolate. nil: the component keeps nothing outside Env.DataDir.
	Isolate func(cfg C, name string) Isolation[C]
}

// Migration is the present and the known version of a component's schema, or the step
// that was made.
type Migration struct {
	From int // 0: there was nothing yet
	To   int // that this program has
}

// Selection is a component chosen by name and its configuration.
type Selection struct {
	Component string
	Config    any // *C of that component
}

// Info describes a component without its types.
type Info struct {
	Name       string
	Summary    string
	Stability  Stability
	Retrievers []port.Retriever
	fields     []Field
	fresh      func() any
}

// Fields lists the settings of the component's configuration.
func (i Info) Fields() []Field { return i.fields }

// Select is the component with its default configuration.
func (i Info) Select() Selection { return Selection{Component: i.Name, Config: i.fresh()} }

// Table is a Kind without its port type, as configuration sees it.
type Table interface {
	Kind() string
	Components() []Info // by name
	Component(name string) (Info, bool)
}

// Kind is the table of the components that implement port P.
type Kind[P any] struct {
	name       string
	components map[string]component[P]
}

type component[P any] struct {
	info Info
	open func(ctx context.Context, cfg any, env Env) (P, error)
	// migrate is nil where the component has no schema.
	migrate func(ctx context.Context, cfg any, env Env, dry bool) (Migration, error)
	// look is nil where nothing shows.
	look func(ctx context.Context, cfg any, env Env) error
	// restore is nil where the component takes no backup.
	restore func(ctx context.Context, cfg any, env Env, from port.Restoring) error
	// isolate is nil where the component keeps nothing outside Env.DataDir. Its
	// result has no Selection.Component.
	isolate func(cfg any, name string) (Isolated, error)
}

// Kind is the table's name: storage, index, model, limit, source, source_plugin or extractor.
func (k *Kind[P]) Kind() string { return k.name }

// Components lists what the table holds, by name.
func (k *Kind[P]) Components() []Info {
	all := make([]Info, 0, len(k.components))
	for _, c := range k.components {
		all = append(all, c.info)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// Component finds a component by name.
func (k *Kind[P]) Component(name string) (Info, bool) {
	c, ok := k.components[name]
	return c.info, ok
}

// Open opens the selected component.
func (k *Kind[P]) Open(ctx context.Context, s Selection, env Env) (P, error) {
	var none P
	c, ok := k.components[s.Component]
	if !ok {
		return none, fmt.Errorf("%s: this binary has no component %q", k.name, s.Component)
	}
	if env.Name == "" {
		env.Name = s.Component
	}
	p, err := c.open(ctx, s.Config, env)
	if err != nil {
		return none, fmt.Errorf("open %s %s: %w", k.name, env.Name, err)
	}
	return p, nil
}

// Migrate brings the schema of the selected component up to date, or with dry
// only looks at it; ok is false when the component has none.
func (k *Kind[P]) Migrate(ctx context.Context, s Selection, env Env, dry bool) (m Migration, ok bool, err error) {
	c, known := k.components[s.Component]
	if !known {
		return m, false, fmt.Errorf("%s: this binary has no component %q", k.name, s.Component)
	}
	if c.migrate == nil {
		return m, false, nil
	}
	if env.Name == "" {
		env.Name = s.Component
	}
	if m, err = c.migrate(ctx, s.Config, env, dry); err != nil {
		doing := "migrate"
		if dry {
			doing = "read the schema of"
		}
		return m, true, fmt.Errorf("%s %s %s: %w", doing, k.name, env.Name, err)
	}
	return m, true, nil
}

// Look asks the selected component what is wrong with what it keeps; see Component.Look.
func (k *Kind[P]) Look(ctx context.Context, s Selection, env Env) error {
	c, known := k.components[s.Component]
	if !known {
		return fmt.Errorf("%s: this binary has no component %q", k.name, s.Component)
	}
	if c.look == nil {
		return nil
	}
	if env.Name == "" {
		env.Name = s.Component
	}
	if err := c.look(ctx, s.Config, env); err != nil {
		return fmt.Errorf("look at %s %s: %w", k.name, env.Name, err)
	}
	return nil
}

// Restore fills the selected component with the rows of a backup; see Component.Restore.
func (k *Kind[P]) Restore(ctx context.Context, s Selection, env Env, from port.Restoring) error {
	c, known := k.components[s.Component]
	if !known {
		return fmt.Errorf("%s: this binary has no component %q", k.name, s.Component)
	}
	if c.restore == nil {
		return fmt.Errorf("%s %s takes no backup", k.name, s.Component)
	}
	if env.Name == "" {
		env.Name = s.Component
	}
	if err := c.restore(ctx, s.Config, env, from); err != nil {
		return fmt.Errorf("restore %s %s: %w", k.name, env.Name, err)
	}
	return nil
}

// typed is a component's own configuration.
func typed[C any](cfg any) (*C, error) {
	t, ok := cfg.(*C)
	if !ok || t == nil {
		return nil, fmt.Errorf("configuration is %T, want %T", cfg, t)
	}
	return t, nil
}

// Add puts a component into a table. It panics on a name used twice and on a
// configuration struct that breaks the rules of Fields: both are mistakes in
// the program.
func Add[P, C any](k *Kind[P], c Component[P, C]) {
	where := k.name + "." + c.Name
	if !snakeCase.MatchString(c.Name) {
		panic(fmt.Sprintf("registry: %s: the name is not lower_snake_case", where))
	}
	if _, used := k.components[c.Name]; used {
		panic(fmt.Sprintf("registry: %s is added twice", where))
	}
	if c.Summary == "" || c.Stability == "" || c.Default == nil || c.Open == nil {
		panic(fmt.Sprintf("registry: %s: Summary, Stability, Default and Open are all needed", where))
	}
	fields, err := Fields(reflect.TypeFor[C]())
	if err != nil {
		panic(fmt.Sprintf("registry: %s: %v", where, err))
	}
	if err := refuseSelections(fields); err != nil {
		panic(fmt.Sprintf("registry: %s: %v", where, err))
	}
	row := component[P]{
		info: Info{
			Name: c.Name, Summary: c.Summary, Stability: c.Stability, Retrievers: slices.Clone(c.Retrievers),
			fields: fields,
			fresh:  func() any { v := c.Default(); return &v },
		},
		open: func(ctx context.Context, cfg any, env Env) (P, error) {
			own, err := typed[C](cfg)
			if err != nil {
				var none P
				return none, err
			}
			return c.Open(ctx, *own, env)
		},
	}
	if c.Migrate != nil {
		row.migrate = func(ctx context.Context, cfg any, env Env, dry bool) (Migration, error) {
			own, err := typed[C](cfg)
			if err != nil {
				return Migration{}, err
			}
			return c.Migrate(ctx, *own, env, dry)
		}
	}
	if c.Look != nil {
		row.look = func(ctx context.Context, cfg any, env Env) error {
			own, err := typed[C](cfg)
			if err != nil {
				return err
			}
			return c.Look(ctx, *own, env)
		}
	}
	if c.Restore != nil {
		row.restore = func(ctx context.Context, cfg any, env Env, from port.Restoring) error {
			own, err := typed[C](cfg)
			if err != nil {
				return err
			}
			return c.Restore(ctx, *own, env, from)
		}
	}
	if c.Isolate != nil {
		row.isolate = func(cfg any, name string) (Isolated, error) {
			own, err := typed[C](cfg)
			if err != nil {
				return Isolated{}, err
			}
			i := c.Isolate(*own, name)
			return Isolated{Selection: Selection{Config: &i.Config}, Drop: i.Drop, Usage: i.Usage}, nil
		}
	}
	k.components[c.Name] = row
}

// Registry is every table of a binary.
type Registry struct {
	Store *Kind[port.DocumentStore]
	Index *Kind[port.Index]
	Model *Kind[port.Model]
	Limit *Kind[port.Budget] // what shared rates are counted in; a component may open to nil: nothing is shared
	// Source holds the connectors. A component's name is the kind of source that it reads, and its
	// configuration the operator's; that of a source is the kind's (port.SourceKind).
	Source *Kind[port.Connector]
	// SourcePlugin holds what brings connectors of its own along. Their kinds' names are theirs.
	SourcePlugin *Kind[port.Connectors]
	// Extractor is what reads files that this process does not; a component may open to nil: nothing does.
	Extractor *Kind[port.Extractor]
}

// New makes empty tables.
func New() *Registry {
	return &Registry{
		Store: newKind[port.DocumentStore]("storage"),
		Index: newKind[port.Index]("index"),
		Model: newKind[port.Model]("model"),
		Limit: newKind[port.Budget]("limit"),

		Source:       newKind[port.Connector]("source"),
		SourcePlugin: newKind[port.Connectors]("source_plugin"),
		Extractor:    newKind[port.Extractor]("extractor"),
	}
}

func newKind[P any](name string) *Kind[P] {
	return &Kind[P]{name: name, components: map[string]component[P]{}}
}

// Tables lists the tables in the order of the reference.
func (r *Registry) Tables() []Table {
	return []Table{r.Store, r.Index, r.Model, r.Limit, r.Source, r.SourcePlugin, r.Extractor}
}

// Table finds a table by its name.
func (r *Registry) Table(kind string) (Table, bool) {
	for _, t := range r.Tables() {
		if t.Kind() == kind {
			return t, true
		}
	}
	return nil, false
}

// Serves reports whether an index component can serve a retriever.
func (i Info) Serves(r port.Retriever) bool { return slices.Contains(i.Retrievers, r) }

// OpenIndexes opens the index of each retriever. Retrievers that name the same
// component with equal configuration share one index, so each distinct one in
// the result is to be closed once. On an error nothing stays open.
func OpenIndexes(ctx context.Context, k *Kind[port.Index], chosen map[port.Retriever]Selection,
	env Env) (map[port.Retriever]port.Index, error) {
	type opened struct {
		Selection
		index port.Index
	}
	var all []opened
	byRetriever := map[port.Retriever]port.Index{}
	fail := func(err error) (map[port.Retriever]port.Index, error) {
		for _, o := range all {
			_ = o.index.Close() // the first error is the one to return
		}
		return nil, err
	}
	retrievers := make([]port.Retriever, 0, len(chosen))
	for r := range chosen {
		retrievers = append(retrievers, r)
	}
	slices.Sort(retrievers)
	for _, r := range retrievers {
		s := chosen[r]
		if info, ok := k.Component(s.Component); ok && !info.Serves(r) {
			return fail(fmt.Errorf("index %s does not serve %s search", s.Component, r))
		}
		i := slices.IndexFunc(all, func(o opened) bool {
			return o.Component == s.Component && reflect.DeepEqual(o.Config, s.Config)
		})
		if i < 0 {
			index, err := k.Open(ctx, s, env)
			if err != nil {
				return fail(err)
			}
			all = append(all, opened{s, index})
			i = len(all) - 1
		}
		byRetriever[r] = all[i].index
	}
	return byRetriever, nil
}
