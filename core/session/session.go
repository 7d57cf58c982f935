package session

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/member"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Keys verifies API keys, as core/key's Service does.
type Keys interface {
	// Verify finds out whose key a secret is.
	Verify(ctx context.Context, bearer string, family op.Family) (ident.Principal, error)
	// Resolve finds out what an organization's key of an id may do now.
	Resolve(ctx context.Context, org ident.Org, id string, family op.Family) (ident.Principal, error)
}

// Settings configure a Service. Store and Keys are required.
type Settings struct {
	Store   port.Store
	Keys    Keys
	Members *member.Service // nil: nobody signs in as a member
	// Provider signs members in elsewhere; nil: there is none.
	Provider port.IdentityProvider
	// NoPasswords takes no passwords: members sign in at the provider alone.
	NoPasswords bool
	// Refused is told of refused tries to sign in, for the audit log; nil: nothing is.
	Refused func(context.Context, port.AuditRecord) error

	Lifetime   time.Duration    // of a session; 0: 12 h
	Idle       time.Duration    // after which an unused one has ended; 0: 1 h
	PurgeEvery time.Duration    // how often Run removes what has ended; 0: 10 min
	Now        func() time.Time // nil: time.Now
	Log        *slog.Logger     // nil: nothing is logged
}

// LinkFor is how long a link to sign in with is good.
const LinkFor = time.Minute

// seenEvery is how much time the recorded last use of a session may lag, so that not
// every call writes.
const seenEvery = time.Minute

// The prefixes of tokens, so that people and secret scanners recognise them.
const (
	sessionPrefix = "mnss_"
	linkPrefix    = "mnsl_"
)

// maxAgent bounds what is kept of a browser's name.
const maxAgent = 256

// Service begins, verifies and ends sessions. Safe for concurrent use.
type Service struct {
	store       port.Narrowed[reader, writer]
	keys        Keys
	members     *member.Service
	provider    port.IdentityProvider
	refused     func(context.Context, port.AuditRecord) error
	lifetime    time.Duration
	idle        time.Duration
	noPasswords bool
	purgeEvery  time.Duration
	now         func() time.Time
	log         *slog.Logger
}

// reader and writer are what the service uses of the store.
type reader interface {
	port.SessionReader
	port.OrganizationReader
	port.IntegrationReader
}

type writer interface {
	reader
	port.SessionWriter
}

// New makes the service.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		store:       port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		keys:        s.Keys,
		members:     s.Members,
		refused:     s.Refused,
		provider:    s.Provider,
		noPasswords: s.NoPasswords,
		lifetime:    cmp.Or(s.Lifetime, 12*time.Hour),
		idle:        cmp.Or(s.Idle, time.Hour),
		purgeEvery:  cmp.Or(s.PurgeEvery, 10*time.Minute),
		now:         func() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }, // as stores keep times
		log:         s.Log,
	}
}

// Begun is a session that has begun.
type Begun struct {
	Token     string // that the browser keeps
	ExpiresAt time.Time
	Caller    ident.Principal
}

// notAccepted is the one answer to every secret that does not work, so that it does not
// tell which keys exist.
func notAccepted() error {
	return fault.New(fault.Unauthorized, "it is unknown, revoked, expired or used, or its organization is suspended")
}

// Begin signs in with the secret of an admin key or the token of a link, which it spends. A
// secret that does not work is fault Unauthorized.
func (s *Service) Begin(ctx context.Context, secret, agent string) (Begun, error) {
	p, err := s.verify(ctx, secret)
	switch fault.CodeOf(err) {
	case fault.Unauthorized, fault.Forbidden, fault.NotFound:
		return Begun{}, s.refuse(ctx, signIn, notAccepted())
	}
	if err != nil {
		return Begun{}, fmt.Errorf("sign in: %w", err)
	}
	return s.begin(ctx, p, agent)
}

// BeginMember signs in with the password of the member with an address in an organization, named
// by name or id. Whatever is wrong, it is fault Unauthorized.
func (s *Service) BeginMember(ctx context.Context, org, email, password, agent string) (Begun, error) {
	if !s.Ways().Passwords {
		return Begun{}, s.refuse(ctx, signIn, notAccepted())
	}
	p, err := s.members.SignIn(ctx, org, email, password)
	if fault.CodeOf(err) == fault.Unauthorized {
		return Begun{}, s.refuse(ctx, signIn, err)
	}
	if err != nil {
		return Begun{}, err
	}
	return s.begin(ctx, p, agent)
}

// Accept takes an invitation, once, with the password that the member chooses, and signs in. Faults
// as member.Service's Accept.
func (s *Service) Accept(ctx context.Context, code, password, agent string) (Begun, error) {
	if !s.Ways().Passwords {
		return Begun{}, s.refuse(ctx, "console.invitation", notAccepted())
	}
	var p ident.Principal
	taking := port.WithAudit(ctx,
		&port.AuditEntry{Record: func() port.AuditRecord { return record(ctx, "console.invitation", p) }})
	found, err := s.members.Accept(taking, code, password, func(who ident.Principal) { p = who })
	if fault.CodeOf(err) == fault.Unauthorized {
		return Begun{}, s.refuse(ctx, "console.invitation", err)
	}
	if err != nil {
		return Begun{}, err
	}
	return s.begin(ctx, found, agent)
}

// ChangePassword gives the member of a session another password, and ends their other sessions.
// Faults as member.Service's ChangePassword, and Unauthorized for a session that has ended.
func (s *Service) ChangePassword(ctx context.Context, token, old, password string) error {
	p, err := s.find(ctx, token)
	if err != nil {
		return err
	}
	if !s.Ways().Passwords {
		return fault.New(fault.Forbidden, "members have no passwords here")
	}
	changing := port.WithAudit(ctx,
		&port.AuditEntry{Record: func() port.AuditRecord { return record(ctx, "console.password", p) }})
	return s.members.ChangePassword(changing, p, old, password, ident.TokenHash(token))
}

// signIn is how a sign-in stands in the audit log.
const signIn = "console.sign_in"

// record says what somebody did to sign in.
func record(ctx context.Context, action string, p ident.Principal) port.AuditRecord {
	return port.AuditRecord{Org: p.Org, Actor: port.ActorOf(p), KeyID: p.KeyID, Action: action, Target: p.KeyID,
		RequestID: ident.RequestID(ctx), Status: 200}
}

// refuse has a refused try recorded, and gives back why. Nothing of what was tried is kept: it may
// be a password that was typed into the wrong field.
func (s *Service) refuse(ctx context.Context, action string, why error) error {
	if s.refused == nil {
		return why
	}
	r := port.AuditRecord{Actor: port.ActorAnonymous, Action: action, RequestID: ident.RequestID(ctx),
		Status: fault.Status(fault.CodeOf(why))}
	if err := s.refused(context.WithoutCancel(ctx), r); err != nil {
		s.log.ErrorContext(ctx, "refused sign-in not recorded", "error", err)
	}
	return why
}

func (s *Service) begin(ctx context.Context, p ident.Principal, agent string) (Begun, error) {
	now := s.now()
	b := Begun{Token: ident.NewToken(sessionPrefix), ExpiresAt: now.Add(s.lifetime), Caller: p}
	if !p.ExpiresAt.IsZero() && p.ExpiresAt.Before(b.ExpiresAt) {
		b.ExpiresAt = p.ExpiresAt
	}
	row := port.Session{Hash: ident.TokenHash(b.Token), Org: p.Org, KeyID: p.KeyID, CreatedAt: now, SeenAt: now,
		ExpiresAt: b.ExpiresAt, UserAgent: clip(agent)}
	if p.Role != "" {
		row.KeyID, row.Member = "", p.KeyID
	}
	beginning := port.WithAudit(ctx, &port.AuditEntry{Record: func() port.AuditRecord { return record(ctx, signIn, p) }})
	err := s.store.Update(beginning, func(w writer) error { return w.PutSession(ctx, row) })
	if fault.CodeOf(err) == fault.NotFound { // the key or member has gone in the meantime
		return Begun{}, notAccepted()
	}
	if err != nil {
		return Begun{}, fmt.Errorf("begin session: %w", err)
	}
	return b, nil
}

func (s *Service) verify(ctx context.Context, secret string) (ident.Principal, error) {
	if !strings.HasPrefix(secret, linkPrefix) {
		return s.keys.Verify(ctx, secret, op.Administration)
	}
	var l port.SignInLink
	err := s.store.Update(ctx, func(w writer) (err error) {
		l, err = w.TakeSignInLink(ctx, ident.TokenHash(secret))
		return err
	})
	if err != nil {
		return ident.Principal{}, err
	}
	if !s.now().Before(l.ExpiresAt) {
		return ident.Principal{}, notAccepted()
	}
	return s.keys.Resolve(ctx, l.Org, l.KeyID, op.Administration)
}

// Link makes the token of a link that signs in once, with an organization's key, within
// LinkFor. Fault NotFound for an unknown key.
func (s *Service) Link(ctx context.Context, org ident.Org, keyID string) (string, error) {
	token := ident.NewToken(linkPrefix)
	err := s.store.Update(ctx, func(w writer) error {
		return w.PutSignInLink(ctx, port.SignInLink{Hash: ident.TokenHash(token), Org: org, KeyID: keyID,
			ExpiresAt: s.now().Add(LinkFor)})
	})
	if err != nil {
		return "", fmt.Errorf("make sign-in link: %w", err)
	}
	return token, nil
}

// End ends a session. One that has ended, or never was, is left at that.
func (s *Service) End(ctx context.Context, token string) error {
	err := s.store.Update(ctx, func(w writer) error { return w.DeleteSession(ctx, ident.TokenHash(token)) })
	if err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// VerifySession resolves the session of a call to who calls: its admin key, in the organization
// that the credential names. A call of the memory API is for one of that organization's
// integrations. Faults: Unauthorized for a session that has ended, or whose key has; Forbidden
// when the organization is suspended; NotFound for an organization or integration that there is
// not, or that the key does not administer.
func (s *Service) VerifySession(ctx context.Context, c op.Credential, family op.Family) (ident.Principal, error) {
	p, err := s.find(ctx, c.Session)
	if err != nil || family == op.Administration {
		return p, err
	}
	err = s.store.View(ctx, func(r reader) error {
		o, err := organization(ctx, r, p, c.Org)
		if err != nil {
			return err
		}
		if o.Suspended {
			return fault.New(fault.Forbidden, "the organization %q is suspended", o.Name)
		}
		p.Org, p.OrgName = o.ID, o.Name
		if family != op.Memory {
			return nil
		}
		i, err := integration(ctx, r, o.ID, c.Integration)
		p.Integration, p.Quotas, p.GrantsRequired = i.ID, i.Quotas, i.GrantsRequired
		p.Scopes = append(ident.Scopes(), p.Scopes...)
		return err
	})
	return p, err
}

// organization finds what a session acts in: by name or id, or that of its key.
func organization(ctx context.Context, r reader, p ident.Principal, ref string) (port.Organization, error) {
	if ref == "" || ref == p.OrgName {
		ref = string(p.Org)
	}
	absent := fault.New(fault.NotFound, "there is no organization %q", fault.Clip(ref))
	if !isRef(ref) {
		return port.Organization{}, absent
	}
	o, err := r.Organization(ctx, ident.Org(ref))
	if fault.CodeOf(err) == fault.NotFound {
		o, err = r.OrganizationByName(ctx, ref)
	}
	if err == nil && !p.Administers(o.ID) || fault.CodeOf(err) == fault.NotFound {
		return port.Organization{}, absent
	}
	return o, err
}

func integration(ctx context.Context, r reader, org ident.Org, ref string) (port.Integration, error) {
	if !isRef(ref) {
		return port.Integration{}, fault.New(fault.NotFound, "there is no integration %q", fault.Clip(ref))
	}
	i, err := r.Integration(ctx, org, ref)
	if fault.CodeOf(err) == fault.NotFound {
		i, err = r.IntegrationByName(ctx, org, ref)
	}
	return i, err
}

// isRef reports whether a text can be a name or an id. Some stores cannot even search for
// others.
func isRef(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	})
}

// find is who a token stands for. It records the use.
func (s *Service) find(ctx context.Context, token string) (ident.Principal, error) {
	ended := fault.New(fault.Unauthorized, "the session has ended: sign in again")
	if !strings.HasPrefix(token, sessionPrefix) {
		return ident.Principal{}, ended
	}
	var found port.Session
	err := s.store.View(ctx, func(r reader) (err error) {
		found, err = r.SessionByHash(ctx, ident.TokenHash(token))
		return err
	})
	if fault.CodeOf(err) == fault.NotFound {
		return ident.Principal{}, ended
	}
	if err != nil {
		return ident.Principal{}, fmt.Errorf("verify session: %w", err)
	}
	now := s.now()
	if !now.Before(found.ExpiresAt) || now.Sub(found.SeenAt) >= s.idle {
		return ident.Principal{}, ended
	}
	p, err := s.resolve(ctx, found)
	if fault.CodeOf(err) == fault.Unauthorized && found.Member == "" {
		return ident.Principal{}, fault.New(fault.Unauthorized, "the key that you signed in with was revoked or has expired")
	}
	if err != nil {
		return ident.Principal{}, err
	}
	if now.Sub(found.SeenAt) >= seenEvery {
		err := s.store.Update(ctx, func(w writer) error { return w.TouchSession(ctx, found.Hash, now) })
		if err != nil { // it ends early at worst
			s.log.WarnContext(ctx, "session use not recorded", "key", p.KeyID, "error", err)
		}
	}
	return p, nil
}

// resolve finds out what whom a session stands for may do now.
func (s *Service) resolve(ctx context.Context, found port.Session) (ident.Principal, error) {
	if found.Member == "" {
		return s.keys.Resolve(ctx, found.Org, found.KeyID, op.Administration)
	}
	if s.members == nil {
		return ident.Principal{}, fault.New(fault.Unauthorized, "the session has ended: sign in again")
	}
	return s.members.Resolve(ctx, found.Org, found.Member)
}

// Purge removes sessions, invitations and links that have ended.
func (s *Service) Purge(ctx context.Context) error {
	now := s.now()
	err := s.store.Update(ctx, func(w writer) error {
		_, err := w.PurgeSessions(ctx, now, now.Add(-s.idle))
		return err
	})
	if err != nil {
		return fmt.Errorf("purge sessions: %w", err)
	}
	return nil
}

// Run purges every PurgeEvery until ctx is done.
func (s *Service) Run(ctx context.Context) {
	t := time.NewTicker(s.purgeEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if err := s.Purge(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "session cleanup failed", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// clip keeps what browsers say of themselves short and storable.
func clip(agent string) string {
	agent = strings.ToValidUTF8(strings.ReplaceAll(agent, "\x00", ""), "")
	if len(agent) <= maxAgent {
		return agent
	}
	cut := maxAgent
	for !utf8.RuneStart(agent[cut]) {
		cut--
	}
	return agent[:cut]
}
