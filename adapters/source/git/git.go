package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/core/port"
)

// Settings are the operator's.
type Settings struct {
	Private   []string      // networks that may be reached beside public addresses, as outbound.ParseNetwork reads them
	SSHHosts  []string      // lines of a known_hosts file: the hosts that may be reached over SSH
	MaxItem   int64         // bytes of a file that is read; 0: 64 MiB
	MaxPack   int64         // bytes of a commit's files as they are sent; 0: 2 GiB
	Dir       string        // where packs lie; "": the system's folder for temporary files
	UserAgent string        // of requests over HTTP
	Idle      time.Duration // how long a server may be silent; 0: 60 s
	Keep      time.Duration // how long what was fetched is kept after the last use; 0: 10 min
}

// Connector follows repositories.
type Connector struct {
	http    *outbound.Client
	private []outbound.Network
	hosts   map[string][]ssh.PublicKey
	limits  limits
	dir     string
	idle    time.Duration
	keep    time.Duration
	agent   string

	mu     sync.Mutex
	clones map[string]*slot
}

// New makes a connector.
func New(s Settings) (*Connector, error) {
	c := &Connector{
		limits: limits{pack: cmp.Or(s.MaxPack, 2<<30), item: cmp.Or(s.MaxItem, 64<<20)},
		dir:    s.Dir,
		idle:   cmp.Or(s.Idle, time.Minute),
		keep:   cmp.Or(s.Keep, 10*time.Minute),
		agent:  "git/2.0 (" + cmp.Or(s.UserAgent, "mneme") + ")", // some servers speak this protocol to git alone
		clones: map[string]*slot{},
	}
	c.limits.object = max(2*c.limits.item, 4<<20)
	for _, text := range s.Private {
		n, err := outbound.ParseNetwork(text)
		if err != nil {
			return nil, err
		}
		c.private = append(c.private, n)
	}
	var err error
	if c.hosts, err = knownHosts(s.SSHHosts); err != nil {
		return nil, err
	}
	c.http = outbound.New(outbound.Options{
		Allowed: c.private, UserAgent: c.agent,
		Timeout:  2 * time.Hour, // a pack may be large; silence is what ends an exchange
		MaxBytes: c.limits.pack + c.limits.pack/100 + maxRefs,
	})
	return c, nil
}

const configSchema = `{
  "type": "object", "required": ["url"], "additionalProperties": false,
  "properties": {
    "url": {
      "type": "string", "minLength": 1, "maxLength": 2000,
      "description": "Where the repository is cloned from: https://host/path.git, ssh://git@host/path.git or git@host:path.git."
    },
    "ref": {
      "type": "string", "maxLength": 255, "default": "",
      "description": "A branch, a tag, a full name such as refs/heads/main, or a commit. Empty: the repository's default branch."
    },
    "username": {
      "type": "string", "maxLength": 255, "default": "git",
      "description": "That goes with the token over HTTPS, where the host wants a certain one."
    },
    ` + source.FilterSchema + `
  }
}`

const secretsSchema = `{
  "type": "object", "additionalProperties": false,
  "properties": {
    "token": {"type": "string", "description": "A token or password for HTTPS that may read the repository."},
    "ssh_key": {"type": "string", "description": "A private key for SSH in PEM or OpenSSH form, such as a deploy key."},
    "ssh_passphrase": {"type": "string", "description": "That the private key is encrypted with."}
  }
}`

type config struct {
	URL      string `json:"url"`
	Ref      string `json:"ref"`
	Username string `json:"username"`
	source.FilterConfig
}

// Kind describes the connector.
func (c *Connector) Kind() port.SourceKind {
	return port.SourceKind{
		Name:        "git",
		Title:       "Git repository",
		Summary:     "The files of a branch, a tag or a commit of a git repository.",
		Config:      json.RawMessage(configSchema),
		Secrets:     json.RawMessage(secretsSchema),
		Incremental: true,
	}
}

// repository is what a connection leads to.
type repository struct {
	config
	dial   dialer
	filter source.Filter
}

// repository reads a connection. Problems are of fields.
func (c *Connector) repository(conn port.Connection) (*repository, []port.SourceFieldProblem, error) {
	r := &repository{}
	if err := source.Decode(conn.Config, &r.config); err != nil {
		return nil, nil, err
	}
	var problems []port.SourceFieldProblem
	r.filter, problems = source.NewFilter(r.FilterConfig)
	d, more := c.dialer(r.config, conn.Secrets)
	r.dial = d
	return r, append(problems, more...), nil
}

// must is repository where nothing of the configuration is expected to be wrong.
func (c *Connector) must(conn port.Connection) (*repository, error) {
	r, problems, err := c.repository(conn)
	if err == nil && len(problems) > 0 {
		err = port.SourceErrorf(port.SourceConfig, nil, "%s %s", problems[0].Field, problems[0].Message)
	}
	return r, err
}

// Check asks the repository for its names.
func (c *Connector) Check(ctx context.Context, conn port.Connection) ([]port.SourceFieldProblem, error) {
	r, problems, err := c.repository(conn)
	if err != nil || len(problems) > 0 {
		return problems, cmp.Or(ctx.Err(), err)
	}
	err = c.watched(ctx, func(ctx context.Context, heard func()) error {
		s, err := r.dial(ctx, heard)
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = resolve(s.refs(), r.Ref)
		return err
	})
	if errors.Is(err, errNoRef) {
		return []port.SourceFieldProblem{{Field: "config.ref",
			Message: "is none of the branches and tags of the repository"}}, nil
	}
	return nil, err
}

// List lists the files of the commit, in order of paths.
func (c *Connector) List(ctx context.Context, conn port.Connection, state []byte, l port.SourceListing) error {
	r, err := c.must(conn)
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	cursor := source.ParseCursor(state, conn.Config)
	listed := func(commit string) bool { return cursor.Tree == commit && len(cursor.After) == 0 }
	cl, commit, err := c.fetch(ctx, conn, r, listed)
	if err != nil {
		return err
	}
	if cl == nil && commit != "" { // as it was
		return l.Complete(ctx, false)
	}
	w := &walk{clone: cl, filter: r.filter, listing: l, cursor: source.Cursor{Config: cursor.Config, Tree: commit}}
	// Beside what an interrupted listing named of another commit, what is not named now can be
	// missing nowhere else than there: it is gone with the next listing, which is a whole one.
	moved := len(cursor.After) > 0 && cursor.Tree != commit
	if !moved {
		w.after = string(cursor.After)
	}
	if cl != nil {
		defer cl.release()
		if err := w.tree(ctx, cl.root, "", 0); err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	last := source.Cursor{Config: cursor.Config}
	if !moved && !w.lacking {
		last.Tree = commit
	}
	if err := l.Checkpoint(ctx, last.State()); err != nil {
		return err
	}
	return l.Complete(ctx, !moved)
}

// Fetch reads a file of what was listed last, or of the commit as it is now where that
// has not been kept.
func (c *Connector) Fetch(ctx context.Context, conn port.Connection, item port.SourceItem) (port.SourceContent, error) {
	var none port.SourceContent
	if err := ctx.Err(); err != nil {
		return none, err
	}
	r, err := c.must(conn)
	if err != nil {
		return none, err
	}
	path, err := source.Path(item.Key)
	if err != nil {
		return none, err
	}
	cl := c.kept(conn)
	if cl == nil {
		if cl, _, err = c.fetch(ctx, conn, r, nil); err != nil {
			return none, err
		}
		if cl == nil {
			return none, errGone
		}
	}
	defer cl.release()
	e, err := cl.find(path)
	switch {
	case err != nil:
		return none, err
	case e.kind == submodule:
		return none, port.SourceErrorf(port.SourceSkipped, nil, "it is a submodule, another repository's commit")
	case e.kind != file:
		return none, errGone
	}
	content, err := cl.blob(ctx, e.hash)
	if err != nil {
		return none, err
	}
	if len(content) < 1024 && bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/")) {
		return none, port.SourceErrorf(port.SourceSkipped, nil, "it is kept in Git LFS")
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return port.SourceContent{File: port.File{Name: source.Name(name), Content: content}, Version: e.version()}, nil
}

var errGone = port.SourceErrorf(port.SourceNotFound, nil, "it is not there")

// Revoke has nothing to give back.
func (c *Connector) Revoke(context.Context, port.Connection) error { return nil }

// errIdle is the cause of a context that ended because the server was silent.
var errIdle = errors.New("git: the server is silent")

// watched does something that is to be given up where the server is silent for too
// long; heard is to be called as soon as something of it is heard.
func (c *Connector) watched(ctx context.Context, do func(ctx context.Context, heard func()) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	inner, end := context.WithCancelCause(ctx)
	defer end(nil)
	timer := time.AfterFunc(c.idle, func() { end(errIdle) })
	defer timer.Stop()
	err := do(inner, func() { timer.Reset(c.idle) })
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(inner), errIdle):
		return port.SourceErrorf(port.SourceUnavailable, err, "the server does not answer in time")
	}
	return explain(err)
}

// explain says what a repository could not be read for.
func explain(err error) error {
	if why := source.Unreachable("the repository", err); why != nil {
		return why
	}
	var known *port.SourceError
	if errors.As(err, &known) || errors.Is(err, errNoRef) {
		return err
	}
	return port.SourceErrorf(port.SourceUnavailable, err, "the server does not answer as one of git's")
}

var _ port.Connector = (*Connector)(nil)

func problem(field, format string, args ...any) []port.SourceFieldProblem {
	return []port.SourceFieldProblem{{Field: field, Message: fmt.Sprintf(format, args...)}}
}
