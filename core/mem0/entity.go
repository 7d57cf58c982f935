package mem0

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// The kinds of entities, and what names one in a request.
const (
	user  = "user"
	agent = "agent"
	app   = "app"
	run   = "run"
)

// kinds lists them; the first that a memory has says which end user keeps it.
func kinds() []string { return []string{user, agent, app, run} }

// prefixes begin the ids of the end users that keep what no user is named for.
func prefix(kind string) string {
	if kind == user {
		return ""
	}
	return "mem0-" + kind + "."
}

// Entities name whom a memory belongs to.
type Entities struct {
	UserID  *string `json:"user_id,omitempty" schema:"EndUserID" doc:"the end user"`
	AgentID *string `json:"agent_id,omitempty" pattern:"^[A-Za-z0-9@._-]{1,112}$" rule:"must be 1-112 characters of A-Z a-z 0-9 @ . _ -" doc:"kept in the metadata; without user_id an end user of its own"`
	AppID   *string `json:"app_id,omitempty" pattern:"^[A-Za-z0-9@._-]{1,112}$" rule:"must be 1-112 characters of A-Z a-z 0-9 @ . _ -" doc:"kept in the metadata; without the two before an end user of its own"`
	RunID   *string `json:"run_id,omitempty" pattern:"^[A-Za-z0-9._:-]{1,112}$" rule:"must be 1-112 characters of A-Z a-z 0-9 . _ : -" doc:"the container; without the three before an end user of its own, too"`
}

// names are the ids by kind.
func (e *Entities) names() ids {
	out := ids{}
	for kind, id := range map[string]*string{user: e.UserID, agent: e.AgentID, app: e.AppID, run: e.RunID} {
		if id != nil {
			out[kind] = *id
		}
	}
	return out
}

// ids are ids of entities by their kind.
type ids map[string]string

// add takes further ids; two of a kind that differ are refused.
func (i ids) add(more ids) error {
	for kind, id := range more {
		if have, ok := i[kind]; ok && have != id {
			return invalid(kind+"_id", "names %q and %q: one call is of one %s", fault.Clip(have), fault.Clip(id), kind)
		}
		i[kind] = id
	}
	return nil
}

// owner is the kind that says which end user keeps a memory; "" for no ids.
func (i ids) owner() string {
	for _, kind := range kinds() {
		if _, ok := i[kind]; ok {
			return kind
		}
	}
	return ""
}

// endUser is the end user that keeps memories of these ids; "" for none.
func (i ids) endUser() string {
	owner := i.owner()
	return prefix(owner) + i[owner]
}

// check refuses ids that no end user can have.
func (i ids) check() error {
	owner := i.owner()
	if owner == "" {
		return invalid("user_id", "is needed, or agent_id, app_id or run_id: memories are kept for each of them apart")
	}
	for kind, id := range i {
		if err := checkID(kind, id); err != nil {
			return err
		}
	}
	if !ident.ValidEndUser(i.endUser()) {
		return invalid(owner+"_id", "without a user_id it must be of A-Z a-z 0-9 @ . _ -")
	}
	return nil
}

// maxID is how long the id of an agent, app or run may be: with its prefix it is one of an end user.
const maxID = 112

func checkID(kind, id string) error {
	switch {
	case kind == run && (len(id) > maxID || !ident.ValidContainer(id)):
		return invalid("run_id", "must be 1-%d characters of A-Z a-z 0-9 . _ : -", maxID)
	case kind == run:
		return nil
	case kind == user && !ident.ValidEndUser(id):
		return fault.Field(fault.InvalidEndUserID, "user_id", "%s", ident.EndUserRule)
	case len(id) > maxID && kind != user || !ident.ValidEndUser(id):
		return invalid(kind+"_id", "must be 1-%d characters of A-Z a-z 0-9 @ . _ -", maxID)
	}
	if kind == user && kindOf(id) != user {
		return fault.Field(fault.InvalidEndUserID, "user_id", "may not begin with %s, as what agents, apps and runs without a "+
			"user are kept by does", prefix(kindOf(id)))
	}
	return nil
}

// kindOf is the kind of entity that an end user stands for.
func kindOf(endUser string) string {
	for _, kind := range kinds()[1:] {
		if strings.HasPrefix(endUser, prefix(kind)) {
			return kind
		}
	}
	return user
}

// members are the metadata that keep ids.
func members() []string { return []string{agent + "_id", app + "_id"} }

// label puts ids into metadata.
func (i ids) label(metadata json.RawMessage) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if len(metadata) > 0 {
		if err := json.Unmarshal(metadata, &all); err != nil || all == nil {
			return nil, invalid("metadata", "must be an object")
		}
	}
	for _, member := range members() {
		if _, taken := all[member]; taken {
			return nil, invalid("metadata", "may not hold %q, which a field of the call fills", member)
		}
		if id, ok := i[strings.TrimSuffix(member, "_id")]; ok {
			all[member], _ = json.Marshal(id) // a string has no error
		}
	}
	return json.Marshal(all)
}

// scopeOf is what a memory is kept apart by, of its metadata: what one agent or app keeps is not what another
// keeps, though it says the same.
func scopeOf(metadata json.RawMessage) string {
	var of map[string]json.RawMessage
	if json.Unmarshal(metadata, &of) != nil {
		return ""
	}
	scope := ""
	for _, member := range members() {
		var id string
		if json.Unmarshal(of[member], &id) == nil && id != "" {
			scope += "\x00" + member + "\x00" + id
		}
	}
	return scope
}

// unlabel takes ids out of the metadata of a stored memory.
func unlabel(endUser string, d port.Document) (i ids, metadata map[string]json.RawMessage, err error) {
	i, metadata = ids{}, map[string]json.RawMessage{}
	if len(d.Metadata) > 0 {
		if err := json.Unmarshal(d.Metadata, &metadata); err != nil {
			return nil, nil, err
		}
	}
	for _, member := range members() {
		var id string
		if json.Unmarshal(metadata[member], &id) == nil {
			i[strings.TrimSuffix(member, "_id")] = id
			delete(metadata, member)
		}
	}
	if d.Container != "" {
		i[run] = d.Container
	}
	kind := kindOf(endUser)
	i[kind] = cmp.Or(i[kind], strings.TrimPrefix(endUser, prefix(kind)))
	return i, metadata, nil
}

// A memory's id names its end user, since the clients read, change and delete by it alone.

// idOf is the id of a memory as clients see it.
func idOf(endUser, id string) string { return id + ":" + endUser }

// place takes an id apart.
func place(memoryID string) (endUser, id string, err error) {
	id, endUser, ok := strings.Cut(memoryID, ":")
	if !ok || !ident.ValidDocumentID(id) || !ident.ValidEndUser(endUser) {
		return "", "", fault.New(fault.MemoryNotFound, "there is no memory %s: an id of this server names its end user, "+
			"such as mem_0ak9l5e2p4t7b1qf8m3v6s0d2c:alice", fault.Clip(memoryID))
	}
	return endUser, id, nil
}

// endUsersOf are the end users of memories by their ids, each once; ids that are none are left out.
func endUsersOf(memoryIDs []string) []string {
	var out []string
	for _, m := range memoryIDs {
		if endUser, _, err := place(m); err == nil && !slices.Contains(out, endUser) {
			out = append(out, endUser)
		}
	}
	return out
}

// checkMetadata refuses metadata that no memory can have.
func checkMetadata(field string, raw json.RawMessage) error {
	_, err := filter.ParseMetadata(field, raw)
	var bad *fault.Error
	if errors.As(err, &bad) {
		return invalid(field, "%v", bad.Details["reason"])
	}
	return err
}

func invalid(field, format string, args ...any) error {
	return fault.Field(fault.InvalidRequest, field, format, args...)
}
