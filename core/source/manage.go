package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// CreateSource is the body of POST /sources.
type CreateSource struct {
	Name      string            `json:"name" schema:"Text" minLength:"1" maxLength:"200" doc:"for people"`
	Kind      string            `json:"kind" schema:"Text" minLength:"1" maxLength:"32" doc:"as in GET /source_kinds"`
	Namespace string            `json:"namespace" schema:"NamespaceName" doc:"namespace to keep in step; it is made when there is none"`
	Config    json.RawMessage   `json:"config,omitempty" doc:"settings, an object as the kind's schema wants it"`
	Secrets   map[string]string `json:"secrets,omitempty" doc:"as the kind's schema wants them; written, never read back"`
	Schedule  *Schedule         `json:"schedule,omitempty" doc:"when runs begin by themselves; left out: they do not"`
	Deletions *string           `json:"deletions,omitempty" enum:"propagate,keep" doc:"what becomes of documents whose items are gone; left out: as is usual for the kind, propagate for most"`
	Enabled   *bool             `json:"enabled,omitempty" default:"true" doc:"false: it is paused"`
	Start     *bool             `json:"start,omitempty" default:"true" doc:"whether the first run begins at once"`
}

// NamespaceName is for keys limited to one namespace.
func (in *CreateSource) NamespaceName() string { return in.Namespace }

// object is settings of a request; those left out are an empty object.
func object(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}")
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return raw // the schema refuses it
	}
	return compact.Bytes()
}

// maxSecret bounds a secret, and its name by the kind's schema.
const maxSecret = 64 << 10

// maxSources is how many sources an organization may have.
const maxSources = 1000

// Create connects a source.
func (s *Service) Create(ctx context.Context, in CreateSource) (Source, error) {
	k, err := s.kindOf(in.Kind)
	if err != nil {
		return Source{}, err
	}
	config := object(in.Config)
	if err := refuse(append(problems("config", k.config, config), k.secretProblems(in.Secrets)...)); err != nil {
		return Source{}, err
	}
	schedule, err := parseSchedule(in.Schedule)
	if err != nil {
		return Source{}, err
	}
	if schedule != (port.SourceSchedule{}) && k.Name == pushKind {
		return Source{}, fault.Field(fault.InvalidRequest, "schedule", "is not for sources of kind push")
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	org := ident.From(ctx).Org
	row := port.SourceRow{
		ID: "src_" + uuid.Must(uuid.NewV7()).String(), Org: org, Name: in.Name, Kind: k.Name, Namespace: in.Namespace,
		Config: config, Schedule: schedule, Keep: k.Keeps, Enabled: in.Enabled == nil || *in.Enabled,
		State: port.SourceIdle, CreatedAt: now, UpdatedAt: now,
	}
	if in.Deletions != nil {
		row.Keep = keeps(*in.Deletions)
	}
	if !row.Enabled {
		row.State = port.SourcePaused
	}
	secrets := map[string]string{}
	maps.Copy(secrets, in.Secrets)
	maps.DeleteFunc(secrets, func(_, value string) bool { return value == "" })
	if err := s.look(ctx, k, "", config, secrets, nil); err != nil {
		return Source{}, err
	}
	sealed, err := s.seal(ctx, org, row.ID, secrets)
	if err != nil {
		return Source{}, err
	}
	row.Secrets = setNames(nil, secrets)
	start := row.Enabled && (in.Start == nil || *in.Start) && k.Name != pushKind
	if row.Enabled && !start {
		row.NextRun = next(schedule, 0, now)
	}
	create := func(w writer) error {
		port.AuditOf(ctx).Made(row.ID)
		all, err := w.Sources(ctx, port.SourceList{Org: org})
		if err != nil {
			return err
		}
		if len(all) >= maxSources {
			return fault.New(fault.Conflict, "the organization has %d sources, as many as it may", len(all))
		}
		if err := w.PutSource(ctx, row); err != nil {
			return err
		}
		return w.PutSourceSecrets(ctx, org, row.ID, sealed)
	}
	if !start {
		err = s.store.Update(ctx, create)
	} else {
		_, _, err = s.start(ctx, org, row.ID, order{trigger: "create"}, create)
	}
	if err != nil {
		return Source{}, err
	}
	select {
	case s.made <- struct{}{}:
	default: // Run will look
	}
	out, err := s.Get(ctx, Ref{row.ID})
	out.status = 201
	return out, err
}

// setNames is which secrets are set once those given are.
func setNames(names []string, given map[string]string) []string {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	for n, value := range given {
		set[n] = value != ""
	}
	maps.DeleteFunc(set, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(set))
}

// seal encrypts secrets for their places; empty ones are to be removed.
func (s *Service) seal(ctx context.Context, org ident.Org, source string, secrets map[string]string) (map[string][]byte, error) {
	out := make(map[string][]byte, len(secrets))
	for name, value := range secrets {
		if len(value) > maxSecret {
			return nil, fault.Field(fault.InvalidRequest, "secrets."+name, "must be at most %d bytes", maxSecret)
		}
		if out[name] = nil; value == "" {
			continue
		}
		if s.sealer == nil {
			return nil, fault.Off("this server cannot keep secrets: it has no key to encrypt them with")
		}
		var err error
		if out[name], err = s.sealer.Seal(ctx, place(org, source, name), []byte(value)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func place(org ident.Org, source, name string) port.SealPlace {
	return port.SealPlace{Org: org, Table: "source_secrets", Row: source, Name: name}
}

// open decrypts the secrets of a source, and answers them as they are stored, too.
func (s *Service) open(ctx context.Context, org ident.Org, source string) (secrets map[string]string, sealed map[string][]byte,
	err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		sealed, err = r.SourceSecrets(ctx, org, source)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	secrets = make(map[string]string, len(sealed))
	for name, value := range sealed {
		if s.sealer == nil {
			return nil, nil, fault.Off("this server cannot read secrets: it has no key to decrypt them with")
		}
		secret, err := s.sealer.Open(ctx, place(org, source, name), value)
		if err != nil {
			return nil, nil, err
		}
		secrets[name] = string(secret)
	}
	return secrets, sealed, nil
}

// ListSources are the parameters of GET /sources.
type ListSources struct {
	Limit     *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor    string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
	Namespace string `query:"namespace" json:"-" schema:"Text" doc:"only sources of this namespace"`
	Kind      string `query:"kind" json:"-" schema:"Text" doc:"only sources of this kind"`
	State     string `query:"state" json:"-" enum:"idle,syncing,paused,error,deleting" doc:"only sources in this state"`
}

// Sources answers GET /sources.
type Sources struct {
	Sources    []Source `json:"sources"`
	NextCursor *string  `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// after is where a list goes on.
type after struct {
	ID string    `json:"i,omitempty"`
	At time.Time `json:"t,omitzero"`
	N  int64     `json:"n,omitempty"`
}

// List lists sources, the oldest first.
func (s *Service) List(ctx context.Context, in ListSources) (Sources, error) {
	who, limit := ident.From(ctx), page.Limit(in.Limit)
	bind := []string{"sources", string(who.Org), who.Namespace, in.Namespace, in.Kind, in.State}
	var at after
	if err := s.pages.Open(in.Cursor, &at, bind...); err != nil {
		return Sources{}, err
	}
	out := Sources{Sources: []Source{}}
	if who.Namespace != "" {
		if in.Namespace != "" && in.Namespace != who.Namespace {
			return out, nil
		}
		in.Namespace = who.Namespace
	}
	err := s.store.View(ctx, func(r reader) error {
		rows, err := r.Sources(ctx, port.SourceList{Org: who.Org, Namespace: in.Namespace, Kind: in.Kind,
			State: port.SourceState(in.State), After: at.ID, Limit: limit + 1})
		if err != nil {
			return err
		}
		if len(rows) > limit {
			rows = rows[:limit]
			out.NextCursor = new(s.pages.Seal(after{ID: rows[limit-1].ID}, bind...))
		}
		for _, row := range rows {
			one, err := s.answer(ctx, r, row)
			if err != nil {
				return err
			}
			out.Sources = append(out.Sources, one)
		}
		return nil
	})
	return out, err
}

// answer adds the newest run to a source.
func (s *Service) answer(ctx context.Context, r port.SourceReader, row port.SourceRow) (Source, error) {
	last, err := r.SourceRuns(ctx, row.Org, row.ID, port.SourceRunList{Limit: 1})
	if err != nil {
		return Source{}, err
	}
	if len(last) == 0 {
		return source(row, nil, s.now()), nil
	}
	return source(row, &last[0], s.now()), nil
}

// Get reads a source.
func (s *Service) Get(ctx context.Context, in Ref) (out Source, err error) {
	err = s.store.View(ctx, func(r reader) error {
		row, err := mine(ctx, r, in.ID)
		if err == nil {
			out, err = s.answer(ctx, r, row)
		}
		return err
	})
	return out, err
}

// UpdateSource is the body of PATCH /sources/{id}.
type UpdateSource struct {
	Ref
	Name      *string           `json:"name,omitempty" schema:"Text" minLength:"1" maxLength:"200" doc:"for people"`
	Config    json.RawMessage   `json:"config,omitempty" doc:"settings, all of them"`
	Secrets   map[string]string `json:"secrets,omitempty" doc:"those to set; an empty text removes one"`
	Schedule  *Schedule         `json:"schedule,omitempty" doc:"an empty object removes it"`
	Deletions *string           `json:"deletions,omitempty" enum:"propagate,keep" doc:"what becomes of documents whose items are gone"`
	Enabled   *bool             `json:"enabled,omitempty" doc:"false pauses the source, true ends that"`
}

// Update changes a source.
func (s *Service) Update(ctx context.Context, in UpdateSource) (Source, error) {
	org := ident.From(ctx).Org
	var k knownKind
	var before port.SourceRow
	err := s.store.View(ctx, func(r reader) (err error) {
		if before, err = mine(ctx, r, in.ID); err == nil {
			k, err = s.kindOf(before.Kind)
		}
		return err
	})
	if err != nil {
		return Source{}, err
	}
	var config json.RawMessage
	if len(in.Config) > 0 {
		config = object(in.Config)
		if err := refuse(problems("config", k.config, config)); err != nil {
			return Source{}, err
		}
	}
	if err := refuse(slices.DeleteFunc(k.secretProblems(in.Secrets), func(p port.SourceFieldProblem) bool {
		return p.Message == "is required" // it may be set already
	})); err != nil {
		return Source{}, err
	}
	schedule, err := parseSchedule(in.Schedule)
	if err != nil {
		return Source{}, err
	}
	if schedule != (port.SourceSchedule{}) && k.Name == pushKind {
		return Source{}, fault.Field(fault.InvalidRequest, "schedule", "is not for sources of kind push")
	}
	if in.Secrets, err = s.lookAgain(ctx, k, before, config, in.Secrets); err != nil {
		return Source{}, err
	}
	sealed, err := s.seal(ctx, org, in.ID, in.Secrets)
	if err != nil {
		return Source{}, err
	}
	ended, begin := "", false
	change := func(w writer) error {
		ended, begin = "", false
		row, err := mine(ctx, w, in.ID)
		if err != nil {
			return err
		}
		if row.State == port.SourceDeleting {
			return fault.New(fault.Conflict, "source %s is being deleted", row.ID)
		}
		now := s.now().UTC()
		if in.Name != nil {
			row.Name = *in.Name
		}
		if in.Deletions != nil {
			row.Keep = keeps(*in.Deletions)
		}
		if in.Enabled != nil {
			row.Enabled = *in.Enabled
		}
		fresh := len(sealed) > 0 || config != nil && !bytes.Equal(config, row.Config)
		if fresh {
			if config != nil && !bytes.Equal(config, row.Config) {
				row.Config, row.Cursor = config, nil
			}
			row.Secrets = setNames(row.Secrets, in.Secrets)
			if err := w.PutSourceSecrets(ctx, org, row.ID, sealed); err != nil {
				return err
			}
			row.Failures = 0
		}
		if row.Run != "" && (fresh || !row.Enabled) {
			if ended, err = s.cancelRun(ctx, w, &row); err != nil {
				return err
			}
		}
		switch {
		case !row.Enabled:
			row.State, row.Reason, row.NextRun, row.NextRetry = port.SourcePaused, nil, time.Time{}, time.Time{}
		case fresh || row.State == port.SourcePaused:
			row.State, row.Reason = port.SourceIdle, nil
			begin = fresh && k.Name != pushKind
		}
		if in.Schedule != nil {
			row.Schedule = schedule
		}
		if row.Enabled && (in.Schedule != nil || row.NextRun.IsZero()) {
			row.NextRun = next(row.Schedule, row.Failures, now)
		}
		row.UpdatedAt = now.Truncate(time.Millisecond)
		return w.PutSource(ctx, row)
	}
	if err := s.store.Update(ctx, change); err != nil {
		return Source{}, err
	}
	s.interrupt(ctx, org, ended)
	if begin {
		_, _, err := s.start(ctx, org, in.ID, order{trigger: "config", full: true}, nil)
		if err != nil && fault.CodeOf(err) != fault.Conflict {
			return Source{}, err
		}
	}
	return s.Get(ctx, in.Ref)
}

// lookAgain is look for a source that is there and gets settings or secrets. It answers the secrets to
// set: those given, or what the upstream has replaced them with. While a run has the source's
// secrets, of which one user at a time may be, that run or the next finds out.
func (s *Service) lookAgain(ctx context.Context, k knownKind, row port.SourceRow, config json.RawMessage,
	given map[string]string) (map[string]string, error) {
	set := maps.Clone(given)
	maps.DeleteFunc(set, func(_, value string) bool { return value == "" })
	if config == nil && len(set) == 0 || len(row.Secrets) > 0 && row.Run != "" {
		return given, nil
	}
	if config == nil {
		config = row.Config
	}
	secrets, sealed, err := s.open(ctx, row.Org, row.ID)
	switch {
	case fault.IsOff(err):
		return given, nil // so does every run, until there is a key
	case errors.Is(err, port.ErrUnsealable):
		secrets = map[string]string{} // they are lost, and are set again
	case err != nil:
		return nil, err
	}
	maps.Copy(secrets, given)
	maps.DeleteFunc(secrets, func(_, value string) bool { return value == "" })
	set = maps.Clone(given)
	looking := &worker{Service: s, source: row, sealed: sealed}
	err = s.look(ctx, k, row.ID, config, secrets, func(ctx context.Context, renewed map[string]string) error {
		for name, value := range renewed {
			if _, ok := set[name]; ok {
				set[name] = value
			}
		}
		return looking.renew(ctx, renewed)
	})
	return set, err
}

// DeleteSource are the parameters of DELETE /sources/{id}.
type DeleteSource struct {
	Ref
	Documents string `query:"documents" json:"-" enum:"keep,delete" default:"keep" doc:"what becomes of its documents"`
}

// deletion is the request of the job that deletes a source.
type deletion struct {
	Source    string `json:"source"`
	Documents bool   `json:"documents"` // are deleted, too
}

// Delete disconnects a source. Repeating it while the source goes answers the same.
func (s *Service) Delete(ctx context.Context, in DeleteSource) (out Source, err error) {
	org := ident.From(ctx).Org
	id := "job_" + uuid.Must(uuid.NewV7()).String()
	ended := ""
	_, _, err = s.jobs.Start(ctx, deleteKind, job.Order{
		ID:        id,
		Partition: port.Documents(org, ""),
		Request:   deletion{in.ID, in.Documents == "delete"},
		In: func(ctx context.Context, store func(w job.Writer, on port.Partition) error) error {
			return s.store.Update(ctx, func(w writer) error {
				ended = ""
				row, err := mine(ctx, w, in.ID)
				if err != nil {
					return err
				}
				if row.State == port.SourceDeleting {
					if j, err := w.Job(ctx, org, row.Run); err == nil && !j.Status.Ended() {
						out = source(row, nil, s.now())
						return nil
					}
				} else if row.Run != "" {
					if ended, err = s.cancelRun(ctx, w, &row); err != nil {
						return err
					}
				}
				row.State, row.Reason, row.Run = port.SourceDeleting, nil, id
				row.NextRun, row.NextRetry = time.Time{}, time.Time{}
				if err := w.PutSource(ctx, row); err != nil {
					return err
				}
				out = source(row, nil, s.now())
				return store(w, port.Documents(org, row.Namespace))
			})
		},
	})
	s.interrupt(ctx, org, ended)
	out.status = 202
	return out, err
}

// goneAtOnce is how many items, or rows of each kind, a step of a deletion removes.
const goneAtOnce = 200

// workDelete removes a source step by step.
func (s *Service) workDelete(ctx context.Context, j *job.Job) error {
	var what deletion
	if err := j.Request(&what); err != nil {
		return err
	}
	ctx = acting(ctx, j.Org)
	if err := s.disconnect(ctx, j, what.Source); err != nil {
		return err
	}
	for from := int64(0); what.Documents; {
		var row port.SourceRow
		var items []port.SourceItemRow
		err := s.store.View(ctx, func(r reader) (err error) {
			if row, err = r.Source(ctx, j.Org, what.Source); err == nil {
				// What was removed before is not to be passed again: a store may keep it for a while.
				items, err = r.ListSourceItems(ctx, j.Org, what.Source, port.SourceItemList{From: from, Limit: goneAtOnce})
			}
			return err
		})
		if fault.CodeOf(err) == fault.SourceNotFound || err == nil && len(items) == 0 {
			break
		}
		if err != nil {
			return err
		}
		if err := s.withdraw(ctx, row, items, func(w wide, _ port.SourceRow) error { return j.Confirm(ctx, w) }); err != nil {
			return err
		}
		from = items[len(items)-1].Number + 1
	}
	for more := true; more; {
		err := s.store.Update(ctx, func(w writer) (err error) {
			if err = j.Confirm(ctx, w); err == nil {
				more, err = w.DeleteSource(ctx, j.Org, what.Source, 10*goneAtOnce)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// revokeTimeout is how long an upstream may take to be given its grant back.
const revokeTimeout = 10 * time.Second

// disconnect gives the source's grant back to its upstream, as far as that answers, and
// removes its secrets: no token outlives the source, however long its documents take to go.
func (s *Service) disconnect(ctx context.Context, j *job.Job, id string) error {
	var row port.SourceRow
	err := s.store.View(ctx, func(r reader) (err error) {
		row, err = r.Source(ctx, j.Org, id)
		return err
	})
	if fault.CodeOf(err) == fault.SourceNotFound || err == nil && len(row.Secrets) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if k := s.connectors[row.Kind]; k.Revokes {
		if err := s.revoke(ctx, k.connector, row); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "grant of source not given back", "source", id, "error", err)
		}
	}
	return s.store.Update(ctx, func(w writer) error {
		if err := j.Confirm(ctx, w); err != nil {
			return err
		}
		row, err := w.Source(ctx, j.Org, id)
		if err != nil {
			return err
		}
		none := map[string][]byte{}
		for _, name := range row.Secrets {
			none[name] = nil
		}
		if err := w.PutSourceSecrets(ctx, j.Org, id, none); err != nil {
			return err
		}
		row.Secrets = nil
		return w.PutSource(ctx, row)
	})
}

func (s *Service) revoke(ctx context.Context, c port.Connector, row port.SourceRow) error {
	secrets, _, err := s.open(ctx, row.Org, row.ID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	return c.Revoke(ctx, port.Connection{
		Source:  row.ID,
		Config:  row.Config,
		Secrets: secrets,
		Known:   func(context.Context, string) (string, bool, error) { return "", false, nil },
		Renew:   func(context.Context, map[string]string) error { return nil },
	})
}

// acting is ctx for work that a source does by itself.
func acting(ctx context.Context, org ident.Org) context.Context {
	who := ident.Principal{Org: org}
	if known := ident.Known(ctx); known != nil {
		who.KeyID = known.KeyID
	}
	return ident.WithPrincipal(ctx, who)
}
