package rules

import (
	"cmp"
	"slices"

	"ringi/shared/domain/aggregate"
)

// covers reports whether every request that meets the other conditions meets these, too. It compares condition by
// condition, so it may miss some that do; it never reports one that doesn't.
func (c *Conditions) covers(other *Conditions) bool {
	return (len(c.Kinds) == 0 || len(other.Kinds) > 0 && all(other.Kinds, c.Kinds)) &&
		(c.Places == nil || other.Places != nil && c.Places.covers(other.Places)) &&
		(c.Tools == nil || other.Tools != nil && c.Tools.covers(other.Tools)) &&
		c.coversRest(other)
}

// coversRest is covers for the conditions on who asks, where writes go, the amount, labels and days.
func (c *Conditions) coversRest(other *Conditions) bool {
	return (c.Requester == nil || other.Requester != nil && c.Requester.covers(other.Requester)) &&
		(c.Destinations == nil || other.Destinations != nil && c.Destinations.covers(other.Destinations)) &&
		(c.Amount == nil || other.Amount != nil && c.Amount.covers(other.Amount)) && c.coversLabels(other) &&
		c.ValidFrom <= other.ValidFrom && (c.ValidTo == "" || other.ValidTo != "" && other.ValidTo <= c.ValidTo)
}

// all reports whether all values are in a list.
func all[T comparable](values, list []T) bool {
	return !slices.ContainsFunc(values, func(v T) bool { return !slices.Contains(list, v) })
}

func (p *Places) covers(other *Places) bool {
	return (p.Direct || !other.Direct) && all(other.Channels, p.Channels)
}

func (r *Requester) covers(other *Requester) bool {
	return (r.anywhere() || !other.anywhere() && all(other.Departments, r.Departments) && all(other.Groups, r.Groups)) &&
		(len(r.Positions) == 0 || len(other.Positions) > 0 && all(other.Positions, r.Positions))
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
	return b.Currency == other.Currency && b.span().covers(other.span())
}

// CoveredBy returns the first earlier rule that takes all requests that a rule would, nil if there is none. known says
// which tools write.
func (r *Rules) CoveredBy(i int, known []Known) *Rule {
	for j := range r.Rules[:i] {
		if wide := r.Rules[j].When.plain(&r.Rules[i].When, known); wide.covers(&r.Rules[i].When) {
			return &r.Rules[j]
		}
	}
	return nil
}

// plain returns the conditions without those that are met by every request that meets the other ones: all kinds, all
// amounts, and writing outside of tools that are known to write.
func (c Conditions) plain(other *Conditions, known []Known) Conditions {
	if all(kinds, c.Kinds) {
		c.Kinds = nil
	}
	if c.Amount != nil && c.Amount.span().high.none() && c.Amount.span().low.upTo(cut{"0", false}) {
		c.Amount = nil // what can't be read counts as more than any bound
	}
	reads := func(t Tool) bool {
		return !slices.ContainsFunc(known, func(k Known) bool { return k.Tool.Same(t) && k.Access != aggregate.Read })
	}
	if t := other.Tools; t != nil && (t.Use == UseSome || t.Use == UseOnly) && !slices.ContainsFunc(t.List, reads) &&
		c.Tools != nil && c.Tools.Use == UseWriting {
		c.Tools = nil
	}
	return c
}

// Left returns the amounts that a rule gets: its own, without those of earlier rules that otherwise take all that it
// does. unread says that it gets amounts, too, that nobody can read.
func (r *Rules) Left(i int) (left Between, unread bool) {
	left = *cmp.Or(r.Rules[i].When.Amount, &Between{})
	unread = left.span().high.none()
	for was := (*Between)(nil); was == nil || *was != left; {
		now := left
		was = &now
		for _, earlier := range r.Rules[:i] {
			taken := *cmp.Or(earlier.When.Amount, &Between{})
			earlier.When.Amount = nil
			if earlier.When.covers(&r.Rules[i].When) {
				left, unread = left.without(taken), unread && !taken.span().high.none()
			}
		}
	}
	return left, unread
}

// without returns what is left of amounts, if that is again one range of the same currency, else all of them.
func (b Between) without(taken Between) Between {
	rest, all, its := b.span(), b.span(), taken.span()
	switch {
	case !its.low.none() && (its.high.none() || all.high.upTo(its.high)):
		if rest.high.none() || its.low.upTo(rest.high) {
			rest.high = its.low
		}
	case !its.high.none() && (its.low.none() || its.low.upTo(all.low)):
		if rest.low.none() || rest.low.upTo(its.high) {
			rest.low = its.high
		}
	}
	currency := cmp.Or(b.Currency, taken.Currency)
	if currency != taken.Currency || rest.empty() {
		return b
	}
	return between(rest, currency)
}

// Way is the weakest way to call a tool that writes outside: what a member has to get for it.
type Way struct {
	Tool   Tool    `json:"tool"`
	Rule   string  `json:"rule"` // id of the rule that is reached
	Hands  int     `json:"hands"`
	Stamps int     `json:"stamps"`
	From   []Where `json:"from"` // where it is open
	// With is a tool that the same request has to call, too, for the rule to take it.
	With *Tool `json:"with,omitempty"`
	// Refused says that every rule that may take the tool refuses it. Then no rule is named.
	Refused bool `json:"refused,omitempty"`
}

// Where is what asks, and the place. A place without a channel that isn't direct is any channel that no rule names.
type Where struct {
	Kind  Kind  `json:"kind"`
	Place Place `json:"place"`
}

// Ways returns the weakest way to each known tool that writes outside: the one with the fewest hands and, among these,
// the fewest stamps, over all kinds and places, whoever asks. A rule counts as open unless one earlier rule takes all
// requests that would reach it, so a way may turn out to be closed by several rules together, but none is missing.
func (r *Rules) Ways(known []Known) (ways []Way) {
	var apart []Tool
	labelled := map[string]*Tool{}
	for _, k := range known {
		if k.Alone {
			apart = append(apart, k.Tool)
			continue
		}
		for _, name := range k.Labels {
			labelled[name] = cmp.Or(labelled[name], &k.Tool)
		}
	}
	for _, k := range known {
		if k.apart, k.labelled = apart, labelled; !(Call{Access: k.Access}).Writes() {
			continue
		}
		weakest := Way{Tool: k.Tool, Refused: true}
		for _, kind := range kinds {
			for _, place := range r.places() {
				if kind == KindCall && place.Direct { // a key's channel is none
					continue
				}
				for _, way := range r.open(k, Where{kind, place}) {
					switch {
					case weakest.Refused || way.weaker(weakest):
						weakest = way
					case way.Rule == weakest.Rule:
						weakest.From = append(weakest.From, way.From...)
					}
				}
			}
		}
		ways = append(ways, weakest)
	}
	return ways
}

func (w Way) weaker(other Way) bool {
	return w.Hands < other.Hands || w.Hands == other.Hands && w.Stamps < other.Stamps
}

// places returns the places that rules can tell apart.
func (r *Rules) places() []Place {
	all := []Place{{}, {Direct: true}}
	for i := range r.Rules {
		if p := r.Rules[i].When.Places; p != nil {
			for _, channel := range p.Channels {
				if place := (Place{Channel: channel}); !slices.Contains(all, place) {
					all = append(all, place)
				}
			}
		}
	}
	return all
}

// open returns the ways of all rules with a route that may take a request which calls the tool there.
func (r *Rules) open(k Known, where Where) (ways []Way) {
	for i := range r.Rules {
		when := &r.Rules[i].When
		with, may := when.reached(k, where)
		if may && r.Rules[i].Route != nil && !taken(r.Rules[:i], when, k, where) {
			ways = append(ways, r.way(r.Rules[i].ID, r.Rules[i].Route, k.Tool, where, with))
		}
	}
	if r.Last.Writes.Route != nil && !taken(r.Rules, &Conditions{}, k, where) {
		ways = append(ways, r.way(LastID, r.Last.Writes.Route, k.Tool, where, nil))
	}
	return ways
}

// taken reports whether one of these rules takes every such request.
func taken(rules []Rule, when *Conditions, k Known, where Where) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.When.takes(when, k, where) })
}

// reached reports whether a request that calls a tool which writes, there, may meet the conditions, and which other
// tool it has to call for that.
func (c *Conditions) reached(k Known, where Where) (with *Tool, may bool) {
	if len(c.Kinds) > 0 && !slices.Contains(c.Kinds, where.Kind) || c.Places != nil && !c.Places.hold(where.Place) {
		return nil, false
	}
	if k.Unmarked && c.Amount != nil && !c.Amount.hold(Unknown(WhyUnmarked)) {
		return nil, false
	}
	for _, name := range c.Names() {
		if slices.Contains(k.Labels, name) {
			continue
		}
		if with = k.labelled[name]; with == nil || k.Alone || c.Tools != nil && c.Tools.Use == UseOnly && !c.Tools.lists(*with) {
			return nil, false
		}
	}
	if c.Tools == nil || c.Tools.Use == UseWriting || c.Tools.lists(k.Tool) {
		return with, true
	}
	if c.Tools.Use != UseSome || len(c.Tools.List) == 0 {
		return nil, false
	}
	i := slices.IndexFunc(c.Tools.List, func(t Tool) bool { return !k.Alone && !slices.ContainsFunc(k.apart, t.Same) })
	if i < 0 {
		return nil, false
	}
	return &c.Tools.List[i], true
}

// takes reports whether the conditions are met by every request that calls a tool which writes, there, and meets the
// other conditions.
func (c *Conditions) takes(other *Conditions, k Known, where Where) bool {
	if k.Unmarked && c.Amount != nil && c.Amount.hold(Unknown(WhyUnmarked)) {
		rest := *c
		rest.Amount, c = nil, &rest
	}
	return (len(c.Kinds) == 0 || slices.Contains(c.Kinds, where.Kind)) &&
		(c.Places == nil || c.Places.hold(where.Place)) &&
		(c.Tools == nil || c.Tools.Use == UseWriting || c.Tools.Use == UseSome && c.Tools.lists(k.Tool) ||
			other.Tools != nil && c.Tools.covers(other.Tools)) &&
		c.coversRest(other)
}

// way returns what a route asks at the least of a write outside. The stamps of stages that may be left out don't count,
// but for the floor and the hands.
func (r *Rules) way(rule string, route *Policy, tool Tool, where Where, with *Tool) Way {
	w := Way{Tool: tool, Rule: rule, From: []Where{where}, With: with}
	for i, s := range route.Stages {
		if s.approves() && !s.Empty.mayGo() && !route.mayRepeat(i) {
			w.Stamps += s.fewest()
		}
	}
	w.Hands = route.LeastHands()
	w.Stamps = max(w.Stamps, r.Floor.Stamps, w.Hands)
	return w
}
