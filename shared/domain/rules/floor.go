package rules

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// Floor is the least that routes for writes outside ask, whatever the rules say.
type Floor struct {
	Stamps int `json:"stamps"` // 1 or more; 0 counts as 1
	// HandsFrom is the amount from which two different people stamp, as they do where the amount isn't known; nil: never.
	HandsFrom *Money `json:"hands_from,omitempty"`
}

// Money is a number in a currency.
type Money struct {
	Value    Decimal `json:"value"`
	Currency string  `json:"currency"`
}

// floorHands is how many hands the floor asks from an amount on.
const floorHands = 2

// stamps and hands return what the floor asks of a request.
func (f Floor) stamps(r *Facts) int {
	if !r.Writes() {
		return 0
	}
	return max(f.Stamps, 1)
}

func (f Floor) hands(r *Facts) int {
	if r.Writes() && f.HandsFrom != nil && r.Amount().AtLeast(f.HandsFrom.Value, f.HandsFrom.Currency) {
		return floorHands
	}
	return min(f.stamps(r), 1)
}

// Allows reports whether this many stamps by this many different hands are enough for a request. Who asks for a step's
// own approval checks it, since the stamps of the steps count there.
func (f Floor) Allows(r *Facts, stamps, hands int) bool {
	return stamps >= f.stamps(r) && hands >= f.hands(r)
}

// mayMoveEnough reports whether a request that meets the conditions may have an amount from which two hands are needed.
func (f Floor) mayMoveEnough(c *Conditions) bool {
	if f.HandsFrom == nil {
		return false
	}
	below := c.Amount != nil && c.Amount.Currency == f.HandsFrom.Currency && f.HandsFrom.Value.least(c.Amount.Below)
	return !below
}

// Known is a tool that requests of a tenant may call.
type Known struct {
	Tool     Tool
	Access   aggregate.Access
	Unmarked bool // nobody has marked where its arguments have an amount: that of its calls is always unknown
}

// mayWrite reports whether a request that meets the conditions may write outside. It may not if it uses only tools that
// are known to read.
func (c *Conditions) mayWrite(known []Known) bool {
	if c.Tools == nil || c.Tools.Use != UseOnly {
		return true
	}
	for _, listed := range c.Tools.List {
		reads := false
		for _, k := range known {
			if k.Tool.Same(listed) {
				if k.Access != aggregate.Read {
					return true
				}
				reads = true
			}
		}
		if !reads {
			return true
		}
	}
	return false
}

// hands returns how many different people a route of these stages needs.
func (p *Policy) hands(stages int) int {
	switch {
	case p.Hands > 0:
		return p.Hands
	case stages > 1:
		return 2
	}
	return 1
}

// AllHands returns how many different people a route of the policy needs.
func (p *Policy) AllHands() int { return p.hands(len(p.Stages)) }

// LeastHands returns how many different people a route of the policy needs at the least: fewer than of all its stages if
// one person may have several of them.
func (p *Policy) LeastHands() int {
	n := len(p.Stages)
	for i := range p.Stages {
		if p.mayRepeat(i) {
			n--
		}
	}
	return p.hands(n)
}

// mayRepeat reports whether a stage may be left out because all of its people have to stamp at earlier ones. Named people
// are known; of others it is only known how many they are at the least.
func (p *Policy) mayRepeat(i int) bool {
	s := &p.Stages[i]
	if s.Empty.Twice != ThenSkip {
		return false
	}
	sure, names, named := 0, []string{}, s.Who.Kind == WhoPeople && !s.Empty.has(ThenUp)
	for _, before := range p.Stages[:i] {
		named = named && before.Who.Kind == WhoPeople && !before.Empty.has(ThenUp)
		names = append(names, before.Who.People...)
		if n := before.Need; n > 0 {
			sure += n
		} else {
			sure += before.Who.most()
		}
	}
	if named && !slices.ContainsFunc(s.Who.People, func(user string) bool { return slices.Contains(names, user) }) {
		return false
	}
	return s.least() <= sure
}

// named returns how many of the stages ask others than the channel.
func named(stages []Stage) (n int) {
	for _, s := range stages {
		if s.Who.Kind != WhoChannel {
			n++
		}
	}
	return n
}

// least returns the fewest stamps that a stage asks if it finds people.
func (s Stage) least() int { return max(s.Need, 1) }

// most returns the most people whom a stage may find.
func (w Who) most() int {
	switch w.Kind {
	case WhoPeople:
		return len(w.People)
	case WhoGroup, WhoPosition:
		return MaxPeople
	}
	return 1
}

// leastStamps returns the fewest stamps of these stages.
func leastStamps(stages []Stage) (n int) {
	for _, s := range stages {
		n += s.least()
	}
	return n
}
