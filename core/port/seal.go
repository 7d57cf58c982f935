package port

import (
	"context"
	"errors"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// SealPlace is where a sealed value is kept. It opens there alone: a value that was
// moved to another place does not.
type SealPlace struct {
	Org   ident.Org
	Table string // such as "source_secrets"
	Row   string // the row's id
	Name  string // of the value in its row
}

// Sealer encrypts what a store keeps of other systems' secrets. Both methods read the
// store in a transaction of their own: they are not for the functions of View and
// Update. Safe for concurrent use.
type Sealer interface {
	// Seal encrypts a secret for its place. Fault Unavailable (fault.IsOff) where the
	// server has no key to seal with, NotFound when the organization is absent or its
	// deletion has begun.
	Seal(ctx context.Context, at SealPlace, secret []byte) ([]byte, error)
	// Open decrypts what was sealed for a place. The error is ErrUnsealable when that is
	// lost for good, and Unavailable when it is the server that lacks the key.
	Open(ctx context.Context, at SealPlace, sealed []byte) ([]byte, error)
}

// ErrUnsealable is inside the error of a sealed value that can't be opened any more: it
// was altered or moved, or the key of its organization is gone. Anyone who gave the secret
// has to give it again.
var ErrUnsealable = errors.New("it was altered or moved, or the data key that it was sealed with is gone")

// DataKey is what the secrets of one organization are sealed with, as stored: wrapped
// by a key that the store never has.
type DataKey struct {
	Org       ident.Org
	ID        string // of this key, for ever
	Wrapped   []byte
	WrappedBy string // names the key that wraps it
	CreatedAt time.Time
}

// DataKeyReader reads data keys.
type DataKeyReader interface {
	// DataKey finds an organization's; fault NotFound when it has none.
	DataKey(ctx context.Context, org ident.Org) (DataKey, error)
	// DataKeys lists those of all organizations, by organization.
	DataKeys(ctx context.Context) ([]DataKey, error)
}

// DataKeyWriter changes data keys. With its organization a data key goes for good, and
// with it all that it has sealed, wherever a copy may lie.
type DataKeyWriter interface {
	// PutDataKey inserts an organization's data key; one that it has is kept. Fault
	// NotFound when the organization is absent or its deletion has begun.
	PutDataKey(ctx context.Context, k DataKey) error
	// RewrapDataKey replaces Wrapped and WrappedBy of a data key; fault NotFound when
	// the organization has none with the id.
	RewrapDataKey(ctx context.Context, k DataKey) error
	// DeleteDataKey removes a data key, if the organization has it.
	DeleteDataKey(ctx context.Context, org ident.Org, id string) error
}
