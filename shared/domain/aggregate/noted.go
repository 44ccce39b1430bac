package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/circulation"
)

// Noted is what the head notes of a gate under a rule: how it opened, and what settled it.
type Noted struct {
	Gate      string `json:"gate"`                // key of its row
	RouteHash string `json:"route_hash"`          // circulation.RouteHash as it opened
	ActsHash  string `json:"acts_hash,omitempty"` // of all acts, once it is settled
}

// typeOf returns the part of a row's key that all rows of its type share.
func typeOf(key string) string {
	typ, _, _ := strings.Cut(key, "#")
	return typ
}

// Opens notes in the head that a gate begins to wait, in the place of the last one of its type, unless the head notes
// that very gate already: then OnRoute refuses what differs. A gate without a rule leaves no note of its type.
func (h *Head) Opens(key string, g *Gate) {
	if h.noted(key).Gate != "" {
		return
	}
	h.Routes = slices.DeleteFunc(slices.Clone(h.Routes), func(n Noted) bool { return typeOf(n.Gate) == typeOf(key) })
	if g.Ruled() {
		h.Routes = append(h.Routes, Noted{Gate: key, RouteHash: circulation.RouteHash(g.Circulating())})
	}
}

// Settle notes in the head what settled a gate. It returns ErrOnRoute if Walk doesn't call the gate settled, or if it
// is not as the head noted that it opened.
func (h *Head) Settle(key string, g *Gate) error {
	if st := circulation.Walk(g.Circulating()); !st.Settled || h.AsOpened(key, g) != nil {
		return ErrOnRoute
	}
	h.Routes = slices.Clone(h.Routes)
	for i := range h.Routes {
		if n := &h.Routes[i]; n.Gate == key {
			n.ActsHash = circulation.Hash(g.Acts)
		}
	}
	return nil
}

// noted returns what the head notes of a gate, or the zero value.
func (h *Head) noted(key string) (n Noted) {
	for i := range h.Routes {
		if h.Routes[i].Gate == key {
			n = h.Routes[i]
		}
	}
	return n
}

// asSettled reports whether a gate's acts settle it and, under a rule, are those with which the head noted that.
func (h *Head) asSettled(key string, g *Gate) bool {
	noted, st := h.noted(key), circulation.Walk(g.Circulating())
	if noted.Gate == "" && !g.Ruled() {
		return st.Settled
	}
	return st.Settled && noted.ActsHash != "" && noted.ActsHash == circulation.Hash(g.Acts)
}

// AsOpened returns ErrConflict for a gate that has not the rule, route, askers and times with which the head noted that
// it opened. Of one without a rule the head notes nothing: Walk lets it have no other route than that of the settings.
func (h *Head) AsOpened(key string, g *Gate) error {
	noted := h.noted(key)
	if noted.Gate == "" && !g.Ruled() {
		return nil
	}
	if noted.RouteHash == "" || noted.RouteHash != circulation.RouteHash(g.Circulating()) {
		return fmt.Errorf("%s is not as it opened: %w", key, ErrConflict)
	}
	return nil
}

// OnRoute returns ErrOnRoute if a gate may not have the status that a Change gives it, and ErrConflict if it is not as
// it opened. It waits only with a route, is approved only as Settle noted it, and rejected only by its last act.
func (h *Head) OnRoute(key string, g *Gate) error {
	may := true
	switch g.Status {
	case PendingApproval:
		st := circulation.Walk(g.Circulating())
		may = st.Refused == nil
	case Approved:
		may = h.asSettled(key, g)
	case Rejected:
		may = len(g.Acts) > 0 && g.Acts[len(g.Acts)-1].Ends()
	default:
		return nil
	}
	if err := h.AsOpened(key, g); err != nil {
		return err
	}
	if !may {
		return ErrOnRoute
	}
	return nil
}

// Stands reports whether a loaded gate that was approved is as it was then: the head proves how it opened and the acts,
// and sum, the hash of what is about to be done, that this is what was asked.
func (h *Head) Stands(key string, g *Gate, sum string) bool {
	return g.Status == Approved && g.AskedSum == sum && h.AsOpened(key, g) == nil && h.asSettled(key, g)
}
