package usage

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// GuardSettings configure a Guard. Store is required.
type GuardSettings struct {
	Store   port.DocumentStore
	Changed func()           // told when what is kept has changed; nil: nobody is
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: discarded
}

// Guard is a store whose transactions go over no quota, and which knows on which accounts
// they change what is kept. It has the optional abilities of the store behind.
type Guard struct {
	port.DocumentStore
	rouse   func()
	now     func() time.Time
	log     *slog.Logger
	changed accounts
	// notes is where exceeded quotas are noted: a store over this one that tells of it.
	notes port.Store

	mu     sync.Mutex
	quotas map[ident.Org]known
	turns  map[ident.Org]*turn
}

// known are quotas as they were read.
type known struct {
	quotas []port.Quota
	until  time.Time
}

// quotasFor is how long quotas are remembered: a change elsewhere is heeded as late.
const quotasFor = 5 * time.Second

// turn has the transactions of an organization with quotas compared one by one.
type turn struct {
	mu     sync.Mutex
	inHand port.Holdings // what transactions that go on have added
	done   port.Holdings // what committed ones have added, ever
}

// reading is what was read of an organization before a transaction. A transaction reads
// nothing through another connection: it would hold one while it waits for the other.
type reading struct {
	quotas []port.Quota
	has    port.Holdings // with quotas: what is committed
	done   port.Holdings // of its turn, before has was read
}

// rereads is how often a transaction that seems to go over a quota is run again because
// others have committed in the meantime.
const rereads = 3

// errUnread ends a transaction that is run again once its organization was read.
var errUnread = errors.New("quotas and holdings of the organization are yet to be read")

// NewGuard makes a Guard.
func NewGuard(s GuardSettings) *Guard {
	g := &Guard{DocumentStore: s.Store, rouse: s.Changed, now: s.Now, log: s.Log, notes: s.Store,
		quotas: map[ident.Org]known{}, turns: map[ident.Org]*turn{}}
	if g.rouse == nil {
		g.rouse = func() {}
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	return g
}

// NoteIn has exceeded quotas noted in a store over this one. It is called before the first
// transaction.
func (g *Guard) NoteIn(s port.Store) { g.notes = s }

// Update implements port.Store.
func (g *Guard) Update(ctx context.Context, fn func(port.Writer) error) error {
	return g.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(w) })
}

// UpdateDocuments implements port.DocumentStore.
func (g *Guard) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	read := map[ident.Org]reading{}
	if who := ident.Known(ctx); who != nil && who.Org != "" { // most write for the organization of their caller
		if err := g.readInto(ctx, read, who.Org); err != nil {
			return err
		}
	}
	for again := 0; ; {
		tx, err := g.attempt(ctx, fn, read, again < rereads)
		if tx.unread == "" {
			g.after(ctx, tx, err)
			return err
		}
		if _, known := read[tx.unread]; known {
			again++
		}
		if err := g.readInto(ctx, read, tx.unread); err != nil {
			return err
		}
	}
}

// attempt runs a transaction by what was read before. It may be stale: then the transaction is
// to be run again, if it can be.
func (g *Guard) attempt(ctx context.Context, fn func(port.DocumentWriter) error, read map[ident.Org]reading,
	stale bool) (tx *metered, err error) {
	tx, committed := &metered{}, false
	defer func() { tx.giveBack(committed) }() // whether or not fn panics
	err = g.DocumentStore.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		tx.giveBack(false) // of the run before
		tx = &metered{DocumentWriter: w, guard: g, read: read, stale: stale, touched: map[port.Partition]*holding{}}
		if err := fn(tx); err != nil {
			return err
		}
		return tx.compare(ctx)
	})
	committed = err == nil
	return tx, err
}

// after has what a transaction did known to those that it concerns.
func (g *Guard) after(ctx context.Context, tx *metered, err error) {
	switch {
	case err == nil && len(tx.touched) > 0:
		g.changed.add(tx.accounts()...)
		g.rouse()
	case err != nil && tx.exceeded.Name != "":
		g.note(ctx, tx.exceeded)
	}
	for _, org := range tx.set {
		g.forget(org)
	}
}

// readInto reads what a transaction needs to know of an organization.
func (g *Guard) readInto(ctx context.Context, read map[ident.Org]reading, org ident.Org) error {
	qs, err := g.quotasOf(ctx, org)
	if err != nil {
		return err
	}
	r := reading{quotas: qs}
	if len(qs) > 0 {
		line := g.turnOf(org)
		line.mu.Lock()
		r.done = line.done
		line.mu.Unlock()
		// Of what is committed, not in the transaction: that would have to read every partition of the
		// organization, in the way of all who write one.
		err = g.View(ctx, func(v port.Reader) (err error) {
			r.has, err = v.Holdings(ctx, org)
			return err
		})
	}
	read[org] = r
	return err
}

// quotasOf are the quotas of an organization, as they were a few seconds ago or later.
func (g *Guard) quotasOf(ctx context.Context, org ident.Org) ([]port.Quota, error) {
	now := g.now()
	g.mu.Lock()
	k, ok := g.quotas[org]
	g.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.quotas, nil
	}
	var qs []port.Quota
	// Before the transaction, not in it: a table that every one of them reads would be in the
	// way of who writes it.
	err := g.View(ctx, func(r port.Reader) (err error) {
		qs, err = r.Quotas(ctx, org)
		return err
	})
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.quotas, func(_ ident.Org, k known) bool { return !now.Before(k.until) })
	g.quotas[org] = known{qs, now.Add(quotasFor)}
	return qs, nil
}

// forget has the quotas of an organization read again.
func (g *Guard) forget(org ident.Org) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.quotas, org)
}

func (g *Guard) turnOf(org ident.Org) *turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.turns[org]
	if t == nil {
		t = &turn{}
		g.turns[org] = t
	}
	return t
}

// crossing is a quota that a write would go over.
type crossing struct {
	port.Quota
	org  ident.Org
	used int64
}

// note stores that a write was refused by a quota, if that is news.
func (g *Guard) note(ctx context.Context, c crossing) {
	if !c.Exceeded.IsZero() {
		return
	}
	ctx = context.WithoutCancel(ctx)
	err := g.notes.Update(ctx, func(w port.Writer) error {
		qs, err := w.Quotas(ctx, c.org)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(qs, func(q port.Quota) bool { return q.Name == c.Name && q.Limit == c.Limit })
		if i < 0 || !qs[i].Exceeded.IsZero() { // changed, or another was first
			return nil
		}
		return w.ExceedQuota(ctx, c.org, c.Name, c.used, g.now().UTC().Truncate(time.Microsecond))
	})
	if err != nil {
		g.log.WarnContext(ctx, "exceeded quota not noted", "org", c.org, "quota", c.Name, "error", err)
	}
	g.forget(c.org)
}

// holding is what a partition was before a transaction changed it.
type holding struct {
	last   port.Partition // as it was named last
	before *port.Holdings // nil: nobody asks
}

// metered is a transaction that knows what it adds.
type metered struct {
	port.DocumentWriter
	guard    *Guard
	read     map[ident.Org]reading
	stale    bool // what was read may be read again
	unread   ident.Org
	touched  map[port.Partition]*holding
	files    map[ident.Org]port.Holdings
	set      []ident.Org // whose quotas are changed
	exceeded crossing    // that refused it; no name: none did

	taken map[*turn]port.Holdings
}

// touch notes a partition that is about to change.
func (t *metered) touch(ctx context.Context, p port.Partition) error {
	if p.IsShadow() {
		return nil
	}
	if h := t.touched[p.At(0)]; h != nil {
		h.last = p
		return nil
	}
	h := &holding{last: p}
	known, ok := t.read[p.Org()]
	if !ok {
		t.unread = p.Org()
		return errUnread
	}
	if len(known.quotas) > 0 {
		held, err := t.held(ctx, p)
		if err != nil {
			return err
		}
		h.before = &held
	}
	t.touched[p.At(0)] = h
	return nil
}

// held is what a partition is of what an organization has; nothing where it is not there.
func (t *metered) held(ctx context.Context, p port.Partition) (h port.Holdings, err error) {
	row, err := t.Partition(ctx, p)
	switch {
	case fault.IsPartitionNotFound(err):
		return h, nil
	case err != nil:
		return h, err
	case row.State != port.Active:
		return h, nil
	case p.Space() == port.SpaceMemories:
		return port.Holdings{Bytes: row.Bytes, EndUsers: 1}, nil
	}
	return port.Holdings{Bytes: row.Bytes, Documents: row.Documents, Namespaces: 1}, nil
}

// CreatePartition implements port.PartitionWriter.
func (t *metered) CreatePartition(ctx context.Context, p port.Partition, n port.PartitionRow) (port.PartitionRow, error) {
	if err := t.touch(ctx, p); err != nil {
		return n, err
	}
	return t.DocumentWriter.CreatePartition(ctx, p, n)
}

// PutDocuments implements port.DocumentWriter.
func (t *metered) PutDocuments(ctx context.Context, p port.Partition, at time.Time, docs []port.DocumentWrite) (uint64, error) {
	if err := t.touch(ctx, p); err != nil {
		return 0, err
	}
	return t.DocumentWriter.PutDocuments(ctx, p, at, docs)
}

// DeleteDocuments implements port.DocumentWriter.
func (t *metered) DeleteDocuments(ctx context.Context, p port.Partition, at time.Time,
	ids []string) (deleted int, seq uint64, gone bool, err error) {
	if err := t.touch(ctx, p); err != nil {
		return 0, 0, false, err
	}
	return t.DocumentWriter.DeleteDocuments(ctx, p, at, ids)
}

// DeletePartition implements port.GenerationWriter.
func (t *metered) DeletePartition(ctx context.Context, p port.Partition) (bool, error) {
	if err := t.touch(ctx, p); err != nil {
		return false, err
	}
	return t.DocumentWriter.DeletePartition(ctx, p)
}

// SwapPartition implements port.GenerationWriter.
func (t *metered) SwapPartition(ctx context.Context, p port.Partition) error {
	if err := t.touch(ctx, p); err != nil {
		return err
	}
	return t.DocumentWriter.SwapPartition(ctx, p)
}

// EraseMemories implements port.ErasureWriter.
func (t *metered) EraseMemories(ctx context.Context, p port.Partition, limit int) (bool, error) {
	if err := t.touch(ctx, p); err != nil {
		return false, err
	}
	return t.DocumentWriter.EraseMemories(ctx, p, limit)
}

// EndErasure implements port.DocumentWriter.
func (t *metered) EndErasure(ctx context.Context, p port.Partition) error {
	if err := t.touch(ctx, p); err != nil {
		return err
	}
	return t.DocumentWriter.EndErasure(ctx, p)
}

// PutKeptFile implements port.VectorStoreWriter.
func (t *metered) PutKeptFile(ctx context.Context, org ident.Org, f port.KeptFile, parts []port.KeptPart) error {
	if err := t.keep(org, port.Holdings{Bytes: f.TextBytes, Documents: int64(f.Parts)}); err != nil {
		return err
	}
	return t.DocumentWriter.PutKeptFile(ctx, org, f, parts)
}

// RemoveKeptFile implements port.VectorStoreWriter.
func (t *metered) RemoveKeptFile(ctx context.Context, org ident.Org, id string) (bool, error) {
	f, err := t.KeptFile(ctx, org, id)
	if err == nil {
		err = t.keep(org, minus(port.Holdings{Bytes: f.TextBytes, Documents: int64(f.Parts)}))
	}
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return false, err
	}
	return t.DocumentWriter.RemoveKeptFile(ctx, org, id)
}

// keep notes what kept files add to an organization. They are in no partition.
func (t *metered) keep(org ident.Org, h port.Holdings) error {
	known, ok := t.read[org]
	if !ok {
		t.unread = org
		return errUnread
	}
	if len(known.quotas) > 0 {
		if t.files == nil {
			t.files = map[ident.Org]port.Holdings{}
		}
		t.files[org] = plus(t.files[org], h)
	}
	return nil
}

// PutQuota implements port.UsageWriter.
func (t *metered) PutQuota(ctx context.Context, org ident.Org, name port.QuotaName, limit int64) error {
	t.set = append(t.set, org)
	return t.DocumentWriter.PutQuota(ctx, org, name, limit)
}

// accounts are those on which the transaction has changed something. Their key is nobody's.
func (t *metered) accounts() []port.UsageAccount {
	var out []port.UsageAccount
	for p := range t.touched {
		a := port.UsageAccountOf(context.Background(), p)
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// added sums up what the transaction adds to organizations with quotas; it may be less than
// nothing.
func (t *metered) added(ctx context.Context) (map[ident.Org]port.Holdings, error) {
	out := maps.Clone(t.files)
	for _, h := range t.touched {
		if h.before == nil {
			continue
		}
		now, err := t.held(ctx, h.last)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[ident.Org]port.Holdings{}
		}
		out[h.last.Org()] = plus(out[h.last.Org()], now, minus(*h.before))
	}
	return out, nil
}

func plus(all ...port.Holdings) (sum port.Holdings) {
	for _, h := range all {
		sum.Bytes += h.Bytes
		sum.Documents += h.Documents
		sum.Namespaces += h.Namespaces
		sum.EndUsers += h.EndUsers
	}
	return sum
}

func minus(h port.Holdings) port.Holdings {
	return port.Holdings{Bytes: -h.Bytes, Documents: -h.Documents, Namespaces: -h.Namespaces, EndUsers: -h.EndUsers}
}

// compare refuses the transaction if what it adds would go over a quota.
func (t *metered) compare(ctx context.Context) error {
	if t.unread != "" { // and fn went on
		return errUnread
	}
	all, err := t.added(ctx)
	if err != nil {
		return err
	}
	for org, added := range all {
		if err := t.within(ctx, org, added); err != nil {
			return err
		}
	}
	return nil
}

// within compares what is added to one organization with its quotas.
func (t *metered) within(ctx context.Context, org ident.Org, added port.Holdings) error {
	known := t.read[org]
	asks := func(q port.Quota) bool { return added.Of(q.Name) > 0 || !q.Exceeded.IsZero() }
	if !slices.ContainsFunc(known.quotas, asks) {
		return nil
	}
	line := t.guard.turnOf(org)
	line.mu.Lock()
	defer line.mu.Unlock()
	// What was committed since counts, though it may be among what was read.
	since := plus(line.done, minus(known.done))
	has := plus(known.has, since)
	for _, q := range known.quotas {
		used, more := has.Of(q.Name), added.Of(q.Name)
		if all := used + line.inHand.Of(q.Name) + more; more > 0 && all > q.Limit {
			if since.Of(q.Name) > 0 && t.stale {
				t.unread = org
				return errUnread
			}
			t.exceeded = crossing{q, org, used}
			return over(q, used, more)
		}
		if !q.Exceeded.IsZero() && room(used+more, q.Limit) {
			if err := t.ExceedQuota(ctx, org, q.Name, 0, time.Time{}); err != nil && fault.CodeOf(err) != fault.NotFound {
				return err
			}
			t.set = append(t.set, org)
		}
	}
	// What is taken away counts once it is committed, and no sooner.
	more := port.Holdings{Bytes: max(0, added.Bytes), Documents: max(0, added.Documents), Namespaces: max(0, added.Namespaces),
		EndUsers: max(0, added.EndUsers)}
	line.inHand = plus(line.inHand, more)
	if t.taken == nil {
		t.taken = map[*turn]port.Holdings{}
	}
	t.taken[line] = more
	return nil
}

// room reports whether so little of a quota is used that going over it is news again.
func room(used, limit int64) bool { return used < limit-limit/20 }

// giveBack ends what the transaction has in hand: it is committed, or will not be.
func (t *metered) giveBack(committed bool) {
	for line, h := range t.taken {
		line.mu.Lock()
		line.inHand = plus(line.inHand, minus(h))
		if committed {
			line.done = plus(line.done, h)
		}
		line.mu.Unlock()
	}
	t.taken = nil
}

// over is the fault of a write that a quota refuses.
func over(q port.Quota, used, more int64) error {
	f := fault.New(fault.QuotaExceeded, "the organization has %d of at most %d %s, and this would add %d", used, q.Limit,
		words(q.Name), more)
	f.Details = map[string]any{"quota": string(q.Name), "limit": q.Limit, "used": used}
	return f
}

func words(q port.QuotaName) string {
	switch q {
	case port.QuotaBytes:
		return "bytes of text"
	case port.QuotaEndUsers:
		return "end users"
	case port.QuotaDocuments, port.QuotaNamespaces:
	}
	return string(q)
}

// Scrub is the optional ability of the store behind.
func (g *Guard) Scrub(ctx context.Context) error {
	if s, ok := g.DocumentStore.(port.Scrubber); ok {
		return s.Scrub(ctx)
	}
	return nil
}

// Exclusive is the optional ability of the store behind.
func (g *Guard) Exclusive() bool {
	x, ok := g.DocumentStore.(port.Exclusive)
	return ok && x.Exclusive()
}

// accounts is a set. Safe for concurrent use.
type accounts struct {
	mu  sync.Mutex
	all map[port.UsageAccount]struct{}
}

func (a *accounts) add(of ...port.UsageAccount) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[port.UsageAccount]struct{}{}
	}
	for _, x := range of {
		a.all[x] = struct{}{}
	}
}

func (a *accounts) take() []port.UsageAccount {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]port.UsageAccount, 0, len(a.all))
	for x := range a.all {
		out = append(out, x)
	}
	a.all = nil
	return out
}

var (
	_ port.DocumentStore = (*Guard)(nil)
	_ port.Scrubber      = (*Guard)(nil)
	_ port.Exclusive     = (*Guard)(nil)
)
