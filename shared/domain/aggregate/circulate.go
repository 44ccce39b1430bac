package aggregate

import (
	"maps"
	"strings"

	"ringi/shared/domain/circulation"
)

// ErrOnRoute: the gate is under a rule, so that only acts along its route decide it.
var ErrOnRoute error = ErrNotAllowed{RuleOnRoute}

// Ruled reports whether the gate is under a rule. Then circulation.Walk alone says what settles it.
func (g *Gate) Ruled() bool {
	return g.Terms.Rule != nil || g.Route != nil || g.Asked != "" || len(g.Acts) > 0
}

// Circulating returns what the fold needs of a gate under a rule.
func (g *Gate) Circulating() circulation.Gate {
	c := circulation.Gate{Hours: g.Terms.ApprovalHours, Askers: g.Askers, Asked: g.Asked, Route: g.Route, Acts: g.Acts}
	if g.AskedAt != nil {
		c.AskedAt = *g.AskedAt
	}
	return c
}

// Acted returns a gate under a rule with one more act, and with the verdict if the act settles or ends it. It returns a
// *circulation.Refusal if the act isn't admitted.
func (g Gate) Acted(act circulation.Act) (Gate, error) {
	c := g.Circulating()
	if err := circulation.Admit(c, circulation.Walk(c), act); err != nil {
		return g, err
	}
	g.Acts = append(g.Acts[:len(g.Acts):len(g.Acts)], act)
	switch st := circulation.Walk(g.Circulating()); {
	case st.Settled:
		g.ApprovedBy, g.ApprovedAt = act.Hand.User, &act.At
	case st.Ended() != "":
		g.RejectedBy, g.RejectedAt, g.RejectionReason = act.Hand.User, &act.At, act.Text
	}
	return g, nil
}

// Given returns the stamps on the gate, whether it is under a rule or not.
func (g *Gate) Given() []Stamp {
	if !g.Ruled() {
		return g.Stamps
	}
	var out []Stamp
	st := circulation.Walk(g.Circulating())
	for _, act := range st.Stamps() {
		s := Stamp{By: act.Hand.User, At: act.At, Surface: Surface(act.Surface), Hash: act.Hash}
		if act.Principal.User != act.Hand.User {
			s.OnBehalfOf = act.Principal.User
		}
		out = append(out, s)
	}
	return out
}

// Settlement is what the Change that settled a gate under a rule notes of it in the head.
type Settlement struct {
	Hash     string `json:"hash"`      // Gate.Asked
	ActsHash string `json:"acts_hash"` // of all acts
}

// Decides returns ErrOnRoute if a gate under a rule may not have the status that it has by now: it waits only with a
// route, is approved only if that is settled, and rejected only if somebody ended it. An approved gate is noted in the
// head, in the place of the last one of its type.
func (h *Head) Decides(key string, g *Gate) error {
	if !g.Ruled() {
		return nil
	}
	st := circulation.Walk(g.Circulating())
	switch g.Status {
	case PendingApproval:
		if g.Terms.Rule == nil || st.Refused != nil {
			return ErrOnRoute
		}
	case Rejected:
		if st.Ended() == "" {
			return ErrOnRoute
		}
	case Approved:
		if !st.Settled {
			return ErrOnRoute
		}
		typ, _, _ := strings.Cut(key, "#")
		settled := map[string]Settlement{key: {g.Asked, circulation.Hash(g.Acts)}}
		maps.Copy(settled, h.Settled)
		maps.DeleteFunc(settled, func(other string, _ Settlement) bool {
			return other != key && strings.HasPrefix(other, typ+"#")
		})
		h.Settled = settled
	}
	return nil
}

// Stands reports whether a loaded gate that was approved is as it was then. A gate without a rule is, unless the head
// knows it as one under a rule. Of a gate under a rule the head proves the acts, and sum, circulation.Sum of what is
// about to be done, that this is what was asked.
func (h *Head) Stands(key string, g *Gate, sum string) bool {
	noted, there := h.Settled[key]
	if !g.Ruled() {
		return !there
	}
	st := circulation.Walk(g.Circulating())
	return g.Status == Approved && st.Settled && g.Asked == sum && noted == Settlement{sum, circulation.Hash(g.Acts)}
}
