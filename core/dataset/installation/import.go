package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// Journal remembers which partitions an import has begun, so that the next run can
// tell a half imported partition from one that existed before. Partitions that fit one
// transaction need no entry.
type Journal interface {
	// Begin records, durably before it returns, that a partition is about to be
	// imported, and the generation that it has until then; 0: none.
	Begin(p dataset.Partition, before int64) error
	// Started returns that generation, for a partition that was begun and has not ended.
	Started(p dataset.Partition) (before int64, begun bool)
	// End records that a partition is imported, or is no longer this import's.
	End(p dataset.Partition) error
}

// Importer brings a data set into a store.
type Importer struct {
	Store     port.DocumentStore
	Conflict  dataset.Policy
	Authority Authority
	Journal   Journal
	// Imported is called once a partition is whole and verified, Replaced once an
	// existing one was removed in its favour. nil: no call.
	Imported func(ctx context.Context, p port.Partition, seq uint64) error
	Replaced func(ctx context.Context, p port.Partition)
	// OnProgress gets the number of documents read so far; nil: none.
	OnProgress func(done, total int64)

	header   dataset.Header
	orgs     map[ident.Org]ident.Org        // where an organization of the data set went
	apps     map[string]string              // integrations, by organization of the data set, "/" and id
	existing map[dataset.Partition]existing // partitions that are there, by their name in the data set
	batch    batch
	result   Result
	rights   Rights
	named    string            // the organization whose lines come
	chain    string            // the running hash of what Check has read; "": it has read nothing
	checked  map[[32]byte]bool // the lines of it that give rights, by their hashes
}

// Result says what an import did. Partitions are namespaces and end users.
type Result struct {
	Header    dataset.Header
	Counts    dataset.Counts // of the data set
	Imported  int64          // partitions, Continued and Replaced among them
	Continued int64          // that an earlier run had begun
	Replaced  int64
	Unchanged int64 // there already with the same contents
	Skipped   int64 // there already with other contents, which stay
	Documents int64 // of what was imported
	Keys      int64 // that were not there
	// WithoutVectors are the partitions whose documents have no vectors yet.
	WithoutVectors []port.Partition
}

// existing says what to do with a partition that exists.
type existing struct {
	action     action
	generation int64
	hash       dataset.Digest // of what is there; with leave
}

type action int

const (
	leave    action = iota // the same contents
	skip                   // other contents, which stay
	replace                // other contents, which go
	resume                 // an earlier run has begun it
	restored               // resume, but the earlier run had not yet replaced the existing partition
)

// Conflict is the error of an import that would change existing data.
type Conflict struct{ What string }

// Error names the data in the way.
func (c *Conflict) Error() string { return c.What + " is there already with other contents" }

// Check reads a data set to its end and compares it with the store. It changes
// nothing. Errors: *Damaged, naming the line, when the data set was changed; *Conflict under policy Fail.
func (m *Importer) Check(ctx context.Context, r io.Reader) (dataset.Header, error) {
	m.reset()
	s := dataset.NewScan(r)
	var open dataset.Partition
	var row dataset.Namespace
	for {
		l, err := s.Next()
		if errors.Is(err, io.EOF) {
			m.chain = s.Chain()
			return s.Header, s.Whole()
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return s.Header, err
		}
		if l.Kind == dataset.KindHeader {
			m.header = s.Header
		}
		if err := m.checkRights(l); err != nil {
			return s.Header, withLine(s, err)
		}
		switch l.Kind {
		case dataset.KindOrganization:
			err = decodeLine(l, func(o dataset.Organization) error { return m.findOrganization(ctx, o) })
		case dataset.KindIntegration:
			err = decodeLine(l, func(i dataset.Integration) error { return m.findIntegration(ctx, s.Place.Organization, i) })
		case dataset.KindKey:
			err = decodeLine(l, func(k dataset.Key) error { return m.checkKey(ctx, s.Place.Organization, k) })
		case dataset.KindPartition:
			open = *s.Open
		case dataset.KindEnd:
			err = decodeLine(l, func(e dataset.End) error {
				return m.compare(ctx, open, e.Hash)
			})
		case dataset.KindDocument, dataset.KindLink, dataset.KindReplay, dataset.KindNamespace, dataset.KindRecord,
			dataset.KindReceipt:
			err = dataset.WellFormed(&l, &row)
			m.progress(s)
		}
		if err != nil {
			return s.Header, withLine(s, err)
		}
	}
}

// withLine adds the line number to an error about the data.
func withLine(s *dataset.Scan, err error) error {
	var f *fault.Error
	if errors.As(err, &f) || errors.As(err, new(*dataset.Damaged)) || errors.As(err, new(*Conflict)) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.Damage(err)
}

func decodeLine[T any](l dataset.Line, do func(T) error) error {
	var v T
	if err := l.Decode(&v); err != nil {
		return err
	}
	return do(v)
}

func (m *Importer) reset() {
	m.orgs, m.apps, m.existing, m.result = map[ident.Org]ident.Org{}, map[string]string{},
		map[dataset.Partition]existing{}, Result{}
	m.batch, m.rights, m.named, m.chain, m.checked = batch{}, Rights{}, "", "", map[[32]byte]bool{}
}

func (m *Importer) progress(s *dataset.Scan) {
	if m.OnProgress != nil {
		done := s.Place.Counts.Documents + s.Counts.Documents
		m.OnProgress(done, max(done, s.Header.Planned.Documents))
	}
}

// findOrganization matches an organization of the data set with one of the store, without
// creating it.
func (m *Importer) findOrganization(ctx context.Context, o dataset.Organization) error {
	m.orgs[o.ID] = o.ID
	return m.Store.View(ctx, func(r port.Reader) error {
		_, err := r.Organization(ctx, o.ID)
		if fault.CodeOf(err) != fault.NotFound {
			return err
		}
		named, err := r.OrganizationByName(ctx, o.Name)
		if err == nil {
			m.orgs[o.ID] = named.ID
		}
		return ignoreCode(err, fault.NotFound)
	})
}

func ignoreCode(err error, code fault.Code) error {
	if fault.CodeOf(err) == code {
		return nil
	}
	return err
}

func integrationKey(org ident.Org, id string) string { return string(org) + "/" + id }

func (m *Importer) findIntegration(ctx context.Context, org ident.Org, i dataset.Integration) error {
	m.apps[integrationKey(org, i.ID)] = i.ID
	return m.Store.View(ctx, func(r port.Reader) error {
		_, err := r.Integration(ctx, m.orgs[org], i.ID)
		if fault.CodeOf(err) != fault.NotFound {
			return err
		}
		named, err := r.IntegrationByName(ctx, m.orgs[org], i.Name)
		if err == nil {
			m.apps[integrationKey(org, i.ID)] = named.ID
		}
		return ignoreCode(err, fault.NotFound)
	})
}

// localPartition is a partition of the data set in this installation.
func (m *Importer) localPartition(p dataset.Partition) (port.Partition, error) {
	org, ok := m.orgs[p.Organization]
	id, known := m.apps[integrationKey(p.Organization, p.Integration)]
	if !ok || p.Memories() && !known {
		return port.Partition{}, fmt.Errorf("%s is of an integration that does not come before it", p)
	}
	return p.Of(org, id), nil
}

// compare decides what to do with a partition; hash is that of its contents in
// the data set.
func (m *Importer) compare(ctx context.Context, p dataset.Partition, hash dataset.Digest) error {
	here, err := m.localPartition(p)
	if err != nil {
		return err
	}
	held, found, err := m.findPartition(ctx, here)
	if err != nil || !found {
		return err
	}
	at := existing{generation: held.Row.Generation}
	if before, begun := m.Journal.Started(p); begun {
		if at.action = resume; before == at.generation {
			at.action = restored
		}
		m.existing[p] = at
		return nil
	}
	_, now, err := m.hashHere(ctx, held)
	switch {
	case err != nil:
		return err
	case now == hash:
		at.action, at.hash = leave, now
	case m.Conflict == dataset.Skip:
		at.action = skip
	case m.Conflict == dataset.Replace:
		at.action = replace
	default:
		return &Conflict{p.String()}
	}
	m.existing[p] = at
	return nil
}

func (m *Importer) hashHere(ctx context.Context, held port.PartitionEntry) (dataset.Counts, dataset.Digest, error) {
	return dataset.Source{Store: dataset.Snapshots(m.Store), Vectors: m.header.Contents.Vectors}.Hash(ctx, held)
}

// findPartition finds a partition's row.
func (m *Importer) findPartition(ctx context.Context, p port.Partition) (e port.PartitionEntry, found bool, err error) {
	err = m.Store.View(ctx, func(r port.Reader) error {
		e, found, err = readEntry(ctx, r, p)
		return err
	})
	return e, found, err
}

func readEntry(ctx context.Context, r port.Reader, p port.Partition) (held port.PartitionEntry, found bool, err error) {
	n, err := r.Partition(ctx, p)
	if fault.IsPartitionNotFound(err) {
		return held, false, nil
	}
	if err != nil {
		return held, false, err
	}
	return port.PartitionEntry{Partition: p.At(n.Generation), Row: n}, true, nil
}

// Run imports a data set that Check has read before with the same Importer.
func (m *Importer) Run(ctx context.Context, r io.Reader) (Result, error) {
	s := dataset.NewScan(r)
	in := &incoming{Importer: m}
	for {
		l, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = in.handleLine(ctx, s, &l)
		}
		if err != nil {
			return m.result, withLine(s, err)
		}
	}
	if err := s.Whole(); err != nil {
		return m.result, err
	}
	if m.chain != "" && m.chain != s.Chain() {
		return m.result, errChanged
	}
	m.result.Header, m.result.Counts = s.Header, s.Place.Counts
	return m.result, nil
}

// errChanged is inside the error of a data set that differs between Check and Run.
var errChanged = errors.New("the data set is not the one that was checked: it was changed in the meantime")

// incoming is the state between the lines of a data set.
type incoming struct {
	*Importer
	open   dataset.Partition
	act    action
	record dataset.Record
}

func (in *incoming) handleLine(ctx context.Context, s *dataset.Scan, l *dataset.Line) error {
	m, org := in.Importer, s.Place.Organization
	if l.Kind != dataset.KindEnd && s.Open != nil && l.Kind != dataset.KindPartition {
		m.progress(s)
		if in.act == leave || in.act == skip {
			return nil
		}
	}
	if m.chain != "" && givesRights(l.Kind) && !m.checked[l.Hash] {
		return errChanged
	}
	switch l.Kind {
	case dataset.KindHeader:
		m.header = s.Header
	case dataset.KindOrganization:
		return decodeLine(*l, func(o dataset.Organization) error { return m.putOrganization(ctx, o) })
	case dataset.KindIntegration:
		return decodeLine(*l, func(i dataset.Integration) error { return m.putIntegration(ctx, org, i) })
	case dataset.KindKey:
		return decodeLine(*l, func(k dataset.Key) error { return m.putKey(ctx, org, k) })
	case dataset.KindOperation:
		if !m.Authority.Keys {
			return nil
		}
		return decodeLine(*l, func(o dataset.Operation) error { return m.putOperation(ctx, org, o) })
	case dataset.KindSecret:
		if !m.Authority.Secrets {
			return nil
		}
		return decodeLine(*l, func(v dataset.Secret) error {
			return m.Store.Update(ctx, func(w port.Writer) error { return w.PutSecret(ctx, v.Name, v.Value) })
		})
	case dataset.KindPartition:
		return in.openPartition(*s.Open)
	case dataset.KindNamespace:
		return decodeLine(*l, func(n dataset.Namespace) error {
			m.batch.create = n.Row(in.open.Name)
			return nil
		})
	case dataset.KindDocument:
		return decodeLine(*l, func(d dataset.Document) error {
			w, updated, err := d.Write()
			if err != nil {
				return err
			}
			m.result.Documents++
			return m.addDocument(ctx, w, updated, len(l.Data))
		})
	case dataset.KindLink:
		return decodeLine(*l, func(k dataset.Link) error {
			d, err := packing.DecodeDense(k.Own)
			if err != nil {
				return err
			}
			return m.add(ctx, len(l.Data), func(w port.Writer, p port.Partition) error {
				return w.PutContextLinks(ctx, p, []port.ContextLink{{ID: k.ID, Context: k.Context, Own: d.Data}})
			})
		})
	case dataset.KindRecord:
		return l.Decode(reset(&in.record))
	case dataset.KindReceipt:
		rec := in.record.Row()
		return decodeLine(*l, func(v dataset.Receipt) error { return m.addReceipt(ctx, rec, v, len(l.Data)) })
	case dataset.KindReplay:
		return decodeLine(*l, func(a dataset.Replay) error { return m.addReplay(ctx, a, len(l.Data)) })
	case dataset.KindEnd:
		return decodeLine(*l, func(e dataset.End) error { return in.endPartition(ctx, e) })
	}
	return nil
}

// reset clears what it points to, so that nothing of the line before stays.
func reset(r *dataset.Record) *dataset.Record { *r = dataset.Record{}; return r }

func (in *incoming) openPartition(p dataset.Partition) error {
	here, err := in.localPartition(p)
	if err != nil {
		return err
	}
	in.open = p
	in.batch = batch{p: here, open: p, fresh: true}
	at, there := in.existing[p]
	if in.act = at.action; !there {
		in.act = replace // of nothing
		return nil
	}
	switch at.action {
	case resume:
		in.batch.p, in.batch.fresh = here.At(at.generation), false
		in.result.Continued++
	case replace, restored:
		in.batch.before = at.generation
		in.result.Replaced++
	case leave:
		in.result.Unchanged++
	case skip:
		in.result.Skipped++
	}
	return nil
}

func (in *incoming) endPartition(ctx context.Context, e dataset.End) error {
	if in.act == leave && in.existing[in.open].hash != e.Hash {
		return fault.New(fault.Conflict, "%s was written while it was compared; repeat the copy", in.open)
	}
	if in.act == leave && !in.header.Contents.Vectors {
		return in.noteWithoutVectors(ctx)
	}
	if in.act == leave || in.act == skip {
		return nil
	}
	b := &in.batch
	b.last, b.seen = true, e.Seen
	if err := in.flush(ctx); err != nil {
		return err
	}
	held, found, err := in.findPartition(ctx, b.p)
	if err != nil {
		return err
	}
	var now dataset.Digest
	var counts dataset.Counts
	if found {
		if counts, now, err = in.hashHere(ctx, held); err != nil {
			return err
		}
	}
	if now != e.Hash {
		// It is no longer this import's to continue.
		return errors.Join(in.Journal.End(in.open),
			fmt.Errorf("verify %s: it does not hold what was imported (%d documents, %d chunks; the data set has %d, "+
				"%d): it was written to during the import; import it again with policy replace",
				in.open, counts.Documents, counts.Chunks, e.Counts.Documents, e.Counts.Chunks))
	}
	in.result.Imported++
	if in.header.Contents.Vectors && in.Imported != nil {
		if err := in.Imported(ctx, held.Partition, held.Row.Seq); err != nil {
			return err
		}
	}
	if !in.header.Contents.Vectors && held.Row.Documents > 0 {
		in.result.WithoutVectors = append(in.result.WithoutVectors, held.Partition)
	}
	return in.Journal.End(in.open)
}

// noteWithoutVectors notes a partition of an earlier run if it still lacks its vectors.
func (in *incoming) noteWithoutVectors(ctx context.Context) error {
	here, err := in.localPartition(in.open)
	if err != nil {
		return err
	}
	held, found, err := in.findPartition(ctx, here)
	if found && held.Row.Documents > 0 && held.Row.EmbeddingDigest == dataset.NoVectors {
		in.result.WithoutVectors = append(in.result.WithoutVectors, held.Partition)
	}
	return err
}

func (m *Importer) putOrganization(ctx context.Context, o dataset.Organization) error {
	var at ident.Org
	err := m.Store.Update(ctx, func(w port.Writer) error {
		row := port.Organization{ID: o.ID, Name: o.Name, Suspended: o.Suspended, CreatedAt: o.Created}
		at = o.ID
		there, err := w.Organization(ctx, o.ID)
		switch {
		case err == nil && m.Conflict == dataset.Replace:
			// Only with its keys does an organization that is suspended here work again.
			row.Suspended = row.Suspended || there.Suspended && !m.Authority.Keys
			return w.PutOrganization(ctx, row)
		case err == nil || fault.CodeOf(err) != fault.NotFound:
			return err
		}
		named, err := w.OrganizationByName(ctx, o.Name)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			return w.PutOrganization(ctx, row)
		case err != nil:
			return err
		}
		// The default organization of a fresh store is replaced by the one that comes,
		// which keeps its id; one that is in use takes in what comes.
		if remover, ok := w.(port.OrganizationRemover); ok {
			gone, err := remover.RemoveOrganization(ctx, named.ID)
			if err != nil {
				return err
			}
			if gone {
				return w.PutOrganization(ctx, row)
			}
		}
		at = named.ID
		return nil
	})
	m.orgs[o.ID] = at
	return err
}

func (m *Importer) putIntegration(ctx context.Context, org ident.Org, i dataset.Integration) error {
	at := i.ID
	err := m.Store.Update(ctx, func(w port.Writer) error {
		row := port.Integration{ID: i.ID, Org: m.orgs[org], Name: i.Name, GrantsRequired: i.GrantsRequired, CreatedAt: i.Created,
			Quotas: ident.Quotas{MemoriesPerEndUser: i.Memories, ReadRatePerMin: i.Reads, WriteRatePerMin: i.Writes}}
		at = i.ID
		_, err := w.Integration(ctx, row.Org, i.ID)
		switch {
		case err == nil && m.Conflict == dataset.Replace:
			return w.PutIntegration(ctx, row)
		case err == nil || fault.CodeOf(err) != fault.NotFound:
			return err
		}
		named, err := w.IntegrationByName(ctx, row.Org, i.Name)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			return w.PutIntegration(ctx, row)
		case err == nil:
			at = named.ID
		}
		return err
	})
	m.apps[integrationKey(org, i.ID)] = at
	return err
}

func (m *Importer) putKey(ctx context.Context, org ident.Org, k dataset.Key) error {
	if !m.Authority.takes(k) {
		return nil
	}
	added := false
	err := m.Store.Update(ctx, func(w port.Writer) error {
		added = false
		row := port.Key{
			ID:               k.ID,
			Org:              m.orgs[org],
			Name:             k.Name,
			Kind:             k.Kind,
			Hash:             k.Hash,
			Last4:            k.Last4,
			ReadOnly:         k.ReadOnly,
			Namespace:        k.Namespace,
			Source:           k.Source,
			DefaultNamespace: k.DefaultNamespace,
			Scopes:           k.Scopes,
			Limits:           k.Limits,
			EndUser:          k.EndUser,
			CreatedBy:        k.CreatedBy,
			CreatedAt:        k.Created,
			ExpiresAt:        k.Expires,
			RevokedAt:        k.Revoked,
			LastUsedAt:       k.LastUsed,
		}
		if k.Integration != "" {
			row.Integration = m.apps[integrationKey(org, k.Integration)]
		}
		there, err := w.KeyByHash(ctx, k.Hash)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			added = true
			return w.PutKey(ctx, row)
		case err != nil:
			return err
		case m.another(there, org, k):
			return &Conflict{"key " + k.ID}
		}
		// A key that was revoked, or ends earlier, in either place does so here.
		if !k.Revoked.IsZero() {
			err = w.RevokeKey(ctx, row.Org, k.ID, k.Revoked)
		}
		if err == nil && !k.Expires.IsZero() {
			err = w.ExpireKey(ctx, row.Org, k.ID, k.Expires)
		}
		if err == nil && m.Conflict == dataset.Replace {
			err = w.ChangeKey(ctx, row.Org, k.ID, port.KeyChange{
				Name:             k.Name,
				ReadOnly:         k.ReadOnly,
				DefaultNamespace: k.DefaultNamespace,
				Limits:           k.Limits,
			})
		}
		return err
	})
	if err == nil && added {
		m.result.Keys++
	}
	return err
}

// putOperation adds an accepted write that has not ended; the next server to start
// runs it.
func (m *Importer) putOperation(ctx context.Context, org ident.Org, o dataset.Operation) error {
	var who ident.Principal
	if err := json.Unmarshal(o.Principal, &who); err != nil {
		return fmt.Errorf("operation %s: who asked for it: %w", o.ID, err)
	}
	who.Org = m.orgs[org]
	principal, err := json.Marshal(who)
	if err != nil {
		return fmt.Errorf("operation %s: %w", o.ID, err)
	}
	to := m.orgs[org]
	err = m.Store.Update(ctx, func(w port.Writer) error {
		return w.CreateJob(ctx, port.Job{
			ID:        o.ID,
			Org:       to,
			Kind:      port.JobWriteDocuments,
			Partition: port.Documents(to, o.Namespace),
			Status:    port.JobQueued,
			Done:      o.Done,
			Total:     o.Total,
			CreatedAt: o.Created,
			UpdatedAt: o.Created,
		}, port.JobRequest{Body: o.Request, Principal: principal})
	})
	if fault.CodeOf(err) == fault.Conflict {
		return nil // it is there
	}
	return err
}

// A transaction takes about as much.
const (
	batchRows  = 200
	batchBytes = 4 << 20
)

// batch is what one transaction writes into a partition. It may be written twice:
// rows that exist already are skipped.
type batch struct {
	p      port.Partition // pinned once it is created
	open   dataset.Partition
	fresh  bool              // it has yet to be created
	before int64             // generation that it replaces; 0: none
	create port.PartitionRow // of a fresh one
	seen   time.Time         // of an end user
	last   bool              // nothing comes after it

	documents []port.DocumentWrite
	updated   []time.Time
	rows      []func(port.Writer, port.Partition) error
	bytes     int
}

func (m *Importer) addDocument(ctx context.Context, d port.DocumentWrite, updated time.Time, bytes int) error {
	b := &m.batch
	if len(b.documents) >= batchRows || b.bytes+bytes > batchBytes && len(b.documents) > 0 {
		if err := m.flush(ctx); err != nil {
			return err
		}
	}
	b.documents, b.updated, b.bytes = append(b.documents, d), append(b.updated, updated), b.bytes+bytes
	return nil
}

// add queues a row that stands beside documents; they are written before it.
func (m *Importer) add(ctx context.Context, bytes int, row func(port.Writer, port.Partition) error) error {
	b := &m.batch
	if len(b.rows) >= batchRows || b.bytes+bytes > batchBytes && len(b.rows) > 0 {
		if err := m.flush(ctx); err != nil {
			return err
		}
	}
	b.rows, b.bytes = append(b.rows, row), b.bytes+bytes
	return nil
}

func (m *Importer) addReceipt(ctx context.Context, rec port.Record, v dataset.Receipt, bytes int) error {
	return m.add(ctx, bytes, func(w port.Writer, p port.Partition) error {
		_, err := w.Receipt(ctx, p, rec.Source, rec.ExternalID, v.Version)
		if fault.CodeOf(err) != fault.MemoryNotFound {
			return err
		}
		rec := rec
		rec.Version = v.Version // each receipt's record is replaced by that of the next
		return w.PutRecord(ctx, p, rec, port.Receipt{
			Source:      rec.Source,
			ExternalID:  rec.ExternalID,
			Version:     v.Version,
			Operation:   v.Operation,
			RequestHash: v.RequestHash,
			Outcome:     v.Outcome,
			OccurredAt:  v.Occurred,
			AppliedAt:   v.Applied,
			DocumentID:  v.DocumentID,
			ContentHash: v.ContentHash,
		})
	})
}

func (m *Importer) addReplay(ctx context.Context, a dataset.Replay, bytes int) error {
	return m.add(ctx, bytes, func(w port.Writer, p port.Partition) error {
		_, err := w.IdempotentReply(ctx, p.Org(), p.Integration(), a.Key)
		if fault.CodeOf(err) != fault.NotFound {
			return err
		}
		return w.PutIdempotentReply(ctx, p.Org(), port.IdempotentReply{
			Integration: p.Integration(),
			Key:         a.Key,
			EndUser:     p.Name(),
			RequestHash: a.RequestHash,
			Answer:      a.Answer,
			CreatedAt:   a.Created,
		})
	})
}

// flush writes the batch. The transaction that creates a partition also removes the one
// that it replaces. If further batches follow, the journal records the partition first.
func (m *Importer) flush(ctx context.Context) error {
	b := &m.batch
	if b.fresh && !b.last {
		if err := m.Journal.Begin(b.open, b.before); err != nil {
			return err
		}
	}
	old := b.p.At(b.before)
	var p port.Partition
	err := m.Store.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		if p = b.p; b.fresh {
			if b.before != 0 {
				if _, err := w.DeletePartition(ctx, p.At(b.before)); err != nil {
					return err
				}
			}
			n, err := w.CreatePartition(ctx, p.At(0), b.create)
			if err != nil {
				return err
			}
			p = p.At(n.Generation)
		}
		if err := b.put(ctx, w, p); err != nil {
			return err
		}
		if b.last && !b.seen.IsZero() {
			return w.TouchEndUsers(ctx, map[int64]time.Time{p.Generation(): b.seen})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("import %s: %w", b.open, err)
	}
	if b.fresh && b.before != 0 && m.Replaced != nil {
		m.Replaced(ctx, old)
	}
	b.p, b.fresh = p, false
	b.documents, b.updated, b.rows, b.bytes = b.documents[:0], b.updated[:0], b.rows[:0], 0
	return nil
}

func (b *batch) put(ctx context.Context, w port.DocumentWriter, p port.Partition) error {
	ids := make([]string, len(b.documents))
	for i := range b.documents {
		ids[i] = b.documents[i].Document.ID
	}
	there := map[string]bool{}
	if !b.fresh && len(ids) > 0 {
		heads, err := w.Documents(ctx, p, ids, 0)
		if err != nil {
			return err
		}
		for i := range heads {
			there[heads[i].ID] = true // verified at the end
		}
	}
	// The time of an update is the call's, so one call stores those of one time.
	var run []port.DocumentWrite
	for i := range b.documents {
		if !there[ids[i]] {
			run = append(run, b.documents[i])
		}
		if len(run) > 0 && (i+1 == len(b.documents) || !b.updated[i+1].Equal(b.updated[i])) {
			if _, err := w.PutDocuments(ctx, p, b.updated[i], run); err != nil {
				return err
			}
			run = nil
		}
	}
	for _, row := range b.rows {
		if err := row(w, p); err != nil {
			return err
		}
	}
	return nil
}

// ReadHeader reads the first line of a data set.
func ReadHeader(r io.Reader) (dataset.Header, error) {
	s := dataset.NewScan(r)
	if _, err := s.Next(); err != nil && !errors.Is(err, io.EOF) {
		return dataset.Header{}, err
	}
	if s.Header.ID == "" {
		return dataset.Header{}, s.Damage(errors.New("it is not the header of a data set"))
	}
	return s.Header, nil
}
