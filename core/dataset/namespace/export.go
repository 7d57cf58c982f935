package namespace

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Export is an export in progress. It implements op.Streamer.
type Export struct {
	s         *Service
	org       port.Organization
	partition port.Partition
	vectors   bool
}

// Export finds a namespace to export, with its vectors or without. Fault
// NamespaceNotFound when it is not there.
func (s *Service) Export(ctx context.Context, o port.Organization, p port.Partition, vectors bool) (*Export, error) {
	err := s.store.View(ctx, func(r dataset.Reader) error {
		_, err := r.Partition(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Export{s, o, p, vectors}, nil
}

// ContentType implements op.Streamer.
func (x *Export) ContentType() string { return "application/x-ndjson" }

// Stream implements op.Streamer. After an error the last line says so, if it can still
// be written, and there is no trailer.
func (x *Export) Stream(ctx context.Context, w io.Writer) (err error) {
	spooled, err := x.s.spools.open(x.partition.Org())
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	read := make(chan struct{})
	defer func() {
		stop()
		<-read
		if closed := spooled.close(); err == nil {
			err = closed
		}
	}()
	go func() {
		defer close(read)
		buffered := bufio.NewWriterSize(spooled, 256<<10)
		err := x.read(ctx, dataset.NewWriter(buffered))
		if failed := buffered.Flush(); err == nil {
			err = failed
		}
		spooled.end(err)
	}()
	return spooled.follow(ctx, w)
}

func (x *Export) read(ctx context.Context, lines *dataset.Writer) error {
	end, err := x.s.exporting.take(ctx, x.partition.Org())
	if err != nil {
		return err
	}
	defer end()
	leave, err := take(ctx, x.s.exports)
	if err != nil {
		return err
	}
	defer leave()
	err = x.write(ctx, lines)
	if err == nil || ctx.Err() != nil {
		return err
	}
	f := fault.From(err)
	if f.Code == fault.NamespaceNotFound {
		f = fault.New(fault.NamespaceNotFound, "namespace %q was deleted before it was read", x.partition.Name())
	}
	// If this line cannot be written either, the missing trailer still tells the reader.
	_, _ = lines.Write(dataset.KindError, dataset.Failure{Code: string(f.Code), Message: f.Message})
	return err
}

func (x *Export) write(ctx context.Context, lines *dataset.Writer) error {
	h := dataset.Header{
		Format:   dataset.Format,
		Version:  dataset.Version,
		ID:       dataset.NewID(),
		Program:  x.s.program,
		Snapshot: dataset.PerPartition,
		Created:  x.s.now().UTC().Truncate(time.Second),
		Contents: dataset.Contents{Organization: string(x.org.ID), Namespaces: []string{x.partition.Name()}, Vectors: x.vectors},
	}
	h.Planned.Organizations, h.Planned.Namespaces = 1, 1
	err := x.s.store.View(ctx, func(r dataset.Reader) error {
		n, err := r.Partition(ctx, x.partition)
		h.Planned.Documents, h.Planned.Bytes = n.Documents, n.Bytes
		return err
	})
	if err != nil {
		return err
	}
	if _, err := lines.Write(dataset.KindHeader, h); err != nil {
		return err
	}
	if _, err := lines.Write(dataset.KindOrganization, dataset.NewOrganization(x.org)); err != nil {
		return err
	}
	counts, _, err := dataset.Source{Store: x.s.store, Vectors: x.vectors}.Write(ctx,
		port.PartitionEntry{Partition: x.partition}, lines)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	counts.Organizations = 1
	_, err = lines.Write(dataset.KindTrailer, dataset.Trailer{Counts: counts, Lines: lines.Lines()})
	return err
}
