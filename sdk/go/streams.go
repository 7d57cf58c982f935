package mneme

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/mnemehq/mneme/sdk/go/api"
)

// Follow says what is followed. The zero value is every event from now on.
type Follow struct {
	After        string        // a cursor, latest or newest; latest unless set
	Kinds        []string      // only events of these kinds
	Wait         time.Duration // for which an answer is held until there is an event, 30 s unless set
	IgnoreMissed bool          // go on where events are forgotten, instead of a MissedEventsError
}

// Follow goes over events as they happen, until ctx ends: an answer is awaited until there is one.
func (s *EventsService) Follow(ctx context.Context, follow Follow) iter.Seq2[Event, error] {
	return follow.events(ctx, func(ctx context.Context, after string, limit, wait int64) (*EventPage, error) {
		params := EventsListParams{After: &after, Limit: &limit, Wait: &wait}
		if follow.Kinds != nil {
			params.Kinds = Ptr(kindsOf[api.EventsListParamsKinds](follow.Kinds))
		}
		return s.List(ctx, &params)
	})
}

// Follow goes over events as they happen, until ctx ends: an answer is awaited until there is one.
func (s *AdminEventsService) Follow(ctx context.Context, org string, follow Follow) iter.Seq2[Event, error] {
	return follow.events(ctx, func(ctx context.Context, after string, limit, wait int64) (*EventPage, error) {
		params := AdminEventsListParams{After: &after, Limit: &limit, Wait: &wait}
		if follow.Kinds != nil {
			params.Kinds = Ptr(kindsOf[api.AdminEventsListParamsKinds](follow.Kinds))
		}
		return s.List(ctx, org, &params)
	})
}

func kindsOf[T ~string](kinds []string) []T {
	made := make([]T, len(kinds))
	for i, kind := range kinds {
		made[i] = T(kind)
	}
	return made
}

func (f Follow) events(
	ctx context.Context, list func(ctx context.Context, after string, limit, wait int64) (*EventPage, error),
) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		after, wait := f.After, f.Wait
		if after == "" {
			after = "latest"
		}
		if wait == 0 {
			wait = 30 * time.Second
		}
		ctx := context.WithValue(ctx, extraTime, wait)
		for {
			page, err := list(ctx, after, 1000, int64(wait/time.Second))
			if err == nil && page.Missed && !f.IgnoreMissed {
				err = &MissedEventsError{page.NextCursor}
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, event := range page.Events {
				if !yield(event, nil) {
					return
				}
			}
			after = page.NextCursor
		}
	}
}

// Export goes over the objects of an export of a namespace, as they come.
func (s *AdminNamespacesService) Export(
	ctx context.Context, org, namespace string, params *AdminNamespacesExportParams,
) iter.Seq2[json.RawMessage, error] {
	return s.c.lines(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminNamespacesExport(ctx, org, namespace, params)
	})
}

// Export goes over all that is kept of an end user, object by object as it comes.
func (s *AdminEndUsersService) Export(
	ctx context.Context, id string, params *AdminEndUsersExportParams,
) iter.Seq2[json.RawMessage, error] {
	return s.c.lines(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminEndUsersExport(ctx, id, params)
	})
}

// Export goes over the records, oldest first, all of them as they come.
func (s *AdminAuditService) Export(ctx context.Context, params *AdminAuditExportParams) iter.Seq2[json.RawMessage, error] {
	return s.c.lines(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminAuditExport(ctx, params)
	})
}

// ExportCSV is the same as CSV, to be closed.
func (s *AdminAuditService) ExportCSV(ctx context.Context, params *AdminAuditExportCsvParams) (io.ReadCloser, error) {
	return s.c.stream(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminAuditExportCsv(ctx, params)
	})
}

// ExportCSV is usage as CSV, all of it, to be closed.
func (s *AdminUsageService) ExportCSV(ctx context.Context, params *AdminUsageExportCsvParams) (io.ReadCloser, error) {
	return s.c.stream(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.c.api.AdminUsageExportCsv(ctx, params)
	})
}
