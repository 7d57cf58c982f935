package installation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Copied says what a copy has done.
type Copied struct {
	Result
	// Moved are the partitions that were written or deleted at their source after
	// they were copied, and those created since.
	Moved []port.Partition
}

// Source names an installation for a journal. The name stays the same as long as the
// organizations do.
func (x *Exporter) Source(ctx context.Context) (string, error) {
	orgs, err := x.organizations(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, o := range orgs {
		_, _ = io.WriteString(h, string(o.ID)+"\n") // never fails
	}
	return "copy_" + hex.EncodeToString(h.Sum(nil)[:12]), nil
}

// Copy imports what x exports into the store of m, without a file between them.
// Partitions that m's store already has are compared first; under policy Fail nothing
// is changed if one of them has other contents.
func Copy(ctx context.Context, x *Exporter, m *Importer) (out Copied, err error) {
	h, err := x.Plan(ctx)
	if err != nil {
		return out, err
	}
	m.reset()
	m.header = h
	if err := m.checkSource(ctx, x); err != nil {
		return out, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r, w := io.Pipe()
	read := make(chan error, 1)
	seqs := map[port.Partition]uint64{}
	go func() {
		_, err := x.writeAll(ctx, h, stream{dataset.NewWriter(w)}, nil, func(v Moved) { seqs[v.Partition] = v.Seq })
		_ = w.CloseWithError(err) // never fails
		read <- err
	}()
	out.Result, err = m.Run(ctx, r)
	stop()
	_ = r.CloseWithError(io.ErrClosedPipe) // never fails
	if failed := <-read; failed != nil && (err == nil || errors.Is(err, failed)) {
		return out, failed
	}
	if err != nil {
		return out, err
	}
	out.Moved, err = x.changedSince(context.WithoutCancel(ctx), seqs)
	return out, err
}

// checkSource is Check for a store instead of a data set.
func (m *Importer) checkSource(ctx context.Context, x *Exporter) error {
	orgs, err := x.organizations(ctx)
	if err != nil {
		return err
	}
	for _, o := range orgs {
		if err := m.findOrganization(ctx, dataset.Organization{ID: o.ID, Name: o.Name}); err != nil {
			return err
		}
		if err := m.checkOrganization(ctx, x, o.ID); err != nil {
			return err
		}
		err := x.partitions(ctx, o.ID, port.Partition{}, func(h port.PartitionEntry) error {
			from := dataset.NewPartition(h.Partition)
			here, err := m.localPartition(from)
			if err != nil {
				return err
			}
			if _, found, err := m.findPartition(ctx, here); err != nil || !found {
				return err
			}
			_, hash, err := dataset.Source{Store: dataset.Snapshots(x.Store), Vectors: x.Contents.Vectors}.Hash(ctx, h)
			if err != nil {
				return err
			}
			return m.compare(ctx, from, hash)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkOrganization compares the rows that belong to an organization as a whole.
func (m *Importer) checkOrganization(ctx context.Context, x *Exporter, org ident.Org) error {
	var apps []port.Integration
	var keys []port.Key
	err := x.Store.View(ctx, func(r port.Reader) (err error) {
		if apps, err = r.Integrations(ctx, org); err == nil && x.Contents.Keys {
			keys, err = r.Keys(ctx, org, port.KeyList{})
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read organization %s: %w", org, err)
	}
	for _, i := range apps {
		if err := m.findIntegration(ctx, org, dataset.Integration{ID: i.ID, Name: i.Name}); err != nil {
			return err
		}
	}
	for _, k := range keys {
		moved := dataset.Key{ID: k.ID, Kind: k.Kind, Hash: k.Hash, Integration: k.Integration}
		if err := m.checkKey(ctx, org, moved); err != nil {
			return err
		}
	}
	return nil
}

// changedSince compares change numbers with those of a copy.
func (x *Exporter) changedSince(ctx context.Context, seqs map[port.Partition]uint64) (out []port.Partition, err error) {
	orgs, err := x.organizations(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range orgs {
		err := x.partitions(ctx, o.ID, port.Partition{}, func(h port.PartitionEntry) error {
			if seq, copied := seqs[h.Partition]; !copied || seq != h.Row.Seq {
				out = append(out, h.Partition)
			}
			delete(seqs, h.Partition)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for p := range seqs {
		out = append(out, p)
	}
	return out, nil
}
