package sourcekit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mnemehq/mneme/core/port"
)

// maxMetadata are the bytes of metadata as JSON.
const maxMetadata = 64 << 10

// metadata checks a content's, its version among it.
func (k *check) metadata(c port.SourceContent) {
	raw, err := json.Marshal(c.Metadata)
	k.expect("fetch.metadata", "metadata of at most 64 KiB as JSON", err == nil && len(raw) <= maxMetadata, "%d bytes, %v",
		len(raw), err)
	k.told(c.Version, c.File.Name, string(raw))
}

// fetch reads an item.
func (k *check) fetch(ctx context.Context, i port.SourceItem) (port.SourceContent, []byte, error) {
	c, err := k.connector.Fetch(ctx, k.connection(), i)
	if err != nil || c.Body == nil {
		return c, c.File.Content, err
	}
	text, err := io.ReadAll(c.Body)
	return c, text, errors.Join(err, c.Body.Close())
}

// isRead reports whether an item was read, or can't be on purpose: what is too large or skipped is
// an answer.
func isRead(err error) bool {
	var why *port.SourceError
	var file *port.FileError
	return err == nil || errors.As(err, &file) ||
		errors.As(err, &why) && (why.Code == port.SourceTooLarge || why.Code == port.SourceSkipped)
}

// fetches reads some items, one after the other and side by side, and one that there is not.
func (k *check) fetches(whole *listing) {
	contents := make([][]byte, len(whole.sample))
	for at, i := range whole.sample {
		c, text, err := k.fetch(k.ctx, i)
		if err != nil {
			k.said(err)
		}
		contents[at] = text
		k.expect("fetch.reads", "what was listed can be read", isRead(err), "%.100q: %v", i.Key, err)
		if err != nil {
			continue
		}
		k.metadata(c)
		k.expect("fetch.version", "reading an item tells the version that was listed, or none",
			i.Version == "" || c.Version == "" || c.Version == i.Version,
			"%.100q was listed as %q and read as %q: it is read again in each run", i.Key, i.Version, c.Version)
	}
	errs := make([]error, len(whole.sample))
	var group sync.WaitGroup
	for at, i := range whole.sample {
		group.Go(func() {
			_, text, err := k.fetch(k.ctx, i)
			switch {
			case !isRead(err):
				errs[at] = fmt.Errorf("%.100q: %w", i.Key, err)
			case !bytes.Equal(text, contents[at]):
				errs[at] = fmt.Errorf("%.100q is another text of %d bytes, not of %d", i.Key, len(text), len(contents[at]))
			}
		})
	}
	group.Wait()
	err := errors.Join(errs...)
	k.expect("fetch.parallel", "items read side by side are those read one by one", err == nil, "%v", err)
	_, text, err := k.fetch(k.ctx, port.SourceItem{Key: "mneme/no-such-item", Name: "no-such-item", Version: "1", Size: -1})
	var why *port.SourceError
	k.expect("fetch.unknown", "an item that there is not is not_found", errors.As(err, &why) && why.Code == port.SourceNotFound,
		"%d bytes, %v", len(text), err)
}
