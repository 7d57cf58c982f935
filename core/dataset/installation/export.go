package installation

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Secrets that servers over one store share.
var secretNames = [...]string{"cursor", "oauth"}

const (
	pageRows       = 500
	pagePartitions = 1000
)

// Exporter reads the data of a store.
type Exporter struct {
	Store    port.Store
	Contents dataset.Contents
	Program  string // version, for the header
	Backend  string // component of the store, for the header
	// OnProgress gets the number of documents written so far; nil: none.
	OnProgress func(done, total int64)

	done  int64
	total int64
}

// Plan counts the data and makes the header. Faults: NotFound when the
// organization, or a namespace that was asked for, is not there.
func (x *Exporter) Plan(ctx context.Context) (dataset.Header, error) {
	h := dataset.Header{
		Format:   dataset.Format,
		Version:  dataset.Version,
		ID:       dataset.NewID(),
		Program:  x.Program,
		Store:    x.Backend,
		Snapshot: dataset.PerPartition,
		Created:  time.Now().UTC().Truncate(time.Second),
		Contents: x.Contents,
	}
	orgs, err := x.organizations(ctx)
	if err != nil {
		return h, err
	}
	h.Planned.Organizations = int64(len(orgs))
	missing := slices.Clone(x.Contents.Namespaces)
	for _, o := range orgs {
		err := x.partitions(ctx, o.ID, port.Partition{}, func(held port.PartitionEntry) error {
			if held.Partition.Space() == port.SpaceMemories {
				h.Planned.EndUsers++
			} else {
				h.Planned.Namespaces++
				missing = slices.DeleteFunc(missing, func(name string) bool { return name == held.Partition.Name() })
			}
			h.Planned.Documents += held.Row.Documents
			h.Planned.Bytes += held.Row.Bytes
			return nil
		})
		if err != nil {
			return h, err
		}
	}
	if len(missing) > 0 {
		return h, fault.New(fault.NamespaceNotFound, "there is no namespace %s", strings.Join(missing, ", "))
	}
	x.total = h.Planned.Documents
	return h, nil
}

// organizations lists the organizations to move, by id.
func (x *Exporter) organizations(ctx context.Context) (all []port.Organization, err error) {
	err = x.Store.View(ctx, func(r port.Reader) error {
		if all, err = r.Organizations(ctx); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list organizations: %w", err)
	}
	if want := x.Contents.Organization; want != "" {
		all = slices.DeleteFunc(all, func(o port.Organization) bool { return o.Name != want && string(o.ID) != want })
		if len(all) == 0 {
			return nil, fault.New(fault.NotFound, "there is no organization %s", want)
		}
	}
	slices.SortFunc(all, func(a, b port.Organization) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, nil
}

// partitions visits the partitions of an organization that are to be moved, from
// after one on. End users who are being erased are not.
func (x *Exporter) partitions(ctx context.Context, org ident.Org, after port.Partition,
	visit func(port.PartitionEntry) error) error {
	for {
		var page []port.PartitionEntry
		err := x.Store.View(ctx, func(r port.Reader) (err error) {
			s, ok := r.(port.PartitionLister)
			if !ok {
				return dataset.ErrNotMovable
			}
			page, err = s.Partitions(ctx, org, after, pagePartitions)
			return err
		})
		if err != nil {
			return fmt.Errorf("list partitions: %w", err)
		}
		for _, h := range page {
			if x.includes(h) {
				if err := visit(h); err != nil {
					return err
				}
			}
		}
		if len(page) < pagePartitions {
			return nil
		}
		after = page[len(page)-1].Partition
	}
}

func (x *Exporter) includes(h port.PartitionEntry) bool {
	if h.Partition.Space() == port.SpaceMemories {
		return x.Contents.Memories && h.Row.Erasing.IsZero()
	}
	return len(x.Contents.Namespaces) == 0 || slices.Contains(x.Contents.Namespaces, h.Partition.Name())
}

// Sink takes the lines of a data set.
type Sink interface {
	dataset.Sink
	// Lines counts those written so far.
	Lines() int64
	// Boundary says that everything up to here can stand alone; an unfinished data
	// set may be continued after it.
	Boundary() error
}

// Write writes the data set of a header that Plan made, its trailer too. With from
// it continues after that place, which an earlier call reached.
func (x *Exporter) Write(ctx context.Context, h dataset.Header, out Sink, from *dataset.Place) (dataset.Counts, error) {
	return x.writeAll(ctx, h, out, from, nil)
}

func (x *Exporter) writeAll(
	ctx context.Context, h dataset.Header, out Sink, from *dataset.Place, visited func(Moved),
) (dataset.Counts, error) {
	counts, err := x.run(ctx, h, out, from, visited)
	if err == nil {
		_, err = out.Write(dataset.KindTrailer, dataset.Trailer{Counts: counts, Lines: out.Lines()})
	}
	return counts, err
}

// stream is a Sink over a stream, which cannot be continued.
type stream struct{ *dataset.Writer }

func (stream) Boundary() error { return nil }

// Stream plans and writes the data set to a stream, uncompressed. It returns the
// counts of the data set.
func (x *Exporter) Stream(ctx context.Context, w io.Writer) (dataset.Counts, error) {
	h, err := x.Plan(ctx)
	if err != nil {
		return dataset.Counts{}, err
	}
	buffered := bufio.NewWriterSize(w, 256<<10)
	counts, err := x.Write(ctx, h, stream{dataset.NewWriter(buffered)}, nil)
	return counts, errors.Join(err, buffered.Flush())
}

// Moved is a partition as it was read.
type Moved struct {
	Partition port.Partition
	Seq       uint64
}

// run writes the data set to out. With from it goes on after that place. visited
// gets each partition that was read; nil: none.
func (x *Exporter) run(ctx context.Context, h dataset.Header, out Sink, from *dataset.Place,
	visited func(Moved)) (dataset.Counts, error) {
	var total dataset.Counts
	if from == nil {
		if _, err := out.Write(dataset.KindHeader, h); err != nil {
			return total, err
		}
		from = &dataset.Place{}
	} else {
		total = from.Counts
		x.done = total.Documents
	}
	orgs, err := x.organizations(ctx)
	if err != nil {
		return total, err
	}
	read := dataset.Source{Store: dataset.Snapshots(x.Store), Vectors: x.Contents.Vectors, OnDocuments: x.progress}
	for _, o := range orgs {
		var after port.Partition
		switch strings.Compare(string(o.ID), string(from.Organization)) {
		case -1:
			continue
		case 0:
			after = from.Partition
		default:
			c, err := x.organization(ctx, o, out)
			if err != nil {
				return total, err
			}
			total.Add(c)
		}
		err := x.partitions(ctx, o.ID, after, func(held port.PartitionEntry) error {
			c, seq, err := read.Write(ctx, held, out)
			if fault.IsPartitionNotFound(err) { // deleted since it was listed
				return nil
			}
			if err != nil {
				return err
			}
			total.Add(c)
			if visited != nil {
				visited(Moved{held.Partition, seq})
			}
			return out.Boundary()
		})
		if err != nil {
			return total, err
		}
	}
	if x.Contents.Secrets {
		c, err := x.secrets(ctx, out)
		if err != nil {
			return total, err
		}
		total.Add(c)
	}
	return total, nil
}

func (x *Exporter) progress(n int) {
	x.done += int64(n)
	if x.OnProgress != nil {
		x.OnProgress(x.done, max(x.total, x.done))
	}
}

func (x *Exporter) secrets(ctx context.Context, out dataset.Sink) (c dataset.Counts, err error) {
	for _, name := range secretNames {
		var value []byte
		err := x.Store.View(ctx, func(r port.Reader) (err error) {
			value, err = r.Secret(ctx, name)
			return err
		})
		if fault.CodeOf(err) == fault.NotFound {
			continue
		}
		if err == nil {
			_, err = out.Write(dataset.KindSecret, dataset.Secret{Name: name, Value: value})
		}
		if err != nil {
			return c, err
		}
		c.Secrets++
	}
	return c, nil
}

// organization writes an organization with what belongs to it as a whole.
func (x *Exporter) organization(ctx context.Context, o port.Organization, out dataset.Sink) (c dataset.Counts, err error) {
	c.Organizations = 1
	if _, err := out.Write(dataset.KindOrganization, dataset.NewOrganization(o)); err != nil {
		return c, err
	}
	err = x.Store.View(ctx, func(r port.Reader) error {
		if x.Contents.Memories || x.Contents.Keys {
			all, err := r.Integrations(ctx, o.ID)
			if err != nil {
				return err
			}
			for _, i := range all {
				_, err := out.Write(dataset.KindIntegration, dataset.Integration{
					ID:             i.ID,
					Name:           i.Name,
					Memories:       i.Quotas.MemoriesPerEndUser,
					Reads:          i.Quotas.ReadRatePerMin,
					Writes:         i.Quotas.WriteRatePerMin,
					GrantsRequired: i.GrantsRequired,
					Created:        i.CreatedAt,
				})
				if err != nil {
					return err
				}
				c.Integrations++
			}
		}
		if !x.Contents.Keys {
			return nil
		}
		if err := x.keys(ctx, r, o.ID, out, &c); err != nil {
			return err
		}
		return x.acceptedWrites(ctx, r, o.ID, out, &c)
	})
	return c, err
}

// acceptedWrites writes an organization's asynchronous writes that have not ended,
// oldest first.
func (x *Exporter) acceptedWrites(ctx context.Context, r port.Reader, org ident.Org, out dataset.Sink, c *dataset.Counts) error {
	jobs, err := r.Jobs(ctx, port.JobList{Org: org, Kind: port.JobWriteDocuments})
	if err != nil {
		return err
	}
	for _, j := range slices.Backward(jobs) {
		if j.Status.Ended() {
			continue
		}
		request, err := r.JobRequest(ctx, org, j.ID)
		if err != nil {
			return err
		}
		_, err = out.Write(dataset.KindOperation, dataset.Operation{
			ID:        j.ID,
			Namespace: j.Partition.Name(),
			Status:    string(j.Status),
			Done:      j.Done,
			Total:     j.Total,
			Request:   request.Body,
			Principal: request.Principal,
			Created:   j.CreatedAt,
		})
		if err != nil {
			return err
		}
		c.Operations++
	}
	return nil
}

// keys writes an organization's keys. A key that administers every organization is
// written only if every organization is.
func (x *Exporter) keys(ctx context.Context, r port.Reader, org ident.Org, out dataset.Sink, c *dataset.Counts) error {
	list := port.KeyList{Limit: pageRows}
	for {
		page, err := r.Keys(ctx, org, list)
		if err != nil {
			return err
		}
		for _, k := range page {
			if x.Contents.Organization != "" && slices.Contains(k.Scopes, ident.AllOrganizations) {
				continue
			}
			_, err := out.Write(dataset.KindKey, dataset.Key{
				ID:               k.ID,
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
				Integration:      k.Integration,
				EndUser:          k.EndUser,
				CreatedBy:        k.CreatedBy,
				Created:          k.CreatedAt,
				Expires:          k.ExpiresAt,
				Revoked:          k.RevokedAt,
				LastUsed:         k.LastUsedAt,
			})
			if err != nil {
				return err
			}
			c.Keys++
		}
		if len(page) < list.Limit {
			return nil
		}
		last := page[len(page)-1]
		list.AfterCreated, list.AfterID = last.CreatedAt, last.ID
	}
}
