package rules

import "slices"

// covers reports whether every request that meets the other conditions meets these, too. It compares condition by
// condition, so it may miss some that do; it never reports one that doesn't.
func (c *Conditions) covers(other *Conditions) bool {
	return (len(c.Kinds) == 0 || len(other.Kinds) > 0 && all(other.Kinds, c.Kinds)) &&
		(c.Places == nil || other.Places != nil && c.Places.covers(other.Places)) &&
		(c.Tools == nil || other.Tools != nil && c.Tools.covers(other.Tools)) &&
		c.coversRest(other)
}

// coversRest is covers for the conditions on who asks, where writes go, and the amount.
func (c *Conditions) coversRest(other *Conditions) bool {
	return (c.Requester == nil || other.Requester != nil && c.Requester.covers(other.Requester)) &&
		(c.Destinations == nil || other.Destinations != nil && c.Destinations.covers(other.Destinations)) &&
		(c.Amount == nil || other.Amount != nil && c.Amount.covers(other.Amount))
}

// all reports whether all values are in a list.
func all[T comparable](values, list []T) bool {
	return !slices.ContainsFunc(values, func(v T) bool { return !slices.Contains(list, v) })
}

func (p *Places) covers(other *Places) bool {
	return (p.Direct || !other.Direct) && all(other.Channels, p.Channels)
}

func (r *Requester) covers(other *Requester) bool {
	return all(other.Departments, r.Departments) && all(other.Groups, r.Groups)
}

func (t *Tools) covers(other *Tools) bool {
	listed := !slices.ContainsFunc(other.List, func(tool Tool) bool { return !t.lists(tool) })
	switch t.Use {
	case UseSome:
		return (other.Use == UseSome || other.Use == UseOnly) && listed
	case UseOnly:
		return other.Use == UseOnly && listed
	case UseWriting:
		return other.Use == UseWriting
	}
	return false
}

func (d *Destinations) covers(other *Destinations) bool {
	switch {
	case d.Go != other.Go:
		return false
	case d.Go == GoWithin:
		return all(other.List, d.List)
	}
	return d.Go == GoOutside && all(d.List, other.List)
}

func (b *Between) covers(other *Between) bool {
	return b.Currency == other.Currency &&
		(b.AtLeast == "" || other.AtLeast.least(b.AtLeast)) &&
		(b.Below == "" || b.Below.least(other.Below))
}
