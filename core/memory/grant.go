package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// Upstreams gives grants back to the systems that they are of. Safe for concurrent use.
type Upstreams interface {
	// CheckGrant refuses secrets with which nothing could give a grant of a source back.
	CheckGrant(source string, secrets map[string]string) error
	// RevokeGrant gives a grant back; repeating it is harmless.
	RevokeGrant(ctx context.Context, source string, secrets map[string]string) error
}

// Limits of grants, per end user. An upstream may take upstreamTimeout, and
// upstreamsAtOnce are asked at a time, so that those of an end user with all the live
// grants there may be are asked within the time limit of an erasure.
const (
	maxGrants       = 64  // live ones
	keptGrants      = 128 // with those that are revoked, the oldest of which are forgotten
	maxSecrets      = 64 << 10
	upstreamTimeout = 10 * time.Second
	upstreamsAtOnce = 8
)

// CreateGrant is the body of POST /api/v1/grants.
type CreateGrant struct {
	EndUserID string            `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	Source    string            `json:"source" fault:"invalid_source" schema:"SourceName" doc:"name of the source system"`
	Secrets   map[string]string `json:"secrets,omitempty" doc:"with which the kind of source of that name gives the grant back upstream; written, never read back"`
}

// EndUser is for keys limited to one end user.
func (in *CreateGrant) EndUser() string { return in.EndUserID }

// ListGrants are the parameters of GET /api/v1/grants.
type ListGrants struct {
	EndUserID string `query:"endUserId" json:"-" fault:"invalid_end_user_id" schema:"EndUserID" required:"true" doc:"the end user"`
}

// EndUser is for keys limited to one end user.
func (in *ListGrants) EndUser() string { return in.EndUserID }

// RevokeGrant are the parameters of DELETE /api/v1/grants/{id}.
type RevokeGrant struct {
	ID string `path:"id" json:"-" schema:"Text" doc:"id of the grant"`
}

// Grant is a grant as it is shown.
type Grant struct {
	ID         string     `json:"id" doc:"for the header X-Mneme-Grant"`
	EndUserID  string     `json:"endUserId" schema:"EndUserID"`
	Source     string     `json:"source" schema:"SourceName" doc:"name of the source system"`
	SecretsSet []string   `json:"secretsSet" doc:"names of the secrets that it was made with; their values are never answered"`
	CreatedAt  time.Time  `json:"createdAt"`
	RevokedAt  *time.Time `json:"revokedAt" doc:"null: it is live"`
	Upstream   *string    `json:"upstream" enum:"revoked,unanswered" doc:"of a revoked grant that has secrets: whether its upstream has taken it back; else null"`
}

// ShowGrant gives a grant the form of the interface.
func ShowGrant(g port.Grant) Grant {
	out := Grant{ID: g.ID, EndUserID: g.EndUser, Source: g.Source, SecretsSet: append([]string{}, g.Secrets...),
		CreatedAt: g.CreatedAt.UTC()}
	if !g.RevokedAt.IsZero() {
		out.RevokedAt = new(g.RevokedAt.UTC())
	}
	if g.Upstream != port.UpstreamNone {
		out.Upstream = new(string(g.Upstream))
	}
	return out
}

// Granted answers the creation and the revocation of a grant.
type Granted struct {
	Success bool  `json:"success"`
	Grant   Grant `json:"grant"`
}

// Grants answers GET /api/v1/grants.
type Grants struct {
	Success bool    `json:"success"`
	Grants  []Grant `json:"grants"`
}

// CreateGrant lets a source write an end user's memories. It makes the end user where
// there is none, so that an erasure finds the grant.
func (s *Service) CreateGrant(ctx context.Context, in CreateGrant) (Granted, error) {
	p := partition(ctx, in.EndUserID)
	id, err := newID("grt_")
	if err != nil {
		return Granted{}, err
	}
	maps.DeleteFunc(in.Secrets, func(_, secret string) bool { return secret == "" }) // none
	g := port.Grant{ID: id, Org: p.Org(), Integration: p.Integration(), EndUser: p.Name(), Source: in.Source, CreatedAt: s.now()}
	if g.Sealed, err = s.sealGrant(ctx, g, in.Secrets); err != nil {
		return Granted{}, err
	}
	g.Secrets = slices.Sorted(maps.Keys(in.Secrets))
	err = s.changes.Write(ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
		ns, exists, err := s.readForWrite(ctx, tx, p)
		if err != nil {
			return err
		}
		all, err := tx.Grants(ctx, p)
		if err != nil {
			return err
		}
		revoked := slices.DeleteFunc(slices.Clone(all), func(g port.Grant) bool { return g.RevokedAt.IsZero() })
		if live := len(all) - len(revoked); live >= maxGrants {
			return fault.New(fault.Conflict, "end user %s has %d grants, as many as one may have; revoke some", p.Name(), live)
		}
		pinned, err := s.ensurePartition(ctx, tx, p, ns, exists)
		if err != nil {
			return err
		}
		var over []string
		for _, old := range revoked[:min(len(revoked), max(0, len(all)+1-keptGrants))] {
			over = append(over, old.ID)
		}
		if err := tx.DeleteGrants(ctx, pinned, over); err != nil {
			return err
		}
		return tx.PutGrant(ctx, pinned, g)
	})
	if err != nil {
		return Granted{}, err
	}
	return Granted{true, ShowGrant(g)}, nil
}

// ListGrants lists the grants of an end user, newest first.
func (s *Service) ListGrants(ctx context.Context, in ListGrants) (Grants, error) {
	var all []port.Grant
	err := s.store.View(ctx, func(r snapshot) (err error) {
		all, err = r.Grants(ctx, partition(ctx, in.EndUserID))
		return err
	})
	out := Grants{Success: true, Grants: []Grant{}}
	for _, g := range slices.Backward(all) {
		out.Grants = append(out.Grants, ShowGrant(g))
	}
	return out, err
}

// RevokeGrant ends a grant, and gives it back upstream. Where the upstream did not take
// it back, repeating the call tries again.
func (s *Service) RevokeGrant(ctx context.Context, in RevokeGrant) (Granted, error) {
	who := ident.From(ctx)
	g, err := s.changeGrant(ctx, in.ID, func(g *port.Grant) bool {
		if !g.RevokedAt.IsZero() {
			return false
		}
		g.RevokedAt = s.now()
		return true
	})
	if err != nil {
		return Granted{}, err
	}
	if g.Sealed == nil {
		return Granted{true, ShowGrant(g)}, nil
	}
	// What is begun is done, whether or not the caller waits for it.
	ctx = ident.WithPrincipal(context.WithoutCancel(ctx), who)
	outcome := port.UpstreamUnanswered
	if s.giveBack(ctx, g) {
		outcome = port.UpstreamRevoked
	}
	g.Upstream = outcome
	_, err = s.changeGrant(ctx, in.ID, func(g *port.Grant) bool {
		if g.Upstream = outcome; outcome == port.UpstreamRevoked {
			g.Sealed = nil
		}
		return true
	})
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.PartitionNotFound, fault.Unavailable:
		err = nil // an erasure has taken it over
	}
	return Granted{true, ShowGrant(g)}, err
}

// changeGrant applies a change, if it is one, to a grant that the caller may see, and
// returns the outcome.
func (s *Service) changeGrant(ctx context.Context, id string, change func(*port.Grant) bool) (g port.Grant, err error) {
	who := ident.From(ctx)
	err = s.store.Update(ctx, func(w writer) (err error) {
		g, err = w.Grant(ctx, who.Org, who.Integration, id)
		if err == nil && (g.EndUser == "" || who.EndUser != "" && who.EndUser != g.EndUser) {
			err = fault.New(fault.NotFound, "there is no grant %q", fault.Clip(id))
		}
		if err != nil || !change(&g) {
			return err
		}
		return w.PutGrant(ctx, port.Memories(g.Org, g.Integration, g.EndUser), g)
	})
	return g, err
}

// idOf is the id of a grant that came with a request; "": none did.
func idOf(header *string) string {
	if header == nil {
		return ""
	}
	return *header
}

// checkGrant refuses what no grant allows, of a source's write to an end user.
func checkGrant(ctx context.Context, r port.GrantReader, p port.Partition, source, id string) error {
	refuse := func(reason, format string, args ...any) error {
		f := fault.New(fault.Forbidden, format, args...)
		f.Details = map[string]any{"reason": reason}
		return f
	}
	if id == "" {
		if ident.From(ctx).GrantsRequired {
			return refuse("grant_required",
				"sources write memories of this integration by a grant only: send its id in the header X-Mneme-Grant")
		}
		return nil
	}
	g, err := r.Grant(ctx, p.Org(), p.Integration(), id)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return refuse("grant_unknown", "there is no grant %q", fault.Clip(id))
	case err != nil:
		return err
	case !g.RevokedAt.IsZero():
		return refuse("grant_revoked", "grant %s has been revoked", g.ID)
	case g.EndUser != p.Name() || g.Source != source:
		return refuse("grant_mismatch", "grant %s is of another end user or source", g.ID)
	}
	return nil
}

// sealedAt is where the secrets of a grant are kept.
func sealedAt(g port.Grant) port.SealPlace {
	return port.SealPlace{Org: g.Org, Table: "grants", Row: g.ID, Name: "secrets"}
}

// sealGrant encrypts the secrets of a new grant; nil: it has none.
func (s *Service) sealGrant(ctx context.Context, g port.Grant, secrets map[string]string) ([]byte, error) {
	if len(secrets) == 0 {
		return nil, nil
	}
	size := 0
	for name, secret := range secrets {
		if size += len(name) + len(secret); size > maxSecrets {
			return nil, invalid("secrets", "must be at most %d bytes", maxSecrets)
		}
	}
	if s.sealer == nil || s.upstreams == nil {
		return nil, fault.Off("this server cannot keep the secrets of a grant")
	}
	if err := s.upstreams.CheckGrant(g.Source, secrets); err != nil {
		return nil, err
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return nil, fmt.Errorf("encode secrets: %w", err)
	}
	return s.sealer.Seal(ctx, sealedAt(g), plain)
}

// giveBack gives a grant back to its upstream, and reports whether that has taken it.
func (s *Service) giveBack(ctx context.Context, g port.Grant) bool {
	ctx, cancel := context.WithTimeout(ctx, s.upstreamTimeout)
	defer cancel()
	err := s.tryGivingBack(ctx, g)
	if err != nil {
		s.log.WarnContext(ctx, "grant not revoked upstream", "grant", g.ID, "org", string(g.Org), "integration", g.Integration,
			"source", g.Source, "error", err)
	}
	return err == nil
}

func (s *Service) tryGivingBack(ctx context.Context, g port.Grant) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if s.sealer == nil || s.upstreams == nil {
		return errors.New("this server has nothing to open its secrets with")
	}
	plain, err := s.sealer.Open(ctx, sealedAt(g), g.Sealed)
	if err != nil {
		return err
	}
	var secrets map[string]string
	if err := json.Unmarshal(plain, &secrets); err != nil {
		return fmt.Errorf("decode secrets: %w", err)
	}
	return s.upstreams.RevokeGrant(ctx, g.Source, secrets)
}

// eraseGrants gives the grants of an end user who is being erased back, and forgets
// them. The mark has revoked them. An upstream that does not answer is counted and holds
// nothing up; what a stop cuts off is tried again.
func (s *Service) eraseGrants(ctx context.Context, pinned port.Partition) error {
	var all []port.Grant
	err := s.store.View(ctx, func(r snapshot) (err error) {
		all, err = r.Grants(ctx, pinned)
		return err
	})
	if err != nil {
		return fmt.Errorf("list grants: %w", err)
	}
	var mu sync.Mutex
	var failed error
	var running sync.WaitGroup
	free := make(chan struct{}, upstreamsAtOnce)
	for _, g := range all {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			answered := g.Sealed == nil || s.giveBack(ctx, g)
			err := ctx.Err() // what ended the call may be a stop and not the upstream
			if err == nil {
				err = s.store.Update(ctx, func(w writer) error { return w.EraseGrant(ctx, pinned, g.ID, answered) })
			}
			mu.Lock()
			defer mu.Unlock()
			failed = cmp.Or(failed, err)
		})
	}
	running.Wait()
	if failed != nil {
		return fmt.Errorf("erase grants: %w", failed)
	}
	return nil
}
