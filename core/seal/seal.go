package seal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Settings configure a Sealer. Store is required.
type Settings struct {
	Store port.Store
	Keys  []Key            // the first wraps, the others unwrap what they wrapped; none: nothing is sealed or opened
	Now   func() time.Time // nil: time.Now
}

// reader and writer are what the sealer uses of the store.
type reader interface {
	port.DataKeyReader
}

type writer interface {
	reader
	port.DataKeyWriter
}

// Sealer implements port.Sealer over the data keys of a store. Safe for concurrent use.
type Sealer struct {
	store port.Narrowed[reader, writer]
	keys  []Key
	now   func() time.Time
}

// New makes a sealer. Whether its keys are those of the store, Check says.
func New(s Settings) *Sealer {
	if s.Now == nil {
		s.Now = time.Now
	}
	return &Sealer{
		store: port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		keys:  s.Keys,
		now:   s.Now,
	}
}

// A sealed value is a byte for the format, the id of the data key, and what encrypt made.
const (
	format     = 1
	idSize     = 16
	headerSize = 1 + idSize
)

// The first part of each binding says what is encrypted, so that a data key never passes
// for a secret.
const (
	secretUse  = "secret"
	dataKeyUse = "data key"
)

// Seal implements port.Sealer.
func (s *Sealer) Seal(ctx context.Context, at port.SealPlace, secret []byte) ([]byte, error) {
	if len(s.keys) == 0 {
		return nil, errNoKey()
	}
	stored, err := s.read(ctx, at.Org)
	if fault.CodeOf(err) == fault.NotFound {
		stored, err = s.create(ctx, at.Org)
	}
	if err != nil {
		return nil, err
	}
	key, err := s.unwrap(stored)
	if err != nil {
		return nil, err
	}
	id, err := hex.DecodeString(stored.ID)
	if err != nil || len(id) != idSize {
		return nil, lost("seal", fmt.Errorf("data key of %s has the id %q", at.Org, stored.ID))
	}
	body, err := encrypt(key, secret, secretUse, stored.ID, string(at.Org), at.Table, at.Row, at.Name)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return append(append([]byte{format}, id...), body...), nil
}

// Open implements port.Sealer.
func (s *Sealer) Open(ctx context.Context, at port.SealPlace, sealed []byte) ([]byte, error) {
	const op = "open sealed value"
	if len(s.keys) == 0 {
		return nil, errNoKey()
	}
	if len(sealed) < headerSize || sealed[0] != format {
		return nil, lost(op, errors.New("it is no sealed value"))
	}
	stored, err := s.read(ctx, at.Org)
	if fault.CodeOf(err) == fault.NotFound {
		return nil, lost(op, err)
	}
	if err != nil {
		return nil, err
	}
	if id := hex.EncodeToString(sealed[1:headerSize]); id != stored.ID {
		return nil, lost(op, fmt.Errorf("it was sealed with data key %s, and %s has %s", id, at.Org, stored.ID))
	}
	key, err := s.unwrap(stored)
	if err != nil {
		return nil, err
	}
	secret, err := decrypt(key, sealed[headerSize:], secretUse, stored.ID, string(at.Org), at.Table, at.Row, at.Name)
	if err != nil {
		return nil, lost(op, err)
	}
	return secret, nil
}

func (s *Sealer) read(ctx context.Context, org ident.Org) (k port.DataKey, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		k, err = r.DataKey(ctx, org)
		return err
	})
	return k, err
}

// create makes an organization's data key, unless another process has just done so: what
// is stored then is what both go on with.
func (s *Sealer) create(ctx context.Context, org ident.Org) (k port.DataKey, err error) {
	id, raw := make([]byte, idSize), make([]byte, keySize)
	rand.Read(id) // these never fail
	rand.Read(raw)
	fresh, err := s.wrap(port.DataKey{Org: org, ID: hex.EncodeToString(id), CreatedAt: s.now().Truncate(time.Microsecond)}, raw)
	if err != nil {
		return k, err
	}
	err = s.store.Update(ctx, func(w writer) (err error) {
		if err := w.PutDataKey(ctx, fresh); err != nil {
			return err
		}
		k, err = w.DataKey(ctx, org)
		return err
	})
	return k, err
}

// wrap encrypts a data key with the first sealing key.
func (s *Sealer) wrap(k port.DataKey, raw []byte) (port.DataKey, error) {
	wrapped, err := encrypt(s.keys[0].wrapping(), raw, dataKeyUse, k.ID, string(k.Org))
	if err != nil {
		return k, fmt.Errorf("wrap data key: %w", err)
	}
	k.Wrapped, k.WrappedBy = wrapped, s.keys[0].ID()
	return k, nil
}

func (s *Sealer) unwrap(k port.DataKey) ([]byte, error) {
	const op = "unwrap data key"
	for _, key := range s.keys {
		if key.ID() != k.WrappedBy {
			continue
		}
		raw, err := decrypt(key.wrapping(), k.Wrapped, dataKeyUse, k.ID, string(k.Org))
		if err != nil {
			return nil, lost(op, fmt.Errorf("data key %s of %s: %w", k.ID, k.Org, err))
		}
		return raw, nil
	}
	return nil, fault.Wrap(fault.Unavailable, op, fmt.Errorf("data key %s of %s is wrapped by sealing key %s", k.ID, k.Org,
		k.WrappedBy), "the server does not have the sealing key of this organization's secrets")
}

func errNoKey() error {
	return fault.Off("this server keeps no secrets, for it has no key to seal them with: seal.key_file or MNEME_SEAL_KEY sets it")
}

// lost says that a sealed value can't be read any more; the log alone sees why.
func lost(op string, why error) error {
	return fault.Wrap(fault.Internal, op, fmt.Errorf("%w: %w", port.ErrUnsealable, why),
		"a stored secret can't be read any more and has to be given again")
}

var _ port.Sealer = (*Sealer)(nil)
