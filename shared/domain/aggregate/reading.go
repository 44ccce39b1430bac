package aggregate

import (
	"slices"
	"time"

	"ringi/shared/domain/circulation"
)

// Reading says that somebody read what was stamped for them, or in their place (後閲), where the rule's stage asks that.
// It is no stamp, and nothing waits for it.
type Reading struct {
	Meta
	Asked  string    `json:"asked"` // what the gate's stamps are on
	User   string    `json:"user"`  // account of who was to read it, as the route names it
	By     string    `json:"by"`    // account by which they confirmed it
	ReadAt time.Time `json:"read_at"`
}

func (x *Reading) Key() string { return "READ#" + x.Asked + "#" + x.User }

func (x *Reading) Type() string { return "reading" }

func (x Reading) At(rev int) Row { x.Rev = rev; return &x }

// Of reports whether it is of a stamp on what a gate asks, which was given before.
func (x *Reading) Of(g *Gate, act circulation.ToRead) bool {
	return x.Asked == g.AskedSum && x.User == act.Reader.User && x.ReadAt.After(act.At)
}

// ToRead returns the stamps at a gate that stand and that somebody is to read, the oldest first; nil
// once they have.
func (s *Shared) ToRead(g *Gate, p circulation.Person) (acts []circulation.ToRead) {
	if !g.Ruled() {
		return nil
	}
	st := circulation.Walk(g.Circulating())
	return slices.DeleteFunc(st.ReadAfter(), func(act circulation.ToRead) bool {
		return !act.Reader.Is(p) || slices.ContainsFunc(s.Reads, func(x *Reading) bool { return x.Of(g, act) })
	})
}

// Readings returns the rows by which somebody confirms that they read what was stamped for them at the gate with this
// key, one for each account by which the route names them; none if there is nothing that they have not read.
func (s *Shared) Readings(g *Gate, by Actor, now time.Time) (rows []Row) {
	for _, act := range s.ToRead(g, circulation.Person{User: by.ID}) {
		row := &Reading{Asked: g.AskedSum, User: act.Reader.User, By: by.ID, ReadAt: now}
		if was := Find(s.Reads, row.Key()); was != nil {
			row.Rev = was.Rev
		}
		if !slices.ContainsFunc(rows, func(r Row) bool { return r.Key() == row.Key() }) {
			rows = append(rows, row)
		}
	}
	return rows
}
