package aggregate

import "time"

// MostViewers is how many people's first view of a version along a route is recorded.
const MostViewers = 100

// Viewing says that somebody opened the page or the sheet of what a gate along a route asks about (閲覧). It is put
// once, outside of commits, and carries no state.
type Viewing struct {
	Gate     string    `json:"gate"` // key of the gate's row
	User     string    `json:"user"`
	ViewedAt time.Time `json:"viewed_at"`
}

func (x *Viewing) Key() string { return "VIEW#" + x.Gate + "#" + x.User }

func (x *Viewing) Type() string { return "viewing" }

// Revision returns 0 because no Change writes a viewing.
func (x *Viewing) Revision() int { return 0 }

// At returns an unchanged copy, because a viewing has no revision.
func (x Viewing) At(int) Row { return &x }

// ViewsOf returns who viewed what the gate with this key asks about, by user.
func (s *Shared) ViewsOf(key string) (out []*Viewing) {
	for _, x := range s.Views {
		if x.Gate == key {
			out = append(out, x)
		}
	}
	return out
}

// View returns the row of a person's first view of what a gate asks about. It returns nil if that is recorded, if the
// first MostViewers are, or if the gate has no rule.
func (s *Shared) View(key string, g *Gate, user string, now time.Time) *Viewing {
	row := &Viewing{Gate: key, User: user, ViewedAt: now}
	if !g.Ruled() || user == "" || Find(s.Views, row.Key()) != nil || len(s.ViewsOf(key)) >= MostViewers {
		return nil
	}
	return row
}
