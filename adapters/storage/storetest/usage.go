package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// hour is one of a day whose first hour is 0.
func hour(n int) time.Time {
	return time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
}

// done is usage with another number in every count.
func done(n int64) port.Usage {
	return port.Usage{Requests: n, Documents: 2 * n, Chunks: 3 * n, TokensEmbedded: 4 * n, TokensSparse: 5 * n,
		PairsReranked: 6 * n, Recalls: 7 * n}
}

func (f *fixture) usage(l port.UsageList) (rows []port.UsageRow) {
	f.Helper()
	f.view(func(r port.Reader) (err error) { rows, err = r.Usage(f.ctx, l); return err })
	return rows
}

func (f *fixture) addUsage(rows ...port.UsageRow) {
	f.Helper()
	f.update(func(w port.DocumentWriter) error { return w.AddUsage(f.ctx, rows) })
}

// usage: what is added is summed up by hour and account, and read by any of them.
func usage(_ *testing.T, f *fixture) {
	f.otherOrganization()
	docs := port.UsageAccount{Org: f.org, Namespace: "docs", KeyID: "key_1"}
	app := port.UsageAccount{Org: f.org, Integration: "int_1", KeyID: "key_2"}
	none := port.UsageAccount{Org: f.org}
	theirs := port.UsageAccount{Org: otherOrg, Namespace: "docs", KeyID: "key_3"}
	row := func(h int, a port.UsageAccount, n int64) port.UsageRow {
		return port.UsageRow{From: hour(h), UsageAccount: a, Usage: done(n)}
	}
	all := func(a port.UsageAccount, n int64) port.UsageRow {
		return port.UsageRow{UsageAccount: a, Usage: done(n)}
	}
	f.same("usage of nobody", f.usage(port.UsageList{}), []port.UsageRow(nil))
	late := row(1, docs, 1)
	late.From = late.From.Add(time.Hour - time.Microsecond) // any time of the hour
	f.addUsage(row(1, docs, 1), row(1, app, 2), late)
	f.addUsage(row(2, docs, 10), row(25, docs, 100), row(2, theirs, 3), row(1, none, 5), row(1, docs, 1))

	// An empty text is before any other.
	sortedOrgs := func(mine, their []port.UsageRow) []port.UsageRow {
		if f.org < otherOrg {
			return append(mine, their...)
		}
		return append(their, mine...)
	}
	f.same("by hour", f.usage(port.UsageList{Hours: 1, Org: f.org}),
		[]port.UsageRow{row(1, none, 5), row(1, app, 2), row(1, docs, 3), row(2, docs, 10), row(25, docs, 100)})
	f.same("by day", f.usage(port.UsageList{Hours: 24, Org: f.org}),
		[]port.UsageRow{row(0, none, 5), row(0, app, 2), row(0, docs, 13), row(24, docs, 100)})
	f.same("sums", f.usage(port.UsageList{}),
		sortedOrgs([]port.UsageRow{all(none, 5), all(app, 2), all(docs, 113)}, []port.UsageRow{all(theirs, 3)}))
	for what, c := range map[string]struct {
		list port.UsageList
		want []port.UsageRow
	}{
		"of an organization": {port.UsageList{Org: otherOrg}, []port.UsageRow{all(theirs, 3)}},
		"of no organization": {port.UsageList{Org: "org_none"}, nil},
		"of a namespace":     {port.UsageList{Org: f.org, Namespace: "docs"}, []port.UsageRow{all(docs, 113)}},
		"of an integration":  {port.UsageList{Integration: "int_1"}, []port.UsageRow{all(app, 2)}},
		"of a key":           {port.UsageList{KeyID: "key_3"}, []port.UsageRow{all(theirs, 3)}},
		"since":              {port.UsageList{Org: f.org, Since: hour(2)}, []port.UsageRow{all(docs, 110)}},
		"since within":       {port.UsageList{Org: f.org, Since: hour(2).Add(1)}, []port.UsageRow{all(docs, 100)}},
		"until":              {port.UsageList{Org: f.org, Namespace: "docs", Until: hour(2)}, []port.UsageRow{all(docs, 3)}},
		"until within": {port.UsageList{Org: f.org, Namespace: "docs", Until: hour(2).Add(1)},
			[]port.UsageRow{all(docs, 13)}},
		"between": {port.UsageList{Org: f.org, Since: hour(2), Until: hour(25)}, []port.UsageRow{all(docs, 10)}},
	} {
		f.same(what, f.usage(c.list), c.want)
	}
	for _, hours := range []int{0, 1, 24} {
		l := port.UsageList{Hours: hours}
		want := f.usage(l)
		var paged []port.UsageRow
		for l.Limit = 1; ; {
			some := f.usage(l)
			if len(some) == 0 {
				break
			}
			if paged = append(paged, some...); len(some) > 1 || len(paged) > len(want) {
				f.Fatalf("pages of one row: %v", paged)
			}
			l.After = &some[0]
		}
		f.same("pages", paged, want)
	}

	trim := func(before time.Time, limit int) (n int) {
		f.update(func(w port.DocumentWriter) (err error) { n, err = w.TrimUsage(f.ctx, before, limit); return err })
		return n
	}
	f.same("trimmed too early", trim(hour(1).Add(time.Hour-1), 10), 0)
	f.same("trimmed in part", trim(hour(2), 2), 2)
	f.same("trimmed", trim(hour(2), 2), 1)
	f.same("left", f.usage(port.UsageList{Org: f.org, Hours: 1}), []port.UsageRow{row(2, docs, 10), row(25, docs, 100)})
}

func (f *fixture) kept(a port.UsageAccount) (all []port.UsageBytes) {
	f.Helper()
	f.view(func(r port.Reader) (err error) { all, err = r.Kept(f.ctx, a); return err })
	return all
}

func (f *fixture) readings(l port.UsageBytesList) (all []port.UsageBytes) {
	f.Helper()
	f.view(func(r port.Reader) (err error) { all, err = r.UsageBytes(f.ctx, l); return err })
	return all
}

// usageBytes: readings are of live rows; of an hour the one that was read last counts, and for
// a time the last one before it.
func usageBytes(t *testing.T, f *fixture) {
	f.integration(f.org, "int_1")
	docs := f.create("docs")
	f.put(docs, at(1), plain("a"), plain("bcd"))
	f.create("empty")
	shadow := port.Documents(f.org, "docs").Shadow()
	f.update(func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, shadow, port.PartitionRow{Dimensions: dim})
		return err
	})
	f.put(shadow, at(1), plain("a"))
	ann, bob := f.endUser(port.Memories(f.org, "int_1", "ann")), f.endUser(port.Memories(f.org, "int_1", "bob"))
	f.put(ann, at(1), plain("m"))
	f.put(bob, at(1), plain("m"), plain("n"))

	size := func(ps ...port.Partition) (n int64) {
		for _, p := range ps {
			n += f.namespace(p).Bytes
		}
		return n
	}
	now := f.kept(port.UsageAccount{})
	if len(now) != 2 || now[0].ReadAt.IsZero() || now[0].Hour != now[0].ReadAt.Truncate(time.Hour) {
		t.Fatalf("kept: %+v", now)
	}
	read, this := now[0].ReadAt, now[0].Hour
	spaces := port.UsageBytes{Org: f.org, Namespace: "docs", Bytes: size(docs), Hour: this, ReadAt: read}
	app := port.UsageBytes{Org: f.org, Integration: "int_1", Bytes: size(ann, bob), Hour: this, ReadAt: read}
	f.same("kept", now, []port.UsageBytes{app, spaces})
	for _, want := range []port.UsageBytes{app, spaces, {Org: f.org, Namespace: "gone"},
		{Org: "org_none", Integration: "int_1"}} {
		got := f.kept(port.UsageAccount{Org: want.Org, Namespace: want.Namespace, Integration: want.Integration})
		if len(got) != 1 || got[0].ReadAt.IsZero() {
			t.Fatalf("kept: %+v", got)
		}
		want.Hour, want.ReadAt = got[0].Hour, got[0].ReadAt
		f.same("kept of one", got[0], want)
	}
	var h port.Holdings
	f.view(func(r port.Reader) (err error) { h, err = r.Holdings(f.ctx, f.org); return err })
	f.same("holdings", h, port.Holdings{Bytes: size(docs, ann, bob), Documents: 2, Namespaces: 2, EndUsers: 2})
	f.view(func(r port.Reader) (err error) { h, err = r.Holdings(f.ctx, "org_none"); return err })
	f.same("holdings of nobody", h, port.Holdings{})

	reading := func(h int, bytes int64, readAt int) port.UsageBytes {
		return port.UsageBytes{Org: f.org, Namespace: "docs", Bytes: bytes, Hour: hour(h), ReadAt: at(readAt)}
	}
	put := func(all ...port.UsageBytes) {
		f.update(func(w port.DocumentWriter) error { return w.PutUsageBytes(f.ctx, all) })
	}
	other := port.UsageBytes{Org: f.org, Integration: "int_1", Bytes: 9, Hour: hour(2), ReadAt: at(9)}
	put(reading(1, 10, 1), reading(1, 12, 3), other)
	put(reading(1, 11, 2), reading(4, 40, 5))
	put(reading(6, 0, 6))
	for _, c := range []struct {
		list port.UsageBytesList
		want []port.UsageBytes
	}{
		{port.UsageBytesList{At: hour(1).Add(-1)}, nil},
		{port.UsageBytesList{At: hour(1)}, []port.UsageBytes{reading(1, 12, 3)}},
		{port.UsageBytesList{At: hour(3)}, []port.UsageBytes{other, reading(1, 12, 3)}},
		{port.UsageBytesList{At: hour(5), Namespace: "docs"}, []port.UsageBytes{reading(4, 40, 5)}},
		{port.UsageBytesList{At: hour(5), Integration: "int_1"}, []port.UsageBytes{other}},
		{port.UsageBytesList{At: hour(5), Org: f.org, Limit: 1}, []port.UsageBytes{other}},
		{port.UsageBytesList{At: hour(5), After: &other}, []port.UsageBytes{reading(4, 40, 5)}},
		{port.UsageBytesList{At: hour(5), Org: "org_none"}, nil},
		{port.UsageBytesList{At: hour(6)}, []port.UsageBytes{other}},
		{port.UsageBytesList{At: hour(6), Empty: true}, []port.UsageBytes{other, reading(6, 0, 6)}},
	} {
		f.same("readings", f.readings(c.list), c.want)
	}
	trim := func(before time.Time, limit int) (n int) {
		f.update(func(w port.DocumentWriter) (err error) { n, err = w.TrimUsage(f.ctx, before, limit); return err })
		return n
	}
	f.same("trimmed before another took its place", trim(hour(3), 10), 0)
	f.same("trimmed", trim(hour(5), 10), 1)
	f.same("what was before", f.readings(port.UsageBytesList{At: hour(5)}), []port.UsageBytes{other, reading(4, 40, 5)})
	f.same("trimmed with what is gone", trim(hour(7), 10), 2)
	f.same("what is left", f.readings(port.UsageBytesList{At: hour(9), Empty: true}), []port.UsageBytes{other})
}

// usageOfTheDeleted: with an organization its usage and quotas go, and none comes after.
func usageOfTheDeleted(t *testing.T, f *fixture) {
	f.otherOrganization()
	count := func() (n int) {
		var qs []port.Quota
		f.view(func(r port.Reader) (err error) { qs, err = r.Quotas(f.ctx, otherOrg); return err })
		return len(f.usage(port.UsageList{Org: otherOrg, Hours: 1})) + len(qs) +
			len(f.readings(port.UsageBytesList{Org: otherOrg, At: hour(9), Empty: true}))
	}
	fill := func() {
		f.update(func(w port.DocumentWriter) error {
			var rows []port.UsageRow
			var kept []port.UsageBytes
			for _, org := range []ident.Org{otherOrg, f.org} {
				for h := range 3 {
					rows = append(rows, port.UsageRow{From: hour(h), UsageAccount: port.UsageAccount{Org: org}, Usage: done(1)})
					kept = append(kept, port.UsageBytes{Org: org, Namespace: string(rune('a' + h)), Bytes: 1, Hour: hour(h),
						ReadAt: at(1)})
				}
			}
			return errors.Join(w.AddUsage(f.ctx, rows), w.PutUsageBytes(f.ctx, kept))
		})
	}
	fill()
	f.update(func(w port.DocumentWriter) error {
		return errors.Join(w.PutQuota(f.ctx, otherOrg, port.QuotaBytes, 1), w.PutQuota(f.ctx, otherOrg, port.QuotaDocuments, 1))
	})
	f.same("before", count(), 8)
	f.update(func(w port.DocumentWriter) error { return w.BeginDeletion(f.ctx, otherOrg, at(1)) })
	f.expect("a quota of what is being deleted", fault.NotFound, func(w port.DocumentWriter) error {
		return w.PutQuota(f.ctx, otherOrg, port.QuotaEndUsers, 1)
	})
	for more, steps := true, 0; more; steps++ {
		if steps > 20 {
			t.Fatal("the deletion does not end")
		}
		f.update(func(w port.DocumentWriter) (err error) {
			_, more, err = w.EraseOrganization(f.ctx, otherOrg, 2)
			return err
		})
	}
	fill()
	f.same("after", count(), 0)
	f.same("of another", len(f.usage(port.UsageList{Org: f.org, Hours: 1})), 3)
}

// quotas are set, changed and removed one by one.
func quotas(_ *testing.T, f *fixture) {
	f.otherOrganization()
	read := func() (qs []port.Quota) {
		f.view(func(r port.Reader) (err error) { qs, err = r.Quotas(f.ctx, f.org); return err })
		return qs
	}
	f.same("none", read(), []port.Quota(nil))
	set := func(org ident.Org, name port.QuotaName, limit int64) {
		f.update(func(w port.DocumentWriter) error { return w.PutQuota(f.ctx, org, name, limit) })
	}
	exceed := func(at time.Time) {
		f.update(func(w port.DocumentWriter) error { return w.ExceedQuota(f.ctx, f.org, port.QuotaBytes, 1, at) })
	}
	set(f.org, port.QuotaEndUsers, 5)
	set(f.org, port.QuotaBytes, 1<<40)
	set(otherOrg, port.QuotaBytes, 7)
	f.same("two", read(), []port.Quota{{Name: port.QuotaBytes, Limit: 1 << 40}, {Name: port.QuotaEndUsers, Limit: 5}})
	exceed(at(3))
	f.same("exceeded", read(), []port.Quota{{Name: port.QuotaBytes, Limit: 1 << 40, Exceeded: at(3)},
		{Name: port.QuotaEndUsers, Limit: 5}})
	exceed(time.Time{})
	f.same("not any more", read()[0], port.Quota{Name: port.QuotaBytes, Limit: 1 << 40})
	exceed(at(4))
	set(f.org, port.QuotaBytes, 8)
	set(f.org, port.QuotaEndUsers, 0)
	set(f.org, port.QuotaDocuments, 0)
	f.same("changed", read(), []port.Quota{{Name: port.QuotaBytes, Limit: 8}})
	f.expect("a quota that is not there", fault.NotFound, func(w port.DocumentWriter) error {
		return w.ExceedQuota(f.ctx, f.org, port.QuotaEndUsers, 1, at(1))
	})
	f.expect("an organization that is not there", fault.NotFound, func(w port.DocumentWriter) error {
		return w.PutQuota(f.ctx, "org_none", port.QuotaEndUsers, 1)
	})
}
