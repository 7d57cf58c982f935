package source

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

func keyHash(key string) [32]byte { return sha256.Sum256([]byte(key)) }

// piece is an item on its way from the listing to the store.
type piece struct {
	item  port.SourceItem
	row   port.SourceItemRow // as it is kept; zero but for its key where it is new
	kept  bool
	again bool // the namespace lacks its documents, whatever is kept

	// What became of it: documents, or why there are none.
	documents []document.Input
	hash      [32]byte
	failed    *port.SourceReason
	final     bool          // trying again changes nothing
	wait      time.Duration // at least so long before the next try
	gone      bool
	outcome   string // of a committed transaction
}

// retryAfter are the waits after the first, second and further failures of an item.
var retryAfter = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}

// settleItems brings the store in step with items. With retry, failed ones are tried
// although their versions are those of before.
func (w *worker) settleItems(ctx context.Context, items []port.SourceItem, retry bool) error {
	var todo []*piece
	var moved []port.SourceItemRow
	kept, missing, generation, err := w.lookUp(ctx, items)
	if err != nil {
		return err
	}
	now := w.now()
	for _, i := range items {
		hash := keyHash(i.Key)
		row, known := kept[hash]
		p := &piece{item: i, row: row, kept: known, again: missing[hash]}
		repeat := known && w.seen.Contains(uint32(row.Number))
		if known { // whatever the listing has said before
			w.gone.Remove(uint32(row.Number))
		}
		switch {
		case !known:
			p.row = port.SourceItemRow{KeyHash: hash, Key: i.Key}
			todo = append(todo, p)
			continue
		case i.Version == "" && repeat && !retry, i.Version != "" && i.Version == row.Version && !p.again && row.Error == nil:
			if !repeat {
				w.counts.Unchanged++
			}
			if row.Generation != generation && row.Documents > 0 {
				row.Generation = generation
				moved = append(moved, row)
			}
		case i.Version != "" && i.Version == row.Version && row.Error != nil && !p.again && !retry &&
			(row.NextAttempt.IsZero() || row.NextAttempt.After(now)):
			if !repeat {
				w.countFailure(row.Error.Code)
			}
		default:
			todo = append(todo, p)
			continue
		}
		w.mark(row.Number, !repeat)
	}
	if len(moved) > 0 {
		// A reindexing has moved the documents into another generation.
		if err := w.flush(ctx, nil, nil); err != nil {
			return err
		}
		if err := w.store.Update(ctx, func(tx writer) error {
			if _, _, err := w.check(ctx, tx, w.source.Org, w.source.ID, w.run.ID); err != nil {
				return err
			}
			return tx.PutSourceItems(ctx, w.source.Org, w.source.ID, moved)
		}); err != nil {
			return err
		}
	}
	return w.fetchAll(ctx, todo)
}

// mark notes that an item was listed.
func (w *worker) mark(number int64, count bool) {
	w.seen.Add(uint32(number))
	if count {
		w.counts.Seen++
	}
}

func (w *worker) countFailure(code string) {
	if code == string(port.SourceSkipped) {
		w.counts.Skipped++
	} else {
		w.counts.Failed++
	}
}

// nextRetry is when the first of the failed items is due; zero: none is. The store is asked, since
// an attempt before may have met some.
func (w *worker) nextRetry(ctx context.Context) (at time.Time, err error) {
	if w.source.Kind == pushKind {
		return at, nil // nobody could fetch them
	}
	err = w.eachItem(ctx, port.SourceItemList{Failed: new(true)}, func(rows []port.SourceItemRow) error {
		for _, row := range rows {
			if next := row.NextAttempt; !next.IsZero() && (at.IsZero() || next.Before(at)) {
				at = next
			}
		}
		return nil
	})
	return at, err
}

// lookUp reads what is kept of items, and of which the namespace lacks the documents: those
// written to an earlier life of it, and, where they are asked for, those deleted by hand.
func (w *worker) lookUp(ctx context.Context, items []port.SourceItem) (kept map[[32]byte]port.SourceItemRow,
	missing map[[32]byte]bool, generation int64, err error) {
	hashes := make([][32]byte, len(items))
	for i := range items {
		hashes[i] = keyHash(items[i].Key)
	}
	missing = map[[32]byte]bool{}
	err = w.store.View(ctx, func(r reader) error {
		var err error
		if kept, err = r.SourceItems(ctx, w.source.Org, w.source.ID, hashes); err != nil {
			return err
		}
		p := port.Documents(w.source.Org, w.source.Namespace)
		ns, err := r.Partition(ctx, p)
		if err != nil && !fault.IsPartitionNotFound(err) {
			return err
		}
		generation = ns.Generation
		var ids []string
		of := map[string][32]byte{}
		for hash, row := range kept {
			if row.Documents > 0 && (row.Generation != generation || w.params.Again) {
				id := documentID(w.source.ID, hash, 1)
				ids, of[id], missing[hash] = append(ids, id), hash, true
			}
		}
		if len(ids) == 0 || generation == 0 {
			return nil
		}
		heads, err := r.Documents(ctx, p, ids, 0)
		for _, h := range heads {
			delete(missing, of[h.ID])
		}
		return err
	})
	return kept, missing, generation, err
}

// atOnce is how many items of a run are fetched at once.
const atOnce = 4

// batchBytes bounds the texts that are written in one transaction.
const batchBytes = 4 << 20

// fetchAll reads items, some at once, and writes them in their order.
func (w *worker) fetchAll(ctx context.Context, todo []*piece) error {
	if len(todo) == 0 {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	ready := make([]chan error, len(todo))
	tokens := make(chan struct{}, atOnce)
	for i := range todo {
		ready[i] = make(chan error, 1)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for i, p := range todo {
			select {
			case tokens <- struct{}{}:
			case <-ctx.Done():
				return
			}
			reading.Go(func() { ready[i] <- w.read(ctx, p) })
		}
	})
	defer func() { // nothing is read behind the connector's back
		stop()
		reading.Wait()
	}()
	var batch []*piece
	size := 0
	for i, p := range todo {
		select {
		case err := <-ready[i]:
			<-tokens
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		w.touch()
		for _, d := range p.documents {
			size += len(*d.Text)
		}
		if batch = append(batch, p); size < batchBytes {
			continue
		}
		if err := w.write(ctx, batch); err != nil {
			return err
		}
		batch, size = nil, 0
	}
	return w.write(ctx, batch)
}

// read fetches an item and makes documents of it. Its error ends the run; what is
// the item's own stands in the piece.
func (w *worker) read(ctx context.Context, p *piece) (err error) {
	defer func() {
		if v := recover(); v != nil {
			w.log.ErrorContext(ctx, "item reader panicked", "source", w.source.ID, "key", p.item.Key, "panic", v)
			_ = p.fail("broken", "could not be read: its reader failed", false)
			err = nil
		}
	}()
	content := p.item.Content
	if content == nil {
		fetched, err := w.kind.connector.Fetch(ctx, w.connection(), p.item)
		if err != nil {
			return p.because(ctx, err)
		}
		content = &fetched
	}
	if content.Version != "" && len(content.Version) <= maxVersion && clean(content.Version) {
		p.item.Version = content.Version
	}
	if content.Body != nil {
		defer func() { _ = content.Body.Close() }() // what was read counts
		b, err := io.ReadAll(io.LimitReader(content.Body, w.maxItem+1))
		if err != nil {
			return p.because(ctx, err)
		}
		content.File.Content = b
	}
	if int64(len(content.File.Content)) > w.maxItem {
		return p.fail("too_large", fmt.Sprintf("is larger than %d bytes", w.maxItem), true)
	}
	if w.extractor == nil {
		return p.fail("unsupported", "cannot be read: this server reads no files", true)
	}
	x, err := w.extractor.Extract(ctx, content.File)
	if err != nil {
		return p.because(ctx, err)
	}
	return w.compose(p, x, content.Metadata)
}

// fail says why there are no documents; trying again changes nothing if final.
func (p *piece) fail(code, message string, final bool) error {
	p.failed, p.final, p.documents = &port.SourceReason{Code: code, Message: cut(message, maxItemName)}, final, nil
	return nil
}

// because sorts the failures of an item from those of its source.
func (p *piece) because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var ofFile *port.FileError
	if errors.As(err, &ofFile) {
		return p.fail(string(ofFile.Code), ofFile.Message, ofFile.Code != port.FileTimeout)
	}
	var of *port.SourceError
	if !errors.As(err, &of) {
		if f := fault.From(err); f.Code == fault.Unavailable {
			return err
		}
		return p.fail("internal", "could not be read: an internal error occurred", false)
	}
	switch of.Code {
	case port.SourceCredentials, port.SourceConfig:
		return err // it is the source's: no other item can be read either
	case port.SourceNotFound:
		p.gone = true
		return nil
	}
	p.wait = of.RetryAfter
	return p.fail(string(of.Code), of.Message, of.Code == port.SourceSkipped || of.Code == port.SourceTooLarge)
}

// maxKeys is how many keys metadata may have.
const maxKeys = 32

// compose makes the documents of a text.
func (w *worker) compose(p *piece, x port.Extracted, more map[string]any) error {
	fields := map[string]any{"source_kind": w.source.Kind}
	if p.item.URL != "" {
		fields["url"] = p.item.URL
	}
	if path := cut(p.item.Key, maxItemName); path != p.item.URL {
		fields["path"] = path
	}
	if x.Title == "" {
		x.Title = cut(p.item.Name, maxItemName)
	}
	if !p.item.Modified.IsZero() {
		fields["modified_at"] = p.item.Modified.UTC().Format(time.RFC3339)
	}
	if x.Format.MediaType != "" {
		fields["media_type"] = x.Format.MediaType
	}
	// What the item says of itself comes after ours, as far as it can be kept.
	room := maxKeys - len(fields) - len([]string{"title", "page", "part", "parts"})
	own := maps.Clone(x.Metadata)
	if own == nil {
		own = map[string]any{}
	}
	maps.Copy(own, more)
	for _, key := range slices.Sorted(maps.Keys(own)) {
		raw, err := json.Marshal(map[string]any{key: own[key]})
		if _, taken := fields[key]; taken || room <= 0 || err != nil || len(raw) > 4<<10 {
			continue
		}
		if _, err := filter.ParseMetadata("metadata", raw); err != nil {
			continue
		}
		fields[key] = own[key]
		room--
	}
	x.Metadata = nil
	parts, err := file.Parts(x, fields)
	if err != nil {
		return p.fail("invalid_metadata", fault.From(err).Message, true)
	}
	sum := sha256.New()
	for i := range parts {
		raw, err := json.Marshal(parts[i].Metadata)
		if err != nil {
			return fmt.Errorf("encode metadata: %w", err)
		}
		p.documents = append(p.documents, document.Input{ID: documentID(w.source.ID, p.row.KeyHash, i+1), Text: &parts[i].Text,
			Metadata: raw})
		fmt.Fprintf(sum, "%d %d\n%s%s", len(parts[i].Text), len(raw), parts[i].Text, raw)
	}
	copy(p.hash[:], sum.Sum(nil))
	if len(p.documents) == 0 {
		return p.fail("no_text", "holds no text", true)
	}
	return nil
}

// write stores what was read, all in one transaction. Where the documents of one item make
// that impossible, each item goes by itself.
func (w *worker) write(ctx context.Context, batch []*piece) error {
	if len(batch) == 0 {
		return nil
	}
	err := w.tryWrite(ctx, batch)
	for tries := 1; errors.Is(err, errMoved) && tries < maxMoved; tries++ {
		if err = w.readAgain(ctx, batch); err == nil {
			err = w.tryWrite(ctx, batch)
		}
	}
	var of *port.SourceError
	code := fault.CodeOf(err)
	if err == nil || errors.As(err, &of) || code != fault.InvalidRequest && code != fault.PayloadTooLarge &&
		code != fault.InvalidMetadata && code != fault.InvalidID {
		return err
	}
	if len(batch) > 1 {
		for _, p := range batch {
			if err := w.write(ctx, []*piece{p}); err != nil {
				return err
			}
		}
		return nil
	}
	_ = batch[0].fail(string(code), fault.From(err).Message, true)
	return w.tryWrite(ctx, batch)
}

// maxMoved is how often what was pushed is made again of what other calls have left.
const maxMoved = 10

// readAgain reads again what is kept of items.
func (w *worker) readAgain(ctx context.Context, batch []*piece) error {
	items := make([]port.SourceItem, len(batch))
	for i, p := range batch {
		items[i] = p.item
	}
	kept, missing, _, err := w.lookUp(ctx, items)
	if err != nil {
		return err
	}
	for _, p := range batch {
		hash := p.row.KeyHash
		p.again = missing[hash]
		if p.row, p.kept = kept[hash]; !p.kept {
			p.row = port.SourceItemRow{KeyHash: hash, Key: p.item.Key}
		}
	}
	return nil
}

// unmoved answers errMoved where items are not kept as they were read; the zero row was not.
// Only calls that push change items beside each other.
func (s *Service) unmoved(ctx context.Context, tx port.SourceReader, source port.SourceRow, rows []port.SourceItemRow) error {
	if source.Kind != pushKind {
		return nil
	}
	hashes := make([][32]byte, len(rows))
	for i := range rows {
		hashes[i] = rows[i].KeyHash
	}
	found, err := tx.SourceItems(ctx, source.Org, source.ID, hashes)
	if err != nil {
		return err
	}
	for _, row := range rows {
		is, kept := found[row.KeyHash]
		if known := !row.UpdatedAt.IsZero(); known != kept ||
			kept && (is.Number != row.Number || !is.UpdatedAt.Equal(row.UpdatedAt) || is.ContentHash != row.ContentHash) {
			return errMoved
		}
	}
	return nil
}

func (w *worker) tryWrite(ctx context.Context, batch []*piece) error {
	in := document.WriteDocuments{Namespace: w.source.Namespace, Origin: "source", Source: w.source.ID}
	for _, p := range batch {
		if p.same() {
			continue
		}
		in.Documents = append(in.Documents, p.documents...)
		for n := len(p.documents) + 1; len(p.documents) > 0 && n <= p.row.Documents; n++ {
			in.Obsolete = append(in.Obsolete, documentID(w.source.ID, p.row.KeyHash, n))
		}
	}
	before := make([]port.SourceItemRow, len(batch))
	for i, p := range batch {
		before[i] = p.row
	}
	var o outcome
	var gone []uint32
	within := func(tx wide, generation int64) error {
		o, gone = w.note(), nil
		var rows []port.SourceItemRow
		if err := w.unmoved(ctx, tx, w.source, before); err != nil {
			return err
		}
		return w.commit(ctx, tx, &o, func(row *port.SourceRow, _ *port.SourceRun) error {
			for _, p := range batch {
				if p.gone {
					if p.kept {
						gone = append(gone, uint32(p.row.Number))
						o.seen.Remove(uint32(p.row.Number))
						if row := p.row; !row.NextAttempt.IsZero() { // it may be kept, but is not to be asked for again
							row.NextAttempt = time.Time{}
							rows = append(rows, row)
						}
					}
					continue
				}
				rows = append(rows, w.settled(p, row, &o, generation))
			}
			return tx.PutSourceItems(ctx, row.Org, row.ID, rows)
		})
	}
	var err error
	if len(in.Documents) > 0 {
		_, err = w.documents.Sync(ctx, in, func(tx ingest.Writer, on port.Partition, _ document.Written) error {
			return within(tx, on.Generation())
		}, w.touch)
	} else {
		err = w.store.Update(ctx, func(tx writer) error { return within(tx, 0) })
	}
	var late ingest.NotSearchable
	if errors.As(err, &late) {
		w.log.WarnContext(ctx, "documents of source not searchable yet", "source", w.source.ID, "error", err)
		err = nil
	}
	if err != nil {
		return err
	}
	w.adopt(&o)
	for _, n := range gone {
		w.gone.Add(n)
	}
	return nil
}

// same reports whether an item's documents are kept as they are.
func (p *piece) same() bool {
	return p.failed == nil && p.kept && !p.again && p.hash == p.row.ContentHash && len(p.documents) == p.row.Documents
}

// settled is the row of an item as a transaction leaves it, and counts it.
func (w *worker) settled(p *piece, source *port.SourceRow, o *outcome, generation int64) port.SourceItemRow {
	row := p.row
	if !p.kept {
		row.Number = source.Numbers
		source.Numbers++
		source.Items++
	}
	now := w.now().UTC()
	newVersion := row.Version != p.item.Version
	row.Key, row.Version, row.Name, row.URL, row.UpdatedAt = p.item.Key, p.item.Version, p.item.Name, p.item.URL, now
	repeat := p.kept && o.seen.Contains(uint32(row.Number))
	if !repeat {
		o.counts.Seen++
	}
	o.seen.Add(uint32(row.Number))
	record := port.SourceRunItem{Place: row.Number, Key: row.Key, Document: documentID(w.source.ID, row.KeyHash, 1)}
	switch {
	case p.failed != nil:
		if newVersion {
			row.Attempts = 0
		}
		row.Error, row.NextAttempt = p.failed, time.Time{}
		row.Attempts++
		if !p.final && row.Attempts <= len(retryAfter) {
			row.NextAttempt = now.Add(max(p.wait, retryAfter[row.Attempts-1]))
		}
		record.Status, record.Error, p.outcome = "failed", p.failed, "failed"
		if p.failed.Code == string(port.SourceSkipped) {
			record.Status = "skipped"
			o.counts.Skipped++
		} else {
			o.counts.Failed++
		}
		if row.Documents == 0 {
			record.Document = ""
		}
		o.items = append(o.items, record)
		return row
	case p.same():
		o.counts.Unchanged++
		p.outcome = "unchanged"
	case row.Documents == 0:
		o.counts.Created++
		record.Status, p.outcome = "created", "created"
		o.items = append(o.items, record)
	default:
		o.counts.Updated++
		record.Status, p.outcome = "updated", "updated"
		o.items = append(o.items, record)
	}
	source.Documents += int64(len(p.documents) - row.Documents)
	row.Error, row.Attempts, row.NextAttempt = nil, 0, time.Time{}
	row.ContentHash, row.Documents = p.hash, len(p.documents)
	if !p.same() {
		row.Generation = generation
	}
	return row
}

// retryDue tries the failed items whose time has come.
func (w *worker) retryDue(ctx context.Context) error {
	return w.retryFailed(ctx, port.SourceItemList{Due: w.now()})
}

// retryFailed tries the failed items that l selects.
func (w *worker) retryFailed(ctx context.Context, l port.SourceItemList) error {
	return w.retryEach(ctx, func(r reader, from int64) ([]port.SourceItemRow, int64, error) {
		l.From, l.Limit = from, pageItems
		rows, err := r.ListSourceItems(ctx, w.source.Org, w.source.ID, l)
		if len(rows) > 0 {
			from = rows[len(rows)-1].Number + 1
		}
		return rows, from, err
	})
}

// named reports whether a run could record all that failed in it.
func (w *worker) named(ctx context.Context, run string) (whole bool, err error) {
	err = w.store.View(ctx, func(r reader) error {
		of, err := r.SourceRun(ctx, w.source.Org, w.source.ID, run)
		whole = of.Recorded < maxRecorded
		return err
	})
	return whole, err
}

// retryRun tries the items that a run has recorded as failed and that have not been read
// since, or all that have failed where it could not record them all.
func (w *worker) retryRun(ctx context.Context, run string) error {
	whole, err := w.named(ctx, run)
	if err != nil {
		return err
	}
	if !whole {
		return w.retryFailed(ctx, port.SourceItemList{Failed: new(true)})
	}
	return w.retryEach(ctx, func(r reader, from int64) ([]port.SourceItemRow, int64, error) {
		items, err := r.SourceRunItems(ctx, w.source.Org, run, from, "failed", pageItems)
		if err != nil || len(items) == 0 {
			return nil, from, err
		}
		hashes := make([][32]byte, len(items))
		for i := range items {
			hashes[i] = keyHash(items[i].Key)
		}
		found, err := r.SourceItems(ctx, w.source.Org, w.source.ID, hashes)
		var rows []port.SourceItemRow
		for _, h := range hashes {
			if row, ok := found[h]; ok && row.Error != nil {
				rows = append(rows, row)
			}
		}
		return rows, items[len(items)-1].Place + 1, err
	})
}

func (w *worker) retryEach(ctx context.Context, next func(r reader, from int64) ([]port.SourceItemRow, int64, error)) error {
	for from := int64(0); ; {
		var rows []port.SourceItemRow
		at := from
		err := w.store.View(ctx, func(r reader) (err error) {
			rows, at, err = next(r, from)
			return err
		})
		if err != nil || at == from {
			return err
		}
		from = at
		items := make([]port.SourceItem, len(rows))
		for i, row := range rows {
			items[i] = port.SourceItem{Key: row.Key, Version: row.Version, Name: row.Name, URL: row.URL, Size: -1}
		}
		if err := w.settleItems(ctx, items, true); err != nil {
			return err
		}
	}
}
