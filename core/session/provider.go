package session

import (
	"context"
	"crypto/subtle"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Binding are the secrets of one sign-in at the identity provider, which the browser keeps until
// it comes back.
type Binding = port.SignInBinding

// Answer is what a browser brings back from the identity provider.
type Answer = port.ProviderAnswer

// Ways are the ways in beside keys and links.
type Ways struct {
	Passwords bool
	// Provider is the name of the identity provider; "": there is none.
	Provider string
}

// Ways says how members sign in.
func (s *Service) Ways() Ways {
	w := Ways{Passwords: s.members != nil && !s.noPasswords}
	if s.members != nil && s.provider != nil {
		w.Provider = s.provider.Name()
	}
	return w
}

// Leave begins a sign-in at the identity provider: it gives the address there, and what the
// browser has to bring back with the answer. Faults: Unauthorized where there is no provider;
// Unavailable, with a sentence, where it cannot be asked.
func (s *Service) Leave(ctx context.Context) (address string, b Binding, err error) {
	if s.members == nil || s.provider == nil {
		return "", b, noProvider()
	}
	b = Binding{State: ident.NewToken(""), Nonce: ident.NewToken(""), Verifier: ident.NewToken("")}
	address, err = s.provider.Leave(ctx, b)
	return address, b, err
}

func noProvider() error {
	return fault.New(fault.Unauthorized, "no identity provider is configured (console.oidc)")
}

// BeginWith signs in as the member that the provider's answer to a sign-in stands for, in an
// organization named by name or id, or, with "", the one that the member is of. Faults:
// Unauthorized, with a sentence, for an answer that is not one to this sign-in, and for an account
// that is nobody's; Unavailable where the provider cannot be asked. Error member.Several where the
// organization has to be named.
func (s *Service) BeginWith(ctx context.Context, org string, a Answer, b Binding, agent string) (Begun, error) {
	if s.members == nil || s.provider == nil {
		return Begun{}, s.refuse(ctx, signIn, noProvider())
	}
	if b.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(b.State)) != 1 {
		return Begun{}, s.refuse(ctx, signIn,
			fault.New(fault.Unauthorized, "the answer belongs to another sign-in than this browser's"))
	}
	p, err := s.identify(ctx, org, a, b)
	if fault.CodeOf(err) == fault.Unauthorized {
		return Begun{}, s.refuse(ctx, signIn, err)
	}
	if err != nil {
		return Begun{}, err
	}
	return s.begin(ctx, p, agent)
}

func (s *Service) identify(ctx context.Context, org string, a Answer, b Binding) (ident.Principal, error) {
	who, err := s.provider.Return(ctx, a, b)
	if err != nil {
		return ident.Principal{}, err
	}
	var p ident.Principal
	linking := port.WithAudit(ctx, &port.AuditEntry{Record: func() port.AuditRecord { return record(ctx, "console.account", p) }})
	return s.members.SignInWith(linking, org, who, func(found ident.Principal) { p = found })
}

// Unbind unbinds the account at the identity provider from the member of a session, and ends their other sessions.
// Faults as member.Service's Unbind, and Unauthorized for a session that has ended.
func (s *Service) Unbind(ctx context.Context, token string) error {
	p, err := s.find(ctx, token)
	if err != nil {
		return err
	}
	if s.members == nil {
		return noProvider()
	}
	unbinding := port.WithAudit(ctx, &port.AuditEntry{Record: func() port.AuditRecord {
		return record(ctx, "console.unbind", p)
	}})
	return s.members.Unbind(unbinding, p, ident.TokenHash(token))
}
