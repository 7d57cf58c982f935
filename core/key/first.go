package key

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// FirstID is the id of the first key. There is one of it, so of several servers that start
// at once over one store, with different keys even, one makes it.
const FirstID = "key_first"

// First is what came of a first key.
type First string

const (
	FirstMade   First = "made"
	FirstThere  First = "there"  // it was made before, and may be revoked by now
	FirstUnused First = "unused" // others are there, so it is not made
)

// NewFirst makes a secret for MakeFirst. Nothing is stored.
func NewFirst() string {
	secret, _, _ := newSecret(ident.Admin)
	return secret
}

// How regular a secret may be. Of 43 random characters, hexadecimal digits even, one in
// many millions has as few different ones, or as many beside one that follows in the alphabet.
const (
	fewestDifferent = 10
	mostInOrder     = 20
)

// CheckFirst refuses with a sentence, which does not quote it, what is no admin key or
// was not made at random. Fault InvalidRequest.
func CheckFirst(secret string) error {
	body, ok := strings.CutPrefix(secret, ident.Admin.Prefix())
	if !ok || len(body) != secretLength || strings.Trim(body, alphabet) != "" {
		return fault.New(fault.InvalidRequest,
			"must be %s and %d letters or digits of ASCII, as 'mneme keys secret' prints it", ident.Admin.Prefix(), secretLength)
	}
	different, inOrder := map[rune]bool{}, 0
	for i, c := range body {
		different[c] = true
		if i > 0 {
			if step := strings.IndexRune(alphabet, c) - strings.IndexByte(alphabet, body[i-1]); -1 <= step && step <= 1 {
				inOrder++
			}
		}
	}
	if len(different) < fewestDifferent || inOrder > mostInOrder {
		return fault.New(fault.InvalidRequest, "can be guessed: take one that 'mneme keys secret' prints")
	}
	return nil
}

// HasKeys reports whether any key was ever made that is still listed, but for those that the
// program makes for commands on its machine.
func (s *Service) HasKeys(ctx context.Context) (has bool, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		has, err = hasKeys(ctx, r)
		return err
	})
	return has, err
}

func hasKeys(ctx context.Context, r reader) (bool, error) {
	orgs, err := r.Organizations(ctx)
	if err != nil {
		return false, err
	}
	for _, o := range orgs {
		// A folder has three keys of the program's own at most.
		for l := (port.KeyList{Limit: 16}); ; {
			keys, err := r.Keys(ctx, o.ID, l)
			if err != nil {
				return false, err
			}
			for _, k := range keys {
				if k.CreatedBy != MadeByBootstrap {
					return true, nil
				}
				l.AfterCreated, l.AfterID = k.CreatedAt, k.ID
			}
			if len(keys) < l.Limit {
				break
			}
		}
	}
	return false, nil
}

// MakeFirst makes the key of a secret that an operator chose, an admin key of all organizations,
// in a store that has no key yet. It may be repeated, and by several servers at once.
// Faults: as CheckFirst.
func (s *Service) MakeFirst(ctx context.Context, secret string) (First, error) {
	if err := CheckFirst(secret); err != nil {
		return "", err
	}
	k := port.Key{
		ID:        FirstID,
		Name:      "first",
		Kind:      ident.Admin,
		Hash:      sha256.Sum256([]byte(secret)),
		Last4:     secret[len(secret)-4:],
		Scopes:    []ident.Scope{ident.AllOrganizations},
		CreatedBy: MadeByConfiguration,
		CreatedAt: s.now().UTC(),
	}
	// Read first: a store that has keys, as at most starts, is not written to.
	came, err := s.lookForFirst(ctx, k.Hash)
	if came != "" || err != nil {
		return came, err
	}
	err = s.store.Update(ctx, func(w writer) error {
		came = FirstUnused
		if has, err := hasKeys(ctx, w); has || err != nil {
			return err
		}
		o, err := s.organization(ctx, w, ident.DefaultOrg)
		if err != nil {
			return err
		}
		k.Org, came = o.ID, FirstMade
		changes(ctx, o.ID, k.ID)
		return w.PutKey(ctx, k)
	})
	if came == FirstMade && err == nil {
		return came, nil
	}
	if err != nil && fault.CodeOf(err) != fault.Conflict {
		return "", err
	}
	// Another server was quicker, with this key or another.
	return s.lookForFirst(ctx, k.Hash)
}

// lookForFirst says what there is: "" for no key at all.
func (s *Service) lookForFirst(ctx context.Context, hash [32]byte) (came First, err error) {
	err = s.store.View(ctx, func(r reader) error {
		came = ""
		_, err := r.KeyByHash(ctx, hash)
		if err == nil {
			came = FirstThere
		}
		if fault.CodeOf(err) != fault.NotFound {
			return err
		}
		has, err := hasKeys(ctx, r)
		if has {
			came = FirstUnused
		}
		return err
	})
	return came, err
}
