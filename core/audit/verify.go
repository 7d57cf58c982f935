package audit

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Verify are the parameters of GET /audit/verification.
type Verify struct {
	Known string `query:"known" json:"-" pattern:"^[1-9][0-9]{0,18}:[0-9a-f]{64}$" rule:"must be seq:hash of an earlier verification" doc:"seq and hash of an earlier verification, seq:hash: that record must still be there, as it was"`
}

// Verification answers GET /audit/verification.
type Verification struct {
	Intact  bool     `json:"intact" doc:"no record has been removed, changed or put in"`
	Records uint64   `json:"records" minimum:"0" doc:"how many were read"`
	Trimmed uint64   `json:"trimmed" minimum:"0" doc:"number of the last one that was removed because its time was up; 0: none"`
	Last    uint64   `json:"last" minimum:"0" doc:"number of the last one; 0: there is none"`
	Hash    string   `json:"hash" pattern:"^[0-9a-f]{64}$" doc:"hash of the last one; keep last:hash elsewhere, and give it to a later verification"`
	Problem *Problem `json:"problem" doc:"the first thing that is wrong; null: nothing is"`
}

// Problem is something that is wrong with the log.
type Problem struct {
	Seq  uint64 `json:"seq" minimum:"1" doc:"number of the record"`
	Kind string `json:"kind" enum:"removed,changed,inserted" doc:"removed: it is not there; changed: it is not what was recorded; inserted: it does not follow the one before"`
}

const verifiedAtOnce = 1000

// Verify reads the whole log and says whether it is as it was written. Fault Forbidden for a
// caller who does not see all of it.
func (s *Service) Verify(ctx context.Context, in Verify) (Verification, error) {
	if who := ident.From(ctx); !who.AllOrganizations() {
		return Verification{}, fault.New(fault.Forbidden, "only a key of all organizations may verify the audit log")
	}
	if err := s.Number(ctx); err != nil {
		return Verification{}, err
	}
	known := map[uint64]string{}
	if seq, hash, ok := strings.Cut(in.Known, ":"); ok {
		n, err := strconv.ParseUint(seq, 10, 64)
		if err != nil {
			return Verification{}, fault.Field(fault.InvalidRequest, "known", "must be seq:hash of an earlier verification")
		}
		known[n] = hash
	}
	c := chain{known: known}
	for {
		done := false
		err := s.store.View(ctx, func(r reader) (err error) {
			done, err = c.read(ctx, r)
			return err
		})
		if err != nil {
			return Verification{}, err
		}
		if done {
			return c.result(), nil
		}
	}
}

// chain is how far a verification is.
type chain struct {
	known   map[uint64]string
	head    port.AuditHead
	at      uint64 // the last record that was found right
	hash    [32]byte
	records uint64
	problem *Problem
}

// read verifies some more in one snapshot, and says whether that was all.
func (c *chain) read(ctx context.Context, r reader) (done bool, err error) {
	if c.head, err = r.AuditHead(ctx); err != nil {
		return false, err
	}
	if c.at < c.head.Trimmed { // at the start, or because it was trimmed in the meantime
		c.at, c.hash = c.head.Trimmed, c.head.TrimmedHash
		if want, ok := c.known[c.at]; ok && want != hex.EncodeToString(c.hash[:]) {
			c.problem = &Problem{Seq: c.at, Kind: "changed"}
			return true, nil
		}
	}
	rs, err := r.AuditRecords(ctx, port.AuditList{Ascending: true, After: c.at, Limit: verifiedAtOnce})
	if err != nil {
		return false, err
	}
	for _, x := range rs {
		if kind := c.wrong(x); kind != "" {
			c.problem = &Problem{Seq: x.Seq, Kind: kind}
			if kind == "removed" {
				c.problem.Seq = c.at + 1
			}
			return true, nil
		}
		c.at, c.hash = x.Seq, x.Hash
		c.records++
	}
	if len(rs) == verifiedAtOnce {
		return false, nil
	}
	switch {
	case c.at < c.head.Seq:
		c.problem = &Problem{Seq: c.at + 1, Kind: "removed"}
	case c.at > 0 && c.hash != c.head.Hash:
		c.problem = &Problem{Seq: c.at, Kind: "changed"}
	}
	for seq := range c.known {
		if seq > c.at && c.problem == nil {
			c.problem = &Problem{Seq: seq, Kind: "removed"}
		}
	}
	return true, nil
}

// wrong says what is wrong with the next record; "": nothing.
func (c *chain) wrong(x port.AuditRecord) string {
	want, known := c.known[x.Seq]
	switch {
	case x.Seq > c.head.Seq:
		return "inserted"
	case x.Seq != c.at+1:
		return "removed"
	case x.Hash != x.Sum(), known && want != hex.EncodeToString(x.Hash[:]):
		return "changed"
	case x.Previous != c.hash:
		return "inserted"
	}
	return ""
}

func (c *chain) result() Verification {
	return Verification{
		Intact:  c.problem == nil,
		Records: c.records,
		Trimmed: c.head.Trimmed,
		Last:    c.head.Seq,
		Hash:    hex.EncodeToString(c.head.Hash[:]),
		Problem: c.problem,
	}
}
