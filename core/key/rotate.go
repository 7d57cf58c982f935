package key

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// DefaultOverlap is how long a rotated key stays valid beside its successor, unless
// the rotation says otherwise.
const DefaultOverlap = 24 * time.Hour

// MaxOverlap is the longest overlap: a longer one would defeat the rotation.
const MaxOverlap = 90 * 24 * time.Hour

// Rotation asks for a new secret with the rights of a key.
type Rotation struct {
	Overlap time.Duration // the old key ends after it; 0: at once
	// ExpiresAt is when the new key ends. Zero: as long after now as the old
	// one's end was after its issue; never, if that never ended.
	ExpiresAt time.Time
}

// Rotate makes a key with the rights of another, which ends after the overlap, or
// when it would have ended anyway. The new key has an id of its own. Faults:
// InvalidRequest, NotFound, Conflict for a key that has ended, Forbidden for a
// suspended organization.
func (s *Service) Rotate(ctx context.Context, ref Ref, r Rotation) (Issued, error) {
	now := s.now().UTC()
	switch {
	case r.Overlap < 0 || r.Overlap > MaxOverlap:
		return Issued{}, fault.Field(fault.InvalidRequest, "overlap", "must be 0-%d hours", int(MaxOverlap/time.Hour))
	case !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(now):
		return Issued{}, fault.Field(fault.InvalidRequest, "expires_at", "is not in the future")
	}
	var fresh port.Key
	var secret, integration string
	err := s.store.Update(ctx, func(w writer) error {
		o, old, err := s.find(ctx, w, ref)
		if err != nil {
			return err
		}
		if err := active(o); err != nil && !old.AllOrganizations() {
			return err
		}
		if state := old.State(now); state != "live" {
			return fault.New(fault.Conflict, "key %s is %s; make a new one instead", old.ID, state)
		}
		fresh = port.Key{ID: "key_" + random(idLength), Org: o.ID, Name: old.Name, Kind: old.Kind, ReadOnly: old.ReadOnly,
			Namespace: old.Namespace, Source: old.Source, DefaultNamespace: old.DefaultNamespace, Scopes: old.Scopes,
			Limits: old.Limits, Integration: old.Integration, EndUser: old.EndUser, CreatedBy: s.makerOf(ctx, ""), CreatedAt: now,
			ExpiresAt: r.ExpiresAt}
		secret, fresh.Hash, fresh.Last4 = newSecret(old.Kind)
		integration = old.IntegrationName
		if !old.ExpiresAt.IsZero() && fresh.ExpiresAt.IsZero() {
			fresh.ExpiresAt = now.Add(old.ExpiresAt.Sub(old.CreatedAt))
		}
		changes(ctx, o.ID, old.ID)
		if err := w.PutKey(ctx, fresh); err != nil {
			return err
		}
		if r.Overlap == 0 {
			return w.RevokeKey(ctx, o.ID, old.ID, now)
		}
		return w.ExpireKey(ctx, o.ID, old.ID, now.Add(r.Overlap))
	})
	s.cache.forget()
	if err != nil {
		return Issued{}, err
	}
	return Issued{Info: info(fresh, integration), Secret: secret}, nil
}
