package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// CheckSource is the body of POST /sources/check.
type CheckSource struct {
	Kind     string            `json:"kind" schema:"Text" minLength:"1" maxLength:"32" doc:"as in GET /source_kinds"`
	Config   json.RawMessage   `json:"config,omitempty" doc:"settings, an object as the kind's schema wants it"`
	Secrets  map[string]string `json:"secrets,omitempty" doc:"as the kind's schema wants them"`
	SourceID string            `json:"source_id,omitempty" schema:"Text" doc:"source whose secrets are used where none are given"`
}

// Checked answers POST /sources/check.
type Checked struct {
	OK       bool      `json:"ok" doc:"whether a run could begin"`
	Problems []Problem `json:"problems" doc:"what of the settings can't work"`
	Error    *Reason   `json:"error" doc:"why the source could not be listed; else null"`
	Items    []Listed  `json:"items" doc:"the first items, at most 20"`
	Complete bool      `json:"complete" doc:"whether these are all"`
}

// Problem is what is wrong with a field.
type Problem struct {
	Field   string `json:"field" example:"config.path"`
	Message string `json:"message" doc:"for people; the field is its subject"`
}

// Listed is an item that was listed.
type Listed struct {
	Key        string     `json:"key"`
	Name       string     `json:"name"`
	URL        *string    `json:"url"`
	Size       *int64     `json:"size" doc:"in bytes; null: not known"`
	ModifiedAt *time.Time `json:"modified_at"`
}

// sampled is how many items a check lists.
const sampled = 20

// Check tries settings: it writes nothing.
func (s *Service) Check(ctx context.Context, in CheckSource) (Checked, error) {
	out := Checked{Problems: []Problem{}, Items: []Listed{}}
	k, err := s.kindOf(in.Kind)
	if err != nil {
		return out, err
	}
	secrets := map[string]string{}
	c := port.Connection{Source: in.SourceID, Config: object(in.Config)}
	c.Known = func(context.Context, string) (string, bool, error) { return "", false, nil }
	c.Renew = func(context.Context, map[string]string) error { return nil }
	if in.SourceID != "" {
		if secrets, err = s.secretsOf(ctx, in.SourceID, &c); err != nil {
			return out, err
		}
	}
	maps.Copy(secrets, in.Secrets)
	c.Secrets = secrets
	found := append(problems("config", k.config, c.Config), k.secretProblems(secrets)...)
	if len(found) == 0 {
		found, err = k.connector.Check(ctx, c)
	}
	for _, p := range found {
		out.Problems = append(out.Problems, Problem(p))
	}
	if err == nil && len(found) == 0 {
		l := &sample{}
		if err = k.connector.List(ctx, c, nil, l); errors.Is(err, errEnough) {
			err = nil
		}
		out.Items, out.Complete = append(out.Items, l.items...), l.complete
	}
	var of *port.SourceError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.As(err, &of):
		out.Error = &Reason{string(of.Code), of.Message}
	default:
		return out, err
	}
	out.OK = out.Error == nil && len(out.Problems) == 0
	return out, nil
}

// secretsOf reads the secrets of a source for a check. Those that it renews are kept, and
// a source's secrets have one user at a time.
func (s *Service) secretsOf(ctx context.Context, id string, c *port.Connection) (map[string]string, error) {
	org := ident.From(ctx).Org
	var row port.SourceRow
	err := s.store.View(ctx, func(r reader) (err error) {
		row, err = mine(ctx, r, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(row.Secrets) > 0 && row.Run != "" {
		return nil, fault.New(fault.Conflict, "run %s uses the secrets of the source; check it when that has ended", row.Run)
	}
	w := &worker{Service: s, source: row}
	c.Renew = w.renew
	secrets, sealed, err := s.open(ctx, org, id)
	w.sealed = sealed
	return secrets, err
}

// look refuses settings and secrets with which no run can succeed. An upstream that is away, slow or
// busy refuses nothing: a run finds out later. Secrets that the upstream replaces in the meantime are put
// into secrets, and given to renew, if there is one.
func (s *Service) look(ctx context.Context, k knownKind, id string, config json.RawMessage, secrets map[string]string,
	renew func(context.Context, map[string]string) error) error {
	looking, stop := context.WithTimeout(ctx, s.lookFor)
	defer stop()
	c := port.Connection{Source: id, Config: config, Secrets: maps.Clone(secrets)}
	c.Known = func(context.Context, string) (string, bool, error) { return "", false, nil }
	c.Renew = func(ctx context.Context, renewed map[string]string) error {
		maps.Copy(secrets, renewed)
		if renew == nil {
			return nil
		}
		return renew(ctx, renewed)
	}
	found, err := k.connector.Check(looking, c)
	if err := cmp.Or(ctx.Err(), refuse(found)); err != nil {
		return err
	}
	var of *port.SourceError
	if !errors.As(err, &of) {
		return nil // of the time that it took, or of the connector's program: a run says more
	}
	switch of.Code {
	case port.SourceCredentials:
		return fault.Field(fault.InvalidRequest, "secrets", "cannot work: %s", of.Message)
	case port.SourceConfig, port.SourceForbidden, port.SourceNotFound:
		return fault.Field(fault.InvalidRequest, "config", "cannot work: %s", of.Message)
	}
	return nil
}

// errEnough ends the listing of a check.
var errEnough = errors.New("source: enough is listed")

// sample is the listing of a check.
type sample struct {
	items    []Listed
	complete bool
}

// Item implements port.SourceListing.
func (l *sample) Item(_ context.Context, i port.SourceItem) error {
	if badItem(&i) != "" {
		return nil
	}
	one := Listed{Key: i.Key, Name: i.Name, URL: optional(i.URL), ModifiedAt: moment(i.Modified)}
	if i.Size >= 0 {
		one.Size = &i.Size
	}
	if len(l.items) == sampled {
		return errEnough
	}
	l.items = append(l.items, one)
	return nil
}

// Gone implements port.SourceListing.
func (l *sample) Gone(context.Context, string) error { return nil }

// Checkpoint implements port.SourceListing.
func (l *sample) Checkpoint(context.Context, []byte) error { return nil }

// Problem implements port.SourceListing.
func (l *sample) Problem(context.Context, port.SourceProblem) error { return nil }

// Complete implements port.SourceListing.
func (l *sample) Complete(context.Context, bool) error {
	l.complete = true
	return nil
}
